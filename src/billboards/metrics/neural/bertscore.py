"""BERTScore (Zhang et al. 2020): how well the tokens of an output and of a reference match in a model's embeddings.

Each token is matched with the most similar token of the other text; the cosines average to precision over the output's
tokens and recall over the reference's, and F1 ranks. With several references each of the three is the best over them.
An empty text scores 0 before rescaling; a text longer than the model reads is cut there, and a warning counts such
texts. By default the model is the small English one that comes as a package.

The hash code that papers print beside a BERTScore has bert_score's format: model, layer, idf, versions. The version
says that the numbers come from here, and `rescaled` stands there only when a baseline was applied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import LATER, Batch, Floats, Metric, MetricCard
from billboards.metrics.labels import column_label
from billboards.metrics.languages import Language
from billboards.metrics.neural.baselines import Baseline, find_baseline, read_baseline
from billboards.metrics.neural.devices import ONE_GPU
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.idf import even_weights, idf_weights, scored_together
from billboards.metrics.neural.installed import installed_version, need
from billboards.metrics.neural.learned import check_language, checked_precision, pinned, warn_of_cuts
from billboards.metrics.neural.matching import score_texts
from billboards.metrics.neural.models import EMBEDDED, layer_for
from billboards.metrics.neural.readout import AllLayers, TopLayer
from billboards.metrics.neural.weights import locate


def hash_code(model: str, layer: int | None, *, idf: bool, rescaled: bool, own_baseline: bool = False) -> str:
    """One line that names everything a score depends on; `own_baseline` says that the user brought the baseline."""
    weighting = "idf" if idf else "no-idf"
    versions = f"version=billboards-{installed_version('billboards')}(hug_trans={installed_version('transformers')})"
    ending = ("-custom-rescaled" if own_baseline else "-rescaled") if rescaled else ""
    return f"{model}_L{'all' if layer is None else layer}_{weighting}_{versions}{ending}"


#: Raised when a change here changes scores.
REVISION = "1"
NO_BASELINE, KNOWN_BASELINE = "none", "known"


@dataclass(frozen=True)
class BERTScore(Metric):
    """Greedy matching of contextual embeddings; F1 ranks, P and R are kept beside it.

    `model` is `minilm`, a model's folder or the name of a hub model that was fetched before; `layer` its layer, by
    default the recommended one. `baseline` rescales: `known` by a baseline that ships, for texts in `language` (by
    default the board's), else by the one in that file. `revision` pins a hub model: a commit, tag or branch.
    """

    model: str = EMBEDDED
    layer: int | None = None
    idf: bool = False
    baseline: str = NO_BASELINE
    precision: str = "fp32"
    language: str = ""
    revision: str = field(default="", kw_only=True, metadata=LATER)

    # The best of each part is found in one pass; a single call also embeds each text once.
    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True
    scores_together: ClassVar[bool] = True
    resources: ClassVar[Mapping[str, float]] = ONE_GPU
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="BERTScore",
        summary="F1 of greedy cosine matching between the contextual token embeddings of output and reference",
        needs_part="torch, transformers and a model that lies on this machine",
        range=(None, 1.0),
        parts=("F1", "P", "R"),
        training_data="none of its own; that of the model. The embedded all-MiniLM-L6-v2 was trained on 1.17 billion "
        "English sentence pairs, questions and answers of the Web among them",
        licence="Apache-2.0 (this code and the embedded model)",
        paper="Zhang et al. 2020, BERTScore: Evaluating Text Generation with BERT, ICLR",
        failures="Finds it difficult to see wrong facts: another name, number or day, swapped words, or a lost "
        "negation cost little. Scores crowd into a narrow range and differ between models, layers and versions: "
        "compare only equal signatures. The embedded model reads English only. Texts are cut where the model's input "
        "ends.",
        slow=True,
    )

    def language_options(self, language: Language) -> dict[str, object]:
        # Only a baseline depends on the language of the texts.
        return {"language": language.code} if self.baseline == KNOWN_BASELINE and self.model != EMBEDDED else {}

    @property
    def needs_all_outputs(self) -> bool:
        return self.idf

    @property
    def takes_best_reference(self) -> bool:
        # idf is counted over all references at once.
        return not self.idf

    @property
    def used_layer(self) -> int:
        """The layer that is read."""
        layer = layer_for(self.model) if self.layer is None else self.layer
        if isinstance(layer, bool) or not isinstance(layer, int) or layer < 0:
            raise InvalidInput(f"BERTScore: layer must be a whole number of 0 or more, found {self.layer!r}")
        return layer

    @property
    def label(self) -> str:
        """The name with the model, which decides what a score means."""
        return column_label(self.name, f"{self.card.name}|model:{self.model}")

    @property
    def signature(self) -> str:
        need("BERTScore", "torch", "transformers")
        weights, rescaling = locate(self.model, self.revision), self._rescaling()
        parts = {
            "model": weights.label,
            **pinned(weights, self.revision),
            "weights": weights.digest,
            "layer": self.used_layer,
            "idf": "yes" if self.idf else "no",
            "rescaled": "no" if rescaling is None else rescaling.digest(self.used_layer),
            "precision": checked_precision(self, self.precision),
            **({"language": self.language} if self.language else {}),
            **self.versions(),
        }
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    @property
    def hash_code(self) -> str:
        """The setting as bert_score writes it."""
        own = self.baseline not in (NO_BASELINE, KNOWN_BASELINE)
        rescaled = self._rescaling() is not None
        return hash_code(
            locate(self.model, self.revision).label, self.used_layer, idf=self.idf, rescaled=rescaled, own_baseline=own
        )

    def versions(self) -> Mapping[str, str]:
        return {"transformers": installed_version("transformers"), "revision": REVISION}

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Mapping[str, Floats]]:
        """Several generators at once: what they share, references above all, is embedded once."""
        engine = self._engine(batches, self.used_layer)
        rescaling = self._rescaling()
        scores_of: dict[int, Mapping[str, Floats]] = {}
        for group in scored_together(batches, idf=self.idf):
            scores = self._score(engine, [batches[k] for k in group])
            if rescaling is not None:
                scores = rescaling.rescale(scores, self.used_layer)
            parts = split_batches(scores, [batches[k] for k in group])
            scores_of |= zip(group, ({"F1": own[:, 2], "P": own[:, 0], "R": own[:, 1]} for own in parts), strict=True)
        warn_of_cuts(self, engine)
        return [scores_of[k] for k in range(len(batches))]

    def score_layers(self, batches: Sequence[Batch]) -> list[Floats]:
        """P, R and F1 at every layer, for each batch as layers × outputs × 3; never rescaled."""
        engine = self._engine(batches, None)
        scores_of: dict[int, Floats] = {}
        for group in scored_together(batches, idf=self.idf):
            scores = self._score(engine, [batches[k] for k in group])
            scores_of |= zip(group, split_batches(scores, [batches[k] for k in group]), strict=True)
        warn_of_cuts(self, engine)
        return [scores_of[k] for k in range(len(batches))]

    def _engine(self, batches: Sequence[Batch], layer: int | None) -> Engine:
        """The engine up to a layer, or for every layer."""
        check_language(self, self.model, batches)
        where, readout = Where.from_environment(), AllLayers() if layer is None else TopLayer()
        return start_engine(
            locate(self.model, self.revision), layer, checked_precision(self, self.precision), where, readout
        )

    def _score(self, engine: Engine, batches: Sequence[Batch]) -> Floats:
        outputs = [text for batch in batches for text in batch.outputs]
        references = [texts for batch in batches for texts in batch.references]
        tokenizer = engine.tokenizer
        weights = idf_weights(tokenizer, batches[0].references) if self.idf else even_weights(tokenizer)
        return score_texts(engine, outputs, references, weights)

    def _rescaling(self) -> Baseline | None:
        if self.baseline == NO_BASELINE:
            return None
        if self.baseline == KNOWN_BASELINE:
            return find_baseline(self.model, self.language or None)
        return read_baseline(Path(self.baseline))


def split_batches(scores: Floats, batches: Sequence[Batch]) -> list[Floats]:
    """Scores of several batches' outputs (… × outputs × 3), batch by batch."""
    ends = np.cumsum([len(batch) for batch in batches])
    return np.split(scores, ends[:-1], axis=-2)


METRICS = {"BERTScore": BERTScore}
