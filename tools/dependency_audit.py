"""Whether anything that is installed has a known weakness, as far as the public list of them can be reached.

pip-audit asks for the list over the network. Where there is none, or pip-audit isn't installed, this says plainly that
nothing was checked, and does not fail: a machine without a network can't do better.

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
    found = weaknesses(document)
    print("\n".join(found) or f"{len(document['dependencies'])} packages, none with a known weakness")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
