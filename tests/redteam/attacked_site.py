"""A site that is served by a process of its own, for attackers, with what they may know: addresses and some tokens."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.writing import write_board
from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer
from billboards.site.site import open_site
from billboards.site.submissions.sending import submit_generator

#: Seconds for a head and connections of an address are few, so that attacks on them are quick.
SETTINGS = """
reads_per_minute = 1000000
changes_per_minute = 1000000
head_seconds = 0.5
connections = 60
connections_each = 20
generator_bytes = 67108864
free_bytes = 0
"""
#: Two long outputs with few words, which took a difference of texts longest.
WALL, OTHER_WALL = "a b " * 450, "a c " * 450
ROLES = {"annotator": "annotator", "stranger": "submitter", "team": "submitter"}


def attacked_board() -> Board:
    """Three instances, the last with long texts."""
    texts = ("the ferry leaves at noon", "the harbour is calm", OTHER_WALL)
    instances = tuple(Instance(f"i{k}", references=(Reference("Ada", text),)) for k, text in enumerate(texts))
    row = row_of(Generator("almanac"), instances, ("a ferry leaves at noon", "a calm harbour", WALL))
    return Board(name="harbour", instances=instances, rows=(row,), metrics=("length",), output_language="en")


@dataclass
class Attacked:
    """A served site."""

    data: Path
    address: str
    pid: int
    tokens: Mapping[str, str]
    #: The id of what the team has sent in.
    submission: str
    #: The accounts' numbers, by name.
    accounts: Mapping[str, int]
    log: Path
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.address, trust_env=False, timeout=30)

    @property
    def place(self) -> tuple[str, int]:
        host, _, port = self.address.removeprefix("http://").partition(":")
        return host, int(port)

    def ask(self, asker: str, method: str, path: str, **sent: Any) -> httpx.Response:
        """An answer of the interface for programs, as somebody."""
        headers = dict(sent.pop("headers", {}))
        if asker in self.tokens:
            headers["authorization"] = f"Bearer {self.tokens[asker]}"
        return self.client.request(method, f"/api/v1{path}", headers=headers, **sent)

    def send(self, kind: str, content: bytes, name: str, *, asker: str = "team", **fields: Any) -> httpx.Response:
        """A file sent in."""
        files = {"file": (fields.pop("file_name", "sent"), content)}
        return self.ask(asker, "POST", f"/boards/harbour/{kind}", data={"name": name, **fields}, files=files)

    def raw(self, content: bytes, *, source: str = "127.0.0.1", seconds: float = 20.0) -> bytes:
        """What is answered to some bytes, whatever they are, until the server closes the connection."""
        answer = b""
        with socket.create_connection(self.place, timeout=seconds, source_address=(source, 0)) as connection:
            try:
                connection.sendall(content)
                while block := connection.recv(65536):
                    answer += block
            except ConnectionError:
                return answer
        return answer

    def peak(self) -> int:
        """The most memory that the web process has had, in bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024


@contextmanager
def attacked_site(home: Path) -> Iterator[Attacked]:
    """A site with accounts, one submission and its web process."""
    folder = write_board(attacked_board(), home / "harbour")
    data = home / "data"
    data.mkdir()
    (data / "site.toml").write_text(SETTINGS)
    site = open_site(data, boards=[folder], login_required=True)
    tokens = {"owner": access.new_owner_token(site, "owner")}
    owner = access.viewer_of_token(site, tokens["owner"])
    assert owner is not None
    assert owner.account is not None
    accounts = {"owner": owner.account.id}
    for name, role in ROLES.items():
        account = access.add_account(site, owner, name, "annotator" if role == "annotator" else "submitter")
        accounts[name] = account.id
        tokens[name] = access.add_token(site, owner, "test", account_id=account.id)[1]
        if name == "team":
            raw = b"one ferry leaves\nno harbour\nnothing\n"
            submission = submit_generator(site, Viewer(account), "harbour", "sailor", raw).submission.id
    site.close()
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    command = [sys.executable, "-m", "billboards.cli.web_process", str(data), "--login"]
    log = home / "log"
    with log.open("wb") as notes:
        handle = listening.fileno()
        server = subprocess.Popen(
            [*command, "--listening", str(handle)], pass_fds=(handle,), stdin=subprocess.PIPE, stderr=notes
        )
    listening.close()
    try:
        attacked = Attacked(
            data=data,
            address=address,
            pid=server.pid,
            tokens=tokens,
            submission=submission,
            accounts=accounts,
            log=log,
        )
        _wait(attacked, server)
        with closing(attacked.client):
            yield attacked
    finally:
        server.terminate()
        server.communicate(timeout=60)


def _wait(attacked: Attacked, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while True:
        assert server.poll() is None, attacked.log.read_text()
        assert time.monotonic() < deadline, "it never came"
        try:
            assert attacked.client.get("/health").status_code == 200
        except httpx.HTTPError:
            time.sleep(0.05)
        else:
            return


@dataclass(frozen=True)
class Played:
    """What became of an attack: a status or "closed", and what was answered."""

    outcome: str
    text: str = ""


def played(answer: httpx.Response) -> Played:
    """An attack's outcome from an answer."""
    return Played(str(answer.status_code), answer.text)


def first_status(answer: bytes) -> Played:
    """The status that raw bytes begin with; `closed` where nothing was answered."""
    words = answer.split(b" ", 2)
    outcome = words[1].decode() if len(words) > 1 and words[0].startswith(b"HTTP/") else "closed"
    return Played(outcome, answer.decode("latin-1"))


Play = Callable[[Attacked], Played]


def json_of(value: Any) -> dict[str, Any]:
    """A JSON body that Python would not write by itself, such as one with half a character."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return {"content": content, "headers": {"content-type": "application/json"}}
