"""Writing a board folder: all of it or nothing, and nothing that can't be read again."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Judgments,
    Outputs,
    Reference,
    Texts,
    loose_rows,
    row_of,
)
from billboards.board.folder import open_board
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import new_folder, write_board, write_lines
from billboards.errors import InvalidInput, StoreFailed, UnknownName

Folder = Callable[..., Path]

INSTANCES = (
    Instance("a", references=(Reference("A", "One."),), input="Eins"),
    Instance("b", references=(Reference("A", "Two."),), input="Zwei"),
)
ROWS = (
    row_of(Generator("M"), INSTANCES, ("A one.", None)),
    row_of(Generator("H", kind="human"), INSTANCES, ("1", "2")),
)
BOARD = Board(
    name="b",
    instances=INSTANCES,
    rows=ROWS,
    judgments=JudgmentColumns(("adequacy",)).build(),
    dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
)


def judged(*added: Mapping[str, Any], dimensions: tuple[str, ...] = ("adequacy",)) -> Judgments:
    columns = JudgmentColumns(dimensions)
    for one in added:
        columns.add(one.get("instance", 0), one.get("row", 0), one.get("values", {}), details=one.get("details"))
    return columns.build()


def column(**changed: Any) -> ImportedColumn:
    values = {"M": np.array([0.5, np.nan])}
    return replace(
        ImportedColumn(name="BLEU", source_name="bleu", signature="imported:x", values=values, references=("A",)),
        **changed,
    )


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_board_is_written_as_a_person_would_write_it(tmp_path: Path) -> None:
    judgments = judged({"values": {"adequacy": 4.0}}, {"values": {"adequacy": 2.5}, "row": 1, "instance": 1})
    board = replace(BOARD, judgments=judgments, imported=(column(),), ranks="adequacy", card=DataCard(title="T"))
    root = write_board(board, tmp_path / "b")
    assert {name: content.decode() for name, content in contents(root).items()} == {
        ".gitignore": "# scores computed here; they can be computed again\n.billboards/\n",
        "board.toml": """\
schema = 1
name = "b"
ranks = "adequacy"
lead = "imported"

[dimensions.adequacy]
range = [
    1,
    5,
]

[generators.H]
kind = "human"

[scores.bleu]
name = "BLEU"
needs = [
    "references",
]
references = [
    "A",
]

[card]
title = "T"
""",
        "generators/H.jsonl": '{"instance": "a", "text": "1"}\n{"instance": "b", "text": "2"}\n',
        "generators/M.jsonl": '{"instance": "a", "text": "A one."}\n',
        "instances.jsonl": (
            '{"id": "a", "input": "Eins", "references": [{"name": "A", "text": "One."}]}\n'
            '{"id": "b", "input": "Zwei", "references": [{"name": "A", "text": "Two."}]}\n'
        ),
        "judgments/judgments.jsonl": (
            '{"instance": "a", "generator": "M", "values": {"adequacy": 4}}\n'
            '{"instance": "b", "generator": "H", "values": {"adequacy": 2.5}}\n'
        ),
        "scores/bleu.tsv": "instance\tM\na\t0.5\nb\t\n",
    }


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    board = replace(
        BOARD,
        lead="own",
        references_used=(),
        aggregates={"none": Aggregate("none", ("adequacy",), ())},
        imported=(column(references=()), column(source_name="qe", needs_references=False, references=())),
        card=DataCard(title="line one\r\nline two\n", comments="\0\t\x7f\u2028'''\"\"\"\\"),
    )
    opened = open_board(write_board(board, tmp_path / "b"))
    assert opened.lead == "own"
    assert opened.references_used == ()
    assert opened.aggregates == board.aggregates
    assert [c.references for c in opened.imported] == [(), ()]
    assert [c.needs_references for c in opened.imported] == [True, False]
    assert opened.card == board.card


def test_a_negative_zero_stays_one(tmp_path: Path) -> None:
    scales = {"x": Dimension("x")}
    board = replace(BOARD, dimensions=scales, judgments=judged({"values": {"x": -0.0}}, dimensions=("x",)))
    assert np.signbit(open_board(write_board(board, tmp_path / "b")).judgments.values).tolist() == [[True]]


def test_a_row_has_the_version_its_file_will_have(tmp_path: Path) -> None:
    opened = open_board(write_board(BOARD, tmp_path / "b"))
    assert opened.row("M").version == BOARD.row("M").version
    assert opened.row("H").version == BOARD.row("H").version


def test_an_opened_board_is_written_as_it_was(folder: Folder, tmp_path: Path) -> None:
    first = write_board(open_board(folder()), tmp_path / "first")
    second = write_board(open_board(first), tmp_path / "second")
    assert contents(first) == contents(second)
    assert open_board(first).version == open_board(second).version


def with_rows(*rows: Outputs) -> Board:
    return replace(BOARD, rows=rows)


def with_instances(*instances: Instance) -> Board:
    return replace(BOARD, instances=instances, rows=())


def gap() -> tuple[Outputs, ...]:
    """Rows #1 and #2 of which the second has an output where the first has none."""
    first, second = loose_rows(INSTANCES, [("a", "x", "1"), ("a", "y", "2")])
    texts: Texts = (None, "2")
    return first, Outputs(name="#2", generator=None, version=second.version, load=lambda: texts, ids=(None, "y"))


@pytest.mark.parametrize(
    ("board", "message"),
    [
        (replace(BOARD, name="a b"), "its name may hold letters, digits"),
        (with_instances(), "it has no instance"),
        (with_instances(Instance("a\tb")), "instance id 'a\\tb' holds the character U+0009"),
        (with_instances(Instance("")), "instance id '' is empty"),
        (with_instances(Instance("a"), Instance("a")), "two instances have the id 'a'"),
        (
            with_instances(Instance("a", references=(Reference("A", ""),) * 2)),
            "two references of instance 'a' are named 'A'",
        ),
        (
            with_instances(Instance("a", references=(Reference("A\n", ""),))),
            "reference name 'A\\n' of instance 'a' holds the",
        ),
        (with_rows(row_of(Generator("a\nb"), INSTANCES, ("", ""))), "generator name 'a\\nb' holds the character"),
        (with_rows(row_of(Generator("#1"), INSTANCES, ("", ""))), "generator name '#1' is taken"),
        (with_rows(row_of(Generator("x" * 300), INSTANCES, ("", ""))), "is too long: as a file name it has 300 bytes"),
        (with_rows(*ROWS, ROWS[0]), "two rows are named 'M'"),
        (with_rows(replace(ROWS[0], name="N")), "row 'N' belongs to generator 'M'; the names must agree"),
        (with_rows(replace(ROWS[0], load=lambda: ("x",))), "row 'M' has 1 texts for 2 instances"),
        (with_rows(replace(ROWS[0], generator=None, name="#1")), "row #1: every output without a generator needs"),
        (with_rows(*gap()), "row #2 has an output where row #1 has none; fill the rows from the first on"),
        (with_rows(*loose_rows(INSTANCES, [("a", "x", "1"), ("b", "x", "2")])), "two outputs have the id 'x'"),
        (replace(BOARD, ranks="beauty"), "ranks names 'beauty', which is no aggregate and no dimension"),
        (replace(BOARD, dimensions={"a\tb": Dimension("a\tb")}), "dimension name 'a\\tb' holds the character U+0009"),
        (replace(BOARD, dimensions={"x": Dimension("x", range=(5, 1))}), "range of dimension x must rise"),
        (replace(BOARD, dimensions={"x": Dimension("x", to_100=(float("nan"), 0))}), "to_100 of dimension x must be a"),
        (replace(BOARD, dimensions={"x": Dimension("y")}), "dimension 'y' stands under the name 'x'"),
        (replace(BOARD, aggregates={"x": Aggregate("x", ())}), "aggregate 'x' names no dimensions"),
        (replace(BOARD, aggregates={"x": Aggregate("x", ("y",))}), "aggregate 'x' uses dimension 'y', which is not"),
        (replace(BOARD, metrics=("BLEU", "BLEU")), "metrics holds 'BLEU' twice"),
        (replace(BOARD, references_used=("C",)), "references_used names reference 'C', which no instance has"),
        (
            replace(BOARD, judgments=judged({"values": {"beauty": 1}}, dimensions=("beauty",))),
            "1 judgments are on dimension 'beauty', which is not declared",
        ),
        (
            replace(BOARD, judgments=judged({"values": {"adequacy": 6}})),
            "1 judgments on 'adequacy' lie outside its range [1, 5], first 6.0",
        ),
        (
            replace(BOARD, judgments=judged({"values": {"adequacy": np.inf}})),
            "1 judgments on 'adequacy' lie outside its range [1, 5], first inf",
        ),
        (replace(BOARD, judgments=judged({"details": {"mood": 1}})), "a judgment has the detail 'mood'; known:"),
        (replace(BOARD, judgments=judged({"details": {"spans": [np.nan]}})), '"spans" must be finite numbers, texts,'),
        (replace(BOARD, imported=(column(values={"X": np.zeros(2)}),)), "scores 'bleu': 'X' is no row of this board"),
        (replace(BOARD, imported=(column(values={"M": np.zeros(3)}),)), "scores 'bleu': 'M' has (3,) scores for 2"),
        (replace(BOARD, imported=(column(values={"M": np.array([0, -np.inf])}),)), "'M' has an infinite score"),
        (replace(BOARD, imported=(column(), column())), "two columns of imported scores come from 'bleu'"),
        (replace(BOARD, imported=(column(source_name="a\tb"),)), "scores 'a\\tb': the name holds the character U+0009"),
        (replace(BOARD, imported=(column(references=("C",)),)), "scores 'bleu' names reference 'C', which no instance"),
    ],
)  # fmt: skip
def test_a_board_that_could_not_be_read_again_is_refused(board: Board, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_board(board, tmp_path / "b")
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("board", "file"),
    [
        (with_rows(row_of(Generator("M"), INSTANCES, ("half \ud800", ""))), "M.jsonl: line 1"),
        (with_instances(Instance("a"), Instance("b", input="\udfff")), "instances.jsonl: line 2"),
        (replace(BOARD, card=DataCard(title="\ud800")), "board.toml: line"),
    ],
)
def test_half_a_character_is_refused_where_it_stands(board: Board, file: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="half of a character") as caught:
        write_board(board, tmp_path / "b")
    assert str(caught.value).startswith(file)
    assert list(tmp_path.iterdir()) == []


def test_a_judgment_of_an_output_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    rows = loose_rows(INSTANCES, [("a", "x", "1")])
    board = replace(BOARD, rows=rows, judgments=judged({"instance": 1, "values": {"adequacy": 1}}))
    with pytest.raises(InvalidInput, match="a judgment of instance 'b' speaks of #1, which can't be written"):
        write_board(board, tmp_path / "b")


def test_a_dimension_that_is_not_among_the_columns_is_refused_not_dropped() -> None:
    with pytest.raises(UnknownName, match="no dimension named 'adequcy'; did you mean adequacy"):
        JudgmentColumns(("adequacy",)).add(0, 0, {"adequcy": 1})


def test_an_existing_folder_is_kept(tmp_path: Path) -> None:
    root = write_board(BOARD, tmp_path / "b")
    before = contents(root)
    with pytest.raises(InvalidInput, match="exists already; choose another place"):
        write_board(replace(BOARD, name="c"), root)
    assert contents(root) == before


def test_an_empty_folder_is_filled_and_stays_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "b"
    place.mkdir()
    monkeypatch.chdir(place)
    inode = place.stat().st_ino
    assert write_board(BOARD, ".") == Path()
    assert place.stat().st_ino == inode
    assert open_board(place).name == "b"
    assert sorted(path.name for path in place.iterdir()) == [
        ".gitignore",
        "board.toml",
        "generators",
        "instances.jsonl",
    ]


def test_replacing_keeps_what_is_not_the_boards(tmp_path: Path) -> None:
    root = write_board(replace(BOARD, imported=(column(),)), tmp_path / "b")
    kept = {"rankings/1.json": b"{}", ".billboards/cells": b"x", ".git/HEAD": b"ref", "README.md": b"mine"}
    for name, content in kept.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(content)
    (root / ".gitignore").write_bytes(b"mine too")
    write_board(BOARD, root, replace=True)
    opened = contents(root)
    assert {name: opened[name] for name in kept} == kept
    assert opened[".gitignore"] == b"mine too"
    assert "scores/bleu.tsv" not in opened
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


def test_a_folder_that_is_no_board_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"holds no board\.toml, so it is not replaced"):
        write_board(BOARD, tmp_path / "thesis", replace=True)
    (tmp_path / "note.txt").write_text("a file", encoding="utf-8")
    with pytest.raises(InvalidInput, match="is not replaced"):
        write_board(BOARD, tmp_path / "note.txt", replace=True)
    assert contents(tmp_path) == {"thesis/chapter.tex": b"years of work", "note.txt": b"a file"}


def test_the_folder_one_stands_in_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_board(BOARD, tmp_path / "b")
    monkeypatch.chdir(root / "generators")
    with pytest.raises(InvalidInput, match="can't be replaced from inside"):
        write_board(BOARD, root, replace=True)


def test_a_link_to_a_board_is_followed_when_it_is_replaced(tmp_path: Path) -> None:
    root = write_board(BOARD, tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    write_board(replace(BOARD, name="new"), tmp_path / "link", replace=True)
    assert (tmp_path / "link").is_symlink()
    assert open_board(root).name == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises((InvalidInput, StoreFailed)):
        write_board(BOARD, tmp_path / "loop" / "b")


def start_writing(target: Path, event: BaseException) -> None:
    """Write half of a board, until something happens."""
    with new_folder(target, replace=True) as root:
        write_lines(root / "board.toml", ['name = "half"'])
        raise event


@pytest.mark.parametrize("event", [KeyboardInterrupt(), MemoryError(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("taken", [False, True])
def test_whatever_happens_while_writing_leaves_what_was_there(
    tmp_path: Path, event: BaseException, taken: bool
) -> None:
    target = tmp_path / "new" / "deep" / "b"
    if taken:
        write_board(BOARD, target)
    before = contents(tmp_path)
    with pytest.raises(StoreFailed if isinstance(event, OSError) else type(event)):
        start_writing(target, event)
    assert contents(tmp_path) == before
    assert taken or list(tmp_path.iterdir()) == []
    assert not taken or [path.name for path in target.parent.iterdir()] == ["b"]


def test_the_old_board_is_put_back_when_the_new_one_can_not_take_its_place(tmp_path: Path) -> None:
    target = write_board(BOARD, tmp_path / "b")
    before = contents(tmp_path)

    def lose_the_new_one() -> None:
        with new_folder(target, replace=True) as root:
            root.rmdir()

    with pytest.raises(StoreFailed, match="No such file or directory"):
        lose_the_new_one()
    assert contents(tmp_path) == before


def test_a_place_taken_by_someone_else_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    def both_write() -> None:
        with new_folder(tmp_path / "b", replace=True) as root:
            write_lines(root / "board.toml", ["mine"])
            write_lines(tmp_path / "b" / "board.toml", ["theirs"])

    with pytest.raises(StoreFailed, match="can't be written"):
        both_write()
    assert contents(tmp_path) == {"b/board.toml": b"theirs\n"}


def test_a_place_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreFailed, match="can't be written"):
        write_board(BOARD, tmp_path / "file" / "b")


def test_names_that_differ_only_in_case_are_two_files_or_an_error(tmp_path: Path) -> None:
    board = replace(BOARD, imported=(column(), column(source_name="BLEU")))
    (tmp_path / "X").touch()
    if (tmp_path / "x").exists():
        with pytest.raises(InvalidInput, match="differ only in case"):
            write_board(board, tmp_path / "b")
    else:
        opened = open_board(write_board(board, tmp_path / "b"))
        assert [c.source_name for c in opened.imported] == ["BLEU", "bleu"]


_FULL_DISK = """
import resource, sys
from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.errors import StoreFailed

board = open_board(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
try:
    write_board(board, sys.argv[2], replace=True)
except StoreFailed as error:
    print(error)
"""

_HALF_WAY = """
import sys, time
from pathlib import Path
from billboards.board.writing import new_folder, write_lines

with new_folder(Path(sys.argv[1]), replace=True) as root:
    write_lines(root / "board.toml", ["half"])
    print("half way", flush=True)
    time.sleep(60)
"""


def test_a_full_disk_leaves_the_old_board_and_nothing_else(folder: Folder, tmp_path: Path) -> None:
    target = write_board(BOARD, tmp_path / "out" / "b")
    before = contents(tmp_path / "out")
    arguments = [sys.executable, "-c", _FULL_DISK, str(folder()), str(target)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout == f"{target}: can't be written: File too large; make room, or choose another place\n"
    assert contents(tmp_path / "out") == before
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b"]


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_process_ended_in_the_middle_leaves_the_old_board(tmp_path: Path, sent: int) -> None:
    target = write_board(BOARD, tmp_path / "out" / "b")
    before = contents(target)
    arguments = [sys.executable, "-c", _HALF_WAY, str(target)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half way\n"
        process.send_signal(sent)
    assert contents(target) == before
    assert open_board(target).name == "b"
    if sent == signal.SIGINT:
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["b"]
