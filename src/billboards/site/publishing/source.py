"""The site that is published: made for a moment of board folders, or one that runs.

Of a folder come its scores, its kept ensembles and its kept rankings, so that the published history is the folder's.
All times follow from the folder, so that the same folder gives the same files: a kept ranking has its own time, and a
new one that of SOURCE_DATE_EPOCH where it is set, else of the folder's latest file.
"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

from sqlalchemy import delete

from billboards.analyses._archive import Archive
from billboards.board import Slice
from billboards.board.card_facts import refuse_drafts
from billboards.board.cells import SqliteCells, part_key, stored_as
from billboards.board.folder import open_board
from billboards.errors import InvalidInput
from billboards.site.accounts.access import local_viewer
from billboards.site.boards import snapshots
from billboards.site.boards.live import hides_judgments, live_board
from billboards.site.boards.refresh import basis, cause_between, moves_between
from billboards.site.cache import Cache
from billboards.site.database.engine import Database
from billboards.site.database.schema import rankings, standings
from billboards.site.settings import SiteSettings
from billboards.site.site import NOT_THE_BOARD, Published, Site, open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worker import work_until_done

#: What may be kept from readers, and the setting that does it.
HIDDEN = {"references": "hidden_references", "judgments": "hidden_judgments"}
#: More than anybody can ask for in a minute: whoever publishes is no crowd.
UNLIMITED = 10**9


@contextmanager
def momentary_site(
    folders: Sequence[Path],
    *,
    suites: Sequence[Path] = (),
    hide: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    title: str = "",
    base_url: str = "",
    submit_to: str = "",
    drafts: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[Site]:
    """A site of some board folders, scored and ranked, that is gone afterwards; the folders are only read."""
    boards = [open_board(folder) for folder in folders]
    if not drafts:
        refuse_drafts(boards)
    names = [board.name for board in boards]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidInput(f"two boards are named {doubled[0]}; give one of them another name in its board.toml")
    times = {board.name: folder_time(folder) for board, folder in zip(boards, folders, strict=True)}
    with tempfile.TemporaryDirectory(prefix="billboards-publish-") as home:
        data = Path(home) / "site"
        with closing(open_site(data, boards=folders, suites=suites, clock=lambda: max(times.values()))) as site:
            owner = local_viewer(site)
            chosen = {**(settings or {}), **{HIDDEN[part]: True for part in hide}}
            for board, folder in zip(boards, folders, strict=True):
                if chosen:
                    change_settings(site, owner, board.name, chosen)
                _copy_cells(site, board.name, folder)
                _copy_ensembles(site, board.name, folder)
            tell("ranking")
            work_until_done(site, "publish")
            for name, folder in zip(names, folders, strict=True):
                _write_history(site, name, folder, times[name])
            yield for_visitors(site, title=title, base_url=base_url, submit_to=submit_to)


def for_visitors(site: Site, *, title: str = "", base_url: str = "", submit_to: str = "", signs: bool = False) -> Site:
    """A site that answers as to visitors, and whose pages offer nothing that needs a server."""
    changed = {"reads_per_minute": UNLIMITED, "title": title or site.settings.title}
    changed |= {"base_url": (base_url or site.settings.base_url).rstrip("/")}
    site.settings = SiteSettings.model_validate({**dict(site.settings), **changed})
    site.login_required = True
    site.start_token = None
    site.published = Published(submit_to=submit_to, signs=signs)
    return site


@contextmanager
def one_board(site: Site, board: str, *, base_url: str = "", submit_to: str = "") -> Iterator[Site]:
    """One board of a site that runs, beside it: as visitors see it, without the other boards and the suites.

    The site itself stays as it is. What it says of its own address is left out: the files will be somewhere else.
    """
    database = Database(site.database.url)
    try:
        own = dataclasses.replace(
            site, database=database, suites=(), cache=Cache(), lock=RLock(), settings=site.settings.model_copy()
        )
        own = for_visitors(own, signs=True, submit_to=submit_to)
        own.settings = own.settings.model_copy(update={"base_url": base_url.rstrip("/")})
        own.published = dataclasses.replace(own.published or Published(), only=frozenset({board}))
        yield own
    finally:
        database.close()


def folder_time(folder: Path) -> float:
    """When a board folder was last changed, as far as anybody can tell."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    if stated.isdecimal():
        return float(stated)
    times = [
        path.stat().st_mtime
        for path in folder.rglob("*")
        if path.is_file() and not _is_beside(path.relative_to(folder).parts[0])
    ]
    return float(int(max(times, default=0.0)))


def _is_beside(first: str) -> bool:
    return first in NOT_THE_BOARD or first.startswith(".")


def _copy_cells(site: Site, name: str, folder: Path) -> None:
    """The scores that were computed in the folder already."""
    store, cells = SqliteCells(folder), site.cells(name)
    for key in store.columns():
        if stored_as(key)[1]:
            # A part is kept with the metric that it belongs to.
            continue
        versions = sorted(store.present(key))
        parts = [(part, store.load(part_key(key, part), versions)) for part in store.parts(key)]
        counts, seconds = store.load_counts(key, versions), store.seconds(key)
        for version in versions:
            scores = {part: loaded[version] for part, loaded in parts if version in loaded}
            if scores:
                cells.save(key, version, scores, seconds=seconds.get(version, 0.0), counts=counts.get(version))


def _copy_ensembles(site: Site, name: str, folder: Path) -> None:
    """The ensembles that the folder keeps, so that an equal fit has the version that papers cite."""
    kept = [ensemble for ensemble in Archive(folder).ensembles() if ensemble.board == name]
    with site.database.writing() as connection:
        for ensemble in sorted(kept, key=lambda ensemble: ensemble.version or 0):
            snapshots.keep_ensemble(connection, ensemble, public=True, now=site.clock())


def _write_history(site: Site, name: str, folder: Path, now: float) -> None:
    """Put the folder's kept rankings before the one that was made now.

    Where something is hidden the folder's rankings could tell it, so there the history begins with today's.
    """
    live = live_board(site, name)
    current = live.document
    if live.snapshot is None or current is None:
        return
    ensemble, made = live.snapshot.ensemble, now
    earlier: list[tuple[float, dict[str, Any]]] = []
    if not (hides_judgments(live.settings, live.board) or live.settings.hidden_references):
        for kept in _kept(folder, name):
            time = datetime.fromisoformat(kept["created"]).timestamp()
            if kept["ranking"] == current["ranking"]:
                made = time
            else:
                earlier.append((time, _as_snapshot(name, kept["ranking"], current)))
    history = [*sorted(earlier, key=lambda entry: entry[0]), (made, current)]
    with site.database.writing() as connection:
        for table in (standings, rankings):
            connection.execute(delete(table).where(table.c.board == name, table.c.audience == "public"))
        before: dict[str, Any] | None = None
        for time, document in history:
            is_last = document is current
            snapshots.keep(
                connection,
                name,
                "public",
                document,
                basis=basis(live) if is_last else "kept in the folder",
                cause=cause_between(live, before, document),
                moves=moves_between(before, document),
                ensemble=ensemble if is_last else (document["ranking"].get("ensemble") or {}).get("signature"),
                now=time,
            )
            before = document


def _kept(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    archive = Archive(folder)
    documents = [archive.kept_document(ranking) for ranking in archive.rankings()]
    # A ranking of a part of the board is no step of its history.
    yield from (kept for kept in documents if kept["ranking"].get("board") == name and not _is_of_part(kept["ranking"]))


def _is_of_part(ranking: Mapping[str, Any]) -> bool:
    return ranking.get("part") not in (None, str(Slice()))


def _as_snapshot(name: str, ranking: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    """A kept ranking as a site keeps it; versions of outputs that it does not tell are taken as today's."""
    rows = {entry["name"]: current["rows"].get(entry["name"], "") for entry in ranking["generators"]}
    columns = {entry["name"]: entry.get("signature", "") for entry in ranking["metrics"]}
    return {
        "schema": 1,
        "kind": "snapshot",
        "board": name,
        "ranking": dict(ranking),
        "overrating": None,
        "audits": {},
        "rows": rows,
        "columns": columns,
    }
