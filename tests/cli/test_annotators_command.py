"""`billboards annotators`: verdicts from counts and from attention checks, and GENIE's Table 1."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from billboards.analyses._annotators import bucket_text, check_annotators, corruption_table
from billboards.cli.main import main
from billboards.stats.annotators import AnnotatorModel

COUNTS = """annotator,right,wrong,kind
ann,19,1,positive
ann,18,1,negative
bob,20,0,positive
bob,0,16,negative
cid,2,0,positive
"""


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Four annotators with 15 controls each; the last one doesn't see a fault."""
    lines = []
    for annotator in "abcd":
        for item in range(15):
            bad = 90 if annotator == "d" else 20 + item
            lines.append(f"{annotator},s,{item},TGT,eng,deu,{60 + item},doc{item}#s,False,[],1,2\n")
            lines.append(f"{annotator},s,{item + 50},BAD,eng,deu,{bad},doc{item}#s#bad1,False,[],1,2\n")
    path = tmp_path / "scores.csv"
    path.write_text("".join(lines))
    return path


def test_fit_names_the_noisy_with_the_reason(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotators", "fit", str(counts), "--csv"]) == 0
    text = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(text.partition("\n\n")[0])))
    assert {row["annotator"] for row in rows if row["verdict"] == "noisy"} == {"bob"}
    assert rows[0]["reason"].startswith("noisy, above 0.99 by class/learned/2: 0 of 16 negative questions right")
    assert len(rows) == 6


def test_fit_shows_prior_and_posteriors_on_a_terminal(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotators", "fit", str(counts), "--model", "rate/fixed/1"]) == 0
    text = capsys.readouterr().out
    assert "3 annotators, 1 noisy" in text
    assert "Prior of annotators' accuracy: fixed, 1 component" in text
    assert "0.8000" in text
    assert "accuracy of at most 0.9" in text


def test_fit_as_json_holds_every_field(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotators", "fit", str(counts), "--json", "--threshold", "0.95"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"]) == (1, "annotators")
    assert document["model"]["threshold"] == 0.95
    assert [one["annotator"] for one in document["verdicts"] if one["noisy"]] == ["bob"]
    assert len(document["mixtures"]["negative"]["weights"]) == 2


def test_checks_judge_by_bad_items_and_find_noise_that_is_put_in(
    scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["annotators", "checks", str(scores), "--corrupt", "--rounds", "4", "--share", "0.3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    verdicts = {one["annotator"]: one["noisy"] for one in document["report"]["verdicts"]}
    assert verdicts == {"a": False, "b": False, "c": False, "d": True}
    assert document["corruption"]["left_out"] == ["d"]
    assert [one["rate"] for one in document["corruption"]["levels"]] == [0.25, 0.5, 0.75, 1.0]
    assert document["corruption"]["levels"][3]["detection"]["noisy"] == 4


def test_the_table_counts_who_was_made_noisy_marked_and_found(scores: Path) -> None:
    study = check_annotators(scores, AnnotatorModel(), corrupt=True, rounds=4, share=0.3)
    assert study.corruption is not None
    table = corruption_table(study.corruption)
    detections = [level.detection for level in study.corruption.levels]
    assert [(row["found"], row["marked"], row["noisy"]) for row in table.rows] == [
        (detection.found, detection.marked, detection.noisy) for detection in detections
    ]
    assert {column.key for column in table.columns} <= set(table.rows[0])


def test_numbers_of_questions_are_written_as_in_the_paper() -> None:
    assert [bucket_text((1, 4)), bucket_text((15, None))] == ["1-4", "15+"]


def test_checks_say_who_was_left_out(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotators", "checks", str(scores), "--corrupt", "--rounds", "2"]) == 0
    text = capsys.readouterr().out
    assert "4 annotators, 1 noisy" in text
    assert "Noise put in and found" in text
    assert "left out: d." in " ".join(text.split())


def test_simulate_shows_all_cells_beside_the_published_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotators", "simulate", "--rounds", "3", "--annotators", "40", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 24
    first = {row["questions"]: row for row in rows if row["model"] == "class/learned/2"}
    assert [(row["published_precision"], row["published_recall"]) for row in first.values()] == [
        ("100", "15"),
        ("100", "77"),
        ("100", "100"),
    ]


def test_simulate_takes_question_counts_from_a_table(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["annotators", "simulate", "--rounds", "2", "--counts", str(counts)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "here 5 annotators answer 2 to 20 each, 77 together. Seed 0." in text
    assert "class/learned/2" in text
    assert "(100/15)" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "absent.csv"], "no such file"),
        (["fit", "{counts}", "--model", "class/uniform"], "takes 2 components"),
        (["checks", "{counts}"], "4 cells where a score file of Appraise has 9, 11 or 12"),
    ],
)
def test_mistakes_are_one_line(
    counts: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["annotators", *(word.format(counts=counts) for word in words)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_campaign_without_attention_checks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("a,s,1,TGT,eng,deu,60,doc#s,False,[],1,2\n")
    assert main(["annotators", "checks", str(path)]) == 2
    assert "no BAD item with its original" in capsys.readouterr().err


def test_the_table_says_why_a_perfect_annotator_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("annotator,right,wrong\nperfect,3000,0\n")
    assert main(["annotators", "fit", str(path)]) == 0
    text = capsys.readouterr().out
    assert "1 annotator, 0 noisy" in text
    assert "Kept in spite of it: who is more accurate than the best component." in text
