"""Subsets of references."""

from __future__ import annotations

from billboards.stats.references import reference_subsets

TEN = tuple("ABCDEFGHIJ")


def test_all_subsets_where_there_are_few() -> None:
    assert reference_subsets(("A", "B", "C"), 2) == (("A", "B"), ("A", "C"), ("B", "C"))
    assert len(reference_subsets(TEN, 2)) == 45


def test_fifty_different_seeded_ones_where_there_are_more() -> None:
    drawn = reference_subsets(TEN, 5, seed=1)
    assert len(set(drawn)) == 50
    assert all(len(set(one)) == 5 and list(one) == sorted(one) for one in drawn)
    assert drawn == reference_subsets(TEN, 5, seed=1)
    assert drawn != reference_subsets(TEN, 5, seed=2)
