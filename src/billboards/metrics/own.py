"""Metrics of one's own, run as they stand: one Python file, or one Python function.

A file holds `score(outputs, references, inputs)`, which returns a number for each output. It is the same function that
a site takes as `metric.py`, so what was tried at home can be sent in. The file may say `NAME`, `NEEDS` (a list of
"references" and "input", by default references) and `HIGHER_IS_BETTER`; its docstring is the summary.

A function is given what its parameters name: `score(outputs)` needs nothing else, `score(outputs, references)` needs
references, too. Both run in this process, with all rights of whoever asked for them: only run code that you trust. A
digest of the code stands in the signature, so what was changed is another column.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import tokenize
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Batch, CardedMetric, Floats, MetricCard

Score = Callable[..., Sequence[float]]

#: What a metric may need beside outputs, as files and manifests write it.
NEEDS = ("references", "input")
#: What a function's parameters may be called.
PARAMETERS = ("outputs", "references", "inputs")
_LONGEST_NAME = 200


@dataclass(frozen=True)
class FileMetric(CardedMetric):
    """The function `score` of a file; it is called once per generator, with every reference of each output."""

    path: Path
    digest: str

    @property
    def signature(self) -> str:
        return _signature(self.card, f"file:{self.digest}")

    def score_batch(self, batch: Batch) -> Floats:
        references = [list(texts) for texts in batch.references] or [[] for _ in batch.outputs]
        inputs = list(batch.inputs) or ["" for _ in batch.outputs]
        function, given = _function(self.path, self.digest), (list(batch.outputs), references, inputs)
        named = _fewer(function)
        if named is None:
            return _numbers(self.name, function(*given))
        return _numbers(self.name, function(**{name: given[PARAMETERS.index(name)] for name in named}))


@dataclass(frozen=True)
class FunctionMetric(CardedMetric):
    """A function; it is called once per generator, by name with what its parameters name."""

    function: Score
    digest: str

    @property
    def signature(self) -> str:
        return _signature(self.card, f"function:{self.digest}")

    def score_batch(self, batch: Batch) -> Floats:
        given: dict[str, object] = {"outputs": list(batch.outputs)}
        if self.card.needs_references:
            given["references"] = [list(texts) for texts in batch.references]
        if self.card.needs_input:
            given["inputs"] = list(batch.inputs)
        return _numbers(self.name, self.function(**given))

    def __getstate__(self) -> dict[str, object]:
        """What goes to another process; a function goes by its module and name, which must lead there."""
        module = sys.modules.get(self.function.__module__)
        if getattr(module, self.function.__qualname__, None) is not self.function or _is_typed_in(module):
            raise MetricFailed(
                f"{self.name}: other processes can't find this function; define it at the top of a Python file, "
                "or use one process (jobs=1)"
            )
        return self.__dict__


def open_metric_file(path: str | Path) -> FileMetric:
    """The metric in a Python file; `InvalidInput` says what it lacks."""
    file = Path(path).absolute()
    if file.suffix != ".py" or not file.is_file():
        raise InvalidInput(f"{path}: is no Python file; a metric is a file with score(outputs, references, inputs)")
    digest = _digest(_content(file))
    module = _module(file, digest)
    named = _fewer(getattr(module, "score", None))
    default = ["references"] if named is None else [need for need in NEEDS if {need, f"{need}s"} & set(named)]
    name, needs = getattr(module, "NAME", file.stem), getattr(module, "NEEDS", default)
    higher = getattr(module, "HIGHER_IS_BETTER", True)
    if not isinstance(name, str) or not _is_name(name):
        raise InvalidInput(f"{path}: NAME must be a name without | ( ) , and slashes; found {name!r}")
    if not isinstance(needs, list | tuple) or not set(needs) <= set(NEEDS):
        raise InvalidInput(f'{path}: NEEDS must be a list of "references" and "input", or empty; found {needs!r}')
    if not isinstance(higher, bool):
        raise InvalidInput(f"{path}: HIGHER_IS_BETTER must be True or False; found {higher!r}")
    if not callable(getattr(module, "score", None)):
        raise InvalidInput(f"{path}: has no function score(outputs, references, inputs)")
    summary = _first_line(module.__doc__)
    card = MetricCard(
        name=name,
        summary=summary,
        needs_references="references" in needs,
        needs_input="input" in needs,
        higher_is_better=higher,
    )
    return FileMetric(card, file, digest)


def function_metric(function: Score, *, name: str | None = None, higher_is_better: bool = True) -> FunctionMetric:
    """The metric that a function is: named as it is named, with what its parameters name as its needs."""
    if not isinstance(function, FunctionType):
        raise InvalidInput(f"{function!r} is no function; write def score(outputs, references): … around it")
    name = function.__name__ if name is None else name
    if not _is_name(name) or name == "<lambda>":
        raise InvalidInput(
            f"a metric's name has no | ( ) , and slashes; found {name!r}; name the function by "
            'metric(function, name="…")'
        )
    parameters = inspect.signature(function).parameters
    wrong = [
        parameter.name
        for parameter in parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        or (parameter.name not in PARAMETERS and parameter.default is parameter.empty)
    ]
    if wrong or "outputs" not in parameters:
        what = f"parameter {wrong[0]!r} is none of them" if wrong else "outputs is missing"
        raise InvalidInput(f"{name}: a function that scores takes outputs, references and inputs by name; {what}")
    card = MetricCard(
        name=name,
        summary=_first_line(function.__doc__),
        needs_references="references" in parameters,
        needs_input="inputs" in parameters,
        higher_is_better=higher_is_better,
    )
    return FunctionMetric(card, function, _function_digest(function))


def _signature(card: MetricCard, code: str) -> str:
    needs = [need for need, needed in zip(NEEDS, (card.needs_references, card.needs_input), strict=True) if needed]
    higher = "yes" if card.higher_is_better else "no"
    return f"{card.name}|{code}|needs:{'+'.join(needs) or 'none'}|higher_is_better:{higher}"


def _numbers(name: str, scores: Sequence[float]) -> Floats:
    try:
        return np.array([float(score) for score in scores])
    except (TypeError, ValueError) as error:
        raise MetricFailed(f"{name}: score() must return a number for each output; {error}") from error


def _is_name(name: str) -> bool:
    """Whether a name can stand in signatures, tables and as a file's name."""
    is_plain = bool(name.strip()) and name.isprintable() and not set(name) & set("|(),/\\")
    return is_plain and len(urllib.parse.quote(name)) <= _LONGEST_NAME


def _first_line(text: str | None) -> str:
    return next(iter((text or "").strip().splitlines()), "")


def _fewer(function: object) -> tuple[str, ...] | None:
    """What a file's function names where it takes less than outputs, references and inputs; else it is given all."""
    try:
        named = tuple(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return named if 0 < len(named) < len(PARAMETERS) and set(named) <= set(PARAMETERS) else None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error


def _changed(path: Path) -> MetricFailed:
    return MetricFailed(f"{path} has changed while it was in use; run the same command again")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


@cache
def _function(path: Path, digest: str) -> Score:
    """The function in a file whose content is still the one that the signature names."""
    if _digest(_content(path)) != digest:
        raise _changed(path)
    score: Score = _module(path, digest).score
    return score


@cache
def _module(path: Path, digest: str) -> ModuleType:
    """The file as a module of its own; it may import its neighbours.

    What runs is what the digest names. Python itself would take compiled code that it kept from an earlier content,
    where the file was changed within a second and is as long as before.
    """
    content = _content(path)
    if _digest(content) != digest:
        raise _changed(path)
    spec: Any = importlib.util.spec_from_file_location(f"billboards_metric_{digest}", path)
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
    except Exception as error:  # anybody's code may raise anything, and whoever wrote it wants to know what
        raise InvalidInput(f"{path}: can't be loaded: {type(error).__name__}: {error}") from error
    return module


def _function_digest(function: FunctionType) -> str:
    return hashlib.sha256("\n".join(_code(function, set())).encode()).hexdigest()[:32]


def _code(function: FunctionType, seen: set[FunctionType]) -> list[str]:
    """What a function does, in words: its source, and the values and functions around it that it uses."""
    seen.add(function)
    try:
        lines = [inspect.getsource(function)]
    except (OSError, TypeError, SyntaxError, tokenize.TokenError):
        # Typed in where no source is kept, or run from within a page: the compiled code says the same, for this Python.
        lines = [function.__code__.co_code.hex(), repr(function.__code__.co_consts), repr(function.__code__.co_names)]
    around = inspect.getclosurevars(function)
    lines.append(_described((function.__defaults__, function.__kwdefaults__)))
    for name, value in sorted({**around.globals, **around.nonlocals}.items()):
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            lines += _code(value, seen) if value not in seen else ()
        else:
            lines.append(f"{name}={_described(value)}")
    return lines


def _described(value: object) -> str:
    """A value that a function uses: plain data as it is, anything else by its kind alone."""
    if isinstance(value, str | int | float | bool | None):
        return repr(value)
    if isinstance(value, list | tuple | set | frozenset):
        inner = list(map(_described, value))
        return f"{type(value).__name__}({','.join(sorted(inner) if isinstance(value, set | frozenset) else inner)})"
    if isinstance(value, dict):
        return f"dict({','.join(f'{_described(key)}:{_described(kept)}' for key, kept in value.items())})"
    return f"{type(value).__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"


def _is_typed_in(module: ModuleType | None) -> bool:
    """Whether a module is a session at a keyboard, which another process can't read."""
    return module is not None and module.__name__ == "__main__" and getattr(module, "__file__", None) is None
