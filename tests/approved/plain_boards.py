"""A board as plain values: all that it holds, and all the files that it is written to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, Dimension, ImportedColumn, Instance, Outputs


def board_words(board: Board) -> dict[str, Any]:
    """Everything that a board in memory holds."""
    ids, names = tuple(instance.id for instance in board.instances), tuple(row.name for row in board.rows)
    judgments = [
        [judgment.instance, list(judgment.outputs), dict(judgment.values), judgment.annotator, judgment.campaign]
        + ([dict(judgment.details)] if judgment.details else [])
        for judgment in board.judgments.each(ids, names)
    ]
    return {
        "name": board.name,
        "shown as": repr(board),
        "languages": [board.input_language, board.output_language],
        "ranks": [board.ranks, board.before, board.by, board.lead, board.reference_free],
        "metrics": list(board.metrics),
        "references": [board.references_used, list(board.reference_names)],
        "anonymous": list(board.anonymous),
        "instances": [instance_words(instance) for instance in board.instances],
        "rows": [row_words(row) for row in board.rows],
        "judgments": judgments,
        "dimensions": {name: dimension_words(dimension) for name, dimension in board.dimensions.items()},
        "aggregates": {name: aggregate_words(aggregate) for name, aggregate in board.aggregates.items()},
        "scores": {column.name: column_words(column) for column in board.imported},
        "card": {key: value for key, value in asdict(board.card).items() if value is not None},
        "missing": list(board.missing_facts),
        "trust": [str(fact) for fact in board.trust.facts],
    }


def instance_words(instance: Instance) -> dict[str, Any]:
    said = {
        "id": instance.id,
        "input": instance.input,
        "image": instance.image,
        "document": instance.document,
        "domain": instance.domain,
        "tags": list(instance.tags) or None,
        "references": {reference.name: reference.text for reference in instance.references} or None,
    }
    return {key: value for key, value in said.items() if value is not None}


def row_words(row: Outputs) -> dict[str, Any]:
    said: dict[str, Any] = {"name": row.name, "texts": list(row.texts)}
    if row.generator is not None:
        said |= {f.name: getattr(row.generator, f.name) for f in fields(row.generator)}
    else:
        said["ids"] = list(row.ids)
    return {key: value for key, value in said.items() if value is not None}


def dimension_words(dimension: Dimension) -> dict[str, Any]:
    return {f.name: getattr(dimension, f.name) for f in fields(dimension) if getattr(dimension, f.name) is not None}


def aggregate_words(aggregate: Aggregate) -> dict[str, Any]:
    return {f.name: getattr(aggregate, f.name) for f in fields(aggregate)}


def column_words(column: ImportedColumn) -> dict[str, Any]:
    said = {f.name: getattr(column, f.name) for f in fields(column) if f.name not in ("values", "name")}
    values = {
        row: ["nan" if math.isnan(score) else float(score) for score in scores] for row, scores in column.values.items()
    }
    plain = {
        key: value if isinstance(value, bool | str | tuple) else str(value) for key, value in said.items() if value
    }
    return plain | {"values": values}


def files_below(folder: Path, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every file below a folder, as lines; those that are no text by their size."""
    return {
        str(path.relative_to(folder)): file_lines(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(word in str(path.relative_to(folder)) for word in without)
    }


def file_lines(path: Path) -> Any:
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        return f"{path.stat().st_size} bytes"


def told(error: BaseException) -> str:
    """A mistake as people see it."""
    return f"{type(error).__name__}: {error}"


Changes = Mapping[str, Any]
