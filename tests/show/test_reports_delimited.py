"""Tables as CSV."""

from __future__ import annotations

import csv
import io

from examples_of_results import OVERRATING, RANKING

from billboards.analyses.overrating import overrating_table
from billboards.analyses.rank import generator_table, metric_table
from billboards.show.csv import to_csv


def test_csv_has_full_precision_clean_names_and_nothing_for_what_is_missing() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(metric_table(RANKING)))))
    assert [row["name"] for row in rows] == ["COMET", "COMET-QE", "BLEU", "length", "METEOR"]
    assert rows[1]["reference_free"] == "True"
    assert rows[0]["correlation"] == "0.551"
    assert rows[4]["correlation"] == ""
    assert rows[4]["rank"] == ""


def test_every_metric_is_a_column_and_a_tie_a_plain_number() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(generator_table(RANKING)))))
    assert [row["rank"] for row in rows] == ["1", "2", "2", "4", ""]
    assert rows[0]["ensemble"] == "78.85"
    assert rows[4]["kind"] == "human"
    assert rows[4]["ensemble"] == ""


def test_a_metric_that_could_not_be_measured_comes_with_its_reason() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(overrating_table(OVERRATING)))))
    assert rows[0]["interval90_low"] == "-0.72"
    assert rows[3]["name"] == "Prism-ref"
    assert rows[3]["reason"].startswith("scored only against Human-B")
