"""Working out what a board should have, once per generation.

It follows from the board, its metrics and the submissions on their way. A finished generator has a cell under every
finished metric; one in the making is scored by the finished metrics, a metric in the making scores the finished
generators. Overrating asks for a second reference set, without the human writer's own text.
"""

from __future__ import annotations

from collections.abc import Sequence

from billboards.analyses.overrating import human_generators, references_without, rows_compared
from billboards.board import Board, Outputs, ReferenceSet
from billboards.board.scoring import column_key
from billboards.metrics.base import MetricCard
from billboards.site.boards import registry
from billboards.site.boards.live import board_metrics, folder_board, latest_versions, live_board, submitted_row
from billboards.site.boards.snapshots import Audience
from billboards.site.cache import Shelf
from billboards.site.settings import read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.work.wanted import Block, Plan, Rows, Scorer

#: A set of references, and the versions of the rows that are scored against it; None is all of them.
Sets = list[tuple[ReferenceSet, frozenset[str] | None]]

_PLANS = Shelf[str, Plan]()
#: What each board's judgments ask for, with the board that had them.
_REFERENCE_SETS = Shelf[str, tuple[Board, Sets]]()


def plan_board(site: Site, name: str) -> Plan:
    """The plan of a board; costs one look at its generation where nothing changed."""
    with site.database.reading() as connection:
        known = registry.board(connection, name)
    with site.lock:
        cached = site.cache.get(_PLANS, name)
        if cached is not None and cached.known.generation == known.generation:
            return cached
        return site.cache.put(_PLANS, name, _plan(site, known))


def _plan(site: Site, known: registry.Registered) -> Plan:
    settings = read_board_settings(known.settings)
    folder = folder_board(site, known)
    with site.database.reading() as connection:
        found = submissions.find(connection, board=known.name)
    scored = [one for one in found if one.state == "scored"]
    finished = latest_versions(scored)
    seen = latest_versions(one for one in scored if not settings.hides(one.phase))
    has_hidden = {one.id for one in finished} != {one.id for one in seen}
    lister = _Lister(site, known.name, folder)
    rows, scorers = lister.rows(finished), lister.scorers(finished)
    shown: dict[Audience, tuple[Block, ...]] = {"owners": lister.blocks(scorers, rows)}
    shown["public"] = lister.blocks(lister.scorers(seen), lister.rows(seen)) if has_hidden else shown["owners"]
    scoring = [one for one in reversed(found) if one.state == "scoring"]
    return Plan(
        known,
        settings,
        folder,
        tuple(rows),
        shown,
        lister.waits(scoring, [*finished, *seen] if has_hidden else finished),
        tuple(one for one in reversed(found) if not one.is_terminal),
        has_hidden,
    )


class _Lister:
    """Lists what there should be on one board."""

    def __init__(self, site: Site, name: str, folder: Board) -> None:
        self.site, self.folder = site, folder
        own, _ = board_metrics(folder)
        self.own = [Scorer(one.name, one.signature, one.card, one) for one in own]
        # Whom people judged, campaigns say too; a generator that nobody judged takes no part, so it changes nothing.
        judged = live_board(site, name, audience="owners").board
        cached = site.cache.get(_REFERENCE_SETS, name)
        if cached is None or not _same_judged(cached[0], judged):
            cached = site.cache.put(_REFERENCE_SETS, name, (judged, _reference_sets(judged)))
        self.sets = cached[1]

    def scorers(self, entries: Sequence[Submission]) -> list[Scorer]:
        return self.own + [submitted_scorer(one) for one in entries if one.kind == "metric"]

    def rows(self, entries: Sequence[Submission]) -> list[Outputs]:
        generators = (one for one in entries if one.kind == "generator")
        return [*self.folder.rows, *(submitted_row(self.site, self.folder, one, one.public_name) for one in generators)]

    def waits(self, scoring: Sequence[Submission], finished: Sequence[Submission]) -> dict[str, tuple[Block, ...]]:
        """A new row under the finished metrics, a new metric on the finished rows, for each of these submissions."""
        scorers, found = self.scorers(finished), {}
        # Generators first: a metric may take hours, and nobody should have to wait for it but its own submitter.
        for one in sorted(scoring, key=lambda one: one.kind):
            if one.kind == "generator":
                found[one.id] = self.blocks(scorers, [submitted_row(self.site, self.folder, one, one.name)])
            else:
                found[one.id] = self.blocks([submitted_scorer(one)], self.rows(finished))
        return found

    def blocks(self, scorers: Sequence[Scorer], rows: Sequence[Outputs]) -> tuple[Block, ...]:
        """Every metric on every row that it may score."""
        found = []
        for references, versions in self.sets:
            taking_part = [row for row in rows if versions is None or row.version in versions]
            scored = dict[ReferenceSet, Rows]()
            for scorer in scorers:
                if scorer.card.needs_references and not references:
                    continue
                key = column_key(self.folder, scorer, references)
                seen = key.column.references
                if seen not in scored:
                    scored[seen] = Rows({r.version: r for r in taking_part if not self.folder.is_reference(r, seen)})
                found.append(Block(scorer, key, scored[seen]))
        return tuple(found)


def submitted_scorer(submission: Submission) -> Scorer:
    """What is known of a submitted metric since it was checked."""
    said = submission.settings
    card = MetricCard(
        str(said["column"]),
        needs_references=bool(said["needs_references"]),
        needs_input=bool(said["needs_input"]),
        higher_is_better=bool(said["higher_is_better"]),
    )
    return Scorer(card.name, str(said["signature"]), card, None, submission)


def _same_judged(one: Board, other: Board) -> bool:
    """Whether two states of a board have the same instances and judgments, and are ranked by the same of these."""
    return one.instances is other.instances and one.judgments is other.judgments and one.ranks == other.ranks


def _reference_sets(board: Board) -> Sets:
    """The reference set that ranks, for all rows, and the one that overrating needs, for the rows it compares."""
    sets: Sets = [(board.references, None)]
    human = compared_human(board)
    if human is not None:
        used = references_without(board, human, None)
        if used != board.references:
            sets.append((used, frozenset(row.version for row in rows_compared(board, human))))
    return sets


def compared_human(board: Board) -> str | None:
    """The person whom overrating compares machines with: the first whose texts are judged."""
    return next(iter(human_generators(board)), None) if board.ranks is not None else None
