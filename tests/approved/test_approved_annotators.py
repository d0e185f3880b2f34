"""What the commands on annotators and on tables of ratings print, by each model and in each form, and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from approving import approve
from crowded_boards import crowded_board
from told_commands import told_by

import billboards as bb

COUNTS = """annotator,right,wrong,kind
ann,19,1,positive
ann,18,1,negative
bob,20,0,positive
bob,0,16,negative
cid,2,0,positive
dan,5,5,positive
dan,6,4,negative
eve,11,9,negative
"""
MODELS = [
    f"{family}/{prior}/{components}"
    for family in ("rate", "class")
    for prior in ("fixed", "learned")
    for components in (1, 2)
]
#: Tables of counts that are not as they must be.
WRONG = {
    "no such column": "annotator,right\nann,3\n",
    "a word for a number": "annotator,right,wrong\nann,three,1\nbob,1,-1\ncid,1.5,2\n",
    "twice": "annotator,right,wrong\nann,3,1\nann,2,1\n",
    "no name": "annotator,right,wrong\n,3,1\n",
    "no rows": "annotator,right,wrong\n",
    "nothing": "",
    "no answers": "annotator,right,wrong\nann,0,0\n",
}


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Five annotators with 15 controls each; one doesn't see a fault, one sees half of them, one answers some twice."""
    lines = []
    for place, annotator in enumerate("abcde"):
        for item in range(15):
            bad = 90 if annotator == "d" or (annotator == "e" and item % 2) else 20 + item
            times = 2 if annotator == "c" and item < 3 else 1
            for again in range(times):
                lines.append(
                    f"{annotator},s,{item},TGT,eng,deu,{60 + item + again},doc{item}#s,False,[],1,{2 + place}\n"
                )
                lines.append(f"{annotator},s,{item + 50},BAD,eng,deu,{bad},doc{item}#s#bad1,False,[],1,{2 + place}\n")
    path = tmp_path / "scores.csv"
    path.write_text("".join(lines))
    return path


def without_iterations(told: Any) -> Any:
    """How many steps a fit takes until nothing changes hangs on the processor's last digits."""
    if isinstance(told, dict):
        return {name: without_iterations(value) for name, value in told.items() if name != "iterations"}
    return [without_iterations(value) for value in told] if isinstance(told, list) else told


def test_verdicts_from_counts_are_as_approved(counts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = {model: told_by(["annotators", "fit", counts, "--model", model, "--wide"], capsys) for model in MODELS}
    told["strict"] = told_by(["annotators", "fit", counts, "--threshold", 0.999, "--wide"], capsys)
    told["json"] = told_by(["annotators", "fit", counts, "--json"], capsys)
    told["csv"] = told_by(["annotators", "fit", counts, "--csv"], capsys)
    told["latex"] = told_by(["annotators", "fit", counts, "--latex", "--notes", "all"], capsys)
    told["no model"] = told_by(["annotators", "fit", counts, "--model", "none"], capsys)
    told["no threshold"] = told_by(["annotators", "fit", counts, "--threshold", 2], capsys)
    told["no file"] = told_by(["annotators", "fit", counts.with_name("none.csv")], capsys)
    for name, text in WRONG.items():
        counts.write_text(text)
        told[name] = told_by(["annotators", "fit", counts], capsys)
    approve("annotators/fit", without_iterations(told), folder=counts.parent)


def test_verdicts_from_controls_are_as_approved(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = ["--rounds", 6, "--seed", 3]
    told: dict[str, Any] = {
        "plain": told_by(["annotators", "checks", scores, "--wide"], capsys),
        "json": told_by(["annotators", "checks", scores, "--json"], capsys),
        "corrupt": told_by(["annotators", "checks", scores, "--corrupt", *drawn, "--share", 0.4, "--wide"], capsys),
        "corrupt json": told_by(["annotators", "checks", scores, "--corrupt", *drawn, "--json"], capsys),
        "simulate": told_by(["annotators", "simulate", "--rounds", 4, "--annotators", 30, "--wide"], capsys),
        "simulate json": told_by(
            ["annotators", "simulate", "--rounds", 2, "--most", 20, "--seed", 1, "--json"], capsys
        ),
        "no rounds": told_by(["annotators", "simulate", "--rounds", 0], capsys),
        "one annotator": told_by(["annotators", "simulate", "--rounds", 2, "--annotators", 1], capsys),
    }
    counts = scores.with_name("counts.csv")
    counts.write_text(COUNTS)
    told["simulate counts"] = told_by(["annotators", "simulate", "--rounds", 2, "--counts", counts, "--wide"], capsys)
    lines = scores.read_text().splitlines(keepends=True)
    for name, text in {
        "no controls": "".join(line for line in lines if ",BAD," not in line),
        "one annotator checked": "".join(line for line in lines if line.startswith("a,")),
        "short lines": "a,s,1,TGT\n",
        "a word": lines[0].replace(",60,", ",sixty,"),
        "nothing": "",
    }.items():
        scores.write_text(text)
        told[name] = told_by(["annotators", "checks", scores], capsys)
    approve("annotators/checks", without_iterations(told), folder=scores.parent)


COLUMNS = ("--item", "item", "--value", "stars", "--annotator", "worker", "--range", "1:5")
RATINGS: dict[str, tuple[object, ...]] = {
    "agreement": ("agreement", "--resamples", 20),
    "consensus": ("consensus",),
    "designs": ("designs", "--rounds", 20, "--seed", 5),
    "doubts": ("doubts",),
    "severity": ("severity",),
}


def test_ratings_in_a_table_are_read_and_studied_as_approved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "ratings.csv"
    rows = [f"{k},w{j},{(k * 7 + j * 3 + k * j) % 5 + 1}" for k in range(20) for j in range(4) if (k + j) % 6]
    table.write_text("item,worker,stars\n" + "\n".join(rows) + "\n", encoding="utf-8")
    told: dict[str, Any] = {}
    for name, asked in RATINGS.items():
        action, *more = asked
        told[name] = told_by(["ratings", action, table, *COLUMNS, *more, "--wide"], capsys)
        told[f"{name} json"] = told_by(["ratings", action, table, *COLUMNS, *more, "--json"], capsys)["out"]
    told["no column"] = told_by(["ratings", "agreement", table, "--item", "none", *COLUMNS[2:]], capsys)
    told["out of range"] = told_by(["ratings", "agreement", table, *COLUMNS[:6], "--range", "1:4"], capsys)
    told["no range"] = told_by(["ratings", "agreement", table, *COLUMNS[:6], "--range", "5:1"], capsys)
    table.write_text("item,worker,stars\n1,a,five\n1,b,\n,c,3\n", encoding="utf-8")
    told["wrong lines"] = told_by(["ratings", "agreement", table, *COLUMNS], capsys)
    approve("annotators/ratings-table", told, folder=tmp_path)


def test_ratings_of_a_board_are_studied_as_approved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "crowded"
    bb.save(crowded_board(unlabelled=10), folder)
    asked: dict[str, tuple[object, ...]] = {
        "by day": ("agreement", folder, "--by", "day", "--resamples", 20),
        "by campaign": ("agreement", folder, "--by", "campaign", "--resamples", 5),
        "by none": ("agreement", folder, "--by", "none"),
        "every consensus": ("consensus", folder),
        "days": ("days", folder),
        "designs": ("designs", folder, "--rounds", 10),
        "doubts": ("doubts", folder),
        "severity": ("severity", folder),
        "no dimension": ("severity", folder, "--dimension", "none"),
    }
    told = {name: told_by(["ratings", *how, "--wide"], capsys) for name, how in asked.items()}
    approve("annotators/ratings-board", told, folder=tmp_path)
