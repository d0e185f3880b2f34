"""What an owner does to a campaign by button: open, pause, close, invite, exclude, decide.

What may spend money wants a tick beside the price, and closing wants one because it is for good. What is wrong with a
form is said on the page it stands on. Links are secrets: they are shown in the answer that makes them and never again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter

from billboards.errors import InvalidInput, Refused, UnknownName
from billboards.site.campaigns import annotators, meta_evaluation
from billboards.site.campaigns import owning as campaigns
from billboards.site.campaigns.agreement_page import show_agreement
from billboards.site.campaigns.annotators import Invitation
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.forms import sent_lines, sent_number
from billboards.site.campaigns.pages import (
    HOME,
    own_campaign,
    show_annotators,
    show_progress,
    show_results,
    status_of,
)
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()

DECISIONS: tuple[meta_evaluation.Decision, ...] = ("upheld", "struck", "restored")
Sent = Mapping[str, Any]
#: A verb does what a form asks; one that makes links returns them.
Verb = Callable[[Ask, Campaign, Sent], Sequence[Invitation] | None]


#: The pages of a campaign, on which its forms stand.
PAGES: Mapping[str, Callable[..., Body]] = {
    "": show_progress,
    "annotators": show_annotators,
    "agreement": show_agreement,
    "results": show_results,
}


def act_on_campaign(ask: Ask, sent: Sent) -> Body | str:
    """Do what a button says."""
    action = ask.params["action"]
    if action not in ACTIONS:
        raise UnknownName("action", action, ACTIONS)
    campaign = own_campaign(ask)
    section, verb = ACTIONS[action]
    try:
        links = verb(ask, campaign, sent)
    except (InvalidInput, Refused) as error:
        return PAGES[section](ask, problem=str(error), status=status_of(error))
    if links is not None:
        return PAGES[section](ask, links=links)
    return addresses.board(campaign.board, "campaigns", campaign.id, *([section] if section else []))


def _open(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    campaigns.open_campaign(ask.site, ask.viewer, campaign.id)


def _pause(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    campaigns.pause_campaign(ask.site, ask.viewer, campaign.id, reason=_text(sent, "reason") or None)


def _resume(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    campaigns.resume_campaign(ask.site, ask.viewer, campaign.id)


def _close(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    if not sent.get("confirm"):
        raise InvalidInput("closing is for good: tick the box that says so, then close")
    campaigns.close_campaign(ask.site, ask.viewer, campaign.id, reason=_text(sent, "reason") or None)


def _top_up(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    labels = sent_number(sent, "labels", "Labels per output")
    campaigns.top_up(
        ask.site,
        ask.viewer,
        campaign.id,
        sent_number(sent, "budget", "Budget") or 0.0,
        generators=sent_lines(sent, "generators"),
        labels=None if labels is None else int(labels),
    )


def _check_price(campaign: Campaign, sent: Sent) -> None:
    if campaign.plan.pay and not sent.get("confirm"):
        raise InvalidInput("this spends money: tick the box beside the price, then go on")


def _invite(ask: Ask, campaign: Campaign, sent: Sent) -> Sequence[Invitation]:
    names, count = sent_lines(sent, "names"), sent_number(sent, "count", "Links without names")
    if bool(names) == bool(count):
        raise InvalidInput("name the annotators, one a line, or say how many links to make; one of the two")
    days = sent_number(sent, "days", "Days")
    expires = None if not days else ask.site.clock() + 86400 * days
    return annotators.invite(ask.site, ask.viewer, campaign.id, names or int(count or 0), expires=expires)


def _share(ask: Ask, campaign: Campaign, sent: Sent) -> Sequence[Invitation]:
    platform = _text(sent, "platform")
    token = annotators.shared_link(ask.site, ask.viewer, campaign.id, platform)
    return [Invitation(f"everybody from {platform}", "", f"{token}?external=ID")]


def _revoke(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    annotators.revoke_link(ask.site, ask.viewer, campaign.id, _text(sent, "annotator"))


def _exclude(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    annotators.exclude(ask.site, ask.viewer, campaign.id, _text(sent, "annotator"), _text(sent, "reason"))


def _readmit(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    annotators.readmit(ask.site, ask.viewer, campaign.id, _text(sent, "annotator"), _text(sent, "reason"))


def _dispute(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    meta_evaluation.dispute(ask.site, ask.viewer, campaign.id, _text(sent, "answer"), _text(sent, "reason"))


def _decide(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    decision = next((one for one in DECISIONS if one == _text(sent, "decision")), None)
    if decision is None:
        raise InvalidInput(f"choose one of {', '.join(DECISIONS)}")
    meta_evaluation.decide(ask.site, ask.viewer, campaign.id, _text(sent, "answer"), decision, _text(sent, "reason"))


def _text(sent: Sent, name: str) -> str:
    return str(sent.get(name, "")).strip()


#: Every action: the page its form stands on, and what it does.
ACTIONS: Mapping[str, tuple[str, Verb]] = {
    "open": ("", _open),
    "pause": ("", _pause),
    "resume": ("", _resume),
    "close": ("", _close),
    "top-up": ("", _top_up),
    "invite": ("annotators", _invite),
    "share": ("annotators", _share),
    "revoke": ("annotators", _revoke),
    "exclude": ("annotators", _exclude),
    "readmit": ("annotators", _readmit),
    "dispute": ("agreement", _dispute),
    "decide": ("agreement", _decide),
}

for _section, _show in PAGES.items():
    _path = f"{HOME}/{_section}" if _section else HOME
    router.add_route(_path, reading(_show, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(f"{HOME}/{{action}}", changing(act_on_campaign), methods=["POST"], include_in_schema=False)
