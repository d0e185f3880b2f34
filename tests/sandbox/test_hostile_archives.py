"""Archives that want to be more than a folder: they are refused before a byte is written, and by name."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from billboards.errors import InvalidSubmission
from billboards.site.submissions.archives import unpack_metric


def zipped(*files: tuple[str, bytes], mode: int = 0) -> bytes:
    """A zip archive; `mode` is the Unix mode of its last file."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, (name, content) in enumerate(files):
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode if k == len(files) - 1 else stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return raw.getvalue()


def tarred(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for path, type_ in (("run.sh", tarfile.REGTYPE), (name, kind)):
            info = tarfile.TarInfo(path)
            info.type, info.linkname = type_, link
            archive.addfile(info)
    return raw.getvalue()


RUN = ("run.sh", b"true\n")
#: Name: how to make the archive, words of the message.
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a zip that climbs": (lambda: zipped(RUN, ("../../escaped", b"x")), "leads out of the folder"),
    "a zip that climbs from within": (lambda: zipped(RUN, ("a/../../escaped", b"x")), "leads out of the folder"),
    "a zip with a full path": (lambda: zipped(RUN, ("/escaped", b"x")), "leads out of the folder"),
    "a zip with backslashes": (lambda: zipped(RUN, ("..\\..\\escaped", b"x")), "leads out of the folder"),
    "a zip with a link": (
        lambda: zipped(RUN, ("link", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777),
        "is a symbolic link",
    ),
    "a zip with a device": (lambda: zipped(RUN, ("disk", b""), mode=stat.S_IFBLK | 0o666), "is no ordinary file"),
    "a zip bomb": (lambda: zipped(RUN, ("zeros", bytes(64 << 20))), "are allowed"),
    "a zip of very many files": (lambda: zipped(RUN, *((f"f{k}", b"") for k in range(6000))), "5000 are allowed"),
    "a zip with one name twice in two cases": (lambda: zipped(RUN, ("RUN.sh", b"false\n")), "differs only in case"),
    "half a zip": (lambda: zipped(RUN, ("more", os.urandom(9000)))[:5000], "metric.zip"),
    "an empty zip": (zipped, "holds no file"),
    "a tar that climbs": (lambda: tarred("../../escaped"), "leads out of the folder"),
    "a tar with a link": (lambda: tarred("link", tarfile.SYMTYPE, "/etc/passwd"), "is a link"),
    "a tar with a hard link": (lambda: tarred("link", tarfile.LNKTYPE, "/etc/passwd"), "is a link"),
    "a tar with a device": (lambda: tarred("disk", tarfile.BLKTYPE), "is no ordinary file"),
    "a tar with a named pipe": (lambda: tarred("pipe", tarfile.FIFOTYPE), "is no ordinary file"),
    "a gzip bomb": (lambda: gzip.compress(bytes(96 << 20)), "metric.zip"),
    "bytes of no kind": (lambda: os.urandom(1000) + b"\xff", "metric.zip"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_by_name_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    make, words = HOSTILE[name]
    target = tmp_path / "data" / "metrics" / "own"
    target.parent.mkdir(parents=True)
    with pytest.raises(InvalidSubmission) as caught:
        unpack_metric(make(), target, name="metric.zip")
    assert words in str(caught.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()]


def test_the_next_archive_is_unpacked_as_it_is(tmp_path: Path) -> None:
    unpack_metric(zipped(RUN, ("words/list.txt", b"a\n")), tmp_path / "own", name="metric.zip")
    assert (tmp_path / "own" / "run.sh").read_bytes() == b"true\n"
    assert (tmp_path / "own" / "words" / "list.txt").stat().st_mode & 0o777 == 0o644
