"""What a board costs: time and peak memory of import, score and rank, and how each grows with the board.

Four parts. wmt20-zh-en is the real thing, beside peers that compute the same numbers (checked before any ratio is
printed). Then generators grow at 1,000 instances and instances at 10 generators, on made-up boards with a judgment of
every output and metrics so cheap that scoring shows our own overhead. Growth is the exponent b of cost ~ size^b between
a size and the one before: 1 is linear. Every figure is a whole process with its start; medians of three runs, except
that the largest boards run once. The last part refreshes boards of 15 metrics after one more generator, and holds the
memory that takes against the score matrix, metrics × generators × instances × 8 bytes; what the same command takes on
a board of next to nothing is the interpreter with its libraries, and is taken off.

    python benchmarks/board.py [--quick] [--part zh-en] [--part generators] [--part instances] [--part refresh]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from measuring import BILLBOARDS, HEADER, Command, Cost, cost_of, growth, run, shared_data
from synthetic import OPTIONS, write_board, write_table

PARTS = ("zh-en", "generators", "instances", "refresh")
CHEAP = ("--metric", "length", "--metric", "repetition-1", "--jobs", "1")
#: Generators and instances of each size; the exponent is taken from one to the next.
GENERATORS, INSTANCES = ((10, 1_000), (100, 1_000), (1_000, 1_000)), ((10, 1_000), (10, 10_000), (10, 100_000))
QUICK_GENERATORS, QUICK_INSTANCES = ((4, 40), (8, 40)), ((4, 40), (4, 80))
#: Columns of scores that a refreshed board has from elsewhere; one more is its own.
IMPORTED = 14
#: More outputs than this are measured once.
REPEATED = 100_000
EQUAL = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small made-up boards only, to see that all works")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command on boards that aren't large")
    arguments = parser.parse_args()
    parts, runs = arguments.part or PARTS, arguments.runs
    generators = QUICK_GENERATORS if arguments.quick else GENERATORS
    instances = QUICK_INSTANCES if arguments.quick else INSTANCES
    with tempfile.TemporaryDirectory(prefix="billboards-benchmark-") as work:
        if "zh-en" in parts and not arguments.quick:
            measure_real_board(Path(work), runs)
        if "generators" in parts:
            measure_growth("generators", generators, Path(work), runs)
        if "instances" in parts:
            measure_growth("instances", instances, Path(work), runs)
        if "refresh" in parts:
            measure_refresh(generators, Path(work), runs)


def measure_real_board(work: Path, runs: int) -> None:
    """wmt20-zh-en with its released scores, from the public files to a ranking."""
    data = shared_data()
    if data is None:
        print("wmt20-zh-en: not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    board = work / "wmt20-zh-en"
    source = ("billboard", data / "billboard", "--board", board.name, "-o", board, "--force")
    judged = ("--judgments", data / "wmt-mqm-human-evaluation", "--references", data / "wmt20_references")
    cells = board / ".billboards"
    print(f"{board.name}: 2,000 instances, 21 generators, 20,000 judgments, 16 columns of released scores")
    print(f"{'step':34} {HEADER}")
    show("import", cost_of((*BILLBOARDS, "import", *source, *judged), runs=runs))
    show("open", cost_of(opening(board), runs=runs))
    show("rank", cost_of((*BILLBOARDS, "rank", board, "--json"), runs=runs))
    score = (*BILLBOARDS, "score", board)
    show("score, the board's 10 metrics", cost_of(score, before=lambda: shutil.rmtree(cells, ignore_errors=True)))
    show("score again, nothing to do", cost_of(score, runs=runs))
    compare_ranking(board, lam=7.65, draws=1_000, runs=runs)


def measure_growth(what: str, sizes: Sequence[tuple[int, int]], work: Path, runs: int) -> None:
    """The costs of every step at every size, step by step, with the growth from one size to the next."""
    found: dict[tuple[int, int], dict[str, Cost]] = {}
    for generators, instances in sizes:
        board = work / f"{what}-{generators}-{instances}"
        times = runs if generators * instances <= REPEATED else 1
        found[generators, instances] = dict(steps(board, generators, instances, times))
        if what == "generators" and len(found) == 1:
            compare_ranking(board, lam=1.0, draws=100, runs=runs)
            compare_bleu(board, runs)
        shutil.rmtree(board)
    print(f"\n{what:>12} {'outputs':>9}  {'step':26} {HEADER}  growth of cpu  of MiB")
    for step in found[sizes[0]]:
        for k, size in enumerate(sizes):
            show_growth(what, step, size, found[size][step], sizes[k - 1] if k else None, found)


def steps(board: Path, generators: int, instances: int, runs: int) -> Iterator[tuple[str, Cost]]:
    """Each step of a board's life with its cost, from a table to a ranking with one more generator."""
    table = board.with_suffix(".csv")
    write_table(table, generators=generators, instances=instances)
    yield "import", cost_of((*BILLBOARDS, "import", "table", table, *OPTIONS, "-o", board, "--force"), runs=runs)
    table.unlink()
    yield "open", cost_of(opening(board), runs=runs)
    cells = board / ".billboards"
    score: Command = (*BILLBOARDS, "score", board, *CHEAP)
    yield "score", cost_of(score, runs=runs, before=lambda: shutil.rmtree(cells, ignore_errors=True))
    yield "score again", cost_of(score, runs=runs)
    rank: Command = (*BILLBOARDS, "rank", board, "--json")
    yield "rank", cost_of(rank, runs=runs)
    add_generator(board)
    yield "score one more generator", cost_of(score)
    yield "rank with it", cost_of(rank, runs=runs)


def measure_refresh(sizes: Sequence[tuple[int, int]], work: Path, runs: int) -> None:
    """Score and rank with one more generator, and the peak of memory above the interpreter's beside the matrix."""
    bare = dict(refresh(work / "refresh-bare", 3, 12, runs))
    took = ", ".join(f"{step} {cost.mib:.0f} MiB" for step, cost in bare.items())
    print(f"\nrefresh after one more generator, {IMPORTED + 1} metrics; on 3 generators × 12 instances: {took}")
    print(f"{'generators':>12} {'matrix MiB':>10}  {'step':26} {HEADER}  MiB above  times the matrix")
    for generators, instances in sizes:
        matrix = (IMPORTED + 1) * (generators + 1) * instances * 8 / 2**20
        times = runs if generators * instances < REPEATED else 1
        for step, cost in refresh(work / f"refresh-{generators}", generators, instances, times):
            above = cost.mib - bare[step].mib
            figures = f"{above:9.0f}  {above / matrix:16.2f}"
            print(f"{generators:>12,} {matrix:>10.1f}  {step:26} {cost}  {figures}", flush=True)


def refresh(board: Path, generators: int, instances: int, runs: int) -> Iterator[tuple[str, Cost]]:
    """The cost of a board's first ranking, and of scoring and ranking with one more generator."""
    write_board(board, generators=generators, instances=instances, metrics=IMPORTED)
    score: Command = (*BILLBOARDS, "score", board, "--metric", "length", "--jobs", "1")
    rank: Command = (*BILLBOARDS, "rank", board, "--json")
    run(score)
    shutil.rmtree(board / ".billboards" / "read", ignore_errors=True)
    yield "first rank", cost_of(rank)
    add_generator(board)
    yield "score one more generator", cost_of(score)
    yield "rank with it", cost_of(rank, runs=runs)
    shutil.rmtree(board)


def opening(board: Path) -> Command:
    """Opening a board from Python, and nothing else."""
    return (sys.executable, "-c", "import sys, billboards; billboards.open(sys.argv[1])", board)


def add_generator(board: Path) -> None:
    """One more generator: the first one's outputs, said louder."""
    folder = board / "generators"
    texts = min(folder.iterdir()).read_text("utf-8")
    (folder / "newcomer.jsonl").write_text(texts.replace('."}', '!"}'), "utf-8")


def compare_ranking(board: Path, *, lam: float, draws: int, runs: int) -> None:
    """Correlations, intervals and ensemble by the usual libraries and by us; a ratio only where the numbers agree."""
    peers = Path(__file__).with_name("peers.py")
    chain = [run((sys.executable, peers, "rank-peer", board, str(lam), str(draws))) for _ in range(runs)]
    ours = [run((sys.executable, peers, "rank-own", board, str(lam), str(draws))) for _ in range(runs)]
    theirs, own = json.loads(chain[0][1]), json.loads(ours[0][1])
    apart = difference(theirs, own)
    print(f"\n{board.name}: {len(own['correlations'])} metrics, {draws} draws, ensemble at lambda {lam:g}")
    print(f"largest difference between the two: {apart:.1e} ({'equal' if apart <= EQUAL else 'NOT EQUAL'})")
    show_ratio("rank, whole process", *(sorted(cost.seconds for cost, _ in side)[runs // 2] for side in (ours, chain)))
    for what, parts in (("rank, statistics alone", ("loop", "rest")), ("of them, the bootstrap", ("loop",))):
        show_ratio(what, *(sorted(inner_seconds(one, parts) for one in side)[runs // 2] for side in (ours, chain)))


def inner_seconds(result: tuple[Cost, str], parts: Sequence[str]) -> float:
    seconds = json.loads(result[1])["seconds"]
    return float(sum(seconds[part] for part in parts))


def difference(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The largest difference between two sides' correlations, interval ends and ensemble correlations."""
    if one["correlations"].keys() != other["correlations"].keys():
        sys.exit(f"not the same metrics: {sorted(one['correlations'])} and {sorted(other['correlations'])}")
    apart = [abs(one["ensemble"] - other["ensemble"])]
    for name, value in one["correlations"].items():
        ends = zip(one["intervals"][name], other["intervals"][name], strict=True)
        apart += [abs(value - other["correlations"][name]), *(abs(a - b) for a, b in ends)]
    return float(max(apart))


def compare_bleu(board: Path, runs: int) -> None:
    """Scoring with BLEU, all of it, beside a plain loop over sacreBLEU on the same outputs."""
    peer = (sys.executable, Path(__file__).with_name("peers.py"), "bleu-peer", board)
    score = (*BILLBOARDS, "score", board, "--metric", "BLEU", "--jobs", "1")
    ours = cost_of(score, runs=runs, before=lambda: shutil.rmtree(board / ".billboards", ignore_errors=True))
    loop = [json.loads(run(peer)[1]) for _ in range(runs)]
    print(f"largest difference between our BLEU and sacreBLEU's: {loop[0]['difference']:.1e}")
    show_ratio("BLEU, process against bare loop", ours.seconds, sorted(r["seconds"]["all"] for r in loop)[runs // 2])


def show(step: str, cost: Cost) -> None:
    print(f"{step:34} {cost}", flush=True)


def show_ratio(step: str, ours: float, theirs: float) -> None:
    print(f"{step:34} ours {ours:.3f} s, peer {theirs:.3f} s: the peer takes {theirs / ours:.2f}× as long", flush=True)


def show_growth(
    what: str,
    step: str,
    size: tuple[int, int],
    cost: Cost,
    before: tuple[int, int] | None,
    found: dict[tuple[int, int], dict[str, Cost]],
) -> None:
    generators, instances = size
    line = f"{generators if what == 'generators' else instances:>12,} {generators * instances:>9,}  {step:26} {cost}"
    if before is not None:
        smaller, times = found[before][step], generators * instances / (before[0] * before[1])
        of_time, of_memory = growth(smaller.processor, cost.processor, times), growth(smaller.mib, cost.mib, times)
        line += f"  {of_time:13.2f}  {of_memory:6.2f}"
    print(line, flush=True)


if __name__ == "__main__":
    main()
