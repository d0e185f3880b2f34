"""Challenge sets in files of the layouts of ACES and DEMETR: pairs by phenomenon, ties stated, the rest left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from small_audits import audit_board

from billboards.analyses.audit.challenge_sets import read_challenge_set
from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.errors import InvalidInput, NotEnoughData

ACES = """source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair
Es regnete.\tIt rained.\tIt snowed.\tIt rained.\tantonym\tde-en
Es war kalt.\tIt was cold.\tIt was hot.\tIt was cold.\tantonym\tde-en
Er kam 1905.\tHe came in 1905.\tHe came in 1950.\tHe came in 1905.\tnumber\tde-en
Sie ging.\t"She said ""no""."\tShe said yes.\tShe said "no".\tnumber\tde-en
It rained.\tLlovió.\tLlovió.\tLlovió.\tcopy\ten-es
"""
DEMETR = [
    {
        "id": k,
        "src_sent": "Es regnete.",
        "eng_sent": "It rained.",
        "mt_sent": "It did rain.",
        "pert_sent": pert,
        "lang_tag": "german",
        "pert_check": checked,
        "severity": "critical",
        "pert_id": 8,
        "pert_name": "critical_id8_negation",
    }
    for k, (pert, checked) in enumerate([("It did not rain.", True), ("It did rain!", False), ("It rained.", True)])
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "sets"
    folder.mkdir()
    (folder / "aces.tsv").write_text(ACES, "utf-8")
    (folder / "critical_id8_negation.json").write_text(json.dumps(DEMETR), "utf-8")
    return folder


def test_both_layouts_are_read_and_what_is_no_challenge_is_counted(files: Path) -> None:
    pairs = read_challenge_set([files])
    assert [(one.phenomenon, one.language) for one in pairs.contrasts] == [
        ("antonym", "en"),
        ("antonym", "en"),
        ("number", "en"),
        ("number", "en"),
        ("critical_id8_negation", "en"),
    ]
    assert pairs.contrasts[3].good == 'She said "no".'
    demetr = pairs.contrasts[4]
    assert (demetr.reference, demetr.good, demetr.incorrect) == ("It rained.", "It did rain.", "It did not rain.")
    assert pairs.left_out == {
        "both texts are the same": 1,
        "not perturbed": 1,
        "the incorrect text is the reference itself": 1,
    }


def test_metrics_are_asked_by_phenomenon(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = write_board(replace(audit_board(), metrics=("chrF",)), tmp_path / "board")
    arguments = ["challenge", str(board), "--set", str(files / "aces.tsv"), "--jobs", "1", "--metric", "chrF"]
    assert main([*arguments, "--metric", "length", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    results = {(one["metric"], one["perturbation"]): one for one in document["results"]}
    assert (results["chrF", "antonym"]["right"], results["chrF", "antonym"]["pairs"]) == (2, 2)
    number = results["length", "number"]
    assert (number["right"], number["tied"], number["pairs"], number["share"]) == (1, 1, 2, 0.5)
    assert document["missing"]["both texts are the same"] == "1 pairs left out"
    assert main([*arguments, "--metric", "length", "--wide"]) == 0
    printed = capsys.readouterr().out
    heads, _, *rows = printed.partition("pairs ordered right, by phenomenon\n")[2].splitlines()[:4]
    assert [heads, *rows] == [
        "phenomenon  pairs  chrF  length",
        "antonym         2  1.00    0.00",
        "number          2  1.00    0.50",
    ]
    printed = " ".join(printed.split())
    assert "It rained. It snowed." in printed, "the texts are shown"
    assert main([*arguments, "--kind", "number"]) == 2


def test_files_of_another_layout_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "other.tsv"
    path.write_text("good\tbad\nx\ty\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"other.tsv:2: is neither of ACES .*; found \['good', 'bad'\]"):
        read_challenge_set([path])
    path = tmp_path / "other.json"
    path.write_text('{"a": 1}', "utf-8")
    with pytest.raises(InvalidInput, match="must hold a list of objects"):
        read_challenge_set([path])
    path.write_text("[", "utf-8")
    with pytest.raises(InvalidInput, match="can't be read as JSON"):
        read_challenge_set([path])
    path.write_text("[]", "utf-8")
    with pytest.raises(NotEnoughData, match="holds no pair"):
        read_challenge_set([path])
