"""`billboards check`: every mistake of a board folder in one pass, and every doubt about it.

Mistakes are what reading refuses; doubts are what a board may be without being wrong, but often is by accident:
tokenised or lowercased outputs, duplicates, references among the outputs, gaps. Each names the first case, says how
many there are and what to do. A file with mistakes is not doubted as well: they come first.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from billboards.board import check_rows, check_texts, passages
from billboards.board.card_facts import keys_in_toml, missing_facts
from billboards.board.folder import read_board, read_settings_file
from billboards.board.model import Board, Outputs
from billboards.board.names import folded, named
from billboards.board.parts import INSTANCES, LISTED, part_files
from billboards.board.passages import Passages
from billboards.board.scores import ImportedColumn
from billboards.board.settings import Settings
from billboards.board.settings_tables import FILE
from billboards.board.writing import PARTS
from billboards.errors import Problem
from billboards.reading import Problems, shown

_KEPT = ("ensembles", "rankings", ".billboards", ".gitignore")
_SUFFIXES = {"generators": ".jsonl", "judgments": ".jsonl", "scores": ".tsv"}


def check_board(root: Path) -> list[Problem]:
    """Every mistake in a board folder, then every doubt about what could be read of it."""
    problems = Problems(LISTED)
    board = read_board(root, problems)
    rows = passages.outputs(root, board, problems)
    doubts = [*_stray_files(root), *_colliding_names(root)]
    if not problems.errors_in(FILE):
        settings = read_settings_file(root, Problems())
        doubts += _settings_doubts(board, settings)
        if not any(problem.path.startswith("judgments") for problem in problems):
            doubts += _unkept_promises(board, settings)
    if not problems.errors_in(INSTANCES):
        doubts += _instance_doubts(root, board)
        doubts += _row_doubts(root, board, rows)
        doubts += _score_doubts(root, board, rows, problems)
    return [*problems, *doubts]


def _settings_doubts(board: Board, settings: Settings) -> Iterator[Problem]:
    if len(board.judgments) and board.ranks is None:
        message = 'ranks is not set, so nothing says which judgments rank metrics; write ranks = "…"'
        yield _doubt(FILE, None, message)
    if board.output_language is None:
        message = "the language of the outputs is not stated, and tokenisation depends on it"
        yield _doubt(FILE, settings.line("languages"), f'{message}; write output = "…" under [languages]')
    # The language has a warning of its own, above.
    if missing := [fact for fact in missing_facts(board) if fact != "output-language"]:
        message = f"the data card lacks facts that readers need to trust the board; write {keys_in_toml(missing)}"
        yield _doubt(FILE, settings.line("card"), message)


def _unkept_promises(board: Board, settings: Settings) -> Iterator[Problem]:
    """Dimensions and campaigns that the settings speak of and no judgment does."""
    judged = board.judgments
    for name, dimension in board.dimensions.items():
        if dimension.kind == "rating" and np.isnan(judged.on(dimension)).all():
            message = f"no judgment speaks of dimension {shown(name)}; add judgments or take it out"
            yield _doubt(FILE, settings.line("dimensions", name), message)
    for name, aggregate in board.aggregates.items():
        for campaign in aggregate.campaigns or ():
            if campaign not in judged.campaigns:
                known = ", ".join(judged.campaigns) or "none"
                message = (
                    f"aggregate {name} names campaign {shown(campaign)}, which has no judgment; there are: {known}"
                )
                yield _doubt(FILE, settings.line("aggregates", name, "campaigns"), message)


def _instance_doubts(root: Path, board: Board) -> Iterator[Problem]:
    lines = passages.instance_lines(root)
    references, inputs = passages.references(board, lines), passages.inputs(board, lines)
    yield from check_texts.odd_characters(references)
    yield from check_texts.odd_characters(inputs)
    yield from check_texts.empty(references)
    yield from check_texts.tokenised(references, check_texts.ORDINARY)
    yield from _missing_references(board, lines)
    yield from _missing_inputs(board, lines)
    yield from _same_instances(board, lines)


def _missing_references(board: Board, lines: dict[str, int]) -> Iterator[Problem]:
    for name in board.reference_names:
        without = [i.id for i in board.instances if all(r.name != name for r in i.references)]
        if without:
            message = (
                f"{len(without)} of {len(board.instances)} instances have no reference {shown(name)}, "
                f"first {shown(without[0])}; metrics see fewer references there"
            )
            yield _doubt(INSTANCES, lines.get(without[0]), message)
    bare = [i.id for i in board.instances if not i.references]
    if bare and board.reference_names:
        message = (
            f"{len(bare)} of {len(board.instances)} instances have no reference at all, first {shown(bare[0])}; "
            "reference-based metrics can't score them"
        )
        yield _doubt(INSTANCES, lines.get(bare[0]), message)


def _missing_inputs(board: Board, lines: dict[str, int]) -> Iterator[Problem]:
    without = [i.id for i in board.instances if i.input is None and i.image is None]
    if 0 < len(without) < len(board.instances):
        message = (
            f"{len(without)} of {len(board.instances)} instances have neither input nor image, "
            f"first {shown(without[0])}; metrics that need the input can't score them"
        )
        yield _doubt(INSTANCES, lines.get(without[0]), message)


def _same_instances(board: Board, lines: dict[str, int]) -> Iterator[Problem]:
    first: dict[object, str] = {}
    same = []
    for i in board.instances:
        other = first.setdefault((i.input, i.image, i.references), i.id)
        if other != i.id and (i.input or i.image or i.references):
            same.append((i.id, other))
    if same:
        message = (
            f"{len(same)} of {len(board.instances)} instances repeat another one's input and references, "
            f"first {shown(same[0][0])}, which repeats {shown(same[0][1])}; each counts for itself"
        )
        yield _doubt(INSTANCES, lines.get(same[0][0]), message)


def _row_doubts(root: Path, board: Board, rows: list[Passages]) -> Iterator[Problem]:
    if not board.rows:
        yield _doubt("generators", None, "there are no outputs yet; add generators/NAME.jsonl")
    usual = check_texts.usual(passages.references(board, {}), board.instances)
    for row in rows:
        yield from check_rows.coverage(board, row)
        yield from check_texts.empty(row)
        yield from check_texts.tokenised(row, usual)
        yield from check_texts.lowercased(row, usual)
        yield from check_texts.odd_characters(row)
        yield from check_texts.repeated(row, usual, board.instances)
        yield from check_rows.copied_references(board, row)
        yield from check_rows.people_as_machines(row)
    yield from check_rows.twins(rows)
    yield from check_rows.absent_outputs(root, board, rows)
    yield from check_rows.silent_judgments(board)


def _score_doubts(root: Path, board: Board, rows: list[Passages], problems: Problems) -> Iterator[Problem]:
    columns = {column.source_name: column for column in board.imported}
    found = part_files(root, "scores", ".tsv", Problems())
    sound = {path: columns[named(path)] for path in found if not problems.errors_in(f"scores/{path.name}")}
    yield from _absent_columns(board, [row.row for row in rows if row.row is not None], sound)
    for path, column in sound.items():
        yield from _score_gaps(column, path)
        yield from _copied_scores(board, column, path)
    first: dict[tuple[str, tuple[str, ...]], str] = {}
    for column in board.imported:
        other = first.setdefault((column.name, column.references), column.source_name)
        if other != column.source_name:
            message = f"{column.source_name} and {other} are both {column.name} against the same references; rename one"
            yield _doubt("scores", None, message)


def _absent_columns(board: Board, rows: list[Outputs], tables: dict[Path, ImportedColumn]) -> Iterator[Problem]:
    """Generators without scores, told once for all tables that lack the same; a reference can't be scored by itself."""
    lacking: dict[tuple[str, ...], list[Path]] = {}
    for path, column in tables.items():
        absent = (row for row in rows if row.name not in column.values)
        names = tuple(row.name for row in absent if not board.is_reference(row, column.references))
        lacking.setdefault(names, []).append(path)
    for names, paths in lacking.items():
        if names:
            more = f", nor in {len(paths) - 1} more tables" if len(paths) > 1 else ""
            message = f"no column for {len(names)} of {len(rows)} generators, first {shown(names[0])}{more}"
            yield _doubt(f"scores/{paths[0].name}", 1, f"{message}; they have no such score")


def _copied_scores(board: Board, column: ImportedColumn, path: Path) -> Iterator[Problem]:
    """Generators with different outputs and the very same scores: one column was copied over the other."""
    seen: dict[bytes, str] = {}
    for name, scores in column.values.items():
        if not np.isfinite(scores).any() or np.nanmin(scores) == np.nanmax(scores):
            continue
        other = seen.setdefault(scores.tobytes(), name)
        if other != name and board.row(other).version != board.row(name).version:
            message = f"{shown(name)} has the very scores of {shown(other)} although their outputs differ"
            yield _doubt(f"scores/{path.name}", 1, f"{message}; one column may be a copy: compare with the source")


def _score_gaps(column: ImportedColumn, path: Path) -> Iterator[Problem]:
    """Gaps in a table of imported scores, and signs that it is cut off."""
    name, raw = f"scores/{path.name}", path.read_bytes()
    if not raw.endswith(b"\n"):
        yield _doubt(name, raw.count(b"\n") + 1, "the last line has no line end; look whether the file is cut off")
    gaps = {row: int(np.isnan(scores).sum()) for row, scores in column.values.items()}
    if any(gaps.values()):
        row = next(row for row, count in gaps.items() if count)
        message = (
            f"{sum(gaps.values())} scores are absent, first {gaps[row]} of {shown(row)}; those outputs are left out"
        )
        yield _doubt(name, 1, message)


def _stray_files(root: Path) -> Iterator[Problem]:
    """Files that look like parts of a board under a wrong name, which nothing reads."""
    for entry in sorted(root.iterdir()):
        near = get_close_matches(entry.name, PARTS, n=1, cutoff=0.8)
        if entry.name not in (*PARTS, *_KEPT) and near:
            yield _doubt(entry.name, None, f"is not read; did you mean {near[0]}?")
    for folder, suffix in _SUFFIXES.items():
        for entry in sorted((root / folder).glob("*")):
            if entry.suffix != suffix and not entry.name.startswith("."):
                name = entry.name.encode("utf-8", "replace").decode()
                yield _doubt(f"{folder}/{name}", None, f"is not read; files here end in {suffix}")


def _colliding_names(root: Path) -> Iterator[Problem]:
    for folder, suffix in _SUFFIXES.items():
        first: dict[str, str] = {}
        for path in part_files(root, folder, suffix, Problems()):
            other = first.setdefault(folded(path.name), path.name)
            if other != path.name:
                message = f"differs from {other} only in case or accents, which many computers take for one file"
                yield _doubt(f"{folder}/{path.name}", None, f"{message}; rename one")


def _doubt(path: str, line: int | None, message: str) -> Problem:
    return Problem(path, line, message, "warning")
