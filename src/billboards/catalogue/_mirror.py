"""A folder of one's own in which clones and archives lie, instead of the network.

For a repository OWNER/REPO the folder may hold a clone or an unpacked download (`REPO`, `OWNER/REPO`, `REPO-main`,
`REPO-COMMIT`…) or an archive of it (`REPO.tar.gz`, `OWNER-REPO-COMMIT.zip`…); it may also be such a clone or archive
itself. For an address it holds a file of that name, or what is in that archive. A file may be gzipped (`NAME.gz`).
Nothing is copied from a mirror or written to it.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from billboards.catalogue._cache import digest_of
from billboards.catalogue._entry import File, Source
from billboards.catalogue._paths import fixed_folder, matches
from billboards.catalogue._unpack import ENDINGS, Unpacked, unpack
from billboards.errors import DownloadFailed

Check = Callable[[File, int, str], None]


def from_mirror(source: Source, mirror: Path, scratch: Path, *, check: Check) -> dict[str, Unpacked]:
    """The files of a source that lie in a mirror, by path; `scratch` takes what must be unpacked first."""
    if not mirror.exists():
        raise DownloadFailed(f"{mirror}: no such folder or archive to take files from")
    clone = None
    for place in _places(source, mirror):
        if place.is_dir():
            clone = clone or (None if place == mirror else place)
            files = dict(_in_folder(source, place, scratch, check))
        elif place.is_file() and source.repository is None and not source.archive:
            files = {source.files[0].path: _checked(source.files[0], place, check)}
        elif place.is_file():
            files = unpack(place, source.wanted, scratch, at_most=source.at_most, check=check)
        else:
            continue
        if files:
            return files
    if clone is not None and source.repository is not None:
        raise DownloadFailed(
            f"{clone}: holds none of the files that are needed, such as {_sample(source)}; clone it anew"
        )
    raise DownloadFailed(
        f"{mirror}: holds nothing of {source.label}, such as {_sample(source)}; put {_expected(source)} there, or "
        "leave --from out to download it"
    )


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
    for stem in (f"github.com/{source.repository}/{commit}", f"downloads/github.com/{source.repository}/{commit}"):
        yield mirror / stem
    for stem in (*stems, *versions):
        yield mirror / stem
        yield from (mirror / f"{stem}{ending}" for ending in ENDINGS)
    yield from (mirror / f"{commit}{ending}" for ending in ENDINGS)
    yield mirror


def _in_folder(source: Source, folder: Path, scratch: Path, check: Check) -> Iterator[tuple[str, Unpacked]]:
    for file in source.files:
        path = _plain(folder, file, scratch)
        if path is not None:
            yield file.path, _checked(file, path, check)
    for pattern in source.patterns:
        for name in _walk(folder, fixed_folder(pattern)):
            if matches(name, pattern):
                yield name, _checked(File(path=name), folder / name, check)


def _checked(file: File, path: Path, check: Check) -> Unpacked:
    try:
        size, sha256 = digest_of(path)
    except OSError as error:
        raise DownloadFailed(f"{path}: can't be read: {error.strerror or error}") from error
    check(file, size, sha256)
    return Unpacked(file=file, place=path, size=size, sha256=sha256)


def _plain(folder: Path, file: File, scratch: Path) -> Path | None:
    """The file, unpacked first where only a gzipped one lies there."""
    path = folder / file.path
    if path.is_file():
        return path
    packed = path.with_name(path.name + ".gz")
    if not packed.is_file():
        return None
    target, bound = scratch / file.path, (file.size if file.size is not None else 1 << 30)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with gzip.open(packed) as content:
            data = content.read(bound + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DownloadFailed(f"{packed}: is cut off or not gzipped: {error}") from error
    if len(data) > bound:
        raise DownloadFailed(f"{packed}: unpacks to more than {bound:,} bytes")
    target.write_bytes(data)
    return target


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
                waiting.append(path)
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
