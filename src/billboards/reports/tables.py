"""Results as neutral tables, from which every format renders (Billboards, Tables 1, 6, 11 and 12).

A table keeps its values as they are: numbers as numbers, a missing one as None. `shown` turns them into the words that
a reader sees, the same in the terminal, in LaTeX and in HTML, and `records` into plain values for CSV and data frames.
So a tie, a missing score or a human generator looks alike wherever it is shown, and no format ever prints NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from billboards.domain import (
    Ablation,
    Ensemble,
    EnsembleStudy,
    GeneratorStanding,
    MetricStanding,
    OverratingReport,
    Ranking,
    ReferenceEffect,
)
from billboards.reports.wording import (
    interval_text,
    linear_combination,
    listed,
    one_line,
    p_text,
    rank_texts,
    statistic_name,
    value_text,
    verdict,
)

REFERENCE_FREE = "†"
HUMAN = "‡"
STATISTIC = "§"

NOTES = {
    REFERENCE_FREE: f"{REFERENCE_FREE} uses no references: diagnostic",
    HUMAN: f"{HUMAN} written by people",
    STATISTIC: f"{STATISTIC} a statistic of the text, not a judgment of its quality",
}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: which value of a row it shows, and how.

    Columns of priority 0 are always shown; on a narrow terminal those of the highest priority number go first. A
    column that is not `visible` is for CSV and data frames only.
    """

    key: str
    header: str
    align: Literal["left", "right"] = "right"
    digits: int | None = None
    kind: Literal["value", "name", "rank", "interval", "change", "p"] = "value"
    priority: int = 0
    visible: bool = True


@dataclass(frozen=True)
class Table:
    """Rows of plain values under columns that say how to show them; a row's `mark` is shown behind its name."""

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Mapping[str, object], ...]
    notes: tuple[str, ...] = ()

    @property
    def visible(self) -> tuple[TableColumn, ...]:
        return tuple(column for column in self.columns if column.visible)

    def without(self, keys: Iterable[str]) -> Table:
        """The same table with some columns kept for data only."""
        hidden = set(keys)
        return replace(self, columns=tuple(replace(c, visible=c.visible and c.key not in hidden) for c in self.columns))


@dataclass(frozen=True)
class _Notes:
    """Gathers the notes that explain the marks a table uses."""

    marks: set[str] = field(default_factory=set)

    def mark(self, mark: str) -> str:
        if mark:
            self.marks.add(mark)
        return mark

    def texts(self) -> tuple[str, ...]:
        return tuple(note for mark, note in NOTES.items() if mark in self.marks)


def shown(table: Table) -> tuple[tuple[str, ...], ...]:
    """What a reader sees, row by row, for the visible columns."""
    by_column = [_column_texts(table, column) for column in table.visible]
    return tuple(zip(*by_column, strict=True))


def records(table: Table) -> list[dict[str, object]]:
    """Plain values, row by row, for every column; an interval becomes its two ends, a missing value None."""
    return [{key: value for c in table.columns for key, value in _plain(c, row)} for row in table.rows]


def record_keys(table: Table) -> tuple[str, ...]:
    """The keys of every record, in order."""
    return tuple(key for column in table.columns for key, _ in _plain(column, {}))


def mean_digits(values: Iterable[float | None]) -> int:
    """How many decimals show four figures of the largest value: 78.85, 0.4521."""
    largest = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    return 4 if largest == 0 else min(4, max(0, 3 - math.floor(math.log10(largest))))


def metric_table(ranking: Ranking) -> Table:
    """Metrics by their correlation with people, the ensemble in a note because it is no metric among others."""
    notes = _Notes()
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
    notes = _Notes()
    names = _score_names(ranking)
    rows = tuple(_generator_row(standing, names, notes) for standing in ranking.generators)
    judged = (
        TableColumn("human", f"people ({ranking.aggregate})", digits=_digits(rows, "human")),
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


def score_table(ranking: Ranking, descriptions: Mapping[str, str] | None = None) -> Table:
    """Generators with only the score that ranks them, as in the paper's Tables 6 to 9."""
    scored = [g for g in ranking.generators if g.rank is not None]
    rows = tuple(
        {
            "name": g.name,
            "description": (descriptions or {}).get(g.name),
            "score": _finite(g.scores.get(ranking.ranked_by or "")),
            "mark": HUMAN if g.kind == "human" else "",
        }
        for g in scored
    )
    columns = (
        TableColumn("name", "Generator", "left", kind="name"),
        TableColumn("description", "Description", "left", visible=descriptions is not None),
        TableColumn("score", "Score", digits=_digits(rows, "score")),
    )
    notes = (NOTES[HUMAN],) if any(row["mark"] for row in rows) else ()
    title = f"{ranking.board} generators. The score is from the metric that ranks ({ranking.ranked_by or 'none yet'})."
    return Table(title, columns, rows, notes)


def summary_table(rankings: Sequence[Ranking]) -> Table:
    """Several boards, a row each, as in the paper's Table 1."""
    columns = (
        TableColumn("board", "Dataset", "left"),
        TableColumn("generators", "generators"),
        TableColumn("metrics", "metrics"),
        TableColumn("top_generator", "Top Gen.", "left"),
        TableColumn("top_metric", "Top Metric", "left", kind="name"),
        TableColumn("correlation", "Corr.", digits=2),
        TableColumn("combination", "Linear Combination", "left"),
        TableColumn("ensemble_correlation", "Corr.", digits=2),
    )
    notes = _Notes()
    rows = tuple(_summary_row(ranking, notes) for ranking in rankings)
    return Table("Summary of the boards", columns, rows, notes.texts())


def ensemble_table(ensemble: Ensemble) -> Table:
    """The metrics of an ensemble: weight, and the centre and scale that standardise each."""
    heaviest = sorted(ensemble.weights, key=lambda name: -abs(ensemble.weights[name]))
    rows = tuple(
        {
            "name": name,
            "weight": _finite(ensemble.weights[name]),
            "centre": _finite(ensemble.centres.get(name)),
            "scale": _finite(ensemble.scales.get(name)),
            "signature": ensemble.signatures.get(name),
        }
        for name in heaviest
    )
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("weight", "weight", digits=3),
        TableColumn("centre", "centre", digits=_digits(rows, "centre"), priority=1),
        TableColumn("scale", "scale", digits=_digits(rows, "scale"), priority=1),
        TableColumn("signature", "signature", "left", priority=2),
    )
    return Table(ensemble.signature, columns, rows, _ensemble_facts(ensemble))


def ablation_table(study: EnsembleStudy) -> Table:
    """The ensemble without each of its metrics, tuned and measured anew (Table 11)."""
    whole = study.ensemble
    kept = Ablation("nothing", whole.correlation, whole.weights, whole.lam)
    rows = (_ablation_row(kept, None), *(_ablation_row(ablation, whole.correlation) for ablation in study.ablations))
    columns = (
        TableColumn("removed", "removed", "left"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("change", "change", digits=3, kind="change"),
        TableColumn("combination", "what is left, tuned anew", "left", priority=1),
        TableColumn("lambda", "lambda", digits=3, priority=2),
    )
    note = "A fall says that the other metrics can't stand in for the one removed."
    return Table(f"{study.ensemble.board}: the ensemble without each of its metrics", columns, rows, (note,))


def gains_table(study: EnsembleStudy) -> Table:
    """What each candidate adds to the ensemble, and the metric it resembles most."""
    rows = tuple(_gain_row(study, name) for name in sorted(study.gains, key=lambda name: _gain_order(study, name)))
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("gain", "adds", digits=3, kind="change"),
        TableColumn("weight", "weight", digits=3),
        TableColumn("nearest", "most like", "left"),
        TableColumn("similarity", "their correlation", digits=3),
    )
    note = "What a metric adds: how much the ensemble's correlation falls when the metric is not among the candidates."
    return Table(f"{study.ensemble.board}: what each metric adds to the ensemble", columns, rows, (note,))


def overrating_table(report: OverratingReport) -> Table:
    """How much each metric overrates machines over one human generator, least first, then why the others lack it."""
    measured = sorted(report.metrics, key=lambda estimate: estimate.beta0)
    rows: list[dict[str, object]] = [
        {
            "name": estimate.name,
            "beta0": _finite(estimate.beta0),
            "interval90": estimate.interval90,
            "se": _finite(estimate.se),
            "p": estimate.p,
            "between_generators": estimate.components.get("generators"),
            "verdict": verdict(estimate),
            "n": estimate.n,
            "instances": estimate.instances,
            "signature": estimate.signature,
        }
        for estimate in measured
    ]
    rows += [{"name": name, "reason": reason} for name, reason in sorted(report.missing.items())]
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("beta0", "beta0", digits=2),
        TableColumn("interval90", "90% interval", digits=2, kind="interval"),
        TableColumn("se", "se", digits=4, visible=False),
        TableColumn("p", "p", kind="p", visible=report.crossed),
        TableColumn("between_generators", "between generators", digits=2, priority=3, visible=report.crossed),
        TableColumn("verdict", "verdict", "left", priority=1),
        TableColumn("n", "n", priority=2),
        TableColumn("instances", "instances", visible=False),
        TableColumn("reason", "why not", "left", visible=False),
        TableColumn("signature", "signature", "left", visible=False),
    )
    against = ", ".join(report.references) or "no references"
    title = f"{report.board}: how much metrics overrate machines over {report.human} (references: {against})"
    note = f"In standard deviations of the metric, at equal {report.aggregate}; above 0, machines are overrated."
    notes = (note, _CROSSED) if report.crossed else (note,)
    return Table(title, columns, tuple(rows), (*notes, *reason_notes("Not measured:", report.missing)))


_CROSSED = (
    "Generators count as a sample: intervals and p (Satterthwaite, two-sided) are about machines like these. "
    "Between generators: the share of the variance that lies between generators of equal quality."
)


def reference_table(effect: ReferenceEffect) -> Table:
    """Each metric's correlation by the number of references; reference-free ones stand under none."""
    sizes = sorted({point.size for curve in effect.curves.values() for point in curve})
    rows: list[dict[str, object]] = []
    for name, curve in sorted(effect.curves.items(), key=lambda item: -item[1][-1].correlation if item[1] else 1.0):
        row: dict[str, object] = {"name": name}
        for point in curve:
            row |= {f"refs_{point.size}": _finite(point.correlation), f"range_{point.size}": (point.low, point.high)}
        rows.append(row)
    free = sorted(effect.reference_free.items(), key=lambda item: -item[1])
    rows += [{"name": name, "refs_0": _finite(value), "mark": REFERENCE_FREE} for name, value in free]
    rows += [{"name": name, "reason": reason} for name, reason in sorted(effect.missing.items())]
    columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("refs_0", "none", digits=3, visible=bool(free)),
        *(TableColumn(f"refs_{size}", str(size), digits=3) for size in sizes),
        *(TableColumn(f"range_{size}", f"range {size}", digits=3, kind="interval", visible=False) for size in sizes),
        TableColumn("reason", "why not", "left", visible=False),
    )
    title = f"{effect.board}: correlation with people ({effect.aggregate}) by number of references"
    note = "Each number is a mean over sets of that many references: over all of them, or over 50 drawn with the seed."
    marks = (NOTES[REFERENCE_FREE],) if free else ()
    return Table(title, columns, tuple(rows), (note, *reason_notes("Not measured:", effect.missing), *marks))


def metric_mark(standing: MetricStanding) -> str:
    """What stands behind a metric's name: that it is a mere statistic, or that it uses no references."""
    return STATISTIC if standing.is_statistic else REFERENCE_FREE if standing.reference_free else ""


def _column_texts(table: Table, column: TableColumn) -> list[str]:
    values = [row.get(column.key) for row in table.rows]
    if column.kind == "rank":
        return rank_texts(values)
    if column.kind == "name":
        marks = [row.get("mark") or "" for row in table.rows]
        return [f"{value_text(v)} {mark}".rstrip() for v, mark in zip(values, marks, strict=True)]
    if column.kind == "interval":
        return [interval_text(value, column.digits) for value in values]
    if column.kind == "p":
        return [p_text(value) for value in values]
    texts = [value_text(value, column.digits) for value in values]
    if column.kind == "change":
        return [f"+{t}" if isinstance(v, float) and v > 0 else t for t, v in zip(texts, values, strict=True)]
    return texts


def _plain(column: TableColumn, row: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    value = row.get(column.key)
    if column.kind == "interval":
        low, high = value if isinstance(value, tuple) else (None, None)
        return ((f"{column.key}_low", _finite(low)), (f"{column.key}_high", _finite(high)))
    if isinstance(value, tuple):
        return ((column.key, ";".join(map(str, value))),)
    return ((column.key, _finite(value) if isinstance(value, float) else value),)


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _any(rows: Sequence[Mapping[str, object]], key: str) -> bool:
    return any(row.get(key) is not None for row in rows)


def _digits(rows: Sequence[Mapping[str, object]], key: str) -> int:
    values = (row.get(key) for row in rows)
    return mean_digits(value for value in values if isinstance(value, float | int))


def _metric_row(standing: MetricStanding, notes: _Notes) -> Mapping[str, object]:
    return {
        "rank": standing.rank,
        "name": standing.name,
        "mark": notes.mark(metric_mark(standing)),
        "correlation": _finite(standing.correlation),
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


def _generator_row(standing: GeneratorStanding, names: Iterable[str], notes: _Notes) -> Mapping[str, object]:
    own = {
        "rank": standing.rank,
        "name": standing.name,
        "kind": standing.kind,
        "mark": notes.mark(HUMAN if standing.kind == "human" else ""),
        "human": _finite(standing.human),
        "judged": standing.judged,
        "reason": standing.reason,
    }
    return own | {_score_key(name): _finite(standing.scores.get(name)) for name in names}


def _score_key(metric: str) -> str:
    """A metric may be called `rank` or `name`; its column must not be taken for the generator's own."""
    return f"score:{metric}" if metric in ("rank", "name", "kind", "mark", "human", "judged", "reason") else metric


def _score_names(ranking: Ranking) -> list[str]:
    """Every metric with a mean, the one that ranks first, then as the metrics stand, then what is no metric there."""
    having = dict.fromkeys(name for standing in ranking.generators for name in standing.scores)
    order = [ranking.ranked_by, *(m.name for m in ranking.metrics), *having]
    return [name for name in dict.fromkeys(order) if name is not None and name in having]


def _score_columns(ranking: Ranking, rows: Sequence[Mapping[str, object]], notes: _Notes) -> Iterable[TableColumn]:
    marks = {standing.name: metric_mark(standing) for standing in ranking.metrics}
    for place, name in enumerate(_score_names(ranking)):
        key = _score_key(name)
        header = f"{one_line(name)} {notes.mark(marks.get(name, ''))}".rstrip()
        priority = 0 if name == ranking.ranked_by else place + 2
        yield TableColumn(key, header, digits=_digits(rows, key), priority=priority)


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


def reason_notes(what: str, reasons: Mapping[str, str | None]) -> tuple[str, ...]:
    """Why something is not there, a line per reason, however many share it."""
    sharing: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason is not None:
            sharing.setdefault(reason, []).append(name)
    return tuple(f"{what} {listed(names, most=20)}: {one_line(reason)}" for reason, names in sharing.items())


def _part_note(ranking: Ranking) -> tuple[str, ...]:
    return () if ranking.part in ("", "whole board") else (f"Only {ranking.part}.",)


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
            "correlation": _finite(line.correlation),
            "n": line.n,
            "summary": line.summary,
        }
        for line in ranking.lines
    )
    return Table(f"{ranking.board}: lines to read the metrics against", columns, rows, _beaten_note(ranking))


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


def _pairs_note(ranking: Ranking) -> tuple[str, ...]:
    """How to read a ranking by preferences."""
    if ranking.grouping != "preferences":
        return ()
    return (
        "(C - D)/(C + D) over n pairs of outputs, of which people found one better: C in their order, D not; a metric "
        "that ties a pair has it wrong.",
    )


def _won_note(ranking: Ranking) -> tuple[str, ...]:
    if ranking.grouping != "preferences":
        return ()
    return ("People: comparisons that a generator's outputs won, in percent, a tie counting half.",)


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


def _how_fitted(ensemble: Ensemble) -> str:
    among = f"{len(ensemble.weights)} of {len(ensemble.candidates)} metrics"
    if ensemble.method == "best-subset":
        return f"The best subset of {among}, nothing shrunk."
    if ensemble.lam_range is None:
        return f"lambda {value_text(ensemble.lam)} as given, which selects {among}."
    low, high = map(value_text, ensemble.lam_range)
    return f"lambda {value_text(ensemble.lam)} (the same metrics from {low} to {high}), chosen for {among}."


def _ensemble_facts(ensemble: Ensemble) -> tuple[str, ...]:
    facts = [
        f"Score = {ensemble.intercept:.4g} + the sum of weight × (score − centre) / scale, "
        f"on the 0-100 scale of {ensemble.aggregate}.",
        _how_fitted(ensemble),
        f"Correlation on generators it has not seen: {value_text(ensemble.correlation, 3)} (n = {ensemble.n:,}).",
    ]
    facts += [f"{name} was no candidate: {reason}" for name, reason in sorted(ensemble.left_out.items())]
    return tuple(facts)


def _summary_row(ranking: Ranking, notes: _Notes) -> Mapping[str, object]:
    metrics = [m for m in ranking.metrics if not m.is_statistic]
    best = next((m for m in metrics if m.rank == 1), None)
    ensemble = ranking.ensemble
    return {
        "board": ranking.board,
        "generators": sum(g.kind == "machine" for g in ranking.generators),
        "metrics": len(metrics),
        "top_generator": next((g.name for g in ranking.generators if g.rank == 1), None),
        "top_metric": None if best is None else best.name,
        "mark": "" if best is None else notes.mark(metric_mark(best)),
        "correlation": None if best is None else _finite(best.correlation),
        "combination": None if ensemble is None else linear_combination(ensemble.weights),
        "ensemble_correlation": None if ensemble is None else _finite(ensemble.correlation),
    }


def _ablation_row(ablation: Ablation, whole: float | None) -> Mapping[str, object]:
    left, whole = _finite(ablation.correlation), _finite(whole)
    return {
        "removed": ablation.removed,
        "correlation": left,
        "change": None if left is None or whole is None else left - whole,
        "combination": linear_combination(ablation.weights),
        "lambda": _finite(ablation.lam),
    }


def _gain_row(study: EnsembleStudy, name: str) -> Mapping[str, object]:
    nearest, similarity = _nearest(study, name)
    weight = study.ensemble.weights.get(name)
    gain = study.gains[name]
    return {"name": name, "gain": _finite(gain), "weight": weight, "nearest": nearest, "similarity": similarity}


def _gain_order(study: EnsembleStudy, name: str) -> float:
    gain = _finite(study.gains[name])
    return math.inf if gain is None else -gain


def _nearest(study: EnsembleStudy, name: str) -> tuple[str | None, float | None]:
    """The other metric with the highest correlation, where one is defined."""
    if name not in study.names:
        return None, None
    row = study.correlations[study.names.index(name)]
    others = [(r, other) for other, r in zip(study.names, row, strict=True) if other != name and _finite(r) is not None]
    if not others:
        return None, None
    similarity, nearest = max(others, key=lambda pair: pair[0] or 0.0)
    return nearest, similarity
