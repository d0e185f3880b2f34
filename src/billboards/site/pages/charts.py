"""Charts of a board as static pictures, light and dark, from the one place that specifies them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from billboards.analyses._people import PEOPLE
from billboards.analyses.rank import Ranking, best_metric, popular_metric
from billboards.errors import NotEnoughData, UnknownName
from billboards.show.words import headed
from billboards.site.boards.masked import Look
from billboards.site.pages.metrics import POINTS, metric_named
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

router = APIRouter()

#: A picture carries its own colours as attributes and styles and can do nothing else.
HEAD = (("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"),)


def show_chart(ask: Ask) -> Body:
    """A chart of the board's latest ranking."""
    from billboards.show.plot import to_svg

    look = ask.look()
    if look.ranking is None:
        raise NotEnoughData(f"board {look.name} has no ranking yet; there is nothing to draw")
    theme: Theme = "dark" if ask.query.get("theme") == "dark" else "light"
    chart = _draw(look, look.ranking, ask.params["chart"].removesuffix(".svg"), theme)
    return Body(to_svg(chart, titled=False).encode(), "image/svg+xml", headers=HEAD)


def _draw(look: Look, ranking: Ranking, name: str, theme: Theme) -> alt.LayerChart:
    from billboards.analyses._rank_swaps import rank_swaps
    from billboards.analyses.overrating import overrating_forest
    from billboards.analyses.rank import correlation_bars

    kind, _, metric = name.partition("/")
    if kind == "correlations":
        return correlation_bars(ranking, theme=theme)
    if kind == "overrating" and look.overrating is not None:
        return overrating_forest(look.overrating, theme=theme)
    best, popular = best_metric(ranking), popular_metric(ranking)
    if kind == "swaps" and best is not None and popular is not None:
        return rank_swaps(ranking, best.name, popular.name, theme=theme)
    if kind == "people" and ranking.ranked_by not in (None, PEOPLE):
        return rank_swaps(ranking, PEOPLE, str(ranking.ranked_by), theme=theme)
    if kind == "scatter":
        return _scatter(look, ranking, metric, theme)
    raise UnknownName("chart", name, ("correlations", "overrating", "people", "swaps", "scatter/METRIC"))


def _scatter(look: Look, ranking: Ranking, name: str, theme: Theme) -> alt.LayerChart:
    from billboards.analyses.rank import scatter

    standing = metric_named(ranking, name)
    view = look.matrix.view
    rows = tuple(row for row, judged in zip(view.scores.rows, view.judged, strict=True) if judged)
    people = {g.name for g in ranking.generators if g.kind == "human"}
    return scatter(
        view.human[view.judged],
        look.matrix.shown(standing.name)[view.judged],
        rows,
        headed(standing.name, higher_is_better=standing.higher_is_better),
        human_name=f"people ({ranking.aggregate})",
        human_generators=people,
        correlation=standing.correlation,
        sample=POINTS,
        seed=ranking.seed,
        theme=theme,
    )


router.add_route("/boards/{board}/charts/{chart:path}", reading(show_chart, words=("theme",)), include_in_schema=False)
