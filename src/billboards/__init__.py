"""Bidimensional leaderboards: rank text generators and the metrics that judge them, hand in hand.

    import billboards as bb
    board = bb.open("my-board")
    bb.score(board)
    bb.rank(board)

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billboards.api.arrays import rank_metrics
    from billboards.api.auditing import audit_metrics, challenge
    from billboards.api.boards import card, import_board, open, save
    from billboards.api.comparing import compare, compare_all, sensitivity
    from billboards.api.ranking import ensemble, rank
    from billboards.api.report import report
    from billboards.api.result import Result
    from billboards.api.scoring import overrating, references, score
    from billboards.api.studies import agreement, estimate, hybrids, power
    from billboards.api.suites import open_suite
    from billboards.board import Board, Generator, Instance, Reference, Slice
    from billboards.errors import BillboardsError
    from billboards.metrics.base import Batch, Metric, MetricCard
    from billboards.metrics.discovery import metric

_HOMES = {
    "billboards.api.arrays": ("rank_metrics",),
    "billboards.api.auditing": ("audit_metrics", "challenge"),
    "billboards.api.boards": ("card", "import_board", "open", "save"),
    "billboards.api.comparing": ("compare", "compare_all", "sensitivity"),
    "billboards.api.ranking": ("ensemble", "rank"),
    "billboards.api.report": ("report",),
    "billboards.api.result": ("Result",),
    "billboards.api.scoring": ("overrating", "references", "score"),
    "billboards.api.studies": ("agreement", "estimate", "hybrids", "power"),
    "billboards.api.suites": ("open_suite",),
    "billboards.board": ("Board", "Generator", "Instance", "Reference", "Slice"),
    "billboards.errors": ("BillboardsError",),
    "billboards.metrics.base": ("Batch", "Metric", "MetricCard"),
    "billboards.metrics.discovery": ("metric",),
}

#: Packages that are public as they are.
_PACKAGES = ("stats",)

__all__ = [
    "Batch",
    "BillboardsError",
    "Board",
    "Generator",
    "Instance",
    "Metric",
    "MetricCard",
    "Reference",
    "Result",
    "Slice",
    "agreement",
    "audit_metrics",
    "card",
    "challenge",
    "compare",
    "compare_all",
    "ensemble",
    "estimate",
    "hybrids",
    "import_board",
    "metric",
    "open",
    "open_suite",
    "overrating",
    "power",
    "rank",
    "rank_metrics",
    "references",
    "report",
    "save",
    "score",
    "sensitivity",
    "stats",
]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"billboards.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'billboards' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
