"""Count the errors that people marked: by generator, kind, severity and domain, and whether people agree.

What is wrong with each generator's outputs, and how sure is that (MQM, Freitag et al., 2021)?

Everything is made of judgments with spans, as raw MQM ratings and campaigns that mark errors have them. A generator's
score is the mean over its outputs, each the mean over its annotators, on the scale of the judgments and on 0-100;
intervals and tests go by document where there are documents. Two annotators are compared by the characters that they
marked in the same outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.board import Board, Dimension, Judgment
from billboards.board.mqm_ratings import weight_of
from billboards.errors import NotEnoughData, UnknownName
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.stats.bootstrap import Interval
from billboards.stats.clusters import holm
from billboards.stats.spans import overlap, sign_test
from billboards.stats.worst_case import bootstrap_mean

#: What an error takes off, by its category and severity.
Weigh = Callable[[str, str], float]
#: Rows of the table of pairs of generators and of annotators; the document has all.
MOST = 60


@dataclass(frozen=True, kw_only=True)
class GeneratorErrors:
    """A generator's marked errors: how many outputs and judgments, the mean score, and errors by severity.

    `raw` is on the scale of the judgments, `score` on 0-100. `errors` is per output; `clean` is the share of judgments
    without any error.
    """

    generator: str
    outputs: int
    judgments: int
    raw: float
    raw_interval: Interval
    score: float
    errors: float
    by_severity: Mapping[str, float]
    clean: float


@dataclass(frozen=True, kw_only=True)
class ErrorCount:
    """How often a generator's outputs have errors of one category and severity, and what these take off.

    `per_100` is per hundred judged outputs, several annotators of one averaged; `points` is per output.
    """

    generator: str
    category: str
    severity: str
    count: int
    per_100: float
    points: float


@dataclass(frozen=True, kw_only=True)
class DomainErrors:
    """A generator's mean score and errors per output in one domain."""

    generator: str
    domain: str
    outputs: int
    raw: float
    errors: float


@dataclass(frozen=True, kw_only=True)
class ErrorDifference:
    """Two generators on the outputs of instances that both have: who is better by how much, and by chance how often.

    `p` is two-sided, `p_holm` after Holm's correction for all pairs.
    """

    better: str
    other: str
    instances: int
    documents: int
    difference: float
    p: float
    p_holm: float


@dataclass(frozen=True, kw_only=True)
class SpanAgreement:
    """How far two annotators marked the same characters, over the outputs that both judged.

    `f1_with_severity` counts a character only where they gave it the same severity. None where neither marked any.
    """

    first: str
    second: str
    outputs: int
    f1: float | None
    f1_with_severity: float | None


@dataclass(frozen=True, kw_only=True)
class ErrorStudy:
    """Marked errors of a board, or of one campaign."""

    DOCUMENT: ClassVar[str] = "spans"

    source: str
    dimension: str
    draws: int
    seed: int
    severities: tuple[str, ...]
    generators: tuple[GeneratorErrors, ...]
    counts: tuple[ErrorCount, ...]
    domains: tuple[DomainErrors, ...]
    differences: tuple[ErrorDifference, ...]
    agreement: tuple[SpanAgreement, ...]
    #: Over all pairs of annotators together; None where no two judged the same output.
    f1: float | None
    f1_with_severity: float | None


@dataclass(frozen=True, kw_only=True)
class _Marked:
    """One judgment with its spans, and what it is worth."""

    generator: str
    instance: str
    document: str
    domain: str
    annotator: str | None
    value: float
    spans: tuple[Mapping[str, Any], ...]


def study_errors(
    board: Board,
    *,
    dimension: str | None = None,
    campaigns: Sequence[str] | None = None,
    weigh: Weigh = weight_of,
    draws: int = 1000,
    seed: int = 0,
) -> ErrorStudy:
    """Everything that marked errors say.

    dimension: the dimension of the judgments' values (default: the one that ends at 0, as MQM's does, else the first)
    campaigns: only judgments of these
    weigh: what an error takes off, by category and severity (default: as in MQM)
    """
    scale, marked = _marked(board, dimension, campaigns)
    severities = tuple(dict.fromkeys(span["severity"] for entry in marked for span in entry.spans))
    by_generator: dict[str, list[_Marked]] = {}
    for entry in marked:
        by_generator.setdefault(entry.generator, []).append(entry)
    generators = [_generator(name, mine, scale, severities, draws, seed) for name, mine in by_generator.items()]
    generators.sort(key=lambda generator: (-generator.score, generator.generator))
    agreement, f1, f1_with_severity = _agreement(marked)
    return ErrorStudy(
        source=board.name,
        dimension=scale.name,
        draws=draws,
        seed=seed,
        severities=severities,
        generators=tuple(generators),
        counts=tuple(count for entry in generators for count in _counts(by_generator[entry.generator], weigh)),
        domains=tuple(_domains(by_generator, [entry.generator for entry in generators])),
        differences=_differences(by_generator, [entry.generator for entry in generators], scale, draws, seed),
        agreement=agreement,
        f1=f1,
        f1_with_severity=f1_with_severity,
    )


def _marked(board: Board, dimension: str | None, campaigns: Sequence[str] | None) -> tuple[Dimension, list[_Marked]]:
    """The judgments that could have marked errors: of campaigns in which somebody did, with a value."""
    ids, rows = tuple(instance.id for instance in board.instances), tuple(row.name for row in board.rows)
    for name in campaigns or ():
        if name not in board.judgments.campaigns:
            raise UnknownName("campaign", name, board.judgments.campaigns)
    judgments = [
        judgment
        for judgment in board.judgments.each(ids, rows)
        if len(judgment.outputs) == 1
        and not judgment.details.get("test")
        and (not campaigns or judgment.campaign in campaigns)
    ]
    marking = {judgment.campaign for judgment in judgments if judgment.details.get("spans")}
    judgments = [judgment for judgment in judgments if judgment.campaign in marking]
    if not judgments:
        raise NotEnoughData(f"board {board.name} has no judgments with marked errors")
    scale = _scale(board, judgments, dimension)
    marked = [
        _Marked(
            generator=judgment.outputs[0],
            instance=judgment.instance,
            document=board.instances[board.position[judgment.instance]].document or f"\0{judgment.instance}",
            domain=board.instances[board.position[judgment.instance]].domain or "",
            annotator=judgment.annotator,
            value=judgment.values[scale.name],
            spans=tuple({"category": "", **span} for span in judgment.details.get("spans") or ()),
        )
        for judgment in judgments
        if scale.name in judgment.values
    ]
    return scale, marked


def _scale(board: Board, judgments: Sequence[Judgment], dimension: str | None) -> Dimension:
    """The dimension that errors are counted on: the one asked for, one that ends at 0, or the one of most judgments."""
    given = Counter(name for judgment in judgments for name in judgment.values)
    if dimension is not None and dimension not in given:
        raise UnknownName("dimension of these judgments", dimension, given)
    if not given:
        raise NotEnoughData(f"the judgments with marked errors of board {board.name} have no value on any dimension")

    def fit(name: str) -> tuple[bool, int]:
        limits = board.dimensions[name].range
        return limits is not None and limits[1] == 0, given[name]

    return board.dimensions[dimension or max(given, key=fit)]


def _outputs(marked: Sequence[_Marked]) -> Iterator[tuple[str, str, list[_Marked]]]:
    """A generator's outputs: instance, document, and everybody's judgments."""
    by_instance: dict[str, list[_Marked]] = {}
    for entry in marked:
        by_instance.setdefault(entry.instance, []).append(entry)
    for instance, judged in by_instance.items():
        yield instance, judged[0].document, judged


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _generator(
    name: str, marked: Sequence[_Marked], scale: Dimension, severities: Sequence[str], draws: int, seed: int
) -> GeneratorErrors:
    outputs = list(_outputs(marked))
    means = [_mean([entry.value for entry in judged]) for _, _, judged in outputs]
    documents = [document for _, document, _ in outputs]
    mean, low, high = bootstrap_mean(means, groups=documents, resamples=draws, seed=seed)
    slope, intercept = scale.affine()
    per_output = {
        severity: _mean(
            [
                _mean([sum(span["severity"] == severity for span in entry.spans) for entry in judged])
                for *_, judged in outputs
            ]
        )
        for severity in severities
    }
    return GeneratorErrors(
        generator=name,
        outputs=len(outputs),
        judgments=len(marked),
        raw=mean,
        raw_interval=(low, high),
        score=slope * mean + intercept,
        errors=sum(per_output.values()),
        by_severity=per_output,
        clean=_mean([not entry.spans for entry in marked]),
    )


def _counts(marked: Sequence[_Marked], weigh: Weigh) -> list[ErrorCount]:
    """A generator's errors by category and severity, the most costly first."""
    outputs = list(_outputs(marked))
    counts, shares = Counter[tuple[str, str]](), dict[tuple[str, str], float]()
    for *_, judged in outputs:
        for entry in judged:
            for span in entry.spans:
                key = (span["category"], span["severity"])
                counts[key] += 1
                shares[key] = shares.get(key, 0.0) + 1 / len(judged)
    made = [
        ErrorCount(
            generator=marked[0].generator,
            category=category,
            severity=severity,
            count=count,
            per_100=100 * shares[category, severity] / len(outputs),
            points=weigh(category, severity) * shares[category, severity] / len(outputs),
        )
        for (category, severity), count in counts.items()
    ]
    return sorted(made, key=lambda count: (-count.points, -count.count, count.category, count.severity))


def _domains(by_generator: Mapping[str, Sequence[_Marked]], order: Sequence[str]) -> Iterator[DomainErrors]:
    """Generators by domain, where the board has any."""
    names = sorted({entry.domain for marked in by_generator.values() for entry in marked} - {""})
    for domain in names:
        for generator in order:
            mine = [entry for entry in by_generator[generator] if entry.domain == domain]
            outputs = [judged for *_, judged in _outputs(mine)]
            if outputs:
                yield DomainErrors(
                    generator=generator,
                    domain=domain,
                    outputs=len(outputs),
                    raw=_mean([_mean([entry.value for entry in judged]) for judged in outputs]),
                    errors=_mean([_mean([len(entry.spans) for entry in judged]) for judged in outputs]),
                )


def _differences(
    by_generator: Mapping[str, Sequence[_Marked]], order: Sequence[str], scale: Dimension, draws: int, seed: int
) -> tuple[ErrorDifference, ...]:
    """Every pair of generators with instances in common."""
    sign = 1.0 if scale.higher_is_better else -1.0
    means = {
        name: {
            instance: (_mean([entry.value for entry in judged]), document)
            for instance, document, judged in _outputs(mine)
        }
        for name, mine in by_generator.items()
    }
    differences: list[dict[str, Any]] = []
    for first, second in combinations(order, 2):
        both = [instance for instance in means[first] if instance in means[second]]
        if not both:
            continue
        apart = np.array([means[first][instance][0] - means[second][instance][0] for instance in both])
        documents = [means[first][instance][1] for instance in both]
        difference = float(apart.mean())
        better, other = (first, second) if sign * difference >= 0 else (second, first)
        p = sign_test(apart, documents, draws=draws, seed=seed)
        facts = {"better": better, "other": other, "instances": len(both), "documents": len(set(documents))}
        differences.append({**facts, "difference": abs(difference), "p": p})
    corrected = holm(np.array([entry["p"] for entry in differences])) if differences else ()
    return tuple(ErrorDifference(**entry, p_holm=float(p)) for entry, p in zip(differences, corrected, strict=True))


def _characters(spans: Sequence[Mapping[str, Any]], *, with_severity: bool) -> set[object]:
    """The characters that are marked; those of the source are others than those of the output."""
    return {
        (bool(span.get("missing")), place, span["severity"] if with_severity else "")
        for span in spans
        if "start" in span
        for start, end in span.get("parts") or [(span["start"], span["end"])]
        for place in range(start, end)
    }


def _agreement(marked: Sequence[_Marked]) -> tuple[tuple[SpanAgreement, ...], float | None, float | None]:
    """Every pair of annotators who judged the same outputs, and all of them together."""
    by_output: dict[tuple[str, str], dict[str, _Marked]] = {}
    for entry in marked:
        if entry.annotator is not None:
            by_output.setdefault((entry.generator, entry.instance), {})[entry.annotator] = entry
    shared: dict[tuple[str, str], list[tuple[_Marked, _Marked]]] = {}
    for judged in by_output.values():
        for first, second in combinations(sorted(judged), 2):
            shared.setdefault((first, second), []).append((judged[first], judged[second]))

    def f1(pairs: Sequence[tuple[_Marked, _Marked]], *, with_severity: bool) -> float | None:
        characters = (tuple(_characters(entry.spans, with_severity=with_severity) for entry in pair) for pair in pairs)
        return overlap((first, second) for first, second in characters).f1

    lines = tuple(
        SpanAgreement(
            first=first,
            second=second,
            outputs=len(pairs),
            f1=f1(pairs, with_severity=False),
            f1_with_severity=f1(pairs, with_severity=True),
        )
        for (first, second), pairs in sorted(shared.items(), key=lambda item: (-len(item[1]), item[0]))
    )
    everybody = [pair for pairs in shared.values() for pair in pairs]
    return lines, f1(everybody, with_severity=False), f1(everybody, with_severity=True)


def error_tables(study: ErrorStudy) -> tuple[Table, ...]:
    """The study as tables; those with nothing in them are left out."""
    tables = (_generators_table(study), _counts_table(study), _domains_table(study))
    return tuple(
        table
        for table in (*tables, _differences_table(study), _agreement_table(study))
        if table.rows or table is tables[0]
    )


def _generators_table(study: ErrorStudy) -> Table:
    columns = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("raw", study.dimension.rpartition(".")[2], digits=2),
        TableColumn("raw_interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("score", "0-100", digits=1),
        TableColumn("errors", "errors per output", digits=2),
        *(TableColumn(f"severity_{severity}", severity, digits=2, priority=1) for severity in study.severities),
        TableColumn("clean", "without errors", digits=2, priority=2),
        TableColumn("outputs", "outputs", priority=2),
        TableColumn("judgments", "judgments", priority=3),
    )
    rows = tuple(
        {**vars(entry), **{f"severity_{name}": share for name, share in entry.by_severity.items()}}
        for entry in study.generators
    )
    notes = (
        "The score is a mean over outputs, each a mean over its annotators. Intervals are of resampled documents, "
        "where there are documents: with fewer than ten of them they are too narrow.",
    )
    return Table(f"{study.source}: marked errors by generator", columns, rows, notes, name="generators")


def _counts_table(study: ErrorStudy) -> Table:
    columns = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("category", "category", "left"),
        TableColumn("severity", "severity", "left"),
        TableColumn("count", "marked"),
        TableColumn("per_100", "per 100 outputs", digits=1),
        TableColumn("points", "points per output", digits=2, priority=1),
    )
    rows = tuple({**vars(entry), "category": entry.category or "–"} for entry in study.counts)
    notes = ("Points are what the errors of one kind take off an output on average, before any limit of the scale.",)
    return Table(f"{study.source}: errors by category and severity", columns, rows, notes, name="categories")


def _domains_table(study: ErrorStudy) -> Table:
    columns = (
        TableColumn("domain", "domain", "left"),
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("raw", study.dimension.rpartition(".")[2], digits=2),
        TableColumn("errors", "errors per output", digits=2),
        TableColumn("outputs", "outputs"),
    )
    return Table(f"{study.source}: by domain", columns, tuple(map(vars, study.domains)), name="domains")


def _differences_table(study: ErrorStudy) -> Table:
    columns = (
        TableColumn("better", "better", "left", kind="name"),
        TableColumn("other", "than", "left"),
        TableColumn("difference", "by", digits=2),
        TableColumn("p", "p", kind="p"),
        TableColumn("p_holm", "p, corrected", kind="p"),
        TableColumn("instances", "instances", priority=1),
        TableColumn("documents", "documents", priority=2),
    )
    notes: tuple[str, ...] = (
        "p says how often a difference as large comes about where both generators' outputs of a document might as well "
        "be exchanged, as one; corrected for all pairs (Holm). With n documents it can't be below 1 in 2 to the n-1.",
    )
    if len(study.differences) > MOST:
        notes += (f"{MOST} of {len(study.differences):,} pairs; the JSON document has all.",)
    rows = tuple(map(vars, study.differences[:MOST]))
    return Table(f"{study.source}: differences between generators", columns, rows, notes, name="differences")


def _agreement_table(study: ErrorStudy) -> Table:
    columns = (
        TableColumn("first", "annotator", "left"),
        TableColumn("second", "and", "left"),
        TableColumn("outputs", "shared outputs"),
        TableColumn("f1", "F1", digits=3),
        TableColumn("f1_with_severity", "with severity", digits=3),
    )
    rows: list[Mapping[str, object]] = [vars(entry) for entry in study.agreement[:MOST]]
    if len(study.agreement) > 1:
        outputs = sum(entry.outputs for entry in study.agreement)
        whole = {"first": "all pairs", "second": "", "outputs": outputs, "f1": study.f1}
        rows.insert(0, {**whole, "f1_with_severity": study.f1_with_severity})
    notes: tuple[str, ...] = (
        "F1 of marked characters: 1 where two annotators marked the same characters, 0 where none is the same. It is "
        "often low among professionals, too: read it beside the agreement of scores.",
    )
    if len(study.agreement) > MOST:
        notes += (f"{MOST} of {len(study.agreement):,} pairs; the JSON document has all.",)
    return Table(f"{study.source}: do annotators mark the same?", columns, tuple(rows), notes, name="agreement")


@analysis(view=(), group="people", paper="Freitag et al. 2021")
def spans(
    view: View,
    *,
    dimension: Annotated[
        str | None, Named(metavar="NAME"), "the dimension of the scores (default: the one that ends at 0, as MQM's)"
    ] = None,
    campaign: Annotated[
        tuple[str, ...] | None, Named(metavar="NAME"), "only judgments of this campaign; may be repeated"
    ] = None,
    draws: Annotated[int, Ge(1), Named(metavar="N"), "resamples and exchanges of documents"] = 1000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> ErrorStudy:
    """Count the errors that people marked: by generator, kind, severity and domain, and whether people agree."""
    return study_errors(view.board, dimension=dimension, campaigns=campaign, draws=draws, seed=seed)


spans.table(error_tables)


@spans.words
def _words(study: ErrorStudy) -> list[str]:
    best = study.generators[0]
    words = [f"{best.generator} has the best score: {best.raw:.2f} ({best.score:.1f} of 100)."]
    if study.counts:
        total: Counter[str] = Counter()
        for count in study.counts:
            total[count.category or count.severity] += count.count
        most, often = total.most_common(1)[0]
        words.append(f"Most often marked: {most} ({often:,} of {sum(total.values()):,} errors).")
    if study.f1 is not None:
        words.append(f"Annotators agree on what to mark at a character F1 of {study.f1:.2f}.")
    return words
