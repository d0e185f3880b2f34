"""Whether anything that is installed has a known weakness, as far as the public list of them can be reached.

pip-audit asks for the list over the network. Where there is none, or pip-audit isn't installed, nothing was checked,
and that is a failure: an audit that looked at nothing must not pass for one that found nothing. A machine without a
network says so with `--allow-unchecked`, or in the environment; then it is a loud warning. Whoever makes a release
never allows it. pip-audit itself calls it a success where the index at hand knows no package; here only those count
that were really looked up.

    python tools/dependency_audit.py
    python tools/dependency_audit.py --allow-unchecked          # or BILLBOARDS_AUDIT=allow-unchecked
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

#: The variable by which a machine without a network allows that nothing is checked, and what it must say.
VARIABLE, ALLOWED = "BILLBOARDS_AUDIT", "allow-unchecked"
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
    return f"NOT CHECKED: no package was checked for known weaknesses: {last[:200]}"


def unchecked(errors: str, *, allowed: bool) -> int:
    """Say that nothing was checked, and fail unless that was allowed."""
    print(skipped(errors))
    if allowed:
        print("*** ALLOWED TO PASS WITHOUT AN AUDIT: not for a release ***")
        return 0
    print(f"this is a failure; a machine without a network allows it with --{ALLOWED}, or {VARIABLE}={ALLOWED}")
    return 1


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("dependency_audit", description="Look up known weaknesses of what is installed.")
    parser.add_argument(f"--{ALLOWED}", action="store_true", help="pass, loudly, where nothing could be looked up")
    allowed = parser.parse_args(arguments).allow_unchecked or os.environ.get(VARIABLE) == ALLOWED
    done = subprocess.run(COMMAND, capture_output=True, text=True, check=False)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return unchecked(done.stderr, allowed=allowed)
    found, missing = weaknesses(document), unknown(document)
    looked_up = len(document["dependencies"]) - len(missing)
    if not looked_up:
        return unchecked("\n".join(missing), allowed=allowed)
    print("\n".join([*found, f"{looked_up} packages looked up, {len(found)} known weaknesses, {len(missing)} unknown"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
