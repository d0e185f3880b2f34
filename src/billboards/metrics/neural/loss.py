"""BERTScore as something to train against (BERTScore, §7): gradients flow from the score to the output.

A generator gives, for each place, a distribution over the model's vocabulary. Its mean word embedding is read by the
model in place of a token's, and the matching is the metric's own. For distributions that are certain of their tokens
the loss is 1 minus the metric's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from billboards.metrics.neural.devices import upload
from billboards.metrics.neural.idf import even_weights
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.matching import greedy_scores
from billboards.metrics.neural.models import EMBEDDED, layer_for
from billboards.metrics.neural.readout import normalise
from billboards.metrics.neural.tokens import Tokenizer
from billboards.metrics.neural.weights import locate

if TYPE_CHECKING:
    from torch import Tensor

PARTS = ("P", "R", "F1")


class BERTScoreLoss:
    """1 - BERTScore, averaged over the outputs of a batch."""

    def __init__(
        self,
        model: str = EMBEDDED,
        layer: int | None = None,
        *,
        part: Literal["P", "R", "F1"] = "F1",
        device: str = "cpu",
    ) -> None:
        need("the BERTScore loss", "torch", "transformers")
        from billboards.metrics.neural.padded import keep_layers, load_model, longest_input

        weights = locate(model)
        self.model: Any = load_model(weights.folder)
        keep_layers(self.model, layer_for(model) if layer is None else layer)
        self.model.to(device)
        self.device, self.part = device, PARTS.index(part)
        self.tokenizer = Tokenizer(weights.folder, longest_input(self.model.config))
        self.counts = upload(even_weights(self.tokenizer), device)

    @property
    def vocabulary(self) -> int:
        """How many tokens the distributions must be over."""
        return int(self.model.get_input_embeddings().weight.shape[0])

    def __call__(self, distributions: Tensor, mask: Tensor, references: Sequence[str]) -> Tensor:
        """The loss of outputs given as outputs × places × vocabulary, `there` saying which places exist."""
        import torch

        written = distributions @ self.model.get_input_embeddings().weight
        output = self.model(inputs_embeds=written, attention_mask=mask.long())[0]
        with torch.no_grad():
            ids, present = self._padded(references)
            reference = self.model(ids, attention_mask=present.long())[0]
        similarity = normalise(output) @ normalise(reference).transpose(1, 2)
        of_output = torch.where(mask, self.counts[distributions.argmax(-1)], -1.0)
        of_reference = torch.where(present, self.counts[ids], -1.0)
        return 1 - greedy_scores(similarity, of_output, of_reference)[:, self.part].mean()

    def _padded(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        tokens = self.tokenizer(texts)
        present = np.arange(tokens.lengths.max(initial=0)) < tokens.lengths[:, None]
        ids = np.full(present.shape, self.tokenizer.inner.pad_token_id or 0, np.int64)
        ids[present] = tokens.ids
        return upload(ids, self.device), upload(present, self.device)
