"""What a paper sets apart in a ranking's tables: who is best, who is not significantly worse, who beats a baseline.

Every column has a test of its own. Means of generators under a metric, and what people said of them, are compared
instance by instance, by exchanging two generators' values at random; corpus values, such as BLEU's, by exchanging the
counts of outputs (approximate randomisation); metrics by the tests that their ranks rest on. Nothing is corrected for
the number of tests, as in the papers that print such tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._kept_rows import KeptRows, RankedRows
from billboards.analyses._view import WholeMatrix
from billboards.board import Board
from billboards.board.cells import CellStore
from billboards.board.corpus import corpus_tests
from billboards.errors import UnknownName
from billboards.stats.significance import LEVEL, Sides, permute_against

if TYPE_CHECKING:
    from billboards.analyses.rank import GeneratorStanding, MetricStanding, RankingOptions

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class StandsOut:
    """Who is best in each column, or not significantly worse, and p-values against a baseline, by columns' names."""

    #: Metrics that agree best with people.
    metrics: tuple[str, ...] = ()
    #: Generators that are best by their mean under each metric.
    generators: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The same by the value of all outputs together, under each metric that is defined on a corpus.
    corpus: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: A generator or a metric that the others are tested against.
    baseline: str | None = None
    p_metrics: Mapping[str, float] = field(default_factory=dict)
    p_generators: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    p_corpus: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def check_baseline(baseline: str | None, generators: Collection[str], metrics: Collection[str]) -> None:
    """Refuse a baseline that is neither a generator nor a metric."""
    if baseline is not None and baseline not in generators and baseline not in metrics:
        raise UnknownName("baseline", baseline, [*generators, *metrics])


def stands_out(
    board: Board,
    store: CellStore | None,
    matrix: WholeMatrix,
    ranked: RankedRows,
    metrics: Sequence[MetricStanding],
    generators: Sequence[GeneratorStanding],
    tests: Mapping[tuple[str, str], float],
    options: RankingOptions,
) -> StandsOut | None:
    """What stands out; None where nothing was drawn, so that nothing was tested.

    ranked: the columns that generators have values under, with what is kept of them.
    tests: p-values by the names of two metrics, that the first is better or that they differ.
    """
    if not options.draws:
        return None
    takes_part = {g.name for g in generators if g.name not in options.out}
    rows = [k for k, row in enumerate(board.rows) if row.name in takes_part and not row.is_optimised]
    lower = {m.name for m in metrics if not m.higher_is_better}
    by_mean = _Means(ranked, rows, [board.rows[k].name for k in rows], options.sides)
    corpus = _Corpus(
        board=board,
        store=store,
        matrix=matrix,
        generators=generators,
        lower=lower,
        takes_part=takes_part,
        draws=options.draws,
        kept=ranked.kept,
    )
    baseline = options.baseline
    return StandsOut(
        metrics=tuple(_best_metrics(metrics, tests)),
        generators=dict(by_mean.best()),
        corpus=dict(corpus.best()),
        baseline=baseline,
        p_metrics=_against(metrics, tests, baseline),
        p_generators={} if baseline is None else dict(by_mean.against(baseline)),
        p_corpus={} if baseline is None else dict(corpus.against(baseline)),
    )


def _best_metrics(metrics: Sequence[MetricStanding], tests: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """The best of the ranked metrics, and those that don't agree significantly less with people."""
    ranked = [m for m in metrics if m.rank is not None and m.correlation is not None]
    if not ranked or not tests:
        return
    first = max(ranked, key=lambda m: m.correlation or 0.0)
    for m in ranked:
        if m is first or tests.get((first.name, m.name), 0.0) > LEVEL:
            yield m.name


def _against(
    metrics: Sequence[MetricStanding], tests: Mapping[tuple[str, str], float], baseline: str | None
) -> dict[str, float]:
    """P-values of metrics against one of them; where tests have one side, that the one that is ahead is better."""
    correlation = {m.name: m.correlation for m in metrics if m.correlation is not None and m.beside is None}
    if baseline not in correlation:
        return {}
    pairs = {
        name: (name, baseline) if value > correlation[baseline] else (baseline, name)
        for name, value in correlation.items()
        if name != baseline
    }
    return {name: tests[pair] for name, pair in pairs.items() if np.isfinite(tests.get(pair, np.nan))}


@dataclass(frozen=True)
class _Means:
    """Means of generators under each metric, of those that were scored on as much as anybody."""

    ranked: RankedRows
    rows: Sequence[int]
    names: Sequence[str]
    sides: Sides

    def best(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        name_of, rows = dict(zip(self.rows, self.names, strict=True)), np.array(self.rows, np.intp)
        compared, first = {}, {}
        for column in self.ranked.columns:
            means = self.ranked.means(column)
            counts = means.present[rows]
            complete = rows[(counts > 0) & (counts == counts.max(initial=0))].tolist()
            # Where a score is infinite, means can't be tested, and nobody is set apart.
            if not complete or (means.finite[complete] != means.present[complete]).any():
                continue
            compared[column] = complete
            first[column] = complete[int(np.argmax(means.mean[complete]))]
        for column, best in self.ranked.not_worse(first, compared, self.sides).items():
            yield column, tuple(name_of[k] for k in best)

    def against(self, baseline: str) -> Iterator[tuple[str, dict[str, float]]]:
        if baseline not in self.names:
            return
        place = list(self.names).index(baseline)
        draws, seed = self.ranked.draws, self.ranked.seed
        for column, scores in self.ranked.columns.items():
            p = permute_against(scores.read(self.rows), place, draws=draws, seed=seed, sides=self.sides)
            yield column, {self.names[k]: float(p[k]) for k in range(len(p)) if np.isfinite(p[k]) and k != place}


@dataclass(frozen=True, kw_only=True)
class _Corpus:
    """Values of all outputs together, under each metric that is defined on a corpus."""

    board: Board
    store: CellStore | None
    matrix: WholeMatrix
    generators: Sequence[GeneratorStanding]
    lower: Collection[str]
    takes_part: Collection[str]
    draws: int
    kept: KeptRows

    def _values(self, column: str) -> dict[str, float]:
        return {
            g.name: -g.corpus[column] if column in self.lower else g.corpus[column]
            for g in self.generators
            if column in g.corpus and g.name in self.takes_part
        }

    def _columns(self) -> list[str]:
        return list(dict.fromkeys(name for g in self.generators for name in g.corpus))

    def best(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for column in self._columns():
            values = self._values(column)
            if values:
                first = max(values, key=values.__getitem__)
                p = self._test(column, first)
                yield column, tuple(name for name in values if name == first or p.get(name, 0.0) > LEVEL)

    def against(self, baseline: str) -> Iterator[tuple[str, dict[str, float]]]:
        # A baseline may be a metric: generators are then compared with none of them.
        if baseline not in self.board.row_position:
            return
        for column in self._columns():
            if p := self._test(column, baseline):
                yield column, p

    def _test(self, column: str, entry: str) -> dict[str, float]:
        key = self.matrix.scores.key(column)
        if self.store is None or key is None:
            return {}
        instances = list(self.board.select(self.matrix.part)) if self.matrix.part else None
        version = self.board.row(entry).version
        what = ("corpus p", key.column.signature, key.context, version, repr(instances), self.draws)
        kept = self.kept.table(what)
        return corpus_tests(self.board, self.store, key, entry, instances=instances, trials=self.draws, kept=kept)
