"""A generator that waits to join a paid rolling campaign, by every door: page, HTTP and command."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_sites import CampaignSite, campaign_site

from billboards.campaigns.plan import CampaignPlan
from billboards.cli.main import main
from billboards.site.campaigns.campaign import Campaign, get_campaign
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign


@pytest.fixture
def ferry(tmp_path: Path) -> CampaignSite:
    return campaign_site(tmp_path)


def _rolling(ferry: CampaignSite) -> Campaign:
    """A rolling campaign of one generator, 0.5 USD an answer; the board's other machine waits outside."""
    site, owner = ferry.pages.site, ferry.pages.owner
    plan = CampaignPlan(instances=4, positive=0.0, negative=0.0, pay=0.5)
    made = create_campaign(
        site, owner, "ferry", "roll", "genie-translation", generators=["g0"], plan=plan, rolling=True
    )
    opened = open_campaign(site, owner, made.id)
    ferry.pages.work()
    return opened


def test_the_page_names_who_waits_with_its_price_and_admits_it_after_a_tick(ferry: CampaignSite) -> None:
    campaign = _rolling(ferry)
    page = ferry.read(ferry.home(campaign))
    assert "Waiting to join" in page
    assert "Spend 2.00 USD" in page
    assert "waits until you confirm its price" in page
    refused = ferry.pages.post(f"{ferry.home(campaign)}/admit", "owner", data={"generator": "g1"})
    assert refused.status_code == 422
    assert "tick the box beside the price" in refused.text
    sent = {"generator": "g1", "confirm": "yes"}
    assert ferry.pages.post(f"{ferry.home(campaign)}/admit", "owner", data=sent).status_code == 303
    assert get_campaign(ferry.pages.site, "roll").generators == ("g0", "g1")
    assert "Waiting to join" not in ferry.read(ferry.home(campaign))


def test_programs_read_who_waits_and_confirm_the_price(ferry: CampaignSite) -> None:
    campaign = _rolling(ferry)
    path = f"/api/v1/campaigns/{campaign.id}"
    (waiting,) = ferry.pages.get(path, "owner").json()["waiting"]
    assert (waiting["generator"], waiting["labels"], waiting["price"], waiting["waits_for"]) == ("g1", 4, 2.0, "price")
    assert ferry.pages.post(f"{path}/admit", "owner", json={"generators": ["g1"]}).status_code == 409
    assert ferry.pages.post(f"{path}/admit", "annotator", json={"generators": ["g1"]}).status_code == 403
    sent = {"generators": ["g1"], "confirm": True}
    assert ferry.pages.post(f"{path}/admit", "owner", json=sent).json()["generators"] == ["g0", "g1"]


def test_the_command_tells_the_price_and_spends_only_with_confirm(
    ferry: CampaignSite, capsys: pytest.CaptureFixture[str]
) -> None:
    _rolling(ferry)
    data = ("--data", str(ferry.pages.site.data))
    assert main(["campaign", "status", "roll", *data]) == 0
    assert "campaign admit roll GENERATOR --confirm" in capsys.readouterr().out
    assert main(["campaign", "admit", "roll", "g1", *data]) == 1
    assert "this costs 2.00 USD; nothing was done" in capsys.readouterr().err
    assert main(["campaign", "admit", "roll", "g1", "--confirm", *data]) == 0
    assert "g1 joined, 2 generators" in capsys.readouterr().err
    assert main(["campaign", "admit", "roll", "g1", "--confirm", *data]) != 0
