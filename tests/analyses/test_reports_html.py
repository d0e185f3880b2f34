"""The self-contained HTML report."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from examples_of_results import EFFECT, OVERRATING, RANKING, STUDY

from billboards.analyses._report import JudgedScores, Section, report_html
from billboards.analyses.rank import MetricStanding, Ranking
from billboards.board import Board, DataCard, Dimension, Generator, Instance, row_of
from billboards.show.documents import result_of

VOID = {"meta", "img", "source", "br", "link", "hr", "input"}


class Outline(HTMLParser):
    """What a browser would make of a page: its tags with their attributes, its text, and whether tags are closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def board() -> Board:
    instances = tuple(Instance(f"s{k}") for k in range(40))
    rows = (row_of(Generator("Huoshan"), instances, ("x",) * 40),)
    quality = Dimension("mqm", definition="Errors <b>weighted</b> by severity")
    card = DataCard(title="Tiny <news> board", task="Translate.", licence="CC0")
    return Board(
        name="tiny",
        instances=instances,
        rows=rows,
        dimensions={"mqm": quality},
        ranks="mqm",
        output_language="en",
        card=card,
    )


@pytest.fixture(scope="module")
def judged() -> JudgedScores:
    human = np.linspace(0.0, 100.0, 60).reshape(2, 30)
    return JudgedScores("COMET", human, human / 50 - 1, ("Huoshan", "Human-B"))


@pytest.fixture(scope="module")
def page(
    board: Board,
    judged: JudgedScores,
) -> str:
    return report_html(RANKING, board=board, study=STUDY, overrating=OVERRATING, references=EFFECT, judged=judged)


def pictures(page: str) -> list[str]:
    return [base64.b64decode(data).decode() for data in re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", page)]


def test_a_page_is_well_formed_with_every_section_once(page: str) -> None:
    outline = Outline(page)
    assert outline.open == []
    headings = Counter(attributes["id"] for attributes in outline.all("h2"))
    sections = ("says", "metrics", "generators", "ensemble", "overrating", "references", "card", "how")
    assert headings == Counter(sections)
    targets = {attributes["href"] for attributes in outline.all("a") if str(attributes["href"]).startswith("#")}
    assert targets <= {f"#{name}" for name in (*sections, "main")}


def test_a_page_asks_nothing_of_any_network_and_runs_no_script(page: str) -> None:
    outline = Outline(page)
    assert outline.all("script") == outline.all("link") == outline.all("iframe") == []
    addresses = [attributes.get(key) for _, attributes in outline.tags for key in ("src", "href", "srcset")]
    assert all(address.startswith(("data:", "#")) for address in addresses if address)
    assert "@import" not in page
    assert "url(" not in page
    policy = next(a["content"] for a in outline.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not any(re.search(r"<script|<image|href=\"http|<foreignObject", picture) for picture in pictures(page))


def test_what_boards_write_is_text_and_never_markup(page: str) -> None:
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<h1>Tiny &lt;news&gt; board</h1>" in page
    assert "Errors &lt;b&gt;weighted&lt;/b&gt; by severity" in page


def test_every_chart_is_there_for_light_and_dark_screens_with_a_text_alternative(page: str) -> None:
    outline = Outline(page)
    images, sources = outline.all("img"), outline.all("source")
    assert len(images) == len(sources) == 7
    assert all(len(image["alt"] or "") > 40 for image in images)
    assert all(source["media"] == "screen and (prefers-color-scheme: dark)" for source in sources)
    assert len(pictures(page)) == 14
    assert "COMET against people (correlation 0.551)" in "".join(outline.text)


def test_every_header_cell_says_what_it_heads(page: str) -> None:
    outline = Outline(page)
    assert {attributes.get("scope") for attributes in outline.all("th")} == {"col", "row"}
    assert len(outline.all("caption")) == len(outline.all("table")) == 8
    assert outline.all("html") == [{"lang": "en"}]


def test_the_page_states_facts_findings_reasons_and_how_to_cite(page: str) -> None:
    text = " ".join("".join(Outline(page).text).split())
    assert "<dt>instances</dt><dd>40</dd>" in page
    assert "<dt>generators</dt><dd>5, 1 of them human</dd>" in page
    assert f"<dt>metrics</dt><dd>{len(RANKING.metrics)}</dd>" in page
    assert "Of 3 metrics, COMET agrees best with people" in text
    assert "Not measured: Prism-ref: scored only against Human-B itself" in text
    assert "ensemble.tiny+refs.AB+version.2" in text
    assert "statistic pearson, pooled, judgments mqm, seed 7" in text
    assert "<dt>source</dt><dd>not stated</dd>" in page


def test_the_ranking_can_be_taken_from_the_page_as_it_was(
    page: str,
) -> None:
    link = next(a for a in Outline(page).all("a") if "download" in a)
    encoded = str(link["href"]).removeprefix("data:application/json;base64,")
    assert result_of(Ranking, json.loads(base64.b64decode(encoded))) == RANKING


def test_a_ranking_alone_makes_a_page_without_the_sections_it_lacks() -> None:
    bare = replace(RANKING, metrics=RANKING.metrics[4:], ensemble=None, ranked_by=None, notes=("half \ud83d",))
    nothing = JudgedScores("METEOR", np.full((1, 3), np.nan), np.ones((1, 3)), ("Huoshan",))
    page = report_html(bare, judged=nothing, versions={"billboards": "0.1"})
    assert {attributes["id"] for attributes in Outline(page).all("h2")} == {"says", "metrics", "generators", "how"}
    assert Outline(page).all("img") == []
    assert page.encode("utf-8")


def test_twenty_generators_and_sixteen_metrics_make_less_than_a_megabyte() -> None:
    names = tuple(f"metric-{k:02}" for k in range(16))
    metrics = tuple(
        MetricStanding(
            name=name,
            signature=f"imported:{name}",
            rank=k + 1,
            correlation=0.6 - k / 50,
            n=16000,
            interval=(0.1, 0.7),
            references=(),
            origin="own",
            source_name=None,
            reference_free=False,
        )
        for k, name in enumerate(names)
    )
    scores = {name: 0.5 + k / 100 for k, name in enumerate(names)}
    generators = tuple(replace(RANKING.generators[0], name=f"generator-{k:02}", scores=scores) for k in range(20))
    alike = replace(STUDY, names=names, correlations=((0.5,) * 16,) * 16)
    human = np.linspace(0.0, 100.0, 16000).reshape(8, 2000)
    judged = JudgedScores("metric-00", human, np.sin(human), tuple(g.name for g in generators[:8]))
    page = report_html(replace(RANKING, metrics=metrics, generators=generators), study=alike, judged=judged)
    assert "600 of 16,000 judged outputs" in page
    assert len(page) < 1_000_000


def test_reports_are_imported_without_drawing_libraries() -> None:
    modules = "csv, frames, latex, page, table, terminal, words"
    check = f"import sys\nfrom billboards.show import {modules}\nfrom billboards.analyses import _report, rank\n"
    check += "print(sorted({'altair', 'vl_convert', 'rich', 'jinja2', 'pandas', 'polars'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_an_analysis_that_is_asked_twice_has_two_names_in_the_contents() -> None:
    power = [
        Section(name="power", title="How many", words=(), tables=(), pictures=(), about=about)
        for about in ("chrF and BLEU", "Crier and Almanac")
    ]
    page = report_html(RANKING, sections=power)
    contents = page.split("<nav")[1].split("</nav>")[0]
    assert "Power: chrF and BLEU" in contents
    assert "Power: Crier and Almanac" in contents
    assert [part.anchor for part in power] == ["power-chrF-and-BLEU", "power-Crier-and-Almanac"]
    assert page.count('id="power-chrF-and-BLEU"') == 1


def test_a_section_of_its_analysis_alone_is_called_by_that_and_others_by_what_they_are_about() -> None:
    alone = Section(name="power", title="", words=(), tables=(), pictures=())
    about = replace(alone, about="BLEU and chrF")
    assert (alone.anchor, alone.label) == ("power", "Power")
    assert (about.anchor, about.label) == ("power-BLEU-and-chrF", "Power: BLEU and chrF")
