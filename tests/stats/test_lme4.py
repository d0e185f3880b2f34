"""Mixed models against lme4, and Satterthwaite's degrees of freedom against lmerTest, in one run of Rscript.

Every case is a table of s, machine, h, instance and generator; R fits all of them and prints one number a line.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.analyses.overrating import rows_compared
from billboards.stats.crossed import CrossedFit, fit_crossed
from billboards.stats.crossed import likelihood_ratio as crossed_likelihood_ratio
from billboards.stats.mixed import MixedFit, fit_random_intercept, likelihood_ratio
from billboards.stats.overrating import overrating_all, overrating_crossed

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Case = tuple[Floats, Floats, Bools]
Peer = dict[str, dict[str, float]]

PACKAGES = "r-base-core, r-cran-lme4 and r-cran-lmertest"

#: Fixed effects, their errors and degrees of freedom, variances, and deviances of REML, of maximum likelihood with and
#: without `machine`, and of REML without either random effect.
SCRIPT = r"""
if (!suppressWarnings(suppressMessages(require(lmerTest, quietly = TRUE)))) quit(status = 3)
options(warn = -1)
say <- function(case, key, value) cat(case, key, sprintf("%.17g", value), sep = ",", fill = TRUE)
closely <- lmerControl(optCtrl = list(xtol_abs = 1e-10, ftol_abs = 1e-12))
full <- commandArgs(TRUE)[2] == "full"
report <- function(case, d, effects) {
  model <- function(fixed, random, reml)
    suppressMessages(lmer(as.formula(paste("s ~", fixed, "+", random)), d, REML = reml, control = closely))
  fit <- model("machine + h", effects, TRUE)
  table <- summary(fit)$coefficients
  for (k in 1:3) {
    say(case, paste0("beta", k - 1), table[k, "Estimate"])
    say(case, paste0("se", k - 1), table[k, "Std. Error"])
    say(case, paste0("df", k - 1), table[k, "df"])
    say(case, paste0("p", k - 1), table[k, "Pr(>|t|)"])
  }
  variances <- as.data.frame(VarCorr(fit))
  for (k in seq_len(nrow(variances))) say(case, variances$grp[k], variances$vcov[k])
  say(case, "reml", REMLcrit(fit))
  if (!full) return()
  say(case, "ml", -2 * as.numeric(logLik(model("machine + h", effects, FALSE))))
  say(case, "ml_without", -2 * as.numeric(logLik(model("h", effects, FALSE))))
  if (grepl("generator", effects)) {
    say(case, "reml_instance", REMLcrit(model("machine + h", "(1 | instance)", TRUE)))
    say(case, "reml_generator", REMLcrit(model("machine + h", "(1 | generator)", TRUE)))
  }
}
for (file in list.files(commandArgs(TRUE)[1], pattern = "csv$", full.names = TRUE)) {
  d <- read.csv(file)
  case <- sub(".csv", "", basename(file))
  report(paste0(case, ":one"), d, "(1 | instance)")
  report(paste0(case, ":crossed"), d, "(1 | instance) + (1 | generator)")
}
"""


def generated(seed: int, *, instances: float, generators: float, shape: tuple[int, int] = (8, 60)) -> Case:
    """Scores and judgments with gaps, from random effects of these standard deviations, and which rows are machines."""
    random = np.random.default_rng(seed)
    machine = np.arange(shape[0]) > 1
    human = random.normal(size=shape) * 10 + 70
    effects = instances * random.normal(size=(1, shape[1])) + generators * random.normal(size=(shape[0], 1))
    scores = 0.7 * machine[:, None] + 0.03 * human + effects + random.normal(size=shape)
    scores[random.random(shape) < 0.15] = human[3, :20] = np.nan
    return scores, human, machine


GENERATED = {
    "both": generated(1, instances=1.0, generators=0.5),
    "large": generated(2, instances=3.0, generators=2.0),
    "small": generated(3, instances=0.3, generators=0.2),
    "long": generated(4, instances=0.5, generators=0.5, shape=(40, 12)),
    "no_generators": generated(1, instances=1.0, generators=0.0),
    "no_instances": generated(1, instances=0.0, generators=0.6),
    "neither": generated(11, instances=0.0, generators=0.0),
}


@pytest.fixture(scope="session")
def released(shared_data: Path) -> dict[str, Case]:
    """Every released metric of cnndm with the experts' judgments; Human-H is the person."""
    board = bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
    view = judged_matrix(board, None)
    rows = [board.row_position[row.name] for row in rows_compared(board, "Human-H")]
    machine = np.array([board.rows[k].name != "Human-H" for k in rows])
    return {
        name.replace("+", "p"): (values[rows], view.human[rows], machine)
        for name, values in zip(view.scores.names, view.scores.values, strict=True)
    }


def fit_by_r(cases: dict[str, Case], folder: Path, extent: str) -> Peer:
    """What R finds: the REML fits alone, or, in full, also what likelihood ratios need."""
    for name, case in cases.items():
        write_case(folder / f"{name}.csv", case)
    script = folder / "fit.R"
    script.write_text(SCRIPT, encoding="utf-8")
    if shutil.which("Rscript") is None:
        pytest.skip(f"Rscript is absent: install the Debian packages {PACKAGES}")
    done = subprocess.run(["Rscript", script, folder, extent], capture_output=True, text=True, check=False)
    if done.returncode == 3:
        pytest.skip(f"R lacks lme4 or lmerTest: install the Debian packages {PACKAGES}")
    assert done.returncode == 0, done.stderr
    found: Peer = {}
    for line in done.stdout.splitlines():
        name, key, value = line.split(",")
        found.setdefault(name, {})[key] = float(value)
    return found


def write_case(path: Path, case: Case) -> None:
    scores, human, machine = case
    used = np.isfinite(scores) & np.isfinite(human)
    table = standardised(scores, used)
    lines = ["s,machine,h,instance,generator"]
    for row, instance in zip(*np.nonzero(used), strict=True):
        numbers = table[row, instance], int(machine[row]), human[row, instance]
        lines.append(",".join([*map(repr, map(float, numbers)), f"i{instance}", f"g{row}"]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def standardised(scores: Floats, used: Bools) -> Floats:
    result: Floats = np.where(used, (scores - scores[used].mean()) / scores[used].std(), np.nan)
    return result


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Peer:
    return fit_by_r(GENERATED, tmp_path_factory.mktemp("generated"), "full")


@pytest.fixture(scope="session")
def released_peer(released: dict[str, Case], tmp_path_factory: pytest.TempPathFactory) -> Peer:
    return fit_by_r(released, tmp_path_factory.mktemp("released"), "reml")


def laid_out(case: Case) -> tuple[Floats, Floats]:
    """Scores and design as generators × instances."""
    scores, human, machine = case
    used = np.isfinite(scores) & np.isfinite(human)
    flags = np.broadcast_to(machine[:, None], human.shape)
    return standardised(scores, used), np.stack((np.ones(human.shape), flags, human))


def in_rows(case: Case) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Scores, design and instance as rows."""
    y, design = laid_out(case)
    used = np.isfinite(y)
    return y[used], design[:, used].T, np.nonzero(used)[1]


def assert_same(ours: MixedFit | CrossedFit, theirs: dict[str, float]) -> None:
    for k in range(3):
        assert ours.beta[k] == pytest.approx(theirs[f"beta{k}"], abs=1e-4)
        assert ours.se[k] == pytest.approx(theirs[f"se{k}"], rel=1e-4)
    assert ours.residual_variance == pytest.approx(theirs["Residual"], rel=1e-4)
    assert ours.deviance == pytest.approx(theirs["reml"], abs=1e-4)


def assert_same_tests(ours: MixedFit | CrossedFit, theirs: dict[str, float]) -> None:
    """lmerTest differentiates numerically at lme4's optimum, which costs digits."""
    for k in range(3):
        assert ours.df[k] == pytest.approx(theirs[f"df{k}"], rel=1e-3)
        assert ours.p[k] == pytest.approx(theirs[f"p{k}"], rel=1e-3, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("name", GENERATED)
def test_one_random_intercept_equals_lme4(name: str, peer: Peer) -> None:
    theirs = peer[f"{name}:one"]
    ours = fit_random_intercept(*in_rows(GENERATED[name]))
    assert_same(ours, theirs)
    assert_same_tests(ours, theirs)
    assert ours.group_variance == pytest.approx(theirs["instance"], rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("name", GENERATED)
def test_crossed_random_intercepts_equal_lme4(name: str, peer: Peer) -> None:
    theirs = peer[f"{name}:crossed"]
    ours = fit_crossed(*laid_out(GENERATED[name]))
    assert_same(ours, theirs)
    assert_same_tests(ours, theirs)
    assert ours.instance_variance == pytest.approx(theirs["instance"], rel=1e-4, abs=1e-7)
    assert ours.generator_variance == pytest.approx(theirs["generator"], rel=1e-4, abs=1e-7)
    assert ours.without_generators == pytest.approx(theirs["reml_instance"], abs=1e-4)
    assert ours.without_instances == pytest.approx(theirs["reml_generator"], abs=1e-4)


def test_variances_at_the_boundary_are_exactly_zero(peer: Peer) -> None:
    assert peer["no_generators:crossed"]["generator"] == 0
    assert fit_crossed(*laid_out(GENERATED["no_generators"])).generator_variance == 0
    assert peer["no_instances:one"]["instance"] == 0
    assert fit_random_intercept(*in_rows(GENERATED["no_instances"])).group_variance == 0
    neither = fit_crossed(*laid_out(GENERATED["neither"]))
    assert (neither.instance_variance, neither.generator_variance) == (0, 0)
    assert peer["neither:crossed"]["instance"] == peer["neither:crossed"]["generator"] == 0


@pytest.mark.parametrize("name", GENERATED)
def test_likelihood_ratios_of_a_fixed_effect_equal_lme4(name: str, peer: Peer) -> None:
    one, crossed = peer[f"{name}:one"], peer[f"{name}:crossed"]
    ours = likelihood_ratio(*in_rows(GENERATED[name]), 1)
    assert ours.statistic == pytest.approx(one["ml_without"] - one["ml"], abs=1e-4)
    ours = crossed_likelihood_ratio(*laid_out(GENERATED[name]), 1)
    assert ours.statistic == pytest.approx(crossed["ml_without"] - crossed["ml"], abs=1e-4)


@pytest.mark.long
@pytest.mark.data
def test_overrating_on_cnndm_equals_lme4(released: dict[str, Case], released_peer: Peer) -> None:
    scores = np.stack([scores for scores, *_ in released.values()])
    _, human, machine = released["COMET"]
    ours = overrating_all(scores, human, machine)
    for k, (name, case) in enumerate(released.items()):
        theirs = released_peer[f"{name}:one"]
        assert ours.beta0[k] == pytest.approx(theirs["beta1"], abs=1e-4)
        assert ours.se[k] == pytest.approx(theirs["se1"], rel=1e-4)
        assert_same(fit_random_intercept(*in_rows(case)), theirs)


@pytest.mark.data
def test_overrating_on_cnndm_with_generators_as_a_sample_equals_lme4(
    released: dict[str, Case], released_peer: Peer
) -> None:
    for name, case in released.items():
        theirs = released_peer[f"{name}:crossed"]
        ours = overrating_crossed(*case)
        assert ours.beta0 == pytest.approx(theirs["beta1"], abs=1e-4)
        assert ours.se == pytest.approx(theirs["se1"], rel=1e-4)
        assert ours.fit.df[1] == pytest.approx(theirs["df1"], rel=1e-3)
        assert ours.p == pytest.approx(theirs["p1"], rel=1e-3)
        assert ours.fit.generator_variance == pytest.approx(theirs["generator"], rel=1e-4)
        assert ours.fit.deviance == pytest.approx(theirs["reml"], abs=1e-4)
