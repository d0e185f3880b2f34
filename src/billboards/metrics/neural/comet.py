"""COMET and COMET-QE (Rei et al. 2020, 2021): a network trained on human ratings of translations reads input, output
and, unless it is COMET-QE, a reference.

Each text becomes a vector (a mix of an encoder's layers, pooled); an estimator gets the vectors, their products and
their differences. With several references the best counts.

The weights are checkpoints as Unbabel publishes them, which are named as an option and never fetched unasked. Models
that read several texts as one are COMETKiwi, UniTE (`comet_unified`) and XCOMET (`comet_spans`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.neural.comet_checkpoint import Checkpoint, Kind, Segment, estimator, locate_checkpoint
from billboards.metrics.neural.engine import Where, start_engine
from billboards.metrics.neural.learned import Learned, ModelMetric, checked_precision, split_rows, warn_of_cuts
from billboards.metrics.neural.sentences import Sides, score_sentences

if TYPE_CHECKING:
    from torch import Tensor

NEEDS = (
    "torch, transformers and a checkpoint of Unbabel's that lies on this machine, with the tokenizer of the model it "
    "was made from"
)


@dataclass(frozen=True)
class CometMetric(ModelMetric):
    """A metric of a checkpoint; `model` is its folder or a hub model fetched before."""

    model: str = ""

    kind: ClassVar[Kind]
    segments: ClassVar[tuple[Segment, ...]] = ()
    #: A published model, for messages.
    example: ClassVar[str]

    def weights(self) -> Checkpoint:
        return locate_checkpoint(
            self.card.name,
            self.model,
            self.kind,
            example=self.example,
            segments=self.segments,
            revision=self.revision,
        )


@dataclass(frozen=True)
class _Regression(CometMetric, Learned):
    """What both metrics do."""

    # Since 2 the settings inside a checkpoint count.
    edition: ClassVar[str] = "2"

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        checkpoint, precision = self.weights(), checked_precision(self, self.precision)
        engine = start_engine(checkpoint, checkpoint.top, precision, Where.from_environment(), checkpoint.readout())
        estimate = estimator(checkpoint, engine.encoders[0].device)
        given = [self._needed(batch) for batch in batches]
        pool = checkpoint.pool
        scores = score_sentences(engine, given, pool, lambda sides: estimate(self.features(sides)))
        warn_of_cuts(self, engine)
        return split_rows(scores, batches)

    def _needed(self, batch: Batch) -> Batch:
        references = batch.references if self.card.needs_references else ()
        return Batch(batch.outputs, references, batch.inputs, batch.language)

    @abstractmethod
    def features(self, sides: Sides) -> Tensor:
        """What the estimator gets for each pair."""


@dataclass(frozen=True)
class Comet(_Regression):
    """COMET: input, output and reference."""

    kind: ClassVar[Kind] = "regression_metric"
    example: ClassVar[str] = "Unbabel/wmt22-comet-da"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="COMET",
        summary="Human rating of a translation as a network predicts it from the embeddings of input, output and "
        "reference",
        needs_input=True,
        needs_part=NEEDS,
        range=(None, None),
        training_data="that of the checkpoint: human ratings of translations (WMT direct assessment, for "
        "Unbabel/wmt22-comet-da those of 2017 to 2020, as its model card says). A board made of the same ratings "
        "flatters it",
        licence="Apache-2.0 (this code); each checkpoint has its own",
        paper="Rei et al. 2020, COMET: A Neural Framework for MT Evaluation, EMNLP",
        failures="Misses wrong numbers and names (Amrhein and Sennrich 2022, AACL), and rates fluent text in the wrong "
        "language or on another subject too high (Zouhar et al. 2024, WMT). Scores of different checkpoints have "
        "different scales: compare only equal signatures. An empty output gets a score like any other. Texts are cut "
        "where the model's input ends.",
        slow=True,
    )

    def features(self, sides: Sides) -> Tensor:
        import torch

        out, ref, src = sides.output, sides.reference, sides.input
        return torch.cat((out, ref, out * ref, (out - ref).abs(), out * src, (out - src).abs()), 1)


@dataclass(frozen=True)
class CometQE(_Regression):
    """COMET-QE: input and output."""

    kind: ClassVar[Kind] = "referenceless_regression_metric"
    example: ClassVar[str] = "Unbabel/wmt20-comet-qe-da"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="COMET-QE",
        summary="Human rating of a translation as a network predicts it from the embeddings of input and output, "
        "without a reference",
        needs_references=False,
        needs_input=True,
        needs_part=NEEDS,
        range=(None, None),
        training_data="that of the checkpoint: human ratings of translations (WMT direct assessment); those named -mqm "
        "were then tuned on MQM ratings (Rei et al. 2021). A board made of the same ratings flatters it",
        licence="Apache-2.0 (this code); each checkpoint has its own",
        paper="Rei et al. 2021, Are References Really Needed? Unbabel-IST 2021 Submission for the Metrics Shared "
        "Task, WMT",
        failures="Rates a copied input, and fluent text with wrong numbers or names (Amrhein and Sennrich 2022, AACL), "
        "too high. Scores of different checkpoints have different scales: compare only equal signatures. Checkpoints "
        "of the later CometKiwi are built otherwise: COMETKiwi reads them. Texts are cut where the model's input ends.",
        slow=True,
    )

    def features(self, sides: Sides) -> Tensor:
        import torch

        out, src = sides.output, sides.input
        return torch.cat((out, src, out * src, (out - src).abs()), 1)


METRICS = {"COMET": Comet, "COMET-QE": CometQE}
