"""Instances and their references as they are written: one JSON object per line of `instances.jsonl`.

An instance is read without what is wrong about it, so that one wrong tag does not make every line that speaks of the
instance wrong too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from billboards.board.model import Instance, Reference
from billboards.board.names import name_mistake
from billboards.board.parts import INSTANCES, check_keys, read_part
from billboards.board.settings import Settings
from billboards.board.settings_tables import FILE
from billboards.reading import Problems, json_lines, shown

INSTANCE_KEYS = ("id", "input", "image", "references", "document", "domain", "tags")


def read_instances(root: Path, problems: Problems) -> tuple[Instance, ...]:
    """The instances in the order of their lines; a board without any is a mistake."""
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


def reference_set(
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
