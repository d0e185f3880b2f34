"""A metric's audit and challenge on every board, for its report: the analyses of those names, asked for one metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from billboards.analyses._analysis import Analysis
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.report_results import BoardCheck, MetricReport
from billboards.errors import BillboardsError
from billboards.metrics.discovery import Spec


def check_metric(
    boards: Sequence[OpenBoard], report: MetricReport, spec: Spec, *, audit: bool, challenge: bool, seed: int
) -> Iterator[BoardCheck]:
    """What the audit and the challenge of a metric say on each board that it runs on, as far as they are asked for."""
    from billboards.analyses.audit import audit as audits
    from billboards.analyses.challenge import challenge as challenges

    run_on = {entry.board for entry in report.boards}
    for member in boards:
        if member.label not in run_on:
            continue
        if audit:
            yield _checked(audits, "audit", member, spec, seed)
        if challenge:
            yield _checked(challenges, "challenge", member, spec, seed)


def _checked(
    ask: Analysis[Any, Any], kind: Literal["audit", "challenge"], member: OpenBoard, spec: Spec, seed: int
) -> BoardCheck:
    try:
        result = ask(member.board, (spec,), seed=seed)
    except BillboardsError as error:
        return BoardCheck(board=member.label, kind=kind, reason=str(error))
    return BoardCheck(board=member.label, kind=kind, words=result.words or tuple(_lines(result.tables)))


def _lines(tables: Sequence[Any]) -> Iterator[str]:
    """The notes of tables, where an analysis has no words of its own."""
    for table in tables:
        yield from table.notes
