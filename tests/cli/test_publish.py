"""`billboards publish`: the site as files; every link leads to one, nothing hidden is in any, numbers are the same."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_sites import ODD, SECRET, PageSite, page_board, page_site
from published_files import broken_links, count_links

from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.site.publishing.data_files import read_chart
from billboards.site.publishing.folders import LIST
from billboards.site.publishing.rewriting import COMPARED

QUICK = ("--no-analyses", "--no-parts", "--jobs", "1", "--draft")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_board(page_board(), tmp_path_factory.mktemp("folder") / "harbour")


@pytest.fixture(scope="module")
def published(board: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole board as files, with parts but without analyses."""
    out = tmp_path_factory.mktemp("out") / "public"
    asked = ("--base-url", "https://boards.example.org/b", "--submit-to", "https://code.example.org/b")
    assert main(["publish", str(board), "-o", str(out), "--draft", "--no-analyses", "--jobs", "1", *asked]) == 0
    return out


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    """The same board on a site with a server."""
    site = page_site(tmp_path_factory.mktemp("live"))
    site.settle(draws=1000)
    site.work()
    return site


def pages(folder: Path) -> Iterator[str]:
    yield from (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html")))


def cells(page: str) -> list[str]:
    """What stands in the cells of all tables of a page."""
    inner = re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", page, re.S)
    return [" ".join(re.sub(r"<[^>]*>", " ", text).split()) for text in inner]


def without_times(texts: list[str]) -> list[str]:
    """Cells but for how long a metric took, which no two runs share."""
    return [re.sub(r"^[\d.]+ (µs|ms|s)$", "a while", text) for text in texts]


@pytest.mark.long
def test_every_link_of_every_page_leads_to_a_file(published: Path) -> None:
    assert list(broken_links(published)) == []
    assert count_links(published) > 2000


def test_home_board_both_sides_generators_metrics_and_instances_are_there(published: Path) -> None:
    written = set(pages(published))
    assert {"index.html", "help.html", "boards/harbour/index.html", "boards/harbour/metrics.html"} <= written
    below = "boards/harbour"
    assert {f"{below}/metrics/chrF.html", f"{below}/generators/Cleo.html", f"{below}/card.html"} <= written
    assert {f"{below}/rankings.html", f"{below}/ensembles.html", f"{below}/submit.html"} <= written
    assert sum(name.startswith(f"{below}/instances/") for name in written) == 8
    # Four generators make six pairs, three metrics three.
    assert sum(name.startswith(f"{below}/compare-first") for name in written) == 9
    assert (published / below / "downloads" / "board.zip").exists()
    assert (published / below / "badges" / "metric.svg").exists()


@pytest.mark.parametrize(
    ("address", "file"),
    [
        ("/boards/harbour", "index.html"),
        ("/boards/harbour/metrics", "metrics.html"),
        ("/boards/harbour/generators/Cleo", "generators/Cleo.html"),
        ("/boards/harbour/metrics/ROUGE-1", "metrics/ROUGE-1.html"),
        ("/boards/harbour?domain=sea", "index-domain-sea.html"),
    ],
)
def test_a_published_page_has_the_numbers_of_the_live_one(
    published: Path, live: PageSite, address: str, file: str
) -> None:
    page = (published / "boards" / "harbour" / file).read_text("utf-8")
    assert len(cells(page)) > 10
    assert without_times(cells(page)) == without_times(cells(live.get(address).text))


def test_no_page_offers_what_needs_a_server(published: Path) -> None:
    for name in pages(published):
        page = (published / name).read_text("utf-8")
        assert 'method="post"' not in page, name
        assert "/login" not in page, name
        assert 'type="module"' not in page, name
        for form in re.findall(r"<form\b[^>]*>", page):
            is_served_here = form in ('<form method="get">', '<form method="dialog">')
            assert "data-for-scripts" in form or "finding" in form or is_served_here, (name, form)


def test_a_chart_is_a_picture_with_what_a_script_needs_to_draw_it_beside(published: Path) -> None:
    chart = (published / "boards/harbour/charts/correlations.html").read_text("utf-8")
    assert '<img src="correlations.svg"' in chart
    assert (published / "boards/harbour/charts/correlations.svg").read_text("utf-8").startswith("<svg")
    named = "boards/harbour/charts/correlations.chart.js"
    assert f'data-chart="correlations.chart.js" data-name="{named}"' in chart
    files = "../../../static/vega.min.js ../../../static/vega-lite.min.js"
    assert re.search(rf'<script defer id="living" src="[^"]*/charts.js" data-files="{files}">', chart)
    assert {path.name for path in (published / "static").glob("vega*")} == {
        "vega.min.js",
        "vega-lite.min.js",
        "vega-licence.txt",
    }
    themes = read_chart((published / named).read_text("utf-8"))
    assert set(themes) == {"datasets", "light", "dark"}
    assert themes["light"] != themes["dark"]
    links = [point["href_"] for points in themes["datasets"].values() for point in points if "href_" in point]
    assert links
    assert all((published / "boards/harbour/charts" / link).resolve().is_file() for link in links)


def test_a_board_says_of_its_metrics_what_a_comparison_in_the_browser_needs(published: Path) -> None:
    text = (published / "boards/harbour/data/compared.js").read_text("utf-8")
    data = json.loads(text.split("=", 1)[1].removesuffix(";\n"))
    ranking = json.loads((published / "boards/harbour/downloads/ranking.json").read_text("utf-8"))
    assert [metric["name"] for metric in data["metrics"]] == [metric["name"] for metric in ranking["metrics"]]
    for metric, standing in zip(data["metrics"], ranking["metrics"], strict=True):
        assert metric["agreement"] == pytest.approx(standing["correlation"], rel=1e-5)
        assert (published / "boards/harbour" / metric["page"]).is_file()
    page = (published / "boards/harbour/compare.html").read_text("utf-8")
    assert COMPARED in page


def test_texts_of_a_pair_are_on_the_pages_of_instances(published: Path) -> None:
    pair = (published / "boards/harbour/compare-first-Cleo-second-late.html").read_text("utf-8")
    assert re.search(r'<a href="instances/[^"#]*\.html">texts</a>', pair)
    assert 'name="by"' not in pair


def test_whole_addresses_stand_only_where_they_must(published: Path) -> None:
    page = (published / "boards" / "harbour" / "index.html").read_text("utf-8")
    assert "https://code.example.org/b" in (published / "boards/harbour/submit.html").read_text("utf-8")
    assert '<a href="https://boards.example.org' not in page
    assert '<meta property="og:url" content="https://boards.example.org/b/boards/harbour/index.html">' in page
    assert '<meta property="og:image" content="https://boards.example.org/b/boards/harbour/preview.png">' in page
    assert 'iframe src="https://boards.example.org/b/embed/boards/harbour.html"' in page
    assert "https://boards.example.org/b/boards/harbour/index.html" in (published / "sitemap.xml").read_text("utf-8")


def test_the_data_of_the_search_hold_every_output_and_its_scores(published: Path) -> None:
    data = published / "boards" / "harbour" / "data"
    outputs = json.loads((data / "outputs.js").read_text("utf-8").partition("=")[2].rstrip(";\n"))
    assert len(outputs["instances"]) == 8
    assert [row[0] for row in outputs["rows"]] == [ODD, "Cleo", "a/b c?d#e%f", "late"]
    number = outputs["metrics"].index("chrF")
    scores = json.loads((data / f"scores-{number}.js").read_text("utf-8").partition("=")[2].rstrip(";\n"))
    assert [len(row) for row in scores["scores"]] == [8, 8, 8, 8]
    assert scores["people"][3] == [None] * 8


@pytest.mark.long
def test_publishing_again_changes_no_file(board: Path, published: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--base-url", "https://boards.example.org/b", "--submit-to", "https://code.example.org/b")
    before = {path: path.stat().st_mtime_ns for path in published.rglob("*") if path.name != LIST}
    (published / "CNAME").write_text("boards.example.org\n")
    assert main(["publish", str(board), "-o", str(published), "--draft", "--no-analyses", "--jobs", "1", *asked]) == 0
    assert "0 new, 0 changed" in capsys.readouterr().err
    after = {path: path.stat().st_mtime_ns for path in published.rglob("*") if path.name not in (LIST, "CNAME")}
    assert after == before
    assert (published / "CNAME").exists()


@pytest.mark.long
def test_a_generator_that_is_gone_takes_its_pages_along(board: Path, tmp_path: Path) -> None:
    import shutil

    own, out = tmp_path / "harbour", tmp_path / "public"
    shutil.copytree(board, own)
    assert main(["publish", str(own), "-o", str(out), *QUICK, "--instances", "2"]) == 0
    assert (out / "boards/harbour/generators/late.html").exists()
    assert len(list((out / "boards/harbour/instances").glob("*.html"))) == 2
    next(own.glob("generators/late*.jsonl")).unlink()
    assert main(["publish", str(own), "-o", str(out), *QUICK, "--instances", "none"]) == 0
    assert not (out / "boards/harbour/generators/late.html").exists()
    assert not (out / "boards/harbour/instances").exists()
    assert list(broken_links(out)) == []


def test_hidden_references_are_in_no_file(board: Path, tmp_path: Path) -> None:
    out = tmp_path / "public"
    assert main(["publish", str(board), "-o", str(out), *QUICK, "--hide", "references"]) == 0
    assert holding(out, SECRET) == []


def test_without_hiding_references_are_read_in_files_so_the_search_for_them_works(published: Path) -> None:
    names = holding(published, SECRET)
    assert "boards/harbour/downloads/board.zip" in names
    assert sum(name.startswith("boards/harbour/instances/") for name in names) == 8


def test_a_site_is_published_as_its_visitors_see_it(tmp_path: Path) -> None:
    site = page_site(tmp_path / "home")
    site.settle(hidden_references=True, hidden_judgments=True, phases=[{"name": "test", "blind": True}])
    site.work()
    site.submit("blindfold", word="xylophone")
    site.work()
    out = tmp_path / "public"
    assert main(["publish", "--site", str(site.site.data), "-o", str(out), *QUICK]) == 0
    assert holding(out, SECRET) == []
    assert holding(out, "xylophone") == []
    assert holding(out, "blindfold") == []
    page = (out / "boards" / "harbour" / "index.html").read_text("utf-8")
    assert "The references and judgments of this board are hidden" in page


def holding(folder: Path, word: str) -> list[str]:
    """The files that a word stands in, in archives and databases too."""
    names = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            parts = [path.read_bytes()]
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    parts += [archive.read(name) for name in archive.namelist()]
            if any(word.encode() in part for part in parts):
                names.append(path.relative_to(folder).as_posix())
    return names


def test_kept_rankings_of_the_folder_are_the_history(board: Path, tmp_path: Path) -> None:
    import shutil

    own, out = tmp_path / "harbour", tmp_path / "public"
    shutil.copytree(board, own)
    late = next(own.glob("generators/late*.jsonl"))
    kept = late.read_bytes()
    late.unlink()
    assert main(["rank", str(own)]) == 0
    late.write_bytes(kept)
    assert main(["publish", str(own), "-o", str(out), *QUICK, "--instances", "none", "--pairs", "0"]) == 0
    page = (out / "boards/harbour/rankings.html").read_text("utf-8")
    assert len(list((out / "boards/harbour/rankings").glob("*.html"))) == 2
    assert "late came in" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{board}"], "say where to write"),
        (["-o", "{out}"], "name board folders, or a site's data folder"),
        (["{board}", "-o", "{strange}"], "was not written by `billboards publish`"),
        (["{board}", "-o", "{board}/public"], "lies inside"),
        (["{board}", "-o", "{out}", "--instances", "some"], "write all, judged, none, or a number"),
        (["{board}", "-o", "{out}", "--base-url", "example.org"], "must begin with https://"),
        (["{board}", "-o", "{out}"], "drafts are not published"),
        (["{board}", "{board}", "-o", "{out}", "--draft"], "two boards are named harbour"),
    ],
)
def test_what_can_not_be_published_is_refused_with_the_reason(
    arguments: list[str], words: str, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "thesis.txt").write_text("mine")
    places = {"board": board, "out": tmp_path / "public", "strange": strange}
    assert main(["publish", *(argument.format(**places) for argument in arguments)]) == 2
    assert words in capsys.readouterr().err
    assert (strange / "thesis.txt").read_text() == "mine"
    assert not (tmp_path / "public").exists()
