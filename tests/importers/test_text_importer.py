"""Text files become a board, and judgments that lie apart from the outputs are joined by line, segment or id."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import billboards as bb
from billboards.cli.main import main
from billboards.errors import InvalidInput

LINES = 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("src", "ref", "x", "y"):
        Path(f"{name}.txt").write_text("".join(f"{name} text {k}\n" for k in range(1, LINES + 1)))
    return tmp_path


def imported(table: str = "", name: str = "human.csv", **options: Any) -> bb.Board:
    if table:
        Path(name).write_text(table)
        options["judgments"] = name
    files: dict[str, Any] = {"output": ["x.txt", "Y=y.txt"], "reference": ["A=ref.txt"]}
    return bb.import_board("text", "src.txt", **(files | options))


def given(board: bb.Board) -> list[tuple[str, str, dict[str, float], str | None]]:
    """Every judgment: instance, system, values, annotator."""
    ids, rows = tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)
    return [(j.instance, j.outputs[0], dict(j.values), j.annotator) for j in board.judgments.each(ids, rows)]


@pytest.mark.usefixtures("folder")
def test_lines_become_instances_and_files_become_rows() -> None:
    board = imported()
    assert [(i.id, i.input, i.references[0].text) for i in board.instances][1] == ("2", "src text 2", "ref text 2")
    assert [row.name for row in board.rows] == ["Y", "x"]
    assert board.row("Y").texts[3] == "y text 4"
    assert (len(board.judgments), board.ranks, board.is_draft) == (0, None, True)


@pytest.mark.parametrize(
    "table",
    [
        "system,line,annotator,score\nx,1,a,3\nx,2,a,4\nY,2,b,1\n",
        "Model,Segment,Rater,Score\nx,1,a,3\nx,2,a,4\nY,2,b,1\n",
        "generator,id,annotator,dimension,value\nx,1,a,score,3\nx,2,a,score,4\nY,2,b,score,1\n",
        "\ufeffsystem,line,annotator,score\r\nx,1,a,3\r\nx,2,a,4.0\r\nY,2,b,1\r\nY,3,b,\r\n",
    ],
    ids=["by line", "other cases", "dimensions named", "BOM, Windows line ends, an empty cell"],
)
@pytest.mark.usefixtures("folder")
def test_long_tables_with_usual_names_need_no_option(table: str) -> None:
    board = imported(table)
    name = board.ranks or ""
    assert name.lower() == "score"
    assert given(board) == [("1", "x", {name: 3}, "a"), ("2", "x", {name: 4}, "a"), ("2", "Y", {name: 1}, "b")]


@pytest.mark.parametrize(
    ("system", "segment"),
    [
        ("sys", "seg_id"),
        ("system_id", "Segment_ID"),
        ("System_Name", "sentence_id"),
        ("model", "item"),
        ("generator", "instance_id"),
        ("system", "line_number"),
        ("SYS", "seg"),
        ("system", "lineno"),
        ("system", "sent_id"),
        ("system", "instance"),
        ("system", "sentence"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_columns_may_have_any_usual_name(system: str, segment: str) -> None:
    board = imported(f"{system},{segment},score\nx,1,3\nY,2,1\n")
    assert given(board) == [("1", "x", {"score": 3}, None), ("2", "Y", {"score": 1}, None)]


@pytest.mark.usefixtures("folder")
def test_a_wide_table_has_a_column_for_each_system() -> None:
    board = imported("segment,annotator,x,Y\n1,a,3,\n2,a,4,1\n")
    assert given(board) == [("1", "x", {"score": 3}, "a"), ("2", "x", {"score": 4}, "a"), ("2", "Y", {"score": 1}, "a")]
    ordered = imported("x,Y\n1,5\n2,5\n3,5\n4,5\n")
    assert [value["score"] for _, system, value, _ in given(ordered) if system == "x"] == [1, 2, 3, 4]


@pytest.mark.usefixtures("folder")
def test_a_wide_table_has_a_column_for_each_dimension() -> None:
    table = "system,line,adequacy,fluency,remark\nx,1,3,5,ok\nY,1,2,4,\n"
    board = imported(table, range=["adequacy=1:5", "fluency=1:5"])
    assert given(board)[0] == ("1", "x", {"adequacy": 3, "fluency": 5}, None)
    assert (board.ranks, list(board.dimensions)) == ("overall", ["adequacy", "fluency"])
    own = imported("system,line,nice,rude\nx,1,3,5\nY,1,2,4\n", judgment=["nice", "rude"])
    assert given(own)[1] == ("1", "Y", {"nice": 2, "rude": 4}, None)


@pytest.mark.usefixtures("folder")
def test_values_of_one_annotator_on_several_dimensions_are_one_judgment() -> None:
    rows = "x,1,a,adequacy,3\nx,1,b,adequacy,2\nx,1,a,fluency,5\n"
    board = imported("system,line,annotator,dimension,value\n" + rows)
    assert given(board) == [("1", "x", {"adequacy": 3, "fluency": 5}, "a"), ("1", "x", {"adequacy": 2}, "b")]


@pytest.mark.usefixtures("folder")
def test_judgments_join_by_ids_lines_and_other_first_numbers() -> None:
    Path("ids.txt").write_text("s7\ns1\ns9\ns4\n")
    by_id = imported("system,segment,score\nx,s1,3\n", ids="ids.txt")
    assert given(by_id) == [("s1", "x", {"score": 3}, None)]
    by_line = imported("system,line,score\nx,2,3\n", ids="ids.txt")
    assert given(by_line) == given(by_id)
    forced = imported("system,segment,score\nx,2,3\n", ids="ids.txt", by="line")
    assert given(forced) == given(by_id)
    from_zero = imported("system,segment,score\nx,1,3\nx,0,2\n", first=0)
    assert [instance for instance, *_ in given(from_zero)] == ["2", "1"]


@pytest.mark.usefixtures("folder")
def test_other_columns_are_named_by_options() -> None:
    board = imported("who,where,by,how\nx,2,me,4\n", system="who", segment="where", annotator="by", judgment=["how"])
    assert given(board) == [("2", "x", {"how": 4}, "me")]


@pytest.mark.usefixtures("folder")
def test_a_judged_reference_and_a_human_name_are_human_rows() -> None:
    Path("Human-B.txt").write_text("".join(f"human {k}\n" for k in range(LINES)))
    table = "system,line,score\nx,1,3\nA,1,5\nHuman-B,2,5\n"
    board = imported(table, output=["x.txt", "Human-B.txt"])
    assert {g.name: g.kind for g in board.generators} == {"x": "machine", "A": "human", "Human-B": "human"}
    assert board.row("A").texts[0] == board.instances[0].references[0].text


@pytest.mark.usefixtures("folder")
def test_documents_empty_references_and_odd_characters() -> None:
    Path("docs.txt").write_text("news\td1\nnews\td1\ntalk\td2\ntalk\td2\n")
    Path("ref.txt").write_text("one\n\nthr\u2028ee\x85\nfour\n")
    board = imported(documents="docs.txt")
    assert [(i.document, i.domain) for i in board.instances] == [("d1", "news")] * 2 + [("d2", "talk")] * 2
    assert [len(i.references) for i in board.instances] == [1, 0, 1, 1]
    assert board.instances[2].references[0].text == "thr\u2028ee"


@pytest.mark.usefixtures("folder")
def test_gzipped_files_are_read() -> None:
    Path("z.txt.gz").write_bytes(gzip.compress(Path("x.txt").read_bytes()))
    Path("h.tsv.gz").write_bytes(gzip.compress(b"system\tline\tscore\nz\t1\t3\n"))
    board = imported(output=["z.txt.gz"], judgments="h.tsv.gz")
    assert given(board) == [("1", "z", {"score": 3}, None)]


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("system,line,score\nX,1,3\n", {}, "human.csv:2: no system is named 'X'; did you mean x"),
        ("system,line,score\nz9,1,3\n", {}, "no system is named 'z9'; there are x, Y, A"),
        ("system,line,score\nx,5,3\n", {}, "human.csv:2: '5' is no line of the texts, which are numbered from 1 to 4"),
        ("system,line,score\nx,0,3\n", {}, "say --first 0"),
        ("system,line,score\nx,1,good\n", {}, "human.csv:2: score: 'good' is not a finite number"),
        (
            "system,line,annotator,score\nx,1,a,3\nx,1,a,4\n",
            {},
            "human.csv:3: score of 'x' on '1' by 'a' appears twice",
        ),
        ("system,score\nx,3\n", {}, "no column for the line or the instance's id among system, score"),
        ("line,score\n1,3\n", {}, "no column for the system among line, score, and none that is named by a system"),
        ("line,x,y\n1,3,2\n", {}, "column 'y' is nearly the system 'Y'"),
        ("x,Y\n1,3\n", {}, "has no column for the line and 1 rows for 4 instances"),
        ("system,line,nice\nx,1,3\n", {}, "no column of judgments among system, line, nice; name it with --judgment"),
        ("system,line,score\nx,1,3\n", {"system": "sistem"}, "no column of human.csv named 'sistem'"),
        ("system,line,score\nx,1,9\n", {"range": ["score=1:5"]}, "score = 9 of 'x' on '1' lies outside its range"),
        ("system,line,score\nx,1,\n", {}, "holds no judgment"),
        ("", {"output": ["x.txt", "short.txt"]}, "src.txt has 4 lines and short.txt \\(output short\\) 1"),
        ("", {"output": []}, "no outputs to import"),
        ("", {"output": ["x.txt", "x=y.txt"]}, "two files are called x"),
        ("", {"output": ["gone.txt"]}, "gone.txt: no such file"),
        ("", {"system": "system"}, "name it with --judgments FILE"),
        ("", {"ids": "twice.txt"}, "twice.txt:3: instance 'a' appears twice, first on line 1"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_does_not_fit_is_refused(table: str, options: dict[str, Any], message: str) -> None:
    Path("short.txt").write_text("one\n")
    Path("twice.txt").write_text("a\nb\na\nc\n")
    with pytest.raises(InvalidInput, match=message):
        imported(table, **options)


@pytest.mark.usefixtures("folder")
def test_the_command_takes_several_files_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("human.csv").write_text("system,line,score\nx,1,3\nY,1,2\nx,2,4\n")
    words = ["--source", "src.txt", "--reference", "A=ref.txt", "--output", "x.txt", "Y=y.txt"]
    assert main(["import", "text", *words, "--judgments", "human.csv", "-o", "board"]) == 0
    told = capsys.readouterr().err
    assert "human.csv: system from 'system', segment from 'line', values from score" in told
    assert "Draft: the data card lacks task" in told
    board = bb.open("board")
    assert (len(board.instances), len(board.judgments), board.ranks) == (4, 3, "score")


@pytest.mark.usefixtures("folder")
def test_a_table_of_outputs_takes_judgments_from_another() -> None:
    Path("out.csv").write_text("id,system,output,rating\ns1,x,one,7\ns1,y,two,7\ns2,x,three,7\n")
    Path("human.csv").write_text("id,system,annotator,score\ns1,x,a,3\ns2,x,a,4\ns1,y,b,2\n")
    board = bb.import_board("table", "out.csv", judgments="human.csv")
    given_apart = [("s1", "x", {"score": 3}, "a"), ("s2", "x", {"score": 4}, "a"), ("s1", "y", {"score": 2}, "b")]
    assert given(board) == given_apart
    assert board.ranks == "score"
    assert not np.isnan(board.judgments.values).any()
    Path("loose.csv").write_text("id,output\ns1,one\n")
    with pytest.raises(InvalidInput, match="need generators"):
        bb.import_board("table", "loose.csv", judgments="human.csv")
