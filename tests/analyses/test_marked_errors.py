"""What marked errors say of a board, counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from translated_documents import document_board

import billboards as bb
from billboards.analyses.spans import error_tables, study_errors
from billboards.board import Board, Dimension
from billboards.board.judgments import JudgmentColumns
from billboards.errors import NotEnoughData, UnknownName

MAJOR = {"start": 0, "end": 4, "severity": "major", "category": "Accuracy/Mistranslation"}
MINOR = {"start": 2, "end": 6, "severity": "minor", "category": "Fluency/Punctuation"}
LEFT_OUT = {"start": 0, "end": 2, "severity": "major", "category": "Accuracy/Omission", "missing": True}


def _board() -> Board:
    """Two annotators of `word` on two segments, one of them also of `plain`; without errors nobody keeps spans."""
    columns = JudgmentColumns(("mqm", "score"))

    def add(instance: int, row: int, value: float, who: str, *spans: dict[str, Any]) -> None:
        details = {"spans": list(spans)} if spans else {}
        columns.add(instance, row, {"mqm": value, "score": 50.0}, annotator=who, campaign="c", details=details)

    add(0, 0, -5.0, "ann", MAJOR)
    add(0, 0, -0.1, "ben", MINOR)
    add(12, 0, -5.0, "ann", LEFT_OUT)
    add(12, 0, 0.0, "ben")
    add(0, 1, 0.0, "ann")
    add(12, 1, -1.0, "ann", {**MINOR, "category": "Style/Awkward"})
    columns.add(1, 0, {"score": 3.0}, annotator="eve", campaign="other")
    dimensions = {"mqm": Dimension("mqm", range=(-25, 0)), "score": Dimension("score", range=(0, 100))}
    return replace(document_board(), judgments=columns.build(), dimensions=dimensions)


def test_scores_errors_and_agreement_are_those_counted_by_hand() -> None:
    study = study_errors(_board(), draws=50)
    plain, word = study.generators
    assert (plain.generator, plain.raw, plain.score) == ("plain", -0.5, 98.0)
    # (-5 - 0.1) / 2 and (-5 + 0) / 2: the mean over outputs of means over annotators.
    assert (word.generator, word.outputs, word.judgments) == ("word", 2, 4)
    assert word.raw == pytest.approx(-2.525)
    assert word.score == pytest.approx(100 - 4 * 2.525)
    assert word.by_severity == {"major": 0.5, "minor": 0.25}
    assert (word.errors, word.clean) == (0.75, 0.25)
    kinds = {(one.generator, one.category, one.severity): (one.count, one.per_100) for one in study.counts}
    assert kinds == {
        ("word", "Accuracy/Mistranslation", "major"): (1, 25.0),
        ("word", "Accuracy/Omission", "major"): (1, 25.0),
        ("word", "Fluency/Punctuation", "minor"): (1, 25.0),
        ("plain", "Style/Awkward", "minor"): (1, 50.0),
    }
    assert [one.points for one in study.counts] == pytest.approx([0.5, 1.25, 1.25, 0.025])
    assert [(one.domain, one.generator, one.raw) for one in study.domains] == [
        ("fiction", "plain", 0.0),
        ("fiction", "word", pytest.approx(-2.55)),
        ("news", "plain", -1.0),
        ("news", "word", -2.5),
    ]
    # 2 characters of 4 and 4 are shared, and two of the source are one's own: 2·2 / (6 + 4).
    (pair,) = study.agreement
    assert (pair.first, pair.second, pair.outputs, pair.f1, pair.f1_with_severity) == ("ann", "ben", 2, 0.4, 0.0)
    (difference,) = study.differences
    assert (difference.better, difference.other, difference.instances, difference.documents) == ("plain", "word", 2, 2)
    assert difference.difference == pytest.approx(2.025)
    assert difference.p == difference.p_holm == 0.5, "both documents point the same way"


def test_every_table_has_its_rows_and_the_verb_says_it_in_words() -> None:
    found = bb.spans(_board(), draws=20)
    names = [table.name for table in error_tables(found.value)]
    assert names == ["generators", "categories", "domains", "differences", "agreement"]
    assert "plain has the best score: -0.50 (98.0 of 100)." in found.words


def test_another_dimension_and_other_campaigns_can_be_asked_for() -> None:
    assert study_errors(_board(), dimension="score", draws=20).generators[0].raw == 50.0
    with pytest.raises(UnknownName, match="no dimension of these judgments named 'fluency'"):
        study_errors(_board(), dimension="fluency")
    with pytest.raises(UnknownName, match="no campaign named 'd'"):
        study_errors(_board(), campaigns=["d"])
    with pytest.raises(NotEnoughData, match="no judgments with marked errors"):
        study_errors(_board(), campaigns=["other"])
