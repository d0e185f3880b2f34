"""The facts of a data card as a file to fill in, and a filled one put into `board.toml`.

The template has a line for every fact that a card can state: what the board states already stands in quotes, what it
lacks is empty, and what can be counted stands beside it as a comment. `import --card` and `card --fill` read it.
Filling changes the lines of these facts alone, so that an owner's comments and order stay; the new text is read again
and must say what the old one said, and these facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from billboards.board.card_facts import DEFINITION, LANGUAGES, STATED, with_facts
from billboards.board.folder import open_board
from billboards.board.model import Board
from billboards.board.settings import FILE
from billboards.board.writing import write_text
from billboards.errors import InvalidInput, StoreFailed
from billboards.reading import read_bytes, toml_document

#: What each fact answers.
QUESTIONS = {
    "title": "What the board is called on pages.",
    "task": "What generators are asked to do.",
    "source": "Where inputs, outputs and judgments come from: a name, a paper, an address.",
    "licence": "Under which licence the data may be used, as the source states it.",
    "citation": "What to cite.",
    "protocol": "What people were asked, and how they answered.",
    "annotators": "Who judged: experts, crowd workers, colleagues; how they were chosen and paid.",
    "comments": "Anything else that a reader should know (optional).",
    "languages": "Where outputs are in several languages: which (optional).",
}


def card_template(board: Board) -> str:
    """A TOML file with every fact of a board's card, those that are missing left empty."""
    return "\n".join(_lines(board)) + "\n"


def _lines(board: Board) -> Iterator[str]:
    yield f"# The data card of the board {_comment(board.name)}. Fill in what is empty; what stays empty is not stated."
    yield "# `billboards card BOARD --fill FILE` puts it into a board; `billboards import … --card FILE` takes it, too."
    for line in _counted(board):
        yield f"# Counted: {line}."
    yield from ("", "[card]")
    for name in STATED:
        yield f"# {QUESTIONS[name]}"
        if name == "annotators" and (people := len(board.judgments.annotators)):
            yield f"# Counted: {people:,} annotators are named in the data."
        yield _statement(name, getattr(board.card, name))
    yield from ("", "[languages]", "# Codes such as en, de, zh.")
    yield _statement("input", board.input_language)
    yield _statement("output", board.output_language)
    for name, dimension in board.dimensions.items():
        yield from ("", f"[dimensions.{_key(name)}]", f"# What the value means. Counted: {_judged(board, name)}.")
        yield _statement("definition", dimension.definition)


def _counted(board: Board) -> Iterator[str]:
    documents = len({instance.document for instance in board.instances if instance.document is not None})
    yield f"{len(board.instances):,} instances" + (f" of {documents:,} documents" if documents else "")
    kinds = Counter(generator.kind for generator in board.generators)
    generators = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    yield f"{len(board.generators):,} generators" + (f" ({generators})" if generators else "")
    names = [_comment(name) for name in board.reference_names]
    yield f"{len(names)} references" + (f" ({', '.join(names[:20])})" if names else "")
    yield f"{len(board.judgments):,} judgments"


def _judged(board: Board, name: str) -> str:
    import numpy as np

    dimension = board.dimensions[name]
    if dimension.kind != "rating":
        return f"a {dimension.kind}"
    values = board.judgments.on(dimension)
    values = values[np.isfinite(values)]
    if not len(values):
        return "no judgments"
    return f"{len(values):,} judgments from {values.min():g} to {values.max():g}"


def _comment(text: str) -> str:
    """A text that stays within one line of a comment."""
    return "".join(character if character.isprintable() else " " for character in text)


def _statement(key: str, text: str | None) -> str:
    return tomli_w.dumps({key: text or ""}).rstrip("\n")


def _key(name: str) -> str:
    """A name as a key of TOML, in quotes where it takes them."""
    return tomli_w.dumps({name: 0}).rpartition(" = ")[0]


def fill_card(folder: Path, facts: Mapping[str, str]) -> Board:
    """Write facts into a board folder's `board.toml`, and open it again."""
    with_facts(open_board(folder), facts)
    path = folder / FILE
    written = read_bytes(path).decode("utf-8")
    text = written.replace("\r\n", "\n")
    expected = toml_document(text.removeprefix("\ufeff"))
    for fact, value in facts.items():
        table, key = _place(fact)
        inner = expected
        for name in table:
            inner = inner.setdefault(name, {})
        inner[key] = value
        text = _stating(text, table, key, value)
    if not _says(text, expected):
        raise InvalidInput(
            f"{path}: is written in a way that can't be changed safely; write the facts there by hand, in the tables "
            "[card], [languages] and [dimensions.NAME]"
        )
    _replace(path, text.replace("\n", "\r\n") if "\r\n" in written else text)
    return open_board(folder)


def _replace(path: Path, text: str) -> None:
    """Write the file anew, whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    try:
        write_text(beside, text)
        beside.replace(path)
    except OSError as error:
        raise StoreFailed(f"{path}: can't be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


def _place(fact: str) -> tuple[tuple[str, ...], str]:
    """The table and key of `board.toml` that hold a fact."""
    if fact in LANGUAGES:
        return ("languages",), fact.partition("-")[0]
    if fact.startswith(DEFINITION):
        return ("dimensions", fact.removeprefix(DEFINITION)), "definition"
    return ("card",), fact


def _stating(text: str, table: tuple[str, ...], key: str, value: str) -> str:
    """The text with one statement more, or another in its place; new ones come first in their table."""
    statement, lines = _statement(key, value), text.split("\n")
    start = next((k for k, line in enumerate(lines) if _header(line) == table), None)
    if start is None:
        header = ".".join(_key(name) for name in table)
        return f"{text.rstrip()}\n\n[{header}]\n{statement}\n"
    stop = next((k for k in range(start + 1, len(lines)) if lines[k].lstrip().startswith("[")), len(lines))
    old = next((k for k in range(start + 1, stop) if re.match(rf"\s*(['\"]?){key}\1\s*=", lines[k])), None)
    if old is None:
        lines.insert(start + 1, statement)
    else:
        lines[old : _after(lines, old)] = [statement]
    return "\n".join(lines)


def _after(lines: list[str], first: int) -> int:
    """The line behind a statement: the shortest stretch that is TOML by itself."""
    for end in range(first + 1, len(lines) + 1):
        try:
            toml_document("\n".join(lines[first:end]))
        except ValueError:
            continue
        return end
    return first + 1


def _header(line: str) -> tuple[str, ...] | None:
    """The names of a table's header; None for other lines."""
    if not line.lstrip().startswith("[") or line.lstrip().startswith("[["):
        return None
    try:
        document: Any = toml_document(line)
    except ValueError:
        return None
    names = []
    while isinstance(document, dict) and len(document) == 1:
        ((name, document),) = document.items()
        names.append(name)
    return tuple(names) or None


def _says(text: str, expected: Mapping[str, Any]) -> bool:
    try:
        return toml_document(text.removeprefix("\ufeff")) == expected
    except ValueError:
        return False
