"""Small results made by hand, whose every number a test can name."""

from __future__ import annotations

from billboards.analyses.ensemble import Ablation, Ensemble, EnsembleStudy
from billboards.analyses.overrating import OverratingEstimate, OverratingReport
from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking
from billboards.analyses.references import ReferenceEffect, ReferencePoint

BOTH = ("Human-A", "Human-B")


ENSEMBLE = Ensemble(
    board="tiny",
    board_version="abc123",
    version=2,
    references=BOTH,
    lam=7.65,
    lam_range=(7.64, 10.43),
    k=2,
    weights={"COMET": 1.48, "COMET-QE": 1.72},
    centres={"COMET": 0.58, "COMET-QE": 0.35},
    scales={"COMET": 0.34, "COMET-QE": 0.24},
    signatures={"COMET": "imported:11", "COMET-QE": "imported:22"},
    intercept=78.69,
    correlation=0.605,
    n=300,
    aggregate="mqm",
    candidates=("COMET", "COMET-QE", "BLEU"),
    left_out={"METEOR": "no scores for 2 judged generators"},
)


def _generator(
    name: str, rank: int, ensemble: float, comet: float, bleu: float, human: float | None
) -> GeneratorStanding:
    scores = {"BLEU": bleu, "COMET": comet, "COMET-QE": 0.3, "length": 20.0, "METEOR": None, "ensemble": ensemble}
    covered = dict.fromkeys(scores, 100)
    return GeneratorStanding(
        name=name, kind="machine", rank=rank, scores=scores, covered=covered, human=human, judged=100 if human else 0
    )


#: Two metrics with references, one without, one mere statistic, and one that has no correlation.
METRICS = (
    MetricStanding(
        name="COMET",
        signature="imported:11",
        rank=1,
        correlation=0.551,
        n=300,
        interval=(0.5, 0.6),
        references=BOTH,
        origin="imported",
        source_name="wmt20-comet",
        reference_free=False,
        cluster=1,
    ),
    MetricStanding(
        name="COMET-QE",
        signature="imported:22",
        rank=2,
        correlation=0.541,
        n=300,
        interval=(0.49, 0.59),
        references=(),
        origin="imported",
        source_name=None,
        reference_free=True,
        cluster=1,
    ),
    MetricStanding(
        name="BLEU",
        signature="BLEU|tokenize:13a",
        rank=3,
        correlation=0.3,
        n=300,
        interval=(0.25, 0.35),
        references=BOTH,
        origin="own",
        source_name=None,
        reference_free=False,
        cluster=2,
    ),
    MetricStanding(
        name="length",
        signature="length|1",
        rank=None,
        correlation=-0.05,
        n=300,
        interval=(-0.1, 0.0),
        references=(),
        origin="own",
        source_name=None,
        reference_free=True,
        is_statistic=True,
    ),
    MetricStanding(
        name="METEOR",
        signature="imported:33",
        rank=None,
        correlation=None,
        n=0,
        interval=None,
        references=BOTH,
        origin="imported",
        source_name=None,
        reference_free=False,
        reason="no scores",
    ),
)

#: Four machines, two of them tied, and one human generator.
GENERATORS = (
    _generator("Huoshan", 1, 78.85, 0.60, 46.4, 79.9),
    _generator("THUNLP", 2, 78.5, 0.58, 47.2, 78.6),
    _generator("<script>alert(1)</script>", 2, 78.5, 0.57, 43.1, None),
    _generator("trans_base & 100%", 4, 73.1, 0.21, 22.8, None),
    GeneratorStanding(
        name="Human-B",
        kind="human",
        rank=None,
        scores={"ensemble": None, "COMET": 0.55, "BLEU": 40.0},
        covered={},
        human=86.25,
        judged=100,
        reason="is a reference",
    ),
)

RANKING = Ranking(
    board="tiny",
    board_version="abc123",
    statistic="pearson",
    grouping="pooled",
    aggregate="mqm",
    part="whole board",
    references=BOTH,
    seed=7,
    draws=1000,
    metrics=METRICS,
    generators=GENERATORS,
    ranked_by="ensemble",
    ensemble=ENSEMBLE,
    notes=("Illustrative.",),
)

STUDY = EnsembleStudy(
    ensemble=ENSEMBLE,
    ablations=(
        Ablation("COMET-QE", 0.575, {"COMET": 3.9, "BLEU": -0.2}, 3.65),
        Ablation("COMET", 0.611, {"COMET-QE": 5.5, "BLEU": 0.1}, 1.6),
    ),
    gains={"COMET": -0.006, "COMET-QE": 0.03, "BLEU": 0.0, "METEOR": None},
    names=("COMET", "COMET-QE", "BLEU"),
    correlations=((1.0, 0.67, 0.58), (0.67, 1.0, 0.38), (0.58, 0.38, 1.0)),
)


#: TER favours people, COMET neither, BLEU machines; Prism-ref could not be measured.
OVERRATING = OverratingReport(
    board="tiny",
    human="Human-B",
    references=("Human-A",),
    aggregate="mqm",
    metrics=(
        OverratingEstimate(
            name="BLEU", signature="imported:44", beta0=0.62, se=0.0122, interval90=(0.6, 0.64), n=900, instances=100
        ),
        OverratingEstimate(
            name="COMET", signature="imported:11", beta0=0.02, se=0.0669, interval90=(-0.09, 0.13), n=900, instances=100
        ),
        OverratingEstimate(
            name="TER", signature="imported:55", beta0=-0.58, se=0.0851, interval90=(-0.72, -0.44), n=900, instances=100
        ),
    ),
    missing={"Prism-ref": "scored only against Human-B itself; score it against Human-A"},
)


EFFECT = ReferenceEffect(
    board="tiny",
    aggregate="mqm",
    seed=7,
    curves={
        "BLEU": (ReferencePoint(1, 0.25, 0.22, 0.28, 2), ReferencePoint(2, 0.3, 0.3, 0.3, 1)),
        "COMET": (ReferencePoint(1, 0.5, 0.49, 0.51, 2), ReferencePoint(2, 0.551, 0.551, 0.551, 1)),
    },
    reference_free={"COMET-QE": 0.541},
    missing={"METEOR": "no scores"},
)
