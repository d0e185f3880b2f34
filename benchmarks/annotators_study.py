"""What the annotator model says of real annotators: an ESA campaign, and WMT21's crowd for German to English.

ESA: posteriors from attention checks, and precision and recall when noise is put in, for every model. WMT21: only
workers who passed WMT's own test are in the data, so whoever is marked is marked by mistake; a BAD_REF item is answered
right when it scores below the system's own output, a REPEAT item when the two scores lie closer together than half of
the pairs of that worker's scores. System scores are means over segments, from all workers and without those marked.

    python benchmarks/annotators_study.py [folder of the shared data] [rounds, default 100]
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from billboards.analyses._annotators import PUBLISHED, check_annotators, corruption_table, mixture_table
from billboards.show.terminal import print_table
from billboards.stats.annotators import AnnotatorModel, judge_annotators
from billboards.stats.system_level import wilson_interval

Floats = NDArray[np.float64]
Counts = tuple[list[int], list[int]]

MODELS = ("class/learned/2", "rate/learned/2", "rate/learned/1", "class/fixed/2", "rate/uniform/1")
DRAWS = 1_000


def esa(folder: Path, rounds: int) -> None:
    """Verdicts and found noise of the ESA campaign."""
    for name in MODELS:
        study = check_annotators(
            folder / "240315rc5ESA.scores.csv", AnnotatorModel.named(name), corrupt=True, rounds=rounds
        )
        right = sum(one.standings[0].right for one in study.report.verdicts)
        asked = right + sum(one.standings[0].wrong for one in study.report.verdicts)
        print(f"ESA, {name}: {right} of {asked} BAD items below their originals; noisy: {sorted(study.report.noisy)}")
        print_table(mixture_table(study.report))
        assert study.corruption is not None
        print_table(corruption_table(study.corruption), wide=True)


@dataclass(frozen=True)
class Item:
    """One standardised score of WMT21."""

    worker: str
    task: tuple[str, str, str]
    kind: str
    score: float


def wmt_items(path: Path) -> list[Item]:
    """Lines of the file, whose header alone is separated by spaces."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Item(row[1], (row[0], row[6], row[9]), row[8], float(row[10])) for row in rows]


def wmt_counts(items: list[Item]) -> tuple[list[str], dict[str, Counts]]:
    """Right and wrong answers of every worker to BAD_REF and REPEAT items."""
    own: dict[str, list[float]] = defaultdict(list)
    system: dict[tuple[str, tuple[str, str, str]], float] = {}
    for item in items:
        if item.kind == "SYSTEM":
            system[item.worker, item.task] = item.score
            own[item.worker].append(item.score)
    usual = {worker: _usual_distance(np.array(scores)) for worker, scores in own.items()}
    answers: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for item in items:
        first = system[item.worker, item.task]
        if item.kind == "BAD_REF":
            answers[item.worker, item.kind].append(item.score < first)
        elif item.kind == "REPEAT":
            answers[item.worker, item.kind].append(abs(item.score - first) < usual[item.worker])
    workers = sorted(own)
    return workers, {
        kind: _right_wrong([answers[worker, kind] for worker in workers]) for kind in ("BAD_REF", "REPEAT")
    }


def _usual_distance(scores: Floats) -> float:
    """The median distance of two scores of one worker."""
    first, second = np.triu_indices(len(scores), 1)
    return float(np.median(np.abs(scores[first] - scores[second])))


def _right_wrong(answers: list[list[bool]]) -> Counts:
    return [sum(one) for one in answers], [len(one) - sum(one) for one in answers]


def false_positives(workers: list[str], counts: dict[str, Counts]) -> frozenset[str]:
    """Print how many of the workers who passed are marked, by model and kind; those of the default model by BAD_REF."""
    for kind, (right, wrong) in counts.items():
        print(f"WMT21: {sum(right):,} of {sum(right) + sum(wrong):,} {kind} items right ({len(workers)} workers)")
    print(f"  {'model':16} " + " ".join(f"{kind:>24}" for kind in (*counts, "either")))
    for name in PUBLISHED:
        marked = [judge_annotators(workers, {k: counts[k]}, AnnotatorModel.named(name)).noisy for k in counts]
        marked.append(frozenset.union(*marked))
        print(f"  {name:16} " + " ".join(f"{_rate(len(found), len(workers)):>24}" for found in marked))
    return judge_annotators(workers, {"BAD_REF": counts["BAD_REF"]}).noisy


def _rate(hits: int, n: int) -> str:
    low, high = wilson_interval(hits, n)
    return f"{hits} = {hits / n:.1%} ({low:.1%}-{high:.1%})"


def system_scores(items: list[Item], left_out: frozenset[str]) -> dict[str, tuple[float, float, float]]:
    """Mean standardised score of each system over its segments, with a 95% bootstrap interval over them."""
    segments: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        if item.kind in ("SYSTEM", "REPEAT") and item.worker not in left_out:
            segments[item.task[1]][item.task[2]].append(item.score)
    random = np.random.default_rng(0)
    found = {}
    for system in sorted(segments):
        means = np.array([np.mean(scores) for scores in segments[system].values()])
        drawn = means[random.integers(len(means), size=(DRAWS, len(means)))].mean(axis=1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        found[system] = float(means.mean()), float(low), float(high)
    return found


def published_scores(path: Path) -> dict[str, float]:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return {row[3]: float(row[1]) for row in rows}


def wmt21(folder: Path) -> None:
    items = wmt_items(folder / "ad-deen-good-stnd-redup.csv")
    marked = false_positives(*wmt_counts(items))
    published = published_scores(folder / "ad-sys-scores-de-en.csv")
    whole, sifted = system_scores(items, frozenset()), system_scores(items, marked)
    print(f"  {'system':20} {'published':>9} {'all workers':>24} {'without marked':>24}")
    for system in sorted(published, key=lambda one: -published[one]):
        cells = (f"{mean:.3f} ({low:.3f}, {high:.3f})" for mean, low, high in (whole[system], sifted[system]))
        print(f"  {system:20} {published[system]:9.3f} " + " ".join(f"{cell:>24}" for cell in cells))
    for what, found in (("all workers", whole), (f"without {len(marked)} marked", sifted)):
        pair = [published[system] for system in published], [found[system][0] for system in published]
        print(f"  {what}: Pearson {pearsonr(*pair).statistic:.4f}, Spearman {spearmanr(*pair).statistic:.4f}")


if __name__ == "__main__":
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else shared_data()
    if data is None:
        sys.exit("no shared data; name its folder")
    esa(data / "esa_campaign", int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    wmt21(data / "wmt21_deen_da")
