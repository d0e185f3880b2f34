"""What every importer promises: a complete board or a refusal that says why, whatever state its files are in."""

from __future__ import annotations

import inspect
import random
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from importer_sources import MAKERS
from public_sets import MAKERS as PUBLIC
from public_sets import Made

from billboards.board import Board, Judgments
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, UnknownName
from billboards.importers import IMPORTERS

#: Importers with files whose lines have no ids, or whose whole is one JSON value.
LINED = {"mtme", "asset", "efficientqa", "muss", "okvqa-eval", "pascal-50s", "realsumm", "webnlg-2017", "webnlg-2020"}
LINED |= {"helm", "inspect-log", "openai-evals"}
#: Importers of what harnesses log, in which nobody has judged anything.
UNJUDGED = {"helm", "hf-dataset", "inspect-log", "lm-eval", "openai-evals"}
LINED |= {"esa", "text", "wmt19-darr", "bagel", "newsroom", "qags", "rank19", "sfhot", "sfres"}
#: Importers whose small source can be made here; one that another package offers is held to the rest alone.
MADE = sorted(set(IMPORTERS) & set(MAKERS))
each_importer = pytest.mark.parametrize("name", MADE)
each_declaration = pytest.mark.parametrize("name", IMPORTERS)


def test_every_importer_of_this_package_is_held_to_the_contract() -> None:
    assert set(IMPORTERS.own) <= set(MAKERS)


def test_an_unknown_importer_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="no importer named 'tabel'; did you mean table"):
        IMPORTERS.load("tabel")


@each_declaration
def test_a_declaration_says_everything(name: str) -> None:
    importer = IMPORTERS.load(name)
    assert importer.name == name
    assert importer.summary == IMPORTERS.summary(name)
    assert len(importer.summary) > 20
    assert all(option.help for option in importer.options)
    assert not any(option.positional for option in importer.options)
    assert next(iter(inspect.signature(importer.function).parameters)) == "source"


@each_declaration
def test_an_absent_source_is_refused_by_name(name: str, tmp_path: Path) -> None:
    made = MAKERS[name](tmp_path).options if name in MAKERS else {}
    with pytest.raises(InvalidInput, match="nowhere"):
        IMPORTERS.load(name)(tmp_path / "nowhere.csv", **made)


@each_importer
def test_the_board_survives_being_written_and_opened(name: str, tmp_path: Path) -> None:
    board = MAKERS[name](tmp_path / "in").load(name).board
    opened = open_board(write_board(board, tmp_path / "out"))
    assert_same_board(opened, board)
    assert len(board.judgments) > 0 or (name in UNJUDGED and board.imported)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_set_brings_every_fact_of_its_data_card(name: str, tmp_path: Path) -> None:
    assert MAKERS[name](tmp_path).load(name).board.missing_facts == ()


@each_importer
def test_a_cut_off_file_is_refused_or_noted(name: str, tmp_path: Path) -> None:
    sound = MAKERS[name](tmp_path / "sound").load(name)
    for k in range(len(MAKERS[name](tmp_path / "count").files)):
        for cut in (_half, _without_last_line, _without_last_byte, _without_last_three_bytes):
            made = MAKERS[name](tmp_path / f"{k}{cut.__name__}")
            made.files[k].write_bytes(cut(made.files[k].read_bytes()))
            outcome = _outcome(made, name)
            if isinstance(outcome, Imported) and _plain(outcome.notes, made) == _plain(sound.notes, made):
                assert_same_board(outcome.board, sound.board)


def _plain(notes: tuple[str, ...], made: Made) -> list[str]:
    """Notes without the folder they speak of."""
    return [" ".join(word for word in note.split() if "/" not in word) for note in notes]


def _half(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


def _without_last_line(raw: bytes) -> bytes:
    return raw[: raw.rstrip(b"\n").rfind(b"\n") + 1]


def _without_last_byte(raw: bytes) -> bytes:
    return raw[:-1]


def _without_last_three_bytes(raw: bytes) -> bytes:
    return raw[:-3]


@each_importer
def test_an_empty_file_is_refused_by_name(name: str, tmp_path: Path) -> None:
    for k in range(len(MAKERS[name](tmp_path / "count").files)):
        made = MAKERS[name](tmp_path / str(k))
        made.files[k].write_bytes(b"")
        assert f"{made.files[k].name}: is empty" in str(_refusal(made, name))
        made.files[k].write_bytes(b"\n")
        assert _refusal(made, name)


@each_importer
def test_bytes_that_are_not_utf_8_are_refused_with_file_and_line(name: str, tmp_path: Path) -> None:
    for k in range(len(MAKERS[name](tmp_path / "count").files)):
        made = MAKERS[name](tmp_path / str(k))
        lines = made.files[k].read_bytes().split(b"\n")
        lines[1] = lines[1][:3] + b"\xff" + lines[1][3:]
        made.files[k].write_bytes(b"\n".join(lines))
        refusal = str(_refusal(made, name))
        assert f"{made.files[k].name}:2: not UTF-8" in refusal


@each_importer
def test_bom_and_crlf_change_nothing(name: str, tmp_path: Path) -> None:
    sound = MAKERS[name](tmp_path / "sound").load(name).board
    made = MAKERS[name](tmp_path / "odd")
    for path in made.files:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert_same_board(made.load(name).board, sound)


@pytest.mark.parametrize("name", sorted(set(MADE) - LINED))
@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_lines_does_not_matter_where_they_have_ids(name: str, seed: int, tmp_path: Path) -> None:
    sound = MAKERS[name](tmp_path / "sound").load(name).board
    made = MAKERS[name](tmp_path / "shuffled")
    for path in made.files:
        head, lines = _head_and_lines(path)
        random.Random(seed).shuffle(lines)
        path.write_bytes(b"".join((*head, *lines)))
    assert content(made.load(name).board) == content(sound)


#: In ESA's campaigns an item may be answered again, and the later answer counts.
@pytest.mark.parametrize("name", sorted(set(MADE) - {"esa", "mtme", "wmt19-darr"}))
def test_a_line_that_is_there_twice_is_refused(name: str, tmp_path: Path) -> None:
    for k in range(len(MAKERS[name](tmp_path / "count").files)):
        made = MAKERS[name](tmp_path / str(k))
        head, lines = _head_and_lines(made.files[k])
        made.files[k].write_bytes(b"".join((*head, *lines, lines[0])))
        refusal = str(_refusal(made, name))
        assert "twice" in refusal or name in LINED


@pytest.mark.parametrize("name", ["billboard", "mqm", "table", "wmt-da"])
def test_a_wrong_header_is_refused(name: str, tmp_path: Path) -> None:
    made = MAKERS[name](tmp_path)
    for path in made.files:
        head, lines = _head_and_lines(path)
        if head:
            path.write_bytes(b"".join((head[0].replace(b"s", b"z").replace(b"S", b"Z"), *lines)))
    assert _refusal(made, name)


@pytest.mark.parametrize("name", ["billboard", "mqm", "mtme", "table", "wmt-da"])
def test_infinity_is_refused_with_file_and_line(name: str, tmp_path: Path) -> None:
    made = MAKERS[name](tmp_path)
    path = made.files[-1]
    head, lines = _head_and_lines(path)
    old = {"billboard": b"-1.5", "mqm": b"-1.25", "mtme": b".1", "table": b"0.25\n", "wmt-da": b"50.5"}[name]
    new = b"-inf\n" if name == "table" else b"-inf"
    assert old in lines[0]
    lines[0] = lines[0].replace(old, new)
    path.write_bytes(b"".join((*head, *lines)))
    refusal = str(_refusal(made, name))
    assert f"{path.name}:{2 if head else 1}: " in refusal
    assert "'-inf' is not a finite number" in refusal


def _head_and_lines(path: Path) -> tuple[list[bytes], list[bytes]]:
    lines = path.read_bytes().splitlines(keepends=True)
    headed = path.suffix in (".csv", ".tsv", ".docs", ".score") and not path.name.endswith(".seg.score")
    return (lines[:1], lines[1:]) if headed else ([], lines)


def _outcome(made: Made, name: str) -> Imported | InvalidInput:
    try:
        return made.load(name)
    except InvalidInput as refusal:
        return refusal


def _refusal(made: Made, name: str) -> InvalidInput:
    outcome = _outcome(made, name)
    assert isinstance(outcome, InvalidInput), outcome
    return outcome


def assert_same_board(one: Board, other: Board) -> None:
    """Equal in everything but where it was opened from and how imported scores are signed."""
    apart = {"judgments", "imported", "home", "rows"}
    for plain in (f.name for f in fields(Board) if f.name not in apart):
        assert getattr(one, plain) == getattr(other, plain), plain
    assert [(r.name, r.generator, r.version, r.ids, r.texts) for r in one.rows] == [
        (r.name, r.generator, r.version, r.ids, r.texts) for r in other.rows
    ]
    for f in fields(Judgments):
        ours, theirs = getattr(one.judgments, f.name), getattr(other.judgments, f.name)
        same = np.array_equal(ours, theirs, equal_nan=True) if f.name == "values" else np.all(ours == theirs)
        assert same, f.name
    assert [_column(c) for c in one.imported] == [_column(c) for c in other.imported]


def _column(column: Any) -> list[Any]:
    plain = [getattr(column, f.name) for f in fields(column) if f.name not in ("signature", "values")]
    return [*plain, {row: repr(scores.tolist()) for row, scores in column.values.items()}]


def content(board: Board) -> dict[str, Any]:
    """What a board says, by names and ids, whatever its order."""
    ids = tuple(i.id for i in board.instances)
    judgments = board.judgments.each(ids, tuple(row.name for row in board.rows))
    return {
        "instances": {i.id: i for i in board.instances},
        "texts": {(row.name, k): text for row in board.rows for k, text in zip(ids, row.texts, strict=True)},
        "judgments": sorted(
            (j.instance, j.outputs, str(j.annotator), str(j.campaign), sorted(j.values.items())) for j in judgments
        ),
        "scores": {
            (c.source_name, row, k): repr(float(score))
            for c in board.imported
            for row, scores in c.values.items()
            for k, score in zip(ids, scores, strict=True)
        },
        "rest": (board.name, board.ranks, board.dimensions, board.aggregates, board.metrics, board.card),
    }
