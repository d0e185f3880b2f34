"""Keeping what was said: a ranking with its ensemble under a version, so that both can be cited and opened again."""

from __future__ import annotations

from dataclasses import replace

from billboards.analyses.home import Home
from billboards.analyses.ranking_results import Ranking


def numbered(home: Home, ranking: Ranking) -> Ranking:
    """The ranking with its ensemble under the version it has or would get."""
    if ranking.ensemble is None:
        return ranking
    return replace(ranking, ensemble=home.archive.versioned(ranking.ensemble))


def keep(home: Home, ranking: Ranking) -> tuple[Ranking, str]:
    """Keep a ranking and its ensemble; returns it with the ensemble's version, and its id."""
    if ranking.ensemble is not None:
        ranking = replace(ranking, ensemble=home.archive.keep_ensemble(ranking.ensemble))
    return ranking, home.archive.keep_ranking(ranking)
