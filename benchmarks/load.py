"""A site under load on loopback: 200 readers of board pages, 20 submitters and 60 slow clients, for a minute.

A whole site runs (`billboards serve`: a web process and two workers) on two made-up boards. Every reader asks for a
board page again and again over a connection of its own; every submitter sends in a new generator to the first board,
waits, and sends the next. A tenth of the readers asks for the wide board, whose page has 100 generators and 79 columns.
Slow clients hold what they can meanwhile: a quarter of them sends a byte of a head each second, a quarter half a head
and then nothing, a quarter a byte of a body each second, and a quarter asks for the wide page a hundred times and reads
a kilobyte a second. A server with one line of the same framework stands beside it in the same run, and as many readers
ask it in turns with the site, so that whatever else the machine does falls on both alike. Then every submission is
waited for.

    python benchmarks/load.py [--seconds 60] [--readers 200] [--wide 20] [--submitters 20] [--slow 60]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median, quantiles

from measuring import BILLBOARDS
from synthetic import sentence, write_board
from web import WIDE_COLUMNS, fetch, make_board, server

#: p99 of the board page over its median, at most.
GOAL = 10.0
#: Turns of both servers, and seconds that a submitter waits between two submissions.
TURNS, PAUSE = 6, 2.0
INSTANCES = 30
#: Generators of the wide board, as many as a page shows, its instances, and draws of its one ranking.
WIDE_GENERATORS, WIDE_INSTANCES, WIDE_DRAWS = 100, 5, 50
#: What a data card has to say.
CARD = ("title", "task", "source", "licence", "citation", "protocol", "annotators")
#: How often a slow reader asks before it reads, what it reads at a time, and seconds between two bytes or reads.
ASKED, SIP, DRIP = 100, 1024, 1.0
#: Seconds within which the last submission must be finished.
PATIENCE = 900.0


@dataclass
class Heard:
    """What came back: seconds of each answer, and every answer that was none."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def show(self, name: str) -> float:
        """Print what readers waited; returns p99 over the median."""
        p50, p99 = median(self.seconds), quantiles(self.seconds, n=100)[98]
        print(
            f"{name:16} {len(self.seconds):8,} answers, {len(self.errors)} errors; "
            f"median {1e3 * p50:7.1f} ms, p99 {1e3 * p99:7.1f} ms, p99 / median {p99 / p50:5.2f}"
        )
        return p99 / p50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of load in all, and as many of the peer's")
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--wide", type=int, default=20, help="how many of the readers ask for the wide board")
    parser.add_argument("--columns", type=int, default=WIDE_COLUMNS, help="of the wide board")
    parser.add_argument("--submitters", type=int, default=20)
    parser.add_argument("--slow", type=int, default=60, help="clients that send or read a little each second")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        board = make_board(work, quick=True)
        assert board is not None
        wide = make_wide_board(work / "data" / "boards" / "wide", columns=given.columns)
        set_draws(work / "data", wide)
        serving = Serving(work / "data", (board, wide))
        with server("line", work) as (line, _), serving as port:
            sent = Sent(port, board, serving.token)
            measure(port, line, sent, wide, given)


def make_wide_board(target: Path, *, columns: int) -> str:
    """A board folder whose page is wide, with the data card that a site for others asks for; returns its name."""
    write_board(target, generators=WIDE_GENERATORS, instances=WIDE_INSTANCES, metrics=columns)
    with (target / "board.toml").open("a", encoding="utf-8") as settings:
        settings.write('definition = "A number"\n[languages]\noutput = "en"\n[card]\n')
        settings.writelines(f'{fact} = "Made up"\n' for fact in CARD)
    return target.name


def set_draws(data: Path, board: str) -> None:
    """Let a board be ranked quickly: it is read here, not ranked."""
    from billboards.site.boards import registry
    from billboards.site.site import open_site

    site = open_site(data)
    with site.database.writing() as connection:
        registry.change_board(
            connection, board, "board.settings", actor="load", now=site.clock(), settings={"draws": WIDE_DRAWS}
        )
    site.close()


class Serving:
    """`billboards serve` on a data folder, ranked before the block begins."""

    def __init__(self, data: Path, boards: tuple[str, ...]) -> None:
        self.data, self.boards = data, boards
        self.token = ""

    def __enter__(self) -> int:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = int(free.getsockname()[1])
        # With an account everybody may read, as on a site for others, and no address is held to a number of requests.
        with (self.data / "site.toml").open("a") as settings:
            settings.write(
                "reads_per_minute = 100000000\nchanges_per_minute = 100000000\nsubmissions_per_day = 100000000\n"
                "connections_each = 1500\n"
            )
        command: tuple[str, ...] = (*BILLBOARDS, "serve", str(self.data))
        made = subprocess.run((*command, "--token", "load"), capture_output=True, text=True, check=True)
        self.token = made.stdout.strip()
        command = (*command, "--port", str(port))
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while True:
            if self.process.poll() is not None:
                sys.exit(f"the site ended with exit code {self.process.returncode}")
            try:
                for board in self.boards:
                    fetch(port, f"/api/v1/boards/{urllib.parse.quote(board)}/ranking")
            except OSError:
                time.sleep(0.2)
            else:
                return port

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(60)


def measure(port: int, line: int, sent: Sent, wide: str, given: argparse.Namespace) -> None:
    """Turns of the site under its whole load and of the one line under its readers."""
    path, wide_path = (f"/boards/{urllib.parse.quote(board)}" for board in (sent.board, wide))
    ours, of_wide, theirs, slow = Heard(), Heard(), Heard(), Slow(port, wide_path, given.slow)
    readers = [(path, given.readers - given.wide, ours), (wide_path, given.wide, of_wide)]
    who = f"{given.readers} readers, {given.submitters} submitters, {given.slow} slow clients"
    print(f"{who}, {given.seconds:.0f} s on {path}, in {TURNS} turns of each server")
    print(f"{given.wide} of the readers on {wide_path}: {len(fetch_plain(port, wide_path, '')):,} bytes")
    for _ in range(TURNS):
        asyncio.run(read(line, "/", given.readers, given.seconds / TURNS, theirs))
        asyncio.run(load(port, readers, given, sent, slow))
    theirs_ratio, ratio = theirs.show("one-line route"), ours.show("board page")
    of_wide.show("wide board page")
    slower = median(ours.seconds) / median(theirs.seconds)
    print(f"the page's median is {slower:.2f}× the one line's; spread {ratio:.2f} beside {theirs_ratio:.2f}")
    print(f"slow clients     {slow.begun:8,} begun, {slow.ended} ended by the server")
    print(f"submissions      {len(sent.ids):8,} taken, {len(sent.errors)} errors")
    states = sent.wait()
    print(f"finished after {sent.waited:.0f} s more: {json.dumps(states)}")
    errors = [*ours.errors, *of_wide.errors, *sent.errors]
    good = not errors and states.keys() <= {"scored"}
    for error in errors[:5]:
        print(f"  {error}")
    print(f"goal: no error, all scored: {'met' if good else 'missed'}")
    print(f"goal: p99 under {GOAL:g}× the median: {'met' if ratio < GOAL else 'missed'}")


async def load(
    port: int, readers: Sequence[tuple[str, int, Heard]], given: argparse.Namespace, sent: Sent, slow: Slow
) -> None:
    """One turn of everybody; readers are a path, how many ask for it, and what they hear."""
    seconds = given.seconds / TURNS
    until = time.perf_counter() + seconds
    reading = (read(port, path, count, seconds, heard) for path, count, heard in readers)
    submitting = (sent.submit(until) for _ in range(given.submitters))
    await asyncio.gather(*reading, slow.hold(until), *submitting)


async def read(port: int, path: str, readers: int, seconds: float, heard: Heard) -> None:
    until = time.perf_counter() + seconds
    await asyncio.gather(*(_read_again(port, path, until, heard) for _ in range(readers)))


async def _read_again(port: int, path: str, until: float, heard: Heard) -> None:
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept-encoding: gzip\r\n\r\n".encode()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < until:
            begin = time.perf_counter()
            writer.write(head)
            status, _ = await _answer(reader)
            heard.seconds.append(time.perf_counter() - begin)
            if status != 200:
                heard.errors.append(f"{path}: {status}")
        writer.close()
    except (OSError, EOFError) as error:
        heard.errors.append(f"{path}: {error!r}")


@dataclass
class Slow:
    """Clients that take their time, and what became of them."""

    port: int
    path: str
    count: int
    begun: int = 0
    ended: int = 0

    async def hold(self, until: float) -> None:
        """Hold as many connections as there are clients until a time."""
        head = f" HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
        form = "content-type: multipart/form-data; boundary=b\r\ncontent-length: 1000000\r\n\r\n"
        page = f"GET {self.path}{head}\r\n".encode()
        half = page[:-2] + b"x: "
        body = f"POST /api/v1{self.path}/generators{head}{form}--b".encode()
        kinds = [(half, b"x", False), (half, b"", False), (body, b"x", False), (page * ASKED, b"", True)]
        await asyncio.gather(*(self._client(*kinds[k % len(kinds)], until) for k in range(self.count)))

    async def _client(self, first: bytes, drip: bytes, reads: bool, until: float) -> None:
        """Send something, then a byte each second or nothing, or read a little of the answers."""
        self.begun += 1
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=SIP)
            writer.write(first)
            while time.perf_counter() < until:
                await asyncio.sleep(min(DRIP, max(0.0, until - time.perf_counter())))
                writer.write(drip)
                if await self._is_over(reader, reads):
                    self.ended += 1
                    break
            writer.close()
        except OSError:
            self.ended += 1

    async def _is_over(self, reader: asyncio.StreamReader, reads: bool) -> bool:
        """Whether the server has ended it: who reads has come to the end, anybody else was told something."""
        if reads:
            return not await reader.read(SIP)
        try:
            await asyncio.wait_for(reader.read(1), 0.001)
        except TimeoutError:
            return False
        return True


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    body = await reader.readexactly(int(length[1])) if length else b""
    return int(head.split(maxsplit=2)[1]), body


@dataclass
class Sent:
    """Generators that were sent in, by their submissions' ids."""

    port: int
    board: str
    token: str
    ids: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    count: int = 0
    waited: float = 0.0

    async def submit(self, until: float) -> None:
        """Send one generator after the other."""
        while time.perf_counter() < until:
            self.count += 1
            random = Random(self.count)
            text = "\n".join(sentence(random) for _ in range(INSTANCES))
            try:
                status, body = await self._post(f"boat {self.count}", text)
            except (OSError, EOFError) as error:
                self.errors.append(f"submission: {error!r}")
                return
            if status == 201:
                self.ids.append(str(json.loads(body)["id"]))
            else:
                self.errors.append(f"submission: {status} {body.decode()[:200]}")
            await asyncio.sleep(PAUSE)

    async def _post(self, name: str, text: str) -> tuple[int, bytes]:
        mark = "a-boundary-that-no-text-holds"
        parts = {'name="name"': name, 'name="file"; filename="outputs.txt"': text}
        body = "".join(f"--{mark}\r\ncontent-disposition: form-data; {k}\r\n\r\n{v}\r\n" for k, v in parts.items())
        raw = f"{body}--{mark}--\r\n".encode()
        path = f"/api/v1/boards/{urllib.parse.quote(self.board)}/generators"
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\nconnection: close\r\n"
        head += f"authorization: Bearer {self.token}\r\n"
        head += f"content-type: multipart/form-data; boundary={mark}\r\ncontent-length: {len(raw)}\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head.encode() + raw)
        found = await _answer(reader)
        writer.close()
        return found

    def wait(self) -> dict[str, int]:
        """Wait until every submission is finished; how many ended in each state."""
        begin, states = time.perf_counter(), {}
        waiting = list(self.ids)
        while waiting and self.waited < PATIENCE:
            for one in waiting:
                answer = fetch_plain(self.port, f"/api/v1/submissions/{one}", self.token)
                states[one] = str(json.loads(answer)["state"])
            waiting = [one for one in waiting if states[one] in ("received", "checking", "trial", "scoring")]
            time.sleep(0.5 if waiting else 0.0)
            self.waited = time.perf_counter() - begin
        return {state: list(states.values()).count(state) for state in sorted(set(states.values()))}


def fetch_plain(port: int, path: str, token: str) -> bytes:
    """What a program gets that asks for no compression, with a token or as a visitor."""
    return asyncio.run(_fetch(port, path, token))


async def _fetch(port: int, path: str, token: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n"
    head += f"authorization: Bearer {token}\r\n" if token else ""
    writer.write(f"{head}\r\n".encode())
    _, body = await _answer(reader)
    writer.close()
    return body


if __name__ == "__main__":
    main()
