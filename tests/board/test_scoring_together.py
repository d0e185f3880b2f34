"""Metrics that take several generators at once: one call, the same cells, and the same care about failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import billboards as bb
from billboards.analyses._archive import home_of
from billboards.board import missing_cells
from billboards.board.missing_cells import Progress, column_key, score_board
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.run.local import executor

CALLS: list[list[int]] = []


@dataclass(frozen=True)
class Together(Metric):
    """The length of an output, counted for several generators in one call."""

    wrong: str = ""

    scores_together: ClassVar[bool] = True
    needs_corpus: ClassVar[bool] = True
    card: ClassVar[MetricCard] = MetricCard(name="together", needs_references=False)

    def score_batch(self, batch: Batch) -> Floats:
        return np.array([len(text) for text in batch.outputs], float)

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        CALLS.append([len(batch) for batch in batches])
        if self.wrong == "raises":
            raise RuntimeError("no memory")
        return [self.score_batch(batch) * (np.nan if self.wrong == "nan" else 1) for batch in batches]


@pytest.fixture
def board(tmp_path_factory: pytest.TempPathFactory) -> bb.Board:
    folder = tmp_path_factory.mktemp("together")
    lines = "id,model,output\n1,a,one\n2,a,three\n1,b,fifteen\n2,b,six\n1,c,x\n"
    (folder / "t.csv").write_text(lines)
    CALLS.clear()
    facts = {"task": "Testing", "licence": "CC0-1.0", "citation": "None", "output-language": "en"}
    return bb.save(bb.import_board("table", folder / "t.csv", generator="model", facts=facts), folder / "board")


def test_all_generators_are_scored_in_one_call_and_a_second_run_finds_nothing_to_do(board: bb.Board) -> None:
    seen: list[Progress] = []
    report = score_board(board, home_of(board).cells, [Together()], executor(2), on_progress=seen.append)
    assert (report.computed, report.present, report.failures) == (3, 0, {})
    assert CALLS == [[2, 2, 1]]
    assert seen[-1].done == seen[-1].total == 6
    kept = home_of(board).cells.load(column_key(board, Together(), ()), [row.version for row in board.rows])
    assert kept[board.row("a").version].tolist() == [3, 5]
    assert score_board(board, home_of(board).cells, [Together()], executor(1)).present == 3
    assert len(CALLS) == 1


def test_a_large_board_is_scored_in_several_calls(board: bb.Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_cells, "TOGETHER", 4)
    assert score_board(board, home_of(board).cells, [Together()], executor(1)).computed == 3
    assert [len(call) for call in CALLS] == [2, 1]


@pytest.mark.parametrize(("wrong", "reason"), [("raises", "RuntimeError: no memory"), ("nan", "scores must be finite")])
def test_a_failure_is_the_metrics_own_and_other_metrics_go_on(board: bb.Board, wrong: str, reason: str) -> None:
    report = score_board(board, home_of(board).cells, [Together(wrong), bb.metric("length")], executor(1))
    (message,) = report.failures.values()
    assert reason in message
    assert report.computed == 3
