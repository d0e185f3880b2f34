"""Charts as pages, specifications and data: what is plotted, all of it, and where its points lead."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
from pathlib import Path
from typing import Any

import pytest
from page_sites import PageSite, page_site

from billboards.site.web.rendering import static_address, static_file

BOARD = "/boards/harbour"
TOOL = Path(__file__).resolve().parents[2] / "tools" / "vega.py"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    site = page_site(tmp_path_factory.mktemp("charts"))
    site.work()
    return site


def _points(specification: dict[str, Any]) -> list[dict[str, Any]]:
    """The largest set of points of a specification, wherever it lies in it."""
    parts = [specification, *specification["layer"]]
    sets = [(part.get("data") or {}).get("values") or [] for part in parts]
    return max([*sets, *specification.get("datasets", {}).values()], key=len)


def test_shipped_libraries_have_the_digests_that_are_written_down() -> None:
    specification = importlib.util.spec_from_file_location("vega_tool", TOOL)
    assert specification is not None
    assert specification.loader is not None
    tool = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tool)
    for name, digest in tool.DIGESTS.items():
        assert hashlib.sha256(static_file(name)).hexdigest() == digest


def test_libraries_are_kept_for_ever_and_named_only_on_pages_with_charts(small: PageSite) -> None:
    answer = small.get(static_address("vega.min.js"))
    assert "immutable" in answer.headers["cache-control"]
    assert "vega.min.js" in small.get(BOARD).text
    for path in ("/help", f"{BOARD}/instances", f"{BOARD}/rankings"):
        assert "vega" not in small.get(path).text


def test_a_scatter_plot_has_every_judged_output_and_each_leads_to_its_instance(small: PageSite) -> None:
    specification = small.get(f"{BOARD}/charts/scatter.json?x=people&y=chrF").json()
    points = _points(specification)
    assert len(points) == 24
    assert points[0]["href_"] == "/boards/harbour/instances/i%2F0"
    assert specification["usermeta"]["zooms"] == ["x", "y"]
    rows = list(csv.DictReader(io.StringIO(small.get(f"{BOARD}/charts/scatter.csv?x=people&y=chrF").text)))
    assert len(rows) == 24
    assert "24 rows" in small.get(f"{BOARD}/charts/scatter?x=people&y=chrF").text


def test_two_metrics_are_plotted_on_outputs_that_nobody_judged_too(small: PageSite) -> None:
    points = small.get(f"{BOARD}/charts/scatter.data.json?x=chrF&y=ROUGE-1").json()
    assert len(points) == 32


def test_a_density_counts_every_output_once(small: PageSite) -> None:
    squares = small.get(f"{BOARD}/charts/scatter.data.json?x=people&y=chrF&draw=density").json()
    assert sum(square["outputs"] for square in squares) == 24


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("x=people&y=none", 404, "none"),
        ("draw=some", 422, "points or as density"),
    ],
)
def test_what_cannot_be_drawn_is_said(small: PageSite, query: str, status: int, words: str) -> None:
    answer = small.get(f"{BOARD}/charts/scatter?{query}")
    assert answer.status_code == status
    assert words in answer.text


def test_a_metrics_page_says_how_many_outputs_its_chart_draws(small: PageSite) -> None:
    assert "one point for each of 24 outputs" in small.get(f"{BOARD}/metrics/chrF").text


def test_charts_of_analyses_live_too_and_their_points_lead_to_metrics(small: PageSite) -> None:
    specification = small.get(f"{BOARD}/analyses/rank/charts/0.json").json()
    addresses = {point["metric"]: point["href_"] for point in _points(specification)}
    assert addresses["chrF"] == "/boards/harbour/metrics/chrF"
    assert specification["width"] == "container"
    assert "data-chart" in small.get(f"{BOARD}/analyses/rank").text
