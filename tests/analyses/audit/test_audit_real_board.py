"""The released SummaQA scores on cnndm, audited: numbers beside those of the paper's Table 4 for QuestEval."""

from __future__ import annotations

from pathlib import Path

import pytest

import billboards as bb
from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.metric_audit import audit_metric
from billboards.analyses.audit.subject import released
from billboards.board.cells import MemoryCells
from billboards.metrics.discovery import metric


@pytest.mark.long
def test_summaqa_is_a_comparison_with_its_own_choice_and_flagged(shared_data: Path) -> None:
    board = bb.import_board(
        "billboard",
        shared_data / "billboard",
        board="cnndm",
        judgments=shared_data / "THumB",
        references=shared_data / "THumB" / "cnndm",
    )
    bench = Bench(board=board, store=MemoryCells())
    found = audit_metric(bench, released(board, "SummaQA"), None, [metric("ROUGE-2")], draws=0).audit
    assert (found.own.rank, found.own.machines, found.judges[0].rank) == (1, 25, 23)
    # Table 4, QuestEval by reranking: ROUGE-2 .77 on SummEval and on REALSumm.
    (one,) = found.equivalence
    assert one.correlation == pytest.approx(0.774, abs=5e-4)
    assert one.with_own == pytest.approx(0.885, abs=5e-4)
    assert found.share_above_people() == pytest.approx(0.96)
    assert found.level == "flagged"
    assert [landing.judge for landing in found.judges] == ["ROUGE-2", "people"]
