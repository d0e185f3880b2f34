"""What audits and challenges print, enter and write, of every attack and in each form, and what they refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve
from small_audits import audit_board, facts
from told_commands import told_by, told_file

from billboards.board import ImportedColumn
from billboards.board.writing import write_board

QUICK = ("--jobs", 1, "--draws", 5, "--wide")
ACES = """source\tgood-translation\tincorrect-translation\treference\tphenomena\tlangpair
Es regnete.\tIt rained.\tIt snowed.\tIt rained.\tantonym\tde-en
Es war kalt.\tIt was cold.\tIt was hot.\tIt was cold.\tantonym\tde-en
Er kam 1905.\tHe came in 1905.\tHe came in 1950.\tHe came in 1905.\tnumber\tde-en
Sie ging.\t"She said ""no""."\tShe said yes.\tShe said "no".\tnumber\tde-en
It rained.\tLlovió.\tLlovió.\tLlovió.\tcopy\ten-es
"""
PERTURBED = {
    "src_sent": "Es regnete.",
    "eng_sent": "It rained.",
    "mt_sent": "It did rain.",
    "lang_tag": "german",
    "severity": "critical",
    "pert_id": 8,
    "pert_name": "critical_id8_negation",
}
DEMETR = [
    {**PERTURBED, "id": k, "pert_sent": text, "pert_check": checked}
    for k, (text, checked) in enumerate([("It did not rain.", True), ("It did rain!", False), ("It rained.", True)])
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_board(replace(audit_board(), metrics=("chrF", "ROUGE-1")), tmp_path / "board")


def test_an_audit_by_every_attack_says_and_keeps_what_was_approved(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, out = folder.parent / "audit.html", folder.parent / "tables"
    how = ["audit", folder, "--metric", "length", "--against", "chrF", "--against", "ROUGE-1", *QUICK]
    told: dict[str, Any] = {"first": told_by([*how, "--html", page, "-o", out], capsys, files=(page, out))}
    kept = folder / "audits"
    told["kept"] = [told_file(path) for path in sorted(kept.iterdir())]
    told["board"] = told_file(folder / "board.toml")
    told["again"] = told_by([*how, "--seed", 3, "--json"], capsys)
    told["report"] = told_by(
        ["report", folder, "--no-studies", "--no-references", "--jobs", 1, "-o", page], capsys, files=(page,)
    )
    approve("audits/every-attack", told, folder=folder.parent)


#: Attacks on the board's folder, by name.
ATTACKS: dict[str, tuple[object, ...]] = {
    "five sentences": ("--metric", "length", "--method", "extract", "--sentences", 5),
    "one sentence": ("--metric", "length", "--method", "enumerate", "--sentences", 1),
    "too many sentences": ("--metric", "length", "--method", "enumerate", "--sentences", 7),
    "no sentences": ("--metric", "length", "--method", "extract", "--sentences", 0),
    "least risk": ("--metric", "chrF", "--method", "risk"),
    "another's choice": ("--metric", "length", "--method", "rerank"),
    "a small budget": ("--metric", "length", "--method", "extract", "--budget", 300),
    "no budget": ("--metric", "length", "--method", "extract", "--budget", 10),
    "decoding": ("--metric", "length", "--method", "decode"),
    "writing": ("--metric", "length", "--write", 2, "--method", "write"),
    "candidates": ("--metric", "length", "--candidates", "candidates.jsonl"),
    "wrong candidates": ("--metric", "length", "--candidates", "wrong.jsonl"),
    "no candidates": ("--metric", "length", "--candidates", "none.jsonl"),
    "needs references": ("--metric", "ROUGE-1"),
    "judged by nobody": ("--metric", "length", "--against", "none"),
    "judged by itself": ("--metric", "length", "--against", "length"),
    "nobody": ("--metric", "none"),
    "every one": (),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_says_what_was_approved(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    lines = [json.dumps({"instance": f"i{k}", "text": facts(k)[place]}) for k in range(24) for place in (0, 3)]
    Path("candidates.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    Path("wrong.jsonl").write_text(f'{lines[0]}\n{{"instance": "i99", "text": "x"}}\n{{"text": 3}}\n[]\n', "utf-8")
    how = ["audit", folder, "--against", "chrF", "--no-save", *QUICK]
    told = told_by([*how, *ATTACKS[name]], capsys)
    if "exit" not in told:
        told["json"] = told_by([*how, *ATTACKS[name], "--json"], capsys)["out"]
    approve(f"audits/{name.replace(' ', '-')}", told, folder=folder.parent)


def test_released_scores_are_audited_as_approved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = audit_board()
    values = {
        row.name: np.array([len((text or "").split()) % 7 - 0.3 * place for text in row.texts])
        for place, row in enumerate(board.rows)
    }
    columns = tuple(
        ImportedColumn(
            name=name,
            source_name=name,
            signature=f"imported:{name}",
            values=values,
            higher_is_better=higher,
            references=(),
        )
        for name, higher in (("released", True), ("errors", False))
    )
    folder = write_board(replace(board, imported=columns, metrics=("chrF",)), tmp_path / "board")
    told = {
        name: told_by(["audit", folder, "--metric", name, "--against", "chrF", *QUICK, "--json"], capsys)
        for name in ("released", "errors")
    }
    told["both"] = told_by(["audit", folder, "--metric", "released", "--metric", "errors", *QUICK], capsys)
    told["board"] = {"board.toml": told_file(folder / "board.toml")}
    approve("audits/released", told, folder=tmp_path)


def test_several_boards_are_audited_as_approved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = replace(audit_board(), metrics=("chrF", "ROUGE-1"))
    boards = [
        write_board(replace(whole, name=name, rows=whole.rows[:count]), tmp_path / name)
        for name, count in (("eight", 8), ("six", 6), ("two", 2))
    ]
    figure, page = tmp_path / "figure.svg", tmp_path / "page.html"
    how = ["audit", *boards, "--metric", "length", "--against", "chrF", "--no-save", *QUICK]
    told = {
        "text": told_by([*how, "--html", page], capsys, files=(page,)),
        "json": told_by([*how, "--json", "--scatter", figure], capsys),
        "csv": told_by([*how, "--csv", "--table", "correlations"], capsys),
        "latex": told_by([*how, "--latex", "--table", "points", "--method", "extract"], capsys),
        "none": told_by(["audit", boards[2], "--metric", "length", *QUICK], capsys),
    }
    assert figure.read_text("utf-8").startswith("<svg")
    approve("audits/several-boards", told, folder=tmp_path)


#: Challenges of the board's folder, by name.
CHALLENGES: dict[str, tuple[object, ...]] = {
    "every kind": (),
    "of the best machine": ("--base", "best"),
    "of references": ("--base", "references"),
    "of one reference": ("--base", "ref1"),
    "of a machine": ("--base", "good"),
    "of nobody": ("--base", "none"),
    "two kinds": ("--kind", "negation", "--kind", "number", "--seed", 4),
    "no such kind": ("--kind", "none"),
    "sets": ("--set", "aces.tsv", "--set", "critical_id8_negation.json"),
    "a folder of sets": ("--set", "."),
    "another layout": ("--set", "other.tsv"),
    "no list": ("--set", "object.json"),
    "no pairs": ("--set", "empty.json"),
    "no file": ("--set", "none.tsv"),
    "a kind of a set": ("--set", "aces.tsv", "--kind", "number"),
}


@pytest.mark.parametrize("name", CHALLENGES)
def test_a_challenge_says_what_was_approved(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = folder.parent / "sets"
    sets.mkdir()
    monkeypatch.chdir(sets)
    Path("aces.tsv").write_text(ACES, "utf-8")
    Path("critical_id8_negation.json").write_text(json.dumps(DEMETR), "utf-8")
    if name not in ("a folder of sets",):
        Path("other.tsv").write_text("good\tbad\nx\ty\n", "utf-8")
        Path("object.json").write_text('{"a": 1}', "utf-8")
        Path("empty.json").write_text("[]", "utf-8")
    how = ["challenge", folder, "--metric", "chrF", "--metric", "length", "--jobs", 1]
    told = told_by([*how, *CHALLENGES[name], "--wide"], capsys)
    if "exit" not in told:
        told["json"] = told_by([*how, *CHALLENGES[name], "--json"], capsys)["out"]
    approve(f"audits/challenge-{name.replace(' ', '-')}", told, folder=folder.parent)
