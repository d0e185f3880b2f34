"""How many files a change touches: for six kinds of change, the files that know of one that is there already.

    python tools/change_cost.py              # the working tree, beside version 0.1
    python tools/change_cost.py --files      # and which files

Each kind of change has an example that exists in both: whoever would add another such thing has to touch the same files
(tests and a line in the docs apart). Beside that it counts Python files, lines, and the share of lines that are file
heads: docstring, imports and blank lines before the first statement.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The last commit of version 0.1.
BEFORE = "eb09686"
#: Where code lies: prose and tests don't count.
CODE = ("src/", "pyproject.toml")
ENDINGS = (".py", ".j2", ".js", ".css", ".toml")
#: Code of others, as they ship it.
SHIPPED = ".min.js"
#: Templates of questions and cards of data sets use a kind and don't know it; a board of the catalogue is a change of
#: its own, as is a table of published numbers, and some learned metrics are called hybrid by their authors.
DATA = (
    "human/data/",
    "standard_templates/",
    "demo/",
    "importers/asset",
    "importers/multi_summeval",
    "importers/simplicity",
    "catalogue/entries/",
    "analyses/published/",
    "neural/metricx",
    "neural/published/metricx",
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """A kind of change, and how files are found that know of an example of it."""

    name: str
    example: str
    pattern: str
    goal: int
    #: Only files whose path holds one of these; empty for all.
    within: tuple[str, ...] = ()
    #: Not files whose path holds one of these: the pure statistic that an analysis rests on is a change of its own.
    apart: tuple[str, ...] = ()


CHANGES = (
    Change(name="a metric", example="EED", pattern=r"\bEED\b|metrics\.eed", goal=1),
    Change(
        name="a statistic beside each metric",
        example="the cluster of a metric",
        pattern=r"\bm(etric)?\.cluster\b|standing\.cluster\b|cluster: int|cluster=|clusters\.get|\"cluster\"",
        goal=2,
        within=("domain/ranking", "reports/ranking", "analyses/rank", "standings", "board_table", "board_rows"),
    ),
    Change(
        name="a column of the board page",
        example="the column of people",
        pattern=r"\bPEOPLE\b|\"people\"",
        goal=2,
        within=("web/views/board", "web/pages/board", "site/pages/board", "site/pages/columns"),
    ),
    Change(name="a question kind", example="slider", pattern=r"\bslider\b", goal=1),
    # A paper's set of statistics bears its data's name and is a change of its own.
    Change(
        name="an importer", example="realsumm", pattern=r"\brealsumm\b", goal=1, apart=("billboards/stats/yardsticks",)
    ),
    Change(
        name="an analysis",
        example="hybrids",
        pattern=r"\bhybrids?\b|\bHybrid(s|Study|Standing)\b",
        goal=1,
        apart=("billboards/stats/",),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--before", default=BEFORE, metavar="COMMIT", help="what to compare with (default: version 0.1)"
    )
    parser.add_argument("--files", action="store_true", help="name the files, too")
    arguments = parser.parse_args()
    old, new = tree_of(arguments.before), working_tree()
    if old is None:
        print(f"{arguments.before} is not in this clone; only the working tree is counted", file=sys.stderr)
    print(f"{'change':34}{'example':28}{'before':>8}{'now':>6}{'goal':>6}")
    for change in CHANGES:
        before = None if old is None else touched(change, old)
        now = touched(change, new)
        shown = "–" if before is None else str(len(before))
        print(f"{change.name:34}{change.example:28}{shown:>8}{len(now):>6}{change.goal:>6}")
        if arguments.files:
            for word, files in (("before", before or []), ("now", now)):
                print("".join(f"    {word:8}{file}\n" for file in files), end="")
    print()
    print(f"{'size':34}{'':28}{'before':>8}{'now':>6}")
    for name, count in sizes(new).items():
        shown = "–" if old is None else sizes(old)[name]
        print(f"{name:34}{'':28}{shown:>8}{count:>7}")
    return 0


def touched(change: Change, files: Mapping[str, str]) -> list[str]:
    """The files that know of a change's example."""
    pattern = re.compile(change.pattern)
    folders = change.within
    return sorted(
        {
            _unit(path)
            for path, text in files.items()
            if (not folders or any(folder in path for folder in folders))
            and not any(folder in path for folder in change.apart)
            and pattern.search(without_prose(path, text))
        }
    )


def _unit(path: str) -> str:
    """What counts as one place: a file, or the folder of a kind of question."""
    parts = path.split("/")
    return "/".join(parts[: parts.index("questions") + 2]) if "questions" in parts[:-2] else path


def without_prose(path: str, text: str) -> str:
    """Code without comments and docstrings, where a thing may be named without being known."""
    if not path.endswith(".py"):
        return text
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                for k in range(first.lineno - 1, first.end_lineno or first.lineno):
                    lines[k] = ""
    return "\n".join(line.split("  # ")[0] if not line.lstrip().startswith("#") else "" for line in lines)


def sizes(files: Mapping[str, str]) -> dict[str, str]:
    """How large the source is."""
    modules = {path: text for path, text in files.items() if path.startswith("src/") and path.endswith(".py")}
    lines = sum(text.count("\n") for text in modules.values())
    heads = sum(head_lines(text) for text in modules.values())
    share = f"{100 * heads / max(lines, 1):.1f}%"
    return {"Python files": str(len(modules)), "lines": str(lines), "share of file heads": share}


def head_lines(text: str) -> int:
    """Lines before the first statement that is neither docstring nor import."""
    body = ast.parse(text).body
    for k, node in enumerate(body):
        is_docstring = k == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            return node.lineno - 1
    return text.count("\n")


def working_tree() -> dict[str, str]:
    """Code as it lies in the checkout."""
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard", *CODE).splitlines()
    paths = [path for path in listed if _counts(path) and (ROOT / path).is_file()]
    return {path: (ROOT / path).read_text("utf-8") for path in paths}


def tree_of(commit: str) -> dict[str, str] | None:
    """Code as a commit has it; None where the clone doesn't have that commit."""
    try:
        listed = _git("ls-tree", "-r", "--name-only", commit, *CODE).splitlines()
    except subprocess.CalledProcessError:
        return None
    return {path: _git("show", f"{commit}:{path}") for path in listed if _counts(path)}


def _counts(path: str) -> bool:
    return path.endswith(ENDINGS) and not path.endswith(SHIPPED) and not any(folder in path for folder in DATA)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
