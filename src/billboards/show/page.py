"""Self-contained HTML pages: a template filled in, and charts as pictures in it.

A page makes no request, runs no script and keeps both out by its own content policy. Charts are static pictures, one
for light and one for dark screens. Every text from a board is escaped.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from billboards.show.frames import table_html
from billboards.show.words import value_text

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

#: Characters of an output that are shown where it is there to be read.
READ = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A chart on the page: its finding as text, and its picture for light and for dark screens."""

    title: str
    subtitle: str
    description: str
    light: str
    dark: str
    width: int
    height: int


def rendered(template: str, **context: Any) -> str:
    """A page from one of the templates beside this module: every text escaped, tables as the notebook shows them."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    loader = FunctionLoader(resource)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["table"] = lambda table: Markup(table_html(table))
    environment.filters["number"] = value_text
    page = environment.get_template(template).render(style=Markup(resource("report.css")), **context)
    # Half a character, as JSON can smuggle in, would keep the page from being written as UTF-8.
    return page.encode("utf-8", "replace").decode()


def picture(draw: Callable[[Theme], alt.LayerChart]) -> Picture:
    """A chart drawn for both themes, with its title taken out to be the page's own text."""
    from billboards.show.plot import to_svg

    light, dark = draw("light"), draw("dark")
    svg = to_svg(light, titled=False)
    drawn = ElementTree.fromstring(svg).attrib
    return Picture(
        title=" ".join(light.title.text),
        subtitle=" ".join(light.title.subtitle),
        description=light.description,
        light=data_uri("image/svg+xml", svg),
        dark=data_uri("image/svg+xml", to_svg(dark, titled=False)),
        width=round(float(drawn["width"])),
        height=round(float(drawn["height"])),
    )


#: Where templates lie: beside what they show.
HOMES = ("billboards.show", "billboards.analyses", "billboards.analyses.audit", "billboards.analyses.suite")


def resource(name: str) -> str:
    """A template or stylesheet, from the folder that has it."""
    places = (resources.files(home) / name for home in HOMES)
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")


def data_uri(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"
