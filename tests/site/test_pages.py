"""Every page of a site, asked as its readers ask."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from page_sites import ODD, SECRET, SLASHED, PageSite, page_site

from billboards.board.folder import open_board
from billboards.site.boards import snapshots
from billboards.site.web.rendering import stylesheet_hashes

BOARD = "/boards/harbour"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    found = page_site(tmp_path_factory.mktemp("site"))
    found.work()
    return found


class Tags(HTMLParser):
    """The tags of a page with their attributes, to see that every one that opens closes."""

    VOID = frozenset(["meta", "link", "input", "img", "br", "source"]) | {"rect", "line", "path", "circle"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


PAGES = [
    "/",
    "/submissions",
    "/help",
    BOARD,
    f"{BOARD}?sort=chrF&show=ranks&order=name&hide=length&pin=ROUGE-1&find=a",
    f"{BOARD}?domain=sea&aggregate=adequacy",
    f"{BOARD}/metrics",
    f"{BOARD}/metrics?kind=statistic&find=e&sort=agreement&direction=ascending",
    f"{BOARD}/metrics/chrF",
    f"{BOARD}/metrics/chrF?firm=yes",
    f"{BOARD}/metrics/ROUGE-1",
    f"{BOARD}/generators/{quote(ODD, safe='')}",
    f"{BOARD}/generators/{quote(SLASHED, safe='')}",
    f"{BOARD}/instances",
    f"{BOARD}/instances?text=ferry&sort=disagreement&metric=chrF&low=0&people_low=0&disputed=0.1",
    f"{BOARD}/instances/i%2F0",
    f"{BOARD}/instances/i%2F0?against=late&metric=chrF",
    f"{BOARD}/compare",
    f"{BOARD}/compare?first={quote(ODD)}&second=late",
    f"{BOARD}/compare?first={quote(ODD)}&second={quote(SLASHED)}&by=chrF",
    f"{BOARD}/compare?first=chrF&second=ROUGE-1",
    f"{BOARD}/ensembles",
    f"{BOARD}/rankings",
    f"{BOARD}/rankings/1",
    f"{BOARD}/submissions",
    f"{BOARD}/downloads",
    f"{BOARD}/submit",
    f"{BOARD}/submit/generator",
    f"{BOARD}/submit/metric",
]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_escapes_every_name(small: PageSite, path: str) -> None:
    answer = small.get(path)
    assert answer.status_code == 200
    page = Tags(answer.text)
    assert page.open == []
    assert "<b>" not in re.sub(r"<b>[\d.,–-]+</b>", "", answer.text)
    tags = [tag for tag, _ in page.found]
    assert (tags.count("h1"), tags.count("main"), tags.count("title")) == (1, 1, 1)
    identities = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(identities) == len(set(identities))


@pytest.mark.parametrize("path", PAGES)
def test_no_page_carries_a_script_or_style_that_the_content_policy_forbids(small: PageSite, path: str) -> None:
    answer = small.get(path)
    policy = answer.headers["content-security-policy"]
    assert f"style-src {' '.join(f'{chr(39)}{one}{chr(39)}' for one in stylesheet_hashes())};" in policy
    assert "unsafe" not in policy
    for tag, attributes in Tags(answer.text).found:
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        if tag == "script":
            assert str(attributes["src"]).startswith("/static/")


@pytest.mark.long
def test_every_link_of_the_board_leads_somewhere(small: PageSite) -> None:
    seen: set[str] = set()
    waiting = [BOARD]
    while waiting and len(seen) < 120:
        path = waiting.pop()
        if path in seen or path.startswith(("/login", "/account")):
            continue
        seen.add(path)
        answer = small.get(path)
        # 202: the page of a matching asks again, as long as its model is being loaded; 409: too many wait already.
        for _ in range(120):
            if answer.status_code != 409 or "/matching/" not in path:
                break
            time.sleep(0.5)
            answer = small.get(path)
        assert answer.status_code in (200, 202), path
        if "html" in answer.headers["content-type"]:
            found = Tags(answer.text).found
            links = [str(attributes["href"]) for tag, attributes in found if tag == "a" and "href" in attributes]
            waiting += [link.partition("#")[0] for link in links if link.startswith("/")]
    assert len(seen) > 40


def test_every_page_of_a_draft_and_its_facts_for_programs_say_that_it_is_one(small: PageSite) -> None:
    missing = ["source", "licence", "citation", "protocol", "annotators"]
    for path in (BOARD, f"{BOARD}/card", f"{BOARD}/metrics/chrF"):
        assert f"This board is a draft: its data card lacks {', '.join(missing)}" in small.get(path).text
    facts = small.get("/api/v1/boards/harbour").json()
    assert facts["draft"][: len(missing)] == missing


def test_a_generator_that_is_a_person_is_marked_and_shared_ranks_are_told(small: PageSite) -> None:
    page = small.get(BOARD).text
    assert re.search(r'<tr class="human[^"]*" data-name="Cleo">', page)
    assert page.count('<span class="tag human">human</span>') == 1
    assert 'role="tooltip"' in page
    assert "Say when it leaves." in page


@pytest.mark.parametrize("asker", [None, "owner"])
def test_a_board_whose_ranking_says_all_there_is_has_nothing_pending(small: PageSite, asker: str | None) -> None:
    page = small.get(BOARD, asker).text
    assert "ranked anew" not in page
    assert 'id="changed"' not in page


def test_sorting_works_by_link_alone(small: PageSite) -> None:
    page = small.get(f"{BOARD}?sort=length&direction=ascending").text
    keys = re.findall(r'<th scope="col" class="[^"]*"[^>]* data-key="([^"]+)">', page)
    rows = re.findall(r"<tr class=\"[^\"]*\" data-name.*?</tr>", page, re.DOTALL)
    place = keys.index("length") - 1
    values = [float(re.findall(r'data-value="([^"]*)"', row)[place]) for row in rows]
    assert values == sorted(values)
    assert len(set(values)) == 4
    assert 'aria-sort="ascending" data-key="length"' in page


def test_an_order_that_is_not_there_is_refused_in_words(small: PageSite) -> None:
    answer = small.get(f"{BOARD}?order=size")
    assert answer.status_code == 422
    assert "correlation, overrating, name" in answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/boards/none", 404),
        ("/boards/none/events", 404),
        (f"{BOARD}/metrics/none", 404),
        (f"{BOARD}/generators/none", 404),
        (f"{BOARD}/instances/none", 404),
        (f"{BOARD}/instances?low=x", 422),
        (f"{BOARD}/instances?low=nan", 422),
        (f"{BOARD}/instances?sort=x", 404),
        (f"{BOARD}/instances?page=1e400", 422),
        (f"{BOARD}/compare?first=chrF&second=late", 422),
        (f"{BOARD}/compare?first=late&second=late", 422),
        (f"{BOARD}/rankings/99", 404),
        (f"{BOARD}/rankings/99999999999999999999", 404),
        (f"{BOARD}/charts/none.svg", 404),
        (f"{BOARD}/downloads/none", 404),
        (f"{BOARD}/badges/generators/none.svg", 404),
        (f"{BOARD}/ensembles/none", 404),
        (f"{BOARD}?domain=nowhere", 404),
        (f"{BOARD}?references=none", 404),
        ("/submissions/none", 404),
        ("/static/0/board.js", 404),
    ],
)
def test_what_is_not_there_is_said_in_words(small: PageSite, path: str, status: int) -> None:
    answer = small.get(path)
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_program_that_asks_for_json_gets_a_problem_document(small: PageSite) -> None:
    answer = small.client.get("/boards/none", headers={"accept": "application/json"})
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 404
    assert "harbour" in answer.json()["detail"]


def test_a_page_that_a_browser_has_is_not_sent_again_until_the_board_changes(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    first = small.get(f"{BOARD}/metrics")
    assert "no ranking yet" in first.text
    etag = first.headers["etag"]
    again = small.get(f"{BOARD}/metrics", **{"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == etag
    small.work()
    after = small.get(f"{BOARD}/metrics", **{"if-none-match": etag})
    assert after.status_code == 200
    assert after.headers["etag"] != etag
    assert "no ranking yet" not in after.text


def test_a_page_kept_for_one_name_is_not_shown_for_another_that_ends_otherwise(small: PageSite) -> None:
    kept = f"{BOARD}/generators/{quote(SLASHED, safe='')}"
    other = f"{BOARD}/generators/{quote(SLASHED.replace('#e', '#other'), safe='')}"
    assert [small.get(path).status_code for path in (kept, other, kept)] == [200, 404, 200]


def test_pages_come_compressed_to_who_can_read_that(small: PageSite) -> None:
    for _ in range(2):
        plain = small.get(BOARD, **{"accept-encoding": "identity"})
        packed = small.get(BOARD, **{"accept-encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == plain.content
        assert int(packed.headers["content-length"]) < len(plain.content) / 3


def test_the_first_view_needs_nothing_beside_the_page(small: PageSite) -> None:
    found = Tags(small.get(BOARD).text).found
    waits = [
        attributes
        for tag, attributes in found
        if (tag == "link" and attributes["rel"] == "stylesheet")
        or (tag == "script" and attributes.get("type") != "module")
        or (tag == "img" and attributes.get("loading") != "lazy")
    ]
    assert waits == []


def test_a_part_of_the_board_is_ranked_anew(small: PageSite) -> None:
    page = small.get(f"{BOARD}?domain=sea").text
    assert "Ranked again on domain sea" in page
    assert "8 judged outputs" not in page


def test_outputs_of_an_instance_are_marked_against_a_reference(small: PageSite) -> None:
    page = small.get(f"{BOARD}/instances/i%2F0").text
    assert f"<del>{SECRET}</del>" in page
    assert "only in Ada" in page


def test_best_and_worst_outputs_are_told_by_people_where_they_judged_and_by_the_leader_elsewhere(
    small: PageSite,
) -> None:
    assert "Best outputs by people" in small.get(f"{BOARD}/generators/Cleo").text
    late = small.get(f"{BOARD}/generators/late").text
    assert re.search(r"Worst outputs by (ensemble|chrF|ROUGE-1)", late)
    assert "Best outputs by people" not in late


def test_scripts_and_pictures_may_be_kept_for_ever_under_their_digest(small: PageSite) -> None:
    address = re.search(r'src="(/static/[0-9a-f]{12}/board.js)"', small.get(BOARD).text)
    assert address is not None
    answer = small.get(address[1])
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("chart", ["correlations", "overrating", "people", "swaps", "scatter/chrF"])
def test_charts_are_pictures_for_light_and_dark(small: PageSite, chart: str) -> None:
    light, dark = (small.get(f"{BOARD}/charts/{chart}.svg?theme={theme}") for theme in ("light", "dark"))
    assert light.headers["content-type"] == "image/svg+xml"
    assert light.text.startswith("<svg")
    assert light.text != dark.text


def test_badges_say_the_rank_and_the_leading_metric(small: PageSite) -> None:
    with small.site.database.reading() as connection:
        kept = snapshots.latest(connection, "harbour")
        assert kept is not None
        ranking = snapshots.ranking(connection, kept)
    first = ranking.generators[0].name
    answer = small.get(f"{BOARD}/badges/generators/{quote(first, safe='')}.svg")
    assert re.search(r"#1=? of \d", answer.text)
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    lead = "ensemble" if ranking.ranked_by == "ensemble" else str(ranking.ranked_by)
    assert lead in small.get(f"{BOARD}/badges/metric.svg").text


def test_downloads_hold_every_score_with_full_precision_and_nothing_for_missing(small: PageSite) -> None:
    rows = list(csv.DictReader(io.StringIO(small.get(f"{BOARD}/downloads/scores.csv").text)))
    assert len(rows) == 32
    assert {row["generator"] for row in rows} == {ODD, SLASHED, "late", "Cleo"}
    assert {row["people"] for row in rows if row["generator"] == "late"} == {""}
    lines = [json.loads(line) for line in small.get(f"{BOARD}/downloads/scores.jsonl").text.splitlines()]
    assert [float(row["chrF"]) for row in rows] == [line["chrF"] for line in lines]
    assert {line["people"] for line in lines if line["generator"] == "late"} == {None}
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(small.get(f"{BOARD}/downloads/scores.parquet").content))
    assert table.column("chrF").to_pylist() == [line["chrF"] for line in lines]


def test_the_board_can_be_downloaded_as_a_folder_that_opens(small: PageSite, tmp_path: Path) -> None:
    answer = small.get(f"{BOARD}/downloads/board.zip")
    assert answer.headers["content-disposition"] == 'attachment; filename="harbour-board.zip"'
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(tmp_path)
    (registered,) = small.site.boards()
    assert open_board(tmp_path / "harbour").version == open_board(registered.folder).version


def test_everything_holds_the_folder_and_every_table(small: PageSite) -> None:
    names = zipfile.ZipFile(io.BytesIO(small.get(f"{BOARD}/downloads/everything.zip").content)).namelist()
    assert "harbour/board.toml" in names
    assert {f"harbour-results/{name}" for name in ("scores.csv", "ranking.json", "metrics.tex", "overrating.json")} <= {
        *names
    }


@pytest.mark.parametrize("name", ["generators.csv", "generators.tex", "metrics.csv", "metrics.tex", "ranking.json"])
def test_tables_can_be_downloaded(small: PageSite, name: str) -> None:
    assert "chrF" in small.get(f"{BOARD}/downloads/{name}").text


def test_the_choice_of_two_rankings_leads_to_their_difference(small: PageSite) -> None:
    answer = small.get(f"{BOARD}/changes?since=1&ranking=1")
    assert answer.headers["location"] == f"{BOARD}/rankings/1?since=1"
    assert "No place changed" in small.get(answer.headers["location"]).text


def test_a_site_that_does_not_know_its_address_says_what_to_put_before_the_slash(small: PageSite) -> None:
    assert small.site.settings.base_url == ""
    assert "Write the address of this site before the first slash." in small.get(BOARD).text
