"""Both tables of a suite: values as the boards' own statistics give them, blocks, groups, averages, languages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr
from small_suites import SUITE, valued_board, written_suite

import billboards as bb
from billboards.analyses.suite.keeping import read_results
from billboards.analyses.suite.open import OpenSuite, open_suite
from billboards.analyses.suite.page import suite_html
from billboards.analyses.suite.results import SuiteColumn, SuiteResult, SuiteRow
from billboards.analyses.suite.shown_tables import suite_table
from billboards.board import ImportedColumn, human_scores
from billboards.board.writing import write_board
from billboards.metrics.discovery import metric
from billboards.show.documents import document_of, dumps, result_of
from billboards.show.table import records, shown


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> OpenSuite:
    suite = open_suite(written_suite(tmp_path_factory.mktemp("suite")))
    suite.run(draws=200)
    return suite


@pytest.fixture(scope="module")
def result(ran: OpenSuite) -> SuiteResult:
    return ran.tables(draws=200).value


def column(result: SuiteResult, key: str) -> SuiteColumn:
    return next(one for one in result.columns if one.key == key)


def test_columns_are_the_dimensions_with_their_roles(result: SuiteResult) -> None:
    assert [(c.key, c.role, c.given) for c in result.columns] == [
        ("One:truth", "correctness", "values"),
        ("One:style", "other", "values"),
        ("Two:truth", "correctness", "values"),
        ("Pairs:better", "correctness", "preferences"),
    ]


def test_rows_stand_in_three_blocks(result: SuiteResult) -> None:
    assert [(row.metric, row.block) for row in result.rows] == [
        ("ROUGE-1", "all"),
        ("chrF", "all"),
        ("ROUGE-1", "one"),
        ("chrF", "one"),
        ("length", "none"),
    ]


@pytest.mark.parametrize(("block", "references"), [("all", ["ref0", "ref1"]), ("one", ["ref0"])])
def test_a_cell_is_scipys_correlation_over_all_judged_outputs(
    ran: OpenSuite, result: SuiteResult, block: str, references: list[str]
) -> None:
    board = bb.open(ran.suite.boards[0].folder)
    scores: list[object] = []
    people = human_scores(board.judgments, board.aggregate("truth"), board.dimensions, (3, 12))
    for row in board.rows:
        texts = board.reference_texts(tuple(references))
        scores.append(metric("chrF").score_batch(bb.Batch([text or "" for text in row.texts], texts)))
    cell = result.cell(SuiteRow("chrF", "all" if block == "all" else "one"), column(result, "One:truth"))
    assert cell is not None
    x, y = np.array(scores, np.float64).ravel(), people.ravel()
    assert cell.measures["pearson"].value == pytest.approx(pearsonr(x, y).statistic)
    assert cell.measures["pearson"].p == pytest.approx(pearsonr(x, y).pvalue)
    assert cell.measures["kendall"].value == pytest.approx(kendalltau(x, y).statistic)
    assert cell.measures["kendall"].p == pytest.approx(kendalltau(x, y).pvalue)
    assert cell.n == 36


def test_intervals_hold_their_values_and_have_width(result: SuiteResult) -> None:
    measures = [measure for cell in result.cells for measure in cell.measures.values()]
    assert len(measures) == 3 * 5 * 2 + 5 * 2
    for one in measures:
        assert one.interval is not None
        assert one.interval[0] < one.value < one.interval[1]


def test_preferences_have_wmts_kendall(ran: OpenSuite, result: SuiteResult) -> None:
    """People put the three pairs of the first instance the wrong way round; length ties where both kept as much."""
    cell = result.cell(SuiteRow("length", "none"), column(result, "Pairs:better"))
    board = bb.open(ran.suite.boards[2].folder)
    agreed = 0
    for k in range(9):
        lengths = {row.name: len((row.texts[k] or "").split()) for row in board.rows}
        for first, second in (("good", "fair"), ("good", "poor"), ("fair", "poor")):
            better, worse = (second, first) if k == 0 else (first, second)
            agreed += 1 if lengths[better] > lengths[worse] else -1
    assert cell is not None
    assert cell.measures["preferences"].value == pytest.approx(agreed / 27)
    assert cell.n == 27


def test_a_board_with_one_reference_says_the_same_with_all(result: SuiteResult) -> None:
    two = column(result, "Two:truth")
    both = [result.cell(SuiteRow("chrF", block), two) for block in ("all", "one")]
    assert both[0] is not None
    assert both[1] is not None
    assert both[0].measures == both[1].measures


def test_averages_are_weighted_and_over_columns_that_fit(result: SuiteResult) -> None:
    pearson = next(a for a in result.averages if (a.metric, a.block, a.statistic) == ("chrF", "all", "pearson"))
    assert pearson.columns == ("One:truth", "Two:truth")
    values = [result.cell(SuiteRow("chrF", "all"), column(result, key)) for key in pearson.columns]
    one, two = (cell.measures["pearson"].value for cell in values if cell is not None)
    assert pearson.value == pytest.approx((one + 2 * two) / 3)
    kendall = next(a for a in result.averages if (a.metric, a.statistic) == ("chrF", "kendall"))
    assert kendall.columns == ("One:truth", "Two:truth", "Pairs:better")


def test_a_metric_that_lacks_a_board_has_no_average_and_the_others_keep_theirs(tmp_path: Path) -> None:
    board = valued_board("one", 6, seed=1)
    images = tuple(replace(instance, input=None, image=f"{instance.id}.png") for instance in board.instances)
    write_board(replace(board, instances=images), tmp_path / "one")
    write_board(valued_board("two", 6, seed=2), tmp_path / "two")
    boards = "".join(f'[[boards]]\nfolder = "{name}"\nothers = []\n' for name in ("one", "two"))
    (tmp_path / "s.toml").write_text(f'metrics = ["length", "abstractness-1"]\n{boards}')
    run = open_suite(tmp_path / "s.toml").run(draws=50).value
    assert [a.metric for a in run.kept.result.averages if a.statistic == "pearson"] == ["length"]
    reasons = {cell.metric: cell.reason for cell in run.kept.result.cells if cell.reason}
    assert reasons == {"abstractness-1": "one: counts words of the input, and there the inputs are images"}
    standing = next(s for s in run.kept.rankings[0].standings if s.metric == "abstractness-1")
    assert (standing.rank, standing.reason) == (None, "no scores on one")


def test_a_group_of_boards_is_one_column(tmp_path: Path) -> None:
    text = SUITE.replace('label = "One"', 'label = "One"\ngroup = "Both"').replace(
        'label = "Two"', 'label = "Two"\ngroup = "Both"'
    )
    result = open_suite(written_suite(tmp_path, text)).run(["chrF"], draws=100).value.kept.result
    both = column(result, "Both:truth")
    assert both.weights == {"One": pytest.approx(1 / 3), "Two": pytest.approx(2 / 3)}
    parts = {part.column: part.measures["pearson"] for part in result.parts if part.block == "all"}
    cell = result.cell(SuiteRow("chrF", "all"), both)
    assert cell is not None
    assert cell.n == 66
    mean = (parts["One:truth"].value + 2 * parts["Two:truth"].value) / 3
    assert cell.measures["pearson"].value == pytest.approx(mean)
    errors = [(parts["One:truth"].se or 0) / 3, 2 * (parts["Two:truth"].se or 0) / 3]
    assert cell.measures["pearson"].se == pytest.approx(np.hypot(errors[0], errors[1]))


def test_metrics_are_run_as_the_language_asks(tmp_path: Path) -> None:
    write_board(valued_board("one", 5, seed=1, language="ru"), tmp_path / "one")
    write_board(valued_board("two", 5, seed=2, language="zh-Hans"), tmp_path / "two")
    boards = "".join(f'[[boards]]\nfolder = "{name}"\n' for name in ("one", "two"))
    (tmp_path / "s.toml").write_text(
        f'metrics = ["BLEU", "ROUGE-1", "METEOR", "chrF", "ROUGE-2(stemmer=True)"]\n{boards}'
        'instead = { chrF = "chrF(beta=1)" }\n'
    )
    chosen = {one.name: one for one in open_suite(tmp_path / "s.toml").chosen}
    assert chosen["BLEU"].substitutes == {"two": "BLEU(tokenize=zh)"}
    assert chosen["ROUGE-1"].substitutes == dict.fromkeys(("one", "two"), "ROUGE-1(tokenizer=unicode)")
    # The language chooses each option that nobody wrote, as on the board itself.
    stemmed = "ROUGE-2(stemmer=True,tokenizer=unicode)"
    assert chosen["ROUGE-2(stemmer=True)"].substitutes == dict.fromkeys(("one", "two"), stemmed)
    assert chosen["chrF"].substitutes == {"two": "chrF(beta=1)"}
    assert chosen["METEOR"].missing == {"one": "made for en, not for ru", "two": "made for en, not for zh-Hans"}


def test_scores_that_came_with_a_board_count_where_nothing_can_be_run(tmp_path: Path) -> None:
    board = valued_board("one", 6, seed=1)
    values = {row.name: np.linspace(k, k + 1, 6) for k, row in enumerate(board.rows)}
    column = ImportedColumn(
        name="oracle", source_name="oracle", signature="imported:1", values=values, references=("ref0", "ref1")
    )
    write_board(replace(board, imported=(column,)), tmp_path / "one")
    write_board(valued_board("two", 6, seed=2), tmp_path / "two")
    boards = "".join(f'[[boards]]\nfolder = "{name}"\nothers = []\n' for name in ("one", "two"))
    (tmp_path / "s.toml").write_text(f'metrics = ["oracle", "chrF"]\n{boards}')
    result = open_suite(tmp_path / "s.toml").run(draws=20).value.kept.result
    cells = {(cell.column, cell.metric, cell.block): cell for cell in result.cells}
    assert cells["one:truth", "oracle", "all"].n == 18
    assert cells["one:truth", "oracle", "all"].signatures[0].startswith("imported:")
    assert cells["two:truth", "oracle", "all"].reason == "two: it came with other boards and can't be run here"
    assert result.missing == {}


def test_nothing_is_said_to_lack_beside_a_released_column_that_is_shown(tmp_path: Path) -> None:
    """COMET can't be run here without a checkpoint, but its scores with all references came with the board."""
    board = valued_board("one", 6, seed=1)
    values = {row.name: np.linspace(k, k + 1, 6) for k, row in enumerate(board.rows)}
    column = ImportedColumn(
        name="COMET", source_name="COMET", signature="imported:1", values=values, references=("ref0", "ref1")
    )
    write_board(replace(board, imported=(column,)), tmp_path / "one")
    write_board(valued_board("two", 6, seed=2), tmp_path / "two")
    (tmp_path / "s.toml").write_text('metrics = ["COMET", "chrF"]\n[[boards]]\nfolder = "one"\nothers = []\n')
    table = suite_table(open_suite(tmp_path / "s.toml").run(draws=20).value.kept.result, "correctness", "pearson")
    assert [row["name"] for row in table.rows].count("COMET") == 1
    assert "COMET needs" not in " ".join(table.notes)
    with (tmp_path / "s.toml").open("a") as file:
        file.write('[[boards]]\nfolder = "two"\nothers = []\n')
    table = suite_table(open_suite(tmp_path / "s.toml").run(draws=20).value.kept.result, "correctness", "pearson")
    assert [note.startswith("Left out: COMET: two: ") for note in table.notes if "COMET needs" in note] == [True]


def test_a_result_that_is_read_back_equals_the_one_written(ran: OpenSuite, result: SuiteResult) -> None:
    assert result_of(SuiteResult, json.loads(dumps(document_of(result)))) == result
    kept = read_results(ran.suite)
    assert kept is not None
    assert kept.result == result
    assert kept.rankings == ran.rankings(draws=200)


def test_the_table_shows_hundredths_and_its_records_hold_p_interval_and_n(result: SuiteResult) -> None:
    table = suite_table(result, "correctness", "pearson")
    assert [c.header for c in table.visible] == ["metric", "refs", "One", "Two", "Pairs", "Pairs ties %", "average"]
    texts = dict(zip([(row["name"], row["block"]) for row in table.rows], shown(table), strict=True))
    cell = result.cell(SuiteRow("chrF", "all"), column(result, "One:truth"))
    assert cell is not None
    assert texts["chrF", "all"][2] == f"{100 * cell.measures['pearson'].value:.1f}"
    record = next(r for r in records(table) if (r["name"], r["block"]) == ("chrF", "all"))
    assert record["One:truth n"] == 36
    assert record["One:truth p"] == cell.measures["pearson"].p
    assert record["One:truth 95%_low"] == pytest.approx(100 * (cell.measures["pearson"].interval or (0, 0))[0])
    assert any("Pairs: people gave preferences" in note for note in table.notes)
    assert any("Average over One and Two" in note for note in table.notes)


def test_the_page_is_self_contained_and_shows_the_figure(ran: OpenSuite, result: SuiteResult) -> None:
    page = suite_html(result, ran.rankings(draws=50))
    assert "Ports of call" in page
    assert "tasks, from easy to difficult" in page or "data:image/svg+xml" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page


def test_families_are_means_over_their_metrics_by_difficulty(result: SuiteResult) -> None:
    assert [(p.family, p.column) for p in result.families] == [
        (family, key) for key in ("One:truth", "Two:truth", "Pairs:better") for family in ("words", "letters")
    ]
    cell = result.cell(SuiteRow("chrF", "all"), column(result, "Pairs:better"))
    assert cell is not None
    assert result.families[-1].value == cell.measures["preferences"].value
