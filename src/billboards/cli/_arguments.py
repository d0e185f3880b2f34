"""Options of a function as arguments of a command: the same names, sentences, choices and limits.

A command that offers a declared function calls `add_options` on its parser and `given_options` on what was parsed. A
value that isn't allowed ends in one line that names the option, what it must be and what was given.
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace, _ArgumentGroup
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from billboards.cli.main import OneLineParser
from billboards.errors import BillboardsError, InvalidInput
from billboards.options import Option


class LateParser(OneLineParser):
    """A parser that gets its arguments when it is used, so that listing many of them loads what none of them needs."""

    def __init__(self, *args: Any, complete: Callable[[ArgumentParser], None], **named: Any) -> None:
        super().__init__(*args, **named)
        self._complete: Callable[[ArgumentParser], None] | None = complete

    def complete(self) -> None:
        """Add the arguments, once."""
        if self._complete is not None:
            adding, self._complete = self._complete, None
            adding(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        try:
            self.complete()
        except BillboardsError as error:
            self.exit(2 if isinstance(error, InvalidInput) else 1, f"billboards: {error}\n")
        return super().parse_known_args(args, namespace)


def add_options(parser: ArgumentParser | _ArgumentGroup, options: Iterable[Option], *, lists: bool = False) -> None:
    """Offer every option on a parser; with `lists` one that may be repeated takes several values at once, too."""
    for option in options:
        _add(parser, option, lists=lists)


def given_options(arguments: Namespace, options: Iterable[Option]) -> dict[str, Any]:
    """The values that were given, by their names in Python; what wasn't given is left to the function's default."""
    values = {option.name: getattr(arguments, option.name, None) for option in options}
    return {name: value for name, value in values.items() if value is not None}


def _add(parser: ArgumentParser | _ArgumentGroup, option: Option, *, lists: bool) -> None:
    named: dict[str, Any] = {"dest": option.name, "help": option.help.replace("%", "%%"), "default": SUPPRESS}
    if option.is_flag:
        # A flag that is on by default can only be put out, and its help says so.
        flag = option.flag
        if option.default is True:
            flag, named["help"] = f"--no-{flag.removeprefix('--')}", f"don't {named['help']}"
        parser.add_argument(flag, action="store_const", const=option.default is not True, **named)
        return
    if option.argument:
        del named["dest"]
        nargs = None if option.required else "?"
        place = option.metavar or option.outer.upper()
        parser.add_argument(option.name, type=_converter(option), nargs=nargs, metavar=place, **named)
        return
    if option.many and lists:
        named["nargs"] = "+"
    parser.add_argument(
        option.flag,
        required=option.required,
        action=("extend" if lists else "append") if option.many else "store",
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
