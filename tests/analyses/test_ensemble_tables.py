"""Ensembles as tables."""

from __future__ import annotations

import re

from examples_of_results import ENSEMBLE, STUDY
from shown_columns import column

from billboards.analyses.ensemble import ablation_table, ensemble_table, gains_table
from billboards.show.table import shown


def test_an_ensembles_metrics_come_heaviest_first_with_its_settings_in_words() -> None:
    table = ensemble_table(ENSEMBLE)
    assert re.fullmatch(r"ensemble\.tiny\+refs\.AB\+version\.2\+[0-9a-f]{8}", table.title)
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
