"""Charts that a reader can point at: the same specifications as the pictures, with what a browser adds to them.

A living chart is as wide as its page, zooms and pans where its axes are numbers, and its points lead to pages. Nothing
that is drawn changes, so that a reader without scripts sees the same in the picture.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import altair as alt

from billboards.show.figures import chart_data
from billboards.show.plot import WIDTH, untitled

Point = dict[str, Any]
#: From a point to the address of the page about it, if there is one.
Lead = Callable[[Mapping[str, Any]], str | None]

#: The name of the selection that zooms. With the wheel alone a page could no longer be scrolled past a chart.
ZOOM = "zoomed"
_WHEEL = "wheel![event.ctrlKey || event.metaKey]"
#: The field of a point that holds the address of its page.
ADDRESS = "href_"


def living(chart: alt.TopLevelMixin, *, lead: Lead | None = None) -> dict[str, Any]:
    """A chart's specification for a browser: without its title, which the page states."""
    specification = untitled(copy.deepcopy(chart.to_dict(validate=False)))
    specification["usermeta"] = {"zooms": _add_zoom(specification)}
    # Vega's own descriptions of every mark would be read out one by one; the page has a table of the data.
    specification["config"] = specification["config"] | {"aria": False}
    if lead is not None:
        for point in _points(specification):
            address = lead(point)
            if address is not None:
                point[ADDRESS] = address
    if specification.get("width") == WIDTH:
        specification |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return specification


def data_of(chart: alt.TopLevelMixin) -> list[list[Point]]:
    """The sets of points in a chart, the largest first."""
    return list(chart_data(chart))


def title_of(chart: alt.TopLevelMixin) -> tuple[str, str]:
    """A chart's title and what is plotted, each in one line."""
    title = chart.to_dict(validate=False).get("title") or {}
    return " ".join(title.get("text") or ()), " ".join(title.get("subtitle") or ())


def _add_zoom(specification: dict[str, Any]) -> list[str]:
    """Lets the axes that are numbers be zoomed and panned; returns which. Bars begin at 0, so they stay as they are."""
    layers = specification.get("layer") or [specification]
    if any((layer.get("mark") or {}).get("type") == "bar" for layer in layers):
        return []
    for layer in layers:
        axes = [axis for axis in ("x", "y") if _is_number(layer.get("encoding", {}).get(axis))]
        if axes:
            select = {"type": "interval", "encodings": axes, "zoom": _WHEEL}
            layer["params"] = [*layer.get("params", ()), {"name": ZOOM, "select": select, "bind": "scales"}]
            return axes
    return []


def _is_number(encoding: Any) -> bool:
    """Whether an axis has numbers that may be zoomed: one that is drawn, and of a field."""
    drawn = isinstance(encoding, dict) and encoding.get("axis", True) is not None
    return drawn and encoding.get("type") == "quantitative" and "field" in encoding and "bin" not in encoding


def _points(specification: Mapping[str, Any]) -> Iterator[Point]:
    for points in specification.get("datasets", {}).values():
        yield from points
    for layer in (specification, *specification.get("layer", ())):
        yield from (layer.get("data") or {}).get("values") or ()
