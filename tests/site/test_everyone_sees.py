"""Everybody sees what goes on while people judge: submitters how far it is, readers how a campaign was held."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.errors import UnknownName
from billboards.site.admin import deliveries
from billboards.site.admin.letters import write_letter
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.campaigns.annotators import exclude
from billboards.site.campaigns.campaign import get_campaign
from billboards.site.campaigns.judged_submissions import people_progress
from billboards.site.campaigns.lifecycle import close_campaign, withdraw_campaign
from billboards.site.campaigns.protocol import list_protocols, people_in_campaigns, read_protocol
from billboards.site.settings import MailSettings
from billboards.site.submissions.sending import change_settings, submit_generator
from billboards.site.work.worker import work_until_done

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(distinct_board())
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def progress_of(port: Harbour, submission: Any) -> Any:
    with port.site.database.reading() as connection:
        return people_progress(connection, port.now(submission))


def judged_notices(port: Harbour) -> list[Any]:
    with port.site.database.reading() as connection:
        return [one for one in deliveries.list_deliveries(connection) if one.event == "submission.judged"]


def submitted(port: Harbour) -> Any:
    sam = port.person("sam", email="sam@example.org")
    sent = submit_generator(port.site, sam, "ferry", "boat", port.outputs()).submission
    work_until_done(port.site)
    return sent


def test_a_submitter_sees_how_far_people_are_and_hears_when_they_have_ended(port: Harbour) -> None:
    sent = submitted(port)
    assert progress_of(port, sent) is None, "nobody is asked about it yet"
    campaign = small_campaign(port, instances=4, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    now = progress_of(port, sent)
    assert (now.done, now.wanted, now.ended, now.words) == (0, 4, False, "people: 0 of 4")
    for _ in range(8):
        ann.answer()
    assert progress_of(port, sent).done == 2, "two rounds of four generators"
    assert judged_notices(port) == []
    close_campaign(port.site, port.owner, campaign.id)
    assert (progress_of(port, sent).done, progress_of(port, sent).ended) == (2, True)
    (notice,) = judged_notices(port)
    assert notice.target == "mailto:sam@example.org"
    mail = write_letter(port.site, MailSettings(host="localhost", sender="site@example.org"), notice)
    assert mail["Subject"] == "[billboards] ferry: boat is judged by people (2 of 4 answers)"
    assert "first" not in mail.get_content(), "a campaign's name may be hidden"
    withdraw_campaign(port.site, port.owner, campaign.id)
    assert progress_of(port, sent) is None


def test_in_a_rolling_campaign_judging_ends_with_the_last_answer_and_is_told_once(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=2, **PLAIN)
    sent = submitted(port)
    (ann,) = people(port, campaign, by_reference)
    ann.answer_all()
    assert (progress_of(port, sent).done, progress_of(port, sent).ended) == (2, True)
    assert len(judged_notices(port)) == 1
    close_campaign(port.site, port.owner, campaign.id)
    assert len(judged_notices(port)) == 1


def test_comparisons_count_those_with_the_submissions_outputs(port: Harbour) -> None:
    sent = submitted(port)
    small_campaign(port, template="pairwise", instances=2, **PLAIN)
    now = progress_of(port, sent)
    assert now.done == 0
    assert now.wanted > 0


def test_a_protocol_says_how_a_campaign_was_held_and_names_nobody(port: Harbour) -> None:
    campaign = small_campaign(port, instances=6, labels=2, pay=0.5, budget=100.0, positive=0.1, negative=0.1)
    ann, ben, _ = people(port, campaign, *[by_reference] * 3)
    for _ in range(6):
        ben.answer()
    pseudonym = ben.participant.annotator.pseudonym
    exclude(port.site, port.owner, campaign.id, pseudonym, f"Person 1 ({pseudonym}) answered at random")
    ann.answer_all()
    look = Look(live_board(port.site, "ferry"))
    running = read_protocol(look, campaign)
    assert (running.state, running.people, running.excluded, running.agreement) == ("open", 2, 1, ())
    assert running.exclusions == {"the annotator (the annotator) answered at random": 1}
    assert (running.pay, running.currency, running.median_seconds) == (0.5, "USD", 10.0)
    assert running.hourly == pytest.approx(180.0)
    assert "Reference" in running.shown
    close_campaign(port.site, port.owner, campaign.id)
    look = Look(live_board(port.site, "ferry"))
    closed = read_protocol(look, get_campaign(port.site, "first"))
    assert closed.ranks == "genie-translation"
    assert [agreed.dimension for agreed in closed.agreement] == ["adequacy"]
    assert people_in_campaigns(look) == 2
    document = json.dumps(closed.__dict__, default=str)
    assert not re.search(r"a-[0-9a-f]{12}|person \d", document, re.IGNORECASE)


def test_protocols_of_hidden_judgments_are_the_owners_own(port: Harbour) -> None:
    campaign = small_campaign(port, instances=4, **PLAIN)
    change_settings(port.site, port.owner, "ferry", {"hidden_judgments": True})
    public, owners = (Look(live_board(port.site, "ferry", audience=who)) for who in ("public", "owners"))
    assert list_protocols(public) == ()
    assert people_in_campaigns(public) == 0
    with pytest.raises(UnknownName, match="no campaign"):
        read_protocol(public, campaign)
    assert read_protocol(owners, campaign).campaign == "first"
