"""Overrating of all metrics at once, beside lme4 and statsmodels on the same tables, one thread each.

Two boards: cnndm with its released metrics and an ensemble (18 generators × 100 instances), and wmt20-zh-en with
Human-B and the own lexical metrics against Human-A (9 × 2,000), whose scores are computed once and kept in the folder
for temporary files. lme4 is timed inside R around the calls of lmer alone; statsmodels fits a stated number of metrics
and is scaled. A ratio counts only if coefficients and standard errors are the same. Needs Rscript with lme4.

    python benchmarks/stats_mixed.py [folder of the shared data]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import statsmodels.api as sm
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.analyses.overrating import rows_compared
from billboards.board.cells import MemoryCells
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import score_board
from billboards.metrics.bleu import BLEU
from billboards.metrics.chrf import ChrFPlusPlus
from billboards.metrics.executor import InProcess
from billboards.metrics.rouge import Rouge3, RougeL
from billboards.stats.ensemble import apply_linear, fit_ensemble, gather_blocks
from billboards.stats.overrating import overrating_all, overrating_crossed

Floats = NDArray[np.float64]

ONE, CROSSED = "(1 | instance)", "(1 | instance) + (1 | generator)"
#: What coefficients and standard errors, in standard deviations of the metric, may differ by at most.
TOLERANCE = 1e-4

SCRIPT = r"""
suppressMessages(library(lme4))
given <- commandArgs(TRUE)
d <- read.csv(given[1])
metrics <- grep("^s[0-9]+$", names(d), value = TRUE)
formulas <- lapply(metrics, function(s) as.formula(paste(s, "~ machine + h +", given[2])))
invisible(lmer(formulas[[1]], d))
start <- proc.time()[["elapsed"]]
fits <- lapply(formulas, lmer, data = d)
cat(sprintf("%.6f\n", proc.time()[["elapsed"]] - start))
for (fit in fits) cat(sprintf("%.12f %.12f\n", fixef(fit)[["machine"]], sqrt(vcov(fit)["machine", "machine"])))
"""


@dataclass(frozen=True)
class Work:
    """Scores of all metrics, judgments, which rows are machines, and how many metrics statsmodels fits."""

    scores: Floats
    human: Floats
    machine: NDArray[np.bool_]
    fraction: int


@dataclass(frozen=True)
class Result:
    """Seconds for all metrics, and the coefficient and standard error of each one fitted."""

    seconds: float
    beta0: Floats
    se: Floats


def main() -> None:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared" / "data"
    work = {"cnndm": cnndm(shared), "wmt20-zh-en": zh_en(shared)}
    kept = True
    with threadpool_limits(1):
        for name, one in work.items():
            print(f"{name}: overrating of {len(one.scores)} metrics, {one.human.shape[0]} × {one.human.shape[1]}")
            ours = timed(partial(at_once, one), runs=51)
            kept = compare("lme4", ours, by_lme4(one, ONE), goal=50) and kept
            kept = compare("statsmodels", ours, by_statsmodels(one), goal=500) and kept
            print(f"{name}: the same with generators as a second random effect, metric by metric")
            kept = compare("lme4", timed(partial(crossed, one), runs=5), by_lme4(one, CROSSED), goal=1) and kept
    sys.exit(0 if kept else "a goal was missed")


def cnndm(shared: Path) -> Work:
    """The released metrics and the ensemble of three of them; Human-H is the person."""
    board = bb.import_board("billboard", shared / "billboard", board="cnndm", judgments=shared / "THumB")
    view = judged_matrix(board, None)
    ensemble = fit_ensemble(gather_blocks(view.scores.values, view.judged_human)).linear
    scores = np.concatenate((view.scores.values, apply_linear(ensemble, view.scores.values)[None]))
    rows = [board.row_position[row.name] for row in rows_compared(board, "Human-H")]
    machine = np.array([board.rows[k].name != "Human-H" for k in rows])
    return Work(scores[:, rows], view.human[rows], machine, fraction=4)


def zh_en(shared: Path) -> Work:
    """BLEU, chrF++, ROUGE-3 and ROUGE-L against Human-A; Human-B is the person."""
    board = bb.import_board(
        "billboard",
        shared / "billboard",
        board="wmt20-zh-en",
        judgments=shared / "wmt-mqm-human-evaluation",
        references=shared / "wmt20_references",
    )
    compared = rows_compared(board, "Human-B")
    rows = [board.row_position[row.name] for row in compared]
    kept = Path(tempfile.gettempdir()) / "billboards-zh-en-against-Human-A.npy"
    if not kept.is_file():
        cells = MemoryCells()
        metrics = [BLEU(), ChrFPlusPlus(), Rouge3(), RougeL()]
        score_board(board, cells, metrics, InProcess(), references=("Human-A",), rows=compared)
        columns = board_scores(board, cells, references=("Human-A",))
        own = [columns.names.index(metric.name) for metric in metrics]
        np.save(kept, columns.values[own][:, rows])
    machine = np.array([row.name != "Human-B" for row in compared])
    return Work(np.load(kept), judged_matrix(board, None).human[rows], machine, fraction=1)


def timed(call: Callable[[], tuple[Floats, Floats]], *, runs: int) -> Result:
    """The median time of a few runs, after one to warm up, and what they gave."""
    beta0, se = call()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return Result(median(seconds), beta0, se)


def at_once(work: Work) -> tuple[Floats, Floats]:
    found = overrating_all(work.scores, work.human, work.machine)
    return found.beta0, found.se


def crossed(work: Work) -> tuple[Floats, Floats]:
    found = [overrating_crossed(one, work.human, work.machine) for one in work.scores]
    return np.array([one.beta0 for one in found]), np.array([one.se for one in found])


def rows_of(work: Work) -> tuple[Floats, Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Standardised scores (metrics × rows), the design, and each row's generator and instance; nothing is missing."""
    row, instance = np.indices(work.human.shape).reshape(2, -1)
    flat = work.scores.reshape(len(work.scores), -1)
    s = (flat - flat.mean(axis=1, keepdims=True)) / flat.std(axis=1, keepdims=True)
    return s, np.column_stack((np.ones(len(row)), work.machine[row], work.human.ravel())), row, instance


def by_lme4(work: Work, effects: str) -> Result:
    s, design, row, instance = rows_of(work)
    names = ["machine", "h", "instance", "generator", *(f"s{k}" for k in range(len(s)))]
    labels = (np.char.add("i", instance.astype(str)), np.char.add("g", row.astype(str)))
    columns = (design[:, 1].astype(str), design[:, 2].astype(str), *labels, *s.astype(str))
    with tempfile.TemporaryDirectory() as folder:
        table, script = Path(folder) / "rows.csv", Path(folder) / "fit.R"
        lines = [",".join(names), *(",".join(line) for line in zip(*columns, strict=True))]
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        script.write_text(SCRIPT, encoding="utf-8")
        done = subprocess.run(["Rscript", script, table, effects], capture_output=True, text=True, check=True)
    seconds, *fits = done.stdout.splitlines()
    beta0, se = np.array([line.split() for line in fits], float).T
    return Result(float(seconds), beta0, se)


def by_statsmodels(work: Work) -> Result:
    s, design, _, instance = rows_of(work)
    beta0, se = [], []
    start = time.perf_counter()
    for target in s[: work.fraction]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = sm.MixedLM(target, design, instance).fit()
        beta0.append(fit.fe_params[1])
        se.append(fit.bse_fe[1])
    seconds = (time.perf_counter() - start) * len(s) / work.fraction
    print(f"  statsmodels fitted {work.fraction} of {len(s)} metrics; its time is scaled")
    return Result(seconds, np.array(beta0), np.array(se))


def compare(peer: str, ours: Result, theirs: Result, *, goal: int) -> bool:
    """Print one line; whether numbers are the same and the goal is reached."""
    fitted = len(theirs.beta0)
    beta0 = float(np.abs(ours.beta0[:fitted] - theirs.beta0).max())
    se = float(np.abs(ours.se[:fitted] - theirs.se).max())
    ratio, same = theirs.seconds / ours.seconds, max(beta0, se) <= TOLERANCE
    print(
        f"  billboards {ours.seconds * 1000:7.2f} ms   {peer:11} {theirs.seconds * 1000:9.1f} ms   {ratio:6.0f}× "
        f"(goal {goal}×)   largest difference: beta0 {beta0:.1e}, se {se:.1e}{'' if same else '  NOT THE SAME'}"
    )
    return same and ratio >= goal


if __name__ == "__main__":
    main()
