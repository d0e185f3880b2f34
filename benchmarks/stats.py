"""Meta-evaluation of wmt20-zh-en against the peers' loops, from one run on the same work.

8 judged generators × 2,000 instances × 15 metrics: a 1,000-draw bootstrap of all correlations (peer: a loop over
scipy.stats.pearsonr), PERM-BOTH of all 105 pairs with 1,000 draws (peer: nlpstats, where it is installed), the
leave-one-generator-out ensemble (peer: a loop over scikit-learn's Lasso), and all of it together: one refresh of the
board. The peers' loops are run on a stated part and scaled; their numbers are compared with ours on that part. Ratios
are by the clock and, beside it, in processor time, which suffers less from whatever else the machine does. Mixed models
have a benchmark of their own (stats_mixed.py), WMT23 en-de another (stats_wmt23.py).

    python benchmarks/stats.py
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.stats.bootstrap import bootstrap_pearson
from billboards.stats.correlation import resampling_weights
from billboards.stats.ensemble import fit_ensemble, gather_blocks, held_out_correlation
from billboards.stats.significance import permute_correlations

Floats = NDArray[np.float64]
Value = TypeVar("Value")

DRAWS, LAMBDA = 1000, 7.65
#: What the peers run of the whole: draws of the bootstrap, pairs and draws of the permutation test.
PEER_DRAWS, PEER_PAIRS, PEER_PERMUTATIONS = 20, ((0, 1), (13, 14)), 50


class Took(NamedTuple):
    """Seconds by the clock and of processor time."""

    clock: float
    processor: float

    def times(self, factor: float) -> Took:
        return Took(self.clock * factor, self.processor * factor)


def timed(work: Callable[[], Value], runs: int = 3) -> tuple[Took, Value]:
    """The median times of a few runs, and the last result."""
    times = []
    for _ in range(runs):
        clock, processor = time.perf_counter(), time.process_time()
        result = work()
        times.append((time.perf_counter() - clock, time.process_time() - processor))
    return Took(*map(median, zip(*times, strict=True))), result


def show(what: str, ours: Took, peer: Took | None, equal: str) -> None:
    theirs = f"{'–':>9} {'–':>9} {'–':>9}"
    if peer is not None:
        theirs = f"{peer.clock:9.2f} {peer.clock / ours.clock:8.0f}× {peer.processor / ours.processor:8.0f}×"
    print(f"{what:46} {ours.clock:9.4f} {theirs}   {equal}", flush=True)


def main() -> int:
    data = Path(os.environ.get("BILLBOARDS_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
    if not data.is_dir():
        print("the human-evaluation data are absent: set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return 1
    board = bb.import_board(
        "billboard",
        data / "billboard",
        board="wmt20-zh-en",
        judgments=data / "wmt-mqm-human-evaluation",
        references=data / "wmt20_references",
    )
    view = judged_matrix(board, None)
    scores, human = view.scores.values[:, view.judged], view.human[view.judged]
    title = "wmt20-zh-en, " + " × ".join(map(str, scores.shape))
    print(f"{title:46} {'ours s':>9} {'peer s':>9} {'ratio':>9} {'of cpu':>9}   same numbers")
    rows = [bootstrap(scores, human), permutation(scores, human), ensemble(scores, human)]
    peers = [peer for _, peer in rows if peer is not None]
    if len(peers) == len(rows):
        show("one refresh: all of the above", together([ours for ours, _ in rows]), together(peers), "")
    return 0


def together(parts: Sequence[Took]) -> Took:
    return Took(*map(sum, zip(*parts, strict=True)))


def bootstrap(scores: Floats, human: Floats) -> tuple[Took, Took | None]:
    from scipy.stats import pearsonr

    ours, drawn = timed(lambda: bootstrap_pearson(scores, human, draws=DRAWS, seed=0))
    weights = resampling_weights(np.random.default_rng(0), human.shape[1], DRAWS)[:PEER_DRAWS]
    picks = [np.repeat(np.arange(human.shape[1]), row.astype(int)) for row in weights]

    def loop() -> Floats:
        return np.array([[pearsonr(one[:, p].ravel(), human[:, p].ravel())[0] for one in scores] for p in picks])

    pearsonr(human.ravel(), human.ravel())  # what scipy sets up once must not be scaled
    peer, expected = timed(loop, runs=1)
    gap = float(np.abs(drawn[:PEER_DRAWS] - expected).max())
    scaled = peer.times(DRAWS / PEER_DRAWS)
    show(f"bootstrap, {DRAWS} draws (scipy: {PEER_DRAWS}, scaled)", ours, scaled, f"largest difference {gap:.1e}")
    return ours, scaled


def permutation(scores: Floats, human: Floats) -> tuple[Took, Took | None]:
    ours, found = timed(lambda: permute_correlations(scores, human, draws=DRAWS, seed=0))
    pairs = len(scores) * (len(scores) - 1) // 2
    try:
        from nlpstats.correlations import permutation_test
    except ImportError:
        show(f"PERM-BOTH, {pairs} pairs, {DRAWS} draws", ours, None, "nlpstats is not installed")
        return ours, None

    permutation_test(scores[0], scores[1], human, "global", "pearson", "both", n_resamples=1)

    def loop() -> list[float]:
        return [
            permutation_test(
                scores[a],
                scores[b],
                human,
                "global",
                "pearson",
                "both",
                alternative="greater",
                n_resamples=PEER_PERMUTATIONS,
            ).pvalue
            for a, b in PEER_PAIRS
        ]

    peer, expected = timed(loop, runs=1)
    gap = max(abs(found.p[a, b] - p) for (a, b), p in zip(PEER_PAIRS, expected, strict=True))
    scaled = peer.times(DRAWS / PEER_PERMUTATIONS * pairs / len(PEER_PAIRS))
    done = f"{len(PEER_PAIRS)} pairs × {PEER_PERMUTATIONS}, scaled"
    show(
        f"PERM-BOTH, {pairs} pairs (nlpstats: {done})", ours, scaled, f"largest difference of p {gap:.2f} (Monte Carlo)"
    )
    return ours, scaled


def ensemble(scores: Floats, human: Floats) -> tuple[Took, Took | None]:
    from sklearn.linear_model import Lasso

    def own() -> float:
        return held_out_correlation(gather_blocks(scores, human), LAMBDA)

    def loop() -> float:
        predicted = np.empty_like(human)
        for held in range(len(human)):
            rest = np.arange(len(human)) != held
            x, y = scores[:, rest].reshape(len(scores), -1).T, human[rest].ravel()
            mean, spread = x.mean(axis=0), x.std(axis=0)
            fit = Lasso(alpha=LAMBDA, tol=1e-10, max_iter=100_000).fit((x - mean) / spread, y)
            predicted[held] = fit.predict((scores[:, held].T - mean) / spread)
        return float(np.corrcoef(predicted.ravel(), human.ravel())[0, 1])

    ours, found = timed(own, runs=5)
    peer, expected = timed(loop, runs=3)
    show("leave-one-generator-out ensemble (scikit-learn)", ours, peer, f"difference {abs(found - expected):.1e}")
    assert fit_ensemble(gather_blocks(scores, human), lam=LAMBDA).correlation == found
    return ours, peer


if __name__ == "__main__":
    sys.exit(main())
