"""What an importer is: a function from a folder or file to a board, declared once, in a file of its own.

    @importer(card=DataCard(title="Pairs", task="Translate news", ...))
    def pairs(source: Path, *, language: Annotated[str, "the code of the outputs' language"] = "en") -> Board:
        \"""Pairs of sentences, each rated from 1 to 5.\"""

The signature declares the options, the first line of the docstring says what the importer reads, and `card` states what
is known of the data beside their files. The command with its help, the call from Python and the table in the docs are
made from these. It returns a board, or an `Imported`: a board with notes on what had to be decided or left out. Crowd
workers who are named by their ids on a platform leave every importer under pseudonyms.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.errors import ImportRefused, InvalidInput
from billboards.options import Option, check_options, options_of
from billboards.registry import first_line

if TYPE_CHECKING:
    from billboards.board import Board, DataCard
    from billboards.board.judgment_sources import Imported

#: What every import can be told, on the command line or in Python.
TAKEN = frozenset({"card", "fact", "facts", "force", "help", "kind", "out", "scored", "source"})


@dataclass(frozen=True, kw_only=True)
class Importer:
    """A declared importer; called with a source and options by name, it returns a board in memory with notes."""

    name: str
    function: Callable[..., Board | Imported]
    #: Facts for the board's data card, where the board doesn't state them itself.
    card: DataCard | None = None

    @property
    def summary(self) -> str:
        """What it reads, in one line."""
        return first_line(inspect.getdoc(self.function) or "")

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Every option, in the order of the signature."""
        options = options_of(self.function)
        for option in options:
            if option.outer in TAKEN:
                raise InvalidInput(f"importer {self.name}: every import has an option {option.outer}; rename it")
        return options

    @cached_property
    def needs_source(self) -> bool:
        """Whether there is one file or folder to read; where not, options name several, and the source is optional."""
        first = next(iter(inspect.signature(self.function).parameters.values()))
        return first.default is inspect.Parameter.empty

    def __call__(self, source: str | Path | None = None, **options: Any) -> Imported:
        """The board in a folder or file; options that are unknown, missing or not allowed are refused."""
        from billboards.board.judgment_sources import Imported

        if source is None and self.needs_source:
            raise InvalidInput(f"importer {self.name} needs a file or folder to read; none was given")
        read = None if source is None else Path(source)
        result = self.function(read, **check_options(self.name, self.options, options))
        imported = result if isinstance(result, Imported) else Imported(result)
        if not imported.board.instances:
            raise ImportRefused(f"{source}: holds nothing to import; fetch it again")
        named = _without_ids(imported)
        return named if self.card is None else replace(named, board=_stating(named.board, self.card))


def importer(
    name: str | None = None, *, card: DataCard | None = None
) -> Callable[[Callable[..., Board | Imported]], Importer]:
    """Declare a function to be an importer.

    name: what people ask for; the function's own name, with dashes for underscores, unless another is given
    card: what is known of the data; a board's own facts come first

    Example:

        @importer("realsumm", card=CARD)
        def read(source: Path) -> Board: ...
    """

    def declare(function: Callable[..., Board | Imported]) -> Importer:
        return Importer(name=name or function.__name__.replace("_", "-"), function=function, card=card)

    return declare


def _without_ids(imported: Imported) -> Imported:
    """The same with pseudonyms for annotators whose names are ids of a crowd platform; see `pseudonyms`."""
    from billboards.board.pseudonyms import pseudonyms

    board = imported.board
    given = pseudonyms(board.judgments.annotators)
    if not given:
        return imported
    annotators = tuple(given.get(name, name) for name in board.judgments.annotators)
    first, *_, last = *given.values(), *given.values()
    note = (
        f"{len(given)} annotators were named by their ids on a platform and have pseudonyms here, {first} to {last}; "
        "which is whose is kept nowhere"
    )
    renamed = replace(board, judgments=replace(board.judgments, annotators=annotators))
    return replace(imported, board=renamed, notes=(*imported.notes, note))


def _stating(board: Board, card: DataCard) -> Board:
    own = {f.name: getattr(board.card, f.name) for f in fields(card) if getattr(board.card, f.name) is not None}
    return replace(board, card=replace(card, **own))
