"""What owners do with campaigns: plan, quote, open, pause, resume, top up, close, withdraw.

A campaign is planned as a draft, with all of its items, so that a quote speaks of exactly what will be asked. Nothing
is asked or paid before it is opened. Closing it is for good: then its judgments stand on the board beside those that
were there, and what ranks stays unless the owner says otherwise (`closing_effect` tells beforehand). A closed campaign
can be withdrawn: its answers are kept, and the board is as it was before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, cast

from sqlalchemy import Connection

from billboards.analyses._view import View
from billboards.analyses.next import Aim, Selection, select_items
from billboards.board import Board, Outputs
from billboards.board.coverage import Coverage, coverage
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
from billboards.site.campaigns.annotator_records import in_campaign
from billboards.site.campaigns.campaign import BY_RULE, Campaign, campaign_of, campaign_with_id
from billboards.site.campaigns.campaign_records import Kind, State
from billboards.site.campaigns.judged_submissions import announce_judged
from billboards.site.campaigns.judgments import (
    check_scales,
    judgments_of,
    pooled_name,
    source_name,
    with_campaigns,
)
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
    ranks: bool | None = None,
    joins: Mapping[str, str] | None = None,
) -> Campaign:
    """Plan a campaign as a draft. Without `generators`, every machine generator on the board takes part.

    `template` is a shipped one's name, the path of a file, or what was sent as one. `ranks` says whether the board is
    to be ranked by it; None leaves that to the rule: what ranks stays, and a campaign ranks where nothing else does.
    """
    plan = read_plan((plan or CampaignPlan()).document())
    sent = template if isinstance(template, SentTemplate) else SentTemplate(str(template), template_source(template))
    asked = parse_template(sent.text, sent.name)
    owners = live_board(site, board, audience="owners")
    live = owners.board
    if name in owners.without_campaigns.judgments.campaigns:
        raise Refused(f"board {board} has judgments of a campaign {name} in its folder; choose another name")
    rows = chosen_rows(live, generators)
    if not rows and not rolling:
        raise InvalidInput(f"board {board} has no machine generators; name the rows to be judged")
    if plan.stop == "decided" and (rolling or asked.compares == "generators"):
        what = (
            "a rolling campaign" if rolling else f"template {asked.name}, which compares generators with one another,"
        )
        raise InvalidInput(f"{what} can't stop when decided; leave `stop` out")
    if asked.unit == "document" and (plan.selector is not None or plan.stop == "decided"):
        what = "a selector, which chooses single instances" if plan.selector else "stopping when decided"
        raise InvalidInput(f"template {asked.name} asks about whole documents; that does not go with {what}")
    check_schedule(asked, plan, rolling=rolling)
    _check_joins(live, asked, joins or {})
    with site.database.reading() as connection:
        check_scales(connection, live, asked)
    selection = None if plan.selector is None else _selected(owners, asked, plan, rows)
    instances = sample(live, asked, plan) if selection is None else _names_of(selection)
    items = plan_items(live, asked, plan, rows, instances)
    tests = [*plan_tests(live, asked, plan, instances), *plan_qualification(live, asked, plan, instances)]
    values = _values(sent.text, plan, [row.name for row in rows], instances, rolling, ranks, dict(joins or {}))
    details = values["details"] | ({} if selection is None else {"selection": document_of(selection)})
    values |= {"details": details}
    return write_draft(site, viewer, board, name, "labels", values, [*items, *tests])


def check_schedule(template: Template, plan: CampaignPlan, *, rolling: bool) -> None:
    """Refuse a schedule that the template has no use for, or that a rolling campaign can't keep."""
    compares = template.compares == "generators"
    if plan.schedule != "random" and not compares:
        raise InvalidInput(
            f"template {template.name} asks about one generator at a time, so there is no {plan.schedule} schedule of "
            "comparisons; leave `schedule` out"
        )
    if plan.schedule != "random" and template.unit == "document":
        raise InvalidInput(
            f"template {template.name} asks about whole documents, whose generators are drawn by document; leave "
            "`schedule` out"
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
    ranks: bool | None,
    joins: dict[str, str],
) -> dict[str, Any]:
    fields = {"template": source, "plan": plan.document(), "generators": generators, "instances": list(instances)}
    details = {"ranking": BY_RULE if ranks is None else "chosen"}
    return {**fields, "rolling": rolling, "ranks": ranks is not False, "joins": joins, "details": details}


def item_document(item: Item) -> dict[str, Any]:
    """An item as it is kept."""
    return {
        "instance": item.instance,
        "row": item.row,
        "purpose": item.purpose,
        "test": item.test,
        "wanted": item.wanted,
        "part": item.part,
        "batch": item.batch,
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
    """What a campaign costs in all, the standard error that buys, and who would be found to answer at random.

    `annotators` is how many people share the work; without it, as many as the plan expects or as take part.
    """
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        wanted = answer_counts.labels_by_row(connection, campaign_id)
        items = answer_counts.count_items(connection, campaign_id)
        tests = answer_counts.count_items(connection, campaign_id, "test")
        seconds = answer_counts.seconds_spent(connection, campaign_id)
        people = annotators or campaign.plan.annotators or len(in_campaign(connection, campaign_id))
    labels = sum(total for _, total in wanted.values())
    return quote(
        campaign.plan,
        items=items,
        labels=labels,
        generators=len(campaign.generators),
        instances=len(campaign.instances),
        annotators=people,
        test_items=tests,
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


@dataclass(frozen=True, kw_only=True)
class SourceChange:
    """What closing or withdrawing a campaign does to the board: what ranks before and after, and what each covers.

    `own` is what the campaign itself covers, `ranks` whether it ranks afterwards, `why` the reason in words.
    """

    campaign: str
    own: Coverage
    before: Coverage
    after: Coverage
    ranks: bool
    why: str

    @property
    def is_other(self) -> bool:
        """Whether another source ranks afterwards."""
        return self.before.source != self.after.source


def closing_effect(site: Site, viewer: Viewer, campaign_id: str, *, ranks: bool | None = None) -> SourceChange:
    """What closing a campaign now would do; `ranks` as for `close_campaign`."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        return _closing(site, connection, campaign_with_id(connection, campaign_id), ranks)[0]


def _closing(site: Site, connection: Connection, campaign: Campaign, ranks: bool | None) -> tuple[SourceChange, bool]:
    """What closing does, and whether the campaign is to rank, which a setting of the board may go before."""
    live = live_board(site, campaign.board, audience="owners")
    base, setting = live.without_campaigns, live.settings.ranks
    before = coverage(with_campaigns(connection, base, site.cache, ranks=setting, without=campaign.id))
    own = _own_coverage(connection, base, campaign)
    decided, why = _whether_it_ranks(base, campaign, ranks, before, own)
    closed = replace(
        campaign,
        state="closed",
        closed=site.clock(),
        ranks=decided,
        details={**campaign.details, "ranking": "chosen" if ranks is not None else campaign.details.get("ranking")},
    )
    after = with_campaigns(connection, base, site.cache, ranks=setting, assumed=closed)
    is_ranking = decided and after.ranks in (pooled_name(base, campaign.template), source_name(campaign))
    if decided and not is_ranking and setting is not None:
        why = f"the board's setting ranks = {setting!r} goes before"
    effect = SourceChange(
        campaign=campaign.name, own=own, before=before, after=coverage(after), ranks=is_ranking, why=why
    )
    return effect, decided


def _own_coverage(connection: Connection, base: Board, campaign: Campaign) -> Coverage:
    """What a campaign's answers cover by themselves."""
    judged = judgments_of(connection, base, campaign)
    template = campaign.template
    own = template.board_dimension(template.dimension(template.overall))
    alone = replace(base, judgments=judged, dimensions={**base.dimensions, own.name: own}, aggregates={})
    return replace(coverage(alone, own.name), source=source_name(campaign))


def _whether_it_ranks(
    base: Board, campaign: Campaign, ranks: bool | None, before: Coverage, own: Coverage
) -> tuple[bool, str]:
    """Whether a campaign that closes ranks the board, and why."""
    if campaign.kind != "labels":
        return False, "a blind check ranks nothing"
    if not own.judgments:
        return False, "no answer of it counts, so nothing changes"
    if ranks is not None or campaign.is_chosen:
        chosen = campaign.ranks if ranks is None else ranks
        return chosen, f"its owner says that it {'ranks' if chosen else 'does not rank'}"
    if not before.judgments:
        return True, "nothing else ranks the board"
    if before.source == pooled_name(base, campaign.template):
        return True, f"it is counted together with the campaigns of template {campaign.template.name}, which rank"
    if own.generators < before.generators:
        covered = f"{own.generators:,} of {before.generators:,} generators"
        return False, f"what ranks stays: it covers {covered} that {before.source} covers"
    return False, f"what ranks stays until its owner says otherwise: {before.source}"


def close_campaign(
    site: Site, viewer: Viewer, campaign_id: str, *, reason: str | None = None, ranks: bool | None = None
) -> Campaign:
    """End a campaign for good; its judgments stand on the board from now on, beside those that were there.

    `ranks` says whether the board is ranked by them; None is what was said when it was planned, or else the rule: what
    ranks stays, and a campaign ranks where nothing else does. Without an answer that counts nothing changes.
    """
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        effect, decided = _closing(site, connection, campaign, ranks)
    now = site.clock()
    with site.database.writing() as connection:
        after = campaigns.advance(connection, campaign_id, "closed", actor=viewer.name, now=now, reason=reason)
        if campaign.state != "draft":
            details: dict[str, Any] = {**after.details, "closing": document_of(effect)}
            details |= {"ranking": "chosen"} if ranks is not None else {}
            campaigns.decide(connection, campaign_id, ranks=decided, details=details)
            announce_judged(connection, campaign, now=now)
        return campaign_with_id(connection, campaign_id)


def withdrawing_effect(site: Site, viewer: Viewer, campaign_id: str) -> SourceChange:
    """What withdrawing a closed campaign now would do."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        live = live_board(site, campaign.board, audience="owners")
        after = with_campaigns(
            connection, live.without_campaigns, site.cache, ranks=live.settings.ranks, without=campaign_id
        )
        return SourceChange(
            campaign=campaign.name,
            own=_own_coverage(connection, live.without_campaigns, campaign),
            before=coverage(live.board),
            after=coverage(after),
            ranks=False,
            why="the board is as if it had never been closed; its answers are kept",
        )


def withdraw_campaign(site: Site, viewer: Viewer, campaign_id: str, *, reason: str | None = None) -> Campaign:
    """Take a closed campaign's judgments from the board, which goes back to what it was; nothing is deleted."""
    require(viewer, "administer")
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        if campaign.state != "closed":
            raise Refused(f"campaign {campaign.name} is {campaign.state}; only a closed one can be withdrawn")
        if campaign.withdrawn is not None:
            raise Refused(f"campaign {campaign.name} is withdrawn already")
        details = {**campaign.details, "withdrawn": {"at": now, "reason": reason}}
        return campaign_of(
            campaigns.change(
                connection,
                campaign_id,
                "campaign.withdrawn",
                actor=viewer.name,
                now=now,
                detail={"reason": reason},
                details=details,
                reason=reason,
            )
        )


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
