"""Results with labels in the place of names, to be shown: values and documents keep the names that people type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from billboards.metrics.labels import relabelled_text
from billboards.show.table import Table

T = TypeVar("T")


def relabelled(value: T, labels: Mapping[str, str]) -> T:
    """A result in which everything that is exactly a column's name is its label; texts within it stay as they are."""
    if not labels:
        return value
    shown: Any = _relabelled(value, labels)
    result: T = shown
    return result


def _relabelled(value: Any, labels: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return labels.get(value, value)
    if is_dataclass(value) and not isinstance(value, type):
        before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        after = {name: _relabelled(own, labels) for name, own in before.items()}
        changed = {name: own for name, own in after.items() if own is not before[name]}
        return replace(value, **changed) if changed else value
    if isinstance(value, Mapping):
        items = {_relabelled(key, labels): _relabelled(own, labels) for key, own in value.items()}
        same = all(key is old and items[key] is value[old] for key, old in zip(items, value, strict=False))
        return value if same and len(items) == len(value) else items
    if type(value) in (tuple, list, frozenset, set):
        parts = [_relabelled(part, labels) for part in value]
        return value if all(a is b for a, b in zip(parts, value, strict=True)) else type(value)(parts)
    return value


def relabelled_table(table: Table, labels: Mapping[str, str]) -> Table:
    """A table whose title, heads and notes have labels, too."""
    columns = tuple(replace(column, header=relabelled_text(column.header, labels)) for column in table.columns)
    notes = tuple(relabelled_text(note, labels) for note in table.notes)
    asides = tuple(relabelled_text(note, labels) for note in table.asides)
    notes_of = {relabelled_text(note, labels): key for note, key in table.notes_of.items()}
    return replace(
        table,
        title=relabelled_text(table.title, labels),
        caption=relabelled_text(table.caption, labels),
        best_note=relabelled_text(table.best_note, labels),
        columns=columns,
        notes=notes,
        asides=asides,
        notes_of=notes_of,
    )
