"""What a language model writes, by beam search and never by chance.

A metric that asks a model how likely an output is has the model's own beam search as its best output (Deutsch et al.
2022, §4.1). Hypotheses are compared by their log-likelihood per token, as the normalised metrics do; an encoder-decoder
begins as its tokenizer begins a target, with the language's token where there is one.

Questions and answers are written as the likeliest text after each text that is given. The model's own settings for
writing (lengths, penalties, sampling) are set aside, because they lie in a file that no signature names; only its
tokens for beginnings and ends are kept. Each distinct text is given once, sorted by length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import batches
from billboards.metrics.neural.likelihood import BATCH, Causal, LanguageModel
from billboards.metrics.neural.windows import halve_until_it_fits

if TYPE_CHECKING:
    from torch import Tensor


#: Inputs that are decoded at once; each costs as much memory as it has beams.
TOGETHER = 16


def beam_search(model: LanguageModel, inputs: Sequence[str], *, beams: int, longest: int) -> list[tuple[str, ...]]:
    """The likeliest outputs after each input, best first; a causal model reads no input and writes the same for all."""
    if isinstance(model, Causal):
        (alone,) = _search(model, [[model.beginning]], beams, longest)
        return [alone for _ in inputs]
    order = sorted(range(len(inputs)), key=lambda k: len(inputs[k]))
    given, _ = model.given_tokens([inputs[k] for k in order])
    found_in_order: list[tuple[str, ...]] = []
    for start in range(0, len(given), TOGETHER):
        found_in_order += _search(model, given[start : start + TOGETHER], beams, longest)
    beams_of = dict(zip(order, found_in_order, strict=True))
    return [beams_of[k] for k in range(len(inputs))]


def _search(model: LanguageModel, given: list[list[int]], beams: int, longest: int) -> list[tuple[str, ...]]:
    import torch

    ids, mask = model.upload(given)
    with torch.inference_mode():
        written: Tensor = model.model.generate(
            input_ids=ids,
            attention_mask=mask,
            num_beams=beams,
            num_return_sequences=beams,
            do_sample=False,
            early_stopping=False,
            length_penalty=1.0,
            max_new_tokens=_longest(model, longest),
            pad_token_id=model.tokenizer.pad_token_id if model.tokenizer.pad_token_id is not None else model.end,
            **_beginning(model),
        )
    if isinstance(model, Causal):
        written = written[:, ids.shape[1] :]
    texts = model.tokenizer.batch_decode(written, skip_special_tokens=True)
    return [tuple(text.strip() for text in texts[k : k + beams]) for k in range(0, len(texts), beams)]


def _longest(model: LanguageModel, longest: int) -> int:
    return longest if model.limit is None else min(longest, model.limit - 2)


def _beginning(model: LanguageModel) -> dict[str, Any]:
    """The token that a target begins with, where the tokenizer puts one before it."""
    if isinstance(model, Causal):
        return {}
    first = model.asked_tokens([""])[0][0][0]
    return {"forced_bos_token_id": first} if first in model.marks else {}


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
    order, written = np.argsort(lengths, kind="stable"), [""] * len(distinct)
    limit = BATCH.get(model.device.type, BATCH["cuda"]) // beams
    with torch.inference_mode(), _set(model, beams, longest):
        for run in batches(lengths[order], limit):
            chosen = order[run]
            ids = halve_until_it_fits(chosen, lambda some: _tokens(model, [given[k] for k in some], longest))
            decoded = model.tokenizer.batch_decode(ids, skip_special_tokens=True)
            for k, text in zip(chosen, decoded, strict=True):
                written[k] = text.strip()
    return Written(dict(zip(distinct, written, strict=True)), cut)


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
    tokens: Tensor = model.model.generate(input_ids=ids, attention_mask=mask)
    filler = model.tokenizer.pad_token_id or 0
    # One token before the first that is written begins every text.
    return torch.nn.functional.pad(tokens, (0, longest + 1 - tokens.shape[1]), value=filler)


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
