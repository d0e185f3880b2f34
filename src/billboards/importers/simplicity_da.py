"""Simplicity-DA (Alva-Manchego et al., 2021): simplified sentences of six systems, rated from 0 to 100 by 15 workers.

`simplicity_DA_ratings.csv` has a row per rating: `sent_id`, `sys_name`, `orig_sent`, `simp_sent`, `rater_id`, and one
or more of the aspects `fluency`, `meaning` and `simplicity`. References are ASSET's; where `asset.test.simp.0` and on
lie beside the file or in the folder given, they are taken in by the sentence's number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from billboards.board import DataCard, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    assemble,
    check_name,
    counts,
    find_file,
    read_cells,
    refuse_twice,
    rows_of_generators,
    value_within,
)
from billboards.importers._importer import importer
from billboards.importers.asset import RATED, sentences
from billboards.reading import Problems, read_table, refuse_errors, whole_number

NEEDED = ("sent_id", "sys_name", "orig_sent", "simp_sent", "rater_id")
CARD = DataCard(
    title="Simplicity-DA",
    task="Rewrite a sentence so that it is easier to understand",
    source="https://github.com/feralvam/metaeval-simplification; sentences: TurkCorpus; references: ASSET",
    licence="None stated",
    citation="Alva-Manchego, Scarton and Specia (2021): The (Un)Suitability of Automatic Evaluation Metrics for Text "
    "Simplification, Computational Linguistics 47",
    protocol="Direct assessment: workers saw original and simplification and said on a slider from 0 to 100 how far "
    "they agree with a statement on an aspect",
    annotators="15 crowd workers per sentence and aspect, who passed a qualification test",
)


@importer(card=CARD)
def simplicity_da(
    source: Path,
    *,
    references: Annotated[Path | None, "a folder with ASSET's asset.test.orig and asset.test.simp.*"] = None,
) -> Imported:
    """Simplicity-DA: simplified sentences of six systems, rated from 0 to 100."""
    path = find_file(source, ("simplicity_DA_ratings.csv",), "Simplicity-DA's ratings")
    problems, notes = Problems(), list[str]()
    aspects = tuple(d for d in RATED if d.name in read_table(path, problems).columns)
    if not aspects:
        raise ImportRefused(f"{path}: has no column {', '.join(d.name for d in RATED)}")
    folder = references or path.parent
    originals = sentences(folder, problems, notes) if (folder / "asset.test.orig").exists() else ()
    instances: dict[str, Instance] = {}
    texts: dict[str, dict[str, str]] = {}
    judgments: list[Judgment] = []
    seen: dict[object, int] = {}
    for line, cells in read_cells(path, NEEDED, problems, notes):
        key, system, rater = cells["sent_id"], cells["sys_name"], cells["rater_id"]
        check_name("instance", key, str(path), line, problems)
        check_name("generator", system, str(path), line, problems)
        refuse_twice(seen, (key, system, rater), f"{rater}'s rating of {system} on {key}", str(path), line, problems)
        instance = Instance(key, references=_references(originals, key), input=cells["orig_sent"])
        if instances.setdefault(key, instance) != instance:
            problems.error(str(path), line, f"sentence {key} has another original on another line")
        if texts.setdefault(system, {}).setdefault(key, cells["simp_sent"]) != cells["simp_sent"]:
            problems.error(str(path), line, f"{system} has two simplifications of sentence {key}")
        values = {d.name: value_within(cells[d.name], d, str(path), line, problems) for d in aspects}
        judgments.append(Judgment(instance=key, outputs=(system,), values=values, annotator=rater, campaign="ratings"))
    if not judgments and not problems.errors:
        problems.error(str(path), 1, "holds nothing below its first line; fetch the file again")
    refuse_errors(problems)
    every = tuple(instances.values())
    board = assemble(
        "simplicity-da",
        every,
        rows_of_generators(every, texts),
        judgments,
        dimensions=aspects,
        ranks=aspects[-1].name,
        input_language="en",
        output_language="en",
    )
    if not originals:
        notes.append(f"{path}: no references; fetch ASSET's and name their folder with --references")
    return Imported(board, (counts(path, board), *notes))


def _references(originals: object, key: str) -> tuple[Reference, ...]:
    """ASSET's simplifications of a sentence, whose numbers begin at 1 here."""
    if not isinstance(originals, list) or not 1 <= (whole_number(key) or 0) <= len(originals):
        return ()
    return tuple(originals[int(key) - 1][1])
