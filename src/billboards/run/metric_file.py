"""A metric in one Python file of one's own, run as it stands: `score(outputs, references, inputs)`, one number each.

It is the same function that a site takes as `metric.py`, so what was tried at home can be sent in. Here it runs in this
process, with all rights of whoever asked for it: only run files that you trust. The file may say `NAME`, `NEEDS` (a
list of "references" and "input", by default references) and `HIGHER_IS_BETTER`; its docstring is the summary. A digest
of the file stands in the signature, so a changed file is another column.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.board.names import file_name_mistake
from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Batch, Metric, MetricCard
from billboards.run.manifest import NEEDS

Floats = NDArray[np.float64]
Score = Callable[[list[str], list[list[str]], list[str]], Sequence[float]]


@dataclass(frozen=True)
class FileMetric(Metric):
    """The function `score` of a file; it is called once per generator, with every reference of each output."""

    card: MetricCard  # type: ignore[misc]  # a file's card is its own, not its class's
    path: Path
    digest: str
    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def signature(self) -> str:
        needs = [need for need, is_needed in zip(NEEDS, _needs(self.card), strict=True) if is_needed]
        higher = "yes" if self.card.higher_is_better else "no"
        return f"{self.name}|file:{self.digest}|needs:{'+'.join(needs) or 'none'}|higher_is_better:{higher}"

    def score(self, batch: Batch) -> Floats:
        references = [list(texts) for texts in batch.references] or [[] for _ in batch.outputs]
        inputs = list(batch.inputs) or ["" for _ in batch.outputs]
        found = _function(self.path, self.digest)(list(batch.outputs), references, inputs)
        try:
            return np.array([float(score) for score in found])
        except (TypeError, ValueError) as error:
            raise MetricFailed(f"{self.name}: score() must return a number for each output; {error}") from error


def open_metric_file(path: str | Path) -> FileMetric:
    """The metric in a Python file; `InvalidInput` says what it lacks."""
    file = Path(path).absolute()
    if file.suffix != ".py" or not file.is_file():
        raise InvalidInput(f"{path}: is no Python file; a metric is a file with score(outputs, references, inputs)")
    digest = _digest(file)
    module = _module(file, digest)
    name, needs = getattr(module, "NAME", file.stem), getattr(module, "NEEDS", ["references"])
    higher = getattr(module, "HIGHER_IS_BETTER", True)
    if not isinstance(name, str) or file_name_mistake(name) or set(name) & set("|(),"):
        raise InvalidInput(f"{path}: NAME must be a name without | ( ) , and slashes; found {name!r}")
    if not isinstance(needs, list | tuple) or not set(needs) <= set(NEEDS):
        raise InvalidInput(f'{path}: NEEDS must be a list of "references" and "input", or empty; found {needs!r}')
    if not isinstance(higher, bool):
        raise InvalidInput(f"{path}: HIGHER_IS_BETTER must be True or False; found {higher!r}")
    if not callable(getattr(module, "score", None)):
        raise InvalidInput(f"{path}: has no function score(outputs, references, inputs)")
    summary = next(iter((module.__doc__ or "").strip().splitlines()), "")
    card = MetricCard(name, summary, "references" in needs, "input" in needs, higher_is_better=higher)
    return FileMetric(card, file, digest)


def _needs(card: MetricCard) -> tuple[bool, bool]:
    return card.needs_references, card.needs_input


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error


@cache
def _function(path: Path, digest: str) -> Score:
    """The function in a file whose content is still the one that the signature names."""
    if _digest(path) != digest:
        raise MetricFailed(f"{path} has changed while it was in use; run the same command again")
    score: Score = _module(path, digest).score
    return score


@cache
def _module(path: Path, digest: str) -> ModuleType:
    """The file as a module of its own; it may import its neighbours."""
    spec: Any = importlib.util.spec_from_file_location(f"billboards_metric_{digest}", path)
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # anybody's code may raise anything, and whoever wrote it wants to know what
        raise InvalidInput(f"{path}: can't be loaded: {type(error).__name__}: {error}") from error
    return module
