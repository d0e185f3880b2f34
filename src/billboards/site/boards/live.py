"""The live board: the folder's board with a row for every generator that came in, and what campaigns said of them.

What people see is made of what is finished: scored submissions, the latest version of each name, not withdrawn, and
not of a blind phase that isn't revealed (owners see those too). It is kept in the process until the board's generation
rises. A submission that wants to stay anonymous stands on the board under a pseudonym, so that nothing made from the
board can give its name away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from billboards.board import Board, Generator, ImportedColumn, Outputs, Texts, digest
from billboards.board._parts import LISTED
from billboards.board.cells import ColumnKey
from billboards.board.folder import open_board, read_texts
from billboards.board.judgments import JudgmentColumns
from billboards.errors import InvalidBoard, InvalidInput, MissingPart
from billboards.metrics.base import Metric
from billboards.metrics.discovery import installed_metric
from billboards.reading import Problems
from billboards.site.boards import registry, snapshots
from billboards.site.boards.snapshots import Audience, Snapshot
from billboards.site.cache import Shelf
from billboards.site.campaigns.judgments import with_campaigns
from billboards.site.settings import BoardSettings, read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.blobs import BlobStore
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sent_scores import sent_column
from billboards.site.work.cells import SqlCells


@dataclass(frozen=True, kw_only=True)
class LiveBoard:
    """A board of the site as one audience sees it at one moment."""

    site: Site
    name: str
    audience: Audience
    board: Board
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

    @cached_property
    def document(self) -> dict[str, Any] | None:
        """The latest snapshot's document: `ranking` and `overrating`; None before the first."""
        if self.snapshot is None:
            return None
        with self.site.database.reading() as connection:
            return snapshots.document(connection, self.snapshot)

    @cached_property
    def shown(self) -> Board:
        """The board as this audience may read and download it: without references and judgments that are hidden."""
        board = self.board
        if self.audience == "owners":
            return board
        if self.settings.hidden_references:
            board = without_references(board)
        if self.settings.hidden_judgments:
            board = replace(board, judgments=JudgmentColumns(board.judgments.dimensions).build())
        return board


#: How signatures of scores begin that were added to imported columns.
ATTACHED = "attached:"
_LIVE = Shelf[tuple[str, Audience], LiveBoard]()
#: Boards as their owners wrote them, with folder and fingerprint.
_FOLDERS = Shelf[str, tuple[tuple[str, str], Board]]()


def without_references(board: Board) -> Board:
    """A board whose references nobody can read, neither where they stand nor as the outputs of who wrote them."""
    rows = [
        replace(row, load=_NoTexts(len(board.instances))) if board.is_reference(row, board.reference_names) else row
        for row in board.rows
    ]
    instances = tuple(replace(instance, references=()) for instance in board.instances)
    return replace(board, instances=instances, rows=tuple(rows), references_used=None)


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
    cached = site.cache.get(_LIVE, (name, audience))
    if cached is not None and cached.generation == registered.generation:
        return cached
    with site.lock:
        return site.cache.put(_LIVE, (name, audience), _build(site, registered, audience))


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
    with site.database.reading() as connection:
        scored = submissions.find(connection, board=registered.name, states=("scored",))
        everything = latest_versions(scored)
        public = latest_versions(submission for submission in scored if not settings.hides(submission.phase))
        differs = {submission.id for submission in everything} != {submission.id for submission in public}
        head = snapshots.latest(connection, registered.name, audience if differs else "public")
    seen = everything if audience == "owners" else public
    generators = {submission.public_name: submission for submission in seen if submission.kind == "generator"}
    programs = {str(submission.settings["column"]): submission for submission in seen if submission.kind == "metric"}
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
        cells=site.cells(registered.name).only(signatures),
        generation=registered.generation,
        settings=settings,
        generators=generators,
        metrics=programs,
        unavailable=unavailable,
        snapshot=head,
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
        state = registered.folder, registered.fingerprint
        cached = site.cache.get(_FOLDERS, registered.name)
        if cached is None or cached[0] != state:
            cached = site.cache.put(_FOLDERS, registered.name, (state, open_board(Path(registered.folder))))
    return cached[1]


def submitted_row(site: Site, board: Board, submission: Submission, name: str) -> Outputs:
    """A submission as a row of the board; its version is the digest of its lines, as for a file of the folder."""
    settings = submission.settings
    generator = Generator(
        name,
        kind="human" if settings.get("human") else "machine",
        description=settings.get("description"),
        paper=None if submission.anonymous else settings.get("paper"),
        url=None if submission.anonymous else settings.get("url"),
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
    """Of each kind and name, the submission with the highest version."""
    best: dict[tuple[str, str], Submission] = {}
    for submission in sorted(versions, key=lambda submission: submission.version):
        best[submission.kind, submission.name] = submission
    return list(best.values())
