"""How fast the site serves its main page: the board of wmt20-zh-en (19 ranked generators × 17 metrics) against a
one-line route of the same framework, each in one uvicorn process; asked by a visitor and by somebody who is logged in.

All take short turns, each round in another order, with the same client in a third process, which keeps its connections
open and reads every byte, so that whatever else the machine does falls on all alike. Beside the rate stands how many
requests a second of the server's own processor time answers, on which neither the client nor other programs count.
What the page weighs, and what else a browser must fetch before it can show it, is counted from the page itself.

    python benchmarks/web.py [--rounds 25] [--seconds 0.5] [--quick] [--wide]
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
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
from statistics import median, quantiles

from measuring import BILLBOARDS, run, shared_data
from synthetic import OPTIONS, write_board, write_table

#: Our requests per second over the one-line route's, and the page's weight in compressed bytes.
GOAL, HEAVIEST = 0.5, 300_000
#: A wide board: columns, generators, and the most that its page may weigh, compressed, before any chart is fetched.
WIDE_COLUMNS, WIDE_GENERATORS, WIDE_HEAVIEST = 79, 1_000, 100_000
CONNECTIONS = 8
#: Where the site puts the cookie of somebody who is logged in.
COOKIE = "cookie.txt"
LINE = "one-line route"
#: Beside the 15 released columns that take part: with these there are 17 metrics, and no slow one must be computed.
METRICS = ("length", "repetition-3")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25, help="turns of each (default 25)")
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a turn (default 0.5)")
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
    """A server on loopback: the site as it is served to the world, scored and ranked before it answers, or one line."""
    if what == "line":
        import uvicorn
        from fastapi import FastAPI
        from fastapi.responses import PlainTextResponse

        app = FastAPI()

        @app.get("/")
        async def say() -> PlainTextResponse:
            return PlainTextResponse("hello")

        uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)
        return
    from billboards.site.accounts.access import begin_session, local_viewer
    from billboards.site.settings import SiteSettings
    from billboards.site.site import open_site
    from billboards.site.web.server import web_server
    from billboards.site.work.worker import work_until_done

    site = open_site(data, login_required=True)
    # One address asks for everything.
    site.settings = SiteSettings.model_validate({**dict(site.settings), "reads_per_minute": 10**9})
    work_until_done(site, "benchmark")
    account = local_viewer(site).account
    assert account is not None
    (data / COOKIE).write_text(f"billboards={begin_session(site, account)[0]}")
    web_server(site, host="127.0.0.1", port=port, log_level="error").run()


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


@dataclass(frozen=True)
class Asked:
    """A page that takes turns: the port and process of its server, its path, and the cookie of who asks."""

    port: int
    process: int
    path: str
    cookie: str = ""


def measure(work: Path, board: str, rounds: int, seconds: float, heaviest: int) -> None:
    """Turns of all, and what each reaches of the one-line route's in the same round."""
    with server("line", work) as line, server("board", work / "data") as site:
        path = f"/boards/{board}"
        start = time.perf_counter()
        page = fetch(site[0], path)
        took = time.perf_counter() - start
        print(f"the first table comes after {took:.2f} s, and after {again(site[0], path):.3f} s once it is kept")
        describe(page, path, heaviest)
        cookie = (work / "data" / COOKIE).read_text()
        asked = {
            LINE: Asked(*line, "/"),
            "board page": Asked(*site, path),
            "logged in": Asked(*site, path, cookie),
        }
        turns: dict[str, list[Turn]] = {name: [] for name in asked}
        for k in range(rounds + 1):
            order = [*asked][k % 3 :] + [*asked][: k % 3]
            for name in order:
                turns[name].append(take_turn(asked[name], seconds))
    # The first turn of each fills caches and does not count.
    report({name: found[1:] for name, found in turns.items()})


def report(turns: dict[str, list[Turn]]) -> None:
    """The medians of all, and of the ratios within rounds with the quartiles of these."""
    for name, found in turns.items():
        rate, spent = (median(getattr(turn, word) for turn in found) for word in ("rate", "processor"))
        print(f"{name:16} {rate:8.0f} requests per second, {spent:6.0f} µs of processor time each")
    for name, ours in turns.items():
        if name == LINE:
            continue
        pairs = list(zip(ours, turns[LINE], strict=True))
        by_clock = [own.rate / peer.rate for own, peer in pairs]
        by_processor = [peer.processor / own.processor for own, peer in pairs]
        print(f"{name}: {spread(by_clock)} of the one-line route's rate by the clock")
        print(f"{name}: {spread(by_processor)} of its rate for the same processor time of the server")
        clock, processor = ("met" if median(ratios) >= GOAL else "missed" for ratios in (by_clock, by_processor))
        print(f"goal: at least {GOAL:g} of it: {clock} by the clock, {processor} by processor time")


def spread(values: list[float]) -> str:
    """The median, with the quartiles where there are several values."""
    if len(values) < 2:
        return f"{median(values):.2f}"
    low, _, high = quantiles(values, n=4)
    return f"{median(values):.2f} (quartiles {low:.2f} to {high:.2f})"


def take_turn(asked: Asked, seconds: float) -> Turn:
    """Ask one server for a while."""
    before, start = processor_seconds(asked.process), time.perf_counter()
    count = asyncio.run(ask(asked, seconds))
    took, spent = time.perf_counter() - start, processor_seconds(asked.process) - before
    return Turn(count / took, 1e6 * spent / count)


def processor_seconds(process: int) -> float:
    """The processor time that a process has taken so far, by the clock that Linux has of each (clock_getcpuclockid)."""
    return time.clock_gettime(~process << 3 | 2)


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


async def ask(asked: Asked, seconds: float) -> int:
    """How many requests are answered over connections that stay open."""
    until = time.perf_counter() + seconds
    return sum(await asyncio.gather(*(_ask_again(asked, until) for _ in range(CONNECTIONS))))


async def _ask_again(asked: Asked, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", asked.port)
    lines = [f"GET {asked.path} HTTP/1.1", f"host: 127.0.0.1:{asked.port}", "accept-encoding: gzip"]
    lines += [f"cookie: {asked.cookie}"] if asked.cookie else []
    request = "\r\n".join([*lines, "", ""]).encode()
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
