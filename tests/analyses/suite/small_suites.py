"""Suites of small boards, written into a folder: two on which people gave values, and one on which they compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from billboards.board import Board, Dimension, Generator, Instance, Outputs, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import write_board

TEXT = "the old ferry leaves the quiet harbour at noon and calls at every island before the night falls"
SYSTEMS = ("good", "fair", "poor")
SUITE = """\
name = "ports"
title = "Ports of call"
metrics = ["ROUGE-1", "chrF", "length"]

[families]
words = ["ROUGE-1"]
letters = ["chrF"]

[[boards]]
folder = "one"
label = "One"
task = "notes"
correctness = "truth"
others = ["style"]
difficulty = 1

[[boards]]
folder = "two"
label = "Two"
task = "letters"
correctness = "truth"
others = []
difficulty = 2
weight = 2.0

[[boards]]
folder = "pairs"
label = "Pairs"
task = "songs"
correctness = "better"
difficulty = 3
"""


def written_suite(folder: Path, text: str = SUITE) -> Path:
    """The suite's file, with its boards beside it."""
    write_board(valued_board("one", 12, seed=1), folder / "one")
    write_board(valued_board("two", 10, seed=2, references=1), folder / "two")
    write_board(compared_board("pairs", 9, seed=3), folder / "pairs")
    path = folder / "ports.toml"
    path.write_text(text)
    return path


def valued_board(
    name: str, instances: int, *, seed: int, references: int = 2, language: str | None = "en", human: bool = False
) -> Board:
    """Three systems that lose more and more words; truth is what they kept, style is noise."""
    random = np.random.default_rng(seed)
    tested, rows = _written(name, instances, random, references)
    if human:
        written = tuple(" ".join(reversed(i.references[0].text.split())) for i in tested)
        rows = (*rows, row_of(Generator("Ada", kind="human"), tested, written))
    judged = JudgmentColumns(("truth", "style"))
    for r, row in enumerate(rows):
        for k, text in enumerate(row.texts):
            kept = len((text or "").split()) / 8
            values = {"truth": float(np.clip(5 * kept + random.normal(0, 0.4), 0, 5)), "style": random.uniform(0, 5)}
            judged.add(k, r, values, annotator="a")
    dimensions = {name: Dimension(name, range=(0, 5)) for name in ("truth", "style")}
    return Board(
        name=name,
        instances=tested,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions=dimensions,
        ranks="truth",
        metrics=("chrF",),
        output_language=language,
    )


def compared_board(name: str, instances: int, *, seed: int) -> Board:
    """The same systems, of which people prefer the better one of two on every instance but the first."""
    random = np.random.default_rng(seed)
    tested, rows = _written(name, instances, random, 1)
    judged = JudgmentColumns(())
    for k in range(instances):
        for first, second in ((0, 1), (0, 2), (1, 2)):
            better = SYSTEMS[second if k == 0 else first]
            said = {"others": (second,), "dimension": "better", "prefers": better}
            judged.add(k, first, {}, annotator="a", details=said)
    dimension = Dimension("better", kind="preference")
    return Board(
        name=name,
        instances=tested,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={"better": dimension},
        ranks="better",
        metrics=("chrF",),
        output_language="en",
    )


def _written(
    name: str, instances: int, random: np.random.Generator, references: int
) -> tuple[tuple[Instance, ...], tuple[Outputs, ...]]:
    tested, texts = [], []
    for k in range(instances):
        words = [str(word) for word in random.permutation(TEXT.split())[:8]]
        named = [Reference(f"ref{n}", " ".join([*words[n:], *words[:n]])) for n in range(references)]
        tested.append(Instance(f"{name}-{k}", references=tuple(named), input=f"say {' '.join(words[:4])}"))
        texts.append(words)
    rows = []
    for r, system in enumerate(SYSTEMS):
        kept = [[word for word in words if random.random() > 0.08 + 0.22 * r] or ["nothing"] for words in texts]
        rows.append(row_of(Generator(system), tuple(tested), tuple(" ".join(words) for words in kept)))
    return tuple(tested), tuple(rows)
