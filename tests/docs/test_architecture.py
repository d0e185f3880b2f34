"""The architecture page names every package and module there is, none that is not, and the order of the layers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import billboards

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(billboards.__file__).parent


def section(title: str) -> str:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_module_is_named_and_every_module_named_exists() -> None:
    named = re.findall(r"[\w/]+\.py\b", section("Layout"))
    there = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    assert sorted(named) == sorted(there)


def test_every_package_has_a_line_of_its_own() -> None:
    named = re.findall(r"^    ([\w/]+)/ ", section("Layout"), re.MULTILINE)
    there = [path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")]
    assert sorted(named) == sorted(name for name in there if name != ".")


def test_the_layers_are_those_that_make_check_proves() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [layer.replace("billboards.", "") for layer in contract["layers"]]
    page = re.findall(r"^    (.+)$", section("Import directions"), re.MULTILINE)
    assert page == layers
