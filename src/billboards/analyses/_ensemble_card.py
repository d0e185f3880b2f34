"""The card of an ensemble: how good it is on what it has not seen, what each metric adds, for whom it errs.

Everything is about predictions of unseen generators in unseen documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._families import Learning, held_out_of
from billboards.board import Board
from billboards.ensembles._held_out import SCHEMES, parts_of, pearson
from billboards.ensembles._intervals import coverage
from billboards.show.table import Table, TableColumn, finite
from billboards.show.words import value_text

Floats = NDArray[np.float64]

#: Parts that predictions are cut into, from low to high.
PARTS = 5
#: Groups with fewer judged outputs are not shown.
FEWEST = 10
LENGTHS = ("short", "middle", "long")


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorGroup:
    """How an ensemble errs on a group of outputs: by generator, domain or length."""

    kind: str
    name: str
    n: int
    #: How much too high it is in the mean; below 0 it is too low.
    too_high: float
    #: The typical error (root mean square).
    error: float
    correlation: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrationPart:
    """Outputs with like predictions: what was predicted in the mean, and what people said."""

    n: int
    predicted: float
    people: float


@dataclass(frozen=True, kw_only=True)
class EnsembleCard:
    """What is known of an ensemble from outputs that its fit has not seen."""

    #: Correlation with people by what was unseen: "both", "generators", "documents".
    held_out: Mapping[str, float]
    #: How much the correlation falls where a metric is missing and the others stand in for it.
    adds: Mapping[str, float]
    groups: tuple[ErrorGroup, ...]
    calibration: tuple[CalibrationPart, ...]
    #: The slope of people's values on predictions: 1 is right, less says that predictions lie too far apart.
    slope: float | None
    #: The share of people's values inside intervals made for unseen generators and documents.
    covered: float | None
    interval: tuple[float, float] | None = None


def make_card(
    board: Board, learning: Learning, method: str, *, k: int, interval: tuple[float, float] | None
) -> EnsembleCard | None:
    """The card of a family on a board; None where nothing can be held out."""
    judged = learning.judged
    if len(np.unique(judged.generator)) < 3 or len(np.unique(judged.document)) < 3:
        return None
    held_out = {scheme: held_out_of(learning, method, scheme, k=k) for scheme in SCHEMES}
    both = held_out["both"]
    reached: dict[str, float] = {scheme: predictions.correlation(judged) for scheme, predictions in held_out.items()}
    adds = {
        name: reached["both"] - pearson(without, judged.target)
        for name, without in zip(learning.metrics, both.without, strict=True)
    }
    centred = both.predicted - both.predicted.mean()
    spread = float(centred @ centred)
    slope = float(centred @ judged.target / spread) if spread > 0 else None
    return EnsembleCard(
        held_out=reached,
        adds=dict(sorted(adds.items(), key=lambda item: -item[1])),
        groups=tuple(_groups(board, learning, both.predicted)),
        calibration=_calibration(both.predicted, judged.target),
        slope=slope,
        covered=coverage(both, judged, parts_of(judged, "both")),
        interval=interval,
    )


def _groups(board: Board, learning: Learning, predicted: Floats) -> Iterator[ErrorGroup]:
    judged = learning.judged
    generators = [board.rows[row].name for row in learning.rows]
    domains = [board.instances[k].domain or "" for k in learning.instances]
    length = judged.table[:, judged.metrics]
    cuts = np.nanquantile(length, [1 / 3, 2 / 3])
    sizes = [LENGTHS[int(np.searchsorted(cuts, value))] for value in length]
    for kind, names in (("generator", generators), ("domain", domains), ("length", sizes)):
        distinct = dict.fromkeys(names) if kind != "length" else dict.fromkeys(LENGTHS)
        if kind == "domain" and len(distinct) < 2:
            continue
        labels = np.array(names)
        for name in distinct:
            group = labels == name
            if group.sum() < FEWEST:
                continue
            errors = predicted[group] - judged.target[group]
            yield ErrorGroup(
                kind=kind,
                name=name or "none",
                n=int(group.sum()),
                too_high=float(errors.mean()),
                error=float(np.sqrt((errors**2).mean())),
                correlation=finite(pearson(predicted[group], judged.target[group])),
            )


def _calibration(predicted: Floats, target: Floats) -> tuple[CalibrationPart, ...]:
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, PARTS) if len(part)]
    return tuple(
        CalibrationPart(n=len(part), predicted=float(predicted[part].mean()), people=float(target[part].mean()))
        for part in parts
    )


def card_tables(board: str, card: EnsembleCard, reached_by_others: Mapping[str, float]) -> Sequence[Table]:
    """The card as tables: how good it is, what each metric adds, for whom it errs."""
    return _schemes_table(board, card, reached_by_others), _adds_table(board, card), _groups_table(board, card)


def _schemes_table(board: str, card: EnsembleCard, others: Mapping[str, float]) -> Table:
    both = card.held_out["both"]
    names = {"both": "generators and documents", "generators": "generators", "documents": "documents"}
    rows = [
        {"unseen": names[scheme], "correlation": finite(r), "optimism": finite(r - both) if scheme != "both" else None}
        for scheme, r in card.held_out.items()
    ]
    rows += [{"unseen": f"both, {name}", "correlation": finite(r), "optimism": None} for name, r in others.items()]
    columns = (
        TableColumn("unseen", "what the fit has not seen", "left"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("optimism", "too good by", digits=3, kind="change"),
    )
    notes = ["A fit that has seen the instances, or the generators, looks better than it is on new ones."]
    if card.slope is not None:
        notes.append(
            f"Where predictions differ by 1, people's values differ by {value_text(card.slope, 2)} (1 is right)."
        )
    if card.interval is not None and card.covered is not None:
        low, high = card.interval
        notes.append(
            f"Intervals of single predictions reach from {value_text(low, 1)} to {value_text(high, 1)} around them; "
            f"on unseen generators and documents they hold {100 * card.covered:.1f}% of people's values (95% wanted)."
        )
    return Table(f"{board}: the ensemble on what it has not seen", columns, tuple(rows), tuple(notes), "unseen")


def _adds_table(board: str, card: EnsembleCard) -> Table:
    rows = tuple({"name": name, "adds": finite(value)} for name, value in card.adds.items())
    columns = (TableColumn("name", "metric", "left"), TableColumn("adds", "adds", digits=3, kind="change"))
    note = (
        "How much the correlation on unseen outputs falls where the metric is missing and the others stand in for it."
    )
    return Table(f"{board}: what the ensemble would miss", columns, rows, (note,), "missed")


def _groups_table(board: str, card: EnsembleCard) -> Table:
    rows = tuple(
        {
            "kind": group.kind,
            "name": group.name,
            "n": group.n,
            "too_high": finite(group.too_high),
            "error": finite(group.error),
            "correlation": group.correlation,
        }
        for group in card.groups
    )
    columns = (
        TableColumn("kind", "by", "left"),
        TableColumn("name", "group", "left"),
        TableColumn("n", "n", digits=0),
        TableColumn("too_high", "too high by", digits=1, kind="change"),
        TableColumn("error", "typical error", digits=1),
        TableColumn("correlation", "correlation", digits=3),
    )
    note = "Predictions of unseen generators in unseen documents, less what people said."
    return Table(f"{board}: for whom the ensemble errs", columns, rows, (note,), "errs")
