"""Rankings and ensembles of a site, kept for ever unless the site's owner has old rankings thinned out (`retention`).

A snapshot is numbered within its board and named by a digest of what it says, so that the same content has the same
name wherever it was computed. Beside the whole document stand its places as rows, from which the history of a metric
or generator is read without opening a document. `audience` tells what everybody sees from what only owners do. Of a
ranking that was thinned out its number, name, time and cause stay, so that its address can say what became of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from billboards.analyses._archive import next_version
from billboards.analyses._people import PEOPLE
from billboards.analyses.ensemble import Ensemble
from billboards.analyses.rank import Ranking
from billboards.errors import Gone, UnknownName
from billboards.show.documents import document_of, dumps, result_of
from billboards.site.boards.packed_documents import packed_values, read_text
from billboards.site.database import trail
from billboards.site.database.schema import ensembles, rankings, standings

Audience = Literal["public", "owners"]
Side = Literal["metric", "generator"]

#: How a document is written to be named.
NAMED: Mapping[str, Any] = {"sort_keys": True, "ensure_ascii": True, "allow_nan": False}
#: Whether a ranking is there with all that it said; one that was thinned out rests on nothing any more.
IS_KEPT = rankings.c.basis != ""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What a board said at one moment, without the saying: `cause` is why, `moves` who changed place."""

    board: str
    audience: Audience
    number: int
    id: str
    basis: str
    created: float
    cause: Mapping[str, Any]
    moves: Sequence[Mapping[str, Any]]
    ensemble: str | None


@dataclass(frozen=True)
class Place:
    """Where a metric or generator stood in one snapshot; `value` is a correlation or a mean score."""

    number: int
    name: str
    rank: int | None
    value: float | None


def keep(
    connection: Connection,
    board: str,
    audience: Audience,
    document: Mapping[str, Any],
    *,
    basis: str,
    cause: Mapping[str, Any],
    moves: Sequence[Mapping[str, Any]],
    ensemble: str | None,
    now: float,
    seconds: float | None = None,
    id: str | None = None,
    text: str | None = None,
) -> Snapshot:
    """Keep a document as the board's next snapshot; needs a writing transaction.

    seconds: what it took.
    id: the document's name, where it is known already.
    text: the document as it is stored, where it is known already.
    """
    last = latest(connection, board, audience)
    number = 1 if last is None else last.number + 1
    head: dict[str, Any] = {"board": board, "audience": audience, "number": number}
    head["id"] = id or document_id(document)
    head |= {"basis": basis, "created": now, "cause": dict(cause), "moves": list(moves), "ensemble": ensemble}
    packed = packed_values(connection, board, audience, number - 1, text or dumps(document, compact=True))
    connection.execute(insert(rankings).values(**head, **packed))
    places = [{"board": board, "audience": audience, "number": number, **place} for place in places_of(document)]
    if places:
        connection.execute(insert(standings), places)
    detail: dict[str, Any] = {"number": number, "audience": audience, "cause": dict(cause)}
    detail |= {} if seconds is None else {"seconds": round(seconds, 3)}
    trail.note(connection, "site", "ranking.kept", head["id"], now=now, board=board, detail=detail)
    trail.raise_generation(connection, board, now=now)
    return Snapshot(**head)


def kept_at(connection: Connection, kept: Snapshot) -> int:
    """The line of the audit trail that says that a snapshot was kept; 0 where it is gone."""
    for entry in trail.entries(connection, board=kept.board, subject=kept.id):
        if (entry.detail.get("number"), entry.detail.get("audience")) == (kept.number, kept.audience):
            return entry.id
    return 0


def rebase(connection: Connection, kept: Snapshot, basis: str, *, now: float) -> None:
    """Note that a snapshot says what the board says now, too, although it rests on something else."""
    where = _is(kept.board, kept.audience, kept.number)
    connection.execute(update(rankings).where(*where).values(basis=basis))
    trail.raise_generation(connection, kept.board, now=now)


def document_id(document: Mapping[str, Any]) -> str:
    """A document's name: a digest of all it says."""
    return digest_of(json.dumps(document, **NAMED))


def digest_of(text: str) -> str:
    """The name of the document that is so written."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def latest(connection: Connection, board: str, audience: Audience = "public") -> Snapshot | None:
    """The board's last snapshot, if it has one."""
    newest = list_snapshots(connection, board, audience, limit=1)
    return newest[0] if newest else None


def list_snapshots(
    connection: Connection,
    board: str,
    audience: Audience = "public",
    *,
    before: int | None = None,
    limit: int | None = None,
) -> tuple[Snapshot, ...]:
    """Snapshots without their documents, the latest first."""
    query = select(*_HEAD).where(rankings.c.board == board, rankings.c.audience == audience, IS_KEPT)
    if before is not None:
        query = query.where(rankings.c.number < before)
    query = query.order_by(rankings.c.number.desc()).limit(limit)
    return tuple(_snapshot(row) for row in connection.execute(query).mappings())


def snapshot(connection: Connection, board: str, key: int | str, audience: Audience = "public") -> Snapshot:
    """A snapshot by its number or its id; of several with the same content, the latest that is kept."""
    column = rankings.c.number if isinstance(key, int) else rankings.c.id
    query = select(*_HEAD).where(rankings.c.board == board, rankings.c.audience == audience, column == key)
    row = connection.execute(query.order_by(IS_KEPT.desc(), rankings.c.number.desc()).limit(1)).mappings().first()
    if row is None:
        ids = [kept.id for kept in list_snapshots(connection, board, audience, limit=12)]
        raise UnknownName(f"ranking of {board}", str(key), ids)
    if not row["basis"]:
        raise _gone(connection, _snapshot(row))
    return _snapshot(row)


def _gone(connection: Connection, thinned: Snapshot) -> Gone:
    """What to say of a ranking that was thinned out: when it was made, and which one after it is kept."""
    where = (rankings.c.board == thinned.board, rankings.c.audience == thinned.audience, IS_KEPT)
    after = select(func.min(rankings.c.number)).where(*where, rankings.c.number > thinned.number)
    near = select(rankings.c.number, rankings.c.id).where(*where, rankings.c.number == after.scalar_subquery())
    number, name = connection.execute(near).one()
    made = datetime.fromtimestamp(thinned.created, UTC).strftime("%Y-%m-%d at %H:%M UTC")
    return Gone(
        f"ranking {thinned.number} ({thinned.id}) of {thinned.board}, made on {made}, is no longer kept: of old days "
        f"this site keeps the last ranking only; the next one that is kept is ranking {number} ({name})"
    )


def document_text(connection: Connection, kept: Snapshot) -> str:
    """A snapshot's document as it was written."""
    return read_text(connection, kept.board, kept.audience, kept.number)


def document(connection: Connection, kept: Snapshot) -> dict[str, Any]:
    """A snapshot's document: `ranking`, `overrating` (or null), `metrics` and `generators` that took part."""
    content: dict[str, Any] = json.loads(document_text(connection, kept))
    return content


def ranking(connection: Connection, kept: Snapshot) -> Ranking:
    """The ranking in a snapshot, as it was."""
    return result_of(Ranking, document(connection, kept)["ranking"])


def history(
    connection: Connection,
    board: str,
    side: Side,
    *,
    name: str | None = None,
    audience: Audience = "public",
    since: int | None = None,
    after: tuple[str, int] | None = None,
    limit: int | None = None,
) -> tuple[Place, ...]:
    """Every place of every metric or generator (or of one), snapshot by snapshot.

    `since` is the number of the first snapshot, `after` the name and number of the last place seen, for the next page.
    """
    query = select(standings.c.number, standings.c.name, standings.c.rank, standings.c.value)
    query = query.where(standings.c.board == board, standings.c.audience == audience, standings.c.side == side)
    if name is not None:
        query = query.where(standings.c.name == name)
    if since is not None:
        query = query.where(standings.c.number >= since)
    if after is not None:
        last, number = after
        further = (standings.c.name > last) | ((standings.c.name == last) & (standings.c.number > number))
        query = query.where(further)
    query = query.order_by(standings.c.name, standings.c.number).limit(limit)
    return tuple(Place(**row) for row in connection.execute(query).mappings())


def list_ensembles(
    connection: Connection,
    board: str,
    *,
    hidden: bool = False,
    before: tuple[float, str] | None = None,
    limit: int | None = None,
) -> tuple[tuple[Ensemble, float], ...]:
    """Every ensemble ever fitted on a board with its time, the latest first; `hidden` adds those only owners see.

    `before` is the time and signature of the last one seen, for the next page.
    """
    query = select(ensembles).where(ensembles.c.board == board)
    if not hidden:
        query = query.where(ensembles.c.public.is_(True))
    if before is not None:
        created, last = before
        older = (ensembles.c.created < created) | ((ensembles.c.created == created) & (ensembles.c.signature < last))
        query = query.where(older)
    query = query.order_by(ensembles.c.created.desc(), ensembles.c.signature.desc()).limit(limit)
    rows = connection.execute(query).mappings()
    return tuple((result_of(Ensemble, json.loads(row["document"])), row["created"]) for row in rows)


def keep_ensemble(connection: Connection, ensemble: Ensemble, *, public: bool, now: float) -> Ensemble:
    """Keep an ensemble under the version it has, or the next free one; one that is kept stays as it was written."""
    kept = [earlier for earlier, _ in list_ensembles(connection, ensemble.board, hidden=True)]
    named = next_version(ensemble, kept)
    # Version 0.1 kept signatures without a digest.
    signatures = (named.signature, named.short_signature)
    where = (ensembles.c.board == named.board, ensembles.c.signature.in_(signatures))
    if named.signature in {earlier.signature for earlier in kept}:
        if public:
            connection.execute(update(ensembles).where(*where).values(public=True))
        return named
    values = {"board": named.board, "signature": named.signature, "created": now, "public": public}
    connection.execute(insert(ensembles).values(**values, document=dumps(document_of(named))))
    trail.note(connection, "site", "ensemble.kept", named.signature[:200], now=now, board=named.board)
    return named


_HEAD = [column for column in rankings.c if column.name not in ("document", "packed", "base")]


def _snapshot(row: RowMapping) -> Snapshot:
    return Snapshot(**row)


def _is(board: str, audience: str, number: int) -> tuple[Any, ...]:
    return rankings.c.board == board, rankings.c.audience == audience, rankings.c.number == number


def places_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The places in a document as the rows that stand beside it."""
    ranking = document["ranking"]
    by = ranking["ranked_by"]
    places = [
        {"side": "metric", "name": metric["name"], "rank": metric["rank"], "value": metric["correlation"]}
        for metric in ranking["metrics"]
    ]
    if ranking["ensemble"] is not None:
        places.append({"side": "metric", "name": "ensemble", "rank": None, "value": ranking["ensemble"]["correlation"]})
    for generator in ranking["generators"]:
        # Under people there is no value: what they said may be hidden later, and places stay readable.
        value = generator["scores"].get(by) if by and by != PEOPLE else None
        places.append({"side": "generator", "name": generator["name"], "rank": generator["rank"], "value": value})
    return places
