"""`billboards check`: every mistake of a board folder in one pass, and every doubt about it.

Mistakes are what reading refuses; doubts are what a board may be without being wrong, but often is by accident:
tokenised or lowercased outputs, duplicates, references among the outputs, gaps. Each names the first case, says how
many there are and what to do. A file with mistakes is not doubted as well: they come first. A board in memory has no
line numbers, so the files are read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board import cells, check_texts
from billboards.board._parts import INSTANCES, LISTED, OUTPUTS, part_files, read_part
from billboards.board.card_facts import keys_in_toml
from billboards.board.cells import SqliteCells
from billboards.board.check_texts import Passage, Passages
from billboards.board.doubts import Surroundings
from billboards.board.folder import TextsFile, read_board, read_settings_file, read_texts_and_lines
from billboards.board.judgments import Aggregate, standardisation_notes
from billboards.board.matrix import own_columns
from billboards.board.missing_cells import Progress
from billboards.board.model import Board, Kind, Outputs
from billboards.board.names import folded, named
from billboards.board.scores import ImportedColumn, is_zero
from billboards.board.settings import FILE, Settings
from billboards.board.writing import PARTS
from billboards.errors import InvalidInput, MissingPart, Problem
from billboards.metrics.discovery import board_metric
from billboards.metrics.languages import language_of
from billboards.reading import Problems, json_lines, shown

#: What a column without any score but 0 may mean.
_ZERO = "it may not know the language or the script, or compare with the wrong texts"
#: How doubts about the data card begin: a form that asks for its facts need not repeat them.
NO_LANGUAGE, NO_FACTS = "the language of the outputs is not stated", "the data card lacks facts"
CARD_DOUBTS = (NO_LANGUAGE, NO_FACTS)
_KEPT = ("ensembles", "rankings", ".billboards", ".gitignore")
_SUFFIXES = {"generators": ".jsonl", "judgments": ".jsonl", "scores": ".tsv"}
#: Doubts that no check of plain texts has said already.
DISGUISES = ("copies references", "copies a generator", "copies inputs", "other order", "other language", "cut off")
#: A machine's outputs that equal a reference are worth a word from this share on; below, they are chance.
_COPIED = 0.1


def check_board(root: Path, on_progress: Callable[[Progress], None] | None = None) -> list[Problem]:
    """Every mistake in a board folder, then every doubt about what could be read of it.

    `on_progress` hears of every file of outputs.
    """
    problems = Problems(LISTED)
    board = read_board(root, problems)
    rows = _read_outputs(root, board, problems)
    doubts = [*_stray_files(root), *_colliding_names(root)]
    if not problems.errors_in(FILE):
        settings = read_settings_file(root, Problems())
        doubts += _settings_doubts(board, settings)
        if not any(problem.path.startswith("judgments") for problem in problems):
            doubts += _unkept_promises(board, settings)
    if not problems.errors_in(INSTANCES):
        doubts += _instance_doubts(root, board)
        doubts += _row_doubts(root, board, rows, on_progress)
        doubts += _score_doubts(root, board, rows, problems)
        if not problems.errors:
            doubts += _zero_columns(root, board)
    return [*problems, *doubts]


def _read_outputs(root: Path, board: Board, problems: Problems) -> list[Passages]:
    """The outputs of every generator whose file is sound, then those without a generator; mistakes are added."""
    passages = []
    for row in board.rows:
        file = row.load
        if not isinstance(file, TextsFile) or problems.errors_in(file.name):
            continue
        texts, lines = read_texts_and_lines(file.path.read_bytes(), file.name, board.position, problems)
        if not problems.errors_in(file.name):
            items = tuple(Passage(k, text, lines[k]) for k, text in enumerate(texts) if text is not None)
            passages.append(Passages(path=file.name, what="outputs", items=items, row=row))
    return passages if problems.errors_in(OUTPUTS) else passages + _loose_outputs(root, board)


def _loose_outputs(root: Path, board: Board) -> list[Passages]:
    rows = [row for row in board.rows if row.generator is None]
    if not rows:
        return []
    raw = (root / OUTPUTS).read_bytes()
    lines = {item.get("id"): line for line, item in json_lines(raw, OUTPUTS, Problems())}
    items = [
        Passage(k, text, lines.get(key))
        for row in rows
        for k, (text, key) in enumerate(zip(row.texts, row.ids, strict=True))
        if text is not None
    ]
    return [Passages(path=OUTPUTS, what="outputs", items=tuple(sorted(items, key=lambda item: item.line or 0)))]


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


def _settings_doubts(board: Board, settings: Settings) -> Iterator[Problem]:
    if len(board.judgments) and board.ranks is None:
        message = 'ranks is not set, so nothing says which judgments rank metrics; write ranks = "…"'
        yield _doubt(FILE, None, message)
    if board.output_language is None:
        message = f"{NO_LANGUAGE}, and tokenisation depends on it"
        yield _doubt(FILE, settings.line("languages"), f'{message}; write output = "…" under [languages]')
    yield from _language_doubts(board, settings)
    # The language has a warning of its own, above.
    if missing := [fact for fact in board.missing_facts if fact != "output-language"]:
        message = f"{NO_FACTS} that readers need to trust the board; write {keys_in_toml(missing)}"
        yield _doubt(FILE, settings.line("card"), message)


def _language_doubts(board: Board, settings: Settings) -> Iterator[Problem]:
    """Metrics that the board names and that say little about texts in its language."""
    language = language_of(board.output_language)
    for spec in board.metrics if language is not None else ():
        try:
            metric = board_metric(spec, board.output_language)
        except (InvalidInput, MissingPart):
            continue
        if language is not None and (doubt := metric.language_doubt(language)):
            yield _doubt(FILE, settings.line("metrics"), f"{spec} {doubt}")


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
                campaigns = ", ".join(judged.campaigns) or "none"
                message = (
                    f"aggregate {name} names campaign {shown(campaign)}, which has no judgment; there are: {campaigns}"
                )
                yield _doubt(FILE, settings.line("aggregates", name, "campaigns"), message)
        yield from _without_z_scores(board, settings, aggregate)


def _without_z_scores(board: Board, settings: Settings, aggregate: Aggregate) -> Iterator[Problem]:
    """Ratings that a standardised aggregate leaves out, or all of them."""
    line = settings.line("aggregates", aggregate.name, "standardise")
    try:
        left_out = list(standardisation_notes(board.judgments, aggregate, board.dimensions))[1:]
    except InvalidInput as error:
        left_out = [str(error)]
    for message in left_out:
        yield _doubt(FILE, line, message)


def _instance_doubts(root: Path, board: Board) -> Iterator[Problem]:
    lines = _instance_lines(root)
    references, inputs = check_texts.references(board, lines), _inputs(board, lines)
    yield from check_texts.odd_characters(references)
    yield from check_texts.odd_characters(inputs)
    yield from check_texts.unusual(references, check_texts.ORDINARY)
    yield from _missing_references(board, lines)
    yield from _missing_inputs(board, lines)
    yield from _same_instances(board, lines)


def _instance_lines(root: Path) -> dict[str, int]:
    """The line on which each instance stands."""
    raw = (root / INSTANCES).read_bytes()
    return {item["id"]: line for line, item in reversed(list(json_lines(raw, INSTANCES, Problems()))) if "id" in item}


def _inputs(board: Board, lines: Mapping[str, int]) -> Passages:
    items = (Passage(k, i.input, lines.get(i.id)) for k, i in enumerate(board.instances) if i.input is not None)
    return Passages(path=INSTANCES, what="inputs", items=tuple(items))


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


def _row_doubts(
    root: Path, board: Board, rows: list[Passages], on_progress: Callable[[Progress], None] | None
) -> Iterator[Problem]:
    if not board.rows:
        yield _doubt("generators", None, "there are no outputs yet; add generators/NAME.jsonl")
    # Rows with mistakes can't be read, and others are not compared with them.
    around = Surroundings(replace(board, rows=tuple(row.row for row in rows if row.row is not None)))
    for k, row in enumerate(rows, 1):
        if on_progress is not None:
            on_progress(Progress(k, len(rows), row.path))
        yield from _coverage(board, row)
        yield from check_texts.looks(row, around.usual, board.instances)
        copied = list(_copied_references(board, row))
        yield from copied
        yield from _disguises(around, row, plain=bool(copied))
        yield from _people_as_machines(row)
    yield from _twins(rows)
    yield from _absent_outputs(root, board, rows)
    yield from _silent_judgments(board)


def _coverage(board: Board, passages: Passages) -> Iterator[Problem]:
    have = passages.by_instance
    missing = [instance.id for k, instance in enumerate(board.instances) if k not in have]
    if passages.row is not None and missing:
        message = (
            f"outputs for {len(have)} of {len(board.instances)} instances, first missing {shown(missing[0])}; "
            "generators are ranked only where they cover the board"
        )
        yield _doubt(passages.path, None, message)


def _copied_references(board: Board, passages: Passages) -> Iterator[Problem]:
    """A machine's outputs that are references, and a person's row that is a reference throughout."""
    kind = _kind(passages.row)
    for name in board.reference_names if kind else ():
        texts = {k: r.text for k, i in enumerate(board.instances) for r in i.references if r.name == name}
        both = [item for item in passages.items if item.instance in texts]
        equal = [item for item in both if item.text == texts[item.instance]]
        where = equal[0].line if equal else None
        same = f"{len(equal)} of {len(both)} outputs equal reference {shown(name)}"
        if kind == "machine" and len(equal) >= 2 and len(equal) >= _COPIED * len(both):
            message = f'{same}; take them out, or declare the generator as kind = "human" if a person wrote them'
            yield _doubt(passages.path, where, message)
        elif kind == "human" and both and len(equal) == len(both):
            message = f"{same}: it takes no part where that reference is used, which is right if the two are one text"
            yield _doubt(passages.path, where, message)
        elif kind == "human" and passages.row is not None and passages.row.name == name and both:
            message = f"{same} of its own name; it counts as that reference all the same, so rename one if they differ"
            yield _doubt(passages.path, where, message)


def _disguises(around: Surroundings, passages: Passages, *, plain: bool) -> Iterator[Problem]:
    """What is no plain copy, and what no single text shows: near copies, other orders and languages, cut texts."""
    row = passages.row
    if row is None or _kind(row) != "machine":
        return
    for doubt in around.doubts(row):
        if doubt.kind in DISGUISES and not (plain and doubt.kind == "copies references"):
            position = around.board.position[doubt.examples[0]]
            yield _doubt(passages.path, passages.by_instance[position].line, str(doubt))


def _people_as_machines(passages: Passages) -> Iterator[Problem]:
    row = passages.row
    if row is not None and _kind(row) == "machine" and folded(row.name).startswith(("human", "reference")):
        message = f'counts as a machine; write kind = "human" under [generators.{row.name}] if a person wrote it'
        yield _doubt(passages.path, None, message)


def _kind(row: Outputs | None) -> Kind | None:
    return row.generator.kind if row is not None and row.generator is not None else None


def _twins(rows: Sequence[Passages]) -> Iterator[Problem]:
    """Generators whose outputs are the same throughout."""
    first: dict[tuple[tuple[int, str], ...], Passages] = {}
    for passages in rows:
        texts = tuple((item.instance, item.text) for item in passages.items)
        other = first.setdefault(texts, passages)
        if other is not passages and texts:
            message = f"all {len(texts)} outputs equal those in {other.path}; keep one of the two"
            yield _doubt(passages.path, passages.items[0].line, message)


def _absent_outputs(root: Path, board: Board, rows: Sequence[Passages]) -> Iterator[Problem]:
    """Judgments of outputs that are not there."""
    present = np.ones((len(board.rows), len(board.instances)), bool)
    for passages in rows:
        if passages.row is not None:
            k = board.row_position[passages.row.name]
            present[k] = False
            present[k, list(passages.by_instance)] = True
    judged = _judged_cells(board)
    absent = judged[~present[judged[:, 0], judged[:, 1]]] if len(judged) else judged
    if len(absent):
        row, instance = board.rows[absent[0, 0]].name, board.instances[absent[0, 1]].id
        path, line = _judgment_line(root, row, instance)
        message = (
            f"{len(absent)} of {len(judged)} judgments are of outputs that are not there, first generator {shown(row)} "
            f"on instance {shown(instance)}; add the outputs or take the judgments out"
        )
        yield _doubt(path, line, message)


def _judged_cells(board: Board) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Row and instance of everything that was judged, in order."""
    judgments = board.judgments
    cells = np.column_stack([judgments.row, judgments.instance]).astype(np.int64)
    others = [(row, judgments.instance[k]) for k, d in judgments.details.items() for row in d.get("others", ())]
    return np.concatenate([cells, np.array(others, np.int64).reshape(-1, 2)])


def _judgment_line(root: Path, row: str, instance: str) -> tuple[str, int | None]:
    for path in part_files(root, "judgments", ".jsonl", Problems()):
        name = f"judgments/{path.name}"
        for line, item in json_lines(read_part(root, name, Problems()) or b"", name, Problems()):
            judged = item.get("generators", [item.get("generator")])
            if item.get("instance") == instance and isinstance(judged, list) and row in judged:
                return name, line
    return "judgments", None


def _silent_judgments(board: Board) -> Iterator[Problem]:
    """Judgments without a value, a preference or a span."""
    says_more = {k for k, detail in board.judgments.details.items() if detail.keys() & {"prefers", "order", "spans"}}
    silent = set(np.flatnonzero(np.isnan(board.judgments.values).all(axis=1)).tolist()) - says_more
    if silent:
        row, instance = (names[min(silent)] for names in (board.judgments.row, board.judgments.instance))
        message = (
            f"{len(silent)} of {len(board.judgments)} judgments say nothing, first one on instance "
            f"{shown(board.instances[instance].id)} in row {shown(board.rows[row].name)}; take them out"
        )
        yield _doubt("judgments", None, message)


def _score_doubts(root: Path, board: Board, rows: list[Passages], problems: Problems) -> Iterator[Problem]:
    columns = {column.source_name: column for column in board.imported}
    paths = part_files(root, "scores", ".tsv", Problems())
    sound = {path: columns[named(path)] for path in paths if not problems.errors_in(f"scores/{path.name}")}
    yield from _absent_columns(board, [row.row for row in rows if row.row is not None], sound)
    for path, column in sound.items():
        yield from _score_gaps(column, path)
        if not column.is_statistic and is_zero(column.values.values()):
            yield _doubt(f"scores/{path.name}", None, f"every score is 0: {_ZERO}")
        yield from _copied_scores(board, column, path)
    first: dict[tuple[str, tuple[str, ...]], str] = {}
    for column in board.imported:
        other = first.setdefault((column.name, column.references), column.source_name)
        if other != column.source_name:
            message = f"{column.source_name} and {other} are both {column.name} against the same references; rename one"
            yield _doubt("scores", None, message)


def _zero_columns(root: Path, board: Board) -> Iterator[Problem]:
    """Metrics that were run here and gave 0 to every output."""
    for column, rows in own_columns(board, SqliteCells(root)):
        if not column.is_statistic and is_zero(rows.values()):
            message = f"{column.name} is 0 for every output ({column.signature}): {_ZERO}"
            yield _doubt(str(cells.FILE), None, message)


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


def _doubt(path: str, line: int | None, message: str) -> Problem:
    return Problem(path, line, message, "warning")
