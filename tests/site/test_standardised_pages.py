"""A board whose judgments are z-scores, as a site shows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from page_sites import PageSite, page_board, page_site

from billboards.board import Aggregate
from billboards.board.judgments import JudgmentColumns


def z_site(home: Path) -> PageSite:
    """The harbour's outputs rated by three annotators, each more severe than the one before."""
    board = page_board()
    random = np.random.default_rng(2)
    judged = JudgmentColumns(("adequacy",))
    for row in (0, 1, 3):
        for k in range(len(board.instances)):
            for who in range(3):
                value = float(np.clip(round(5 - row - who / 2 + random.normal()), 1, 5))
                judged.add(k, row, {"adequacy": value}, annotator=f"annotator-{who}")
    aggregate = Aggregate("overall", ("adequacy",), standardise="annotator")
    site = page_site(home, board=replace(board, judgments=judged.build(), aggregates={"overall": aggregate}))
    site.work()
    return site


@pytest.mark.long
def test_pages_and_documents_show_z_scores_and_say_so(tmp_path: Path) -> None:
    site = z_site(tmp_path)
    ranking = site.get("/api/v1/boards/harbour/ranking", "owner", accept="application/json").json()["ranking"]
    assert ranking["aggregate"] == "overall"
    means = [standing["mean"] for standing in ranking["people"]["overall"]["generators"]]
    assert means == sorted(means, reverse=True)
    assert max(map(abs, means)) < 3
    assert any("mean of z-scores" in note for note in ranking["notes"])
    for path in ("", "/ensembles", "/analyses", "/analyses/rank", "/analyses/agreement?first=overall&second=adequacy"):
        answer = site.get(f"/boards/harbour{path}", "owner")
        assert answer.status_code == 200, path
    assert "mean of z-scores" in site.get("/boards/harbour/analyses/rank", "owner").text
