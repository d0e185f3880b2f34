"""Audits on a page: of their own, and as a section of a board's report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from billboards.analyses.audit.results import Exhibit, MetricAudit
from billboards.analyses.audit.tables import audit_tables, audits_table, landing_table
from billboards.board.scores import natural
from billboards.errors import NotEnoughData
from billboards.show.page import READ, Picture, picture, rendered
from billboards.show.words import clipped, headed, one_line, value_text


def audit_html(audits: Sequence[MetricAudit]) -> str:
    """One self-contained page with every audit."""
    first, boards = audits[0], ", ".join(dict.fromkeys(audit.board for audit in audits))
    return rendered(
        "audit.html.j2",
        title=f"{one_line(boards)}: audit",
        board=boards,
        summary=audits_table(audits),
        audits=[audit_section(audit) for audit in audits],
        settings=_settings(first),
    )


def audit_section(audit: MetricAudit) -> Mapping[str, Any]:
    """What a page shows of one audit."""
    _, *tables = audit_tables(audit)
    return {
        "metric": one_line(audit.metric),
        "level": audit.level,
        "words": one_line(audit.words),
        "landing": landing_table(audit).without(["best_mean", "n"]),
        "tables": tables,
        "pictures": _pictures(audit),
        "gallery": [_as_read(exhibit, audit) for exhibit in audit.gallery],
    }


def _pictures(audit: MetricAudit) -> list[Picture]:
    """A rank-swap chart for each of the first two judges, and the relatives; what can't be drawn is left out."""
    from billboards.analyses.audit.plots import relatives_scatter

    drawn = []
    for judge in audit.judges[:2]:
        try:
            drawn.append(_swaps(audit, judge.judge))
        except NotEnoughData:
            continue
    if len(audit.relatives) > 1:
        drawn.append(picture(lambda theme: relatives_scatter(audit, theme=theme)))
    return drawn


def _swaps(audit: MetricAudit, judge: str) -> Picture:
    from billboards.analyses.audit.plots import audit_swaps

    return picture(lambda theme: audit_swaps(audit, judge, theme=theme))


def _as_read(exhibit: Exhibit, audit: MetricAudit) -> dict[str, str]:
    higher = audit.metric not in audit.lower
    both = (natural(score, higher_is_better=higher) for score in (exhibit.optimised_score, exhibit.reference_score))
    scores = " against ".join(value_text(score, 3) for score in both)
    return {
        "scores": f"{headed(one_line(audit.metric), higher_is_better=higher)} {scores}",
        "where": f"{one_line(exhibit.instance)}: better than {exhibit.standing:.0%} of the machines, "
        "as others judge it",
        "optimised": clipped(exhibit.optimised, READ),
        "person": one_line(exhibit.person),
        "reference": clipped(exhibit.reference, READ),
        "input": clipped(exhibit.input, READ),
    }


def _settings(audit: MetricAudit) -> list[tuple[str, str]]:
    return [
        ("board version", audit.board_version),
        ("intervals", f"95%, from {audit.draws:,} resamplings of instances" if audit.draws else "none"),
        ("seed", str(audit.seed)),
        ("billboards", metadata.version("billboards")),
    ]
