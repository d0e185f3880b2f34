"""Prolific, over its interface of version 1, as documented at docs.prolific.com.

A study is drafted, published, and its places may grow but never shrink. Its submissions are this package's works: they
are approved, or rejected with a category and a message of at least 100 characters; what times out or is returned gives
its place back without our doing. Paying bonuses is not idempotent there: a batch must be paid once, and who calls keeps
the books.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from billboards.campaigns.crowd.base import Fees, Screener, Study, StudyNow, StudyState, Work, WorkState
from billboards.campaigns.crowd.calling import Caller
from billboards.errors import InvalidInput, PlatformFailed, Refused
from billboards.reading import shown

#: Where the interface is, and the environment variable that holds the key.
ADDRESS, KEY = "https://api.prolific.com", "PROLIFIC_API_TOKEN"

#: Fees and hourly wages as its pricing page of September 2026 states them, in US cents.
FEES = Fees(share=0.428, least_hourly=800, advised_hourly=1200, currency="USD")
ACADEMIC_FEES = Fees(share=0.333, least_hourly=800, advised_hourly=1200, currency="USD")

#: The least length of the message to somebody whose work is rejected.
SHORTEST_MESSAGE = 100
#: The most bonuses in one batch.
MOST_BONUSES = 200
#: No study has as many places, or costs as much.
MOST_CENTS = 1 << 50

CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)

STUDY_STATES = {
    "UNPUBLISHED": StudyState.DRAFT,
    "SCHEDULED": StudyState.SCHEDULED,
    "PUBLISHING": StudyState.OPEN,
    "ACTIVE": StudyState.OPEN,
    "PAUSED": StudyState.PAUSED,
    "AWAITING REVIEW": StudyState.ENDED,
    "COMPLETED": StudyState.ENDED,
}

WORK_STATES = {
    "RESERVED": WorkState.BEGUN,
    "ACTIVE": WorkState.BEGUN,
    "AWAITING REVIEW": WorkState.TO_REVIEW,
    "APPROVED": WorkState.APPROVED,
    "PARTIALLY APPROVED": WorkState.APPROVED,
    "REJECTED": WorkState.REJECTED,
    "RETURNED": WorkState.GAVE_BACK,
    "TIMED-OUT": WorkState.TIMED_OUT,
    "SCREENED OUT": WorkState.SCREENED_OUT,
}


class Prolific:
    """Prolific as a crowd platform; the key is read from the environment and sent nowhere else."""

    name = "prolific"

    def __init__(self, *, address: str = ADDRESS, key: str | None = None, academic: bool = False) -> None:
        key = key or os.environ.get(KEY, "")
        if not key:
            raise InvalidInput(f"Prolific needs a key: make one in its settings and put it into {KEY}")
        self.fees = ACADEMIC_FEES if academic else FEES
        self._caller = Caller(f"{address.rstrip('/')}/api/v1", f"Token {key}")

    def close(self) -> None:
        self._caller.close()

    def draft(self, study: Study) -> StudyNow:
        return _study(self._caller.post("/studies/", _written(study)))

    def look(self, study_id: str) -> StudyNow:
        return _study(self._caller.get(f"/studies/{study_id}/"))

    def publish(self, study_id: str, *, at: datetime | None = None) -> StudyNow:
        if at is None:
            return self._move(study_id, {"action": "PUBLISH"})
        return self._move(study_id, {"action": "SCHEDULE_PUBLISH", "publish_at": at.isoformat()})

    def pause(self, study_id: str) -> StudyNow:
        return self._move(study_id, {"action": "PAUSE"})

    def resume(self, study_id: str) -> StudyNow:
        return self._move(study_id, {"action": "START"})

    def end(self, study_id: str) -> StudyNow:
        return self._move(study_id, {"action": "STOP"})

    def grow(self, study_id: str, places: int) -> StudyNow:
        now = self.look(study_id)
        if places < now.places:
            raise Refused(f"study {study_id} has {now.places} places, and places only grow; pause it instead")
        if places == now.places:
            return now
        return _study(self._caller.patch(f"/studies/{study_id}/", {"total_available_places": places}))

    def works(self, study_id: str) -> tuple[Work, ...]:
        works: list[Work] = []
        for page in range(1, 10_000):
            answer = self._caller.get("/submissions/", study=study_id, page=page, page_size=100)
            works.extend(_work(entry) for entry in _list(answer, "results"))
            if not _has_more(answer):
                break
        return tuple(works)

    def approve(self, work_id: str) -> None:
        self._caller.post(f"/submissions/{work_id}/transition/", {"action": "APPROVE"})

    def reject(self, work_id: str, category: str, message: str) -> None:
        check_rejection(category, message)
        body = {"action": "REJECT", "rejection_category": category, "message": message}
        self._caller.post(f"/submissions/{work_id}/transition/", body)

    def prepare_bonuses(self, study_id: str, amounts: Mapping[str, int]) -> str:
        if not 1 <= len(amounts) <= MOST_BONUSES:
            raise InvalidInput(f"a batch holds 1 to {MOST_BONUSES} bonuses, not {len(amounts)}; split it")
        if min(amounts.values()) < 1:
            raise InvalidInput("a bonus must be above 0; leave out whoever gets none")
        lines = "\n".join(f"{participant},{amount / 100:.2f}" for participant, amount in amounts.items())
        answer = self._caller.post("/submissions/bonus-payments/", {"study_id": study_id, "csv_bonuses": lines})
        return _text(answer, "id")

    def pay_bonuses(self, batch_id: str) -> None:
        self._caller.post_once(f"/bulk-bonus-payments/{batch_id}/pay/")

    def _move(self, study_id: str, body: Mapping[str, Any]) -> StudyNow:
        return _study(self._caller.post(f"/studies/{study_id}/transition/", body))


def check_rejection(category: str, message: str) -> None:
    """Refuse a rejection that Prolific would refuse, before it is asked."""
    if category not in CATEGORIES:
        raise InvalidInput(f"{category!r} is no category of rejections; choose among {', '.join(CATEGORIES)}")
    if len(message) < SHORTEST_MESSAGE:
        raise InvalidInput(
            f"a rejection tells its reason in at least {SHORTEST_MESSAGE} characters, not {len(message)}; "
            "say what was asked, what was done, and how the test questions were answered"
        )


def _written(study: Study) -> dict[str, Any]:
    review = {"action": "MANUALLY_REVIEW"}
    codes = [{"code": study.code, "code_type": "COMPLETED", "actions": [review]}]
    if study.code_of_the_unqualified is not None:
        codes.append(
            {"code": study.code_of_the_unqualified, "code_type": "FAILED_ATTENTION_CHECK", "actions": [review]}
        )
    return {
        "name": study.name,
        "description": study.description,
        "external_study_url": study.address,
        "prolific_id_option": "url_parameters",
        "completion_codes": codes,
        "estimated_completion_time": study.minutes,
        "reward": study.reward,
        "total_available_places": study.places,
        "filters": [_filter(screener) for screener in study.screeners],
    }


def _filter(screener: Screener) -> dict[str, Any]:
    if screener.choices:
        return {"filter_id": screener.filter_id, "selected_values": list(screener.choices)}
    bounds = {"lower": screener.lower, "upper": screener.upper}
    return {
        "filter_id": screener.filter_id,
        "selected_range": {name: bound for name, bound in bounds.items() if bound is not None},
    }


def _study(document: Mapping[str, Any]) -> StudyNow:
    status = _text(document, "status")
    if status not in STUDY_STATES:
        raise PlatformFailed(f"Prolific calls a study's state {status!r}, which is not known here; update billboards")
    currency = document.get("presentment_currency_code")
    return StudyNow(
        id=_text(document, "id"),
        state=STUDY_STATES[status],
        places=_amount(document, "total_available_places"),
        reward=_amount(document, "reward"),
        cost=None if document.get("total_cost") is None else _amount(document, "total_cost"),
        currency=None if currency is None else str(currency),
    )


def _work(entry: Mapping[str, Any]) -> Work:
    status = _text(entry, "status").replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
    if status not in WORK_STATES:
        raise PlatformFailed(
            f"Prolific calls a submission's state {status!r}, which is not known here; update billboards"
        )
    return Work(
        id=_text(entry, "id"),
        participant=_text(entry, "participant_id"),
        state=WORK_STATES[status],
        started=_moment(entry.get("started_at")),
        completed=_moment(entry.get("completed_at")),
        code=None if entry.get("study_code") is None else str(entry["study_code"]),
    )


def _moment(written: Any) -> datetime | None:
    if not written:
        return None
    try:
        return datetime.fromisoformat(str(written).replace("Z", "+00:00"))
    except ValueError as error:
        raise PlatformFailed(f"Prolific answered with {shown(written)} where a time belongs") from error


def _amount(document: Mapping[str, Any], key: str) -> int:
    """A count of places, or money in the currency's smallest unit."""
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MOST_CENTS:
        raise PlatformFailed(f"Prolific answered without an amount {key!r}: {shown(value)}")
    return round(value)


def _has_more(answer: Mapping[str, Any]) -> bool:
    """Whether a list goes on behind this page."""
    links = answer.get("_links")
    following = links.get("next") if isinstance(links, Mapping) else None
    return bool(following.get("href")) if isinstance(following, Mapping) else False


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise PlatformFailed(f"Prolific answered without {key!r}: {shown(document)}")
    return value


def _list(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = document.get(key)
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise PlatformFailed(f"Prolific answered without a list of {key}: {shown(document)}")
    return value
