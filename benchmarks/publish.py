"""What a published site costs, and whether it is right: `billboards publish` of wmt20-zh-en and of WMT23 en-de.

Each board is imported, cut to its released scores and two metrics that are cheap to compute, and published. Then its
files are counted by what they hold, every link of every page is followed, and a live site serves the same board: each
published page is asked for there as a visitor does, and the numbers of the two are compared one by one, in their order.

    python benchmarks/publish.py [BOARD ...] [--quick] [--full] [--pairs 20] [--keep DIR]
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

from measuring import BILLBOARDS, run, shared_data
from synthetic import OPTIONS, write_table

#: Beside the released columns: with these no slow metric must be computed.
METRICS = ("length", "repetition-3")
REAL = ("wmt20-zh-en", "wmt23-en-de")
#: Pages that a published site has of its own: how to hand in work, all comparisons as links, files without a key.
OWN = ("submit", "compare", "downloads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("boards", nargs="*", metavar="BOARD", help=f"of {', '.join(REAL)} (default: both)")
    parser.add_argument("--quick", action="store_true", help="a made-up board, to see that everything runs")
    parser.add_argument("--full", action="store_true", help="with parts of the board and all analyses")
    parser.add_argument("--pairs", default="20", help="comparisons of generators and of metrics (default 20)")
    parser.add_argument("--keep", type=Path, help="a folder in which what is written stays")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.port)
        return
    options: tuple[str, ...] = ("--draft", "--jobs", "1", "--pairs", given.pairs)
    options += () if given.full else ("--no-parts", "--no-analyses")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("made-up",) if given.quick else given.boards or REAL:
            work = (given.keep or Path(folder)) / name
            work.mkdir(parents=True)
            if import_board(work / "data" / "boards" / name, name):
                measure(work, name, options)
            else:
                print(f"{name}: not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")


def import_board(target: Path, name: str) -> bool:
    """A board folder with its released scores; False where the data are not there."""
    data = shared_data()
    how: tuple[str | Path, ...]
    if name == "made-up":
        table = target.parents[2] / "table.csv"
        write_table(table, generators=5, instances=12)
        how = ("table", table, *OPTIONS, "--name", name)
    elif data is None:
        return False
    elif name == "wmt20-zh-en":
        people, references = data / "wmt-mqm-human-evaluation", data / "wmt20_references"
        how = ("billboard", data / "billboard", "--board", name, "--judgments", people, "--references", references)
    else:
        how = ("mtme", data / "mtme_wmt23_en-de", "--language-pair", "en-de", "--judgments", "mqm", "--name", name)
    cost, _ = run((*BILLBOARDS, "import", *how, "-o", target))
    print(f"{name}: imported in {cost.processor:.0f} s of processor time")
    settings = (target / "board.toml").read_text("utf-8")
    chosen = "metrics = [" + ", ".join(f'"{metric}"' for metric in METRICS) + "]\n"
    settings = re.sub(r"^metrics = \[.*?\]\n", chosen, settings, flags=re.DOTALL | re.MULTILINE)
    (target / "board.toml").write_text(settings, "utf-8")
    return True


def measure(work: Path, name: str, options: tuple[str, ...]) -> None:
    """Publish a board and print all figures."""
    board, out = work / "data" / "boards" / name, work / "public"
    # The live site has the folder as it was before, without what publishing has computed.
    live = work / "live"
    shutil.copytree(work / "data", live)
    ranked, _ = run((*BILLBOARDS, "score", board))
    cost, _ = run((*BILLBOARDS, "publish", board, "-o", out, *options))
    print(f"{name}: scored in {ranked.processor:.0f} s of processor time; options {' '.join(options)}")
    print(f"{name}: published in {spell(cost.processor)} of processor time, {spell(cost.seconds)} by the clock")
    print(f"{name}: {cost.mib:,.0f} MiB at the peak")
    describe(name, out)
    check_links(name, out)
    compare(name, out, live)


def spell(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def describe(name: str, out: Path) -> None:
    """Files and bytes by what they hold, and as a server or an archive would compress them."""
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    packed = 0
    for path in sorted(out.rglob("*")):
        if path.is_file():
            kind, content = kind_of(path.relative_to(out)), path.read_bytes()
            files[kind] += 1
            sizes[kind] += len(content)
            packed += len(gzip.compress(content, 6))
    pages = sum(1 for _ in out.rglob("*.html"))
    print(f"{name}: {pages:,} pages, {files.total():,} files, {sizes.total() / 1e6:.1f} MB, gzip {packed / 1e6:.1f} MB")
    for kind, size in sizes.most_common():
        print(f"{name}:   {kind:24} {files[kind]:6,} files {size / 1e6:8.1f} MB")


def kind_of(path: Path) -> str:
    """What a published file holds."""
    rest = path.parts[2:] if path.parts[0] == "boards" and len(path.parts) > 2 else ()
    if path.suffix == ".html":
        return f"pages of {rest[0]}" if len(rest) > 1 else "other pages"
    if rest[:1] == ("data",):
        return "data for the search"
    return f"downloads {path.suffix}" if rest and path.suffix not in (".svg", ".png") else "charts and other files"


class Links(HTMLParser):
    """The addresses of a page and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.places.add(values.get("id", ""))
        self.links += [values[key] for key in ("href", "src", "action") if key in values and tag != "meta"]
        self.links += [values["srcset"].split()[0]] if "srcset" in values else []


def check_links(name: str, out: Path) -> None:
    """Follow every link of every page to its file, and to its place there."""
    pages = {path.resolve(): Links(path.read_text("utf-8")) for path in sorted(out.rglob("*.html"))}
    broken, count, root = [], 0, out.resolve()
    for path, page in pages.items():
        for link in page.links:
            count += 1
            split = urlsplit(link)
            if split.scheme in ("https", "http", "data", "mailto"):
                continue
            target = (path.parent / unquote(split.path)).resolve() if split.path else path
            is_there = target.is_file() and root in target.parents and not link.startswith("/")
            if not is_there or (split.fragment and target in pages and split.fragment not in pages[target].places):
                broken.append(f"{path.relative_to(root)}: {link}")
    print(f"{name}: {count:,} links on {len(pages):,} pages, {len(broken)} lead nowhere")
    for line in broken[:10]:
        print(f"{name}:   {line}")


def serve(data: Path, port: int) -> None:
    """A site on loopback as visitors see it, scored and ranked before it answers."""
    import uvicorn

    from billboards.site.settings import SiteSettings
    from billboards.site.site import open_site
    from billboards.site.web.app import create_app
    from billboards.site.work.worker import work_until_done

    site = open_site(data, login_required=True)
    # One visitor asks for all pages.
    site.settings = SiteSettings.model_validate({**dict(site.settings), "reads_per_minute": 10**9})
    work_until_done(site, "benchmark")
    uvicorn.run(create_app(site), host="127.0.0.1", port=port, log_level="error", access_log=False)


@contextmanager
def server(data: Path) -> Iterator[http.client.HTTPConnection]:
    """A connection to a site; it ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    with subprocess.Popen((sys.executable, __file__, "--serve", str(data), "--port", str(port))) as child:
        try:
            while True:
                if child.poll() is not None:
                    sys.exit(f"the site ended with exit code {child.returncode}")
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield http.client.HTTPConnection("127.0.0.1", port)
        finally:
            child.terminate()


@dataclass
class Compared:
    """What became of a comparison: the published pages that were asked for on a site, and what they showed."""

    pages: set[Path] = field(default_factory=set)
    numbers: int = 0
    different: list[str] = field(default_factory=list)


def compare(name: str, out: Path, live: Path) -> None:
    """Ask a live site for every published page, along its own links, and compare the numbers of both."""
    found = Compared()
    waiting, seen = deque(first_addresses(name, out)), set[Path]()
    with server(live) as site:
        while waiting:
            address = waiting.popleft()
            path = published_file(out, address)
            if path is None:
                # How a page is sorted or what it shows first is often no file of its own: the page itself is.
                address = address.partition("?")[0]
                path = published_file(out, address)
            if path is None or path in seen:
                continue
            seen.add(path)
            is_own = path.stem in OWN
            site.request("GET", address, headers={"accept": "text/html"})
            answer = site.getresponse()
            page = answer.read().decode()
            assert answer.status == 200, (address, answer.status)
            waiting.extend(link for link in Links(page).links if link.startswith("/"))
            found.pages.add(path)
            ours, theirs = ([], []) if is_own else (numbers_of(path.read_text("utf-8")), numbers_of(page))
            found.numbers += len(ours)
            if ours != theirs:
                found.different.append(f"{address}: {difference(ours, theirs)}")
    missed = [path for path in out.rglob("*.html") if path not in found.pages]
    pages = sum(path.stem not in OWN for path in found.pages)
    print(f"{name}: {found.numbers:,} numbers on {pages:,} pages compared with those of a live site")
    print(f"{name}: {len(found.different)} pages differ, {len(missed)} were not reached by the live site's links")
    for line in [*found.different[:5], *(f"not reached: {path.relative_to(out)}" for path in missed[:5])]:
        print(f"{name}:   {line}")


def first_addresses(name: str, out: Path) -> list[str]:
    """Where a live site is entered: home, and what forms lead to instead of links."""
    board = f"/boards/{quote(name)}"
    orders = ("best", "worst", "disagreement", "kinder", "harsher")
    text = (out / "boards" / name / "data" / "pairs.js").read_text("utf-8")
    pairs = json.loads(text[text.index("=") + 1 : text.rindex(";")])
    compared = [f"{board}/compare?{urlencode({'first': one, 'second': other})}" for one, other, _ in pairs]
    sorted_by = [f"{board}/instances?sort={order}" for order in orders]
    return ["/", f"/embed{board}", f"{board}/card", f"{board}/charts/scatter", *sorted_by, *compared]


def published_file(out: Path, address: str) -> Path | None:
    """The file of an address of the live site, where it was published."""
    from billboards.site.publishing.places import Files, read_address

    asked = read_address(address)
    if asked is None:
        return None
    path = out / Files().of(asked, is_page=True)
    return path if path.is_file() else None


#: A number as pages show it, and what holds others on each site: forms, times, and how long a metric took.
NUMBER = re.compile(r"[-−+]?\d[\d,]*(?:\.\d+)?%?|[-−+]?\.\d+")
ASIDE = re.compile(
    r"<form\b.*?</form>|<script\b.*?</script>|<details class=\"columns\".*?</details>|<time\b.*?</time>"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d UTC|<td[^>]*>[\d.,]+ (?:ns|µs|ms|s|min|h)</td>",
    re.DOTALL,
)


def numbers_of(page: str) -> list[str]:
    """All numbers that a page shows, in their order."""
    main = ASIDE.sub(" ", page.partition("<main")[2].partition("</main>")[0] or page.partition("<body")[2])
    return NUMBER.findall(unescape(re.sub(r"<[^>]*>", " ", main)))


def difference(ours: list[str], theirs: list[str]) -> str:
    """Where two lists part."""
    k = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return f"{len(ours)} and {len(theirs)} numbers, parting with {ours[k : k + 3]} and {theirs[k : k + 3]}"


if __name__ == "__main__":
    main()
