"""The page on the architecture names the rooms that there are, and the layers are those that the linter proves."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
HOUSE = ROOT / "src" / "billboards"


def rooms() -> set[str]:
    return {path.name for path in HOUSE.iterdir() if path.is_dir() and (path / "__init__.py").exists()}


def test_every_room_is_on_the_page() -> None:
    missing = sorted(room for room in rooms() if f"`{room}/`" not in PAGE)
    assert not missing


def test_every_room_has_its_place_in_the_layers() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    placed = {name.strip().removeprefix("billboards.") for layer in layers for name in layer.split("|")}
    assert rooms() <= placed
