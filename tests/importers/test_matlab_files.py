"""MATLAB's files: what scipy writes is read as scipy reads it, and whatever is hostile is refused in one line."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from billboards.errors import ImportRefused
from billboards.importers._matlab import DEEPEST, MOST_BYTES, read_matlab

HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)


def array(array_class: int, *parts: bytes, dims: tuple[int, ...] = (1, 1), name: bytes = b"x") -> bytes:
    flags = element(6, struct.pack("<II", array_class, 0))
    return element(14, flags + element(5, struct.pack(f"<{len(dims)}i", *dims)) + element(1, name) + b"".join(parts))


def written(tmp_path: Path, *variables: bytes) -> Path:
    path = tmp_path / "x.mat"
    path.write_bytes(HEADER + b"".join(variables))
    return path


def saved(tmp_path: Path, *, compressed: bool = False, **variables: Any) -> Path:
    path = tmp_path / "saved.mat"
    scipy.io.savemat(path, variables, do_compression=compressed)
    return path


@pytest.mark.parametrize("compressed", [False, True])
def test_what_scipy_writes_is_read_back(tmp_path: Path, compressed: bool) -> None:
    records = np.zeros((1, 2), [("name", "O"), ("votes", "O")])
    records[0, 0] = ("Ärger", np.array([[1.0, -1.0, 1.0]]))
    records[0, 1] = ("", np.array([[0]], np.uint8))
    cells = np.empty((2, 1), object)
    cells[:, 0] = ["one", "two words"]
    path = saved(tmp_path, compressed=compressed, records=records, cells=cells, table=np.arange(6).reshape(2, 3))
    variables: dict[str, Any] = dict(read_matlab(path))
    assert variables["cells"] == ["one", "two words"]
    assert variables["table"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert [item["name"] for item in variables["records"]] == ["Ärger", ""]
    assert variables["records"][0]["votes"].tolist() == [[1.0, -1.0, 1.0]]


def test_numbers_that_begin_with_their_large_end_are_read(tmp_path: Path) -> None:
    flags, dims = struct.pack(">II", 6, 0), struct.pack(">ii", 1, 2)
    parts = [(6, flags), (5, dims), (1, b"v"), (3, struct.pack(">hh", -1, 258))]
    content = b"".join(struct.pack(">II", k, len(raw)) + raw + b"\0" * (-len(raw) % 8) for k, raw in parts)
    path = tmp_path / "big.mat"
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 14, len(content)) + content)
    value: Any = read_matlab(path)["v"]
    assert value.tolist() == [[-1, 258]]


def nested(depth: int) -> bytes:
    content = array(6, element(9, struct.pack("<d", 1.0)))
    for _ in range(depth):
        content = array(1, content)
    return content


def zipped(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return struct.pack("<II", 15, len(packed)) + packed


HOSTILE = {
    "no header": (b"", "it lacks the header of version 5"),
    "a function handle": (array(16, b""), "it holds a function handle, which is no data"),
    "an object": (array(3, b""), "it holds an object, which is no data"),
    "an object of a class": (array(17, b""), "it holds an object of a class"),
    "a sparse matrix": (array(5, b""), "a sparse matrix"),
    "more numbers than there are": (array(6, element(9, b"\0" * 8), dims=(1 << 30, 1 << 30)), "numbers has 1"),
    "a negative size": (array(6, element(9, b""), dims=(-1, 0)), "negative size"),
    "more cells than there are": (array(1, dims=(1, 1 << 30)), "0 arrays where 1073741824 cells are"),
    "a struct without fields": (array(2), "a struct lacks its fields"),
    "fields of no width": (array(2, element(5, struct.pack("<i", 0)), element(1, b"a")), "have no names"),
    "a text of half a letter": (array(4, element(17, b"\x00\xd8")), "a text is not what its type says"),
    "an unknown type": (element(99, b"x"), "a variable of type 99"),
    "numbers of no type": (array(6, element(8, b"12345678")), "numbers of type 8"),
    "a zipped variable that is cut": (zipped(nested(0))[:-8], "it is cut off within an array"),
    "bytes that are not zipped": (struct.pack("<II", 15, 8) + b"notzlib!", "it can't be unzipped"),
    "a bomb": (zipped(element(14, b"\0" * (MOST_BYTES + 8))), f"unpacks to more than {MOST_BYTES:,} bytes"),
    "deep nesting": (nested(3_000), f"more than {DEEPEST} arrays lie inside one another"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_and_says_why(tmp_path: Path, name: str) -> None:
    content, message = HOSTILE[name]
    path = written(tmp_path, content)
    if name == "no header":
        path.write_bytes(b"hello")
    with pytest.raises(ImportRefused, match=r"x\.mat: not a \.mat file that can be read: ") as refusal:
        read_matlab(path)
    assert message in str(refusal.value)


def test_a_file_of_version_7_3_says_how_to_save_it(tmp_path: Path) -> None:
    path = tmp_path / "new.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF")
    with pytest.raises(ImportRefused, match=r"version 7\.3 \(HDF5\); save it as version 7"):
        read_matlab(path)


@settings(max_examples=150, deadline=None)
@given(place=st.integers(0, 600), byte=st.integers(0, 255), cut=st.integers(0, 40))
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    records = np.zeros((1, 2), [("name", "O"), ("votes", "O")])
    records[0, :] = [("first", np.array([[1.0, -1.0]])), ("second", np.array([[1.0]]))]
    path = saved(folder, records=records)
    raw = bytearray(path.read_bytes())
    raw[place % len(raw)] = byte
    path.write_bytes(raw[: len(raw) - cut])
    with suppress(ImportRefused):
        assert isinstance(read_matlab(path), dict)
