"""bert_score's `score`, argument for argument, on this package's engine.

    from billboards.metrics.neural.bert_score import score
    P, R, F1 = score(outputs, references, lang="en")

What differs: a baseline that is asked for and not found is an error, so that the hash code never says `rescaled` where
nothing was; the best match of a token may be negative (bert_score's padding counts as 0); and nothing is downloaded.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from billboards.errors import InvalidInput
from billboards.metrics.neural.baselines import Baseline, find_baseline, read_baseline
from billboards.metrics.neural.bertscore import hash_code
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.idf import even_weights, given_weights, idf_weights
from billboards.metrics.neural.matching import score_texts
from billboards.metrics.neural.models import layer_for, model_for
from billboards.metrics.neural.readout import AllLayers
from billboards.metrics.neural.weights import locate


def score(
    cands: Sequence[str],
    refs: Sequence[str] | Sequence[Sequence[str]],
    model_type: str | None = None,
    num_layers: int | None = None,
    verbose: bool = False,
    idf: bool | Mapping[int, float] = False,
    device: str | None = None,
    batch_size: int = 64,  # noqa: ARG001 - batches are made by length, not by number
    nthreads: int = 4,  # noqa: ARG001 - the tokenizer has its own threads
    all_layers: bool = False,
    lang: str | None = None,
    return_hash: bool = False,
    rescale_with_baseline: bool = False,
    baseline_path: str | None = None,
    use_fast_tokenizer: bool = False,  # noqa: ARG001 - a fast one is used wherever there is one
) -> Any:
    """P, R and F1 as tensors, outputs long (layers × outputs with `all_layers`); `return_hash` adds the code."""
    import torch

    references = _references(cands, refs)
    model = _model(model_type, lang)
    layer = None if all_layers else layer_for(model) if num_layers is None else num_layers
    baseline = _baseline(model, lang, baseline_path) if rescale_with_baseline else None
    start = time.perf_counter()
    engine = start_engine(locate(model), layer, "fp32", Where(device), AllLayers() if all_layers else None)
    measured = score_texts(engine, cands, references, _weights(engine, idf, references))
    if baseline is not None:
        measured = baseline.rescale(measured, layer)
    if verbose:
        seconds = time.perf_counter() - start
        print(f"done in {seconds:.2f} seconds, {len(cands) / seconds:.2f} sentences/sec", file=sys.stderr)
    scores = torch.from_numpy(measured).float()
    parts = scores[..., 0], scores[..., 1], scores[..., 2]
    if not return_hash:
        return parts
    own = baseline_path is not None
    return parts, hash_code(model, layer, idf=bool(idf), rescaled=baseline is not None, own_baseline=own)


def _references(cands: Sequence[str], refs: Sequence[str] | Sequence[Sequence[str]]) -> list[Sequence[str]]:
    if len(cands) != len(refs):
        raise InvalidInput(f"{len(cands)} candidates and {len(refs)} references; give one text or list for each")
    listed = [(texts,) if isinstance(texts, str) else texts for texts in refs]
    if not all(listed):
        raise InvalidInput(
            f"candidate {[bool(texts) for texts in listed].index(False)} has an empty list of references"
        )
    return listed


def _model(model_type: str | None, lang: str | None) -> str:
    if model_type is None and lang is None:
        raise InvalidInput("name a model (model_type) or a language (lang)")
    return model_type if model_type is not None else model_for(lang or "")


def _baseline(model: str, lang: str | None, path: str | None) -> Baseline:
    return find_baseline(model, lang) if path is None else read_baseline(Path(path))


def _weights(engine: Engine, idf: bool | Mapping[int, float], references: Sequence[Sequence[str]]) -> Any:
    if isinstance(idf, Mapping):
        return given_weights(engine.tokenizer, idf)
    return idf_weights(engine.tokenizer, references) if idf else even_weights(engine.tokenizer)
