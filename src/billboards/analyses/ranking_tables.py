"""A ranking as tables: its metrics, its generators, and the lines to read its metrics against.

What a reader must know to read a place rightly stands in notes below: why something has no rank, who was scored on
less than the others, and which ensemble was fitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from billboards.analyses.ranking_results import GeneratorStanding, MetricStanding, Ranking, Resampled
from billboards.show.table import (
    HUMAN,
    REFERENCE_FREE,
    STATISTIC,
    MarkNotes,
    Table,
    TableColumn,
    column_digits,
    finite,
    reason_notes,
)
from billboards.show.words import linear_combination, one_line, value_text


def metric_table(ranking: Ranking) -> Table:
    """Metrics by their correlation with people, the ensemble in a note because it is no metric among others."""
    notes = MarkNotes()
    rows = tuple(_metric_row(standing, notes) for standing in ranking.metrics)
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("interval", "95% interval", digits=3, kind="interval", priority=1),
        TableColumn("n", "n", priority=2),
        TableColumn("references", "references", "left", priority=3),
        TableColumn("reference_free", "reference-free", visible=False),
        TableColumn("is_statistic", "statistic", visible=False),
        TableColumn("origin", "scores", "left", priority=5),
        TableColumn("source_name", "source name", "left", visible=False),
        TableColumn("reason", "why not", "left", visible=False),
        TableColumn("cluster", "cluster", priority=6, visible=_any(rows, "cluster")),
        TableColumn("signature", "signature", "left", priority=7),
    )
    people = (
        f" correlation with people ({ranking.aggregate})" if ranking.aggregate else " correlation, without judgments"
    )
    title = f"{ranking.board}: metrics by {statistic_name(ranking)}{people}"
    why_not = reason_notes("No rank for", {m.name: m.reason for m in ranking.metrics})
    remarks = (*_pairs_note(ranking), *_ensemble_note(ranking), *why_not, *notes.texts(), *_part_note(ranking))
    return Table(title, columns, rows, remarks)


def generator_table(ranking: Ranking, human: bool = True) -> Table:
    """Generators by the metric that leads, with every other metric's mean behind it, best metric first."""
    notes = MarkNotes()
    names = _score_names(ranking)
    rows = tuple(_generator_row(standing, names, notes) for standing in ranking.generators)
    judged = (
        TableColumn("human", f"people ({ranking.aggregate})", digits=column_digits(rows, "human")),
        TableColumn("judged", "judged", priority=4),
    )
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("kind", "kind", "left", visible=False),
        *_score_columns(ranking, rows, notes),
        TableColumn("reason", "why not", "left", visible=False),
    )
    if human:
        place = 4 if ranking.ranked_by in _score_names(ranking) else 3
        columns = (*columns[:place], *judged, *columns[place:])
    title = f"{ranking.board}: generators by {ranking.ranked_by or 'no metric yet'}"
    why_not = reason_notes("No rank for", {g.name: g.reason for g in ranking.generators})
    won = _won_note(ranking) if human else ()
    remarks = (*won, *why_not, *_coverage_notes(ranking), *notes.texts(), *_part_note(ranking))
    return Table(title, columns, rows, remarks)


def lines_table(ranking: Ranking) -> Table:
    """What is no metric, measured like one: sentinels that see too little to judge, and annotators held out."""
    columns = (
        TableColumn("name", "reference line", align="left"),
        TableColumn("kind", "kind", align="left"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("n", "n"),
        TableColumn("summary", "what it is", align="left", priority=2),
    )
    rows = tuple(
        {
            "name": line.name,
            "kind": line.kind,
            "correlation": finite(line.correlation),
            "n": line.n,
            "summary": line.summary,
        }
        for line in ranking.lines
    )
    return Table(f"{ranking.board}: lines to read the metrics against", columns, rows, _beaten_note(ranking))


def _metric_row(standing: MetricStanding, notes: MarkNotes) -> Mapping[str, object]:
    return {
        "rank": standing.rank,
        "name": standing.name,
        "mark": notes.mark(metric_mark(standing)),
        "correlation": finite(standing.correlation),
        "interval": standing.interval,
        "n": standing.n,
        "cluster": standing.cluster,
        "references": standing.references,
        "reference_free": standing.reference_free,
        "is_statistic": standing.is_statistic,
        "origin": standing.origin,
        "source_name": standing.source_name,
        "reason": standing.reason,
        "signature": standing.signature,
    }


def _generator_row(standing: GeneratorStanding, names: Iterable[str], notes: MarkNotes) -> Mapping[str, object]:
    own = {
        "rank": standing.rank,
        "name": standing.name,
        "kind": standing.kind,
        "mark": notes.mark(HUMAN if standing.kind == "human" else ""),
        "human": finite(standing.human),
        "judged": standing.judged,
        "reason": standing.reason,
    }
    return own | {_score_key(name): finite(standing.scores.get(name)) for name in names}


def _score_key(metric: str) -> str:
    """A metric may be called `rank` or `name`; its column must not be taken for the generator's own."""
    return f"score:{metric}" if metric in ("rank", "name", "kind", "mark", "human", "judged", "reason") else metric


def _score_names(ranking: Ranking) -> list[str]:
    """Every metric with a mean, the one that ranks first, then as the metrics stand, then what is no metric there."""
    having = dict.fromkeys(name for standing in ranking.generators for name in standing.scores)
    order = [ranking.ranked_by, *(m.name for m in ranking.metrics), *having]
    return [name for name in dict.fromkeys(order) if name is not None and name in having]


def _score_columns(ranking: Ranking, rows: Sequence[Mapping[str, object]], notes: MarkNotes) -> Iterable[TableColumn]:
    marks = {standing.name: metric_mark(standing) for standing in ranking.metrics}
    for place, name in enumerate(_score_names(ranking)):
        key = _score_key(name)
        header = f"{one_line(name)} {notes.mark(marks.get(name, ''))}".rstrip()
        priority = 0 if name == ranking.ranked_by else place + 2
        yield TableColumn(key, header, digits=column_digits(rows, key), priority=priority)


def _any(rows: Sequence[Mapping[str, object]], key: str) -> bool:
    return any(row.get(key) is not None for row in rows)


def _pairs_note(ranking: Ranking) -> tuple[str, ...]:
    """How to read a ranking by preferences."""
    if ranking.grouping != "preferences":
        return ()
    return (
        "(C - D)/(C + D) over n pairs of outputs, of which people found one better: C in their order, D not; a metric "
        "that ties a pair has it wrong.",
    )


def _ensemble_note(ranking: Ranking) -> tuple[str, ...]:
    if ranking.ensemble is None:
        return ()
    combination = linear_combination(ranking.ensemble.weights)
    correlation = value_text(ranking.ensemble.correlation, 3)
    fitted = f"Ensemble {combination}: {correlation} on generators it has not seen ({ranking.ensemble.signature})."
    other = ranking.alternative
    if other is None:
        return (fitted,)
    name = "Best subset" if other.method == "best-subset" else "Lasso"
    weights, r = linear_combination(other.weights), value_text(other.correlation, 3)
    return (fitted, f"{name} {weights}: {r} on generators it has not seen (--ensemble {other.method} ranks by it).")


def _part_note(ranking: Ranking) -> tuple[str, ...]:
    return () if ranking.part in ("", "whole board") else (f"Only {ranking.part}.",)


def _won_note(ranking: Ranking) -> tuple[str, ...]:
    if ranking.grouping != "preferences":
        return ()
    return ("People: comparisons that a generator's outputs won, in percent, a tie counting half.",)


def _coverage_notes(ranking: Ranking) -> tuple[str, ...]:
    """Who was scored on fewer instances than others, so that a mean over less is not read as a mean over all."""
    full = max((n for standing in ranking.generators for n in standing.covered.values()), default=0)
    partial = [
        f"{one_line(standing.name)} ({min(fewer):,} of {full:,})"
        for standing in ranking.generators
        if (fewer := [n for n in standing.covered.values() if 0 < n < full])
    ]
    if not partial:
        return ()
    others = f" and {len(partial) - 3} more" if len(partial) > 3 else ""
    return (f"Means over fewer instances than the others: {', '.join(partial[:3])}{others}.",)


def _beaten_note(ranking: Ranking) -> tuple[str, ...]:
    """Says so when something that does not judge at all does better than the best metric."""
    best = max((m.correlation for m in ranking.metrics if m.correlation is not None), default=None)
    above = [s.name for s in ranking.lines if s.kind == "sentinel" and best is not None and (s.correlation or 0) > best]
    if not above:
        return ()
    return (
        f"A sentinel that sees no reference ({', '.join(above)}) agrees better with people than every metric: "
        "much of the pooled correlation on this board can be had without judging.",
    )


def resampled_text(resampled: Resampled) -> str:
    """What a bootstrap draws, in words."""
    return "instances and generators" if resampled == "both" else resampled


def statistic_name(ranking: Ranking) -> str:
    """The statistic as prose spells it: people's names with a capital."""
    if ranking.grouping == "preferences":
        return "WMT's Kendall"
    named = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall"}
    return named.get(ranking.statistic, ranking.statistic)


def metric_mark(standing: MetricStanding) -> str:
    """What stands behind a metric's name: that it is a mere statistic, or that it uses no references."""
    return STATISTIC if standing.is_statistic else REFERENCE_FREE if standing.reference_free else ""
