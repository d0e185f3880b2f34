"""SARI of a corpus, as EASSE computes it (Alva-Manchego et al. 2019): counts are summed before they become scores.

For n-grams of 1 to 4 words and each of the three operations an output has three counts: what it did, what the
references did, and what both did. N-grams of input and output count once for each reference, added ones at most once.
The counts of all outputs are summed; each order and operation has an F measure, and the score is the mean of the
twelve. So deleting has a recall here, unlike in SARI of sentences (Xu et al. 2016), and the mean of sentence scores is
another number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import UnknownName
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.cider import ORDERS, Vectors, vectors
from billboards.metrics.kernels.items import Items, items_of
from billboards.metrics.languages import Language
from billboards.metrics.sari import TOKENIZERS, words_of
from billboards.metrics.summed import Rows, SummedMetric
from billboards.metrics.words import tokenizer_for, uncut

#: Operations, and the counts of each.
OPERATIONS, KINDS = ("add", "keep", "delete"), ("right", "done", "wanted")

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CorpusSARI(SummedMetric):
    """The mean of the F measures of adding, keeping and deleting, times 100, from summed counts."""

    tokenizer: str = "13a"

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    card: ClassVar[MetricCard] = MetricCard(
        name="SARI-corpus",
        summary="SARI with counts summed over the corpus, as EASSE computes it: the F measures of added, kept and "
        "deleted words and phrases, times 100",
        needs_input=True,
        range=(0.0, 100.0),
        training_data="none",
        licence="Apache-2.0 (own code, from the definition)",
        paper="Alva-Manchego et al. 2019, EASSE: Easier Automatic Sentence Simplification Evaluation, EMNLP; "
        "Xu et al. 2016, Optimizing Statistical Machine Translation for Text Simplification, TACL 4",
        failures="Not the mean of SARI's sentence scores, which the paper and Hugging Face report: compare only "
        "numbers of one signature. A sentence's score is that of a corpus of this sentence alone. The input must be "
        "the text that is simplified, in the same language. Needs several references, as SARI does; copying the input "
        "still earns about 20 points.",
    )

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise UnknownName("tokenizer of SARI", self.tokenizer, TOKENIZERS)

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenizer_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return uncut(language, self.tokenizer) or super().language_doubt(language)

    def versions(self) -> dict[str, str]:
        return {"revision": "1"}

    def items(self, batch: Batch) -> Items:
        """The input stands before the references."""
        references = [(item.input or "", *item.references) for item in batch.items()]
        return items_of(Batch(batch.outputs, references))

    def statistics(self, items: Items) -> Rows:
        words = words_of(items.texts, self.tokenizer)
        rows = np.empty((len(items), len(ORDERS), len(OPERATIONS), len(KINDS)), np.int64)
        for order, grams in enumerate(vectors(words)):
            rows[:, order] = _counts(grams, items)
        return rows.reshape(len(items), -1)

    def scores_of(self, rows: Rows) -> Floats:
        counts = np.asarray(rows, np.float64).reshape(len(rows), len(ORDERS) * len(OPERATIONS), len(KINDS))
        right, both = counts[:, :, 0], counts[:, :, 1] + counts[:, :, 2]
        # 2PR / (P + R), with P = right / done and R = right / wanted.
        measures = np.divide(2 * right, both, out=np.zeros_like(right), where=both > 0)
        scores: Floats = 100 * measures.mean(axis=1)
        return scores


def _counts(grams: Vectors, items: Items) -> Ints:
    """For every item, the three counts of each operation on n-grams of one order."""
    sources = items.references[items.bounds[:-1]] if len(items) else items.outputs
    is_source = np.zeros(len(items.references), bool)
    is_source[items.bounds[:-1]] = True
    owners = np.repeat(np.arange(len(items)), np.diff(items.bounds))
    made = _occurrences(grams, items.outputs, np.arange(len(items)))
    given = _occurrences(grams, sources, np.arange(len(items)))
    wanted = _occurrences(grams, items.references[~is_source], owners[~is_source])
    keys = np.unique(np.concatenate([made[0], given[0], wanted[0]]))
    output, source, references = (_laid_out(keys, *table) for table in (made, given, wanted))
    owner = keys // grams.distinct
    times = (np.diff(items.bounds) - 1)[owner]
    output, source = output * times, source * times
    to_keep, kept = np.minimum(source, references), np.minimum(source, output)
    to_delete, deleted = np.maximum(source - references, 0), np.maximum(source - output, 0)
    added, to_add = (source == 0) & (output > 0), (source == 0) & (references > 0)
    columns = (
        *(added & to_add, added, to_add),
        *(np.minimum(kept, to_keep), kept, to_keep),
        *(np.minimum(deleted, to_delete), deleted, to_delete),
    )
    sums = [np.bincount(owner, column, len(items)) for column in columns]
    return np.rint(sums).astype(np.int64).T.reshape(len(items), len(OPERATIONS), len(KINDS))


def _occurrences(grams: Vectors, texts: NDArray[np.int32], owners: NDArray[np.intp]) -> tuple[Ints, Ints]:
    """N-grams of texts, as owner · n-grams + n-gram, and how often each stands there."""
    places, positions = grams.entries(texts)
    return owners[positions] * grams.distinct + grams.grams[places], grams.counts[places]


def _laid_out(keys: Ints, own: Ints, counts: Ints) -> Ints:
    """Counts at the places of their keys, summed where a key stands twice."""
    return np.bincount(np.searchsorted(keys, own), counts, len(keys)).astype(np.int64)


METRICS = {"SARI-corpus": CorpusSARI}
