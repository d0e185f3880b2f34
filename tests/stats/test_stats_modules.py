"""`billboards.stats` loads its modules when they are first used."""

from __future__ import annotations

import pytest

from billboards import stats


def test_a_module_is_there_without_being_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(stats, "pareto", raising=False)
    assert stats.pareto.__name__ == "billboards.stats.pareto"


def test_what_there_is_is_listed_and_nothing_else_is_there() -> None:
    assert {"pareto", "power", "correlation"} < set(dir(stats))
    with pytest.raises(AttributeError, match=r"module 'billboards\.stats' has no attribute 'alchemy'"):
        stats.alchemy  # noqa: B018
