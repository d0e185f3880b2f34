"""Battles of arenas as they are released become boards that can be ranked, and odd lines are told by their numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from importer_sources import make_arena

import billboards as bb
from billboards.board import Board, preferred_pairs
from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.errors import ImportRefused
from billboards.importers import IMPORTERS


def read(path: Path, text: str, **options: Any) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return IMPORTERS.load("arena")(path, **options)


def pairs(board: Board) -> list[tuple[str, str, str, bool]]:
    compared = preferred_pairs(board, board.aggregate())
    names, ids = [row.name for row in board.rows], [instance.id for instance in board.instances]
    columns = zip(compared.better, compared.worse, compared.instance, compared.tied, strict=True)
    return [(names[a], names[b], ids[i], bool(tied)) for a, b, i, tied in columns]


def test_bare_battles_make_a_board_without_texts_that_is_ranked(tmp_path: Path) -> None:
    imported = read(tmp_path / "votes.csv", "model_a,model_b,winner\nx,y,model_a\ny,x,model_a\nx,y,tie\nx,y,x\n")
    board = imported.board
    assert pairs(board) == [
        ("x", "y", "line-2", False),
        ("y", "x", "line-3", False),
        ("x", "y", "line-4", True),
        ("x", "y", "line-5", False),
    ]
    assert all(text is None for row in board.rows for text in row.texts)
    assert board.metrics == ()
    assert board.is_draft
    notes = " ".join(imported.notes)
    assert "4 battles of 2 models; 1 are ties" in notes
    assert "holds no answers, so no metric can score the models" in notes
    assert "each battle is an instance of its own" in notes
    assert "1 lines say what an earlier one says" in notes
    ranked = bb.arena(open_board(write_board(board, tmp_path / "board"))).value
    assert [(entrant.name, entrant.won, entrant.tied, entrant.lost) for entrant in ranked.generators] == [
        ("x", 2, 1, 1),
        ("y", 1, 1, 2),
    ]


@pytest.mark.parametrize(
    ("winner", "expected"),
    [
        ("model_a", ("x", "y", False)),
        ("B", ("y", "x", False)),
        ("y", ("y", "x", False)),
        ("tie (bothbad)", ("x", "y", True)),
        ("TIE", ("x", "y", True)),
    ],
)
def test_winners_are_read_as_arenas_write_them(winner: str, expected: tuple[str, str, bool], tmp_path: Path) -> None:
    board = read(tmp_path / "votes.csv", f"Model A,Model-B,Winner\nx,y,{winner}\n").board
    assert [(a, b, tied) for a, b, _, tied in pairs(board)] == [expected]


def test_outcomes_in_three_columns_with_turns_as_lists_are_read(tmp_path: Path) -> None:
    head = "id,model_a,model_b,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
    line = '7,x,y,"[""Hi?"",""And?""]","[""A1"",""A2""]","[""B1"",""B2""]",0,1,0\n'
    board = read(tmp_path / "train.csv", head + line).board
    assert pairs(board) == [("y", "x", "7", False)]
    assert board.instances[0].input == "Hi?\n\nAnd?"
    assert board.row("x").texts == ("A1\n\nA2",)
    with pytest.raises(ImportRefused, match=r"train\.csv:2: exactly one of the three outcomes must be 1"):
        read(tmp_path / "odd" / "train.csv", head + line.replace("0,1,0", "1,1,0"))


def test_conversations_times_and_languages_are_taken(tmp_path: Path) -> None:
    def talk(answer: str) -> list[dict[str, str]]:
        return [{"role": "user", "content": "Wie spät?"}, {"role": "assistant", "content": answer}]

    battles = [
        {"question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_b", "judge": "arena_user_9",
         "conversation_a": talk("Acht"), "conversation_b": talk("Neun"), "language": "German", "tstamp": 20.5},
        {"question_id": "p", "model_a": "x", "model_b": "y", "winner": "model_a", "judge": "arena_user_1",
         "conversation_a": talk("Zehn"), "conversation_b": talk("Elf"), "language": "German", "tstamp": 10.5},
    ]  # fmt: skip
    board = read(tmp_path / "battles.json", json.dumps(battles)).board
    assert [i.id for i in board.instances] == ["p", "q"], "battles stand in the order of their times"
    assert {i.tags for i in board.instances} == {("German",)}
    assert board.instances[1].input == "Wie spät?"
    assert board.row("x").texts == ("Zehn", "Acht")
    assert sorted(board.judgments.annotators) == ["J001", "J002"], "judges have pseudonyms"


def test_a_question_that_is_answered_anew_is_another_instance(tmp_path: Path) -> None:
    head = "question_id,model_a,model_b,winner,response_a,response_b,judge\n"
    board = read(tmp_path / "votes.csv", f"{head}q,x,y,model_a,one,two,j1\nq,x,y,model_b,ONE,two,j2\n").board
    assert [i.id for i in board.instances] == ["q", "q.2"]
    assert board.row("x").texts == ("one", "ONE")


def test_odd_winners_and_duplicates_are_refused_by_line_or_left_out(tmp_path: Path) -> None:
    lines = (
        "question_id,model_a,model_b,winner,judge\nq,x,y,model_a,j\nq,y,x,model_a,j\nq2,x,y,modelA!,j\nq3,x,x,tie,j\n"
    )
    with pytest.raises(ImportRefused) as refused:
        read(tmp_path / "votes.csv", lines)
    told = str(refused.value)
    assert "votes.csv:3: the same judge's word on x and y for question q appears twice, first on line 2" in told
    assert "votes.csv:4: the winner must be model_a, model_b, tie, tie (bothbad) or a model's name" in told
    assert "votes.csv:5: x is compared with itself" in told
    imported = read(tmp_path / "votes.csv", lines, lenient=True)
    assert len(imported.board.judgments) == 1
    assert any("3 lines are left out" in note and "votes.csv:4" in note for note in imported.notes)


def test_a_battle_with_an_id_of_its_own_counts_once(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"votes\.csv:3: battle 5 appears twice, first on line 2"):
        read(tmp_path / "votes.csv", "id,model_a,model_b,winner\n5,x,y,tie\n5,x,y,tie\n")


def test_a_file_without_the_columns_of_an_arena_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"has no column 'winner'.*model_a, model_b and winner"):
        read(tmp_path / "votes.csv", "model_a,model_b\nx,y\n")
    with pytest.raises(ImportRefused, match="must be a list of objects"):
        read(tmp_path / "votes.json", '{"model_a": "x"}')


def test_judges_keep_their_pseudonyms_whatever_the_order_of_lines(tmp_path: Path) -> None:
    made = make_arena(tmp_path)
    lines = made.files[0].read_text(encoding="utf-8").splitlines(keepends=True)
    forward = IMPORTERS.load("arena")(made.files[0]).board
    backward = read(tmp_path / "again" / "battles.jsonl", "".join(reversed(lines))).board

    def votes(board: Board) -> set[tuple[str, str]]:
        every = board.judgments.each(tuple(i.id for i in board.instances), tuple(row.name for row in board.rows))
        return {(judgment.instance, str(judgment.annotator)) for judgment in every}

    assert votes(forward) == votes(backward)
    assert not any("ann" in name or "bob" in name for name in forward.judgments.annotators)
