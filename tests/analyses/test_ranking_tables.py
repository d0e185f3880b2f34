"""Rankings as tables."""

from __future__ import annotations

import math
from dataclasses import replace

from edge_boards import ordinary_board
from examples_of_results import RANKING
from shown_columns import column
from small_boards import noisy_board

import billboards as bb
from billboards.analyses.rank import generator_table, metric_table
from billboards.board import Dimension
from billboards.show.latex import to_latex
from billboards.show.table import shown


def test_metrics_show_rank_correlation_and_interval_and_a_dash_for_what_is_missing() -> None:
    table = metric_table(RANKING)
    assert column(table, "rank") == ["1", "2", "3", "–", "–"]
    assert column(table, "correlation") == ["0.551", "0.541", "0.300", "-0.050", "–"]
    assert column(table, "interval")[0] == "0.500 to 0.600"
    assert column(table, "interval")[4] == "–"
    assert table.title == "tiny: metrics by Pearson correlation with people (mqm)"


def test_reference_free_metrics_and_statistics_are_marked_and_the_marks_explained() -> None:
    table = metric_table(RANKING)
    assert column(table, "name") == ["COMET", "COMET-QE †", "BLEU", "length §", "METEOR"]
    assert "† uses no references: diagnostic" in table.notes
    assert "§ a statistic of the text, not a judgment of its quality" in table.notes


def test_the_ensemble_is_a_note_and_not_a_row_among_the_metrics() -> None:
    table = metric_table(RANKING)
    assert len(table.rows) == 5
    assert table.notes[0].startswith("Ensemble 1.72·COMET-QE + 1.48·COMET: 0.605 on generators it has not seen")


def test_the_reason_why_a_metric_has_no_rank_is_told() -> None:
    assert "No rank for METEOR: no scores" in metric_table(RANKING).notes


def test_tied_generators_share_a_marked_rank_and_an_unranked_human_comes_with_its_reason() -> None:
    table = generator_table(RANKING)
    assert column(table, "rank") == ["1", "2=", "2=", "4", "–"]
    assert column(table, "name")[4] == "Human-B ‡"
    assert "No rank for Human-B: is a reference" in table.notes
    assert "‡ written by people" in table.notes


def test_the_ranking_metric_stands_first_then_people_then_metrics_by_their_correlation() -> None:
    keys = [c.key for c in generator_table(RANKING).visible]
    assert keys == ["rank", "name", "ensemble", "human", "judged", "COMET", "COMET-QE", "BLEU", "length", "METEOR"]


def test_the_human_column_can_be_left_out() -> None:
    keys = [c.key for c in generator_table(RANKING, human=False).visible]
    assert keys[:4] == ["rank", "name", "ensemble", "COMET"]


def test_means_have_four_figures_and_a_nan_is_a_dash() -> None:
    first = RANKING.generators[0]
    broken = replace(first, scores={**first.scores, "COMET": math.nan})
    table = generator_table(replace(RANKING, generators=(broken, *RANKING.generators[1:])))
    assert column(table, "ensemble") == ["78.85", "78.50", "78.50", "73.10", "–"]
    assert column(table, "COMET") == ["–", "0.5800", "0.5700", "0.2100", "0.5500"]
    assert column(table, "METEOR") == ["–"] * 5


def test_a_mean_over_fewer_instances_is_told() -> None:
    second = replace(RANKING.generators[1], covered={"COMET": 98, "BLEU": 100})
    table = generator_table(replace(RANKING, generators=(RANKING.generators[0], second)))
    assert "Means over fewer instances than the others: THUNLP (98 of 100)." in table.notes


def test_a_metric_called_like_a_column_does_not_overwrite_it() -> None:
    first = replace(RANKING.generators[0], scores={"name": 0.5, "rank": 0.25})
    table = generator_table(replace(RANKING, generators=(first,), ranked_by="name"))
    assert shown(table)[0] == ("1", "Huoshan", "0.5000", "79.90", "100", "0.2500")


def test_a_part_of_a_board_is_named() -> None:
    assert "Only domain news." in metric_table(replace(RANKING, part="domain news")).notes


def test_what_was_tested_is_said_in_every_format() -> None:
    result = bb.rank(noisy_board({"a": 20, "b": 60}), draws=50)
    assert result.document["sides"] == "two"
    for text in (str(result), to_latex(result.tables[0]), to_latex(result.tables[-1])):
        assert "two-sided permutation tests" in " ".join(text.split())
    asked = bb.rank(noisy_board({"a": 20, "b": 60}), draws=50, sides="one")
    assert asked.document["sides"] == "one"
    assert "one-sided permutation tests" in " ".join(str(asked).split())


def test_without_judgments_there_is_no_column_of_people() -> None:
    table = generator_table(replace(RANKING, aggregate=""))
    assert not {column.key for column in table.visible} & {"human", "judged"}
    assert "people ()" not in to_latex(table)
    metrics = metric_table(replace(RANKING, aggregate=""))
    assert metrics.title == "tiny: metrics by Pearson correlation, without judgments"


def test_a_dimension_with_the_name_of_a_metric_is_peoples() -> None:
    board = ordinary_board()
    named = {"adequacy": board.dimensions["adequacy"], "second": Dimension("second", range=(1, 5))}
    judged = replace(board.judgments, dimensions=("adequacy", "second"))
    board = replace(board, dimensions=named, judgments=judged)
    for ranked, header in ((board, "people: second"), (replace(board, imported=board.imported[:1]), "second")):
        headers = {c.key: c.header for c in generator_table(bb.rank(ranked, draws=10).value).columns}
        assert headers["human:second"] == header
