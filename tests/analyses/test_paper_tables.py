"""Rankings as papers print them."""

from __future__ import annotations

from dataclasses import replace

from examples_of_results import RANKING

from billboards.analyses._paper_tables import score_table, summary_table
from billboards.show.table import shown


def test_scores_alone_make_the_papers_table_6() -> None:
    table = score_table(RANKING, {"Huoshan": "Wu et al. (2020a)"})
    assert [c.header for c in table.visible] == ["Generator", "Description", "Score"]
    assert shown(table)[0] == ("Huoshan", "Wu et al. (2020a)", "78.85")
    assert len(shown(table)) == 4
    assert [c.header for c in score_table(RANKING).visible] == ["Generator", "Score"]


def test_a_summary_has_the_columns_of_the_papers_table_1() -> None:
    table = summary_table([RANKING, replace(RANKING, board="other", ensemble=None, metrics=())])
    assert shown(table)[0] == ("tiny", "4", "4", "Huoshan", "COMET", "0.55", "1.72·COMET-QE + 1.48·COMET", "0.60")
    assert shown(table)[1][2:] == ("0", "Huoshan", "–", "–", "–", "–")
