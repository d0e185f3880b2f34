"""Open the site: boards on the web, submissions from both sides, and the workers that score them.

Everything lies in one data folder. By default only this machine can open the site: the printed link lets you in as its
owner, without log-in. To serve another address (`--host`), make an owner first: `--token NAME` makes one and prints the
token to log in with.
A draft, a board whose data card lacks facts, is shown to the owner alone, and only on this machine.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    import socket

    from billboards.board import Board
    from billboards.site.site import Site


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "data",
        type=Path,
        nargs="?",
        default=options.SITE,
        metavar="DATA",
        help="the data folder, made on first use (default: billboards-site)",
    )
    parser.add_argument(
        "--board",
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="put this board folder on the site too; may be repeated (boards in DATA/boards are there anyway)",
    )
    parser.add_argument(
        "--suite",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="show the results of this suite too; may be repeated (suites in DATA/suites are shown anyway)",
    )
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="where to listen (default 127.0.0.1)")
    parser.add_argument("--port", type=options.port, default=8000, metavar="N", help="default 8000; 0 takes a free one")
    parser.add_argument(
        "--workers",
        type=options.none_or_more,
        default=2,
        metavar="N",
        help="processes that score (default 2; 0 leaves it to `billboards worker`)",
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.add_argument(
        "--new-key",
        action="store_true",
        help="sign rankings with a new key from now on, print its public half, and end",
    )
    parser.add_argument("--token", metavar="NAME", help="make the owner NAME if need be, print a token, and end")


#: What the extra `site` installs, as it is imported.
NEEDED = ("alembic", "authlib", "cryptography", "fastapi", "httpx", "python_multipart", "sqlalchemy", "uvicorn")


def check_installed(packages: Sequence[str] = NEEDED) -> None:
    from importlib.util import find_spec

    from billboards.errors import MissingPart

    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingPart(
            f"the site needs {', '.join(missing)}, not installed; install it with `pip install 'billboards[site]'`"
        )


def run(arguments: Namespace) -> int:
    check_installed()
    from billboards.board.card_facts import refuse_drafts
    from billboards.cli.output import note
    from billboards.errors import InvalidInput
    from billboards.site.accounts.access import login_configured, login_expected, new_owner_token
    from billboards.site.boards.registry import held_to_cards
    from billboards.site.boards.signatures import change_key
    from billboards.site.boards.suites import site_suites
    from billboards.site.site import open_site
    from billboards.site.web.start_token import read_start_token
    from billboards.site.work.processes import Child, worker_command
    from billboards.site.work.processes import run as supervise

    site = open_site(arguments.data, boards=arguments.board, suites=arguments.suite)
    site_suites(site)
    if arguments.token is not None:
        print(new_owner_token(site, arguments.token))
        return 0
    if arguments.new_key:
        print(change_key(site).public_key)
        return 0
    local = is_loopback(arguments.host)
    if not local and not login_configured(site):
        raise InvalidInput(
            f"{arguments.host} can be reached by others, and nobody could log in; "
            f"make an owner first: `billboards serve {arguments.data} --token NAME`"
        )
    login = not local or login_expected(site)
    if login:
        with site.database.reading() as connection:
            held = held_to_cards(connection)
        refuse_drafts(_readable(site, held))
    listening = _listen(arguments.host, arguments.port)
    token = None if login else read_start_token(site)
    web = web_command(site, listening.fileno(), login=login)
    children = [Child("web", web, (listening.fileno(),))]
    names = [f"worker-{k + 1}" for k in range(arguments.workers)]
    children += [Child(name, worker_command(site.data, name)) for name in names]
    host, port = listening.getsockname()[:2]
    _say_sandbox()
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    link = address if token is None else f"{address}?token={token}"
    note(f"the site is open at {link} (Ctrl-C ends it)")
    if arguments.open:
        _open(link)
    supervise(children, log_file=site.log_file)
    listening.close()
    return 0


def _readable(site: Site, names: Iterable[str]) -> Iterator[Board]:
    """Boards as the site shows them; one that can't be read is no reason not to serve the others."""
    from billboards.cli.output import note
    from billboards.errors import BoardUnreadable
    from billboards.site.boards.live import folder_board

    for registered in site.boards():
        if registered.name in names:
            try:
                yield folder_board(site, registered)
            except BoardUnreadable as error:
                note(f"{error}; the site is served without it")


def web_command(site: Site, listening: int, *, login: bool) -> list[str]:
    """How the web server is started."""
    import sys

    command = [sys.executable, "-m", "billboards.cli.web_process", str(site.data), "--listening", str(listening)]
    command += [part for path in site.suites for part in ("--suite", str(path.absolute()))]
    return [*command, "--login"] if login else command


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """The socket, taken before anything is started: a server that is started again finds it open."""
    import socket

    from billboards.errors import InvalidInput

    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=512)
    except OSError as error:
        raise InvalidInput(f"can't listen on {host}, port {port}: {error}; choose another with --port") from error


def _say_sandbox() -> None:
    from billboards.cli.output import note
    from billboards.run.sandbox import sandbox_available

    sandbox = sandbox_available()
    if not sandbox:
        note(f"submitted metrics run only if you mark them as trusted: {sandbox.reason}")


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
