"""Boards at the edge of what has an answer: nothing varies, hardly anything is there, or everything agrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from billboards.board import (
    Aggregate,
    Board,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Reference,
    human_scores,
    row_of,
)
from billboards.board.judgments import JudgmentColumns
from billboards.metrics.base import Floats

#: Metrics in the order in which they stand on every board; `first` and `second` are those compared.
METRICS = ("first", "second", "third", "fourth")
SCALES = {"adequacy": Dimension("adequacy", range=(1, 5)), "fluency": Dimension("fluency", range=(1, 5))}


def ordinary_board(machines: int = 4, instances: int = 12, *, people: bool = True) -> Board:
    """Machines and a person who wrote no reference, judged on two dimensions, with four imported metrics."""
    random = np.random.default_rng(5)
    tested = tuple(
        Instance(
            f"i{k}",
            references=(Reference("R1", f"the cat {k} sat"), Reference("R2", f"a cat {k} sits")),
            input=f"input {k}",
        )
        for k in range(instances)
    )
    writers = [Generator(f"g{k}") for k in range(machines)] + [Generator("Hanna", kind="human")] * people
    judged = JudgmentColumns(("adequacy", "fluency"))
    rows = []
    for g, writer in enumerate(writers):
        texts = tuple(" ".join(f"the cat {k} sat".split()[: 1 + (g + k) % 4]) for k in range(instances))
        rows.append(row_of(writer, tested, texts))
        for k in range(instances):
            adequacy = float(np.clip(round(4 - 0.6 * g + random.normal()), 1, 5))
            fluency = float(np.clip(round(adequacy + random.normal()), 1, 5))
            judged.add(k, g, {"adequacy": adequacy, "fluency": fluency}, annotator="ann")
    board = Board(
        name="edge",
        instances=tested,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions=SCALES,
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
    )
    noise = {name: 10.0 * (k + 1) for k, name in enumerate(METRICS)}
    return with_scores(board, lambda name, people: people + noise[name] * random.normal(size=people.shape))


def with_scores(board: Board, score: Callable[[str, Floats], Floats]) -> Board:
    """The board with each metric's scores made from its name and people's scores."""
    people = people_say(board)
    columns = []
    for name in METRICS:
        values = score(name, people)
        rows = {row.name: values[k] for k, row in enumerate(board.rows)}
        columns.append(
            ImportedColumn(
                name=name, source_name=name, signature=f"imported:{name}", values=rows, references=("R1", "R2")
            )
        )
    return replace(board, imported=tuple(columns))


def people_say(board: Board) -> Floats:
    return human_scores(board.judgments, board.aggregate(), board.dimensions, (len(board.rows), len(board.instances)))


def with_first(board: Board, change: Callable[[Floats], Floats]) -> Board:
    """The board with the first metric's scores changed, each row's from people's scores of it."""
    people = people_say(board)
    values = {row.name: change(people[k]) for k, row in enumerate(board.rows)}
    return replace(board, imported=(replace(board.imported[0], values=values), *board.imported[1:]))


def all_tied() -> Board:
    """Everyone judged 3, everything."""
    board = ordinary_board()
    tied = replace(board.judgments, values=np.full_like(board.judgments.values, 3.0))
    return replace(board, judgments=tied)


def some_infinite(people: Floats) -> Floats:
    values = people + np.arange(len(people)) % 3
    values[0], values[1] = np.inf, -np.inf
    return values


EDGES: Mapping[str, Callable[[], Board]] = {
    "ordinary": ordinary_board,
    "a constant metric": lambda: with_first(ordinary_board(), np.ones_like),
    "only constant metrics": lambda: with_scores(ordinary_board(), lambda name, people: np.ones_like(people)),
    "two generators": lambda: ordinary_board(machines=2, people=False),
    "four outputs": lambda: ordinary_board(machines=1, instances=2),
    "one instance": lambda: ordinary_board(instances=1),
    "all-tied judgments": all_tied,
    "infinities": lambda: with_first(ordinary_board(), some_infinite),
    "equal to the judgments": lambda: with_first(ordinary_board(), np.copy),
    "all equal to the judgments": lambda: with_scores(ordinary_board(), lambda name, people: people.copy()),
    "no judgments": lambda: replace(ordinary_board(), judgments=JudgmentColumns(("adequacy",)).build(), ranks=None),
    "no scores": lambda: replace(ordinary_board(), imported=()),
}
