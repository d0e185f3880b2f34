"""Families of ensembles on a board: which outputs they learn from, which family is taken, and its scores of any output.

What is fitted depends on judged rows alone: means over other generators are over the judged ones. So a newcomer's
outputs change no ensemble, and what was chosen and fitted once is kept in memory for the next ranking.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, Scores, Slice
from billboards.ensembles import FAMILIES, Family
from billboards.ensembles._choosing import Choice, choose_family, why_too_few
from billboards.ensembles._held_out import Fitted, HeldOut, Judged, Scheme, fit_family, predict_held_out
from billboards.ensembles._inputs import lengths, make_cells, read_filling
from billboards.ensembles._intervals import Interval, error_quantiles, widened
from billboards.ensembles._models import read_model
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.options import Named
from billboards.stats.within_items import within_items

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Made = TypeVar("Made")

#: Asked for instead of a family: the small one, unless another is significantly better.
AUTO = "auto"
FAMILY_WORDS = "auto, lasso (the paper's), best-subset, ridge, boosting or stacking; auto: lasso, unless one is better"
#: The option that names a family, the same for every analysis.
FamilyOption = Annotated[str, Named(name="ensemble", metavar="FAMILY"), FAMILY_WORDS]
#: Families that take a few metrics with a weight each, so that a formula says all.
SMALL = ("lasso", "best-subset")
#: What `auto` tries, in this order: each must beat the one before.
TRIED = ("lasso", "best-subset", "ridge", "stacking")
#: A metric that has scored less than this share of the judged outputs takes no part.
FEWEST_SCORED = 0.5
#: An output with fewer of its metrics' scores than this share is not scored.
FEWEST_PRESENT = 0.5
#: The largest model that is read from a document, in numbers of inputs.
MOST_INPUTS = 5000


@dataclass(frozen=True, kw_only=True)
class Learning:
    """What a family learns from: the metrics, the judged outputs, and the rows that means are over."""

    metrics: tuple[str, ...]
    columns: tuple[int, ...]
    judged: Judged
    #: Where each judged output stands.
    rows: NDArray[np.intp]
    instances: NDArray[np.intp]
    among: Bools
    left_out: Mapping[str, str]


def learning_of(board: Board, scores: Scores, human: Floats, part: Slice) -> Learning:
    """The judged outputs of a board, or of a part of it, as families see them."""
    judged = np.isfinite(human)
    left_out: dict[str, str] = {}
    columns: list[int] = []
    for k, column in enumerate(scores.columns):
        values = scores.values[k]
        scored = np.isfinite(values) & judged
        if column.is_statistic:
            left_out[column.name] = "a statistic, not a metric"
        elif column.scores_only:
            left_out[column.name] = "scores only: it can't score generators that come later"
        elif scored.sum() < FEWEST_SCORED * judged.sum():
            left_out[column.name] = f"scores {int(scored.sum())} of {int(judged.sum())} judged outputs"
        elif np.ptp(values[scored]) == 0:
            left_out[column.name] = "has the same score for every judged output"
        else:
            columns.append(k)
    if not columns:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items()) or "there are no scores"
        raise NotEnoughData(f"no metric can join an ensemble ({reasons})")
    among = np.asarray(judged.any(axis=1), bool)
    own = np.flatnonzero(among)
    everyone = np.ones(len(own), bool)
    length = output_lengths(board, part, _board_rows(board, scores, own))
    cells = make_cells([scores.values[k][own] for k in columns], length, everyone)
    any_score = np.isfinite(cells.own[:-1]).any(axis=0)
    place, instances = np.nonzero(judged[own] & any_score)
    rows = own[place]
    here = instances_in(board, part)
    documents = np.unique([board.documents[k] for k in here], return_inverse=True)[1]
    return Learning(
        metrics=tuple(scores.columns[k].name for k in columns),
        columns=tuple(columns),
        judged=Judged(
            table=cells.at(place, instances),
            target=human[rows, instances],
            generator=rows.astype(np.int64),
            document=documents[instances].astype(np.int64),
        ),
        rows=rows,
        instances=np.asarray(here, np.intp)[instances],
        among=among,
        left_out=left_out,
    )


def _board_rows(board: Board, scores: Scores, rows: NDArray[np.intp]) -> list[int]:
    """Where rows of a matrix, which may hold some of a board's alone, stand on the board."""
    return [board.row_position[scores.rows[row]] for row in rows]


def instances_in(board: Board, part: Slice) -> Sequence[int]:
    """The instances of a part, by position."""
    return list(board.select(part)) if part else range(len(board.instances))


def output_lengths(board: Board, part: Slice, rows: Iterable[int] | None = None) -> Floats:
    """The length of every output of a part, or of some rows of it, as ensembles see it (rows × instances)."""
    chosen = board.rows if rows is None else [board.rows[row] for row in rows]
    here = instances_in(board, part)
    return lengths([[row.texts[k] for k in here] for row in chosen])


def family_named(name: str) -> Family:
    """A family by name."""
    if name == AUTO or name not in FAMILIES:
        raise UnknownName("ensemble", name, [AUTO, *FAMILIES])
    return FAMILIES.load(name)


def family_where_hidden(name: str, *, hidden: bool) -> str:
    """The family that may be used: where judgments are hidden, a model of many numbers would tell them."""
    return TRIED[0] if hidden and name not in SMALL else name


def choose_for(learning: Learning, *, k: int, seed: int = 0) -> Choice:
    """The family that makes the board's ensemble."""
    if why_too_few(learning.judged) is not None:
        return Choice(name=TRIED[0], reached={})

    def unseen(name: str) -> Callable[[], Floats]:
        return lambda: held_out_of(learning, name, k=k, seed=seed).predicted

    return choose_family(learning.judged, {name: unseen(name) for name in TRIED}, seed=seed)


def held_out_of(learning: Learning, name: str, scheme: Scheme = "both", *, k: int = 3, seed: int = 0) -> HeldOut:
    """What a family says of outputs that it has not seen; what it would say without each metric is made on demand."""
    family = family_named(name)
    return _kept(
        ("held out", name, scheme, k, seed),
        learning,
        lambda: predict_held_out(family, learning.judged, scheme, k=k, seed=seed),
    )


def within_of(learning: Learning, held_out: HeldOut) -> float | None:
    """The correlation of differences between outputs of one instance, on unseen outputs; None where undefined."""
    rows, instances = (np.unique(place, return_inverse=True)[1] for place in (learning.rows, learning.instances))
    shape = (int(rows.max()) + 1, int(instances.max()) + 1)
    predicted, human = np.full(shape, np.nan), np.full(shape, np.nan)
    predicted[rows, instances], human[rows, instances] = held_out.predicted, learning.judged.target
    (within,) = within_items(predicted[np.newaxis], human).r
    return float(within) if np.isfinite(within) else None


@dataclass(frozen=True, kw_only=True)
class FittedFamily:
    """A family's model of a board, the interval of its predictions, and the wider ones where a metric is missing."""

    fitted: Fitted
    correlation: float
    interval: Interval
    wider: Mapping[str, Interval]


def fit_named(learning: Learning, name: str, *, k: int, seed: int = 0) -> FittedFamily:
    """A family fitted on all judged outputs, and how far it is from people on those that a fit has not seen."""

    def fit() -> FittedFamily:
        judged = learning.judged
        if len(np.unique(judged.generator)) < 2 or len(np.unique(judged.document)) < 2:
            raise NotEnoughData(
                "an ensemble needs judgments of 2 generators in 2 documents, so that some can be held out"
            )
        held_out = held_out_of(learning, name, k=k, seed=seed)
        errors = judged.target - held_out.raw
        moved = held_out.raw - held_out.predicted
        return FittedFamily(
            fitted=fit_family(family_named(name), judged, k=k, seed=seed),
            correlation=held_out.correlation(judged),
            interval=error_quantiles(errors, judged.document),
            wider={
                metric: error_quantiles(judged.target - (without + moved), judged.document)
                for metric, without in zip(learning.metrics, held_out.without, strict=True)
            },
        )

    return _kept(("fit", name, k, seed), learning, fit)


def model_document(learning: Learning, family: FittedFamily, row_names: Sequence[str]) -> dict[str, Any]:
    """All that is needed to use a model elsewhere."""
    fitted = family.fitted
    return {
        "metrics": list(learning.metrics),
        "items": fitted.items,
        "means_over": [name for name, is_in in zip(row_names, learning.among, strict=True) if is_in],
        "filling": fitted.filling.document(),
        "model": fitted.model.document(),
    }


def read_fitted(document: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...], Fitted]:
    """The metrics, the rows that means are over, and the model of a document."""
    try:
        metrics = tuple(map(str, document["metrics"]))
        among = tuple(map(str, document["means_over"]))
        items = bool(document["items"])
        if not 1 <= len(metrics) <= MOST_INPUTS:
            raise ValueError("too many metrics, or none")
        filling = read_filling(document["filling"], 2 * (len(metrics) + 1))
        inputs = 3 * (len(metrics) + 1) if items else len(metrics)
        model = read_model(document["model"], inputs)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"an ensemble's model is damaged ({error}); get it anew") from error
    return metrics, among, Fitted(model=model, filling=filling, items=items)


def predict_cells(
    document: Mapping[str, Any], scores: Mapping[str, Floats], length: Floats, rows: Sequence[str]
) -> Floats:
    """A model's scores of outputs (rows × instances); NaN where too few metrics have scored an output."""
    metrics, among, fitted = read_fitted(document)
    taking = set(among)
    inside = np.array([name in taking for name in rows], bool)
    missing = np.full(length.shape, np.nan)
    cells = make_cells([scores.get(name, missing) for name in metrics], length, inside if inside.any() else ~inside)
    scored = np.isfinite(cells.own[:-1]).mean(axis=0) >= FEWEST_PRESENT
    predicted = np.full(length.shape, np.nan)
    place = np.nonzero(scored)
    if len(place[0]):
        predicted[place] = fitted.predict(cells.at(*place))
    return predicted


def interval_without(interval: Interval, wider: Mapping[str, Interval], missing: Sequence[str]) -> Interval:
    """What to add to a prediction that lacks some metrics."""
    return widened(interval, [wider[name] for name in missing if name in wider])


_MADE: OrderedDict[str, Any] = OrderedDict()
_LOCK = Lock()
#: Results that are kept in memory.
MOST_KEPT = 16


def _kept(what: tuple[Any, ...], learning: Learning, make: Callable[[], Made]) -> Made:
    """A result from memory, where the same was made before of the same outputs."""
    judged = learning.judged
    digest = hashlib.sha256(repr((what, judged.table.shape)).encode())
    for array in (judged.table, judged.target, judged.generator, judged.document):
        digest.update(np.ascontiguousarray(array).tobytes())
    key = digest.hexdigest()
    with _LOCK:
        if key in _MADE:
            _MADE.move_to_end(key)
            made: Made = _MADE[key]
            return made
    made = make()
    with _LOCK:
        _MADE[key] = made
        while len(_MADE) > MOST_KEPT:
            _MADE.popitem(last=False)
    return made
