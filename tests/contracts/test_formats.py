"""What every format of judgments promises: it reads what it wrote, names leave as pseudonyms, mistakes are named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from judged_boards import KEY, bare_board, judged_board

from billboards.board import Board, Dimension, Judgment
from billboards.board.judgment_sources import JudgmentSource
from billboards.board.judgments import JudgmentColumns
from billboards.errors import ImportRefused, InvalidInput, NotEnoughData, UnknownName
from billboards.formats import FORMATS, add_file, judgment_format, judgments_as_text, pseudonym

each_format = pytest.mark.parametrize("form", FORMATS)
each_written_format = pytest.mark.parametrize("form", [form for form in FORMATS if FORMATS.load(form).can_write])


@each_format
def test_a_declaration_says_everything(form: str) -> None:
    declared = FORMATS.load(form)
    assert declared.name == form
    assert declared.summary == FORMATS.summary(form)
    assert len(declared.summary) > 20


def test_every_format_of_this_package_is_written_too() -> None:
    assert all(FORMATS.load(form).can_write for form in FORMATS.own)


def test_a_format_without_a_writer_is_only_read() -> None:
    @judgment_format()
    def heard_only(path: Path, board: Board, campaign: str) -> JudgmentSource:
        """Files that nobody writes."""
        raise ImportRefused(f"{path}: {board.name}, {campaign}")

    assert heard_only.name == "heard-only"
    with pytest.raises(InvalidInput, match="format heard-only can be read but not written; write csv instead"):
        heard_only.write(bare_board(), ())


def _each(board: Board) -> list[Judgment]:
    ids, rows = tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)
    return sorted(board.judgments.each(ids, rows), key=lambda one: (one.instance, one.outputs))


def _without_details(judgment: Judgment) -> Judgment:
    return replace(judgment, details={})


def _without_categories(judgment: Judgment) -> Judgment:
    spans = [{k: v for k, v in span.items() if k != "category"} for span in judgment.details.get("spans", ())]
    return replace(judgment, details={"spans": spans} if spans else {})


@each_written_format
def test_what_was_written_is_read_back_under_pseudonyms(form: str, tmp_path: Path) -> None:
    judged = judged_board(form)
    path = tmp_path / "file"
    path.write_text(judgments_as_text(judged, form, key=KEY), encoding="utf-8")
    read_back = _each(add_file(replace(bare_board(), dimensions=judged.dimensions), path, form, "c2").board)
    hidden = [
        replace(judgment, annotator=pseudonym(judgment.annotator or "", KEY.encode())) for judgment in _each(judged)
    ]
    expected = [replace(judgment, campaign="c2") for judgment in hidden]
    assert [*map(_without_details, read_back)] == [*map(_without_details, expected)]
    if form == "label-studio":  # its labels say one thing of a span, its severity
        assert [*map(_without_categories, read_back)] == [*map(_without_categories, expected)]
    elif form in FORMATS.own:
        assert read_back == expected


@each_written_format
def test_no_name_of_an_annotator_leaves(form: str) -> None:
    text = judgments_as_text(judged_board(form), form)
    assert "ann@x.org" not in text
    assert "bob" not in text


def test_who_is_unknown_stays_unknown(tmp_path: Path) -> None:
    columns = JudgmentColumns(("adequacy",))
    columns.add(0, 0, {"adequacy": 1.0}, campaign="c")
    columns.add(1, 0, {"adequacy": 0.0}, annotator="bob", campaign="c")
    board = replace(
        bare_board(), judgments=columns.build(), dimensions={"adequacy": Dimension("adequacy", range=(0, 1))}
    )
    path = tmp_path / "file.csv"
    path.write_text(judgments_as_text(board, "csv", key=KEY), encoding="utf-8")
    read = _each(add_file(board, path, "csv", "c2").board)
    assert [one.annotator for one in read if one.campaign == "c2"] == [None, pseudonym("bob", KEY.encode())]


def test_without_a_key_pseudonyms_differ_from_file_to_file() -> None:
    board = judged_board("csv")
    assert judgments_as_text(board, "csv") != judgments_as_text(board, "csv")
    assert judgments_as_text(board, "csv", key="k") == judgments_as_text(board, "csv", key="k")


@each_format
def test_an_absent_or_foreign_file_is_refused_by_name(form: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nowhere"):
        FORMATS.load(form).read(tmp_path / "nowhere", bare_board(), "c")
    foreign = tmp_path / "foreign"
    foreign.write_text("once upon a time\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="foreign"):
        FORMATS.load(form).read(foreign, bare_board(), "c")


@each_written_format
def test_another_board_s_judgments_are_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(judgments_as_text(judged_board(form), form, key=KEY), encoding="utf-8")
    with pytest.raises(ImportRefused, match="none of which is on board tiny"):
        add_file(bare_board(("Y", "Z")), path, form, "c2")


def test_a_board_without_judgments_has_nothing_to_write() -> None:
    with pytest.raises(NotEnoughData, match="no judgments to write"):
        judgments_as_text(bare_board(), "csv")
    with pytest.raises(UnknownName, match="no campaign named 'c9'"):
        judgments_as_text(judged_board("csv"), "csv", campaigns=("c9",))
    with pytest.raises(UnknownName, match="did you mean csv"):
        judgments_as_text(judged_board("csv"), "cvs")


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
    found = {(one.instance, *one.outputs): one for one in _each(add_file(bare_board(), path, "mqm", "mqm").board)}
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
        add_file(bare_board(), path, "mqm", "c")


def test_label_studio_s_choices_ratings_and_cancelled_annotations(tmp_path: Path) -> None:
    results = [
        {"from_name": "adequacy", "type": "rating", "value": {"rating": 4}},
        {"from_name": "fluency", "type": "choices", "value": {"choices": ["3"]}},
    ]
    done = {"completed_by": 7, "created_at": "2026-05-04T10:00:00Z", "result": results}
    task = {"data": {"instance": "s1", "generator": "A"}, "annotations": [done, {"was_cancelled": True}]}
    path = tmp_path / "project.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    (found,) = _each(add_file(bare_board(), path, "label-studio", "pilot").board)
    assert (found.values, found.annotator) == ({"adequacy": 4.0, "fluency": 3.0}, "7")
    assert found.details["time"] == 1777888800.0
    results[1]["value"] = {"choices": ["good"]}
    path.write_text(json.dumps([task]), encoding="utf-8")
    with pytest.raises(ImportRefused, match="gives no number"):
        add_file(bare_board(), path, "label-studio", "pilot")


def test_a_table_s_values_of_one_person_are_one_judgment_and_given_twice_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = ["instance,generator,annotator,dimension,value", "s1,A,ann,adequacy,4", "s1,A,ann,fluency,3"]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    (found,) = _each(add_file(bare_board(), path, "csv", "c").board)
    assert found.values == {"adequacy": 4.0, "fluency": 3.0}
    path.write_text("\n".join([*rows, "s1,A,ann,fluency,2"]) + "\n", encoding="utf-8")
    with pytest.raises(ImportRefused, match="twice"):
        add_file(bare_board(), path, "csv", "c")
