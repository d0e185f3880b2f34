"""Whether a submitted metric's scores belong to their outputs alone, as far as scoring some of them again could tell.

What was seen is kept with the submission, under `consistency` in its settings: how many outputs were scored in two
mixes, and how many of them got another score in the second. A metric that isn't consistent is marked for good: another
program is another submission.
"""

from __future__ import annotations

from sqlalchemy import Connection

from billboards.run.shuffled_outputs import Comparison
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

#: The key among a submission's settings.
KEPT = "consistency"
#: What is said of a metric that isn't consistent, and why it may not lead.
DEPENDS, BARS = "scores depend on company or order", "gives scores that depend on company or order"


def keep_comparison(connection: Connection, submission_id: str, seen: Comparison, *, now: float) -> None:
    """Add what was seen to what is kept; a metric that is consistent once more is not written down again."""
    submission = submissions.get(connection, submission_id)
    before = kept_comparison(submission)
    if seen.outputs and (before is None or seen.differing):
        whole = seen if before is None else Comparison(before.outputs + seen.outputs, before.differing + seen.differing)
        settings = {**submission.settings, KEPT: {"outputs": whole.outputs, "differing": whole.differing}}
        submissions.change(connection, submission_id, "submission.probed", actor="site", now=now, settings=settings)


def kept_comparison(submission: Submission) -> Comparison | None:
    """What was seen of a metric; None where nothing was scored twice."""
    kept = submission.settings.get(KEPT)
    return None if kept is None else Comparison(int(kept["outputs"]), int(kept["differing"]))


def inconsistency(submission: Submission, *, counted: bool = True) -> str | None:
    """What speaks against a metric whose scores depend on company or order; None where nothing was seen.

    Not `counted` where it was given what the reader may not know: a metric chooses in how many outputs it differs.
    """
    kept = kept_comparison(submission)
    deterministic = bool(submission.settings.get("deterministic", True))
    if kept is None or not kept.is_inconsistent(deterministic=deterministic):
        return None
    if not counted:
        return DEPENDS
    return f"{DEPENDS}: {kept.differing} of {kept.outputs} outputs got another score in another mix"
