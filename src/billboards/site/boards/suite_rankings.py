"""What the suites of a site said, kept for ever: numbered within the suite, named by a digest of what it says.

A worker ranks a suite when all cells that it asks for are there or given up, on every board (`is_due`), and keeps both
tables and the ranking in one transaction on the condition that it still holds the lease. `basis` names everything that
the ranking rests on: as long as that is the same there is nothing to do. Beside the document stand the places of all
metrics, from which the history is read without opening a document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from billboards.analyses.suite.keeping import Kept, kept_document, kept_of
from billboards.analyses.suite.open import OpenSuite
from billboards.errors import UnknownName
from billboards.show.documents import dumps
from billboards.site.boards.snapshots import Audience, document_id
from billboards.site.database import trail
from billboards.site.database.schema import suite_rankings

#: Draws and seed of what a site says of a suite: those of the command line.
DRAWS, SEED = 1000, 0


@dataclass(frozen=True, kw_only=True)
class SuiteSnapshot:
    """What a suite said at one moment, without its tables: `places` has rank and value of each metric."""

    suite: str
    audience: Audience
    number: int
    id: str
    basis: str
    created: float
    #: Labels of the boards that took part.
    boards: Sequence[str]
    places: Mapping[str, Sequence[Any]]


def measured(opened: OpenSuite) -> Kept:
    """Both tables of a suite and its ranking, as they are kept."""
    result = opened.tables(draws=DRAWS, seed=SEED).value
    return Kept(result, opened.rankings(draws=DRAWS, seed=SEED))


def keep(
    connection: Connection, suite: str, audience: Audience, kept: Kept, *, basis: str, board: str, now: float
) -> SuiteSnapshot:
    """Keep what a suite says as its next ranking, unless it says what it said; needs a writing transaction.

    `board` is the board under which the audit trail has it.
    """
    document = kept_document(kept)
    last = latest(connection, suite, audience)
    name = document_id(document)
    if last is not None and last.id == name:
        where = (
            suite_rankings.c.suite == suite,
            suite_rankings.c.audience == audience,
            suite_rankings.c.number == last.number,
        )
        connection.execute(suite_rankings.update().where(*where).values(basis=basis))
        return last
    head: dict[str, Any] = {"suite": suite, "audience": audience, "number": 1 if last is None else last.number + 1}
    head |= {"id": name, "basis": basis, "created": now, "boards": list(kept.result.boards), "places": _places(kept)}
    connection.execute(insert(suite_rankings).values(**head, document=dumps(document)))
    detail = {"suite": suite, "number": head["number"], "audience": audience}
    trail.note(connection, "site", "suite.kept", name, now=now, board=board, detail=detail)
    return SuiteSnapshot(**head)


def _places(kept: Kept) -> dict[str, list[Any]]:
    """Rank and value of each metric, and on how many columns the ranking rests."""
    return {
        standing.metric: [standing.rank, standing.value]
        for ranking in kept.rankings[:1]
        for standing in ranking.standings
    }


_HEAD = [column for column in suite_rankings.c if column.name != "document"]


def list_kept(
    connection: Connection,
    suite: str,
    audience: Audience = "public",
    *,
    before: int | None = None,
    limit: int | None = None,
) -> tuple[SuiteSnapshot, ...]:
    """What a suite said, without its tables, the latest first."""
    query = select(*_HEAD).where(suite_rankings.c.suite == suite, suite_rankings.c.audience == audience)
    if before is not None:
        query = query.where(suite_rankings.c.number < before)
    query = query.order_by(suite_rankings.c.number.desc()).limit(limit)
    return tuple(SuiteSnapshot(**row) for row in connection.execute(query).mappings())


def latest(connection: Connection, suite: str, audience: Audience = "public") -> SuiteSnapshot | None:
    """What a suite said last."""
    newest = list_kept(connection, suite, audience, limit=1)
    return newest[0] if newest else None


def numbered(connection: Connection, suite: str, number: int, audience: Audience = "public") -> SuiteSnapshot:
    """One of the rankings of a suite."""
    kept = list_kept(connection, suite, audience, before=number + 1, limit=1)
    if not kept or kept[0].number != number:
        newest = latest(connection, suite, audience)
        numbers = () if newest is None else (f"1 to {newest.number}",)
        raise UnknownName(f"ranking of suite {suite}", str(number), numbers)
    return kept[0]


def kept_at(connection: Connection, snapshot: SuiteSnapshot) -> Kept:
    """All that a suite said then."""
    query = select(suite_rankings.c.document).where(
        suite_rankings.c.suite == snapshot.suite,
        suite_rankings.c.audience == snapshot.audience,
        suite_rankings.c.number == snapshot.number,
    )
    return kept_of(json.loads(connection.execute(query).scalar_one()))
