"""Greedy extraction: the k sentences of the input that raise a metric most, one after the other (§4.2).

All candidates of a step, for all instances, are scored in one call of the metric. A metric that declares itself
submodular is evaluated lazily: a sentence's gain can only shrink, so one whose last known gain can't win any more is
passed over. Both give what the plain loop gives. Chosen sentences stand in the order of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.optimised import Optimised, best_of, drawn
from billboards.analyses.audit.results import OptimisationMethod
from billboards.analyses.audit.sentences import split_sentences
from billboards.board import Board, Texts
from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.base import Metric

Floats = NDArray[np.float64]
Sentences = Sequence[tuple[str, ...]]
#: Pairs in one call of a metric that treats outputs one by one.
MOST_PAIRS = 50_000
#: Raised when a change of the search changes what it finds.
REVISION = "1"


@dataclass(frozen=True)
class Extraction:
    """Greedy choice of `k` sentences."""

    k: int = 3
    method: OptimisationMethod = "extract"

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        sentences = input_sentences(bench.board, metric)
        spent = bench.budget.spent
        search = _Lazy if metric.submodular else _Greedy
        chosen, complete = search(bench, metric, sentences).run(self.k)
        lazily = ", lazily" if metric.submodular else ""
        how = f"greedy extraction of {self.k} sentences of the input{lazily}"
        texts = tuple(joined(s, c) if s else None for s, c in zip(sentences, chosen, strict=True))
        at_random = random_sentences(bench, sentences, self.k)
        return Optimised(
            method="extract",
            how=how,
            texts=texts,
            pairs=bench.budget.spent - spent,
            complete=complete,
            random_texts=at_random,
        )


@dataclass(frozen=True)
class Enumeration:
    """The best `k` sentences of all, where an input has no more than `most` choices; other instances have no output."""

    k: int = 3
    most: int = 500
    method: OptimisationMethod = "enumerate"

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        sentences, spent = input_sentences(bench.board, metric), bench.budget.spent
        short = [i for i, own in enumerate(sentences) if own and comb(len(own), min(self.k, len(own))) <= self.most]
        if not short:
            raise NotEnoughData(f"no input has at most {self.most} choices of {self.k} sentences; raise the limit")
        tries = [
            (i, subset) for i in short for subset in combinations(range(len(sentences[i])), _size(sentences, i, self.k))
        ]
        bench.budget.need(len(tries), f"enumerating {len(short)} short inputs")
        scores = _scored(bench, metric, sentences, tries)
        best = best_of([i for i, _ in tries], scores)
        chosen = {i: tries[place][1] for i, place in best.items()}
        texts = tuple(joined(own, chosen[i]) if i in chosen else None for i, own in enumerate(sentences))
        how = f"every choice of {self.k} sentences on {len(short)} short inputs"
        any_sentences = random_sentences(bench, sentences, self.k)
        at_random = tuple(text if i in chosen else None for i, text in enumerate(any_sentences))
        return Optimised(
            method="enumerate", how=how, texts=texts, pairs=bench.budget.spent - spent, random_texts=at_random
        )


def short_inputs(board: Board, k: int, most: int = 500) -> int:
    """How many inputs have few enough choices of k sentences to try them all."""
    lengths = [len(split_sentences(instance.input or "")) for instance in board.instances]
    return sum(length > 0 and comb(length, min(k, length)) <= most for length in lengths)


def random_sentences(bench: Bench, sentences: Sentences, k: int) -> Texts:
    """Any k sentences of every input."""
    return tuple(
        joined(own, drawn(bench.seed, instance.id).sample(range(len(own)), min(k, len(own)))) if own else None
        for own, instance in zip(sentences, bench.board.instances, strict=True)
    )


def input_sentences(board: Board, metric: Metric) -> Sentences:
    """The sentences of every input; a metric that sees references can't be optimised without them."""
    if metric.card.needs_references:
        raise InvalidInput(f"{metric.name} needs references, which extraction doesn't see; use --method risk")
    sentences = [split_sentences(instance.input or "") for instance in board.instances]
    if not any(sentences):
        raise NotEnoughData(f"board {board.name} has no text as input, so there are no sentences to extract")
    return sentences


def joined(sentences: Sequence[str], chosen: Sequence[int]) -> str:
    """Chosen sentences in the order of the input."""
    return " ".join(sentences[k] for k in sorted(chosen))


def _size(sentences: Sentences, instance: int, k: int) -> int:
    return min(k, len(sentences[instance]))


class _Greedy:
    """A search that knows what was chosen for every instance, and keeps it after every step."""

    def __init__(self, bench: Bench, metric: Metric, sentences: Sentences) -> None:
        self.bench, self.metric, self.sentences = bench, metric, sentences
        seen = bench.board.context_version(references=(), inputs=True)
        self.kept = bench.checkpoint("extract", REVISION, type(self).__name__, metric.signature, seen)
        self.chosen: list[list[int]] = [[] for _ in sentences]

    def run(self, k: int) -> tuple[list[list[int]], bool]:
        """The choice of k sentences, and whether the budget was enough for all steps."""
        if k < 1:
            raise InvalidInput(f"extraction takes 1 sentence or more, not {k}")
        steps = self._kept_steps()[:k]
        if steps:
            self.chosen = [list(own) for own in steps[-1]]
        for step in range(len(steps), k):
            open_instances = [i for i, own in enumerate(self.sentences) if len(self.chosen[i]) < len(own)]
            if not self._step(step, open_instances):
                return self.chosen, False
            steps.append([list(own) for own in self.chosen])
            self.kept.save({"steps": steps})
            self.bench.show(step + 1, k, f"{self.metric.name} · sentence {step + 1} of {k}")
        return self.chosen, True

    def _kept_steps(self) -> list[list[list[int]]]:
        """What was chosen before, step by step; nothing where what is kept is no choice of these sentences."""
        steps = self.kept.load().get("steps", [])
        return steps if isinstance(steps, list) and all(map(self._is_choice, steps)) else []

    def _is_choice(self, step: object) -> bool:
        if not isinstance(step, list) or len(step) != len(self.sentences):
            return False
        return all(
            isinstance(own, list) and all(type(s) is int and 0 <= s < len(sentences) for s in own)
            for own, sentences in zip(step, self.sentences, strict=True)
        )

    def _step(self, step: int, instances: list[int]) -> bool:
        """Add the best sentence to every instance's choice; False where the budget doesn't allow it."""
        tries = [(i, (*self.chosen[i], s)) for i in instances for s in self._open(i)]
        if not self._afford(step, len(tries)):
            return False
        scores = _scored(self.bench, self.metric, self.sentences, tries)
        for i, place in best_of([i for i, _ in tries], scores).items():
            self.chosen[i].append(tries[place][1][-1])
        return True

    def _open(self, instance: int) -> list[int]:
        taken = set(self.chosen[instance])
        return [s for s in range(len(self.sentences[instance])) if s not in taken]

    def _afford(self, step: int, pairs: int) -> bool:
        """The first step can't be done without; a later one that can't be paid ends the search."""
        if step == 0:
            self.bench.budget.need(pairs, "the first sentence")
            return True
        return self.bench.budget.take(pairs)


class _Lazy(_Greedy):
    """Gains only shrink: a sentence is tried again only while its last known gain could still be the best."""

    def __init__(self, bench: Bench, metric: Metric, sentences: Sentences) -> None:
        super().__init__(bench, metric, sentences)
        self.value: dict[int, float] = {}
        self.gain: dict[int, dict[int, float]] = {}

    def _step(self, step: int, instances: list[int]) -> bool:
        if not self.gain and not self._begin(step, instances):
            return False
        exact: dict[int, set[int]] = {i: set(self.gain[i]) if step == 0 else set() for i in instances}
        waiting = list(instances)
        while waiting:
            tries = []
            for i in list(waiting):
                _, leader = min((-self.gain[i][s], s) for s in self._open(i))
                if leader in exact[i]:
                    self.value[i] += self.gain[i][leader]
                    self.chosen[i].append(leader)
                    waiting.remove(i)
                else:
                    tries.append((i, (*self.chosen[i], leader)))
                    exact[i].add(leader)
            if not self.bench.budget.take(len(tries)):
                self._undo(instances, waiting, step)
                return False
            for (i, choice), score in zip(tries, _scored(self.bench, self.metric, self.sentences, tries), strict=True):
                self.gain[i][choice[-1]] = float(score) - self.value[i]
        return True

    def _begin(self, step: int, instances: list[int]) -> bool:
        """Every sentence's gain over nothing, and the value of what was chosen before an interruption."""
        begun = [i for i, own in enumerate(self.sentences) if own]
        empty = [(i, ()) for i in begun]
        alone = [(i, (s,)) for i in begun for s in range(len(self.sentences[i]))]
        before = [(i, tuple(self.chosen[i])) for i in instances] if step else []
        self.bench.budget.need(len(empty) + len(alone) + len(before), "the first sentence")
        scores = _scored(self.bench, self.metric, self.sentences, [*empty, *alone, *before])
        nothing = dict(zip(begun, scores[: len(empty)], strict=True))
        for (i, (s,)), score in zip(alone, scores[len(empty) : len(empty) + len(alone)], strict=True):
            self.gain.setdefault(i, {})[s] = float(score - nothing[i])
        self.value = {i: float(value) for i, value in nothing.items()}
        self.value |= {i: float(s) for (i, _), s in zip(before, scores[len(empty) + len(alone) :], strict=True)}
        return True

    def _undo(self, instances: list[int], waiting: list[int], step: int) -> None:
        """A step that can't be finished for all is taken back, so that every output has as many sentences."""
        for i in set(instances) - set(waiting):
            if len(self.chosen[i]) > step:
                self.chosen[i].pop()


def _scored(bench: Bench, metric: Metric, sentences: Sentences, tries: Sequence[tuple[int, Sequence[int]]]) -> Floats:
    """The scores of choices; in one call, or in as few as keep memory bounded."""
    positions = [i for i, _ in tries]
    texts = [joined(sentences[i], choice) for i, choice in tries]
    size = len(texts) if metric.needs_corpus and not metric.scores_together else MOST_PAIRS
    parts = [
        bench.score_texts(metric, positions[start : start + size], texts[start : start + size])
        for start in range(0, len(texts), max(size, 1))
    ]
    return np.concatenate(parts) if parts else np.empty(0)
