"""A board's work list in the plainest way: all cells listed one by one, and what the database says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Table, select

from billboards.analyses.overrating import references_without, rows_compared
from billboards.board import Board
from billboards.board.missing_cells import Cell, CellId, column_key
from billboards.site.boards import registry
from billboards.site.boards.live import board_metrics, folder_board, latest_versions, submitted_row
from billboards.site.database.schema import cell_counts, cell_failures, cells, score_columns
from billboards.site.settings import read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.work.cells import CellFailure
from billboards.site.work.worklist import Scorer, has_counts, submitted_metric

HUMAN = "Ben"


@dataclass(frozen=True)
class PlainList:
    """What should be there, for whom, and what is."""

    wanted: dict[CellId, Cell[Scorer]]
    shown: dict[str, set[CellId]]
    waits: dict[str, set[CellId]]
    present: set[CellId]
    failed: dict[CellId, CellFailure]


def list_plainly(site: Site, name: str) -> PlainList:
    with site.database.reading() as connection:
        known, found = registry.board(connection, name), submissions.find(connection, board=name)
        present, failed = _present(connection, name), _failed(connection, name)
    folder, said = folder_board(site, known), read_board_settings(known.settings)
    finished = latest_versions(one for one in found if one.state == "scored")
    seen = latest_versions(one for one in found if one.state == "scored" and not said.hides(one.phase))
    shown = {"owners": list(_product(site, folder, finished)), "public": list(_product(site, folder, seen))}
    scoring = sorted((one for one in reversed(found) if one.state == "scoring"), key=lambda one: one.kind)
    waits = {one.id: list(_product(site, folder, [*finished, *seen], one)) for one in scoring}
    everything = [*shown["owners"], *shown["public"], *(one for some in waits.values() for one in some)]
    wanted = {one.id: one for one in everything}
    with site.database.reading() as connection:
        counted = _present(connection, name, cell_counts)
    present -= {cell_id for cell_id, cell in wanted.items() if has_counts(cell.metric)} - counted
    return PlainList(wanted, _keys(shown), _keys(waits), present, failed)


def _keys(listed: dict[str, list[Cell[Scorer]]]) -> dict[str, set[CellId]]:
    return {key: {one.id for one in some} for key, some in listed.items()}


def _product(
    site: Site, folder: Board, entries: Sequence[Submission], only: Submission | None = None
) -> Iterator[Cell[Scorer]]:
    """Every row under every metric; of one submission, its row or its metric alone."""
    scorers: list[Scorer] = [*board_metrics(folder)[0]]
    scorers += [submitted_metric(one) for one in entries if one.kind == "metric"]
    generators = [one for one in entries if one.kind == "generator"]
    rows = [*folder.rows, *(submitted_row(site, folder, one, one.public_name) for one in generators)]
    if only is not None and only.kind == "generator":
        rows = [submitted_row(site, folder, only, only.name)]
    elif only is not None:
        scorers = [submitted_metric(only)]
    compared = {row.version for row in rows_compared(folder, HUMAN)}
    for references in (folder.references, references_without(folder, HUMAN, None)):
        for scorer in scorers:
            key = column_key(folder, scorer, references)
            for row in rows:
                takes_part = references == folder.references or row.version in compared
                if takes_part and not folder.is_reference(row, key.column.references):
                    yield Cell(scorer, key, row)


def _present(connection: Connection, name: str, table: Table = cells) -> set[CellId]:
    query = select(score_columns.c.signature, score_columns.c.context, table.c.row_version)
    query = query.join(table, table.c.column_id == score_columns.c.id).where(score_columns.c.board == name)
    return {(signature, context, version) for signature, context, version in connection.execute(query)}


def _failed(connection: Connection, name: str) -> dict[CellId, CellFailure]:
    lines = connection.execute(select(cell_failures).where(cell_failures.c.board == name)).mappings()
    return {
        (row["signature"], row["context"], row["row_version"]): CellFailure(
            row["reason"], row["platform"], row["attempts"], row["created"]
        )
        for row in lines
    }
