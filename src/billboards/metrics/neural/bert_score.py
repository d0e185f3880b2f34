"""bert_score's `score` and `BERTScorer`, argument for argument, on this package's engine.

    from billboards.metrics.neural.bert_score import BERTScorer, score
    P, R, F1 = score(outputs, references, lang="en")

What differs: a baseline that is asked for and not found is an error, so that the hash code never says `rescaled` where
nothing was; the best match of a token may be negative (bert_score's padding counts as 0); a picture of a matching is
SVG; and nothing is downloaded.
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
from billboards.saving import save_file

References = Sequence[str] | Sequence[Sequence[str]]


class BERTScorer:
    """A model at hand for many calls: loaded once, with weights of tokens that are counted once."""

    def __init__(
        self,
        model_type: str | None = None,
        num_layers: int | None = None,
        batch_size: int = 64,  # noqa: ARG002 - batches are made by length, not by number
        nthreads: int = 4,  # noqa: ARG002 - the tokenizer has its own threads
        all_layers: bool = False,
        idf: bool = False,
        idf_sents: Sequence[str] | None = None,
        device: str | None = None,
        lang: str | None = None,
        rescale_with_baseline: bool = False,
        baseline_path: str | None = None,
        use_fast_tokenizer: bool = False,
    ) -> None:
        self.model_type = _model(model_type, lang)
        self.num_layers = layer_for(self.model_type) if num_layers is None and not all_layers else num_layers
        self.all_layers, self.lang, self.device = all_layers, lang, device
        self.rescale_with_baseline = rescale_with_baseline
        self.use_fast_tokenizer = use_fast_tokenizer
        self._own_baseline = baseline_path is not None
        self._baseline = _baseline(self.model_type, lang, baseline_path) if rescale_with_baseline else None
        layer = None if all_layers else self.num_layers
        readout = AllLayers() if all_layers else None
        self._engine = start_engine(locate(self.model_type), layer, "fp32", Where(device), readout)
        self._idf = idf
        self._weights: Any = None
        if idf_sents is not None:
            self.compute_idf(idf_sents)

    @property
    def idf(self) -> bool:
        """Whether tokens are weighed by how rare they are."""
        return self._idf

    @property
    def hash(self) -> str:
        """The setting in one line, as papers print it."""
        return hash_code(
            self.model_type,
            None if self.all_layers else self.num_layers,
            idf=self._idf,
            rescaled=self._baseline is not None,
            own_baseline=self._own_baseline,
        )

    def compute_idf(self, sents: Sequence[str]) -> None:
        """Count how rare tokens are, over these texts."""
        self._weights = idf_weights(self._engine.tokenizer, [(text,) for text in sents])

    def score(
        self,
        cands: Sequence[str],
        refs: References,
        verbose: bool = False,
        batch_size: int = 64,  # noqa: ARG002 - batches are made by length, not by number
        return_hash: bool = False,
    ) -> Any:
        """P, R and F1 as tensors, outputs long (layers × outputs with `all_layers`); `return_hash` adds the code."""
        if self._idf and self._weights is None:
            raise InvalidInput("idf needs texts to count over: give idf_sents, or call compute_idf(texts)")
        weights = self._weights if self._idf else even_weights(self._engine.tokenizer)
        parts = self._score(cands, _references(cands, refs), weights, verbose=verbose)
        return (parts, self.hash) if return_hash else parts

    def plot_example(self, candidate: str, reference: str, fname: str = "") -> str:
        """The similarity of every two tokens as an SVG picture, which is also written to a file if one is named."""
        from billboards.metrics.neural.heatmap import match

        svg = match(candidate, reference, model=self.model_type, layer=self.num_layers).svg()
        if fname:
            save_file(fname, svg + "\n")
        return svg

    def _score(
        self, cands: Sequence[str], references: Sequence[Sequence[str]], weights: Any, *, verbose: bool
    ) -> tuple[Any, Any, Any]:
        import torch

        start = time.perf_counter()
        measured = score_texts(self._engine, cands, references, weights)
        if self._baseline is not None:
            measured = self._baseline.rescale(measured, None if self.all_layers else self.num_layers)
        if verbose:
            seconds = time.perf_counter() - start
            print(f"done in {seconds:.2f} seconds, {len(cands) / seconds:.2f} sentences/sec", file=sys.stderr)
        scores = torch.from_numpy(measured).float()
        return scores[..., 0], scores[..., 1], scores[..., 2]


def score(
    cands: Sequence[str],
    refs: References,
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
    references = _references(cands, refs)
    scorer = BERTScorer(
        model_type,
        num_layers,
        all_layers=all_layers,
        idf=bool(idf),
        device=device,
        lang=lang,
        rescale_with_baseline=rescale_with_baseline,
        baseline_path=baseline_path,
    )
    parts = scorer._score(cands, references, _weights(scorer._engine, idf, references), verbose=verbose)
    return (parts, scorer.hash) if return_hash else parts


def _references(cands: Sequence[str], refs: References) -> list[Sequence[str]]:
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
