"""What a campaign's marked errors say: the analysis of spans, on one campaign's judgments and with its own weights."""

from __future__ import annotations

from billboards.analyses.spans import ErrorStudy, study_errors
from billboards.errors import NotEnoughData
from billboards.site.accounts.access import Viewer
from billboards.site.campaigns.campaign import campaign_with_id
from billboards.site.campaigns.results import board_of_campaign
from billboards.site.site import Site


def campaign_errors(site: Site, viewer: Viewer, campaign_id: str, *, draws: int = 1000) -> ErrorStudy | None:
    """Errors by generator, category, severity and domain, and agreement on them; None where none were marked."""
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
    question = next((asked for asked in campaign.template.dimensions if asked.marks_errors), None)
    if question is None:
        return None
    board, _ = board_of_campaign(site, viewer, campaign_id)
    try:
        return study_errors(
            board,
            dimension=campaign.template.board_dimension(question).name,
            weigh=question.error_weight,
            draws=draws,
            seed=campaign.plan.seed % 2**32,
        )
    except NotEnoughData:
        return None
