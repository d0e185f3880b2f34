"""What came of a submission: rank, agreement or score, weight in the ensemble, who moved, what speaks against it.

All of it is read off the ranking that its audience may see, so nothing is told of an entry of a blind phase, and the
numbers have the digits that the board page gives them. The submission's page, the route, `billboards submit` and the
notice take their words from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection

from billboards.analyses._disclosed import disclosed
from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking
from billboards.show.words import interval_text, listed, value_text
from billboards.site.admin import deliveries
from billboards.site.boards import registry, snapshots
from billboards.site.boards.live import LiveBoard
from billboards.site.boards.snapshots import Snapshot
from billboards.site.database import trail
from billboards.site.settings import read_board_settings
from billboards.site.submissions.records import Submission

#: The event that a notice of a rank is sent for.
RANKED = "submission.ranked"
#: Rankings that are searched for the one that a submission came in with.
SEARCHED = 50
#: Moves of others that are named in a sentence; the rest is counted.
MOST_MOVES = 5

#: `hidden`: of a blind phase; `ranking`: the ranking with it is not made yet; `replaced`: a later version stands in its
#: place; `stuck`: the board could not be ranked.
State = Literal["hidden", "ranking", "ranked", "unranked", "replaced", "stuck"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """Somebody else whose place changed with the ranking that a submission came in with."""

    side: str
    name: str
    before: int | None
    after: int | None
    change: str

    @property
    def words(self) -> str:
        if self.change == "new":
            return f"{self.name} is new" + ("" if self.after is None else f" at {self.after}")
        if self.change == "gone":
            return f"{self.name} is gone"
        return f"{self.name} {_place(self.before)} → {_place(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a board says of one submission, as far as an audience may know it."""

    state: State
    #: Its name on the board.
    name: str = ""
    rank: int | None = None
    #: How many have a rank on its side of the board.
    ranked: int = 0
    #: Others that share its rank, because the scores can't tell them apart.
    cluster: tuple[str, ...] = ()
    #: Of a generator: what ranks, and its value under that.
    ranked_by: str | None = None
    score: float | None = None
    #: Of a metric: its correlation with people, how sure that is, and on how many outputs.
    agreement: float | None = None
    interval: tuple[float, float] | None = None
    n: int = 0
    #: Of a metric: its weight in the board's ensemble; None where it has none.
    weight: float | None = None
    moved: tuple[Shift, ...] = ()
    warnings: tuple[str, ...] = ()
    #: Why it has no rank.
    reason: str | None = None
    #: Its place in the ranking of all, where what leads can't score it: rank, of how many, and by what.
    common: tuple[int, int, str] | None = None
    #: The ranking that it came in with.
    ranking: str | None = None
    #: All of it in sentences.
    words: tuple[str, ...] = ()

    @property
    def is_final(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.state != "ranking"


def outcome_of(submission: Submission, live: LiveBoard) -> Outcome | None:
    """What came of a submission that is scored, as the audience of a live board may know it; None of any other."""
    if submission.state != "scored":
        return None
    entries = live.generators if submission.kind == "generator" else live.metrics
    name = next((name for name, entry in entries.items() if entry.id == submission.id), None)
    if name is None:
        hidden = live.settings.hides(submission.phase) and live.audience != "owners"
        return _told(Outcome(state="hidden" if hidden else "replaced"), submission)
    if awaits_ranking(submission, live):
        return _told(Outcome(state="ranking", name=name), submission)
    latest = live.latest
    if latest is None or not _takes_part(submission, name, latest.document):
        return _told(Outcome(state="stuck", name=name), submission)
    ranking = disclosed(latest.ranking, live.disclosure)
    with live.site.database.reading() as connection:
        audience = live.audience if live.snapshot is None else live.snapshot.audience
        recent = snapshots.list_snapshots(connection, live.name, audience, limit=SEARCHED)
    came_with = next((kept for kept in recent if _brought(kept, submission)), None)
    return _ranked(submission, name, ranking, came_with)


def awaits_ranking(submission: Submission, live: LiveBoard) -> bool:
    """Whether a submission is scored and the ranking with it is still to come."""
    entries = live.generators if submission.kind == "generator" else live.metrics
    name = next((name for name, entry in entries.items() if entry.id == submission.id), None)
    if submission.state != "scored" or name is None:
        return False
    document = live.document
    is_ranked = document is not None and _takes_part(submission, name, document)
    return not is_ranked and not _could_not_rank(live, submission)


def _takes_part(submission: Submission, name: str, document: Mapping[str, Any]) -> bool:
    """Whether a ranking was made with this version of an entry."""
    if submission.kind == "generator":
        return bool(document["rows"].get(name) == submission.blob[:16])
    signature = submission.settings.get("signature")
    return name in document["columns"] and (submission.way == "scores" or document["columns"][name] == signature)


def _could_not_rank(live: LiveBoard, submission: Submission) -> bool:
    """Whether the last attempt to rank since it was scored was in vain."""
    with live.site.database.reading() as connection:
        line = trail.latest(connection, live.name, "ranking.failed")
    return line is not None and line.at >= submission.changed


def _brought(kept: Snapshot, submission: Submission) -> bool:
    causes = (entry for word in ("added", "changed") for entry in kept.cause.get(word, ()))
    return any(entry["submission"] == submission.id for entry in causes)


def _ranked(submission: Submission, name: str, ranking: Ranking, came_with: Snapshot | None) -> Outcome:
    """What a ranking says of an entry."""
    standings: Sequence[GeneratorStanding] | Sequence[MetricStanding]
    standings = ranking.generators if submission.kind == "generator" else ranking.metrics
    own = next((standing for standing in standings if standing.name == name), None)
    if own is None:
        return _told(Outcome(state="unranked", name=name), submission)
    share = [s.name for s in standings if own.rank is not None and s.rank == own.rank and s.name != name]
    outcome = Outcome(
        state="unranked" if own.rank is None else "ranked",
        name=name,
        rank=own.rank,
        ranked=sum(standing.rank is not None for standing in standings),
        cluster=tuple(share),
        reason=own.reason,
        moved=() if came_with is None else _moved(came_with, name),
        ranking=None if came_with is None else came_with.id,
    )
    if isinstance(own, GeneratorStanding):
        score = own.scores.get(ranking.ranked_by or "")
        outcome = replace(outcome, ranked_by=ranking.ranked_by, score=score, warnings=own.doubts)
        outcome = replace(outcome, common=_common_place(ranking, name))
    else:
        weights = {} if ranking.ensemble is None else ranking.ensemble.weights
        outcome = replace(outcome, agreement=own.correlation, interval=own.interval, n=own.n)
        outcome = replace(outcome, weight=weights.get(name), warnings=tuple(f"{name} {flag}" for flag in own.flags))
    return _told(outcome, submission)


def _common_place(ranking: Ranking, name: str) -> tuple[int, int, str] | None:
    """A generator's place in the ranking of all, where there is one."""
    if ranking.common is None:
        return None
    ranks = {standing.name: standing.rank for standing in ranking.common.generators if standing.rank is not None}
    return (ranks[name], len(ranks), ranking.common.ranked_by) if name in ranks else None


def _moved(came_with: Snapshot, name: str) -> tuple[Shift, ...]:
    """Who else changed place; whoever only has another number is not among a ranking's moves."""
    words = ("side", "name", "before", "after", "change")
    return tuple(Shift(**{word: move[word] for word in words}) for move in came_with.moves if move["name"] != name)


def _told(outcome: Outcome, submission: Submission) -> Outcome:
    """An outcome with its sentences."""
    return replace(outcome, words=tuple(_sentences(outcome, submission)))


def _sentences(outcome: Outcome, submission: Submission) -> list[str]:
    if outcome.state == "hidden":
        return [f"Its results stay hidden until the organisers reveal the phase {submission.phase}."]
    if outcome.state == "ranking":
        return ["It is scored. The ranking with it is being made."]
    if outcome.state == "replaced":
        return ["A later version of it stands on the board."]
    if outcome.state == "stuck":
        return ["It is scored, but the board could not be ranked. The board’s owners can read why in the audit trail."]
    sentences = [_rank_words(outcome)]
    if submission.kind == "metric":
        sentences += [_agreement_words(outcome), _weight_words(outcome)]
    sentences.append(_moved_words(outcome))
    return [sentence for sentence in sentences if sentence] + [f"Warning: {warning}." for warning in outcome.warnings]


def _rank_words(outcome: Outcome) -> str:
    if outcome.rank is None:
        words = "It has no rank" + (f": {outcome.reason.rstrip('.')}." if outcome.reason else ".")
        if outcome.common is not None:
            rank, ranked, by = outcome.common
            words += f" In the ranking of all generators, by {by}, it has rank {rank} of {ranked}."
        return words
    by = "" if outcome.ranked_by is None else f" by {outcome.ranked_by}"
    value = "" if outcome.score is None else f" ({value_text(outcome.score)})"
    words = f"Rank {outcome.rank} of {outcome.ranked}{by}{value}."
    if outcome.cluster:
        words += f" It shares this rank with {listed(outcome.cluster)}: the scores can’t tell them apart."
    return words


def _agreement_words(outcome: Outcome) -> str:
    if outcome.agreement is None:
        return ""
    sure = "" if outcome.interval is None else f" (95% interval {interval_text(outcome.interval, 3)})"
    return f"Its correlation with people is {value_text(outcome.agreement, 3)}{sure}, on {outcome.n:,} outputs."


def _weight_words(outcome: Outcome) -> str:
    if outcome.weight is None:
        return "The board’s ensemble does not use it."
    return f"Its weight in the board’s ensemble is {value_text(outcome.weight, 3)}."


def _moved_words(outcome: Outcome) -> str:
    if outcome.ranking is None:
        return ""
    if not outcome.moved:
        return "Nobody else changed place."
    more = len(outcome.moved) - MOST_MOVES
    names = ", ".join(shift.words for shift in outcome.moved[:MOST_MOVES])
    return f"Who moved: {names}{f' and {more} more' if more > 0 else ''}."


def _place(rank: int | None) -> str:
    return "unranked" if rank is None else str(rank)


def announce_ranked(connection: Connection, kept: Snapshot, live: LiveBoard, ranking: Ranking, *, now: float) -> None:
    """Tell the teams whose entries are new in a ranking what it says of them; needs its writing transaction."""
    told = disclosed(ranking, live.disclosure)
    # Settings may have changed since the ranking was begun.
    settings = read_board_settings(registry.board(connection, live.name).settings)
    for entries in (live.generators, live.metrics):
        for name, submission in entries.items():
            if not _brought(kept, submission) or settings.hides(submission.phase):
                continue
            outcome = _ranked(submission, name, told, kept)
            words = ("id", "board", "kind", "name", "version", "state", "reason", "platform", "created")
            payload = {word: getattr(submission, word) for word in words} | {"changed": now}
            payload |= {
                "rank": outcome.rank,
                "ranked": outcome.ranked,
                "ranking": kept.id,
                "words": list(outcome.words),
            }
            payload |= {"says": "not ranked" if outcome.rank is None else f"rank {outcome.rank} of {outcome.ranked}"}
            deliveries.announce(connection, RANKED, payload, submission.team_id, submission.account_id, now=now)
