"""Answers to questions from a text, and how alike two answers are.

A span reader points at the answer: a span's score is the sum of its first token's start logit and its last token's end
logit, and the best span of at most `longest` tokens is the answer. That there is no answer competes as a span of its
own (Rajpurkar et al. 2018): its score is the least that any window gives it. A text longer than a window is read in
several that overlap, so that an answer at the edge of one stands within the next; so that no span counts twice, each
token belongs to the window that shows the most on both sides of it (Devlin et al. 2019's program), and a span to the
window of its first token. A question longer than half a window is cut there, and counted.

An encoder-decoder writes the answer instead, having read question and text as one. It says in words that there is no
answer; how likely it finds those words is the probability that there is none, and the confidence in an answer is that
of writing anything else.

Answers are compared by SQuAD's rules (Rajpurkar et al. 2016): case, ASCII punctuation and the articles a, an and the
don't count. Equal lists of the words that remain match exactly, and F1 weighs the words that both have. Two answers of
which nothing remains are equal, one such answer is wrong.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.likelihood import LanguageModel, load_with_head, log_likelihoods, pad_lists
from billboards.metrics.neural.padded import longest_input
from billboards.metrics.neural.qa_questions import check_template
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.windows import halve_until_it_fits
from billboards.metrics.neural.writing import write

if TYPE_CHECKING:
    from torch import Tensor


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """The words of an answer that count."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(given: str, right: str) -> float:
    """1 where nothing that counts differs, else 0."""
    return float(answer_words(given) == answer_words(right))


def overlap_f1(given: str, right: str) -> float:
    """F1 of the words that an answer shares with the right one."""
    answered, wanted = answer_words(given), answer_words(right)
    if not answered or not wanted:
        return float(answered == wanted)
    shared = sum((Counter(answered) & Counter(wanted)).values())
    return 2 * shared / (len(answered) + len(wanted))


#: A question and the text that may hold its answer.
Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
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
            yield Window(
                pair=pair,
                ids=ids,
                types=types and types[row],
                context=context,
                own=own,
                offsets=given["offset_mapping"][row],
                nothing=nothing,
            )

    def _short(self, questions: Sequence[str]) -> tuple[list[str], int]:
        """Questions of at most half a window, and how many had to be cut for that."""
        half = self.length // 2
        encoded = self.tokenizer(list(questions), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        ends = [offsets[half - 1][1] if len(offsets) > half else None for offsets in encoded["offset_mapping"]]
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
        answers, cut = dict.fromkeys(distinct, NO_ANSWER), 0
        asked = [pair for pair in distinct if pair[1].strip()]
        for start in range(0, len(asked), PART):
            some = asked[start : start + PART]
            windows, more = self.cutter.windows(some)
            rows = self._point(windows)
            answers |= zip(some, _answers(some, windows, rows), strict=True)
            cut += more
        return Answers(answers, cut)

    def _point(self, windows: Sequence[Window]) -> NDArray[np.float64]:
        """For each window: the best span's score, first token, last token and confidence; all spans; no answer."""
        import torch

        lengths = np.array([len(window) for window in windows], np.int64)
        order, rows = np.argsort(lengths, kind="stable"), np.empty((len(windows), 6))
        with torch.inference_mode():
            for run in batches(lengths[order], BATCH.get(self.device.type, BATCH["cuda"])):
                chosen = order[run]
                spans = halve_until_it_fits(chosen, lambda some: self._spans([windows[k] for k in some]))
                rows[chosen] = spans.cpu().numpy()
        return rows

    def _spans(self, windows: Sequence[Window]) -> Tensor:
        import torch

        ids, filled = pad_lists([window.ids for window in windows], self.tokenizer.pad_token_id or 0)
        given = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(filled).long()}
        types = [window.types for window in windows if window.types is not None]
        if types and "token_type_ids" in self.tokenizer.model_input_names:
            given["token_type_ids"] = torch.from_numpy(pad_lists(types, 0)[0])
        answered = self.model(**{name: values.to(self.device) for name, values in given.items()})
        starts, ends = (logits.double().cpu() for logits in (answered.start_logits, answered.end_logits))
        own, context = (
            torch.from_numpy(pad_lists([mask.tolist() for mask in masks], 0)[0]).bool()
            for masks in ([w.own for w in windows], [w.context for w in windows])
        )
        nothing = torch.tensor([window.nothing for window in windows])
        return best_spans(starts, ends, torch.from_numpy(filled), own, context, nothing, self.reach.longest)


def best_spans(
    starts: Tensor, ends: Tensor, mask: Tensor, own: Tensor, context: Tensor, nothing: Tensor, longest: int
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
    likely = [torch.log_softmax(logits.masked_fill(~mask, -torch.inf), 1) for logits in (starts, ends)]
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


@dataclass(frozen=True)
class Answering:
    """How answers are asked for: what the model is given, its words for no answer, and how many tokens it may write."""

    template: str
    no_answer: str
    longest: int

    def __post_init__(self) -> None:
        check_template("qa_template", self.template, ("question", "context"), needed=("question", "context"))

    def given(self, pair: Pair) -> str:
        return self.template.format(question=pair[0], context=pair[1])


def writes_answers(weights: Weights) -> bool:
    """Whether a model writes its answers rather than pointing at them."""
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(weights.folder, local_files_only=True)
    points = any(name.endswith("ForQuestionAnswering") for name in config.architectures or ())
    return bool(config.is_encoder_decoder) and not points


def read_by_writing(model: LanguageModel, answering: Answering, pairs: Iterable[Pair]) -> Answers:
    """The answer to each distinct pair; a blank text holds none."""
    distinct = list(dict.fromkeys(pairs))
    given = {pair: answering.given(pair) for pair in distinct if pair[1].strip()}
    written = write(model, given.values(), beams=1, longest=answering.longest)
    asked = ((text, answering.no_answer) for text in given.values())
    none = {text: exp(answers) for (text, _), answers in log_likelihoods([model], asked, normalised=False).of.items()}
    answers = dict.fromkeys(distinct, NO_ANSWER)
    for pair, text in given.items():
        answer = written.of[text]
        is_given = bool(answer) and not exact_match(answer, answering.no_answer)
        answers[pair] = Answer(answer if is_given else "", 1 - none[text], none[text], is_given)
    return Answers(answers, written.cut)
