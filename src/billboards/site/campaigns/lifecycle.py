"""What owners do with campaigns: plan, quote, open, pause, resume, top up, close.

A campaign is planned as a draft, with all of its items, so that a quote speaks of exactly what will be asked. Nothing
is asked or paid before it is opened. Closing it is for good: then its judgments stand on the board, and the board is
ranked anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, cast

from billboards.analyses._view import View
from billboards.analyses.next import Aim, Selection, select_items
from billboards.board import Board, Outputs
from billboards.board.names import file_name_mistake
from billboards.campaigns.control_items import plan_qualification, plan_tests
from billboards.campaigns.items import Item, eligible, plan_items, sample, slot_document
from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.campaigns.quote import Quote, quote
from billboards.campaigns.template_files import SentTemplate, parse_template, template_source
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput, Refused
from billboards.show.documents import document_of
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards.live import LiveBoard, live_board
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of, campaign_with_id
from billboards.site.campaigns.campaign_records import Kind, State
from billboards.site.campaigns.judgments import check_scales
from billboards.site.site import Site


def create_campaign(
    site: Site,
    viewer: Viewer,
    board: str,
    name: str,
    template: str | Path | SentTemplate,
    *,
    generators: Sequence[str] | None = None,
    plan: CampaignPlan | None = None,
    rolling: bool = False,
    ranks: bool = True,
    joins: Mapping[str, str] | None = None,
) -> Campaign:
    """Plan a campaign as a draft. Without `generators`, every machine generator on the board takes part.

    `template` is a shipped one's name, the path of a file, or what was sent as one.
    """
    plan = read_plan((plan or CampaignPlan()).document())
    sent = template if isinstance(template, SentTemplate) else SentTemplate(str(template), template_source(template))
    asked = parse_template(sent.text, sent.name)
    owners = live_board(site, board, audience="owners")
    live = owners.board
    rows = chosen_rows(live, generators)
    if not rows and not rolling:
        raise InvalidInput(f"board {board} has no machine generators; name the rows to be judged")
    if plan.stop == "decided" and (rolling or asked.compares == "generators"):
        what = (
            "a rolling campaign" if rolling else f"template {asked.name}, which compares generators with one another,"
        )
        raise InvalidInput(f"{what} can't stop when decided; leave `stop` out")
    check_schedule(asked, plan, rolling=rolling)
    _check_joins(live, asked, joins or {})
    with site.database.reading() as connection:
        check_scales(connection, live, asked)
    selection = None if plan.selector is None else _selected(owners, asked, plan, rows)
    instances = sample(live, asked, plan) if selection is None else _names_of(selection)
    items = plan_items(live, asked, plan, rows, instances)
    tests = [*plan_tests(live, asked, plan, instances), *plan_qualification(live, asked, plan, instances)]
    values = _values(sent.text, plan, [row.name for row in rows], instances, rolling, ranks, dict(joins or {}))
    values |= {} if selection is None else {"details": {"selection": document_of(selection)}}
    return write_draft(site, viewer, board, name, "labels", values, [*items, *tests])


def check_schedule(template: Template, plan: CampaignPlan, *, rolling: bool) -> None:
    """Refuse a schedule that the template has no use for, or that a rolling campaign can't keep."""
    compares = template.compares == "generators"
    if plan.schedule != "random" and not compares:
        raise InvalidInput(
            f"template {template.name} asks about one generator at a time, so there is no {plan.schedule} schedule of "
            "comparisons; leave `schedule` out"
        )
    if plan.schedule == "adaptive" and template.outputs != 2:
        raise InvalidInput(
            f"an adaptive schedule is for pairs, and template {template.name} shows {template.outputs} outputs; "
            "choose balanced"
        )
    if rolling and compares and (plan.schedule == "random" or template.outputs != 2):
        raise InvalidInput(
            f"template {template.name} compares generators with one another, so it can't be rolling, but for pairs "
            "with a balanced or adaptive schedule"
        )


def _selected(owners: LiveBoard, template: Template, plan: CampaignPlan, rows: Sequence[Outputs]) -> Selection:
    """The instances that the plan's selector chooses among those the template can show, whoever judged them before."""
    view = View(board=owners.board, counted=owners.board, cells=owners.cells)
    return select_items(
        view,
        items=plan.instances,
        aim=cast(Aim, plan.aim),
        generators=[row.name for row in rows],
        selector=plan.selector,
        seed=plan.seed,
        among=eligible(owners.board, template),
        anew=True,
    )


def _names_of(selection: Selection) -> tuple[str, ...]:
    return tuple(choice.instance for choice in selection.items)


def write_draft(
    site: Site, viewer: Viewer, board: str, name: str, kind: Kind, values: Mapping[str, Any], items: Iterable[Item]
) -> Campaign:
    """Write a planned campaign down with its items, in one transaction."""
    account = require(viewer, "administer")
    if wrong := file_name_mistake(name):
        raise InvalidInput(f"the name {name[:80]!r} {wrong}")
    now = site.clock()
    with site.database.writing() as connection:
        fields = {"board": board, "name": name, "kind": kind, "account_id": account.id, **values}
        row = campaigns.create(connection, fields, actor=viewer.name, now=now)
        campaigns.add_items(connection, row.id, map(item_document, items))
        return campaign_of(row)


def _values(
    source: str,
    plan: CampaignPlan,
    generators: list[str],
    instances: Sequence[str],
    rolling: bool,
    ranks: bool,
    joins: dict[str, str],
) -> dict[str, Any]:
    fields = {"template": source, "plan": plan.document(), "generators": generators, "instances": list(instances)}
    return {**fields, "rolling": rolling, "ranks": ranks, "joins": joins, "details": {}}


def item_document(item: Item) -> dict[str, Any]:
    """An item as it is kept."""
    return {
        "instance": item.instance,
        "row": item.row,
        "purpose": item.purpose,
        "test": item.test,
        "wanted": item.wanted,
        "part": item.part,
        "shown_order": list(item.order),
        "slots": [slot_document(slot) for slot in item.slots],
    }


def chosen_rows(board: Board, generators: Sequence[str] | None) -> list[Outputs]:
    """The rows that take part: those named, else every machine's."""
    if generators is not None:
        if len(set(generators)) != len(generators):
            raise InvalidInput("a generator is named twice; name each once")
        rows = [board.row(name) for name in generators]
    else:
        rows = [row for row in board.rows if row.generator is not None and row.generator.kind == "machine"]
    return rows


def _check_joins(board: Board, template: Template, joins: Mapping[str, str]) -> None:
    for own, joined in joins.items():
        template.dimension(own)
        if joined not in board.dimensions:
            raise InvalidInput(
                f"board {board.name} has no dimension {joined} that {own} could join; "
                f"it has {', '.join(board.dimensions) or 'none'}"
            )


def quote_campaign(site: Site, viewer: Viewer, campaign_id: str, *, annotators: int = 0) -> Quote:
    """What a campaign costs in all, and the standard error that buys."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        wanted = answer_counts.labels_by_row(connection, campaign_id)
        items = answer_counts.count_items(connection, campaign_id)
        seconds = answer_counts.seconds_spent(connection, campaign_id)
    labels = sum(total for _, total in wanted.values())
    return quote(
        campaign.plan,
        items=items,
        labels=labels,
        generators=len(campaign.generators),
        instances=len(campaign.instances),
        annotators=annotators,
        seconds_per_item=median(seconds) if seconds else None,
    )


def open_campaign(site: Site, viewer: Viewer, campaign_id: str, *, reason: str | None = None) -> Campaign:
    """Let annotators begin; from here on answers are paid for."""
    return _advance(site, viewer, campaign_id, "open", reason, before="draft")


def pause_campaign(site: Site, viewer: Viewer, campaign_id: str, *, reason: str | None = None) -> Campaign:
    """Give out nothing more until the campaign is resumed; what annotators are at may still be answered."""
    return _advance(site, viewer, campaign_id, "paused", reason)


def resume_campaign(site: Site, viewer: Viewer, campaign_id: str, *, reason: str | None = None) -> Campaign:
    """Go on with a paused campaign."""
    return _advance(site, viewer, campaign_id, "open", reason, before="paused")


def close_campaign(site: Site, viewer: Viewer, campaign_id: str, *, reason: str | None = None) -> Campaign:
    """End a campaign for good; its judgments stand on the board from now on."""
    return _advance(site, viewer, campaign_id, "closed", reason)


def _advance(
    site: Site, viewer: Viewer, campaign_id: str, to: State, reason: str | None, *, before: str | None = None
) -> Campaign:
    require(viewer, "administer")
    with site.database.writing() as connection:
        row = campaigns.get(connection, campaign_id)
        if before is not None and row.state != before:
            raise Refused(f"campaign {row.name} is {row.state}, not {before}")
        return campaign_of(
            campaigns.advance(connection, campaign_id, to, actor=viewer.name, now=site.clock(), reason=reason)
        )


def top_up(
    site: Site,
    viewer: Viewer,
    campaign_id: str,
    budget: float = 0.0,
    *,
    generators: Sequence[str] = (),
    labels: int | None = None,
) -> Campaign:
    """Add money, generators, or labels per item to a campaign that is not closed."""
    require(viewer, "administer")
    if budget < 0:
        raise InvalidInput(f"a budget is topped up by more than nothing; found {budget:g}")
    campaign = _campaign(site, campaign_id)
    plan = _topped_up(campaign, budget, labels)
    items = _more_items(site, campaign, plan, generators) if generators else []
    now = site.clock()
    with site.database.writing() as connection:
        row = campaigns.get(connection, campaign_id)
        if row.state == "closed":
            raise Refused(f"campaign {row.name} is closed; begin another one")
        if row.changed != campaign.changed:
            raise Refused(f"campaign {row.name} was changed meanwhile; look again and repeat")
        if labels is not None and labels != campaign.plan.labels:
            campaigns.raise_wanted(connection, campaign_id, labels - campaign.plan.labels)
        campaigns.add_items(connection, campaign_id, map(item_document, items))
        detail = {"budget": budget, "generators": list(generators), "labels": labels}
        values = {"plan": plan.document(), "generators": [*row.generators, *generators]}
        action = "campaign.topped-up"
        return campaign_of(
            campaigns.change(connection, campaign_id, action, actor=viewer.name, now=now, detail=detail, **values)
        )


def _topped_up(campaign: Campaign, budget: float, labels: int | None) -> CampaignPlan:
    plan = campaign.plan
    if budget:
        plan = replace(plan, budget=budget if plan.budget is None else plan.budget + budget)
    if labels is not None:
        if labels < plan.labels:
            raise InvalidInput(f"items have {plan.labels} labels already; ask for more, not for {labels}")
        plan = replace(plan, labels=labels)
    return read_plan(plan.document())


def _more_items(site: Site, campaign: Campaign, plan: CampaignPlan, generators: Sequence[str]) -> list[Item]:
    """The items of generators that come later, on the same instances as everybody's."""
    if campaign.kind != "labels" or campaign.template.compares == "generators":
        raise Refused(f"campaign {campaign.name} compares what it has; begin another one for more generators")
    if campaign.plan.stop == "decided":
        raise Refused(f"campaign {campaign.name} stops when decided; begin another one for more generators")
    again = sorted(set(generators) & set(campaign.generators))
    if again:
        raise InvalidInput(f"{', '.join(again)} takes part already")
    board = live_board(site, campaign.board, audience="owners").board
    rows = chosen_rows(board, generators)
    instances = [instance for instance in campaign.instances if instance in board.position]
    return plan_items(board, campaign.template, plan, rows, instances)


def list_campaigns(site: Site, viewer: Viewer, board: str | None = None) -> tuple[Campaign, ...]:
    """Campaigns, the oldest first: all of them for owners, those that have begun for everybody else."""
    with site.database.reading() as connection:
        all_campaigns = [campaign_of(row) for row in campaigns.find(connection, board=board)]
    return tuple(campaign for campaign in all_campaigns if viewer.role == "owner" or campaign.state != "draft")


def _campaign(site: Site, campaign_id: str) -> Campaign:
    with site.database.reading() as connection:
        return campaign_with_id(connection, campaign_id)
