"""Tables of made-up outputs and judgments, as large as one likes, for measuring what size costs.

Words are drawn at random, a judgment is the output's hidden quality with noise, and four metrics see that quality
through more noise. Rows are written as they are made, so that making a large table needs no memory to speak of.
"""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

WORDS = tuple(f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ren", "su") for b in "bdfgnt" for c in ("a", "el", "ir", "o"))
METRICS = ("M1", "M2", "M3", "M4")
HEADER = ("instance", "generator", "input", "reference", "output", "adequacy", "annotator", *METRICS)
OPTIONS = ("--judgment", "adequacy", "--range", "adequacy=0:100", *(part for m in METRICS for part in ("--score", m)))


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
