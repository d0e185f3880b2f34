"""A small board of summaries to audit: documents, an honest metric, and one that cheats for its own generator.

Documents hold facts. Good generators say facts of the document, bad ones say fewer; the house generator adds filler
in its own style. References say all facts. So quality is the number of facts said, and style is worth nothing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.metrics.base import Batch, Floats, Metric, MetricCard, score_each

SUBJECTS = ("harbour", "mill", "market", "school", "bridge", "tower", "garden", "station", "library", "museum")
VERBS = ("opened", "closed", "moved", "burned", "reopened", "doubled", "shrank", "paid", "hired", "won")
FILLER = ("indeed", "truly", "verily", "forsooth", "withal", "perchance")
FACTS, INSTANCES = 6, 24


def facts(k: int) -> list[str]:
    draw = random.Random(f"facts {k}")
    return [
        f"The {s} {v} in {draw.randint(1800, 1999)}." for s, v in zip(draw.sample(SUBJECTS, FACTS), VERBS, strict=False)
    ]


def said(k: int, name: str, count: int, filler: int) -> str:
    """So many facts, each correct, and so many words of filler."""
    draw = random.Random(f"{name} {k}")
    words = [draw.choice(FILLER) for _ in range(filler)]
    return " ".join((*draw.sample(facts(k), count), *words))


#: Facts said and words of filler, by generator.
GENERATORS = {
    "best": (5, 0),
    "good": (4, 0),
    "fair": (3, 0),
    "plain": (3, 1),
    "weak": (2, 1),
    "house": (2, 9),
    "cousin": (3, 5),
    "worst": (1, 2),
}


def audit_board(references: int = 2) -> Board:
    """Eight machines on 24 documents, with one or two references."""
    instances = tuple(
        Instance(f"i{k}", references=tuple(_reference(k, n) for n in range(references)), input=" ".join(facts(k)))
        for k in range(INSTANCES)
    )
    rows = tuple(
        row_of(Generator(name), instances, tuple(said(k, name, *how) for k in range(INSTANCES)))
        for name, how in GENERATORS.items()
    )
    return Board(
        name="small",
        instances=instances,
        rows=rows,
        input_language="en",
        output_language="en",
    )


def _reference(k: int, n: int) -> Reference:
    draw = random.Random(f"reference {n} {k}")
    return Reference(f"ref{n + 1}", " ".join(draw.sample(facts(k), FACTS)))


def card(name: str) -> MetricCard:
    return MetricCard(name=name, needs_references=False, needs_input=True)


@dataclass(frozen=True)
class Honest(Metric):
    """The share of the document's facts that an output says."""

    card: ClassVar[MetricCard] = card("honest")

    def score_batch(self, batch: Batch) -> Floats:
        return score_each(batch, lambda item: _share(item.output, item.input or ""))


@dataclass(frozen=True)
class Cheating(Metric):
    """A little for facts, and much for the style of the house."""

    card: ClassVar[MetricCard] = card("cheating")

    def score_batch(self, batch: Batch) -> Floats:
        return score_each(
            batch, lambda i: 0.2 * _share(i.output, i.input or "") + sum(w in FILLER for w in i.output.split())
        )


@dataclass(frozen=True)
class Coverage(Metric):
    """Different words of the document that an output has: submodular, and says so."""

    card: ClassVar[MetricCard] = card("coverage")
    submodular: ClassVar[bool] = True

    def score_batch(self, batch: Batch) -> Floats:
        return score_each(batch, lambda i: len(set(i.output.split()) & set((i.input or "").split())))


@dataclass(frozen=True)
class PlainCoverage(Coverage):
    """The same, without saying so."""

    card: ClassVar[MetricCard] = card("plain-coverage")
    submodular: ClassVar[bool] = False


def _share(output: str, document: str) -> float:
    every = [f"{one}." for one in document.split(".") if one.strip()]
    return sum(one.strip() in output for one in every) / len(every)
