"""A site with people of every role, asked without a network, and a diary of all that is said there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from approving import approve
from fastapi.testclient import TestClient
from people_diaries import Clock, Diary

from billboards.board import Board
from billboards.board.writing import write_board
from billboards.errors import BillboardsError
from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.records import Role
from billboards.site.admin.notices import send_due
from billboards.site.site import Site, open_site
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
FREE = "reads_per_minute = 1000000\nchanges_per_minute = 1000000\n"


@dataclass
class Gate:
    """A site, its clock, tokens of people by name, and a diary."""

    site: Site
    clock: Clock
    home: Path
    box: Any = None
    diary: Diary = field(default_factory=Diary)
    tokens: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.app = create_app(self.site)
        self.tokens["owner"] = access.new_owner_token(self.site, "owner")
        owner = access.viewer_of_token(self.site, self.tokens["owner"])
        assert owner is not None
        self.owner = owner

    def browser(self, agent: str = FIREFOX) -> TestClient:
        return TestClient(
            self.app,
            "http://localhost",
            raise_server_exceptions=False,
            follow_redirects=False,
            headers={"user-agent": agent},
        )

    def person(self, name: str, role: Role = "submitter", **said: Any) -> Viewer:
        """Somebody with an account and a token."""
        made = access.add_account(self.site, self.owner, name, role, **{"email": f"{name}@example.org", **said})
        self.tokens[name] = access.add_token(self.site, self.owner, "test", account_id=made.id)[1]
        return Viewer(made)

    def viewer(self, name: str) -> Viewer:
        """Somebody by their token."""
        viewer = access.viewer_of_token(self.site, self.tokens[name])
        assert viewer is not None
        return viewer

    def send(self, asker: str | None, method: str, path: str, **sent: Any) -> Any:
        """What somebody with a token is answered, a visitor where nobody is named."""
        headers = {"accept": "text/html"} | dict(sent.pop("headers", {}))
        if asker is not None:
            headers["authorization"] = f"Bearer {self.tokens[asker]}"
        return self.browser().request(method, path, headers=headers, **sent)

    def ask(self, name: str, asker: str | None, method: str, path: str, **sent: Any) -> Any:
        """What somebody is answered, written down."""
        return self.diary.hear(name, self.send(asker, method, path, **sent))

    def mail(self) -> None:
        while send_due(self.site):
            pass

    def link(self, email: str) -> str:
        """The path of the link in the last letter to an address."""
        self.mail()
        return str(self.box.link(email))

    def work(self) -> None:
        """Do all that is to do."""
        while (job := next_job(self.site, "worker")) is not None:
            run_job(self.site, job)

    def finish(self, name: str, tables: Sequence[str] = (), *, but: Sequence[str] = ()) -> None:
        """Keep everything, and what the database holds in the end."""
        if self.box is not None:
            self.mail()
            self.diary.letters("letters", self.box)
        self.diary.rows("rows", self.site, tables, but=but)
        self.keep(name)

    def keep(self, name: str) -> None:
        approve(f"people/{name}", self.diary.entries, folder=self.home)


def make_gate(home: Path, *boards: Board, settings: str = FREE, box: Any = None) -> Gate:
    """A site that wants a log-in, with boards in its own folder."""
    data = home / "data"
    for board in boards:
        write_board(board, data / "boards" / board.name)
    (data / "site.toml").write_text(settings)
    clock = Clock()
    return Gate(open_site(data, login_required=True, clock=clock), clock, home, box)


def problems(act: Callable[[], Any]) -> str:
    """Why something is refused, with the kind of refusal; what came of it where nothing was."""
    try:
        return f"done: {act()!r}"
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"
