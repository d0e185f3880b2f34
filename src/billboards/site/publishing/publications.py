"""Publishing by a button: an owner asks for a board's files, a worker writes them into one archive, who asked gets it.

The files are those of `billboards publish`: the pages that a visitor is shown, so nothing hidden can be in them. The
archive lies in DATA/published until the next one takes its place, or for a week: it is made to be carried away. Each
step stands in the board's audit trail.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from billboards.errors import BillboardsError, Gone, Refused, StoreAway, StoreFailed
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards import registry
from billboards.site.database import trail
from billboards.site.publishing import publication_records as records
from billboards.site.publishing.places import plain_name
from billboards.site.publishing.publication_records import Publication
from billboards.site.settings import FilesWanted, read_files_wanted
from billboards.site.site import Site

log = logging.getLogger("billboards.worker")

FOLDER = "published"
#: Seconds for which an archive is kept, and between two notes of how far it is.
KEPT, TOLD = 7 * 86400.0, 1.0
#: The time that files in an archive have, so that the same pages give the same archive.
MOMENT = (1980, 1, 1, 0, 0, 0)

#: Says whether a publication is unwanted by now.
Cancelled = Callable[[], bool]


class _Unwanted(Exception):
    """Somebody stopped the worker, or asked for other files of the same board."""


def archive_path(site: Site, board: str) -> Path:
    """Where the archive of a board's files lies."""
    return site.data / FOLDER / f"{plain_name(board)}.zip"


def ask_for_files(site: Site, viewer: Viewer, board: str, document: Mapping[str, Any]) -> Publication:
    """An owner asks for the files of a board; those that were made before go."""
    require(viewer, "administer")
    wanted = read_files_wanted(document).model_dump(mode="json")
    with site.database.writing() as connection:
        registry.board(connection, board)
        now = site.clock()
        records.begin(connection, board, wanted, actor=viewer.name, now=now)
        trail.note(connection, viewer.name, "files.asked", board, now=now, board=board, detail=wanted)
    archive_path(site, board).unlink(missing_ok=True)
    publication = publication_of(site, viewer, board)
    assert publication is not None
    return publication


def publication_of(site: Site, viewer: Viewer, board: str) -> Publication | None:
    """The last publication of a board; one whose archive is gone is none."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        registry.board(connection, board)
        publication = records.publication(connection, board)
    if publication is not None and publication.state == "ready" and not archive_path(site, board).is_file():
        return None
    return publication


def ready_archive(site: Site, viewer: Viewer, board: str) -> Path:
    """The archive of a board's files, where it is ready."""
    publication = publication_of(site, viewer, board)
    if publication is None:
        raise Gone(f"there are no published files of board {board}; publish it as files first")
    if publication.state != "ready":
        what = "could not be written" if publication.state == "failed" else "are not written yet; come back in a moment"
        raise Refused(f"the files of board {board} {what}")
    return archive_path(site, board)


def discard_files(site: Site, viewer: Viewer, board: str) -> None:
    """Throw a board's archive away, or stop writing it."""
    require(viewer, "administer")
    with site.database.writing() as connection:
        registry.board(connection, board)
        if records.publication(connection, board) is not None:
            records.remove(connection, board)
            trail.note(connection, viewer.name, "files.discarded", board, now=site.clock(), board=board)
    archive_path(site, board).unlink(missing_ok=True)


def write_files(site: Site, board: str, cancelled: Cancelled) -> None:
    """Write the files that were asked for; a worker's job."""
    with site.database.reading() as connection:
        publication = records.publication(connection, board)
    if publication is None or publication.state not in records.OPEN:
        return
    try:
        _write(site, publication, cancelled)
    except _Unwanted:
        return
    except StoreAway:
        raise
    except (BillboardsError, OSError) as error:
        log.error("files of %s: %s: %s", board, type(error).__name__, error)
        fail_files(site, board, _words(error), asked=publication.asked)


def _words(error: BillboardsError | OSError) -> str:
    """Why files could not be written, without the places of the site's own disk."""
    if isinstance(error, StoreFailed):
        return error.public_words
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def fail_files(site: Site, board: str, reason: str, *, asked: float | None = None) -> None:
    """Write down that files could not be written."""
    with site.database.writing(boards=[board]) as connection:
        publication, now = records.publication(connection, board), site.clock()
        if publication is None or publication.state not in records.OPEN:
            return
        if records.change(
            connection, board, publication.asked if asked is None else asked, now=now, state="failed", reason=reason
        ):
            trail.note(connection, "site", "files.failed", board, now=now, board=board, detail={"reason": reason})


def _write(site: Site, publication: Publication, cancelled: Cancelled) -> None:
    from billboards.site.publishing.source import one_board
    from billboards.site.publishing.walking import write_site

    wanted = FilesWanted.model_validate(publication.wanted)
    home = site.data / FOLDER
    home.mkdir(mode=0o700, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".writing-", dir=home))
    try:
        options = wanted.model_dump(exclude={"base_url", "submit_to"})
        base, submit = wanted.base_url or "", wanted.submit_to or ""
        with one_board(site, publication.board, base_url=base, submit_to=submit) as own:
            outcome = write_site(own, work / "files", **options, tell=_Teller(site, publication, cancelled))
        packed = _packed(work / "files", work / "files.zip", root=plain_name(publication.board), cancelled=cancelled)
        detail = {"pages": outcome.pages, "files": outcome.files, "bytes": outcome.bytes}
        _keep(site, publication, packed, detail)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _keep(site: Site, publication: Publication, packed: Path, detail: Mapping[str, Any]) -> None:
    """Put an archive in its place, unless other files have been asked for since."""
    board, size = publication.board, packed.stat().st_size
    with site.database.writing(boards=[board]) as connection:
        now = site.clock()
        values = {
            "state": "ready",
            "done": detail["pages"],
            "total": detail["pages"],
            "seconds": None,
            "size": size,
            "reason": None,
        }
        if records.change(connection, board, publication.asked, now=now, **values):
            packed.replace(archive_path(site, board))
            trail.note(
                connection, "site", "files.written", board, now=now, board=board, detail={**detail, "size": size}
            )


class _Teller:
    """Notes now and then how far the pages are, and ends the work when nobody wants it any more."""

    def __init__(self, site: Site, publication: Publication, cancelled: Cancelled) -> None:
        self.site, self.publication, self.cancelled = site, publication, cancelled
        self._told = float("-inf")

    def __call__(self, done: int, total: int, seconds: float) -> None:
        if self.cancelled():
            raise _Unwanted
        now = self.site.clock()
        if now - self._told < TOLD:
            return
        self._told = now
        values = {"state": "writing", "done": done, "total": total, "seconds": seconds}
        with self.site.database.writing(boards=[self.publication.board]) as connection:
            if not records.change(connection, self.publication.board, self.publication.asked, now=now, **values):
                raise _Unwanted


def _packed(folder: Path, target: Path, *, root: str, cancelled: Cancelled) -> Path:
    """A folder as one archive, in a folder of the board's name."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            if cancelled():
                raise _Unwanted
            entry = zipfile.ZipInfo(f"{root}/{path.relative_to(folder).as_posix()}", date_time=MOMENT)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


def expires(publication: Publication) -> float | None:
    """When an archive is thrown away."""
    return publication.changed + KEPT if publication.state == "ready" else None


def remove_old(site: Site, board: str, before: float) -> bool:
    """Throw an archive away that is too old; False where another was made since."""
    with site.database.writing() as connection:
        if board not in records.old_publications(connection, before):
            return False
        records.remove(connection, board)
        archive_path(site, board).unlink(missing_ok=True)
    return True


def find_old(site: Site, before: float) -> dict[str, int]:
    """Boards whose archives are too old, with their sizes."""
    with site.database.reading() as connection:
        return records.old_publications(connection, before)
