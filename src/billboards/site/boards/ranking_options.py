"""How a board of a site is ranked: by its owner's settings, wherever it is ranked."""

from __future__ import annotations

from dataclasses import replace

from billboards.analyses._disclosed import Disclosure
from billboards.analyses._families import family_where_hidden
from billboards.analyses._findings import Findings
from billboards.analyses._kept_rows import KeptRows
from billboards.analyses._people import PEOPLE
from billboards.analyses.rank import Ranking, RankingOptions, rank_board
from billboards.board import Board
from billboards.errors import InvalidInput
from billboards.site.boards import registry
from billboards.site.boards.live import LiveBoard, folder_board, hides_judgments


def ranking_options(
    live: LiveBoard, findings: Findings | None = None, disclosure: Disclosure | None = None
) -> RankingOptions:
    """The options that a board's owner has set, with what speaks against entries and what must not be told."""
    own, findings = live.settings, findings or Findings()
    folder = folder_ranks(live)
    return RankingOptions(
        k=own.k,
        # The same for both audiences, so that they see one ranking.
        method=family_where_hidden(own.method, hidden=hides_judgments(own, live.board)),
        by=own.by,
        draws=own.draws,
        seed=own.seed,
        sides=own.sides,
        **vars(findings),
        before=folder if folder is not None and folder != live.board.ranks else None,
        disclosure=disclosure or live.disclosure,
    )


def folder_ranks(live: LiveBoard) -> str | None:
    """The judgments that ranked before the last campaign: those of the folder, where there are any."""
    with live.site.database.reading() as connection:
        board = folder_board(live.site, registry.board(connection, live.name))
    return board.ranks if len(board.judgments) else None


def rank_by_owner(live: LiveBoard, options: RankingOptions, kept: KeptRows | None = None) -> Ranking:
    """A live board's ranking under its owner's rules; a leader that is not there any more is passed over.

    kept: what the last ranking of this board worked out.
    """
    board = ruled(live)
    if live.settings.hidden_judgments and PEOPLE in (options.by, board.by):
        options = replace(options, by=None if options.by == PEOPLE else options.by)
        ranking = rank_board(
            replace(board, by=None if board.by == PEOPLE else board.by), live.cells, options, kept=kept
        )
        return replace(ranking, notes=(*ranking.notes, "not ranked by people: their judgments are hidden"))
    try:
        return rank_board(board, live.cells, options, kept=kept)
    except InvalidInput as error:
        if options.by is None:
            raise
        ranking = rank_board(board, live.cells, replace(options, by=None), kept=kept)
        return replace(ranking, notes=(*ranking.notes, f"not ranked by {options.by}: {error}"))


def ruled(live: LiveBoard) -> Board:
    """The board under the rule for reference-free metrics that the site's owner set, if any."""
    rule = live.settings.reference_free
    return live.board if rule is None else replace(live.board, reference_free=rule)
