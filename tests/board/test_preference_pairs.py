"""Comparisons of outputs as pairs: one preferred, several, none, or all in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from billboards.board import (
    Aggregate,
    Board,
    Dimension,
    Generator,
    Instance,
    Judgments,
    is_preference,
    preferred_pairs,
    row_of,
)
from billboards.board.judgments import JudgmentColumns

INSTANCES = (Instance("1"), Instance("2"))
ROWS = tuple(row_of(Generator(name), INSTANCES, (f"{name} one", f"{name} two")) for name in "ABC")
BETTER = Dimension("better", kind="preference")


def board(*comparisons: Mapping[str, Any], dimensions: tuple[Dimension, ...] = (BETTER,)) -> Board:
    columns = JudgmentColumns(tuple(d.name for d in dimensions))
    for details in comparisons:
        columns.add(0, 0, {}, annotator="ann", campaign="c", details={"others": (1, 2), **details})
    return Board(
        name="b",
        instances=INSTANCES,
        rows=ROWS,
        judgments=columns.build(),
        dimensions={d.name: d for d in dimensions},
        ranks="better",
    )


def pairs(judged: Board, dimension: str = "better") -> list[tuple[str, str, bool]]:
    given = preferred_pairs(judged, judged.aggregate(dimension))
    names = [row.name for row in judged.rows]
    return [(names[b], names[w], bool(t)) for b, w, t in zip(given.better, given.worse, given.tied, strict=True)]


@pytest.mark.parametrize(
    ("comparison", "expected"),
    [
        ({"prefers": "B"}, [("B", "A", False), ("B", "C", False)]),
        ({"prefers": ["A", "C"]}, [("A", "B", False), ("C", "B", False), ("A", "C", True)]),
        ({"prefers": []}, [("A", "B", True), ("A", "C", True), ("B", "C", True)]),
        ({"order": ["C", ["A", "B"]]}, [("C", "A", False), ("C", "B", False), ("A", "B", True)]),
        ({"order": ["C", "B", "A"]}, [("C", "B", False), ("C", "A", False), ("B", "A", False)]),
    ],
)
def test_a_comparison_is_a_number_of_pairs(comparison: dict[str, Any], expected: list[tuple[str, str, bool]]) -> None:
    assert pairs(board(comparison)) == expected


def test_a_comparison_need_not_say_its_dimension_where_there_is_one() -> None:
    others = (BETTER, Dimension("shorter", kind="preference"))
    assert len(pairs(board({"prefers": "A"}))) == 2
    assert pairs(board({"prefers": "A"}, dimensions=others)) == []
    assert pairs(board({"prefers": "A", "dimension": "shorter"}, dimensions=others), "shorter")[0][0] == "A"


def test_test_questions_and_other_campaigns_do_not_count() -> None:
    judged = board({"prefers": "A"}, {"prefers": "B", "test": "positive"})
    assert len(preferred_pairs(judged, Aggregate("x", ("better",), ("c",)))) == 2
    assert len(preferred_pairs(judged, Aggregate("x", ("better",), ("other",)))) == 0


def test_the_share_of_comparisons_won_counts_a_tie_half() -> None:
    comparisons = preferred_pairs(board({"order": ["A", ["B", "C"]]}), Aggregate("x", ("better",)))
    shares = comparisons.share_won((3, 2))
    np.testing.assert_array_equal(shares[:, 0], [100.0, 25.0, 25.0])
    assert np.isnan(shares[:, 1]).all()


def test_whether_people_compared_is_asked_of_the_dimensions() -> None:
    rated = replace(board(), dimensions={"better": Dimension("better")}, judgments=Judgments(dimensions=("better",)))
    assert is_preference(board(), Aggregate("x", ("better",)))
    assert not is_preference(rated, Aggregate("x", ("better",)))


def test_a_dimension_read_off_levels_is_one_or_nothing() -> None:
    level, right = Dimension("level", range=(0.0, 2.0)), Dimension("right", levels_of="level", at_least=1.0)
    columns = JudgmentColumns(("level", "right"))
    for value in (0, 1, 2, float("nan")):
        columns.add(0, 0, {"level": value})
    judgments = columns.build()
    np.testing.assert_array_equal(judgments.on(right), [0, 1, 1, np.nan])
    assert judgments.means(right, (1, 1))[0, 0] == pytest.approx(2 / 3)
    assert (right.affine(), level.derivation(), right.derivation()) == ((100.0, 0.0), (), ("level", 1.0))
