"""Score files of Appraise, read line by line; every mistake is refused with its line."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from billboards.board.appraise_answers import ErrorSpan, last_answers, read_appraise
from billboards.errors import ImportRefused

SPANS = (
    '"[{""start_i"":206,""end_i"":252,""severity"":""major"",""error_type"":null},'
    '{""start_i"":""missing"",""end_i"":""missing"",""severity"":""minor"",""error_type"":""Omission""}]"'
)
ESA = f"engdeu01,wmt23.A,98,BAD,eng,deu,36,doc#A#bad7,False,{SPANS},10.5,17.25\n"
DA = "engdeu01,wmt23.A,1,TGT,eng,deu,87,doc#A,False\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_answer_has_its_spans_and_times(tmp_path: Path) -> None:
    (answer,) = read_appraise(written(tmp_path, ESA))
    assert (answer.line, answer.annotator, answer.system, answer.item) == (1, "engdeu01", "wmt23.A", "98")
    assert (answer.kind, answer.score, answer.document) == ("BAD", 36.0, "doc#A#bad7")
    assert answer.is_document is False
    assert answer.spans == (
        ErrorSpan(start=206, end=252, severity="major", error_type=None),
        ErrorSpan(start=None, end=None, severity="minor", error_type="Omission"),
    )
    assert (answer.started, answer.ended) == (10.5, 17.25)


def test_direct_assessments_have_no_spans_and_no_times(tmp_path: Path) -> None:
    (answer,) = read_appraise(written(tmp_path, DA))
    assert answer.spans == ()
    assert math.isnan(answer.ended)


@pytest.mark.parametrize(("times", "ended"), [(",10.5,17.25", 17.25), (",[],10.5,17.25", 17.25), (",[],,", math.nan)])
def test_times_come_last_with_or_without_spans(tmp_path: Path, times: str, ended: float) -> None:
    (answer,) = read_appraise(written(tmp_path, DA.replace("\n", times + "\n")))
    assert answer.ended == pytest.approx(ended, nan_ok=True)
    assert answer.spans == ()


def test_of_an_item_that_was_answered_twice_the_last_answer_counts(tmp_path: Path) -> None:
    line = "a,s,{item},TGT,eng,deu,{score},doc,False,[],1,{ended}\n"
    text = "".join(
        line.format(item=item, score=score, ended=ended) for item, score, ended in ((1, 10, 5), (1, 20, 3), (2, 30, 1))
    )
    assert [one.score for one in last_answers(read_appraise(written(tmp_path, text)))] == [10.0, 30.0]


def test_without_times_the_later_line_counts(tmp_path: Path) -> None:
    text = DA + DA.replace("87", "40")
    assert [one.score for one in last_answers(read_appraise(written(tmp_path, text)))] == [40.0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,b,c\n", "scores.csv:2: 3 cells where a score file of Appraise has 9, 11 or 12"),
        (DA.replace("87", "good"), "scores.csv:2: not an answer of Appraise .*'good'"),
        (DA.replace("87", "nan"), "scores.csv:2: .*score 'nan'"),
        (DA.replace("False", "maybe"), "'maybe' is neither True nor False"),
        (ESA.replace("severity", "weight"), "scores.csv:2: .*severity"),
        (ESA.replace('"[{', '"[{{'), "scores.csv:2: not an answer"),
        (ESA.replace("206", '""first""'), "scores.csv:2: not an answer"),
    ],
)
def test_a_line_that_is_no_answer_is_refused(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ImportRefused, match=message):
        read_appraise(written(tmp_path, DA + line))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(ImportRefused, match=r"scores\.csv:1: not UTF-8"):
        read_appraise(tmp_path / "scores.csv")


def test_the_esa_campaign_is_read_whole(shared_data: Path) -> None:
    answers = read_appraise(shared_data / "esa_campaign" / "240315rc5ESA.scores.csv")
    assert len(answers) == 3_314
    assert len(last_answers(answers)) == 3_300
    assert sum(one.kind == "BAD" for one in answers) == 398
    assert len({one.annotator for one in answers}) == 33
