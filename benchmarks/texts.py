"""`billboards score` on text files beside `sacrebleu`: the same numbers, and the time of both.

Two systems' outputs of a public set are written as text files. `billboards score` gives scores, intervals and both
paired tests in one run; sacreBLEU takes one run for `--paired-bs` and another for `--paired-ar`. Each prints what it
found; the numbers are compared to the last digit that sacreBLEU prints. Exit code 1 where they differ.

    python benchmarks/texts.py [--set wmt20-zh-en wmt23-en-de] [--metrics BLEU chrF] [--lines 2000] [--runs 3]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring import BILLBOARDS, HEADER, Cost, cost_of, run, shared_data

#: sacreBLEU's names of the metrics that it has, on its command line and in its table.
PEERS = {"BLEU": ("bleu", "BLEU"), "chrF": ("chrf", "chrF2"), "TER": ("ter", "TER")}
#: 35.5 (35.5 ± 0.8), and for other systems than the baseline (p = 0.2697).
CELL = re.compile(r"(\d+\.\d+)(?: \((\d+\.\d+) ± (\d+\.\d+)\))?(?:\s*\(p = (\d\.\d+)\)\*?)?")
DIGITS = 4
#: What half a printed digit and sacreBLEU's single precision, in which it resamples, may make of a number.
TOLERANCE = {"score": 0.5e-4, "mean": 0.7e-4, "interval": 0.7e-4, "p": 0.5e-4}


def write_texts(data: Path, name: str, folder: Path, lines: int) -> dict[str, Path]:
    """The outputs of two systems and a reference as text files."""
    texts = wmt20(data) if name == "wmt20-zh-en" else _wmt23(data)
    paths = {}
    for what, written in texts.items():
        paths[what] = folder / f"{what}.txt"
        paths[what].write_text("".join(f"{' '.join(text.split())}\n" for text in written[:lines]), "utf-8")
    return paths


def wmt20(data: Path) -> dict[str, list[str]]:
    folder = data / "billboard" / "submissions" / "wmt20-zh-en" / "generators"
    references = data / "wmt20_references" / "wmt20-zh-en_refs.jsonl"
    systems = {"a": "wmt20-zh-en_Online-B.1605.jsonl", "b": "wmt20-zh-en_DeepMind.381.jsonl"}
    texts = {key: [item["hyp"] for item in _items(folder / file)] for key, file in systems.items()}
    return texts | {"ref": [item["refs"][0] for item in _items(references)]}


def _wmt23(data: Path) -> dict[str, list[str]]:
    root = data / "mtme_wmt23_en-de"
    files = {key: root / "system-outputs" / "en-de" / f"ONLINE-{key.upper()}.txt" for key in ("a", "b")}
    files["ref"] = root / "references" / "en-de.refA.txt"
    return {key: path.read_text("utf-8").removesuffix("\n").split("\n") for key, path in files.items()}


def _items(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def own_numbers(document: Mapping[str, Any], test: str) -> dict[str, list[tuple[float | None, ...]]]:
    """For each metric and system: the score, for the bootstrap mean and half the interval, and the p-value."""
    numbers: dict[str, list[tuple[float | None, ...]]] = {}
    for metric in document["metrics"]:
        rows = []
        for each in metric["scores"]:
            sure = (each["mean"], (each["high"] - each["low"]) / 2) if test == "bs" else (None, None)
            rows.append((each["score"], *sure, each["p_bootstrap" if test == "bs" else "p_randomisation"]))
        numbers[metric["metric"]] = rows
    return numbers


def peer_numbers(printed: str, metrics: Sequence[str]) -> dict[str, list[tuple[float | None, ...]]]:
    """The same from sacreBLEU's table, a row for each system and p-values below."""
    numbers: dict[str, list[list[float | None]]] = {metric: [] for metric in metrics}
    for line in printed.splitlines():
        cells = [cell.strip() for cell in re.split(r"[│|]", line)]
        texts = [cell for cell in cells[2:] if cell]
        if len(texts) != len(metrics):
            continue
        for metric, text in zip(metrics, texts, strict=True):
            if match := re.fullmatch(r"\(p = (\d\.\d+)\)\*?", text):
                numbers[metric][-1][3] = float(match[1])
            elif match := CELL.fullmatch(text):
                groups = [None if group is None else float(group) for group in match.groups()]
                numbers[metric].append(groups)
    return {metric: [tuple(row) for row in rows] for metric, rows in numbers.items()}


def differences(own: Mapping[str, Any], peer: Mapping[str, Any]) -> list[str]:
    """Where the numbers differ in the digits that sacreBLEU prints."""
    unlike = []
    for metric, rows in peer.items():
        if len(rows) != 2:
            unlike.append(f"{metric}: {len(rows)} systems in sacreBLEU's table")
        for k, (theirs, ours) in enumerate(zip(rows, own[metric], strict=False)):
            for what, b, a in zip(TOLERANCE, theirs, ours, strict=True):
                if b is not None and (a is None or abs(a - b) > TOLERANCE[what] + 1e-9):
                    unlike.append(f"{metric}, system {k + 1}, {what}: {a} and {b}")
    return unlike


def measure(paths: Mapping[str, Path], metrics: Sequence[str], runs: int) -> list[str]:
    """Print the time of both, and return where the numbers differ."""
    ours: list[str | Path] = [*BILLBOARDS, "score", "--output", paths["a"], paths["b"], "--reference", paths["ref"]]
    ours += ["--metric", *metrics, "--json"]
    print(f"{'':28}{HEADER}")
    own = cost_of(ours, runs=runs)
    print(f"{'billboards score':28}{own}")
    document = json.loads(run(ours)[1])
    unlike, costs = [], list[Cost]()
    for test in ("bs", "ar"):
        theirs: list[str | Path] = [
            sys.executable,
            "-m",
            "sacrebleu",
            paths["ref"],
            "-i",
            paths["a"],
            paths["b"],
            f"--paired-{test}",
        ]
        theirs += ["-m", *(PEERS[metric][0] for metric in metrics), "-w", str(DIGITS), "-f", "text"]
        cost, printed = run(theirs)
        costs.append(cost)
        print(f"{f'sacrebleu --paired-{test}':28}{cost}")
        peer = peer_numbers(printed, metrics)
        unlike += [f"--paired-{test}: {text}" for text in differences(own_numbers(document, test), peer)]
    for what in ("seconds", "processor"):
        ratio = sum(getattr(cost, what) for cost in costs) / getattr(own, what)
        print(f"sacreBLEU's two runs take {ratio:.1f}x our one ({what})")
    return unlike


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="+", default=["wmt20-zh-en"], choices=("wmt20-zh-en", "wmt23-en-de"))
    parser.add_argument("--metrics", nargs="+", default=["BLEU", "chrF"], choices=PEERS)
    parser.add_argument("--lines", type=int, default=2000, help="how many of the first lines (default 2000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of ours, of which the median counts (default 3)")
    arguments = parser.parse_args()
    data = shared_data()
    if data is None:
        print("the shared data are absent: nothing to measure")
        return 0
    unlike = []
    for name in arguments.set:
        with tempfile.TemporaryDirectory() as folder:
            paths = write_texts(data, name, Path(folder), arguments.lines)
            lines = paths["ref"].read_text("utf-8").count("\n")
            print(f"{name}: {lines:,} lines, {', '.join(arguments.metrics)}")
            unlike += measure(paths, arguments.metrics, arguments.runs)
    print("\n".join(unlike) or "every number is the same in the digits that sacreBLEU prints")
    return 1 if unlike else 0


if __name__ == "__main__":
    sys.exit(main())
