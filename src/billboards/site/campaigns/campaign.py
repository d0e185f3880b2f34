"""A campaign as the site's verbs and pages see it: its row with the template read and the plan checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection

from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.campaigns.template_files import parse_template
from billboards.campaigns.templates import Template
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign_records import CampaignRow, Kind, State
from billboards.site.site import Site

#: Campaigns that were planned before there were these settings go on as they were begun.
FIRST_PLANS = {"early": 0, "exclusion": "model"}
#: What a campaign's details say under `ranking` where its owner left it to the rule whether it ranks.
BY_RULE = "rule"


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """What is asked about a board, of whom and how much; `instances` is the fixed subsample."""

    id: str
    board: str
    name: str
    kind: Kind
    state: State
    template: Template
    plan: CampaignPlan
    generators: tuple[str, ...]
    instances: tuple[str, ...] = field(repr=False)
    #: Whether every generator that is accepted on the board joins by itself.
    rolling: bool
    #: Whether its judgments rank the board once it is closed; see `is_chosen`.
    ranks: bool
    #: Dimensions of the board that its answers are laid on as well, on the scale of 0-100: template's → board's.
    joins: dict[str, str]
    details: dict[str, Any] = field(repr=False)
    reason: str | None
    created: float
    changed: float
    opened: float | None
    closed: float | None

    @property
    def is_chosen(self) -> bool:
        """Whether its owner said if it ranks; else the rule does when it closes. Before 0.2 there was no such rule."""
        return self.details.get("ranking") != BY_RULE

    @property
    def withdrawn(self) -> float | None:
        """Since when its judgments are withdrawn from the board; None where they are not."""
        taken = self.details.get("withdrawn")
        return None if taken is None else float(taken["at"])


def campaign_of(row: CampaignRow) -> Campaign:
    """A campaign from its row."""
    return Campaign(
        id=row.id,
        board=row.board,
        name=row.name,
        kind=row.kind,
        state=row.state,
        template=kept_template(row.template, row.name),
        plan=read_plan({**FIRST_PLANS, **row.plan}),
        generators=tuple(row.generators),
        instances=tuple(row.instances),
        rolling=row.rolling,
        ranks=row.ranks,
        joins=dict(row.joins),
        details=dict(row.details),
        reason=row.reason,
        created=row.created,
        changed=row.changed,
        opened=row.opened,
        closed=row.closed,
    )


@lru_cache(maxsize=64)
def kept_template(source: str, name: str) -> Template:
    """A campaign's template from the text that was kept when it was made."""
    return parse_template(source, f"the template of campaign {name}")


def get_campaign(site: Site, name: str, *, board: str | None = None) -> Campaign:
    """A campaign by its id, or its name where that is enough."""
    with site.database.reading() as connection:
        return campaign_of(campaigns.named(connection, name, board))


def campaign_with_id(connection: Connection, campaign_id: str) -> Campaign:
    """A campaign by its id, inside a transaction."""
    return campaign_of(campaigns.get(connection, campaign_id))
