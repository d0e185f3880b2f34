"""The suites of a site: files in DATA/suites, those that site.toml names, and those given when it was started.

A site shows what a suite said when it was last run (`billboards suite run`), from the results kept beside its file, and
computes nothing. Results hold numbers and names; the one place where they could quote a text or a path is the reason
why a metric failed, so only owners are told reasons.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from billboards.analyses.suite.keeping import Kept, read_results
from billboards.analyses.suite.results import Suite
from billboards.analyses.suite.settings import read_suite
from billboards.errors import InvalidInput, UnknownName
from billboards.site.accounts.access import Viewer
from billboards.site.site import Site

FOLDER = "suites"


def suite_files(site: Site) -> tuple[Path, ...]:
    """Every suite's file, each once."""
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
    return suites[name], None if kept is None else _without_reasons(kept)


def _without_reasons(kept: Kept) -> Kept:
    """The results without anything that a metric or a machine said."""
    result = kept.result
    cells = tuple(replace(cell, reason=None) for cell in result.cells if cell.measures)
    return replace(kept, result=replace(result, cells=cells, missing=dict.fromkeys(result.missing, "it could not run")))
