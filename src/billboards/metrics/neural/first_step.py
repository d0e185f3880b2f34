"""What an encoder-decoder would say first: how much its decoder's first step speaks for some words, text by text.

MetricX reads a rating off one word of the vocabulary, UniEval the share of Yes over No. Nothing is ever generated:
each distinct text is read once, and the decoder makes one step. Texts are ordered by length and cut into windows; a
window is tokenised while the devices work on the one before, and cut into batches by its number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Floats
from billboards.metrics.neural.encoder import PRECISIONS, Precision, batches
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.packed_t5 import PackedT5, read_settings
from billboards.metrics.neural.weights import READ, Weights, digest_files, find_in_hub_cache, read_folder
from billboards.metrics.neural.windows import FIRST, Ahead, halve_until_it_fits

if TYPE_CHECKING:
    from torch import Tensor

#: Tokens in a batch: on a CPU what stays in its caches, on a GPU what fills it.
BATCH = {"cpu": 2048, "cuda": 65536}
#: Characters in a window: few enough to be tokenised soon, enough to hold many texts of each length.
WINDOW_CHARACTERS = 4_000_000
#: By these files one knows that a folder has a tokenizer.
TOKENIZERS = ("tokenizer.json", "spiece.model")


@dataclass(frozen=True)
class WithTokenizer(Weights):
    """A model on this machine whose tokenizer may lie in another folder."""

    tokenizer: Path

    @property
    def reader(self) -> Path:
        return self.tokenizer

    @property
    def digest(self) -> str:
        if self.tokenizer == self.folder:
            return super().digest
        own = sorted({path for pattern in READ if pattern != "config.json" for path in self.tokenizer.glob(pattern)})
        return digest_files([*self.deciding_files(), *own])


def with_tokenizer(weights: Weights, other: str) -> WithTokenizer:
    """A model with the tokenizer that lies beside it, else with that of another model, a folder or one of the hub."""
    for folder in (weights.folder, Path(other)):
        if any((folder / name).is_file() for name in TOKENIZERS):
            return WithTokenizer(weights.name, weights.folder, folder.resolve())
    if Path(other).is_dir():
        raise InvalidInput(f"{other} holds no tokenizer: {' or '.join(TOKENIZERS)} is missing there")
    return WithTokenizer(weights.name, weights.folder, find_in_hub_cache(other))


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How texts are read: at most `limit` tokens with the token that ends a text, and whether the model sees that."""

    limit: int
    keeps_end: bool


class FirstStep:
    """A T5 or mT5 with its tokenizer on one device."""

    def __init__(self, weights: Weights, precision: Precision, device: str) -> None:
        need("this metric", "torch", "transformers")
        import torch

        self.weights, self.device = weights, torch.device(device)
        self.tokenizer = load_tokenizer(weights.reader)
        settings, dtype = read_settings(weights.folder), getattr(torch, PRECISIONS[precision])
        self.model = PackedT5(settings, read_folder(weights.folder), self.device, dtype)

    def tokens(self, texts: Sequence[str], reading: Reading) -> tuple[list[list[int]], int]:
        """The tokens of texts, and how many texts were cut."""
        lists = self._encode(texts)
        long = [k for k, ids in enumerate(lists) if len(ids) > reading.limit]
        for k in long:
            lists[k] = [*lists[k][: reading.limit - 1], lists[k][-1]]
        # A text of no token at all is read as the end of a text.
        return [ids if reading.keeps_end or len(ids) < 2 else ids[:-1] for ids in lists], len(long)

    def first_token(self, text: str) -> int:
        """The token with which a text begins."""
        return self._encode([text])[0][0]

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if self.tokenizer.is_fast:
            return [own.ids for own in self.tokenizer.backend_tokenizer.encode_batch_fast(list(texts))]
        lists: list[list[int]] = self.tokenizer(list(texts), verbose=False)["input_ids"]
        return lists

    def logits(self, tokens: Sequence[Sequence[int]], words: Sequence[int]) -> Tensor:
        """How much the first step speaks for each word: texts × words; the texts come sorted by length."""
        ids = np.concatenate([np.asarray(own, np.int32) for own in tokens])
        lengths = np.array([len(own) for own in tokens], np.int64)
        return self.model.logits(self.model(ids, lengths), list(words))


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer in a folder."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (ImportError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise MissingPart(
            f"the tokenizer in {folder} can't be read: {reason}; a spiece.model without tokenizer.json needs "
            "sentencepiece: pip install sentencepiece protobuf"
        ) from error
    if tokenizer.is_fast:
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=2)
def first_step(weights: Weights, precision: Precision, device: str) -> FirstStep:
    """A model that is kept for the next call."""
    return FirstStep(weights, precision, device)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """How much the model speaks for each word after each distinct text, and how many of the texts were cut."""

    of: Mapping[str, Floats]
    cut: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class _Window:
    """Some of the texts with their tokens, sorted by their number."""

    places: NDArray[np.intp]
    tokens: Sequence[Sequence[int]]
    cut: int


def ask_first(models: Sequence[FirstStep], texts: Iterable[str], words: Sequence[int], reading: Reading) -> Answers:
    """What the decoder's first step says of some words after each text; equal texts are read once."""
    distinct = sorted(dict.fromkeys(texts), key=len)
    values = np.empty((len(distinct), len(words)), np.float64)
    cut = tokens = 0
    ready = Ahead(_windows(models[0], distinct, reading))
    with ThreadPoolExecutor(len(models)) as pool:
        work = [pool.submit(list, _drain(model, ready, words)) for model in models]
        try:
            for window, logits in (result for future in work for result in future.result()):
                values[window.places] = logits.double().cpu().numpy()
                cut, tokens = cut + window.cut, tokens + sum(map(len, window.tokens))
        finally:
            # After an error or Ctrl-C the devices end with the window in hand.
            ready.stop()
    return Answers(of=dict(zip(distinct, values, strict=True)), cut=cut, tokens=tokens)


def _windows(model: FirstStep, texts: Sequence[str], reading: Reading) -> Iterator[_Window]:
    """The texts in windows of about so many characters, the first a small one; each tokenised in one call."""
    lengths, start, limit = np.array([len(text) + 1 for text in texts], np.int64), 0, WINDOW_CHARACTERS // FIRST
    while start < len(texts):
        stop = start + next(batches(lengths[start:], limit)).stop
        tokens, cut = model.tokens(texts[start:stop], reading)
        order = np.argsort([len(own) for own in tokens], kind="stable")
        yield _Window(places=start + order, tokens=[tokens[k] for k in order], cut=cut)
        start, limit = stop, WINDOW_CHARACTERS


def _drain(model: FirstStep, ready: Iterator[_Window], words: Sequence[int]) -> Iterator[tuple[_Window, Tensor]]:
    """What a device makes of the windows that it takes; the numbers stay there until all are made."""
    import torch

    limit = BATCH.get(model.device.type, BATCH["cuda"])
    with torch.inference_mode():
        for window in ready:
            lengths = np.array([len(own) for own in window.tokens], np.int64)
            made = [_batch(model, window.tokens[part], words) for part in batches(lengths, limit)]
            yield window, torch.cat(made)


def _batch(model: FirstStep, tokens: Sequence[Sequence[int]], words: Sequence[int]) -> Tensor:
    def logits(some: NDArray[np.intp]) -> Tensor:
        return model.logits([tokens[k] for k in some], words)

    return halve_until_it_fits(np.arange(len(tokens)), logits)
