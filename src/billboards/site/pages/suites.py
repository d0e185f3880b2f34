"""Suites: the same metrics on several boards, as tables, one ranking and pictures.

A suite whose boards are all on the site is ranked by the site itself: its page shows the latest ranking or any view of
it, with the whole choice in the address, how the order came about, and how far everything is that was sent in. Of
others the page shows what was kept when they were run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from billboards.analyses.suite.keeping import Kept, kept_document
from billboards.analyses.suite.page import suite_facts
from billboards.analyses.suite.results import Suite
from billboards.analyses.suite.shown_tables import Shown, suite_ranking_table, suite_tables
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.reading import shown, whole_number
from billboards.show.documents import dumps
from billboards.show.table import Table, TableColumn
from billboards.show.words import listed, one_line
from billboards.site.boards.live_suites import live_suites
from billboards.site.boards.suite_views import (
    SuiteAnswer,
    SuiteQuery,
    ask_suite,
    history_of,
    places_over_time,
    read_query,
    suite_entries,
)
from billboards.site.boards.suites import shown_results, site_suites
from billboards.site.pages.charts import HEAD
from billboards.site.pages.table_files import FORMATS, TABLE_OPTIONS, arranged_tables, table_file, table_options
from billboards.site.pages.timelines import STEPS, Timeline, timeline
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body
from billboards.stats.grouped import GROUPINGS
from billboards.stats.preferences import TIES
from billboards.stats.yardsticks import PRESETS, STATISTICS

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

router = APIRouter()

SHOWN: tuple[Shown, ...] = ("values", "p", "intervals")
#: Rankings listed on a page, lines in its chart, and generators in its table.
PAGE, MOST_LINES, MOST_GENERATORS = 20, 12, 100


def show_suites(ask: Ask) -> Body:
    """Every suite of the site."""
    live = live_suites(ask.site)
    return ask.page("suites", suites=[_card(ask, name, live.get(name)) for name in site_suites(ask.site, ask.viewer)])


def _card(ask: Ask, name: str, live: Suite | None) -> dict[str, Any]:
    if live is not None:
        answer = ask_suite(ask.site, live, ask.viewer, SuiteQuery.model_validate({}))
        suite, kept = live, answer.kept
    else:
        suite, kept = shown_results(ask.site, name, ask.viewer)
    rankings = () if kept is None else kept.rankings
    first = [standing.metric for ranking in rankings for standing in ranking.standings if standing.rank == 1]
    return {
        "title": _title(suite),
        "href": addresses.suite(name),
        "facts": [] if kept is None else suite_facts(kept.result),
        "leaders": ", ".join(map(one_line, dict.fromkeys(first))),
    }


def _title(suite: Suite) -> str:
    return one_line(suite.title or suite.name)


def show_suite(ask: Ask) -> Body:
    """One suite: as it is now where its boards are all here, else as it was last run."""
    suite = live_suites(ask.site).get(ask.params["suite"])
    return show_run(ask) if suite is None else _show_live(ask, suite)


def _show_live(ask: Ask, suite: Suite) -> Body:
    answer = _asked(ask, suite)
    problem, tables, options = answer.problem, list[Table](), table_options(ask.query)
    try:
        tables = arranged_tables(answer.tables(_shown(ask)), options)
    except InvalidInput as error:
        problem = str(error)
    words = _words(ask)
    history = history_of(ask.site, answer.live, limit=STEPS)
    entries = suite_entries(ask.site, suite, ask.viewer)
    sent = ask.query.get("sent", "")
    return ask.page(
        "suite",
        title=_title(suite),
        name=suite.name,
        facts=_live_facts(answer),
        first=_first(answer),
        query=answer.query,
        options={key: ask.query.get(key, "") for key in TABLE_OPTIONS},
        shown=_shown(ask),
        choices=_choices(answer),
        problem=problem,
        left_out=answer.live.left_out,
        notes=answer.live.notes,
        missing=answer.missing,
        is_behind=answer.is_behind,
        number=None if answer.snapshot is None else answer.snapshot.number,
        created=None if answer.snapshot is None else answer.snapshot.created,
        is_past=bool(ask.query.get("ranking")),
        tables=[(table, _downloads(suite, table, words)) for table in tables],
        chart=addresses.suite(suite.name, "charts", "ranking.svg", **words) if answer.ranking is not None else None,
        documents=[
            (f"/api/v1{addresses.suite(suite.name, what, **answer.query.model_dump(exclude_none=True))}", text)
            for what, text in (("ranking", "the ranking"), ("tables", "the tables"))
        ],
        history=[(snapshot, _leaders(snapshot.places)) for snapshot in history[:PAGE]],
        timeline=_timeline(history),
        entries=entries,
        boards=answer.live.boards,
        generators=_generators(ask, answer),
        just_sent=next((e for e in entries if sent and sent in {identity for identity, _ in e.states.values()}), None),
        has_run=_has_run(ask),
    )


def _asked(ask: Ask, suite: Suite) -> SuiteAnswer:
    """What the address asks of a suite."""
    named = ask.query.get("ranking") or ""
    number = whole_number(named)
    if named and number is None:
        raise InvalidInput(f"a ranking is called by its number; found {shown(named)}")
    return ask_suite(ask.site, suite, ask.viewer, read_query(ask.query), number)


def _shown(ask: Ask) -> Shown:
    asked = ask.query.get("show") or "values"
    for choice in SHOWN:
        if choice == asked:
            return choice
    raise UnknownName("thing to show", asked, SHOWN)


def _words(ask: Ask) -> dict[str, str]:
    """All that the address says of what is shown, for addresses of the same thing in another form."""
    keys = (*SuiteQuery.model_fields, *TABLE_OPTIONS, "show", "ranking")
    return {key: ask.query[key] for key in keys if ask.query.get(key)}


def _choices(answer: SuiteAnswer) -> dict[str, Sequence[str]]:
    """What each choice of the form offers; one without anything to choose from is not shown."""
    views = answer.views
    members = () if answer.live.opened is None else answer.live.opened.boards
    compared = any(member.given(name) == "preferences" for member in members for name, _ in member.dimensions)
    grouped = any(member.entry.group for member in members)
    return {
        "task": views.tasks if len(views.tasks) > 1 else (),
        "language": views.languages if len(views.languages) > 1 else (),
        "dimension": views.dimensions if len(views.dimensions) > 1 else (),
        "preset": tuple(PRESETS),
        "statistic": tuple(STATISTICS),
        "grouping": tuple(GROUPINGS),
        "ties": TIES if compared else (),
        "preferences": ("apart", "mixed") if compared else (),
        "languages": ("one", "columns") if grouped else (),
    }


def _live_facts(answer: SuiteAnswer) -> list[tuple[str, str]]:
    boards = [("boards", str(len(answer.live.boards)))]
    return boards if answer.kept is None else suite_facts(answer.kept.result)


def _first(answer: SuiteAnswer) -> str:
    """Who leads, in a sentence."""
    ranking = answer.ranking
    if ranking is None:
        return ""
    first = [one_line(standing.metric) for standing in ranking.standings if standing.rank == 1]
    over = listed([column.label for column in ranking.columns], 8)
    if len(first) == 1:
        return f"{first[0]} agrees best with people over {over}, alone in the first place."
    return f"{listed(first, 6)} share the first place over {over}: they can’t be told apart."


def _leaders(places: Mapping[str, Sequence[Any]]) -> str:
    return listed([one_line(name) for name, (rank, _) in places.items() if rank == 1], 6)


def _timeline(history: Sequence[Any]) -> Timeline | None:
    """The place of each metric, ranking by ranking; the best dozen."""
    numbers = sorted(snapshot.number for snapshot in history)
    if len(numbers) < 2:
        return None
    lines = {name: ranks for name, ranks in places_over_time(history) if any(rank is not None for rank in ranks)}
    best = sorted(lines, key=lambda name: next((rank for rank in reversed(lines[name]) if rank is not None), 0))
    return timeline({name: lines[name] for name in best[:MOST_LINES]}, numbers, ranks=True)


def _generators(ask: Ask, answer: SuiteAnswer) -> Table | None:
    """The place of every generator that is on several boards, on each of them as its page has it."""
    places: dict[str, dict[str, int | None]] = {}
    for label, live in answer.live.boards.items():
        ranking = ask.pages.look(live.name, ask.viewer).ranking
        for generator in () if ranking is None else ranking.generators:
            places.setdefault(generator.name, {})[label] = generator.rank
    several = {name: on for name, on in places.items() if len(on) > 1}
    if not several:
        return None
    order = sorted(several, key=lambda name: (-len(several[name]), _mean_rank(several[name]), name))
    columns = (
        TableColumn("name", "generator", "left", kind="name"),
        *(TableColumn(f"rank {label}", label) for label in answer.live.boards),
    )
    rows = tuple(
        {"name": name, **{f"rank {label}": rank for label, rank in several[name].items()}}
        for name in order[:MOST_GENERATORS]
    )
    notes = ("Ranks are those of each board’s own page; – is no rank there, or no outputs.",)
    return Table("Generators on several boards", columns, rows, notes, "generators")


def _mean_rank(on: Mapping[str, int | None]) -> float:
    ranks = [rank for rank in on.values() if rank is not None]
    return sum(ranks) / len(ranks) if ranks else math.inf


def _downloads(suite: Suite, table: Table, words: Mapping[str, str]) -> list[tuple[str, str]]:
    """Where a table as it is shown is found as a file, by the format's name."""
    return [
        (text, addresses.suite(suite.name, "files", f"{table.name}.{end}", **words))
        for end, (text, _) in FORMATS.items()
    ]


def send_table(ask: Ask) -> Body:
    """A table as it is shown, as a file: CSV with every column in full, LaTeX and Markdown as papers print it."""
    suite = live_suites(ask.site).get(ask.params["suite"])
    if suite is None:
        raise UnknownName("suite of this site’s boards", ask.params["suite"], live_suites(ask.site))
    tables = _asked(ask, suite).tables(_shown(ask))
    return table_file(tables, table_options(ask.query), ask.params["file"], suite.name)


def show_run(ask: Ask) -> Body:
    """A suite’s tables and ranking as they were kept when it was run."""
    suite, kept = shown_results(ask.site, ask.params["suite"], ask.viewer)
    live = suite.name in live_suites(ask.site)
    if kept is None:
        return ask.page("suite_run", title=_title(suite), name=suite.name, kept=None, live=live)
    result = kept.result
    return ask.page(
        "suite_run",
        title=_title(suite),
        name=suite.name,
        live=live,
        kept=True,
        facts=suite_facts(result),
        pearson=suite_tables(result, "pearson"),
        kendall=suite_tables(result, "kendall"),
        sure=[*suite_tables(result, "pearson", "intervals"), *suite_tables(result, "kendall", "intervals")],
        rankings=[suite_ranking_table(ranking) for ranking in kept.rankings],
        advises=kept.evidence is not None,
        difficulty=addresses.suite(suite.name, "charts", "difficulty.svg") if result.families else None,
    )


def _has_run(ask: Ask) -> bool:
    """Whether there are results of a run beside the suite's file."""
    return shown_results(ask.site, ask.params["suite"], ask.viewer)[1] is not None


def send_results(ask: Ask) -> Body:
    """A suite's results as a document."""
    return Body(dumps(kept_document(_kept(ask))).encode(), "application/json")


def show_suite_chart(ask: Ask) -> Body:
    """A picture of a suite."""
    from billboards.show.plot import to_svg

    theme: Theme = "dark" if ask.query.get("theme") == "dark" else "light"
    name = ask.params["chart"].removesuffix(".svg")
    suite = live_suites(ask.site).get(ask.params["suite"]) if name == "ranking" else None
    kept = _kept(ask) if suite is None else _asked(ask, suite).kept
    if kept is None:
        raise NotEnoughData(f"suite {ask.params['suite']} has no ranking yet")
    return Body(to_svg(_draw(kept, name, theme), titled=False).encode(), "image/svg+xml", headers=HEAD)


def _draw(kept: Kept, name: str, theme: Theme) -> alt.LayerChart:
    from billboards.analyses.suite.plots import difficulty_lines, suite_bars

    if name == "difficulty":
        return difficulty_lines(kept.result, theme=theme)
    if name == "ranking" and kept.rankings:
        return suite_bars(kept.rankings[0], theme=theme)
    raise UnknownName("chart", name, ("difficulty", "ranking"))


def _kept(ask: Ask) -> Kept:
    suite, kept = shown_results(ask.site, ask.params["suite"], ask.viewer)
    if kept is None:
        raise NotEnoughData(f"suite {suite.name} was not run yet; `billboards suite run` makes its results")
    return kept


# What a suite says changes when it is run or ranked, which no board's generation tells; it is read each time.
router.add_route("/suites", reading(show_suites, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}", reading(show_suite, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/run", reading(show_run, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/results.json", reading(send_results, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/charts/{chart}", reading(show_suite_chart, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/files/{file}", reading(send_table, kept=False), include_in_schema=False)
