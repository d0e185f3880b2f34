"""The report on one metric: its columns, rivals, overrating, speed, and the outputs it fails on."""

from __future__ import annotations

import pytest
from small_suites import compared_board, valued_board

from billboards.analyses.suite.open import OpenSuite, suite_of
from billboards.analyses.suite.report_results import MetricReport
from billboards.analyses.suite.report_tables import metric_report_html, metric_report_tables
from billboards.board.writing import write_board
from billboards.errors import UnknownName


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> OpenSuite:
    folder = tmp_path_factory.mktemp("report")
    write_board(valued_board("one", 12, seed=1, human=True), folder / "one")
    write_board(compared_board("pairs", 9, seed=3), folder / "pairs")
    return suite_of([folder / "one", folder / "pairs"])


@pytest.fixture(scope="module")
def report(suite: OpenSuite) -> MetricReport:
    return suite.report_metric("chrF", metrics=["chrF", "ROUGE-1", "length"], draws=100).value


def test_a_metric_is_placed_among_the_others_in_every_column(report: MetricReport) -> None:
    columns = {(one.column.key, one.block): one for one in report.columns}
    assert set(columns) == {
        (key, block) for key in ("one:truth", "one:style", "pairs:better") for block in ("all", "one")
    }
    truth = columns["one:truth", "all"]
    assert truth.of == 3
    assert truth.best in ("chrF", "ROUGE-1", "length")
    assert truth.ranks is not None
    assert truth.ranks[0] <= truth.ranks[1] <= 3
    assert truth.conditions > 10
    assert report.standing is not None
    assert report.of == 3


def test_overrating_is_measured_where_a_person_was_judged(report: MetricReport) -> None:
    boards = {one.board: one for one in report.boards}
    assert boards["one"].human == "Ada"
    assert boards["one"].overrating is not None
    assert boards["pairs"].overrating is None


def test_speed_is_what_scoring_took(report: MetricReport) -> None:
    for one in report.boards:
        assert one.speed is not None
        assert one.speed.measured == "while scoring"
        assert one.speed.per_second > 0


def test_failures_are_the_outputs_placed_furthest_from_people(report: MetricReport) -> None:
    one = next(board for board in report.boards if board.board == "one")
    gaps = [failed.metric_place - failed.human_place for failed in one.too_high]
    assert gaps == sorted(gaps, reverse=True)
    assert all(gap > 0 for gap in gaps)
    assert all(failed.metric_place < failed.human_place for failed in one.too_low)
    assert one.too_high[0].output


def test_wrong_pairs_are_shown_with_both_texts(report: MetricReport) -> None:
    """People were made to prefer the worse output of the first instance, so that a good metric fails there."""
    pairs = next(board for board in report.boards if board.board == "pairs")
    assert {failed.instance for failed in pairs.too_high} >= {"pairs-0"}
    assert all(failed.other for failed in pairs.too_high)


def test_the_page_and_the_tables_say_the_same(report: MetricReport) -> None:
    page = metric_report_html(report)
    titles = [table.title for table in metric_report_tables(report)]
    assert titles[0] == "chrF over boards: agreement with people × 100"
    assert "Where it fails worst" in page
    assert "<script" not in page


def test_a_metric_beside_those_of_the_boards_is_scored_first(suite: OpenSuite) -> None:
    report = suite.report_metric("ROUGE-L", draws=50).value
    assert report.metric == "ROUGE-L"
    assert {one.of for one in report.columns} == {2}


def test_an_unknown_metric_is_refused(suite: OpenSuite) -> None:
    with pytest.raises(UnknownName, match="no metric named 'chrF9'; did you mean"):
        suite.report_metric("chrF9")
