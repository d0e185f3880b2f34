"""The files of judgments, a piece at a time: a large board has more of them than should lie in memory as text.

Where they are large, all judgments are kept as columns of numbers under a key of everything they depend on, and read
again only when that key changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from billboards.board.judgment_columns import JudgmentColumns
from billboards.board.judgment_lines import KEYS as JUDGMENT_KEYS
from billboards.board.judgment_lines import JudgmentReader, loose_positions
from billboards.board.judgments import Judgments
from billboards.board.kept import FOLDER as KEPT
from billboards.board.kept import is_large, key_of
from billboards.board.kept_judgments import keep_judgments, kept_judgments
from billboards.board.model import Outputs, digest
from billboards.board.parts import OUTPUTS, check_keys, instance_position, part_files
from billboards.board.settings import Settings
from billboards.reading import Problems, json_lines

#: Bytes of a file of judgments that are read at a time.
_PIECE = 4_000_000


def read_judgments(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    problems: Problems,
) -> Judgments:
    """All judgments; where their files are large, as they were kept when last read."""
    names = [f"judgments/{path.name}" for path in part_files(root, "judgments", ".jsonl", problems)]
    keeping = not problems.errors and is_large(sum(_size(root / name) for name in names))
    path = root / KEPT / "judgments"

    def key(digests: Iterable[str]) -> str:
        loose = [row.version for row in rows if row.generator is None]
        scales = [[name, dimension.range] for name, dimension in settings.dimensions.items()]
        return key_of(scales, digest(position), loose, list(zip(names, digests, strict=True)))

    if keeping and (kept := kept_judgments(path, key(_digest(root / name) for name in names), rows)) is not None:
        return kept
    columns = JudgmentColumns(tuple(settings.dimensions))
    reader = JudgmentReader(
        columns,
        None if problems.errors_in("generators") else {row.name: k for k, row in enumerate(rows) if row.generator},
        None if problems.errors_in(OUTPUTS) else loose_positions(rows),
        None if settings.lines is None else settings.dimensions,
        problems,
    )
    before = len(problems)
    digests = [_read_judgment_file(root, name, position, reader, problems) for name in names]
    judgments = columns.build()
    if keeping and len(problems) == before:
        keep_judgments(path, key(digests), judgments, rows)
    return judgments


def _read_judgment_file(
    root: Path, name: str, position: Mapping[str, int], reader: JudgmentReader, problems: Problems
) -> str:
    """Read the judgments of one file; the digest of what was read."""
    read, first = hashlib.sha256(), 1
    for piece in _pieces(root, name, problems):
        read.update(piece)
        for line, item in json_lines(piece, name, problems, first=first):
            check_keys(item, JUDGMENT_KEYS, name, line, problems)
            instance = instance_position(item, position, name, line, problems)
            if instance is not None:
                reader.read(item, instance, name, line)
        first += piece.count(b"\n")
    return read.hexdigest()


def _pieces(root: Path, name: str, problems: Problems) -> Iterator[bytes]:
    """A file's bytes some whole lines at a time; a file that can't be read is a mistake."""
    path = root / name
    try:
        if not path.is_file():
            problems.error(name, None, "can't be read: it must be a file")
            return
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece + file.readline()
    except OSError as error:
        problems.error(name, None, f"can't be read: {error.strerror or error}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _digest(path: Path) -> str:
    """The digest of a large file, which is not held whole; of one that can't be read, that of nothing."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
