"""What every public function of `stats` says of small samples: plain ones, with gaps, ties, flat scores, and of two.

Each option is tried in turn: a choice in each of its other ways, a flag turned, another seed, level or number of draws.
Of those answers only what is unlike the plain one is kept. Tests beside this file say what is right and why; this one
says that nothing has changed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from approving import approve, changes, comparable
from stats_samples import ASKED, SIZES, Call, Sample

from billboards import stats
from billboards.errors import BillboardsError

#: Most numbers of an array that are kept one by one, and most differences of an answer.
MOST, TOLD = 60, 6
#: What hangs on the processor: how many steps a fit takes, and sums in single precision.
CHANCE = ("iterations", "steps", "exchanged")
#: Numbers that say how thoroughly something is done, and another one to try.
THOROUGH: Mapping[str, int] = {"draws": 25, "resamples": 25, "rounds": 5, "exchanges": 25}


def public_members() -> Iterator[str]:
    """Functions, and classes of results and of what is given."""
    for module in iter_modules(stats.__path__):
        loaded = import_module(f"billboards.stats.{module.name}")
        for name, member in vars(loaded).items():
            is_own = getattr(member, "__module__", None) == loaded.__name__ and not name.startswith("_")
            if is_own and (inspect.isfunction(member) or is_dataclass(member)):
                yield f"{module.name}.{name}"


def member_of_stats(name: str) -> Any:
    module, member = name.split(".")
    return getattr(import_module(f"billboards.stats.{module}"), member)


def test_what_is_taken_and_by_default_is_as_approved() -> None:
    """Of classes, and of functions that serve those asked here: a new function shows here until it is asked, too."""
    others = {*public_members()} - {*ASKED}
    approve("stats/signatures", {name: str(inspect.signature(member_of_stats(name))) for name in sorted(others)})


def test_only_what_there_is_is_asked() -> None:
    assert {*ASKED} <= {*public_members()}


@pytest.mark.parametrize("name", ASKED)
def test_a_function_says_what_was_approved(name: str) -> None:
    asked = member_of_stats(name)
    said: dict[str, Any] = {"takes": str(inspect.signature(asked))}
    for sample in map(Sample, SIZES):
        answers = [answer(asked, call) for call in prepared(name, sample)]
        # What says the same of every sample needn't be said again.
        if answers not in said.values():
            said[sample.name] = answers
    approve(f"stats/{name}", said)


def prepared(name: str, sample: Sample) -> list[Call]:
    """The calls; none where what is asked can't be made of the sample, as strengths of entries nobody has beaten."""
    try:
        return ASKED[name](sample)
    except BillboardsError:
        return []


def answer(asked: Callable[..., Any], call: Mapping[str, Any]) -> Any:
    plain = comparable(called(asked, call))
    others = {}
    for option, value in other_ways(asked, call):
        now = comparable(called(asked, {**call, option: value}))
        unlike = list(changes(plain, now))
        if unlike:
            told = {where: new for where, (_, new) in unlike[:TOLD]}
            others[f"{option} {value}"] = {**told, "changes": len(unlike)} if len(unlike) > TOLD else told
    return {"says": plain, **others}


def other_ways(asked: Callable[..., Any], call: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each option in each other way that is worth a try."""
    hints = get_type_hints(asked)
    for name, option in inspect.signature(asked).parameters.items():
        if option.default is option.empty or name in (*CHANCE, "tolerance"):
            continue
        now = call.get(name, option.default)
        if get_origin(hints[name]) is Literal:
            yield from ((name, choice) for choice in get_args(hints[name]) if choice != now)
        elif isinstance(now, bool):
            yield name, not now
        elif name == "seed":
            yield name, now + 1
        elif name in THOROUGH:
            if now and now != THOROUGH[name]:
                yield name, THOROUGH[name]
        elif isinstance(now, float):
            yield name, now / 2 if now else 0.5
        elif isinstance(now, int):
            yield name, now + 1


def called(asked: Callable[..., Any], call: Mapping[str, Any]) -> Any:
    by_name = {name: given for name, given in call.items() if name != "*"}
    try:
        return plain_values(asked(*call.get("*", ()), **by_name))
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"


def plain_values(value: Any) -> Any:
    """A result as plain values: fields and properties by name, arrays as lists, long ones in short."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if not field.name.startswith("_")]
        own = [name for name, member in inspect.getmembers(type(value), lambda m: isinstance(m, property))]
        kept = [name for name in [*names, *own] if not name.startswith("_") and name not in CHANCE]
        return {name: plain_values(getattr(value, name)) for name in kept}
    if hasattr(value, "toarray"):
        return plain_values(value.toarray())
    if isinstance(value, np.ndarray):
        return plain_array(value)
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    if isinstance(value, str | int | float | np.generic) or value is None:
        return value
    return {name: plain_values(item) for name, item in vars(value).items() if not name.startswith("_")}


def plain_array(values: np.ndarray[Any, Any]) -> Any:
    if values.size <= MOST or values.dtype.kind not in "biuf":
        return values.tolist()
    flat = values.astype(float).ravel()
    finite = np.isfinite(flat)
    weights = np.cos(np.arange(flat.size))[finite]
    return {
        "shape": list(values.shape),
        "begins": flat[:5].tolist(),
        "missing": int((~finite).sum()),
        "sum": float(flat[finite].sum()),
        "weighted": float(flat[finite] @ weights),
    }
