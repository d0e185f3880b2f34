"""Boards made in the browser: sent or fetched, looked at as a draft, completed, then published.

A draft is a board folder in DATA/drafts that no page but its owner's shows. It is read in a process of its own, in the
background where that takes longer than somebody waits; what has to be fetched, a worker fetches. Publishing takes a
complete data card, moves the folder to DATA/boards and registers it; each step stands in the audit trail.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread
from typing import Any

from sqlalchemy import Connection

from billboards.board import Board
from billboards.board.card_facts import refuse_drafts
from billboards.board.card_template import fill_card
from billboards.board.folder import open_board
from billboards.board.names import board_name_mistake, deceiving_mistake, look_alike
from billboards.errors import InvalidInput, Refused, StoreFailed
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards import registry
from billboards.site.database import trail
from billboards.site.organise import draft_records as records
from billboards.site.organise.draft_records import BoardDraft, Source
from billboards.site.organise.reading import BEGINNING, BOARD, SECONDS, read_in_process, save_sent
from billboards.site.site import Site, register_board

DRAFTS = "drafts"
#: Seconds that somebody who sends a form waits for the board; then it goes on in the background.
PATIENCE = 20.0
#: Seconds for which looking at a board again may take.
CHECKING = 120.0
#: Seconds for which fetching and reading a public data set may take, and between two notes of how far it is.
FETCHING, TOLD = 3600.0, 1.0
#: Options of importers that a form may give.
TABLE_OPTIONS = (
    "instance", "generator", "output", "input", "reference", "judgment", "range", "annotator", "document", "domain"
)  # fmt: skip
TEXT_OPTIONS = ("segment", "system", "annotator", "dimension", "judgment", "range")
#: Those of them that may be given several times.
SEVERAL = ("reference", "judgment", "range")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A board that an owner wants to make: what it is called, of what, and what was sent for it."""

    name: str
    source: Source
    #: The catalogue's entry.
    entry: str = ""
    options: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    #: By part of the form: names and contents of files.
    files: Mapping[str, Sequence[tuple[str, bytes]]] = field(default_factory=dict)

    @property
    def is_fetched(self) -> bool:
        """Whether a worker fetches it: that may take minutes, and goes on when the server is started anew."""
        return self.source == "catalogue"

    @property
    def origin(self) -> str:
        """What it is made of, in words."""
        if self.source == "demo":
            return "SummEval, as it comes with billboards"
        if self.source == "catalogue":
            return f"{self.entry} of the catalogue"
        names = [name for given in self.files.values() for name, _ in given]
        return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def folder_of(site: Site, name: str) -> Path:
    """Where a draft's board lies."""
    return site.data / DRAFTS / name


def begin_draft(site: Site, viewer: Viewer, wanted: Wanted, *, patience: float = PATIENCE) -> BoardDraft:
    """Begin a draft, and wait a while for it to be read; `state` says whether it is."""
    require(viewer, "administer")
    wanted = _checked(site, wanted)
    work = None if wanted.is_fetched else _work_folder(site)
    try:
        if work is not None:
            save_sent(work, wanted.files)
        with site.database.writing() as connection:
            now = site.clock()
            _drop_failed(site, connection, viewer, wanted.name, now)
            _check_free(site, connection, wanted.name)
            asked = {"entry": wanted.entry} if wanted.is_fetched else None
            records.add_draft(
                connection, wanted.name, wanted.source, wanted.origin, actor=viewer.name, now=now, wanted=asked
            )
            detail = {"source": wanted.source, "origin": wanted.origin}
            trail.note(connection, viewer.name, "draft.begun", wanted.name, now=now, detail=detail)
    except BaseException:
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
        raise
    if work is not None:
        thread = Thread(target=_read, args=(site, wanted, work), name=f"draft {wanted.name}", daemon=True)
        thread.start()
        thread.join(patience)
    return get_draft(site, viewer, wanted.name)


def fetch_draft(site: Site, name: str, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Fetch and read a draft's board; a worker's job."""
    with site.database.reading() as connection:
        waiting = next((draft for draft in records.waiting_drafts(connection) if draft.name == name), None)
    if waiting is None or waiting.wanted is None:
        return
    told = _Told(site, name)
    told(BEGINNING)
    wanted = Wanted(name=name, source=waiting.source, entry=str(waiting.wanted["entry"]))
    work = _work_folder(site)
    _read(site, wanted, work, seconds=FETCHING, tell=told, cancelled=lambda: cancelled() or told.is_gone)


class _Told:
    """Notes now and then how far a draft is, and knows when it was thrown away."""

    def __init__(self, site: Site, name: str) -> None:
        self.site, self.name, self.is_gone = site, name, False
        self._next = float("-inf")

    def __call__(self, words: str) -> None:
        now = self.site.clock()
        if now < self._next:
            return
        self._next = now + TOLD
        with self.site.database.writing() as connection:
            values = {"state": "reading", "progress": words[:500]}
            self.is_gone = not records.change_draft(connection, self.name, now=now, **values)


def fail_draft(site: Site, name: str, reason: str) -> None:
    """Write down that a draft could not be read."""
    with site.database.writing() as connection:
        _settle(site, connection, name, {"problems": [reason]})


def _checked(site: Site, wanted: Wanted) -> Wanted:
    """What is wanted, with what can be said about it before anything is kept."""
    from billboards.catalogue import read_catalogue

    name = wanted.name.strip()
    if wrong := board_name_mistake(name) or deceiving_mistake(name):
        raise InvalidInput(f"the name {name[:80]!r} {wrong}")
    if len(name) > 100:
        raise InvalidInput(f"the name {name[:80]!r}… is too long; use at most 100 characters")
    if wanted.source == "catalogue":
        read_catalogue().entry(wanted.entry)
    needed = {"table": "file", "folder": "file", "text": "output"}.get(wanted.source)
    if needed is not None and not wanted.files.get(needed):
        raise InvalidInput({"output": "send at least one file of outputs"}.get(needed, "send a file"))
    size = sum(len(content) for given in wanted.files.values() for _, content in given)
    if size > site.settings.metric_bytes:
        raise InvalidInput(f"the files have {size:,} bytes; at most {site.settings.metric_bytes:,} are taken")
    allowed = {"table": TABLE_OPTIONS, "text": TEXT_OPTIONS}.get(wanted.source, ())
    options = {word: value for word, value in wanted.options.items() if word in allowed and value}
    return replace(wanted, name=name, options=options)


def _drop_failed(site: Site, connection: Connection, viewer: Viewer, name: str, now: float) -> None:
    """Make room for a draft in the place of one of the same name that could not be read: there is nothing in it."""
    for draft in records.list_drafts(connection):
        if draft.name == name and _as_it_stands(draft, now).state == "failed":
            records.remove_draft(connection, name)
            trail.note(connection, viewer.name, "draft.discarded", name, now=now)
            shutil.rmtree(folder_of(site, name), ignore_errors=True)


def _check_free(site: Site, connection: Connection, name: str) -> None:
    taken = [board.name for board in registry.list_boards(connection)]
    taken += [draft.name for draft in records.list_drafts(connection)]
    if alike := next((other for other in taken if look_alike(name, other)), None):
        raise Refused(f"there is a board or draft {alike} already; choose another name")
    if folder_of(site, name).exists() or (site.data / "boards" / name).exists():
        raise Refused(f"there is a folder {name} in the site's data already; choose another name")


def _work_folder(site: Site) -> Path:
    try:
        (site.data / DRAFTS).mkdir(mode=0o700, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=".reading-", dir=site.data / DRAFTS))
    except OSError as error:
        raise StoreFailed(f"{site.data / DRAFTS}: can't be written: {error.strerror or error}") from error


def _read(
    site: Site,
    wanted: Wanted,
    work: Path,
    *,
    seconds: float = SECONDS,
    tell: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Read a draft's board, put it in its place and write down what became of it."""
    asked: dict[str, Any] = {"source": wanted.source, "name": wanted.name, "entry": wanted.entry}
    asked |= {"options": dict(wanted.options), "mirror": site.settings.catalogue.mirror}
    asked["most"] = site.settings.metric_bytes * 8
    try:
        answer = read_in_process(work, asked, seconds=seconds, tell=tell, cancelled=cancelled)
        if cancelled():
            return
        with site.database.writing() as connection:
            if _settle(site, connection, wanted.name, answer) and "problems" not in answer:
                (work / BOARD).rename(folder_of(site, wanted.name))
    except OSError as error:
        fail_draft(site, wanted.name, f"the board can't be kept: {error.strerror or error}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _settle(site: Site, connection: Connection, name: str, answer: Mapping[str, Any]) -> bool:
    """Write down what became of reading a draft; False where it was thrown away meanwhile."""
    state, now = "failed" if "problems" in answer else "ready", site.clock()
    kept = {word: answer.get(word, []) for word in ("problems", "notes", "findings")}
    if not records.change_draft(connection, name, now=now, state=state, progress="", **kept):
        return False
    detail = {"problems": kept["problems"][:5]}
    trail.note(connection, "site", f"draft.{state}", name, now=now, detail=detail)
    return True


def get_draft(site: Site, viewer: Viewer, name: str) -> BoardDraft:
    """A draft as it stands; one that nobody reads any more, because its server was stopped, has failed."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        draft = records.draft(connection, name)
    return _as_it_stands(draft, site.clock())


def _as_it_stands(draft: BoardDraft, now: float) -> BoardDraft:
    if draft.state == "reading" and draft.wanted is None and now - draft.changed > SECONDS + 60:
        words = "reading it was interrupted; discard this draft and begin again"
        return replace(draft, state="failed", problems=[words])
    return draft


def list_drafts(site: Site, viewer: Viewer) -> tuple[BoardDraft, ...]:
    """Every draft, the latest first."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        return tuple(_as_it_stands(draft, site.clock()) for draft in records.list_drafts(connection))


def draft_board(site: Site, draft: BoardDraft) -> Board:
    """The board of a draft that could be read."""
    if draft.state != "ready":
        what = "could not be read" if draft.state == "failed" else "is still being read; look again in a moment"
        raise Refused(f"draft {draft.name} {what}")
    return open_board(folder_of(site, draft.name))


def state_facts(site: Site, viewer: Viewer, name: str, facts: Mapping[str, str]) -> BoardDraft:
    """An owner states facts of a draft's data card; what is left empty stays as it was."""
    draft = get_draft(site, viewer, name)
    draft_board(site, draft)
    stated = {fact: text.replace("\r\n", "\n").strip() for fact, text in facts.items() if text.strip()}
    if not stated:
        raise InvalidInput("nothing was stated; fill in at least one fact")
    fill_card(folder_of(site, name), stated)
    work = _work_folder(site)
    try:
        answer = read_in_process(work, {"source": "check", "folder": str(folder_of(site, name))}, seconds=CHECKING)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    with site.database.writing() as connection:
        findings = answer.get("findings", draft.findings)
        records.change_draft(connection, name, now=site.clock(), findings=findings)
        trail.note(connection, viewer.name, "draft.facts", name, now=site.clock(), detail={"facts": sorted(stated)})
    return get_draft(site, viewer, name)


def publish_draft(site: Site, viewer: Viewer, name: str) -> str:
    """Put a draft's board on the site, for everybody; its data card must be complete."""
    draft = get_draft(site, viewer, name)
    board = draft_board(site, draft)
    if board.is_draft:
        raise Refused(f"board {name} lacks {', '.join(board.missing_facts)}; state these facts first")
    refuse_drafts([board])
    target = site.data / "boards" / name
    try:
        if target.exists():
            raise Refused(f"there is a folder {name} in the site's boards already; choose another name")
        folder_of(site, name).rename(target)
    except OSError as error:
        raise StoreFailed(f"{target}: can't be written: {error.strerror or error}") from error
    try:
        register_board(site, target)
    except BaseException:
        target.rename(folder_of(site, name))
        raise
    with site.database.writing() as connection:
        records.remove_draft(connection, name)
        detail = {"source": draft.source, "origin": draft.origin}
        trail.note(connection, viewer.name, "board.published", name, now=site.clock(), board=name, detail=detail)
    return name


def discard_draft(site: Site, viewer: Viewer, name: str) -> None:
    """Throw a draft away."""
    draft = get_draft(site, viewer, name)
    if draft.state == "reading" and draft.wanted is None:
        raise Refused(f"draft {name} is still being read; discard it when that is over")
    with site.database.writing() as connection:
        records.remove_draft(connection, name)
        trail.note(connection, viewer.name, "draft.discarded", name, now=site.clock())
    shutil.rmtree(folder_of(site, name), ignore_errors=True)
