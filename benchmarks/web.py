"""How fast the site serves its main page: the board of wmt20-zh-en (19 ranked generators × 17 metrics) against a
one-line route of the same framework, each in one uvicorn process.

The two servers take turns with the same client in a third process, which keeps its connections open and reads every
byte, so that whatever else the machine does falls on both alike. What the page weighs, and what else a browser must
fetch before it can show it, is counted from the page itself.

    python benchmarks/web.py [--rounds 9] [--seconds 2] [--quick] [--wide]
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measuring import BILLBOARDS, run, shared_data
from synthetic import OPTIONS, write_board, write_table

#: Our requests per second over the one-line route's, and the page's weight in compressed bytes.
GOAL, HEAVIEST = 0.5, 300_000
#: A wide board: columns, generators, and the most that its page may weigh, compressed, before any chart is fetched.
WIDE_COLUMNS, WIDE_GENERATORS, WIDE_HEAVIEST = 79, 1_000, 100_000
CONNECTIONS = 8
#: Beside the 15 released columns that take part: with these there are 17 metrics, and no slow one must be computed.
METRICS = ("length", "repetition-3")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="turns of each server (default 9)")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a turn (default 2)")
    parser.add_argument("--quick", action="store_true", help="a made-up board, to see that everything runs")
    parser.add_argument(
        "--wide", action="store_true", help="a made-up board of 79 columns and 1,000 generators instead"
    )
    parser.add_argument("--serve", choices=("board", "line"), help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.data, given.port)
        return
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        board = make_wide_board(work) if given.wide else make_board(work, quick=given.quick)
        if board is None:
            print("wmt20-zh-en: not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
            return
        measure(work, board, given.rounds, given.seconds, WIDE_HEAVIEST if given.wide else HEAVIEST)


def make_wide_board(work: Path) -> str:
    """A board folder with many columns and generators, each with a few outputs."""
    target = work / "data" / "boards" / "wide"
    target.mkdir(parents=True)
    write_board(target, generators=WIDE_GENERATORS, instances=5, metrics=WIDE_COLUMNS)
    return target.name


def make_board(work: Path, *, quick: bool) -> str | None:
    """A board folder in a site's data folder, cut to metrics that are cheap to compute; returns its name."""
    target, data = work / "data" / "boards" / "board", shared_data()
    if quick:
        table = work / "table.csv"
        write_table(table, generators=5, instances=30)
        run((*BILLBOARDS, "import", "table", table, *OPTIONS, "-o", target))
    elif data is None:
        return None
    else:
        people, references = data / "wmt-mqm-human-evaluation", data / "wmt20_references"
        given = ("--board", "wmt20-zh-en", "--judgments", people, "--references", references)
        run((*BILLBOARDS, "import", "billboard", data / "billboard", *given, "-o", target))
    settings = (target / "board.toml").read_text("utf-8")
    chosen = "metrics = [" + ", ".join(f'"{name}"' for name in METRICS) + "]\n"
    settings, replaced = re.subn(r"^metrics = \[.*?\]\n", chosen, settings, flags=re.DOTALL | re.MULTILINE)
    if not replaced:
        settings = re.sub(r"^(name = .*\n)", rf"\1{chosen}", settings, flags=re.MULTILINE)
    (target / "board.toml").write_text(settings, "utf-8")
    found = re.search(r'^name = "(.+)"$', settings, re.MULTILINE)
    assert found is not None
    return found[1]


def serve(what: str, data: Path, port: int) -> None:
    """A server on loopback: the site, scored and ranked before it answers, or one line."""
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import PlainTextResponse

    app = FastAPI()
    if what == "line":

        @app.get("/")
        async def say() -> PlainTextResponse:
            return PlainTextResponse("hello")
    else:
        from billboards.site.site import open_site
        from billboards.site.web.app import create_app
        from billboards.site.work.jobs import run_job
        from billboards.site.work.worklist import next_job

        site = open_site(data)
        while (job := next_job(site, "benchmark")) is not None:
            run_job(site, job)
        app = create_app(site)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


@contextmanager
def server(what: str, data: Path) -> Iterator[tuple[int, int]]:
    """The port and process of a server; it ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = (sys.executable, __file__, "--serve", what, "--data", str(data), "--port", str(port))
    with subprocess.Popen(command) as child:
        try:
            _wait(port, child)
            yield port, child.pid
        finally:
            child.terminate()


def _wait(port: int, child: subprocess.Popen[bytes]) -> None:
    while True:
        if child.poll() is not None:
            sys.exit(f"the server on port {port} ended with exit code {child.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


@dataclass(frozen=True)
class Turn:
    """What a server did in its turn: requests per second, and microseconds of processor time for each."""

    rate: float
    processor: float


def measure(work: Path, board: str, rounds: int, seconds: float, heaviest: int) -> None:
    """Turns of both servers, and their ratio: the median of pairs that follow one another."""
    with server("line", work) as line, server("board", work / "data") as site:
        path = f"/boards/{board}"
        start = time.perf_counter()
        page = fetch(site[0], path)
        took = time.perf_counter() - start
        print(f"the first table comes after {took:.2f} s, and after {again(site[0], path):.3f} s once it is kept")
        describe(page, path, heaviest)
        turns: dict[str, list[Turn]] = {"one-line route": [], "board page": []}
        for _ in range(rounds + 1):
            turns["one-line route"].append(take_turn(*line, "/", seconds))
            turns["board page"].append(take_turn(*site, path, seconds))
    # The first turn of each fills caches and does not count.
    theirs, ours = (found[1:] for found in turns.values())
    for name, found in zip(turns, (theirs, ours), strict=True):
        rate, spent = (median(getattr(turn, word) for turn in found) for word in ("rate", "processor"))
        print(f"{name:16} {rate:8.0f} requests per second, {spent:6.0f} µs of processor time each")
    ratio = median(own.rate / peer.rate for own, peer in zip(ours, theirs, strict=True))
    spent = median(peer.processor / own.processor for own, peer in zip(ours, theirs, strict=True))
    print(f"the board page is served {ratio:.2f}× as often, {spent:.2f}× for the same processor time")
    print(f"goal: at least {GOAL:g}×: {'met' if ratio >= GOAL else 'missed'}")


def take_turn(port: int, process: int, path: str, seconds: float) -> Turn:
    """Ask one server for a while."""
    before, start = processor_seconds(process), time.perf_counter()
    count = asyncio.run(ask(port, path, seconds))
    took, spent = time.perf_counter() - start, processor_seconds(process) - before
    return Turn(count / took, 1e6 * spent / count)


def processor_seconds(process: int) -> float:
    """The processor time a process has taken so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fetch(port: int, path: str) -> bytes:
    """A page as a browser gets it, compressed."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"accept-encoding": "gzip"})
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200, answer.status
        return bytes(answer.read())


def again(port: int, path: str) -> float:
    """The seconds that a page takes which was made before."""
    start = time.perf_counter()
    fetch(port, path)
    return time.perf_counter() - start


def describe(page: bytes, path: str, heaviest: int) -> None:
    """What the page weighs and what it waits for."""
    text = gzip.decompress(page).decode()
    table = text.partition("<tbody>")[2].partition("</tbody>")[0]
    rows, columns = table.count("<tr"), text.count('<th scope="col" class="metric')
    print(f"{path}: {rows} generators × {columns} columns, {len(text):,} bytes, {len(page):,} compressed")
    print(f"goal: at most {heaviest:,} bytes compressed: {'met' if len(page) <= heaviest else 'missed'}")
    files = set(re.findall(r'(?:src|href)="(/static/[^"]+)"', text))
    print(f"further requests of the first view, for files that are kept for ever: {len(files)}")
    waits = re.findall(r'<link[^>]+rel="stylesheet"[^>]*>|<script(?![^>]+type="module")[^>]*>|@import', text)
    print(f"fetched before the first view beside the page: {len(waits)}")


async def ask(port: int, path: str, seconds: float) -> int:
    """How many requests are answered over connections that stay open."""
    until = time.perf_counter() + seconds
    return sum(await asyncio.gather(*(_ask_again(port, path, until) for _ in range(CONNECTIONS))))


async def _ask_again(port: int, path: str, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept-encoding: gzip\r\n\r\n".encode()
    count = 0
    while time.perf_counter() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head.splitlines()[0]
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        assert length is not None
        await reader.readexactly(int(length[1]))
        count += 1
    writer.close()
    return count


if __name__ == "__main__":
    main()
