"""The board folder: a board that a person can write by hand, keep in git, and open with no server.

    board.toml               what the owner decides: dimensions, aggregates, metrics, human generators, data card
    instances.jsonl          {"id", "input" | "image", "references": [{"name", "text"}], "document", "domain", "tags"}
    generators/NAME.jsonl    {"instance", "text"}
    outputs.jsonl            {"instance", "id", "text"}: outputs that belong to no generator
    judgments/NAME.jsonl     {"instance", "generator" | "output", "values": {dimension: number}, "annotator", …}
    scores/NAME.tsv          scores that came with the data: a line per instance, a column per generator
    ensembles/, rankings/    what was fitted and said, kept for ever
    .billboards/             scores computed here, and numbers of large files; may be deleted, is made again

Here a folder is opened and its instances and outputs are read; `settings`, `judgment_files` and `score_files` read the
other parts. Reading never stops at the first mistake: everything wrong is collected with file and line, and an instance
is read without what is wrong about it, so that one wrong tag does not make every line that speaks of it wrong too.
Generators' texts are read when first needed: knowing which scores are missing needs none of them, and ranking a large
board only some. Until then a row is known by the digest of its file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from billboards.board._parts import (
    INSTANCES,
    LISTED,
    OUTPUTS,
    check_files,
    check_keys,
    instance_position,
    named_files,
    read_part,
    reference_set,
)
from billboards.board.judgment_files import read_judgments
from billboards.board.model import Board, Generator, Instance, Outputs, Reference, Texts, loose_rows
from billboards.board.names import generator_name_mistake, name_mistake
from billboards.board.score_files import read_scores
from billboards.board.settings import FILE, Settings, read_settings
from billboards.errors import InvalidBoard, InvalidInput, StoreFailed, nearest
from billboards.reading import Problems, json_lines, numbered_lines, shown

INSTANCE_KEYS = ("id", "input", "image", "references", "document", "domain", "tags")
TEXT_KEYS = ("instance", "text")
OUTPUT_KEYS = ("instance", "id", "text")


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
    instances = read_instances(root, problems)
    position = {instance.id: k for k, instance in enumerate(instances)}
    references = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    rows = generator_rows(root, settings, position, problems)
    rows = _in_order(rows + loose_outputs(root, instances, position, problems), settings, problems)
    return Board(
        name=settings.name,
        instances=instances,
        rows=rows,
        judgments=read_judgments(root, settings, position, rows, problems),
        dimensions=settings.dimensions,
        aggregates=settings.aggregates,
        ranks=settings.ranks,
        metrics=settings.metrics,
        imported=read_scores(root, settings, position, rows, references, problems),
        lead=settings.lead,
        references_used=reference_set(settings.references, references, settings, ("references",), problems),
        input_language=settings.input_language,
        output_language=settings.output_language,
        card=settings.card,
        reference_free=settings.reference_free,
        by=settings.by,
        anonymous=settings.anonymous,
        trust=settings.trust,
        before=settings.before,
        home=root,
    )


def _in_order(rows: tuple[Outputs, ...], settings: Settings, problems: Problems) -> tuple[Outputs, ...]:
    """Rows in the order that `board.toml` states; those it does not name follow as they are."""
    if not settings.order:
        return rows
    by_name = {row.name: row for row in rows}
    for name in settings.order:
        if name not in by_name and not problems.errors_in("generators") and not problems.errors_in(OUTPUTS):
            problems.error(FILE, settings.line("order"), f"order names {shown(name)}, which is no row of this board")
    stated = [by_name[name] for name in settings.order if name in by_name]
    return (*stated, *(row for row in rows if row.name not in settings.order))


def _advice(root: Path) -> str:
    """What to do about a folder that is not there: take the one beside it that was meant, or make it."""
    if root.is_file():
        return "`billboards import` makes a board of a table or of text files, and BOARD is the folder that it wrote"
    try:
        boards = [entry.name for entry in root.absolute().parent.iterdir() if (entry / FILE).is_file()]
    except OSError:
        boards = []
    near = nearest(root.name, boards, cutoff=0.7)
    meant = f"did you mean {', '.join(str(root.parent / name) for name in near)}? " if near else ""
    return f"{meant}`billboards new {root}` writes a skeleton"


def read_settings_file(root: Path, problems: Problems) -> Settings:
    """What `board.toml` says; a folder without one is not a board."""
    try:
        is_folder = root.is_dir()
    except OSError as error:
        raise InvalidInput(f"{root}: can't be read: {error.strerror}; name another folder") from error
    if not is_folder:
        what = "is a file, not a board folder" if root.is_file() else "no such board folder"
        raise InvalidInput(f"{root}: {what}; {_advice(root)}")
    before = len(problems)
    raw = read_part(root, FILE, problems)
    if raw is None and len(problems) == before:
        raise InvalidInput(f"{root}: not a board folder, it has no {FILE}; `billboards new DIR` writes a skeleton")
    lines = [line for _, line in numbered_lines(raw or b"", FILE, problems)]
    return read_settings("\n".join(lines), problems) if len(problems) == before else Settings()


def read_instances(root: Path, problems: Problems) -> tuple[Instance, ...]:
    """The instances in the order of their lines; a board without any is a mistake."""
    raw = read_part(root, INSTANCES, problems)
    by_id: dict[str, tuple[int, Instance]] = {}
    for line, item in json_lines(raw or b"", INSTANCES, problems):
        instance = _read_instance(item, INSTANCES, line, problems)
        if instance is None:
            continue
        if instance.id in by_id:
            message = f"instance {shown(instance.id)} appears twice, first on line {by_id[instance.id][0]}"
            problems.error(INSTANCES, line, message)
            continue
        by_id[instance.id] = (line, instance)
    if not by_id and not problems.errors_in(INSTANCES):
        what = "is missing" if raw is None else "holds no instance"
        problems.error(INSTANCES, None, f'{what}; write one JSON object per line, as in {{"id": "1", "input": "…"}}')
    return tuple(instance for _, instance in by_id.values())


def _read_instance(item: dict[str, Any], name: str, line: int, problems: Problems) -> Instance | None:
    """An instance without what is wrong about it; None only where its id can't be used."""
    check_keys(item, INSTANCE_KEYS, name, line, problems)
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
        references=_read_references(item.get("references", []), name, line, problems),
        input=_text(item, "input", name, line, problems),
        image=_text(item, "image", name, line, problems),
        document=_text(item, "document", name, line, problems),
        domain=_text(item, "domain", name, line, problems),
        tags=tuple(tags),
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
    by_name: dict[str, Reference] = {}
    for k, item in enumerate(items, 1):
        if isinstance(item, str):
            item = {"name": f"ref{k}", "text": item}
        if wrong := _reference_mistake(item):
            problems.error(name, line, f"reference {k} {wrong}")
        elif item["name"] in by_name:
            problems.error(name, line, f"two references are named {shown(item['name'])}; names must differ")
        else:
            by_name[item["name"]] = Reference(item["name"], item["text"])
    return tuple(by_name.values())


def _reference_mistake(item: object) -> str | None:
    if (
        not isinstance(item, dict)
        or item.keys() != {"name", "text"}
        or not all(isinstance(value, str) for value in item.values())
    ):
        return f'must be text or {{"name": "…", "text": "…"}}; found {shown(item)}'
    wrong = name_mistake(item["name"])
    return f"has the name {shown(item['name'])}, which {wrong}" if wrong else None


def generator_rows(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    problems: Problems,
) -> tuple[Outputs, ...]:
    """A row per file; also for one that can't be read, so that nobody else complains of its absence."""
    rows = []
    for name, path in named_files(root, "generators", ".jsonl", generator_name_mistake, problems).items():
        raw = read_part(root, f"generators/{path.name}", problems)
        version = hashlib.sha256(raw or b"").hexdigest()[:16]
        generator = settings.generators.get(name, Generator(name))
        rows.append(
            Outputs(
                name=name,
                generator=generator,
                version=version,
                load=TextsFile(root=root, path=path, position=position, version=version),
            )
        )
    check_files("generators", ".jsonl", settings.generators, {row.name for row in rows}, settings, problems)
    return tuple(rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextsFile:
    """Reads one generator's texts when they are first needed."""

    root: Path
    path: Path
    position: Mapping[str, int]
    version: str

    @property
    def name(self) -> str:
        return f"generators/{self.path.name}"

    def raw(self) -> bytes:
        """The file as it was written."""
        return read_part(self.root, self.name, Problems()) or b""

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
        check_keys(item, TEXT_KEYS, name, line, problems)
        k = instance_position(item, position, name, line, problems)
        text = item.get("text")
        if not isinstance(text, str):
            problems.error(name, line, f'"text" must be text in quotes; found {shown(text)}')
        elif k is not None and k in lines:
            message = f"instance {shown(item['instance'])} appears twice, first on line {lines[k]}"
            problems.error(name, line, message)
        elif k is not None:
            texts[k], lines[k] = text, line
    return tuple(texts), lines


def loose_outputs(
    root: Path, instances: Sequence[Instance], position: Mapping[str, int], problems: Problems
) -> tuple[Outputs, ...]:
    """Outputs that belong to no generator, laid out in as few rows as they need."""
    by_id: dict[str, tuple[str, str]] = {}
    for line, item in json_lines(read_part(root, OUTPUTS, problems) or b"", OUTPUTS, problems):
        check_keys(item, OUTPUT_KEYS, OUTPUTS, line, problems)
        k = instance_position(item, position, OUTPUTS, line, problems)
        key, text = item.get("id"), item.get("text")
        if not isinstance(key, str) or not isinstance(text, str):
            problems.error(OUTPUTS, line, '"id" and "text" must be texts in quotes')
        elif wrong := name_mistake(key):
            problems.error(OUTPUTS, line, f'"id" {shown(key)} {wrong}')
        elif key in by_id:
            problems.error(OUTPUTS, line, f"output {shown(key)} appears twice; ids of outputs must differ")
        elif k is not None:
            by_id[key] = (item["instance"], text)
    return loose_rows(instances, ((instance, key, text) for key, (instance, text) in by_id.items()))
