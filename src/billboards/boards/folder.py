"""The board folder: a board that a person can write by hand, keep in git, and open with no server.

    board.toml               what the owner decides: dimensions, aggregates, metrics, human generators, data card
    instances.jsonl          {"id", "input" | "image", "references": [{"name", "text"}], "document", "domain", "tags"}
    generators/NAME.jsonl    {"instance", "text"}
    outputs.jsonl            {"instance", "id", "text"}: outputs that belong to no generator
    judgments/NAME.jsonl     {"instance", "generator" | "output", "values": {dimension: number}, "annotator", …}
    scores/NAME.tsv          scores that came with the data: a line per instance, a column per generator
    ensembles/, rankings/    what was fitted and said, kept for ever
    .billboards/             scores computed here, and numbers of large files; may be deleted, is made again

Reading never stops at the first mistake: everything wrong is collected with file and line. Generators' texts are read
when first needed: knowing which scores are missing needs none of them, and ranking a large board only some.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from billboards.boards.judgment_columns import JudgmentColumns
from billboards.boards.judgment_lines import KEYS as JUDGMENT_KEYS
from billboards.boards.judgment_lines import JudgmentReader, loose_positions
from billboards.boards.kept import FOLDER as KEPT
from billboards.boards.kept import LARGE, KeptTable, keep_numbers, kept_facts, key_of
from billboards.boards.kept_judgments import keep_judgments, kept_judgments
from billboards.boards.lines import Problems, json_lines, numbered_lines, shown
from billboards.boards.names import file_name, file_name_mistake, generator_name_mistake, is_loose, name_mistake, named
from billboards.boards.score_tables import Floats, read_score_table
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
    digest,
    loose_rows,
)
from billboards.errors import InvalidBoard, InvalidInput, StoreFailed

__all__ = [
    "TextsFile",
    "file_name",
    "named",
    "open_board",
    "part_files",
    "read_board",
    "read_part",
    "read_settings_file",
    "read_texts",
    "read_texts_and_lines",
]

INSTANCES = "instances.jsonl"
OUTPUTS = "outputs.jsonl"
INSTANCE_KEYS = ("id", "input", "image", "references", "document", "domain", "tags")
TEXT_KEYS = ("instance", "text")
OUTPUT_KEYS = ("instance", "id", "text")

#: How many mistakes of one file are listed; the rest are counted.
LISTED = 100
#: Bytes of a file of judgments that are read at a time.
_PIECE = 4_000_000


def open_board(path: str | Path) -> Board:
    """The board in a folder; raises `InvalidBoard` with every mistake found."""
    root = Path(path)
    problems = Problems(LISTED)
    board = read_board(root, problems)
    if problems.errors:
        raise InvalidBoard(str(path), problems.errors)
    return board


def read_board(root: Path, problems: Problems) -> Board:
    """As much of a board as can be read, with everything wrong added to `problems`."""
    settings = read_settings_file(root, problems)
    instances = _read_instances(root, problems)
    position = {instance.id: k for k, instance in enumerate(instances)}
    references = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    rows = _generator_rows(root, settings, position, problems)
    rows += _loose(root, instances, position, problems)
    return Board(
        settings.name,
        instances,
        rows,
        _read_judgments(root, settings, position, rows, problems),
        settings.dimensions,
        settings.aggregates,
        settings.ranks,
        settings.metrics,
        _read_scores(root, settings, position, rows, references, problems),
        settings.lead,
        _reference_set(settings.references, references, settings, ("references",), problems),
        settings.input_language,
        settings.output_language,
        settings.card,
        settings.reference_free,
        root,
    )


def read_texts(raw: bytes, name: str, position: Mapping[str, int], problems: Problems) -> Texts:
    """A generator's texts in the order of the instances, None where it has none."""
    return read_texts_and_lines(raw, name, position, problems)[0]


def read_texts_and_lines(
    raw: bytes, name: str, position: Mapping[str, int], problems: Problems
) -> tuple[Texts, dict[int, int]]:
    """A generator's texts in the order of the instances, and the line each stands on."""
    texts: list[str | None] = [None] * len(position)
    lines: dict[int, int] = {}
    for line, item in json_lines(raw, name, problems):
        _only(item, TEXT_KEYS, name, line, problems)
        k = _instance(item, position, name, line, problems)
        text = item.get("text")
        if not isinstance(text, str):
            problems.error(name, line, f'"text" must be text in quotes; found {shown(text)}')
        elif k is not None and k in lines:
            message = f"instance {shown(item['instance'])} appears twice, first on line {lines[k]}"
            problems.error(name, line, message)
        elif k is not None:
            texts[k], lines[k] = text, line
    return tuple(texts), lines


def read_settings_file(root: Path, problems: Problems) -> Settings:
    """What `board.toml` says; a folder without one is not a board."""
    try:
        there = root.is_dir()
    except OSError as error:
        raise InvalidInput(f"{root}: can't be read: {error.strerror}; name another folder") from error
    if not there:
        raise InvalidInput(f"{root}: no such board folder; `billboards new {root}` writes a skeleton")
    before = len(problems)
    raw = read_part(root, FILE, problems)
    if raw is None and len(problems) == before:
        raise InvalidInput(f"{root}: not a board folder, it has no {FILE}; `billboards new DIR` writes a skeleton")
    lines = [line for _, line in numbered_lines(raw or b"", FILE, problems)]
    return read_settings("\n".join(lines), problems) if len(problems) == before else Settings()


def _read_instances(root: Path, problems: Problems) -> tuple[Instance, ...]:
    raw = read_part(root, INSTANCES, problems)
    found: dict[str, tuple[int, Instance]] = {}
    for line, item in json_lines(raw or b"", INSTANCES, problems):
        instance = _read_instance(item, INSTANCES, line, problems)
        if instance is None:
            continue
        if instance.id in found:
            message = f"instance {shown(instance.id)} appears twice, first on line {found[instance.id][0]}"
            problems.error(INSTANCES, line, message)
            continue
        found[instance.id] = (line, instance)
    if not found and not problems.errors_in(INSTANCES):
        what = "is missing" if raw is None else "holds no instance"
        problems.error(INSTANCES, None, f'{what}; write one JSON object per line, as in {{"id": "1", "input": "…"}}')
    return tuple(instance for _, instance in found.values())


def _read_instance(item: dict[str, Any], name: str, line: int, problems: Problems) -> Instance | None:
    """An instance without what is wrong about it; None only where its id can't be used."""
    _only(item, INSTANCE_KEYS, name, line, problems)
    key = item.get("id")
    if not isinstance(key, str):
        problems.error(name, line, f'"id" must be text in quotes; found {shown(key)}')
        return None
    if wrong := name_mistake(key):
        problems.error(name, line, f'"id" {shown(key)} {wrong}')
        return None
    tags = item.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        problems.error(name, line, f'"tags" must be a list of texts; found {shown(tags)}')
        tags = []
    return Instance(
        key,
        _read_references(item.get("references", []), name, line, problems),
        _text(item, "input", name, line, problems),
        _text(item, "image", name, line, problems),
        _text(item, "document", name, line, problems),
        _text(item, "domain", name, line, problems),
        tuple(tags),
    )


def _text(item: Mapping[str, Any], key: str, name: str, line: int, problems: Problems) -> str | None:
    value = item.get(key)
    if value is None or isinstance(value, str):
        return value
    problems.error(name, line, f'"{key}" must be text in quotes; found {shown(value)}')
    return None


def _read_references(items: object, name: str, line: int, problems: Problems) -> tuple[Reference, ...]:
    if not isinstance(items, list):
        problems.error(name, line, '"references" must be a list, as in [{"name": "A", "text": "…"}]')
        return ()
    found: dict[str, Reference] = {}
    for k, item in enumerate(items, 1):
        if isinstance(item, str):
            item = {"name": f"ref{k}", "text": item}
        if wrong := _reference_mistake(item):
            problems.error(name, line, f"reference {k} {wrong}")
        elif item["name"] in found:
            problems.error(name, line, f"two references are named {shown(item['name'])}; names must differ")
        else:
            found[item["name"]] = Reference(item["name"], item["text"])
    return tuple(found.values())


def _reference_mistake(item: object) -> str | None:
    if (
        not isinstance(item, dict)
        or item.keys() != {"name", "text"}
        or not all(isinstance(value, str) for value in item.values())
    ):
        return f'must be text or {{"name": "…", "text": "…"}}; found {shown(item)}'
    wrong = name_mistake(item["name"])
    return f"has the name {shown(item['name'])}, which {wrong}" if wrong else None


def _generator_rows(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    problems: Problems,
) -> tuple[Outputs, ...]:
    """A row per file; also for one that can't be read, so that nobody else complains of its absence."""
    rows = []
    for name, path in _named_files(root, "generators", ".jsonl", generator_name_mistake, problems).items():
        raw = read_part(root, f"generators/{path.name}", problems)
        version = hashlib.sha256(raw or b"").hexdigest()[:16]
        generator = settings.generators.get(name, Generator(name))
        rows.append(Outputs(name, generator, version, TextsFile(root, path, position, version)))
    names = {row.name for row in rows}
    for name in settings.generators:
        if name not in names and not problems.errors_in("generators"):
            message = f"[generators.{name}] has no file generators/{file_name(name)}.jsonl"
            problems.error(FILE, settings.line("generators", name), message)
    return tuple(rows)


@dataclass(frozen=True)
class TextsFile:
    """Reads one generator's texts when they are first needed."""

    root: Path
    path: Path
    position: Mapping[str, int]
    version: str

    @property
    def name(self) -> str:
        return f"generators/{self.path.name}"

    def __call__(self) -> Texts:
        problems, name = Problems(LISTED), self.name
        raw = read_part(self.root, name, problems)
        if raw is not None and hashlib.sha256(raw).hexdigest()[:16] != self.version:
            raise StoreFailed(f"{self.path}: has changed since the board was opened; open the board again")
        texts = read_texts(raw or b"", name, self.position, problems)
        if raw is None and not problems:
            problems.error(name, None, "is gone since the board was opened")
        if problems.errors:
            raise InvalidBoard(str(self.root), problems.errors)
        return texts


def _loose(
    root: Path, instances: Sequence[Instance], position: Mapping[str, int], problems: Problems
) -> tuple[Outputs, ...]:
    found: dict[str, tuple[str, str]] = {}
    for line, item in json_lines(read_part(root, OUTPUTS, problems) or b"", OUTPUTS, problems):
        _only(item, OUTPUT_KEYS, OUTPUTS, line, problems)
        k = _instance(item, position, OUTPUTS, line, problems)
        key, text = item.get("id"), item.get("text")
        if not isinstance(key, str) or not isinstance(text, str):
            problems.error(OUTPUTS, line, '"id" and "text" must be texts in quotes')
        elif wrong := name_mistake(key):
            problems.error(OUTPUTS, line, f'"id" {shown(key)} {wrong}')
        elif key in found:
            problems.error(OUTPUTS, line, f"output {shown(key)} appears twice; ids of outputs must differ")
        elif k is not None:
            found[key] = (item["instance"], text)
    return loose_rows(instances, ((instance, key, text) for key, (instance, text) in found.items()))


def _read_judgments(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    problems: Problems,
) -> Judgments:
    """All judgments; where their files are large, as they were kept when last read."""
    names = [f"judgments/{path.name}" for path in part_files(root, "judgments", ".jsonl", problems)]
    keeping = not problems.errors and sum(_size(root / name) for name in names) >= LARGE
    path = root / KEPT / "judgments"

    def key(digests: Iterable[str]) -> str:
        loose = [row.version for row in rows if row.generator is None]
        scales = [[name, dimension.range] for name, dimension in settings.dimensions.items()]
        return key_of(scales, digest(position), loose, list(zip(names, digests, strict=True)))

    if keeping and (kept := kept_judgments(path, key(_digest(root / name) for name in names), rows)) is not None:
        return kept
    columns = JudgmentColumns(tuple(settings.dimensions))
    reader = JudgmentReader(
        columns,
        None if problems.errors_in("generators") else {row.name: k for k, row in enumerate(rows) if row.generator},
        None if problems.errors_in(OUTPUTS) else loose_positions(rows),
        None if settings.lines is None else settings.dimensions,
        problems,
    )
    before = len(problems)
    digests = [_read_judgment_file(root, name, position, reader, problems) for name in names]
    judgments = columns.build()
    if keeping and len(problems) == before:
        keep_judgments(path, key(digests), judgments, rows)
    return judgments


def _read_judgment_file(
    root: Path, name: str, position: Mapping[str, int], reader: JudgmentReader, problems: Problems
) -> str:
    """Read the judgments of one file; the digest of what was read."""
    read, first = hashlib.sha256(), 1
    for piece in _pieces(root, name, problems):
        read.update(piece)
        for line, item in json_lines(piece, name, problems, first=first):
            _only(item, JUDGMENT_KEYS, name, line, problems)
            instance = _instance(item, position, name, line, problems)
            if instance is not None:
                reader.read(item, instance, name, line)
        first += piece.count(b"\n")
    return read.hexdigest()


def _pieces(root: Path, name: str, problems: Problems) -> Iterator[bytes]:
    """A file's bytes some whole lines at a time; a file that can't be read is a mistake."""
    path = root / name
    try:
        if not path.is_file():
            problems.error(name, None, "can't be read: it must be a file")
            return
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece + file.readline()
    except OSError as error:
        problems.error(name, None, f"can't be read: {error.strerror or error}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _digest(path: Path) -> str:
    """The digest of a large file, which is not held whole; of one that can't be read, that of nothing."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _read_scores(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    references: tuple[str, ...],
    problems: Problems,
) -> tuple[ImportedColumn, ...]:
    known = _known_rows(rows, problems)
    columns = []
    for name, path in _named_files(root, "scores", ".tsv", file_name_mistake, problems).items():
        said = settings.scores.get(name, ImportedSettings(name))
        used = _reference_set(said.references, references, settings, ("scores", name, "references"), problems)
        raw = read_part(root, f"scores/{path.name}", problems)
        values = {} if raw is None else _score_table(raw, ScoresFile(root, path, position, said), known, problems)
        columns.append(
            ImportedColumn(
                said.name,
                name,
                _signature(raw or b"", said),
                values,
                () if "references" not in said.needs else references if used is None else used,
                "references" in said.needs,
                "input" in said.needs,
                said.is_ensemble,
                said.is_statistic,
            )
        )
    names = {column.source_name for column in columns}
    for name in settings.scores:
        if name not in names and not problems.errors_in("scores"):
            message = f"[scores.{name}] has no file scores/{file_name(name)}.tsv"
            problems.error(FILE, settings.line("scores", name), message)
    return tuple(columns)


@dataclass(frozen=True)
class ScoresFile:
    """Reads one table of scores, when the board is opened or again later."""

    root: Path
    path: Path
    position: Mapping[str, int]
    said: ImportedSettings

    @property
    def name(self) -> str:
        return f"scores/{self.path.name}"

    def read(self, raw: bytes, known: Callable[[str], bool], problems: Problems) -> dict[str, Floats]:
        values = read_score_table(raw, self.name, self.position, known, problems)
        return values if self.said.higher_is_better else {row: _negated(scores) for row, scores in values.items()}

    def again(self, version: str) -> dict[str, Floats]:
        """The same scores from the same bytes."""
        raw = read_part(self.root, self.name, Problems()) or b""
        if hashlib.sha256(raw).hexdigest() != version:
            raise StoreFailed(f"{self.path}: has changed since the board was opened; open the board again")
        return self.read(raw, lambda _: True, Problems())


def _score_table(
    raw: bytes, file: ScoresFile, known: Callable[[str], bool], problems: Problems
) -> Mapping[str, Floats]:
    """A table of scores; a large one is loaded, as it was kept when first read, whenever it is asked for."""
    if len(raw) < LARGE:
        return file.read(raw, known, problems)
    path, version = file.root / KEPT / file.name, hashlib.sha256(raw).hexdigest()
    key = key_of(version, digest(file.position), file.said.higher_is_better)
    facts = kept_facts(path, key)
    if facts is None or not all(map(known, facts["rows"])):
        before = len(problems)
        values = file.read(raw, known, problems)
        facts = {"rows": list(values)}
        if len(problems) > before or not values or not keep_numbers(path, key, facts, [np.array([*values.values()])]):
            return values
    return KeptTable(path, key, facts["rows"], partial(file.again, version))


def _known_rows(rows: Sequence[Outputs], problems: Problems) -> Callable[[str], bool]:
    """Whether a name is a row's; where rows could not be read, any name may be one of theirs."""
    names = {row.name for row in rows}
    generators_read = not problems.errors_in("generators")
    loose_read = not (problems.errors_in(OUTPUTS) or problems.errors_in(INSTANCES))
    return lambda name: name in names or not (loose_read if is_loose(name) else generators_read)


def _signature(raw: bytes, said: ImportedSettings) -> str:
    """The identity of imported scores: their digest, which is another one when they are turned round."""
    turned = b"" if said.higher_is_better else b"-"
    return f"imported:{hashlib.sha256(turned + raw).hexdigest()[:16]}"


def _negated(scores: Floats) -> Floats:
    """Scores turned round, without a negative zero."""
    turned: Floats = 0.0 - scores
    return turned


def _reference_set(
    names: tuple[str, ...] | None,
    known: tuple[str, ...],
    settings: Settings,
    key: tuple[str, ...],
    problems: Problems,
) -> tuple[str, ...] | None:
    """The references a setting names, in the board's own order."""
    if names is None:
        return None
    for name in names:
        if name not in known and not problems.errors_in(INSTANCES):
            message = f"{'.'.join(key)} names reference {shown(name)}, which no instance has"
            problems.error(FILE, settings.line(*key), message)
    return tuple(name for name in known if name in names)


def _instance(
    item: Mapping[str, Any], position: Mapping[str, int], name: str, line: int, problems: Problems
) -> int | None:
    """The position of the instance a line speaks of; where no instance could be read, that was said already."""
    key = item.get("instance")
    if not isinstance(key, str):
        problems.error(name, line, f'"instance" must be an instance\'s id in quotes; found {shown(key)}')
        return None
    if position and key not in position:
        problems.error(name, line, f"instance {shown(key)} is not in {INSTANCES}")
    return position.get(key)


def _only(item: Iterable[str], known: tuple[str, ...], name: str, line: int, problems: Problems) -> None:
    for key in item:
        if key not in known:
            problems.error(name, line, f"unknown key {shown(key)}; known: {', '.join(known)}")


def _named_files(
    root: Path, folder: str, suffix: str, mistake: Callable[[str], str | None], problems: Problems
) -> dict[str, Path]:
    """The files of a folder by the name each stands for; two files for one name are a mistake."""
    found: dict[str, Path] = {}
    for path in part_files(root, folder, suffix, problems):
        name = named(path)
        if wrong := mistake(name):
            problems.error(f"{folder}/{path.name}", None, f"the name {shown(name)} {wrong}")
        if name in found:
            message = f"stands for {shown(name)}, as {found[name].name} does; keep one of the two"
            problems.error(f"{folder}/{path.name}", None, message)
        found.setdefault(name, path)
    return found


def part_files(root: Path, folder: str, suffix: str, problems: Problems) -> list[Path]:
    """The files of one kind in a part of the board, in the order of their names; hidden ones are not the board's."""
    where = root / folder
    try:
        there = where.exists() or where.is_symlink()
        paths = sorted(where.iterdir()) if there else []
    except OSError as error:
        problems.error(folder, None, f"can't be read: {error.strerror}; it must be a folder with *{suffix} files")
        return []
    found = [path for path in paths if path.suffix == suffix and not path.name.startswith(".")]
    for path in found:
        if not _is_text(path.name):
            problems.error(folder, None, f"the file name {path.name!a} is not UTF-8; rename the file")
    return [path for path in found if _is_text(path.name)]


def _is_text(name: str) -> bool:
    """Whether a file's name could be decoded; what could not stands in it as surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def read_part(root: Path, name: str, problems: Problems) -> bytes | None:
    """A file's bytes; None where it is absent, and where it can't be read, which is a mistake."""
    path = root / name
    try:
        if path.is_file():
            return path.read_bytes()
        if path.exists() or path.is_symlink():
            problems.error(name, None, "can't be read: it must be a file")
    except OSError as error:
        problems.error(name, None, f"can't be read: {error.strerror or error}")
    return None
