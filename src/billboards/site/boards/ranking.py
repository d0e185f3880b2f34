"""How a board of a site is ranked: by its owner's settings, wherever it is ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from billboards.analyses._disclosed import Disclosure
from billboards.analyses._people import PEOPLE
from billboards.analyses.rank import Ranking, RankingOptions, rank_board
from billboards.board import Board
from billboards.errors import InvalidInput
from billboards.site.boards.live import LiveBoard


def ranking_options(
    live: LiveBoard, barred: Mapping[str, str] | None = None, disclosure: Disclosure | None = None
) -> RankingOptions:
    """The options that a board's owner has set; `barred` metrics may not lead, each for the reason given."""
    own = live.settings
    return RankingOptions(
        k=own.k,
        method=own.method,
        by=own.by,
        draws=own.draws,
        seed=own.seed,
        sides=own.sides,
        barred=dict(barred or {}),
        disclosure=disclosure or live.disclosure,
    )


def rank_by_owner(live: LiveBoard, options: RankingOptions) -> Ranking:
    """A live board's ranking under its owner's rules; a leader that is not there any more is passed over."""
    board = ruled(live)
    if live.settings.hidden_judgments and PEOPLE in (options.by, board.by):
        options = replace(options, by=None if options.by == PEOPLE else options.by)
        ranking = rank_board(replace(board, by=None if board.by == PEOPLE else board.by), live.cells, options)
        return replace(ranking, notes=(*ranking.notes, "not ranked by people: their judgments are hidden"))
    try:
        return rank_board(board, live.cells, options)
    except InvalidInput as error:
        if options.by is None:
            raise
        ranking = rank_board(board, live.cells, replace(options, by=None))
        return replace(ranking, notes=(*ranking.notes, f"not ranked by {options.by}: {error}"))


def ruled(live: LiveBoard) -> Board:
    """The board under the rule for reference-free metrics that the site's owner set, if any."""
    rule = live.settings.reference_free
    return live.board if rule is None else replace(live.board, reference_free=rule)
