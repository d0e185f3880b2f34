"""What the package exports is what it says it exports, and the Python page explains each name and option of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import billboards as bb
from billboards.analyses import own_analyses

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text("utf-8")
HEADING = re.compile(r"^### bb\.(\w+)$", re.MULTILINE)


def explanations() -> Iterator[tuple[str, str]]:
    parts = HEADING.split(PAGE)
    return zip(parts[1::2], parts[2::2], strict=True)


def test_every_public_name_resolves_to_a_thing_of_that_name() -> None:
    assert [name for name in bb.__all__ if getattr(bb, name).__name__.rpartition(".")[2] != name] == []


def test_the_package_exports_what_it_declares_and_nothing_else() -> None:
    assert list(bb.__all__) == sorted(bb.__all__)
    assert dir(bb) == list(bb.__all__)
    everything: dict[str, object] = {}
    exec("from billboards import *", everything)
    assert set(bb.__all__) <= set(everything)
    verbs = {name.replace("-", "_").replace(" ", "_") for name in own_analyses()}
    assert verbs < set(bb.__all__)


def test_type_checkers_are_told_the_same_names() -> None:
    stub = (Path(bb.__file__).parent / "__init__.pyi").read_text("utf-8")
    imports = re.findall(r"^from (\S+) import (\w+) as (\w+)$", stub, re.MULTILINE)
    assert sorted(name for _, _, name in imports) == sorted([*bb.__all__, "audit_metrics", "compare_all"])
    for module, name, public in imports:
        assert getattr(import_module(module), name) is getattr(bb, public)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'rang'"):
        getattr(bb, "rang")  # noqa: B009


def test_statistics_that_the_page_names_are_there() -> None:
    named = re.findall(r"bb\.stats\.(\w+)\.(\w+)", PAGE)
    assert {module for module, _ in named} <= set(dir(bb.stats))
    assert [f"{module}.{name}" for module, name in named if not hasattr(getattr(bb.stats, module), name)] == []
    with pytest.raises(AttributeError, match="no attribute 'corelation'"):
        bb.stats.corelation  # noqa: B018


def test_every_public_name_has_one_explanation() -> None:
    assert sorted(name for name, _ in explanations()) == list(bb.__all__)


@pytest.mark.parametrize("name", [name for name in bb.__all__ if inspect.isfunction(getattr(bb, name))])
def test_the_signature_on_the_page_is_the_real_one(name: str) -> None:
    text = dict(explanations())[name]
    written = re.search(rf"`{name}\(([^`]*)\)`", text)
    assert written is not None
    assert [argument.strip() for argument in written[1].split(",")] == [
        _as_written(parameter) for parameter in inspect.signature(getattr(bb, name)).parameters.values()
    ]


def _as_written(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return f"**{parameter.name}"
    return parameter.name if parameter.default is inspect.Parameter.empty else f"{parameter.name}={parameter.default!r}"
