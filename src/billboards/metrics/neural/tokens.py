"""Texts as the tokens a model reads: one batch call for many texts, flat arrays instead of lists of lists.

As in bert_score, a text is stripped first, and tokenizers of the GPT-2 family see a blank before its first word, unless
a model was trained without it. A text
longer than the model can read is cut at the model's limit, and counted. An empty text is nothing but the tokens that
every text gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A tokenizer without a limit says so with a number this large or larger.
NO_LIMIT = 10**6


@dataclass(frozen=True)
class Tokens:
    """Tokens of several texts, end to end: text k has `ids[starts[k]:starts[k + 1]]`."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    #: Whether a text has no token of its own.
    empty: NDArray[np.bool_]
    #: How many texts were longer than the model reads.
    cut: int

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, text: int) -> NDArray[np.int32]:
        return self.ids[self.starts[text] : self.starts[text + 1]]

    def some(self, texts: NDArray[np.intp]) -> Tokens:
        """The tokens of some of the texts, in this order."""
        ids = [self.of(int(text)) for text in texts]
        starts = np.concatenate(([0], np.cumsum(self.lengths[texts]))).astype(np.int64)
        return Tokens(np.concatenate([np.empty(0, np.int32), *ids]), starts, self.empty[texts], self.cut)


class Tokenizer:
    """A model's own tokenizer, with the model's limit on length."""

    def __init__(self, folder: Path, limit: int | None, *, blank_first: bool = True) -> None:
        from transformers import AutoTokenizer, GPT2Tokenizer, RobertaTokenizer

        inner = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        if blank_first and isinstance(inner, GPT2Tokenizer | RobertaTokenizer):
            inner = AutoTokenizer.from_pretrained(folder, local_files_only=True, add_prefix_space=True)
        own = inner.model_max_length if inner.model_max_length < NO_LIMIT else None
        self.inner: Any = inner
        self.limit = min((token for token in (own, limit) if token is not None), default=None)
        #: The tokens that every text gets; those that separate texts weigh nothing in BERTScore.
        self.around = frozenset(inner.encode(""))
        self.weightless = tuple(token for token in (inner.cls_token_id, inner.sep_token_id) if token is not None)
        if inner.is_fast:
            inner.backend_tokenizer.no_padding()
            inner.backend_tokenizer.no_truncation()
            if self.limit is not None:
                inner.backend_tokenizer.enable_truncation(self.limit)

    @property
    def vocabulary(self) -> int:
        return len(self.inner)

    def __call__(self, texts: Sequence[str]) -> Tokens:
        stripped = [text.strip() for text in texts]
        lists, cut = self._fast(stripped) if self.inner.is_fast else self._slow(stripped)
        starts = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(ids) for ids in lists], out=starts[1:])
        flat = np.fromiter(chain.from_iterable(lists), np.int32, int(starts[-1]))
        empty = np.array([not text or self.around.issuperset(ids) for text, ids in zip(stripped, lists, strict=True)])
        return Tokens(flat, starts, empty.astype(bool), cut)

    def words(self, ids: NDArray[np.int32]) -> list[str]:
        """Tokens as people read them."""
        return [self.inner.decode([int(token)]).strip() or "␣" for token in ids]

    def _fast(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        encodings = self.inner.backend_tokenizer.encode_batch_fast(texts, add_special_tokens=True)
        lists = [encoding.ids for encoding in encodings]
        full = (encoded for encoded, ids in zip(encodings, lists, strict=True) if len(ids) == self.limit)
        return lists, sum(bool(encoded.overflowing) for encoded in full)

    def _slow(self, texts: Sequence[str]) -> tuple[list[list[int]], int]:
        whole = [self.inner.encode(text) for text in texts]
        if self.limit is None:
            return whole, 0
        cut = [k for k, ids in enumerate(whole) if len(ids) > self.limit]
        for k in cut:
            whole[k] = self.inner.encode(texts[k], max_length=self.limit, truncation=True)
        return whole, len(cut)
