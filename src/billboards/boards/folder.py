"""The board folder: a board that a person can write by hand, keep in git, and open with no server.

    board.toml               what the owner decides: dimensions, aggregates, metrics, human generators, data card
    instances.jsonl          {"id", "input" | "image", "references": [{"name", "text"}], "document", "domain", "tags"}
    generators/NAME.jsonl    {"instance", "text"}
    outputs.jsonl            {"instance", "id", "text"}: outputs that belong to no generator
    judgments/NAME.jsonl     {"instance", "generator" | "output", "values": {dimension: number}, "annotator", …}
    scores/NAME.tsv          scores that came with the data: a line per instance, a column per generator
    ensembles/, rankings/    what was fitted and said, kept for ever
    .billboards/             scores computed here; may be deleted, is computed again

Reading never stops at the first mistake: everything wrong is collected with file and line. Generators' texts are read
when first needed, because ranking a large board needs none of them.
"""

from __future__ import annotations

import hashlib
import math
import urllib.parse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from billboards.boards.judgment_columns import JudgmentColumns
from billboards.boards.lines import Problems, json_lines, numbered_lines
from billboards.boards.settings import FILE, ImportedSettings, Settings, read_settings
from billboards.domain import (
    Board,
    Generator,
    ImportedColumn,
    Instance,
    Judgments,
    Outputs,
    Reference,
    Texts,
    loose_rows,
)
from billboards.errors import InvalidBoard, InvalidInput

DETAILS = ("prefers", "spans", "test", "time", "template")


def open_board(path: str | Path) -> Board:
    """The board in a folder; raises `InvalidBoard` with every mistake found."""
    root = Path(path)
    problems = Problems()
    board = read_board(root, problems)
    if problems.errors:
        raise InvalidBoard(str(path), problems.errors)
    return board


def read_board(root: Path, problems: Problems) -> Board:
    """As much of a board as can be read, with everything wrong added to `problems`."""
    settings = _read_settings_file(root, problems)
    instances = _read_instances(root, problems)
    position = {instance.id: k for k, instance in enumerate(instances)}
    rows = _generator_rows(root, settings, position, problems)
    rows += _loose(root, instances, position, problems)
    imported = _read_scores(root, settings, position, rows, instances, problems)
    return Board(
        settings.name,
        instances,
        rows,
        _read_judgments(root, settings, position, rows, problems),
        settings.dimensions,
        settings.aggregates,
        settings.ranks,
        settings.metrics,
        imported,
        settings.lead,
        _checked_references(settings, instances, problems),
        settings.input_language,
        settings.output_language,
        settings.card,
    )


def file_name(name: str) -> str:
    """A generator's or metric's name as a file name; any name can be one."""
    return urllib.parse.quote(name, safe=" ()+,-._@=")


def named(path: Path) -> str:
    """The name that `file_name` made a file name of."""
    return urllib.parse.unquote(path.stem)


def read_texts(raw: bytes, name: str, position: Mapping[str, int], problems: Problems) -> Texts:
    """A generator's texts in the order of the instances, None where it has none."""
    texts: list[str | None] = [None] * len(position)
    seen: dict[int, int] = {}
    for line, item in json_lines(raw, name, problems):
        _only(item, ("instance", "text"), name, line, problems)
        k = _instance(item, position, name, line, problems)
        text = item.get("text")
        if not isinstance(text, str):
            problems.error(name, line, f'"text" must be text in quotes; found {text!r}')
        elif k is not None and k in seen:
            problems.error(name, line, f"instance {item['instance']!r} appears twice, first on line {seen[k]}")
        elif k is not None:
            texts[k], seen[k] = text, line
    return tuple(texts)


def _read_settings_file(root: Path, problems: Problems) -> Settings:
    if not root.is_dir():
        raise InvalidInput(f"{root}: no such board folder; `billboards new {root}` writes a skeleton")
    raw = _optional(root / FILE)
    if raw is None:
        raise InvalidInput(f"{root}: not a board folder, it has no {FILE}; `billboards new DIR` writes a skeleton")
    lines = [line for _, line in numbered_lines(raw, FILE, problems)]
    return read_settings("\n".join(lines), problems)


def _read_instances(root: Path, problems: Problems) -> tuple[Instance, ...]:
    name = "instances.jsonl"
    raw = _optional(root / name)
    if raw is None:
        problems.error(name, None, "is missing; it holds one JSON object per instance")
        return ()
    found: dict[str, tuple[int, Instance]] = {}
    for line, item in json_lines(raw, name, problems):
        instance = _read_instance(item, name, line, problems)
        if instance is None:
            continue
        if instance.id in found:
            problems.error(name, line, f"instance {instance.id!r} appears twice, first on line {found[instance.id][0]}")
            continue
        found[instance.id] = (line, instance)
    if not found and not problems.errors:
        problems.error(name, None, "holds no instance")
    return tuple(instance for _, instance in found.values())


def _read_instance(item: dict[str, Any], name: str, line: int, problems: Problems) -> Instance | None:
    _only(item, ("id", "input", "image", "references", "document", "domain", "tags"), name, line, problems)
    if not isinstance(item.get("id"), str) or not item["id"]:
        problems.error(name, line, f'"id" must be text in quotes; found {item.get("id")!r}')
        return None
    for key in ("input", "image", "document", "domain"):
        if not isinstance(item.get(key), str | None):
            problems.error(name, line, f'"{key}" must be text in quotes; found {item[key]!r}')
            return None
    tags = item.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        problems.error(name, line, f'"tags" must be a list of texts; found {tags!r}')
        return None
    references = _read_references(item.get("references", []), name, line, problems)
    return Instance(
        item["id"],
        references,
        item.get("input"),
        item.get("image"),
        item.get("document"),
        item.get("domain"),
        tuple(tags),
    )


def _read_references(items: object, name: str, line: int, problems: Problems) -> tuple[Reference, ...]:
    if not isinstance(items, list):
        problems.error(name, line, '"references" must be a list, as in [{"name": "A", "text": "…"}]')
        return ()
    found: dict[str, Reference] = {}
    for k, item in enumerate(items, 1):
        if isinstance(item, str):
            item = {"name": f"ref{k}", "text": item}
        if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in ("name", "text")):
            problems.error(name, line, f'reference {k} must be text or {{"name": …, "text": …}}; found {item!r}')
        elif item["name"] in found:
            problems.error(name, line, f"two references are named {item['name']!r}; names must differ")
        else:
            found[item["name"]] = Reference(item["name"], item["text"])
    return tuple(found.values())


def _generator_rows(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    problems: Problems,
) -> tuple[Outputs, ...]:
    rows = []
    for path in sorted((root / "generators").glob("*.jsonl")):
        generator = settings.generators.get(named(path), Generator(named(path)))
        version = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        rows.append(Outputs(generator.name, generator, version, _loader(root, path, position)))
    for name in settings.generators.keys() - {row.name for row in rows}:
        problems.error(FILE, None, f"[generators.{name}] has no file generators/{file_name(name)}.jsonl")
    return tuple(rows)


class _loader:  # noqa: N801 - a function with a memory of where to look
    """Reads one generator's texts when they are first needed."""

    def __init__(self, root: Path, path: Path, position: Mapping[str, int]) -> None:
        self.root, self.path, self.position = root, path, position

    def __call__(self) -> Texts:
        problems = Problems()
        name = f"generators/{self.path.name}"
        texts = read_texts(self.path.read_bytes(), name, self.position, problems)
        if problems.errors:
            raise InvalidBoard(str(self.root), problems.errors)
        return texts


def _loose(
    root: Path, instances: Sequence[Instance], position: Mapping[str, int], problems: Problems
) -> tuple[Outputs, ...]:
    name = "outputs.jsonl"
    raw = _optional(root / name)
    found: dict[str, tuple[str, str]] = {}
    for line, item in json_lines(raw or b"", name, problems):
        _only(item, ("instance", "id", "text"), name, line, problems)
        k = _instance(item, position, name, line, problems)
        if not isinstance(item.get("id"), str) or not isinstance(item.get("text"), str):
            problems.error(name, line, '"id" and "text" must be texts in quotes')
        elif item["id"] in found:
            problems.error(name, line, f"output {item['id']!r} appears twice")
        elif k is not None:
            found[item["id"]] = (item["instance"], item["text"])
    return loose_rows(instances, ((instance, key, text) for key, (instance, text) in found.items()))


def _read_judgments(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    problems: Problems,
) -> Judgments:
    columns = JudgmentColumns(tuple(settings.dimensions))
    where = {row.name: k for k, row in enumerate(rows) if row.generator is not None}
    loose = {(i, key): k for k, row in enumerate(rows) for i, key in enumerate(row.ids) if key is not None}
    for path in sorted((root / "judgments").glob("*.jsonl")):
        name = f"judgments/{path.name}"
        for line, item in json_lines(path.read_bytes(), name, problems):
            _read_judgment(item, columns, position, where, loose, settings, name, line, problems)
    return columns.build()


_JUDGMENT = ("instance", "generator", "generators", "output", "outputs", "values", "annotator", "campaign", *DETAILS)


def _read_judgment(
    item: dict[str, Any],
    columns: JudgmentColumns,
    position: Mapping[str, int],
    where: Mapping[str, int],
    loose: Mapping[tuple[int, str], int],
    settings: Settings,
    name: str,
    line: int,
    problems: Problems,
) -> None:
    _only(item, _JUDGMENT, name, line, problems)
    before = len(problems)
    k = _instance(item, position, name, line, problems)
    if k is None:
        return
    rows = _judged_rows(item, k, where, loose, name, line, problems)
    values = _judged_values(item, settings, name, line, problems)
    for key in ("annotator", "campaign"):
        if not isinstance(item.get(key), str | None):
            problems.error(name, line, f'"{key}" must be text in quotes; found {item[key]!r}')
    if len(problems) > before:
        return
    details = {key: item[key] for key in DETAILS if item.get(key) is not None}
    if len(rows) > 1:
        details["others"] = rows[1:]
    columns.add(k, rows[0], values, annotator=item.get("annotator"), campaign=item.get("campaign"), details=details)


def _judged_rows(
    item: Mapping[str, Any],
    k: int,
    where: Mapping[str, int],
    loose: Mapping[tuple[int, str], int],
    name: str,
    line: int,
    problems: Problems,
) -> tuple[int, ...]:
    generators = item.get("generators", [item["generator"]] if "generator" in item else [])
    outputs = item.get("outputs", [item["output"]] if "output" in item else [])
    rows = []
    for generator in generators if isinstance(generators, list) else [generators]:
        if generator in where:
            rows.append(where[generator])
        else:
            problems.error(name, line, f"generator {generator!r} has no file in generators/")
    for output in outputs if isinstance(outputs, list) else [outputs]:
        if (k, output) in loose:
            rows.append(loose[k, output])
        else:
            problems.error(name, line, f"output {output!r} is not an output of instance {item['instance']!r}")
    if not generators and not outputs:
        problems.error(name, line, 'says nothing of whose output it judges; give "generator" or "output"')
    return tuple(rows)


def _judged_values(
    item: Mapping[str, Any], settings: Settings, name: str, line: int, problems: Problems
) -> dict[str, float]:
    values = item.get("values", {})
    if not isinstance(values, dict) or not (values or "prefers" in item):
        problems.error(name, line, '"values" must name a dimension and its number, as in {"adequacy": 4}')
        return {}
    for dimension, value in values.items():
        if dimension not in settings.dimensions:
            problems.error(name, line, f"dimension {dimension!r} is not declared under [dimensions] in {FILE}")
        elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            problems.error(name, line, f"{dimension} must be a number; found {value!r}")
        else:
            limits = settings.dimensions[dimension].range
            if limits is not None and not limits[0] <= value <= limits[1]:
                problems.error(name, line, f"{dimension} = {value} lies outside its range {list(limits)}")
    return values


def _read_scores(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    instances: Sequence[Instance],
    problems: Problems,
) -> tuple[ImportedColumn, ...]:
    known = {row.name for row in rows}
    every = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    columns = []
    for path in sorted((root / "scores").glob("*.tsv")):
        raw = path.read_bytes()
        values = _read_score_table(raw, f"scores/{path.name}", position, known, problems)
        said = settings.scores.get(named(path), ImportedSettings(named(path)))
        sign = 1.0 if said.higher_is_better else -1.0
        columns.append(
            ImportedColumn(
                said.name,
                named(path),
                f"imported:{hashlib.sha256(raw).hexdigest()[:16]}",
                {row: scores * sign for row, scores in values.items()},
                () if "references" not in said.needs else every if said.references is None else said.references,
                "references" in said.needs,
                "input" in said.needs,
                said.is_ensemble,
            )
        )
    for name in settings.scores.keys() - {column.source_name for column in columns}:
        problems.error(FILE, None, f"[scores.{name}] has no file scores/{file_name(name)}.tsv")
    return tuple(columns)


def _read_score_table(
    raw: bytes, name: str, position: Mapping[str, int], known: Iterable[str], problems: Problems
) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    lines = ((number, line.split("\t")) for number, line in numbered_lines(raw, name, problems) if line)
    number, header = next(lines, (1, [""]))
    if header[0] != "instance":
        problems.error(name, number, 'the first line must read "instance", then a generator per column, tabs between')
        return {}
    for column in sorted(set(header[1:]) - set(known)):
        problems.error(name, number, f"column {column!r} is no generator of this board")
    if len(set(header)) < len(header):
        problems.error(name, number, "a generator stands in two columns")
    values = np.full((len(header) - 1, len(position)), np.nan)
    seen: set[int] = set()
    for number, cells in lines:
        k = position.get(cells[0])
        if k is None:
            problems.error(name, number, f"instance {cells[0]!r} is not in instances.jsonl")
        elif k in seen:
            problems.error(name, number, f"instance {cells[0]!r} appears twice")
        elif len(cells) != len(header):
            problems.error(name, number, f"{len(cells)} columns where the first line has {len(header)}")
        else:
            seen.add(k)
            values[:, k] = _numbers(cells[1:], name, number, problems)
    return dict(zip(header[1:], values, strict=True))


def _numbers(cells: list[str], name: str, number: int, problems: Problems) -> list[float]:
    found = []
    for cell in cells:
        try:
            value = float(cell) if cell else math.nan
        except ValueError:
            value = math.inf
        if cell and not math.isfinite(value):
            problems.error(name, number, f"{cell!r} is not a score; leave the cell empty where there is none")
        found.append(value)
    return found


def _checked_references(
    settings: Settings, instances: Sequence[Instance], problems: Problems
) -> tuple[str, ...] | None:
    names = {ref.name for instance in instances for ref in instance.references}
    said = {f"scores.{k}": s.references for k, s in settings.scores.items() if s.references is not None}
    if settings.references is not None:
        said["references"] = settings.references
    for where, references in said.items():
        for name in sorted(set(references) - names):
            problems.error(FILE, None, f"{where} names reference {name!r}, which no instance has")
    return settings.references


def _instance(
    item: Mapping[str, Any], position: Mapping[str, int], name: str, line: int, problems: Problems
) -> int | None:
    key = item.get("instance")
    if not isinstance(key, str):
        problems.error(name, line, f'"instance" must be an instance\'s id in quotes; found {key!r}')
        return None
    if key not in position:
        problems.error(name, line, f"instance {key!r} is not in instances.jsonl")
    return position.get(key)


def _only(item: Mapping[str, Any], known: tuple[str, ...], name: str, line: int, problems: Problems) -> None:
    for key in item:
        if key not in known:
            problems.error(name, line, f"unknown key {key!r}; known: {', '.join(known)}")


def _optional(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
