"""What every format of judgments promises: it reads what it wrote, names leave as pseudonyms, mistakes are named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from billboards.boards.formats import FORMATS, load_reader
from billboards.boards.formats.exchange import add_file, judgments_as_text
from billboards.boards.formats.pseudonyms import pseudonym
from billboards.boards.judgment_columns import JudgmentColumns
from billboards.domain import Board, Dimension, Generator, Instance, Judgment, Judgments, row_of
from billboards.errors import ImportRefused, InvalidInput, NotEnoughData, UnknownName

KEY = "a secret"
#: The dimension that a format can say; one that knows no scales takes the board's.
DIMENSIONS = {
    "mqm": Dimension("mqm", range=(-25.0, 0.0), to_100=(4.0, 100.0)),
    "appraise": Dimension("score", range=(0.0, 100.0)),
}
each_format = pytest.mark.parametrize("form", sorted(FORMATS))


def _board(generators: tuple[str, ...] = ("A", "B")) -> Board:
    instances = tuple(
        Instance(id=f"s{k}", input=f"Quelle {k}, ganz ähnlich", document="d1" if k < 3 else "d2") for k in (1, 2, 3)
    )
    rows = tuple(
        row_of(Generator(name), instances, tuple(f"{name} wrote “{k}” here" for k in (1, 2, 3))) for name in generators
    )
    return Board("tiny", instances, rows, Judgments(), {}, {}, input_language="de", output_language="en")


def _judged(form: str) -> Board:
    """A board with two annotators' judgments: a score each, and one error span."""
    board = _board()
    dimension = DIMENSIONS.get(form, Dimension("adequacy", range=(-25.0, 100.0)))
    columns = JudgmentColumns((dimension.name,))
    for place, (row, annotator, value) in enumerate([(0, "ann@x.org", 0.0), (1, "ann@x.org", -5.0), (0, "bob", -1.0)]):
        shown = value + 60.0 if form == "appraise" else value
        kinds = {-5.0: "major", -1.0: "minor"}
        span = {"start": 2, "end": 7, "severity": kinds.get(value), "category": "Accuracy"}
        details = {"spans": [span]} if value else {}
        columns.add(place, row, {dimension.name: shown}, annotator=annotator, campaign="c1", details=details)
    return replace(board, dimensions={dimension.name: dimension}, judgments=columns.build())


def _each(board: Board) -> list[Judgment]:
    ids, rows = tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)
    return sorted(board.judgments.each(ids, rows), key=lambda one: (one.instance, one.outputs))


def _without_categories(judgment: Judgment) -> Judgment:
    spans = [{k: v for k, v in span.items() if k != "category"} for span in judgment.details.get("spans", ())]
    return replace(judgment, details={"spans": spans} if spans else {})


@each_format
def test_what_was_written_is_read_back_under_pseudonyms(form: str, tmp_path: Path) -> None:
    judged = _judged(form)
    path = tmp_path / "file"
    path.write_text(judgments_as_text(judged, form, key=KEY), encoding="utf-8")
    found = _each(add_file(replace(_board(), dimensions=judged.dimensions), path, form, "c2").board)
    hidden = [replace(one, annotator=pseudonym(one.annotator or "", KEY.encode())) for one in _each(judged)]
    expected = [replace(one, campaign="c2") for one in hidden]
    # Labels of Label Studio say one thing of a span, its severity.
    assert [*map(_without_categories, found)] == [*map(_without_categories, expected)]
    if form != "label-studio":
        assert found == expected


@each_format
def test_no_name_of_an_annotator_leaves(form: str) -> None:
    text = judgments_as_text(_judged(form), form)
    assert "ann@x.org" not in text
    assert "bob" not in text


def test_without_a_key_pseudonyms_differ_from_file_to_file() -> None:
    board = _judged("csv")
    assert judgments_as_text(board, "csv") != judgments_as_text(board, "csv")
    assert judgments_as_text(board, "csv", key="k") == judgments_as_text(board, "csv", key="k")


@each_format
def test_an_absent_or_foreign_file_is_refused_by_name(form: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        load_reader(form)(tmp_path / "nowhere", _board(), "c")
    foreign = tmp_path / "foreign"
    foreign.write_text("once upon a time\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="foreign"):
        load_reader(form)(foreign, _board(), "c")


@each_format
def test_another_board_s_judgments_are_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(judgments_as_text(_judged(form), form, key=KEY), encoding="utf-8")
    with pytest.raises(ImportRefused, match="none of which is on board tiny"):
        add_file(_board(("Y", "Z")), path, form, "c2")


def test_a_board_without_judgments_has_nothing_to_write() -> None:
    with pytest.raises(NotEnoughData, match="no judgments to write"):
        judgments_as_text(_board(), "csv")
    with pytest.raises(UnknownName, match="no campaign named 'c9'"):
        judgments_as_text(_judged("csv"), "csv", campaigns=("c9",))
    with pytest.raises(UnknownName, match="did you mean csv"):
        judgments_as_text(_judged("csv"), "cvs")


def test_mqm_weighs_errors_as_its_paper_does(tmp_path: Path) -> None:
    lines = [
        "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
        "A\td1\t1\t1\tr1\tQuelle 1, ganz ähnlich\tA <v>wrote</v> “1” here\tAccuracy/Mistranslation\tMajor",
        "A\td1\t1\t1\tr1\tQuelle 1, ganz ähnlich\tA wrote “1” here<v></v>\tFluency/Punctuation\tMinor",
        "A\td1\t1\t1\tr1\t<v>Quelle 1</v>, ganz ähnlich\tA wrote “1” here\tAccuracy/Omission\tMinor",
        "B\td1\t1\t2\tr1\tQuelle 2, ganz ähnlich\tB wrote “2” here\tNo-error\tno-error",
        "B\td2\t1\t3\tr1\tQuelle 3, ganz ähnlich\t<v>B wrote “3” here</v>\tNon-translation!\tMajor",
    ]
    path = tmp_path / "mqm.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {(one.instance, *one.outputs): one for one in _each(add_file(_board(), path, "mqm", "mqm").board)}
    assert found[("s1", "A")].values["mqm"] == pytest.approx(-6.1)
    assert found[("s2", "B")].values["mqm"] == 0
    assert found[("s3", "B")].values["mqm"] == -25
    omission = found[("s1", "A")].details["spans"][2]
    assert (omission["start"], omission["end"], omission["missing"]) == (0, 8, True)


def test_a_wrong_severity_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    path.write_text(header + "A\td\t1\t1\tr\ts\tt\tOther\tawful\n", encoding="utf-8")
    with pytest.raises(ImportRefused, match=r"mqm.tsv:2: .*'awful' is none of"):
        add_file(_board(), path, "mqm", "c")


def test_label_studio_s_choices_ratings_and_cancelled_annotations(tmp_path: Path) -> None:
    results = [
        {"from_name": "adequacy", "type": "rating", "value": {"rating": 4}},
        {"from_name": "fluency", "type": "choices", "value": {"choices": ["3"]}},
    ]
    done = {"completed_by": 7, "created_at": "2026-05-04T10:00:00Z", "result": results}
    task = {"data": {"instance": "s1", "generator": "A"}, "annotations": [done, {"was_cancelled": True}]}
    path = tmp_path / "project.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    (found,) = _each(add_file(_board(), path, "label-studio", "pilot").board)
    assert (found.values, found.annotator) == ({"adequacy": 4.0, "fluency": 3.0}, "7")
    assert found.details["time"] == 1777888800.0
    results[1]["value"] = {"choices": ["good"]}
    path.write_text(json.dumps([task]), encoding="utf-8")
    with pytest.raises(ImportRefused, match="gives no number"):
        add_file(_board(), path, "label-studio", "pilot")


def test_a_table_s_values_of_one_person_are_one_judgment_and_given_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = ["instance,generator,annotator,dimension,value", "s1,A,ann,adequacy,4", "s1,A,ann,fluency,3"]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    (found,) = _each(add_file(_board(), path, "csv", "c").board)
    assert found.values == {"adequacy": 4.0, "fluency": 3.0}
    path.write_text("\n".join([*rows, "s1,A,ann,fluency,2"]) + "\n", encoding="utf-8")
    with pytest.raises(ImportRefused, match="twice"):
        add_file(_board(), path, "csv", "c")
