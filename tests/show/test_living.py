"""Charts for a browser: what is added to a picture's specification, and that nothing that is drawn changes."""

from __future__ import annotations

from typing import Any

import altair as alt
import pytest

from billboards.show.browser_charts import ADDRESS, ZOOM, living
from billboards.show.plot import WIDTH, themed

POINTS = [{"name": "a", "x": 1, "y": 2}, {"name": "b", "x": 2, "y": 1}]


def drawn(mark: str = "point", x: str = "x:Q", y: str = "y:Q", width: int = WIDTH) -> alt.LayerChart:
    base = alt.Chart(alt.InlineData(values=POINTS))
    layer = (base.mark_bar() if mark == "bar" else base.mark_point()).encode(alt.X(x), alt.Y(y))
    return themed(alt.layer(layer).properties(width=width), "light", "A title", "What is plotted", "words")


@pytest.mark.parametrize(
    ("chart", "axes"),
    [
        (drawn(), ["x", "y"]),
        (drawn(x="name:N"), ["y"]),
        (drawn(x="name:N", y="name:N"), []),
        (drawn("bar", y="name:N"), []),
    ],
    ids=["numbers", "names across", "names alone", "bars begin at 0"],
)
def test_axes_of_numbers_zoom_and_bars_do_not(chart: alt.LayerChart, axes: list[str]) -> None:
    specification = living(chart)
    assert specification["usermeta"] == {"zooms": axes}
    zooms: list[Any] = [
        param for layer in specification["layer"] for param in layer.get("params", ()) if param["name"] == ZOOM
    ]
    assert [param["select"]["encodings"] for param in zooms] == ([axes] if axes else [])
    assert all("ctrlKey" in param["select"]["zoom"] for param in zooms), "the wheel alone scrolls the page"


def test_points_lead_to_their_pages_and_the_picture_stays_as_it_was() -> None:
    chart = drawn()
    before = chart.to_dict(validate=False)
    specification = living(chart, lead=lambda point: "/a" if point["name"] == "a" else None)
    text = str(specification)
    assert f"'{ADDRESS}': '/a'" in text
    assert text.count(ADDRESS) == 1, "no address where there is no page"
    assert specification["title"] == {"text": ["What is plotted"]}, "the page states the title itself"
    assert chart.to_dict(validate=False) == before
    assert ADDRESS not in str(POINTS)


def test_a_chart_as_wide_as_pictures_are_fits_its_page_and_a_narrow_one_stays() -> None:
    assert living(drawn())["width"] == "container"
    assert living(drawn(width=200))["width"] == 200
