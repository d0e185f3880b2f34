"""The numbers on the page about the demo board are what the board says."""

from __future__ import annotations

from pathlib import Path

import pytest

import billboards as bb
from billboards.demo import build_board

PAGE = " ".join((Path(__file__).resolve().parents[2] / "docs" / "demo.md").read_text("utf-8").split())


@pytest.mark.long
def test_the_page_says_what_the_board_says(tmp_path: Path) -> None:
    board = bb.save(build_board(), tmp_path / "demo")
    bb.score(board)
    ranking = bb.rank(board).value
    metrics = {metric.name: metric for metric in ranking.metrics}
    lines = {line.name: line.correlation for line in ranking.lines}
    outputs, systems = bb.agreement(board, "crowd", "expert", shown=1).value.levels
    experts = sorted(lines[f"expert{k}"] or 0.0 for k in (1, 2, 3))
    assert ranking.ensemble is not None
    for sentence in (
        f"a correlation of {metrics['ROUGE-1'].correlation:.3f} over {metrics['ROUGE-1'].n:,} summaries",
        f"an ensemble of three metrics reaches {ranking.ensemble.correlation:.3f}",
        f"reads no reference, reaches {lines['output only']:.3f}",
        f"by {outputs.pearson:.3f} over summaries",
        f"by {systems.pearson:.3f} over systems",
        f"by {experts[0]:.3f} to {experts[-1]:.3f}",
    ):
        assert sentence in PAGE
    assert (metrics["TER"].correlation or 0.0) < 0.0
    judged = [g.name for g in ranking.generators if g.kind == "machine"]
    people = sorted(judged, key=lambda name: -(next(g.human for g in ranking.generators if g.name == name) or 0.0))
    assert [judged.index(name) for name in ("BanditSum", "BART")] == [1, 7]
    assert [people.index(name) for name in ("BanditSum", "BART")] == [8, 0]
    scores = {g.name: g.scores["ROUGE-1"] or 0.0 for g in ranking.generators}
    assert sum(scores[name] > scores["Crowd-writer"] for name in judged) == 15
