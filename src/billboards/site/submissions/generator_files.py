"""Outputs as people send them: JSON lines, plain text, or a column pasted from a spreadsheet.

JSON lines name their instances, by the board's own keys or by those of the paper's site (`seg_id`, `hyp`); plain text
has one line per instance, in the board's order. Every mistake is found and named with its line, and nothing is
repaired quietly: an instance that is missing, double or unknown is refused, outputs that look tokenised or lowercased
are remarked on.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from billboards.board import Board, Texts, check_texts, generator_lines
from billboards.board.check_texts import Passage, Passages
from billboards.errors import InvalidSubmission, Problem
from billboards.reading import Problems, json_lines, numbered_lines, shown

Format = Literal["auto", "jsonl", "text"]

#: The words under which files name an instance and its output, the board's own first.
INSTANCE_WORDS, TEXT_WORDS = ("instance", "id", "seg_id"), ("text", "hyp", "output")
#: Words the paper's site asks for that say nothing here.
IGNORED = ("set_id",)
LISTED = 100
#: Lines of a file for each of the board's instances, and beside them: a pasted cell may have some; a flood is no file.
LINES_EACH, LINES_BESIDE = 100, 1_000
#: Characters of one output, unless the site says otherwise.
LONGEST = 100_000
#: What a character may take where it is escaped, and what a line of JSON holds beside its text.
ESCAPED, KEYS = 12, 10_000


@dataclass(frozen=True)
class GeneratorFile:
    """A generator's texts, all of them, and what is odd about them."""

    texts: Texts
    warnings: tuple[Problem, ...]


def read_generator(
    raw: bytes, board: Board, *, name: str = "outputs", form: Format = "auto", longest: int = LONGEST
) -> GeneratorFile:
    """The texts in a file or form field, instance by instance; `InvalidSubmission` names every mistake."""
    _check_lines(raw, board, name)
    problems = Problems(LISTED)
    if form == "auto":
        form = "jsonl" if _looks_like_json(raw) else "text"
    if form == "jsonl":
        passages = _from_json(raw, board, name, problems, longest=ESCAPED * longest + KEYS)
    else:
        passages = _from_lines(raw, board, name, problems)
    if not problems.errors:
        _check_complete(passages, board, name, problems)
    for item in passages.values():
        if len(item.text) > longest:
            problems.error(name, item.line, f"has {len(item.text):,} characters; at most {longest:,} are taken")
    if problems.errors:
        raise InvalidSubmission(problems.errors)
    items = tuple(passages[k] for k in range(len(board.instances)))
    return GeneratorFile(tuple(item.text for item in items), tuple(_doubts(items, board, name)))


def _check_lines(raw: bytes, board: Board, name: str) -> None:
    """Refuse a flood of lines before each of them takes memory of its own."""
    lines, most = raw.count(b"\n"), LINES_EACH * len(board.instances) + LINES_BESIDE
    if lines > most:
        message = f"{lines:,} lines for {len(board.instances)} instances; at most {most:,} are read"
        raise InvalidSubmission([Problem(name, None, message)])


def canonical(board: Board, texts: Texts) -> bytes:
    """A generator's texts as the board folder writes them; what is kept of a submission."""
    return "".join(f"{line}\n" for line in generator_lines(board.instances, texts)).encode()


def _looks_like_json(raw: bytes) -> bool:
    first = next((line for line in raw.removeprefix(b"\xef\xbb\xbf").split(b"\n", 50) if line.strip()), b"").strip()
    return first.startswith(b"{") and any(f'"{word}"'.encode() in first for word in INSTANCE_WORDS + TEXT_WORDS)


def _from_json(raw: bytes, board: Board, name: str, problems: Problems, *, longest: int) -> dict[int, Passage]:
    passages: dict[int, Passage] = {}
    for line, item in json_lines(raw, name, problems, longest=longest):
        key, text = _one_of(item, INSTANCE_WORDS), _one_of(item, TEXT_WORDS)
        for word in sorted(item.keys() - {*INSTANCE_WORDS, *TEXT_WORDS, *IGNORED})[:LISTED]:
            problems.error(name, line, f'unknown key {shown(word)}; write {{"instance": "…", "text": "…"}}')
        if isinstance(key, int) and not isinstance(key, bool):
            key = str(key)
        if not isinstance(key, str) or not isinstance(text, str):
            wrong, value = ("instance", key) if not isinstance(key, str) else ("text", text)
            problems.error(name, line, f'"{wrong}" must be text in quotes; found {shown(value)}')
            continue
        k = board.position.get(key)
        if k is None:
            problems.error(name, line, f"there is no instance {shown(key)} on board {board.name}")
        elif k in passages:
            problems.error(name, line, f"instance {shown(key)} appears twice, first on line {passages[k].line}")
        else:
            passages[k] = Passage(k, text, line)
    return passages


def _one_of(item: dict[str, Any], words: Sequence[str]) -> Any:
    return next((item[word] for word in words if word in item), None)


def _from_lines(raw: bytes, board: Board, name: str, problems: Problems) -> dict[int, Passage]:
    lines = [text for _, text in numbered_lines(raw, name, problems)]
    while lines and not lines[-1].strip() and len(lines) > len(board.instances):
        lines.pop()
    wanted = len(board.instances)
    if len(lines) != wanted and not problems.errors:
        cells = _pasted(raw)
        if len(cells) != wanted:
            message = f"{len(lines)} lines for {wanted} instances; write one line for each, in the board's order"
            problems.error(name, len(lines) if len(lines) < wanted else wanted + 1, message)
            return {}
        lines = cells
    for k, text in enumerate(lines):
        if "\0" in text:
            problems.error(name, k + 1, "holds the character U+0000; is this a text file?")
    return {k: Passage(k, text, k + 1) for k, text in enumerate(lines)}


def _pasted(raw: bytes) -> list[str]:
    """A spreadsheet's column: cells with line ends stand in quotes; nothing where there is more than one column."""
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True) if row]
    except csv.Error:
        return []
    return [row[0] for row in rows] if all(len(row) == 1 for row in rows) else []


def _check_complete(passages: dict[int, Passage], board: Board, name: str, problems: Problems) -> None:
    missing = [instance.id for k, instance in enumerate(board.instances) if k not in passages]
    if missing:
        problems.error(
            name,
            None,
            f"no output for {len(missing)} of {len(board.instances)} instances, first {shown(missing[0])}; "
            "submit every instance exactly once",
        )
    elif not any(item.text.strip() for item in passages.values()):
        problems.error(name, None, "every output is empty; is this the right file?")


def _doubts(items: tuple[Passage, ...], board: Board, name: str) -> Iterator[Problem]:
    """What is odd about the texts; nothing here tells of single references, which may be hidden."""
    outputs = Passages(path=name, what="outputs", items=items)
    usual = check_texts.usual(check_texts.references(board), board.instances)
    yield from check_texts.looks(outputs, usual, board.instances)
