"""What `help()` says of each public function: every parameter in a line of its own, and one example."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from types import FunctionType

import pytest

import billboards as bb

EXTENSIONS = ("analyses", "ensembles", "formats", "importers")


def functions() -> dict[str, FunctionType]:
    public = {f"bb.{name}": getattr(bb, name) for name in bb.__all__}
    for room in EXTENSIONS:
        module = import_module(f"billboards.{room}")
        public |= {f"{room}.{name}": getattr(module, name) for name in module.__all__}
    return {name: value for name, value in public.items() if inspect.isfunction(value)}


def explained(text: str) -> set[str]:
    """The parameters that a docstring has lines for; a line may be about several."""
    lines = re.findall(r"^(\w+(?:, \w+)*): ", text, re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


@pytest.mark.parametrize("room", EXTENSIONS)
def test_every_name_for_extensions_is_there(room: str) -> None:
    module = import_module(f"billboards.{room}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("name", functions())
def test_help_explains_every_parameter_and_shows_an_example(name: str) -> None:
    function = functions()[name]
    text = inspect.getdoc(function) or ""
    assert sorted(set(inspect.signature(function).parameters) - explained(text)) == []
    called = name.rpartition(".")[2]
    assert re.search(rf"^Example:\n\n(?:    .*\n)*?    .*\b{called}\b", text, re.MULTILINE), "it has no example"
