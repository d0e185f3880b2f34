"""A ranking that was thinned out: its address says what became of it, and the history lists what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from page_sites import page_site

from billboards.site.admin.expiry import tidy
from billboards.site.boards import snapshots
from billboards.site.settings import RetentionSettings


@pytest.mark.long
def test_an_address_of_a_thinned_ranking_says_so_and_names_the_next(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    small.work()
    small.submit("barge")
    small.work()
    board = small.board.name
    with small.site.database.reading() as connection:
        last, first = snapshots.list_snapshots(connection, board)
    history = small.get(f"/boards/{board}/rankings").text
    assert "Every ranking is kept as it was, under" in history
    assert small.get(f"/boards/{board}/rankings/{first.id}").status_code == 200
    later = replace(
        small.site,
        clock=lambda: last.created + 2 * 86400,
        settings=small.site.settings.model_copy(update={"retention": RetentionSettings(ranking_days=1)}),
    )
    tidy(later, actor="owner")
    for key in (first.id, "1"):
        answer = small.get(f"/boards/{board}/rankings/{key}")
        assert answer.status_code == 410
        assert f"ranking 2 ({last.id})" in answer.text
    said = small.get(f"/api/v1/boards/{board}/rankings/{first.id}")
    assert (said.status_code, said.json()["title"]) == (410, "No longer kept")
    assert [one["number"] for one in small.get(f"/api/v1/boards/{board}/rankings").json()["items"]] == [2]
    assert first.id not in small.get(f"/boards/{board}/rankings").text
    assert small.get(f"/boards/{board}/rankings/{last.id}").status_code == 200
    assert small.get(f"/boards/{board}").status_code == 200
    small.site.close()
