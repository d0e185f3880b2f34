"""Results as neutral tables."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from examples_of_results import EFFECT, ENSEMBLE, OVERRATING, RANKING, STUDY

from billboards.reports.tables import (
    Table,
    ablation_table,
    ensemble_table,
    gains_table,
    generator_table,
    mean_digits,
    metric_table,
    overrating_table,
    records,
    reference_table,
    score_table,
    shown,
    summary_table,
)


def column(table: Table, key: str) -> list[str]:
    """What a reader sees in one column."""
    place = [c.key for c in table.visible].index(key)
    return [texts[place] for texts in shown(table)]


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


@pytest.mark.parametrize(
    ("values", "digits"), [([78.85], 2), ([0.452, -0.1], 4), ([123.4], 1), ([31000.0], 0), ([None], 4), ([0.00012], 4)]
)
def test_decimals_follow_the_largest_value(values: list[float | None], digits: int) -> None:
    assert mean_digits(values) == digits


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


def test_scores_alone_make_the_papers_table_6() -> None:
    table = score_table(RANKING, {"Huoshan": "Wu et al. (2020a)"})
    assert [c.header for c in table.visible] == ["Generator", "Description", "Score"]
    assert shown(table)[0] == ("Huoshan", "Wu et al. (2020a)", "78.85")
    assert len(shown(table)) == 4
    assert [c.header for c in score_table(RANKING).visible] == ["Generator", "Score"]


def test_a_summary_has_the_columns_of_the_papers_table_1() -> None:
    table = summary_table([RANKING, replace(RANKING, board="other", ensemble=None, metrics=())])
    assert shown(table)[0] == ("tiny", "4", "4", "Huoshan", "COMET", "0.55", "1.72·COMET-QE + 1.48·COMET", "0.60")
    assert shown(table)[1][2:] == ("0", "Huoshan", "–", "–", "–", "–")


def test_an_ensembles_metrics_come_heaviest_first_with_its_settings_in_words() -> None:
    table = ensemble_table(ENSEMBLE)
    assert table.title == "ensemble.tiny+refs.AB+version.2"
    assert shown(table)[0] == ("COMET-QE", "1.720", "0.3500", "0.2400", "imported:22")
    assert "lambda 7.65 (the same metrics from 7.64 to 10.43), chosen for 2 of 3 metrics." in table.notes
    assert "METEOR was no candidate: no scores for 2 judged generators" in table.notes


def test_an_ablation_says_how_far_the_correlation_falls_or_rises() -> None:
    table = ablation_table(STUDY)
    assert column(table, "removed") == ["nothing", "COMET-QE", "COMET"]
    assert column(table, "correlation") == ["0.605", "0.575", "0.611"]
    assert column(table, "change") == ["–", "-0.030", "+0.006"]
    assert column(table, "combination")[1] == "3.90·COMET - 0.20·BLEU"


def test_gains_are_sorted_with_the_unknown_last_and_name_the_most_similar_metric() -> None:
    assert shown(gains_table(STUDY)) == (
        ("COMET-QE", "+0.030", "1.720", "COMET", "0.670"),
        ("BLEU", "0.000", "–", "COMET", "0.580"),
        ("COMET", "-0.006", "1.480", "COMET-QE", "0.670"),
        ("METEOR", "–", "–", "–", "–"),
    )


def test_overrating_goes_from_least_to_most_and_says_what_each_interval_means() -> None:
    table = overrating_table(OVERRATING)
    assert shown(table) == (
        ("TER", "-0.58", "-0.72 to -0.44", "overrates people", "900"),
        ("COMET", "0.02", "-0.09 to 0.13", "neither", "900"),
        ("BLEU", "0.62", "0.60 to 0.64", "overrates machines", "900"),
        ("Prism-ref", "–", "–", "–", "–"),
    )
    assert "Not measured: Prism-ref: scored only against Human-B itself; score it against Human-A" in table.notes


def test_metrics_without_references_stand_under_none() -> None:
    table = reference_table(EFFECT)
    assert [c.header for c in table.visible] == ["metric", "none", "1", "2"]
    assert shown(table) == (
        ("COMET", "–", "0.500", "0.551"),
        ("BLEU", "–", "0.250", "0.300"),
        ("COMET-QE †", "0.541", "–", "–"),
        ("METEOR", "–", "–", "–"),
    )


def test_records_hold_plain_values_of_every_column_and_both_ends_of_an_interval() -> None:
    first, *_, last = records(metric_table(RANKING))
    assert first["interval_low"] == 0.5
    assert first["interval_high"] == 0.6
    assert first["references"] == "Human-A;Human-B"
    assert first["name"] == "COMET"
    assert first["signature"] == "imported:11"
    assert last["correlation"] is None
    assert last["reason"] == "no scores"


def test_many_that_share_a_reason_share_a_line() -> None:
    people = tuple(replace(RANKING.generators[4], name=f"Human-{letter}") for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    table = generator_table(replace(RANKING, generators=people))
    (note,) = (note for note in table.notes if note.startswith("No rank for"))
    assert note.startswith("No rank for Human-A, Human-B, Human-C, ")
    assert note.endswith("Human-T and 6 more: is a reference")
