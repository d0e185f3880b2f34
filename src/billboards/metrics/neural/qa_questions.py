"""Questions about a text: which of its spans can be asked for, and the questions that a model writes for them.

By default a rule finds the spans: runs of capitalised words, and numbers. It is deterministic, needs no model, and is
made for English and languages that write names as English does. A token-classification model finds others: named
entities, or whatever else it was trained to mark. A word has the label of its first token; neighbours of one kind are
one span, unless a label says that another begins there (B-).

A question is written by a model that is shown an answer in its context. What it is given is a template, because every
such model was trained on one of its own; its fields are the answer, the context, and what stands before and behind the
answer there. What is longer than a model reads is cut there, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from string import Formatter
from typing import Any

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.likelihood import LanguageModel, load_with_head, pad_lists
from billboards.metrics.neural.padded import longest_input
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.windows import halve_until_it_fits
from billboards.metrics.neural.writing import write

#: The value of an option that asks for the rule and not for a model.
RULE = "rule"
Span = tuple[int, int]
#: Words that begin a sentence without being names; a capital there says nothing about them.
_SMALL = (
    "a about after all also although among an and another any as at because before both but by despite during "
    "each even every few first for from had has have he her here his how however i if in into is it its last "
    "later like many may meanwhile more most much my no nor not now of on once one only or other our out over "
    "she since so some still such than that the their them then there these they this those though through to "
    "today two under until up was we were what when where whether which while who whose why will with within "
    "without would yet you your"
)
FUNCTION_WORDS = frozenset(_SMALL.split())
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Prof|St|Gen|Gov|Sen|Rep|Lt|Col|Sgt|Jr|Sr|vs|No|Inc|Co)"
#: A word of a name: initials with their full stops, a title with its own, or any capitalised word but the pronoun I.
_WORD = rf"(?:(?:\p{{Lu}}\.)+|{_TITLE}\.|(?!I(?:['’]\p{{Ll}}+)?(?![\p{{L}}\p{{N}}]))\p{{Lu}}[\p{{L}}\p{{N}}'’&-]*)"
_NAME = rf"(?<![\p{{L}}\p{{N}}]){_WORD}(?:[ \u00a0]{_WORD})*"
_NUMBER = r"(?<![\p{L}\p{N}])[$€£¥]?\p{N}+(?:[.,:/-]\p{N}+)*%?"
#: An end of a sentence: a mark with what closes a quotation, before a blank and what may begin a sentence; or a line's.
_END = r"(?:[.!?…]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[\p{Lu}\p{N}])|[。！？]+[”’」』）]*|(?=\n))\s*"
#: A full stop after these ends no sentence: titles, and single letters as in `J. Smith`.
_ABBREVIATION = rf"(?:\b{_TITLE}|\b\p{{Lu}})\.$"
_LOWER = r"(?<![\p{L}\p{N}'’])\p{Ll}+"
_LETTER = r"[\p{L}\p{N}]"


@cache
def _pattern(written: str) -> Any:
    """A pattern, compiled when it is first needed: finding metrics by name must not load what is behind them."""
    import regex

    return regex.compile(written)


_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that stands in a text, and the sentence around it."""

    text: str
    span: Span
    around: Span

    @property
    def answer(self) -> str:
        return self.text[slice(*self.span)]

    def context(self, *, whole: bool) -> tuple[str, str, str]:
        """What stands before the answer, the answer, and what stands behind it; in its sentence or the whole text."""
        start, stop = (0, len(self.text)) if whole else self.around
        return self.text[start : self.span[0]], self.answer, self.text[self.span[1] : stop]


def sentence_spans(text: str) -> list[Span]:
    """Where the sentences of a text stand, without the blanks between them."""
    starts = [0]
    for end in _pattern(_END).finditer(text):
        if end.end() > starts[-1] and not _pattern(_ABBREVIATION).search(text[starts[-1] : end.end()].rstrip()):
            starts.append(end.end())
    stops = [*starts[1:], len(text)]
    pieces = ((start, text[start:stop]) for start, stop in zip(starts, stops, strict=True))
    return [_trimmed(start, piece) for start, piece in pieces if piece.strip()]


def candidates(text: str, spans: Mapping[Span, Sequence[Span]]) -> list[Candidate]:
    """Answers from the spans that were found in each sentence of a text."""
    placed = (
        (around, around[0] + start, around[0] + stop) for around, places in spans.items() for start, stop in places
    )
    return [
        Candidate(text, _trimmed(start, text[start:stop]), around)
        for around, start, stop in placed
        if text[start:stop].strip()
    ]


def select_by_rule(text: str) -> list[Candidate]:
    """The runs of capitalised words and the numbers of a text, in the order in which they stand.

    The first word of a sentence counts unless it is a function word, or stands in lower case elsewhere in the text.
    """
    spans, plain = sentence_spans(text), FUNCTION_WORDS | set(_pattern(_LOWER).findall(text))
    return candidates(text, {span: sorted(_rule_spans(text[slice(*span)], plain)) for span in spans})


def _rule_spans(sentence: str, plain: frozenset[str]) -> Iterator[Span]:
    """Names and numbers of a sentence; `plain` are words whose capital at its beginning says nothing."""
    first = _first_letter(sentence)
    for name in _pattern(_NAME).finditer(sentence):
        start, stop = name.span()
        word = re.split(r"['’ \u00a0]", name[0])[0]
        if start == first and word.lower() in plain:
            start = stop if " " not in name[0] else start + name[0].index(" ") + 1
        stop -= len((_POSSESSIVE.search(sentence[start:stop]) or [""])[0])
        if start < stop:
            yield start, stop
    for number in _pattern(_NUMBER).finditer(sentence):
        yield number.span()


def _first_letter(sentence: str) -> int:
    letter = _pattern(_LETTER).search(sentence)
    return -1 if letter is None else letter.start()


def _trimmed(start: int, piece: str) -> Span:
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())


OUTSIDE = "O"
#: Tokens of the longest sentence that is read whole, where the model itself reads more.
LONGEST = 512


class Tagger:
    """A model with a label for each token, on one device."""

    def __init__(self, weights: Weights, precision: Precision, device: str) -> None:
        import torch
        from transformers import AutoTokenizer

        self.device = torch.device(device)
        dtype = getattr(torch, PRECISIONS[precision])
        self.model = load_with_head(weights, "AutoModelForTokenClassification", dtype, "labels tokens").to(self.device)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder, local_files_only=True)
        self.labels: dict[int, str] = self.model.config.id2label
        if OUTSIDE not in self.labels.values():
            labels = ", ".join(list(self.labels.values())[:5])
            raise InvalidInput(f"{weights.name} has no label {OUTSIDE} for what is no answer (its labels: {labels}, …)")
        limits = (LONGEST, self.tokenizer.model_max_length, longest_input(self.model.config))
        self.limit = min(limit for limit in limits if limit is not None)

    def select(self, texts: Sequence[str], kinds: frozenset[str]) -> tuple[list[list[Candidate]], int, int]:
        """The answers in each text, of these kinds or, without any, of every kind; sentences read, sentences cut."""
        placed = [sentence_spans(text) for text in texts]
        pairs = zip(texts, placed, strict=True)
        sentences = list(dict.fromkeys(text[slice(*span)] for text, spans in pairs for span in spans))
        tagged, cut = self._tag(sentences)
        marked = {
            sentence: [span for span, kind in spans if not kinds or kind in kinds]
            for sentence, spans in zip(sentences, tagged, strict=True)
        }
        chosen = [
            candidates(text, {span: marked[text[slice(*span)]] for span in spans})
            for text, spans in zip(texts, placed, strict=True)
        ]
        return chosen, len(sentences), cut

    def _tag(self, sentences: Sequence[str]) -> tuple[list[list[tuple[Span, str]]], int]:
        if not sentences:
            return [], 0
        given = self.tokenizer(
            list(sentences), truncation=True, max_length=self.limit, return_offsets_mapping=True, verbose=False
        )
        whole = self.tokenizer(list(sentences), verbose=False)["input_ids"]
        rows = self._labels(given["input_ids"])
        spans = [
            list(_merged(given.encodings[k].word_ids, given["offset_mapping"][k], rows[k]))
            for k in range(len(sentences))
        ]
        return spans, sum(len(ids) > self.limit for ids in whole)

    def _labels(self, lists: Sequence[Sequence[int]]) -> list[list[str]]:
        """The likeliest label of each token."""
        import torch

        lengths = np.array([len(ids) for ids in lists], np.int64)
        order = np.argsort(lengths, kind="stable")
        labels: list[list[str]] = [[] for _ in lists]

        def read(some: Any) -> Any:
            ids, mask = (torch.from_numpy(values) for values in pad_lists([lists[k] for k in some], self._filler))
            logits = self.model(input_ids=ids.to(self.device), attention_mask=mask.long().to(self.device)).logits
            best = logits.argmax(-1).cpu()
            return torch.nn.functional.pad(best, (0, int(lengths.max()) - best.shape[1]))

        with torch.inference_mode():
            for run in batches(lengths[order], BATCH.get(self.device.type, BATCH["cuda"])):
                for k, row in zip(order[run], halve_until_it_fits(order[run], read).tolist(), strict=True):
                    labels[k] = [self.labels[label] for label in row[: lengths[k]]]
        return labels

    @property
    def _filler(self) -> int:
        return self.tokenizer.pad_token_id or 0


def _merged(
    words: Sequence[int | None], offsets: Sequence[tuple[int, int]], labels: Sequence[str]
) -> Iterator[tuple[Span, str]]:
    """Spans of words that belong together, with their kind."""
    open_span: tuple[Span, str] | None = None
    for start, stop, begins, kind in _words(words, offsets, labels):
        if open_span is not None and kind == open_span[1] and not begins:
            open_span = ((open_span[0][0], stop), kind)
            continue
        if open_span is not None:
            yield open_span
        open_span = None if kind == OUTSIDE else ((start, stop), kind)
    if open_span is not None:
        yield open_span


def _words(
    words: Sequence[int | None], offsets: Sequence[tuple[int, int]], labels: Sequence[str]
) -> Iterator[tuple[int, int, bool, str]]:
    """Each word's start and end, whether its label begins a span, and of which kind."""
    ends = {word: stop for word, (_, stop) in zip(words, offsets, strict=True)}
    seen: set[int | None] = {None}
    for word, (start, _), label in zip(words, offsets, labels, strict=True):
        if word not in seen:
            seen.add(word)
            mark, dash, kind = label.partition("-")
            yield start, ends[word], bool(dash) and mark == "B", kind if dash and mark in "BIES" else label


@lru_cache(maxsize=2)
def tagger(weights: Weights, precision: Precision, device: str) -> Tagger:
    """A tagger that is kept for the next call."""
    return Tagger(weights, precision, device)


SENTENCE, TEXT = "sentence", "text"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the answer that it was made for."""

    text: str
    answer: str


#: The questions about each text, in the order of their answers.
Questions = Mapping[str, Sequence[Question]]


@dataclass(frozen=True)
class Asking:
    """How questions are asked for: the template, what counts as the context, and how the model writes."""

    template: str
    scope: str
    beams: int
    longest: int

    def __post_init__(self) -> None:
        check_template("template", self.template, ("answer", "context", "before", "after"), needed=("answer",))
        if self.scope not in (SENTENCE, TEXT):
            raise InvalidInput(f"scope {self.scope!r} is none of {SENTENCE}, {TEXT}")

    def given(self, candidate: Candidate) -> str:
        """What a model is given to ask for an answer."""
        before, answer, after = candidate.context(whole=self.scope == TEXT)
        return self.template.format(answer=answer, context=before + answer + after, before=before, after=after)


def ask(model: LanguageModel, asking: Asking, chosen: Iterable[Sequence[Candidate]]) -> tuple[Questions, int]:
    """The questions for the answers of each text, and how many of the prompts were cut; what is blank asks nothing."""
    answers = [candidate for candidates in chosen for candidate in candidates]
    written = write(model, map(asking.given, answers), beams=asking.beams, longest=asking.longest)
    questions: dict[str, list[Question]] = {}
    for candidate in answers:
        question = written.of[asking.given(candidate)]
        if question:
            questions.setdefault(candidate.text, []).append(Question(question, candidate.answer))
    return questions, written.cut


def check_template(option: str, template: str, fields: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a template that says nothing, names unknown fields, or could not stand in a signature."""
    try:
        named = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise InvalidInput(f"{option} {template!r} is no template: {error}") from error
    fields_named = ", ".join(f"{{{name}}}" for name in fields)
    if set(named) - set(fields) or set(needed) - set(named):
        wanted = " and ".join(f"{{{name}}}" for name in needed)
        raise InvalidInput(f"{option} {template!r}: its fields are {fields_named}, and {wanted} must be among them")
    if set(template) & set(",|\n\r\t"):
        raise InvalidInput(f"{option} {template!r}: commas, bars and line ends can't stand in a metric's name")
