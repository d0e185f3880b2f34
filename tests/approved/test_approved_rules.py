"""Limits, words and defaults of what people do on a site, of every module one by one, as they were approved."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any, get_args

import pytest
from approving import approve
from pydantic import BaseModel

import billboards.site.accounts
import billboards.site.admin
import billboards.site.campaigns
import billboards.site.organise
import billboards.site.submissions
import billboards.site.work

#: Limits of fields that are kept.
LIMITS = ("Ge", "Gt", "Le", "Lt", "MinLen", "MaxLen")
PACKAGES = (
    billboards.site.accounts,
    billboards.site.admin,
    billboards.site.campaigns,
    billboards.site.organise,
    billboards.site.submissions,
    billboards.site.work,
)


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def plain(value: Any) -> Any:
    """A value as text and lists; what has no plain form by its kind."""
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, re.Pattern):
        return value.pattern if isinstance(value.pattern, str) else value.pattern.decode("latin-1")
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if inspect.isfunction(value) or inspect.isclass(value):
        return value.__name__
    return type(value).__name__


def told(module: ModuleType) -> dict[str, Any]:
    """A module's constants, and what may be left out of its calls and of what it is sent."""
    facts: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name.startswith("__") or inspect.ismodule(value):
            continue
        if get_args(value) and not inspect.isclass(value) and all(isinstance(word, str) for word in get_args(value)):
            facts[name] = list(get_args(value))
        elif getattr(value, "__module__", module.__name__) != module.__name__:
            continue
        elif inspect.isfunction(value):
            facts |= defaults_of(name, value)
        elif inspect.isclass(value):
            facts |= class_facts(name, value)
        elif name.strip("_").isupper():
            facts[name] = plain(value)
    return facts


def defaults_of(name: str, function: Any) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    given = {one.name: plain(one.default) for one in parameters if one.default is not inspect.Parameter.empty}
    return {f"{name}()": given} if given else {}


def class_facts(name: str, kind: type) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if issubclass(kind, BaseModel):
        for field, about in kind.model_fields.items():
            rest = [about.description, *(repr(rule) for rule in about.metadata if type(rule).__name__ in LIMITS)]
            required = "required" if about.is_required() else plain(about.default)
            said = [required, *(word for word in rest if word is not None)]
            facts |= {f"{name}.{field}": said} if said != ["required"] else {}
    elif values := {field: plain(value) for field, value in vars(kind).items() if is_default(field, value)}:
        facts[name] = values
    for method, value in vars(kind).items():
        if inspect.isfunction(value) and not method.startswith("__") and not issubclass(kind, BaseModel):
            facts |= defaults_of(f"{name}.{method}", value)
    return facts


def is_default(name: str, value: Any) -> bool:
    return not name.startswith("_") and isinstance(value, bool | int | float | str | tuple | frozenset)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__.rpartition(".")[2])
def test_limits_words_and_defaults_are_those_approved(package: ModuleType) -> None:
    facts = {module.__name__.rpartition(".")[2]: told(module) for module in modules(package)}
    approve(f"people/rules/{package.__name__.rpartition('.')[2]}", {name: said for name, said in facts.items() if said})
