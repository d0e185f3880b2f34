"""A site with a real mail server and browsers without a network, for tests of how people come in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from mail_boxes import Letters, mail_server
from small_sites import Clock, make_board
from sqlalchemy import select

from billboards.board.writing import write_board
from billboards.site.accounts import access
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.records import Role
from billboards.site.admin.notices import send_due
from billboards.site.site import Site, open_site
from billboards.site.web.app import create_app


class Door:
    """A site with a mail server, its clock, and browsers."""

    def __init__(self, site: Site, box: Letters, clock: Clock) -> None:
        self.site, self.box, self.clock = site, box, clock
        self.owner_token = access.new_owner_token(site, "owner")
        owner = access.viewer_of_token(site, self.owner_token)
        assert owner is not None
        self.owner = owner
        self.app = create_app(site)

    def browser(self) -> TestClient:
        """A browser of its own, with no cookies yet."""
        return TestClient(self.app, "http://localhost", raise_server_exceptions=False, follow_redirects=False)

    def ask(self, token: str, method: str, path: str, **sent: Any) -> Any:
        """What a program that holds a token is answered."""
        return self.browser().request(method, path, headers={"authorization": f"Bearer {token}"}, **sent)

    def link(self, email: str, **more: str) -> str:
        """The path of the link that an address is mailed."""
        assert self.browser().post("/login/link", data={"email": email, **more}).status_code == 200
        send_due(self.site)
        return self.box.link(email)

    def person(self, name: str, role: Role = "submitter", *, team: str | None = None) -> tuple[Viewer, str]:
        """Somebody with an account, an address of the same name, and a token."""
        made = access.add_account(self.site, self.owner, name, role, team=team, email=f"{name}@example.org")
        return Viewer(made), access.add_token(self.site, self.owner, "test", account_id=made.id)[1]

    def now(self, viewer: Viewer) -> Viewer:
        """Somebody as they are by now."""
        assert viewer.account is not None
        with self.site.database.reading() as connection:
            return Viewer(accounts.account(connection, viewer.account.id))

    def rows(self, table: Any) -> list[Any]:
        with self.site.database.reading() as connection:
            return list(connection.execute(select(table)).mappings())

    def send(self) -> int:
        """Send all mails that wait."""
        count = 0
        while sent := send_due(self.site):
            count += sent
        return count


MakeDoor = Callable[..., Door]


@contextmanager
def doors(home: Path) -> Iterator[MakeDoor]:
    """Makes sites, each with what [accounts] says, on one mail server; all are closed at the end."""
    opened: list[Site] = []
    with mail_server() as box:

        def make(accounts_table: str = "") -> Door:
            data = home / f"data{len(opened)}"
            write_board(make_board(4, 2, metrics=("length",)), data / "boards" / "ferry")
            (data / "site.toml").write_text(box.settings(more=f"[accounts]\n{accounts_table}\n"))
            clock = Clock()
            opened.append(open_site(data, login_required=True, clock=clock))
            return Door(opened[-1], box, clock)

        yield make
        for site in opened:
            site.close()
