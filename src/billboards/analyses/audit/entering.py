"""An optimised output on the board: a generator of its own kind, which is shown, judged if asked, and never ranked.

Its texts are written beside the other generators', and `board.toml` gets an entry that says which metric it was made
for. Entering it again replaces its texts; nothing else in the folder is touched.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from billboards.board import Board, Generator, Outputs, generator_lines
from billboards.board.names import file_name
from billboards.board.settings import FILE, read_settings
from billboards.errors import InvalidInput, StoreFailed
from billboards.reading import Problems


def enter(board: Board, row: Outputs, how: str) -> Path:
    """Write an optimised row into the board's folder; returns its file."""
    generator = row.generator
    if board.home is None or generator is None or not generator.is_optimised:
        raise InvalidInput(f"{row.name} can't be entered: it takes a board in a folder and outputs made for a metric")
    position = board.row_position.get(row.name)
    if position is not None and not board.rows[position].is_optimised:
        raise InvalidInput(f"a generator named {row.name} is on the board and was not made for a metric; rename it")
    declared = _declared((board.home / FILE).read_text("utf-8"), generator, how)
    path = board.home / "generators" / f"{file_name(row.name)}.jsonl"
    _write(path, "".join(f"{line}\n" for line in generator_lines(board.instances, row.texts)))
    if declared is not None:
        _write(board.home / FILE, declared)
    return path


def _declared(text: str, generator: Generator, how: str) -> str | None:
    """`board.toml` with an entry for the generator at its end; None where it has one."""
    if generator.name in read_settings(text, Problems(1)).generators:
        return None
    quoted = json.dumps(generator.name, ensure_ascii=False)
    lines = (
        f"[generators.{quoted}]",
        'kind = "optimised"',
        f"optimised_by = {json.dumps(generator.optimised_by, ensure_ascii=False)}",
        f"description = {json.dumps(how, ensure_ascii=False)}",
    )
    longer = text.rstrip("\n") + "\n\n" + "\n".join(lines) + "\n"
    problems = Problems(1)
    if read_settings(longer, problems).generators.get(generator.name) is None or problems.errors:
        raise InvalidInput(
            f"{FILE}: an entry for {generator.name} can't be added at its end; write it yourself: {lines}"
        )
    return longer


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        work = path.with_name(f".{path.name}.part")
        with work.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        work.replace(path)
    except OSError as error:
        raise StoreFailed(f"{path}: can't be written: {error.strerror or error}") from error
