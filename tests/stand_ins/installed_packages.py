"""Packages as an installer would lay them down, and fresh interpreters that have them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path


def lay_down(folder: Path, package: str, group: str, points: Mapping[str, str]) -> Path:
    """Write a package's metadata with its entry points; returns the folder to put on the path."""
    metadata = folder / f"{package.replace('-', '_')}-0.1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    lines = (f"{name} = {value}" for name, value in points.items())
    (metadata / "entry_points.txt").write_text("\n".join((f"[{group}]", *lines, "")))
    return folder


def run_with(folders: Sequence[Path], program: str) -> str:
    """What a fresh interpreter prints that has these folders on its path."""
    path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
