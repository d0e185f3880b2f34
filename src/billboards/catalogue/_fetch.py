"""The files of an entry in one folder, each source under its repository's name, as the importer wants them.

Files come from the cache, from the network, or from a mirror. Whatever they come from, a file whose SHA-256 is known is
compared with it each time; where the catalogue has no SHA-256, the one that was found is printed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from billboards.catalogue._cache import digest_of, locked, storing
from billboards.catalogue._download import Downloader, Progress
from billboards.catalogue._entry import Entry, File, Source
from billboards.catalogue._mirror import difference, from_mirror
from billboards.catalogue._unpack import UNFINISHED, Unpacked, unpack
from billboards.errors import DownloadFailed, Refused

_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class Telling:
    """Who is told what happens, and who agrees to a licence before the first download."""

    note: Callable[[str], None]
    progress: Progress
    agree: Callable[[Entry, int | None, Sequence[str]], bool]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where files come from and what is accepted."""

    cache: Path
    #: A folder or archive, or the address of a server that has the same files below its hosts' names.
    mirror: str | None = None
    #: Whether files of a mirror that differ from the catalogue's, or lack, are accepted.
    unverified: bool = False

    @property
    def folder(self) -> Path | None:
        """The mirror, if it lies on this machine."""
        return None if self.mirror is None or self.server else Path(self.mirror).expanduser()

    @property
    def server(self) -> str:
        """The address of the mirror, if it is one."""
        return self.mirror if self.mirror is not None and self.mirror.startswith(("http://", "https://")) else ""

    def address(self, url: str) -> str:
        """Where a file is fetched: its own address, or that on the mirror."""
        parts = urlsplit(url)
        return f"{self.server.rstrip('/')}/{parts.hostname}{parts.path}" if self.server else url


def fetch(entry: Entry, root: Path, place: Place, telling: Telling) -> None:
    """Lay out every file of an entry below a folder that is empty; raises where one can't be had or is wrong."""
    if place.folder is None and any(_missing(source, place) for source in entry.sources):
        hosts = sorted({urlsplit(place.address(_first_url(source))).hostname or "" for source in entry.sources})
        if not telling.agree(entry, entry.size, hosts):
            raise Refused(f"{entry.name}: nothing was downloaded")
    for number, source in enumerate(entry.sources):
        scratch = root / f".unpacked-{number}"
        if place.folder is not None:
            files = _mirrored(source, place.folder, scratch, place, telling)
        elif source.comes_as_archive:
            files = _from_archive(source, place, telling)
        else:
            files = _one_by_one(source, place, telling)
        _tell_unverified(source, files, telling)
        _link(files, root / source.place)


def _first_url(source: Source) -> str:
    return source.archive_url if source.comes_as_archive else source.file_url(source.files[0])


def _kept_folder(source: Source, cache: Path) -> Path:
    """Where a source's files stand in the cache."""
    if source.repository is not None:
        return cache / "github.com" / source.repository / str(source.commit)
    key = hashlib.sha256(str(source.url).encode()).hexdigest()[:16]
    return cache / (urlsplit(str(source.url)).hostname or "files") / key


def _missing(source: Source, place: Place) -> bool:
    """Whether something must be downloaded; sizes tell as much as is needed here."""
    folder = _kept_folder(source, place.cache)
    if source.comes_as_archive and source.patterns and not _archive(source, place.cache).is_file():
        return not _list_file(source, folder).is_file()
    if source.comes_as_archive and _archive(source, place.cache).is_file():
        return False
    return any(not _has_size(folder / file.path, file.size) for file in source.files)


def _has_size(path: Path, size: int | None) -> bool:
    return path.is_file() and size in (None, path.stat().st_size)


def _one_by_one(source: Source, place: Place, telling: Telling) -> dict[str, Unpacked]:
    folder = _kept_folder(source, place.cache)
    downloader = Downloader(partial=place.cache / "partial", progress=telling.progress, note=telling.note)
    files = {}
    for file in source.files:
        target = folder / file.path
        size, sha256 = downloader.fetch(
            place.address(source.file_url(file)),
            target,
            label=f"{source.label}: {file.path}" if source.repository else file.path,
            size=file.size,
            sha256=file.sha256,
            at_most=source.at_most,
        )
        files[file.path] = Unpacked(file=file, place=target, size=size, sha256=sha256)
    return files


def _archive(source: Source, cache: Path) -> Path:
    folder = _kept_folder(source, cache)
    return folder.with_name(f"{folder.name}.archive")


def _list_file(source: Source, folder: Path) -> Path:
    """Where it is kept which files the patterns of a source named."""
    key = hashlib.sha256("\n".join(source.patterns).encode()).hexdigest()[:16]
    return folder.with_name(f"{folder.name}.{key}.json")


def _from_archive(source: Source, place: Place, telling: Telling) -> dict[str, Unpacked]:
    """The files of an archive, unpacked once and verified each time."""
    folder, archive = _kept_folder(source, place.cache), _archive(source, place.cache)

    def waiting() -> None:
        telling.note(f"another process is unpacking {source.label}; waiting for it")

    with storing(place.cache, needs=source.size), locked(archive.with_suffix(".lock"), waiting):
        files = _unpacked_before(source, folder)
        if files is None:
            files = _unpacked_now(source, place, archive, folder, telling)
            lacking = [file for file in source.files if file.path not in files]
            if any(file.is_verified for file in lacking):
                # It must be there, so this is not the archive that it should be.
                archive.unlink(missing_ok=True)
            paths = [file.path for file in lacking] or ([] if files else list(source.patterns))
            if paths:
                raise _lacks(source.archive_url, paths, "; is the name right?" if source.patterns else "")
            if source.patterns:
                _keep_list(source, folder, files)
    return files


def _unpacked_now(source: Source, place: Place, archive: Path, folder: Path, telling: Telling) -> dict[str, Unpacked]:
    downloader = Downloader(partial=place.cache / "partial", progress=telling.progress, note=telling.note)
    was_there = archive.is_file()
    url = place.address(source.archive_url)
    _, sha256 = downloader.fetch(
        url, archive, label=source.label, at_most=source.at_most, size=source.size, sha256=source.sha256
    )
    if source.repository is None and source.sha256 is None and not was_there:
        telling.note(f"unverified: no digest of {source.label} is known; it has sha256 {sha256}")

    def check(unpacked: Unpacked) -> None:
        if not unpacked.is_right:
            raise _wrong(f"{url}: {unpacked.file.path}", unpacked, ". The archive was deleted; fetch it again")

    for path in folder.rglob(f"{UNFINISHED}*"):
        path.unlink()
    telling.note(f"unpacking {source.label}")
    try:
        return unpack(archive, source.wanted, folder, at_most=source.at_most, check=check)
    except DownloadFailed:
        # What can't be unpacked now won't be later: the next call fetches it again.
        archive.unlink(missing_ok=True)
        raise


def _unpacked_before(source: Source, folder: Path) -> dict[str, Unpacked] | None:
    """The files of an earlier call, if all of them are there and right."""
    files = list(source.files)
    if source.patterns:
        listed = _kept_list(source, folder)
        if listed is None:
            return None
        files += listed
    unpacked = {}
    for file in files:
        path = folder / file.path
        if not _has_size(path, file.size):
            return None
        size, sha256 = digest_of(path)
        unpacked[file.path] = Unpacked(file=file, place=path, size=size, sha256=sha256)
        if not unpacked[file.path].is_right:
            return None
    # A digest that was found at first is none that somebody vouches for.
    return {path: replace(each, file=source.wanted(path) or each.file) for path, each in unpacked.items()}


def _keep_list(source: Source, folder: Path, files: dict[str, Unpacked]) -> None:
    loose = [
        {"path": path, "size": unpacked.size, "sha256": unpacked.sha256}
        for path, unpacked in files.items()
        if not unpacked.file.is_verified
    ]
    target = _list_file(source, folder)
    fresh = target.with_suffix(".new")
    fresh.write_text(json.dumps(loose), "utf-8")
    fresh.replace(target)


def _kept_list(source: Source, folder: Path) -> list[File] | None:
    try:
        listed = json.loads(_list_file(source, folder).read_text("utf-8"))
        return [File.model_validate(item) for item in listed] if isinstance(listed, list) else None
    except (FileNotFoundError, ValueError, RecursionError):
        return None


def _mirrored(source: Source, mirror: Path, scratch: Path, place: Place, telling: Telling) -> dict[str, Unpacked]:
    files = from_mirror(source, mirror, scratch)
    differing = [file for file in files.values() if not file.is_right]
    lacking = [file.path for file in source.files if file.path not in files]
    if differing and not place.unverified:
        more = f" (and {len(differing) - 1} more files)" if differing[1:] else ""
        hint = difference(differing[0].file, differing[0].place) + f"{more}; --unverified takes it as it is"
        raise _wrong(str(differing[0].place), differing[0], hint)
    if lacking and not place.unverified:
        raise _lacks(f"{mirror}: {source.label}", lacking, "; --unverified goes on without")
    _tell_digests(
        [(file.file.path, file.sha256) for file in differing],
        f"unverified: {source.label}: {{}} is not the catalogue's file",
        f"unverified: {{:,}} files of {source.label} are not the catalogue's",
        telling,
    )
    if lacking:
        telling.note(f"unverified: {source.label}: {len(lacking)} files are not there, first {lacking[0]}")
    return files


def _wrong(what: str, unpacked: Unpacked, hint: str) -> DownloadFailed:
    file = unpacked.file
    expected = f"{file.size:,} bytes with " if file.size is not None else ""
    return DownloadFailed(
        f"{what}: is not the file that the catalogue names: {unpacked.size:,} bytes with sha256 {unpacked.sha256}, not "
        f"{expected}{file.sha256}{hint}"
    )


def _lacks(what: str, paths: Sequence[str], hint: str) -> DownloadFailed:
    more = f" and {len(paths) - 1} more files" if paths[1:] else ""
    return DownloadFailed(f"{what}: lacks {paths[0]}{more}{hint}")


def _tell_unverified(source: Source, files: dict[str, Unpacked], telling: Telling) -> None:
    """Say which files nobody can vouch for, with what they are."""
    if source.archive and source.sha256 is not None:
        return
    _tell_digests(
        [(path, file.sha256) for path, file in files.items() if not file.file.is_verified],
        f"unverified: no digest of {source.label}: {{}} is known",
        f"unverified: no digests of {{:,}} files of {source.label} are known",
        telling,
    )


def _tell_digests(files: Sequence[tuple[str, str]], single: str, many: str, telling: Telling) -> None:
    """The digests of a few files each, of many together: the SHA-256 over lines of SHA-256 and path, by path."""
    if len(files) <= _LISTED:
        for path, sha256 in files:
            telling.note(f"{single.format(path)}; it has sha256 {sha256}")
        return
    tree = hashlib.sha256("".join(f"{sha256}  {path}\n" for path, sha256 in sorted(files)).encode()).hexdigest()
    telling.note(f"{many.format(len(files))}; their tree has sha256 {tree} (of lines `sha256  path`, sorted by path)")


def _link(files: dict[str, Unpacked], folder: Path) -> None:
    for path, unpacked in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.symlink_to(unpacked.place.resolve())
        except OSError:
            shutil.copyfile(unpacked.place, target)
