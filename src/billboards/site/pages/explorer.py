"""Outputs one by one: found by text, score, generator, part of the board, or by how far two scores disagree on them.

Disagreement is a metric's standardised score minus people's, or minus another metric's, over the outputs that have
both: above 0 the metric scores the output higher. Everything is found on the matrix at once, so that a board of a
hundred thousand outputs answers in a fraction of a second; only one page of texts is put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._view import JudgedMatrix
from billboards.analyses.ensemble import ENSEMBLE, Ensemble, ensemble_scores
from billboards.board import Board, Instance, Slice
from billboards.errors import InvalidInput, UnknownName
from billboards.show.words import headed

Floats = NDArray[np.float64]

PEOPLE = "people"
PAGE = 25
Sort = Literal["instance", "disagreement", "kinder", "harsher", "best", "worst"]
SORTS: Mapping[Sort, str] = {
    "instance": "in the board's order",
    "disagreement": "largest disagreement first",
    "kinder": "metric higher than the other first",
    "harsher": "metric lower than the other first",
    "best": "best first",
    "worst": "worst first",
}
#: Where a text is searched for.
Within = Literal["", "source", "reference", "output"]
WITHINS: Mapping[Within, str] = {
    "": "anywhere",
    "source": "in the source",
    "reference": "in a reference",
    "output": "in the output",
}
#: Which outputs are asked for, by what people said of them.
Judgment = Literal["", "judged", "unjudged", "errors"]
JUDGMENTS: Mapping[Judgment, str] = {
    "": "all",
    "judged": "judged by people",
    "unjudged": "not judged",
    "errors": "with marked errors",
}


@dataclass(frozen=True)
class Matrix:
    """Every score of a board by name, people's and the ensemble's among them; rows × instances, NaN where missing."""

    view: JudgedMatrix
    ensemble: Ensemble | None
    board: Board

    @cached_property
    def names(self) -> tuple[str, ...]:
        fitted = (ENSEMBLE,) if self._is_complete else ()
        return (*fitted, *self.view.scores.names)

    @cached_property
    def _is_complete(self) -> bool:
        """Whether the ensemble can be computed: between two rankings a metric of it may have gone or changed."""
        available = {(column.name, column.signature) for column in self.view.scores.columns}
        return self.ensemble is not None and set(self.ensemble.signatures.items()) <= available

    @cached_property
    def has_people(self) -> bool:
        return bool(np.isfinite(self.view.human).any())

    @cached_property
    def _ensemble_scores(self) -> Floats:
        assert self.ensemble is not None
        return ensemble_scores(self.ensemble, self.view.scores, self.board)

    def of(self, name: str) -> Floats:
        """One score of every output."""
        if name == PEOPLE:
            return self.view.human
        if name == ENSEMBLE and self._is_complete:
            return self._ensemble_scores
        if name not in self.names:
            raise UnknownName("metric", name, self.names)
        return self.view.scores.of(name)

    def shown(self, name: str) -> Floats:
        """One score of every output as its users know it: where lower is better, it is turned back."""
        return self.view.scores.natural(name) if name in self.view.scores.names else self.of(name)

    def head(self, name: str) -> str:
        """A score's name, with an arrow where lower is better."""
        return headed(name, higher_is_better=name not in self._lower)

    @cached_property
    def _lower(self) -> frozenset[str]:
        return frozenset(column.name for column in self.view.scores.columns if not column.higher_is_better)

    def disagreement(self, name: str, other: str = PEOPLE) -> Floats:
        """How much higher a metric scores each output than people, or than another metric, in standard deviations."""
        scores, others = self.of(name), self.of(other)
        both = np.isfinite(scores) & np.isfinite(others)
        if both.sum() < 2:
            return np.full(scores.shape, np.nan)
        return _standardised(scores, both) - _standardised(others, both)


def _standardised(values: Floats, used: NDArray[np.bool_]) -> Floats:
    chosen = np.where(used, values, np.nan)
    spread = float(np.nanstd(chosen))
    standardised: Floats = (chosen - np.nanmean(chosen)) / (spread if spread > 0 else 1.0)
    return standardised


@dataclass(frozen=True, slots=True)
class Search:
    """What a reader looks for."""

    text: str = ""
    within: Within = ""
    metric: str = ""
    #: What the metric is held against: people, or another metric.
    versus: str = PEOPLE
    judgment: Judgment = ""
    domain: str = ""
    document: str = ""
    tag: str = ""
    generator: str = ""
    low: float | None = None
    high: float | None = None
    people_low: float | None = None
    people_high: float | None = None
    disputed: float | None = None
    sort: Sort = "instance"
    page: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """One output with what is said of it."""

    instance: str
    input: str
    generator: str
    text: str
    people: float | None
    score: float | None
    disagreement: float | None


@dataclass(frozen=True, slots=True)
class OutputPage:
    """A page of outputs, and how many there are."""

    outputs: tuple[Output, ...]
    total: int
    page: int
    last: int


def explore(board: Board, matrix: Matrix, search: Search) -> OutputPage:
    """The outputs that a search finds, one page of them."""
    scores, people = matrix.of(search.metric), matrix.view.human
    disputed = matrix.disagreement(search.metric, search.versus)
    scored = matrix.shown(search.metric)
    chosen = _having_text(board, search) & _within(scored, search.low, search.high)
    chosen &= _in_part(board, search)[None, :]
    if search.judgment:
        chosen &= _judged(board, people, search.judgment)
    chosen &= _within(people, search.people_low, search.people_high)
    if search.disputed is not None:
        chosen &= np.abs(np.nan_to_num(disputed)) >= search.disputed
    if search.sort in ("disagreement", "kinder", "harsher"):
        chosen &= np.isfinite(disputed)
    rows, instances = np.nonzero(chosen)
    order = _order(search.sort, rows, instances, scores[rows, instances], disputed[rows, instances])
    last = max(1, -(-len(order) // PAGE))
    page = min(max(search.page, 1), last)
    shown = order[(page - 1) * PAGE : page * PAGE]
    outputs = tuple(_output(board, int(rows[k]), int(instances[k]), scored, people, disputed) for k in shown)
    return OutputPage(outputs, len(order), page, last)


def _having_text(board: Board, search: Search) -> NDArray[np.bool_]:
    """Which outputs exist and hold the text that is searched for: in themselves, their source or a reference."""
    wanted = search.text.casefold()
    if search.generator and search.generator not in board.row_position:
        raise UnknownName("generator", search.generator, board.row_position)
    around = [not wanted or _around(instance, wanted, search.within) for instance in board.instances]
    in_outputs = search.within in ("", "output")
    matches = np.zeros((len(board.rows), len(board.instances)), bool)
    for k, row in enumerate(board.rows):
        if not search.generator or row.name == search.generator:
            matches[k] = [
                text is not None and (around[n] or (in_outputs and wanted in text.casefold()))
                for n, text in enumerate(row.texts)
            ]
    return matches


def _around(instance: Instance, wanted: str, within: Within) -> bool:
    """Whether an instance holds a text beside its outputs: in its id, its source or a reference."""
    return (
        (within == "" and wanted == instance.id.casefold())
        or (within in ("", "source") and wanted in (instance.input or "").casefold())
        or (within in ("", "reference") and any(wanted in ref.text.casefold() for ref in instance.references))
    )


def _in_part(board: Board, search: Search) -> NDArray[np.bool_]:
    """Which instances are of the domain, document and tag that are asked for."""
    part = Slice(domain=search.domain or None, document=search.document or None, tag=search.tag or None)
    chosen = np.zeros(len(board.instances), bool)
    chosen[list(board.select(part))] = True
    return chosen


def _judged(board: Board, people: Floats, wanted: Judgment) -> NDArray[np.bool_]:
    """Which outputs people judged, did not judge, or marked errors in."""
    if wanted != "errors":
        judged: NDArray[np.bool_] = np.isfinite(people)
        return judged if wanted == "judged" else ~judged
    marked = np.zeros(people.shape, bool)
    for k, detail in board.judgments.details.items():
        if detail.get("spans") and not detail.get("test"):
            marked[board.judgments.row[k], board.judgments.instance[k]] = True
    return marked


def _within(values: Floats, low: float | None, high: float | None) -> NDArray[np.bool_]:
    """Which values lie in a range; a missing one lies in no range but the unbounded."""
    if low is None and high is None:
        return np.ones(values.shape, bool)
    if low is not None and high is not None and low > high:
        raise InvalidInput(f"no score lies between {low:g} and {high:g}: the lowest asked for is above the highest")
    with np.errstate(invalid="ignore"):
        inside = np.isfinite(values)
        inside &= values >= (-np.inf if low is None else low)
        inside &= values <= (np.inf if high is None else high)
    return inside


def _order(
    sort: Sort, rows: NDArray[np.intp], instances: NDArray[np.intp], scores: Floats, disputed: Floats
) -> list[int]:
    """Positions in the order asked for; what has no value stands last."""
    keys: dict[Sort, Floats] = {
        "instance": instances.astype(float),
        "disagreement": -np.abs(disputed),
        "kinder": -disputed,
        "harsher": disputed,
        "best": -scores,
        "worst": scores,
    }
    return [int(k) for k in np.lexsort((rows, instances, keys[sort]))]


def _output(board: Board, row: int, k: int, scores: Floats, people: Floats, disputed: Floats) -> Output:
    instance = board.instances[k]
    return Output(
        instance=instance.id,
        input=instance.input or "",
        generator=board.rows[row].name,
        text=board.rows[row].texts[k] or "",
        people=_defined(people[row, k]),
        score=_defined(scores[row, k]),
        disagreement=_defined(disputed[row, k]),
    )


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
