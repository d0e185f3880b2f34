"""A site: one data folder with its database, its submitted files and its boards.

    DATA/site.sqlite      all state, unless it is in PostgreSQL
    DATA/site.toml        what the owner decided about the site (optional)
    DATA/boards/NAME/     board folders, read but never written, but for those made in the browser
    DATA/drafts/          boards that owners are making in the browser
    DATA/published/       boards that owners had published as files, one archive each, for a week
    DATA/last-good/       copies of them as they were when they could last be read
    DATA/suites/          suites' files, whose results are shown (optional)
    DATA/blobs/           submitted files, by digest, unless they are in object storage
    DATA/metrics/         submitted metrics, unpacked; made again from the blobs when missing
    DATA/environments/    what submitted metrics asked to be installed
    DATA/order.secret     what the order follows from in which submitted programs get outputs
    DATA/signing.json     the key that rankings are signed with, for the site's own account alone

Every process opens the site for itself; that costs one look at the database where there is nothing new.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import quote

from billboards.board.folder import open_board, read_settings_file
from billboards.board.settings import FILE as BOARD_FILE
from billboards.errors import InvalidBoard, InvalidInput, StoreFailed
from billboards.reading import Problems
from billboards.site.admin import deliveries
from billboards.site.boards import registry
from billboards.site.boards.last_good import copy_of, keep_copy
from billboards.site.cache import Cache, Shelf
from billboards.site.database import trail
from billboards.site.database.engine import Database
from billboards.site.settings import DATABASE, SiteSettings, read_site_settings
from billboards.site.submissions.blobs import BlobStore, open_blobs
from billboards.site.work.cells import SqlCells

log = logging.getLogger("billboards.site")

#: What a board folder holds that is not the board: changes there change nothing.
NOT_THE_BOARD = ("rankings", "ensembles", "signed")
#: The file of the site's keys.
SIGNING = "signing.json"


@dataclass(frozen=True, kw_only=True)
class Published:
    """How a site is written as static files; see `site.publishing`."""

    #: Where a generator or metric can be handed in, such as a repository; empty where nobody said.
    submit_to: str = ""
    #: Whether the site has a key of its own; one that is made only to be written down signs nothing.
    signs: bool = False
    #: The boards that are published; None is all of them.
    only: frozenset[str] | None = None


@dataclass(kw_only=True)
class Site:
    """An open site. `login_required` is false where only this machine can come in.

    Then whoever shows the `start_token` is its owner; without one, everybody is.
    """

    data: Path
    database: Database
    blobs: BlobStore
    settings: SiteSettings
    clock: Callable[[], float] = time.time
    login_required: bool = False
    #: What the owner shows on a site for its own machine; see `site.web.start_token`.
    start_token: str | None = field(default=None, repr=False)
    #: Suites' files that were named when the site was started; see `site.suites`.
    suites: tuple[Path, ...] = ()
    #: Set while the site is written as static files: pages then offer nothing that needs a server.
    published: Published | None = None
    #: What this process keeps between two looks.
    cache: Cache = field(default_factory=Cache, repr=False)
    lock: RLock = field(default_factory=RLock, repr=False)

    @property
    def log_file(self) -> Path | None:
        """The file that processes write their log to; None is standard error."""
        return self.data / self.settings.log_file if self.settings.log_file else None

    def cells(self, board: str) -> SqlCells:
        """All cells of a board."""
        return SqlCells(self.database, board)

    def boards(self) -> tuple[registry.Registered, ...]:
        """Every board, by name, or those that are published; opens none of them."""
        with self.database.reading() as connection:
            registered = registry.list_boards(connection)
        only = None if self.published is None else self.published.only
        return registered if only is None else tuple(board for board in registered if board.name in only)

    def close(self) -> None:
        self.database.close()


def open_site(
    data: str | Path,
    *,
    boards: Iterable[str | Path] = (),
    suites: Iterable[str | Path] = (),
    login_required: bool = False,
    clock: Callable[[], float] = time.time,
) -> Site:
    """Open a data folder, made on first use, and register the boards in it and those named."""
    root = Path(data).absolute()
    try:
        is_new = not root.exists()
        (root / "boards").mkdir(parents=True, exist_ok=True)
        if is_new:
            # Programs in a sandbox are run from folders inside; nobody else has to see what lies there.
            root.chmod(0o711)
    except OSError as error:
        raise StoreFailed(f"{root}: can't be made: {error.strerror or error}; name another data folder") from error
    settings = read_site_settings(root)
    blobs = open_blobs(settings.blobs, root)
    database = _open_database(root, settings, blobs)
    named = tuple(map(Path, suites))
    site = Site(
        data=root,
        database=database,
        blobs=blobs,
        settings=settings,
        clock=clock,
        login_required=login_required,
        suites=named,
    )
    folders = {board.folder for board in site.boards()}
    inside = sorted(path.parent for path in (root / "boards").glob(f"*/{BOARD_FILE}"))
    for folder in inside:
        if str(folder) not in folders:
            try:
                register_board(site, folder)
            except InvalidInput as error:
                # One folder with mistakes must not keep the other boards from being served.
                log.error("%s is not put on the site: %s", folder, error)
    for folder in (Path(path).absolute() for path in boards):
        if str(folder) not in folders:
            register_board(site, folder)
    for registered in site.boards():
        if not copy_of(root, registered.name, registered.fingerprint).exists():
            _keep_current(site, registered)
    return site


def _open_database(root: Path, settings: SiteSettings, blobs: BlobStore) -> Database:
    """The site's database at this version of the program, for the site's own account alone.

    An empty one is never begun beside submitted files: it would open a site without accounts where there was one with.
    """
    address = database_address(root, settings)
    own = root / "site.sqlite"
    if address == f"sqlite:///{own}":
        _close_to_others(own)
    database = Database(address)
    if database.revision() is None and next(blobs.listed(), None) is not None:
        database.close()
        raise InvalidInput(
            f"{root}: there are submitted files, but the database is empty; restore it from a backup, or name the one "
            "that belongs to them"
        )
    database.upgrade()
    return database


def _close_to_others(path: Path) -> None:
    """Let nobody but the site's account and its group read a file; made new, its account alone."""
    try:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            mode = path.stat().st_mode
            if mode & 0o007:
                path.chmod(mode & 0o770)
    except OSError as error:
        raise StoreFailed(f"{path}: can't be kept from others: {error.strerror or error}") from error


def database_address(data: Path, settings: SiteSettings) -> str:
    """Where the site's state is: what the environment says, else site.toml, else a file in the data folder."""
    return os.environ.get(DATABASE) or settings.database or f"sqlite:///{data / 'site.sqlite'}"


def register_board(site: Site, folder: Path) -> str:
    """Put a board folder on the site under the board's own name; a board with mistakes is refused with all of them."""
    board = open_board(folder)
    name = board.name
    with site.database.writing() as connection:
        registered = {board.name: board for board in registry.list_boards(connection)}
        if name not in registered:
            digest = fingerprint(folder)
            registry.add_board(connection, name, str(folder), digest, draft=board.is_draft, now=site.clock())
        elif registered[name].folder != str(folder):
            _move(site, connection, registered[name], folder)
    return name


def _keep_current(site: Site, registered: registry.Registered) -> None:
    """Keep a copy of a board whose folder is as it was when it could last be read."""
    folder = Path(registered.folder)
    with suppress(StoreFailed):
        if fingerprint(folder) == registered.fingerprint and not mistakes_in(folder):
            _keep(site, registered.name, folder, registered.fingerprint)


def _keep(site: Site, name: str, folder: Path, state: str) -> None:
    keep_copy(site.data, name, folder, state, lambda: fingerprint(folder) == state)


def _move(site: Site, connection: Any, registered: registry.Registered, folder: Path) -> None:
    if (Path(registered.folder) / BOARD_FILE).exists():
        raise InvalidInput(
            f"{folder}: there is a board {registered.name} already, in {registered.folder}; "
            f"give one of them another name in its {BOARD_FILE}"
        )
    values: dict[str, Any] = {"folder": str(folder), "fingerprint": fingerprint(folder)}
    registry.change_board(connection, registered.name, "board.moved", actor="site", now=site.clock(), **values)


def fingerprint(folder: Path) -> str:
    """A digest of the sizes and times of a board's files: another one means that the board may have changed."""
    total = hashlib.sha256()
    try:
        for path in sorted(folder.rglob("*")):
            first = path.relative_to(folder).parts[0]
            if first not in NOT_THE_BOARD and not first.startswith(".") and path.is_file():
                status = path.stat()
                total.update(f"{path.relative_to(folder)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    except OSError as error:
        raise StoreFailed(f"{folder}: can't be read: {error.strerror or error}") from error
    return total.hexdigest()


def notice_changes(site: Site) -> list[str]:
    """Look whether owners changed board folders; returns the names of boards that have, each checked first."""
    changed = []
    for registered in site.boards():
        folder, broken = Path(registered.folder), site.cache.get(_BROKEN, registered.name)
        try:
            current = fingerprint(folder)
        except StoreFailed as error:
            if not broken:
                _note_unreadable(site, registered, "", [str(error)])
            continue
        if current == registered.fingerprint:
            if broken:
                _note_mended(site, registered)
            continue
        if current == broken:
            continue
        if mistakes := mistakes_in(folder):
            _note_unreadable(site, registered, current, mistakes)
            continue
        _keep(site, registered.name, folder, current)
        with site.database.writing() as connection:
            if registry.board(connection, registered.name).fingerprint == registered.fingerprint:
                values: dict[str, Any] = {"fingerprint": current}
                registry.change_board(
                    connection, registered.name, "board.edited", actor="site", now=site.clock(), **values
                )
                changed.append(registered.name)
        site.cache.put(_BROKEN, registered.name, "")
    return changed


#: What a board's folder was found to be when it could not be read; empty where it can.
_BROKEN = Shelf[str, str]()
#: Mistakes of a board that its owners are told with the notice.
NAMED = 5


def mistakes_in(folder: Path) -> list[str]:
    """What is wrong in a folder: the board stays as it was until it can be read again."""
    try:
        read_settings_file(folder, Problems())
        open_board(folder)
    except InvalidBoard as error:
        return [str(problem) for problem in error.problems]
    except InvalidInput as error:
        return [str(error)]
    return []


def _note_unreadable(site: Site, registered: registry.Registered, current: str, mistakes: list[str]) -> None:
    """Say once, in the log, in the audit trail and to the owners, that a folder can't be read."""
    site.cache.put(_BROKEN, registered.name, current or "unreadable")
    name, now = registered.name, site.clock()
    with site.database.writing() as connection:
        last = registry.folder_states(connection).get(name)
        if last is not None and last.action == registry.UNREADABLE and last.detail.get("fingerprint") == current:
            return
        detail = {"fingerprint": current, "mistakes": mistakes[:NAMED], "count": len(mistakes)}
        trail.note(connection, "site", registry.UNREADABLE, name, now=now, board=name, detail=detail)
        notice = {
            "id": name,
            "kind": "board",
            "name": name,
            "version": registered.generation,
            "board": name,
            "state": "unreadable",
            "says": "not readable; its last good state is shown",
            "reason": mistakes[0],
            "platform": False,
            "changed": now,
            "path": f"/boards/{quote(name)}",
        }
        deliveries.announce_to_owners(connection, registry.UNREADABLE, notice, now=now)
    log.error(
        "board %s: its folder %s can't be read (%d mistakes, first: %s); its last good state is shown",
        name,
        registered.folder,
        len(mistakes),
        mistakes[0],
    )


def _note_mended(site: Site, registered: registry.Registered) -> None:
    """Say that a folder is again what it was before it could not be read."""
    site.cache.put(_BROKEN, registered.name, "")
    with site.database.writing() as connection:
        last = registry.folder_states(connection).get(registered.name)
        if last is not None and last.action == registry.UNREADABLE:
            registry.change_board(
                connection, registered.name, registry.MENDED, actor="site", now=site.clock(), folder=registered.folder
            )
