"""Annotators judged by their test questions: from tables of counts, from attention checks, and made-up ones.

What GENIE's Table 1 says stands beside what is found here. Its question counts are not published; by default they are
spread evenly on a logarithmic scale, from 1 to 100 questions over 88 annotators, as many as GENIE had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from billboards.analyses.annotator_counts import read_annotator_counts
from billboards.analyses.control_items import ControlItems, control_items
from billboards.board.scoring import Progress
from billboards.errors import InvalidInput, NotEnoughData
from billboards.formats.appraise import AppraiseAnswer, read_appraise
from billboards.stats.annotator_corruption import CheckedScores, detect_corruption
from billboards.stats.annotator_results import (
    AnnotatorModel,
    AnnotatorReport,
    ControlStudy,
    CorruptionLevel,
    CorruptionStudy,
    DetectionStudy,
    ModelDetection,
)
from billboards.stats.annotator_simulation import BUCKETS, simulate_detection
from billboards.stats.annotators import judge_annotators

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
    given = tuple(assumed_questions() if questions is None else questions)
    if not given or min(given) < 1:
        raise InvalidInput("made-up annotators answer 1 test question or more each")
    models = [AnnotatorModel.named(name) for name in PUBLISHED]
    found = simulate_detection(models, given, rounds=rounds, seed=seed, progress=_telling(tell, 0, rounds))
    rows = zip(models, found, PUBLISHED.values(), strict=True)
    return DetectionStudy(rounds, seed, given, BUCKETS, tuple(ModelDetection(*row) for row in rows))


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
    found = control_items(answers)
    checked = _checked(answers, found)
    if not any(len(one.pairs) for one in checked.values()):
        raise NotEnoughData(f"{path}: no BAD item with its original; without attention checks nobody can be judged")
    report, corruption = _report(checked, model), None
    if corrupt:
        sound = {name: one for name, one in checked.items() if name not in report.noisy}
        levels = _levels(list(sound.values()), model, share, rounds, seed, tell)
        corruption = CorruptionStudy(model, len(sound), tuple(sorted(report.noisy)), share, rounds, seed, levels)
    return ControlStudy(report, len(found.unpaired), corruption)


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


def _checked(answers: Sequence[AppraiseAnswer], found: ControlItems) -> dict[str, CheckedScores]:
    scores: dict[str, list[float]] = {name: [] for name in found.pairs}
    for one in answers:
        scores[one.annotator].append(one.score)
    return {
        name: CheckedScores(
            np.array([(pair.bad, pair.original) for pair in pairs]).reshape(-1, 2), np.array(scores[name])
        )
        for name, pairs in found.pairs.items()
    }


def _report(checked: dict[str, CheckedScores], model: AnnotatorModel) -> AnnotatorReport:
    right = [one.right() for one in checked.values()]
    wrong = [len(one.pairs) - one.right() for one in checked.values()]
    return judge_annotators(tuple(checked), {"BAD": (right, wrong)}, model)
