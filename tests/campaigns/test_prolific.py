from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prolific_server import ProlificServer, Refusal

from billboards.campaigns.crowd.base import CrowdPlatform, Screener, Study, StudyState, WorkState
from billboards.campaigns.crowd.calling import ATTEMPTS
from billboards.campaigns.crowd.prolific import Prolific
from billboards.errors import InvalidInput, PlatformFailed, Refused

STUDY = Study(
    name="Judge summaries",
    description="Read a short text and say how good a summary of it is.",
    address="http://127.0.0.1/annotate/x?PROLIFIC_PID={{%PROLIFIC_PID%}}",
    code="DONE1234",
    minutes=10,
    reward=200,
    places=2,
    screeners=(Screener("fluent-languages", ("19",)), Screener("approval_rate", lower=95, upper=100)),
)
LONG = "Of the twelve test questions, whose answers are known, nine were answered wrongly, as the instructions explain."


@pytest.fixture
def server() -> Iterator[ProlificServer]:
    with ProlificServer() as server:
        yield server


@pytest.fixture
def prolific(server: ProlificServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    monkeypatch.setattr("billboards.campaigns.crowd.calling.FIRST_WAIT", 0.0)
    platform = Prolific(address=server.address, key=server.key)
    yield platform
    platform.close()


def test_it_keeps_the_contract_of_platforms(prolific: Prolific) -> None:
    platform: CrowdPlatform = prolific
    assert platform.name == "prolific"


def test_a_draft_has_screeners_and_a_code_and_costs_what_the_platform_says(
    server: ProlificServer, prolific: Prolific
) -> None:
    drafted = prolific.draft(STUDY)
    assert (drafted.state, drafted.places, drafted.reward) == (StudyState.DRAFT, 2, 200)
    assert drafted.cost == round(2 * 200 * 1.428)
    written = server.studies[drafted.id]
    assert written["filters"] == [
        {"filter_id": "fluent-languages", "selected_values": ["19"]},
        {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}},
    ]
    assert written["completion_codes"][0]["code"] == "DONE1234"


def test_a_study_is_published_paused_resumed_and_ended(prolific: Prolific) -> None:
    study = prolific.draft(STUDY).id
    assert prolific.publish(study).state is StudyState.OPEN
    assert prolific.pause(study).state is StudyState.PAUSED
    assert prolific.resume(study).state is StudyState.OPEN
    assert prolific.end(study).state is StudyState.ENDED
    with pytest.raises(Refused, match="not possible for a study that is COMPLETED"):
        prolific.publish(study)


def test_publication_can_wait_for_a_time(server: ProlificServer, prolific: Prolific) -> None:
    study = prolific.draft(STUDY).id
    at = datetime(2026, 5, 4, 14, tzinfo=UTC)
    assert prolific.publish(study, at=at).state is StudyState.SCHEDULED
    assert server.studies[study]["publish_at"] == "2026-05-04T14:00:00+00:00"


def test_places_only_grow(prolific: Prolific) -> None:
    study = prolific.draft(STUDY).id
    prolific.publish(study)
    assert prolific.grow(study, 5).places == 5
    assert prolific.grow(study, 5).places == 5
    with pytest.raises(Refused, match="has 5 places, and places only grow"):
        prolific.grow(study, 4)


def test_who_times_out_or_returns_gives_the_place_back(server: ProlificServer, prolific: Prolific) -> None:
    study = prolific.draft(STUDY).id
    prolific.publish(study)
    first, second = server.take_place(study, "anna"), server.take_place(study, "ben")
    with pytest.raises(Refusal):
        server.take_place(study, "carl")
    server.leave(first, "TIMED-OUT")
    server.leave(second, "RETURNED")
    server.finish(server.take_place(study, "carl"), "DONE1234")
    states = {work.participant: work.state for work in prolific.works(study)}
    assert states == {"anna": WorkState.TIMED_OUT, "ben": WorkState.GAVE_BACK, "carl": WorkState.TO_REVIEW}


def test_works_of_many_pages_all_come(server: ProlificServer, prolific: Prolific) -> None:
    study = prolific.draft(replace(STUDY, places=250)).id
    prolific.publish(study)
    for n in range(250):
        server.take_place(study, f"p{n:03}")
    assert [work.participant for work in prolific.works(study)] == [f"p{n:03}" for n in range(250)]


def test_work_is_approved_once_and_rejected_with_a_reason_of_100_characters(
    server: ProlificServer, prolific: Prolific
) -> None:
    study = prolific.draft(STUDY).id
    prolific.publish(study)
    good, bad = server.take_place(study, "anna"), server.take_place(study, "ben")
    for work in (good, bad):
        server.finish(work, "DONE1234")
    prolific.approve(good)
    prolific.approve(good)
    with pytest.raises(InvalidInput, match="at least 100 characters, not 9"):
        prolific.reject(bad, "FAILED_CHECK", "too wrong")
    with pytest.raises(InvalidInput, match="no category of rejections"):
        prolific.reject(bad, "RUDE", LONG)
    prolific.reject(bad, "FAILED_CHECK", LONG)
    assert [work.state for work in prolific.works(study)] == [WorkState.APPROVED, WorkState.REJECTED]


def test_bonuses_are_prepared_for_nothing_and_then_paid(server: ProlificServer, prolific: Prolific) -> None:
    study = prolific.draft(STUDY).id
    prolific.publish(study)
    server.finish(server.take_place(study, "anna"), "DONE1234")
    batch = prolific.prepare_bonuses(study, {"anna": 125})
    assert server.paid == {}
    prolific.pay_bonuses(batch)
    assert server.paid == {"anna": 125}
    server.trouble.append(400)
    with pytest.raises(Refused, match=f"/bulk-bonus-payments/{batch}/pay/ refused"):
        prolific.pay_bonuses(batch)
    with pytest.raises(InvalidInput, match="1 to 200 bonuses"):
        prolific.prepare_bonuses(study, {f"p{n}": 1 for n in range(201)})
    for amounts in ({}, {"anna": 1, "bob": 0}):
        with pytest.raises(InvalidInput, match="a bonus must be above 0" if amounts else "1 to 200 bonuses, not 0"):
            prolific.prepare_bonuses(study, amounts)


def test_a_payment_without_an_answer_is_sent_once_and_said_to_be_unknown(
    server: ProlificServer, prolific: Prolific
) -> None:
    study = prolific.draft(STUDY).id
    prolific.publish(study)
    server.finish(server.take_place(study, "anna"), "DONE1234")
    batch = prolific.prepare_bonuses(study, {"anna": 125})
    server.lose_answer = True
    with pytest.raises(PlatformFailed, match="unknown whether this was done"):
        prolific.pay_bonuses(batch)
    assert server.paid == {"anna": 125}


def test_a_busy_platform_is_asked_again_and_given_up_at_last(server: ProlificServer, prolific: Prolific) -> None:
    study = prolific.draft(STUDY).id
    server.trouble.extend([503, 429])
    assert prolific.look(study).places == 2
    server.trouble.extend([503] * ATTEMPTS)
    with pytest.raises(PlatformFailed, match="no answer after 4 attempts, at last: status 503"):
        prolific.look(study)


def test_a_wrong_key_is_said_without_showing_it(server: ProlificServer) -> None:
    platform = Prolific(address=server.address, key="secret-key")
    with pytest.raises(PlatformFailed, match="refuses the key") as raised:
        platform.look("x")
    platform.close()
    assert "secret-key" not in str(raised.value)


def test_without_a_key_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROLIFIC_API_TOKEN", raising=False)
    with pytest.raises(InvalidInput, match="PROLIFIC_API_TOKEN"):
        Prolific()
