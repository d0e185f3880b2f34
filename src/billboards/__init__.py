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
    from billboards import stats
    from billboards.api import (
        Result,
        agreement,
        audit_metrics,
        card,
        challenge,
        compare,
        compare_all,
        ensemble,
        estimate,
        hybrids,
        import_board,
        open,
        overrating,
        power,
        rank,
        rank_metrics,
        references,
        report,
        save,
        score,
        sensitivity,
    )
    from billboards.domain import Board, Generator, Instance, MetricCard, Reference, Slice
    from billboards.errors import BillboardsError
    from billboards.metrics.base import Batch, Metric
    from billboards.metrics.discovery import metric
    from billboards.suite_api import open_suite

_HOMES = {
    "billboards.api": (
        "Result",
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
        "open",
        "overrating",
        "power",
        "rank",
        "rank_metrics",
        "references",
        "report",
        "save",
        "score",
        "sensitivity",
    ),
    "billboards.domain": ("Board", "Generator", "Instance", "MetricCard", "Reference", "Slice"),
    "billboards.errors": ("BillboardsError",),
    "billboards.metrics.base": ("Batch", "Metric"),
    "billboards.metrics.discovery": ("metric",),
    "billboards.suite_api": ("open_suite",),
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
