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
from billboards.site.boards.live import LiveBoard, live_board, submitted_row
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

#: The key of a submission's settings.
DOUBTS = "doubts"
#: Two columns of scores are one metric's, or nearly, when they rise and fall together like this, on so many outputs.
ALIKE, FEWEST = 0.99999, 30


def find_doubts(site: Site, submission: Submission) -> list[dict[str, Any]]:
    """What speaks against a generator's outputs, as it is kept with the submission; nothing of a person's."""
    if submission.settings.get("human"):
        return []
    live = live_board(site, submission.board, audience="owners")
    with site.database.reading() as connection:
        versions = submissions.find(connection, board=submission.board, kind="generator", name=submission.name)
    before = [other for other in versions if other.version < submission.version and other.state != "rejected"]
    own = {other.public_name for other in versions}
    outputs = submitted_row(site, live.board, submission, submission.public_name)
    others = [row for row in live.board.rows if row.name not in own and not row.is_optimised]
    earlier = [submitted_row(site, live.board, other, f"version {other.version}") for other in before]
    doubts = output_doubts(live.board, outputs, others=others, earlier=_readable(earlier))
    rows = {row.name: row.version for row in live.board.rows}
    return [{**asdict(doubt), "about": rows.get(doubt.about or "", doubt.about)} for doubt in doubts]


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
    rows = {row.version: row.name for row in live.board.rows}
    return tuple(
        str(doubt if (doubt.about or "").startswith("version ") else replace(doubt, about=rows.get(doubt.about or "")))
        for doubt in doubts_of(submission)
    )


def generator_doubts(live: LiveBoard) -> dict[str, tuple[str, ...]]:
    """Doubts about the generators of a live board, by name."""
    words = {name: doubt_words(submission, live) for name, submission in live.generators.items()}
    return {name: doubts for name, doubts in words.items() if doubts}


def kept_out(live: LiveBoard) -> dict[str, str]:
    """Submitted generators that the owner's rules give no rank, each with the reason."""
    rules = live.board.trust
    reasons = {name: rules.bar(name, doubts_of(submission)) for name, submission in live.generators.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def copied_metrics(live: LiveBoard, scores: Scores) -> dict[str, str]:
    """Submitted metrics whose scores are another column's, or nearly, each with what to say of that."""
    values = scores.values.reshape(len(scores.columns), -1)
    said = {}
    for k, column in enumerate(scores.columns):
        if column.name not in live.metrics:
            continue
        for j, other in enumerate(scores.columns):
            if j != k and _alike(values[k], values[j]):
                said[column.name] = f"gives the scores of {other.name}, or nearly"
                break
    return said


def _alike(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < FEWEST:
        return False
    x, y = first[both] - first[both].mean(), second[both] - second[both].mean()
    length = float(np.sqrt((x @ x) * (y @ y)))
    return length > 0 and abs(float(x @ y)) / length >= ALIKE
