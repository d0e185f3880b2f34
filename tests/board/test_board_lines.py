"""Lines of files as people write them, and JSON more strictly than Python reads it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from billboards import reading as lines
from billboards.errors import ImportRefused
from billboards.reading import Problems, json_lines, numbered_lines, read_source, shown


def read(raw: bytes) -> tuple[list[tuple[int, dict[str, object]]], list[str]]:
    problems = Problems()
    return list(json_lines(raw, "f", problems)), [str(problem) for problem in problems]


def test_a_bom_crlf_and_blank_lines_are_read_over_and_counted() -> None:
    objects, problems = read(b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 2}')
    assert objects == [(1, {"a": 1}), (4, {"a": 2})]
    assert problems == []


def test_line_separators_inside_texts_do_not_end_a_line() -> None:
    objects, _ = read('{"a": "x\u2028y\u0085z\x0b"}\n{"a": "w"}'.replace("\x0b", "").encode())
    assert objects == [(1, {"a": "x\u2028y\u0085z"}), (2, {"a": "w"})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a": "b', "f:1: error: not JSON: Unterminated string starting at at column 7; the line seems cut off"),
        ('{"a": 1', "f:1: error: not JSON: Expecting ',' delimiter at column 8; the line seems cut off"),
        ('{"a": 1} x', "f:1: error: not JSON: Extra data at column 10"),
        ("[1]", "f:1: error: expected a JSON object, found list"),
        ('{"a": NaN}', "f:1: error: not usable JSON: NaN is not a value; leave the field out where there is none"),
        ('{"a": -Infinity}', "f:1: error: not usable JSON: -Infinity is not a value; leave the field out where there"),
        ('{"a": 1, "b": 2, "a": 3}', "f:1: error: not usable JSON: the key 'a' appears twice in one object"),
        ('{"a": {"b": 1, "b": 1}}', "f:1: error: not usable JSON: the key 'b' appears twice in one object"),
        ('{"a": "\\ud83d"}', "f:1: error: not usable JSON: \\ud83d is half of a character"),
        ('{"\\uDE00": 1}', "f:1: error: not usable JSON: \\ude00 is half of a character"),
        ('{"a": "\0"}', "f:1: error: not JSON: Invalid control character at at column 8"),
        ('{"a": ' + "[" * 100_000, "f:1: error: not usable JSON: it is nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "f:1: error: not usable JSON: Exceeds the limit"),
    ],
)
def test_a_line_that_can_not_be_used_is_named_with_its_reason(line: str, message: str) -> None:
    objects, problems = read(line.encode())
    assert objects == []
    assert len(problems) == 1
    assert problems[0].startswith(message)


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert read(b'{"a": "\\ud83d\\ude00"}') == ([(1, {"a": "😀"})], [])


def test_nan_is_read_only_where_it_is_asked_for() -> None:
    problems = Problems()
    (_, item), *_ = json_lines(b'{"a": NaN}', "f", problems, nan=True)
    assert item["a"] != item["a"]
    assert not problems


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_one_mistake_and_not_one_per_line(encoding: str) -> None:
    objects, problems = read('{"a": 1}\n{"a": 2}\n'.encode(encoding))
    assert objects == []
    assert problems == ["f:1: error: looks like UTF-16 or UTF-32; save the file as UTF-8"]


def test_a_line_in_another_encoding_is_named_and_the_rest_is_read() -> None:
    problems = Problems()
    lines = list(numbered_lines("gut\nschön\ngut\n".encode("latin-1"), "f", problems))
    assert lines == [(1, "gut"), (3, "gut")]
    assert [str(p) for p in problems] == ["f:2: error: not UTF-8 at byte 4 of the line; save the file as UTF-8"]


def test_a_cut_off_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n")[:-6])
    with pytest.raises(ImportRefused, match=r"f\.gz: can't be read: .*; fetch the file again"):
        read_source(path)


def test_mistakes_beyond_the_limit_are_counted_per_file() -> None:
    problems = Problems(limit=2)
    for line in range(1, 6):
        problems.error("f", line, "wrong")
    problems.error("g", 1, "wrong too")
    assert [(p.path, p.line, p.message[:10]) for p in problems] == [
        ("f", 1, "wrong"),
        ("f", 2, "wrong"),
        ("f", None, "and 3 more"),
        ("g", 1, "wrong too"),
    ]
    assert problems.errors_in("f") == 5


def test_without_a_limit_every_mistake_is_listed() -> None:
    problems = Problems()
    for line in range(500):
        problems.error("f", line, "wrong")
    problems.warn("f", None, "doubtful")
    assert len(problems) == 501
    assert len(problems.errors) == 500


def test_a_huge_value_is_shown_in_a_line() -> None:
    deep: list[object] = []
    for _ in range(3000):
        deep = [deep]
    assert len(shown("x" * 10_000_000)) < 100
    assert len(shown(deep)) < 100


def test_a_gzipped_file_is_unpacked_as_far_as_any_data_set_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST_UNPACKED", 10**6)
    (tmp_path / "f.gz").write_bytes(gzip.compress(b"\0" * 10**8))
    with pytest.raises(ImportRefused, match="unpacks to more than 1,000,000 bytes"):
        read_source(tmp_path / "f.gz")
