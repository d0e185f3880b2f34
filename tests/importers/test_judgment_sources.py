"""MQM averages, THumB ratings and direct assessment, laid on boards that exist already."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.board import Board, human_scores
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import ImportRefused
from billboards.importers import billboard, mqm, thumb, wmt_da

Write = Callable[..., Path]
DA = """\
SYS SEGID RAW.SCR Z.SCR N SID
X.1 s1 80.0 0.5 1 1
X.1 s3 60.0 -0.25 2 3
Human-P.0 s1 95.5 1.0 1 1
"""


@pytest.fixture
def folder(translations: Write) -> Path:
    """A board folder of X.1, Y.2, Human-A and Human-P on three segments, without judgments."""
    root = translations()
    found = billboard.billboard(root / "billboard", board="wmt20-en-de", references=root / "references")
    return write_board(found.board, root / "board")


def human(board: Board, aggregate: str) -> dict[str, list[float]]:
    shape = (len(board.rows), len(board.instances))
    found = human_scores(board.judgments, board.aggregate(aggregate), board.dimensions, shape)
    return {row.name: np.nan_to_num(found[k], nan=-1).tolist() for k, row in enumerate(board.rows)}


def da(folder: Path, text: str = DA) -> Imported:
    path = folder.parent / "metrics-ad-seg-scores-en-de.csv"
    path.write_text(text)
    return wmt_da.wmt_da(path, into=folder)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(ImportRefused) as refusal:
        da(folder, text)
    return str(refusal.value)


def test_direct_assessment_is_added_raw_and_standardised(folder: Path) -> None:
    board = da(folder).board
    missing = -1.0
    assert human(board, "da")["X.1"] == [80.0, missing, 60.0]
    assert human(board, "da")["Human-P"] == [95.5, missing, missing]
    assert human(board, "da_z")["X.1"] == [0.5, missing, -0.25]
    assert board.dimensions["da"].range == (0.0, 100.0)
    assert board.judgments.campaigns == ("da",)
    assert "Campaign da" in (board.card.comments or "")


def test_direct_assessment_is_found_in_its_folder(folder: Path) -> None:
    da(folder)
    (folder.parent / "metrics-ad-seg-scores-zh-en.csv").write_text("another pair's")
    assert len(wmt_da.wmt_da(folder.parent, into=folder).board.judgments) == 3


def test_what_ranks_stays_what_it_was(folder: Path) -> None:
    ranked = write_board(mqm.mqm(folder.parent / "mqm/newstest2020/ende", into=folder).board, folder.parent / "b")
    board = da(ranked).board
    assert board.ranks == "mqm"
    assert board.judgments.campaigns == ("da", "mqm")
    assert human(board, "mqm")["X.1"] == [96.0, 92.0, 88.0]
    assert human(board, "da")["X.1"] == [80.0, -1, 60.0]


def test_the_first_judgments_of_a_board_rank_it(folder: Path) -> None:
    assert open_board(folder).ranks is None
    assert da(folder).board.ranks == "da"


def test_systems_that_are_not_on_the_board_are_noted(folder: Path) -> None:
    found = da(folder, DA + "Z.9 s1 10 0 1 1\n")
    assert any("left out the judgments of Z.9" in note for note in found.notes)
    assert len(found.board.judgments) == 3


def test_an_exact_name_goes_before_one_without_its_number(folder: Path) -> None:
    generators = folder / "generators"
    (generators / "X.jsonl").write_text((generators / "X.1.jsonl").read_text())
    board = da(folder, DA + "X s2 42 0 1 2\n").board
    assert human(board, "da")["X"] == [-1, 42.0, -1]
    assert human(board, "da")["X.1"] == [80.0, -1, 60.0]


def test_two_systems_that_are_one_generator_are_refused(folder: Path) -> None:
    assert "judged twice on 's1', first on line 4" in refused(folder, DA + "Human-P s1 10 0 1 1\n")


def test_the_same_campaign_is_not_added_twice(folder: Path) -> None:
    again = write_board(da(folder).board, folder.parent / "again")
    with pytest.raises(ImportRefused, match="has judgments of campaign 'da' already"):
        da(again)


def test_a_dimension_on_another_scale_is_refused(folder: Path) -> None:
    settings = folder / "board.toml"
    settings.write_text(settings.read_text().replace("[card]", "[dimensions.da]\nrange = [1, 5]\n[card]"))
    with pytest.raises(ImportRefused, match="declares da on another scale"):
        da(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SYS SEGID", "SEGID SYS", "csv:1: the first line must read 'SYS SEGID RAW.SCR Z.SCR N SID'"),
        ("X.1 s3", "X.1 s4", "csv:3: segment 's4' is not on board wmt20-en-de"),
        ("X.1 s3", "X.1 s1", "csv:3: SID '3' of 's1' is '1' elsewhere in the file"),
        ("80.0", "100.5", "csv:2: RAW.SCR 100.5 lies outside 0 to 100"),
        ("80.0", "high", "csv:2: RAW.SCR 'high' is not a finite number"),
        (" 2 3", " 2", "csv:3: 5 columns where 6 are needed"),
        (" 2 3", " two 3", "csv:3: N 'two' must be the number of ratings"),
        ("1.0 1 1\n", "1.0 1 1", "csv:4: the last line has no line end"),
    ],
)
def test_damaged_direct_assessment_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    assert old in DA
    assert message in refused(folder, DA.replace(old, new))


def test_a_rating_that_is_not_there_stays_missing(folder: Path) -> None:
    found = da(folder, DA.replace("60.0 -0.25", "NaN NaN"))
    assert human(found.board, "da")["X.1"] == [80.0, -1, -1]
    assert any("1 lines say that nobody judged" in note for note in found.notes)


MQM = "system mqm_avg_score seg_id\nX.1 -0.000000 1\nX.1\tNone 2\nX.1 -25.0 3\n"


def averages(folder: Path, text: str) -> Imported:
    path = folder.parent / "any.avg_seg_scores.tsv"
    path.write_text(text)
    return mqm.mqm(path, into=folder)


def test_mqm_counts_segments_from_one_and_none_is_missing(folder: Path) -> None:
    found = averages(folder, MQM)
    assert human(found.board, "mqm")["X.1"] == [100.0, -1, 0.0]
    assert any("number n was taken for the n-th instance" in note for note in found.notes)
    assert any("1 lines say that nobody judged" in note for note in found.notes)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("X.1 -25.0 3", "X.1 -25.0 4", "tsv:4: seg_id '4' is no segment of the board, which has 3"),
        ("X.1 -25.0 3", "X.1 -25.0 0", "tsv:4: seg_id '0' is no segment"),
        ("X.1 -25.0 3\n", "", "X.1: no judgment of 1 of 3 segments, first 's3'"),
        ("X.1 -25.0 3", "X.1 -25.0 1", "tsv:4: X.1 is judged twice on 's1', first on line 2"),
        ("-25.0", "-25.1", "tsv:4: mqm_avg_score -25.1 lies outside -25 to 0"),
        ("-25.0", "1", "tsv:4: mqm_avg_score 1 lies outside"),
        ("system mqm", "mqm system", "tsv:1: the first line must read"),
        ("X.1", "Q", "judges Q, none of which is on board wmt20-en-de"),
    ],
)
def test_damaged_mqm_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(ImportRefused) as refusal:
        averages(folder, MQM.replace(old, new))
    assert message in str(refusal.value)


def test_averages_that_nobody_gave_are_refused(folder: Path) -> None:
    with pytest.raises(ImportRefused, match="says of every output on board wmt20-en-de that nobody judged it"):
        averages(folder, "system mqm_avg_score seg_id\n" + "".join(f"X.1 None {k}\n" for k in (1, 2, 3)))


def test_several_files_of_averages_must_be_chosen_from(folder: Path) -> None:
    root = folder.parent / "mqm"
    settings = folder / "board.toml"
    settings.write_text(settings.read_text().replace('name = "wmt20-en-de"', 'name = "mine"'))
    with pytest.raises(ImportRefused, match=r"several candidates for MQM averages or ratings: .*ende/.*; give one"):
        mqm.mqm(root, into=folder)


GOOD = {"coherence": 4, "consistency": 5, "fluency": 3, "relevance": 2}


def rating(system: str, k: int, **changed: Any) -> dict[str, Any]:
    text = f"{system[0].lower()}{k}"
    row = {"SYS": system, "seg_id": f"s{k}", "set_id": k - 1, "hyp": text, "expert_annotations": [GOOD, GOOD]}
    return {**row, "turker_annotations": [{**GOOD, "coherence": 1}], "human_score": 3.5, **changed}


def summaries(folder: Path, rows: list[dict[str, Any]]) -> Imported:
    path = folder.parent / "cnndm_THumB-1.0.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return thumb.thumb(path, into=folder)


def test_every_rating_of_a_summary_is_kept_apart_by_campaign(folder: Path) -> None:
    rows = [rating("X.1", k) for k in (1, 2)] + [rating("X.1", 3, turker_annotations=float("nan"))]
    board = summaries(folder, rows).board
    assert len(board.judgments) == 3 * 2 + 2
    assert set(board.judgments.annotators) == {"expert1", "expert2", "turker1"}
    assert human(board, "expert")["X.1"] == [70.0, 70.0, 70.0]
    assert human(board, "crowd")["X.1"] == [55.0, 55.0, -1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"expert_annotations": float("nan")}, '"expert_annotations" must be a list of ratings; found nan'),
        ({"expert_annotations": [{**GOOD, "fluency": 6}]}, "fluency = 6 lies outside [1.0, 5.0]"),
        ({"expert_annotations": [{**GOOD, "fluency": True}]}, '"fluency" must be a number; found True'),
        ({"expert_annotations": [{**GOOD, "fluency": float("nan")}]}, '"fluency" must be a number; found nan'),
        ({"expert_annotations": [{"coherence": 1}]}, "expert1 must rate coherence, consistency, fluency, relevance"),
        ({"turker_annotations": None}, '"turker_annotations" must be a list of ratings; found None'),
        ({"SYS": None}, '"SYS" must be text; found None'),
        ({"seg_id": "s2"}, "X.1 is judged twice on 's2', first on line 1"),
        ({"seg_id": "s9"}, "segment 's9' is not on board"),
    ],
)
def test_a_damaged_rating_is_refused_with_its_line(folder: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ImportRefused) as refusal:
        summaries(folder, [rating("X.1", 2), rating("X.1", 3), rating("X.1", 1, **changed)])
    assert f"jsonl:3: {message}" in str(refusal.value)


def test_ratings_of_other_texts_altogether_are_refused(folder: Path) -> None:
    with pytest.raises(ImportRefused, match=r"every judgment is of another text.*is it the right board"):
        summaries(folder, [rating("X.1", k, hyp="something else") for k in (1, 2, 3)])


def test_a_missing_rating_is_refused(folder: Path) -> None:
    with pytest.raises(ImportRefused, match=r"X\.1: no judgment of 1 of 3 segments, first 's2'"):
        summaries(folder, [rating("X.1", k) for k in (1, 3)])


@pytest.mark.data
def test_wmt20_direct_assessment_lies_on_the_imported_board(shared_data: Path, tmp_path: Path) -> None:
    sources = shared_data / "billboard/submissions/wmt20-zh-en"
    clone = tmp_path / "submissions/wmt20-zh-en"
    clone.parent.mkdir()
    clone.symlink_to(sources)
    references = shared_data / "wmt20_references"
    texts = billboard.billboard(tmp_path, board="wmt20-zh-en", references=references).board
    found = wmt_da.wmt_da(shared_data / "wmt20_da", into=write_board(texts, tmp_path / "board"))
    assert len(found.board.judgments) == 29248
    k = found.board.position["chinanews.com.102580::1"]
    assert human(found.board, "da")["Huoshan_Translate.919"][k] == 80.0
    judged = sum(any(value >= 0 for value in values) for values in human(found.board, "da").values())
    assert judged == 17
