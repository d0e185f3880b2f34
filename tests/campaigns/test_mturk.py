from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from billboards.campaigns.crowd.mturk import read_batch
from billboards.errors import ImportRefused

HEADER = "HITId,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,WorkTimeInSeconds,Input.id,Answer.overall,Answer.note"


def _write(folder: Path, *rows: str) -> Path:
    path = folder / "Batch_1_batch_results.csv"
    path.write_text("\n".join((HEADER, *rows)) + "\n", encoding="utf-8")
    return path


def test_a_batch_gives_who_when_and_what(tmp_path: Path) -> None:
    row = 'h1,a1,w1,Approved,Sat Nov 14 09:30:00 PST 2020,41,seg-7,4,"yes, good"'
    (found,) = read_batch(_write(tmp_path, row))
    assert (found.task, found.worker, found.seconds, found.status) == ("h1", "w1", 41.0, "Approved")
    assert found.submitted == datetime(2020, 11, 14, 17, 30, tzinfo=UTC)
    assert (found.inputs, found.answers) == ({"id": "seg-7"}, {"overall": "4", "note": "yes, good"})


def test_what_was_not_answered_is_absent(tmp_path: Path) -> None:
    (found,) = read_batch(_write(tmp_path, "h1,a1,w1,Rejected,,,seg-7,,"))
    assert (found.answers, found.submitted, found.seconds, found.status) == ({}, None, None, "Rejected")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("h1,a1,w1,Approved,yesterday,41,s,4,", ":2: SubmitTime is 'yesterday'"),
        ("h1,a1,w1,Approved,,long,s,4,", ":2: WorkTimeInSeconds is 'long'"),
        ("h1,a1,,Approved,,41,s,4,", ":2: an assignment without its worker"),
        ("h1,a1,w1,Approved,,41,s,4", ":2: the row has another number of columns"),
    ],
)
def test_a_wrong_row_is_named_by_its_line(tmp_path: Path, row: str, said: str) -> None:
    with pytest.raises(ImportRefused, match=said):
        read_batch(_write(tmp_path, row))


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ImportRefused, match="column 'HITId' is missing"):
        read_batch(path)
