"""Bidimensional leaderboards: rank text generators and the metrics that judge them, hand in hand.

    import billboards as bb
    board = bb.open("my-board")
    bb.score(board)
    bb.rank(board)

Every analysis is a verb: `bb.rank`, `bb.overrating`, `bb.ratings_agreement`, and those that other packages bring. Names
are loaded when they are first used, so that importing the package costs nothing; `__init__.pyi` tells type checkers
what they are, and is written by tools/public_names.py.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing typing for this would cost a tenth of the start
if TYPE_CHECKING:
    from typing import Any

_HOMES = {
    "billboards.analyses._analysis": ("Result",),
    "billboards.analyses._arrays": ("rank_metrics",),
    "billboards.analyses._report": ("report",),
    "billboards.analyses._view": ("View",),
    "billboards.analyses.published": ("published",),
    "billboards.analyses.suite.open": ("open_suite",),
    "billboards.api.boards": ("get", "import_board", "open", "save"),
    "billboards.api.board_scores": ("score",),
    "billboards.api.texts": ("score_texts",),
    "billboards.api.claims": ("verify",),
    "billboards.board": ("Board", "Generator", "Instance", "Reference", "Slice"),
    "billboards.errors": ("BillboardsError",),
    "billboards.metrics.base": ("Batch", "Metric", "MetricCard"),
    "billboards.metrics.discovery": ("metric",),
}

#: Names of version 0.1, and what they are called now.
_FORMER = {"audit_metrics": "audit", "compare_all": "compare"}

#: Packages that are public as they are.
_PACKAGES = ("analyses", "stats")


def _public_names() -> list[str]:
    """Every public name: classes, functions, packages, and a verb for each analysis that is installed."""
    from billboards.analyses import installed_analyses, own_analyses

    verbs = (_verb(analysis) for analysis in (*own_analyses(), *installed_analyses()))
    return sorted({*_PACKAGES, *(name for names in _HOMES.values() for name in names), *verbs})


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _public_names()
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

    for analysis in (*own_analyses(), *installed_analyses()):
        if _verb(analysis) == name:
            return analysis_named(analysis)
    return None


def _verb(analysis: str) -> str:
    return analysis.replace("-", "_").replace(" ", "_")


def __dir__() -> list[str]:
    return _public_names()
