"""A board as a data set for the Hugging Face hub: JSON lines in three tables, and a card that says how they are loaded.

`load_dataset("OWNER/NAME", "outputs")` reads such a repository without a script of its own: the card's head names the
files of each table. Scores are written as their users know them; what is missing is null, never 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board.directions import directed
from billboards.board.model import Board
from billboards.board.writing import new_folder

README = "README.md"
#: The tables, and what a line of each holds.
TABLES = {
    "outputs": "one output of a generator, with its input and references",
    "scores": "one metric's score of one output",
    "judgments": "what one person said of an output",
}
#: Licences by the hub's names for them; any other is called `other` there, and named.
LICENCES = {
    "mit",
    "apache-2.0",
    "cc0-1.0",
    "cc-by-4.0",
    "cc-by-sa-4.0",
    "cc-by-nc-4.0",
    "cc-by-nc-sa-4.0",
    "bsd-3-clause",
}


def export_to_hub(board: Board, out: Path, *, replace: bool = False) -> dict[str, int]:
    """Write a board's tables and card to a folder, whole or not at all; how many lines each table has."""
    records = {"outputs": outputs(board), "scores": scores(board), "judgments": judgments(board)}
    counts: dict[str, int] = {}
    with new_folder(out, replace=replace, mark=README) as folder:
        (folder / "data").mkdir()
        for table, lines in records.items():
            counts[table] = _write(folder / "data" / f"{table}.jsonl", lines)
        present = [table for table, count in counts.items() if count]
        (folder / README).write_text(card(board, present), "utf-8")
    return counts


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    if not count:
        path.unlink()
    return count


def outputs(board: Board) -> Iterator[dict[str, Any]]:
    """Every output, with what it was made from."""
    for row in board.rows:
        for instance, text in zip(board.instances, row.texts, strict=True):
            if text is not None:
                yield {
                    "instance": instance.id,
                    "generator": row.name,
                    "kind": None if row.generator is None else row.generator.kind,
                    "input": instance.input,
                    "references": [reference.text for reference in instance.references],
                    "output": text,
                    "document": instance.document,
                    "domain": instance.domain,
                }


def scores(board: Board) -> Iterator[dict[str, Any]]:
    """Every score, turned back to how its metric's users read it."""
    for column in board.imported:
        every = np.concatenate([*column.values.values(), np.zeros(0)])
        sign = 1.0 if directed(column.column, every).higher_is_better else -1.0
        for row, values in column.values.items():
            for instance, value in zip(board.instances, values.tolist(), strict=True):
                if not isnan(value):
                    yield {
                        "instance": instance.id,
                        "generator": row,
                        "metric": column.source_name,
                        "score": sign * value,
                        "signature": column.signature,
                    }


def judgments(board: Board) -> Iterator[dict[str, Any]]:
    """Every judgment; those that compare outputs name all of them."""
    ids, names = tuple(instance.id for instance in board.instances), tuple(row.name for row in board.rows)
    for judgment in board.judgments.each(ids, names):
        for dimension, value in judgment.values.items():
            yield {
                "instance": judgment.instance,
                "generator": judgment.outputs[0],
                "compared_with": list(judgment.outputs[1:]),
                "dimension": dimension,
                "value": value,
                "annotator": judgment.annotator,
                "campaign": judgment.campaign,
            }


def card(board: Board, tables: Iterable[str]) -> str:
    """The data set card: a head for the hub's programs, and words for people."""
    stated = board.card
    licence = (stated.licence or "").strip()
    head: list[str] = ["---", f"pretty_name: {_quoted(stated.title or board.name)}"]
    short = (licence.split() or [""])[0].strip(",;:.").lower()
    if short in LICENCES:
        head.append(f"license: {short}")
    elif licence:
        head += ["license: other", f"license_name: {_quoted(licence)}"]
    languages = dict.fromkeys(filter(None, (board.input_language, board.output_language)))
    if languages:
        head += ["language:", *(f"- {_quoted(code.split('-')[0])}" for code in languages)]
    head += ["tags:", "- evaluation", "- human-judgments", "- billboards", "configs:"]
    present = list(tables)
    for table in present:
        default = ["  default: true"] if table == present[0] else []
        head += [f"- config_name: {table}", *default, f"  data_files: data/{table}.jsonl"]
    facts = {
        "Task": stated.task,
        "Source": stated.source,
        "How people judged": stated.protocol,
        "Who judged": stated.annotators,
        "Citation": stated.citation,
    }
    lines = [f"**{fact}**: {value.strip()}\n" for fact, value in facts.items() if value]
    loads = "\n".join(f'load_dataset("OWNER/NAME", "{table}")  # {TABLES[table]}' for table in present)
    sizes = (
        f"{len(board.instances):,} instances, {len(board.generators):,} generators, {len(board.judgments):,} judgments."
    )
    return "\n".join(
        [
            *head,
            "---",
            f"# {stated.title or board.name}\n",
            f"{sizes}\n",
            *lines,
            "```python",
            "from datasets import load_dataset\n",
            loads,
            "```\n",
            "Written by `billboards export hf`.\n",
        ]
    )


def _quoted(text: str) -> str:
    """A text as YAML reads it whatever it holds: JSON's quotes are YAML's, too."""
    return json.dumps(text, ensure_ascii=False)
