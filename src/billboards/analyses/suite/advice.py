"""Which metric should I use? What all boards at hand say of metrics, for a task and a language, judged there or not.

Agreements of metrics on boards are pooled (`billboards.stats.pooling`): what a metric reaches on a new board follows
from what it reached elsewhere, most of all on boards of the same task and language, and the less is known, the wider
the interval. Metrics of one board rise and fall together, so what is uncertain about the board says nothing about
which metric is best: probabilities are from joint draws. How far to believe it, boards that are left out say.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.suite.evidence import (
    COSTS,
    SHARED,
    BoardAgreement,
    Cost,
    Evidence,
    MetricFacts,
    fisher,
    language_code,
    task_of,
)
from billboards.analyses.suite.languages import alike
from billboards.errors import NotEnoughData, UnknownName
from billboards.show.table import FLAGGED, NOTES, REFERENCE_FREE, Table, TableColumn
from billboards.show.words import interval_text, listed, one_line, value_text
from billboards.stats.bootstrap import Interval
from billboards.stats.pooling import (
    EFFECTS,
    Agreements,
    Asked,
    Pooling,
    fit_pooling,
    leave_boards_out,
    predict,
    thinned,
)

Floats = NDArray[np.float64]

#: Joint draws behind probabilities and intervals.
DRAWS = 4000
#: A metric this close to the best is as good.
WITHIN = 0.02
#: Draws from the posterior of standard deviations that boards are left out with.
_FEW = 8
_TAILS = (0.025, 0.975)
_MEANINGS: Mapping[str, str] = {
    "task": "tasks differ, for all metrics alike",
    "language": "languages differ, for all metrics alike",
    "collection": "campaigns differ, for all metrics alike",
    "board": "boards of one campaign differ, for all metrics alike",
    "metric": "metrics differ on all boards",
    "metric × task": "metrics differ by task",
    "metric × language": "metrics differ by language",
    "metric × collection": "metrics differ by campaign",
    "rest": "metrics differ by board, for no reason that is named here",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What a metric is needed for; None where it may be anything.

    `board` names one of the boards: what was measured there counts, too.
    """

    task: str | None = None
    language: str | None = None
    references: bool = True
    cost: Cost | None = None
    board: str | None = None
    within: float = WITHIN


@dataclass(frozen=True, kw_only=True, slots=True)
class AdvisedMetric:
    """One metric: the agreement to expect, and how probable it is that none is better.

    `near` is the probability that it is within the question's margin of the best, `behind` what it is expected to lack;
    `boards` counts those that it was measured on, `alike` those of them that have the task and the language, as far as
    these are asked for.
    """

    metric: str
    agreement: float
    interval: Interval
    best: float | None
    near: float | None
    behind: float | None
    boards: int
    alike: int
    needs_references: bool = True
    cost: Cost | None = None
    speed: float | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldOut:
    """How advice fares on boards that are left out with all of their collection, beside each metric's mean elsewhere.

    Errors are root mean squares of predicted less measured agreement; `coverage` is the share of measured agreements
    inside their 95% intervals; regret is what the chosen metric lacks of the best one, as a mean over boards.
    """

    boards: int
    agreements: int
    error: float
    coverage: float
    regret: float
    mean_error: float
    mean_regret: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Metrics for a question, the one to use first; `left_out` says why others can't be used."""

    DOCUMENT: ClassVar[str] = "advice"

    source: str
    question: Question
    metrics: tuple[AdvisedMetric, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    boards: int = 0
    #: Boards that have the task, and those that have the language.
    same_task: int = 0
    same_language: int = 0
    tasks: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    #: How much agreement varies by each effect, as standard deviations of Fisher's z.
    effects: Mapping[str, float] = field(default_factory=dict)
    held_out: HeldOut | None = None


def advise(evidence: Evidence, question: Question, *, seed: int = 0) -> Advice:
    """Metrics for a question, by what the boards say."""
    if not evidence.boards:
        raise NotEnoughData(
            f"{one_line(evidence.source)}: no board has metrics whose agreement with people was measured; score and "
            "rank boards with judgments first"
        )
    question = _plain(question)
    pooled = pool(evidence, seed)
    left_out, candidates = {}, []
    for facts in evidence.metrics:
        reason = _unfit(facts, question)
        if reason is None:
            candidates.append(facts)
        else:
            left_out[facts.name] = reason
    tasks = [board.task == question.task for board in evidence.boards]
    languages = [board.language == question.language for board in evidence.boards]
    return Advice(
        source=evidence.source,
        question=question,
        metrics=_advised(evidence, pooled, question, candidates, seed) if candidates else (),
        left_out=left_out,
        boards=len(evidence.boards),
        same_task=sum(tasks) if question.task else 0,
        same_language=sum(languages) if question.language else 0,
        tasks=tuple(sorted({board.task for board in evidence.boards if board.task})),
        languages=tuple(sorted({board.language for board in evidence.boards if board.language})),
        effects=dict(zip(EFFECTS, pooled.pooling.sds.tolist(), strict=True)),
        held_out=pooled.held_out,
    )


def _plain(question: Question) -> Question:
    """The question in the words that boards are known by."""
    return Question(
        task=task_of(question.task),
        language=language_code(question.language),
        references=question.references,
        cost=question.cost,
        board=question.board,
        within=question.within,
    )


def _unfit(facts: MetricFacts, question: Question) -> str | None:
    """Why a metric can't be used for a question."""
    if facts.needs_references and not question.references:
        return "needs references"
    if question.cost is not None and facts.cost is None:
        return "nobody says what it costs"
    if question.cost is not None and COSTS.index(facts.cost or "paid") > COSTS.index(question.cost):
        return f"costs more: {facts.cost}"
    spoken = None if facts.languages is None else {language_code(own) for own in facts.languages}
    if question.language is not None and spoken is not None and question.language not in spoken:
        return f"is made for {listed(list(facts.languages or ()), 6)}"
    return None


# The model on the evidence.


@dataclass(frozen=True)
class Pooled:
    """Evidence as arrays, what was fitted to it, and how that fares on boards that are left out."""

    names: tuple[str, ...]
    agreements: Agreements
    pooling: Pooling
    held_out: HeldOut | None


@lru_cache(maxsize=8)
def pool(evidence: Evidence, seed: int = 0) -> Pooled:
    """The model of some evidence; the same evidence is not fitted again."""
    names, agreements = laid_out(evidence.boards)
    pooling = fit_pooling(agreements, seed=seed)
    return Pooled(names, agreements, pooling, _held_out(evidence, agreements, pooling, seed))


def laid_out(boards: Sequence[BoardAgreement]) -> tuple[tuple[str, ...], Agreements]:
    """Boards as arrays, and the names of the metrics that these number."""
    names = tuple(dict.fromkeys(name for board in boards for name in board.metrics))
    number = {name: k for k, name in enumerate(names)}
    values = [value for board in boards for value in board.values]
    noise = np.zeros((len(values), len(values)))
    start = 0
    for board in boards:
        stop = start + len(board.metrics)
        errors = np.array(board.errors)
        together = np.array(board.correlations) if board.correlations else np.full((len(errors), len(errors)), SHARED)
        np.fill_diagonal(together, 1.0)
        noise[start:stop, start:stop] = together * np.outer(errors, errors)
        start = stop
    return names, Agreements(
        z=fisher(np.array(values, np.float64)),
        board=np.repeat(np.arange(len(boards)), [len(board.metrics) for board in boards]),
        metric=np.array([number[name] for board in boards for name in board.metrics], np.intp),
        noise=noise,
        task=_among(boards, lambda a, b: _same(a.task, b.task)),
        language=_among(boards, lambda a, b: alike(a.language, b.language)),
        collection=_among(boards, lambda a, b: _same(a.collection, b.collection)),
    )


def _same(first: str | None, second: str | None) -> float:
    """1 for one and the same; what is unknown is like nothing."""
    return float(first == second and first is not None)


def _among(boards: Sequence[BoardAgreement], like: Callable[[BoardAgreement, BoardAgreement], float]) -> Floats:
    """How alike every two boards are; each is like itself, also where nothing is said of it."""
    among = np.array([[like(a, b) for b in boards] for a in boards], np.float64)
    np.fill_diagonal(among, 1.0)
    return among


def asked(boards: Sequence[BoardAgreement], question: Question, metrics: Sequence[int]) -> Asked:
    """A question as arrays: a board of its own, or one of these."""
    place = None
    if question.board is not None:
        labels = [board.board for board in boards]
        if question.board not in labels:
            raise UnknownName("board", question.board, labels)
        place = labels.index(question.board)
    if place is None:
        task = np.array([_same(board.task, question.task) for board in boards])
        language = np.array([alike(board.language, question.language) for board in boards])
        collection = np.zeros(len(boards))
    else:
        laid = laid_out(boards)[1]
        task, language, collection = laid.task[place], laid.language[place], laid.collection[place]
    number = np.array(metrics, np.intp)
    return Asked(metric=number, task=task, language=language, collection=collection, board=place)


def _advised(
    evidence: Evidence, pooled: Pooled, question: Question, candidates: Sequence[MetricFacts], seed: int
) -> tuple[AdvisedMetric, ...]:
    number = {name: k for k, name in enumerate(pooled.names)}
    question_asked = asked(evidence.boards, question, [number[facts.name] for facts in candidates])
    predicted = predict(pooled.pooling, pooled.agreements, question_asked)
    drawn = np.tanh(predicted.draw(DRAWS, seed))
    agreement = np.tanh(predicted.mean)
    low, high = np.quantile(drawn, _TAILS, axis=0)
    usable = np.array([facts.usable for facts in candidates])
    best, near, behind = _chances(drawn, usable, question.within)
    advised = [
        AdvisedMetric(
            metric=facts.name,
            agreement=float(agreement[k]),
            interval=(float(low[k]), float(high[k])),
            best=float(best[k]) if usable[k] else None,
            near=float(near[k]) if usable[k] else None,
            behind=float(behind[k]) if usable[k] else None,
            boards=sum(facts.name in board.metrics for board in evidence.boards),
            alike=sum(facts.name in board.metrics and _fits(board, question) for board in evidence.boards),
            needs_references=facts.needs_references,
            cost=facts.cost,
            speed=facts.speed,
            warnings=facts.warnings,
        )
        for k, facts in enumerate(candidates)
    ]
    return tuple(sorted(advised, key=lambda entry: (entry.best is None, -entry.agreement, entry.metric)))


def _chances(drawn: Floats, usable: NDArray[np.bool_], within: float) -> tuple[Floats, Floats, Floats]:
    """Of each metric: how often it is the best of those that can be used, nearly so, and what it lacks."""
    if not usable.any():
        nothing = np.full(drawn.shape[1], np.nan)
        return nothing, nothing, nothing
    top = drawn[:, usable].max(axis=1, keepdims=True)
    lacking = top - drawn
    best: Floats = (lacking <= 0).mean(axis=0)
    near: Floats = (lacking <= within).mean(axis=0)
    behind: Floats = lacking.mean(axis=0)
    return best, near, behind


def _fits(board: BoardAgreement, question: Question) -> bool:
    return question.task in (None, board.task) and question.language in (None, board.language)


# Boards that are left out.


def _held_out(evidence: Evidence, agreements: Agreements, pooling: Pooling, seed: int) -> HeldOut | None:
    """How the model fares on each board, predicted from other collections; None for a single board."""
    boards = evidence.boards
    if len(boards) < 2:
        return None
    groups = collections(boards)
    few = thinned(pooling, min(_FEW, len(pooling.weights)))
    drawn: dict[int, Floats] = {}
    means: dict[int, Floats] = {}
    for group, predicted in zip(groups, leave_boards_out(few, agreements, groups), strict=True):
        ends = np.cumsum([len(boards[k].metrics) for k in group])[:-1]
        drawn |= dict(zip(group, np.split(predicted.draw(1000, seed), ends, axis=1), strict=True))
        means |= dict(zip(group, np.split(predicted.mean, ends), strict=True))
    return score_held_out(boards, groups, drawn, means)


def collections(boards: Sequence[BoardAgreement]) -> list[list[int]]:
    """Boards by collection; each alone where all are of one."""
    groups: dict[str, list[int]] = {}
    for k, board in enumerate(boards):
        key = f"collection {board.collection}" if board.collection else f"board {board.board}"
        groups.setdefault(key, []).append(k)
    return list(groups.values()) if len(groups) > 1 else [[k] for k in range(len(boards))]


def score_held_out(
    boards: Sequence[BoardAgreement],
    groups: Sequence[Sequence[int]],
    drawn: Mapping[int, Floats],
    means: Mapping[int, Floats],
) -> HeldOut | None:
    """What predictions of each board were worth; metrics that no other group has measured are not counted."""
    squares: list[float] = []
    mean_squares: list[float] = []
    covered: list[bool] = []
    regrets: list[tuple[float, float]] = []
    group_of = {k: group for group in groups for k in group}
    for k, board in enumerate(boards):
        elsewhere = mean_elsewhere(boards, group_of[k])
        kept = [m for m, name in enumerate(board.metrics) if name in elsewhere]
        if not kept:
            continue
        measured = np.array(board.values)[kept]
        predicted = np.tanh(means[k][kept])
        low, high = np.quantile(np.tanh(drawn[k][:, kept]), _TAILS, axis=0)
        mean = np.array([elsewhere[board.metrics[m]] for m in kept])
        squares += ((predicted - measured) ** 2).tolist()
        mean_squares += ((mean - measured) ** 2).tolist()
        covered += ((low <= measured) & (measured <= high)).tolist()
        best = float(measured.max())
        regrets.append((best - float(measured[predicted.argmax()]), best - float(measured[mean.argmax()])))
    if not squares:
        return None
    regret, mean_regret = np.mean(regrets, axis=0).tolist()
    return HeldOut(
        boards=len(regrets),
        agreements=len(squares),
        error=float(np.sqrt(np.mean(squares))),
        coverage=float(np.mean(covered)),
        regret=regret,
        mean_error=float(np.sqrt(np.mean(mean_squares))),
        mean_regret=mean_regret,
    )


def mean_elsewhere(boards: Sequence[BoardAgreement], out: Collection[int] = ()) -> dict[str, float]:
    """Each metric's mean agreement over the boards but some."""
    values: dict[str, list[float]] = {}
    for k, board in enumerate(boards):
        for name, value in zip(board.metrics, board.values, strict=True):
            if k not in out:
                values.setdefault(name, []).append(value)
    return {name: float(np.mean(several)) for name, several in values.items()}


# Shown.


def advice_tables(advice: Advice) -> tuple[Table, ...]:
    """The metrics, and what agreement depends on."""
    return _metric_table(advice), _effect_table(advice)


def _metric_table(advice: Advice) -> Table:
    warned: dict[str, list[str]] = {}
    for entry in advice.metrics:
        for warning in entry.warnings:
            warned.setdefault(warning, []).append(entry.metric)
    rows = tuple(
        {
            "name": entry.metric,
            "mark": _mark(entry),
            "agreement": entry.agreement,
            "interval": entry.interval,
            "best": entry.best,
            "near": entry.near,
            "behind": entry.behind,
            "boards": entry.boards,
            "alike": entry.alike,
            "cost": entry.cost,
            "speed": entry.speed,
            "warnings": "; ".join(entry.warnings) or None,
        }
        for entry in advice.metrics
    )
    within = value_text(advice.question.within, 2)
    columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("agreement", "agreement", digits=3),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("best", "P(best)", digits=2),
        TableColumn("near", f"P(within {within})", digits=2, priority=1),
        TableColumn("behind", "behind the best", digits=3, priority=3),
        TableColumn("boards", "boards", priority=1),
        TableColumn("alike", "like this", priority=4),
        TableColumn("cost", "cost", "left", priority=2),
        TableColumn("speed", "outputs per second", digits=0, priority=5),
        TableColumn("warnings", "warnings", "left", visible=False),
    )
    reasons: dict[str, list[str]] = {}
    for name, reason in advice.left_out.items():
        reasons.setdefault(reason, []).append(name)
    notes = (
        "Agreement: Pearson’s r with people that a new board of this kind will show. The interval is about that board; "
        "much of it moves all metrics together, so compare metrics by P(best).",
        *(NOTES[mark] for mark in (REFERENCE_FREE,) if any(row["mark"] == mark for row in rows)),
        *(f"{listed(names, 12)}: {warning}." for warning, names in warned.items()),
        *(f"Left out, {reason}: {listed(names, 12)}." for reason, names in reasons.items()),
    )
    return Table(
        f"{one_line(advice.source)}: which metric for {asked_words(advice.question)}", columns, rows, notes, "metrics"
    )


def _mark(entry: AdvisedMetric) -> str:
    if entry.best is None:
        return FLAGGED
    return "" if entry.needs_references else REFERENCE_FREE


def _effect_table(advice: Advice) -> Table:
    rows = tuple(
        {"name": name, "sd": advice.effects[name], "meaning": _MEANINGS[name]}
        for name in EFFECTS
        if name in advice.effects
    )
    columns = (
        TableColumn("name", "effect", "left"),
        TableColumn("sd", "standard deviation", digits=3),
        TableColumn("meaning", "how much", "left", priority=1),
    )
    notes = ("In units of Fisher’s z, which near 0 are those of r.",)
    return Table("What agreement depends on", columns, rows, notes, "effects")


def asked_words(question: Question) -> str:
    """A question in a few words."""
    if question.board is not None:
        return f"board {one_line(question.board)}"
    parts = (
        one_line(question.task or "any task"),
        f"in {question.language}" if question.language else "in any language",
        "with references" if question.references else "without references",
        f"cost at most {question.cost}" if question.cost else "",
    )
    return ", ".join(part for part in parts if part)


def advice_words(advice: Advice) -> tuple[str, ...]:
    """The answer in sentences."""
    return tuple(_sentences(advice))


def _sentences(advice: Advice) -> Iterator[str]:
    usable = [entry for entry in advice.metrics if entry.best is not None]
    if not usable:
        yield "No metric fits: ask for a higher cost, or for metrics with references."
    else:
        first = usable[0]
        yield (
            f"Use {one_line(first.metric)}: agreement of {value_text(first.agreement, 2)} is to be expected "
            f"({interval_text(first.interval, 2)}), and it is the best with probability {value_text(first.best, 2)}."
        )
        equal = [one_line(entry.metric) for entry in usable[1:] if (entry.near or 0.0) >= 0.5]
        if equal:
            yield f"As good, as far as the boards can tell: {listed(equal, 6)}."
    yield from _ground(advice)


def _ground(advice: Advice) -> Iterator[str]:
    question = advice.question
    parts = ["1 board" if advice.boards == 1 else f"{advice.boards} boards"]
    if question.task:
        parts.append(f"{advice.same_task} of them on {one_line(question.task)}")
    if question.language:
        parts.append(f"{advice.same_language} in {question.language}")
    yield f"This rests on {', '.join(parts)}."
    if question.task and not advice.same_task:
        yield f"No board is about {one_line(question.task)}: what metrics do on other tasks stands in for it."
    if question.language and not advice.same_language:
        yield f"No board is in {question.language}: other languages, related ones most of all, stand in for it."
    held = advice.held_out
    if held is not None:
        yield (
            "On boards that are left out with all of their campaign, predictions err by "
            f"{value_text(held.error, 2)} (each metric’s mean elsewhere by {value_text(held.mean_error, 2)}), "
            f"{value_text(100 * held.coverage, 0)}% of what was measured lies in its 95% interval, and the metric that "
            f"is chosen lacks {value_text(held.regret, 3)} of the best (that of the best mean elsewhere "
            f"{value_text(held.mean_regret, 3)})."
        )
