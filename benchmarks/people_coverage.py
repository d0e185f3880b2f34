"""A study: do intervals of what people said hold the truth, however few and severe the annotators are?

Campaigns are made up: 100 instances (sd 10), annotators whose severity has a standard deviation of 0, 5 or 10 points,
and noise (sd 15); in each the 95% interval either holds the generator's true mean or not. Outputs have one annotator
each, drawn at random as campaigns do, or unevenly (in the proportion 1, 1/2, 1/3, …), two, or all of them. From three
annotators on, 93 to 97% of the intervals must hold the truth in every cell; beside stand the intervals over instances
alone, which forget that other annotators would have judged otherwise.

    python benchmarks/people_coverage.py [campaigns per cell]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from billboards.stats.people import UNKNOWN, people_means

Ints = NDArray[np.int64]

CAMPAIGNS, INSTANCES = 6000, 100
ANNOTATORS = (3, 5, 10, 20)
SEVERITY = (0.0, 5.0, 10.0)
DESIGNS = ("one per output", "one, unevenly", "two per output", "all on each")
TRUTH, DIFFICULTY, NOISE = 50.0, 10.0, 15.0
PROMISED = (0.93, 0.97)


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else CAMPAIGNS
    start, kept = time.perf_counter(), True
    print(f"95% intervals that hold the truth, of {campaigns:,} campaigns each; in brackets over instances alone")
    print(f"{'annotators':>10}  {'severity sd':>11}  " + "  ".join(f"{design:>16}" for design in DESIGNS))
    for annotators in ANNOTATORS:
        for severity in SEVERITY:
            shares = coverage(annotators, severity, campaigns)
            cells = (f"{100 * crossed:9.1f}% ({100 * alone:3.0f}%)" for crossed, alone in shares.values())
            print(f"{annotators:10}  {severity:11.0f}  " + "  ".join(cells))
            kept = kept and all(PROMISED[0] <= crossed <= PROMISED[1] for crossed, _ in shares.values())
    print(f"{time.perf_counter() - start:.0f} s")
    sys.exit(0 if kept else "an interval holds the truth less or more often than promised")


def coverage(annotators: int, severity: float, campaigns: int) -> Mapping[str, tuple[float, float]]:
    """For each design, the share of crossed intervals that hold the truth, and of those over instances alone."""
    shares = {}
    for number, design in enumerate(DESIGNS):
        rng = np.random.default_rng((annotators, int(severity), number))
        campaign, instance, who = assignments(design, annotators, campaigns, rng)
        severe = rng.normal(0.0, severity, (campaigns, annotators))
        hard = rng.normal(0.0, DIFFICULTY, (campaigns, INSTANCES))
        values = TRUTH + severe[campaign, who] + hard[campaign, instance] + rng.normal(0.0, NOISE, len(who))
        shares[design] = (
            held(values, campaign, instance, campaign * annotators + who, campaigns),
            held(values, campaign, instance, np.full(len(who), UNKNOWN), campaigns),
        )
    return shares


def assignments(design: str, annotators: int, campaigns: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Who judges what: campaign, instance and annotator of each judgment."""
    labels = {"two per output": 2, "all on each": annotators}.get(design, 1)
    campaign = np.repeat(np.arange(campaigns), INSTANCES * labels)
    instance = np.tile(np.repeat(np.arange(INSTANCES), labels), campaigns)
    if design == "one per output":
        who = rng.integers(0, annotators, len(campaign))
    elif design == "one, unevenly":
        shares = 1 / np.arange(1, annotators + 1)
        who = rng.choice(annotators, len(campaign), p=shares / shares.sum())
    else:
        first = np.repeat(rng.integers(0, annotators, campaigns * INSTANCES), labels)
        who = (first + np.tile(np.arange(labels), campaigns * INSTANCES)) % annotators
    return campaign, instance, who.astype(np.int64)


def held(values: NDArray[np.float64], campaign: Ints, instance: Ints, annotator: Ints, campaigns: int) -> float:
    """The share of campaigns whose interval holds the truth; each stands as a generator of its own."""
    means = people_means(values[:, None], campaign, instance, annotator, shape=(campaigns, INSTANCES))
    return float(np.mean((means.low <= TRUTH) & (means.high >= TRUTH)))


if __name__ == "__main__":
    main()
