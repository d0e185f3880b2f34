"""Whether anything that is installed has a known weakness, as far as the public list of them can be reached.

pip-audit asks for the list over the network. Where there is none, or pip-audit isn't installed, this says plainly that
nothing was checked, and does not fail: a machine without a network can't do better. pip-audit itself calls it a success
where the index at hand knows no package; here only those count that were really looked up.

    python tools/dependency_audit.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

COMMAND = (sys.executable, "-m", "pip_audit", "--local", "--progress-spinner", "off", "--format", "json")


def weaknesses(document: Mapping[str, Any]) -> list[str]:
    """A line for each known weakness, with the version that mends it."""
    return [
        f"{package['name']} {package['version']}: {one['id']}; "
        f"mended in {', '.join(one['fix_versions']) or 'no version'}"
        for package in document["dependencies"]
        for one in package.get("vulns", ())
    ]


def unknown(document: Mapping[str, Any]) -> list[str]:
    """Why each package that could not be looked up could not."""
    return [str(package["skip_reason"]) for package in document["dependencies"] if "skip_reason" in package]


def skipped(errors: str) -> str:
    """Why nothing was checked."""
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "no answer")
    return f"SKIPPED: no package was checked for known weaknesses: {last[:200]}"


def main() -> int:
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        print(skipped(done.stderr))
        return 0
    found, missing = weaknesses(document), unknown(document)
    looked_up = len(document["dependencies"]) - len(missing)
    if not looked_up:
        print(skipped("\n".join(missing)))
        return 0
    print("\n".join([*found, f"{looked_up} packages looked up, {len(found)} known weaknesses, {len(missing)} unknown"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
