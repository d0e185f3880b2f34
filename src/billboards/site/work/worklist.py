"""The work list of a board: the cells that should be there, those of them that are missing, and the next job.

What should be there follows from the board, its metrics and the submissions on their way, and is worked out once per
generation (`plan_board`). A finished generator has a cell under every finished metric; one in the making is scored by
the finished metrics, a metric in the making scores the finished generators. Overrating asks for a second reference set,
without the human writer's own text. A board of a thousand generators and fifty metrics is fifty blocks that share their
rows, not fifty thousand cells: single cells are made only when somebody asks for them.

What is there, the database says (`standing`). A cell that is there never goes, so nobody asks for it twice: a process
keeps what was missing when it last looked, adds what a new plan wants beyond the last, and asks for those. There is no
queue that could lose anything.

A worker asks for a job (`next_job`), which is leased to it, and does it (`work.jobs`); what it leaves undone, because
it was stopped, killed or cut off, is found again by whoever asks next. A submission whose cells are all done or given
up is settled on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, islice
from typing import Literal

from billboards.analyses._archive import home_of
from billboards.analyses.overrating import references_without, rows_compared
from billboards.analyses.suite.checked_boards import OpenBoard, member_of, told_apart
from billboards.analyses.suite.results import BLOCKS, Suite
from billboards.board import Board, Outputs, ReferenceSet, digest
from billboards.board.cells import ColumnKey
from billboards.board.missing_cells import TOGETHER, Cell, CellId, column_key
from billboards.errors import BoardUnreadable, InvalidBoard, InvalidInput
from billboards.metrics.base import Metric, MetricCard
from billboards.site.boards import registry, suite_rankings
from billboards.site.boards.live import (
    board_metrics,
    folder_board,
    hides_judgments,
    latest_versions,
    live_board,
    submitted_row,
)
from billboards.site.boards.live_suites import (
    live_suite,
    live_suites,
    registered_boards,
    stamps,
    state_of,
    suite_scorers,
)
from billboards.site.boards.refresh import compared_human, is_due
from billboards.site.boards.snapshots import Audience
from billboards.site.cache import Shelf
from billboards.site.campaigns.rolling import admit_generators
from billboards.site.organise.draft_records import waiting_drafts
from billboards.site.publishing.publication_records import open_publications
from billboards.site.settings import BoardSettings, read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.work import leases
from billboards.site.work.cells import CellFailure, ColumnId, failed_cells, is_stored, stored_cells
from billboards.site.work.leases import Lease

#: Cells by column: the versions of their rows.
ByColumn = Mapping[ColumnId, frozenset[str]]


@dataclass(frozen=True)
class SubmittedMetric:
    """What is known of a submitted metric without opening it."""

    name: str
    signature: str
    card: MetricCard
    submission: Submission


#: A metric that scores a board.
Scorer = Metric | SubmittedMetric


def has_counts(metric: Scorer) -> bool:
    """Whether a metric's cells are whole only with counts; a submitted program has none."""
    return isinstance(metric, Metric) and metric.corpus != "mean"


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that metrics may score which see the same references, by version: of two with the same texts the last.

    All those metrics share one such object, so that a thousand rows are compared with others once and not per metric.
    """

    by_version: Mapping[str, Outputs]

    @cached_property
    def versions(self) -> frozenset[str]:
        return frozenset(self.by_version)


@dataclass(frozen=True)
class Block:
    """A metric on some rows."""

    metric: Scorer
    key: ColumnKey
    rows: Rows

    @property
    def column(self) -> ColumnId:
        return self.key.column.signature, self.key.context

    @property
    def counted(self) -> bool:
        return has_counts(self.metric)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All cells that a board should have at one generation."""

    registered: registry.Registered
    settings: BoardSettings
    #: The board as its owner wrote it; a cell brings its own row.
    board: Board
    #: Its rows and those of finished generators.
    rows: tuple[Outputs, ...]
    #: What each audience's board is ranked on.
    shown: Mapping[Audience, tuple[Block, ...]]
    #: What each submission on its way waits for, by its id.
    waits: Mapping[str, tuple[Block, ...]]
    #: Submissions that are not finished, the oldest first.
    active: tuple[Submission, ...]
    #: Whether owners see entries that others don't.
    has_hidden: bool
    #: Who has a ranking of its own: owners where they see more than everybody.
    audiences: tuple[Audience, ...]
    #: What suites ask for beyond that: metrics of their own, and scores against one reference.
    suites: tuple[Block, ...] = ()
    #: Which suites there were.
    suite_files: tuple[object, ...] = ()

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Everything that should be there, what is wanted first before the rest; a cell may be in several."""
        shown = self.shown["owners"] + (self.shown["public"] if self.has_hidden else ())
        return (*shown, *chain.from_iterable(self.waits.values()), *self.suites)

    @cached_property
    def versions(self) -> ByColumn:
        """The versions of the rows that each column should have."""
        union, versions = cache(frozenset[str].union), dict[ColumnId, frozenset[str]]()
        for block in self.blocks:
            versions[block.column] = union(versions.get(block.column, frozenset()), block.rows.versions)
        return versions

    @cached_property
    def counted(self) -> frozenset[ColumnId]:
        """The columns whose cells are whole only with counts."""
        return frozenset(block.column for block in self.blocks if block.counted)

    def cells(self, some: ByColumn | None = None) -> Iterator[Cell[Scorer]]:
        """Every cell, or those of some rows of some columns, in the order in which they are wanted."""
        return map(self._cell, self.ids(self.versions if some is None else some))

    def ids(self, some: ByColumn) -> Iterator[CellId]:
        """What the cells of some rows of some columns are called, in the order in which they are wanted."""
        seen = set[CellId]()
        for block in self.blocks:
            versions = some.get(block.column)
            if versions and not block.rows.versions.isdisjoint(versions):
                ids = ((*block.column, version) for version in block.rows.by_version if version in versions)
                for cell_id in ids:
                    if cell_id not in seen:
                        seen.add(cell_id)
                        yield cell_id

    def _cell(self, cell_id: CellId) -> Cell[Scorer]:
        """A cell as a job needs it; where several submissions want it, as the last of them does."""
        signature, context, version = cell_id
        block = next(block for block in self._last_first[signature, context] if version in block.rows.versions)
        return Cell(block.metric, block.key, block.rows.by_version[version])

    @cached_property
    def _last_first(self) -> Mapping[ColumnId, list[Block]]:
        blocks = dict[ColumnId, list[Block]]()
        for block in reversed(self.blocks):
            blocks.setdefault(block.column, []).append(block)
        return blocks


def ids_of(blocks: Iterable[Block]) -> frozenset[CellId]:
    """What the cells of some blocks are called."""
    return frozenset((*block.column, version) for block in blocks for version in block.rows.versions)


#: A set of references, and the versions of the rows that are scored against it; None is all of them.
Sets = list[tuple[ReferenceSet, frozenset[str] | None]]
_PLANS = Shelf[str, Plan]()
#: What each board's judgments ask for, with the board that had them.
_REFERENCE_SETS = Shelf[str, tuple[Board, Sets]]()


def plan_board(site: Site, name: str) -> Plan:
    """The plan of a board; costs one look at its generation where nothing changed."""
    with site.database.reading() as connection:
        registered = registry.board(connection, name)
    with site.lock:
        cached, files = site.cache.get(_PLANS, name), stamps(site)
        if cached is not None and (cached.registered.generation, cached.suite_files) == (registered.generation, files):
            return cached
        return site.cache.put(_PLANS, name, replace(_plan(site, registered), suite_files=files))


def _plan(site: Site, registered: registry.Registered) -> Plan:
    settings = read_board_settings(registered.settings)
    folder = folder_board(site, registered)
    with site.database.reading() as connection:
        sent = submissions.find(connection, board=registered.name)
    scored = [submission for submission in sent if submission.state == "scored"]
    finished = latest_versions(scored)
    seen = latest_versions(submission for submission in scored if not settings.hides(submission.phase))
    has_hidden = {submission.id for submission in finished} != {submission.id for submission in seen}
    lister = _Lister(site, registered.name, folder)
    rows, scorers = lister.rows(finished), lister.scorers(finished)
    shown: dict[Audience, tuple[Block, ...]] = {"owners": lister.blocks(scorers, rows)}
    shown["public"] = lister.blocks(lister.scorers(seen), lister.rows(seen)) if has_hidden else shown["owners"]
    scoring = [submission for submission in reversed(sent) if submission.state == "scoring"]
    return Plan(
        registered=registered,
        settings=settings,
        board=folder,
        rows=tuple(rows),
        shown=shown,
        waits=lister.waits(scoring, [*finished, *seen] if has_hidden else finished),
        active=tuple(submission for submission in reversed(sent) if not submission.is_terminal),
        has_hidden=has_hidden,
        audiences=("public", "owners") if has_hidden or hides_judgments(settings, folder) else ("public",),
        suites=lister.suite_blocks(finished),
    )


class _Lister:
    """Lists what there should be on one board."""

    def __init__(self, site: Site, name: str, folder: Board) -> None:
        self.site, self.name, self.folder = site, name, folder
        self.own, _ = board_metrics(folder)
        # Whom people judged, campaigns say too; a generator that nobody judged takes no part, so it changes nothing.
        self.judged = judged = live_board(site, name, audience="owners").board
        cached = site.cache.get(_REFERENCE_SETS, name)
        if cached is None or not _same_judged(cached[0], judged):
            cached = site.cache.put(_REFERENCE_SETS, name, (judged, _reference_sets(judged)))
        self.sets = cached[1]

    def scorers(self, entries: Sequence[Submission]) -> list[Scorer]:
        return [*self.own, *(submitted_metric(entry) for entry in entries if is_run_here(entry))]

    def rows(self, entries: Sequence[Submission]) -> list[Outputs]:
        generators = [entry for entry in entries if entry.kind == "generator"]
        submitted = (submitted_row(self.site, self.folder, entry, entry.public_name) for entry in generators)
        return [*self.folder.rows, *submitted]

    def waits(self, scoring: Sequence[Submission], finished: Sequence[Submission]) -> dict[str, tuple[Block, ...]]:
        """A new row under the finished metrics, a new metric on the finished rows, for each of these submissions."""
        scorers, waits = self.scorers(finished), {}
        # Generators first: a metric may take hours, and nobody should have to wait for it but its own submitter.
        for entry in sorted(scoring, key=lambda entry: entry.kind):
            if entry.kind == "generator":
                waits[entry.id] = self.blocks(scorers, [submitted_row(self.site, self.folder, entry, entry.name)])
            else:
                waits[entry.id] = self.blocks(self.scorers([entry])[len(self.own) :], self.rows(finished))
        return waits

    def suite_blocks(self, finished: Sequence[Submission]) -> tuple[Block, ...]:
        """The metrics of suites and those sent in, on judged rows, against the references that a suite's blocks see."""
        submitted = self.scorers(finished)[len(self.own) :]
        blocks = dict[tuple[ColumnId, frozenset[str]], Block]()
        for suite in live_suites(self.site).values():
            try:
                pairs = _suite_members(self.site, suite)
                scorers = {label: suite_scorers(suite, [m for _, m in pairs], m) for label, m in pairs}
            except (InvalidBoard, InvalidInput):
                # The suite's page says what is wrong with its file.
                continue
            for label, member in pairs:
                if member.board.name != self.folder.name:
                    continue
                for references in dict.fromkeys(map(member.references, BLOCKS)):
                    for scorer in (*scorers[label], *submitted):
                        if scorer.card.needs_references == bool(references):
                            block = self._suite_block(member, scorer, references)
                            blocks[block.column, block.rows.versions] = block
        return tuple(blocks.values())

    def _suite_block(self, member: OpenBoard, scorer: Scorer, references: ReferenceSet) -> Block:
        key = column_key(self.folder, scorer, references)
        rows = {r.version: r for r in member.judged_rows if not self.folder.is_reference(r, key.column.references)}
        return Block(scorer, key, Rows(rows))

    def blocks(self, scorers: Sequence[Scorer], rows: Sequence[Outputs]) -> tuple[Block, ...]:
        """Every metric on every row that it may score."""
        blocks = []
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
                blocks.append(Block(scorer, key, scored[seen]))
        return tuple(blocks)


def _suite_members(site: Site, suite: Suite) -> list[tuple[str, OpenBoard]]:
    """A suite's boards with all their judgments, by their labels."""
    members = [
        member_of(entry, home_of(live_board(site, registered.name, audience="owners").board))
        for entry, registered in registered_boards(site, suite)
    ]
    return [(member.label, member) for member in told_apart(suite, members)]


def is_run_here(submission: Submission) -> bool:
    """Whether a submission is a metric that workers run; scores that came alone are on the board without it."""
    return submission.kind == "metric" and submission.way != "scores"


def submitted_metric(submission: Submission) -> SubmittedMetric:
    """What is known of a submitted metric since it was checked."""
    settings = submission.settings
    card = MetricCard(
        name=str(settings["column"]),
        needs_references=bool(settings["needs_references"]),
        needs_input=bool(settings["needs_input"]),
        higher_is_better=bool(settings["higher_is_better"]),
    )
    return SubmittedMetric(card.name, str(settings["signature"]), card, submission)


def _same_judged(before: Board, now: Board) -> bool:
    """Whether two states of a board have the same instances and judgments, and are ranked by the same of these."""
    return before.instances is now.instances and before.judgments is now.judgments and before.ranks == now.ranks


def _reference_sets(board: Board) -> Sets:
    """The reference set that ranks, for all rows, and the one that overrating needs, for the rows it compares."""
    sets: Sets = [(board.references, None)]
    human = compared_human(board)
    if human is not None:
        used = references_without(board, human, None)
        if used != board.references:
            sets.append((used, frozenset(row.version for row in rows_compared(board, human))))
    return sets


#: Seconds to wait before a cell is tried again that the platform spoiled, for each time it was.
BACKOFF = 5.0


@dataclass(frozen=True)
class Progress:
    """How far the cells have come that a submission waits for; `seconds` is what they may still take."""

    done: int
    failed: int
    total: int
    seconds: float | None


@dataclass(frozen=True)
class Standing:
    """What is missing of a board's cells at one moment."""

    plan: Plan
    missing: ByColumn
    #: Why cells that are missing could not be computed.
    failed: Mapping[CellId, CellFailure]
    attempts: int
    now: float

    def is_missing(self, cell_id: CellId) -> bool:
        signature, context, version = cell_id
        return version in self.missing.get((signature, context), ())

    def is_over(self, cell_id: CellId) -> bool:
        """Whether a cell needs no more work: it is there, or was given up."""
        return not self.is_missing(cell_id) or (cell_id in self.failed and self.is_final(self.failed[cell_id]))

    def is_final(self, failure: CellFailure) -> bool:
        """A metric's own failure is final; the platform's is after a few attempts."""
        return not failure.platform or failure.attempts >= self.attempts

    def due(self) -> Iterator[Cell[Scorer]]:
        """The cells to compute now, in the order in which they are wanted."""
        for cell in self.plan.cells(self.open):
            failure = self.failed.get(cell.id)
            if failure is None or self.now >= failure.created + BACKOFF * failure.attempts:
                yield cell

    @cached_property
    def open(self) -> ByColumn:
        """The cells that are neither there nor given up."""
        over = dict[ColumnId, set[str]]()
        for (signature, context, version), failure in self.failed.items():
            if self.is_final(failure):
                over.setdefault((signature, context), set()).add(version)
        return _without(self.missing, over)

    @cached_property
    def missing_of_suites(self) -> int:
        """How many of the cells that suites ask for are not there."""
        return sum(len(block.rows.versions & self.missing.get(block.column, frozenset())) for block in self.plan.suites)

    def is_complete(self, blocks: Iterable[Block]) -> bool:
        """Whether every cell of these is there or given up."""
        return all(block.rows.versions.isdisjoint(self.open.get(block.column, ())) for block in blocks)


#: What was missing of a board at the last look.
_STANDINGS = Shelf[str, Standing]()


def standing(site: Site, name: str) -> Standing:
    """Which cells of a board are missing, and which of them have failed."""
    plan = plan_board(site, name)
    last = site.cache.get(_STANDINGS, name)
    asked = plan.versions if last is None else _unseen(plan, last)
    missing, failed = asked, dict[CellId, CellFailure]()
    if asked:
        with site.database.reading() as connection:
            missing = _without(asked, stored_cells(connection, name, asked, counted=plan.counted))
            failed = failed_cells(connection, name, missing)
    return site.cache.put(_STANDINGS, name, Standing(plan, missing, failed, site.settings.attempts, site.clock()))


def _unseen(plan: Plan, last: Standing) -> ByColumn:
    """What a plan wants that was not there at the last look: what was missing then, and what nobody wanted yet."""
    if plan is last.plan:
        return last.missing
    # Columns share their rows: a thousand are compared once, not under every metric.
    new, asked = cache(frozenset[str].difference), dict[ColumnId, frozenset[str]]()
    for column, versions in plan.versions.items():
        unseen = new(versions, last.plan.versions.get(column, frozenset()))
        asked[column] = unseen | (versions & last.missing.get(column, frozenset()))
    return _without(asked, {})


def _without(cells: ByColumn, others: Mapping[ColumnId, Iterable[str]]) -> ByColumn:
    """Some cells without others, and no column that has none left."""
    left = {column: versions.difference(others.get(column, ())) for column, versions in cells.items()}
    return {column: versions for column, versions in left.items() if versions}


def progress(site: Site, submission: Submission) -> Progress:
    """How far a submission's cells have come."""
    now = standing(site, submission.board)
    waits = ids_of(now.plan.waits.get(submission.id, ()))
    missing = set(filter(now.is_missing, waits))
    failed = sum(map(now.is_over, missing))
    seconds = site.cells(submission.board).seconds_per_cell({signature for signature, _, _ in waits})
    left = sum(seconds.get(signature, 0.0) for signature, _, _ in missing)
    return Progress(len(waits) - len(missing), failed, len(waits), left if seconds else None)


Kind = Literal["check", "trial", "cell", "refresh", "suite", "draft", "publish"]
#: Which jobs a worker takes, by kind, for a cell by which, and by the submission whose program is run.
Takes = Callable[[Kind, Cell[Scorer] | None, Submission | None], bool]
#: The generation, with the suites there were, at which a board had nothing to do.
IDLE = Shelf[str, tuple[int, tuple[object, ...]]]()
#: The generation at which a board could not be ranked for an audience.
UNRANKABLE = Shelf[tuple[str, Audience], int]()
#: What suites rested on when they had nothing to do, or could not be ranked, for an audience.
SUITES_DONE = Shelf[tuple[str, Audience], object]()
#: Cells of a submitted program that one job computes at most, where it is loaded once and where it is started for each
#: call, which several workers may share; what is lost with a worker is computed again.
MOST_TOGETHER, MOST_STARTED = 32, 8
#: A cell's failure in the submission's log is cut to this length.
LONGEST_REASON = 4_000


@dataclass(frozen=True, kw_only=True)
class Job:
    """One thing to do, leased to one worker."""

    kind: Kind
    board: str
    subject: str
    lease: Lease
    submission: Submission | None = None
    cell: Cell[Scorer] | None = None
    #: Cells of the same column that the same run computes, each with a lease of its own.
    companions: tuple[Job, ...] = ()

    def __str__(self) -> str:
        what = self.submission.name if self.submission else self.subject
        if self.cell is not None:
            more = f" and {len(self.companions)} more" if self.companions else ""
            what = f"{self.cell.metric.name} · {self.cell.row.name}{more}"
        return f"{self.kind} {what}{f' on {self.board}' if self.board else ''}"


@dataclass(frozen=True)
class _Candidate:
    kind: Kind
    subject: str
    submission: Submission | None = None
    cell: Cell[Scorer] | None = None

    @property
    def taken_as(self) -> tuple[Kind, Cell[Scorer] | None, Submission | None]:
        return self.kind, self.cell, self.submission


def takes_mixed(submission: Submission) -> bool:
    """Whether a metric gets outputs of several generators in one call; those from before version 0.2 don't."""
    return not submission.settings.get("needs_corpus", True)


def _most_together(submission: Submission) -> int:
    """How many generators are scored in one job: several, where they are mixed or the program is loaded once."""
    if submission.settings.get("loads"):
        return MOST_TOGETHER
    return MOST_STARTED if takes_mixed(submission) else 1


def needs_gpu(submission: Submission | None) -> bool:
    """Whether a submission's program asks for a graphics card."""
    return submission is not None and bool(submission.settings.get("gpu"))


def unmet_need(site: Site, submission: Submission) -> str | None:
    """What a submission waits for that nobody can give it now; None where it need not wait."""
    if submission.state not in ("trial", "scoring") or not needs_gpu(submission):
        return None
    with site.database.reading() as connection:
        if leases.has_gpu_worker(connection, now=site.clock()):
            return None
    return "waiting for a worker with a graphics card; none is there now"


def anything(kind: Kind, _: Cell[Scorer] | None, submission: Submission | None) -> bool:
    """What a worker without a graphics card does: all but running programs that ask for one."""
    return kind not in ("trial", "cell") or not needs_gpu(submission)


def everything(_: Kind, __: Cell[Scorer] | None, ___: Submission | None) -> bool:
    """What a worker with a graphics card does."""
    return True


def next_job(site: Site, worker: str, takes: Takes = anything) -> Job | None:
    """The next thing to do on any board, leased to this worker; None where there is nothing for it."""
    files = stamps(site)
    for registered in site.boards():
        if site.cache.get(IDLE, registered.name) == (registered.generation, files):
            continue
        try:
            job = _next_of(site, registered.name, worker, takes)
        except (InvalidBoard, InvalidInput, BoardUnreadable):
            # The owner is editing the folder; the board stays as it was until it can be read again.
            continue
        if job is not None:
            return job
    return (_next_suite(site, worker, takes) if files else None) or _next_wish(site, worker, takes)


#: What stands in the place of a board in the lease of a draft, which is none yet, and for what is leased of a board.
NO_BOARD, FILES = "", "files"


def _next_wish(site: Site, worker: str, takes: Takes) -> Job | None:
    """What owners asked for by a button: a board to fetch, files to write once the boards are ranked."""
    with site.database.reading() as connection:
        wishes = [(NO_BOARD, _Candidate("draft", draft.name)) for draft in waiting_drafts(connection)]
        wishes += [(each.board, _Candidate("publish", FILES)) for each in open_publications(connection)]
    taken = (_take(site, board, wish, worker) for board, wish in wishes if takes(*wish.taken_as))
    return next((job for job in taken if job is not None), None)


def _next_suite(site: Site, worker: str, takes: Takes) -> Job | None:
    """The next suite to rank: all its cells are there or given up, and it said something else last."""
    for suite in live_suites(site).values():
        try:
            job = _suite_job(site, suite, worker, takes)
        except (InvalidBoard, InvalidInput):
            continue
        if job is not None:
            return job
    return None


def _suite_job(site: Site, suite: Suite, worker: str, takes: Takes) -> Job | None:
    now = suite_standings(site, suite)
    if not all(each.is_complete(each.plan.suites) for each in now):
        return None
    for audience in suite_audiences(now):
        if site.cache.get(SUITES_DONE, (suite.name, audience)) == suite_state(now):
            continue
        candidate = _Candidate("suite", f"{audience}:{suite.name}")
        if not _is_suite_due(site, suite, audience, now):
            site.cache.put(SUITES_DONE, (suite.name, audience), suite_state(now))
        elif takes(*candidate.taken_as):
            job = _take(site, now[0].plan.registered.name, candidate, worker)
            if job is not None:
                return job
    return None


def suite_standings(site: Site, suite: Suite) -> list[Standing]:
    """What is missing of the cells of a suite's boards, each board once."""
    boards = dict.fromkeys(registered.name for _, registered in registered_boards(site, suite))
    return [standing(site, board) for board in boards]


def suite_state(now: Sequence[Standing]) -> object:
    """What must change before a suite may say something else."""
    return tuple((each.plan.registered.generation, each.plan.suite_files, each.missing_of_suites) for each in now)


def suite_audiences(now: Sequence[Standing]) -> tuple[Audience, ...]:
    """Who has a ranking of a suite of its own: owners where they see more than everybody on any board."""
    return ("public", "owners") if any("owners" in each.plan.audiences for each in now) else ("public",)


def suite_basis(site: Site, suite: Suite, audience: Audience, now: Sequence[Standing]) -> str | None:
    """What a suite's ranking rests on; None where no board takes part."""
    live = live_suite(site, suite, audience)
    if live.opened is None:
        return None
    return digest((state_of(live), *(str(each.missing_of_suites) for each in now)))


def _is_suite_due(site: Site, suite: Suite, audience: Audience, now: Sequence[Standing]) -> bool:
    basis = suite_basis(site, suite, audience, now)
    with site.database.reading() as connection:
        last = suite_rankings.latest(connection, suite.name, audience)
    return basis is not None and (last is None or last.basis != basis)


def _next_of(site: Site, name: str, worker: str, takes: Takes) -> Job | None:
    now = standing(site, name)
    while settle(site, now) or admit_generators(site, name):
        now = standing(site, name)
    with site.database.reading() as connection:
        held = leases.held(connection, name, now=site.clock())
    waits = False
    for candidate in _candidates(site, now):
        waits = True
        if (candidate.kind, candidate.subject) not in held and takes(*candidate.taken_as):
            job = _take(site, name, candidate, worker)
            if job is not None:
                return replace(job, companions=_companions(site, now, job, held, worker))
    if not waits and not now.open and not now.plan.settings.quiet:
        site.cache.put(IDLE, name, (now.plan.registered.generation, now.plan.suite_files))
    return None


def _companions(site: Site, now: Standing, job: Job, held: frozenset[tuple[str, str]], worker: str) -> tuple[Job, ...]:
    """Other cells of a metric that takes several generators in one run, leased with the first."""
    metric = None if job.cell is None else job.cell.metric
    if job.cell is None or not isinstance(metric, SubmittedMetric):
        return ()
    together = max(1, TOGETHER // max(1, len(now.plan.board.instances)))
    most = min(_most_together(metric.submission), together) - 1
    others = (cell for cell in now.due() if cell.key == job.cell.key and cell.id != job.cell.id)
    candidates = (_Candidate("cell", _subject(cell), metric.submission, cell) for cell in others)
    free = (candidate for candidate in candidates if ("cell", candidate.subject) not in held)
    taken = (_take(site, job.board, candidate, worker) for candidate in islice(free, most))
    return tuple(companion for companion in taken if companion is not None)


def _candidates(site: Site, now: Standing) -> Iterator[_Candidate]:
    plan = now.plan
    for submission in plan.active:
        if submission.state in ("received", "checking"):
            yield _Candidate("check", submission.id, submission)
        elif submission.state == "trial":
            yield _Candidate("trial", submission.id, submission)
    for audience in plan.audiences:
        if _should_refresh(site, now, audience):
            yield _Candidate("refresh", audience)
    for cell in now.due():
        submitted = cell.metric.submission if isinstance(cell.metric, SubmittedMetric) else None
        yield _Candidate("cell", _subject(cell), submitted, cell)


def _subject(cell: Cell[Scorer]) -> str:
    """A cell as a lease names it."""
    signature, context, version = cell.id
    return f"{digest((signature,))}:{context}:{version}"


def _should_refresh(site: Site, now: Standing, audience: Audience) -> bool:
    """Whether a board's cells are complete, it has been quiet long enough, and what it last said is out of date."""
    plan = now.plan
    if not now.is_complete(plan.shown[audience]) or now.now - plan.registered.changed < plan.settings.quiet:
        return False
    live = live_board(site, plan.registered.name, audience=audience)
    unrankable = site.cache.get(UNRANKABLE, (live.name, audience)) == live.generation
    return live.generation == plan.registered.generation and is_due(live) and not unrankable


def _take(site: Site, board: str, candidate: _Candidate, worker: str) -> Job | None:
    now = site.clock()
    submission = candidate.submission
    # A submission's state changes with its lease, and only writers may change it.
    changes = candidate.kind in ("check", "trial")
    with site.database.writing(boards=[board]) if changes else site.database.claiming() as connection:
        lease = leases.acquire(
            connection, board, candidate.kind, candidate.subject, worker, now=now, seconds=site.settings.lease_seconds
        )
        if lease is None:
            return None
        if submission is not None and changes:
            submission = submissions.get(connection, submission.id)
            if submission.state == "received":
                submission = submissions.advance(connection, submission.id, "checking", actor=worker, now=now)
            if submission.state != ("checking" if candidate.kind == "check" else "trial"):
                leases.release(connection, lease)
                return None
        # A cell may have been computed between the look at the list and the lease.
        cell = candidate.cell
        if cell is not None and is_stored(connection, board, cell.id, counted=has_counts(cell.metric)):
            leases.release(connection, lease)
            return None
    return Job(
        kind=candidate.kind,
        board=board,
        subject=candidate.subject,
        lease=lease,
        submission=submission,
        cell=candidate.cell,
    )


def hand_back(site: Site, job: Job) -> None:
    """Give a job that was begun and not finished, with its companions, to whoever asks next, at once."""
    for companion in job.companions:
        hand_back(site, companion)
    with site.database.reading() as connection:
        if not leases.holds(connection, job.lease):
            return
    with site.database.writing(boards=[job.board]) as connection:
        leases.release(connection, job.lease)


def settle(site: Site, now: Standing) -> bool:
    """Finish every submission whose cells are all done or given up; says whether there was one."""
    done = False
    for submission in now.plan.active:
        if submission.state == "scoring" and now.is_complete(now.plan.waits[submission.id]):
            done |= _settle(site, submission, now)
    return done


def _settle(site: Site, submission: Submission, now: Standing) -> bool:
    """A metric is finished when it has scored every generator; a generator, when some metric has scored it."""
    waits = ids_of(now.plan.waits[submission.id])
    failed = {cell_id: now.failed[cell_id] for cell_id in sorted(filter(now.is_missing, waits))}
    platform = any(failure.platform for failure in failed.values())
    reasons = list(dict.fromkeys(failure.reason for failure in failed.values()))
    fails = bool(failed) and (submission.kind == "metric" or platform or len(failed) == len(waits))
    with site.database.writing(boards=[submission.board]) as connection:
        if submissions.get(connection, submission.id).state != "scoring":
            return True
        moment = site.clock()
        if fails:
            log = "\n".join(reasons)
            submissions.advance(
                connection,
                submission.id,
                "failed",
                actor="site",
                now=moment,
                reason=reasons[0][:LONGEST_REASON],
                platform=platform,
                log=log,
            )
        else:
            log = f"scored: {len(waits) - len(failed)} of {len(waits)} cells"
            if submission.way == "scores":
                log = "taken over: the scores stand on the board as they were sent"
            log = "\n".join((log, *(f"not scored: {reason}" for reason in reasons)))
            submissions.advance(connection, submission.id, "scored", actor="site", now=moment, log=log)
    return True
