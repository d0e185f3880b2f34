"""How much each token counts (BERTScore, §3): all alike, or by how rare it is among the references.

idf with plus-one smoothing as in bert_score: log((M + 1) / (m + 1)) for a token in m of M references. Tokens that
separate texts count nothing. A text whose tokens would all count nothing has them count alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Batch
from billboards.metrics.neural.tokens import Tokenizer

#: How many texts are tokenised at once.
CHUNK = 4096


def even_weights(tokenizer: Tokenizer) -> NDArray[np.float32]:
    """One weight per token of the vocabulary: 1, and 0 for those that separate texts."""
    weights = np.ones(tokenizer.vocabulary, np.float32)
    weights[list(tokenizer.weightless)] = 0.0
    return weights


def idf_weights(tokenizer: Tokenizer, references: Iterable[Sequence[str]]) -> NDArray[np.float32]:
    """One weight per token of the vocabulary, from all references of all outputs."""
    times = Counter(text for texts in references for text in texts)
    distinct, total = list(times), times.total()
    seen = np.zeros(tokenizer.vocabulary)
    for start in range(0, len(distinct), CHUNK):
        some = distinct[start : start + CHUNK]
        tokens = tokenizer(some)
        for text, written in enumerate(some):
            seen[np.unique(tokens.of(text))] += times[written]
    return np.log((total + 1) / (seen + 1)).astype(np.float32)


def given_weights(tokenizer: Tokenizer, weights: Mapping[int, float]) -> NDArray[np.float32]:
    """One weight per token of the vocabulary, from a mapping; a mapping with a default gives it to the others."""
    default = getattr(weights, "default_factory", None)
    every = np.full(tokenizer.vocabulary, 0.0 if default is None else default(), np.float32)
    for token, weight in weights.items():
        every[token] = weight
    return every


def scored_together(batches: Sequence[Batch], *, idf: bool) -> list[list[int]]:
    """Batches that can be scored together: with idf, only those with the same references."""
    groups: dict[object, list[int]] = {}
    for k, batch in enumerate(batches):
        groups.setdefault(tuple(map(tuple, batch.references)) if idf else None, []).append(k)
    return list(groups.values())
