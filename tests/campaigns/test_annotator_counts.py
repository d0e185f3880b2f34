"""Tables of right and wrong answers, in every format that tables come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.analyses._annotators import read_annotator_counts
from billboards.errors import ImportRefused


def test_kinds_are_parted_and_missing_counts_are_none(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("annotator,right,wrong,kind\nann,9,1,positive\nbob,3,0,negative\nann,7,2,negative\n")
    found = read_annotator_counts(path)
    assert found.annotators == ("ann", "bob")
    assert found.kinds == {"positive": ([9, 0], [1, 0]), "negative": ([7, 3], [2, 0])}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.tsv", "right\tannotator\twrong\n9\tann\t1\n"),
        ("c.jsonl", '{"annotator": "ann", "right": 9, "wrong": 1}\n'),
        ("c.csv", "annotator,right,wrong\nann,9.0,1\n"),
    ],
)
def test_without_a_kind_all_questions_are_of_one(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_annotator_counts(tmp_path / name).kinds == {"test": ([9], [1])}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("annotator,right\nann,9\n", "no column 'wrong'"),
        ("annotator,right,wrong\nann,9,-1\n", "counts.csv:2: right and wrong must be whole numbers"),
        ("annotator,right,wrong\nann,nine,1\n", "counts.csv:2: right and wrong must be whole numbers"),
        ("annotator,right,wrong\nann,inf,1\n", "counts.csv:2: right and wrong must be whole numbers"),
        ("annotator,right,wrong\n,9,1\n", "counts.csv:2: no annotator"),
        ("annotator,right,wrong\nann,9,1\nann,8,1\n", "counts.csv:3: annotator 'ann' has a second line"),
    ],
)
def test_mistakes_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "counts.csv").write_text(text)
    with pytest.raises(ImportRefused, match=message):
        read_annotator_counts(tmp_path / "counts.csv")
