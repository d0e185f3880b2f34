"""Options of a function as arguments of a command: the same names, sentences, choices and limits.

A command that offers a declared function calls `add_options` on its parser and `given_options` on what was parsed. A
value that isn't allowed ends in one line that names the option, what it must be and what was given.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from billboards.errors import InvalidInput
from billboards.options import Option


def add_options(parser: ArgumentParser, options: Iterable[Option]) -> None:
    """Offer every option on a parser."""
    for option in options:
        _add(parser, option)


def given_options(arguments: Namespace, options: Iterable[Option]) -> dict[str, Any]:
    """The values that were given, by their names in Python; what wasn't given is left to the function's default."""
    values = {option.name: getattr(arguments, option.name, None) for option in options}
    return {name: value for name, value in values.items() if value is not None}


def _add(parser: ArgumentParser, option: Option) -> None:
    named: dict[str, Any] = {"dest": option.name, "help": option.help.replace("%", "%%"), "default": SUPPRESS}
    if option.is_flag:
        # A flag that is on by default can only be put out.
        flag = "--no-" + option.flag.removeprefix("--") if option.default is True else option.flag
        parser.add_argument(flag, action="store_const", const=option.default is not True, **named)
        return
    parser.add_argument(
        option.flag,
        required=option.required,
        action="append" if option.many else "store",
        type=Path if option.type is Path else _converter(option),
        choices=option.choices or None,
        metavar=option.metavar or (None if option.choices else option.outer.upper().replace("-", "_")),
        **named,
    )


def _converter(option: Option) -> Callable[[str], Any]:
    def converted(text: str) -> Any:
        try:
            return option.parse(text)
        except InvalidInput as error:
            # argparse names the option itself.
            raise ArgumentTypeError(str(error).removeprefix(f"{option.outer} ")) from error

    return converted
