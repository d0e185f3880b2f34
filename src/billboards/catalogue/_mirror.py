"""A folder of one's own in which clones and archives lie, instead of the network.

For a repository OWNER/REPO the folder may hold a clone or an unpacked download (`REPO`, `OWNER/REPO`, `REPO-main`,
`REPO-COMMIT`…) or an archive of it (`REPO.tar.gz`, `OWNER-REPO-COMMIT.zip`…); it may also be such a clone or archive
itself. For an address it holds a file of that name, or what is in that archive. A file may be gzipped (`NAME.gz`), and
one whose SHA-256 is known may lie anywhere below the folder, under any name. Nothing is copied from a mirror or written
to it.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from billboards.catalogue._cache import digest_of
from billboards.catalogue._entry import File, Source
from billboards.catalogue._paths import fixed_folder, matches
from billboards.catalogue._unpack import ENDINGS, Unpacked, unpack
from billboards.errors import DownloadFailed, InvalidInput

#: Names of folders that hold no data.
_IDLE = frozenset({".git", "node_modules", "__pycache__"})
#: The most files that are looked at to find one by its digest.
_LOOKED_AT = 300_000


def from_mirror(source: Source, mirror: Path, scratch: Path) -> dict[str, Unpacked]:
    """The files of a source that lie in a mirror, by path; `scratch` takes what must be unpacked first.

    The usual places are looked at first. If none of them has every file as it should be, those that lack or differ are
    looked for everywhere below the mirror: whatever its name, a file is known by its SHA-256. What is not found so
    is left as the first of the usual places has it, right or wrong.
    """
    if not mirror.exists():
        raise InvalidInput(f"{mirror}: no such folder or archive; --from names one that holds the files")
    first: dict[str, Unpacked] = {}
    for number, place in enumerate(_places(source, mirror)):
        files = _in_place(source, place, scratch / str(number))
        if files and is_complete(source, files):
            return files
        first = first or files
    anywhere = _Anywhere(mirror, scratch / "anywhere")
    for file in source.files:
        if file.is_verified and (file.path not in first or not first[file.path].is_right):
            right = anywhere.find(file)
            first |= {} if right is None else {file.path: right}
    if not first:
        raise _nothing(source, mirror)
    return first


def is_complete(source: Source, files: Mapping[str, Unpacked]) -> bool:
    """Whether every listed file is there, and every file what it should be."""
    return all(file.path in files for file in source.files) and all(file.is_right for file in files.values())


def _in_place(source: Source, place: Path, scratch: Path) -> dict[str, Unpacked]:
    if place.is_dir():
        return dict(_in_folder(source, place, scratch))
    if not place.is_file():
        return {}
    if source.repository is None and not source.archive:
        return {source.files[0].path: _unpacked(source.files[0], place)}

    def wanted(path: str) -> File | None:
        # Of any size: what differs from the catalogue is told afterwards.
        return None if source.wanted(path) is None else File(path=path)

    files = unpack(place, wanted, scratch, at_most=source.at_most)
    return {path: replace(file, file=source.wanted(path) or file.file) for path, file in files.items()}


def _nothing(source: Source, mirror: Path) -> DownloadFailed:
    clones = [place for place in _places(source, mirror) if place != mirror and place.is_dir()]
    if clones and source.repository is not None:
        return DownloadFailed(
            f"{clones[0]}: holds none of the files that are needed, such as {_sample(source)}; clone it anew"
        )
    return DownloadFailed(
        f"{mirror}: holds nothing of {source.label}, such as {_sample(source)}; put {_expected(source)} there, or "
        "leave --from out to download it"
    )


class _Anywhere:
    """Files below a folder by their size, to find one by its digest."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root, self._scratch = root, scratch

    @cached_property
    def _files(self) -> tuple[dict[int, list[Path]], dict[str, list[Path]]]:
        by_size: dict[int, list[Path]] = {}
        gzipped: dict[str, list[Path]] = {}
        for name in islice(_walk(self._root, ""), _LOOKED_AT) if self._root.is_dir() else ():
            path = self._root / name
            by_size.setdefault(path.stat().st_size, []).append(path)
            if path.suffix == ".gz":
                gzipped.setdefault(path.name.removesuffix(".gz"), []).append(path)
        return by_size, gzipped

    def find(self, file: File) -> Unpacked | None:
        by_size, gzipped = self._files
        for path in by_size.get(file.size or -1, ()):
            candidate = _unpacked(file, path)
            if candidate.is_right:
                return candidate
        for path in gzipped.get(file.path.rpartition("/")[2], ()):
            target = self._scratch / file.path
            if _gunzip(path, target, file.size or 0) and (candidate := _unpacked(file, target)).is_right:
                return candidate
        return None


def _sample(source: Source) -> str:
    return source.files[0].path if source.files else source.patterns[0]


def _expected(source: Source) -> str:
    if source.repository is None:
        return f"the file {source.label}"
    return f"a clone {source.place or source.label}/ or an archive {source.label.partition('/')[2]}.tar.gz"


def _places(source: Source, mirror: Path) -> Iterator[Path]:
    """Where a source may lie, the likeliest first."""
    if mirror.is_file():
        yield mirror
        return
    if source.repository is None:
        name = urlsplit(str(source.url)).path.rpartition("/")[2]
        yield mirror / name
        yield mirror
        yield mirror.parent
        return
    owner, _, repository = source.repository.partition("/")
    commit = str(source.commit)
    stems = [f"{owner}/{repository}", repository, f"{owner}-{repository}", f"{owner}__{repository}"]
    versions = [f"{stem}-{end}" for stem in stems for end in (commit, commit[:7], "main", "master")]
    cached = f"github.com/{source.repository}/{commit}"
    for stem in (cached, f"downloads/{cached}", f"github.com/{source.repository}"):
        yield mirror / stem
    for stem in (*stems, *versions):
        yield mirror / stem
        yield from (mirror / f"{stem}{ending}" for ending in ENDINGS)
    yield from (mirror / f"{commit}{ending}" for ending in ENDINGS)
    yield mirror


def _in_folder(source: Source, folder: Path, scratch: Path) -> Iterator[tuple[str, Unpacked]]:
    for file in source.files:
        path = _plain(folder, file, scratch)
        if path is not None:
            yield file.path, _unpacked(file, path)
    for pattern in source.patterns:
        for name in _walk(folder, fixed_folder(pattern)):
            if matches(name, pattern):
                yield name, _unpacked(File(path=name), folder / name)


def _unpacked(file: File, path: Path) -> Unpacked:
    try:
        size, sha256 = digest_of(path)
    except OSError as error:
        raise DownloadFailed(f"{path}: can't be read: {error.strerror or error}") from error
    return Unpacked(file=file, place=path, size=size, sha256=sha256)


def _plain(folder: Path, file: File, scratch: Path) -> Path | None:
    """The file, unpacked first where only a gzipped one lies there."""
    path, target = folder / file.path, scratch / file.path
    if path.is_file():
        return path
    packed, bound = path.with_name(path.name + ".gz"), file.size if file.size is not None else 1 << 30
    if not packed.is_file():
        return None
    if not _gunzip(packed, target, bound):
        raise DownloadFailed(f"{packed}: is cut off, not gzipped, or unpacks to more than {bound:,} bytes")
    return target


def _gunzip(packed: Path, target: Path, bound: int) -> bool:
    """Unpack a gzipped file; False where it is none, is cut off, or has more bytes than it may."""
    try:
        with gzip.open(packed) as content:
            data = content.read(bound + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    if len(data) > bound:
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return True


def _walk(folder: Path, below: str) -> Iterator[str]:
    """The paths of files below a folder; a link to a folder is followed, but no folder is seen twice."""
    seen = set[Path]()
    waiting = [folder / below if below else folder]
    while waiting:
        place = waiting.pop()
        if not place.is_dir() or place.resolve() in seen:
            continue
        seen.add(place.resolve())
        for path in sorted(place.iterdir()):
            if path.is_dir():
                waiting.extend([] if path.name in _IDLE else [path])
            elif path.is_file():
                yield path.relative_to(folder).as_posix()


def difference(file: File, path: Path) -> str:
    """What a file of a mirror that differs seems to be, where that can be told."""
    with path.open("rb") as opened:
        start = opened.read(200)
        if start.startswith(b"version https://git-lfs"):
            return "; it is a pointer of Git LFS: run `git lfs pull` there"
        data = start + opened.read(1 << 28)
    if b"\r\n" in data and hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest() == file.sha256:
        return "; only its line ends differ: clone with `git -c core.autocrlf=false clone`"
    return ""
