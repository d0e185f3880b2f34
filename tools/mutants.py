"""How much the tests notice: small changes of the source, chosen at random, and the tests that reach each of them.

Chooses lines of the source by a seed, every line with the same chance, and changes one thing on each: a comparison, a
constant, a bound, a returned value, a statement. Each change is made in a copy of the source, where the tests that
reach the line are run, quick ones first, until one fails. Changes that no test notices are listed with what was tried.
Which tests reach which lines is measured first, by a run of all tests, and kept in a file. With --near nothing is
measured: each change meets the test files that name its module, its function, its page or its command, nearest first.
What they notice, all tests notice, so the share that is killed is a lower bound. With --first both are done: what the
nearest tests don't notice meets all tests that reach it, and only the lines of these changes are measured.

    python tools/mutants.py --count 120 --seed 1
    python tools/mutants.py --count 120 --seed 1 --first 40
    python tools/mutants.py --count 120 --seed 1 --near 120
    python tools/mutants.py --near 600 --again mutants.json
    python tools/mutants.py --within stats --tests tests/stats --count 20
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutation.contexts import open_map, test_files
from mutation.names import index_names
from mutation.near import NearTests
from mutation.operators import Mutant, is_python, mutants_of
from mutation.runs import STOPPED, copy_source
from mutation.trials import (
    MORE_SECONDS,
    Laboratory,
    MappedLaboratory,
    NearLaboratory,
    Verdict,
    files_reached,
)
from mutation.warm import WarmPytest

ROOT = Path(__file__).resolve().parents[1]
#: Most characters of a line that is shown.
WIDTH = 100


def read_source(source: Path) -> dict[str, bytes]:
    """The source's files, by their paths in its folder."""
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(source.rglob("*.py"))}


def choose(files: Mapping[str, bytes], *, count: int, seed: int, within: str | None = None) -> list[Mutant]:
    """Lines at random, all with the same chance, and one change of each."""
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for path, source in files.items():
        if within is None or is_within(path, within):
            for mutant in mutants_of(path, source):
                by_line[path, mutant.line].append(mutant)
    chance = random.Random(seed)
    lines = sorted(by_line)
    chosen: list[Mutant] = []
    for line in chance.sample(lines, len(lines)):
        if len(chosen) == count:
            break
        candidates = chance.sample(by_line[line], len(by_line[line]))
        chosen += [mutant for mutant in candidates if is_python(mutant.apply(files[mutant.path]))][:1]
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.line))


def is_within(path: str, folder: str) -> bool:
    """Whether a file is, or lies in, a folder of the package, or of the source."""
    wanted = Path(folder).parts
    parts = Path(path).parts
    return wanted in (parts[: len(wanted)], parts[1 : len(wanted) + 1])


def part(path: str) -> str:
    """The first folder, or the file, in the package."""
    parts = Path(path).parts
    return parts[min(1, len(parts) - 1)]


def share(verdicts: Sequence[Verdict]) -> float:
    return sum(verdict.killed for verdict in verdicts) / len(verdicts)


def report(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The survivors, then the counts by part of the package."""
    survivors = [verdict for verdict in verdicts if not verdict.killed]
    for verdict in survivors:
        tests = "not reached" if verdict.outcome == "not reached" else f"tests tried: {verdict.tests_tried}"
        yield f"src/{verdict.mutant.path}:{verdict.mutant.line}  {verdict.mutant.operator}; {tests}"
        yield f"    {_shortened(verdict.before)}  ->  {_shortened(verdict.after)}"
    by_part: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        by_part[part(verdict.mutant.path)].append(verdict)
    width = max(map(len, [*by_part, "all"]))
    yield f"{'':{width}}  mutants  killed  survived  of these not reached  share killed"
    for name, members in [*sorted(by_part.items()), ("all", list(verdicts))]:
        killed, unreached = sum(verdict.killed for verdict in members), _outcomes(members)["not reached"]
        yield (
            f"{name:{width}}  {len(members):7}  {killed:6}  {len(members) - killed:8}  {unreached:20}  "
            f"{share(members):12.3f}"
        )


def document(verdicts: Sequence[Verdict], options: argparse.Namespace) -> dict[str, Any]:
    """All of it, for programs."""
    parts = sorted({part(verdict.mutant.path) for verdict in verdicts})
    return {
        "seed": options.seed,
        "within": options.within,
        "goal": options.goal,
        "near": options.near,
        "first": options.first,
        "killed": sum(verdict.killed for verdict in verdicts),
        "survived": sum(not verdict.killed for verdict in verdicts),
        "share": share(verdicts),
        "parts": {
            name: dict(_outcomes([verdict for verdict in verdicts if part(verdict.mutant.path) == name]))
            for name in parts
        },
        "mutants": [
            {
                **{name: value for name, value in asdict(verdict).items() if name != "mutant"},
                "file": f"src/{verdict.mutant.path}",
                "line": verdict.mutant.line,
                "operator": verdict.mutant.operator,
            }
            for verdict in verdicts
        ],
    }


def _outcomes(verdicts: Sequence[Verdict]) -> Counter[str]:
    return Counter(verdict.outcome for verdict in verdicts)


def _shortened(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


def try_all(laboratory: Laboratory, mutants: Sequence[Mutant], *, jobs: int) -> list[Verdict]:
    """Try each mutant, some at a time."""
    tests_for = [laboratory.tests_for(mutant) for mutant in mutants]

    def try_next(number: int) -> Verdict:
        verdict = laboratory.try_out(number, mutants[number], tests_for[number])
        place = f"src/{verdict.mutant.path}:{verdict.mutant.line}"
        of = "" if isinstance(laboratory, NearLaboratory) else f" of {verdict.reached_by}"
        tests = f"{verdict.tests_tried}{of} tests"
        print(f"{verdict.outcome:11}  {place}  {tests}, {verdict.seconds} s", file=sys.stderr, flush=True)
        return verdict

    def try_these(numbers: Sequence[int]) -> dict[int, Verdict]:
        with ThreadPoolExecutor(jobs) as pool:
            try:
                return dict(zip(numbers, pool.map(try_next, numbers), strict=True))
            except BaseException:
                STOPPED.set()
                raise

    verdicts = try_these(range(len(mutants)))
    doubted = range(len(mutants))
    # A test that fails without any change kills nothing; mutants that only it noticed meet the others.
    while failing := laboratory.unsound({verdicts[number].killed_by or "" for number in doubted} - {""}):
        print("fail without any change and are left out:", *sorted(failing), sep="\n  ", file=sys.stderr, flush=True)
        doubted = [number for number, verdict in verdicts.items() if verdict.killed_by in failing]
        verdicts |= try_these(doubted)
    return [verdicts[number] for number in range(len(mutants))]


def survivors(former: Mapping[str, Any], files: Mapping[str, bytes]) -> list[Mutant]:
    """The mutants of a former run that no test noticed, found again in the same source."""
    wanted = {
        (mutant["file"].removeprefix("src/"), mutant["line"], mutant["before"], mutant["after"])
        for mutant in former["mutants"]
        if mutant["outcome"] in ("survived", "not reached")
    }
    mutants = {
        (path, mutant.line, *mutant.lines(files[path])): mutant
        for path in sorted({path for path, *_ in wanted} & set(files))
        for mutant in mutants_of(path, files[path])
    }
    lost = wanted - set(mutants)
    if lost:
        places = ", ".join(f"src/{path}:{line}" for path, line, *_ in sorted(lost))
        raise SystemExit(f"not in this source: {places}; --again needs the source that the file was made of")
    return [mutants[key] for key in sorted(wanted)]


def verdicts_on(
    mutants: Sequence[Mutant],
    options: argparse.Namespace,
    *,
    root: Path,
    scratch: Path,
    files: Mapping[str, bytes],
    warm: WarmPytest | None,
) -> list[Verdict]:
    """Try mutants with the tests that reach them, with those that are near, or with these and then with all."""
    clean = copy_source(root / "src", scratch / "clean")
    names = index_names(files)
    shared = {"root": root, "scratch": scratch, "clean": clean, "files": files, "more_seconds": options.more_seconds}

    def nearby(seconds: float) -> Laboratory:
        texts = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in test_files(root, options.tests)}
        near = NearTests(texts, files, names)
        return NearLaboratory(**shared, near=near, seconds=seconds, warm=warm)

    def mapped(measured: Collection[str]) -> Laboratory:
        tests = open_map(
            options.contexts or root / ".coverage-contexts",
            root=root,
            copy=clean,
            tests=options.tests,
            workers=options.workers,
            measured=measured,
        )
        return MappedLaboratory(**shared, tests=tests, names=names, warm=warm)

    if options.near is not None:
        return try_all(nearby(options.near), mutants, jobs=options.jobs)
    if options.first is None:
        return try_all(mapped(()), mutants, jobs=options.jobs)
    verdicts = try_all(nearby(options.first), mutants, jobs=options.jobs)
    left = [number for number, verdict in enumerate(verdicts) if not verdict.killed]
    if left:
        print(f"{len(left)} are left and meet all tests that reach their lines", file=sys.stderr, flush=True)
        remaining = [mutants[number] for number in left]
        laboratory = mapped(files_reached(remaining, names))
        for number, verdict in zip(left, try_all(laboratory, remaining, jobs=options.jobs), strict=True):
            verdicts[number] = verdict
    return verdicts


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=100, help="how many lines to change (default 100)")
    words.add_argument("--seed", type=int, default=1, help="chooses the lines and the changes (default 1)")
    words.add_argument("--within", metavar="DIR", help="change only this folder or file of the package")
    words.add_argument("--goal", type=float, default=0.85, help="least share to be killed (default 0.85)")
    words.add_argument("--jobs", type=int, default=2, help="mutants tried at a time (default 2)")
    words.add_argument("--json", type=Path, metavar="FILE", help="write everything to this file")
    words.add_argument(
        "--tests", nargs="+", default=["tests"], metavar="PATH", help="files and folders of tests (default tests)"
    )
    words.add_argument(
        "--near",
        type=float,
        metavar="S",
        help="measure nothing; try the nearest test files, for so many seconds each (a lower bound of what is killed)",
    )
    words.add_argument(
        "--first",
        type=float,
        metavar="S",
        help="try the nearest test files first, for so many seconds each, and measure what reaches the rest only",
    )
    words.add_argument("--again", type=Path, metavar="FILE", help="try what survived in a --json of the same source")
    words.add_argument(
        "--contexts",
        type=Path,
        metavar="FILE",
        help="keeps which tests reach which lines (default .coverage-contexts)",
    )
    words.add_argument(
        "--workers", default="auto", metavar="N", help="processes for measuring; 0: without pytest-xdist (default auto)"
    )
    words.add_argument(
        "--more-seconds",
        type=float,
        default=MORE_SECONDS,
        metavar="S",
        help=f"a trial may take four times the tests' usual time and this (default {MORE_SECONDS:g})",
    )
    words.add_argument("--root", type=Path, default=ROOT, help="the checkout, with src and tests (default: this one)")
    return words


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    # Ends as after an interrupt, so that nothing is left behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    root = options.root.resolve()
    files = read_source(root / "src")
    mutants = choose(files, count=options.count, seed=options.seed, within=options.within)
    if options.again:
        mutants = survivors(json.loads(options.again.read_text("utf-8")), files)
    if not mutants:
        raise SystemExit(f"nothing to change in {options.within or root / 'src'}; name a folder of the package")
    if options.near is not None and options.first is not None:
        raise SystemExit("--near tries the nearest tests alone, --first all others after them; give one of them")
    forking = hasattr(os, "fork")
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as folder,
        WarmPytest() if forking else nullcontext() as warm,
    ):
        scratch = Path(folder)
        # Tests may run programs as another user.
        scratch.chmod(0o755)
        verdicts = verdicts_on(mutants, options, root=root, scratch=scratch, files=files, warm=warm)
    print("\n".join(report(verdicts)))
    if options.json:
        options.json.write_text(json.dumps(document(verdicts, options), indent=1) + "\n", "utf-8")
    return 0 if share(verdicts) >= options.goal else 1


if __name__ == "__main__":
    sys.exit(main())
