"""What `billboards campaign` does: each verb calls one of the site's, and shows what came of it."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from billboards.cli.campaign_planning import chosen_plan
from billboards.cli.options import with_site

if TYPE_CHECKING:
    from billboards.site.accounts.access import Viewer
    from billboards.site.campaigns.campaign import Campaign
    from billboards.site.campaigns.lifecycle import SourceChange
    from billboards.site.site import Site


def new(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Plan a campaign, and say what it would cost."""
    from billboards.cli.output import note
    from billboards.site.campaigns.lifecycle import create_campaign

    made = create_campaign(
        site,
        owner,
        arguments.board,
        arguments.campaign,
        arguments.template,
        generators=arguments.generator,
        plan=chosen_plan(arguments),
        rolling=arguments.rolling,
        ranks=arguments.ranks,
    )
    note(f"planned as a draft; nothing is asked before {_opening(arguments, made)}")
    return _show_quote(arguments, site, owner, made)


def meta(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Plan a blind check of what two sources disagree on."""
    from billboards.cli.output import note
    from billboards.site.campaigns.meta_evaluation import create_meta_campaign

    made = create_meta_campaign(
        site,
        owner,
        arguments.board,
        arguments.campaign,
        arguments.first,
        arguments.second,
        per_corner=arguments.per_corner,
    )
    note(f"planned as a draft with {len(made.instances)} instances; {_opening(arguments, made)} begins it")
    return 0


def _opening(arguments: Namespace, campaign: Campaign) -> str:
    return with_site(f"billboards campaign open {campaign.name}", arguments.data)


def list_all(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Every campaign of the site."""
    from billboards.cli.campaign_tables import campaigns_table
    from billboards.cli.output import emit
    from billboards.site.campaigns.lifecycle import list_campaigns

    campaigns = list_campaigns(site, owner)
    emit(
        arguments, [campaigns_table(campaigns)], lambda: {"campaigns": [_document(campaign) for campaign in campaigns]}
    )
    return 0


def quote(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """What a campaign costs."""
    return _show_quote(arguments, site, owner, _named(arguments, site))


def _show_quote(arguments: Namespace, site: Site, owner: Viewer, campaign: Campaign) -> int:
    from billboards.cli.campaign_tables import quote_table
    from billboards.cli.output import emit
    from billboards.site.campaigns.lifecycle import quote_campaign

    quote = quote_campaign(site, owner, campaign.id)
    emit(arguments, [quote_table(campaign.name, quote)], lambda: {"campaign": campaign.name, "quote": asdict(quote)})
    return 0


def advance(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Open, pause or resume a campaign; nothing that is paid for without a yes."""
    from billboards.cli.output import note
    from billboards.site.campaigns import lifecycle as campaigns
    from billboards.site.campaigns.rolling import newcomer_words

    campaign = _named(arguments, site)
    if arguments.action in ("open", "resume") and campaign.plan.pay and not arguments.confirm:
        quote = campaigns.quote_campaign(site, owner, campaign.id)
        most = quote.cost if campaign.plan.budget is None else min(quote.cost, campaign.plan.budget)
        later = f"; {newcomer_words(campaign.plan)}" if campaign.rolling else ""
        note(f"this may cost {most:,.2f} {quote.currency}{later}; nothing was done: say --confirm to spend it")
        return 1
    verbs = {"open": campaigns.open_campaign, "pause": campaigns.pause_campaign, "resume": campaigns.resume_campaign}
    done = verbs[arguments.action](site, owner, campaign.id, reason=arguments.reason)
    note(f"{done.name} is {done.state}")
    return 0


def close(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """End a campaign, after telling what that does to the board; a draft, which does nothing to it, at once."""
    from billboards.cli.output import note
    from billboards.site.campaigns import lifecycle as campaigns

    campaign = _named(arguments, site)
    if campaign.state in ("open", "paused"):
        effect = campaigns.closing_effect(site, owner, campaign.id, ranks=arguments.ranks)
        _show_effect(arguments, effect)
        if not arguments.confirm:
            note(f"nothing was done: say --confirm to close {campaign.name} for good")
            return 1
    done = campaigns.close_campaign(site, owner, campaign.id, reason=arguments.reason, ranks=arguments.ranks)
    note(f"{done.name} is {done.state}")
    return 0


def withdraw(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Take a closed campaign's judgments from the board, after telling what that does."""
    from billboards.cli.output import note
    from billboards.site.campaigns import lifecycle as campaigns

    campaign = _named(arguments, site)
    if campaign.state == "closed" and campaign.withdrawn is None:
        _show_effect(arguments, campaigns.withdrawing_effect(site, owner, campaign.id))
        if not arguments.confirm:
            note(f"nothing was done: say --confirm to withdraw {campaign.name}")
            return 1
    done = campaigns.withdraw_campaign(site, owner, campaign.id, reason=arguments.reason)
    note(f"{done.name} is withdrawn; its answers are kept")
    return 0


def _show_effect(arguments: Namespace, effect: SourceChange) -> None:
    from billboards.cli.campaign_tables import effect_table
    from billboards.cli.output import emit

    emit(arguments, [effect_table(effect)], lambda: asdict(effect))


def top_up(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Add money, generators or labels."""
    from billboards.cli.output import note
    from billboards.site.campaigns import lifecycle as campaigns

    campaign = _named(arguments, site)
    if campaign.plan.pay and not arguments.confirm:
        note("this lets more money be spent; nothing was done: say --confirm to do it")
        return 1
    done = campaigns.top_up(
        site, owner, campaign.id, arguments.budget, generators=arguments.generator, labels=arguments.labels
    )
    budget = "no limit" if done.plan.budget is None else f"{done.plan.budget:,.2f} {done.plan.currency}"
    note(f"{done.name}: {len(done.generators)} generators, {done.plan.labels} labels per output, budget {budget}")
    return 0


def repeat(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Plan a campaign again on other days; open the repetitions where that is asked for and confirmed."""
    from billboards.cli.campaign_tables import repetitions_table
    from billboards.cli.output import emit, note
    from billboards.site.campaigns.lifecycle import open_campaign, quote_campaign
    from billboards.site.campaigns.repeating import WHO, plan_repetitions

    campaign = _named(arguments, site)
    planned = plan_repetitions(
        site,
        owner,
        campaign.id,
        arguments.days,
        first=arguments.first,
        every=arguments.every,
        annotators=arguments.annotators,
        anchors=arguments.anchors,
        instances=arguments.instances,
        ranks=arguments.rank,
    )
    quotes = [quote_campaign(site, owner, repetition.id) for repetition in planned]
    cost = sum(quote.cost for quote in quotes)
    note(f"planned on {len(planned)} days; they take {WHO[arguments.annotators]}")
    if arguments.open and campaign.plan.pay and not arguments.confirm:
        note(f"opening them may cost {cost:,.2f} {campaign.plan.currency}; they stay drafts: open each with --confirm")
    elif arguments.open:
        planned = tuple(open_campaign(site, owner, repetition.id) for repetition in planned)
    entries = [_document(repetition) for repetition in planned]
    document = {"campaign": campaign.name, "cost": cost, "repetitions": entries}
    emit(arguments, [repetitions_table(campaign.name, planned, quotes)], lambda: document)
    return 0


def admit(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Let generators that wait join a rolling campaign, once their price is confirmed."""
    from billboards.cli.output import note
    from billboards.errors import UnknownName
    from billboards.site.campaigns.rolling import admit_newcomers, waiting_generators

    campaign = _named(arguments, site)
    waiting = {newcomer.generator: newcomer.price for newcomer in waiting_generators(campaign)}
    for name in arguments.generators:
        if name not in waiting:
            raise UnknownName("waiting generator", name, waiting)
    price = sum(waiting[name] for name in set(arguments.generators))
    if campaign.plan.pay and not arguments.confirm:
        note(f"this costs {price:,.2f} {campaign.plan.currency}; nothing was done: say --confirm to spend it")
        return 1
    done = admit_newcomers(site, owner, campaign.id, arguments.generators)
    note(f"{done.name}: {', '.join(arguments.generators)} joined, {len(done.generators)} generators")
    return 0


def invite(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Make magic links, which are shown once."""
    from billboards.cli.campaign_tables import links_table
    from billboards.cli.output import emit, note
    from billboards.errors import InvalidInput
    from billboards.site.campaigns import annotators as people

    if bool(arguments.names) == (arguments.count is not None):
        raise InvalidInput("name the annotators, or say how many links to make with --count")
    campaign = _named(arguments, site)
    made = people.invite(site, owner, campaign.id, arguments.names or arguments.count)
    base = site.settings.base_url.rstrip("/")
    if not base:
        note("put your site's address before each link; with base_url in site.toml it is there already")
    arguments.wide = True
    links = [
        {"name": invitation.name, "pseudonym": invitation.pseudonym, "link": f"{base}{invitation.path}"}
        for invitation in made
    ]
    emit(arguments, [links_table(campaign.name, base, made)], lambda: {"campaign": campaign.name, "links": links})
    return 0


def status(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """How a campaign stands."""
    from billboards.cli.campaign_tables import status_tables
    from billboards.cli.output import emit
    from billboards.site.campaigns.status import campaign_status

    standing = campaign_status(site, owner, _named(arguments, site).id)
    emit(arguments, status_tables(standing), lambda: {**asdict(standing), "campaign": _document(standing.campaign)})
    return 0


def results(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """What a campaign has found, without and with the excluded; of one that was repeated, how far that reproduces."""
    from billboards.analyses.ratings.days import day_tables
    from billboards.analyses.spans import error_tables
    from billboards.cli.campaign_tables import meta_table, results_table, watch_tables
    from billboards.cli.output import emit
    from billboards.show.documents import document_of
    from billboards.site.campaigns.comparisons import campaign_arena
    from billboards.site.campaigns.decisions import watch_campaign
    from billboards.site.campaigns.error_results import campaign_errors
    from billboards.site.campaigns.meta_evaluation import meta_results
    from billboards.site.campaigns.repeating import campaign_days
    from billboards.site.campaigns.results import both_results

    campaign = _named(arguments, site)
    if campaign.kind == "meta":
        corners = meta_results(site, owner, campaign.id)
        corner_document = {"campaign": campaign.name, "corners": [asdict(corner) for corner in corners]}
        emit(arguments, [meta_table(campaign.name, corners)], lambda: corner_document)
        return 0
    without, with_all = both_results(site, owner, campaign.id)
    watched = watch_campaign(site, owner, campaign.id)
    errors = campaign_errors(site, owner, campaign.id)
    tables = [results_table(without)]
    tables += [results_table(with_all)] if with_all.estimates != without.estimates else []
    arena = campaign_arena(site, owner, campaign.id)
    tables += [] if arena is None else arena.tables
    tables += watch_tables(campaign.name, watched) if watched.means else []
    tables += error_tables(errors) if errors is not None else []
    days = campaign_days(site, owner, campaign.id)
    tables += day_tables(days) if days is not None else []
    document = {
        "campaign": campaign.name,
        "without_excluded": [asdict(estimate) for estimate in without.estimates],
        "with_excluded": [asdict(estimate) for estimate in with_all.estimates],
        "arena": None if arena is None else arena.document,
        "watch": asdict(watched),
        "errors": None if errors is None else document_of(errors),
        **({} if days is None else {"days": asdict(days)}),
    }
    emit(arguments, tables, lambda: document)
    return 0


def judgments(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """What counts of a campaign's answers, as a file of another tool."""
    from billboards.cli.output import note
    from billboards.saving import save_file
    from billboards.site.campaigns.campaign_files import campaign_file

    text = campaign_file(site, owner, _named(arguments, site).id, arguments.format)
    if arguments.out is None:
        print(text, end="")
    else:
        note(f"wrote {save_file(arguments.out, text)}")
    return 0


def annotators(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """How everybody stands, by pseudonym."""
    from billboards.cli.campaign_tables import annotators_table
    from billboards.cli.output import emit
    from billboards.site.campaigns.annotators import annotator_lines

    campaign = _named(arguments, site)
    lines = annotator_lines(site, owner, campaign.id)
    entries = [{key: value for key, value in asdict(line).items() if key != "name"} for line in lines]
    emit(
        arguments,
        [annotators_table(campaign.name, lines)],
        lambda: {"campaign": campaign.name, "annotators": entries},
    )
    return 0


def survey(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """What annotators accepted and said of themselves, by pseudonym."""
    from billboards.cli.campaign_tables import survey_table
    from billboards.cli.output import emit
    from billboards.site.campaigns.surveys import survey_lines

    campaign = _named(arguments, site)
    lines = list(survey_lines(site, owner, campaign.id))
    document = {"campaign": campaign.name, "pages": [asdict(line) for line in lines]}
    emit(arguments, [survey_table(campaign, lines)], lambda: document)
    return 0


def rule(arguments: Namespace, site: Site, owner: Viewer) -> int:
    """Exclude or readmit an annotator."""
    from billboards.cli.output import note
    from billboards.site.campaigns.annotators import exclude, readmit

    verb = exclude if arguments.action == "exclude" else readmit
    ruling = verb(site, owner, _named(arguments, site).id, arguments.annotator, arguments.reason)
    note(f"{ruling.name} is {ruling.verdict}: {ruling.reason}")
    return 0


def _named(arguments: Namespace, site: Site) -> Campaign:
    from billboards.site.campaigns.campaign import get_campaign

    return get_campaign(site, arguments.campaign)


def _document(campaign: Campaign) -> dict[str, Any]:
    """A campaign for programs: what was decided, without the texts of its template."""
    words = ("id", "board", "name", "kind", "state", "generators", "rolling", "ranks", "joins", "reason")
    times = ("created", "changed", "opened", "closed", "withdrawn")
    facts: dict[str, Any] = {word: getattr(campaign, word) for word in (*words, *times)}
    return {**facts, "template": campaign.template.signature, "plan": campaign.plan.document()}


VERBS = {
    "new": new,
    "meta": meta,
    "list": list_all,
    "quote": quote,
    **dict.fromkeys(("open", "pause", "resume"), advance),
    "close": close,
    "withdraw": withdraw,
    "top-up": top_up,
    "admit": admit,
    "repeat": repeat,
    "invite": invite,
    "status": status,
    "results": results,
    "judgments": judgments,
    "annotators": annotators,
    "survey": survey,
    "exclude": rule,
    "readmit": rule,
}
