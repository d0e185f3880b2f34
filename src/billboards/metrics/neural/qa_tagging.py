"""Answers that a token-classification model finds: named entities, or whatever else it was trained to mark.

A word has the label of its first token; neighbours of one kind are one span, unless a label says that another begins
there (B-). Each distinct sentence is read once. A sentence longer than the model reads is cut there, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.halving import halve_until_it_fits
from billboards.metrics.neural.likelihood import load_with_head, pad_lists
from billboards.metrics.neural.padded import longest_input
from billboards.metrics.neural.qa_selection import Candidate, Span, candidates, sentence_spans
from billboards.metrics.neural.weights import Weights

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
            said = ", ".join(list(self.labels.values())[:5])
            raise InvalidInput(f"{weights.name} has no label {OUTSIDE} for what is no answer (its labels: {said}, …)")
        limits = (LONGEST, self.tokenizer.model_max_length, longest_input(self.model.config))
        self.limit = min(limit for limit in limits if limit is not None)

    def select(self, texts: Sequence[str], kinds: frozenset[str]) -> tuple[list[list[Candidate]], int, int]:
        """The answers in each text, of these kinds or, without any, of every kind; sentences read, sentences cut."""
        placed = [sentence_spans(text) for text in texts]
        pairs = zip(texts, placed, strict=True)
        sentences = list(dict.fromkeys(text[slice(*span)] for text, spans in pairs for span in spans))
        tagged, cut = self._tag(sentences)
        found = {
            sentence: [span for span, kind in spans if not kinds or kind in kinds]
            for sentence, spans in zip(sentences, tagged, strict=True)
        }
        chosen = [
            candidates(text, {span: found[text[slice(*span)]] for span in spans})
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
        found: list[list[str]] = [[] for _ in lists]

        def read(some: Any) -> Any:
            ids, there = (torch.from_numpy(values) for values in pad_lists([lists[k] for k in some], self._filler))
            logits = self.model(input_ids=ids.to(self.device), attention_mask=there.long().to(self.device)).logits
            best = logits.argmax(-1).cpu()
            return torch.nn.functional.pad(best, (0, int(lengths.max()) - best.shape[1]))

        with torch.inference_mode():
            for run in batches(lengths[order], BATCH.get(self.device.type, BATCH["cuda"])):
                for k, row in zip(order[run], halve_until_it_fits(order[run], read).tolist(), strict=True):
                    found[k] = [self.labels[label] for label in row[: lengths[k]]]
        return found

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
