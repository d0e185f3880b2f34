"""Results from JSON, field by field as their types say.

A kept document was written by this program, but what lies on a disk can be cut off, edited or swapped. So every value
is held against the type of its field when it is read: what comes out is a result that can be trusted like one just
computed, and what doesn't fit is named by its place. A number that was none is null in JSON and NaN again here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from billboards.errors import InvalidInput
from billboards.reading import shown

#: Where a document's word is not the field's: `lambda` is no name in Python, `slice` one of its own.
WORDS = {"lam": "lambda", "lam_range": "lambda_range", "part": "slice", "interval90": "ci90"}

#: Takes a value from JSON and where it stands.
Reader = Callable[[Any, str], Any]


def typed_result(kind: type, document: Any, what: str) -> Any:
    """A result of this kind from its document; a field that the result can do without may be absent."""
    return _reader(kind)(document, what)


@cache
def _reader(kind: Any) -> Reader:
    """What reads values of a type."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if is_dataclass(kind):
        return _of_fields(kind)
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        return lambda value, where: value if value in inside else _refuse(value, where, " or ".join(map(repr, inside)))
    if origin is UnionType and inside[1:] == (type(None),):
        read = _reader(inside[0])
        return lambda value, where: None if value is None else read(value, where)
    if origin is tuple:
        return _of_many(_reader(inside[0])) if inside[1:] == (...,) else _of_few(inside)
    if origin is Mapping:
        return _of_names(_reader(inside[1]))
    raise TypeError(f"documents hold no {kind}")


def _of_fields(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    read = [
        (f.name, WORDS.get(f.name, f.name), _reader(hints[f.name]), f.default is MISSING is f.default_factory)
        for f in fields(kind)
    ]

    def result(value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            _refuse(value, where, "an object")
        missing = [word for _, word, _, needed in read if needed and word not in value]
        if missing:
            raise InvalidInput(f"{where} document without {missing[0]!r}; it is incomplete: write it anew")
        return kind(
            **{name: reader(value[word], f"{where}, {word}") for name, word, reader, _ in read if word in value}
        )

    return result


def _of_many(read: Reader) -> Reader:
    def found(value: Any, where: str) -> Any:
        if not isinstance(value, list):
            _refuse(value, where, "a list")
        return tuple([read(one, where) for one in value])

    return found


def _of_few(kinds: tuple[Any, ...]) -> Reader:
    readers = [_reader(kind) for kind in kinds]

    def found(value: Any, where: str) -> Any:
        if not isinstance(value, list) or len(value) != len(readers):
            _refuse(value, where, f"a list of {len(readers)}")
        return tuple([read(one, where) for read, one in zip(readers, value, strict=True)])

    return found


def _of_names(read: Reader) -> Reader:
    def found(value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            _refuse(value, where, "an object")
        return {name: read(one, where) for name, one in value.items()}

    return found


def _number(value: Any, where: str) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if value is None:
        return math.nan
    if type(value) is int and abs(value) < 2**63:
        return float(value)
    refused: float = _refuse(value, where, "a number")
    return refused


def _whole(value: Any, where: str) -> int:
    return value if type(value) is int and abs(value) < 2**63 else _refuse(value, where, "a whole number")


def _text(value: Any, where: str) -> str:
    return value if isinstance(value, str) else _refuse(value, where, "a text")


def _truth(value: Any, where: str) -> bool:
    return value if isinstance(value, bool) else _refuse(value, where, "true or false")


def _refuse(value: Any, where: str, expected: str) -> Any:
    raise InvalidInput(f"{where}: {shown(value)} where {expected} was expected; it is damaged: write it anew")


_PLAIN: Mapping[Any, Reader] = {str: _text, int: _whole, float: _number, bool: _truth}
