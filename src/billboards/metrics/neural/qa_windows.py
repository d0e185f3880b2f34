"""Questions with their contexts as tokens; a context that is longer than a window is read in several.

Windows overlap, so that an answer at the edge of one stands within the next. So that no span counts twice, each token
belongs to the window that shows the most on both sides of it (Devlin et al. 2019's program), and a span to the window
of its first token. A question longer than half a window is cut there, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A question and the text that may hold its answer.
Pair = tuple[str, str]


@dataclass(frozen=True)
class Window:
    """A question with a stretch of its context: tokens, their types, where the context stands and what is its own."""

    pair: int
    ids: Sequence[int]
    types: Sequence[int] | None
    #: Whether a token is of the context, and whether it belongs to this window.
    context: NDArray[np.bool_]
    own: NDArray[np.bool_]
    #: Where each token stands in the context.
    offsets: Sequence[tuple[int, int]]
    #: The token whose logits mean that there is no answer.
    nothing: int

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Cutter:
    """A tokenizer that joins questions and contexts in windows of at most `length` tokens."""

    tokenizer: Any
    length: int
    overlap: int

    def windows(self, pairs: Sequence[Pair]) -> tuple[list[Window], int]:
        """The windows of these pairs, pair by pair, and how many questions were cut."""
        questions, cut = self._short([question for question, _ in pairs])
        given = self.tokenizer(
            questions,
            [context for _, context in pairs],
            truncation="only_second",
            max_length=self.length,
            stride=self._overlap(),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            verbose=False,
        )
        owners = given["overflow_to_sample_mapping"]
        edges = [0, *np.cumsum(np.bincount(owners, minlength=len(pairs))).tolist()]
        return [window for k in range(len(pairs)) for window in self._of_pair(given, k, range(*edges[k : k + 2]))], cut

    def _of_pair(self, given: Any, pair: int, rows: range) -> Iterator[Window]:
        contexts = [np.array([part == 1 for part in given.encodings[row].sequence_ids], np.bool_) for row in rows]
        starts = [np.array([start for start, _ in given["offset_mapping"][row]], np.int64) for row in rows]
        owned = _owned(contexts, starts)
        for row, context, own in zip(rows, contexts, owned, strict=True):
            ids, types = given["input_ids"][row], given.get("token_type_ids")
            nothing = self._nothing(ids)
            yield Window(pair, ids, types and types[row], context, own, given["offset_mapping"][row], nothing)

    def _short(self, questions: Sequence[str]) -> tuple[list[str], int]:
        """Questions of at most half a window, and how many had to be cut for that."""
        half = self.length // 2
        found = self.tokenizer(list(questions), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ends = [offsets[half - 1][1] if len(offsets) > half else None for offsets in found["offset_mapping"]]
        return [text[:end] for text, end in zip(questions, ends, strict=True)], sum(end is not None for end in ends)

    def _overlap(self) -> int:
        """The overlap, as far as the shortest stretch of context has room for it."""
        room = self.length - self.length // 2 - int(self.tokenizer.num_special_tokens_to_add(pair=True))
        return max(0, min(self.overlap, room // 2))

    def _nothing(self, ids: Sequence[int]) -> int:
        """The token at which models are trained to point when there is no answer: their own for it, or the first."""
        mark = self.tokenizer.cls_token_id
        return list(ids).index(mark) if mark in ids else 0


def _owned(contexts: Sequence[NDArray[np.bool_]], starts: Sequence[NDArray[np.int64]]) -> list[NDArray[np.bool_]]:
    """Which tokens of each window stand there with more around them than in any other; the first window, if equal."""
    shown = [_shown(context) for context in contexts]
    best: dict[int, tuple[int, int]] = {}
    for window, (context, start) in enumerate(zip(contexts, starts, strict=True)):
        for token in np.flatnonzero(context):
            around, place = int(shown[window][token]), int(start[token])
            if place not in best or around > best[place][0]:
                best[place] = (around, window)
    return [
        context & np.array([best.get(int(place), (0, -1))[1] == window for place in start], np.bool_)
        for window, (context, start) in enumerate(zip(contexts, starts, strict=True))
    ]


def _shown(context: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many tokens of the context stand at least on either side of each."""
    before = np.cumsum(context)
    shown: NDArray[np.int64] = np.minimum(before, before[-1] - before + 1)
    return shown
