"""PAWS-QQP (Zhang et al., 2019): pairs of questions with nearly the same words, which may or may not mean the same.

`dev_and_test.tsv` has a header and four columns with tabs between: `id`, `sentence1`, `sentence2` and `label`, 1 for
paraphrases and 0 for others. The sentences are Python's notation of bytes (`b'…'`) in the released file, and plain text
in others; both are read, and neither is run. The first sentence is the reference and the second the output, which
belongs to no generator: a metric is good if it tells paraphrases from pairs that only look alike.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from billboards.board import DataCard, Dimension, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    LooseOutputs,
    assemble,
    check_name,
    counts,
    find_file,
    read_lines,
    refuse_twice,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, refuse_errors, shown

COLUMNS = ("id", "sentence1", "sentence2", "label")
FILE = "dev_and_test.tsv"
PARAPHRASE = Dimension("paraphrase", range=(0.0, 1.0), definition="Do the two questions mean the same? 1: yes; 0: no.")
CARD = DataCard(
    title="PAWS-QQP, development and test pairs",
    task="Say a question in other words",
    source="https://github.com/uds-lsv/llmft (data/paws_qqp), a copy of PAWS-QQP; questions: Quora",
    licence="None stated for the copy; the questions come from Quora's question pairs",
    citation="Zhang, Baldridge and He (2019): PAWS: Paraphrase Adversaries from Word Scrambling",
    protocol="People said whether two questions, one made from the other by swapping words or by back-translation, "
    "mean the same",
    annotators="Raters of the corpus's authors; the file has one label per pair and names nobody",
    comments="The first question of a pair is the reference, the second the output. Pairs share most of their words, "
    "so that metrics which count words do badly.",
)
#: One bytes literal and nothing else.
_BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")


@importer(card=CARD)
def paws(source: Path) -> Imported:
    """PAWS-QQP: pairs of questions that are paraphrases or only look alike."""
    path = find_file(source, (f"data/paws_qqp/{FILE}", FILE), "PAWS-QQP's pairs")
    problems, notes = Problems(limit=5), list[str]()
    instances, outputs, judgments = list[Instance](), LooseOutputs(), list[Judgment]()
    equal = 0
    for line, (key, first, second, label) in _rows(path, problems, notes):
        check_name("instance", key, str(path), line, problems)
        if label not in ("0", "1"):
            problems.error(str(path), line, f"label must be 0 or 1; found {shown(label)}")
            continue
        if first == second:
            equal += 1
            continue
        instances.append(Instance(key, references=(Reference("sentence1", first),)))
        row = outputs.add(key, second, f"{key}.sentence2")
        values = {PARAPHRASE.name: float(label)}
        judgments.append(Judgment(instance=key, outputs=(row,), values=values, annotator=None, campaign="labels"))
    refuse_errors(problems)
    if not judgments:
        raise ImportRefused(f"{path}: holds no pairs; fetch the file again")
    if equal:
        notes.append(f"{path}: left out {equal} pairs of a sentence with itself")
    board = assemble(
        "paws-qqp",
        instances,
        outputs.rows(instances),
        judgments,
        dimensions=(PARAPHRASE,),
        ranks=PARAPHRASE.name,
        output_language="en",
    )
    return Imported(board, (counts(path, board), *notes))


def _rows(path: Path, problems: Problems, notes: list[str]) -> Iterator[tuple[int, tuple[str, str, str, str]]]:
    """Id, both sentences and label of every line below the first."""
    places: list[int] = []
    seen: dict[str, int] = {}
    for line, text in read_lines(path, problems, notes):
        cells = text.split("\t")
        if not places:
            if missing := [name for name in COLUMNS if name not in cells]:
                raise ImportRefused(f"{path}:{line}: the first line must name {', '.join(COLUMNS)}; no {missing[0]}")
            places, width = [cells.index(name) for name in COLUMNS], len(cells)
        elif len(cells) != width:
            if text.strip():
                problems.error(str(path), line, f"{len(cells)} fields where the first line has {width}, tabs between")
        else:
            key, first, second, label = (cells[place].strip() for place in places)
            refuse_twice(seen, key, f"id {shown(key)}", str(path), line, problems)
            sentences = [_sentence(cell, str(path), line, problems) for cell in (first, second)]
            yield line, (key, sentences[0], sentences[1], label)


def _sentence(cell: str, path: str, line: int, problems: Problems) -> str:
    """The text that a cell holds, written plainly or as a literal of bytes."""
    if not re.match(r"b['\"]", cell):
        if not cell:
            problems.error(path, line, "a sentence is empty")
        return cell
    try:
        value = ast.literal_eval(cell) if _BYTES.fullmatch(cell) else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        value = None
    if not isinstance(value, bytes):
        problems.error(path, line, f"begins like bytes in Python's notation and is none: {shown(cell)}")
        return ""
    try:
        text = value.decode("utf-8").strip()
    except UnicodeDecodeError:
        problems.error(path, line, f"its bytes are not UTF-8: {shown(cell)}")
        return ""
    if not text:
        problems.error(path, line, "a sentence is empty")
    return text
