"""Anyone's table: CSV, TSV, JSON lines and Parquet, tidy or not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.board import Board, human_scores
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.importers.table import table

TIDY = """\
id,system,output,reference,ref_B,src,doc,domain,tags,rating,annotator,BLEU,comment
1,G,hello,hi,hey,hallo,d,news,"a, b",4,ann,10.5,x
1,G,hello,hi,hey,hallo,d,news,"a, b",2,bob,10.5,y
1,H,,hi,hey,hallo,d,news,"a, b",1,ann,,z
2,G,"two, ""quoted""
lines",zwei,,,,,,5,ann,3,
"""


def load(root: Path, text: str | bytes, file: str = "t.csv", **options: Any) -> Imported:
    path = root / file
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return table(path, **options)


def refused(root: Path, text: str | bytes, file: str = "t.csv", **options: Any) -> str:
    with pytest.raises(InvalidInput) as refusal:
        load(root, text, file, **options)
    return str(refusal.value)


def human(board: Board, dimension: str | None = None) -> list[list[float]]:
    shape = (len(board.rows), len(board.instances))
    found = human_scores(board.judgments, board.aggregate(dimension), board.dimensions, shape)
    return [row.tolist() for row in np.nan_to_num(found, nan=-1)]


def test_usual_column_names_are_found(tmp_path: Path) -> None:
    found = load(tmp_path, TIDY, score=["BLEU"])
    board = found.board
    first, second = board.instances
    assert (board.name, first.id, first.input, first.document, first.domain) == ("t", "1", "hallo", "d", "news")
    assert first.tags == ("a", "b")
    assert [(r.name, r.text) for r in first.references] == [("reference", "hi"), ("ref_B", "hey")]
    assert [(r.name, r.text) for r in second.references] == [("reference", "zwei")]
    assert board.row("G").texts == ("hello", 'two, "quoted"\nlines')
    assert board.row("H").texts == ("", None)
    assert human(board) == [[3.0, 5.0], [1.0, -1]]
    assert board.judgments.annotators == ("ann", "bob")
    assert board.imported[0].values["G"].tolist() == [10.5, 3.0]
    assert list(board.imported[0].values) == ["G"]
    assert "columns that were not used: comment" in found.notes
    assert "H has no output for 1 of 2 instances" in found.notes
    assert f"{found.board.ranks} ranks metrics; choose another as `ranks` in board.toml" in found.notes


def test_the_note_names_every_column_that_was_taken(tmp_path: Path) -> None:
    note = load(tmp_path, TIDY, score=["BLEU"]).notes[0]
    for taken in ("instance from 'id'", "reference from 'ref_B'", "judgments from 'rating'", "scores from 'BLEU'"):
        assert taken in note


@pytest.mark.parametrize(
    ("text", "file", "message"),
    [
        (
            "id;system;output;rating\n1;G;a;4,5\n",
            "t.csv",
            "'4,5' is not a finite number; write a point where it has a comma",
        ),
        ("id\tsystem\n1\tG\n", "t.csv", "between tabs, where commas are read"),
        ("id,system\n1,G\n", "t.tsv", "between commas, where tabs are read"),
        ("PK", "t.xlsx", "is a spreadsheet; save the sheet as CSV"),
    ],
)
def test_a_table_as_a_spreadsheet_saves_it_is_answered_with_what_to_do(
    tmp_path: Path, text: str, file: str, message: str
) -> None:
    assert message in refused(tmp_path, text, file)


def test_semicolons_separate_columns_and_the_note_says_so(tmp_path: Path) -> None:
    found = load(tmp_path, "id;system;output;rating\n1;G;a, b;4.5\n2;G;c;3\n")
    assert list(found.board.row("G").texts) == ["a, b", "c"]
    assert any(note.endswith("its columns are separated by semicolons") for note in found.notes)


def test_named_columns_go_before_usual_ones(tmp_path: Path) -> None:
    text = "key,who,said,id,output,gold\n1,G,hello,9,wrong,hi\n"
    found = load(tmp_path, text, instance="key", generator="who", output="said", reference=["gold"], name="mine")
    assert (found.board.name, found.board.instances[0].id) == ("mine", "1")
    assert found.board.row("G").texts == ("hello",)
    assert found.board.reference_names == ("gold",)


def test_a_column_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"no column of .* named 'sytem'; did you mean system"):
        load(tmp_path, TIDY, generator="sytem")
    assert "no column for the instance among a, b; name it with --instance" in refused(tmp_path, "a,b\n1,2\n")


def test_tsv_json_lines_and_parquet_give_the_same_board(tmp_path: Path) -> None:
    from pyarrow import Table, parquet

    rows = [
        {"id": str(k), "system": g, "output": f"{g}{k}", "reference": f"r{k}", "rating": k + 0.5, "tags": "x"}
        for k in (1, 2)
        for g in ("G", "H")
    ]
    lines = ["\t".join(rows[0]), *("\t".join(str(cell) for cell in row.values()) for row in rows)]
    boards = [
        load(tmp_path, "".join(f"{line}\n" for line in lines), "t.tsv").board,
        load(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl").board,
    ]
    parquet.write_table(Table.from_pylist(rows), tmp_path / "t.parquet")
    boards.append(table(tmp_path / "t.parquet").board)
    assert len({board.version for board in boards}) == 1
    assert human(boards[2]) == [[1.5, 2.5], [1.5, 2.5]]


def test_a_cut_off_parquet_file_is_refused(tmp_path: Path) -> None:
    from pyarrow import Table, parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(Table.from_pylist([{"id": "1", "output": "x"}]), path)
    assert "not a complete Parquet file" in refused(tmp_path, path.read_bytes()[:-20], "cut.parquet")


def test_without_pyarrow_parquet_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingPart, match=r"`pip install 'billboards\[parquet\]'`"):
        table(tmp_path / "t.parquet")


def test_json_lines_may_list_references_and_write_numbers(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "system": "G", "output": "x", "references": ["a", "b"], "tags": ["t"], "rating": 3},
        {"id": 2, "system": "G", "output": "y", "references": ["c"], "rating": float("nan"), "annotator": "ann"},
    ]
    found = load(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")
    assert [i.id for i in found.board.instances] == ["1", "2"]
    assert [r.name for r in found.board.instances[0].references] == ["references1", "references2"]
    assert human(found.board) == [[3.0, -1]]
    assert "1 cells say NaN; they stay missing" in found.notes


def test_outputs_without_a_generator_are_loose(tmp_path: Path) -> None:
    text = "id,output,rating,annotator,M\na,x,1,p,.1\na,x,2,q,.1\na,y,3,p,.2\nb,z,4,p,.3\n"
    board = load(tmp_path, text, score=["M"]).board
    assert [row.name for row in board.rows] == ["#1", "#2"]
    assert [row.ids for row in board.rows] == [("a#1", "b#1"), ("a#2", None)]
    assert board.generators == ()
    assert human(board) == [[1.5, 4.0], [3.0, -1]]
    assert board.imported[0].values["#1"].tolist() == [0.1, 0.3]
    opened = open_board(write_board(board, tmp_path / "out"))
    assert opened.judgments.version == board.judgments.version
    assert [row.version for row in opened.rows] == [row.version for row in board.rows]


def test_loose_outputs_may_have_ids_of_their_own(tmp_path: Path) -> None:
    text = "id,output_id,output\na,o1,x\na,o2,x\nb,o3,x\n"
    assert [row.ids for row in load(tmp_path, text).board.rows] == [("o1", "o3"), ("o2", None)]
    assert "csv:4: output 'o1' of instance 'b'" in refused(tmp_path, text.replace("o3", "o1"))


def test_scales_bound_judgments_and_make_several_comparable(tmp_path: Path) -> None:
    text = "id,system,output,adequacy,fluency\n1,G,x,4,0\n1,G,x,2,100\n"
    options: dict[str, Any] = {"judgment": ["adequacy", "fluency"], "range": ["adequacy=1:5", "fluency=0:100"]}
    board = load(tmp_path, text, **options).board
    assert (board.ranks, board.aggregates["overall"].dimensions) == ("overall", ("adequacy", "fluency"))
    assert human(board) == [[50.0]]
    assert load(tmp_path, text, judgment=["adequacy", "fluency"]).board.ranks == "adequacy"
    alone = load(tmp_path, text, judgment=["adequacy"], range=["adequacy=1:5"]).board
    assert (alone.ranks, dict(alone.aggregates)) == ("adequacy", {}), "one dimension needs no aggregate"
    assert "csv:2: adequacy = 4 lies outside its range 1 to 3" in refused(
        tmp_path, text, judgment=["adequacy"], range=["adequacy=1:3"]
    )
    with pytest.raises(UnknownName, match="no judgment column named 'adequasy'"):
        load(tmp_path, text, judgment=["adequacy"], range=["adequasy=1:3"])


@pytest.mark.parametrize("scale", ["adequacy", "adequacy=5:1", "adequacy=1", "adequacy=a:b", "adequacy=0:inf", "=1:2"])
def test_a_scale_that_is_none_is_refused(tmp_path: Path, scale: str) -> None:
    text = "id,system,output,adequacy\n1,G,x,4\n"
    assert "as in adequacy=1:5" in refused(tmp_path, text, judgment=["adequacy"], range=[scale])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1,G,hello,hi,hey,hallo,d,news,\"a, b\",2", "1,G,other,hi,hey,hallo,d,news,\"a, b\",2",
         "csv:3: 'G' has another output for '1' than on line 2"),
        ("1,H,,hi", "1,H,,ho", "csv:4: reference reference of instance '1' is another than on line 2"),
        ("1,H,,hi,hey,hallo", "1,H,,hi,hey,ciao", "csv:4: input of instance '1' is another than on line 2"),
        ('2,bob,10.5', '2,bob,10', "csv:3: BLEU of 'G' on '1' is another than in an earlier row"),
        ("2,bob", "2,ann", "csv:3: 'G' on '1' by 'ann' appears twice, first on line 2"),
        ("2,bob", "high,bob", "csv:3: rating: 'high' is not a finite number"),
        ("2,bob", "inf,bob", "csv:3: rating: 'inf' is not a finite number"),
        ("10.5,y", "10.5", "csv:3: 12 cells where the first line names 13 columns"),
        ("1,H,", ",H,", "csv:4: instance '' is empty"),
        ("1,H,", '"1\t2",H,', "csv:4: instance '1\\t2' holds the character U+0009"),
        ("1,H,", '1,"H\n",', "csv:4: generator 'H\\n' holds the character U+000A"),
        ("id,system", "id,id", "csv:1: columns must have names, all different"),
        ("lines\"", "lines", "csv:5: can't be read as a table: unexpected end of data"),
        ('two, ""quoted""', 'two, "quoted"', "csv:5: can't be read as a table: ',' expected after '\"'"),
    ],
)  # fmt: skip
def test_a_contradiction_is_refused_with_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in TIDY
    assert message in refused(tmp_path, TIDY.replace(old, new), score=["BLEU"])


def test_a_row_that_is_there_twice_is_refused_where_nothing_is_judged(tmp_path: Path) -> None:
    assert "csv:3: 'G' on '1' appears twice, first on line 2" in refused(tmp_path, "id,system,output\n1,G,x\n1,G,x\n")


def test_judgments_without_an_annotator_add_up(tmp_path: Path) -> None:
    found = load(tmp_path, "id,system,output,rating\n1,G,x,1\n1,G,x,4\n")
    assert human(found.board) == [[2.5]]
    assert any("1 rows judge an output again and name no annotator" in note for note in found.notes)


def test_an_output_that_is_not_there_is_refused(tmp_path: Path) -> None:
    rows = '{"id": "1", "output": "x"}\n{"id": "2", "output": null}\n'
    assert "jsonl:2: instance '2' has no output in column 'output'" in refused(tmp_path, rows, "t.jsonl")
    rows = '{"id": "1", "output": "x"}\n{"id": "2", "output": ["y"]}\n'
    assert "jsonl:2: column 'output' must hold text; found ['y']" in refused(tmp_path, rows, "t.jsonl")


def test_a_table_of_an_unknown_kind_or_without_rows_is_refused(tmp_path: Path) -> None:
    assert "a table's name must end in one of .csv, .tsv, .jsonl" in refused(tmp_path, TIDY, "t.dat")
    assert "holds no rows" in refused(tmp_path, "id,output\n")


def test_a_name_that_no_board_can_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TIDY)
    with pytest.raises(InvalidInput, match="the board's name 'a b' may hold letters, digits"):
        table(tmp_path / "t.csv", name="a b")


def test_a_last_line_without_end_is_noted(tmp_path: Path) -> None:
    assert any("has no line end" in note for note in load(tmp_path, TIDY.rstrip("\n")).notes)


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    long = "word " * 100_000
    assert load(tmp_path, f'id,system,output\n1,G,"{long}"\n').board.row("G").texts == (long,)


@pytest.mark.long
def test_a_hundred_thousand_instances_are_read(tmp_path: Path) -> None:
    count = 100_000
    lines = (f"i{k},G,output {k},ref {k},{k % 5 + 1},a{k % 3}\n" for k in reversed(range(count)))
    board = load(tmp_path, "id,system,output,reference,rating,annotator\n" + "".join(lines)).board
    k = board.position["i77777"]
    assert len(board.instances) == len(board.judgments) == count
    assert board.row("G").texts[k] == "output 77777"
    assert board.instances[k].references[0].text == "ref 77777"
    assert human(board)[0][k] == 77_777 % 5 + 1
