"""What the workflow of this leaderboard does, step by step; each step can be run at home as well.

    python ci/leaderboard.py give given          texts for metrics, without judgments
    python ci/leaderboard.py score given scored  runs every file in metrics/; the workflow does this in a closed box
    python ci/leaderboard.py take scored         puts their scores into the boards
    python ci/leaderboard.py compare BASE        says in Markdown what moved since the folder BASE

A metric in a pull request is a stranger's program. It runs in `score` alone, which needs nothing but Python, sees no
judgments and writes nothing but numbers; `take` checks that they are numbers.
"""

from __future__ import annotations

import ast
import csv
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BOARDS, METRICS = Path("boards"), Path("metrics")


def give(target: Path) -> None:
    """Write the texts of every board as metrics are given them."""
    import billboards as bb

    target.mkdir(parents=True, exist_ok=True)
    for folder in board_folders(BOARDS):
        board = bb.open(folder)
        instances = board.instances
        given = {
            "inputs": [instance.input or "" for instance in instances],
            "references": [[reference.text for reference in instance.references] for instance in instances],
            "ids": [instance.id for instance in instances],
            "outputs": {row.name: list(row.texts) for row in board.rows},
        }
        (target / f"{folder.name}.json").write_text(json.dumps(given), "utf-8")


def score(given: Path, target: Path) -> None:
    """Run every metric on every board; one that fails leaves its reason instead of scores."""
    target.mkdir(parents=True, exist_ok=True)
    for metric in sorted(METRICS.glob("*.py")):
        for texts in sorted(given.glob("*.json")):
            result = _scored(metric, json.loads(texts.read_text("utf-8")))
            (target / f"{texts.stem}--{metric.stem}.json").write_text(json.dumps(result), "utf-8")


def _scored(metric: Path, given: dict[str, Any]) -> dict[str, Any]:
    try:
        specification = importlib.util.spec_from_file_location(metric.stem, metric)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        scores = {}
        for name, outputs in given["outputs"].items():
            present = [k for k, text in enumerate(outputs) if text is not None]
            texts = [outputs[k] for k in present]
            references, inputs = ([given[part][k] for k in present] for part in ("references", "inputs"))
            values = [float(value) for value in module.score(texts, references, inputs)]
            if len(values) != len(present):
                return {"problem": f"{len(values)} scores for the {len(present)} outputs of {name}"}
            scores[name] = dict(zip((given["ids"][k] for k in present), values, strict=True))
    except Exception as error:  # noqa: BLE001 - whatever a stranger's program raises is its author's to read
        return {"problem": f"{type(error).__name__}: {error}"[:500]}
    return {"scores": scores}


def take(scored: Path, boards: Path = BOARDS, metrics: Path = METRICS) -> None:
    """Put the scores of metrics that are in the repository into its boards."""
    failed = []
    for folder in board_folders(boards):
        for metric in sorted(metrics.glob("*.py")):
            path = scored / f"{folder.name}--{metric.stem}.json"
            result = json.loads(path.read_text("utf-8"))
            if "problem" in result:
                failed.append(f"{metric.name} on {folder.name}: {result['problem']}")
                continue
            _add_scores(folder, metric, _numbers(metric.stem, result["scores"]))
    if failed:
        sys.exit("metrics that failed:\n" + "\n".join(failed))


def _numbers(metric: str, scores: Any) -> list[tuple[str, str, float]]:
    rows = [(str(name), str(key), float(value)) for name, values in scores.items() for key, value in values.items()]
    strange = [row for row in rows if not math.isfinite(row[2])]
    if strange:
        sys.exit(f"{metric}: the score of {strange[0][0]} on {strange[0][1]} is no finite number")
    return rows


def _add_scores(folder: Path, metric: Path, rows: list[tuple[str, str, float]]) -> None:
    import billboards as bb

    names = {row.name for row in bb.open(folder).rows}
    stated = declared(metric)
    with tempfile.TemporaryDirectory() as home:
        table = Path(home) / "scores.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("instance", "generator", "score"))
            writer.writerows((key, name, repr(value)) for name, key, value in rows if name in names)
        needs = ",".join(stated.get("NEEDS", ["references"])) or "nothing"
        command = ["scores", "add", str(folder), str(table), "--metric", metric.stem, "--new", "--needs", needs]
        run_billboards(*command, *([] if stated.get("HIGHER_IS_BETTER", True) else ["--lower-is-better"]))


def declared(metric: Path) -> dict[str, Any]:
    """What a metric's file says of itself; it is read, not run."""
    stated = {}
    for line in ast.parse(metric.read_text("utf-8")).body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            name = line.targets[0].id
            if name in ("NEEDS", "HIGHER_IS_BETTER"):
                stated[name] = ast.literal_eval(line.value)
    return stated


def compare(base: Path) -> None:
    """Print in Markdown what moved on each board since another state of the repository."""
    for folder in board_folders(BOARDS):
        before_folder = base / BOARDS / folder.name
        after = ranking(folder)
        before = ranking(before_folder) if (before_folder / "board.toml").exists() else None
        print(f"## {folder.name}\n")
        print(f"Generators are ranked by **{after.get('ranked_by') or 'nothing yet'}**.\n")
        for side in ("generators", "metrics"):
            print(f"### {side.capitalize()}\n")
            print("| rank | name | before |\n| ---: | --- | --- |")
            old = {} if before is None else {entry["name"]: entry["rank"] for entry in before[side]}
            for entry in after[side]:
                was = "new" if entry["name"] not in old else _shown(old[entry["name"]])
                name = " ".join(str(entry["name"]).split()).replace("|", "\\|").replace("<", "&lt;")
                moved = was if was == _shown(entry["rank"]) else f"**{was}**"
                print(f"| {_shown(entry['rank'])} | {name} | {moved} |")
            print()


def _shown(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def ranking(folder: Path) -> dict[str, Any]:
    """A board's ranking as JSON."""
    run_billboards("score", str(folder))
    document: dict[str, Any] = json.loads(run_billboards("rank", str(folder), "--no-save", "--json"))
    return document


def run_billboards(*arguments: str) -> str:
    """Run a command of billboards; its complaint ends the step."""
    command = [sys.executable, "-m", "billboards", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"billboards {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def board_folders(boards: Path) -> list[Path]:
    """The board folders of the repository."""
    return sorted(path.parent for path in boards.glob("*/board.toml"))


def main(arguments: list[str]) -> None:
    """Run one step."""
    steps: dict[str, Any] = {"give": give, "score": score, "take": take, "compare": compare}
    if not arguments or arguments[0] not in steps:
        sys.exit(str(__doc__))
    steps[arguments[0]](*map(Path, arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
