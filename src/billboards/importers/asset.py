"""ASSET (Alva-Manchego et al., 2020): simplified sentences, rated from 0 to 100, and compared in pairs.

`asset.test.orig` and `asset.test.simp.0` to `.9` have a line per sentence; `human_ratings.csv` rates systems' outputs
on three aspects (`original`, `simplification`, `original_sentence_id`, `aspect`, `worker_id`, `rating`), and
`asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv` says which of two human simplifications is better. A clone
has the first in `dataset/`, the others in `human_ratings/`. The systems are not named. Where people compared ASSET's
own simplifications, these are no references of their sentence: a metric would compare them with themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from billboards.board import DataCard, Dimension, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    Cells,
    LooseOutputs,
    assemble,
    counts,
    find_file,
    read_cells,
    read_lines,
    refuse_twice,
    value_within,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, refuse_errors, shown, whole_number

ASPECTS = {
    "meaning": "The simplified sentence expresses the meaning of the original.",
    "fluency": "The simplified sentence is fluent: there are no grammatical errors.",
    "simplicity": "The simplified sentence is easier to understand than the original.",
}
RATED = tuple(Dimension(name, range=(0.0, 100.0), definition=text) for name, text in ASPECTS.items())
COMPARED = tuple(
    Dimension(name, definition=f"{text} Which of the two does so better?", kind="preference")
    for name, text in ASPECTS.items()
)
CARD = DataCard(
    task="Rewrite a sentence so that it is easier to understand",
    source="https://github.com/facebookresearch/asset",
    licence="CC-BY-NC-4.0",
    citation="Alva-Manchego et al. (2020): ASSET: A Dataset for Tuning and Evaluation of Sentence Simplification "
    "Models",
)
RATINGS = DataCard(
    title="ASSET, ratings of simplified sentences",
    protocol="Workers saw original and simplification and said on a slider how far they agree with a statement on each "
    "aspect, from 0 (strongly disagree) to 100 (strongly agree)",
    annotators="15 workers of Amazon Mechanical Turk per aspect and sentence, who passed a qualification test",
    comments="The systems behind the simplifications are not named. References are ASSET's ten simplifications.",
)
PAIRS = DataCard(
    title="ASSET, human simplifications compared",
    protocol="Workers saw an original with a simplification from ASSET and one from TurkCorpus or HSplit, and said for "
    "each aspect which is better, or that they are similar",
    annotators="Workers of Amazon Mechanical Turk who passed a qualification test, one per pair and aspect",
    comments="Every text compared is human. A simplification of ASSET's that was compared is no reference of its "
    "sentence here.",
)
COMPARISONS = "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
#: What the same file is called in copies.
SHORT_NAME = "pairwise_vs_turkcorpus_hsplit.csv"
OUTCOMES = {"asset": 0, "turkcorpus": 1, "hsplit": 1}
SIMILAR = "similar"


@importer(card=CARD)
def asset(
    source: Path,
    *,
    judgments: Annotated[
        Literal["ratings", "pairwise"], "ratings of systems' outputs (default), or pairwise: human ones compared"
    ] = "ratings",
) -> Imported:
    """ASSET: simplified sentences, rated from 0 to 100 or compared in pairs."""
    folder = find_file(source, ("dataset/asset.test.orig", "asset.test.orig"), "ASSET's sentences").parent
    problems, notes = Problems(), list[str]()
    originals = sentences(folder, problems, notes)
    return (_rated if judgments == "ratings" else _compared)(source, originals, problems, notes)


Sentences = list[tuple[str, list[Reference]]]


def sentences(folder: Path, problems: Problems, notes: list[str]) -> Sentences:
    """Each original with its simplifications, line by line."""
    originals = [text for _, text in read_lines(folder / "asset.test.orig", problems, notes)]
    columns: list[tuple[str, list[str]]] = []
    for path in sorted(folder.glob("asset.test.simp.*"), key=lambda path: (len(path.name), path.name)):
        lines = [text.strip() for _, text in read_lines(path, problems, notes)]
        if len(lines) != len(originals) and not problems.errors:
            problems.error(str(path), None, f"{len(lines)} lines where {len(originals)} originals are; fetch it again")
        columns.append((path.name.removeprefix("asset.test."), lines))
    if not columns:
        raise ImportRefused(f"{folder}: holds no simplifications (looked for asset.test.simp.0)")
    refuse_errors(problems)
    return [
        (text, [Reference(name, lines[k]) for name, lines in columns if lines[k]]) for k, text in enumerate(originals)
    ]


def _rated(source: Path, originals: Sentences, problems: Problems, notes: list[str]) -> Imported:
    path = find_file(source, ("human_ratings/human_ratings.csv", "human_ratings.csv"), "ASSET's ratings")
    columns = ("original", "simplification", "original_sentence_id", "aspect", "worker_id", "rating")
    rated: dict[tuple[int, str], list[Judgment]] = {}
    for line, cells, k in _rows(path, columns, "original_sentence_id", "original", originals, problems, notes):
        dimension = next((d for d in RATED if d.name == cells["aspect"]), None)
        if dimension is None:
            problems.error(str(path), line, f"aspect {shown(cells['aspect'])} is none of {', '.join(ASPECTS)}")
            continue
        values = {dimension.name: value_within(cells["rating"], dimension, str(path), line, problems)}
        judgment = Judgment(
            instance=str(k), outputs=(), values=values, annotator=cells["worker_id"], campaign="ratings"
        )
        rated.setdefault((k, cells["simplification"].strip()), []).append(judgment)
    refuse_errors(problems)
    outputs, judgments = LooseOutputs(), list[Judgment]()
    for k, text in sorted(rated):
        row = outputs.add(str(k), text)
        judgments += [replace(judgment, outputs=(row,)) for judgment in rated[k, text]]
    instances = [_instance(k, originals[k]) for k in sorted({k for k, _ in rated})]
    board = assemble(
        "asset",
        instances,
        outputs.rows(instances),
        judgments,
        dimensions=RATED,
        ranks="meaning",
        input_language="en",
        output_language="en",
        card=RATINGS,
    )
    return Imported(board, (counts(path, board), *notes))


def _compared(source: Path, originals: Sentences, problems: Problems, notes: list[str]) -> Imported:
    path = find_file(source, (f"human_ratings/{COMPARISONS}", COMPARISONS, SHORT_NAME), "ASSET's comparisons")
    pair = ("asset_simplification", "other_simplification")
    columns = ("worker_id", "sentence_id", "aspect", "source", "other_dataset", *pair, "winner")
    comparisons: list[tuple[int, Cells]] = []
    texts: dict[int, set[str]] = {}
    same = 0
    for line, cells, k in _rows(path, columns, "sentence_id", "source", originals, problems, notes):
        _check_comparison(cells, str(path), line, problems)
        first, second = (cells[column].strip() for column in pair)
        if first == second:
            same += 1
            continue
        comparisons.append((k, cells))
        texts.setdefault(k, set()).update((first, second))
    refuse_errors(problems)
    outputs = LooseOutputs()
    place = {
        (k, text): (outputs.add(str(k), text), n) for k in sorted(texts) for n, text in enumerate(sorted(texts[k]), 1)
    }
    instances = [_instance(k, originals[k], without=texts[k]) for k in sorted(texts)]
    judgments = [
        _preference(k, cells, [place[k, cells[column].strip()] for column in pair]) for k, cells in comparisons
    ]
    board = assemble(
        "asset-pairwise",
        instances,
        outputs.rows(instances),
        judgments,
        dimensions=COMPARED,
        ranks="simplicity",
        input_language="en",
        output_language="en",
        card=PAIRS,
    )
    if same:
        notes.append(f"{path}: left out {same} comparisons of a text with itself")
    left = sum(len(originals[k][1]) for k in texts) - sum(len(instance.references) for instance in instances)
    notes.append(f"{left} references are compared texts themselves; they are left out, sentence by sentence")
    return Imported(board, (counts(path, board), *notes))


def _preference(k: int, cells: Cells, compared: Sequence[tuple[str, int]]) -> Judgment:
    """One comparison: the better of two outputs, or none of them where they are similar."""
    chosen = OUTCOMES.get(cells["winner"])
    prefers = [] if chosen is None else f"{k}.{compared[chosen][1]}"
    details = {"dimension": cells["aspect"], "prefers": prefers}
    return Judgment(
        instance=str(k),
        outputs=tuple(row for row, _ in compared),
        values={},
        annotator=cells["worker_id"],
        campaign="pairwise",
        details=details,
    )


def _check_comparison(cells: Cells, path: str, line: int, problems: Problems) -> None:
    if cells["aspect"] not in ASPECTS:
        problems.error(path, line, f"aspect {shown(cells['aspect'])} is none of {', '.join(ASPECTS)}")
    if cells["winner"] not in ("asset", SIMILAR, cells["other_dataset"]):
        expected = f"asset, {SIMILAR} or {cells['other_dataset']}"
        problems.error(path, line, f"winner must be {expected}; found {shown(cells['winner'])}")


def _rows(
    path: Path,
    columns: Sequence[str],
    key: str,
    original: str,
    originals: Sentences,
    problems: Problems,
    notes: list[str],
) -> Iterator[tuple[int, Cells, int]]:
    """Rows with the place of their sentence, whose words must be those of the original there."""
    seen: dict[tuple[str, ...], int] = {}
    for line, cells in read_cells(path, columns, problems, notes):
        judged = tuple(cells[column] for column in columns if column not in ("rating", "winner"))
        refuse_twice(seen, judged, "this judgment", str(path), line, problems)
        k = whole_number(cells[key])
        if k is None or k >= len(originals):
            problems.error(str(path), line, f"{key} {shown(cells[key])} is no line of asset.test.orig, from 0 on")
        elif _letters(cells[original]) != _letters(originals[k][0]):
            problems.error(
                str(path), line, f"{original} is not sentence {k} of asset.test.orig; are the files of one set?"
            )
        else:
            yield line, cells, k


def _letters(text: str) -> str:
    """Letters and digits alone: the release writes its sentences with several cases and spacings."""
    return re.sub(r"[\W_]+", "", text.casefold())


def _instance(k: int, sentence: tuple[str, Sequence[Reference]], without: set[str] | None = None) -> Instance:
    text, references = sentence
    judged = {_letters(compared) for compared in without or ()}
    return Instance(
        str(k),
        references=tuple(compared for compared in references if _letters(compared.text) not in judged),
        input=text,
    )
