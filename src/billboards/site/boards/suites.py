"""The suites of a site: files in DATA/suites, those that site.toml names, and those given when it was started.

A site shows what a suite said when it was last run (`billboards suite run`), from the results kept beside its file, and
computes nothing. Results hold numbers and names; the one place where they could quote a text or a path is the reason
why a metric failed, so only owners are told reasons. Numbers of boards that keep their judgments hidden are rounded.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from billboards.analyses.suite.evidence import Evidence
from billboards.analyses.suite.keeping import Kept, read_results
from billboards.analyses.suite.results import Measure, Suite, SuiteCell, SuiteRanking
from billboards.analyses.suite.settings import read_suite
from billboards.errors import InvalidInput, UnknownName
from billboards.site.accounts.access import Viewer
from billboards.site.boards.live import folder_board, hides_judgments
from billboards.site.settings import read_board_settings
from billboards.site.site import Site
from billboards.stats.bootstrap import Interval
from billboards.stats.disclosure import FEW, round_significant, round_to

FOLDER = "suites"


def suite_files(site: Site) -> tuple[Path, ...]:
    """Every suite's file, each once; none where only some boards are published."""
    if site.published is not None and site.published.only is not None:
        return ()
    inside = sorted((site.data / FOLDER).glob("*.toml"))
    named = [site.data / path for path in site.settings.suites]
    return tuple(dict.fromkeys(path.absolute() for path in (*inside, *named, *site.suites)))


def site_suites(site: Site, viewer: Viewer | None = None) -> dict[str, Suite]:
    """The suites by name; of two of one name, the first. A file with mistakes is passed over but for owners."""
    suites: dict[str, Suite] = {}
    for path in suite_files(site):
        try:
            suite = read_suite(path)
        except InvalidInput:
            if viewer is None or viewer.audience == "owners":
                raise
            continue
        suites.setdefault(suite.name, suite)
    return suites


def shown_results(site: Site, name: str, viewer: Viewer) -> tuple[Suite, Kept | None]:
    """A suite and what it said last, as a viewer may see it; only owners are told where a file is broken."""
    suites = site_suites(site, viewer)
    if name not in suites:
        raise UnknownName("suite", name, suites)
    if viewer.audience == "owners":
        return suites[name], read_results(suites[name])
    try:
        kept = read_results(suites[name])
    except InvalidInput:
        kept = None
    if kept is None:
        return suites[name], None
    kept = _without_reasons(kept)
    return suites[name], _rounded(kept) if _hides_judgments(site, suites[name]) else kept


def _hides_judgments(site: Site, suite: Suite) -> bool:
    """Whether a board of a suite is one of the site's that keeps its judgments hidden."""
    folders = {board.folder.resolve() for board in suite.boards}
    return any(
        hides_judgments(read_board_settings(registered.settings), folder_board(site, registered))
        for registered in site.boards()
        if Path(registered.folder).resolve() in folders
    )


def _rounded(kept: Kept) -> Kept:
    """Results with the digits that may be told of hidden judgments."""
    result = kept.result
    return replace(
        kept,
        result=replace(
            result,
            cells=tuple(map(_rounded_cell, result.cells)),
            parts=tuple(map(_rounded_cell, result.parts)),
            averages=tuple(replace(average, value=round_to(average.value, FEW)) for average in result.averages),
            families=tuple(replace(point, value=round_to(point.value, FEW)) for point in result.families),
        ),
        rankings=tuple(map(_rounded_ranking, kept.rankings)),
        evidence=None if kept.evidence is None else _rounded_evidence(kept.evidence),
    )


def _rounded_evidence(evidence: Evidence) -> Evidence:
    """Agreements with the digits that may be told, and without what resampling said of two metrics together."""
    boards = tuple(
        replace(
            board,
            values=tuple(round_to(value, FEW) for value in board.values),
            errors=tuple(round_significant(error) for error in board.errors),
            correlations=(),
        )
        for board in evidence.boards
    )
    return replace(evidence, boards=boards)


def _rounded_ranking(ranking: SuiteRanking) -> SuiteRanking:
    standings = tuple(
        replace(
            standing,
            value=_told(standing.value),
            interval=None if standing.interval is None else _told_interval(standing.interval),
            values={column: _told(value) for column, value in standing.values.items()},
        )
        for standing in ranking.standings
    )
    p = {a: {b: None if p is None else round_significant(p) for b, p in row.items()} for a, row in ranking.p.items()}
    return replace(ranking, standings=standings, p=p)


def _told(value: float | None) -> float | None:
    return None if value is None else round_to(value, FEW)


def _told_interval(interval: Interval) -> Interval:
    return round_to(interval[0], FEW), round_to(interval[1], FEW)


def _rounded_cell(cell: SuiteCell) -> SuiteCell:
    measures = {
        statistic: Measure(
            value=round_to(measure.value, FEW),
            p=None if measure.p is None else round_significant(measure.p),
            se=None if measure.se is None else round_significant(measure.se),
            interval=None if measure.interval is None else _told_interval(measure.interval),
        )
        for statistic, measure in cell.measures.items()
    }
    return replace(cell, measures=measures)


def _without_reasons(kept: Kept) -> Kept:
    """The results without anything that a metric or a machine said."""
    result = kept.result
    cells = tuple(replace(cell, reason=None) for cell in result.cells if cell.measures)
    return replace(kept, result=replace(result, cells=cells, missing=dict.fromkeys(result.missing, "it could not run")))
