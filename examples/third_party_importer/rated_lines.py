"""Rated outputs, a line for each: id, input, system, output and rating, tabs between."""

from pathlib import Path
from typing import Annotated

from annotated_types import Gt

import billboards.importers as bi
from billboards.board import DataCard, Dimension, Instance, Judgment

CARD = DataCard(
    title="Rated lines",
    task="Translate news",
    source="https://example.org/lines",
    licence="CC0-1.0",
    citation="Somebody (2026): Lines",
    protocol="One of two students rated each output",
    annotators="Students",
)


@bi.importer(card=CARD)
def rated_lines(source: Path, *, best: Annotated[int, Gt(1), "the highest rating"] = 5) -> bi.Imported:
    """Rated outputs as tab-separated lines of id, input, system, output and rating."""
    quality = Dimension("quality", range=(1, best), definition="How good is the output?")
    problems, notes, seen, where = bi.Problems(), list[str](), dict[tuple[str, str], int](), str(source)
    instances, texts, judgments = dict[str, Instance](), dict[str, dict[str, str]](), list[Judgment]()
    for line, (key, text, system, output, rating) in bi.read_fields(source, 5, problems, notes):
        bi.check_name("instance", key, where, line, problems)
        bi.check_name("generator", system, where, line, problems)
        bi.refuse_twice(seen, (key, system), f"{system}'s output for {key}", where, line, problems)
        instances[key] = Instance(key, input=text)
        texts.setdefault(system, {})[key] = output
        values = {quality.name: bi.value_within(rating, quality, where, line, problems)}
        judgments.append(Judgment(instance=key, outputs=(system,), values=values, campaign="students"))
    bi.refuse_errors(problems)
    every, rows = tuple(instances.values()), bi.rows_of_generators(tuple(instances.values()), texts)
    board = bi.assemble("lines", every, rows, judgments, dimensions=[quality], ranks=quality.name, output_language="en")
    return bi.Imported(board, (bi.counts(source, board), *notes))
