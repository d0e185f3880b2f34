"""Estimating a baseline (BERTScore, §3): the mean score of random pairs of sentences, at every layer.

All pairs pass through the model once. Distinct sentences are embedded once each, so a million pairs of a hundred
thousand sentences cost little more than the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable

from billboards.metrics.neural.baselines import Baseline, random_pairs
from billboards.metrics.neural.encoder import Precision
from billboards.metrics.neural.engine import Where, start_engine
from billboards.metrics.neural.idf import even_weights
from billboards.metrics.neural.models import EMBEDDED
from billboards.metrics.neural.readout import AllLayers
from billboards.metrics.neural.scoring import score_texts
from billboards.metrics.neural.weights import locate


def estimate_baseline(
    texts: Iterable[str], model: str = EMBEDDED, *, pairs: int = 10_000, precision: Precision = "fp32", seed: int = 0
) -> Baseline:
    """b of every layer, for P, R and F1, from random pairs of these texts."""
    first, second = random_pairs(texts, pairs, seed)
    engine = start_engine(locate(model), None, precision, Where.from_environment(), AllLayers())
    scores = score_texts(engine, first, [(text,) for text in second], even_weights(engine.tokenizer))
    return Baseline(scores.mean(axis=1))
