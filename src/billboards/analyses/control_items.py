"""Attention checks of Appraise's campaigns: outputs shown once more with a fault put in, marked BAD.

A BAD item is answered right when it scores below its own original, scored by the same annotator. A document with
`#bad7` in its name is the corrupted copy of the one without, segment by segment in the items' order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from billboards.formats.appraise import AppraiseAnswer, last_answers
from billboards.reading import whole_number

_COPY = re.compile(r"#bad\d*(?=#|$)")


@dataclass(frozen=True, slots=True)
class ControlPair:
    """One annotator's scores of a corrupted output and of its original."""

    annotator: str
    bad: float
    original: float


@dataclass(frozen=True)
class ControlItems:
    """Pairs by annotator, in the file's order, and the BAD items whose original can't be told."""

    pairs: dict[str, tuple[ControlPair, ...]]
    unpaired: tuple[AppraiseAnswer, ...]


def control_items(answers: Sequence[AppraiseAnswer]) -> ControlItems:
    """Every annotator's BAD items with their originals; of an item answered twice the last answer counts."""
    documents: dict[tuple[str, str], list[AppraiseAnswer]] = defaultdict(list)
    for one in last_answers([one for one in answers if not one.is_document]):
        documents[one.annotator, one.document].append(one)
    pairs: dict[str, list[ControlPair]] = {one.annotator: [] for one in answers}
    unpaired: list[AppraiseAnswer] = []
    for (annotator, document), copies in documents.items():
        if copies[0].kind == "BAD":
            originals = documents.get((annotator, _COPY.sub("", document)), [])
            if originals is copies or len(originals) != len(copies):
                unpaired += copies
            else:
                matched = zip(_in_order(copies), _in_order(originals), strict=True)
                pairs[annotator] += [ControlPair(annotator, bad.score, one.score) for bad, one in matched]
    return ControlItems({annotator: tuple(found) for annotator, found in pairs.items()}, tuple(unpaired))


def _in_order(answers: Sequence[AppraiseAnswer]) -> list[AppraiseAnswer]:
    """By item number, where items have numbers."""
    return sorted(answers, key=lambda one: (-1 if (number := whole_number(one.item)) is None else number, one.item))
