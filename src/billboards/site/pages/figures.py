"""Charts as pages show them: the finding as text, the picture, and where the living chart and its data are."""

from __future__ import annotations

from dataclasses import dataclass

from billboards.show.words import value_text
from billboards.site.boards.masked import Look
from billboards.site.settings import said_moment
from billboards.site.web import addresses
from billboards.site.web.rendering import static_address


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A chart as a page shows it: its finding as text, and where its picture, specification and data are."""

    title: str
    description: str
    address: str
    query: str = ""
    #: What it rests on: how much, and of when.
    source: str = ""
    #: The page with the data as a table, where there is one.
    page: str = ""

    def file(self, ending: str, **more: str) -> str:
        """The address of a file of this chart."""
        extra = addresses.asked(more).replace("?", "&" if self.query else "?", 1)
        return f"{self.address}{ending}{self.query}{extra}"


def living_files() -> str:
    """What a browser loads to bring charts to life, in this order."""
    return " ".join(static_address(name) for name in ("vega.min.js", "vega-lite.min.js", "vega-interpreter.js"))


def board_figure(look: Look, name: str, title: str, description: str, **query: str) -> Figure:
    """A chart of the board's latest ranking."""
    address, asked = addresses.chart(look.name, *name.split("/", 1)), addresses.asked(query)
    return Figure(
        title=title,
        description=description,
        address=address,
        query=asked,
        source=source_words(look),
        page=address + asked,
    )


def source_words(look: Look) -> str:
    """What the charts of a board rest on."""
    ranking, snapshot = look.ranking, look.live.snapshot
    judged = 0 if ranking is None else sum(standing.judged for standing in ranking.generators)
    words = [look.title]
    words += [f"{value_text(judged)} judged outputs"] if judged else []
    words += [f"ranking {snapshot.number}, {said_moment(snapshot.created)}"] if snapshot is not None else []
    return "; ".join(words)
