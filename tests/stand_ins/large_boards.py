"""A board with more generators than a page has rows, whose scores came with the data so that it is ranked at once."""

from __future__ import annotations

import numpy as np

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Reference,
    row_of,
)
from billboards.board.judgments import JudgmentColumns

INSTANCES, JUDGED = 4, 12
METRICS = ("chrF", "ROUGE-1", "TER", "METEOR", "CIDEr", "BLEURT")


def large_board(generators: int) -> Board:
    """Machines of falling quality, a dozen of them judged; the number in a name is its place in the folder."""
    random = np.random.default_rng(7)
    tested = tuple(
        Instance(f"i{k}", references=(Reference("Ada", f"the ferry leaves at {k + 8}"),), input=f"input {k}")
        for k in range(INSTANCES)
    )
    quality = 0.8 - 0.6 * np.arange(generators)[:, None] / generators + random.normal(0, 0.05, (generators, INSTANCES))
    names = [f"system-{g:03d}" for g in range(generators)]
    rows = tuple(row_of(Generator(name), tested, (f"{name} says so",) * INSTANCES) for name in names)
    judged = JudgmentColumns(("adequacy",))
    for g in range(0, generators, generators // JUDGED):
        for k in range(INSTANCES):
            judged.add(k, g, {"adequacy": float(np.clip(round(5 * quality[g, k]), 1, 5))}, annotator="ann")
    columns = []
    for m, metric in enumerate(METRICS):
        scores = 100 * quality + random.normal(0, 1 + 3 * m, quality.shape)
        values = dict(zip(names, scores, strict=True))
        columns.append(
            ImportedColumn(
                name=metric, source_name=metric, signature=f"imported:{m}", values=values, references=("Ada",)
            )
        )
    return Board(
        name="crowded",
        instances=tested,
        rows=rows,
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
        imported=tuple(columns),
        output_language="en",
        card=DataCard(title="A crowded harbour", task="Say when it leaves."),
    )
