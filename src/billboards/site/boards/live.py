"""The live board: the folder's board with a row for every generator that came in, and what campaigns said of them.

What people see is made of what is finished: scored submissions, the latest version of each name, not withdrawn, and
not of a blind phase that isn't revealed (owners see those too). It is kept in the process until the board's generation
rises. A submission that wants to stay anonymous stands on the board under a pseudonym, so that nothing made from the
board can give its name away.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from billboards.analyses._disclosed import Disclosure
from billboards.analyses.rank import Ranking
from billboards.board import Board, Generator, ImportedColumn, Outputs, Texts, digest
from billboards.board._parts import LISTED
from billboards.board.cells import ColumnKey
from billboards.board.costs import COSTS
from billboards.board.folder import open_board, read_texts
from billboards.board.judgments import JudgmentColumns
from billboards.board.private_share import without_private
from billboards.errors import BoardUnreadable, InvalidBoard, InvalidInput, MissingPart, StoreFailed
from billboards.metrics.base import Metric
from billboards.metrics.discovery import installed_metric
from billboards.reading import Problems
from billboards.show.documents import result_of
from billboards.site.boards import registry, snapshots
from billboards.site.boards.last_good import last_good
from billboards.site.boards.snapshots import Audience, Snapshot
from billboards.site.cache import Shelf
from billboards.site.campaigns.judgments import with_campaigns
from billboards.site.database import trail
from billboards.site.settings import BoardSettings, read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.blobs import BlobStore
from billboards.site.submissions.given import find_blind_rows, given_hidden
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sent_scores import sent_column
from billboards.site.work.cells import SqlCells

log = logging.getLogger("billboards.site")


@dataclass(frozen=True)
class Latest:
    """What a snapshot says: its document, and the ranking in it."""

    document: dict[str, Any]

    @cached_property
    def ranking(self) -> Ranking:
        return result_of(Ranking, self.document["ranking"])


@dataclass(frozen=True, kw_only=True)
class LiveBoard:
    """A board of the site as one audience sees it at one moment."""

    site: Site
    name: str
    audience: Audience
    board: Board
    #: The same without what campaigns said.
    without_campaigns: Board
    #: Cells of finished metrics only.
    cells: SqlCells
    generation: int
    settings: BoardSettings
    #: The submission behind a row or a metric, by its name on the board; those of the folder have none.
    generators: Mapping[str, Submission]
    metrics: Mapping[str, Submission]
    #: Metrics the board names that can't run here, and why.
    unavailable: Mapping[str, str]
    #: The latest ranking; owners are shown the public one where nothing is hidden.
    snapshot: Snapshot | None
    #: Whether programs were given outputs of a blind phase that is not revealed.
    has_blind_rows: bool = False
    #: Whether the folder can't be read now, so that this is a copy of when it could.
    is_copy: bool = False
    #: Whether nobody but owners may read the inputs yet.
    inputs_hidden: bool = False

    @cached_property
    def judgments_rest_hidden(self) -> bool:
        """Whether this audience is told numbers that rest on judgments which it may not see."""
        return self.audience == "public" and hides_judgments(self.settings, self.board)

    @cached_property
    def withheld(self) -> dict[str, str]:
        """Submitted metrics whose single scores this audience may not see, and why: they could spell hidden texts."""
        if self.audience == "owners":
            return {}
        reasons = {
            name: given_hidden(self.settings, metric, blind=self.has_blind_rows, inputs=self.inputs_hidden)
            for name, metric in self.metrics.items()
        }
        return {name: reason for name, reason in reasons.items() if reason is not None}

    @cached_property
    def told_cells(self) -> SqlCells:
        """The cells whose single scores this audience may see."""
        if not self.withheld:
            return self.cells
        withheld = {self.metrics[name].settings.get("signature") for name in self.withheld}
        return self.cells.only((self.cells.signatures or frozenset()) - withheld)

    @cached_property
    def disclosure(self) -> Disclosure:
        """What a ranking for this audience must not tell."""
        people = self.audience == "public" and self.settings.hidden_judgments
        return Disclosure(judgments=self.judgments_rest_hidden, people=people, columns=frozenset(self.withheld))

    @cached_property
    def latest(self) -> Latest | None:
        """What the latest snapshot says, read once for all audiences that see it; None before the first."""
        if self.snapshot is None:
            return None
        key, moment = (self.name, self.snapshot.audience), (self.generation, self.snapshot.number)
        kept = self.site.cache.get(_LATEST, key)
        if kept is None or kept[0] != moment:
            with self.site.database.reading() as connection:
                latest = Latest(snapshots.document(connection, self.snapshot))
            kept = self.site.cache.put(_LATEST, key, (moment, latest))
        return kept[1]

    @property
    def document(self) -> dict[str, Any] | None:
        """The latest snapshot's document: `ranking` and `overrating`; None before the first."""
        return None if self.latest is None else self.latest.document

    @cached_property
    def shown(self) -> Board:
        """The board as this audience may read and download it: without inputs, references and judgments hidden."""
        board = self.board
        if self.audience == "owners":
            return board
        if self.inputs_hidden:
            board = without_inputs(board)
        if self.settings.hidden_references:
            board = without_references(board)
        board = without_private(board)
        if self.settings.hidden_judgments:
            board = replace(board, judgments=JudgmentColumns(board.judgments.dimensions).build())
        return board


#: How signatures of scores begin that were added to imported columns.
ATTACHED = "attached:"
#: What boards' latest snapshots say, by the audience they were made for, with the board's generation and their number.
_LATEST = Shelf[tuple[str, Audience], tuple[tuple[int, int], Latest]]()
_LIVE = Shelf[tuple[str, Audience], LiveBoard]()
#: Boards as their owners wrote them, with folder and fingerprint.
_FOLDERS = Shelf[str, tuple[tuple[str | int, ...], Board]]()


def hides_judgments(settings: BoardSettings, board: Board) -> bool:
    """Whether some of the judgments that a board is ranked by are kept from everybody but owners."""
    rules = board.trust if settings.trust is None else settings.trust.rules
    return settings.hidden_judgments or rules.private_share is not None


def without_references(board: Board) -> Board:
    """A board whose references nobody can read, neither where they stand nor as the outputs of who wrote them."""
    rows = [
        replace(row, load=_NoTexts(len(board.instances))) if board.is_reference(row, board.reference_names) else row
        for row in board.rows
    ]
    instances = tuple(replace(instance, references=()) for instance in board.instances)
    return replace(board, instances=instances, rows=tuple(rows), references_used=None)


def without_inputs(board: Board) -> Board:
    """A board whose inputs nobody can read, neither where they stand nor as outputs that repeat them."""
    inputs = tuple(instance.input for instance in board.instances)
    rows = tuple(replace(row, load=_WithoutInputs(row, inputs)) for row in board.rows)
    instances = tuple(replace(instance, input=None, image=None) for instance in board.instances)
    return replace(board, instances=instances, rows=rows)


@dataclass(frozen=True)
class _WithoutInputs:
    """Reads a generator's texts without those that are their input word for word."""

    row: Outputs
    inputs: tuple[str | None, ...]

    def __call__(self) -> Texts:
        return tuple(None if t == given else t for t, given in zip(self.row.texts, self.inputs, strict=True))


@dataclass(frozen=True)
class _NoTexts:
    instances: int

    def __call__(self) -> Texts:
        return (None,) * self.instances


@dataclass(frozen=True)
class BlobTexts:
    """Reads a submitted generator's texts when they are first needed."""

    blobs: BlobStore
    blob: str
    position: Mapping[str, int]

    def raw(self) -> bytes:
        """The lines as they were taken."""
        return self.blobs.read(self.blob)

    def __call__(self) -> Texts:
        problems = Problems(LISTED)
        texts = read_texts(self.raw(), self.blob, self.position, problems)
        if problems.errors:
            raise InvalidBoard(self.blob, problems.errors)
        return texts


def live_board(site: Site, name: str, *, audience: Audience = "public") -> LiveBoard:
    """The board as an audience sees it now; costs one look at its generation where nothing changed."""
    with site.database.reading() as connection:
        registered = registry.board(connection, name)
    if inputs_opened(registered, site.clock()):
        registered = open_inputs(site, name)
    cached = site.cache.get(_LIVE, (name, audience))
    if cached is not None and cached.generation == registered.generation:
        return cached
    with site.lock:
        return site.cache.put(_LIVE, (name, audience), _build(site, registered, audience))


def inputs_opened(registered: registry.Registered, now: float) -> bool:
    """Whether a phase from which everybody may read the inputs has opened since the board last changed."""
    if not registered.settings.get("inputs_from"):
        return False
    opens = read_board_settings(registered.settings).inputs_open
    return opens is not None and registered.changed < opens <= now


def open_inputs(site: Site, name: str) -> registry.Registered:
    """Say that everybody may read the inputs now, once, so that no kept page goes on without them."""
    with site.database.writing() as connection:
        registered, now = registry.board(connection, name), site.clock()
        if inputs_opened(registered, now):
            phase = registered.settings["inputs_from"]
            trail.note(connection, "site", "board.inputs-opened", name, now=now, board=name, detail={"phase": phase})
            trail.raise_generation(connection, name, now=now)
        return registry.board(connection, name)


def live_with_excluded(site: Site, name: str) -> LiveBoard:
    """The owners' board as it would be with the answers of annotators who were excluded from campaigns."""
    with site.database.reading() as connection:
        registered = registry.board(connection, name)
    return _build(site, registered, "owners", with_excluded=True)


def _build(
    site: Site, registered: registry.Registered, audience: Audience, *, with_excluded: bool = False
) -> LiveBoard:
    board = folder_board(site, registered)
    settings = read_board_settings(registered.settings)
    if settings.trust is not None:
        board = replace(board, trust=settings.trust.rules)
    with site.database.reading() as connection:
        scored = submissions.find(connection, board=registered.name, states=("scored",))
        blind = find_blind_rows(connection, settings, registered.name)
        everything = latest_versions(scored)
        public = latest_versions(submission for submission in scored if not settings.hides(submission.phase))
        differs = {submission.id for submission in everything} != {submission.id for submission in public}
        differs |= hides_judgments(settings, board)
        head = snapshots.latest(connection, registered.name, audience if differs else "public")
        # Owners read what everybody does until their own ranking is made.
        head = head or snapshots.latest(connection, registered.name)
    seen = everything if audience == "owners" else public
    names = names_on_board(settings, seen, scored)
    generators = {names[submission.id]: submission for submission in seen if submission.kind == "generator"}
    programs = {
        names[submission.id]: replace(submission, settings={**submission.settings, "column": names[submission.id]})
        for submission in seen
        if submission.kind == "metric"
    }
    renamed = {
        str(metric.settings["signature"]): names[metric.id]
        for metric in seen
        if metric.kind == "metric" and metric.way != "scores" and names[metric.id] != metric.settings["column"]
    }
    own, unavailable = board_metrics(board)
    signatures = [metric.signature for metric in own] + [
        str(program.settings["signature"]) for program in programs.values() if program.way != "scores"
    ]
    rows = (submitted_row(site, board, submission, name) for name, submission in sorted(generators.items()))
    board = with_attached(replace(board, rows=(*board.rows, *rows)), site.cells(registered.name))
    board = _with_sent_scores(site, board, programs.values())
    with site.database.reading() as connection:
        judged = with_campaigns(connection, board, site.cache, ranks=settings.ranks, with_excluded=with_excluded)
    return LiveBoard(
        site=site,
        name=registered.name,
        audience=audience,
        board=judged,
        without_campaigns=board,
        cells=site.cells(registered.name).only(signatures).called(renamed),
        generation=registered.generation,
        settings=settings,
        generators=generators,
        metrics=programs,
        unavailable=unavailable,
        snapshot=head,
        has_blind_rows=bool(blind),
        is_copy=board.home != Path(registered.folder),
        inputs_hidden=settings.withholds_inputs(site.clock()),
    )


def _with_sent_scores(site: Site, board: Board, metrics: Iterable[Submission]) -> Board:
    """A board with the columns that were sent in as scores only; one that its owner imported goes before them."""
    taken = {name for column in board.imported for name in (column.name, column.source_name)}
    sent = (metric for metric in metrics if metric.way == "scores" and metric.settings["column"] not in taken)
    return replace(board, imported=(*board.imported, *(sent_column(site, board, metric) for metric in sent)))


def attached_key(board: Board, column: ImportedColumn) -> ColumnKey:
    """Where scores that an owner added to an imported column are kept for generators that the folder does not know."""
    kept = replace(column.column, signature=f"{ATTACHED}{digest([column.source_name])}")
    return ColumnKey(kept, board.context_version(references=column.references, inputs=column.needs_input))


def with_attached(board: Board, cells: SqlCells) -> Board:
    """A board whose imported columns have the scores that its owner added for submitted generators."""
    if not any(key.column.signature.startswith(ATTACHED) for key in cells.columns()):
        return board
    return replace(board, imported=tuple(_completed(board, column, cells) for column in board.imported))


def _completed(board: Board, column: ImportedColumn, cells: SqlCells) -> ImportedColumn:
    """A column with what was added to it, under a signature of its own."""
    rows = {row.name: row.version for row in board.rows if row.name not in column.values}
    stored = cells.load(attached_key(board, column), rows.values())
    added = {name: stored[version] for name, version in rows.items() if version in stored}
    if not added:
        return column
    facts = (f"{rows[name]} {hashlib.sha256(scores.tobytes()).hexdigest()}" for name, scores in added.items())
    signature = f"imported:{digest((column.signature, *facts))}"
    return replace(column, signature=signature, values={**column.values, **added})


def folder_board(site: Site, registered: registry.Registered) -> Board:
    """The board as its owner wrote it; opened again when the folder has changed."""
    with site.lock:
        state = _state(registered)
        cached = site.cache.get(_FOLDERS, registered.name)
        # While a copy is shown, the folder is tried again whenever something about the board has changed.
        if cached is None or cached[0] not in (state, (*state, registered.generation)):
            cached = site.cache.put(_FOLDERS, registered.name, _opened(site, registered))
    return cached[1]


def _state(registered: registry.Registered) -> tuple[str | int, ...]:
    """What a board's folder and its owner's choice of metrics are known by."""
    chosen = registered.settings.get("metrics")
    return (registered.folder, registered.fingerprint, *(() if chosen is None else chosen))


def _with_metrics(board: Board, registered: registry.Registered) -> Board:
    """The board with the metrics that its owner chose on the site, if any."""
    chosen = registered.settings.get("metrics")
    return board if chosen is None else replace(board, metrics=tuple(chosen))


def _opened(site: Site, registered: registry.Registered) -> tuple[tuple[str | int, ...], Board]:
    """A board from its folder; where that can't be read, from the copy of when it could."""
    try:
        return _state(registered), _with_metrics(open_board(Path(registered.folder)), registered)
    except (InvalidInput, StoreFailed) as error:
        copy = last_good(site.data, registered.name, registered.fingerprint)
        log.error(
            "board %s: %s; %s", registered.name, error, "there is no copy" if copy is None else f"{copy} is shown"
        )
        if copy is None:
            raise BoardUnreadable(f"board {registered.name}: {error}") from error
    return (*_state(registered), registered.generation), _with_metrics(open_board(copy), registered)


def submitted_row(site: Site, board: Board, submission: Submission, name: str) -> Outputs:
    """A submission as a row of the board; its version is the digest of its lines, as for a file of the folder."""
    settings = submission.settings
    generator = Generator(
        name,
        kind="human" if settings.get("human") else "machine",
        description=settings.get("description"),
        paper=None if submission.anonymous else settings.get("paper"),
        url=None if submission.anonymous else settings.get("url"),
        # A size or a price may tell who sent it.
        **{name: None if submission.anonymous else settings.get(name) for name in COSTS},
    )
    return Outputs(
        name=name,
        generator=generator,
        version=submission.blob[:16],
        load=BlobTexts(site.blobs, submission.blob, board.position),
    )


def board_metrics(board: Board) -> tuple[tuple[Metric, ...], dict[str, str]]:
    """The metrics a board names, each once, and why some of them can't run here; of a part, its metric."""
    metrics: dict[str, Metric] = {}
    unavailable = {}
    for spec in board.metrics:
        try:
            metric = installed_metric(spec).for_language(board.output_language).scored_as
            metrics[metric.signature] = metric
        except (InvalidInput, MissingPart) as error:
            unavailable[spec] = str(error)
    return tuple(metrics.values()), unavailable


def latest_versions(versions: Iterable[Submission]) -> list[Submission]:
    """Of each team's kind and name, the submission with the highest version."""
    best: dict[tuple[str, str, int], Submission] = {}
    for submission in sorted(versions, key=lambda submission: submission.version):
        best[submission.kind, submission.name, submission.team_id] = submission
    return list(best.values())


def names_on_board(
    settings: BoardSettings, entries: Sequence[Submission], scored: Sequence[Submission]
) -> dict[str, str]:
    """The names of entries on the board, by their ids.

    Two teams may choose one name while neither can see the other's. Whose entry everybody could see first keeps it; the
    other has a number behind it.
    """
    first = {(s.kind, s.name, s.team_id): s.created for s in sorted(scored, key=lambda s: -s.created)}
    blind = {phase.name for phase in settings.phases if phase.blind}

    def precedence(entry: Submission) -> tuple[bool, float, float, str]:
        shown_since = float(entry.settings.get("revealed", 0.0))
        return entry.phase in blind, shown_since, first[entry.kind, entry.name, entry.team_id], entry.id

    wanted = {entry.id: _chosen_name(entry) for entry in entries}
    chosen = {(entry.kind, wanted[entry.id]) for entry in entries}
    given: dict[tuple[str, str], str] = {}
    for entry in sorted(entries, key=precedence):
        name, number = wanted[entry.id], 1
        while (entry.kind, name) in given or (number > 1 and (entry.kind, name) in chosen):
            number += 1
            name = f"{wanted[entry.id]}-{number}"
        given[entry.kind, name] = entry.id
    return {entry: name for (_, name), entry in given.items()}


def _chosen_name(entry: Submission) -> str:
    return entry.public_name if entry.kind == "generator" else str(entry.settings["column"])
