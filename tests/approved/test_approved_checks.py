"""Boards that are doubtful in many ways, checked; their columns of scores, asked for in each way; values of corpora."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from approving import approve
from plain_boards import told
from rich_folders import plain_board, rich_folder

import billboards as bb
from billboards.board import Board, Generator, ImportedColumn, Instance, Judgments, Reference, row_of
from billboards.board.cells import MemoryCells, PartedCells, SqliteCells, part_key, stored_as
from billboards.board.check import check_board
from billboards.board.corpus import corpus_tests, corpus_values, has_corpus_value
from billboards.board.folder import open_board
from billboards.board.matrix import board_columns, board_scores, column_labels, column_named
from billboards.board.missing_cells import chosen_metrics
from billboards.board.writing import write_board
from billboards.errors import BillboardsError


def refused(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BillboardsError as error:
        return told(error)


def doubtful_board(count: int = 30) -> Board:
    """Machines that copy, repeat, are in lower case or tokenised; people under machines' names; gaps everywhere."""
    texts = [
        f"The {k}th ferry leaves harbour number {k * 7} at {k % 12} o'clock for islands {k} and {k + 1}."
        for k in range(count)
    ]
    instances = tuple(
        Instance(
            "same" if k == count else f"i{k}",
            references=(Reference("A", text), *((Reference("Ada", f"{text} Yes."),) if k % 3 else ()))
            if k != 4
            else (),
            input=f"Eingabe &amp; {k // 2}" if k != 5 else None,
            document=f"d{k // 5}",
        )
        for k, text in enumerate(texts)
    )
    own = [f"A ship numbered {k} goes away from port {k * 3} when it is {k} already, they say." for k in range(count)]
    made: dict[str, list[str | None]] = {
        "copy": [*texts[: count // 2], *own[count // 2 :]],
        "own": list(own),
        "twin": list(own),
        "lower": [text.lower() for text in own],
        "tokens": [text.replace(",", " ,").replace(".", " .") for text in own],
        "repeats": ["It is the very same."] * count,
        "odd": ["\x07bell", "caf\ufffd", "\ufeffbom", "CafÃ©", "a &quot; b", "", *own[6:-3], None, None, None],
        "Human-X": list(own[::-1]),
        "Ada": [f"{text} Yes." for text in texts],
        "references": list(texts),
    }
    rows = tuple(
        row_of(Generator(name, kind="human" if name == "Ada" else "machine"), instances, tuple(said))
        for name, said in made.items()
    )
    scores = np.arange(float(count))
    columns = tuple(
        ImportedColumn(name=name, source_name=source, signature=f"imported:{source}", values=values, references=("A",))
        for name, source, values in (
            ("BLEU", "one", {"own": scores, "lower": scores, "tokens": scores * 2}),
            ("BLEU", "two", {"own": scores + 1, "odd": np.where(scores > 20, np.nan, scores)}),
            ("zero", "zero", {"own": 0 * scores, "lower": 0 * scores}),
        )
    )
    plain = plain_board(3)
    judgments = plain.judgments
    moved = replace(judgments, row=judgments.row * 0 + 6, instance=judgments.instance + count - 3)
    board = replace(plain, name="doubtful", instances=instances, rows=rows, imported=columns, ranks=None)
    return replace(board, metrics=("ROUGE-1", "chrF"), judgments=moved)


def test_doubts_about_boards_are_as_approved(tmp_path: Path) -> None:
    words: dict[str, Any] = {}
    for name, board in {
        "doubtful": doubtful_board(),
        "without references": without_references(doubtful_board()),
        "without rows": replace(doubtful_board(), rows=(), imported=(), judgments=Judgments()),
        "in Chinese": replace(doubtful_board(), output_language="zh", metrics=("BLEU", "ROUGE-1", "none")),
    }.items():
        folder = tmp_path / name.replace(" ", "-")
        said = refused(lambda board=board, folder=folder: list(map(str, check_board(write_board(board, folder)))))  # type: ignore[misc]
        words[name] = said
    folder = tmp_path / "doubtful"
    cut = folder / "scores" / "one.tsv"
    cut.write_bytes(cut.read_bytes()[:-1])
    (folder / "generators" / "bad.jsonl").write_text("{}\n", "utf-8")
    words["with mistakes"] = list(map(str, check_board(folder)))
    approve("folders/doubtful", words, folder=tmp_path)


def without_references(board: Board) -> Board:
    instances = tuple(replace(instance, references=()) for instance in board.instances)
    columns = tuple(replace(column, references=(), needs_references=False) for column in board.imported)
    return replace(board, instances=instances, imported=columns)


def test_columns_are_asked_for_as_approved(tmp_path: Path) -> None:
    folder = rich_folder(tmp_path / "rich")
    board = open_board(folder)
    named = replace(board, metrics=("BLEU", "chrF++", "TER", "ROUGE-L", "length", "repetition-2"))
    bb.score(named)
    store = SqliteCells(folder)
    columns, some = board_columns(board, store), board_columns(board, store, instances=[0, 2], references=("A",))
    names = ("BLEU", "bleu", "TER", "ter", "ROUGE-L", "rouge-l", "chrf++", "Length", "none", "ensemble", "BLEU (own)")
    memory = MemoryCells()
    for key in store.columns():
        versions = [row.version for row in board.rows]
        counts = store.load_counts(key, versions)
        for version, scores in store.load(key, versions).items():
            memory.save(key, version, {"": scores, "half": scores / 2}, seconds=1.0, counts=counts.get(version))
    first = next(iter(store.columns()))
    parted = PartedCells(memory, [f"{first.column.name}[half]"])
    words = {
        "columns": [asdict(column) for column in columns.columns],
        "rows": columns.rows,
        "scores": {name: columns.of(name).tolist() for name in columns.names},
        "of some": {name: some.read(name, [1, 0]).tolist() for name in some.names},
        "places": [refused(lambda name=name: columns.column(name)) for name in names],  # type: ignore[misc]
        "named": [column_named(board, store, name) for name in names],
        "labels": column_labels(board, store),
        "versions": [[version is not None for version in columns.versions(name) or ()] for name in columns.names],
        "row names": [len(columns.row_names(name)) for name in columns.names],
        "keys": [columns.key(name) is not None for name in columns.names],
        "dense": columns.select([0, 2]).dense([2, 1]).values.tolist(),
        "leading": list(board_scores(board, store).leading().names),
        "natural": {name: board_scores(board, store).natural(name).tolist() for name in ("TER", "length")},
        "released alone": list(board_scores(board, None).names),
        "metrics": [
            refused(lambda spec=spec: [metric.name for metric in chosen_metrics(board, spec)])  # type: ignore[misc]
            for spec in (None, "length", ["chrF", "TER"])
        ],
        "kept": [[key.column.name, len(memory.present(key)), memory.parts(key)] for key in memory.columns()],
        "counted": [len(memory.counted(key)) for key in memory.columns()],
        "a part": [list(stored_as(part_key(first, "half"))), len(parted.columns()), sorted(parted.parts(first))],
        "corpora": {key.column.name: has_corpus_value(named, key) for key in store.columns()},
        "values": values(named, store, draws=0),
        "values of some": values(named, store, draws=20, instances=[0, 1]),
        "tests": {key.column.name: corpus_tests(named, store, key, "M", trials=50) for key in store.columns()},
        "wrong": [
            refused(lambda chosen=chosen: corpus_values(named, store, store.columns(), instances=chosen))  # type: ignore[misc]
            for chosen in ([4], [-1], np.array([True]))
        ],
    }
    approve("folders/columns", words, folder=tmp_path)


def values(board: Board, store: SqliteCells, **asked: Any) -> Any:
    return {
        column.key.column.name: {
            "kind": column.kind,
            "better": column.higher_is_better,
            "without": column.without_counts,
            "values": {row: asdict(value) for row, value in column.values.items()},
        }
        for column in corpus_values(board, store, store.columns(), **asked)
    }
