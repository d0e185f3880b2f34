"""Results as JSON documents, and back from them.

A document holds every field of its result under the names that scripts rely on, with a schema version and its kind; it
is strict JSON, so what is not a number is null. What was read back equals what was written, which is what makes a
snapshot a snapshot. What lies on a disk can be cut off, edited or swapped, so a document is read through a pydantic
model that is made from the result's own fields; the same model is its schema for programs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from billboards.errors import InvalidInput
from billboards.reading import shown
from billboards.show.table import Table, records

SCHEMA = 1
#: Where a document's word is not the field's: `lambda` is no name in Python, `slice` one of its own.
WORDS = {"lam": "lambda", "lam_range": "lambda_range", "part": "slice", "interval90": "ci90"}

#: What should have been there, by the kind of a mistake.
_EXPECTED = {
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "tuple_type": "a list",
    "string_type": "a text",
    "bool_type": "true or false",
    "literal_error": "another word",
}

Document = dict[str, Any]
#: How a document is written for programs alone.
COMPACT: Mapping[str, Any] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
Result = TypeVar("Result")


def dumps(document: Mapping[str, Any], *, compact: bool = False) -> str:
    """A document as strict JSON text; half a character, which UTF-8 can't hold, is written as its escape.

    `compact` is for programs alone: without line ends inside it is written in a fourth of the time.
    """
    how = COMPACT if compact else {**COMPACT, "separators": None, "indent": 2}
    return escaped(json.dumps(document, **how))


def escaped(text: str) -> str:
    """JSON text as it is written: halves of characters as escapes, and a line end behind it."""
    if text.isascii():
        return text + "\n"
    return re.sub(r"[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def kind_of(result: Any, otherwise: str = "") -> str:
    """What a result's document calls itself: its class says so, else it is named after the analysis."""
    return getattr(result, "DOCUMENT", "") or otherwise or type(result).__name__.lower()


def document_of(result: Any, kind: str = "") -> Document:
    """A result under its head; a field that bears a name of the head would be lost, so it is refused."""
    own = getattr(result, "document", None)
    if own is not None:
        return dict(own())
    name = kind_of(result, kind)
    head: Document = {"schema": SCHEMA, "kind": name}
    body: Document = _table_body(result) if isinstance(result, Table) else plain(result)
    taken = sorted(head.keys() & body.keys())
    if taken:
        raise InvalidInput(f"a {name} has a field named {taken[0]!r}, which its document needs; rename the field")
    return head | body


def result_of(kind: type[Result], document: Any) -> Result:
    """The result that a document was made from, its head checked first."""
    name = kind_of(kind)
    _check_head(document, name)
    return read_fields(kind, document, name)


def read_fields(kind: type[Result], document: Any, what: str) -> Result:
    """A data class from its fields as JSON has them; a field that has a default may be absent."""
    from pydantic import ValidationError

    try:
        read: Result = _model(kind).model_validate(document).result()
    except ValidationError as error:
        first = error.errors()[0]
        where = ", ".join((what, *(str(place) for place in first["loc"] if not isinstance(place, int))))
        if first["type"] == "missing":
            raise InvalidInput(
                f"{what} document without {first['loc'][-1]!r}; it is incomplete: write it anew"
            ) from None
        expected = _EXPECTED.get(first["type"], first["msg"].partition(", ")[2] or "something else")
        raise InvalidInput(
            f"{where}: {shown(first['input'])} where {expected} was expected; it is damaged: write it anew"
        ) from None
    return read


def _model(kind: Any) -> Any:
    return _made_model(kind)


@cache
def _made_model(kind: Any) -> Any:
    """The pydantic model of a data class: its fields under the document's words, numbers finite or null."""
    from pydantic import BaseModel, ConfigDict, Field, create_model

    class Fields(BaseModel):
        model_config = ConfigDict(extra="ignore", title=kind.__name__)

        def result(self) -> Any:
            return kind(**{name: _unwrapped(getattr(self, name)) for name in type(self).model_fields})

    hints = get_type_hints(kind)
    described: dict[str, Any] = {}
    for field in fields(kind):
        if not field.init or field.metadata.get("document") is False:
            continue
        default: Any = ...
        if field.default is not MISSING:
            default = field.default
        settings: dict[str, Any] = {"alias": WORDS.get(field.name, field.name)}
        if field.default_factory is not MISSING:
            settings["default_factory"] = field.default_factory
            described[field.name] = (_field_type(hints[field.name]), Field(**settings))
        else:
            described[field.name] = (_field_type(hints[field.name]), Field(default, **settings))
    model = create_model(kind.__name__, __base__=Fields, **described)
    if kind.__doc__:
        model.__doc__ = kind.__doc__
    return model


def _field_type(hint: Any) -> Any:
    """A field's type as its document is checked against it."""
    plain = _plain_types()
    if hint in plain:
        return plain[hint]
    if is_dataclass(hint):
        return _model(hint)
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return Union[tuple(part if part is NoneType else _field_type(part) for part in inside)]  # noqa: UP007 - made here
    if origin is tuple:
        return tuple[tuple(part if part is ... else _field_type(part) for part in inside)]  # type: ignore[misc]  # a type made here
    if origin is Mapping or origin is dict:
        return dict[str, _field_type(inside[1])]  # type: ignore[misc]  # a type made here
    return hint if origin is Literal else Any


@cache
def _plain_types() -> Mapping[Any, Any]:
    from typing import Annotated

    from pydantic import BeforeValidator, Strict

    return {
        str: Annotated[str, Strict()],
        bool: Annotated[bool, Strict()],
        int: Annotated[int, BeforeValidator(_whole)],
        float: Annotated[float | None, BeforeValidator(_number)],
    }


def _number(value: Any) -> float:
    """A number; null is one that was none."""
    if value is None:
        return math.nan
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is int and abs(value) < 2**63:
        return float(value)
    raise ValueError("a number")


def _whole(value: Any) -> int:
    if type(value) is int and abs(value) < 2**63:
        return value
    raise ValueError("a whole number")


def _unwrapped(value: Any) -> Any:
    """A field's value with models inside it made into what they are models of."""
    if type(value) in _READ_AS_THEY_ARE:
        return value
    if isinstance(value, tuple):
        return tuple([_unwrapped(item) for item in value]) if value and not isinstance(value[0], float) else value
    if isinstance(value, dict):
        # Most of a large ranking are numbers by name, which are right as they are.
        return {key: item if type(item) in _READ_AS_THEY_ARE else _unwrapped(item) for key, item in value.items()}
    return value.result() if hasattr(value, "model_fields_set") else value


def part_model(kind: Any) -> Any:
    """The model of a part of a document, which has no head."""
    return _model(kind)


@cache
def document_model(kind: Any) -> Any:
    """The model of a whole document: its head, and the fields of a result."""
    from pydantic import create_model

    if kind is Table:
        body: dict[str, Any] = {"title": (str, ...), "rows": (list[dict[str, Any]], ...), "notes": (list[str], ...)}
    elif is_dataclass(kind):
        body = {WORDS.get(n, n): (f.annotation, f.default) for n, f in _model(kind).model_fields.items()}
    else:
        body = {}
    described: dict[str, Any] = {"schema_": (int, _aliased("schema")), "kind": (str, ...)}
    described |= {_python_name(word): (annotation, _aliased(word)) for word, (annotation, _) in body.items()}
    return create_model(f"{kind.__name__}Document", **described)


def _aliased(word: str) -> Any:
    from pydantic import Field

    return Field(alias=word)


def _python_name(word: str) -> str:
    """A name that a model may have for a document's word: `lambda` and `schema` are none."""
    return f"{word}_" if word in ("lambda", "schema", "copy", "json", "dict") else word


def _check_head(document: Any, kind: str) -> None:
    if not isinstance(document, Mapping):
        raise InvalidInput(
            f"a {kind} document is a JSON object, not {type(document).__name__}; give a {kind}'s document"
        )
    if document.get("schema") != SCHEMA:
        raise InvalidInput(
            f"{kind} document of schema {document.get('schema')!r}; this version of billboards reads schema {SCHEMA}: "
            "update billboards, or write the document anew"
        )
    if document.get("kind") != kind:
        raise InvalidInput(f"document of kind {document.get('kind')!r} where a {kind} was expected; give a {kind}'s")


def _table_body(table: Table) -> Document:
    return {"title": table.title, "rows": [plain(record) for record in records(table)], "notes": list(table.notes)}


def plain(value: Any) -> Any:
    """A value as JSON knows it; fields stand under the document's words, then what the class counts in beside them."""
    kind: Any = type(value)
    # What a document has most of comes first: a large ranking has hundreds of thousands of numbers.
    if kind is float:
        return value if math.isfinite(value) else None
    if kind in _AS_THEY_ARE:
        return value
    if kind is dict:
        return {key if type(key) is str else str(key): plain(item) for key, item in value.items()}
    if kind is tuple or kind is list:
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        own = {word: plain(getattr(value, name)) for word, name in _words(kind)}
        return own | {name: plain(getattr(value, name)) for name in getattr(value, "ALSO", ())}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple | list) else value


_AS_THEY_ARE = frozenset({str, int, bool, NoneType})
_READ_AS_THEY_ARE = _AS_THEY_ARE | {float}


@cache
def _words(kind: Any) -> tuple[tuple[str, str], ...]:
    """A document's words for the fields of a data class, and their names."""
    return tuple((WORDS.get(field.name, field.name), field.name) for field in fields(kind))
