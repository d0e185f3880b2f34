"""Archives as strangers pack them: only wanted plain files come out, within bounds."""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from billboards.catalogue import _unpack
from billboards.catalogue._entry import File
from billboards.catalogue._unpack import Unpacked, unpack
from billboards.errors import DownloadFailed

WANTED = {"a.txt": File(path="a.txt"), "sub/b.txt": File(path="sub/b.txt", size=3)}


def taken(archive: Path, into: Path, *, at_most: int = 10**6) -> dict[str, bytes]:
    files = unpack(archive, WANTED.get, into, at_most=at_most)
    return {path: file.place.read_bytes() for path, file in files.items()}


def below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def tar(path: Path, members: Mapping[str, bytes | Callable[[tarfile.TarInfo], None]], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if callable(content):
                content(info)
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz", "w"])
@pytest.mark.parametrize("top", ["", "repo-0123/", "./", "./repo/"])
def test_wanted_files_come_out_with_and_without_a_top_folder(mode: str, top: str, tmp_path: Path) -> None:
    members = {f"{top}a.txt": b"A" * 700, f"{top}other.txt": b"?" * 100_000, f"{top}sub/b.txt": b"bbb"}
    path = tar(tmp_path / "x", members, mode)
    assert taken(path, tmp_path / "out") == {"a.txt": b"A" * 700, "sub/b.txt": b"bbb"}
    assert below(tmp_path / "out") == ["a.txt", "sub/b.txt"]


def test_a_zip_is_read_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("repo-main/", "")
        archive.writestr("repo-main/a.txt", "A")
        archive.writestr("repo-main/sub/b.txt", "bbb")
        archive.writestr("repo-main/../../evil.txt", "!")
    assert taken(tmp_path / "x.zip", tmp_path / "out") == {"a.txt": b"A", "sub/b.txt": b"bbb"}
    assert below(tmp_path) == ["out/a.txt", "out/sub/b.txt", "x.zip"]


@pytest.mark.parametrize(
    "name", ["../a.txt", "/a.txt", "x/../a.txt", "x/../../a.txt", "x//a.txt", "x\\a.txt", "C:/a.txt"]
)
def test_paths_that_lead_astray_are_not_taken(name: str, tmp_path: Path) -> None:
    assert taken(tar(tmp_path / "x", {name: b"!"}), tmp_path / "out") == {}
    assert below(tmp_path) == ["x"]


def link(info: tarfile.TarInfo) -> None:
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"


def hard_link(info: tarfile.TarInfo) -> None:
    info.type, info.linkname = tarfile.LNKTYPE, "../../etc/passwd"


def pipe(info: tarfile.TarInfo) -> None:
    info.type = tarfile.FIFOTYPE


def device(info: tarfile.TarInfo) -> None:
    info.type = tarfile.CHRTYPE


@pytest.mark.parametrize("kind", [link, hard_link, pipe, device])
def test_links_and_devices_are_refused_where_a_file_is_wanted(
    kind: Callable[[tarfile.TarInfo], None], tmp_path: Path
) -> None:
    with pytest.raises(DownloadFailed, match=r"repo/a\.txt is a link or a device, not a file"):
        taken(tar(tmp_path / "x", {"repo/a.txt": kind}), tmp_path / "out")
    assert below(tmp_path) == ["x"]


def test_links_elsewhere_are_passed_over(tmp_path: Path) -> None:
    def out_of_it(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = tarfile.SYMTYPE, str(tmp_path)

    assert taken(tar(tmp_path / "x", {"repo/sub": out_of_it, "repo/sub/b.txt": b"bbb"}), tmp_path / "out") == {
        "sub/b.txt": b"bbb"
    }
    assert below(tmp_path) == ["out/sub/b.txt", "x"]


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("repo/a.txt")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DownloadFailed, match="is a link or a device"):
        taken(tmp_path / "x.zip", tmp_path / "out")


def test_a_file_larger_than_the_entry_says_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"sub/b\.txt has 4 bytes, more than the 3 expected"):
        taken(tar(tmp_path / "x", {"sub/b.txt": b"bbbb"}), tmp_path / "out")


def test_files_of_unknown_size_have_a_bound_together(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match="more than the 500 expected"):
        taken(tar(tmp_path / "x", {"a.txt": b"a" * 501}), tmp_path / "out", at_most=500)


def test_a_file_that_is_twice_in_an_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"holds a\.txt twice"):
        taken(tar(tmp_path / "x", {"a.txt": b"1", "repo/a.txt": b"2"}), tmp_path / "out")


def test_a_bomb_ends_at_a_hundred_times_the_archives_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_unpack, "ALLOWANCE", 1000)
    path = tar(tmp_path / "x", {"zeros": bytes(20_000_000), "a.txt": b"A"})
    assert path.stat().st_size * 100 < 20_000_000
    with pytest.raises(DownloadFailed, match="100 times its size"):
        taken(path, tmp_path / "out")


def test_a_header_that_claims_gigabytes_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 3 * 1024**3
    with gzip.open(tmp_path / "x", "wb") as file:
        file.write(info.tobuf() + bytes(10_240))
    with pytest.raises(DownloadFailed, match="a header claims 3,221,225,472 bytes"):
        taken(tmp_path / "x", tmp_path / "out")


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_cut_off_archive_is_refused(share: float, tmp_path: Path) -> None:
    path = tar(tmp_path / "x", {"a.txt": os.urandom(5000), "sub/b.txt": b"bbb"})
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DownloadFailed, match="is cut off or no archive"):
        taken(path, tmp_path / "out")


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("<html>Sign in first</html>" * 100)
    with pytest.raises(DownloadFailed, match="is cut off or no archive"):
        taken(tmp_path / "x", tmp_path / "out")


def test_a_file_that_fails_its_check_is_not_left_behind(tmp_path: Path) -> None:
    def refuse(unpacked: Unpacked) -> None:
        raise DownloadFailed(f"{unpacked.file.path}: wrong")

    path = tar(tmp_path / "x", {"a.txt": b"A"})
    with pytest.raises(DownloadFailed, match=r"a\.txt: wrong"):
        unpack(path, WANTED.get, tmp_path / "out", at_most=10, check=refuse)
    assert below(tmp_path) == ["x"]


def test_hostile_bytes_are_refused_and_nothing_else_happens(tmp_path: Path) -> None:
    """A thousand damaged archives: each is read, or refused as one."""
    rng = random.Random(1)
    good = tar(tmp_path / "good", {"a.txt": b"A" * 300, "sub/b.txt": b"bbb"}, "w").read_bytes()[:4096]
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("a.txt", "A" * 300)
        archive.writestr("sub/b.txt", "bbb")
    refused = 0
    for number in range(1000):
        raw = bytearray(good if number % 2 else (tmp_path / "good.zip").read_bytes())
        for _ in range(rng.randint(1, 8)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        (tmp_path / "x").write_bytes(raw)
        try:
            taken(tmp_path / "x", tmp_path / "out")
        except DownloadFailed:
            refused += 1
    assert 100 < refused < 1000
    assert set(below(tmp_path)) <= {"good", "good.zip", "out/a.txt", "out/sub/b.txt", "x"}


def test_a_sparse_map_that_does_not_end_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("a.txt")
    info.size = 512
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a.txt"}
    path = tmp_path / "x"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info, io.BytesIO(b"99999999\n".ljust(512, b"1")))
    with pytest.raises(DownloadFailed, match=r"is cut off or no archive|is a link or a device"):
        taken(path, tmp_path / "out")
