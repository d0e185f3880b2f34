"""How well models find noisy annotators who are known to be noisy because they are made up (GENIE, Appendix B.2).

A round draws how many annotators are noisy, and how accurate noisy and regular ones are; every annotator then answers a
given number of test questions. All models see the same rounds. Annotators of one round have drawn from the same betas,
so intervals resample whole rounds; where few rounds agree fully that says too much, and Wilson's interval is wider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.stats.annotator_posterior import is_noisy, posterior
from billboards.stats.annotator_priors import prior_of
from billboards.stats.annotator_results import AnnotatorModel, BetaMixture, Detection, Interval
from billboards.stats.system_level import wilson_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Bucket = tuple[int, int | None]

BUCKETS: tuple[Bucket, ...] = ((1, 4), (5, 14), (15, None))
DRAWS = 1_000


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
        found = posterior(priors[key], right, wrong)
        marked.append(is_noisy(model, priors[key], found))
    return np.stack(marked)


def tally(marked: Bools, noisy: Bools, member: Bools) -> Ints:
    """Annotators found, marked and noisy, shape (models, buckets, 3)."""
    truly = np.broadcast_to(noisy, marked.shape)
    whole = np.stack([marked & truly, marked, truly]).astype(np.int64)
    return np.moveaxis(whole @ member.T.astype(np.int64), 0, -1)


def detection(tallies: ArrayLike, seed: int) -> Detection:
    """Precision and recall from annotators found, marked and noisy in each round, shape (rounds, 3)."""
    counts = np.asarray(tallies, dtype=np.int64)
    found, marked, noisy = counts.sum(axis=0).tolist()
    weights = np.random.default_rng(seed).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), DRAWS)
    drawn = weights @ counts
    return Detection(
        found,
        marked,
        noisy,
        found / marked if marked else None,
        found / noisy if noisy else None,
        _interval(found, marked, drawn[:, 0], drawn[:, 1]),
        _interval(found, noisy, drawn[:, 0], drawn[:, 2]),
    )


def _interval(hits: int, of: int, drawn_hits: Ints, drawn_of: Ints) -> Interval | None:
    """The bootstrap's 95% interval or Wilson's, at each end the wider one."""
    if not of:
        return None
    some = drawn_of > 0
    low, high = np.quantile(drawn_hits[some] / drawn_of[some], [0.025, 0.975])
    wilson = wilson_interval(hits, of)
    return min(float(low), wilson[0]), max(float(high), wilson[1])
