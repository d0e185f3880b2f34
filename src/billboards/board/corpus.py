"""Corpus values: what a generator scores under a metric as a whole, with an interval.

BLEU, chrF, TER and others are defined on a corpus: their value is the score of the summed counts of its outputs, and
not the mean of sentence scores. Counts are kept beside the cells, so any part of a board (a domain, the first hundred
instances) and any resampled corpus is scored without its texts. For other metrics the value is the mean.

Intervals are sacreBLEU's bootstrap (`stats.resampling`). Every generator and metric sees the same draws, so that
differences between them may be compared draw by draw; a generator that lacks outputs has draws of the instances that it
has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.board.cells import CellStore, ColumnKey, Floats
from billboards.board.missing_cells import Declared
from billboards.board.model import Board
from billboards.errors import BillboardsError, InvalidInput
from billboards.metrics.base import CorpusKind, Counts, Metric
from billboards.metrics.corpus import CorpusValue, mean_values, summed_values
from billboards.metrics.discovery import board_metric
from billboards.metrics.summed import SummedMetric
from billboards.stats.resampling import DRAWS, SEED, TRIALS, Resampling, Swaps, randomisation_p

Positions = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class CorpusColumn:
    """The values of generators under one metric."""

    key: ColumnKey
    #: Whether a value is the score of summed counts, of all outputs together, or the mean of sentence scores.
    kind: CorpusKind
    higher_is_better: bool
    #: What a paper cites: for sacreBLEU's metrics its own signature; None where the metric can't be opened here.
    signature: str | None
    #: By the row's name.
    values: Mapping[str, CorpusValue]
    #: Rows whose cells have no counts: they were scored by version 0.1; scoring the board again fills them in.
    without_counts: tuple[str, ...] = ()


def corpus_values(
    board: Board,
    store: CellStore,
    columns: Sequence[ColumnKey],
    *,
    instances: Sequence[int] | NDArray[np.integer] | NDArray[np.bool_] | None = None,
    metrics: Mapping[str, Declared] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    kept: Callable[[ColumnKey], MutableMapping[str, CorpusValue]] | None = None,
) -> tuple[CorpusColumn, ...]:
    """The value of every row of a board that has scores under these own columns, with its interval.

    board: the board whose rows are asked for.
    store: where its cells are kept.
    columns: own columns, as `store.columns()` lists them.
    instances: positions of the instances that count, or a mask over all of them (default: all).
    metrics: metrics by their signatures, or what is known of them, for columns whose name alone does not say it: a
        file's, a function's, a submitted program's.
    draws: resampled corpora for the intervals; 0 for none.
    seed: the seed of the draws.
    kept: values of a column that were computed before with the same instances, draws and seed, by the versions of their
        rows; new ones are added.
    """
    chosen = _positions(board, instances)
    resampling = Resampling(draws, seed)
    opened = dict(metrics or {})
    return tuple(
        _column(
            board,
            store,
            key,
            chosen,
            _metric_of(board, key, opened),
            resampling,
            {} if kept is None else kept(key),
        )
        for key in columns
    )


def has_corpus_value(board: Board, key: ColumnKey) -> bool:
    """Whether a column's metric is defined on a corpus, so that its value is not the mean of its scores."""
    metric = _metric_of(board, key, {})
    return isinstance(metric, Metric) and metric.corpus != "mean"


def corpus_tests(
    board: Board,
    store: CellStore,
    key: ColumnKey,
    entry: str,
    *,
    instances: Sequence[int] | None = None,
    trials: int = TRIALS,
    seed: int = SEED,
    kept: MutableMapping[str, float] | None = None,
) -> dict[str, float]:
    """P-values of approximate randomisation between the corpus value of one row and that of each other row.

    Each pair is tested on the instances that both have scores on; rows without counts are left out.

    board: the board whose rows are asked for.
    store: where its cells are kept.
    key: an own column whose values come from summed counts.
    entry: the row that the others are tested against.
    instances: positions of the instances that count (default: all).
    trials: how often the two exchange rows at random.
    seed: the seed of the trials.
    kept: p-values against the same row that were computed before, by the versions of their rows; new ones are added.
    """
    metric, kept = _metric_of(board, key, {}), {} if kept is None else kept
    rows = {row.name: row.version for row in board.rows if not board.is_reference(row, key.column.references)}
    if not isinstance(metric, SummedMetric) or entry not in rows:
        return {}
    asked = {rows[entry], *(version for version in rows.values() if version not in kept)}
    counts = store.load_counts(key, asked)
    if rows[entry] not in counts:
        return {}
    cells = store.load(key, asked)
    chosen, swaps = _positions(board, instances), Swaps(trials, seed)
    tests: dict[str, float] = {}
    for name, version in rows.items():
        if name != entry and version in kept:
            tests[name] = kept[version]
        if name in tests or version not in counts or version not in cells or name == entry:
            continue
        both = chosen[np.isfinite(cells[version][chosen]) & np.isfinite(cells[rows[entry]][chosen])]
        if len(both):
            first, second = counts[rows[entry]][both], counts[version][both]
            values = [float(metric.corpus_scores_of(of.sum(axis=0)[np.newaxis])[0]) for of in (first, second)]
            difference = values[1] - values[0]
            tests[name] = randomisation_p(first, second, metric.corpus_scores_of, difference, swaps=swaps)
            kept[version] = tests[name]
    return tests


def _column(
    board: Board,
    store: CellStore,
    key: ColumnKey,
    chosen: Positions,
    metric: Declared | None,
    resampling: Resampling,
    kept: MutableMapping[str, CorpusValue],
) -> CorpusColumn:
    every = [row for row in board.rows if not board.is_reference(row, key.column.references)]
    rows = [row for row in every if row.version not in kept]
    cells = store.load(key, {row.version for row in rows}) if rows else {}
    rows = [row for row in rows if row.version in cells]
    higher = metric is None or metric.card.higher_is_better
    kind: CorpusKind = metric.corpus if isinstance(metric, Metric) else "mean"
    scores = np.array([cells[row.version][chosen] for row in rows]).reshape(len(rows), len(chosen))
    scores = scores if higher else -scores
    counts = store.load_counts(key, {row.version for row in rows}) if kind != "mean" and rows else {}
    values: Sequence[CorpusValue | None]
    if isinstance(metric, SummedMetric) and kind == "counts":
        rows_of_counts = [counts[row.version][chosen] if row.version in counts else None for row in rows]
        values = summed_values(metric, rows_of_counts, scores, resampling)
    elif kind == "system":
        values = [_system_value(cells[row.version], counts.get(row.version), board, chosen) for row in rows]
    else:
        values = mean_values(scores, resampling)
    kept.update({row.version: value for row, value in zip(rows, values, strict=True) if value is not None})
    named = {row.name: kept[row.version] for row in every if row.version in kept}
    lacking = tuple(row.name for row in rows if kind != "mean" and row.version not in counts)
    signature = None
    if isinstance(metric, Metric):
        interval = resampling.draws if kind != "system" else 0
        signature = metric.corpus_signature(_references_each(board, key, chosen), draws=interval, seed=resampling.seed)
    return CorpusColumn(
        key=key,
        kind=kind,
        higher_is_better=higher,
        signature=signature,
        values=named,
        without_counts=lacking,
    )


def _system_value(scores: Floats, counts: Counts | None, board: Board, chosen: Positions) -> CorpusValue | None:
    """A value that was computed from all texts together; of a part of the board there is none."""
    if counts is None or not len(counts) or len(np.unique(chosen)) < len(board.instances) or len(chosen) < len(scores):
        return None
    value, n = map(float, counts[0])
    return CorpusValue(value=value, low=nan, high=nan, mean=nan, n=int(n), sentence_mean=nan)


def _positions(board: Board, instances: Sequence[int] | NDArray[np.integer] | NDArray[np.bool_] | None) -> Positions:
    if instances is None:
        return np.arange(len(board.instances))
    given = np.asarray(instances)
    if given.dtype == np.bool_:
        if given.shape != (len(board.instances),):
            raise InvalidInput(f"{given.shape} marks for {len(board.instances)} instances; give one for each")
        return np.flatnonzero(given)
    chosen = given.astype(np.intp)
    if chosen.ndim != 1 or ((chosen < 0) | (chosen >= len(board.instances))).any():
        raise InvalidInput(f"positions must lie between 0 and {len(board.instances) - 1}")
    return chosen


def _metric_of(board: Board, key: ColumnKey, metrics: Mapping[str, Declared]) -> Declared | None:
    """The metric that fills a column: one that was given, or the one of the column's name if it is still the same."""
    if key.column.signature in metrics:
        return metrics[key.column.signature]
    try:
        metric = board_metric(key.column.name, board.output_language)
        return metric if metric.signature == key.column.signature else None
    except BillboardsError:
        # Not installed here, or no installed metric at all: its scores stand for themselves.
        return None


def _references_each(board: Board, key: ColumnKey, chosen: Positions) -> int | Literal["var"] | None:
    """How many references each instance has under a column."""
    if not key.column.needs_references:
        return None
    texts = board.reference_texts(key.column.references)
    sizes = {len(texts[k]) for k in chosen} - {0}
    return sizes.pop() if len(sizes) == 1 else "var" if sizes else None
