"""Suites: the same metrics on several boards, as tables, one ranking and pictures, from what was kept when they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from billboards.analyses.suite.keeping import Kept, kept_document
from billboards.analyses.suite.page import suite_facts
from billboards.analyses.suite.results import Suite
from billboards.analyses.suite.shown_tables import suite_ranking_table, suite_tables
from billboards.errors import NotEnoughData, UnknownName
from billboards.show.documents import dumps
from billboards.show.words import one_line
from billboards.site.boards.suites import shown_results, site_suites
from billboards.site.pages.charts import HEAD
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

router = APIRouter()


def show_suites(ask: Ask) -> Body:
    """Every suite of the site."""
    return ask.page("suites", suites=[_card(ask, name) for name in site_suites(ask.site, ask.viewer)])


def _card(ask: Ask, name: str) -> dict[str, Any]:
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
    """One suite's tables and ranking."""
    suite, kept = shown_results(ask.site, ask.params["suite"], ask.viewer)
    if kept is None:
        return ask.page("suite", title=_title(suite), name=suite.name, kept=None)
    result = kept.result
    return ask.page(
        "suite",
        title=_title(suite),
        name=suite.name,
        kept=True,
        facts=suite_facts(result),
        pearson=suite_tables(result, "pearson"),
        kendall=suite_tables(result, "kendall"),
        sure=[*suite_tables(result, "pearson", "intervals"), *suite_tables(result, "kendall", "intervals")],
        rankings=[suite_ranking_table(ranking) for ranking in kept.rankings],
        advises=kept.evidence is not None,
        difficulty=addresses.suite(suite.name, "charts", "difficulty.svg") if result.families else None,
    )


def send_results(ask: Ask) -> Body:
    """A suite's results as a document."""
    return Body(dumps(kept_document(_kept(ask))).encode(), "application/json")


def show_suite_chart(ask: Ask) -> Body:
    """A picture of a suite."""
    from billboards.show.plot import to_svg

    theme: Theme = "dark" if ask.query.get("theme") == "dark" else "light"
    chart = _draw(_kept(ask), ask.params["chart"].removesuffix(".svg"), theme)
    return Body(to_svg(chart, titled=False).encode(), "image/svg+xml", headers=HEAD)


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


# Results change when a suite is run, which no board's generation tells; they are small and read each time.
router.add_route("/suites", reading(show_suites, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}", reading(show_suite, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/results.json", reading(send_results, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/charts/{chart}", reading(show_suite_chart, kept=False), include_in_schema=False)
