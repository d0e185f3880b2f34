"""XCOMET (Guerreiro et al. 2024): a score and the parts of the output that are wrong, with how severe each is.

The output is read with the input, with the reference and with both; each reading gives a score and, for each of the
output's tokens, probabilities of no error and of a minor, major or critical one. The metric's score mixes the three
scores and an MQM score of the predicted spans (§3.4). Without references, as XCOMET-QE, the input alone is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.metrics.base import Floats, MetricCard
from billboards.metrics.neural.comet import NEEDS
from billboards.metrics.neural.comet_checkpoint import SEVERITIES, Kind
from billboards.metrics.neural.comet_unified import JoinedMetric, Judged, TokenSpan

#: What an error of each severity costs in MQM, and the most that an output loses.
COSTS = dict(zip(SEVERITIES, (1, 5, 10), strict=True))
MOST = 25
#: How much the scores of input, reference and both count, and the MQM score (unbabel-comet 2.2.7).
WEIGHTS = (0.12, 0.33, 0.33, 0.22)


def mqm(spans: Sequence[TokenSpan]) -> float:
    """1 for no error, 0 for errors that cost the most that counts."""
    return 1 - min(sum(COSTS[span.severity] for span in spans), MOST) / MOST


def _of_spans(judged: Judged) -> dict[str, Floats]:
    """The parts that are made of error spans."""
    spans = judged.spans()
    counts = {name: [sum(span.severity == name for span in own) for own in spans] for name in SEVERITIES}
    parts = {"mqm": np.array([mqm(own) for own in spans], np.float64)}
    return parts | {name: np.array(own, np.float64) for name, own in counts.items()}


@dataclass(frozen=True)
class XComet(JoinedMetric):
    """XCOMET: output, input and reference."""

    scores_words: ClassVar[bool] = True
    kind: ClassVar[Kind] = "xcomet_metric"
    example: ClassVar[str] = "Unbabel/XCOMET-XL"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="XCOMET",
        summary="Human rating of a translation as a network predicts it that reads the output with input, reference "
        "and both, mixed with an MQM score of the error spans it finds",
        needs_input=True,
        needs_part=NEEDS,
        range=(None, 1.0),
        parts=("score", "src", "ref", "unified", "mqm", *SEVERITIES),
        turned_parts=SEVERITIES,
        training_data="that of the checkpoint: WMT's direct assessment and MQM annotations, and texts with errors made "
        "on purpose (Guerreiro et al. 2024, §4). A board made of the same ratings flatters it",
        licence="Apache-2.0 (this code); the published checkpoints CC-BY-NC-SA-4.0",
        paper="Guerreiro et al. 2024, xCOMET: Transparent Machine Translation Evaluation through Fine-grained Error "
        "Detection, TACL",
        failures="A span has the severity of its first token, and an error at the very end of an output is often not "
        "counted, because a span must be closed by a token without error. Texts that are read as one are cut where "
        "the model's input ends, so of a long triple the reference's end is not read.",
        slow=True,
    )

    def measure(self, judged: Judged) -> dict[str, Floats]:
        of_spans, capped = _of_spans(judged), np.minimum(judged.scores, 1)
        src, ref, unified = judged.scores.T
        score = capped @ np.array(WEIGHTS[:3]) + of_spans["mqm"] * WEIGHTS[3]
        return {"score": score, "src": src, "ref": ref, "unified": unified, **of_spans}


@dataclass(frozen=True)
class XCometQE(JoinedMetric):
    """XCOMET without references: output and input."""

    scores_words: ClassVar[bool] = True
    kind: ClassVar[Kind] = "xcomet_metric"
    example: ClassVar[str] = "Unbabel/XCOMET-XL"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="XCOMET-QE",
        summary="XCOMET without references: output and input are read as one text, and the score is mixed with an MQM "
        "score of the error spans that are found",
        needs_references=False,
        needs_input=True,
        needs_part=NEEDS,
        range=(None, 1.0),
        parts=("score", "src", "mqm", *SEVERITIES),
        turned_parts=SEVERITIES,
        training_data=XComet.card.training_data,
        licence=XComet.card.licence,
        paper=XComet.card.paper,
        failures="As XCOMET; it rates a copied input and fluent text with wrong numbers or names too high. Output and "
        "input together are cut where the model's input ends.",
        slow=True,
    )

    def measure(self, judged: Judged) -> dict[str, Floats]:
        of_spans, capped = _of_spans(judged), np.minimum(judged.scores[:, 0], 1)
        score = capped * sum(WEIGHTS[:3]) + of_spans["mqm"] * WEIGHTS[3]
        return {"score": score, "src": capped, **of_spans}


METRICS = {"XCOMET": XComet, "XCOMET-QE": XCometQE}
