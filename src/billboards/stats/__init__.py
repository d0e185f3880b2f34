"""Pure functions on arrays: a matrix of scores in, a named result out. No files, no databases, no names of metrics.

Scores are metrics × rows × instances, people's are rows × instances, and NaN is missing. Modules are loaded when they
are first used: `bb.stats.correlation.pearson`, `bb.stats.power.tell_generators_apart`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name in __dir__():
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__))
