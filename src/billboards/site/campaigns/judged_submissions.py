"""What submitters are told of people's judging: how far it has come, and a notice when it ends.

A submission is found in a campaign by the version of its outputs, so that a new version of a generator begins without
judgments. Told are numbers of answers only, never what anybody said: that is as hidden or public as the board's
judgments are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from billboards.site.admin import deliveries
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of
from billboards.site.campaigns.decisions import dropped_rows
from billboards.site.database import trail
from billboards.site.database.schema import items
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

#: The event, and what the audit trail calls it.
JUDGED = "submission.judged"


@dataclass(frozen=True, kw_only=True)
class PeopleProgress:
    """How many of the answers that are wanted about a submission's outputs there are; `ended` where none more come."""

    done: int
    wanted: int
    ended: bool

    @property
    def words(self) -> str:
        """The same for people."""
        return f"people: {self.done:,} of {self.wanted:,}"


def people_progress(connection: Connection, submission: Submission) -> PeopleProgress | None:
    """How far people have judged a generator's outputs, over all campaigns about them; None where there is none."""
    if submission.kind != "generator" or not submission.blob:
        return None
    version = _version(submission)
    counts = []
    for row in campaigns.find(connection, board=submission.board, states=("open", "paused", "closed")):
        campaign = campaign_of(row)
        if campaign.kind == "labels" and campaign.withdrawn is None:
            counts += [(campaign, *count) for count in _counts(connection, campaign, version)]
    if not counts:
        return None
    ended = all(
        campaign.state == "closed" or (campaign.rolling and done >= wanted) for campaign, done, wanted in counts
    )
    return PeopleProgress(
        done=sum(done for _, done, _ in counts), wanted=sum(wanted for _, _, wanted in counts), ended=ended
    )


def announce_judged(connection: Connection, campaign: Campaign, *, now: float, row: str | None = None) -> None:
    """Tell submitters, once, that people's judging of their outputs has ended; with a `row`, of that one alone."""
    for submission in submissions.find(connection, board=campaign.board, kind="generator", states=("scored",)):
        counts = list(_counts(connection, campaign, _version(submission), row=row))
        done, wanted = sum(done for done, _ in counts), sum(wanted for _, wanted in counts)
        if not done or _was_told(connection, submission, campaign):
            continue
        words = ("id", "board", "kind", "name", "version", "state", "reason", "platform", "created")
        payload = {word: getattr(submission, word) for word in words} | {"changed": now}
        payload |= {"says": f"judged by people ({done:,} of {wanted:,} answers)", "done": done, "wanted": wanted}
        deliveries.announce(connection, JUDGED, payload, submission.team_id, submission.account_id, now=now)
        detail = {"campaign": campaign.id, "done": done, "wanted": wanted}
        trail.note(connection, "site", JUDGED, submission.id, now=now, board=campaign.board, detail=detail)


def _was_told(connection: Connection, submission: Submission, campaign: Campaign) -> bool:
    lines = trail.entries(connection, subject=submission.id, limit=1000)
    return any(line.action == JUDGED and line.detail.get("campaign") == campaign.id for line in lines)


def _version(submission: Submission) -> str:
    """The version of a submitted row: the beginning of the digest of its lines."""
    return submission.blob[:16]


def _counts(
    connection: Connection, campaign: Campaign, version: str, *, row: str | None = None
) -> Iterator[tuple[int, int]]:
    """Answers given and wanted about outputs of a version: of the row that has them, or of each comparison with one.

    In a rolling campaign a pair counts for one of the two alone, for which it was planned: it stands first.
    """
    if campaign.template.compares == "generators" and not campaign.rolling:
        yield from _compared(connection, campaign, version)
        return
    query = select(items.c.row, func.min(items.c.id))
    query = query.where(items.c.campaign_id == campaign.id, items.c.purpose == "label").group_by(items.c.row)
    for name, first in connection.execute(query).all():
        if row in (None, name) and campaigns.item(connection, first).slots[0].get("version") == version:
            done, wanted = answer_counts.labels_by_row(connection, campaign.id, row=name)[name]
            # A generator that is told apart from all others is no longer asked about.
            yield done, done if name in dropped_rows(campaign) else wanted


def _compared(connection: Connection, campaign: Campaign, version: str) -> Iterator[tuple[int, int]]:
    given: dict[int, int] = {}
    for answer in answer_counts.current_answers(connection, campaign.id, states=("submitted",), purpose="label"):
        given[answer.item_id] = given.get(answer.item_id, 0) + 1
    for item in campaigns.list_items(connection, campaign.id, "label"):
        if version in _versions(item.slots):
            yield min(given.get(item.id, 0), item.wanted), item.wanted


def _versions(slots: list[dict[str, object]]) -> set[object]:
    return {slot.get("version") for slot in slots if slot["source"] == "generator"}
