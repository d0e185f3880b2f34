"""What metrics reward that they should not: outputs made for a metric, and references that were spoilt.

Outputs that were made for a metric enter the board's folder only with `save`; spoilt references never do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from billboards.analyses import documents
from billboards.analyses.audit import tables as audits
from billboards.analyses.audit.bench import Bench, Budget
from billboards.analyses.audit.boards import audit_board
from billboards.analyses.audit.challenges import challenge as run_challenge
from billboards.analyses.audit.choosing import Method as SearchMethod
from billboards.analyses.audit.choosing import Search
from billboards.analyses.audit.entering import enter as enter_optimised
from billboards.analyses.audit.results import ChallengeReport, MetricAudit
from billboards.analyses.home import cells_of, home_of
from billboards.api.result import Result
from billboards.board import Board
from billboards.board.cells import MemoryCells
from billboards.board.scoring import Progress, chosen_metrics
from billboards.metrics.discovery import Spec
from billboards.run.local import executor


def audit_metrics(
    board: Board,
    metrics: Sequence[Spec] | None = None,
    *,
    method: SearchMethod = "auto",
    sentences: int = 3,
    candidates: str | Path | None = None,
    model: str | None = None,
    beams: int = 5,
    against: Sequence[Spec] | None = None,
    budget: int | None = None,
    save: bool = False,
    html: str | Path | None = None,
    draws: int = 1000,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[tuple[MetricAudit, ...]]:
    """What metrics reward (default: every reference-free one): outputs made for each, and what others say of them.

    `save` enters the outputs as generators that are never ranked, and keeps the verdicts in the folder.
    """
    bench = Bench(board, cells_of(board) or MemoryCells(), executor(jobs), Budget(budget), on_progress)
    search = Search(method, sentences, beams, candidates=None if candidates is None else Path(candidates), model=model)
    done = audit_board(bench, metrics, against=against, search=search, draws=draws, seed=seed)
    for one in done.found if save else ():
        home_of(board).archive.keep_audit(one.audit)
        enter_optimised(board, one.row, one.audit.how)
    found = tuple(one.audit for one in done.found)
    if html is not None:
        from billboards.analyses.audit.page import audit_html

        Path(html).write_text(audit_html(found), encoding="utf-8")
    shown = (audits.audits_table(found), *(table for one in found for table in audits.audit_tables(one)))
    return Result(found, shown, documents.audits_document(found) | {"left_out": dict(done.left_out)})


def challenge(
    board: Board,
    metrics: Spec | Sequence[Spec] | None = None,
    *,
    base: str | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[ChallengeReport]:
    """How often each metric puts a reference above its spoilt copy, for every way to spoil it."""
    bench = Bench(board, cells_of(board) or MemoryCells(), executor(jobs), on_progress=on_progress)
    found = run_challenge(bench, chosen_metrics(board, metrics), base=base, kinds=kinds, seed=seed)
    return Result(found, audits.challenge_tables(found), documents.challenge_document(found))
