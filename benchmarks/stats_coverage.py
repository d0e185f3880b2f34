"""A study: do intervals from few labels and a metric hold the true mean human score, and what do they save?

On the paper's two boards every judged generator has labels on all instances, so its true mean is known. Labels are
drawn at random as if people had given no others, 4,000 times, and 95% intervals for the mean over all instances are
counted that hold it: with COMET, with BLEU, and with the ensemble fitted without the generator. From 100 labels on, 93
to 97% must; smaller numbers are printed as found, and so is all of cnndm, which has 100 instances in all.

    python benchmarks/stats_coverage.py [folder of the shared data]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import JudgedMatrix, judged_matrix
from billboards.stats.ensemble import apply_linear, fit_ensemble, gather_blocks
from billboards.stats.estimate import Coverage, simulate_coverage

Floats = NDArray[np.float64]

DRAWS = 4000
LABELS = {"wmt20-zh-en": (10, 20, 50, 100, 200, 400, 800), "cnndm": (10, 20, 40, 60, 80, 90)}
PROMISED_FROM = 100
PROMISED = (0.93, 0.97)


def main() -> None:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "data"
    boards = {
        "wmt20-zh-en": {"judgments": "wmt-mqm-human-evaluation", "references": "wmt20_references"},
        "cnndm": {"judgments": "THumB"},
    }
    kept = True
    for name, parts in boards.items():
        folders: dict[str, Any] = {part: shared / folder for part, folder in parts.items()}
        view = judged_matrix(bb.import_board("billboard", shared / "billboard", board=name, **folders), None)
        kept = study(name, view) and kept
    sys.exit(0 if kept else f"from {PROMISED_FROM} labels on, an interval covers less or more than promised")


def study(name: str, view: JudgedMatrix) -> bool:
    """Print one board's table; whether the promise was kept."""
    start, kept = time.perf_counter(), True
    print(f"{name}: {view.judged.sum()} generators, {view.human.shape[1]} instances, {DRAWS} draws each")
    print(f"{'':9} labels  covered: lowest   mean highest   plain: lowest   mean   width   gain   labels saved")
    for metric, scores in control_variates(view).items():
        for labels in LABELS[name]:
            found = [
                simulate_coverage(scores[row], view.human[row], labels=labels, draws=DRAWS, seed=int(row))
                for row in np.flatnonzero(view.judged)
            ]
            print(f"{metric:9} {labels:6}  {table_row(found)}")
            low, high = min(one.covered for one in found), max(one.covered for one in found)
            kept = kept and (labels < PROMISED_FROM or PROMISED[0] <= low <= high <= PROMISED[1])
    print(f"{time.perf_counter() - start:.1f} s\n")
    return kept


def control_variates(view: JudgedMatrix) -> dict[str, Floats]:
    """What stands in for people: two metrics, and the ensemble that has not seen the generator."""
    chosen = {name: view.scores.values[view.scores.names.index(name)] for name in ("COMET", "BLEU")}
    ensemble = np.full(view.human.shape, np.nan)
    for row, scores in held_out_ensembles(view):
        ensemble[row] = scores
    return {**chosen, "ensemble": ensemble}


def held_out_ensembles(view: JudgedMatrix) -> Iterator[tuple[int, Floats]]:
    for row in np.flatnonzero(view.judged):
        others = view.judged_human.copy()
        others[row] = np.nan
        fit = fit_ensemble(gather_blocks(view.scores.values, others))
        yield int(row), apply_linear(fit.linear, view.scores.values[:, row])


def table_row(found: list[Coverage]) -> str:
    covered, plain = [one.covered for one in found], [one.plain_covered for one in found]
    width = np.mean([one.width / one.plain_width for one in found])
    gain = float(np.mean([one.gain for one in found]))
    saved = np.mean([_equivalent(one) - one.labels for one in found])
    return (
        f"{min(covered):15.3f} {np.mean(covered):6.3f} {max(covered):7.3f} {min(plain):15.3f} {np.mean(plain):6.3f} "
        f"{width:7.2f} {gain:6.2f} {saved:14.1f}"
    )


def _equivalent(one: Coverage) -> float:
    """The labels at which the plain mean over a finite number of instances varies as little as the estimate did."""
    return 1 / ((1 / one.labels - 1 / one.instances) / one.gain + 1 / one.instances)


if __name__ == "__main__":
    main()
