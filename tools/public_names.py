"""Write what type checkers and editors are told of the public names: src/billboards/__init__.pyi.

    python tools/public_names.py             # write the file
    python tools/public_names.py --check     # say whether it is up to date

The names are those of `billboards.__init__` and one verb for each analysis of the package; nothing is listed twice.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

import billboards
from billboards.analyses import own_analyses

STUB = Path(__file__).resolve().parents[1] / "src" / "billboards" / "__init__.pyi"


def stub() -> str:
    """The text of the stub file."""
    lines = [f"from billboards import {name} as {name}" for name in billboards._PACKAGES]
    lines += [f"from {home} import {name} as {name}" for home, names in billboards._HOMES.items() for name in names]
    former = {now: name for name, now in billboards._FORMER.items()}
    for analysis, module in own_analyses().items():
        function = next(name for name, value in vars(import_module(module)).items() if _declares(value, analysis))
        verb = billboards._verb(analysis)
        lines += [f"from {module} import {function} as {name}" for name in (verb, former.get(verb)) if name]
    names = sorted([*billboards.__all__, *billboards._FORMER])
    listed = "".join(f'    "{name}",\n' for name in names)
    head = '"""The public names; written by tools/public_names.py."""'
    return "\n".join([head, "", *sorted(lines), "", f"__all__ = [\n{listed}]", ""])


def _declares(value: object, analysis: str) -> bool:
    from billboards.analyses import Analysis

    return isinstance(value, Analysis) and value.name == analysis


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where the file is out of date")
    arguments = parser.parse_args()
    text = stub()
    if arguments.check:
        current = STUB.is_file() and STUB.read_text("utf-8") == text
        print(f"{STUB.name} is {'up to date' if current else 'out of date: run python tools/public_names.py'}")
        return 0 if current else 1
    STUB.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
