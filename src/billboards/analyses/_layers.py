"""Which layer of a model to read (BERTScore, Appendix B): every layer's correlation with people on a board.

The judged outputs pass through the model once, and every layer is matched on the way. The best layer in sample looks
better than it is; the interval says how far chance alone moves a layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._view import JudgedMatrix, judged_matrix
from billboards.board import Board, ReferenceSet, Slice
from billboards.board.missing_cells import Cell, cell_batch, column_key
from billboards.errors import NotEnoughData
from billboards.metrics.base import Batch, Metric
from billboards.metrics.neural.bertscore import BERTScore
from billboards.show.table import Table, TableColumn
from billboards.stats.bootstrap import Interval
from billboards.stats.correlation import pearson_with_intervals

Floats = NDArray[np.float64]
PARTS = ("P", "R", "F1")


@dataclass(frozen=True, slots=True)
class LayerStanding:
    """One layer: the correlation of P, R and F1 with people, and the interval of the last."""

    layer: int
    precision: float | None
    recall: float | None
    f1: float | None
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class LayerStudy:
    """Every layer of a model on one board, over `n` judged outputs; `best` is the layer whose F1 agrees best."""

    board: str
    model: str
    idf: bool
    aggregate: str
    part: str
    references: ReferenceSet
    n: int
    draws: int
    seed: int
    layers: tuple[LayerStanding, ...]
    best: int


def tune_layer(
    board: Board,
    metric: BERTScore,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> LayerStudy:
    """The correlation of P, R and F1 of every layer with people, and the layer whose F1 correlates best."""
    view = judged_view(board, "a layer is chosen", aggregate=aggregate, references=references, part=part)
    scores = score_judged(board, metric, view, lambda batches: list(map(_parts_first, metric.score_layers(batches))))
    correlations = pearson_with_intervals(scores, view.judged_human, draws=draws, seed=seed)
    r, low, high = (values.reshape(-1, len(PARTS)) for values in (correlations.r, correlations.low, correlations.high))
    if np.isnan(r[:, 2]).all():
        raise NotEnoughData(f"board {board.name}: no layer's scores vary together with the judgments")
    standings = tuple(_standing(layer, r[layer], (low[layer, 2], high[layer, 2])) for layer in range(len(r)))
    return LayerStudy(
        board=board.name,
        model=metric.model,
        idf=metric.idf,
        aggregate=view.aggregate,
        part=str(view.part),
        references=view.references,
        n=int(correlations.n[2]),
        draws=draws,
        seed=seed,
        layers=standings,
        best=int(np.nanargmax(r[:, 2])),
    )


def _parts_first(scores: Floats) -> Floats:
    """Layers × outputs × parts as one row for each part of each layer."""
    return scores.transpose(0, 2, 1).reshape(-1, scores.shape[1])


def judged_view(
    board: Board, what: str, *, aggregate: str | None, references: ReferenceSet | None, part: Slice | None
) -> JudgedMatrix:
    """A board's view with judged outputs and references, which `what` needs."""
    view = judged_matrix(board, None, aggregate=aggregate, references=references, part=part)
    if not view.judged.any() or not view.references:
        raise NotEnoughData(f"board {board.name}: {what} on judged outputs that have references; none here")
    return view


def score_judged(
    board: Board, metric: Metric, view: JudgedMatrix, score: Callable[[list[Batch]], list[Floats]]
) -> Floats:
    """The judged rows' scores as variants × rows × instances of the slice, NaN elsewhere.

    `score` gives variants × outputs for the batch of each row.
    """
    judged = np.flatnonzero(view.judged)
    key = column_key(board, metric, view.references)
    batches = [cell_batch(board, Cell(metric, key, board.rows[row])) for row in judged]
    scored = score([batch for batch, _ in batches])
    scores = np.full((len(scored[0]), len(board.rows), len(board.instances)), np.nan)
    for row, (_, positions), own in zip(judged, batches, scored, strict=True):
        scores[:, row, positions] = own
    return scores[..., list(board.select(view.part))] if view.part else scores


def _standing(layer: int, r: Floats, ends: Interval) -> LayerStanding:
    precision, recall, f1 = map(number_or_none, r)
    low, high = map(number_or_none, ends)
    return LayerStanding(layer, precision, recall, f1, None if low is None or high is None else (low, high))


def number_or_none(value: float) -> float | None:
    """A number, or None where there is none."""
    return float(value) if np.isfinite(value) else None


def layers_table(study: LayerStudy) -> Table:
    """Correlations of P, R and F1 with people, layer by layer."""
    columns = (
        TableColumn("layer", "layer"),
        TableColumn("precision", "P", digits=3),
        TableColumn("recall", "R", digits=3),
        TableColumn("f1", "F1", digits=3),
        TableColumn("interval", "95% interval of F1", digits=3, kind="interval"),
        TableColumn("best", "", "left"),
    )
    rows = tuple(
        {
            "layer": standing.layer,
            "precision": standing.precision,
            "recall": standing.recall,
            "f1": standing.f1,
            "interval": standing.interval,
            "best": "best" if standing.layer == study.best else "",
        }
        for standing in study.layers
    )
    weighting = ", idf" if study.idf else ""
    title = f"{study.board}: BERTScore by layer of {study.model}{weighting} ({study.aggregate})"
    facts = (
        f"Pearson with people over {study.n:,} outputs, references {', '.join(study.references)}; part: {study.part}.",
        "The best of several layers looks better here than it will elsewhere.",
    )
    return Table(title, columns, rows, facts)
