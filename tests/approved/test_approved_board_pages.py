"""What every page of a board shows to its readers, in any order and part that an address can ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from approving import approve
from page_sites import ODD, SLASHED
from read_sites import ReadSite, read_site
from told_pages import headers_of, main_lines, page_lines, told, unlike

ASKERS = ("visitor", "annotator", "stranger", "team", "owner")
BAY = "/boards/bay"


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> ReadSite:
    return read_site(tmp_path_factory.mktemp("read"))


def named(name: str) -> str:
    return quote(name, safe="")


def page(read: ReadSite, path: str, asker: str = "visitor", *, whole: bool = False) -> list[str]:
    """What a page shows; its status and what is special about it come first."""
    answer = read.get(path, asker)
    kind = answer.headers.get("content-type", "")
    if "html" not in kind:
        return [f"{answer.status_code} {headers_of(answer)}", *map(str, told(answer)["content"] or [])]
    lines = page_lines(answer.text) if whole else main_lines(answer.text)
    return lines if answer.status_code == 200 else [f"{answer.status_code} {headers_of(answer)}", *lines]


def ways(read: ReadSite, base: str, queries: Iterable[str], asker: str = "visitor") -> dict[str, Any]:
    """A page, and what is unlike it where an address asks for something else."""
    usual = page(read, base, asker)
    others = {query: page(read, f"{base}?{query}", asker) for query in queries}
    return {base: usual} | {
        query: lines if is_fault(lines) else unlike(usual, lines) for query, lines in others.items()
    }


def is_fault(lines: Sequence[str]) -> bool:
    """Whether a page says what went wrong."""
    return lines[0][:4].strip().isdecimal() and not lines[0].startswith("200")


def by_reader(read: ReadSite, path: str, askers: Iterable[str] = ASKERS) -> dict[str, Any]:
    """A page as the first reader sees it, and what is unlike it for the others."""
    first, *others = askers
    usual = page(read, path, first)
    return {first: usual} | {asker: unlike(usual, page(read, path, asker)) for asker in others}


#: How a reader may want the table, rightly and wrongly.
TABLES = (
    "sort=generator",
    "sort=people&direction=ascending",
    "sort=errors",
    "sort=latency+%28s%29&direction=descending",
    "sort=people%3Adefects",
    "sort=nothing",
    "direction=up",
    "order=overrating&find=gull",
    "order=name&columns=all&find=gull",
    "order=best",
    "show=ranks",
    "show=values",
    "hide=chrF&hide=people&pin=TER&pin=errors&pin=TER",
    "hide=ensemble&sort=ensemble",
    "pin=nothing",
    "columns=all",
    "columns=some",
    "find=e",
    "find=%20GULL%20",
    "find=zzz",
    "page=2",
    "page=0",
    "page=x",
    "unknown=word",
)


#: Parts of a board, ranked anew.
PARTS = (
    "domain=sky",
    "tag=with+numbers&by=people",
    "aggregate=none",
    "references=Ben",
    "references=Zoe",
    "by=ensemble",
    "by=nothing",
)


def test_a_part_of_a_board_is_ranked_as_approved(read: ReadSite) -> None:
    approve("pages/parts", ways(read, BAY, PARTS) | {BAY: "as the whole table"})


def test_the_table_of_a_board_is_as_approved_however_it_is_asked_for(read: ReadSite) -> None:
    approve("pages/table", ways(read, BAY, TABLES))


def test_everybody_sees_of_a_board_what_was_approved(read: ReadSite) -> None:
    usual = page(read, BAY, whole=True)
    seen: dict[str, Any] = {"visitor": [line for line in usual if line not in set(page(read, BAY))]}
    seen |= {asker: unlike(usual, page(read, BAY, asker, whole=True)) for asker in ASKERS}
    for name in ("cove", "bare", "pairs"):
        seen[name] = by_reader(read, f"/boards/{name}", ("visitor", "team", "owner"))
    approve("pages/readers", seen)


METRICS = (
    *(f"sort={sort}" for sort in ("metric", "agreement", "within", "overrating", "weight", "speed", "price")),
    "sort=rank&direction=descending",
    "sort=beauty",
    "direction=up",
    *(f"kind={kind}" for kind in ("reference", "reference-free", "learned", "judge", "submitted", "imported")),
    "kind=statistic&find=LEN",
    "kind=flagged&sort=metric",
    "kind=odd",
    "find=zzz",
    "page=2",
)


def test_the_metrics_of_a_board_are_listed_as_approved(read: ReadSite) -> None:
    seen: dict[str, Any] = ways(read, f"{BAY}/metrics", METRICS)
    seen["readers"] = by_reader(read, "/boards/cove/metrics", ("visitor", "stranger", "owner"))
    seen["nothing"] = page(read, "/boards/bare/metrics")
    seen["pairs"] = page(read, "/boards/pairs/metrics")
    approve("pages/metrics", seen)


def test_the_page_of_each_metric_is_as_approved(read: ReadSite) -> None:
    names = ("chrF", "chrF (own)", "TER", "ROUGE-1", "length", "errors", "sonar")
    usual = page(read, f"{BAY}/metrics/COMET")
    seen = {"COMET": usual} | {name: unlike(usual, page(read, f"{BAY}/metrics/{named(name)}")) for name in names}
    firm = unlike(page(read, f"{BAY}/metrics/TER"), page(read, f"{BAY}/metrics/TER?firm=yes"))
    others = {
        path: page(read, path, asker)
        for path, asker in (
            (f"{BAY}/metrics/ensemble", "visitor"),
            (f"{BAY}/metrics/nothing", "visitor"),
            (f"{BAY}/metrics/sonar", "stranger"),
            ("/boards/cove/metrics/chrF", "visitor"),
            ("/boards/bare/metrics/chrF", "visitor"),
            ("/boards/pairs/metrics/chrF", "visitor"),
            ("/boards/cove/metrics/ROUGE-1", "owner"),
        )
    }
    others = {path: lines if is_fault(lines) else unlike(usual, lines) for path, lines in others.items()}
    approve("pages/metric", {**seen, "firm": firm, **others})


def test_the_page_of_each_generator_is_as_approved(read: ReadSite) -> None:
    names = (ODD, SLASHED, "heron", "ibis", "late", "climber", "Cleo", "Dana", "boat", "copycat")
    usual = page(read, f"{BAY}/generators/gull")
    seen: dict[str, Any] = {"gull": usual}
    seen |= {name: unlike(usual, page(read, f"{BAY}/generators/{named(name)}")) for name in names}
    seen["gone"] = page(read, f"{BAY}/generators/gone", "stranger")
    boat = page(read, f"{BAY}/generators/boat")
    for asker in ASKERS[1:]:
        seen[f"boat, {asker}"] = unlike(boat, page(read, f"{BAY}/generators/boat", asker))
        seen[f"veiled, {asker}"] = page(read, f"{BAY}/generators/{read.submissions['veiled'].public_name}", asker)[:40]
    for path, asker in (
        ("/boards/cove/generators/diver", "visitor"),
        ("/boards/cove/generators/late", "owner"),
        ("/boards/bare/generators/only", "visitor"),
        ("/boards/long/generators/m100", "visitor"),
    ):
        seen[path] = unlike(usual, page(read, path, asker))
    approve("pages/generators", seen)


SEARCHES = (
    "text=FERRY&sort=disagreement&metric=COMET&generator=gull",
    "text=ferry&within=source&generator=gull",
    "text=zyxwvut&within=reference&domain=land&generator=ibis",
    "text=island&within=output&sort=best&metric=errors&document=notice+0",
    "within=nowhere",
    "metric=errors&low=-3&high=-1&sort=worst",
    "metric=TER&versus=chrF&sort=disagreement&disputed=0.5&generator=heron",
    "metric=TER&versus=TER",
    "metric=nothing",
    "versus=nothing",
    "people_low=60&people_high=80&sort=kinder&tag=short",
    "people_low=60&people_high=x",
    "low=1e16",
    "low=-1e15&judgment=judged&sort=harsher&generator=Cleo",
    "judgment=unjudged&generator=late&tag=short",
    "judgment=errors&tag=short&generator=gull",
    "judgment=odd",
    "document=notice+2&tag=with+numbers&generator=boat",
    "document=nothing",
    "generator=nobody",
    "sort=odd",
    "page=2",
    "page=99&generator=gull",
    "page=0",
    "page=-1.5",
    "text=zzz&low=5",
    "metric=ensemble&high=70&generator=heron",
)


def test_outputs_are_found_as_approved(read: ReadSite) -> None:
    seen: dict[str, Any] = ways(read, f"{BAY}/instances", SEARCHES)
    for board in ("cove", "bare"):
        seen[board] = page(read, f"/boards/{board}/instances")
    approve("pages/outputs", seen)


def test_the_page_of_an_instance_is_as_approved(read: ReadSite) -> None:
    first, second = f"{BAY}/instances/{named('No. 0?')}", f"{BAY}/instances/{named('i/4')}"
    queries = (
        "against=Ben",
        f"against={named(ODD)}&metric=errors",
        "metric=people",
        "metric=none",
        "against=none",
        "page=2",
    )
    seen: dict[str, Any] = ways(read, first, queries)
    seen["another"] = unlike(seen[first], page(read, second))
    seen["last"] = page(read, f"{BAY}/instances/{named('i/11')}")[:30]
    for path, asker in (
        (f"{BAY}/instances/nothing", "visitor"),
        ("/boards/cove/instances/i%2F0", "visitor"),
        ("/boards/cove/instances/i%2F0", "owner"),
        ("/boards/bare/instances/1", "visitor"),
        ("/boards/pairs/instances/pairs-1", "visitor"),
        ("/boards/long/instances/i1?page=2", "visitor"),
    ):
        seen[f"{path} {asker}"] = page(read, path, asker)
    approve("pages/instance", seen)


COMPARED = (
    f"first={quote(ODD)}&second=gull",
    "of=gull&of=heron&by=COMET",
    "of=gull&of=heron&of=Cleo&of=late&instance=i%2F4&against=late",
    "of=gull&of=heron&instance=nothing",
    "of=gull&of=heron&against=nothing",
    "first=chrF&second=TER",
    "of=COMET&of=errors&of=sonar",
    "first=chrF&second=gull",
    "first=gull&second=gull",
    "first=gull",
    "first=nobody&second=gull",
    "of=gull&of=ibis&by=nothing",
    "of=people&of=chrF",
    "of=ensemble&of=COMET",
)


def test_entries_are_set_side_by_side_as_approved(read: ReadSite) -> None:
    usual = page(read, f"{BAY}/compare?{COMPARED[0]}")
    seen: dict[str, Any] = {"nobody": page(read, f"{BAY}/compare"), "usual": usual}
    others = {query: page(read, f"{BAY}/compare?{query}") for query in COMPARED[1:]}
    others["hidden"] = page(read, f"/boards/cove/compare?first={quote(ODD)}&second=late")
    others["compared"] = page(read, "/boards/pairs/compare?first=good&second=poor")
    seen |= {query: lines if is_fault(lines) else unlike(usual, lines) for query, lines in others.items()}
    approve("pages/compare", seen)


PAST = ("since=1", "since=7", "since=99", "since=x", "show=ranks&find=gull")


def test_what_was_before_is_told_as_approved(read: ReadSite) -> None:
    seen: dict[str, Any] = ways(read, f"{BAY}/rankings", ("before=3", "before=x", "line=gull", "line=nobody"))
    usual = page(read, f"{BAY}/rankings/1")
    seen["first"] = unlike(page(read, BAY), usual)
    for number in (2, 3, 4, 5, 6, 7):
        usual, before = page(read, f"{BAY}/rankings/{number}"), usual
        seen[f"ranking {number}"] = unlike(before, usual)
    seen |= ways(read, f"{BAY}/rankings/7", PAST) | {f"{BAY}/rankings/7": "as ranking 7"}
    seen["missing"] = page(read, f"{BAY}/rankings/99")
    seen["odd"] = page(read, f"{BAY}/rankings/none")
    seen["changes"] = page(read, f"{BAY}/changes?ranking=7&since=2")
    seen["no changes"] = page(read, f"{BAY}/changes")
    seen |= ways(read, f"{BAY}/ensembles", ("before=0~x", "before=x"))
    seen["no ensemble"] = page(read, f"{BAY}/ensembles/nothing")
    seen["cove"] = by_reader(read, "/boards/cove/rankings", ("visitor", "owner"))
    seen["cove, one"] = unlike(usual, page(read, "/boards/cove/rankings/1"))
    seen["cove, one, owner"] = unlike(
        page(read, "/boards/cove/rankings/1"), page(read, "/boards/cove/rankings/1", "owner")
    )
    seen["cove, ensembles"] = by_reader(read, "/boards/cove/ensembles", ("visitor", "owner"))
    for path in ("rankings", "ensembles"):
        seen[f"bare, {path}"] = page(read, f"/boards/bare/{path}")
    approve("pages/history", seen)


def test_cards_and_downloads_are_as_approved(read: ReadSite) -> None:
    seen: dict[str, Any] = {}
    for board in ("bay", "bare", "cove", "pairs"):
        for end in ("card", "card.md", "card.json", "about"):
            path = f"/boards/{board}/{end}"
            seen[path] = told(read.get(path))
    for asker in ("visitor", "owner"):
        lines = [line for line in page(read, f"{BAY}/downloads", asker) if "arquet" not in line]
        seen[f"downloads, {asker}"] = lines
    approve("pages/cards", seen)


FILES = (
    *("generators.csv", "generators.tex", "metrics.csv", "metrics.tex", "overrating.csv", "overrating.tex"),
    *("signed-ranking.json", "board.zip", "everything.zip", "nothing.csv", "outputs.jsonl"),
)


def test_files_are_as_approved(read: ReadSite) -> None:
    seen: dict[str, Any] = {}
    for file in FILES:
        seen[file] = told(read.get(f"{BAY}/downloads/{file}"))
    seen["signed-ranking.json"]["content"] = sorted(seen["signed-ranking.json"]["content"])
    seen["outputs.jsonl"]["content"] = seen["outputs.jsonl"]["content"][:14]
    for file in ("generators.csv", "metrics.csv", "scores.csv", "board.zip", "overrating.tex"):
        for asker in ("visitor", "owner"):
            seen[f"cove, {asker}, {file}"] = told(read.get(f"/boards/cove/downloads/{file}", asker))
        seen[f"bare, {file}"] = told(read.get(f"/boards/bare/downloads/{file}"))
    approve("pages/files", seen)


CHARTS = (
    *("people", "correlations", "overrating", "swaps", "scatter/COMET", "scatter/people", "nothing"),
    *("scatter?x=chrF&y=chrF", "scatter?x=nothing", "scatter?x=latency+%28s%29&y=COMET", "scatter?draw=density"),
    *("scatter?draw=dots", "scatter?colour=generator&draw=points", "correlations?page=2", "scatter?page=2"),
)


def test_the_page_of_each_chart_is_as_approved(read: ReadSite) -> None:
    pytest.importorskip("altair")
    usual = page(read, f"{BAY}/charts/scatter")
    seen: dict[str, Any] = {"scatter": usual}
    for chart in CHARTS:
        lines = page(read, f"{BAY}/charts/{chart}")
        seen[chart] = lines if is_fault(lines) or "scatter" not in chart else unlike(usual, lines)
    for board in ("cove", "pairs", "bare"):
        for chart in ("correlations", "people") + (("scatter",) if board != "cove" else ()):
            seen[f"{board}, {chart}"] = page(read, f"/boards/{board}/charts/{chart}")
    for chart in ("people", "overrating", "swaps"):
        seen[f"{chart}.data.json"] = told(read.get(f"{BAY}/charts/{chart}.data.json"))
        seen[f"{chart}.csv"] = told(read.get(f"{BAY}/charts/{chart}.csv"))
    approve("pages/charts", seen)


def test_what_others_embed_is_as_approved(read: ReadSite) -> None:
    embed = "/embed/boards/bay"
    queries = (
        *("rows=1", "rows=100", "rows=101", "rows=0", "rows=x", "side=metrics", "side=metrics&rows=2&theme=dark"),
        *("side=people", "theme=light", "theme=grey"),
    )
    seen: dict[str, Any] = ways(read, embed, queries)
    for board in ("cove", "bare", "pairs"):
        seen[board] = page(read, f"/embed/boards/{board}?side=metrics")
        seen[f"{board}, badge"] = page(read, f"/boards/{board}/badges/metric.svg")
    places = ("metric.svg", "metrics/TER.svg", "metrics/nothing.svg", "rankings/1.svg", "rankings/99.svg", "rankings/x")
    for place in (*places, "metrics/length.svg", "metrics/ROUGE-1.svg", "metrics/chrF.svg"):
        seen[place] = told(read.get(f"{BAY}/badges/{place}"))
    for name in (ODD, SLASHED, "Cleo", "late", "nobody"):
        seen[name] = told(read.get(f"{BAY}/badges/generators/{named(name)}.svg"))
    approve("pages/embedded", seen)


def test_a_long_list_is_cut_into_pages_as_approved(read: ReadSite) -> None:
    long = "/boards/long"
    usual = page(read, long)
    last = page(read, f"{long}?page=2")
    seen: dict[str, Any] = {"first": [line for line in usual if "data-name" not in line], "second": last}
    for query in ("page=3", "page=2&show=ranks", "page=2&sort=generator", "find=m10", "find=m100&page=2"):
        seen[query] = unlike(last, page(read, f"{long}?{query}"))
    seen["names"] = [line[:60] for line in usual if "data-name" in line]
    approve("pages/long", seen)


def answers(read: ReadSite, paths: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    return {f"{path} {asker}": page(read, path, asker) for path, askers in paths.items() for asker in askers}


def test_the_pages_of_the_whole_site_are_as_approved(read: ReadSite) -> None:
    seen: dict[str, Any] = {"/, whole": page(read, "/", whole=True)}
    for path in ("/", "/submissions", f"{BAY}/submissions", "/boards/cove/submissions", f"{BAY}/submit"):
        seen[path] = by_reader(read, path)
    seen |= answers(
        read,
        {
            "/?page=2": ("visitor",),
            "/?page=x": ("visitor",),
            "/help": ("visitor",),
            "/nothing": ("visitor", "owner"),
            "/boards/nothing": ("visitor",),
            f"{BAY}/nothing": ("visitor",),
            f"{BAY}/progress": ("visitor",),
            "/boards/bare/progress": ("visitor",),
            "/suites": ("visitor",),
            "/suites/nothing": ("visitor",),
            "/advice": ("visitor",),
            "/advice?task=translation&language=en&references=no&cost=instant": ("visitor",),
            "/advice?task=nothing": ("visitor",),
            "/advice?references=maybe": ("visitor",),
            "/advice?cost=much": ("visitor",),
            f"/advice?task={'x' * 101}": ("visitor",),
            "/boards/bare/submit/scores": ("team",),
            f"{BAY}/submit/generator": ("visitor", "team"),
            f"{BAY}/submit/metric": ("team",),
            f"{BAY}/submit/scores": ("team",),
            f"{BAY}/submit/address": ("team",),
        },
    )
    approve("pages/site", seen)
