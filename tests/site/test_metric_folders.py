"""Archives made into folders: what leads outside, links, bombs and nonsense are refused by name, before a byte is
written."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from billboards.errors import InvalidSubmission
from billboards.site.submissions import archives
from billboards.site.submissions.archives import unpack_metric

Pack = Callable[..., bytes]


def refused(raw: bytes, tmp_path: Path) -> str:
    target = tmp_path / "inside" / "metric"
    with pytest.raises(InvalidSubmission) as caught:
        unpack_metric(raw, target, name="m.zip")
    assert [path for path in tmp_path.rglob("*") if path.is_file() and target not in path.parents] == []
    return "; ".join(problem.message for problem in caught.value.problems)


def tarred(*members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    return info


def test_a_folder_comes_out_as_it_went_in_and_readable(tmp_path: Path, metric_zip: Pack) -> None:
    files = {"run.sh": "echo 1\n", "lib/help.py": "x = 1\n", "metric.toml": 'name = "m"\n'}
    for k, top in enumerate(("", "my-metric/")):
        target = tmp_path / str(k)
        unpack_metric(metric_zip(files | {"__MACOSX/junk": "x"}, top=top), target)
        found = {str(path.relative_to(target)): path.read_text() for path in target.rglob("*") if path.is_file()}
        assert found == files
        assert all(path.stat().st_mode & 0o005 for path in target.rglob("*") if path.is_dir())


def test_what_was_executable_stays_so_and_nothing_else_of_the_mode(tmp_path: Path) -> None:
    raw = tarred((member("run.sh", mode=0o4777), b"echo"), (member("data", mode=0o000), b"x"), mode="w:gz")
    unpack_metric(raw, tmp_path / "m")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir()}
    assert modes == {"run.sh": 0o755, "data": 0o644}


def test_one_python_file_is_a_folder_with_it(tmp_path: Path) -> None:
    unpack_metric(b"def score(outputs, references, inputs):\n    return []\n", tmp_path / "m", name="mine.py")
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["metric.py"]


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../out", "..\\out", "C:\\out", "x/\u202etxt", "a\nb"])
def test_names_that_lead_out_or_deceive_are_refused(tmp_path: Path, metric_zip: Pack, name: str) -> None:
    said = refused(metric_zip({"run.sh": "echo", name: "x"}), tmp_path)
    assert "leads out of the folder" in said or "is no usable name" in said
    said = refused(tarred((member("run.sh"), b"echo"), (member(name), b"x")), tmp_path)
    assert "leads out of the folder" in said or "is no usable name" in said


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    for kind, link in ((tarfile.SYMTYPE, "/etc/passwd"), (tarfile.LNKTYPE, "run.sh")):
        assert "data is a link" in refused(tarred((member("run.sh"), b""), (member("data", kind, link), b"")), tmp_path)
    for kind in (tarfile.CHRTYPE, tarfile.FIFOTYPE):
        assert "data is no ordinary file" in refused(tarred((member("data", kind), b"")), tmp_path)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        info = zipfile.ZipInfo("data")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert "data is a symbolic link" in refused(packed.getvalue(), tmp_path)


def test_bombs_are_refused_by_what_they_say_and_by_what_they_are(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * (32 * 2**20))
    raw = packed.getvalue()
    assert "unpacks to 33,554,432 bytes" in refused(raw, tmp_path)
    lying = raw.replace((32 * 2**20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    said = refused(lying, tmp_path)
    assert "unpacks to more than it says" in said or "damaged or unusual archive" in said
    assert "archive bomb" in refused(tarred((member("zeros"), b"\0" * (48 * 2**20)), mode="w:gz"), tmp_path)


def test_too_many_files_and_files_that_meet_are_refused(
    tmp_path: Path, metric_zip: Pack, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Run.SH is there twice, or differs only in case from run.sh" in refused(
        metric_zip({"run.sh": "1", "Run.SH": "2"}), tmp_path
    )
    monkeypatch.setattr(archives, "MOST_FILES", 3)
    assert "holds 4 files; 3 are allowed" in refused(metric_zip({f"f{k}": "" for k in range(4)}), tmp_path)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n\xff\xff", "is neither a zip or tar archive nor a Python file"),
        (b"print(1)\n", "has no function `score`"),
        (b"\x1f\x8b broken", "damaged"),
        (b"BZh9 broken", "damaged"),
        (b"PK\x05\x06" + b"\0" * 18, "holds no file"),
    ],
)
def test_what_is_no_metric_is_named(tmp_path: Path, raw: bytes, says: str) -> None:
    assert says in refused(raw, tmp_path)


def test_an_encrypted_archive_is_refused(tmp_path: Path, metric_zip: Pack) -> None:
    raw = bytearray(metric_zip({"run.sh": "echo"}))
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    assert "is encrypted" in refused(bytes(raw), tmp_path)


def test_a_zip_of_very_many_entries_is_refused_before_its_directory_is_read(tmp_path: Path, metric_zip: Pack) -> None:
    raw = bytearray(metric_zip({"run.sh": "echo"}))
    end = raw.index(b"PK\x05\x06")
    raw[end + 12 : end + 16] = (200 * 2**20).to_bytes(4, "little")
    assert "has a directory of 209,715,200 bytes; 5000 files are allowed" in refused(bytes(raw), tmp_path)
    hiding = metric_zip({"run.sh": "echo"})[:-22] + b"PK\x06\x07" + b"\0" * 16 + metric_zip({"run.sh": "echo"})[-22:]
    assert "unusual archive" in refused(hiding, tmp_path)
