"""Charts as files: vectors for papers, and the data behind them."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from examples_of_results import OVERRATING, RANKING

from billboards.analyses.overrating import overrating_forest
from billboards.analyses.rank import correlation_bars
from billboards.errors import InvalidInput
from billboards.show.figures import save_chart
from billboards.show.plot import PALETTES


def test_a_picture_is_as_wide_as_a_column_and_has_no_title(tmp_path: Path) -> None:
    chart = correlation_bars(RANKING, theme="paper")
    (svg,) = save_chart(chart, tmp_path / "a.svg")
    drawn = ElementTree.fromstring(svg.read_text())
    assert float(drawn.attrib["width"]) == pytest.approx(3.03 * 96, abs=1)
    assert " ".join(chart.title.text) not in svg.read_text()
    sizes = {element.attrib["font-size"] for element in drawn.iter() if "font-size" in element.attrib}
    assert sizes == {"10.7px"}


@pytest.mark.parametrize(("name", "start"), [("a.pdf", b"%PDF"), ("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")])
def test_the_ending_names_the_format(tmp_path: Path, name: str, start: bytes) -> None:
    (file,) = save_chart(overrating_forest(OVERRATING, theme="paper"), tmp_path / name)
    assert file.read_bytes().startswith(start)


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.pdf, \.svg, \.png, \.csv, \.dat"):
        save_chart(overrating_forest(OVERRATING), tmp_path / "a.doc")


def test_the_data_of_a_chart_come_as_csv_and_for_pgfplots(tmp_path: Path) -> None:
    chart = overrating_forest(OVERRATING)
    points, zero = save_chart(chart, tmp_path / "forest.csv")
    assert zero.name == "forest-2.csv"
    with points.open(newline="") as file:
        assert [row["name"] for row in csv.DictReader(file)] == ["TER", "COMET", "BLEU"]
    first, _ = save_chart(chart, tmp_path / "forest.dat")
    assert first.read_text().splitlines()[:2] == [
        "{name} {beta0} {low} {high} {role} {metric} {interval}",
        "{TER} -0.58 -0.72 -0.44 {overrates people} {TER} {-0.72 to -0.44}",
    ]


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_papers_colours_differ_in_print_without_colour() -> None:
    colours = PALETTES["paper"]
    greys = sorted(map(luminance, (colours.accent, colours.people, colours.plain)))
    assert greys[1] - greys[0] > 0.3
    lines = sorted(map(luminance, colours.lines))
    assert min(b - a for a, b in pairwise(lines)) > 0.05
