"""Settings as their models declare them, for forms, docs and the HTTP interface.

A setting is declared once, in `site.settings`: its type, range, default, title and sentence. From that declaration come
its field in a form and the way back from what was typed, its line in docs/running-a-site.md, and the schemas of what is
sent and answered. What was typed is handed to the same validation as a program's request, as the same document, so a
mistake has one wording and one place.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, RootModel, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from billboards.site.settings import AboutSettings, BoardSettings, FilesWanted, TrustSettings, read_moment

Kind = Literal[
    "switch", "number", "text", "long", "time", "choice", "choices", "lines", "reasons", "step", "entries", "colour"
]
#: From how many characters on a text is written in several lines.
LONG = 500
#: Empty entries that a form offers at the end of a list.
SPARE = 1


@dataclass(frozen=True, kw_only=True)
class FormField:
    """One setting as a form asks for it; `key` is where it stands in the document, with dots between tables."""

    key: str
    title: str
    sentence: str
    kind: Kind
    choices: tuple[str, ...] = ()
    #: The lowest and highest number, in words.
    range: str = ""
    is_whole: bool = False
    may_be_empty: bool = False
    longest: int | None = None
    #: Of entries of a list: what each of them has.
    fields: tuple[FormField, ...] = ()

    @property
    def name(self) -> str:
        """The last part of its key."""
        return self.key.rpartition(".")[2]


#: The settings of a board in the order of its form; a test sees to it that none is left out.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Phases and quotas": ("phases", "accepts", "per_day", "total", "hidden_per_day", "hidden_total"),
    "What is hidden": (
        "hidden_references",
        "hidden_judgments",
        "inputs_from",
        "ladder",
        "open_programs",
        "revealed",
        "frozen",
    ),
    "How it is ranked": (
        "ranks",
        "by",
        "metrics",
        "reference_free",
        "method",
        "k",
        "sides",
        "draws",
        "seed",
        "quiet",
    ),
    "Budgets": ("judge_tokens", "gpu_hours"),
}


@cache
def board_fields() -> dict[str, FormField]:
    """Every setting of a board but what it tells of itself, by key; rules of trust stand as `trust.KEY`."""
    own = {field.key: field for field in fields_of(BoardSettings) if field.key not in ("trust", "about")}
    return own | {field.key: field for field in fields_of(TrustSettings, "trust.")}


@cache
def about_fields() -> dict[str, FormField]:
    """What a board tells of itself, by key: `about.KEY`."""
    return {field.key: field for field in fields_of(AboutSettings, "about.")}


@cache
def files_fields() -> tuple[FormField, ...]:
    """What is asked of who publishes a board as files."""
    return fields_of(FilesWanted)


def fields_of(model: type[BaseModel], prefix: str = "") -> tuple[FormField, ...]:
    """The settings of a model as fields of a form."""
    return tuple(_field(f"{prefix}{name}", info) for name, info in model.model_fields.items())


def _field(key: str, info: FieldInfo) -> FormField:
    shape = _shape(info)
    inner = next((kind for kind in shape.kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
    return FormField(
        key=key,
        title=info.title or key,
        sentence=info.description or "",
        kind=shape.kind(key),
        choices=shape.choices,
        range=shape.range,
        is_whole=int in shape.kinds,
        may_be_empty=shape.may_be_none,
        longest=shape.longest,
        fields=() if inner is None or not shape.is_list else fields_of(inner),
    )


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """What a type comes down to: the kinds of values it takes, and their bounds."""

    kinds: tuple[Any, ...]
    choices: tuple[str, ...]
    bounds: tuple[Any, ...]
    is_list: bool
    may_be_none: bool

    def kind(self, key: str) -> Kind:
        """How a form asks for it."""
        if self.is_list:
            if any(isinstance(kind, type) and issubclass(kind, BaseModel) for kind in self.kinds):
                return "entries"
            return "choices" if self.choices else "lines"
        if Mapping in self.kinds:
            return "reasons"
        if bool in self.kinds:
            return "step" if float in self.kinds else "switch"
        if self.choices:
            return "choice"
        if any(isinstance(bound, BeforeValidator) and bound.func is read_moment for bound in self.bounds):
            return "time"
        if int in self.kinds or float in self.kinds:
            return "number"
        if key.startswith("about.accent"):
            return "colour"
        return "long" if (self.longest or 0) > LONG else "text"

    @property
    def longest(self) -> int | None:
        return next((bound.max_length for bound in self.bounds if isinstance(bound, MaxLen)), None)

    @property
    def range(self) -> str:
        """The lowest and highest number, in words."""
        words: dict[type[Any], str] = {Ge: "{} or more", Gt: "more than {}", Le: "at most {}", Lt: "less than {}"}
        limits = {Ge: "ge", Gt: "gt", Le: "le", Lt: "lt"}
        return ", ".join(
            words[type(bound)].format(getattr(bound, limits[type(bound)]))
            for bound in self.bounds
            if type(bound) in words
        )


def _shape(info: FieldInfo) -> _Shape:
    kinds: list[Any] = []
    choices: list[str] = []
    bounds: list[Any] = list(info.metadata)
    is_list = may_be_none = False

    def look(annotation: Any) -> None:
        nonlocal is_list, may_be_none
        origin, inner = get_origin(annotation), get_args(annotation)
        if annotation is type(None):
            may_be_none = True
        elif origin is Annotated:
            for bound in inner[1:]:
                bounds.extend(bound.metadata if isinstance(bound, FieldInfo) else (bound,))
            look(inner[0])
        elif origin in (Union, types.UnionType):
            for part in inner:
                look(part)
        elif origin is Literal:
            kinds.append(str)
            choices.extend(map(str, inner))
        elif origin is tuple:
            is_list = True
            look(inner[0])
        else:
            kinds.append(Mapping if isinstance(origin, type) and issubclass(origin, Mapping) else annotation)

    look(info.annotation)
    return _Shape(
        kinds=tuple(kinds), choices=tuple(choices), bounds=tuple(bounds), is_list=is_list, may_be_none=may_be_none
    )


def shown_values(fields: Sequence[FormField], document: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """What a form shows of a document, by the names of its inputs."""
    values: dict[str, str] = {}
    for field in fields:
        name, value = f"{prefix}{field.key}", _looked_up(document, field.key)
        if field.kind == "entries":
            for number, entry in enumerate(value or ()):
                values |= shown_values(field.fields, entry, f"{name}.{number}.")
        elif field.kind == "choices":
            values |= {f"{name}.{choice}": "yes" for choice in value or ()}
        else:
            values[name] = _SHOWN[field.kind](value) if value is not None else ""
    return values


def _looked_up(document: Mapping[str, Any], key: str) -> Any:
    value: Any = document
    for part in key.split("."):
        value = None if value is None else value.get(part)
    return value


def _shown_time(value: str) -> str:
    """A time as a browser's field for times has it."""
    return str(value).removesuffix("Z").removesuffix(":00") if str(value).count(":") == 2 else str(value)


def _shown_number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


_SHOWN: Mapping[Kind, Callable[[Any], str]] = {
    "switch": lambda value: "yes" if value else "",
    "number": _shown_number,
    "text": str,
    "long": str,
    "colour": str,
    "time": _shown_time,
    "choice": str,
    "lines": lambda value: "\n".join(map(str, value)),
    "reasons": lambda value: "\n".join(f"{name} = {reason}" for name, reason in value.items()),
    "step": lambda value: (
        {True: "yes", False: "no"}.get(value, f"{value:g}") if isinstance(value, bool) else f"{value:g}"
    ),
}


def typed_document(fields: Sequence[FormField], sent: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The document that a form asks for; what can't be read stays as it was typed, so that the mistake is named."""
    document: dict[str, Any] = {}
    for field in fields:
        name = f"{prefix}{field.key}"
        *tables, key = field.key.split(".")
        table = document
        for part in tables:
            table = table.setdefault(part, {})
        if field.kind == "entries":
            table[key] = [typed_document(field.fields, sent, f"{name}.{number}.") for number in entries_in(sent, name)]
        elif field.kind == "choices":
            table[key] = [choice for choice in field.choices if sent.get(f"{name}.{choice}")]
        else:
            table[key] = _typed(field, str(sent.get(name) or "").replace("\r\n", "\n").strip())
    return document


def entries_in(sent: Mapping[str, Any], name: str) -> list[int]:
    """The numbers of a list's entries in which something stands, and that are not to be removed."""
    numbers = {
        int(number)
        for key, value in sent.items()
        if key.startswith(f"{name}.") and value and (number := key[len(name) + 1 :].partition(".")[0]).isdecimal()
    }
    return [number for number in sorted(numbers) if not sent.get(f"{name}.{number}.remove")]


def _typed(field: FormField, text: str) -> Any:
    match field.kind:
        case "switch":
            return text == "yes"
        case "step":
            return {"yes": True, "no": False, "": False}.get(text.lower(), _number(text))
        case "lines":
            lines = [line.strip() for line in text.split("\n") if line.strip()]
            return None if field.may_be_empty and not lines else lines
        case "reasons":
            pairs = (line.partition("=") for line in text.split("\n") if line.strip())
            return {name.strip(): reason.strip() for name, _, reason in pairs}
    if not text and field.may_be_empty:
        return None
    if field.kind == "number":
        return _number(text)
    # Browsers leave out the zone, which is UTC on all pages.
    return text


def _number(text: str) -> int | float | str:
    """A number as it was typed, or the text that is none."""
    if not text.isascii() or "_" in text or len(text) > 40:
        return text
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _outward(model: type[BaseModel], name: str, *, partial: bool) -> type[BaseModel]:
    """A model as programs see it: times as texts, and with `partial` nothing that must be stated."""
    parts: dict[str, Any] = {}
    for key, info in model.model_fields.items():
        shape = _shape(info)
        inner = next(_inner_models_of(shape), None)
        kind = info.rebuild_annotation()
        if shape.kind(key) == "time":
            kind = Annotated[str, Field(description="a time such as 2026-05-01T12:00:00Z")]
            kind = kind | None if shape.may_be_none else kind
        elif inner is not None:
            made: Any = _outward(inner, f"{name}{inner.__name__.removesuffix('Settings')}", partial=partial)
            kind = list[made] if shape.is_list else made | None if shape.may_be_none else made
        default = info.get_default(call_default_factory=True) if not info.is_required() else ...
        stated = Field(
            None if partial and inner is not None and not shape.is_list else default,
            title=info.title,
            description=info.description,
        )
        parts[key] = (kind, stated)
    return create_model(name, __config__=ConfigDict(extra="forbid" if partial else "ignore"), **parts)


def _inner_models_of(shape: _Shape) -> Iterator[type[BaseModel]]:
    return (kind for kind in shape.kinds if isinstance(kind, type) and issubclass(kind, BaseModel))


#: A board's settings as programs are answered them.
SettingsFacts = _outward(BoardSettings, "BoardSettingsFacts", partial=False)
_Changes = _outward(BoardSettings, "BoardSettingsChanges", partial=True)


class SettingsChanges(RootModel[dict[str, Any]]):
    """Some of a board's settings; what is not named stays.

    It is described by the settings' own declaration and read by their own validation, which names all mistakes at once.
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler.resolve_ref_schema(handler(_Changes.__pydantic_core_schema__))


_FilesChanges = _outward(FilesWanted, "FilesWantedChanges", partial=True)


class FilesChanges(RootModel[dict[str, Any]]):
    """What is wanted of published files; what is not named has its default."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler.resolve_ref_schema(handler(_FilesChanges.__pydantic_core_schema__))
