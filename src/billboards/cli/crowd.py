"""Put a campaign on a crowd platform: quote, draft, publish, review, pay.

    billboards crowd draft CAMPAIGN --hourly 12.00
    billboards crowd publish STUDY --zone America/New_York --confirm
    billboards crowd review STUDY

The platform is Prolific; its key is read from PROLIFIC_API_TOKEN. Nothing is published or paid without --confirm.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from billboards.campaigns.crowd.base import StudyNow
    from billboards.campaigns.crowd.prolific import Prolific
    from billboards.site.accounts.access import Viewer
    from billboards.site.site import Site

    Actions = _SubParsersAction[ArgumentParser]


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    draft = _action(actions, "draft", "put a campaign on the platform where nobody sees it yet; costs nothing")
    draft.add_argument("campaign", metavar="CAMPAIGN", help="the campaign's name or id")
    draft.add_argument(
        "--hourly", type=options.non_negative, required=True, metavar="X", help="what an hour is paid, in the currency"
    )
    draft.add_argument("--items", type=options.positive, default=20, metavar="N", help="items in a place (default 20)")
    draft.add_argument(
        "--seconds", type=options.non_negative, metavar="X", help="what an item takes (default: the campaign's)"
    )
    draft.add_argument(
        "--screener",
        action="append",
        default=[],
        metavar="ID=CHOICE,…",
        help="a filter of the platform; may be repeated",
    )
    publish = _on_study(actions, "publish", "show a study to people")
    publish.add_argument("--zone", metavar="ZONE", help="on the next weekday at ten in this time zone, not at once")
    grow = _on_study(actions, "grow", "offer more places; they never become fewer")
    grow.add_argument("--places", type=options.positive, required=True, metavar="N", help="places altogether")
    _on_study(actions, "end", "end a study for good")
    _on_study(actions, "review", "list works that wait for review, with what to think of each")
    approve = _on_study(actions, "approve", "accept works, which pays their rewards")
    approve.add_argument("works", nargs="+", metavar="WORK", help="ids as `review` lists them")
    reject = _on_study(actions, "reject", "refuse a work with a reason of at least 100 characters")
    reject.add_argument("works", nargs=1, metavar="WORK", help="the id as `review` lists it")
    reject.add_argument("--category", required=True, metavar="WORD", help="such as FAILED_CHECK")
    reject.add_argument("--message", required=True, metavar="TEXT", help="what its author is told")
    bonus = _on_study(actions, "bonus", "write down bonuses; pays nothing")
    bonus.add_argument("amounts", nargs="+", metavar="WHO=AMOUNT", help="a participant's id and an amount such as 1.50")
    pay = _action(actions, "pay", "pay bonuses that were written down, once")
    pay.add_argument("payment", metavar="PAYMENT", help="the id that `bonus` printed")
    settle = _action(actions, "settle", "say what you found about a payment that was never answered")
    settle.add_argument("payment", metavar="PAYMENT", help="the payment's id")
    settle.add_argument("--paid", action="store_true", help="it was paid (default: it was not)")
    settle.add_argument("--reason", required=True, metavar="TEXT", help="how you know")


def _action(actions: Actions, name: str, text: str) -> ArgumentParser:
    made = actions.add_parser(name, help=text, description=text)
    options.add_data(made)
    made.add_argument("--confirm", action="store_true", help="really do what costs money")
    made.add_argument("--academic", action="store_true", help="count the platform's fees for universities")
    made.add_argument("--address", metavar="URL", help="another address of the platform, for trying things out")
    return made


def _on_study(actions: Actions, name: str, text: str) -> ArgumentParser:
    made = _action(actions, name, text)
    made.add_argument("study", metavar="STUDY", help="the id that `draft` printed")
    return made


def run(arguments: Namespace) -> int:
    from billboards.campaigns.crowd.prolific import ADDRESS, Prolific
    from billboards.site.accounts.access import local_viewer
    from billboards.site.site import open_site

    options.check_site(arguments.data)
    site = open_site(arguments.data)
    try:
        if arguments.action == "settle":
            return _settle(site, local_viewer(site), arguments)
        platform = Prolific(address=arguments.address or ADDRESS, academic=arguments.academic)
        try:
            return ACTIONS[arguments.action](site, local_viewer(site), platform, arguments)
        finally:
            platform.close()
    finally:
        site.close()


def _draft(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.campaigns.crowd.base import Screener
    from billboards.campaigns.crowd.quote import money, quote_in_words
    from billboards.site.campaigns.campaign import get_campaign
    from billboards.site.campaigns.crowd import draft_study

    pairs = [word.partition("=") for word in arguments.screener]
    made = draft_study(
        site,
        viewer,
        get_campaign(site, arguments.campaign).id,
        platform,
        hourly=round(arguments.hourly * 100),
        items_per_place=arguments.items,
        seconds_per_item=arguments.seconds,
        screeners=tuple(Screener(name, tuple(choices.split(","))) for name, _, choices in pairs),
    )
    print(made.row.id)
    for line in quote_in_words(made.quote):
        _say(line)
    if made.now.cost is not None:
        _say(f"the platform says {money(made.now.cost, made.now.currency or platform.fees.currency)} in all")
    _say(f"nobody sees it yet; `billboards crowd publish {made.row.id}` shows it")
    return 0


def _publish(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import publish_study

    return _tell(
        publish_study(site, viewer, arguments.study, platform, confirmed=arguments.confirm, zone=arguments.zone)
    )


def _grow(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import grow_study

    return _tell(grow_study(site, viewer, arguments.study, platform, arguments.places, confirmed=arguments.confirm))


def _end(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import end_study

    return _tell(end_study(site, viewer, arguments.study, platform))


def _review(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import review_works

    reviews = review_works(site, viewer, arguments.study, platform)
    for review in reviews:
        print(
            json.dumps(
                {"work": review.work.id, "proposal": review.verdict, "answers": review.answers, "reason": review.reason}
            )
        )
    if not reviews:
        _say("no work waits for review")
    return 0


def _approve(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import approve_works

    done = approve_works(site, viewer, arguments.study, platform, arguments.works, confirmed=arguments.confirm)
    _say(f"approved {done}")
    return 0


def _reject(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import reject_work

    reject_work(site, viewer, arguments.study, platform, arguments.works[0], arguments.category, arguments.message)
    _say("rejected; its place is free again")
    return 0


def _bonus(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.errors import InvalidInput
    from billboards.reading import decimal_number
    from billboards.site.campaigns.crowd import prepare_bonuses

    pairs = [word.rpartition("=") for word in arguments.amounts]
    bonuses = {who: decimal_number(amount) for who, _, amount in pairs}
    amounts = {who: round(amount * 100) for who, amount in bonuses.items() if amount is not None}
    if len(amounts) < len(bonuses):
        raise InvalidInput(f"write bonuses as WHO=AMOUNT, such as 5f0c=1.50; found {' '.join(arguments.amounts)}")
    print(prepare_bonuses(site, viewer, arguments.study, platform, amounts).id)
    _say("nothing is paid yet; `billboards crowd pay` pays it")
    return 0


def _pay(site: Site, viewer: Viewer, platform: Prolific, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import pay_bonuses

    _say(pay_bonuses(site, viewer, arguments.payment, platform, confirmed=arguments.confirm).state)
    return 0


def _settle(site: Site, viewer: Viewer, arguments: Namespace) -> int:
    from billboards.site.campaigns.crowd import settle_payment

    payment = settle_payment(site, viewer, arguments.payment, was_paid=arguments.paid, reason=arguments.reason)
    _say(f"payment {payment.id} is {payment.state}")
    return 0


ACTIONS = {
    "draft": _draft,
    "publish": _publish,
    "grow": _grow,
    "end": _end,
    "review": _review,
    "approve": _approve,
    "reject": _reject,
    "bonus": _bonus,
    "pay": _pay,
}


def _tell(now: StudyNow) -> int:
    _say(f"study {now.id} is {now.state.value}, with {now.places} places")
    return 0


def _say(line: str) -> None:
    from billboards.cli.output import note

    note(line)
