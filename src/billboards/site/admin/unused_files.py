"""Files of a site that nothing needs any more: found, measured, and deleted beside whoever is sending some in.

A submitted file is put down before the row that names it, so one without a row may get its row in the next moment. It
goes only if it was not sent for days, and in a writing transaction that finds it still unnamed; whoever sends it looks
once more, when the row is there, whether the file still is (`site.submitting`). Folders are moved out of sight in such
a transaction and deleted afterwards, so that nobody meets half of one. Ages are those of the files' own clock.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection

from billboards.errors import InvalidInput, Refused
from billboards.run.environments import file_sizes, made_environments
from billboards.site.admin import forgetting
from billboards.site.database import retention
from billboards.site.database.retention import Amount
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.blobs import is_name
from billboards.site.submissions.metric_folders import requirements_of
from billboards.site.submissions.records import Submission

#: What a folder is called between being taken away and being deleted.
TAKEN = ".taken-"


def remove_file(site: Site, blob: str, *, before: float, release: Callable[[Connection, str], bool]) -> bool:
    """Delete a submitted file and what was unpacked from it, if `release` lets it go and nobody sent it since."""
    if site.blobs.touched(blob) >= before:
        return False
    with site.database.writing() as connection:
        if not release(connection, blob):
            return False
        site.blobs.remove(blob)
        taken = _take_away(site.data / "metrics" / blob)
    _delete(taken)
    return True


def is_unnamed(connection: Connection, blob: str) -> bool:
    """Whether no submission names a file."""
    return bool(forgetting.unreferenced(connection, [blob]))


def files_of_withdrawn(site: Site, over: float, sent: float) -> dict[str, int]:
    """Files, with their sizes, last sent before `sent`, that only submissions name which ended before `over`."""
    with site.database.reading() as connection:
        found = retention.files_over(connection, over)
    return {name: site.blobs.size(name) for name in found if site.blobs.touched(name) < sent}


def remove_withdrawn(site: Site, blob: str, size: int, *, over: float, sent: float) -> Amount:
    """Delete the file of withdrawn or rejected submissions, unless it was sent again; their rows then name none."""

    def release(connection: Connection, name: str) -> bool:
        released = bool(retention.files_over(connection, over, [name]))
        if released:
            retention.part_from_file(connection, name)
        return released

    return Amount(1, size) if remove_file(site, blob, before=sent, release=release) else Amount()


def unnamed_files(site: Site, before: float) -> dict[str, int]:
    """Submitted files, with their sizes, that no submission names and nobody sent since a time."""
    kept = dict(site.blobs.listed())
    with site.database.reading() as connection:
        named = retention.named_files(connection)
    if kept and not kept.keys() & named:
        raise Refused(
            f"the database names none of the {len(kept)} submitted files there are; they stay, "
            "in case it is not the database that they belong to"
        )
    unnamed = {name: size for name, size in kept.items() if name not in named}
    return {name: size for name, size in unnamed.items() if site.blobs.touched(name) < before}


def remove_unnamed(site: Site, blob: str, size: int, *, before: float) -> Amount:
    """Delete a file that nobody names."""
    return Amount(1, size) if remove_file(site, blob, before=before, release=is_unnamed) else Amount()


def unused_folders(site: Site, before: float) -> dict[Path, int]:
    """Unpacked metrics that no submission names, and environments that no metric asks for, with their sizes."""
    with site.database.reading() as connection:
        named = retention.named_files(connection)
    unpacked = (path for path in _entries(site.data / "metrics") if is_name(path.name[:2], path.name))
    found = [path for path in unpacked if path.name not in named]
    return {path: sum(file_sizes(path)) for path in (*found, *_unasked(site)) if _changed(path) < before}


def _unasked(site: Site) -> list[Path]:
    """Environments that no metric asks for; one that does not say what it was made for stays."""
    made = dict(made_environments(site.data / "environments"))
    if not any(made.values()):
        return []
    asked = set()
    for one in _metrics(site):
        # A metric that asks for what can't be understood has no environment.
        with suppress(InvalidInput):
            asked.add(requirements_of(site, one))
    return [path for path, needs in made.items() if needs is not None and needs not in asked]


def remove_folder(site: Site, folder: Path, size: int, *, looked: float) -> Amount:
    """Delete a folder, unless a submission may have begun to need it since `looked`, when it was found unused."""
    with site.database.writing() as connection:
        if folder.parent.name == "metrics":
            unused = is_unnamed(connection, folder.name)
        else:
            # Which environment a new metric asks for is not known before it was unpacked.
            newest = submissions.find(connection, kind="metric", limit=1)
            unused = not newest or newest[0].created < looked
        taken = _take_away(folder) if unused else None
    return Amount(1, size) if _delete(taken) else Amount()


def _metrics(site: Site) -> list[Submission]:
    """Metrics whose file is there and that are, or may be, run again."""
    with site.database.reading() as connection:
        sent = submissions.find(connection, kind="metric")
    return [one for one in sent if one.blob and one.state not in retention.OVER]


def unfinished(site: Site, before: float) -> dict[Path, int]:
    """What killed processes left half made, with sizes."""
    places = [site.data / "metrics", site.data / "environments", *_entries(site.data / "blobs")]
    hidden = [path for place in places for path in _entries(place) if path.name.startswith(".")]
    return {path: _size(path) for path in hidden if _changed(path) < before}


def remove_unfinished(path: Path, size: int) -> Amount:
    """Delete what was left half made."""
    if not path.exists():
        return Amount()
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return Amount(1, size)


def _entries(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.iterdir()) if folder.is_dir() else ())


def _size(path: Path) -> int:
    return sum(file_sizes(path)) if path.is_dir() else path.stat().st_size


def _changed(path: Path) -> float:
    """When something was last put into or taken out of a folder; what is gone meanwhile is as new as can be."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _take_away(folder: Path) -> Path | None:
    """Move a folder out of sight, at once; None where there is none, or somebody else took it."""
    if not folder.is_dir():
        return None
    taken = Path(tempfile.mkdtemp(prefix=TAKEN, dir=folder.parent))
    try:
        return folder.rename(taken / folder.name)
    except FileNotFoundError:
        taken.rmdir()
        return None


def _delete(taken: Path | None) -> bool:
    if taken is not None:
        shutil.rmtree(taken.parent, ignore_errors=True)
    return taken is not None
