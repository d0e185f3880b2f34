"""`verify` on board folders: every outcome of a score and of a ranking's number, what is said, and exit codes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from verified_boards import edit_ranking, edit_scores, ferry_folder

import billboards as bb
from billboards.analyses._verify import Verification
from billboards.analyses._verify_ranking import slice_of
from billboards.analyses._verify_scores import ColumnVerdict, same_bits
from billboards.board import Slice
from billboards.board.judgments import JudgmentColumns
from billboards.board.private_share import without_private
from billboards.board.trust import TrustRules
from billboards.cli.main import main
from billboards.errors import InvalidInput, UnknownName

Change = Callable[[np.ndarray[Any, Any]], None]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scored board of four machines and a person, with a kept ranking."""
    return ferry_folder(tmp_path_factory.mktemp("sound") / "ferry")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return ferry_folder(tmp_path / "ferry")


def column(verified: Verification, metric: str) -> ColumnVerdict:
    return next(each for each in verified.columns if each.metric == metric)


def differing(verified: Verification) -> set[str]:
    assert verified.ranking is not None
    return {number.place for number in verified.ranking.numbers if number.outcome == "differs"}


def test_a_sound_folder_is_equal_to_the_last_bit(sound: Path) -> None:
    verified = bb.verify(sound).value
    assert {each.metric: each.outcome for each in verified.columns} == dict.fromkeys(
        ("chrF", "ROUGE-1", "ROUGE-L", "length"), "equal"
    )
    assert column(verified, "chrF").count("equal") == 4
    assert column(verified, "length").count("equal") == 5
    assert verified.ranking is not None
    assert verified.ranking.outcome == "equal"
    assert verified.ranking.numbers == ()
    equal = {section.section: section.equal for section in verified.ranking.sections}
    assert set(equal) == {"board", "metrics", "generators", "ensemble", "people"}
    assert min(equal.values()) > 10
    assert not verified.differs
    assert verified.proof is None


def test_one_ulp_in_one_score_is_found_with_its_generator_and_instance(folder: Path) -> None:
    def nudge(scores: np.ndarray[Any, Any]) -> None:
        scores[3] = np.nextafter(scores[3], 2.0)

    before = edit_scores(folder, "ROUGE-L", "g1", nudge)
    verified = bb.verify(folder).value
    (cell,) = [each for each in column(verified, "ROUGE-L").cells if each.outcome != "equal"]
    assert (cell.generator, cell.outcome, cell.different, cell.instance) == ("g1", "differs", 1, "i3")
    assert cell.largest == np.spacing(before[3])
    assert verified.differs
    assert column(verified, "ROUGE-1").outcome == "equal"


def test_a_ranking_that_rests_on_a_changed_score_is_not_the_kept_one(folder: Path) -> None:
    edit_scores(folder, "ROUGE-L", "g1", lambda scores: scores.__setitem__(3, 1.0))
    verified = bb.verify(folder).value
    places = differing(verified)
    assert {"metrics, ROUGE-L, correlation", "generators, g1, scores, ROUGE-L"} <= places
    assert "metrics, ROUGE-1, correlation" not in places


def test_within_a_tolerance_scores_are_close_and_nothing_fails_for_them(folder: Path) -> None:
    edit_scores(folder, "length", "g1", lambda scores: scores.__setitem__(3, scores[3] * (1 + 1e-9)))
    verified = bb.verify(folder, tolerance=1e-6, metrics="length").value
    assert column(verified, "length").outcome == "close"
    assert column(verified, "length").count("close") == 1
    exact = bb.verify(folder, tolerance=1e-12, metrics=["length"]).value
    assert column(exact, "length").outcome == "differs"


def test_a_score_where_the_metric_gives_none_has_no_size_of_difference(folder: Path) -> None:
    edit_scores(folder, "chrF", "g2", lambda scores: scores.__setitem__(0, np.nan))
    verified = bb.verify(folder, tolerance=10.0)
    (cell,) = [each for each in column(verified.value, "chrF").cells if each.outcome == "differs"]
    assert (cell.largest, cell.instance) == (None, "i0")
    assert "one has a score, the other none" in verified.to_text(wide=True)
    (row,) = [row for table in verified.tables for row in table.rows if str(row.get("reason")).startswith("one has")]
    assert (row["metric"], row["generator"]) == ("chrF", cell.generator)


def test_scores_of_other_length_differ(folder: Path) -> None:
    edit_scores(folder, "chrF", "g2", lambda scores: None, kept=5)
    for sample in (None, 3):
        verified = bb.verify(folder, metrics="chrF", sample=sample).value
        verdict = column(verified, "chrF")
        (cell,) = [each for each in verdict.cells if each.outcome == "differs"]
        assert cell.reason == "holds 5 numbers where there are 12"
        assert verified.ranking is not None
        assert "5 scores are kept for 12 instances" in (verified.ranking.numbers[0].reason or "")


@pytest.mark.parametrize("sample", [None, 3])
def test_a_cell_that_is_said_to_be_there_and_holds_nothing_is_not_equal(folder: Path, sample: int | None) -> None:
    with closing(sqlite3.connect(folder / ".billboards" / "cells.sqlite")) as database, database:
        where = "column_id in (select id from columns where name = 'length')"
        database.execute(f"update cells set is_primary = 0 where {where}")
    verified = bb.verify(folder, metrics="length", sample=sample).value
    assert column(verified, "length").outcome == "differs"


def test_changed_counts_are_found_though_every_score_is_equal(folder: Path) -> None:
    with closing(sqlite3.connect(folder / ".billboards" / "cells.sqlite")) as database, database:
        rows = database.execute(
            "select column_id, outputs, packed from counts join columns on id = column_id where name = 'chrF'"
        ).fetchall()
        (first, other) = rows[:2]
        database.execute(
            "update counts set packed = ? where column_id = ? and outputs = ?", (other[2], first[0], first[1])
        )
    verified = bb.verify(folder).value
    assert column(verified, "chrF").count("differs") == 1
    assert any(place.startswith("generators, ") and ", corpus, chrF" in place for place in differing(verified))


def test_a_sample_is_of_so_many_instances_and_finds_what_lies_in_it(folder: Path) -> None:
    edit_scores(folder, "ROUGE-L", "g1", lambda scores: np.add(scores, 1e-9, out=scores))
    verified = bb.verify(folder, sample=4, metrics="ROUGE-L").value
    cells = column(verified, "ROUGE-L").cells
    assert {cell.compared for cell in cells} == {4}
    assert [cell.generator for cell in cells if cell.outcome == "differs"] == ["g1"]
    chosen = np.sort(np.random.default_rng(0).permutation(12)[:4])
    assert next(cell for cell in cells if cell.generator == "g1").instance == f"i{chosen[0]}"


def test_bits_are_compared_and_two_missing_scores_are_the_same() -> None:
    first = np.array([1.0, np.nan, 0.0, np.nan])
    second = np.array([1.0, np.nan, -0.0, 1.0])
    assert same_bits(first, second).tolist() == [True, True, False, False]


def test_what_cant_be_computed_here_is_named_with_the_reason(folder: Path) -> None:
    with closing(sqlite3.connect(folder / ".billboards" / "cells.sqlite")) as database, database:
        database.execute("update columns set name = 'Nobodys' where name = 'chrF'")
        database.execute("update columns set signature = signature || '|newer:2' where name = 'ROUGE-1'")
        database.execute("update columns set context = 'another' where name = 'ROUGE-L'")
        database.execute("update columns set name = 'judge-DA' where name = 'length'")
    rows = "\n".join(f"i{k}\t0.5\t0.25" for k in range(12))
    (folder / "scores").mkdir()
    (folder / "scores" / "learned.tsv").write_text(f"instance\tg0\tg1\n{rows}\n")
    verified = bb.verify(folder).value
    reasons = {each.metric: each.reason or "" for each in verified.columns}
    assert {each.outcome for each in verified.columns} == {"not computed"}
    assert reasons["Nobodys"].startswith("no metric of this name is installed here")
    assert reasons["ROUGE-1"].startswith("another version of the metric is here: ROUGE-1|")
    assert reasons["ROUGE-L"] == "the references or inputs that it saw are not in this folder"
    assert reasons["judge-DA"] == "it asks a model elsewhere, whose answers may change"
    assert reasons["learned"] == "imported: computed elsewhere"
    assert column(verified, "learned").count("not computed") == 2


def test_a_changed_number_of_the_ranking_is_found_where_it_stands(folder: Path) -> None:
    def change(ranking: dict[str, Any]) -> None:
        ranking["metrics"][0]["correlation"] = float(np.nextafter(ranking["metrics"][0]["correlation"], 1.0))
        ranking["ensemble"]["lambda"] += 1e-12
        ranking["generators"][0]["rank"] = 2

    name, best = edit_ranking(folder, change)
    verified = bb.verify(folder).value
    places = differing(verified)
    assert places == {
        f"metrics, {best['metrics'][0]['name']}, correlation",
        "ensemble, lambda",
        f"generators, {best['generators'][0]['name']}, rank",
    }
    assert verified.ranking is not None
    assert verified.ranking.id == name
    assert all(each.outcome == "equal" for each in verified.columns)


def test_generators_in_another_order_are_found_though_every_rank_stays(folder: Path) -> None:
    edit_ranking(folder, lambda ranking: ranking["generators"].reverse())
    assert differing(bb.verify(folder).value) == {"generators, order"}


def test_a_ranking_of_judgments_that_the_board_has_not_differs(folder: Path) -> None:
    edit_ranking(folder, lambda ranking: ranking.update(aggregate="fluency"))
    verified = bb.verify(folder).value
    assert verified.ranking is not None
    assert verified.ranking.outcome == "differs"
    assert "fluency" in (verified.ranking.numbers[0].reason or "")


@pytest.mark.parametrize(
    "options",
    [
        {"k": 2, "seed": 3, "draws": 20, "sides": "one"},
        {"lam": 0.5, "draws": 0},
        {"method": "best-subset", "k": 2, "draws": 10, "resampled": "generators"},
        {"by": "length", "draws": 10},
        {"references": "Ada", "draws": 10},
        {"part": Slice(domain="sea", tag="calm"), "draws": 10},
        {"aggregate": "adequacy", "draws": 10},
        {"baseline": "g1", "draws": 10},
        {"baseline": "chrF", "draws": 10},
        {"statistic": "spearman", "draws": 10},
    ],
)
def test_a_ranking_is_made_again_with_the_options_it_was_made_with(tmp_path: Path, options: dict[str, Any]) -> None:
    folder = ferry_folder(tmp_path / "ferry", **options)
    verified = bb.verify(folder, metrics="length").value
    assert differing(verified) == set()
    assert verified.ranking is not None
    assert verified.ranking.outcome == "equal"
    notes = verified.ranking.notes
    assert bool(notes) == ("by" in options)
    if notes:
        assert notes[0].startswith("length leads by choice: by itself ")


def test_without_judgments_numbers_of_generators_are_computed_and_the_others_are_not(folder: Path) -> None:
    for path in (folder / "judgments").iterdir():
        path.unlink()
    verified = bb.verify(folder).value
    assert verified.ranking is not None
    assert not verified.differs
    reasons = {number.reason for number in verified.ranking.numbers}
    assert reasons == {"people's judgments are not in this folder"}
    sections = {section.section: section for section in verified.ranking.sections}
    assert sections["metrics"].not_computed > 0
    assert sections["generators"].equal > 20
    assert sections["ensemble"].equal == 0


def test_with_fewer_judgments_it_is_said_how_many_the_ranking_rests_on(folder: Path) -> None:
    board = bb.open(folder)
    fewer = JudgmentColumns(("adequacy",))
    for judgment in list(board.judgments.each(tuple(i.id for i in board.instances), tuple(r.name for r in board.rows))):
        if judgment.instance != "i0":
            (row,) = judgment.outputs
            fewer.add(
                board.position[judgment.instance], board.row_position[row], dict(judgment.values), annotator="ann"
            )
    bb.save(replace(board, judgments=fewer.build(), home=None), folder.parent / "fewer")
    for name in ("rankings", "ensembles", ".billboards"):
        (folder / name).rename(folder.parent / "fewer" / name)
    verified = bb.verify(folder.parent / "fewer").value
    assert verified.ranking is not None
    assert not verified.differs
    assert {number.reason for number in verified.ranking.numbers} == {
        "it rests on 48 judged outputs, and this folder holds 44 of them"
    }


def test_a_ranking_on_a_private_share_is_equal_for_its_owner_and_said_to_be_private_to_others(tmp_path: Path) -> None:
    folder = ferry_folder(tmp_path / "ferry", trust=TrustRules(private_share=0.4, private_seed=3))
    own = bb.verify(folder, metrics="length").value
    assert own.ranking is not None
    assert own.ranking.outcome == "equal"
    board = without_private(bb.open(folder))
    public = tmp_path / "public"
    bb.save(replace(board, home=None), public)
    for name in ("rankings", "ensembles", ".billboards"):
        (folder / name).rename(public / name)
    verified = bb.verify(public, metrics="length").value
    assert verified.ranking is not None
    assert not verified.differs
    assert {number.reason for number in verified.ranking.numbers} == {
        "metrics are measured on private judgments, which are not in this folder"
    }


def test_what_a_site_found_about_entries_decides_the_ranking_and_must_be_words(folder: Path) -> None:
    (path,) = (folder / "rankings").iterdir()
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "findings": {"out": {"g0": "a copy"}}}))
    assert "generators, g0, rank" in differing(bb.verify(folder, metrics="length").value)
    path.write_text(json.dumps({**document, "findings": {"doubts": {"g0": 5}}}))
    verdict = bb.verify(folder, metrics="length").value.ranking
    assert verdict is not None
    assert "where a list was expected" in (verdict.numbers[0].reason or "")


def test_changed_judgments_differ(folder: Path) -> None:
    (path,) = (folder / "judgments").iterdir()
    text = path.read_text()
    assert '"adequacy": 5}' in text
    path.write_text(text.replace('"adequacy": 5}', '"adequacy": 1}', 1))
    assert "board_version" in differing(bb.verify(folder).value)


def test_scores_that_a_folder_lacks_are_named_and_other_metrics_are_compared(folder: Path) -> None:
    with closing(sqlite3.connect(folder / ".billboards" / "cells.sqlite")) as database, database:
        database.execute("delete from cells where column_id in (select id from columns where name = 'ROUGE-L')")
    verified = bb.verify(folder).value
    assert verified.ranking is not None
    assert not verified.differs
    numbers = {number.place: number.reason for number in verified.ranking.numbers}
    assert numbers["metrics, ROUGE-L, correlation"] == "scores of ROUGE-L are not in this folder"
    assert "metrics, ROUGE-1, correlation" not in numbers


def test_who_is_said_to_stand_out_is_compared_by_name_and_what_is_not_told_is_not(folder: Path) -> None:
    edit_ranking(folder, lambda ranking: ranking["outstanding"]["generators"]["chrF"].reverse())
    assert differing(bb.verify(folder, metrics="length").value) == set()
    edit_ranking(folder, lambda ranking: ranking["outstanding"]["generators"].update(chrF=["nobody"]))
    assert differing(bb.verify(folder, metrics="length").value) == {"outstanding, generators, chrF"}
    edit_ranking(folder, lambda ranking: ranking["outstanding"].update(baseline="nobody"))
    assert bb.verify(folder, metrics="length").value.differs
    edit_ranking(folder, lambda ranking: ranking.pop("outstanding"))
    assert differing(bb.verify(folder, metrics="length").value) == set()


def test_nothing_is_tested_against_a_metric_without_scores_here(tmp_path: Path) -> None:
    folder = ferry_folder(tmp_path / "ferry", baseline="ROUGE-L")
    with closing(sqlite3.connect(folder / ".billboards" / "cells.sqlite")) as database, database:
        database.execute("delete from cells where column_id in (select id from columns where name = 'ROUGE-L')")
    verified = bb.verify(folder, metrics="length").value
    assert verified.ranking is not None
    assert not verified.differs
    numbers = {number.place: number.reason for number in verified.ranking.numbers}
    for place in ("baseline", "generators, ROUGE-L", "p_metrics, ROUGE-1"):
        assert numbers[f"outstanding, {place}"] == "scores of ROUGE-L are not in this folder"
    assert "outstanding, generators, ROUGE-1" not in numbers


def test_a_part_is_read_from_the_words_that_name_it() -> None:
    for part in (Slice(), Slice(domain="a, b"), Slice(document="d"), Slice(domain="x", document="y", tag="z")):
        assert slice_of(str(part)) == part
    with pytest.raises(InvalidInput, match="names no part"):
        slice_of("the nicest half")


def test_the_latest_ranking_is_taken_and_any_other_by_its_id(folder: Path) -> None:
    first = next(path.stem for path in (folder / "rankings").iterdir())
    document = json.loads((folder / "rankings" / f"{first}.json").read_text())
    document["created"] = "2020-01-01T00:00:00+00:00"
    (folder / "rankings" / f"{first}.json").write_text(json.dumps(document))
    bb.rank(bb.open(folder), seed=7, draws=5, save=True)
    latest, asked = bb.verify(folder).value.ranking, bb.verify(folder, ranking=first).value.ranking
    assert latest is not None
    assert asked is not None
    assert (latest.id != first, asked.id) == (True, first)
    with pytest.raises(UnknownName, match="ranking"):
        bb.verify(folder, ranking="0123456789abcdef")


def test_the_command_says_it_in_tables_and_its_exit_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(folder), "--jobs", "1"]) == 0
    said = capsys.readouterr()
    assert "scores computed again" in said.out
    assert "that differ" not in said.out
    assert said.err.splitlines()[-1] == "Nothing differs."
    edit_scores(folder, "ROUGE-L", "g1", lambda scores: scores.__setitem__(3, 1.0))
    assert main(["verify", str(folder), "--jobs", "1", "--wide"]) == 1
    heads, _, row = capsys.readouterr().out.partition("scores that differ\n")[2].splitlines()[:3]
    assert " ".join(heads.split()) == "metric generator scores different of by up to first at because"
    assert row.split() == ["ROUGE-L", "g1", "differs", "1", "36", "0.111", "i3", "–"]
    assert main(["verify", str(folder), "--jobs", "1", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"], document["differs"]) == (1, "verification", True)
    cells = {cell["generator"]: cell for c in document["columns"] if c["metric"] == "ROUGE-L" for cell in c["cells"]}
    assert (cells["g1"]["outcome"], cells["g1"]["instance"], cells["g0"]["outcome"]) == ("differs", "i3", "equal")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere"],
        ["{folder}", "--metric", "Nobodys"],
        ["{folder}", "--ranking", "nowhere"],
        ["{folder}", "--key", "no key"],
        ["{folder}", "--sample", "0"],
        ["http://127.0.0.1:1/somewhere/else"],
        ["{folder}/board.toml"],
        ["{ranking}"],
        ["{ranking}", "--ranking", "x"],
    ],
)
def test_what_cant_be_read_or_asked_ends_with_2(
    sound: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ranking = next((sound / "rankings").iterdir())
    given = [text.format(folder=sound, ranking=ranking) for text in arguments]
    try:
        code = main(["verify", *given, "--jobs", "1"])
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_without_a_ranking_is_verified_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = ferry_folder(tmp_path / "ferry", keep=False)
    result = bb.verify(folder)
    assert result.value.ranking is None
    assert result.notes == ("no ranking is kept in this folder, so none was computed again",)


def test_a_key_is_named_and_nobody_signed(sound: Path) -> None:
    verified = bb.verify(sound, key="11" * 32, metrics="length").value
    assert verified.differs
    assert "is not signed, although a key is named" in verified.problems[0]


def test_a_ranking_that_somebody_quotes_is_held_against_a_folder(sound: Path, tmp_path: Path) -> None:
    quoted = tmp_path / "quoted.json"
    document = dict(bb.rank(bb.open(sound), draws=30).document)
    quoted.write_text(json.dumps(document))
    assert not bb.verify(sound, ranking=quoted, metrics="length").value.differs
    document["metrics"][0]["n"] += 0
    document["generators"][0]["covered"]["length"] = 11
    quoted.write_text(json.dumps(document))
    verified = bb.verify(sound, ranking=quoted, metrics="length").value
    assert differing(verified) == {f"generators, {document['generators'][0]['name']}, covered, length"}
