"""Small boards made in a test, and metrics that are quick and easy to check by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from billboards.board import (
    Aggregate,
    Board,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Reference,
    human_scores,
    row_of,
)
from billboards.board.judgments import JudgmentColumns
from billboards.metrics.base import Batch, Floats, Metric, MetricCard


@dataclass(frozen=True)
class Overlap(Metric):
    """Words shared with the best reference."""

    card: ClassVar[MetricCard] = MetricCard(name="overlap")

    def score_batch(self, batch: Batch) -> Floats:
        shared = [
            max(len(set(output.split()) & set(reference.split())) for reference in references)
            for output, references in zip(batch.outputs, batch.references, strict=True)
        ]
        return np.array(shared, float)


@dataclass(frozen=True)
class Errors(Metric):
    """Words that are in no reference: lower is better."""

    card: ClassVar[MetricCard] = MetricCard(name="errors", higher_is_better=False)

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        wrong = [
            len(set(output.split()) - set(" ".join(references).split()))
            for output, references in zip(batch.outputs, batch.references, strict=True)
        ]
        return {"count": np.array(wrong, float), "any": np.array(wrong, float) > 0}


@dataclass(frozen=True)
class Characters(Metric):
    """Length of the output, in characters; the whole corpus at once."""

    card: ClassVar[MetricCard] = MetricCard(name="characters", needs_references=False, is_statistic=True)
    needs_corpus: ClassVar[bool] = True

    def score_batch(self, batch: Batch) -> Floats:
        return np.array([len(output) for output in batch.outputs], float)


@dataclass(frozen=True)
class Broken(Metric):
    """Fails on any output with the word bad."""

    card: ClassVar[MetricCard] = MetricCard(name="broken")

    def score_batch(self, batch: Batch) -> Floats:
        if any("bad" in output for output in batch.outputs):
            raise RuntimeError("I can't read this")
        return np.zeros(len(batch))


TEXT = "the ferry leaves at noon from pier two and calls at every island on its way back"
WORDS = TEXT.split()


def small_board(instances: int = 12, generators: int = 4, *, seed: int = 1) -> Board:
    """Generators of falling quality, two references that are also human generators, judgments on 1-5 of all of them."""
    random = np.random.default_rng(seed)
    ones = []
    for k in range(instances):
        words = [str(word) for word in random.permutation(WORDS)[:8]]
        references = (Reference("A", " ".join(words)), Reference("B", " ".join(words[:6])))
        ones.append(
            Instance(
                f"i{k}",
                references=references,
                input=f"input {k}",
                image=None,
                document=f"d{k // 3}",
                domain=("sea", "land")[k % 2],
                tags=(f"t{k % 3}",),
            )
        )
    tested = tuple(ones)
    judged = JudgmentColumns(("adequacy",))
    rows = []
    for g in range(generators):
        texts = []
        for k, instance in enumerate(tested):
            words = instance.references[0].text.split()
            kept = [word for word in words if random.random() > 0.15 * g]
            texts.append(" ".join([*kept, *(["wrong"] * int(random.integers(0, g + 1)))]))
            judged.add(
                k,
                g,
                {"adequacy": float(np.clip(round(5 * len(kept) / 8 + random.normal() / 3), 1, 5))},
                annotator="ann",
            )
        rows.append(row_of(Generator(f"g{g}"), tested, tuple(texts)))
    for place, name in enumerate("AB"):
        texts = [instance.references[place].text for instance in tested]
        for k in range(instances):
            judged.add(k, generators + place, {"adequacy": 5.0}, annotator="ann")
        rows.append(row_of(Generator(name, kind="human"), tested, tuple(texts)))
    return Board(
        name="small",
        instances=tested,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
    )


def noisy_board(noise: Mapping[str, float], instances: int = 50) -> Board:
    """A board with imported metrics that are people's scores plus noise, on the four machines."""
    board = small_board(instances=instances)
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, instances))
    random = np.random.default_rng(0)
    columns = []
    for name, spread in noise.items():
        values = people + spread * random.normal(size=people.shape)
        rows = {f"g{k}": values[k] for k in range(4)}
        columns.append(
            ImportedColumn(
                name=name, source_name=name, signature=f"imported:{name}", values=rows, references=("A", "B")
            )
        )
    return replace(board, imported=tuple(columns))
