"""Doubts about what was sent in: found when it is checked, shown to who sent it first, then on the board.

A doubt may be about another row that not everybody may know of. So it is kept with that row's version and no name, and
put into words for an audience: the row is named only where that audience sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from billboards.board import Outputs, Scores
from billboards.board.doubts import Doubt, output_doubts
from billboards.errors import InvalidBoard
from billboards.site.boards.live import LiveBoard, latest_versions, live_board, submitted_row
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

#: The key of a submission's settings.
DOUBTS = "doubts"
#: What is not on its way to the board any more.
GONE = ("rejected", "failed", "cancelled", "withdrawn")
#: Two columns of scores are one metric's, or nearly, when they rise and fall together like this, on so many outputs.
ALIKE, FEWEST = 0.99999, 30


def find_doubts(site: Site, submission: Submission) -> list[dict[str, Any]]:
    """What speaks against a generator's outputs, as it is kept with the submission; nothing of a person's.

    They are compared with the folder's rows and with all that was sent before, finished or not: so it does not matter
    which of them a worker takes first.
    """
    if submission.settings.get("human"):
        return []
    live = live_board(site, submission.board, audience="owners")
    with site.database.reading() as connection:
        sent = submissions.find(connection, board=submission.board, kind="generator")
    before = [other for other in sent if _when(other) < _when(submission) and other.state not in GONE]
    own = [other for other in before if (other.team_id, other.name) == (submission.team_id, submission.name)]
    outputs = submitted_row(site, live.board, submission, submission.public_name)
    of_folder = [row for row in live.board.rows if row.name not in live.generators and not row.is_optimised]
    others = [
        submitted_row(site, live.board, other, other.public_name)
        for other in latest_versions(before)
        if other not in own
    ]
    earlier = [submitted_row(site, live.board, other, f"version {other.version}") for other in own]
    doubts = output_doubts(live.board, outputs, others=[*of_folder, *_readable(others)], earlier=_readable(earlier))
    versions = {row.name: row.version for row in (*of_folder, *others)}
    return [{**asdict(doubt), "about": versions.get(doubt.about or "", doubt.about)} for doubt in doubts]


def _when(submission: Submission) -> tuple[float, str, int]:
    """The order in which submissions came."""
    return submission.created, submission.name, submission.version


def _readable(rows: Sequence[Outputs]) -> list[Outputs]:
    """Rows whose texts can be read: an earlier version may be of other instances, or be deleted."""
    readable = []
    for row in rows:
        try:
            assert row.texts is not None
        except (InvalidBoard, OSError):
            continue
        readable.append(row)
    return readable


def doubts_of(submission: Submission) -> tuple[Doubt, ...]:
    """The doubts that are kept with a submission."""
    kept: Sequence[Mapping[str, Any]] = submission.settings.get(DOUBTS) or ()
    return tuple(Doubt(**{**doubt, "examples": tuple(doubt["examples"])}) for doubt in kept)


def doubt_words(submission: Submission, live: LiveBoard) -> tuple[str, ...]:
    """Doubts in words for an audience: another row is named where that audience sees it."""
    doubts = doubts_of(submission)
    # Most have none, and names are looked up for nobody else.
    rows = {row.version: row.name for row in live.board.rows} if doubts else {}
    return tuple(
        str(doubt if (doubt.about or "").startswith("version ") else replace(doubt, about=rows.get(doubt.about or "")))
        for doubt in doubts
    )


def generator_doubts(live: LiveBoard) -> dict[str, tuple[str, ...]]:
    """Doubts about the generators of a live board, by name."""
    words = {name: doubt_words(submission, live) for name, submission in sorted(live.generators.items())}
    return {name: doubts for name, doubts in words.items() if doubts}


def kept_out(live: LiveBoard) -> dict[str, str]:
    """Submitted generators that the owner's rules give no rank, each with the reason."""
    rules = live.board.trust
    reasons = {name: rules.bar(name, doubts_of(sent)) for name, sent in sorted(live.generators.items())}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def copied_metrics(live: LiveBoard, scores: Scores) -> dict[str, str]:
    """Submitted metrics whose scores are another column's, or nearly, each with what to say of that."""
    values = scores.values.reshape(len(scores.columns), -1)
    reasons = {}
    for k, column in enumerate(scores.columns):
        if column.name not in live.metrics:
            continue
        for j, other in enumerate(scores.columns):
            if j != k and _alike(values[k], values[j]):
                reasons[column.name] = f"gives the scores of {other.name}, or nearly"
                break
    return reasons


def _alike(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < FEWEST:
        return False
    x, y = first[both] - first[both].mean(), second[both] - second[both].mean()
    length = float(np.sqrt((x @ x) * (y @ y)))
    return length > 0 and abs(float(x @ y)) / length >= ALIKE
