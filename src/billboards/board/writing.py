"""Writing a board folder: all of it or nothing.

The folder is built under a temporary name and moved to its place at the end, so that a full disk, Ctrl-C, a killed
process or a mistake on the way leaves what was there before. That is a promise about processes, not about power: files
are handed to the operating system, which writes them to the disk when it sees fit.

Boards made by importers and programs are checked by the same rules that reading applies to files, before a single file
is written. So whatever `write_board` writes, `open_board` reads, and reads as the same board.
"""

from __future__ import annotations

import json
import math
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from billboards.board._parts import INSTANCES, OUTPUTS
from billboards.board.judgment_files import DETAILS, detail_mistake
from billboards.board.judgments import Aggregate, Dimension
from billboards.board.model import Board, Generator, Instance, Outputs, generator_lines
from billboards.board.names import (
    board_name_mistake,
    file_name,
    file_name_mistake,
    folder_order,
    generator_name_mistake,
    name_mistake,
)
from billboards.board.scores import ImportedColumn, natural
from billboards.board.settings import (
    FILE,
    SCHEMA,
    dimension_mistake,
    levels_mistakes,
    read_settings,
    standardise_mistake,
)
from billboards.board.trust import TrustRules
from billboards.errors import InvalidInput, StoreFailed
from billboards.reading import Problems, shown, toml_document

IGNORED = "# scores computed here; they can be computed again\n.billboards/\n"
#: What a board is made of; anything else in its folder is the user's and survives when the board is replaced.
PARTS = (FILE, INSTANCES, OUTPUTS, "generators", "judgments", "scores")
#: JSON with characters as they are, by an encoder that is made once and not for every line.
_json = json.JSONEncoder(ensure_ascii=False).encode
_NAMED = 3
#: The file of judgments that belong to no campaign.
JUDGMENTS = "judgments"


def write_board(board: Board, target: str | Path, *, replace: bool = False, in_order: bool = False) -> Path:
    """Write a board as a folder and return its path; an existing folder is kept unless `replace` is given.

    A folder lists rows and judgments as its files are named. With `in_order` it is written so that they come back in
    the board's own order: sums over them are then the same to the last bit.
    """
    refuse_unwritable(board)
    settings = _toml(_document(board, in_order=in_order))
    _refuse_unreadable(board, settings)
    with new_folder(Path(target), replace=replace) as root:
        write_text(root / FILE, settings)
        write_text(root / ".gitignore", IGNORED)
        write_lines(root / INSTANCES, map(_instance_line, board.instances))
        _write_rows(board, root)
        _write_judgments(board, root, in_order=in_order)
        for column in board.imported:
            _write_new(root / "scores" / f"{file_name(column.source_name)}.tsv", _score_lines(board, column))
    return Path(target)


@contextmanager
def new_folder(target: Path, *, replace: bool = False, mark: str = FILE) -> Iterator[Path]:
    """A folder to fill, which takes its place only when the block ends well.

    With `replace` a folder of the same kind, known by the entry `mark` in it, may stand there already; any other is
    never replaced. What a board folder holds beside the board (rankings, computed scores, notes, .git) is carried over.
    """
    try:
        place = _place(target, mark if replace else None)
        taken = place.exists()
        with _workplace(place) as work:
            yield work
            _settle(work, place, taken, keep=mark == FILE)
    except OSError as error:
        raise StoreFailed(
            f"{target}: can't be written: {error.strerror or error}; make room, or choose another place"
        ) from error


def write_text(path: Path, text: str) -> None:
    """A text file, with the lines ended as they are in the text."""
    write_lines(path, text.removesuffix("\n").split("\n"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Lines of text, each ended by one newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        for number, line in enumerate(lines, 1):
            try:
                file.write(line.encode() + b"\n")
            except UnicodeEncodeError as error:
                half = f"U+{ord(line[error.start]):04X}"
                raise InvalidInput(
                    f"{path.name}: line {number} would hold {half}, half of a character, which UTF-8 can't express; "
                    "mend the text it comes from"
                ) from error


def _write_new(path: Path, lines: Iterable[str]) -> None:
    """A file that must not be there yet: file systems that ignore case take two names for one."""
    if path.exists():
        raise InvalidInput(f"{path.name}: two names that differ only in case or accents need one file here; rename one")
    write_lines(path, lines)


def _place(target: Path, mark: str | None) -> Path:
    """Where the folder is to stand, if it may: nothing is there, or something that may be replaced."""
    try:
        place = target.resolve()
    except (RuntimeError, ValueError) as error:  # links that go round in a circle, or a NUL
        raise InvalidInput(f"{str(target)!r}: can't be a folder: {error}; choose another place") from error
    if not place.exists() or _is_empty(place):
        return place
    if mark is None:
        raise InvalidInput(
            f"{target}: exists already; choose another place (an import or export replaces it with --force)"
        )
    if not (place / mark).exists():
        raise InvalidInput(f"{target}: holds no {mark}, so it is not replaced; choose another place")
    if Path.cwd().is_relative_to(place):
        raise InvalidInput(f"{target}: can't be replaced from inside; change to another folder first")
    return place


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


@contextmanager
def _workplace(place: Path) -> Iterator[Path]:
    """A new folder on the same file system: beside the place, or inside where that is an empty folder already."""
    made = [folder for folder in place.parents if not folder.exists()]
    parent = place if _is_empty(place) else place.parent
    work = parent / f".{place.name[:100]}.{secrets.token_hex(4)}"
    try:
        work.mkdir(parents=True)
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _settle(work: Path, place: Path, taken: bool, *, keep: bool) -> None:
    """Move the work to its place; a folder that someone else put there meanwhile is an error, not replaced."""
    if work.parent == place:
        _move_in(work, place)
    elif taken:
        _exchange(work, place, keep=keep)
    else:
        work.rename(place)


def _move_in(work: Path, place: Path) -> None:
    """Fill an empty folder that must stay itself (a mount point, or where the shell stands); board.toml comes last."""
    names = sorted((entry.name for entry in work.iterdir()), key=lambda name: (name == FILE, name))
    try:
        for name in names:
            (work / name).rename(place / name)
    except BaseException:
        for name in names:
            with suppress(OSError):
                (place / name).rename(work / name)
        raise


def _exchange(work: Path, place: Path, *, keep: bool) -> None:
    """Put the new folder in the place of the old one, which ends up where the new one was."""
    old = work.with_name(f"{work.name}.old")
    try:
        place.rename(old)
        work.rename(place)
    except BaseException:
        if old.exists() and not place.exists():
            old.rename(place)
        raise
    if keep:
        _carry_over(old, place)
    old.rename(work)


def _carry_over(old: Path, place: Path) -> None:
    """Move what is not the board's own; if that fails the rest stays in the old folder, which then is not removed."""
    for entry in old.iterdir():
        if entry.name not in PARTS and not (place / entry.name).is_dir():
            entry.replace(place / entry.name)


def _toml(document: Mapping[str, Any]) -> str:
    """The document with long texts over several lines, unless that would change a line end inside one."""
    readable = tomli_w.dumps(document, multiline_strings=True)
    return readable if toml_document(readable) == document else tomli_w.dumps(document)


def _document(board: Board, *, in_order: bool) -> dict[str, Any]:
    """`board.toml` as a nested mapping, without what is absent or default."""
    languages = {"input": board.input_language, "output": board.output_language}
    columns = sorted(board.imported, key=lambda column: file_name(column.source_name))
    generators = sorted(board.generators, key=lambda generator: file_name(generator.name))
    return _present(
        {
            "schema": SCHEMA,
            "name": board.name,
            "ranks": board.ranks,
            "metrics": list(board.metrics) or None,
            "lead": board.lead if board.imported or board.lead != "imported" else None,
            "references": None if board.references_used is None else list(board.references_used),
            "reference_free": None if board.reference_free == "diagnostic" else board.reference_free,
            "order": _stated_order(board) if in_order else None,
            "by": board.by,
            "anonymous": list(board.anonymous) or None,
            "before": board.before,
            "trust": _trust(board.trust) or None,
            "languages": _present(languages) or None,
            "dimensions": {name: _dimension(d) for name, d in board.dimensions.items()} or None,
            "aggregates": {name: _aggregate(a) for name, a in board.aggregates.items()} or None,
            "generators": {g.name: _generator(g) for g in generators if g != Generator(g.name)} or None,
            "scores": {column.source_name: _imported(column) for column in columns} or None,
            "card": _present(asdict(board.card)) or None,
        }
    )


def _trust(rules: TrustRules) -> dict[str, Any]:
    """The owner's rules; what a board has by itself is not written."""
    usual = asdict(TrustRules())
    stated = {key: value for key, value in asdict(rules).items() if value != usual[key]}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in stated.items()}


def _stated_order(board: Board) -> list[str] | None:
    """The names of the rows, where their files would come in another order."""
    order = [row.name for row in board.rows]
    generators = sorted((row.name for row in board.rows if row.generator is not None), key=folder_order)
    usual = [*generators, *(row.name for row in board.rows if row.generator is None)]
    return None if order == usual else order


def _aggregate(aggregate: Aggregate) -> dict[str, Any]:
    """An aggregate's table; what a new one has by itself is not written."""
    return _present(
        {
            "dimensions": list(aggregate.dimensions),
            "campaigns": None if aggregate.campaigns is None else list(aggregate.campaigns),
            "standardise": aggregate.standardise,
            "ddof": None if aggregate.ddof == 1 else aggregate.ddof,
        }
    )


def _dimension(dimension: Dimension) -> dict[str, Any]:
    return _present(
        {
            "range": dimension.range and [_short(limit) for limit in dimension.range],
            "higher_is_better": None if dimension.higher_is_better else False,
            "to_100": dimension.to_100 and [_short(number) for number in dimension.to_100],
            "definition": dimension.definition,
            "kind": None if dimension.kind == "rating" else dimension.kind,
            "levels_of": dimension.levels_of,
            "at_least": None if dimension.at_least is None else _short(dimension.at_least),
        }
    )


def _generator(generator: Generator) -> dict[str, Any]:
    return _present({key: value for key, value in asdict(generator).items() if key != "name"})


def _imported(column: ImportedColumn) -> dict[str, Any]:
    needs = [need for need, has in (("references", column.needs_references), ("input", column.needs_input)) if has]
    return _present(
        {
            "name": column.name,
            "needs": needs,
            "higher_is_better": None if column.higher_is_better else False,
            "is_ensemble": column.is_ensemble or None,
            "is_statistic": column.is_statistic or None,
            "scores_only": column.scores_only or None,
            "computed_by": column.computed_by,
            "references": list(column.references) if column.needs_references else None,
        }
    )


def _present(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if value is not None}


def _instance_line(instance: Instance) -> str:
    item = _present(
        {
            "id": instance.id,
            "input": instance.input,
            "image": instance.image,
            "references": [{"name": ref.name, "text": ref.text} for ref in instance.references] or None,
            "document": instance.document,
            "domain": instance.domain,
            "tags": list(instance.tags) or None,
        }
    )
    return _json(item)


def _write_rows(board: Board, root: Path) -> None:
    loose = []
    for row in board.rows:
        if row.generator is not None:
            lines = generator_lines(board.instances, row.texts)
            _write_new(root / "generators" / f"{file_name(row.name)}.jsonl", lines)
            continue
        for instance, key, text in zip(board.instances, row.ids, row.texts, strict=True):
            if text is not None:
                loose.append({"instance": instance.id, "id": key, "text": text})
    if loose:
        write_lines(root / OUTPUTS, map(_json, loose))


def _write_judgments(board: Board, root: Path, *, in_order: bool) -> None:
    """Judgments in a file per campaign, in the order they were given; in one file where that is the only order."""
    instances = tuple(instance.id for instance in board.instances)
    files: dict[str, list[str]] = {}
    together = in_order and not _sorted_by_campaign(board)
    for judgment in board.judgments.each(instances, tuple(row.name for row in board.rows)):
        whose = _whose(board, judgment.instance, judgment.outputs)
        values = {name: _short(value) for name, value in judgment.values.items()}
        item = {"instance": judgment.instance, **whose, "values": values, "annotator": judgment.annotator}
        item["campaign"] = judgment.campaign
        if judgment.details:
            item |= {key: judgment.details.get(key) for key in DETAILS}
        line = _json(_present(item))
        files.setdefault((None if together else judgment.campaign) or JUDGMENTS, []).append(line)
    for name, lines in files.items():
        _write_new(root / "judgments" / f"{file_name(name)}.jsonl", lines)


def _sorted_by_campaign(board: Board) -> bool:
    """Whether the judgments, campaign by campaign in the order of their files, stand as they were given."""
    codes = board.judgments.campaign
    runs = [board.judgments.campaigns[k] if k >= 0 else JUDGMENTS for k in codes[np.diff(codes, prepend=-2) != 0]]
    return runs == sorted(set(runs), key=folder_order)


def _whose(board: Board, instance: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Whose outputs a judgment speaks of: generators by name, or outputs without one by id."""
    rows = [board.row(name) for name in names]
    key, outputs = "generator", list(names)
    if rows[0].generator is None:
        k = board.position[instance]
        key, outputs = "output", [row.ids[k] or "" for row in rows if row.generator is None]
    if len({row.generator is None for row in rows}) > 1 or not all(outputs):
        raise InvalidInput(
            f"a judgment of instance {instance!r} speaks of {', '.join(names)}, which can't be written; "
            "it must name outputs that exist, of generators or of none"
        )
    return {key: outputs[0]} if len(outputs) == 1 else {f"{key}s": outputs}


def _short(value: float) -> float | int:
    """A whole number without its point; a negative zero keeps its sign."""
    whole = float(value).is_integer() and abs(value) < 2**53 and (value != 0 or math.copysign(1, value) > 0)
    return int(value) if whole else float(value)


def _score_lines(board: Board, column: ImportedColumn) -> Iterator[str]:
    yield "\t".join(("instance", *column.values))
    rows = [natural(v, higher_is_better=column.higher_is_better).tolist() for v in column.values.values()]
    for instance, *scores in zip((i.id for i in board.instances), *rows, strict=True):
        yield "\t".join((instance, *("" if math.isnan(score) else repr(score) for score in scores)))


def refuse_unwritable(board: Board) -> None:
    """Raise, naming the first mistakes, where a board could not be read back from its folder."""
    mistakes = list(islice(_mistakes(board), _NAMED))
    if mistakes:
        raise InvalidInput(f"board {shown(board.name)} can't be written: {'; '.join(mistakes)}")


def _refuse_unreadable(board: Board, settings: str) -> None:
    """Raise where settings could not be read back, as a yardstick or a rule that names what is not there."""
    problems = Problems()
    read_settings(settings, problems)
    if problems.errors:
        mistakes = "; ".join(problem.message for problem in problems.errors[:_NAMED])
        raise InvalidInput(f"board {shown(board.name)} can't be written: {mistakes}")


def _mistakes(board: Board) -> Iterator[str]:
    if wrong := board_name_mistake(board.name):
        yield f"its name {wrong}"
    yield from _instance_mistakes(board)
    yield from _row_mistakes(board)
    yield from _scale_mistakes(board)
    yield from _name_list_mistakes(board)
    yield from _judgment_mistakes(board)
    yield from _imported_mistakes(board)


def _instance_mistakes(board: Board) -> Iterator[str]:
    if not board.instances:
        yield "it has no instance"
    for instance in board.instances:
        if wrong := name_mistake(instance.id):
            yield f"instance id {shown(instance.id)} {wrong}"
        names = [reference.name for reference in instance.references]
        for name in _twice(names):
            yield f"two references of instance {shown(instance.id)} are named {shown(name)}"
        for name in names:
            if wrong := name_mistake(name):
                yield f"reference name {shown(name)} of instance {shown(instance.id)} {wrong}"
    for key in _twice(instance.id for instance in board.instances):
        yield f"two instances have the id {shown(key)}"


def _row_mistakes(board: Board) -> Iterator[str]:
    for name in _twice(row.name for row in board.rows):
        yield f"two rows are named {shown(name)}"
    for row in board.rows:
        if row.generator is not None and (wrong := generator_name_mistake(row.name)):
            yield f"generator name {shown(row.name)} {wrong}"
        if row.generator is not None and row.generator.name != row.name:
            yield f"row {shown(row.name)} belongs to generator {shown(row.generator.name)}; the names must agree"
        if len(row.texts) != len(board.instances):
            yield f"row {shown(row.name)} has {len(row.texts)} texts for {len(board.instances)} instances"
    yield from _loose_mistakes([row for row in board.rows if row.generator is None], len(board.instances))


def _loose_mistakes(rows: list[Outputs], count: int) -> Iterator[str]:
    """Outputs without a generator fill the rows #1, #2, … from the first on, each under an id of its own."""
    for k, row in enumerate(rows, 1):
        if row.name != f"#{k}":
            yield f"row {shown(row.name)} of outputs without a generator must be named #{k}"
        if len(row.ids) != count or [key is None for key in row.ids] != [text is None for text in row.texts]:
            yield f"row {row.name}: every output without a generator needs an id, and every id an output"
            return
        for key in row.ids:
            if key is not None and (wrong := name_mistake(key)):
                yield f"output id {shown(key)} {wrong}"
    for above, below in pairwise(rows):
        if any(a is None and b is not None for a, b in zip(above.ids, below.ids, strict=True)):
            yield f"row {below.name} has an output where row {above.name} has none; fill the rows from the first on"
    for key in _twice(key for row in rows for key in row.ids if key is not None):
        yield f"two outputs have the id {shown(key)}"


def _scale_mistakes(board: Board) -> Iterator[str]:
    for name, dimension in board.dimensions.items():
        if wrong := name_mistake(name):
            yield f"dimension name {shown(name)} {wrong}"
        if dimension.name != name:
            yield f"dimension {shown(dimension.name)} stands under the name {shown(name)}"
        if wrong := dimension_mistake(dimension):
            yield wrong
    yield from (wrong for _, wrong in levels_mistakes(board.dimensions))
    for name, aggregate in board.aggregates.items():
        if wrong := name_mistake(name):
            yield f"aggregate name {shown(name)} {wrong}"
        if aggregate.name != name:
            yield f"aggregate {shown(aggregate.name)} stands under the name {shown(name)}"
        if not aggregate.dimensions:
            yield f"aggregate {shown(name)} names no dimensions"
        for used in aggregate.dimensions:
            if used not in board.dimensions:
                yield f"aggregate {shown(name)} uses dimension {shown(used)}, which is not declared"
        if len({board.dimensions[used].kind for used in aggregate.dimensions if used in board.dimensions}) > 1:
            yield f"aggregate {shown(name)} mixes ratings and preferences"
        elif wrong := standardise_mistake(aggregate, board.dimensions, board.anonymous):
            yield wrong
    if board.ranks is not None and board.ranks not in {*board.aggregates, *board.dimensions}:
        yield f"ranks names {shown(board.ranks)}, which is no aggregate and no dimension"


def _name_list_mistakes(board: Board) -> Iterator[str]:
    lists = {"metrics": board.metrics, "references_used": board.references_used or ()}
    lists |= {f"dimensions of aggregate {name}": a.dimensions for name, a in board.aggregates.items()}
    lists |= {f"campaigns of aggregate {name}": a.campaigns or () for name, a in board.aggregates.items()}
    lists |= {f"references of scores {shown(c.source_name)}": c.references for c in board.imported}
    for what, names in lists.items():
        for name in _twice(names):
            yield f"{what} holds {shown(name)} twice"
    used = {"references_used": board.references_used or ()}
    used |= {f"scores {shown(c.source_name)}": c.references for c in board.imported}
    for what, names in used.items():
        for name in names:
            if name not in board.reference_names:
                yield f"{what} names reference {shown(name)}, which no instance has"


def _judgment_mistakes(board: Board) -> Iterator[str]:
    judgments = board.judgments
    for k, name in enumerate(judgments.dimensions):
        values = judgments.values[:, k][~np.isnan(judgments.values[:, k])]
        if name not in board.dimensions:
            if len(values):
                yield f"{len(values)} judgments are on dimension {shown(name)}, which is not declared"
            continue
        low, high = board.dimensions[name].range or (-np.inf, np.inf)
        outside = values[~np.isfinite(values) | (values < low) | (values > high)]
        if len(outside):
            yield f"{len(outside)} judgments on {shown(name)} lie outside its range [{low}, {high}], first {outside[0]}"
    for name in judgments.campaigns:
        if wrong := file_name_mistake(name):
            yield f"campaign name {shown(name)} {wrong}"
    for details in judgments.details.values():
        for key, value in details.items():
            if key != "others" and (wrong := _detail_mistake(key, value)):
                yield wrong


def _detail_mistake(key: str, value: object) -> str | None:
    if key not in DETAILS:
        return f"a judgment has the detail {shown(key)}; known: {', '.join(DETAILS)}"
    return None if value is None else detail_mistake(key, value)


def _imported_mistakes(board: Board) -> Iterator[str]:
    for name in _twice(column.source_name for column in board.imported):
        yield f"two columns of imported scores come from {shown(name)}"
    for column in board.imported:
        if wrong := file_name_mistake(column.source_name):
            yield f"scores {shown(column.source_name)}: the name {wrong}"
        if not column.name:
            yield f"scores {shown(column.source_name)} have no name"
        yield from (f"scores {shown(column.source_name)}: {wrong}" for wrong in _score_mistakes(board, column))


def _score_mistakes(board: Board, column: ImportedColumn) -> Iterator[str]:
    for row, values in column.values.items():
        if row not in board.row_position:
            yield f"{shown(row)} is no row of this board"
        elif np.shape(values) != (len(board.instances),):
            yield f"{shown(row)} has {np.shape(values)} scores for {len(board.instances)} instances"
        elif np.isinf(values).any():
            yield f"{shown(row)} has an infinite score; NaN stands for one that does not exist"


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
