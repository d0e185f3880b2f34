"""A site under load on loopback: 200 readers of the board page, 20 submitters and 60 slow clients, for a minute.

A whole site runs (`billboards serve`: a web process and two workers) on a made-up board. Every reader asks for the
board page again and again over a connection of its own; every submitter sends in a new generator, waits, and sends the
next. Slow clients hold what they can meanwhile: a third of them sends a byte of a head each second, a third a byte of a
body, and a third asks for the page a hundred times and reads a kilobyte a second. A server with one line of the same
framework stands beside it in the same run, and the same readers ask it in turns with the site, so that whatever else
the machine does falls on both alike. Then every submission is waited for.

    python benchmarks/load.py [--seconds 60] [--readers 200] [--submitters 20] [--slow 60]
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
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median, quantiles

from measuring import BILLBOARDS
from synthetic import sentence
from web import fetch, make_board, server

#: p99 of the board page over its median, at most.
GOAL = 10.0
#: Turns of both servers, and seconds that a submitter waits between two submissions.
TURNS, PAUSE = 6, 2.0
INSTANCES = 30
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
    parser.add_argument("--submitters", type=int, default=20)
    parser.add_argument("--slow", type=int, default=60, help="clients that send or read a little each second")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        board = make_board(work, quick=True)
        assert board is not None
        serving = Serving(work / "data", board)
        with server("line", work) as (line, _), serving as port:
            sent = Sent(port, board, serving.token)
            measure(port, line, sent, given)


class Serving:
    """`billboards serve` on a data folder, ranked before the block begins."""

    def __init__(self, data: Path, board: str) -> None:
        self.data, self.board = data, board
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
                fetch(port, f"/api/v1/boards/{urllib.parse.quote(self.board)}/ranking")
            except OSError:
                time.sleep(0.2)
            else:
                return port

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(60)


def measure(port: int, line: int, sent: Sent, given: argparse.Namespace) -> None:
    """Turns of the site under its whole load and of the one line under its readers."""
    path = f"/boards/{urllib.parse.quote(sent.board)}"
    ours, theirs, slow = Heard(), Heard(), Slow(port, path, given.slow)
    who = f"{given.readers} readers, {given.submitters} submitters, {given.slow} slow clients"
    print(f"{who}, {given.seconds:.0f} s on {path}, in {TURNS} turns of each server")
    for _ in range(TURNS):
        asyncio.run(read(line, "/", given.readers, given.seconds / TURNS, theirs))
        asyncio.run(load(port, path, given, ours, sent, slow))
    theirs_ratio, ratio = theirs.show("one-line route"), ours.show("board page")
    slower = median(ours.seconds) / median(theirs.seconds)
    print(f"the page's median is {slower:.2f}× the one line's; spread {ratio:.2f} beside {theirs_ratio:.2f}")
    print(f"slow clients     {slow.begun:8,} begun, {slow.ended} ended by the server")
    print(f"submissions      {len(sent.ids):8,} taken, {len(sent.errors)} errors")
    states = sent.wait()
    print(f"finished after {sent.waited:.0f} s more: {json.dumps(states)}")
    good = not ours.errors and not sent.errors and states.keys() <= {"scored"}
    for error in [*ours.errors, *sent.errors][:5]:
        print(f"  {error}")
    print(f"goal: no error, all scored: {'met' if good else 'missed'}")
    print(f"goal: p99 under {GOAL:g}× the median: {'met' if ratio < GOAL else 'missed'}")


async def load(port: int, path: str, given: argparse.Namespace, heard: Heard, sent: Sent, slow: Slow) -> None:
    seconds = given.seconds / TURNS
    until = time.perf_counter() + seconds
    submitting = (sent.submit(until) for _ in range(given.submitters))
    await asyncio.gather(read(port, path, given.readers, seconds, heard), slow.hold(until), *submitting)


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
        head = f"{self.path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
        page, body = f"GET {head}\r\n".encode(), f"POST {head}content-length: 1000000\r\n\r\n".encode()
        kinds = [(page[:-2] + b"x: ", b"x"), (body, b"x"), (page * ASKED, b"")]
        await asyncio.gather(*(self._client(*kinds[k % len(kinds)], until) for k in range(self.count)))

    async def _client(self, first: bytes, drip: bytes, until: float) -> None:
        """Send something, then a byte each second, or read a little of the answers."""
        self.begun += 1
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=SIP)
            writer.write(first)
            while time.perf_counter() < until:
                await asyncio.sleep(min(DRIP, max(0.0, until - time.perf_counter())))
                writer.write(drip)
                if reader.at_eof() or (not drip and not await reader.read(SIP)):
                    self.ended += 1
                    break
            writer.close()
        except OSError:
            self.ended += 1


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
    """What a program with a token gets that asks for no compression."""
    return asyncio.run(_fetch(port, path, token))


async def _fetch(port: int, path: str, token: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n"
    writer.write(f"{head}authorization: Bearer {token}\r\n\r\n".encode())
    _, body = await _answer(reader)
    writer.close()
    return body


if __name__ == "__main__":
    main()
