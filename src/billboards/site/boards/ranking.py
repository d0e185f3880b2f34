"""How a board of a site is ranked: by its owner's settings, wherever it is ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from billboards.analyses._disclosed import Disclosure
from billboards.analyses._people import PEOPLE
from billboards.analyses.rank import Ranking, RankingOptions, rank_board
from billboards.board import Board
from billboards.errors import InvalidInput
from billboards.site.boards import registry
from billboards.site.boards.live import LiveBoard, folder_board


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a site found that speaks against entries of a board: kept with its ranking, read where it is ranked again.

    barred: metrics that may not lead, each with the reason.
    flagged: metrics that something speaks against, which neither lead nor join ensembles.
    marked: metrics that something should be said of.
    out: generators without a rank, each with the reason.
    doubts: doubts about generators' outputs.
    """

    barred: Mapping[str, str] = field(default_factory=dict)
    flagged: Mapping[str, str] = field(default_factory=dict)
    marked: Mapping[str, str] = field(default_factory=dict)
    out: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Findings:
        """What a snapshot's document holds of it; one of version 0.1 holds little."""
        kept = document.get("findings") or {"barred": document.get("barred") or {}}
        return cls(**{name: kept.get(name, {}) for name in cls.__dataclass_fields__})

    def document(self) -> dict[str, Any]:
        """What is kept: no more than there is."""
        return {name: dict(value) for name, value in vars(self).items() if value}


def ranking_options(
    live: LiveBoard, findings: Findings | None = None, disclosure: Disclosure | None = None
) -> RankingOptions:
    """The options that a board's owner has set, with what speaks against entries and what must not be told."""
    own, findings = live.settings, findings or Findings()
    folder = folder_ranks(live)
    return RankingOptions(
        k=own.k,
        method=own.method,
        by=own.by,
        draws=own.draws,
        seed=own.seed,
        sides=own.sides,
        barred=findings.barred,
        flagged=findings.flagged,
        marked=findings.marked,
        out=findings.out,
        doubts=findings.doubts,
        before=folder if folder is not None and folder != live.board.ranks else None,
        disclosure=disclosure or live.disclosure,
    )


def folder_ranks(live: LiveBoard) -> str | None:
    """The judgments that ranked before the last campaign: those of the folder, where there are any."""
    with live.site.database.reading() as connection:
        board = folder_board(live.site, registry.board(connection, live.name))
    return board.ranks if len(board.judgments) else None


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
