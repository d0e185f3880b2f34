"""What the metrics on the encoder engine have in common: checks before, warnings after, a signature of what was read.

A learned metric's identity is its model's weights, not its model's name, so a signature carries a digest of them. All
generators of a board are scored together, because what they share is then embedded once.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import LATER, Batch, Floats, Metric
from billboards.metrics.neural.devices import ONE_GPU
from billboards.metrics.neural.encoder import PRECISIONS, Precision
from billboards.metrics.neural.engine import Engine
from billboards.metrics.neural.installed import installed_version, need
from billboards.metrics.neural.models import EMBEDDED, EMBEDDED_ON_HUB
from billboards.metrics.neural.weights import Weights, locate


class TextsCut(UserWarning):
    """Texts were longer than the model reads."""


@dataclass(frozen=True)
class ModelMetric(Metric):
    """A metric that a model computes and that takes the best reference; `model` is read in `precision`.

    `revision` pins a hub model: a commit, tag or branch that was fetched before.
    """

    model: str = EMBEDDED
    precision: str = "fp32"
    revision: str = field(default="", kw_only=True, metadata=LATER)

    # The best reference is found in one pass, in which each text is embedded once.
    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    # Sums over a batch of other texts may differ in their last digits.
    needs_corpus: ClassVar[bool] = True
    scores_together: ClassVar[bool] = True
    resources: ClassVar[Mapping[str, float]] = ONE_GPU
    #: Options that say where something lies; a digest of what lies there stands in the signature.
    places: ClassVar[frozenset[str]] = frozenset({"model", "revision"})
    #: Raised when a change of the metric changes scores.
    edition: ClassVar[str] = "1"

    @property
    def needs_all_outputs(self) -> bool:
        return False

    @property
    def takes_best_reference(self) -> bool:
        return True

    @property
    def signature(self) -> str:
        need(self.card.name, "torch", "transformers")
        checked_precision(self, self.precision)
        weights = self.weights()
        parts: dict[str, object] = {"model": weights.label, **pinned(weights, self.revision), "weights": weights.digest}
        parts |= {
            f.name: getattr(self, f.name)
            for f in self._options()
            if f.name not in self.places and (not f.metadata.get("later") or getattr(self, f.name) != f.default)
        }
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in {**parts, **self.versions()}.items())))

    def weights(self) -> Weights:
        """Where the model lies."""
        return locate(self.model, self.revision)

    def versions(self) -> Mapping[str, str]:
        return {"transformers": installed_version("transformers"), "revision": self.edition}


@dataclass(frozen=True)
class Learned(ModelMetric):
    """A metric of a model that gives one number per output."""

    def score_batch(self, batch: Batch) -> Floats:
        return self.score_rows([batch])[0]

    @abstractmethod
    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        """The scores of several generators, which share what they have in common."""


def pinned(weights: Weights, revision: str) -> dict[str, object]:
    """What a signature says of a hub model whose revision was named: the commit that it is."""
    return {"commit": weights.commit or revision} if revision else {}


def split_rows(scores: Floats, batches: Sequence[Batch]) -> list[Floats]:
    """Scores of several batches' outputs, batch by batch."""
    ends = np.cumsum([len(batch) for batch in batches])
    return np.split(scores, ends[:-1])


def checked_precision(metric: Metric, precision: str) -> Precision:
    """A precision that there is."""
    chosen = next((name for name in PRECISIONS if name == precision), None)
    if chosen is None:
        raise InvalidInput(f"{metric.card.name}: precision {precision!r} is none of {', '.join(PRECISIONS)}")
    return chosen


def check_language(metric: Metric, model: str, batches: Sequence[Batch]) -> None:
    """Refuse outputs that the embedded model can't read."""
    name = metric.card.name
    for language in {batch.language for batch in batches if model in (EMBEDDED, EMBEDDED_ON_HUB)} - {None, ""}:
        if language is not None and language.lower().replace("_", "-").split("-")[0] != "en":
            raise InvalidInput(
                f"{name}'s embedded model reads English and these outputs are in {language!r}: name a model that "
                f"reads it, as in {name}(model=bert-base-multilingual-cased)"
            )


def warn_of_cuts(metric: Metric, engine: Engine) -> None:
    """Say how many texts were longer than the model reads."""
    warn_of_cut_texts(metric, engine.tally.cut, engine.tally.texts, engine.tokenizer.limit)


def warn_of_cut_texts(metric: Metric, cut: int, texts: int, limit: int | None) -> None:
    """Say how many of the texts were longer than a limit."""
    if cut:
        warnings.warn(
            f"{metric.name}: {cut} of {texts} texts were cut at the {limit} tokens that the model reads; what follows "
            "there has no influence",
            TextsCut,
            stacklevel=3,
        )
