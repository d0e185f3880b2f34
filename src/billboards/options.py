"""Options of a function, read from its signature: the one place where they are declared.

Importers, formats and analyses are plain functions. Every parameter that somebody may choose has a type, a default and
a sentence, as in `draws: Annotated[int, Ge(0), "bootstrap draws"] = 1000`; from it come the command's option with its
help, the check of what Python gives, the field of a form and the row in the docs.

- `Literal["a", "b"]` names the choices, `bool` is a flag, `Path` a path, `tuple[str, ...]` may be given several times;
- limits are those of `annotated_types`: `Ge`, `Gt`, `Le`, `Lt`;
- `Named(name=…)` says how other doors than Python call the option, where Python can't or long has called it otherwise.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from billboards.errors import InvalidInput, UnknownName
from billboards.reading import decimal_number, shown, signed_number

_LIMITS = {
    "ge": ("at least", operator.ge),
    "gt": ("above", operator.gt),
    "le": ("at most", operator.le),
    "lt": ("below", operator.lt),
}
_YES = ("true", "yes", "on", "1")
_NO = ("false", "no", "off", "0")


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """How doors other than Python's name an option, where that is no name in Python or has long been another."""

    name: str = ""
    #: What stands for the value in a command's help.
    metavar: str = ""
    #: Whether the command line takes it by its place, without a flag.
    positional: bool = False
    #: Whether it names metrics: to be computed, so that a single one is a list of one; or by the scores there are.
    metrics: Literal["", "computed", "scored"] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One option of a function, as every door offers it."""

    name: str
    #: Its name on the command line, in addresses and in forms.
    outer: str
    help: str
    #: The type of a single value: a list of texts and an optional text are both `str` here.
    type: Any
    default: Any = None
    required: bool = False
    #: Whether it may be given by position in Python.
    positional: bool = False
    #: Whether it may be given several times.
    many: bool = False
    choices: tuple[Any, ...] = ()
    limits: tuple[Any, ...] = ()
    metavar: str = ""
    #: Whether the command line takes it by its place, without a flag.
    argument: bool = False
    #: Whether it names metrics: to be computed, or by the scores there are.
    metrics: Literal["", "computed", "scored"] = ""
    #: The whole type, for schemas.
    annotation: Any = None

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return "--" + self.outer.replace("_", "-")

    @property
    def is_flag(self) -> bool:
        """Whether it is on or off, and needs no value on the command line."""
        return self.type is bool and not self.many

    def parse(self, text: str) -> Any:
        """A single value from a text, as a command line or a form gives it; raises `InvalidInput`."""
        if self.choices:
            return self._chosen(text)
        if self.type is bool:
            return self._on_or_off(text)
        if self.type in (int, float):
            number = signed_number(text) if self.type is int else decimal_number(text)
            if number is None:
                raise self._no_number(text)
            return self._within_limits(number)
        if self.type is Path:
            return Path(text)
        return self._within_limits(text)

    def check(self, value: Any) -> Any:
        """A value of Python's within limits and choices; a text is a path where one is meant, and a path a list."""
        if value is None:
            return None
        if not self.many:
            return self._checked(value)
        if self.type is Path and isinstance(value, str | Path):
            value = (value,)
        if self.metrics and (isinstance(value, str | Path) or not isinstance(value, Iterable)):
            value = (value,)
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InvalidInput(f"{self.outer} must be a list of values; found {shown(value)}")
        return tuple(self._checked(part) for part in value)

    def _checked(self, value: Any) -> Any:
        if self.choices and value not in self.choices:
            raise InvalidInput(self._no_choice(value))
        if self.type is Path and isinstance(value, str):
            return Path(value)
        if self.type in (int, float) and not isinstance(value, Real):
            raise self._no_number(value)
        return self._within_limits(value)

    def _chosen(self, text: str) -> Any:
        for choice in self.choices:
            if str(choice) == text:
                return choice
        raise InvalidInput(self._no_choice(text))

    def _no_choice(self, value: Any) -> str:
        return f"{self.outer} must be one of {', '.join(map(str, self.choices))}; found {shown(value)}"

    def _no_number(self, value: object) -> InvalidInput:
        kind = "a whole number" if self.type is int else "a number"
        return InvalidInput(f"{self.outer} must be {kind}; found {shown(value)}")

    def _on_or_off(self, text: str) -> bool:
        if text.lower() not in (*_YES, *_NO):
            raise InvalidInput(f"{self.outer} must be true or false; found {shown(text)}")
        return text.lower() in _YES

    def _within_limits(self, value: Any) -> Any:
        for limit in self.limits:
            for attribute, (words, holds) in _LIMITS.items():
                bound = getattr(limit, attribute, None)
                if bound is not None and not holds(value, bound):
                    raise InvalidInput(f"{self.outer} must be {words} {bound}; found {shown(value)}")
        return value


def options_of(function: Callable[..., Any], skip: int = 1) -> tuple[Option, ...]:
    """Every option of a function in the order of its signature, without the first `skip` parameters.

    A parameter `**anything` is no option.
    """
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        where = f"{function.__module__}.{function.__name__}"
        raise InvalidInput(f"{where}: {error}; its signature needs that at run time") from error
    parameters = list(inspect.signature(function).parameters.values())[skip:]
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return tuple(
        _option(parameter, hints.get(parameter.name, str)) for parameter in parameters if parameter.kind not in variable
    )


def check_options(owner: str, options: Sequence[Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values given in Python by name, each checked; an unknown or a missing one is named with its owner."""
    by_name = {option.name: option for option in options}
    for name in values:
        if name not in by_name:
            raise UnknownName(f"option of {owner}", name, by_name)
    for option in options:
        if option.required and values.get(option.name) is None:
            raise InvalidInput(f"{owner} needs {option.name}: {option.help}")
    return {name: by_name[name].check(value) for name, value in values.items()}


def _option(parameter: inspect.Parameter, hint: Any) -> Option:
    annotation, extras = hint, list[Any]()
    if get_origin(hint) is Annotated:
        annotation, *extras = get_args(hint)
    named = next((extra for extra in extras if isinstance(extra, Named)), Named())
    value_type, many, choices = _value_type(annotation)
    required = parameter.default is inspect.Parameter.empty
    return Option(
        name=parameter.name,
        outer=named.name or parameter.name,
        help=next((extra for extra in extras if isinstance(extra, str)), ""),
        type=value_type,
        default=None if required else parameter.default,
        required=required,
        positional=parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD,
        many=many,
        choices=choices,
        limits=tuple(extra for extra in extras if not isinstance(extra, str | Named)),
        metavar=named.metavar,
        argument=named.positional,
        metrics=named.metrics,
        annotation=annotation,
    )


def _value_type(annotation: Any) -> tuple[Any, bool, tuple[Any, ...]]:
    """The type of a single value, whether there may be several, and which ones there are."""
    if get_origin(annotation) is Annotated:
        return _value_type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        inner = [part for part in get_args(annotation) if part is not NoneType]
        return _value_type(inner[0]) if len(inner) == 1 else (str, False, ())
    if get_origin(annotation) is Literal:
        values = get_args(annotation)
        return type(values[0]), False, values
    if get_origin(annotation) in (tuple, list, Sequence):
        value_type, _, choices = _value_type(get_args(annotation)[0])
        return value_type, True, choices
    return annotation, False, ()
