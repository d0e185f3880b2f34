"""What a crowd platform must be able to do, in a campaign's words.

A *study* is what a platform shows to its people: a task behind an address, so many *places*, a reward for each. Whoever
takes a place makes a *work*, which is reviewed once: approved and paid, or rejected with a reason. Amounts are integers
in the currency's smallest unit, since money does not round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol


class StudyState(Enum):
    """Where a study stands."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    OPEN = "open"
    PAUSED = "paused"
    ENDED = "ended"


class WorkState(Enum):
    """Where one person's work stands; `gave_back` and later hold no place any more, except what was approved."""

    BEGUN = "begun"
    TO_REVIEW = "to review"
    APPROVED = "approved"
    REJECTED = "rejected"
    GAVE_BACK = "gave back"
    TIMED_OUT = "timed out"
    SCREENED_OUT = "screened out"


@dataclass(frozen=True)
class Screener:
    """Who may take part: a platform's filter, with the choices or the range that it lets through."""

    filter_id: str
    choices: tuple[str, ...] = ()
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, kw_only=True)
class Study:
    """A task as its takers see it; `address` leads to the campaign, and `code` says there that it was done."""

    name: str
    description: str
    address: str
    code: str
    minutes: int
    reward: int
    places: int
    screeners: tuple[Screener, ...] = ()
    #: A code that ends the task early, for those who fail the qualification.
    code_of_the_unqualified: str | None = None


@dataclass(frozen=True, kw_only=True)
class StudyNow:
    """A study as the platform has it; what it costs is in the platform's own words, None where it does not say."""

    id: str
    state: StudyState
    places: int
    reward: int
    cost: int | None
    currency: str | None


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one person did for a study; `code` is what they entered at the end."""

    id: str
    participant: str
    state: WorkState
    started: datetime | None
    completed: datetime | None
    code: str | None


@dataclass(frozen=True)
class Fees:
    """What a platform takes and demands: a share of rewards, and the least hourly wage it lets one offer."""

    share: float
    least_hourly: int
    advised_hourly: int
    currency: str


class CrowdPlatform(Protocol):
    """A platform; `draft` spends nothing, `publish` commits the whole cost, `pay_bonuses` pays."""

    name: str
    fees: Fees

    def draft(self, study: Study) -> StudyNow:
        """Put a study on the platform that nobody sees yet."""

    def look(self, study_id: str) -> StudyNow:
        """The study as it stands."""

    def publish(self, study_id: str, *, at: datetime | None = None) -> StudyNow:
        """Show it to people, now or at a time."""

    def pause(self, study_id: str) -> StudyNow:
        """Let nobody begin any more."""

    def resume(self, study_id: str) -> StudyNow:
        """Let people begin again."""

    def end(self, study_id: str) -> StudyNow:
        """End it for good."""

    def grow(self, study_id: str, places: int) -> StudyNow:
        """Offer more places, `places` altogether; they never become fewer."""

    def works(self, study_id: str) -> tuple[Work, ...]:
        """What people have done for it so far."""

    def approve(self, work_id: str) -> None:
        """Accept a work; its reward is paid."""

    def reject(self, work_id: str, category: str, message: str) -> None:
        """Refuse a work, with the reason its author is told; its place is free again."""

    def prepare_bonuses(self, study_id: str, amounts: Mapping[str, int]) -> str:
        """Write down what participants get beyond their reward; pays nothing, returns the batch's id."""

    def pay_bonuses(self, batch_id: str) -> None:
        """Pay a batch. Doing it twice may pay twice."""
