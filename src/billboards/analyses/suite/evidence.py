"""What many boards say about metrics, ready to be pooled: agreement, its error, and what using each metric takes.

Agreement is Pearson's r over all judged outputs. Preferences give Kendall's tau, which Greiner's relation r = sin(πτ/2)
puts on the same scale. Errors are those of Fisher's z. Metrics of one board are measured on the same outputs, so their
errors go together: resampled instances say how much; where only intervals are at hand, `SHARED` stands for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen, choose_metrics
from billboards.analyses.suite.dimension_agreement import WIDTH, Columns, decisions, load_beside, people_say
from billboards.analyses.suite.results import Suite
from billboards.board import DataCard
from billboards.board.missing_cells import column_key
from billboards.errors import BillboardsError
from billboards.metrics.base import Metric
from billboards.metrics.discovery import metric_class, metric_names
from billboards.metrics.languages import language_of
from billboards.stats.bootstrap import Interval
from billboards.stats.correlation import instance_sums, pearson_of_sums, resampled_pearson, resampling_weights

Floats = NDArray[np.float64]

#: What using a metric takes, from cheap to dear.
Cost = Literal["instant", "slow", "gpu", "paid"]
COSTS: tuple[Cost, ...] = ("instant", "slow", "gpu", "paid")
COST_WORDS: Mapping[Cost, str] = {
    "instant": "instant: thousands of outputs a second on any computer",
    "slow": "slow: seconds or minutes, no graphics card",
    "gpu": "gpu: a graphics card, or patience",
    "paid": "paid: asks a language model, which may cost money",
}
#: Outputs a second from which on a metric counts as instant.
INSTANT = 1000.0
#: How far the errors of two metrics on one board go together where nothing says it, as on most public boards.
SHARED = 0.75
#: Agreements are taken as at most this far from 0, because z has no end.
_UTMOST = 0.999
_FLAGGED = "is flagged by its audit"
SCORES_ONLY = "came as scores only: nobody else can compute it"
NOT_HERE = "came with a board; it can't be run here"
REFERENCE_FREE = "uses no references: it can't see what an output should say"

#: Words by which a board's sentence on its task is known.
_TASKS: Mapping[str, str] = {
    "data to text": r"data.to.text|triples|dialogue act|table.to.text",
    "translation": r"translat|\bmt\b",
    "summarization": r"summar",
    "simplification": r"simplif|easier to understand",
    "captioning": r"caption|photograph|describe an? (image|picture)",
    "question answering": r"question.answer|answer (an|a) .*question|\bqa\b",
    "paraphrase": r"paraphras|in other words",
    "dialogue": r"dialog|conversation",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricFacts:
    """What using a metric takes, and what speaks against it.

    `cost` is None where nobody says; `speed` is outputs a second, as measured while boards were scored. A metric that
    is not `usable` is listed and never advised.
    """

    name: str
    needs_references: bool = True
    cost: Cost | None = None
    speed: float | None = None
    languages: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()
    usable: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardAgreement:
    """How far metrics agree with people on one board, with the standard errors of Fisher's z and their correlations.

    Without `correlations`, the errors of every two metrics go together as far as `SHARED` says.
    """

    board: str
    task: str | None
    language: str | None
    metrics: tuple[str, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]
    correlations: tuple[tuple[float, ...], ...] = ()
    #: What boards of one campaign or data set share: the suite's group, or what their data cards cite.
    collection: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Boards and the metrics that they judge; `source` says whose they are."""

    DOCUMENT: ClassVar[str] = "evidence"

    source: str
    boards: tuple[BoardAgreement, ...]
    metrics: tuple[MetricFacts, ...]


def task_of(text: str | None) -> str | None:
    """The task that a sentence is about, by its usual name; as it is written where it has none."""
    words = " ".join((text or "").casefold().split()).rstrip(".")
    if not words:
        return None
    return next((task for task, pattern in _TASKS.items() if re.search(pattern, words)), words)


def language_code(text: str | None) -> str | None:
    """The shortest code of a language."""
    spoken = language_of(text)
    return None if spoken is None else spoken.code


def collection_of(card: DataCard) -> str | None:
    """The campaign or data set that a board belongs to: what its data card cites."""
    return " ".join((card.citation or "").split()) or None


def fisher(value: Floats | float) -> Floats:
    """Fisher's z of agreements."""
    z: Floats = np.arctanh(np.clip(value, -_UTMOST, _UTMOST))
    return z


def error_of_interval(interval: Interval | None, n: int) -> float:
    """The standard error of z from a 95% interval of r; without one, that of independent outputs."""
    width = 0.0 if interval is None else float(fisher(interval[1]) - fisher(interval[0])) / (2 * WIDTH)
    return width if width > 0 else _independent(n)


def _independent(n: int) -> float:
    return 1 / math.sqrt(max(n - 3, 1))


def cost_of(metric: Metric | type[Metric]) -> Cost:
    """What a metric declares that it takes to run."""
    from billboards.metrics.judges.judge import Judge
    from billboards.metrics.judges.panel import Panel

    if issubclass(metric if isinstance(metric, type) else type(metric), Judge | Panel):
        return "paid"
    if metric.resources:
        return "gpu"
    return "slow" if metric.card.slow else "instant"


def installed_cost(name: str) -> Cost | None:
    """What the installed metric of a column's name takes; None where there is none."""
    plain = re.split(r"[(\[]", name)[0].strip()
    if plain not in metric_names():
        return None
    try:
        return cost_of(metric_class(plain))
    except BillboardsError:
        return None


def gather_evidence(
    suite: Suite, boards: Sequence[OpenBoard], chosen: Sequence[Chosen], *, draws: int, seed: int
) -> Evidence:
    """What a suite's boards say of its metrics, from the scores that there are; statistics of texts take no part."""
    rows = [row for row in chosen if not row.is_statistic]
    agreements = [
        agreement
        for k, member in enumerate(boards)
        if (agreement := _board_agreement(member, rows, draws, seed + k)) is not None
    ]
    used = {name for agreement in agreements for name in agreement.metrics}
    facts = tuple(_facts(row, boards) for row in rows if row.name in used)
    return Evidence(source=suite.title or suite.name, boards=tuple(agreements), metrics=facts)


def with_imported(suite: Suite, boards: Sequence[OpenBoard], chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """The metrics, and those whose scores came with a board."""
    present = {row.name for row in chosen}
    names = [
        column.name
        for member in boards
        for column in member.board.imported
        if not (column.is_ensemble or column.is_statistic or {column.name, column.source_name} & present)
    ]
    return (*chosen, *(choose_metrics(suite, boards, list(dict.fromkeys(names))) if names else ()))


def with_present(suite: Suite, boards: Sequence[OpenBoard], chosen: Sequence[Chosen]) -> tuple[Chosen, ...]:
    """The metrics, those whose scores came with a board, and those that were scored on any before.

    A metric whose program isn't at hand any more, such as a file that has changed, is left out.
    """
    rows = with_imported(suite, boards, chosen)
    present = {row.name for row in rows} | {metric.name for row in rows for metric in row.on.values()}
    stored = dict.fromkeys(key.column.name for member in boards for key in member.home.cells.columns())
    for name in stored:
        if name in present:
            continue
        try:
            rows = (*rows, *choose_metrics(suite, boards, [name]))
        except BillboardsError:
            continue
    return tuple({row.name: row for row in reversed(rows)}.values())[::-1]


def _board_agreement(member: OpenBoard, rows: Sequence[Chosen], draws: int, seed: int) -> BoardAgreement | None:
    columns = load_beside(member, "all", rows)
    if not columns.names:
        return None
    measured = [_measured(member, columns, dimension, draws, seed) for dimension in _dimensions(member)]
    z = _mean_of([part.z for part in measured])
    drawn = _mean_of([part.drawn for part in measured])
    n = np.max([part.n for part in measured], axis=0)
    kept = np.flatnonzero(np.isfinite(z))
    if not len(kept):
        return None
    errors, correlations = _errors(drawn[:, kept], n[kept])
    return BoardAgreement(
        board=member.label,
        task=task_of(member.entry.task or member.board.card.task),
        language=language_code(member.board.output_language),
        metrics=tuple(columns.names[k] for k in kept),
        values=tuple(np.tanh(z[kept]).tolist()),
        errors=tuple(errors.tolist()),
        correlations=tuple(map(tuple, correlations.tolist())),
        collection=member.entry.group or collection_of(member.board.card),
    )


def _dimensions(member: OpenBoard) -> tuple[str, ...]:
    """What counts as correctness; a board on which nothing does takes part with its first dimension."""
    return member.correctness or member.others[:1]


@dataclass(frozen=True)
class _Measured:
    """Every metric's z on one dimension, in every draw, and on how many outputs or pairs."""

    z: Floats
    drawn: Floats
    n: NDArray[np.int64]


def _measured(member: OpenBoard, columns: Columns, dimension: str, draws: int, seed: int) -> _Measured:
    if member.given(dimension) == "preferences":
        return _measured_preferences(member, columns, dimension, draws, seed)
    sums = instance_sums(columns.values, people_say(member, dimension))
    drawn = resampled_pearson(sums, draws=draws, seed=seed)
    drawn[:, (sums[:, :, 0] > 0).sum(axis=1) < 2] = np.nan
    total = sums.sum(axis=1)
    return _Measured(fisher(pearson_of_sums(total)), fisher(drawn), np.rint(total[:, 0]).astype(np.int64))


def _measured_preferences(member: OpenBoard, columns: Columns, dimension: str, draws: int, seed: int) -> _Measured:
    pairs = member.pairs(dimension)
    decided = decisions(columns.values, pairs)
    instances, place = np.unique(pairs.instance, return_inverse=True)
    compared = np.isfinite(decided)
    balance = np.array([np.bincount(place, row, len(instances)) for row in np.where(compared, decided, 0.0)])
    count = np.array([np.bincount(place, row, len(instances)) for row in compared])
    weights = resampling_weights(np.random.default_rng(seed), len(instances), draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = balance.sum(axis=1) / count.sum(axis=1)
        drawn = (weights @ balance.T) / (weights @ count.T)
    drawn[:, (count > 0).sum(axis=1) < 2] = np.nan
    return _Measured(fisher(_greiner(tau)), fisher(_greiner(drawn)), compared.sum(axis=1))


def _greiner(tau: Floats) -> Floats:
    """The r of normal values whose Kendall correlation is this."""
    r: Floats = np.sin(np.pi / 2 * tau)
    return r


def _mean_of(parts: Sequence[Floats]) -> Floats:
    """The mean over dimensions, of those that a metric has."""
    stacked = np.array(parts)
    present = np.isfinite(stacked)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(present, stacked, 0.0).sum(axis=0) / present.sum(axis=0)
    return mean


def _errors(drawn: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Standard errors and their correlations from draws × metrics; a metric without draws has an error of its own."""
    present = np.isfinite(drawn)
    count = present.sum(axis=0)
    centre = np.where(present, drawn, 0.0).sum(axis=0) / np.maximum(count, 1)
    filled = np.where(present, drawn, centre) - centre
    spread = np.sqrt((filled**2).sum(axis=0) / np.maximum(count - 1, 1))
    scaled = filled / np.where(spread > 0, spread * np.sqrt(max(len(drawn) - 1, 1)), 1.0)
    correlations = np.clip(scaled.T @ scaled, -1.0, 1.0)
    np.fill_diagonal(correlations, 1.0)
    lone = [_independent(int(outputs)) for outputs in n]
    return np.where(spread > 0, spread, lone), np.round(correlations, 3)


def _facts(row: Chosen, boards: Sequence[OpenBoard]) -> MetricFacts:
    metric = next(iter(row.on.values()), None)
    cost = installed_cost(row.name) if metric is None else cost_of(metric)
    flagged = any(a.metric == row.name and a.level == "flagged" for m in boards for a in m.home.archive.audits())
    imported = [c for m in boards for c in m.board.imported if row.name in (c.name, c.source_name)]
    lone = metric is None and any(column.scores_only for column in imported)
    warnings = (
        *([REFERENCE_FREE] if not row.needs_references else ()),
        *([_FLAGGED] if flagged else ()),
        *([SCORES_ONLY] if lone else [NOT_HERE] if metric is None else ()),
    )
    return MetricFacts(
        name=row.name,
        needs_references=row.needs_references,
        cost=cost,
        speed=_speed(row, boards),
        languages=None if metric is None else metric.card.languages,
        warnings=warnings,
        usable=not (flagged or lone),
    )


def _speed(row: Chosen, boards: Sequence[OpenBoard]) -> float | None:
    """Outputs a second over all boards that were scored here."""
    timed = [times for member in boards for times in _timed(row, member)]
    outputs, seconds = (sum(part) for part in zip(*timed, strict=True)) if timed else (0, 0.0)
    return outputs / seconds if outputs and seconds > 0 else None


def _timed(row: Chosen, member: OpenBoard) -> Iterator[tuple[int, float]]:
    metric = row.on.get(member.key)
    if metric is None:
        return
    key = column_key(member.board, metric, member.references("all" if row.needs_references else "none"))
    seconds = member.home.cells.seconds(key)
    cells = member.home.cells.load(key, seconds)
    yield sum(int(np.isfinite(scores).sum()) for scores in cells.values()), sum(seconds.values())
