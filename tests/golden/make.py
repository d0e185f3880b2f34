"""Freeze this version: `python tests/golden/make.py tests/golden/vX.Y`, run by hand on the version to freeze.

It is run once, before the version is left behind, and never again on a later one: what it writes is what later versions
are held against. It builds a workspace of board folders with all that is kept beside them (scores, ensembles, rankings,
audits, a suite's results), runs every command line of `frozen_lines` in fresh copies of it and keeps what came of each,
scores a few texts under every metric, keeps what statistics make of a few arrays, and makes a site whose data folder,
backup and answers are kept, too. Every command line is run twice, and one that says two different things is an error.
Only the outer doors are used: the command line, `import billboards`, and HTTP.

Seeds are fixed, so that boards and numbers come out the same each time; a site's ids, tokens and times don't.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from frozen_boards import write_boards
from frozen_documents import normalised
from frozen_inputs import write_inputs
from frozen_lines import command_lines
from frozen_metrics import learned_numbers, metric_numbers
from frozen_numbers import numbers
from frozen_runs import board_facts, copied, run_differences, run_line
from frozen_site_making import make_site

#: What is computed and kept in the workspace before anything is recorded, in this order.
STEPS = """
score harbour --jobs 1
score versus --jobs 1
score captions --jobs 1
score quiet --jobs 1
score articles --jobs 1
score harbour --jobs 1 --references Ada
overrating harbour --human Ben --jobs 1
references harbour --jobs 1 --metric chrF --metric TER
rank harbour
rank versus
rank captions
rank quiet
rank articles
ensemble study harbour --ensemble best-subset --k 2
rank harbour --domain weather --draws 100
rank harbour --references Ada --draws 100
audit harbour --metric length --jobs 1
audit harbour --metric QE --jobs 1
audit articles --metric length --jobs 1 --method extract --sentences 2
rank harbour --aggregate crowd --draws 200
score harbour --jobs 1
score harbour --jobs 1 --references Ada
suite run suite.toml --jobs 1 --draws 200
"""


def main() -> int:
    """Freeze everything into a folder; a part that is there already stays as it is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", type=Path, help="the folder to write, such as tests/golden/v0.1")
    target = parser.parse_args().target.resolve()
    if not (target / "workspace").exists():
        words = make_workspace(target / "workspace")
        keep_runs(target / "workspace", target / "commands", words)
        write_document(target / "boards.json", board_facts(target / "workspace"))
    if not (target / "metrics.json").exists():
        write_document(target / "metrics.json", normalised({"plain": metric_numbers(), "learned": learned_numbers()}))
    if not (target / "numbers.json").exists():
        write_document(target / "numbers.json", normalised(numbers(target / "workspace" / "harbour")))
    if not (target / "site").exists():
        make_site(target / "site", target / "workspace")
    return 0


def make_workspace(workspace: Path) -> dict[str, str]:
    """Boards with all that is kept beside them; returns ids and signatures by the words that lines have for them."""
    workspace.mkdir(parents=True)
    write_boards(workspace)
    words = {}
    for line in STEPS.split("\n"):
        if not line:
            continue
        before = set(workspace.glob("*/rankings/*.json"))
        record = run_line(line.split(), workspace)
        if record["rc"]:
            raise SystemExit(f"{line}: ended with {record['rc']}")
        for made in set(workspace.glob("*/rankings/*.json")) - before:
            words[line] = made.stem
    write_inputs(workspace / "inputs", workspace / "harbour")
    run_line(["export", "mtme", "versus", "-o", "inputs/mtme", "--language-pair", "en-en"], workspace)
    (workspace / "inputs" / "drawn.json").write_text(json.dumps(_draw_before_labels(workspace)), "utf-8")
    ensembles = workspace / "harbour" / "ensembles"
    signature, of_ada = (f"ensemble.harbour+refs.{names}+version.1" for names in ("Ada,Ben,Eve", "Ada"))
    shutil.copy(ensembles / f"{signature}.json", workspace / "inputs" / "ensemble.json")
    return {
        "FIRST_RANKING": words["rank harbour"],
        "VERSUS_RANKING": words["rank versus"],
        "SLICED_RANKING": words["rank harbour --domain weather --draws 100"],
        "SIGNATURE": signature,
        "ADA_SIGNATURE": of_ada,
    }


def _draw_before_labels(workspace: Path) -> Any:
    """Outputs to label next, drawn while eight of a generator had no label."""
    with TemporaryDirectory() as folder:
        shutil.copytree(workspace / "harbour", Path(folder) / "harbour")
        crowd = Path(folder) / "harbour" / "judgments" / "crowd.jsonl"
        lines = crowd.read_text("utf-8").splitlines(keepends=True)
        unlabelled = [f'"n{k}", "generator": "Drift"' for k in range(17, 25)]
        crowd.write_text("".join(line for line in lines if not any(word in line for word in unlabelled)), "utf-8")
        argv = ["estimate", "harbour", "Drift", "--next", "4", "--aggregate", "crowd", "--json"]
        return run_line(argv, Path(folder))["stdout"]


def keep_runs(workspace: Path, target: Path, words: dict[str, str]) -> None:
    """Run every command line twice in copies of the workspace, and keep what came of it."""
    target.mkdir()
    unsteady = []
    for name, argv in _named(command_lines(words)):
        first, second = (_apart(argv, workspace) for _ in range(2))
        if first != second:
            unsteady.append(f"{' '.join(argv)}: {list(run_differences(first, second))[:5]}")
        write_document(target / f"{name}.json", first)
    if unsteady:
        raise SystemExit("\n".join(["these say two things:", *unsteady]))


def _apart(argv: list[str], workspace: Path) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        return run_line(argv, copied(workspace, Path(folder).resolve(), argv))


def _named(lines: list[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """Each line with a file name made of its words."""
    taken = set()
    for argv in lines:
        words = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(argv).replace("ensemble.harbour+refs.", "")).strip("-")
        name = words.replace("--jobs-1", "").replace("-jobs-1", "")[:120]
        if name in taken:
            raise SystemExit(f"{name}: two lines of one name")
        taken.add(name)
        yield name, argv


def write_document(path: Path, document: Any) -> None:
    """A document in as few bytes as may be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
