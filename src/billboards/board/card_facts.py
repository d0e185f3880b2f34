"""Which facts a board's data card needs, and where they come from: `board.toml`, or options of an import.

A board that lacks facts is a draft: its owner can look at it in every way, all results say so, and a site refuses to
publish it. That follows from the card itself and is written nowhere. A fact has one name everywhere: the card's keys,
`input-language` and `output-language`, and `definition.DIMENSION`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from billboards.board.card import DataCard
from billboards.board.model import Board
from billboards.errors import InvalidInput, UnknownName
from billboards.reading import shown, toml_document

STATED = tuple(f.name for f in fields(DataCard))
LANGUAGES = ("input-language", "output-language")
DEFINITION = "definition."


def keys_in_toml(facts: Sequence[str]) -> str:
    """Where facts are written in `board.toml`, table by table."""
    tables: dict[str, list[str]] = {}
    for fact in facts:
        if fact in LANGUAGES:
            tables.setdefault("languages", []).append(fact.partition("-")[0])
        elif fact.startswith(DEFINITION):
            tables.setdefault(f"dimensions.{fact.removeprefix(DEFINITION)}", []).append("definition")
        else:
            tables.setdefault("card", []).append(fact)
    return "; ".join(f"{', '.join(keys)} under [{table}]" for table, keys in tables.items())


def with_facts(board: Board, facts: Mapping[str, str]) -> Board:
    """The board with facts stated in addition to its own, or instead of them."""
    possible = (*STATED, *LANGUAGES, *(f"{DEFINITION}{name}" for name in board.dimensions))
    for fact, text in facts.items():
        if fact not in possible:
            raise UnknownName("fact of a data card", fact, possible)
        if not text.strip():
            raise InvalidInput(f"the fact {fact} is empty; say what it is, or leave it out")
    dimensions = {
        name: replace(dimension, definition=facts.get(f"{DEFINITION}{name}", dimension.definition))
        for name, dimension in board.dimensions.items()
    }
    stated = {fact: text for fact, text in facts.items() if fact in STATED}
    return replace(
        board,
        card=replace(board.card, **stated),
        dimensions=dimensions,
        input_language=facts.get("input-language", board.input_language),
        output_language=facts.get("output-language", board.output_language),
    )


def draft_note(board: Board, folder: str = "BOARD") -> str | None:
    """What a reader of a draft must know: that it is one, what is missing, and how to state it; None for others."""
    if not board.is_draft:
        return None
    missing = ", ".join(board.missing_facts)
    return f"Draft: the data card lacks {missing}; `billboards card {folder} --template` writes what to fill in"


def refuse_drafts(boards: Iterable[Board]) -> None:
    """Refuse to publish boards whose data cards lack facts; every one of them is named with what it lacks."""
    drafts = [board for board in boards if board.is_draft]
    if not drafts:
        return
    lacking = "; ".join(f"board {board.name} lacks {', '.join(board.missing_facts)}" for board in drafts)
    folder = shlex.quote(str(drafts[0].home or drafts[0].name))
    raise InvalidInput(
        f"drafts are not published, because readers need a data card to trust a board: {lacking}. "
        f"`billboards card {folder} --template -o facts.toml` writes what to fill in, and `billboards card {folder} "
        "--fill facts.toml` puts it into the board; until then serve it on this machine alone"
    )


def read_facts(options: Sequence[str], file: Path | None) -> dict[str, str]:
    """Facts from options `KEY=TEXT` and from a TOML file with the same keys; options win."""
    facts = {} if file is None else _read_file(file)
    for text in options:
        fact, equals, value = text.partition("=")
        if not equals:
            raise InvalidInput(f'{text!r} is no fact; write --fact KEY=TEXT, as in --fact task="Translate news"')
        facts[fact.strip()] = value.strip()
    return facts


def _read_file(path: Path) -> dict[str, str]:
    try:
        document = toml_document(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInput(f"{path}: not TOML: {error}") from error
    return dict(_flat(document, path))


def _flat(document: Mapping[str, Any], path: Path) -> Iterator[tuple[str, str]]:
    """The facts of a document: keys by themselves, or in the tables that `board.toml` has; empty ones are left out."""
    for key, value in document.items():
        if isinstance(value, str):
            if value.strip():
                yield key, value
        elif key == "card" and isinstance(value, dict):
            yield from _flat(value, path)
        elif key in ("definition", "languages") and isinstance(value, dict):
            for name, text in _flat(value, path):
                yield (f"{name}-language" if key == "languages" else f"{DEFINITION}{name}"), text
        elif key == "dimensions" and isinstance(value, dict):
            for name, table in value.items():
                definition = table.get("definition") if isinstance(table, dict) else None
                if not isinstance(definition, str):
                    raise InvalidInput(f"{path}: dimensions.{name} needs a definition in quotes; found {shown(table)}")
                if definition.strip():
                    yield f"{DEFINITION}{name}", definition
        else:
            raise InvalidInput(f"{path}: {key} must be text in quotes; found {shown(value)}")
