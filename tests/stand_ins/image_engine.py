"""A stand-in for podman: takes its words, writes them down, and runs a Python file where an image would be run.

It shows which walls are asked for, not that an engine builds them; `tests/run/test_images.py` says how a real engine is
tried.
"""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

ENGINE = """#!{python}
import json, os, subprocess, sys
home = {home!r}
words = sys.argv[1:]
with open(os.path.join(home, "asked"), "a") as file:
    file.write(json.dumps(words) + "\\n")
here = os.path.join(home, "fetched")
if words[:2] == ["image", "inspect"]:
    sys.exit(0 if os.path.exists(here) else 1)
if words[0] == "pull":
    if "missing" in words[-1]:
        sys.exit("manifest unknown")
    open(here, "w").close()
    sys.exit(0)
if words[0] == "run":
    sys.exit(subprocess.run([sys.executable, os.path.join(home, "program.py")]).returncode)
"""


class ImageEngine:
    """An engine in a folder of its own, which tests put before the others on PATH."""

    def __init__(self, home: Path, program: str) -> None:
        self.home = home
        home.mkdir()
        (home / "program.py").write_text(program)
        self.path = home / "podman"
        self.path.write_text(ENGINE.format(python=sys.executable, home=str(home)))
        self.path.chmod(self.path.stat().st_mode | stat.S_IXUSR)

    @property
    def asked(self) -> list[list[str]]:
        """What it was asked, in order."""
        return [json.loads(line) for line in (self.home / "asked").read_text().splitlines()]
