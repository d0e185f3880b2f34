"""Published tables as data: theirs beside ours through the package's own options."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import small_board

from billboards.__main__ import main
from billboards.analyses.published import published, published_names, read_publication
from billboards.board import human_scores
from billboards.board.writing import write_board
from billboards.errors import BillboardsError


def test_every_publication_names_its_source_and_its_cells_are_numbers() -> None:
    assert published_names() == ("beametrics", "billboard", "deutsch", "wmt23")
    for name in published_names():
        tables = published(name).value
        assert tables.source
        assert len(tables.cells) == {"beametrics": 1166, "billboard": 77, "deutsch": 99, "wmt23": 272}[name]
        assert tables.computed == ()


def test_table_2_stands_there_as_it_is_printed() -> None:
    cells = {(c.table, c.block, c.row, c.column): c.theirs for c in published("beametrics").value.cells}
    assert cells["2", "Max", "ROUGE-1", "WMT"] == 16.0
    assert cells["2", "1", "ROUGE-1", "Rea"] == 47.4
    assert cells["2", "Max", "Nubia", "Web flu"[:3]] > 0
    assert cells["6", "Max", "METEOR", "SumE rel"] == 22.3
    assert len([key for key in cells if key[3] == "Rea" and key[0] == "2"]) == 24


def test_every_set_and_row_can_be_computed_with_what_there_is() -> None:
    from billboards.importers import IMPORTERS
    from billboards.metrics.discovery import metric

    publication = read_publication("beametrics")
    for judged_set in publication["sets"]:
        assert judged_set["importer"] in IMPORTERS
    for row, specs in publication["rows"].items():
        if row not in ("BERTScore P", "BERTScore R", "BERTScore F1", "BLEURT"):
            for spec in specs:
                assert metric(spec).name


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(BillboardsError, match="beametric"):
        published("beametric")
    with pytest.raises(BillboardsError, match="SumF"):
        published("beametrics", columns=["SumF"])
    with pytest.raises(BillboardsError, match="no such folder"):
        published("beametrics", tmp_path / "nowhere")
    absent = published("beametrics", tmp_path, columns=["SumE"]).value
    assert absent.computed == ()
    assert {cell.reason for cell in absent.cells} == {"SumE is not at hand: no folder summeval"}


def overlap(output: str, reference: str) -> float:
    """ROUGE-1 of plain words, written out."""
    ours, theirs = Counter(output.split()), Counter(reference.split())
    return 2 * (ours & theirs).total() / ((ours.total() + theirs.total()) or 1)


def test_a_row_is_scored_with_the_first_reference_or_by_the_mean_over_all_an_absent_one_being_empty(
    tmp_path: Path,
) -> None:
    board = small_board()
    first = board.instances[0]
    lacking = replace(first, references=first.references[:1])
    board = replace(board, instances=(lacking, *board.instances[1:]))
    write_board(board, tmp_path / "realsumm")
    cells = published("beametrics", tmp_path, columns=["Rea"]).value.cells
    ours = {(cell.table, cell.block, cell.row): cell.ours for cell in cells}
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (len(board.rows), 12))
    machines = [(g, k) for g in range(4) for k in range(12)]
    texts = [(board.rows[g].texts[k] or "", board.instances[k].references) for g, k in machines]
    given = [people[place] for place in machines]
    one = [overlap(output, references[0].text) for output, references in texts]
    mean = [sum(overlap(output, each.text) for each in references) / 2 for output, references in texts]
    assert ours["2", "1", "ROUGE-1"] == pytest.approx(100 * np.corrcoef(one, given)[0, 1])
    assert ours["2", "Max", "ROUGE-1"] == pytest.approx(100 * np.corrcoef(mean, given)[0, 1])
    assert ours["2", "0", "Length"] is not None
    assert {cell.reason for cell in cells if cell.row == "ROUGE-1"} == {"48 of 2,500 judged outputs are at hand"}


@pytest.mark.data
def test_summeval_is_within_two_or_says_why(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = published("beametrics", shared_data, columns=["SumE"])
    tables = result.value
    assert len(tables.computed) == 4 * (13 + 17)
    assert tables.within(0.3) >= 50
    assert len(tables.further) == 5
    assert all(cell.reason and "capitalises" in cell.reason for cell in tables.further)
    assert result.words[0].startswith("120 of ")
    assert main(["published", "beametrics", "--csv"]) == 0
    assert capsys.readouterr().out.count("\n") == 1167


@pytest.mark.data
def test_realsumm_and_pascal_are_read_from_a_sample_that_says_what_it_lacks(shared_data: Path) -> None:
    result = published("beametrics", shared_data.parent / "samples", columns=["Rea", "Pas"])
    assert {cell.column for cell in result.value.computed} == {"Rea", "Pas"}
    assert "Rea: 75 of 2,500 judged outputs are at hand." in result.words


@pytest.mark.data
def test_wmt23_agrees_with_mt_metrics_eval_in_every_value(shared_data: Path) -> None:
    tables = published("wmt23", shared_data).value
    assert len(tables.computed) == 272
    assert tables.within(0.005) == 272


def test_cells_that_no_public_data_give_say_why_each_by_its_table(tmp_path: Path) -> None:
    result = published("deutsch", tmp_path)
    assert not result.value.computed
    by_table = {cell.table: cell.reason or "" for cell in result.value.cells}
    assert "Prism" in by_table["2"]
    assert "not published" in by_table["3"]
    assert "QuestEval's weights" in by_table["4"]
    assert result.words[0] == "99 published cells."
    assert sum("not computed" in line for line in result.words) == 3
    # Without data nothing was tried, so there is nothing to explain.
    assert published("deutsch").words == ("99 published cells; name the folder with the data to compute them again.",)
