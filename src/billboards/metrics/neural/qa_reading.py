"""Answers to questions, read off a text by a model that points at a span (extractive question answering).

A span's score is the sum of its first token's start logit and its last token's end logit, and the best span of at most
`longest` tokens is the answer. That there is no answer competes as a span of its own (Rajpurkar et al. 2018): its score
is the least that any window gives it. Each distinct question with its text is read once, sorted by length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.halving import halve_until_it_fits
from billboards.metrics.neural.likelihood import load_with_head, pad_lists
from billboards.metrics.neural.padded import longest_input
from billboards.metrics.neural.qa_windows import Cutter, Pair, Window
from billboards.metrics.neural.weights import Weights

if TYPE_CHECKING:
    from torch import Tensor

#: Pairs that are tokenised at once.
PART = 512


@dataclass(frozen=True)
class Reach:
    """How a context is read: tokens in a window, tokens that two windows share, tokens of the longest answer."""

    window: int = 384
    overlap: int = 128
    longest: int = 30

    def __post_init__(self) -> None:
        if self.window < 16 or self.overlap < 0 or self.longest < 1:
            raise InvalidInput(
                f"a window of {self.window} tokens that overlap by {self.overlap}, with answers of at most "
                f"{self.longest}: give at least 16, 0 and 1"
            )


@dataclass(frozen=True, slots=True)
class Answer:
    """The best answer there is, the model's confidence in it, and the probability that there is none."""

    text: str
    confidence: float
    no_answer: float
    #: Whether the answer is likelier than that there is none.
    is_given: bool


NO_ANSWER = Answer("", 0.0, 1.0, False)


@dataclass(frozen=True)
class Answers:
    """The answer to each pair of question and text, and how many of the questions were cut."""

    of: dict[Pair, Answer]
    cut: int = 0


class SpanReader:
    """A model with a head for spans, on one device."""

    def __init__(self, weights: Weights, precision: Precision, device: str, reach: Reach) -> None:
        import torch
        from transformers import AutoTokenizer

        self.device, self.reach = torch.device(device), reach
        self.model = load_with_head(
            weights, "AutoModelForQuestionAnswering", getattr(torch, PRECISIONS[precision]), "points at answers"
        ).to(self.device)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder, local_files_only=True)
        if not self.tokenizer.is_fast:
            raise InvalidInput(f"the tokenizer of {weights.name} can't say where a token stands; name another model")
        limits = (reach.window, self.tokenizer.model_max_length, longest_input(self.model.config))
        self.limit = min(limit for limit in limits if limit is not None)
        self.cutter = Cutter(self.tokenizer, self.limit, reach.overlap)

    def read(self, pairs: Iterable[Pair]) -> Answers:
        """The answer to each distinct pair; a blank text holds none."""
        distinct = list(dict.fromkeys(pairs))
        found, cut = dict.fromkeys(distinct, NO_ANSWER), 0
        asked = [pair for pair in distinct if pair[1].strip()]
        for start in range(0, len(asked), PART):
            some = asked[start : start + PART]
            windows, more = self.cutter.windows(some)
            rows = self._point(windows)
            found |= zip(some, _answers(some, windows, rows), strict=True)
            cut += more
        return Answers(found, cut)

    def _point(self, windows: Sequence[Window]) -> NDArray[np.float64]:
        """For each window: the best span's score, first token, last token and confidence; all spans; no answer."""
        import torch

        lengths = np.array([len(window) for window in windows], np.int64)
        order, rows = np.argsort(lengths, kind="stable"), np.empty((len(windows), 6))
        with torch.inference_mode():
            for run in batches(lengths[order], BATCH.get(self.device.type, BATCH["cuda"])):
                chosen = order[run]
                found = halve_until_it_fits(chosen, lambda some: self._spans([windows[k] for k in some]))
                rows[chosen] = found.cpu().numpy()
        return rows

    def _spans(self, windows: Sequence[Window]) -> Tensor:
        import torch

        ids, there = pad_lists([window.ids for window in windows], self.tokenizer.pad_token_id or 0)
        given = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(there).long()}
        types = [window.types for window in windows if window.types is not None]
        if types and "token_type_ids" in self.tokenizer.model_input_names:
            given["token_type_ids"] = torch.from_numpy(pad_lists(types, 0)[0])
        found = self.model(**{name: values.to(self.device) for name, values in given.items()})
        starts, ends = (logits.double().cpu() for logits in (found.start_logits, found.end_logits))
        own, context = (
            torch.from_numpy(pad_lists([mask.tolist() for mask in masks], 0)[0]).bool()
            for masks in ([w.own for w in windows], [w.context for w in windows])
        )
        nothing = torch.tensor([window.nothing for window in windows])
        return best_spans(starts, ends, torch.from_numpy(there), own, context, nothing, self.reach.longest)


def best_spans(
    starts: Tensor, ends: Tensor, there: Tensor, own: Tensor, context: Tensor, nothing: Tensor, longest: int
) -> Tensor:
    """Per window (rows): score, first and last token and confidence of its best span, all its spans, no answer."""
    import torch

    width, rows = starts.shape[1], torch.arange(len(starts))
    # The score of every admissible span, by its first token and its length: in this order the first of equals wins.
    spans = torch.full((len(starts), width, min(longest, width)), -torch.inf, dtype=torch.float64)
    for extra in range(spans.shape[2]):
        reached = width - extra
        fits = own[:, :reached] & context[:, extra:]
        spans[:, :reached, extra] = (starts[:, :reached] + ends[:, extra:]).masked_fill(~fits, -torch.inf)
    flat = spans.flatten(1)
    place = flat.argmax(1)
    first, last = place // spans.shape[2], place // spans.shape[2] + place % spans.shape[2]
    likely = [torch.log_softmax(logits.masked_fill(~there, -torch.inf), 1) for logits in (starts, ends)]
    confidence = likely[0][rows, first] + likely[1][rows, last.clamp_max(width - 1)]
    none = starts[rows, nothing] + ends[rows, nothing]
    return torch.stack((flat[rows, place], first, last, confidence, flat.logsumexp(1), none), 1)


def _answers(pairs: Sequence[Pair], windows: Sequence[Window], rows: NDArray[np.float64]) -> list[Answer]:
    """The answer to each pair, from its windows."""
    owners = np.array([window.pair for window in windows])
    edges = np.searchsorted(owners, np.arange(len(pairs) + 1))
    parts = (slice(start, stop) for start, stop in pairwise(edges))
    return [_answer(pair[1], windows[part], rows[part]) for pair, part in zip(pairs, parts, strict=True)]


def _answer(context: str, windows: Sequence[Window], rows: NDArray[np.float64]) -> Answer:
    where = int(rows[:, 0].argmax())
    score, first, last, confidence = rows[where, :4]
    if not np.isfinite(score):
        return NO_ANSWER
    offsets, none = windows[where].offsets, float(rows[:, 5].min())
    text = context[offsets[int(first)][0] : offsets[int(last)][1]].strip()
    every = float(np.logaddexp.reduce(rows[:, 4]))
    no_answer = exp(none - float(np.logaddexp(every, none)))
    return Answer(text, exp(confidence), no_answer, bool(score > none))


@lru_cache(maxsize=2)
def span_reader(weights: Weights, precision: Precision, device: str, reach: Reach) -> SpanReader:
    """A reader that is kept for the next call."""
    return SpanReader(weights, precision, device, reach)
