"""A small board that many have rated: several labels an output, annotators of known severity, on two days."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from small_boards import noisy_board

from billboards.board import Aggregate, Board
from billboards.board.judgments import JudgmentColumns

#: How far below the others each of six annotators rates, on 1-5.
SEVERITY = {"ann": 1.0, "bob": 0.5, "cem": 0.0, "dee": 0.0, "eve": -0.5, "fay": -1.0}
DAYS = ("2026-03-02T10:00:00+00:00", "2026-03-03T10:00:00+00:00")


def crowded_board(instances: int = 30, *, unlabelled: int = 0, seed: int = 0) -> Board:
    """Four machines with three labels an output, on a scale of 1-5; g3 lacks labels on its last instances."""
    board = noisy_board({"good": 10.0, "poor": 60.0}, instances=instances)
    random = np.random.default_rng(seed)
    names = list(SEVERITY)
    judged = JudgmentColumns(("adequacy",))
    known = board.judgments
    truth = dict(zip(zip(known.row.tolist(), known.instance.tolist(), strict=True), known.values[:, 0], strict=True))
    for row in range(4):
        for k in range(instances if row < 3 else instances - unlabelled):
            for who in random.permutation(6)[:3]:
                value = truth[row, k] - SEVERITY[names[who]] + random.normal(0, 0.3)
                judged.add(
                    k, row, {"adequacy": float(np.clip(round(value * 4) / 4, 1, 5))},
                    annotator=names[who], campaign=("spring", "summer")[who % 2], details={"time": DAYS[who % 2]},
                )  # fmt: skip
    judged.add(0, 0, {"adequacy": 1.0}, annotator="ann", campaign="spring", details={"test": "negative"})
    aggregates = {"overall": Aggregate("overall", ("adequacy",))}
    return replace(board, judgments=judged.build(), aggregates=aggregates)
