"""A new ranking when a board's cells are complete: metrics, ensemble, generators and overrating, and who moved.

The ranking is computed on what an audience sees and kept as an immutable snapshot, together with the ensemble under its
version, in one transaction on the condition that the lease for it is still held. `basis` names everything it rests on:
as long as that is the same there is nothing to do.
"""

from __future__ import annotations

import gc
import hashlib
import json
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from billboards.analyses._disclosed import disclosed_audit, disclosed_overrating, without_people
from billboards.analyses._findings import Findings
from billboards.analyses._kept_rows import KeptRows
from billboards.analyses.audit.columns import audit_columns
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.overrating import human_generators, measure_overrating
from billboards.analyses.rank import METHOD, Ranking
from billboards.board import Board, digest
from billboards.board.matrix import board_scores
from billboards.errors import InvalidInput
from billboards.show.documents import document_of
from billboards.site.boards import snapshots
from billboards.site.boards.document_texts import KeptTexts
from billboards.site.boards.ladders import climb_board, keep_rungs
from billboards.site.boards.live import LiveBoard, board_metrics, live_board
from billboards.site.boards.ranking_options import rank_by_owner, ranking_options
from billboards.site.boards.snapshots import Audience, Snapshot
from billboards.site.cache import Shelf
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.submissions.consistency import BARS, inconsistency
from billboards.site.submissions.doubts import copied_metrics, generator_doubts, kept_out
from billboards.site.submissions.outcome import announce_ranked
from billboards.site.work import leases
from billboards.site.work.cells import KeptScores
from billboards.site.work.leases import Lease

_SCORES = Shelf[str, KeptScores]()
_ROWS = Shelf[tuple[str, Audience], KeptRows]()
_TEXTS = Shelf[tuple[str, Audience], KeptTexts]()
#: What the last ranking said of who is there and where, with a digest of its text.
_SAID = Shelf[tuple[str, Audience], tuple[bytes, Mapping[str, Any]]]()


def basis(live: LiveBoard) -> str:
    """A digest of everything a ranking of this board depends on, the version of how it is computed included."""
    own = live.settings
    options = [own.k, own.method, own.by, own.draws, own.seed, live.board.ranks, own.reference_free, own.sides, METHOD]
    hidden = [live.judgments_rest_hidden, sorted(live.withheld), own.ladder] if live.disclosure else []
    facts = json.dumps(options), *((json.dumps(hidden),) if hidden else ())
    return digest((live.board.version, *sorted(live.cells.signatures or ()), *facts))


def is_due(live: LiveBoard) -> bool:
    """Whether what the board last said rests on something else than what it holds now."""
    kept = live.snapshot
    return kept is None or kept.audience != live.audience or kept.basis != basis(live)


def refresh(site: Site, name: str, audience: Audience, lease: Lease) -> Snapshot | None:
    """Rank a board and keep what it says; None where another worker has taken the job meanwhile."""
    begun = site.clock()
    live = live_board(site, name, audience=audience)
    # Audits look at the scores themselves; a ranking needs of most rows only what is kept of them.
    audited = _keeping(site, live)
    audits, refused = audit_live(audited)
    findings = find_against(audited, audits, refused)
    climbed = climb_board(live)
    disclosure = replace(live.disclosure, rungs=climbed.rungs)
    rows = site.cache.get(_ROWS, (name, audience)) or site.cache.put(_ROWS, (name, audience), KeptRows())
    ranking = rank_by_owner(live, ranking_options(live, findings, disclosure), rows)
    if disclosure.people:
        ranking = without_people(ranking)
    overrating = _overrating(live, ranking)
    audits = {name: disclosed_audit(audit, live.disclosure) for name, audit in audits.items()}
    now = site.clock()
    with site.database.writing(boards=[name]) as connection:
        if not leases.holds(connection, lease):
            return None
        leases.release(connection, lease)
        keep_rungs(connection, live, climbed, now=now)
        if ranking.ensemble is not None:
            ensemble = snapshots.keep_ensemble(connection, ranking.ensemble, public=audience == "public", now=now)
            ranking = replace(ranking, ensemble=ensemble)
        texts = site.cache.get(_TEXTS, (name, audience)) or site.cache.put(_TEXTS, (name, audience), KeptTexts())
        with _uncollected():
            document = _document(live, ranking, overrating, audits, findings, texts)
            document_id, text = texts.document_id(document), texts.stored_text(document)
        last = snapshots.latest(connection, name, audience)
        before = None if last is None else _said_before(site, connection, last)
        if last is not None and last.id == document_id:
            snapshots.rebase(connection, last, basis(live), now=now)
            return last
        kept = snapshots.keep(
            connection,
            name,
            audience,
            document,
            basis=basis(live),
            cause=cause_between(live, before, document) | _sources_changed(connection, live, last),
            moves=moves_between(before, document),
            ensemble=None if ranking.ensemble is None else ranking.ensemble.signature,
            now=now,
            seconds=now - begun,
            id=document_id,
            text=text,
        )
        _remember(site, text, kept, document)
        if audience == "public":
            announce_ranked(connection, kept, live, ranking, now=now)
        return kept


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no circles of objects meanwhile: in a large document there are none, and its parts are very many."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _said_before(site: Site, connection: Connection, last: Snapshot) -> Mapping[str, Any]:
    """What the last ranking said, as far as the next is compared with it."""
    text = snapshots.document_text(connection, last)
    kept = site.cache.get(_SAID, (last.board, last.audience))
    if kept is not None and kept[0] == _text_digest(text):
        return kept[1]
    summary: dict[str, Any] = json.loads(text)
    return summary


def _remember(site: Site, text: str, kept: Snapshot, document: Mapping[str, Any]) -> None:
    """Keep of a ranking what the next is compared with, under its text: names in it may be changed later."""
    ranking = document["ranking"]
    places = {
        word: [{"name": entry["name"], "rank": entry["rank"]} for entry in ranking[word]]
        for word in ("metrics", "generators")
    }
    summary = {"rows": document["rows"], "columns": document["columns"], "ranking": places}
    site.cache.put(_SAID, (kept.board, kept.audience), (_text_digest(text), summary))


def _text_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _keeping(site: Site, live: LiveBoard) -> LiveBoard:
    """A board whose scores stay in this process, so that the next ranking reads only what is new."""
    kept = site.cache.get(_SCORES, live.name) or site.cache.put(_SCORES, live.name, KeptScores())
    return replace(live, cells=live.cells.keeping(kept))


def audit_live(live: LiveBoard) -> tuple[dict[str, MetricAudit], dict[str, str]]:
    """Every reference-free metric of a live board audited on its scores; hidden judgments stay out of what is said."""
    if not _has_reference_free(live):
        return {}, {}
    board = replace(live.board, ranks=None) if live.settings.hidden_judgments else live.board
    return audit_columns(board, board_scores(live.board, live.cells).leading(), seed=live.settings.seed)


def _has_reference_free(live: LiveBoard) -> bool:
    """Whether there is anything to audit; where there isn't, the matrix need not be loaded for it."""
    own, _ = board_metrics(live.board)
    cards = [metric.card for metric in own]
    return (
        any(not (card.needs_references or card.is_statistic) for card in cards)
        or any(not (c.needs_references or c.is_statistic or c.is_ensemble) for c in live.board.imported)
        or any(not submission.settings.get("needs_references", True) for submission in live.metrics.values())
    )


def find_against(live: LiveBoard, audits: Mapping[str, MetricAudit], refused: Mapping[str, str]) -> Findings:
    """What speaks against entries of a live board.

    Submitted reference-free metrics that could not be audited may not lead; those that the audit flags, and those whose
    scores depend on company or order, don't count. A flagged metric that the owner put on the board is marked.
    """
    sent_in = {name for name in live.metrics if not live.metrics[name].settings.get("needs_references", True)}
    by_audit = {name: "is flagged by its audit" for name, audit in audits.items() if audit.level == "flagged"}
    copies = copied_metrics(live, board_scores(live.board, live.cells).leading()) if live.metrics else {}
    return Findings(
        barred=dict.fromkeys(sent_in & refused.keys(), "is not audited"),
        flagged={name: why for name, why in by_audit.items() if name in live.metrics}
        | {name: BARS for name, sent in live.metrics.items() if inconsistency(sent)},
        marked={name: why for name, why in by_audit.items() if name not in live.metrics} | copies,
        out=kept_out(live),
        doubts=generator_doubts(live),
    )


def rank_live(live: LiveBoard, findings: Findings | None = None) -> Ranking:
    """The ranking of a live board by its owner's options."""
    return rank_by_owner(live, ranking_options(live, findings))


def compared_human(board: Board) -> str | None:
    """The person whom overrating compares machines with: the first whose texts are judged."""
    return next(iter(human_generators(board)), None) if board.ranks is not None else None


def _overrating(live: LiveBoard, ranking: Ranking) -> Mapping[str, Any] | None:
    human = compared_human(live.board)
    if human is None:
        return None
    settings = live.settings
    try:
        method = settings.method if ranking.ensemble is None else ranking.ensemble.method
        report = measure_overrating(live.board, live.cells, human, k=settings.k, method=method)
        measured = [metric.name for metric in ranking.metrics if metric.correlation is not None]
        return document_of(disclosed_overrating(report, live.disclosure, measured))
    except InvalidInput:
        return None


def _document(
    live: LiveBoard,
    ranking: Ranking,
    overrating: Mapping[str, Any] | None,
    audits: Mapping[str, MetricAudit],
    findings: Findings,
    texts: KeptTexts,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "schema": 1,
        "kind": "snapshot",
        "board": live.name,
        "ranking": texts.ranking_document(ranking),
        "overrating": overrating,
        "audits": {name: document_of(audit) for name, audit in audits.items()},
        "rows": {row.name: row.version for row in live.board.rows},
        "columns": {metric.name: metric.signature for metric in ranking.metrics},
    }
    kept = findings.document()
    return document | {"findings": kept} if kept else document


def cause_between(live: LiveBoard, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> dict[str, Any]:
    """Why there is a new ranking: who came, went or sent a new version since the last; else the board itself."""
    if before is None:
        return {"first": True, "added": [], "removed": [], "changed": []}
    cause: dict[str, Any] = {"first": False, "added": [], "removed": [], "changed": []}
    for side, word, entries in (("generator", "rows", live.generators), ("metric", "columns", live.metrics)):
        old, new = before[word], after[word]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) == new.get(name):
                continue
            kind = "added" if name not in old else "removed" if name not in new else "changed"
            submission = entries[name].id if name in entries else None
            cause[kind].append({"side": side, "name": name, "submission": submission})
    return cause


def _sources_changed(connection: Connection, live: LiveBoard, last: Snapshot | None) -> dict[str, Any]:
    """What was decided about judgments since the last ranking: campaigns closed or withdrawn, the owner's choice.

    Where everybody is kept from the judgments, a campaign has no name.
    """
    if last is None:
        return {}
    events = []
    kept = snapshots.kept_at(connection, last)
    named = live.audience == "owners" or not live.settings.hidden_judgments
    for entry in trail.since(connection, live.name, kept, ("campaign.closed", "campaign.withdrawn")):
        if entry.detail.get("from") != "draft":
            event = entry.action.removeprefix("campaign.")
            events.append(
                {"event": event, "campaign": campaigns.get(connection, entry.subject).name if named else None}
            )
    chosen = trail.since(connection, live.name, 0, ("board.settings",))
    ranks = [(entry.id, dict(entry.detail.get("settings") or {}).get("ranks")) for entry in chosen]
    earlier = [source for number, source in ranks if number <= kept]
    if ranks and ranks[-1][1] != (earlier[-1] if earlier else None):
        events.append({"event": "chosen", "source": ranks[-1][1]})
    return {"judgments": events} if events else {}


def moves_between(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every metric and generator that came, went, or stands elsewhere among those that are in both rankings.

    None is no rank, or no place at all. Whoever only has another number, because somebody came in above, has not moved.
    """
    moves = []
    for side, word in (("metric", "metrics"), ("generator", "generators")):
        old = {} if before is None else {entry["name"]: entry["rank"] for entry in before["ranking"][word]}
        new = {entry["name"]: entry["rank"] for entry in after["ranking"][word]}
        was, now = ranks_among(old, new), ranks_among(new, old)
        for name in [*new, *(name for name in old if name not in new)]:
            if name not in old or name not in new or was[name] != now[name]:
                change = "new" if name not in old else "gone" if name not in new else "moved"
                ranks = {"before": old.get(name), "after": new.get(name), "change": change}
                if change == "moved":
                    # Numbers change for newcomers too; this is where it went among those that were there before.
                    ranks["among"] = [was[name], now[name]]
                moves.append({"side": side, "name": name, **ranks})
    return moves if before is not None else []


def ranks_among(ranks: Mapping[str, int | None], others: Collection[str]) -> dict[str, int | None]:
    """The ranks that those who are among the others too would have if nobody else were there."""
    common = {name: rank for name, rank in ranks.items() if name in others}
    order = sorted(rank for rank in common.values() if rank is not None)
    return {name: None if rank is None else 1 + bisect_left(order, rank) for name, rank in common.items()}
