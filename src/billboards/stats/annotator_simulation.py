"""How well models find noisy annotators who are known to be noisy: made up, or real ones made so.

Made up (GENIE, Appendix B.2): a round draws how many annotators are noisy, and how accurate noisy and regular ones are;
every annotator then answers a given number of test questions. All models see the same rounds. Annotators of one round
have drawn from the same betas, so intervals resample whole rounds; where few rounds agree fully that says too much, and
Wilson's interval is wider.

Made noisy at a known rate, on the attention checks of real ones: an annotator is right on a pair when the corrupted
output scores below its original. Some annotators are picked in each round, and each of their scores is replaced, with
the chance of the rate, by one drawn from all their own scores: a click without reading, on the scale as this annotator
uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import NotEnoughData
from billboards.stats.annotators import AnnotatorModel, AnnotatorReport, Interval, is_noisy, posterior, prior_of
from billboards.stats.beta_mixture import BetaMixture
from billboards.stats.system_level import wilson_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bucket = tuple[int, int | None]
BUCKETS: tuple[Bucket, ...] = ((1, 4), (5, 14), (15, None))
DRAWS = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Detection:
    """How well a model finds noisy annotators among those with some number of test questions, 0 to 1.

    Of `noisy` annotators and `marked` ones, `found` are both. Intervals are 95%; what can't be said is None.
    """

    found: int
    marked: int
    noisy: int
    precision: float | None
    recall: float | None
    precision_interval: Interval | None
    recall_interval: Interval | None


@dataclass(frozen=True)
class ModelDetection:
    """One model's detections by bucket, and the published precision and recall of each (per cent), where there are."""

    model: AnnotatorModel
    detections: tuple[Detection, ...]
    published: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class DetectionStudy:
    """Models on simulated annotators (GENIE, Table 1): rounds of annotators with these numbers of test questions.

    `buckets` are the fewest and the most questions of each column; None is no limit.
    """

    DOCUMENT: ClassVar[str] = "annotator_simulation"

    rounds: int
    seed: int
    questions: tuple[int, ...]
    buckets: tuple[tuple[int, int | None], ...]
    models: tuple[ModelDetection, ...]


@dataclass(frozen=True, slots=True)
class CorruptionLevel:
    """Detection of annotators who answer at random with the chance `rate`; `right` is how often they are right then."""

    rate: float
    right: float | None
    detection: Detection


@dataclass(frozen=True, kw_only=True)
class CorruptionStudy:
    """Real annotators, some of whom are made noisy: `share` of them in each round, at several rates.

    Annotators whom the model marks as they are (`left_out`) take no part, for nobody knows whether they are noisy.
    """

    model: AnnotatorModel
    annotators: int
    left_out: tuple[str, ...]
    share: float
    rounds: int
    seed: int
    levels: tuple[CorruptionLevel, ...]


@dataclass(frozen=True)
class ControlStudy:
    """A campaign's attention checks: verdicts, the items whose original is not there, and how noise would be found."""

    DOCUMENT: ClassVar[str] = "annotator_checks"

    report: AnnotatorReport
    unpaired: int
    corruption: CorruptionStudy | None = None


@dataclass(frozen=True)
class Round:
    """Made-up annotators: right and wrong answers, and who is noisy."""

    right: Ints
    wrong: Ints
    noisy: Bools


def simulate_round(questions: Ints, random: np.random.Generator) -> Round:
    """GENIE's: 1 to 10% are noisy, with a mean accuracy from 0 to .5; that of the others is from .95 to 1."""
    noisy = random.uniform(size=len(questions)) < random.uniform(0.01, 0.1)
    bad_mean, bad_size = random.uniform(0, 0.5), random.uniform(5, 50)
    good_mean, good_size = random.uniform(0.95, 1), random.uniform(100, 1_000)
    accuracy = np.where(
        noisy,
        random.beta(bad_mean * bad_size, (1 - bad_mean) * bad_size, len(questions)),
        random.beta(good_mean * good_size, (1 - good_mean) * good_size, len(questions)),
    )
    right = random.binomial(questions, accuracy)
    return Round(right, questions - right, noisy)


def simulate_detection(
    models: Sequence[AnnotatorModel],
    questions: ArrayLike,
    *,
    rounds: int,
    seed: int,
    buckets: Sequence[Bucket] = BUCKETS,
    progress: Callable[[int], None] | None = None,
) -> list[tuple[Detection, ...]]:
    """Each model's detections by bucket, over all rounds."""
    given = np.asarray(questions, dtype=np.int64)
    random = np.random.default_rng(seed)
    member = np.stack([(given >= low) & (given <= (high or given.max())) for low, high in buckets])
    tallies = np.empty((rounds, len(models), len(buckets), 3))
    for done in range(rounds):
        drawn = simulate_round(given, random)
        tallies[done] = tally(mark(models, drawn.right, drawn.wrong), drawn.noisy, member)
        if progress is not None:
            progress(done + 1)
    return [tuple(detection(tallies[:, m, b], seed) for b in range(len(buckets))) for m in range(len(models))]


def mark(models: Sequence[AnnotatorModel], right: ArrayLike, wrong: ArrayLike) -> Bools:
    """Whom each model takes for noisy, shape (models, annotators); models with the same prior share its fit."""
    priors: dict[tuple[str, int, int], BetaMixture] = {}
    marked = []
    for model in models:
        key = model.prior, model.components, model.seed
        if key not in priors:
            priors[key] = prior_of(model, right, wrong)
        beliefs = posterior(priors[key], right, wrong)
        marked.append(is_noisy(model, priors[key], beliefs))
    return np.stack(marked)


def tally(marked: Bools, noisy: Bools, member: Bools) -> Ints:
    """Annotators found, marked and noisy, shape (models, buckets, 3)."""
    truly = np.broadcast_to(noisy, marked.shape)
    whole = np.stack([marked & truly, marked, truly]).astype(np.int64)
    return np.moveaxis(whole @ member.T.astype(np.int64), 0, -1)


def detection(tallies: ArrayLike, seed: int) -> Detection:
    """Precision and recall from annotators found, marked and noisy in each round, shape (rounds, 3)."""
    counts = np.asarray(tallies, dtype=np.int64)
    caught, marked, noisy = counts.sum(axis=0).tolist()
    weights = np.random.default_rng(seed).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), DRAWS)
    drawn = weights @ counts
    return Detection(
        found=caught,
        marked=marked,
        noisy=noisy,
        precision=caught / marked if marked else None,
        recall=caught / noisy if noisy else None,
        precision_interval=_interval(caught, marked, drawn[:, 0], drawn[:, 1]),
        recall_interval=_interval(caught, noisy, drawn[:, 0], drawn[:, 2]),
    )


def _interval(hits: int, of: int, drawn_hits: Ints, drawn_of: Ints) -> Interval | None:
    """The bootstrap's 95% interval or Wilson's, at each end the wider one."""
    if not of:
        return None
    some = drawn_of > 0
    low, high = np.quantile(drawn_hits[some] / drawn_of[some], [0.025, 0.975])
    wilson = wilson_interval(hits, of)
    return min(float(low), wilson[0]), max(float(high), wilson[1])


@dataclass(frozen=True)
class CheckedScores:
    """One annotator's scores of corrupted outputs and of their originals, shape (pairs, 2), and all scores given."""

    pairs: Floats
    given: Floats

    def right(self) -> int:
        """How many corrupted outputs score below their originals; an equal score is a wrong answer."""
        return int((self.pairs[:, 0] < self.pairs[:, 1]).sum())

    def corrupted(self, rate: float, random: np.random.Generator) -> CheckedScores:
        """The same annotator, each score with this chance a random one of theirs."""
        struck = random.uniform(size=self.pairs.shape) < rate
        return CheckedScores(np.where(struck, random.choice(self.given, self.pairs.shape), self.pairs), self.given)


@dataclass(frozen=True)
class _CorruptedRound:
    """Annotators found, marked and noisy, and the right and all answers of the noisy ones."""

    tally: Ints
    right: int
    questions: int


def detect_corruption(
    annotators: Sequence[CheckedScores],
    model: AnnotatorModel,
    *,
    rate: float,
    share: float,
    rounds: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> CorruptionLevel:
    """Precision and recall at one rate; in each round at least one annotator is made noisy, and one is not."""
    if len(annotators) < 2:
        raise NotEnoughData(f"{len(annotators)} annotators with attention checks; 2 or more are needed")
    picked = min(max(1, round(share * len(annotators))), len(annotators) - 1)
    random = np.random.default_rng(seed)
    drawn = []
    for done in range(rounds):
        drawn.append(_corrupted_round(annotators, model, picked, rate, random))
        if progress is not None:
            progress(done + 1)
    right, questions = (
        sum(drawn_round.right for drawn_round in drawn),
        sum(drawn_round.questions for drawn_round in drawn),
    )
    detected = detection(np.stack([drawn_round.tally for drawn_round in drawn]), seed)
    return CorruptionLevel(rate, right / questions if questions else None, detected)


def _corrupted_round(
    annotators: Sequence[CheckedScores], model: AnnotatorModel, picked: int, rate: float, random: np.random.Generator
) -> _CorruptedRound:
    noisy = np.zeros(len(annotators), dtype=bool)
    noisy[random.choice(len(annotators), picked, replace=False)] = True
    answered = [
        annotator.corrupted(rate, random) if bad else annotator
        for annotator, bad in zip(annotators, noisy, strict=True)
    ]
    questions = np.array([len(annotator.pairs) for annotator in answered])
    right = np.array([annotator.right() for annotator in answered])
    counts = tally(mark([model], right, questions - right), noisy, np.ones((1, len(noisy)), dtype=bool))
    return _CorruptedRound(counts[0, 0], int(right[noisy].sum()), int(questions[noisy].sum()))
