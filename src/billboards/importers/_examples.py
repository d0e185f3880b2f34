"""Sets in BEAMetrics' own layout: one JSON object with an example per id, an output with its references and ratings.

An example has a source (under a key of its own), a `hypothesis`, `references`, and for each dimension a rating or the
list of all annotators' ratings. Examples of one source are outputs of one instance; who wrote them is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from billboards.board import Dimension, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import (
    LooseOutputs,
    assemble,
    check_name,
    counts,
    read_objects,
    references,
    text_in,
    texts_in,
    value_within,
)
from billboards.reading import Problems, refuse_errors, shown


def import_examples(
    path: Path, name: str, dimensions: tuple[Dimension, ...], *, source_key: str, language: str | None
) -> Imported:
    """The board of a set in this layout; the first dimension ranks, and inputs and outputs are in one language."""
    problems, outputs, where = Problems(), LooseOutputs(), str(path)
    instances: dict[str, Instance] = {}
    judgments: list[Judgment] = []
    for key, item in read_objects(path, "id").items():
        check_name("output", key, where, None, problems)
        source = text_in(item, source_key, where, None, problems)
        texts = references(texts_in(item, "references", where, None, problems))
        instance = instances.setdefault(source, Instance(str(len(instances) + 1), references=texts, input=source))
        if instance.references != texts:
            problems.error(where, None, f"example {key}: another example of its source has other references")
        row = outputs.add(instance.id, text_in(item, "hypothesis", where, None, problems), key)
        judgments += _ratings(key, item, dimensions, instance.id, row, where, problems)
    refuse_errors(problems)
    every = tuple(instances.values())
    board = assemble(
        name,
        every,
        outputs.rows(every),
        judgments,
        dimensions=dimensions,
        ranks=dimensions[0].name,
        input_language=language,
        output_language=language,
        anonymous=("ratings",) if any(judgment.annotator is not None for judgment in judgments) else (),
    )
    return Imported(board, (counts(path, board),))


def _ratings(
    key: str,
    item: Mapping[str, Any],
    dimensions: tuple[Dimension, ...],
    instance: str,
    row: str,
    where: str,
    problems: Problems,
) -> Iterator[Judgment]:
    """A judgment for each annotator's place in the lists of ratings."""
    raw_ratings = {d.name: item.get(d.name) for d in dimensions}
    lists = {name: value if isinstance(value, list) else [value] for name, value in raw_ratings.items()}
    if len({len(ratings) for ratings in lists.values()}) != 1:
        problems.error(where, None, f"example {key}: its dimensions have different numbers of ratings")
        return
    for k, ratings in enumerate(zip(*lists.values(), strict=True), 1):
        values = {}
        for dimension, rating in zip(dimensions, ratings, strict=True):
            if isinstance(rating, bool) or not isinstance(rating, int | float):
                problems.error(where, None, f"example {key}: {dimension.name} {shown(rating)} is not a number")
            else:
                values[dimension.name] = value_within(repr(rating), dimension, where, None, problems)
        who = f"place {k}" if isinstance(raw_ratings[dimensions[0].name], list) else None
        yield Judgment(instance=instance, outputs=(row,), values=values, annotator=who, campaign="ratings")
