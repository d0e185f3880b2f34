"""What a language model would write itself: beam search for the outputs it finds likeliest.

A metric that asks a model how likely an output is has the model's own beam search as its best output (Deutsch et al.
2022, §4.1). Hypotheses are compared by their log-likelihood per token, as the normalised metrics do; an encoder-decoder
begins as its tokenizer begins a target, with the language's token where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from billboards.metrics.neural.likelihood import Causal, LanguageModel

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
    found = dict(zip(order, found_in_order, strict=True))
    return [found[k] for k in range(len(inputs))]


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
