"""Bias against people: human texts scored as outputs, and the share of machines put above them (§5.2).

A reference-free metric scores every reference. A reference-based one scores a reference with that reference left out,
and the machines with the same ones, so that both sides meet the same references. People whose texts are on the board
take part as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, text_row
from billboards.analyses.audit.landing import Field
from billboards.analyses.audit.results import HumanPlace
from billboards.analyses.audit.subject import Subject
from billboards.board import Board, Outputs, ReferenceSet, Texts
from billboards.stats.system_level import beaten_shares

Floats = NDArray[np.float64]
#: References that a reference-based metric scores, each of which takes scoring every machine anew.
MOST_BASED = 4
#: References that a reference-free metric scores.
MOST_FREE = 10


def human_rows(board: Board, most: int = MOST_FREE) -> list[Outputs]:
    """People's texts: references, at most so many, then generators that are people and no reference."""
    references = [reference_row(board, name) for name in board.references[:most]]
    people = (row for row in board.rows if row.generator is not None and row.generator.kind == "human")
    return [*references, *(row for row in people if not board.is_reference(row, board.references))]


def reference_row(board: Board, name: str) -> Outputs:
    """A reference as if it were an output."""
    texts: Texts = tuple(
        next((ref.text for ref in instance.references if ref.name == name), None) for instance in board.instances
    )
    return text_row(board, name, texts, "human")


def human_places(bench: Bench, subject: Subject, field: Field) -> Iterator[HumanPlace]:
    """Each person under the metric, where the metric can score that person's text."""
    if subject.metric is None:
        yield from _released_places(bench, subject, field)
    elif subject.needs_references:
        yield from _based_places(bench, subject, field)
    else:
        machines = bench.scores(subject.metric, _machines(bench.board, field))
        persons = human_rows(bench.board)
        for row, own in zip(persons, bench.scores(subject.metric, persons) if persons else (), strict=True):
            yield from _place(subject.name, row.name, own, machines)


def _released_places(bench: Bench, subject: Subject, field: Field) -> Iterator[HumanPlace]:
    """Scores that came with the data know only the people who are generators."""
    scores = subject.scores(bench, field.rows)
    kinds = [bench.board.rows[k].generator for k in field.rows]
    for own, generator in zip(scores, kinds, strict=True):
        if generator is not None and generator.kind == "human":
            yield from _place(subject.name, generator.name, own, scores[field.machines])


def _based_places(bench: Bench, subject: Subject, field: Field) -> Iterator[HumanPlace]:
    board = bench.board
    assert subject.metric is not None
    for row in human_rows(board, MOST_BASED):
        others: ReferenceSet = tuple(name for name in board.references if name != row.name)
        if not others:
            continue
        scores = bench.scores(subject.metric, [row, *_machines(board, field)], references=others)
        yield from _place(subject.name, row.name, scores[0], scores[1:])


def _machines(board: Board, field: Field) -> list[Outputs]:
    return [board.rows[field.rows[k]] for k in field.machine_places]


def _place(judge: str, person: str, own: Floats, machines: Floats) -> Iterator[HumanPlace]:
    scored = np.isfinite(own)
    differences = np.where(scored, machines - own, np.nan)
    usable = np.isfinite(differences).any(axis=1)
    if usable.any():
        above = float(beaten_shares(differences[usable], np.ones((1, len(own))))[0])
        yield HumanPlace(
            judge=judge,
            person=person,
            mean=float(own[scored].mean()),
            above=above,
            machines=int(usable.sum()),
            n=int(scored.sum()),
        )
