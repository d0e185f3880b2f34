"""The board's eight machine generators: programs from an input to a text, and nothing else.

A program sees one input at a time; what it knows beside that, it learned from the training pairs. None reads a
reference or the human generator's texts, and each gives the same text for the same input every time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bulletins.faulty import write_embroiderer, write_skimmer, write_stumbler
from bulletins.learned import Babbler, Neighbour
from bulletins.templates import write_almanac, write_crier, write_telegram
from bulletins.texts import read_training


@dataclass(frozen=True, slots=True)
class Program:
    """A generator that runs: its name, what it is, and the function that writes."""

    name: str
    description: str
    write: Callable[[str], str]


def programs() -> tuple[Program, ...]:
    """All eight, ready to write."""
    training = read_training()
    return (
        Program("Almanac", "Templates with grammar: every fact, in plain and correct sentences.", write_almanac),
        Program(
            "Babbler",
            "A word-bigram model of 36 training texts with gaps for the facts; the best of five chains.",
            Babbler(training),
        ),
        Program("Crier", "Templates that say every fact and wrap each in courtesies.", write_crier),
        Program(
            "Embroiderer",
            "Good templates that leave out a detail and often end with a statement nobody made.",
            write_embroiderer,
        ),
        Program("Neighbour", "Copies the training text whose record shares the most facts.", Neighbour(training)),
        Program("Skimmer", "Templates with a limit on length: the first facts only.", write_skimmer),
        Program("Stumbler", "Templates without grammar: every fact, wrong endings.", write_stumbler),
        Program("Telegram", "Templates in telegraphic style: every fact, abbreviated, no verbs.", write_telegram),
    )
