"""What modules state once: words, limits and tables at their top, and what parameters and fields are unless given."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_args, get_origin

import numpy as np
import pytest
from approving import approve
from pydantic import BaseModel

AREAS = ("importers", "board", "formats", "catalogue", "campaigns", "ensembles", "selectors", "show")
#: Stands for what is no plain value.
OTHER = object()
#: What is kept elsewhere, is made anew in every run, or differs from system to system.
LEFT = frozenset({"CARD", "OWN", "__all__", "COSTS"})


@pytest.mark.parametrize("area", AREAS)
def test_what_modules_state_is_as_approved(area: str) -> None:
    words = {}
    for module in modules(f"billboards.{area}"):
        stated = {**dict(constants(module)), **dict(defaults(module))}
        if stated:
            words[module.__name__.removeprefix("billboards.")] = stated
    approve(f"constants/{area}", words)


def modules(package: str) -> Iterator[ModuleType]:
    root = import_module(package)
    yield root
    for found in sorted(pkgutil.walk_packages(root.__path__, f"{package}."), key=lambda each: each.name):
        yield import_module(found.name)


def constants(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The plain values at the top of a module, by their names."""
    for node in ast.parse(Path(str(module.__file__)).read_text("utf-8")).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for name in (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)):
            value = plain(getattr(module, name, OTHER))
            if value is not OTHER and name not in LEFT:
                yield name, value


def defaults(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What parameters of functions, and fields of classes, are unless given."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, FunctionType):
            yield from of_function(name, value)
        elif isinstance(value, type):
            for inner, method in vars(value).items():
                if isinstance(method, FunctionType) and not inner.startswith("__"):
                    yield from of_function(f"{name}.{inner}", method)
            if dataclasses.is_dataclass(value):
                fields = {f.name: plain(f.default) for f in dataclasses.fields(value)}
                if kept := {key: inner for key, inner in fields.items() if inner is not OTHER}:
                    yield name, kept
            elif issubclass(value, BaseModel):
                own = {key: plain(info.default) for key, info in value.model_fields.items() if not info.is_required()}
                yield name, {key: inner for key, inner in own.items() if inner is not OTHER}


def of_function(name: str, function: FunctionType) -> Iterator[tuple[str, Any]]:
    given = inspect.signature(function).parameters.values()
    stated = {each.name: plain(each.default) for each in given if each.default is not inspect.Parameter.empty}
    if kept := {key: value for key, value in stated.items() if value is not OTHER}:
        yield f"{name}()", kept


def plain(value: Any) -> Any:
    """A value as JSON has it; `OTHER` for what is none."""
    if value is dataclasses.MISSING or isinstance(value, ModuleType):
        return OTHER
    if isinstance(value, re.Pattern):
        value = value.pattern
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if get_origin(value) is not None and all(isinstance(part, str) for part in get_args(value)):
        return list(get_args(value))
    if isinstance(value, frozenset | set):
        return sorted(map(str, value)) if all(isinstance(part, str | int) for part in value) else OTHER
    if isinstance(value, np.dtype):
        return value.str
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {key: part for key, part in inner.items() if part is not OTHER and part is not None}
    if isinstance(value, Mapping):
        inner = {str(plain(str(key))): plain(part) for key, part in value.items()}
        return {key: part for key, part in inner.items() if part is not OTHER}
    if isinstance(value, tuple | list):
        parts = [plain(part) for part in value]
        return [part for part in parts if part is not OTHER]
    return OTHER
