"""Annotators judged by their test questions: from tables of counts, from attention checks, and made-up ones.

What GENIE's Table 1 says stands beside what is found here. Its question counts are not published; by default they are
spread evenly on a logarithmic scale, from 1 to 100 questions over 88 annotators, as many as GENIE had.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board.appraise_answers import AppraiseAnswer, last_answers, read_appraise
from billboards.board.missing_cells import Progress
from billboards.errors import ImportRefused, InvalidInput, NotEnoughData
from billboards.reading import Problems, Row, read_table, refuse_errors, shown, whole_number
from billboards.show.table import Table, TableColumn
from billboards.show.words import listed, value_text
from billboards.stats.annotator_simulation import (
    BUCKETS,
    CheckedScores,
    ControlStudy,
    CorruptionLevel,
    CorruptionStudy,
    Detection,
    DetectionStudy,
    ModelDetection,
    detect_corruption,
    simulate_detection,
)
from billboards.stats.annotators import AnnotatorModel, AnnotatorReport, judge_annotators
from billboards.stats.bootstrap import Interval

COLUMNS = ("annotator", "right", "wrong")
ONE_KIND = "test"


@dataclass(frozen=True)
class AnnotatorCounts:
    """Annotators in the file's order, and for each kind of questions their right and wrong answers, 0 where none."""

    annotators: tuple[str, ...]
    kinds: dict[str, tuple[list[int], list[int]]]


def read_annotator_counts(path: Path) -> AnnotatorCounts:
    """The counts of a table; mistakes are refused with file and line."""
    problems = Problems(limit=3)
    table = read_table(path, problems)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise ImportRefused(f"{path}: no column {missing[0]!r}; a table of counts has annotator, right, wrong [, kind]")
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for row in table.rows:
        _note_row(row, counts, str(path), problems)
    refuse_errors(problems)
    return _gathered(counts)


def _note_row(row: Row, counts: dict[tuple[str, str], tuple[int, int]], path: str, problems: Problems) -> None:
    line, cells = row
    annotator, kind = str(cells.get("annotator") or ""), str(cells.get("kind") or ONE_KIND)
    right, wrong = _count(cells.get("right")), _count(cells.get("wrong"))
    if not annotator:
        problems.error(path, line, "no annotator is named")
    elif right is None or wrong is None:
        problems.error(path, line, f"right and wrong must be whole numbers of 0 or more; found {shown(dict(cells))}")
    elif (annotator, kind) in counts:
        problems.error(path, line, f"annotator {annotator!r} has a second line of {kind} questions; add the counts up")
    else:
        counts[annotator, kind] = right, wrong


def _count(value: Any) -> int | None:
    """A count as tables hold it: 12, "12" or 12.0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number >= 0 and number.is_integer() else None


def _gathered(counts: dict[tuple[str, str], tuple[int, int]]) -> AnnotatorCounts:
    annotators = tuple(dict.fromkeys(annotator for annotator, _ in counts))
    kinds = dict.fromkeys(kind for _, kind in counts)
    by_kind = {kind: [counts.get((annotator, kind), (0, 0)) for annotator in annotators] for kind in kinds}
    return AnnotatorCounts(
        annotators, {kind: ([r for r, _ in pairs], [w for _, w in pairs]) for kind, pairs in by_kind.items()}
    )


_COPY = re.compile(r"#bad\d*(?=#|$)")


@dataclass(frozen=True, slots=True)
class ControlPair:
    """One annotator's scores of a corrupted output and of its original."""

    annotator: str
    bad: float
    original: float


@dataclass(frozen=True)
class ControlItems:
    """Pairs by annotator, in the file's order, and the BAD items whose original can't be told."""

    pairs: dict[str, tuple[ControlPair, ...]]
    unpaired: tuple[AppraiseAnswer, ...]


def control_items(answers: Sequence[AppraiseAnswer]) -> ControlItems:
    """Every annotator's BAD items with their originals; of an item answered twice the last answer counts."""
    documents: dict[tuple[str, str], list[AppraiseAnswer]] = defaultdict(list)
    for answer in last_answers([answer for answer in answers if not answer.is_document]):
        documents[answer.annotator, answer.document].append(answer)
    pairs: dict[str, list[ControlPair]] = {answer.annotator: [] for answer in answers}
    unpaired: list[AppraiseAnswer] = []
    for (annotator, document), copies in documents.items():
        if copies[0].kind == "BAD":
            originals = documents.get((annotator, _COPY.sub("", document)), [])
            if originals is copies or len(originals) != len(copies):
                unpaired += copies
            else:
                matched = zip(_in_order(copies), _in_order(originals), strict=True)
                pairs[annotator] += [ControlPair(annotator, bad.score, original.score) for bad, original in matched]
    return ControlItems({annotator: tuple(own_pairs) for annotator, own_pairs in pairs.items()}, tuple(unpaired))


def _in_order(answers: Sequence[AppraiseAnswer]) -> list[AppraiseAnswer]:
    """By item number, where items have numbers."""
    return sorted(
        answers, key=lambda answer: (-1 if (number := whole_number(answer.item)) is None else number, answer.item)
    )


#: GENIE, Table 1: precision and recall, per cent, of annotators with 1-4, 5-14 and 15 or more questions.
PUBLISHED = {
    "class/fixed/2": ((100, 24), (100, 91), (100, 87)),
    "class/learned/2": ((100, 15), (100, 77), (100, 100)),
    "rate/jeffreys/1": ((68, 85), (93, 93), (100, 98)),
    "rate/uniform/1": ((56, 86), (93, 100), (100, 100)),
    "rate/fixed/1": ((100, 32), (100, 94), (98, 100)),
    "rate/learned/1": ((100, 14), (100, 100), (96, 100)),
    "rate/fixed/2": ((86, 33), (100, 100), (100, 97)),
    "rate/learned/2": ((100, 12), (100, 92), (100, 100)),
}
ANNOTATORS, MOST_QUESTIONS = 88, 100
RATES = (0.25, 0.5, 0.75, 1.0)
Tell = Callable[[Progress], None]


def nobody_asks(progress: Progress) -> None:
    """What is told where nobody asks."""


def assumed_questions(annotators: int = ANNOTATORS, most: int = MOST_QUESTIONS) -> tuple[int, ...]:
    """Numbers of test questions that stand in for the unpublished ones: from 1 to `most`, evenly in their logarithm."""
    return tuple(np.round(np.geomspace(1, most, annotators)).astype(int).tolist())


def simulate_annotators(
    *,
    rounds: int = 25,
    seed: int = 0,
    questions: Sequence[int] | None = None,
    tell: Tell = nobody_asks,
) -> DetectionStudy:
    """GENIE's Table 1: all eight models on the same made-up annotators, beside the published cells."""
    asked = tuple(assumed_questions() if questions is None else questions)
    if not asked or min(asked) < 1:
        raise InvalidInput("made-up annotators answer 1 test question or more each")
    models = [AnnotatorModel.named(name) for name in PUBLISHED]
    detections = simulate_detection(models, asked, rounds=rounds, seed=seed, progress=_telling(tell, 0, rounds))
    rows = zip(models, detections, PUBLISHED.values(), strict=True)
    return DetectionStudy(rounds, seed, asked, BUCKETS, tuple(ModelDetection(*row) for row in rows))


def questions_in(path: Path) -> tuple[int, ...]:
    """How many test questions each annotator of a table answered, of each kind; those without any are left out."""
    kinds = read_annotator_counts(path).kinds.values()
    asked = [r + w for right, wrong in kinds for r, w in zip(right, wrong, strict=True)]
    return tuple(count for count in asked if count)


def fit_annotators(path: Path, model: AnnotatorModel) -> AnnotatorReport:
    """Verdicts on the annotators of a table of counts."""
    counts = read_annotator_counts(path)
    if not counts.annotators:
        raise NotEnoughData(f"{path}: no annotator; a table of counts has annotator, right, wrong [, kind]")
    return judge_annotators(counts.annotators, counts.kinds, model)


def check_annotators(
    path: Path,
    model: AnnotatorModel,
    *,
    corrupt: bool = False,
    share: float = 0.1,
    rounds: int = 100,
    seed: int = 0,
    tell: Tell = nobody_asks,
) -> ControlStudy:
    """Verdicts from the attention checks of an Appraise score file, and how well noise put into it is found."""
    answers = read_appraise(path)
    controls = control_items(answers)
    checked = _checked(answers, controls)
    if not any(len(scores.pairs) for scores in checked.values()):
        raise NotEnoughData(f"{path}: no BAD item with its original; without attention checks nobody can be judged")
    report, corruption = _report(checked, model), None
    if corrupt:
        sound = {name: scores for name, scores in checked.items() if name not in report.noisy}
        levels = _levels(list(sound.values()), model, share, rounds, seed, tell)
        corruption = CorruptionStudy(
            model=model,
            annotators=len(sound),
            left_out=tuple(sorted(report.noisy)),
            share=share,
            rounds=rounds,
            seed=seed,
            levels=levels,
        )
    return ControlStudy(report, len(controls.unpaired), corruption)


def _levels(
    annotators: Sequence[CheckedScores], model: AnnotatorModel, share: float, rounds: int, seed: int, tell: Tell
) -> tuple[CorruptionLevel, ...]:
    levels = []
    for place, rate in enumerate(RATES):
        progress = _telling(tell, place * rounds, len(RATES) * rounds)
        levels.append(
            detect_corruption(annotators, model, rate=rate, share=share, rounds=rounds, seed=seed, progress=progress)
        )
    return tuple(levels)


def _telling(tell: Tell, before: int, total: int) -> Callable[[int], None]:
    return lambda done: tell(Progress(before + done, total, "rounds"))


def _checked(answers: Sequence[AppraiseAnswer], controls: ControlItems) -> dict[str, CheckedScores]:
    scores: dict[str, list[float]] = {name: [] for name in controls.pairs}
    for answer in answers:
        scores[answer.annotator].append(answer.score)
    return {
        name: CheckedScores(
            np.array([(pair.bad, pair.original) for pair in pairs]).reshape(-1, 2), np.array(scores[name])
        )
        for name, pairs in controls.pairs.items()
    }


def _report(checked: dict[str, CheckedScores], model: AnnotatorModel) -> AnnotatorReport:
    right = [scores.right() for scores in checked.values()]
    wrong = [len(scores.pairs) - scores.right() for scores in checked.values()]
    return judge_annotators(tuple(checked), {"BAD": (right, wrong)}, model)


#: From here on a concentration says only that annotators are all alike.
ALIKE = 1e6


def detection_overview(study: DetectionStudy) -> Table:
    """Precision / recall of every model as GENIE's Table 1 lays them out, the published cells in brackets."""
    columns = (
        *_MODEL_COLUMNS,
        *(TableColumn(f"bucket_{place}", bucket_text(bucket)) for place, bucket in enumerate(study.buckets)),
    )
    rows = []
    for result in study.models:
        published = result.published or [None] * len(study.buckets)
        cells = zip(result.detections, published, strict=True)
        rows.append({**_model_row(result.model), **{f"bucket_{i}": _cell(*cell) for i, cell in enumerate(cells)}})
    note = "Precision/recall in per cent by number of test questions, GENIE's Table 1 in brackets."
    return Table("Noisy annotators found", columns, tuple(rows), (note,))


def detection_table(study: DetectionStudy) -> Table:
    """A row for each model and bucket, with intervals beside the published values."""
    columns = (
        *_MODEL_COLUMNS,
        TableColumn("questions", "asked"),
        *_DETECTION_COLUMNS[:2],
        TableColumn("published_precision", "GENIE"),
        *_DETECTION_COLUMNS[2:4],
        TableColumn("published_recall", "GENIE"),
        *_DETECTION_COLUMNS[4:],
    )
    rows = []
    for result in study.models:
        published = result.published or [(None, None)] * len(study.buckets)
        for bucket, detection, (precision, recall) in zip(study.buckets, result.detections, published, strict=True):
            theirs = {"published_precision": precision, "published_recall": recall}
            rows.append(
                {**_model_row(result.model), "questions": bucket_text(bucket), **_detection_row(detection), **theirs}
            )
    title = f"Precision and recall over {study.rounds:,} rounds, per cent"
    return Table(title, columns, tuple(rows), _simulation_notes(study))


def mixture_table(report: AnnotatorReport) -> Table:
    """The prior of each kind of questions, component by component."""
    columns = (
        TableColumn("kind", "questions", "left"),
        TableColumn("component", "component"),
        TableColumn("weight", "weight", digits=4),
        TableColumn("mean", "mean accuracy", digits=4),
        TableColumn("concentration", "concentration"),
        TableColumn("log_likelihood", "log-likelihood", digits=3, visible=False),
    )
    rows = []
    for kind, mixture in report.mixtures.items():
        parts = zip(mixture.weights, mixture.means, mixture.concentrations, strict=True)
        for place, (weight, mean, concentration) in enumerate(parts, 1):
            row = {"kind": kind, "component": place, "weight": weight, "mean": mean, "concentration": concentration}
            rows.append({**row, "log_likelihood": mixture.log_likelihood})
    return Table(
        f"Prior of annotators' accuracy: {_prior_text(report.model)}", columns, tuple(rows), _mixture_notes(report)
    )


def verdict_table(report: AnnotatorReport) -> Table:
    """Every annotator on every kind of questions, the likeliest to be noisy first."""
    columns = (
        TableColumn("annotator", "annotator", "left", kind="name"),
        TableColumn("verdict", "verdict", "left"),
        TableColumn("kind", "kind", "left", visible=len(report.mixtures) > 1),
        TableColumn("right", "right"),
        TableColumn("wrong", "wrong"),
        TableColumn("p_noisy", "P(noisy)", kind="p"),
        TableColumn("accuracy", "accuracy", digits=3, priority=2),
        TableColumn("interval", "95% interval", digits=3, kind="interval", priority=3),
        TableColumn("own_interval", "own answers", digits=2, kind="interval"),
        TableColumn("reason", "reason", "left", visible=False),
    )
    ordered = sorted(report.verdicts, key=lambda verdict: -max(standing.p_noisy for standing in verdict.standings))
    rows = tuple(
        {
            "annotator": verdict.annotator,
            "verdict": "noisy" if verdict.noisy else "kept",
            "kind": standing.kind,
            "right": standing.right,
            "wrong": standing.wrong,
            "p_noisy": standing.p_noisy,
            "accuracy": standing.accuracy,
            "interval": standing.interval,
            "own_interval": standing.own_interval,
            "reason": verdict.reason,
        }
        for verdict in ordered
        for standing in verdict.standings
    )
    people = f"{len(report.verdicts)} annotator{'' if len(report.verdicts) == 1 else 's'}"
    return Table(f"{people}, {len(report.noisy)} noisy", columns, rows, _verdict_notes(report))


def control_tables(study: ControlStudy) -> tuple[Table, ...]:
    """Attention checks: verdicts, prior, and noise that was put in where it was."""
    tables = (verdict_table(study.report), mixture_table(study.report))
    return tables if study.corruption is None else (*tables, corruption_table(study.corruption))


def corruption_table(study: CorruptionStudy) -> Table:
    """Precision and recall by how much noise was put in."""
    columns = (
        TableColumn("rate", "answers at random"),
        TableColumn("right", "right then", digits=1),
        *_DETECTION_COLUMNS,
    )
    rows = tuple(
        {"rate": f"{level.rate:.0%}", "right": _per_cent(level.right), **_detection_row(level.detection)}
        for level in study.levels
    )
    notes = [
        f"{study.rounds:,} rounds with seed {study.seed}, in each {study.share:.0%} of {study.annotators} annotators "
        f"made noisy; model {study.model.name}, marked above {study.model.threshold:g}.",
        "A score at random is drawn from all that the annotator gave.",
    ]
    if study.left_out:
        notes.append(f"Marked as they are, so left out: {listed(study.left_out)}.")
    return Table("Noise put in and found, per cent", columns, rows, tuple(notes))


def bucket_text(bucket: tuple[int, int | None]) -> str:
    """Numbers of questions as the paper writes them: 1-4, 15+."""
    low, high = bucket
    return f"{low}+" if high is None else f"{low}-{high}"


_MODEL_COLUMNS = (
    TableColumn("model", "model", "left"),
    TableColumn("criterion", "criterion", "left", visible=False),
    TableColumn("prior", "prior", "left", visible=False),
    TableColumn("components", "k", visible=False),
)
_DETECTION_COLUMNS = (
    TableColumn("precision", "precision", digits=0),
    TableColumn("precision_interval", "95%", digits=0, kind="interval"),
    TableColumn("recall", "recall", digits=0),
    TableColumn("recall_interval", "95%", digits=0, kind="interval"),
    TableColumn("found", "found", priority=3),
    TableColumn("marked", "marked", priority=3),
    TableColumn("noisy", "noisy", priority=3),
)


def _model_row(model: AnnotatorModel) -> Mapping[str, object]:
    parts = {"criterion": model.criterion, "prior": model.prior, "components": model.components}
    return {"model": model.name, **parts}


def _detection_row(detection: Detection) -> Mapping[str, object]:
    return {
        "precision": _per_cent(detection.precision),
        "precision_interval": _per_cents(detection.precision_interval),
        "recall": _per_cent(detection.recall),
        "recall_interval": _per_cents(detection.recall_interval),
        "found": detection.found,
        "marked": detection.marked,
        "noisy": detection.noisy,
    }


def _cell(detection: Detection, published: tuple[int, int] | None) -> str:
    ours = "/".join(value_text(_per_cent(value), 0) for value in (detection.precision, detection.recall))
    return ours if published is None else f"{ours} ({published[0]}/{published[1]})"


def _per_cent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _per_cents(interval: Interval | None) -> Interval | None:
    return None if interval is None else (100 * interval[0], 100 * interval[1])


def _simulation_notes(study: DetectionStudy) -> tuple[str, ...]:
    asked = study.questions
    return (
        f"GENIE's question counts are not published; here {len(asked)} annotators answer {min(asked)} to {max(asked)} "
        f"each, {sum(asked):,} together. Seed {study.seed}.",
        "Intervals resample rounds, and are at least as wide as Wilson's. A dash: nobody was marked.",
    )


def _prior_text(model: AnnotatorModel) -> str:
    return f"{model.prior}, {model.components} component{'s' if model.components > 1 else ''}"


def _mixture_notes(report: AnnotatorReport) -> tuple[str, ...]:
    alike = any(value > ALIKE for mixture in report.mixtures.values() for value in mixture.concentrations)
    fitted = [mixture for mixture in report.mixtures.values() if mixture.log_likelihood is not None]
    notes = ["Fitted by EM to these annotators and GENIE's 40 pseudo-annotators, each kind apart."] if fitted else []
    if alike:
        notes.append(f"A concentration above {ALIKE:,.0f}: as far as the answers tell, these annotators are all alike.")
    if not all(mixture.converged for mixture in fitted):
        notes.append("The fit was still climbing when it was stopped.")
    return tuple(notes)


def _verdict_notes(report: AnnotatorReport) -> tuple[str, ...]:
    model = report.model
    what = "not of the best component" if model.criterion == "class" else f"accuracy of at most {model.accuracy:g}"
    either = "; on either kind is noisy" if len(report.mixtures) > 1 else ""
    standings = [standing for verdict in report.verdicts for standing in verdict.standings]
    too_good = any(standing.p_noisy > model.threshold and not standing.noisy for standing in standings)
    return (
        f"Noisy by {model.criterion}: {what}, marked where that is likelier than {model.threshold:g}{either}.",
        *(("Kept in spite of it: who is more accurate than the best component.",) if too_good else ()),
        "Own answers: the 95% interval of the accuracy that the annotator's answers give without the others'.",
    )
