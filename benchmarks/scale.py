"""How a site grows: 10, 100 and 1,000 generators × 50 metrics × 2,000 instances, and on paper a million submissions.

Every size is a site of its own, made by `scale_site.py`. A worker's process opens it, ranks the board, scores one more
generator and ranks again; a web server then serves the board page. Printed are time, processor time, peak memory, bytes
read and disk, each with its growth, the exponent b of cost ~ size^b. `--simulate` multiplies the unit costs that were
measured on two sizes out to a million submissions and says which part passes its bound first.

    python benchmarks/scale.py [--generators 10 100 1000] [--metrics 50] [--instances 2000] [--simulate] [--keep DIR]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import urllib.error
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measuring import growth, run
from scale_site import BOARD
from web import fetch, server

SITE = Path(__file__).with_name("scale_site.py")
FETCHES = 20
WORDS = {"seconds": "s", "processor": "cpu s", "mib": "MiB", "read": "MiB read"}
STEPS = ("open", "plan", "rank", "score", "refresh", "page")

Figures = dict[str, dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generators", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--metrics", type=int, default=50)
    parser.add_argument("--instances", type=int, default=2000)
    parser.add_argument("--simulate", action="store_true", help="multiply out what the last two sizes cost")
    parser.add_argument("--keep", type=Path, help="make the sites here, use those that are there, and leave them")
    given = parser.parse_args()
    with ExitStack() as stack:
        work = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="billboards-scale-")))
        found = {}
        for size in given.generators:
            found[size] = measure(work / str(size), size, given.metrics, given.instances)
            show(size, found[size])
        show_growth(found)
        if given.simulate:
            simulate(found, given.metrics, given.instances)


def measure(data: Path, generators: int, metrics: int, instances: int) -> Figures:
    """All figures of one size; what was measured before on a site that was kept is read again."""
    kept = data / "figures.json"
    if kept.exists():
        found: Figures = json.loads(kept.read_text())
        return found
    options = ("--generators", generators, "--metrics", metrics, "--instances", instances)
    words = tuple(map(str, options))
    found = {}
    if not (data / "made").exists():
        found |= _steps((sys.executable, SITE, "make", data, *words))
        (data / "made").write_text(json.dumps(found))
    found = json.loads((data / "made").read_text())
    found["disk"] = {
        "database": sum(path.stat().st_size for path in data.glob("site.sqlite*")) / 2**20,
        "blobs": sum(path.stat().st_size for path in data.glob("blobs/*/*")) / 2**20,
    }
    found |= _steps((sys.executable, SITE, "work", data, *words))
    found["page"] = _serve(data)
    kept.write_text(json.dumps(found))
    return found


def _steps(command: Sequence[str | Path]) -> Figures:
    lines = [json.loads(line) for line in run(command)[1].splitlines()]
    return {line.pop("step"): line for line in lines}


def _serve(data: Path) -> dict[str, float]:
    """The board page, first and then from what the server keeps."""
    with server("board", data) as (port, process):
        begin = time.perf_counter()
        try:
            size = len(fetch(port, f"/boards/{BOARD}"))
        except urllib.error.HTTPError as error:
            sys.exit(f"{data}: the board page is answered with {error.code}")
        first, times = time.perf_counter() - begin, []
        for _ in range(FETCHES):
            begin = time.perf_counter()
            fetch(port, f"/boards/{BOARD}")
            times.append(time.perf_counter() - begin)
        status = Path(f"/proc/{process}/status").read_text()
    peak = int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024
    return {"seconds": first, "again": median(times), "mib": peak, "kilobytes": size / 1000}


def show(size: int, found: Figures) -> None:
    disk, page = found["disk"], found["page"]
    print(f"\n{size:,} generators: database {disk['database']:,.0f} MiB, submitted files {disk['blobs']:,.1f} MiB")
    for step in STEPS[:-1]:
        print(f"  {step:8} " + ", ".join(f"{found[step][key]:9,.2f} {word}" for key, word in WORDS.items()))
    print(f"  {'page':8} {page['seconds']:9,.2f} s the first time, {1000 * page['again']:,.1f} ms again, ", end="")
    print(f"{page['kilobytes']:,.0f} kB compressed; the server's peak {page['mib']:,.0f} MiB", flush=True)


def show_growth(found: Mapping[int, Figures]) -> None:
    """Exponents between a size and the next."""
    for small, large in zip(list(found)[:-1], list(found)[1:], strict=True):
        print(f"\nfrom {small:,} to {large:,} generators, exponents (1 is proportional)")
        for step in STEPS:
            keys = [key for key in ("processor", "seconds", "mib", "read") if key in found[large][step]]
            pairs = [(key, found[small][step][key], found[large][step][key]) for key in keys]
            said = [f"{key} {growth(a, b, large / small):5.2f}" for key, a, b in pairs if a > 0 and b > 0]
            print(f"  {step:8} {', '.join(said)}")


@dataclass(frozen=True)
class Bound:
    """A part of the site, what it costs at n generators on one board, and when that is too much."""

    part: str
    unit: str
    fixed: float
    each: float
    square: float
    most: float
    remedy: str

    def at(self, n: float) -> float:
        return self.fixed + self.each * n + self.square * n * n

    def breaks(self) -> float:
        """The size at which the part passes its bound, by halving."""
        low, high = 1.0, 1e12
        while high / low > 1.001:
            middle = (low * high) ** 0.5
            low, high = (middle, high) if self.at(middle) < self.most else (low, middle)
        return low


def bounds(found: Mapping[int, Figures], metrics: int, instances: int) -> list[Bound]:
    """What each part costs by size, from the last two sizes measured."""
    small, large = list(found)[-2:]
    few, many = found[small], found[large]

    def line(step: str, key: str, unit: float = 1.0) -> tuple[float, float]:
        each = max((many[step][key] - few[step][key]) / (large - small), 0.0)
        return max(many[step][key] - each * large, 0.0) / unit, each / unit

    cell = metrics * instances * 8 / 2**20
    submitted = many["submit"]
    each_blob = many["disk"]["blobs"] / max(submitted["each"], 1)
    document = many["refresh"]["document"] / large
    rate = max(submitted["processor"], 0.01) / max(submitted["each"], 1)
    return [
        Bound("rankings kept, one after every submission", "GiB", 0, 0, document / 1024 / 2, 100, "`quiet` hours"),
        Bound("finding out what is missing", "cpu s", *line("plan", "processor"), 0, 10, "a board per phase"),
        Bound("a ranking", "cpu s", *line("rank", "processor"), 0, 600, "a board per phase; fewer draws"),
        Bound("a ranking's memory", "GiB", *line("refresh", "mib", 1024), 0, 16, "a board per phase"),
        Bound("the board page, the first time", "s", *line("page", "seconds"), 0, 10, "a board per phase"),
        Bound("opening a board", "s", *line("open", "processor"), 0, 60, "a board per phase"),
        Bound("cells on disk", "GiB", 0, cell / 1024, 0, 2000, "PostgreSQL; old boards archived"),
        Bound("submitted files", "GiB", 0, each_blob / 1024, 0, 2000, "object storage"),
        Bound("taking submissions, one writer", "days", 0, rate / 86400, 0, 30, "several web processes"),
    ]


def simulate(found: Mapping[int, Figures], metrics: int, instances: int) -> None:
    """A million submissions to one board, and to a thousand boards of a thousand."""
    million = 1_000_000
    print(f"\non paper: {million:,} generators on one board of {metrics} metrics × {instances:,} instances")
    for one in sorted(bounds(found, metrics, instances), key=Bound.breaks):
        print(f"  {one.part:44} {one.at(million):14,.1f} {one.unit:6}", end=" ")
        print(f"bound {one.most:,} passed at {one.breaks():,.0f}: {one.remedy}")
    print(f"on {million // 1000:,} boards of 1,000 (those not in use cost disk only)")
    for one in bounds(found, metrics, instances):
        print(f"  {one.part:44} {one.at(1000):14,.3f} {one.unit} a board, {1000 * one.at(1000):,.1f} in all")


if __name__ == "__main__":
    main()
