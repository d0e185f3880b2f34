"""From a site to files: its pages are asked for one after the other, along the links that lead from each to the next.

First everything is asked for and put down as it came; then links are rewritten, when it is known which pages there are.
A page that a visitor is refused is no page. Everything goes to a folder of its own first (`site.publishing.folders`).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from billboards.errors import StoreFailed
from billboards.site.accounts.access import VISITOR
from billboards.site.boards.masked import Look
from billboards.site.pages.board_view import Filter, filter_selects
from billboards.site.publishing.data_files import (
    chart_script,
    compared_script,
    outputs_script,
    pairs_script,
    read_chart,
    score_scripts,
    shared_points,
)
from billboards.site.publishing.places import PARTS, Address, Choice, Files, neighbours, read_address
from billboards.site.publishing.rewriting import LIBRARIES, SCRIPT, STYLES, charts_of, links_of, relative, rewrite
from billboards.site.site import Site
from billboards.site.web.addresses import board as board_address
from billboards.site.web.app import create_app
from billboards.site.web.asking import Pages
from billboards.site.web.rendering import FONT, static_file

#: Pairs of each side of a board that are compared by default, and parts of it that are ranked.
MOST_PAIRS, MOST_PARTS = 150, 60
#: Bytes of a chart's specification above which it stays a picture: thousands of points would outgrow the pages.
MOST_CHART = 2**20

#: Told of each page: how many are written, how many there are, and seconds left.
Tell = Callable[[int, int, float], None]


@dataclass(kw_only=True)
class Outcome:
    """What was written."""

    files: int = 0
    bytes: int = 0
    pages: int = 0
    instances: int = 0
    #: Addresses that a visitor could not be shown, with the status.
    refused: dict[str, int] = field(default_factory=dict)


def choose(
    site: Site,
    pages: Pages,
    *,
    instances: str = "all",
    most_instances: int | None = None,
    pairs: int = MOST_PAIRS,
    parts: bool = True,
    analyses: bool = True,
) -> tuple[Choice, dict[str, Look]]:
    """What of a site's boards is published."""
    looks = {board.name: pages.look(board.name, VISITOR) for board in site.boards()}
    choice = Choice(
        boards=tuple(looks),
        instances={name: _instances(look, instances, most_instances) for name, look in looks.items()},
        pairs={name: frozenset(_pairs(look, pairs)) for name, look in looks.items()},
        parts=parts,
        analyses=analyses,
    )
    return choice, looks


def _instances(look: Look, wanted: str, most: int | None = None) -> frozenset[str]:
    """The instances whose pages are written: all, those that people judged, the first so many, or none; not more than
    `most`, in the board's order."""
    ids = [instance.id for instance in look.board.instances]
    if wanted == "none":
        return frozenset()
    if wanted == "judged":
        if not look.judged:
            return frozenset()
        judged = np.flatnonzero(np.isfinite(look.matrix.view.human).any(axis=0))
        return frozenset([ids[int(k)] for k in judged][:most])
    return frozenset(ids[:most] if wanted == "all" else ids[: int(wanted)][:most])


def _pairs(look: Look, most: int) -> Iterable[tuple[str, str]]:
    """Generators and metrics in the order of their ranks, two at a time."""
    ranking = look.ranking
    if ranking is None:
        return
    placed = [standing.name for standing in ranking.generators]
    visible = {generator.name for generator in look.board.generators}
    yield from neighbours([name for name in placed if name in visible], most)
    if look.judged:
        yield from neighbours([metric.name for metric in ranking.metrics], most)


def _seeds(choice: Choice, looks: dict[str, Look]) -> list[Address]:
    """Where the walk begins: what no link of a page leads to stands here too."""
    seeds = [Address(()), Address(("help",))]
    for name, look in looks.items():
        home = Address(("boards", name))
        seeds += [home, Address(("embed", "boards", name)), Address(("boards", name, "card"))]
        seeds += [Address(("boards", name, "badges", "metric.svg")), Address(("boards", name, "preview.png"))]
        if look.judged and look.ranking is not None and choice.parts:
            selects = filter_selects(look.board, Filter(), look.ranking)
            states = [(s.name, value) for s in selects if s.name in PARTS for value, _ in s.options if value]
            seeds += [Address(home.parts, (state,)) for state in states[:MOST_PARTS]]
        seeds += [Address(("boards", name, "instances"), (("sort", sort),)) for sort in ("best", "worst")]
        if look.judged:
            orders = ("disagreement", "kinder", "harsher")
            seeds += [Address(("boards", name, "instances"), (("sort", sort),)) for sort in orders]
        pairs = sorted(choice.pairs[name])
        seeds += [Address((*home.parts, "compare"), (("first", a), ("second", b))) for a, b in pairs]
        ids = (instance.id for instance in look.board.instances)
        seeds += [Address((*home.parts, "instances", name)) for name in ids if name in choice.instances[home.parts[1]]]
    return seeds


@dataclass(kw_only=True)
class Walk:
    """One publication: what is to be asked for, what has come, and the files."""

    choice: Choice
    looks: dict[str, Look]
    target: Path
    base: str = ""
    files: Files = field(default_factory=Files)
    outcome: Outcome = field(default_factory=Outcome)
    kept: dict[Address, str] = field(default_factory=dict)
    html: list[Address] = field(default_factory=list)
    #: Files of charts by the addresses of their specifications.
    charts: dict[str, str] = field(default_factory=dict)
    is_stopped: bool = False

    async def ask_all(self, client: httpx.AsyncClient, seeds: Sequence[Address], tell: Tell) -> None:
        """Ask for every page that is published, and put each down as it came."""
        waiting, seen = deque(seeds), set(seeds)
        began = time.monotonic()
        while waiting and not self.is_stopped:
            address = waiting.popleft()
            for link in await self._ask(client, address):
                asked = read_address(link)
                target = None if asked is None else self.choice.published(asked)
                if target is not None and target not in seen:
                    seen.add(target)
                    waiting.append(target)
            done = len(seen) - len(waiting)
            tell(done, len(seen), (time.monotonic() - began) / done * len(waiting))
        for chart in [] if self.is_stopped else list(self.charts):
            await self._ask_chart(client, chart)
            tell(len(seen), len(seen), 0.0)

    async def _ask(self, client: httpx.AsyncClient, address: Address) -> list[str]:
        answer = await client.get(str(address), headers={"accept": "*/*" if _is_data(address) else "text/html"})
        if answer.status_code != 200:
            self.outcome.refused[str(address)] = answer.status_code
            return []
        is_page = answer.headers["content-type"].startswith("text/html")
        own = self.kept[address] = self.files.of(address, is_page=is_page)
        is_chart = answer.headers["content-type"].startswith("image/svg")
        self.write(own, renumber(answer.text).encode() if is_chart else answer.content)
        if not is_page:
            return []
        self.html.append(address)
        self.charts |= dict.fromkeys(charts_of(answer.text), "")
        return list(links_of(answer.text))

    async def _ask_chart(self, client: httpx.AsyncClient, asked: str) -> None:
        """Put the specifications of a chart down, of both themes in one script; a large one stays a picture."""
        del self.charts[asked]
        address = read_address(asked)
        if address is None or address.board not in self.choice.boards:
            return
        themes: dict[str, Any] = {}
        for theme in ("light", "dark"):
            answer = await client.get(f"{asked}{'&' if '?' in asked else '?'}theme={theme}")
            if answer.status_code != 200 or len(answer.content) > MOST_CHART:
                return
            themes[theme] = answer.json()
        own = self.files.of(address, is_page=False).removesuffix(".json") + ".chart.js"
        self.charts[asked] = own
        self.write(own, chart_script(own, shared_points(themes), lambda link: link).encode())

    def rewrite_all(self) -> None:
        """Make the links of all pages relative, and put what they need beside them."""
        for address in self.html:
            own = self.kept[address]
            page = (self.target / own).read_text("utf-8")
            rewritten = rewrite(page, address, own, self.place, base=self.base, charts=self.charts)
            self.write(own, rewritten.encode(), again=True)
        for own in self.charts.values():
            script = (self.target / own).read_text("utf-8")
            themes = read_chart(script)
            content = chart_script(own, themes, partial(relative, own=own, place=self.place))
            self.write(own, content.encode(), again=True)
        self.outcome.pages = len(self.html)
        self.outcome.instances = sum(a.rest[:1] == ("instances",) and len(a.rest) > 1 for a in self.html)
        for own in self.kept.values():
            if own.endswith(".js"):
                script = (self.target / own).read_text("utf-8")
                if "import " not in script and "export " not in script:
                    # Plain scripts share their names; a module has its own.
                    self.write(own, f"(() => {{\n{script}}})();\n".encode(), again=True)
        self._write_beside()

    def place(self, asked: Address) -> str | None:
        """The file that an address leads to; None where it was not written."""
        address = self.choice.published(asked)
        if address is None:
            return None
        return self.kept.get(address) or self.kept.get(Address(address.parts))

    def _write_beside(self) -> None:
        self.write(STYLES, static_file("site.css"))
        self.write(f"static/{FONT}", static_file(FONT))
        self.write(SCRIPT, static_file("published.js"))
        for name in (*LIBRARIES, "vega-licence.txt") if self.charts else ():
            self.write(f"static/{name}", static_file(name))
        # Some hosts leave out what their own generator of pages does not know.
        self.write(".nojekyll", b"")
        for name, look in self.looks.items():
            home = self.kept.get(Address(("boards", name)))
            if home is None:
                raise StoreFailed(f"board {name} can't be shown: {board_address(name)} answered {self.outcome.refused}")
            root = home.rpartition("/")[0]

            def reach(address: Address, root: str = root) -> str | None:
                own = self.kept.get(address)
                return None if own is None else own.removeprefix(f"{root}/")

            self.write(f"{root}/data/compared.js", compared_script(look, reach).encode())
            self.write(f"{root}/data/pairs.js", pairs_script(sorted(self.choice.pairs[name]), name, reach).encode())
            outputs = outputs_script(look, reach)
            if outputs is not None:
                self.write(f"{root}/data/outputs.js", outputs.encode("utf-8", "replace"))
                for number, script in enumerate(score_scripts(look)):
                    self.write(f"{root}/data/scores-{number}.js", script.encode())

    def write(self, own: str, content: bytes, *, again: bool = False) -> None:
        """Put a file down."""
        path = self.target / own
        before = path.stat().st_size if again else 0
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.outcome.files += not again
        self.outcome.bytes += len(content) - before


_NUMBERED = re.compile(r'\bid="([A-Za-z_]+)(\d+)"')


def renumber(svg: str) -> str:
    """A chart whose parts are numbered from 0: whoever draws it counts on from the chart before."""
    for k, (word, number) in enumerate(dict.fromkeys(_NUMBERED.findall(svg))):
        svg = re.sub(rf"\b{word}{number}\b", f"{word}-{k}", svg)
    return svg


def _is_data(address: Address) -> bool:
    return address.parts[:1] == ("api",)


def write_site(
    site: Site,
    target: Path,
    *,
    instances: str = "all",
    most_instances: int | None = None,
    pairs: int = MOST_PAIRS,
    parts: bool = True,
    analyses: bool = True,
    tell: Tell = lambda *_: None,
) -> Outcome:
    """Write the pages of a site that answers as to visitors into an empty folder."""
    app = create_app(site)
    choice, looks = choose(
        site,
        app.state.pages,
        instances=instances,
        most_instances=most_instances,
        pairs=pairs,
        parts=parts,
        analyses=analyses,
    )
    walk = Walk(choice=choice, looks=looks, target=target, base=site.settings.base_url)

    async def ask() -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await walk.ask_all(client, _seeds(choice, looks), tell)

    # In a thread of its own: whoever calls may have a loop already, as notebooks have.
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(lambda: asyncio.run(ask())).result()
        except BaseException:
            walk.is_stopped = True
            raise
    walk.rewrite_all()
    if site.settings.base_url:
        walk.write("sitemap.xml", _sitemap(site.settings.base_url, [walk.kept[page] for page in walk.html]))
    return walk.outcome


def _sitemap(base: str, pages: Iterable[str]) -> bytes:
    """The pages for search engines, which ask for whole addresses."""
    from html import escape
    from urllib.parse import quote

    lines = "".join(f"<url><loc>{escape(f'{base}/{quote(page)}')}</loc></url>\n" for page in sorted(pages))
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{lines}</urlset>\n".encode()
