"""Overrating and the worth of references as tables."""

from __future__ import annotations

from examples_of_results import EFFECT, OVERRATING

from billboards.analyses.overrating import overrating_table
from billboards.analyses.references import reference_table
from billboards.show.table import shown


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
