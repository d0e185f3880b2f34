"""Learning the prior of annotators' accuracy, beside a plain NumPy transcription of GENIE's Appendix B.1.

Both fit two components to the same made-up annotators and the 40 pseudo-annotators, from 10 random starts. The peer
keeps a row per annotator and, start after start, at most 1,000 iterations of EM with a relative tolerance of 1e-6, in
each of which Minka's fixed point goes on from the last M-step for at most 10,000 turns until nothing moves by 1e-7. A
ratio counts only if weights, means and posteriors agree; that of processor time suffers less from whatever else the
machine does. The last lines are a whole refit with verdicts and intervals for both kinds of questions, which is what a
campaign does after an answer.

    python benchmarks/annotators.py [starts of the peer for 2,040 annotators, default 10; fewer are scaled up]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, psi
from threadpoolctl import threadpool_limits

from billboards.analyses._annotators import assumed_questions
from billboards.stats.annotator_simulation import Round, simulate_round
from billboards.stats.annotators import (
    PSEUDO_RIGHT,
    PSEUDO_WRONG,
    AnnotatorModel,
    judge_annotators,
    learned_prior,
    posterior,
    probability_noisy,
)
from billboards.stats.beta_mixture import BetaMixture

Floats = NDArray[np.float64]

SIZES, COMPONENTS, STARTS = (128, 2_040), 2, 10
#: What weights, means and posteriors of the two may differ by: the peer stops short of the optimum.
TOLERANCE = 0.01


@dataclass(frozen=True)
class Timed:
    """A fit with the seconds it took, by the clock and of the processor."""

    mixture: BetaMixture
    wall: float
    processor: float


def timed(fit: Callable[[], BetaMixture]) -> Timed:
    wall, processor = time.perf_counter(), time.process_time()
    found = fit()
    return Timed(found, time.perf_counter() - wall, time.process_time() - processor)


def peer_fit(right: Floats, wrong: Floats, starts: int) -> BetaMixture:
    """The best of several runs of EM."""
    random = np.random.default_rng(0)
    return max((peer_em(right, wrong, random) for _ in range(starts)), key=lambda one: one.log_likelihood or -np.inf)


def peer_em(right: Floats, wrong: Floats, random: np.random.Generator) -> BetaMixture:
    """One run: equal weights, means uniform from 0 to 1, concentrations gamma with shape 2."""
    means, sizes = random.uniform(size=COMPONENTS), random.gamma(2.0, size=COMPONENTS)
    weights, alphas, betas = np.full(COMPONENTS, 1 / COMPONENTS), means * sizes, (1 - means) * sizes
    last = -np.inf
    for _ in range(1_000):
        joint = np.log(weights)[:, None] + np.stack(
            [peer_log_density(a, b, right, wrong) for a, b in zip(alphas, betas, strict=True)]
        )
        evidence = logsumexp(joint, axis=0)
        height = float(evidence.sum())
        if abs(height - last) <= 1e-6 * abs(height):
            break
        last = height
        shares = np.exp(joint - evidence)
        weights = shares.mean(axis=1)
        for k in range(COMPONENTS):
            alphas[k], betas[k] = peer_fixed_point(alphas[k], betas[k], right, wrong, shares[k])
    order = np.argsort(alphas / (alphas + betas))
    return BetaMixture(
        weights=tuple(weights[order]), alphas=tuple(alphas[order]), betas=tuple(betas[order]), log_likelihood=height
    )


def peer_log_density(a: float, b: float, right: Floats, wrong: Floats) -> Floats:
    urn = gammaln(a + right) - gammaln(a) + gammaln(b + wrong) - gammaln(b)
    return np.asarray(urn - gammaln(a + b + right + wrong) + gammaln(a + b))


def peer_fixed_point(a: float, b: float, right: Floats, wrong: Floats, shares: Floats) -> tuple[float, float]:
    """Minka (2000), equation 55, for two categories."""
    for _ in range(10_000):
        drawn = np.sum(shares * (psi(right + wrong + a + b) - psi(a + b)))
        new_a = a * np.sum(shares * (psi(right + a) - psi(a))) / drawn
        new_b = b * np.sum(shares * (psi(wrong + b) - psi(b))) / drawn
        stands = abs(new_a - a) <= 1e-7 * a and abs(new_b - b) <= 1e-7 * b
        a, b = new_a, new_b
        if stands:
            break
    return a, b


def differences(ours: BetaMixture, theirs: BetaMixture, drawn: Round) -> dict[str, float]:
    """The largest difference in weights, in means, and in annotators' class posteriors."""
    model = AnnotatorModel()
    posteriors = [probability_noisy(model, one, posterior(one, drawn.right, drawn.wrong)) for one in (ours, theirs)]
    return {
        "weights": float(np.abs(np.subtract(ours.weights, theirs.weights)).max()),
        "means": float(np.abs(np.subtract(ours.means, theirs.means)).max()),
        "posteriors": float(np.abs(posteriors[0] - posteriors[1]).max()),
    }


def compare(annotators: int, peer_starts: int) -> None:
    """Print one size: our seconds, the peer's, the ratio, and whether they found the same."""
    drawn = simulate_round(np.array(assumed_questions(annotators)), np.random.default_rng(annotators))
    ours = [timed(lambda: learned_prior(drawn.right, drawn.wrong, components=COMPONENTS)) for _ in range(7)]
    wall, processor = median(one.wall for one in ours), median(one.processor for one in ours)
    print(f"{annotators:,} annotators: ours {wall:.4f} s (cpu {processor:.4f})", flush=True)
    right, wrong = np.append(drawn.right, PSEUDO_RIGHT) * 1.0, np.append(drawn.wrong, PSEUDO_WRONG) * 1.0
    theirs = timed(lambda: peer_fit(right, wrong, peer_starts))
    scale = STARTS / peer_starts
    scaled = "" if peer_starts == STARTS else f" ({peer_starts} starts, scaled to {STARTS})"
    print(f"  peer {scale * theirs.wall:.1f} s (cpu {scale * theirs.processor:.1f}){scaled}")
    ratio, by_clock = scale * theirs.processor / processor, scale * theirs.wall / wall
    print(f"  ratio of processor time {ratio:,.0f} (by the clock {by_clock:,.0f}; goal 1,000)")
    print(f"  log-likelihood: ours {ours[0].mixture.log_likelihood:.5f}, peer {theirs.mixture.log_likelihood:.5f}")
    apart = differences(ours[0].mixture, theirs.mixture, drawn)
    print("  largest difference: " + ", ".join(f"{name} {value:.5f}" for name, value in apart.items()))
    if max(apart.values()) > TOLERANCE:
        sys.exit("the two did not find the same mixture: the ratio means nothing")


def refit(annotators: int) -> None:
    """Print what a campaign does after an answer: both kinds refitted, every annotator judged."""
    random = np.random.default_rng(1)
    rounds = [simulate_round(np.array(assumed_questions(annotators)), random) for _ in range(2)]
    counts = {kind: (one.right, one.wrong) for kind, one in zip(("positive", "negative"), rounds, strict=True)}
    names = [str(name) for name in range(annotators)]
    seconds = []
    for _ in range(5):
        start = time.process_time()
        judge_annotators(names, counts)
        seconds.append(time.process_time() - start)
    print(f"{annotators:,} annotators, both kinds refitted and all judged: {median(seconds):.3f} s of the processor")


if __name__ == "__main__":
    last_starts = int(sys.argv[1]) if len(sys.argv) > 1 else STARTS
    with threadpool_limits(1):
        compare(SIZES[0], STARTS)
        compare(SIZES[1], last_starts)
        for size in SIZES:
            refit(size)
