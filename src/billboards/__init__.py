"""Bidimensional leaderboards: rank text generators and the metrics that judge them, hand in hand.

    import billboards as bb
    board = bb.open("my-board")
    bb.score(board)
    bb.rank(board)

Every analysis is a verb: `bb.rank`, `bb.overrating`, `bb.ratings_agreement`, and those that other packages bring. Names
are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing typing for this would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

    from billboards.analyses._analysis import Result
    from billboards.analyses._arrays import rank_metrics
    from billboards.analyses._report import report
    from billboards.analyses._view import View
    from billboards.analyses.agreement import agreement
    from billboards.analyses.audit import audit
    from billboards.analyses.card import card
    from billboards.analyses.challenge import challenge
    from billboards.analyses.compare import compare
    from billboards.analyses.ensemble import ensemble
    from billboards.analyses.estimate import estimate
    from billboards.analyses.hybrids import hybrids
    from billboards.analyses.overrating import overrating
    from billboards.analyses.power import power
    from billboards.analyses.rank import rank
    from billboards.analyses.ratings.agreement import agreement as ratings_agreement
    from billboards.analyses.ratings.consensus import consensus as ratings_consensus
    from billboards.analyses.ratings.designs import designs as ratings_designs
    from billboards.analyses.ratings.doubts import doubts as ratings_doubts
    from billboards.analyses.ratings.severity import severity as ratings_severity
    from billboards.analyses.references import references
    from billboards.analyses.sensitivity import sensitivity
    from billboards.analyses.suite.open import open_suite
    from billboards.api.boards import import_board, open, save
    from billboards.api.scoring import score
    from billboards.board import Board, Generator, Instance, Reference, Slice
    from billboards.errors import BillboardsError
    from billboards.metrics.base import Batch, Metric, MetricCard
    from billboards.metrics.discovery import metric

_HOMES = {
    "billboards.analyses._analysis": ("Result",),
    "billboards.analyses._arrays": ("rank_metrics",),
    "billboards.analyses._report": ("report",),
    "billboards.analyses._view": ("View",),
    "billboards.analyses.suite.open": ("open_suite",),
    "billboards.api.boards": ("import_board", "open", "save"),
    "billboards.api.scoring": ("score",),
    "billboards.board": ("Board", "Generator", "Instance", "Reference", "Slice"),
    "billboards.errors": ("BillboardsError",),
    "billboards.metrics.base": ("Batch", "Metric", "MetricCard"),
    "billboards.metrics.discovery": ("metric",),
}

#: Names of version 0.1, and what they are called now.
_FORMER = {"audit_metrics": "audit", "compare_all": "compare"}

#: Packages that are public as they are.
_PACKAGES = ("analyses", "stats")

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
    "View",
    "agreement",
    "analyses",
    "audit",
    "card",
    "challenge",
    "compare",
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
    "ratings_agreement",
    "ratings_consensus",
    "ratings_designs",
    "ratings_doubts",
    "ratings_severity",
    "references",
    "report",
    "save",
    "score",
    "sensitivity",
    "stats",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"billboards.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    if not name.startswith("_"):
        verb = _analysis(_FORMER.get(name, name))
        if verb is not None:
            return verb
    raise AttributeError(f"module 'billboards' has no attribute {name!r}")


def _analysis(name: str) -> Any:
    """The analysis behind a verb: `ratings_agreement` is `ratings agreement`."""
    from billboards.analyses import analysis_named, installed_analyses, own_analyses

    for known in (*own_analyses(), *installed_analyses()):
        if known.replace("-", "_").replace(" ", "_") == name:
            return analysis_named(known)
    return None


def __dir__() -> list[str]:
    from billboards.analyses import installed_analyses

    return sorted({*__all__, *(name.replace("-", "_").replace(" ", "_") for name in installed_analyses())})
