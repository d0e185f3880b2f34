"""Pearson, acc_eq, SPA and tau-b of all 68 metric variants of WMT23 English-German, against mt-metrics-eval.

Both get the same matrices: 12 systems without the references, gold MQM. Where the peer is installed (from its
repository, google-research/mt-metrics-eval; the package of that name on the public index is another's and should not be
installed) it is timed in the same run on every eighth metric and scaled, and must give the same numbers. Where it is
not, our numbers are held against its published ones in shared/targets, and its time is the 26 s measured on two cores.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.stats.grouped import correlation
from billboards.stats.pairwise import acc_eq
from billboards.stats.system_pairs import soft_pairwise_accuracy

Floats = NDArray[np.float64]

GOAL = 20
PUBLISHED_SECONDS = 26.0
RUNS = 5
EVERY = 8
#: The seed of mt-metrics-eval's permutations, so that SPA can be compared beyond Monte Carlo error.
PEER_SEED = 4
#: How far values may be apart: the targets have six digits; the peer adds SPA's sums in single precision.
TOLERANCE = {"pearson": 6e-7, "acc_eq": 6e-7, "kendall_b_item": 6e-7, "spa": 2e-4}


@dataclass(frozen=True)
class Took:
    """Seconds by the clock and of processor time; the latter suffers less from whatever else the machine does."""

    seconds: float
    processor: float

    def times(self, factor: float) -> Took:
        return Took(self.seconds * factor, self.processor * factor)

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, {self.processor:.2f} s of processor time"


def main() -> None:
    data = shared_data()
    if data is None:
        sys.exit("the human-evaluation data are absent: set BILLBOARDS_SHARED or put shared/ beside the checkout")
    names, scores, human = load(data)
    ours, took = timed(lambda: our_values(scores, human), RUNS)
    print(f"billboards, {len(names)} metrics × {human.shape[0]} systems × {human.shape[1]} segments: {took}")
    check("the published values", ours, published(data, names))
    if find_spec("mt_metrics_eval") is None:
        print(f"mt-metrics-eval, not installed; as measured on two cores: {PUBLISHED_SECONDS:.0f} s")
        by_clock, by_processor = PUBLISHED_SECONDS / took.seconds, PUBLISHED_SECONDS / took.processor
        print(f"ratio: {by_clock:.0f}× by the clock, {by_processor:.0f}× against our processor time (goal: {GOAL}×)")
        return
    some = slice(None, None, EVERY)
    peer, part = timed(lambda: peer_values(scores[some], human), 1)
    check("the peer's values", {name: value[some] for name, value in ours.items()}, peer)
    whole = part.times(len(names) / len(names[some]))
    print(f"mt-metrics-eval, scaled from {len(names[some])} of the metrics: {whole}")
    by_clock, by_processor = whole.seconds / took.seconds, whole.processor / took.processor
    print(f"ratio: {by_clock:.0f}× by the clock, {by_processor:.0f}× in processor time (goal: {GOAL}×)")


def load(data: Path) -> tuple[list[str], Floats, Floats]:
    """Metric names, scores and judgments of the systems that are not references."""
    view = judged_matrix(bb.import_board("mtme", data / "mtme_wmt23_en-de"), None)
    return list(view.scores.names), view.scores.values[:, view.judged], view.human[view.judged]


def our_values(scores: Floats, human: Floats) -> dict[str, Floats]:
    return {
        "pearson": correlation(scores, human).value,
        "acc_eq": acc_eq(scores, human).accuracy,
        "spa": soft_pairwise_accuracy(scores, human, draws=1000, seed=PEER_SEED).value,
        "kendall_b_item": correlation(scores, human, statistic="kendall-b", grouping="by-item").value,
    }


def peer_values(scores: Floats, human: Floats) -> dict[str, Floats]:
    from mt_metrics_eval import stats  # type: ignore[import-not-found,unused-ignore]

    gold = [None if np.isnan(value) else float(value) for value in human.ravel()]
    found: dict[str, list[float]] = {name: [] for name in TOLERANCE}
    for one in scores:
        pair: Any = stats.Correlation(len(human), gold, one.ravel().tolist())
        found["pearson"].append(pair.Pearson()[0])
        found["acc_eq"].append(pair.KendallWithTiesOpt("item", sample_rate=1.0)[0])
        found["spa"].append(pair.PairwiseConfidenceError()[0])
        found["kendall_b_item"].append(pair.Kendall("item")[0])
    return {name: np.array(values) for name, values in found.items()}


def published(data: Path, names: list[str]) -> dict[str, Floats]:
    """The values the peer gave once, as kept beside the data."""
    metrics = json.loads((data.parent / "targets" / "wmt23_en-de.json").read_text(encoding="utf-8"))["metrics"]
    return {name: np.array([metrics[metric][name] for metric in names]) for name in TOLERANCE}


def timed(work: Callable[[], dict[str, Floats]], runs: int) -> tuple[dict[str, Floats], Took]:
    """What the work gives, and its median cost."""
    costs = []
    for _ in range(runs):
        clock, processor = time.perf_counter(), time.process_time()
        found = work()
        costs.append((time.perf_counter() - clock, time.process_time() - processor))
    return found, Took(*map(median, zip(*costs, strict=True)))


def check(what: str, ours: dict[str, Floats], theirs: dict[str, Floats]) -> None:
    """End the benchmark where the numbers differ: a ratio between different results says nothing."""
    apart = {name: float(np.abs(ours[name] - theirs[name]).max()) for name in TOLERANCE}
    print(f"largest differences from {what}: " + ", ".join(f"{name} {value:.1e}" for name, value in apart.items()))
    for name, value in apart.items():
        if not value <= TOLERANCE[name]:
            sys.exit(f"{name} differs by {value:.2g} from {what}, more than {TOLERANCE[name]:g}: no ratio")


if __name__ == "__main__":
    main()
