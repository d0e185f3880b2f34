"""Boards and results show themselves in notebooks, print short, and come from data frames and go to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import billboards as bb
from billboards.demo import build_board

ROWS = {
    "instance": ["i1", "i1", "i2", "i2"],
    "system": ["old", "new", "old", "new"],
    "output": ["a cat", "the cat sat", "a dog", "the dog ran"],
    "reference": ["the cat sat", "the cat sat", "the dog ran", "the dog ran"],
    "adequacy": [40.0, 99.0, None, 95.0],
}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> bb.Board:
    board = bb.save(replace(build_board(), metrics=("BLEU", "ROUGE-1")), tmp_path_factory.mktemp("notebook") / "demo")
    bb.score(board)
    return board


def test_a_board_prints_in_one_short_line_and_shows_who_takes_part(board: bb.Board) -> None:
    assert repr(board).startswith("<Board demo-summeval: 100 instances, 17 generators, ")
    assert len(repr(board)) < 120
    assert "Pegasus-huge-news" in board._repr_html_()


def test_a_ranking_is_tables_words_and_a_chart_that_lives(board: bb.Board) -> None:
    bundle = bb.rank(board, draws=0)._repr_mimebundle_(include=None, exclude=None)
    assert "<caption><span>demo-summeval: metrics by Pearson correlation" in bundle["text/html"]
    assert bundle["text/plain"].startswith("demo-summeval: metrics by Pearson correlation")
    (vega,) = (value for kind, value in bundle.items() if kind.startswith("application/vnd.vegalite.v"))
    assert "vega-lite" in vega["$schema"]


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS)], ids=["pandas", "polars"])
def test_a_frame_becomes_a_board_and_a_missing_rating_stays_missing(frame: object, tmp_path: Path) -> None:
    made = bb.import_board("table", frame, generator="system", reference=["reference"], judgment=["adequacy"])
    assert (len(made.instances), len(made.generators), len(made.judgments)) == (2, 2, 3)
    scored = bb.save(made, tmp_path / "made")
    bb.score(scored, ["chrF"])
    result = bb.rank(scored, draws=0)
    assert list(result.to_pandas()["name"]) == list(result.to_polars()["name"]) == ["chrF"]
