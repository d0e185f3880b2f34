"""Charts of a board: as pictures, as specifications that a browser brings to life, as data, and as pages of their own.

A chart is specified once, in the analyses. Its address with an ending gives a file: `.svg` and `.png` a picture,
`.json` the Vega-Lite specification, `.csv` and `.data.json` the points in it; without one it is a page with the chart,
its data as a table, and for a scatter plot a choice of axes. All of them are made of the same masked look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.datastructures import QueryParams

from billboards.analyses._people import PEOPLE
from billboards.analyses._scatter import Axis, Drawing, Scatter, drawing_for
from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.rank import Ranking, best_metric, popular_metric
from billboards.board.costs import COSTS
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.show.words import one_line
from billboards.site.boards.masked import Look
from billboards.site.pages.figures import board_figure, living_files
from billboards.site.pages.long_lists import pager, read_page, stretch
from billboards.site.pages.metrics import metric_named
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

if TYPE_CHECKING:
    import altair as alt

    from billboards.analyses.efficiency import Efficiency
    from billboards.show.plot import Theme

router = APIRouter()

#: A picture carries its own colours as attributes and styles and can do nothing else.
HEAD = (("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'"),)
#: What a chart's address may end in; the longest first.
ENDINGS = (".data.json", ".json", ".csv", ".svg", ".png")
#: Rows of a page of a chart's data.
MOST_ROWS = 200
#: What the address of a chart may say.
WORDS = ("theme", "file", "x", "y", "colour", "draw", "page")
#: What stands before a cost that is an axis: then a point is a generator, not an output.
COST = "cost: "
CHARTS = ("correlations", "overrating", "people", "swaps", "scatter", "scatter/METRIC")

Drawer = Callable[["Theme"], "alt.LayerChart"]


def show_chart(ask: Ask) -> Body:
    """A chart of the board's latest ranking: a file of it, or its page."""
    look = ask.look()
    if look.ranking is None:
        raise NotEnoughData(f"board {look.name} has no ranking yet; there is nothing to draw")
    name, ending = split_ending(ask.params["chart"])
    draw = _drawer(look, look.ranking, name, ask.query)
    lead = leading_to(look)
    if ending:
        return chart_file(draw, ending, f"{look.name}-{name}", ask.query, lead)
    return _chart_page(ask, look, name, draw, lead)


def split_ending(address: str) -> tuple[str, str]:
    """A chart's name and what its address ends in; empty for its page."""
    ending = next((end for end in ENDINGS if address.endswith(end)), "")
    return address.removesuffix(ending), ending


def chart_file(
    draw: Drawer, ending: str, name: str, query: QueryParams, lead: Callable[[Mapping[str, Any]], str | None] | None
) -> Body:
    """A chart as a picture, as a specification for a browser, or its data."""
    import json

    from billboards.show.browser_charts import data_of, living
    from billboards.show.figures import csv_of
    from billboards.show.plot import rendered_chart, to_svg

    chart = draw("dark" if query.get("theme") == "dark" else "light")
    stem = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)
    saved = (("content-disposition", f'attachment; filename="{stem}{ending}"'),)
    if ending == ".json":
        content = json.dumps(living(chart, lead=lead), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Body(content.encode("utf-8", "replace"), "application/json")
    if ending in (".csv", ".data.json"):
        (points, *_) = data_of(chart) or [[]]
        if ending == ".csv":
            return Body(csv_of(points).encode("utf-8", "replace"), "text/csv; charset=utf-8", headers=saved)
        return Body(
            json.dumps(points, ensure_ascii=False).encode("utf-8", "replace"), "application/json", headers=saved
        )
    if ending == ".png":
        specification = chart.to_dict(validate=False)
        specification["config"]["background"] = "#121518" if query.get("theme") == "dark" else "white"
        return Body(rendered_chart(specification, "png"), "image/png", headers=saved)
    # A file that leaves the page takes its title along.
    as_file = query.get("file") == "yes"
    picture = to_svg(chart, titled=as_file).encode()
    return Body(picture, "image/svg+xml", headers=(*HEAD, *(saved if as_file else ())))


def leading_to(look: Look) -> Callable[[Mapping[str, Any]], str | None]:
    """From a point of a chart to the page about it: an instance, a generator, a metric."""
    generators = {one_line(name): name for name in look.board.row_position}

    def lead(point: Mapping[str, Any]) -> str | None:
        if point.get("instance") is not None:
            return addresses.instance(look.name, str(point["instance"]))
        if point.get("metric") == ENSEMBLE:
            return addresses.board(look.name, "ensembles")
        if point.get("metric") is not None:
            return addresses.metric(look.name, str(point["metric"]))
        generator = generators.get(str(point.get("generator")))
        return None if generator is None else addresses.generator(look.name, generator)

    return lead


def _drawer(look: Look, ranking: Ranking, name: str, query: QueryParams) -> Drawer:
    """What draws a chart, by its name."""
    from billboards.analyses._rank_swaps import rank_swaps
    from billboards.analyses.overrating import overrating_forest
    from billboards.analyses.rank import correlation_bars

    kind, _, metric = name.partition("/")
    best, popular = best_metric(ranking), popular_metric(ranking)
    overrating = look.overrating
    if kind == "correlations":
        return lambda theme: correlation_bars(ranking, theme=theme)
    if kind == "overrating" and overrating is not None:
        return lambda theme: overrating_forest(overrating, theme=theme)
    if kind == "swaps" and best is not None and popular is not None:
        return lambda theme: rank_swaps(ranking, best.name, popular.name, theme=theme)
    if kind == "people" and ranking.ranked_by not in (None, PEOPLE):
        return lambda theme: rank_swaps(ranking, PEOPLE, str(ranking.ranked_by), theme=theme)
    if kind == "scatter":
        return _scatter(look, ranking, metric, query)
    if kind in CHARTS:
        raise NotEnoughData(f"board {look.name} has too little yet for the chart {kind}")
    raise UnknownName("chart", name, CHARTS)


def axis_names(look: Look, ranking: Ranking) -> list[str]:
    """What may be put on an axis of a scatter plot."""
    shown = {standing.name for standing in ranking.metrics}
    people = [PEOPLE] if look.judged and look.matrix.has_people else []
    names = [name for name in look.matrix.names if name in shown or name == ENSEMBLE]
    return people + [name for name in names if name not in look.withheld] + cost_axes(look)


def cost_axes(look: Look) -> list[str]:
    """The costs that at least two generators state, as axes."""
    generators = look.board.generators
    stated = (name for name in COSTS if sum(getattr(generator, name) is not None for generator in generators) > 1)
    return [f"{COST}{COSTS[name].title}" for name in stated]


def read_axes(look: Look, ranking: Ranking, metric: str, query: QueryParams) -> tuple[str, str]:
    """The two axes that the address asks for: people and the metric that agrees best, unless it says otherwise."""
    names = axis_names(look, ranking)
    if not names:
        raise NotEnoughData(f"board {look.name} has no scores yet; there is nothing to draw")
    if metric:
        metric = metric_named(ranking, metric).name
    best = best_metric(ranking)
    usual = best.name if best is not None and best.name in names else next((n for n in names if n != PEOPLE), "")
    across = query.get("x") or (PEOPLE if PEOPLE in names or metric else usual)
    up = query.get("y") or metric or usual
    for name in (across, up):
        if name == PEOPLE and name not in names:
            raise NotEnoughData(f"board {look.name} shows no judgments of single outputs; choose two metrics")
        if name not in names:
            raise UnknownName("axis", name, names)
    if up.startswith(COST):
        if across.startswith(COST):
            raise InvalidInput("both axes are costs; choose people or a metric for one of them")
        # A cost stands across, as on every chart of quality against cost.
        across, up = up, across
    return across, up


def cost_of(look: Look, across: str, up: str) -> Efficiency:
    """Generators by a score against a cost, with who is beaten on neither."""
    from billboards.analyses.efficiency import efficiency

    if up == ENSEMBLE:
        raise NotEnoughData("costs are set against people or a metric, not against the ensemble; choose one of them")
    cost = next(name for name, each in COSTS.items() if f"{COST}{each.title}" == across)
    return efficiency.run(look.view, cost=cost, by=up).value


def read_drawing(query: QueryParams, count: int) -> Drawing:
    """Points or a density, as the address says or as suits so many outputs."""
    asked = query.get("draw") or ""
    if asked not in ("", "points", "density"):
        raise InvalidInput(f"draw={asked}: a scatter plot is drawn as points or as density")
    return "points" if asked == "points" else "density" if asked == "density" else drawing_for(count)


def _scatter(look: Look, ranking: Ranking, metric: str, query: QueryParams) -> Drawer:
    from billboards.analyses._scatter import scatter_chart

    across, up = read_axes(look, ranking, metric, query)
    if across.startswith(COST):
        from billboards.analyses.efficiency import efficiency_chart

        costs = cost_of(look, across, up)
        return lambda theme: efficiency_chart(costs, theme)
    plotted = plotted_of(look, ranking, across, up)
    drawing = read_drawing(query, plotted.count)
    return lambda theme: scatter_chart(
        plotted, drawing=drawing, coloured=query.get("colour") == "generator", theme=theme
    )


def plotted_of(look: Look, ranking: Ranking, across: str, up: str) -> Scatter:
    """Two scores of every output, with people's only on outputs that count."""
    import numpy as np

    matrix = look.matrix

    def axis(name: str) -> Axis:
        values = matrix.shown(name)
        if name == PEOPLE:
            values = np.where(matrix.view.judged[:, None], values, np.nan)
            return Axis(name=f"people ({one_line(ranking.aggregate)})", values=values)
        return Axis(name=matrix.head(name) if name != ENSEMBLE else "ensemble", values=values)

    x, y = axis(across), axis(up)
    if PEOPLE in (across, up):
        # A metric's own outputs against people are those that its agreement is measured on.
        used = matrix.view.judged[:, None]
        x, y = (Axis(name=a.name, values=np.where(used, a.values, np.nan)) for a in (x, y))
    stated = {standing.name: standing.correlation for standing in ranking.metrics}
    return Scatter(
        x=x,
        y=y,
        rows=matrix.view.scores.rows,
        instances=tuple(instance.id for instance in look.board.instances),
        people=frozenset(g.name for g in ranking.generators if g.kind == "human"),
        correlation=stated.get(up) if across == PEOPLE else None,
    )


def _chart_page(ask: Ask, look: Look, name: str, draw: Drawer, lead: Callable[[Mapping[str, Any]], str | None]) -> Body:
    """A chart, large, with its data as a table."""
    from billboards.show.browser_charts import data_of, title_of

    ranking = look.ranking
    assert ranking is not None
    chart = draw("light")
    title, subtitle = title_of(chart)
    (points, *_) = data_of(chart) or [[]]
    own = {word: ask.query.get(word) or "" for word in ("x", "y", "colour", "draw")}
    figure = board_figure(look, name, title, f"{title}. {subtitle}", **{k: v for k, v in own.items() if v})
    shown = stretch(points, read_page(ask.query), MOST_ROWS)
    is_scatter = name.partition("/")[0] == "scatter"
    choice: dict[str, Any] = {}
    if is_scatter:
        across, up = read_axes(look, ranking, name.partition("/")[2], ask.query)
        is_cost = across.startswith(COST)
        count = 0 if is_cost else plotted_of(look, ranking, across, up).count
        choice = {
            "is_cost": is_cost,
            "of_metrics": addresses.board(look.name, "analyses", "efficiency", side="metrics"),
            "names": axis_names(look, ranking),
            "x": across,
            "y": up,
            "colour": ask.query.get("colour") == "generator",
            "draw": "points" if is_cost else read_drawing(ask.query, count),
            "count": count,
            "action": addresses.chart(look.name, "scatter"),
        }
    return ask.board_page(
        "chart",
        look,
        "metrics" if is_scatter or name in ("correlations", "overrating") else "",
        heading="Scatter plot" if is_scatter else "Chart",
        figure=figure,
        subtitle=subtitle,
        choice=choice,
        columns=_columns(points),
        rows=[(point, lead(point)) for point in shown.entries],
        shown=shown,
        total=len(points),
        pager=pager(shown.number, shown.last, figure.address, own),
        living=living_files(),
    )


#: Fields of points that only place marks.
_PLACING = ("end", "key", "side", "place", "label", "role", "people", "colour", "across", "up")


def _columns(points: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = dict.fromkeys(key for point in points[:MOST_ROWS] for key in point)
    columns = [key for key in keys if key not in _PLACING]
    # A chart may call a metric by a name with a mark; the table needs one of the two.
    return [key for key in columns if not (key in ("metric", "generator") and "name" in columns)]


router.add_route("/boards/{board}/charts/{chart:path}", reading(show_chart, words=WORDS), include_in_schema=False)
