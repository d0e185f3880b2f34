"""LENS (Maddela et al. 2023): a network trained on human ratings of simplified sentences reads the complex sentence,
its simplification and a reference.

It is built as COMET's regression models are and published in their layout: an encoder (RoBERTa) makes a vector of each
text, and an estimator gets the three vectors, the products and the differences of the simplification's with the others'
(§4). Texts are lowercased first. With several references the best counts. The number is a z-score of ratings; rescaled,
it is 100 times the share of a normal distribution that lies below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from billboards.errors import MissingPart
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.neural.comet import Comet
from billboards.metrics.neural.comet_checkpoint import Checkpoint, Kind
from billboards.metrics.neural.installed import need

if TYPE_CHECKING:
    from torch import Tensor

    from billboards.metrics.neural.sentences import Sides


@dataclass(frozen=True)
class Lens(Comet):
    """LENS; `model` is a checkpoint's folder or a hub model fetched before.

    `rescale` puts scores between 0 and 100, as the authors' README does; without it they are 100 times the z-score.
    """

    rescale: bool = True

    kind: ClassVar[Kind] = "regression_metric_multi_ref"
    example: ClassVar[str] = "davidheineman/lens"
    edition: ClassVar[str] = "1"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="LENS",
        summary="Human rating of a simplification as a network predicts it from the embeddings of the complex "
        "sentence, the simplification and a reference",
        needs_input=True,
        needs_part="torch, transformers and a checkpoint of LENS's that lies on this machine, with the tokenizer of "
        "the RoBERTa it was made from",
        range=(None, None),
        languages=("en",),
        training_data="SimpEval_past: 12,000 ratings of 2,400 simplifications of Wikipedia's sentences by 24 systems "
        "(TurkCorpus's inputs, ASSET's references). A board made of the same ratings flatters it",
        licence="Apache-2.0 (this code, the authors' package and checkpoint)",
        paper="Maddela, Dou, Heineman and Xu 2023, LENS: A Learnable Evaluation Metric for Text Simplification, ACL",
        failures="Trained on single sentences of English Wikipedia; says little of paragraphs or other domains. Texts "
        "are lowercased, so case goes unseen. Rescaled scores of very good and very bad outputs crowd at the ends. "
        "Texts are cut where the model's input ends. LENS-SALSA is built otherwise and is refused.",
        slow=True,
    )

    def weights(self) -> Checkpoint:
        need(self.card.name, "torch", "transformers")
        if not self.model:
            raise MissingPart(
                "LENS needs a checkpoint: name its folder, or a hub model that was fetched before, as in "
                f"LENS(model={self.example})"
            )
        return super().weights()

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        rows = super().score_rows([_lowercased(batch) for batch in batches])
        return [100 * (normal_share(row) if self.rescale else row) for row in rows]

    def features(self, sides: Sides) -> Tensor:
        import torch

        out, ref, src = sides.output, sides.reference, sides.input
        return torch.cat((src, out, ref, out * ref, (out - ref).abs(), out * src, (out - src).abs()), 1)


def normal_share(scores: Floats) -> Floats:
    """The share of a normal distribution below each z-score."""
    from scipy.special import ndtr

    return np.asarray(ndtr(scores), np.float64)


def _lowercased(batch: Batch) -> Batch:
    references = [[text.lower() for text in texts] for texts in batch.references]
    inputs = [text.lower() for text in batch.inputs]
    return Batch([text.lower() for text in batch.outputs], references, inputs, batch.language)


METRICS = {"LENS": Lens}
