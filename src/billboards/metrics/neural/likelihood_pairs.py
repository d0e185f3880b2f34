"""The likelihoods of many pairs of texts, each distinct pair once.

Distinct texts are tokenised once, pairs are sorted by length and cut into batches by their number of tokens, and every
device takes the next batch when it is done with one. A batch that doesn't fit into memory is halved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.neural.encoder import batches
from billboards.metrics.neural.halving import halve_until_it_fits
from billboards.metrics.neural.likelihood import LanguageModel

#: A text that is read, and the text whose likelihood after it is asked for.
Pair = tuple[str, str]
Waiting = SimpleQueue[NDArray[np.intp]]
Tokeniser = Callable[[Sequence[str]], tuple[list[list[int]], int]]
#: Tokens in a batch: each has a logit for every word of the vocabulary.
BATCH = {"cpu": 1024, "cuda": 16384}


@dataclass(frozen=True)
class Likelihoods:
    """The log-likelihood of each pair, summed or per token, and how many of the distinct texts were cut."""

    of: Mapping[Pair, float]
    texts: int
    cut: int


@dataclass(frozen=True)
class _Tokens:
    """What is read and what is asked for, pair by pair."""

    given: Sequence[Sequence[int]]
    asked: Sequence[Sequence[int]]


def log_likelihoods(
    models: Sequence[LanguageModel], pairs: Iterable[Pair], *, normalised: bool = True, marks: bool = True
) -> Likelihoods:
    """How likely the second text of each pair is after the first; per token of the second where `normalised`.

    Without `marks`, tokens that are no part of a text (a language's, a text's beginning) count nothing.
    """
    distinct = list(dict.fromkeys(pairs))
    one = models[0]
    given, cut_given = _tokenised([pair[0] for pair in distinct], one.given_tokens)
    asked, cut_asked = _tokenised([pair[1] for pair in distinct], one.asked_tokens)
    found = _run(models, _Tokens(given, asked), marks)
    if normalised:
        found = found / [_counted(one, ids, marks) for ids in asked]
    texts = len({pair[0] for pair in distinct}) + len({pair[1] for pair in distinct})
    return Likelihoods(dict(zip(distinct, found.tolist(), strict=True)), texts, cut_given + cut_asked)


def _tokenised(texts: Sequence[str], tokenise: Tokeniser) -> tuple[list[list[int]], int]:
    """The tokens of each text, equal texts sharing theirs."""
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return [], 0
    lists, cut = tokenise(distinct)
    tokens = dict(zip(distinct, lists, strict=True))
    return [tokens[text] for text in texts], cut


def _counted(model: LanguageModel, ids: Sequence[int], marks: bool) -> int:
    """How many tokens count; a text of nothing but marks is divided by 1, since its sum is 0."""
    return max(1, len(ids) if marks else sum(one not in model.marks for one in ids))


def _run(models: Sequence[LanguageModel], tokens: _Tokens, marks: bool) -> NDArray[np.float64]:
    """The sum of each pair's log-probabilities, on all devices."""
    read, wanted = (np.array([len(ids) for ids in lists], np.int64) for lists in (tokens.given, tokens.asked))
    order = np.lexsort((read, wanted))
    waiting: Waiting = SimpleQueue()
    for part in batches((read + wanted)[order], BATCH.get(models[0].device.type, BATCH["cuda"])):
        waiting.put(order[part])
    sums = np.empty(len(order), np.float64)
    with ThreadPoolExecutor(len(models)) as pool:
        work = [pool.submit(list, _drain(model, waiting, tokens, marks)) for model in models]
        try:
            for places, found in (result for one in work for result in one.result()):
                sums[places] = found
        finally:
            # After an error or Ctrl-C the devices end with the batch in hand.
            list(_taken(waiting))
    return sums


def _taken(waiting: Waiting) -> Iterator[NDArray[np.intp]]:
    """What is waiting, until nothing is."""
    with suppress(Empty):
        while True:
            yield waiting.get_nowait()


def _drain(
    model: LanguageModel, waiting: Waiting, tokens: _Tokens, marks: bool
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    import torch

    def sums(some: NDArray[np.intp]) -> torch.Tensor:
        return model.sums([tokens.given[k] for k in some], [tokens.asked[k] for k in some], marks=marks)

    with torch.inference_mode():
        for places in _taken(waiting):
            yield places, halve_until_it_fits(places, sums)[:, 0].cpu().numpy()
