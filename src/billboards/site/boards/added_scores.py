"""Scores that an owner adds to a board of the site, checked and planned as for a folder.

Those of the folder's own generators go into its tables. Those of submitted generators can't stand there, because the
folder does not know them: they are kept as cells, by the version of the outputs that they are scores of, and stand on
the live board beside the others of their column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from billboards.board import Board, ImportedColumn
from billboards.board.added_scores import Added, Given, NewColumn, plan_added, plan_column, read_added, write_added
from billboards.board.cells import Floats
from billboards.board.folder import open_board, read_settings_file
from billboards.board.settings import ImportedSettings
from billboards.reading import Problems
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards import registry
from billboards.site.boards.live import attached_key, folder_board, live_board
from billboards.site.database import trail
from billboards.site.site import Site, notice_changes
from billboards.site.work.cells import write_cell


def add_scores(
    site: Site,
    viewer: Viewer,
    board_name: str,
    path: Path,
    *,
    metric: str | None = None,
    generator: str | None = None,
    new: NewColumn | None = None,
    replace_values: bool = False,
    dry_run: bool = False,
) -> list[Added]:
    """Add the scores in a file to a board, or only say what would be added."""
    require(viewer, "administer")
    with site.lock:
        notice_changes(site)
        with site.database.reading() as connection:
            own = folder_board(site, registry.board(connection, board_name))
        live = live_board(site, board_name, audience="owners").board
        given = read_added(path, live, metric=metric, generator=generator)
        in_folder = {name: {r: v for r, v in rows.items() if r in own.row_position} for name, rows in given.items()}
        submitted = {name: {r: v for r, v in rows.items() if r not in own.row_position} for name, rows in given.items()}
        plans = plan_added(own, in_folder, new=new, replace=replace_values)
        joined = [
            _joined(plan, _plan_submitted(live, plan, rows, replace_values=replace_values))
            for plan, rows in zip(plans, submitted.values(), strict=True)
        ]
        if not dry_run:
            write_added(own, plans, new)
            notice_changes(site)
            sources = [plan.source_name for plan in plans]
            _keep(site, viewer, board_name, live, dict(zip(sources, submitted.values(), strict=True)))
    return joined


def _plan_submitted(live: Board, plan: Added, rows: Given, *, replace_values: bool) -> Added:
    """What becomes of the scores of submitted generators, beside those that were added before."""
    column = next((column for column in live.imported if column.source_name == plan.source_name), None)
    before: dict[str, Floats] = {}
    if column is not None:
        sign = _sign(live, column)
        before = {row: sign * column.values[row] for row in rows if row in column.values}
    return plan_column(plan.source_name, before, rows, is_new=plan.is_new, replace=replace_values)


def _joined(plan: Added, other: Added) -> Added:
    return replace(
        plan,
        added={**plan.added, **other.added},
        replaced={**plan.replaced, **other.replaced},
        same=plan.same + other.same,
        values={**plan.values, **other.values},
    )


def _sign(board: Board, column: ImportedColumn) -> float:
    """-1 where the column's users know it as one where lower is better: cells hold scores that were turned round."""
    assert board.home is not None
    stated = read_settings_file(board.home, Problems()).scores
    settings = stated.get(column.source_name, ImportedSettings(name=column.source_name))
    return 1.0 if settings.higher_is_better else -1.0


def _keep(site: Site, viewer: Viewer, name: str, live: Board, submitted: Mapping[str, Given]) -> None:
    """Keep the scores of submitted generators, each column's under the key that the live board looks them up by."""
    assert live.home is not None
    columns = {column.source_name: column for column in open_board(live.home).imported}
    now = site.clock()
    with site.database.writing() as connection:
        for source, rows in submitted.items():
            sign, before = _sign(live, columns[source]), _values(live, source)
            key = attached_key(live, columns[source])
            for row, scores in rows.items():
                merged = before.get(row, scores * float("nan")).copy()
                given = scores == scores
                merged[given] = 0.0 + sign * scores[given]
                write_cell(connection, name, key, live.row(row).version, {"score": merged}, seconds=0.0, now=now)
        detail = {"columns": sorted(submitted)}
        trail.note(connection, viewer.name, "board.scores", name, now=now, board=name, detail=detail)
        trail.raise_generation(connection, name, now=now)


def _values(live: Board, source: str) -> Given:
    return next((column.values for column in live.imported if column.source_name == source), {})
