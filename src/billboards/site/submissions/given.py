"""What a submitted metric is given that its team, or everybody, may not read.

Scores, logs and last words are a program's own: whatever it reads it can write there. So where it was given hidden
references, inputs that are withheld, or other teams' outputs of a blind phase, its words are withheld from its team,
and its single scores from all but owners.
"""

from __future__ import annotations

from sqlalchemy import Connection

from billboards.site.settings import BoardSettings
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

#: States in which nobody's program has seen a submission.
_UNSEEN = ("received", "checking", "rejected", "cancelled")


def given_hidden(settings: BoardSettings, metric: Submission, *, blind: bool, inputs: bool) -> str | None:
    """What a submitted metric was given that not everybody may read; None where it can't tell anything."""
    if metric.way == "scores":
        return None
    if settings.hidden_references and metric.settings.get("needs_references", True):
        return "it was given references that are hidden"
    if inputs and metric.settings.get("needs_input", True):
        return "it was given inputs that are withheld"
    return "it was given outputs of a blind phase" if blind else None


def find_blind_rows(connection: Connection, settings: BoardSettings, board: str) -> list[Submission]:
    """Generators of blind phases that are not revealed, as far as a program may have been given them."""
    if not any(settings.hides(phase.name) for phase in settings.phases):
        return []
    sent = submissions.find(connection, board=board, kind="generator")
    return [row for row in sent if row.state not in _UNSEEN and settings.hides(row.phase)]


def hidden_since(connection: Connection, settings: BoardSettings, metric: Submission, *, now: float) -> float | None:
    """Since when a program has been given what its team may not read; None where it never was."""
    if given_hidden(settings, metric, blind=False, inputs=settings.withholds_inputs(now)) is not None:
        return 0.0
    if metric.way == "scores":
        return None
    rows = find_blind_rows(connection, settings, metric.board)
    return min((row.created for row in rows if row.team_id != metric.team_id), default=None)
