"""Tables of made-up outputs and judgments, as large as one likes, for measuring what size costs.

Words are drawn at random, a judgment is the output's hidden quality with noise, and four metrics see that quality
through more noise. Rows are written as they are made, so that making a large table needs no memory to speak of. A board
folder with as many metrics as one likes is made in the same way, without going through a table.
"""

from __future__ import annotations

import csv
import json
from contextlib import ExitStack
from pathlib import Path
from random import Random

WORDS = tuple(f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ren", "su") for b in "bdfgnt" for c in ("a", "el", "ir", "o"))
METRICS = ("M1", "M2", "M3", "M4")
HEADER = ("instance", "generator", "input", "reference", "output", "adequacy", "annotator", *METRICS)
_FACTS = (
    *("task=Made up", "licence=CC0-1.0", "citation=None", "protocol=Drawn at random", "annotators=Nobody"),
    *("output-language=en", "definition.adequacy=A number"),
)
OPTIONS = (
    *("--judgment", "adequacy", "--range", "adequacy=0:100"),
    *(part for metric in METRICS for part in ("--score", metric)),
    *(part for fact in _FACTS for part in ("--fact", fact)),
)


def write_table(path: Path, *, generators: int, instances: int, seed: int = 0) -> None:
    """A table with one judged output per generator and instance, for `billboards import table`."""
    random = Random(seed)
    talents = [random.gauss(0, 8) for _ in range(generators)]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for k in range(instances):
            source, reference = sentence(random), sentence(random)
            ease = random.gauss(60, 8)
            for g, talent in enumerate(talents):
                quality = min(max(ease + talent + random.gauss(0, 8), 0), 100)
                who = f"annotator-{random.randrange(20)}"
                seen = [round(quality + random.gauss(0, 4 + 4 * m), 4) for m in range(len(METRICS))]
                judged = (sentence(random), round(quality), who, *seen)
                table.writerow((f"seg-{k}", f"system-{g}", source, reference, *judged))


def sentence(random: Random) -> str:
    """Some 12 words that mean nothing."""
    return " ".join(random.choices(WORDS, k=random.randint(8, 16))).capitalize() + "."


def write_board(root: Path, *, generators: int, instances: int, metrics: int, seed: int = 0) -> None:
    """A board folder with one judged output per generator and instance, and this many columns of scores."""
    random = Random(seed)
    names = [f"system-{g}" for g in range(generators)]
    talents = [random.gauss(0, 8) for _ in names]
    for folder in ("generators", "judgments", "scores"):
        (root / folder).mkdir(parents=True)
    settings = f'schema = 1\nname = "{root.name}"\nranks = "adequacy"\n[dimensions.adequacy]\nrange = [0, 100]\n'
    (root / "board.toml").write_text(settings, "utf-8")
    tables = [(root / "scores" / f"M{m + 1}.tsv").open("w", encoding="utf-8") for m in range(metrics)]
    with ExitStack() as files:
        judgments = files.enter_context((root / "judgments" / "judgments.jsonl").open("w", encoding="utf-8"))
        examples = files.enter_context((root / "instances.jsonl").open("w", encoding="utf-8"))
        for table in tables:
            files.enter_context(table).write("\t".join(("instance", *names)) + "\n")
        for k in range(instances):
            texts = {"input": sentence(random), "references": [{"name": "reference", "text": sentence(random)}]}
            examples.write(json.dumps({"id": f"seg-{k}", **texts}) + "\n")
            ease = random.gauss(60, 8)
            qualities = [min(max(ease + talent + random.gauss(0, 8), 0), 100) for talent in talents]
            for name, quality in zip(names, qualities, strict=True):
                said = {"values": {"adequacy": round(quality)}, "annotator": f"annotator-{random.randrange(20)}"}
                judgments.write(json.dumps({"instance": f"seg-{k}", "generator": name, **said}) + "\n")
            for m, table in enumerate(tables):
                seen = (f"{quality + random.gauss(0, 4 + 2 * m):.4f}" for quality in qualities)
                table.write("\t".join((f"seg-{k}", *seen)) + "\n")
    for name in names:
        lines = (json.dumps({"instance": f"seg-{k}", "text": sentence(random)}) for k in range(instances))
        (root / "generators" / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
