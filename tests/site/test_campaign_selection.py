"""A campaign whose instances a selector chooses: where labels are worth most, or by chances that are kept."""

from __future__ import annotations

import pytest
from small_campaigns import distinct_board
from small_sites import Harbour, MakeHarbour

from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.errors import InvalidInput, UnknownName
from billboards.site.campaigns import campaign_records as kept
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.forms import plan_fields, sent_plan
from billboards.site.campaigns.lifecycle import create_campaign, quote_campaign


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(distinct_board())


def planned(port: Harbour, name: str, **settings: object) -> Campaign:
    plan = read_plan({"instances": 5, **settings})
    return create_campaign(port.site, port.owner, "ferry", name, "genie-translation", plan=plan)


def test_a_selector_chooses_the_instances_for_every_generator(port: Harbour) -> None:
    made = planned(port, "chosen", selector="diversity")
    selection = made.details["selection"]
    assert list(made.instances) == [item["instance"] for item in selection["items"]]
    assert (selection["draw"], len(made.instances)) == ("top", 5)
    with port.site.database.reading() as connection:
        items = kept.list_items(connection, made.id, "label")
    assert {(item.row, item.instance) for item in items} == {
        (row, instance) for row in ("g0", "g1", "g2") for instance in made.instances
    }
    (warning, *_) = quote_campaign(port.site, port.owner, made.id).warnings
    assert "plain means over them are biased" in warning


def test_for_means_the_chances_are_kept_with_the_campaign(port: Harbour) -> None:
    made = planned(port, "drawn", selector="diversity", aim="means")
    chances = made.details["selection"]["probabilities"]["*"]
    assert sum(chances.values()) == pytest.approx(5)
    assert set(made.instances) <= set(chances)
    assert len(chances) == 12
    assert "unequal chances" in quote_campaign(port.site, port.owner, made.id).warnings[0]


def test_without_a_selector_nothing_changes(port: Harbour) -> None:
    plain = create_campaign(
        port.site, port.owner, "ferry", "plain", "genie-translation", plan=CampaignPlan(instances=5, aim="means")
    )
    assert plain.details == {"ranking": "rule"}, "no word of how instances were chosen"
    assert quote_campaign(port.site, port.owner, plain.id).warnings == ()
    assert planned(port, "again").instances == plain.instances


def test_a_plan_from_before_selectors_is_read_and_the_form_brings_both(port: Harbour) -> None:
    assert (read_plan({}).selector, read_plan({}).aim) == (None, "separate")
    plan = CampaignPlan(selector="variance", aim="means")
    assert sent_plan(plan_fields(plan)) == plan
    assert sent_plan({"selector": "", "aim": ""}) == CampaignPlan()


@pytest.mark.parametrize(
    ("setting", "error", "words"),
    [
        ({"selector": "varience"}, UnknownName, "did you mean variance"),
        ({"aim": "fame"}, UnknownName, "no aim named 'fame'"),
        ({"selector": 3}, InvalidInput, "selector must be a name"),
    ],
)
def test_an_unknown_selector_or_aim_is_refused(setting: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        read_plan(setting)
