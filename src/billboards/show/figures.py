"""Charts as files: figures for papers, pictures, and the data behind them.

A figure is as wide as one column of a two-column page, 7.7 cm or 3.03 inches, with letters of 8 points in an embedded
font, and without the title, which a paper says in its caption. PDF and SVG are vectors. The data come as CSV, or as a
table for pgfplots (`.dat`: blanks between columns, names in braces), one file for each set of points in the chart.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.errors import InvalidInput
from billboards.saving import save_file
from billboards.show.csv import csv_text
from billboards.show.plot import rendered_chart
from billboards.show.words import value_text

if TYPE_CHECKING:
    import altair as alt

#: A column's width in inches, Vega's pixels to the inch, and letters' size in pixels: 8 points.
COLUMN, DOTS, LETTERS = 3.03, 96, 10.7
PICTURES = (".pdf", ".svg", ".png")
DATA = (".csv", ".dat")
#: A font that the renderer brings along, so that figures look alike everywhere and none is missing in the PDF.
FONT = "Liberation Sans"


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> tuple[Path, ...]:
    """Write a chart in the format of the file's name; returns what was written."""
    wanted = Path(path)
    kind = wanted.suffix.lower()
    if kind in DATA:
        sets = list(chart_data(chart))
        names = [wanted if k == 0 else wanted.with_stem(f"{wanted.stem}-{k + 1}") for k in range(len(sets))]
        write = csv_of if kind == ".csv" else dat_of
        return tuple(save_file(name, write(points)) for name, points in zip(names, sets, strict=True))
    if kind not in PICTURES:
        raise InvalidInput(f"{wanted}: a chart's file ends in one of {', '.join((*PICTURES, *DATA))}")
    return (save_file(wanted, rendered_chart(for_column(chart), kind.removeprefix("."))),)


def for_column(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """A chart's specification as a figure of one column."""
    specification: dict[str, Any] = copy.deepcopy(chart.to_dict(validate=False))
    specification.pop("title", None)
    for layer in (specification, *specification.get("layer", ())):
        layer.pop("width", None)
    config = specification.setdefault("config", {})
    config["font"] = FONT
    config["background"] = "white"
    config["padding"] = 2
    for part in ("axis", "text", "legend", "axisX", "axisY"):
        config[part] = {**config.get(part, {}), **_letters(part)}
    _smaller(specification)
    return {
        **specification,
        "width": round(COLUMN * DOTS),
        "autosize": {"type": "fit-x", "contains": "padding"},
    }


def _letters(part: str) -> dict[str, float]:
    if part == "text":
        return {"fontSize": LETTERS}
    return {"labelFontSize": LETTERS, "titleFontSize": LETTERS}


def _smaller(node: Any) -> None:
    """Letters of marks that are set by themselves are no larger than the others."""
    if isinstance(node, dict):
        if isinstance(node.get("fontSize"), int | float) and node["fontSize"] > LETTERS:
            node["fontSize"] = LETTERS
        for value in node.values():
            _smaller(value)
    elif isinstance(node, list):
        for value in node:
            _smaller(value)


def chart_data(chart: alt.TopLevelMixin) -> Iterator[list[dict[str, Any]]]:
    """The sets of points in a chart, the largest first; each once."""
    specification = chart.to_dict(validate=False)
    named = specification.get("datasets", {})
    seen: list[list[dict[str, Any]]] = []
    for layer in _layers(specification):
        data = layer.get("data") or {}
        points = data.get("values") or named.get(data.get("name"), ())
        if points and list(points) not in seen:
            seen.append(list(points))
    yield from sorted(seen, key=len, reverse=True)


def _layers(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for word in ("layer", "hconcat", "vconcat", "concat"):
        for part in node.get(word, ()):
            yield from _layers(part)
    if isinstance(node.get("spec"), dict):
        yield from _layers(node["spec"])


def _keys(points: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for point in points for key in point))


def csv_of(points: list[dict[str, Any]]) -> str:
    """Points as CSV."""
    return csv_text(_keys(points), points)


def dat_of(points: list[dict[str, Any]]) -> str:
    """Points as pgfplots reads them: a missing number is nan, which it leaves out."""
    keys = _keys(points)
    lines = [" ".join(map(_in_braces, keys))]
    lines += [" ".join(_dat_value(point.get(key)) for key in keys) for point in points]
    return "\n".join(lines) + "\n"


def _dat_value(value: Any) -> str:
    if value is None:
        return "nan"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    return _in_braces(value_text(value))


def _in_braces(text: str) -> str:
    from billboards.show.latex import escape_latex

    return f"{{{escape_latex(text)}}}"
