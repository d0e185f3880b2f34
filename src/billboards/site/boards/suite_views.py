"""What a suite of the site says as somebody asks for it: on some boards, by another statistic, at another time.

Without any choice this is what workers kept last. Everything else is measured when it is asked for, on what the site
holds now, and kept in the process until a board of the suite changes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from billboards.analyses.suite.keeping import Kept
from billboards.analyses.suite.open import OpenSuite, SuiteViews
from billboards.analyses.suite.results import Block, Suite, SuiteRanking, SuiteResult
from billboards.analyses.suite.shown_tables import Shown, suite_ranking_table, suite_tables
from billboards.errors import InvalidInput, NotEnoughData, Refused, UnknownName
from billboards.show.table import Table
from billboards.site.accounts.access import Viewer, may
from billboards.site.boards import suite_rankings
from billboards.site.boards.live_suites import LiveSuite, live_suite, live_suites, registered_boards, state_of
from billboards.site.boards.snapshots import Audience
from billboards.site.boards.suite_rankings import DRAWS, SEED, SuiteSnapshot
from billboards.site.boards.suites import site_suites
from billboards.site.cache import Shelf
from billboards.site.settings import read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.work.worklist import Standing, suite_basis, suite_standings
from billboards.stats.grouped import GROUPINGS
from billboards.stats.preferences import Ties
from billboards.stats.yardsticks import PRESETS, STATISTICS

#: A name that somebody writes is no longer than this.
LONGEST = 200
#: Answers that a process keeps, of all suites together.
MOST_KEPT = 64

Name = Annotated[str | None, Field(max_length=LONGEST)]
Preset = Literal[*PRESETS]  # type: ignore[valid-type]
Statistic = Literal[*STATISTICS]  # type: ignore[valid-type]
Grouping = Literal[*GROUPINGS]  # type: ignore[valid-type]


class SuiteQuery(BaseModel):
    """How a suite is looked at; what isn't said is as its file has it."""

    model_config = ConfigDict(frozen=True)

    task: Name = Field(None, description="only boards of this task")
    language: Name = Field(None, description="only boards whose outputs are in this language, as in de")
    dimension: Name = Field(None, description="only this dimension of the boards that have it")
    block: Block | None = Field(None, description="with which references: all (which rank usually), one, or none")
    preset: Preset | None = Field(None, description="measure as a community reports")
    statistic: Statistic | None = Field(None, description="or by this statistic")
    grouping: Grouping | None = Field(None, description="how outputs are grouped")
    ties: Ties | None = Field(
        None, description="how to count pairs that people compared and that a metric scores alike"
    )
    preferences: Literal["apart", "mixed"] | None = Field(
        None, description="whether preferences stay apart from means of correlations"
    )
    languages: Literal["one", "columns"] | None = Field(
        None, description="boards of one group: one column together, or columns of their own"
    )

    @field_validator("*", mode="before")
    @classmethod
    def _empty_is_absent(cls, value: Any) -> Any:
        """A form sends what nobody chose as an empty text."""
        return None if value == "" else value

    @property
    def is_usual(self) -> bool:
        """Whether nothing was chosen that changes a number."""
        chosen = self.model_dump(exclude_none=True)
        return not chosen or chosen == {"block": "all"}


def read_query(words: Mapping[str, str]) -> SuiteQuery:
    """What an address asks for; raises with every mistake."""
    asked = {key: words[key] for key in SuiteQuery.model_fields if key in words}
    try:
        return SuiteQuery.model_validate(asked)
    except ValidationError as error:
        mistakes = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise InvalidInput("; ".join(mistakes)) from error


@dataclass(frozen=True, kw_only=True)
class SuiteAnswer:
    """What a suite says to somebody who looked at it in one way."""

    live: LiveSuite
    query: SuiteQuery
    #: What it says; None where nothing is kept yet, or no board takes part.
    kept: Kept | None
    #: The kept ranking that this is; None where it was measured for who asked.
    snapshot: SuiteSnapshot | None
    #: Why there is no ranking, in words.
    problem: str | None
    views: SuiteViews
    #: How many cells that suites ask for are still missing on its boards, and whether a newer ranking is on its way.
    missing: int
    is_behind: bool

    @property
    def ranking(self) -> SuiteRanking | None:
        return None if self.kept is None or not self.kept.rankings else self.kept.rankings[0]

    def tables(self, shown: Shown = "values") -> tuple[Table, ...]:
        """The ranking and the tables, with rows in the ranking's order; of a block that was chosen, no other."""
        if self.kept is None:
            return ()
        order = [] if self.ranking is None else [standing.metric for standing in self.ranking.standings]
        result = _ordered(self.kept.result, order, self.query.block)
        ranking = () if self.ranking is None else (suite_ranking_table(self.ranking),)
        return (*ranking, *suite_tables(result, None, shown))


def _ordered(result: SuiteResult, order: Sequence[str], block: Block | None) -> SuiteResult:
    """A suite's rows in the order of its ranking, block by block; of one block, with those that use no references."""
    place = {metric: k for k, metric in enumerate(order)}
    rows = [row for row in result.rows if block is None or row.block in (block, "none")]
    blocks = list(dict.fromkeys(row.block for row in result.rows))
    rows.sort(key=lambda row: (blocks.index(row.block), place.get(row.metric, len(place))))
    return replace(result, rows=tuple(rows))


def suite_of_site(site: Site, name: str, viewer: Viewer) -> Suite:
    """A suite whose boards are all on the site; raises for any other."""
    suites = live_suites(site)
    if name in suites:
        return suites[name]
    every = site_suites(site, viewer)
    if name not in every:
        raise UnknownName("suite", name, every)
    raise Refused(f"suite {name} has boards that are not on this site; its page shows what was kept when it was run")


def ask_suite(site: Site, suite: Suite, viewer: Viewer, query: SuiteQuery, number: int | None = None) -> SuiteAnswer:
    """What a suite says to somebody: what was kept last, or in a ranking by its number, or else measured now."""
    now = suite_standings(site, suite)
    live = live_suite(site, suite, viewer.audience)
    audience = _kept_for(site, suite, viewer.audience)
    views = live.opened.views if live.opened is not None else SuiteViews(tasks=(), languages=(), dimensions=())
    missing = sum(each.missing_of_suites for each in now)
    kept, snapshot, problem, is_behind = None, None, None, False
    if number is not None or query.is_usual:
        with site.database.reading() as connection:
            if number is not None:
                snapshot = suite_rankings.numbered(connection, suite.name, number, audience)
            else:
                snapshot = suite_rankings.latest(connection, suite.name, audience)
            if snapshot is not None and live.opened is not None and may_be_told(live, snapshot):
                kept = suite_rankings.kept_at(connection, snapshot)
        basis = suite_basis(site, suite, audience, now)
        is_behind = number is None and basis is not None and (snapshot is None or snapshot.basis != basis)
    elif live.opened is not None:
        try:
            kept = _measured(site, live, query, now)
        except NotEnoughData as error:
            problem = str(error)
    return SuiteAnswer(
        live=live,
        query=query,
        kept=kept,
        snapshot=snapshot if kept is not None else None,
        problem=problem,
        views=views,
        missing=missing,
        is_behind=is_behind,
    )


def may_be_told(live: LiveSuite, snapshot: SuiteSnapshot) -> bool:
    """Whether a kept ranking rests on no board whose judgments were hidden since."""
    return not set(live.left_out) & set(snapshot.boards)


def history_of(
    site: Site, live: LiveSuite, *, before: int | None = None, limit: int | None = None
) -> tuple[SuiteSnapshot, ...]:
    """The rankings of a suite that somebody may read, the latest first."""
    audience = _kept_for(site, live.suite, live.audience)
    with site.database.reading() as connection:
        kept = suite_rankings.list_kept(
            connection, live.suite.name, audience, before=before, limit=None if live.left_out else limit
        )
    return tuple(snapshot for snapshot in kept if may_be_told(live, snapshot))[:limit]


def _kept_for(site: Site, suite: Suite, audience: Audience) -> Audience:
    """Whose rankings somebody reads: owners have their own only where they see more than everybody."""
    if audience == "public":
        return audience
    with site.database.reading() as connection:
        return "public" if suite_rankings.latest(connection, suite.name, "owners") is None else "owners"


class _Answers(OrderedDict[Any, Kept]):
    """Answers by everything that they rest on, the latest last."""


_ANSWERS = Shelf[str, _Answers]()
_LOCK = Lock()


def _measured(site: Site, live: LiveSuite, query: SuiteQuery, now: Sequence[Standing]) -> Kept:
    """A suite measured as somebody asks for it."""
    assert live.opened is not None
    cells = tuple(each.missing_of_suites for each in now)
    key = live.suite.name, live.audience, state_of(live), cells, query.model_dump_json()
    with _LOCK:
        answers = site.cache.get(_ANSWERS, "") or site.cache.put(_ANSWERS, "", _Answers())
        if key in answers:
            answers.move_to_end(key)
            return answers[key]
    kept = _answer(live.opened, query)
    with _LOCK:
        answers[key] = kept
        while len(answers) > MOST_KEPT:
            answers.popitem(last=False)
    return kept


def _answer(opened: OpenSuite, query: SuiteQuery) -> Kept:
    chosen = opened.measured(
        query.preset,
        query.statistic or (),
        grouping=query.grouping,
        ties=query.ties,
        preferences=query.preferences,
        languages=query.languages,
    ).only(task=query.task, language=query.language, dimension=query.dimension)
    result = chosen.tables(draws=DRAWS, seed=SEED).value
    rankings: tuple[SuiteRanking, ...] = ()
    with suppress(NotEnoughData):
        rankings = (chosen.rank(block=query.block or "all", draws=DRAWS, seed=SEED).value,)
    return Kept(result, rankings)


@dataclass(frozen=True, kw_only=True)
class SuiteEntry:
    """What a team sent in to boards of a suite: how far it is on each of them, as far as somebody may know that."""

    name: str
    kind: str
    team: str
    #: The submission of each board, by the board's name, with its state.
    states: Mapping[str, tuple[str, str]]
    boards: int

    @property
    def scored(self) -> int:
        return sum(state == "scored" for _, state in self.states.values())


def suite_entries(site: Site, suite: Suite, viewer: Viewer) -> list[SuiteEntry]:
    """Who sent what to boards of a suite, the latest first; of others only what is on a board for everybody to see."""
    together: dict[tuple[str, str, int], dict[str, Submission]] = {}
    boards = {registered.name: registered for _, registered in registered_boards(site, suite)}
    with site.database.reading() as connection:
        for name, registered in boards.items():
            settings = read_board_settings(registered.settings)
            sent = [s for s in submissions.find(connection, board=name) if _is_told(viewer, s, settings.hides(s.phase))]
            for submission in reversed(sent):
                shown = submission.name if may(viewer, "see-submission", submission) else submission.public_name
                together.setdefault((submission.kind, shown, submission.team_id), {})[name] = submission
    latest = sorted(together.items(), key=lambda item: -max(s.created for s in item[1].values()))
    return [
        SuiteEntry(
            name=name,
            kind=kind,
            team=_team(viewer, next(iter(states.values()))),
            states={board: (submission.id, submission.state) for board, submission in states.items()},
            boards=len(boards),
        )
        for (kind, name, _), states in latest
    ]


def _is_told(viewer: Viewer, submission: Submission, hides: bool) -> bool:
    return may(viewer, "see-submission", submission) or (submission.state == "scored" and not hides)


def _team(viewer: Viewer, submission: Submission) -> str:
    named = may(viewer, "see-submission", submission) or not submission.anonymous
    return submission.team if named else "anonymous"


def places_over_time(kept: Sequence[SuiteSnapshot]) -> Iterator[tuple[str, list[int | None]]]:
    """The rank of each metric in each of some rankings, the earliest first."""
    in_order = sorted(kept, key=lambda snapshot: snapshot.number)
    for name in dict.fromkeys(name for snapshot in reversed(in_order) for name in snapshot.places):
        yield name, [rank if (rank := (snapshot.places.get(name) or [None])[0]) else None for snapshot in in_order]
