"""An encoder-decoder that writes: the likeliest text after each text it is given, by beam search, never by chance.

The model's own settings for writing (lengths, penalties, sampling) are set aside, because they lie in a file that no
signature names; only its tokens for beginnings and ends are kept. Each distinct text is given once, sorted by length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import batches
from billboards.metrics.neural.halving import halve_until_it_fits
from billboards.metrics.neural.likelihood import LanguageModel
from billboards.metrics.neural.likelihood_pairs import BATCH

if TYPE_CHECKING:
    from torch import Tensor

#: What a model's settings may say about tokens; the rest of them is set aside.
TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)


@dataclass(frozen=True)
class Written:
    """What was written after each text, and how many of the texts were cut."""

    of: dict[str, str]
    cut: int


def write(model: LanguageModel, texts: Iterable[str], *, beams: int, longest: int) -> Written:
    """What the model writes after each distinct text, in at most `longest` tokens."""
    import torch

    if beams < 1 or longest < 1:
        raise InvalidInput(f"{beams} beams and texts of {longest} tokens: both must be at least 1")
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return Written({}, 0)
    given, cut = model.given_tokens(distinct)
    lengths = np.array([len(ids) for ids in given], np.int64)
    order, said = np.argsort(lengths, kind="stable"), [""] * len(distinct)
    limit = BATCH.get(model.device.type, BATCH["cuda"]) // beams
    with torch.inference_mode(), _set(model, beams, longest):
        for run in batches(lengths[order], limit):
            chosen = order[run]
            ids = halve_until_it_fits(chosen, lambda some: _tokens(model, [given[k] for k in some], longest))
            decoded = model.tokenizer.batch_decode(ids, skip_special_tokens=True)
            for k, text in zip(chosen, decoded, strict=True):
                said[k] = text.strip()
    return Written(dict(zip(distinct, said, strict=True)), cut)


@contextmanager
def _set(model: LanguageModel, beams: int, longest: int) -> Iterator[None]:
    """The model with settings of our own; it is shared, so it gets its own back."""
    own = model.model.generation_config
    model.model.generation_config = _settings(model, beams, longest)
    try:
        yield
    finally:
        model.model.generation_config = own


def _tokens(model: LanguageModel, given: Sequence[Sequence[int]], longest: int) -> Tensor:
    """The tokens that are written after each list of tokens, all filled up to one length."""
    import torch

    ids, mask = model.upload(given)
    found: Tensor = model.model.generate(input_ids=ids, attention_mask=mask)
    filler = model.tokenizer.pad_token_id or 0
    # One token before the first that is written begins every text.
    return torch.nn.functional.pad(found, (0, longest + 1 - found.shape[1]), value=filler)


def _settings(model: LanguageModel, beams: int, longest: int) -> Any:
    from transformers import GenerationConfig

    own, config = model.model.generation_config, model.model.config
    named = {name: getattr(own, name, None) for name in TOKENS}
    start = named["decoder_start_token_id"]
    if start is None:
        start = getattr(config, "decoder_start_token_id", None)
    kept = {name: value for name, value in {**named, "decoder_start_token_id": start}.items() if value is not None}
    if "decoder_start_token_id" not in kept and "bos_token_id" not in kept:
        raise InvalidInput(f"{model.weights.name} doesn't say with which token a text begins; name another model")
    return GenerationConfig(do_sample=False, num_beams=beams, max_new_tokens=longest, **kept)
