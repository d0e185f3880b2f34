"""Sets in BEAMetrics' own layout: one JSON object with an example per id, an output with its references and ratings.

An example has a source (under a key of its own), a `hypothesis`, `references`, and for each dimension a rating or the
list of all annotators' ratings. Examples of one source are outputs of one instance; who wrote them is not said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from billboards.board import Dimension, Instance, Judgment
from billboards.errors import ImportRefused
from billboards.importers.assembling import (
    Facts,
    LooseOutputs,
    assemble,
    counts,
    references,
    text_in,
    texts_in,
    value_within,
)
from billboards.importers.base import Imported, check_name
from billboards.reading import Problems, json_lines, read_source, refuse_errors, shown


def read_json(path: Path) -> Any:
    """A file that is one JSON value; one that is none is refused with its line."""
    raw = read_source(path)
    try:
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ImportRefused(f"{path}:{error.lineno}: not JSON: {error.msg}; fetch the file again") from error
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{path}: not usable JSON: {error}; fetch the file again") from error


def read_objects(path: Path, key: str) -> Mapping[str, Mapping[str, Any]]:
    """Objects by id, from a file that is one JSON object, or JSON lines with the id under a key."""
    if ".jsonl" in path.suffixes:
        problems = Problems()
        found: dict[str, Mapping[str, Any]] = {}
        for line, item in json_lines(read_source(path), str(path), problems):
            name = str(item.get(key, ""))
            if not name or name in found:
                what = "appears twice" if name else "is missing"
                problems.error(str(path), line, f'"{key}" {shown(name)} {what}')
            found[name] = item
        if not found and not problems.errors:
            problems.error(str(path), None, "holds nothing; fetch the file again")
        refuse_errors(problems)
        return found
    value = read_json(path)
    if not isinstance(value, dict) or not value or not all(isinstance(item, dict) for item in value.values()):
        raise ImportRefused(f"{path}: must be a JSON object with an object for each id; found {shown(value)}")
    return value


def import_examples(path: Path, name: str, facts: Facts, source_key: str) -> Imported:
    """The board of a set in this layout."""
    problems, outputs, where = Problems(), LooseOutputs(), str(path)
    instances: dict[str, Instance] = {}
    judgments: list[Judgment] = []
    for key, item in read_objects(path, "id").items():
        check_name("output", key, where, None, problems)
        source = text_in(item, source_key, where, None, problems)
        texts = references(texts_in(item, "references", where, None, problems))
        instance = instances.setdefault(source, Instance(str(len(instances) + 1), texts, source))
        if instance.references != texts:
            problems.error(where, None, f"example {key}: another example of its source has other references")
        row = outputs.add(instance.id, text_in(item, "hypothesis", where, None, problems), key)
        judgments += _ratings(key, item, facts.dimensions, instance.id, row, where, problems)
    refuse_errors(problems)
    board = assemble(name, facts, tuple(instances.values()), outputs.rows(tuple(instances.values())), judgments)
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
    said = {d.name: item.get(d.name) for d in dimensions}
    lists = {name: value if isinstance(value, list) else [value] for name, value in said.items()}
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
        who = f"place {k}" if isinstance(said[dimensions[0].name], list) else None
        yield Judgment(instance, (row,), values, who, "ratings")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key appears twice in one object")
    return found
