"""BLEURT (Sellam et al. 2020): a BERT trained on human ratings reads reference and output as one text.

Reference and output are joined by the model's separator, reference first, and the number at the end of the model's
linear head is the score. Because a pair is read as one, nothing can be embedded once for several outputs; equal pairs
are read once, and pairs are sorted by length. With several references the best counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.weights import Weights, locate
from billboards.metrics.neural.windows import halve_until_it_fits

if TYPE_CHECKING:
    from torch import Tensor

#: Reference and output.
Pair = tuple[str, str]
#: Pairs that are tokenised at once.
PART = 8192


@dataclass(frozen=True)
class Bleurt(Learned):
    """BLEURT with a checkpoint of Hugging Face's form; `model` is its folder or a hub model fetched before."""

    model: str = ""

    card: ClassVar[MetricCard] = MetricCard(
        name="BLEURT",
        summary="Human rating as a BERT predicts it that reads reference and output as one text",
        needs_part="torch, transformers and a checkpoint that lies on this machine; none comes with the metric",
        range=(None, None),
        training_data="that of the checkpoint: sentences of Wikipedia with synthetic changes, then human ratings of "
        "translations (WMT metrics tasks; Sellam et al. 2020, §4 and §5). A board made of the same ratings flatters it",
        licence="Apache-2.0 (this code and Google's checkpoints)",
        paper="Sellam, Das and Parikh 2020, BLEURT: Learning Robust Metrics for Text Generation, ACL",
        failures="Trained on single sentences: longer texts are cut where the model's input ends, both sides "
        "together. Fluent outputs with wrong facts score high. Scores of different checkpoints have different scales: "
        "compare only equal signatures. BLEURT-20 is of a form that transformers doesn't have and is refused.",
        slow=True,
    )

    def weights(self) -> Weights:
        need(self.card.name, "torch", "transformers")
        if not self.model:
            raise MissingPart(
                "BLEURT needs a checkpoint of Hugging Face's form: name its folder, or a hub model that was fetched "
                "before, as in BLEURT(model=Elron/bleurt-base-512)"
            )
        return locate(self.model, self.revision)

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        precision = checked_precision(self, self.precision)
        reader = pair_reader(self.weights(), precision, find_devices(Where.from_environment().devices)[0])
        items = [item for batch in batches for item in batch.items()]
        pairs = {(text.strip(), item.output.strip()): np.nan for item in items for text in item.references}
        read, cut = reader.score(list(pairs))
        scores = dict(zip(pairs, read.tolist(), strict=True))
        warn_of_cut_texts(self, cut, len(pairs), reader.limit)
        best = [max(scores[text.strip(), item.output.strip()] for text in item.references) for item in items]
        return split_rows(np.array(best, np.float64), batches)


class PairReader:
    """A model with one number at its end, on one device, that reads two texts as one."""

    def __init__(self, weights: Weights, precision: Precision, device: str) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        from billboards.metrics.neural.padded import longest_input, quiet

        self.device: Any = torch.device(device)
        with quiet():
            self.tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder, local_files_only=True)
            try:
                model = AutoModelForSequenceClassification.from_pretrained(weights.folder, local_files_only=True)
            except ValueError as error:
                reason = str(error).strip().splitlines()[0]
                raise InvalidInput(f"{weights.name} is no checkpoint that transformers can read: {reason}") from error
        if model.config.num_labels != 1:
            raise InvalidInput(f"{weights.name} gives {model.config.num_labels} numbers; BLEURT's model gives one")
        self.model = model.to(self.device, getattr(torch, PRECISIONS[precision])).eval().requires_grad_(False)
        positions = longest_input(model.config)
        self.limit = min(
            self.tokenizer.model_max_length, self.tokenizer.model_max_length if positions is None else positions
        )

    def score(self, pairs: Sequence[Pair]) -> tuple[Floats, int]:
        """The score of each pair, and how many were cut."""
        parts = [self._part(pairs[start : start + PART]) for start in range(0, len(pairs), PART)]
        scores = [part for part, _ in parts]
        return np.concatenate([np.empty(0), *scores]), sum(cut for _, cut in parts)

    def _part(self, pairs: Sequence[Pair]) -> tuple[Floats, int]:
        import torch

        first, second = [reference for reference, _ in pairs], [other for _, other in pairs]
        whole = self.tokenizer(first, second, verbose=False)["input_ids"]
        given = self.tokenizer(first, second, truncation="longest_first", max_length=self.limit)
        lengths = np.array([len(ids) for ids in given["input_ids"]], np.int64)
        order, scores = np.argsort(lengths, kind="stable"), np.empty(len(pairs))
        with torch.inference_mode():
            for run in batches(lengths[order], BATCH.get(self.device.type, BATCH["cuda"])):
                chosen = order[run]
                read = halve_until_it_fits(chosen, lambda some: self._read(given, some))
                scores[chosen] = read[:, 0].double().cpu().numpy()
        return scores, sum(len(ids) > self.limit for ids in whole)

    def _read(self, given: Any, some: NDArray[np.intp]) -> Tensor:
        rows = {name: [values[k] for k in some] for name, values in given.items()}
        padded = self.tokenizer.pad(rows, return_tensors="pt").to(self.device)
        logits: Tensor = self.model(**padded).logits
        return logits


@lru_cache(maxsize=2)
def pair_reader(weights: Weights, precision: Precision, device: str) -> PairReader:
    """A reader that is kept for the next call."""
    return PairReader(weights, precision, device)


METRICS = {"BLEURT": Bleurt}
