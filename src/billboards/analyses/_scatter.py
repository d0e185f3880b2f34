"""Two scores against one another, output by output: a metric against people, or against another metric.

Every output that has both is in the chart, as a point or in the count of a small square; none is left out silently. So
a board of sixteen thousand judged outputs is drawn as a density unless all its points are asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.show.words import one_line, value_text
from billboards.stats.correlation import pearson

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Points, Theme

Floats = NDArray[np.float64]
Drawing = Literal["points", "density"]

#: Above so many outputs points hide one another, and a density says more.
MOST_POINTS = 2_000
#: Squares of a density from left to right and from bottom to top.
ACROSS, UP = 40, 32
#: Generators that colours can tell apart.
MOST_COLOURS = 12


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One side of a scatter plot: its name, and a score for each output (rows × instances, NaN where missing)."""

    name: str
    values: Floats


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """What is plotted: two axes, and whose output each cell is."""

    x: Axis
    y: Axis
    rows: Sequence[str]
    instances: Sequence[str]
    #: Rows that people wrote.
    people: Collection[str] = ()
    #: The correlation that the board states for this pair; None computes it of the points.
    correlation: float | None = None

    @property
    def both(self) -> NDArray[np.bool_]:
        """Which outputs have both scores."""
        return np.isfinite(self.x.values) & np.isfinite(self.y.values)

    @property
    def count(self) -> int:
        return int(self.both.sum())


def drawing_for(count: int) -> Drawing:
    """What shows so many outputs best."""
    return "points" if count <= MOST_POINTS else "density"


def drawing_words(count: int, drawing: Drawing) -> str:
    """What a chart draws of so many outputs; all of them, one way or the other."""
    if drawing == "points":
        return f"one point for each of {count:,} outputs"
    return f"all {count:,} outputs, counted in squares"


def scatter_chart(
    plotted: Scatter, *, drawing: Drawing | None = None, coloured: bool = False, theme: Theme = "light"
) -> alt.LayerChart:
    """The chart; `coloured` gives each generator a colour, the dozen with most outputs where there are more."""
    from billboards.show.plot import themed

    row, instance = np.nonzero(plotted.both)
    if len(row) < 2:
        raise NotEnoughData(
            f"{len(row)} outputs have both {plotted.x.name} and {plotted.y.name}; nothing to draw. "
            "Choose two others, or compute the missing scores"
        )
    x, y = plotted.x.values[row, instance], plotted.y.values[row, instance]
    chosen: Drawing = drawing or drawing_for(len(row))
    if chosen == "points":
        chart = _dots(plotted, row, instance, x, y, coloured, theme)
    else:
        chart = _squares(plotted, x, y, theme)
    title = scatter_title(plotted)
    subtitle = f"{plotted.y.name} against {plotted.x.name}: {drawing_words(len(row), chosen)}; the line is their trend."
    if chosen == "points" and any(plotted.rows[int(k)] in plotted.people for k in row):
        subtitle += " Triangles: written by people."
    return themed(chart, theme, title, one_line(subtitle), subtitle)


def scatter_title(plotted: Scatter) -> str:
    """The finding: how closely the two go together."""
    correlation = plotted.correlation
    if correlation is None:
        correlation = float(pearson(plotted.y.values[None], plotted.x.values)[0][0])
    names = f"{one_line(plotted.y.name)} and {one_line(plotted.x.name)}"
    if not np.isfinite(correlation):
        return f"{names}: no correlation can be computed, one of them never varies"
    size = abs(correlation)
    words = "hardly go together" if size < 0.2 else "go together loosely" if size < 0.5 else "go together closely"
    against = ", in opposite directions" if correlation < -0.2 else ""
    return f"{names} {words}{against} (correlation {value_text(correlation, 3)})"


def _scales() -> dict[str, Any]:
    import altair as alt

    return {"scale": alt.Scale(zero=False, nice=True)}


def _dots(
    plotted: Scatter,
    row: NDArray[np.int64],
    instance: NDArray[np.int64],
    x: Floats,
    y: Floats,
    coloured: bool,
    theme: Theme,
) -> alt.LayerChart:
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH, cycle

    colours = PALETTES[theme]
    human = set(plotted.people)
    points: Points = [
        {
            "x": _short(x[k]),
            "y": _short(y[k]),
            "generator": one_line(plotted.rows[int(row[k])]),
            "instance": plotted.instances[int(instance[k])],
            "people": plotted.rows[int(row[k])] in human,
        }
        for k in range(len(row))
    ]
    across = alt.X("x:Q", title=one_line(plotted.x.name), axis=alt.Axis(tickCount=6), **_scales())
    up = alt.Y("y:Q", title=one_line(plotted.y.name), axis=alt.Axis(grid=True), **_scales())
    kinds = [False, True]
    if coloured:
        names = _most_frequent([point["generator"] for point in points])
        for point in points:
            point["colour"] = point["generator"] if point["generator"] in names else "others"
        shown = [*names, "others"] if any(point["colour"] == "others" for point in points) else names
        palette = [*cycle(_TWELVE[theme], len(names)), colours.plain]
        scale = alt.Scale(domain=shown, range=palette[: len(shown)])
        colour = alt.Color("colour:N", scale=scale, title=None, legend=alt.Legend(orient="bottom", columns=3))
    else:
        scale = alt.Scale(domain=kinds, range=[colours.accent, colours.people])
        colour = alt.Color("people:N", scale=scale, legend=None)
    shape = alt.Shape("people:N", scale=alt.Scale(domain=kinds, range=["circle", "triangle-up"]), legend=None)
    tooltip = [
        alt.Tooltip("generator:N"),
        alt.Tooltip("instance:N"),
        alt.Tooltip("x:Q", title=one_line(plotted.x.name)),
        alt.Tooltip("y:Q", title=one_line(plotted.y.name)),
    ]
    opacity = 0.45 if len(points) < MOST_POINTS else 0.25
    dots = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, size=22, opacity=opacity)
        .encode(across, up, colour, shape, tooltip=tooltip)
    )
    return (dots + _trend_line(x, y, across, up, theme)).properties(width=WIDTH, height=280)


def _squares(plotted: Scatter, x: Floats, y: Floats, theme: Theme) -> alt.LayerChart:
    """How many outputs lie in each small square; an empty one is not drawn."""
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH

    colours = PALETTES[theme]
    counts, xs, ys = np.histogram2d(x, y, bins=(ACROSS, UP))
    squares: Points = [
        {
            "x": _short(xs[i]),
            "x2": _short(xs[i + 1]),
            "y": _short(ys[k]),
            "y2": _short(ys[k + 1]),
            "outputs": int(counts[i, k]),
            "across": f"{xs[i]:.4g} to {xs[i + 1]:.4g}",
            "up": f"{ys[k]:.4g} to {ys[k + 1]:.4g}",
        }
        for i, k in zip(*np.nonzero(counts), strict=True)
    ]
    across = alt.X("x:Q", title=one_line(plotted.x.name), axis=alt.Axis(tickCount=6), **_scales())
    up = alt.Y("y:Q", title=one_line(plotted.y.name), axis=alt.Axis(grid=True), **_scales())
    scale = alt.Scale(type="log", range=[_mixed(colours.accent, theme, 0.18), colours.accent])
    colour = alt.Color("outputs:Q", scale=scale, legend=alt.Legend(title="outputs", orient="right"))
    tooltip = [
        alt.Tooltip("outputs:Q", format=","),
        alt.Tooltip("across:N", title=one_line(plotted.x.name)),
        alt.Tooltip("up:N", title=one_line(plotted.y.name)),
    ]
    drawn = (
        alt.Chart(alt.InlineData(values=squares))
        .mark_rect()
        .encode(across, up, alt.X2("x2:Q"), alt.Y2("y2:Q"), colour, tooltip=tooltip)
    )
    return (drawn + _trend_line(x, y, across, up, theme)).properties(width=WIDTH, height=280)


def _trend_line(x: Floats, y: Floats, across: alt.X, up: alt.Y, theme: Theme) -> alt.Chart:
    """The least-squares line of all outputs; none where all have the same score."""
    import altair as alt

    from billboards.show.plot import PALETTES

    low, high = float(x.min()), float(x.max())
    line: Points = []
    if low < high:
        slope, start = np.polyfit(x, y, 1)
        line = [{"x": _short(end), "y": _short(start + slope * end)} for end in (low, high)]
    mark: alt.Chart = alt.Chart(alt.InlineData(values=line)).mark_line(color=PALETTES[theme].text, strokeWidth=2)
    return mark.encode(across, up)


def _most_frequent(names: Sequence[str]) -> list[str]:
    from collections import Counter

    counted = Counter(names).most_common()
    return sorted(name for name, _ in counted[:MOST_COLOURS])


def _mixed(colour: str, theme: Theme, share: float) -> str:
    """A colour thinned towards the ground of the theme."""
    ground = "#121518" if theme == "dark" else "#ffffff"
    parts = [(int(colour[k : k + 2], 16), int(ground[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(share * own + (1 - share) * below):02x}" for own, below in parts)


def _short(value: float) -> float:
    return float(f"{float(value):.5g}")


#: Twelve colours that differ in both themes; the shapes and the tooltip say the same.
_TWELVE: dict[str, tuple[str, ...]] = {
    "light": (
        "#0b62b5", "#c2500a", "#0a7d5c", "#a1487e", "#8a6d00", "#3a8fca",
        "#5b3fa8", "#b3261e", "#4d7c0f", "#0e7490", "#7c4a21", "#475569",
    ),
    "dark": (
        "#5aa9f2", "#f2954a", "#3cc69a", "#df8fc0", "#d9b93b", "#b7d9f5",
        "#b49cff", "#ff8f86", "#a3d65c", "#52d0e6", "#d9a679", "#aab6c5",
    ),
    "paper": (
        "#08306b", "#e0861a", "#2f7d5b", "#e8b9d8", "#7a4a00", "#7db7e8",
        "#5b3fa8", "#b3261e", "#4d7c0f", "#0e7490", "#9c6f44", "#475569",
    ),
}  # fmt: skip
