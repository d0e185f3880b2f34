"""What notebooks show: tables as HTML, findings in sentences, and charts that answer the mouse (Vega-Lite).

Jupyter, VS Code and marimo each take the richest form that they know. Nothing here needs a package beyond those that
are there anyway: IPython is asked only where it is running already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from billboards.show.frames import table_html
from billboards.show.table import Table

if TYPE_CHECKING:
    import altair as alt


def tables_html(tables: Sequence[Table], words: Sequence[str] = ()) -> str:
    """Sentences, and tables below them."""
    sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in words)
    return "\n".join((*filter(None, (sentences,)), *map(table_html, tables)))


def chart_bundle(chart: alt.LayerChart) -> dict[str, Any]:
    """A chart by its media type, as altair's own charts are."""
    import altair as alt

    major = alt.SCHEMA_VERSION.lstrip("v").partition(".")[0]
    return {f"application/vnd.vegalite.v{major}+json": chart.to_dict()}


def display(text: Mapping[str, Any], charts: Iterable[alt.LayerChart]) -> None:
    """Show a text and charts one below the other, in the notebook that is running."""
    from IPython.display import display as show

    show(dict(text), raw=True)
    for chart in charts:
        show({**chart_bundle(chart), "text/plain": "a chart; save_chart(FILE) writes it"}, raw=True)
