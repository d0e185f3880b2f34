"""The report on one metric: its columns, rivals, overrating, speed, and the outputs it fails on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_suites import compared_board, valued_board

from billboards.analyses._archive import open_home
from billboards.analyses.compare import compare_metrics
from billboards.analyses.overrating import measure_overrating, references_without
from billboards.analyses.rank import rank_board
from billboards.analyses.suite.open import OpenSuite, suite_of
from billboards.analyses.suite.report_results import MetricReport
from billboards.analyses.suite.report_tables import metric_report_html, metric_report_tables
from billboards.board import ImportedColumn
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


def test_overrating_of_one_metric_is_the_one_among_all(suite: OpenSuite, report: MetricReport) -> None:
    home = next(member.home for member in suite.boards if member.label == "one")
    references = references_without(home.board, "Ada", None)
    full = measure_overrating(home.board, home.cells, "Ada", references=references, aggregate="truth")
    among_all = next(estimate for estimate in full.metrics if estimate.name == "chrF")
    alone = next(entry for entry in report.boards if entry.board == "one").overrating
    assert alone is not None
    assert alone.beta0 == pytest.approx(among_all.beta0, rel=1e-12)
    assert alone.interval90 == pytest.approx(among_all.interval90, rel=1e-12)
    assert (alone.n, alone.instances) == (among_all.n, among_all.instances)


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
    assert "On one (place 3 of 3) it loses to ROUGE-1 (-25.1, " in page
    assert "On pairs (place 1= of 3) it ties with ROUGE-1 (+14.8, " in page
    assert "One metric on 2 boards" in page
    assert page.index("over all boards") < page.index("is compared with")
    assert (
        page.index("Board by board</h2>") < page.index("Where it fails worst</h2>") < page.index("Against every other")
    )


def test_a_metric_beside_those_of_the_boards_is_scored_first(suite: OpenSuite) -> None:
    report = suite.report_metric("ROUGE-L", draws=50).value
    assert report.metric == "ROUGE-L"
    assert {one.of for one in report.columns} == {4}
    assert report.of == 4
    assert set(report.compared["computed here"]) == {"chrF", "ROUGE-1", "length"}
    named = suite.report_metric("ROUGE-L", metrics=["chrF"], draws=50).value
    assert {one.of for one in named.columns} == {2}
    assert named.of == 2


def test_every_statement_is_what_rank_says_on_the_same_boards(tmp_path: Path) -> None:
    """Own, imported and sent columns; every place, difference and p of the report beside `rank` and `compare`."""
    for k in range(3):
        board = valued_board(f"b{k}", 14, seed=20 + k)
        people = np.linspace(0, 1, 14)
        names = [row.name for row in board.rows]
        random = np.random.default_rng(k)
        released = {name: people * g + random.normal(0, 0.3, 14) for g, name in enumerate(names[::-1])}
        column = ImportedColumn(
            name="Released",
            source_name="Released",
            signature="released",
            values=released,
            references=board.references,
        )
        write_board(replace(board, imported=(column,)), tmp_path / f"b{k}")
    file = tmp_path / "words.py"
    file.write_text("def score(outputs, references, inputs):\n    return [len(set(o.split())) for o in outputs]\n")
    folders = [tmp_path / f"b{k}" for k in range(3)]
    result = suite_of(folders).report_metric(str(file), draws=100, seed=5)
    report = result.value
    assert "imported" in report.compared
    assert report.compared["imported"] == ("Released",)
    counted = sum(map(len, report.compared.values()))
    assert result.words[0].startswith(f"{report.metric} is compared with {counted} other metrics: ")
    for entry in report.columns:
        if entry.block == "one":
            continue
        home = open_home(tmp_path / entry.column.label)
        ranking = rank_board(home.board, home.cells, aggregate=entry.column.dimension, draws=100, seed=5)
        standings = {standing.name: standing for standing in ranking.metrics}
        own = standings[report.metric]
        ranked = [s for s in ranking.metrics if s.rank is not None]
        assert (entry.rank, entry.of) == (own.rank, len(ranked))
        assert entry.shared == (sum(s.rank == own.rank for s in ranked) > 1)
        assert entry.best == ranked[0].name
        assert {rival.metric for rival in entry.rivals} == {s.name for s in ranked} - {report.metric}
        for rival in entry.rivals:
            study = compare_metrics(
                home.board, home.cells, report.metric, rival.metric, aggregate=entry.column.dimension, draws=100, seed=5
            )
            assert study.difference is not None
            assert study.p_permutation is not None
            assert abs(study.difference) == pytest.approx(abs(rival.difference))
            assert study.p_permutation == pytest.approx(rival.p)
            wanted = "ties with" if study.p_permutation > 0.05 else "beats" if rival.difference > 0 else "loses to"
            assert rival.verdict == wanted
            assert f"{rival.metric} (" in "\n".join(result.words)
            assert rival.interval is not None
            assert rival.interval[0] <= rival.difference <= rival.interval[1]
    overall = suite_of(folders).judging(["chrF", str(file), "Released"]).rank(draws=100, seed=5).value
    assert report.standing is not None
    assert [r.metric for r in report.rivals] == [s.metric for s in overall.standings if s.metric != report.metric]
    for rival in report.rivals:
        assert report.standing.value is not None
        assert rival.difference == pytest.approx(report.standing.value - (rival.value or 0))
        assert rival.p == pytest.approx(overall.p[report.metric][rival.metric])
    page = metric_report_html(report)
    assert "Against every other metric" in page


def test_an_audit_of_every_board_is_part_of_the_report_when_asked_for(suite: OpenSuite) -> None:
    result = suite.report_metric("chrF", metrics=["chrF", "ROUGE-1"], draws=50, audit=True)
    checks = {check.board: check for check in result.value.checks}
    assert set(checks) == {"one", "pairs"}
    assert all(check.kind == "audit" for check in checks.values())
    assert checks["one"].words
    assert any(sentence.startswith("Audit on one: ") for sentence in result.words)
    page = metric_report_html(result.value)
    assert "Audit on one" in page
    assert "Challenge on" not in page


def test_a_challenge_on_every_board_is_part_of_the_report_when_asked_for(suite: OpenSuite) -> None:
    result = suite.report_metric("chrF", metrics=["chrF", "ROUGE-1"], draws=50, challenge=True)
    checks = {check.board: check for check in result.value.checks}
    assert set(checks) == {"one", "pairs"}
    assert all(check.kind == "challenge" and (check.words or check.reason) for check in checks.values())
    assert checks["one"].words
    assert any(sentence.startswith("Challenge on one: ") for sentence in result.words)
    page = metric_report_html(result.value)
    assert "Challenge on one" in page
    assert "Audit on" not in page


def test_an_unknown_metric_is_refused(suite: OpenSuite) -> None:
    with pytest.raises(UnknownName, match="no metric named 'chrF9'; did you mean"):
        suite.report_metric("chrF9")
