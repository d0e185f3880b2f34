"""What all charts have in common: colours, sizes, titles, and how one becomes a picture.

Charts are specified once in Vega-Lite for the HTML report, notebooks and sites alike. Each says its finding in its
title, uses one accent colour and one for people, tells both apart by more than colour, and comes light or dark on a
transparent ground. Names from boards enter only as data and titles, never as fields or expressions, so that a metric
may be called anything.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from billboards.show.words import one_line

Theme = Literal["light", "dark", "paper"]
Points = list[dict[str, Any]]

#: Width of a plot and height of one of its rows, in pixels: with labels, what a phone shows without shrinking much.
WIDTH = 300
ROW = 22
#: Letters to a line of a title.
LINE = 48


@dataclass(frozen=True, kw_only=True, slots=True)
class Palette:
    """The colours of a theme; accent and people are blue and orange, which every eye tells apart.

    `turn` is the correlation from which a heat map's figures change between black and white to stay legible.
    """

    text: str
    faint: str
    grid: str
    figures: tuple[str, str]
    turn: float
    plain: str
    accent: str
    people: str
    lines: tuple[str, ...]


PALETTES: Mapping[Theme, Palette] = {
    "light": Palette(
        text="#1f2328",
        faint="#59636e",
        grid="#e4e7eb",
        figures=("#000000", "#ffffff"),
        turn=0.83,
        plain="#8491a0",
        accent="#0b62b5",
        people="#c2500a",
        lines=("#0b62b5", "#c2500a", "#0a7d5c", "#a1487e", "#8a6d00", "#3a8fca"),
    ),
    "dark": Palette(
        text="#e6e9ed",
        faint="#9aa4af",
        grid="#2f353d",
        figures=("#ffffff", "#000000"),
        turn=0.57,
        plain="#6f7b88",
        accent="#5aa9f2",
        people="#f2954a",
        lines=("#5aa9f2", "#f2954a", "#3cc69a", "#df8fc0", "#d9b93b", "#b7d9f5"),
    ),
    # Colours whose greys differ, too: a paper may be printed without colour.
    "paper": Palette(
        text="#000000",
        faint="#333333",
        grid="#dddddd",
        figures=("#000000", "#ffffff"),
        turn=0.83,
        plain="#a8b2bd",
        accent="#0a3f7f",
        people="#e0861a",
        lines=("#08306b", "#e0861a", "#2f7d5b", "#e8b9d8", "#7a4a00", "#7db7e8"),
    ),
}


def themed(chart: alt.LayerChart, theme: Theme, title: str, subtitle: str, words: str) -> alt.LayerChart:
    """A chart with its title, its text alternative and the common look."""
    colours = PALETTES[theme]
    lines, below = (textwrap.wrap(t, n, break_long_words=False) for t, n in ((title, LINE), (subtitle, LINE + 10)))
    heading = alt.TitleParams(lines, subtitle=below)
    axis = {
        "labelColor": colours.text,
        "titleColor": colours.faint,
        "titleFontWeight": "normal",
        "gridColor": colours.grid,
        "domainColor": colours.grid,
        "tickColor": colours.grid,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelLimit": 150,
    }
    titles = {"anchor": "start", "frame": "bounds", "offset": 12, "fontSize": 14, "subtitleFontSize": 12}
    return chart.properties(title=heading, description=f"{title}. {words}").configure(
        background="transparent",
        font="system-ui, sans-serif",
        # Room for a reader's font that is wider than the one a picture was measured with.
        padding={"left": 16, "right": 24, "top": 6, "bottom": 6},
        axis=axis,
        axisX={"labelFlush": False},
        axisY={"grid": False, "ticks": False, "labelPadding": 6},
        view={"stroke": None},
        text={"fontSize": 12},
        title=titles | {"color": colours.text, "subtitleColor": colours.faint},
    )


def to_svg(chart: alt.TopLevelMixin, *, titled: bool = True) -> str:
    """A chart as a static picture, for which nothing is fetched; without its title where a page states it as text."""
    specification = chart.to_dict(validate=False)
    return rendered_chart(specification if titled else untitled(specification), "svg").decode()


def untitled(specification: dict[str, Any]) -> dict[str, Any]:
    """A specification for a page that states the title as text: what is plotted stays above it, in small letters."""
    subtitle = (specification.get("title") or {}).get("subtitle")
    rest = {word: value for word, value in specification.items() if word != "title"}
    if not subtitle:
        return rest
    config = specification["config"]
    faint = {"fontSize": 12, "fontWeight": "normal", "color": config["title"]["subtitleColor"]}
    return rest | {"title": {"text": subtitle}, "config": config | {"title": config["title"] | faint}}


def rendered_chart(specification: dict[str, Any], kind: str) -> bytes:
    """A Vega-Lite specification as svg, pdf or png."""
    import vl_convert

    # A picture is described as a whole; a description of each of its points would only make it large.
    specification["config"]["aria"] = False
    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    versions = vl_convert.get_vegalite_versions()
    version = wanted if wanted in versions else versions[-1]
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(specification, vl_version=version, allowed_base_urls=[], ppi=300))
    svg = str(vl_convert.vegalite_to_svg(specification, vl_version=version, allowed_base_urls=[]))
    if kind == "pdf":
        return bytes(vl_convert.svg_to_pdf(_SIZE.sub(_in_points, svg, count=1)))
    return svg.encode("utf-8", "replace")


#: The size that a picture says of itself, beside the size of what is drawn in it.
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def _in_points(size: re.Match[str]) -> str:
    """Vega counts 96 pixels to the inch, the writer of PDF 72."""
    width, height = (0.75 * float(number) for number in size.groups())
    return f'width="{width:g}" height="{height:g}"'


def role_colour(roles: Mapping[str, str]) -> alt.Color:
    return alt.Color("role:N", scale=alt.Scale(domain=list(roles), range=list(roles.values())), legend=None)


def cycle(colours: tuple[str, ...], count: int) -> list[str]:
    return [colours[k % len(colours)] for k in range(count)]


def distinct(names: Iterable[str]) -> list[str]:
    """Names as labels that differ: a metric that stands twice on a board is two bars, not one."""
    seen: Counter[str] = Counter()
    labels = []
    for name in map(one_line, names):
        seen[name] += 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return labels


def apart(values: Sequence[float], gap: float) -> list[float]:
    """Ascending values moved as little as it takes to be a gap apart: neighbours that are too close part evenly."""
    places = list(values)
    for _ in range(100):
        for k in range(len(places) - 1):
            short = gap - (places[k + 1] - places[k])
            if short > 0:
                places[k] -= short / 2
                places[k + 1] += short / 2
    return places
