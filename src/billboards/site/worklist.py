"""What a board still needs: the cells that should be there, minus those that are.

Which cells there should be follows from the board, its metrics and the submissions on their way, and is worked out once
per generation; which are there, the database says. A finished generator has a cell under every finished metric; one in
the making is scored by the finished metrics, a metric in the making scores the finished generators. Overrating asks for
a second reference set, without the human writer's own text. There is no queue that could lose anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from billboards.domain import Board, MetricCard, Outputs, ReferenceSet, digest
from billboards.metrics.base import Metric
from billboards.service.overrating import human_generators, references_without, rows_compared
from billboards.service.scoring import column_key
from billboards.site.boards import board_metrics, folder_board, latest_versions, submitted_row
from billboards.site.home import Site
from billboards.site.settings import BoardSettings, read_board_settings
from billboards.store import registry, submissions
from billboards.store.base import ColumnKey
from billboards.store.snapshots import Audience
from billboards.store.sql_cells import CellFailure, CellKey, failed_cells, present_cells
from billboards.store.submissions import Submission

#: Seconds to wait before a cell is tried again that the platform spoiled, for each time it was.
BACKOFF = 5.0


@dataclass(frozen=True)
class Scorer:
    """A metric that scores a board: an installed one, or what is known of a submitted one without opening it."""

    name: str
    signature: str
    card: MetricCard
    metric: Metric | None = None
    submission: Submission | None = None


@dataclass(frozen=True)
class Wanted:
    """A cell that should be there."""

    scorer: Scorer
    key: ColumnKey
    row: Outputs

    @property
    def cell(self) -> CellKey:
        return self.key.column.signature, self.key.context, self.row.version

    @property
    def subject(self) -> str:
        """The cell as a lease names it."""
        return f"{digest((self.key.column.signature,))}:{self.key.context}:{self.row.version}"


@dataclass(frozen=True)
class Plan:
    """All cells that a board should have at one generation."""

    known: registry.Registered
    settings: BoardSettings
    #: The board as its owner wrote it; a cell brings its own row.
    board: Board
    #: Its rows and those of finished generators.
    rows: tuple[Outputs, ...]
    wanted: tuple[Wanted, ...]
    #: The cells each submission on its way waits for, by its id.
    waits: Mapping[str, frozenset[CellKey]]
    #: The cells each audience's board is ranked on.
    shown: Mapping[Audience, frozenset[CellKey]]
    #: Submissions that are not finished, the oldest first.
    active: tuple[Submission, ...]
    #: Whether owners see more than everybody.
    has_hidden: bool


@dataclass(frozen=True)
class Progress:
    """How far the cells have come that a submission waits for; `seconds` is what they may still take."""

    done: int
    failed: int
    total: int
    seconds: float | None


@dataclass(frozen=True)
class Standing:
    """What there is of a board's cells at one moment."""

    present: frozenset[CellKey]
    failed: Mapping[CellKey, CellFailure]
    attempts: int
    now: float

    def is_over(self, cell: CellKey) -> bool:
        """Whether a cell needs no more work: it is there, or was given up."""
        return cell in self.present or (cell in self.failed and self.is_final(self.failed[cell]))

    def is_final(self, failure: CellFailure) -> bool:
        """A metric's own failure is final; the platform's is after a few attempts."""
        return not failure.platform or failure.attempts >= self.attempts

    def is_due(self, cell: CellKey) -> bool:
        failure = self.failed.get(cell)
        waited = failure is None or self.now >= failure.created + BACKOFF * failure.attempts
        return waited and not self.is_over(cell)


def plan_board(site: Site, name: str) -> Plan:
    """The plan of a board; costs one look at its generation where nothing changed."""
    with site.database.reading() as connection:
        known = registry.board(connection, name)
    with site.lock:
        cached = site.cache.get(("plan", name))
        if cached is not None and cached.known.generation == known.generation:
            return cached  # type: ignore[no-any-return]
        site.cache["plan", name] = plan = _plan(site, known)
    return plan


def standing(site: Site, name: str) -> Standing:
    """Which cells of a board there are, and which have failed."""
    plan = plan_board(site, name)
    kept, present = site.cache.get(("present", name), (None, frozenset()))
    # Cells only come while a board stays as it is: of those that were there nobody needs to be asked again.
    versions = {wanted.row.version for wanted in plan.wanted if wanted.cell not in present} if kept is plan else None
    with site.database.reading() as connection:
        found, failed = present_cells(connection, name, versions), failed_cells(connection, name)
    present = found if kept is not plan else present | found
    site.cache["present", name] = plan, present
    return Standing(present, failed, site.settings.attempts, site.clock())


def progress(site: Site, submission: Submission) -> Progress:
    """How far a submission's cells have come."""
    waits = plan_board(site, submission.board).waits.get(submission.id, frozenset())
    now = standing(site, submission.board)
    done = len(waits & now.present)
    failed = sum(1 for cell in waits - now.present if now.is_over(cell))
    seconds = site.cells(submission.board).seconds_per_cell({signature for signature, _, _ in waits})
    left = sum(seconds.get(signature, 0.0) for signature, _, _ in waits - now.present)
    return Progress(done, failed, len(waits), left if seconds else None)


def _plan(site: Site, known: registry.Registered) -> Plan:
    settings = read_board_settings(known.settings)
    folder = folder_board(site, known)
    with site.database.reading() as connection:
        found = submissions.find(connection, board=known.name)
    scored = [one for one in found if one.state == "scored"]
    finished = latest_versions(scored)
    seen = latest_versions(one for one in scored if not settings.hides(one.phase))
    list_cells = _Lister(site, known.name, folder)
    shown: dict[Audience, list[Wanted]] = {
        "owners": list_cells.of_board(finished),
        "public": list_cells.of_board(seen),
    }
    wanted = shown["owners"] + shown["public"]
    waits = {}
    # Generators first: a metric may take hours, and nobody should have to wait for it but its own submitter.
    for one in sorted((one for one in reversed(found) if one.state == "scoring"), key=lambda one: one.kind):
        cells = list_cells.of_submission(one, [*finished, *seen])
        waits[one.id] = frozenset(cell.cell for cell in cells)
        wanted += cells
    return Plan(
        known,
        settings,
        folder,
        tuple(list_cells.rows(finished)),
        tuple({cell.cell: cell for cell in wanted}.values()),
        waits,
        {audience: frozenset(cell.cell for cell in cells) for audience, cells in shown.items()},
        tuple(one for one in reversed(found) if not one.is_terminal),
        {one.id for one in finished} != {one.id for one in seen},
    )


class _Lister:
    """Lists the cells that there should be on one board."""

    def __init__(self, site: Site, name: str, folder: Board) -> None:
        self.site, self.folder = site, folder
        own, _ = board_metrics(folder)
        self.own = [Scorer(one.name, one.signature, one.card, one) for one in own]
        cached = site.cache.get(("reference sets", name))
        if cached is None or cached[0] is not folder:
            cached = site.cache["reference sets", name] = (folder, _reference_sets(folder))
        self.sets: list[tuple[ReferenceSet, Sequence[Outputs] | None]] = cached[1]

    def of_board(self, entries: Sequence[Submission]) -> list[Wanted]:
        """Every row under every metric, with these submissions among them."""
        return list(self._cells(self._scorers(entries), self.rows(entries)))

    def of_submission(self, one: Submission, entries: Sequence[Submission]) -> list[Wanted]:
        """A new row under the finished metrics, or a new metric on the finished rows."""
        if one.kind == "generator":
            return list(self._cells(self._scorers(entries), [submitted_row(self.site, self.folder, one, one.name)]))
        return list(self._cells([submitted_scorer(one)], self.rows(entries)))

    def _scorers(self, entries: Sequence[Submission]) -> list[Scorer]:
        return self.own + [submitted_scorer(one) for one in entries if one.kind == "metric"]

    def rows(self, entries: Sequence[Submission]) -> list[Outputs]:
        generators = (one for one in entries if one.kind == "generator")
        return [*self.folder.rows, *(submitted_row(self.site, self.folder, one, one.public_name) for one in generators)]

    def _cells(self, scorers: Sequence[Scorer], rows: Sequence[Outputs]) -> Iterator[Wanted]:
        for references, taking_part in self.sets:
            versions = None if taking_part is None else {row.version for row in taking_part}
            for scorer in scorers:
                if scorer.card.needs_references and not references:
                    continue
                key = column_key(self.folder, scorer, references)
                for row in rows:
                    takes_part = versions is None or row.version in versions
                    if takes_part and not self.folder.is_reference(row, key.column.references):
                        yield Wanted(scorer, key, row)


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


def _reference_sets(folder: Board) -> list[tuple[ReferenceSet, Sequence[Outputs] | None]]:
    """The reference set that ranks, for all rows, and the one that overrating needs, for the rows it compares."""
    sets: list[tuple[ReferenceSet, Sequence[Outputs] | None]] = [(folder.references, None)]
    human = compared_human(folder)
    if human is not None:
        used = references_without(folder, human, None)
        if used != folder.references:
            sets.append((used, rows_compared(folder, human)))
    return sets


def compared_human(folder: Board) -> str | None:
    """The person whom overrating compares machines with: the first whose texts are judged."""
    return next(iter(human_generators(folder)), None) if folder.ranks is not None else None
