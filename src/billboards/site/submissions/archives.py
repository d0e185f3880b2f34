"""A metric's archive unpacked into a folder: zip or tar, or one Python file.

Nothing of the archive is trusted: names that lead outside, links, devices, names that meet on other file systems,
archives that unpack to far more than they are, headers without end, and more files than a metric needs are each refused
by name before a byte is written. Files come out readable and owned by the site; only what was executable stays so.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, Any

from billboards.board.names import folded
from billboards.errors import BillboardsError, InvalidInput, InvalidSubmission, Problem
from billboards.run.manifest import Manifest, manifest_from, read_manifest

#: Unpacked, a metric may have this many files and be this many times as large as its archive, or this large anyway.
MOST_FILES, MOST_TIMES, SMALL = 5_000, 100, 16 * 2**20
#: The largest folder, whatever its archive (2 GiB), and the longest path in it.
MOST_BYTES, LONGEST = 2 * 2**30, 200
#: The most folders inside one another.
DEEPEST = 20
#: How many mistakes of one archive are named.
LISTED = 100
#: What systems leave in archives and no metric needs.
LITTER = ("__MACOSX", ".DS_Store", "__pycache__", ".git")
_BLOCK = 2**16
#: Where a zip's end record stands: before a comment of at most 64 KiB.
_ZIP_TAIL = 2**16 + 22
#: What a tar archive of the most files may spend on their headers.
_HEADERS = 4 * 512 * MOST_FILES
#: The largest single header of a tar archive.
LARGEST_HEADER = 2**16
#: What Python's readers raise where an archive is not what it says.
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    ValueError,
    OverflowError,
)
_Reader = Callable[[Any], IO[bytes] | None]


@dataclass(frozen=True)
class Member:
    """A file in an archive, before it is believed."""

    name: str
    size: int
    executable: bool
    problem: str | None
    source: zipfile.ZipInfo | tarfile.TarInfo


def unpack_metric(raw: bytes, target: Path, *, name: str = "metric", most: int = MOST_BYTES) -> None:
    """Write a submitted metric into an empty folder; `InvalidSubmission` names everything that is wrong with it."""
    try:
        _unpack(raw, target, name, most)
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        NotImplementedError,
        ValueError,
        OverflowError,
    ) as error:
        raise _refused(name, f"is a damaged or unusual archive: {error}; pack it again as a plain zip") from error


def unpack_folder(raw: bytes, target: Path, *, name: str, most: int) -> None:
    """Write an archive of a folder into an empty one; `InvalidSubmission` names everything that is wrong with it."""
    if not (zipfile.is_zipfile(io.BytesIO(raw)) or _is_tar(raw)):
        raise _refused(name, "is neither a zip nor a tar archive; pack the folder as one of these")
    unpack_metric(raw, target, name=name, most=most)


def write_files(raw: bytes, target: Path, *, most: int, most_files: int, name: str) -> list[str]:
    """Write the files of a zip archive into a folder, called 0, 1, …; returns what the archive calls them.

    No path in the archive leads anywhere. What systems add by themselves is left out.
    """
    try:
        if zipfile.is_zipfile(io.BytesIO(raw)):
            _check_directory(raw, name)
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = [
                entry for entry in archive.infolist() if not entry.is_dir() and not _is_of_system(entry.filename)
            ]
            if len(entries) > most_files:
                raise InvalidInput(f"{name}: holds {len(entries):,} files; at most {most_files:,} are taken")
            left = most
            for number, entry in enumerate(entries):
                with archive.open(entry) as file:
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise InvalidInput(f"{name}: holds more than {most:,} bytes of outputs; at most as many are taken")
                (target / str(number)).write_bytes(content)
    except (*_DAMAGED, RuntimeError, OSError) as error:
        if isinstance(error, BillboardsError):
            raise
        raise InvalidInput(
            f"{name}: is no zip archive that can be read ({error}); send one with a file of outputs for each board"
        ) from error
    return [entry.filename for entry in entries]


def _is_of_system(path: str) -> bool:
    """Whether a file is one that systems put into archives by themselves."""
    parts = PurePosixPath(path).parts
    return any(part.startswith((".", "__MACOSX")) for part in parts)


def _unpack(raw: bytes, target: Path, name: str, most: int) -> None:
    if zipfile.is_zipfile(io.BytesIO(raw)) and not raw.startswith(b"#"):
        _check_directory(raw, name)
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            _write_all(list(_zip_members(archive)), target, name, _most_bytes(len(raw), most), archive.open)
    elif _is_tar(raw):
        with _decompressed(raw, name, most) as plain:
            headers = _Headers(plain, name)
            with tarfile.open(fileobj=headers, mode="r:") as archive:  # type: ignore[call-overload]  # a file for tarfile
                members = list(_tar_members(archive, name))
                headers.left = None
                _write_all(members, target, name, _most_bytes(len(raw), most), archive.extractfile)
    else:
        _write_python(raw, target, name)


def _check_directory(raw: bytes, name: str) -> None:
    """Look at the size of a zip's directory before it is read: millions of entries would fill the memory."""
    end = raw.rfind(b"PK\x05\x06", max(0, len(raw) - _ZIP_TAIL))
    size = int.from_bytes(raw[end + 12 : end + 16], "little")
    if end < 0 or end + 22 > len(raw) or raw[max(0, end - 20) : end].startswith(b"PK\x06\x07"):
        raise _refused(name, "is an unusual archive; pack it again as a plain zip")
    if size > MOST_FILES * (LONGEST + 300):
        raise _refused(name, f"has a directory of {size:,} bytes; {MOST_FILES} files are allowed")


def _is_tar(raw: bytes) -> bool:
    return raw[257:262] == b"ustar" or raw.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))


@contextmanager
def _decompressed(raw: bytes, name: str, most: int) -> Iterator[IO[bytes]]:
    """A tar archive without its compression, on disk, and never larger than what may be unpacked."""
    limit = _most_bytes(len(raw), most) + _HEADERS
    with tempfile.TemporaryFile() as plain:
        for block in _blocks(raw, name):
            if plain.tell() + len(block) > limit:
                raise _refused(name, f"unpacks to more than {limit:,} bytes; this looks like an archive bomb")
            plain.write(block)
        plain.seek(0)
        yield plain


class _Headers:
    """A tar archive as its headers are read: as many bytes as those of the most files take, and none more.

    Extended headers are read whole before anything can be said about them, and one may be as large as the archive.
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name
        #: Bytes that may still be read; None once the headers are known, and files are copied out block by block.
        self.left: int | None = _HEADERS

    def read(self, size: int) -> bytes:
        if self.left is not None:
            self.left -= size
            if size > LARGEST_HEADER or self.left < 0:
                raise _refused(self._name, "has headers larger than names need; pack it again as a plain zip")
        return self._file.read(size)

    def seek(self, place: int) -> int:
        return self._file.seek(place)

    def tell(self) -> int:
        return self._file.tell()


def _blocks(raw: bytes, name: str) -> Iterator[bytes]:
    try:
        with _opener(raw) as source:
            while block := source.read(_BLOCK):
                yield block
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise _refused(name, f"is a damaged archive: {error}; pack it again as a plain zip") from error


def _opener(raw: bytes) -> io.BufferedIOBase:
    file = io.BytesIO(raw)
    if raw.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if raw.startswith(b"BZh"):
        return bz2.BZ2File(file)
    return lzma.LZMAFile(file) if raw.startswith(b"\xfd7zXZ") else file


def _write_python(raw: bytes, target: Path, name: str) -> None:
    """One Python file stands for a folder with that file in it."""
    if not raw.strip():
        raise _refused(name, "is empty; send a zip or tar archive of a folder, or a Python file")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(name, "is neither a zip or tar archive nor a Python file in UTF-8; send one of these") from error
    # It is not compiled here to see whether it is Python: even that is for the sandbox to do.
    if "score" not in text:
        raise _refused(
            name, "has no function `score`; write def score(outputs, references, inputs), or send an archive"
        )
    target.mkdir(parents=True)
    (target / "metric.py").write_text(text, "utf-8", newline="")
    (target / "metric.py").chmod(0o644)


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        mode = info.external_attr >> 16
        kind = stat.S_IFMT(mode)
        problem = None
        if info.flag_bits & 1:
            problem = "is encrypted; pack it without a password"
        elif kind == stat.S_IFLNK:
            problem = "is a symbolic link; put the file itself there"
        elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            problem = "is no ordinary file; leave it out"
        if not info.is_dir():
            yield Member(info.filename, info.file_size, bool(mode & stat.S_IXUSR), problem, info)


def _tar_members(archive: tarfile.TarFile, name: str) -> Iterator[Member]:
    for count, info in enumerate(archive, 1):
        if count > 2 * MOST_FILES:
            raise _refused(name, f"holds more than {MOST_FILES} files; leave out what the metric doesn't need")
        problem = None
        if info.issym() or info.islnk():
            problem = "is a link; put the file itself there"
        elif not (info.isreg() or info.isdir()):
            problem = "is no ordinary file; leave it out"
        if not info.isdir():
            yield Member(info.name, info.size, bool(info.mode & stat.S_IXUSR), problem, info)


def _write_all(members: list[Member], target: Path, name: str, limit: int, reader: _Reader) -> None:
    kept = [member for member in members if not set(PurePosixPath(member.name).parts) & set(LITTER)]
    problems = [*islice(_problems(kept, name, limit), LISTED)]
    if problems:
        raise InvalidSubmission(problems)
    top = _common_folder(kept)
    target.mkdir(parents=True)
    written = 0
    for member in kept:
        path = target / PurePosixPath(member.name).relative_to(top)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(reader, member) as source:
            written += _copy(source, path, limit - written, name)
        path.chmod(0o755 if member.executable else 0o644)
    for folder in (target, *(path for path in target.rglob("*") if path.is_dir())):
        folder.chmod(0o755)


def _opened(reader: _Reader, member: Member) -> IO[bytes]:
    stream = reader(member.source)
    assert stream is not None
    return stream


def _problems(members: list[Member], name: str, limit: int) -> Iterator[Problem]:
    if not members:
        yield Problem(name, None, "holds no file; a metric is a folder with run.sh or a Python file")
    if len(members) > MOST_FILES:
        yield Problem(name, None, f"holds {len(members)} files; {MOST_FILES} are allowed")
        return
    total = sum(member.size for member in members)
    if total > limit:
        yield Problem(name, None, f"unpacks to {total:,} bytes; at most {limit:,} are allowed for its size")
    seen: dict[PurePosixPath, str] = {}
    files = frozenset(place for place in map(_place, members) if place.parts)
    for member in members:
        shown = _shown(member.name)
        wrong = member.problem or _name_problem(member.name)
        if wrong is None and _place(member) in seen:
            wrong = f"is there twice, or differs only in case from {seen[_place(member)]}"
        if wrong is None and (above := next((str(folder) for folder in _place(member).parents if folder in files), "")):
            wrong = f"lies in {_shown(above)}, which is a file; give one of them another name"
        if wrong is not None:
            yield Problem(name, None, f"{shown} {wrong}")
        seen[_place(member)] = shown


def _place(member: Member) -> PurePosixPath:
    """Where a file comes to lie, as a file system sees it that ignores case."""
    return PurePosixPath(folded(member.name))


def _shown(name: str) -> str:
    return name[:LONGEST].encode("unicode_escape").decode()


def _name_problem(name: str) -> str | None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        return "leads out of the folder; use plain names"
    if not path.parts or len(name.encode("utf-8", "surrogatepass")) > LONGEST or not name.isprintable():
        return "is no usable name; use short, printable ones"
    if len(path.parts) > DEEPEST:
        return f"lies in {len(path.parts) - 1} folders; at most {DEEPEST - 1} may lie inside one another"
    return None


def _most_bytes(packed: int, most: int) -> int:
    """What an archive of a size may unpack to."""
    return min(most, max(SMALL, MOST_TIMES * packed))


def _common_folder(members: list[Member]) -> PurePosixPath:
    """The one folder that everything lies in, as archives of a folder have it; else the top."""
    first = {PurePosixPath(member.name).parts[0] for member in members}
    inside = all(len(PurePosixPath(member.name).parts) > 1 for member in members)
    return PurePosixPath(first.pop()) if len(first) == 1 and inside else PurePosixPath()


def _copy(source: IO[bytes], path: Path, limit: int, name: str) -> int:
    """Copy what is really there, not what the archive says is there, up to a limit."""
    size = 0
    with path.open("xb") as file:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > limit:
                raise _refused(name, "unpacks to more than it says; this looks like an archive bomb")
            file.write(block)
    return size


def _refused(name: str, message: str) -> InvalidSubmission:
    return InvalidSubmission([Problem(name, None, message)])


def folder_manifest(folder: Path, manifest: Mapping[str, Any] | None, name: str | None, where: str) -> Manifest:
    """The manifest of an unpacked metric: its own `metric.toml`, else what was said beside it."""
    if (folder / "metric.toml").exists():
        return read_manifest(folder)
    values: dict[str, Any] = dict(manifest or {})
    if name is not None:
        values.setdefault("name", name)
    return manifest_from(values, folder, where=where)
