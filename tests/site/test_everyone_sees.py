"""Everybody sees what goes on while people judge: submitters how far it is, readers how a campaign was held."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from outbox import list_deliveries
from small_campaigns import by_reference, carelessly, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.errors import UnknownName
from billboards.site.admin.letters import write_letter
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.campaigns import campaign_records
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
        return [one for one in list_deliveries(connection) if one.event == "submission.judged"]


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


def test_comparisons_count_wherever_the_submissions_outputs_stand_in_them(port: Harbour) -> None:
    sent = submitted(port)
    campaign = small_campaign(port, template="pairwise", instances=6, labels=2, **PLAIN)
    with port.site.database.reading() as connection:
        items = campaign_records.list_items(connection, campaign.id, "label")
    own = {(k, str(slot["text"])) for item in items for k, slot in enumerate(item.slots) if slot["name"] == "boat"}
    texts = {text for _, text in own}
    assert ({k for k, _ in own}, len(texts)) == ({0, 1}, 6), "first in some pairs, second in others"
    now = progress_of(port, sent)
    assert (now.done, now.wanted) == (0, 12), "of each of 6 instances everybody is in one pair, which two people see"
    ann, ben = people(port, campaign, carelessly, carelessly)
    ann.answer_all()
    assert progress_of(port, sent).words == "people: 6 of 12"
    seen = 6
    for _ in range(4):
        item = ben.answer().item
        assert item is not None
        seen += not texts.isdisjoint(item.outputs)
        assert progress_of(port, sent).done == seen
    assert 6 < seen < 10, "pairs without it do not count"
    assert not progress_of(port, sent).ended
    close_campaign(port.site, port.owner, campaign.id)
    assert progress_of(port, sent).ended
    (notice,) = judged_notices(port)
    assert (notice.payload["done"], notice.payload["wanted"]) == (seen, 12)


def test_in_a_rolling_campaign_of_pairs_those_count_that_were_planned_for_the_submission(port: Harbour) -> None:
    sent = submitted(port)
    plan: dict[str, Any] = {"template": "pairwise", "schedule": "balanced", "rolling": True, "instances": 6}
    campaign = small_campaign(port, **plan, **PLAIN)
    with port.site.database.reading() as connection:
        rows = [item.row for item in campaign_records.list_items(connection, campaign.id, "label")]
    (ann,) = people(port, campaign, carelessly)
    wanted = rows.count("boat")
    assert wanted == 3, "of its six pairs three were planned for the others"
    assert (progress_of(port, sent).done, progress_of(port, sent).wanted) == (0, wanted)
    ann.answer_all()
    assert (progress_of(port, sent).done, progress_of(port, sent).ended) == (wanted, True)
    (notice,) = judged_notices(port)
    assert (notice.payload["done"], notice.payload["wanted"]) == (wanted, wanted)


@pytest.mark.long
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
