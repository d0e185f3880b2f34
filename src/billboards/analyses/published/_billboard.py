"""The tables of Bidimensional Leaderboards computed again from its release: rankings, ensembles and overrating."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from billboards.analyses._archive import open_home
from billboards.analyses.ensemble import ensemble as ensemble_study
from billboards.analyses.overrating import overrating
from billboards.analyses.published import PublishedCell, Values, folder_of
from billboards.analyses.rank import rank_board
from billboards.board.writing import write_board
from billboards.importers import IMPORTERS


def values(publication: Mapping[str, Any], cells: Sequence[PublishedCell], data: Path) -> Values:
    """Ours for each cell, and why it differs or is missing."""
    with tempfile.TemporaryDirectory() as folder:
        told = {
            board: _told(publication, board, data, Path(folder))
            for board in dict.fromkeys(cell.column for cell in cells)
        }
    reasons = {table["name"]: table.get("reasons", {}) for table in publication["tables"]}
    return [
        (value, reasons[cell.table].get(cell.column))
        if (value := told[cell.column].get((cell.block, cell.row))) is not None
        else (None, f"{cell.column} is not at hand, or says nothing of {cell.row}")
        for cell in cells
    ]


def _told(publication: Mapping[str, Any], name: str, data: Path, folder: Path) -> dict[tuple[str, str], float | None]:
    """Everything that a board says which the tables print."""
    where = folder_of(data, publication["folders"])
    judgments = folder_of(data, publication["judgments"].get(name, []))
    references = folder_of(data, publication["references"].get(name, []))
    if where is None or judgments is None:
        return {}
    given = {} if references is None else {"references": references}
    board = IMPORTERS.load("billboard")(where, board=name, judgments=judgments, **given).board
    home = open_home(write_board(board, folder / name))
    lam = publication["lambda"][name]
    ranking = rank_board(home.board, home.cells, lam=lam, draws=0)
    told: dict[tuple[str, str], float | None] = {("correlation", m.name): m.correlation for m in ranking.metrics}
    if ranking.ensemble is not None:
        told["ensemble", "correlation"] = ranking.ensemble.correlation
        told |= {("weight", metric): weight for metric, weight in ranking.ensemble.weights.items()}
    told |= {("generator", g.name): g.scores.get(ranking.ranked_by or "") for g in ranking.generators}
    study = ensemble_study(home.board, lam=lam).value
    told |= {("without", ablation.removed): ablation.correlation for ablation in study.ablations}
    if name == "cnndm":
        report = overrating(home.board, "Human-H", lam=lam, score=False).value
        told |= {("overrating", metric.name): metric.beta0 for metric in report.metrics}
    return told
