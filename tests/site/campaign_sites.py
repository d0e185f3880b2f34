"""A site that wants a log-in, with a campaign and somebody of every role, its pages asked without a network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from page_sites import PageSite, page_site
from small_campaigns import distinct_board, fix_key

from billboards.board import Aggregate, Board, Dimension
from billboards.board.judgments import JudgmentColumns, Judgments
from billboards.campaigns.plan import CampaignPlan
from billboards.site.accounts import access
from billboards.site.boards.live import live_board
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.judgments import judgments_of
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.site import Site

BOARD = "/boards/ferry"


@dataclass
class CampaignSite:
    """The pages, and campaigns that are begun on them."""

    pages: PageSite

    def start(
        self, name: str, template: str = "genie-translation", *, people: Sequence[str] = ("ann",), **plan: Any
    ) -> tuple[Campaign, list[str]]:
        """An open campaign without test questions unless asked for, and a link for each annotator."""
        settings = CampaignPlan(**{"instances": 4, "positive": 0.0, "negative": 0.0, **plan})
        site, owner = self.pages.site, self.pages.owner
        fix_key(site)
        made = create_campaign(site, owner, "ferry", name, template, generators=["g0"], plan=settings)
        links = [one.path for one in invite(site, owner, made.id, list(people))]
        return open_campaign(site, owner, made.id), links

    def home(self, campaign: Campaign) -> str:
        return f"{BOARD}/campaigns/{campaign.id}"

    def read(self, path: str, asker: str = "owner") -> str:
        """A page that must be there."""
        answer = self.pages.get(path, asker)
        assert answer.status_code == 200, (path, answer.status_code)
        return str(answer.text)

    def answer(self, link: str, chosen: int = 4, /, **fields: str) -> Any:
        """Answer the item at hand as the page's form would."""
        page = self.pages.get(link).text
        sent = {name: field(page, name) for name in ("assignment", "answer_id", "stage")}
        named = re.findall(r'<input type="radio" name="(answer:[^"]+)"', page)
        sent |= {"seconds": "9", **dict.fromkeys(named, str(chosen)), **fields}
        return self.pages.post(f"{link}/answer", data=sent)


def shown_text(page: str) -> str:
    """The first output on an annotator's page."""
    return page.partition('data-output="0"')[2].partition(">")[2].partition("<")[0]


def field(page: str, name: str) -> str:
    """A hidden field's value."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None, name
    return found[1]


def contested_board() -> Board:
    """Two machines; experts find the better one better, the crowd the other."""
    board = distinct_board(instances=8, generators=2)
    judged = JudgmentColumns(("crowd", "expert"))
    for k in range(len(board.instances)):
        judged.add(k, 0, {"expert": 5.0, "crowd": 1.0 + k / 8})
        judged.add(k, 1, {"expert": 1.0 + k / 8, "crowd": 5.0})
    dimensions = {name: Dimension(name, range=(1, 5)) for name in ("crowd", "expert")}
    summed = {"overall": Aggregate("overall", ("expert",))}
    return replace(board, judgments=judged.build(), dimensions=dimensions, aggregates=summed, ranks="overall")


def campaign_site(home: Path) -> CampaignSite:
    """A fresh site on a board with distinct references; besides the owner and two teams, an annotator."""
    pages = page_site(home, board=contested_board())
    account = access.add_account(pages.site, pages.owner, "annotator", "annotator")
    token = access.add_token(pages.site, pages.owner, "test", account_id=account.id)[1]
    pages.tokens = {**pages.tokens, "annotator": token}
    return CampaignSite(pages)


def campaign_judgments(site: Site, campaign_id: str) -> Judgments:
    """A campaign's judgments as they stand, or would stand, on its board."""
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        board = live_board(site, campaign.board, audience="owners").board
        return judgments_of(connection, board, campaign)
