"""Corpus values: what a generator scores under a metric as a whole, with an interval.

BLEU, chrF, TER and others are defined on a corpus: their value is the score of the summed counts of its outputs, and
not the mean of sentence scores. Counts are kept beside the cells, so any part of a board (a domain, the first hundred
instances) and any resampled corpus is scored without its texts. For other metrics the value is the mean.

Intervals are sacreBLEU's bootstrap (Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation,
EMNLP; Post 2018): 1,000 corpora of as many instances, drawn with replacement by `numpy.random.default_rng(12345)`; the
bounds are the 26th value from below and from above. They agree with sacreBLEU's beyond the digits that it prints: the
sums are the same, but it goes on in single precision, which may change the seventh digit. Every generator and metric
sees the same draws, so that differences between them may be compared draw by draw; a generator that lacks outputs has
draws of the instances that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.board.cells import CellStore, ColumnKey, Floats
from billboards.board.model import Board
from billboards.board.scoring import Declared
from billboards.errors import BillboardsError, InvalidInput
from billboards.metrics.base import CorpusKind, Counts, Metric
from billboards.metrics.discovery import board_metric
from billboards.metrics.summed import SummedMetric

#: sacreBLEU's number of resampled corpora, and its seed.
DRAWS, SEED = 1000, 12345
#: Bytes of drawn multiplicities that are kept, and of the matrices that are multiplied at a time.
_KEPT, _AT_ONCE = 2**28, 2**26
#: Whole numbers up to here are exact in single precision.
_EXACT = 2**24

Positions = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusValue:
    """A generator's value under a metric, in the direction in which its users know it (TER: lower is better)."""

    #: The score of the corpus.
    value: float
    #: Bounds of the 95% interval, and the mean of the resampled values; NaN where nothing was or can be resampled.
    low: float
    high: float
    mean: float
    #: Outputs that take part.
    n: int
    #: The mean of their sentence scores; NaN where there are none.
    sentence_mean: float

    @property
    def half_width(self) -> float:
        """Half the interval: what sacreBLEU prints after ±."""
        return (self.high - self.low) / 2


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
    """
    chosen = _positions(board, instances)
    resampling = Resampling(draws, seed)
    opened = dict(metrics or {})
    return tuple(_column(board, store, key, chosen, _metric_of(board, key, opened), resampling) for key in columns)


def mean_values(scores: Floats, *, draws: int = DRAWS, seed: int = SEED) -> list[CorpusValue | None]:
    """The means of rows of sentence scores, such as an imported column's, with the same draws; None for a row without.

    scores: rows × instances, NaN where there is no score.
    """
    return _mean_values(scores, Resampling(draws, seed))


def _column(
    board: Board,
    store: CellStore,
    key: ColumnKey,
    chosen: Positions,
    metric: Declared | None,
    resampling: Resampling,
) -> CorpusColumn:
    rows = [row for row in board.rows if not board.is_reference(row, key.column.references)]
    cells = store.load(key, {row.version for row in rows})
    rows = [row for row in rows if row.version in cells]
    higher = metric is None or metric.card.higher_is_better
    kind: CorpusKind = metric.corpus if isinstance(metric, Metric) else "mean"
    scores = np.array([cells[row.version][chosen] for row in rows]).reshape(len(rows), len(chosen))
    scores = scores if higher else -scores
    counts = store.load_counts(key, {row.version for row in rows}) if kind != "mean" else {}
    values: Sequence[CorpusValue | None]
    if isinstance(metric, SummedMetric) and kind == "counts":
        rows_of_counts = [counts[row.version][chosen] if row.version in counts else None for row in rows]
        values = _summed_values(metric, rows_of_counts, scores, resampling)
    elif kind == "system":
        values = [_system_value(cells[row.version], counts.get(row.version), board, chosen) for row in rows]
    else:
        values = _mean_values(scores, resampling)
    named = {row.name: value for row, value in zip(rows, values, strict=True) if value is not None}
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


def _summed_values(
    metric: SummedMetric, counts: Sequence[Counts | None], scores: Floats, resampling: Resampling
) -> list[CorpusValue | None]:
    """The scores of summed counts, of rows that have some."""
    values: list[CorpusValue | None] = [None] * len(counts)
    counted = [k for k, rows in enumerate(counts) if rows is not None]
    for rows, taking_part in _alike(~np.isnan(scores), counted):
        given = [np.ascontiguousarray(c[taking_part]) for k in rows if (c := counts[k]) is not None]
        n, width = given[0].shape
        step = max(1, _AT_ONCE // (8 * n * width))
        for start in range(0, len(rows), step):
            matrix = np.hstack(given[start : start + step])
            kind = np.float64 if np.issubdtype(matrix.dtype, np.floating) else np.int64
            whole = matrix.sum(axis=0, dtype=kind).reshape(-1, width)
            drawn = resampling.sums(matrix).astype(kind).reshape(-1, width)
            scored, resampled = metric.corpus_scores_of(whole), metric.corpus_scores_of(drawn)
            batch = rows[start : start + step]
            for k, value, row in zip(batch, scored, resampled.reshape(-1, len(batch)).T, strict=True):
                values[k] = _value(float(value), row, scores[k][taking_part])
    return values


def _mean_values(scores: Floats, resampling: Resampling) -> list[CorpusValue | None]:
    values: list[CorpusValue | None] = [None] * len(scores)
    for rows, taking_part in _alike(~np.isnan(scores), range(len(scores))):
        step = max(1, _AT_ONCE // (8 * int(taking_part.sum())))
        for start in range(0, len(rows), step):
            batch = rows[start : start + step]
            given = scores[batch][:, taking_part]
            resampled = resampling.sums(np.ascontiguousarray(given.T)) / given.shape[1]
            for k, sentences, row in zip(batch, given, resampled.T, strict=True):
                values[k] = _value(float(sentences.mean()), row, sentences)
    return values


def _system_value(scores: Floats, counts: Counts | None, board: Board, chosen: Positions) -> CorpusValue | None:
    """A value that was computed from all texts together; of a part of the board there is none."""
    if counts is None or not len(counts) or len(np.unique(chosen)) < len(board.instances) or len(chosen) < len(scores):
        return None
    value, n = map(float, counts[0])
    return CorpusValue(value=value, low=nan, high=nan, mean=nan, n=int(n), sentence_mean=nan)


def _value(value: float, resampled: Floats, sentences: Floats) -> CorpusValue:
    mean = float(sentences.mean())
    if not len(resampled):
        return CorpusValue(value=value, low=nan, high=nan, mean=nan, n=len(sentences), sentence_mean=mean)
    ordered, outside = np.sort(resampled), len(resampled) // 40
    return CorpusValue(
        value=value,
        low=float(ordered[outside]),
        high=float(ordered[len(ordered) - outside - 1]),
        mean=fsum(ordered) / len(ordered),
        n=len(sentences),
        sentence_mean=mean,
    )


def _alike(taking_part: NDArray[np.bool_], rows: Sequence[int]) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Rows that have scores for the same instances, and which these are; a row that has none is left out."""
    groups: dict[bytes, list[int]] = {}
    for row in rows:
        groups.setdefault(taking_part[row].tobytes(), []).append(row)
    for group in groups.values():
        if taking_part[group[0]].any():
            yield group, taking_part[group[0]]


@dataclass
class Resampling:
    """Corpora drawn with replacement: how often each instance is in each of them, the same for all of one size."""

    draws: int = DRAWS
    seed: int = SEED
    _kept: dict[int, list[NDArray[np.uint16]]] = field(default_factory=dict, repr=False)

    def sums(self, matrix: Counts) -> Floats:
        """The sum of a matrix's rows in each draw: draws × columns."""
        n, width = matrix.shape
        whole = not np.issubdtype(matrix.dtype, np.floating)
        # Sums of whole numbers are exact in single precision while they are small, and take half the time.
        exact = whole and n * max(int(matrix.max(initial=0)), -int(matrix.min(initial=0))) < _EXACT
        kind = np.float32 if exact else np.float64
        given, sums = matrix.astype(kind), np.empty((self.draws, width))
        start = 0
        for multiplicities in self._multiplicities(n):
            stop = start + len(multiplicities)
            sums[start:stop] = np.matmul(multiplicities.astype(kind), given)
            start = stop
        return sums

    def _multiplicities(self, n: int) -> Iterator[NDArray[np.uint16]]:
        """How often each of n instances is in each draw, some draws at a time."""
        if n in self._kept:
            yield from self._kept[n]
            return
        random = np.random.default_rng(self.seed)
        at_once = max(1, _AT_ONCE // (16 * n))
        drawn, fits = [], 2 * n * self.draws + self._bytes <= _KEPT
        for start in range(0, self.draws, at_once):
            size = min(at_once, self.draws - start)
            places = random.choice(n, size=(size, n), replace=True) + n * np.arange(size)[:, np.newaxis]
            multiplicities = np.bincount(places.ravel(), minlength=size * n).reshape(size, n).astype(np.uint16)
            if fits:
                drawn.append(multiplicities)
            yield multiplicities
        if fits:
            self._kept[n] = drawn

    @property
    def _bytes(self) -> int:
        return sum(part.nbytes for parts in self._kept.values() for part in parts)


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
