"""Small scored boards with a kept ranking, and hands that change a score or a number of the ranking behind its back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from small_sites import make_board

import billboards as bb
from billboards.board.trust import TrustRules
from billboards.board.writing import write_board


def ferry_folder(folder: Path, *, keep: bool = True, trust: TrustRules | None = None, **options: Any) -> Path:
    """A board of four machines and a person, scored against the references asked for, and ranked."""
    board = make_board()
    instances = tuple(
        replace(instance, domain="sea" if k % 2 else "land", tags=("calm",) if k % 3 else ())
        for k, instance in enumerate(board.instances)
    )
    # What a metric may be compared with is what nobody among the machines wrote.
    rules = TrustRules() if trust is None else trust
    write_board(replace(board, instances=instances, references_used=("Ada", "Ben"), trust=rules), folder)
    opened = bb.open(folder)
    references = options.get("references")
    bb.score(opened, references=None if references is None else [references])
    if keep:
        bb.rank(opened, save=True, **{"draws": 30, **options})
    return folder


def edit_scores(
    folder: Path,
    metric: str,
    generator: str,
    change: Callable[[np.ndarray[Any, Any]], object],
    *,
    kept: int | None = None,
) -> np.ndarray[Any, Any]:
    """Change a generator's kept scores under a metric, in place; returns them as they were."""
    version = bb.open(folder).row(generator).version
    where = "column_id in (select id from columns where name = ?) and outputs = ? and is_primary"
    with closing(sqlite3.connect(folder / ".billboards" / "cells.sqlite")) as database, database:
        (blob,) = database.execute(f"select scores from cells where {where}", (metric, version)).fetchone()
        before = np.frombuffer(blob)
        scores = before.copy()
        change(scores)
        database.execute(f"update cells set scores = ? where {where}", (scores[:kept].tobytes(), metric, version))
    return before


def edit_ranking(folder: Path, change: Callable[[dict[str, Any]], object]) -> tuple[str, dict[str, Any]]:
    """Change the only kept ranking; returns its id, and what it says now."""
    (path,) = (folder / "rankings").iterdir()
    document = json.loads(path.read_text())
    change(document["ranking"])
    path.write_text(json.dumps(document))
    return path.stem, document["ranking"]
