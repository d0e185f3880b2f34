"""A board with one campaign's judgments and no others, whether the campaign is closed or not.

Everything that can be asked of a board can be asked of it: agreement of annotators, their severity, estimates that lean
on a metric, and ratings that a good metric finds implausible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.estimate import MeanEstimate, estimate_generator
from billboards.analyses.ratings._ratings import board_ratings
from billboards.analyses.ratings.agreement import AnnotatorAgreementStudy, study_annotators
from billboards.analyses.ratings.doubts import ImplausibleRating, find_implausible
from billboards.board import Aggregate, Board
from billboards.errors import NotEnoughData
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards.live import live_board
from billboards.site.campaigns.campaign import campaign_with_id
from billboards.site.campaigns.judgments import judgments_of, labels_of
from billboards.site.site import Site
from billboards.site.work.cells import SqlCells


@dataclass(frozen=True)
class Doubt:
    """An answer that a good metric finds implausible, with what it says and what the metric makes one expect."""

    answer_id: str
    rating: ImplausibleRating


def board_of_campaign(
    site: Site, viewer: Viewer, campaign_id: str, *, with_excluded: bool = False
) -> tuple[Board, SqlCells]:
    """The owners' board with this campaign's judgments alone, ranked by what its template sums up with; its cells."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
    live = live_board(site, campaign.board, audience="owners")
    with site.database.reading() as connection:
        judged = judgments_of(connection, live.board, campaign, with_excluded=with_excluded)
    template = campaign.template
    own = [template.board_dimension(question) for question in template.dimensions]
    overall = template.board_dimension(template.dimension(template.overall)).name
    board = replace(
        live.board,
        judgments=judged,
        dimensions={**live.board.dimensions, **{one.name: one for one in own}},
        aggregates={template.name: Aggregate(template.name, (overall,))},
        ranks=template.name,
    )
    return board, live.cells


def campaign_agreement(
    site: Site, viewer: Viewer, campaign_id: str, *, by_day: bool = False, resamples: int = 200
) -> AnnotatorAgreementStudy:
    """How far a campaign's annotators agree, dimension by dimension; `NotEnoughData` where there is no rating."""
    board, _ = board_of_campaign(site, viewer, campaign_id)
    with site.database.reading() as connection:
        template = campaign_with_id(connection, campaign_id).template
    asked = [template.board_dimension(question).name for question in template.dimensions]
    sources = [board_ratings(board, name) for name in asked]
    return study_annotators(sources, by="day" if by_day else None, resamples=resamples)


def metric_estimates(
    site: Site, viewer: Viewer, campaign_id: str, *, metric: str = ENSEMBLE
) -> tuple[MeanEstimate, ...]:
    """Each generator's mean from its labels and a metric that scores all of its outputs; none where that can't be."""
    board, cells = board_of_campaign(site, viewer, campaign_id)
    found = []
    for name in dict.fromkeys(board.rows[row].name for row in board.judgments.row.tolist()):
        try:
            found.append(estimate_generator(board, cells, name, metric=metric))
        except NotEnoughData:
            continue
    return tuple(found)


def second_look(
    site: Site, viewer: Viewer, campaign_id: str, *, metric: str = ENSEMBLE, limit: int = 50
) -> tuple[Doubt, ...]:
    """Answers that a metric finds implausible, the farthest off first: where to look, not what to find."""
    board, cells = board_of_campaign(site, viewer, campaign_id)
    study = find_implausible(board, cells, metric=metric, shown=limit)
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        labels = labels_of(connection, campaign)
    given = {(one.instance, one.annotator, one.slot.text): one.answer_id for one in labels}
    return tuple(Doubt(given[one.instance, one.annotator or "", one.output], one) for one in study.implausible)
