"""Writing a board folder: all of it or nothing.

The folder is built beside its place under a temporary name and moved there at the end, so that a full disk, Ctrl-C or
a mistake on the way leaves nothing half-written behind.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomli_w

from billboards.boards.folder import file_name
from billboards.boards.settings import FILE, SCHEMA
from billboards.domain import Board, Dimension, Generator, ImportedColumn, Instance, generator_lines
from billboards.errors import InvalidInput, StoreFailed

IGNORED = "# scores computed here; they can be computed again\n.billboards/\n"


def write_board(board: Board, target: str | Path, *, replace: bool = False) -> Path:
    """Write a board as a folder and return its path; an existing folder is kept unless `replace` is given."""
    with new_folder(Path(target), replace=replace) as root:
        _write_text(root / FILE, tomli_w.dumps(_document(board), multiline_strings=True))
        _write_text(root / ".gitignore", IGNORED)
        write_lines(root / "instances.jsonl", map(_instance_line, board.instances))
        _write_rows(board, root)
        _write_judgments(board, root)
        for column in board.imported:
            write_lines(root / "scores" / f"{file_name(column.source_name)}.tsv", _score_lines(board, column))
    return Path(target)


@contextmanager
def new_folder(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """A folder to fill, which takes its place only when the block ends well."""
    if target.exists() and not replace and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(f"{target}: exists already; choose another place or add --force to replace it")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise StoreFailed(f"{target}: can't be written: {error.strerror}") from error
    try:
        yield work
        work.chmod(0o777 & ~_umask())
        _swap(work, target)
    except OSError as error:
        raise StoreFailed(f"{target}: can't be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Lines of text, each ended by one newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line)
            file.write("\n")


def _swap(work: Path, target: Path) -> None:
    old = work.with_name(f"{work.name}.old")
    if target.exists():
        target.rename(old)
    work.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _document(board: Board) -> dict[str, Any]:
    """`board.toml` as a nested mapping, without what is absent or default."""
    languages = {"input": board.input_language, "output": board.output_language}
    return _present(
        {
            "schema": SCHEMA,
            "name": board.name,
            "ranks": board.ranks,
            "metrics": list(board.metrics),
            "lead": board.lead if board.imported else None,
            "references": None if board.references_used is None else list(board.references_used),
            "languages": _present(languages),
            "dimensions": {name: _dimension(d) for name, d in board.dimensions.items()},
            "aggregates": {
                name: _present({"dimensions": list(a.dimensions), "campaigns": a.campaigns and list(a.campaigns)})
                for name, a in board.aggregates.items()
            },
            "generators": {g.name: _generator(g) for g in board.generators if g != Generator(g.name)},
            "scores": {column.source_name: _imported(column) for column in board.imported},
            "card": _present(asdict(board.card)),
        }
    )


def _dimension(dimension: Dimension) -> dict[str, Any]:
    return _present(
        {
            "range": dimension.range and list(dimension.range),
            "higher_is_better": None if dimension.higher_is_better else False,
            "to_100": dimension.to_100 and list(dimension.to_100),
            "definition": dimension.definition,
        }
    )


def _generator(generator: Generator) -> dict[str, Any]:
    return _present({key: value for key, value in asdict(generator).items() if key != "name"})


def _imported(column: ImportedColumn) -> dict[str, Any]:
    needs = [need for need, has in (("references", column.needs_references), ("input", column.needs_input)) if has]
    said = {"name": column.name, "needs": needs, "is_ensemble": column.is_ensemble or None}
    return _present({**said, "references": list(column.references) or None}, keep=("needs",))


def _present(mapping: Mapping[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key in keep or value not in (None, {}, [], ())}


def _instance_line(instance: Instance) -> str:
    item = _present(
        {
            "id": instance.id,
            "input": instance.input,
            "image": instance.image,
            "references": [{"name": ref.name, "text": ref.text} for ref in instance.references],
            "document": instance.document,
            "domain": instance.domain,
            "tags": list(instance.tags),
        }
    )
    return json.dumps(item, ensure_ascii=False)


def _write_rows(board: Board, root: Path) -> None:
    loose = []
    for row in board.rows:
        if row.generator is not None:
            lines = generator_lines(board.instances, row.texts)
            write_lines(root / "generators" / f"{file_name(row.name)}.jsonl", lines)
            continue
        for instance, key, text in zip(board.instances, row.ids, row.texts, strict=True):
            if text is not None:
                loose.append({"instance": instance.id, "id": key, "text": text})
    if loose:
        write_lines(root / "outputs.jsonl", (json.dumps(item, ensure_ascii=False) for item in loose))


def _write_judgments(board: Board, root: Path) -> None:
    """Judgments in a file per campaign, in the order they were given."""
    instances = tuple(instance.id for instance in board.instances)
    files: dict[str, list[str]] = {}
    for judgment in board.judgments.each(instances, tuple(row.name for row in board.rows)):
        whose = _whose(board, judgment.instance, judgment.outputs)
        values = {name: _short(value) for name, value in judgment.values.items()}
        item = {"instance": judgment.instance, **whose, "values": values, "annotator": judgment.annotator}
        item |= {"campaign": judgment.campaign, **judgment.details}
        line = json.dumps({key: value for key, value in item.items() if value is not None}, ensure_ascii=False)
        files.setdefault(judgment.campaign or "judgments", []).append(line)
    for name, lines in files.items():
        write_lines(root / "judgments" / f"{file_name(name)}.jsonl", lines)


def _whose(board: Board, instance: str, names: tuple[str, ...]) -> dict[str, Any]:
    key, found = "generator", list(names)
    rows = [board.row(name) for name in names]
    if rows[0].generator is None:
        key, found = "output", [str(row.ids[board.position[instance]]) for row in rows]
    return {key: found[0]} if len(found) == 1 else {f"{key}s": found}


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _score_lines(board: Board, column: ImportedColumn) -> Iterator[str]:
    yield "\t".join(("instance", *column.values))
    rows = list(column.values.values())
    for k, instance in enumerate(board.instances):
        cells = ("" if math.isnan(row[k]) else repr(float(row[k])) for row in rows)
        yield "\t".join((instance.id, *cells))
