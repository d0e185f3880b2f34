"""Scores that an owner adds to a board: for generators that the released scores don't know, or as a new column.

A file (CSV, TSV, JSON lines or Parquet) gives them one to a line (`instance`, `generator`, `metric`, `score`), or as a
table with a column per generator, the way `scores/NAME.tsv` is written. What the file does not say may be stated beside
it: the metric, and the generator. Scores are written as the metric's users know them: where `board.toml` says that
lower is better, lower is better in the file.

Everything is checked before anything is written. A score that is there already and differs is an error unless it is to
be replaced. A table is written whole under another name and moved into place.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tomli_w
from numpy.typing import NDArray

from billboards.board._parts import LISTED, named_files
from billboards.board.folder import read_settings_file
from billboards.board.model import Board
from billboards.board.names import file_name, file_name_mistake
from billboards.board.score_files import read_score_table
from billboards.board.settings import FILE, ImportedSettings
from billboards.errors import InvalidInput, StoreFailed, UnknownName
from billboards.reading import Problems, Table, read_table, refuse_errors, shown

Floats = NDArray[np.float64]
#: A metric's new scores: by generator, NaN where the file gives none.
Given = Mapping[str, Floats]
LONG = ("instance", "generator", "metric", "score")


@dataclass(frozen=True, kw_only=True, slots=True)
class NewColumn:
    """What is said of a column that the board does not have yet."""

    higher_is_better: bool = True
    needs: tuple[str, ...] = ("references",)
    references: tuple[str, ...] | None = None


def read_needs(text: str) -> tuple[str, ...]:
    """What a metric saw beside the outputs, as people write it: words with commas, or nothing."""
    needs = () if text == "nothing" else tuple(word.strip() for word in text.split(","))
    if not set(needs) <= {"references", "input"}:
        raise InvalidInput(f"needs is references, input, references,input or nothing, not {text!r}")
    return needs


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """What would become of a column: how many scores are new, replaced, and there already, by generator."""

    #: The name of the column's file.
    source_name: str
    is_new: bool
    added: Mapping[str, int]
    replaced: Mapping[str, int]
    same: int
    #: The column's scores with the new ones, as its users know them.
    values: Given = field(repr=False)

    def words(self) -> str:
        """What is added, and for whom, in one line."""
        parts = [
            f"{counts[name]} {verb} {name}"
            for verb, counts in (("for", self.added), ("replaced of", self.replaced))
            for name in counts
        ]
        rest = [f"{self.same} there already"] if self.same else []
        return f"{self.source_name}{' (new)' * self.is_new}: {', '.join([*parts, *rest]) or 'nothing'}"


def read_added(
    path: Path, board: Board, *, metric: str | None = None, generator: str | None = None
) -> dict[str, dict[str, Floats]]:
    """The scores in a file, by metric and generator; every mistake is named with its line."""
    problems = Problems(LISTED)
    table = read_table(path, problems)
    long = "score" in table.columns
    stated = {"metric": metric, "generator": generator}
    _check_columns(table, stated, long=long)
    scores = _Scores(board, str(path), problems)
    for line, row in table.rows:
        if long:
            names = {word: row.get(word) if stated[word] is None else stated[word] for word in stated}
            scores.add(line, row.get("instance"), names["generator"], names["metric"], row.get("score"))
        else:
            for name in table.columns:
                if name != "instance":
                    scores.add(line, row.get("instance"), name, metric, row.get(name))
    refuse_errors(problems)
    if not scores.values:
        raise InvalidInput(f"{path}: holds no score")
    return scores.values


def _check_columns(table: Table, stated: Mapping[str, str | None], *, long: bool) -> None:
    """Whether a file and what is said beside it tell everything, and nothing twice."""
    missing = [] if "instance" in table.columns else ["instance"]
    missing += [word for word in ("metric", "generator") if long and stated[word] is None and word not in table.columns]
    if not long and stated["metric"] is None:
        raise InvalidInput(
            f"{table.path}: has no column `score`, so it is read as a table with a column per generator; "
            "name its metric with --metric"
        )
    if missing:
        hint = " and ".join(f"--{word}" for word in missing if word != "instance")
        raise InvalidInput(
            f"{table.path}: has no column {' and no column '.join(missing)}"
            + (f"; name it with {hint}" if hint else f"; columns are {', '.join(table.columns)}")
        )
    twice = [word for word, name in stated.items() if name is not None and word in table.columns]
    if not long and stated["generator"] is not None:
        twice.append("generator")
    if twice:
        raise InvalidInput(f"{table.path}: says which {twice[0]} itself; leave --{twice[0]} out")
    unread = [name for name in table.columns if long and name not in LONG]
    if unread:
        raise InvalidInput(f"{table.path}: unknown column {shown(unread[0])}; columns are {', '.join(LONG)}")


class _Scores:
    """Scores as they are read, each checked against the board."""

    def __init__(self, board: Board, path: str, problems: Problems) -> None:
        self.values: dict[str, dict[str, Floats]] = {}
        self._board, self._path, self._problems = board, path, problems

    def add(self, line: int, instance: object, row: object, metric: object, score: object) -> None:
        board = self._board
        if wrong := self._mistake(instance, row, metric, score):
            self._problems.error(self._path, line, wrong)
            return
        value = _number(score)
        if value is None:
            return
        k = board.position[str(instance)]
        values = self.values.setdefault(str(metric), {}).setdefault(str(row), np.full(len(board.instances), np.nan))
        if not math.isnan(values[k]):
            self._problems.error(self._path, line, f"a second score of {row} on instance {shown(instance)}")
        values[k] = value

    def _mistake(self, instance: object, row: object, metric: object, score: object) -> str | None:
        board = self._board
        if not isinstance(metric, str) or not metric:
            return f"the metric must be a name; found {shown(metric)}"
        if wrong := file_name_mistake(metric):
            return f"the metric's name {shown(metric)} {wrong}"
        if str(instance) not in board.position:
            return f"instance {shown(instance)} is not on the board"
        if not isinstance(row, str) or row not in board.row_position:
            return str(UnknownName("generator", str(row), board.row_position))
        value = _number(score)
        if value is not None and not math.isfinite(value):
            return f"{shown(score)} is not a score; leave it empty where there is none"
        if value is not None and board.row(row).texts[board.position[str(instance)]] is None:
            return f"{row} has no output for instance {shown(instance)}, so it can't have a score"
        return None


def _number(score: object) -> float | None:
    """A score; None where there is none, infinity where it is no number."""
    if score is None or score == "" or (isinstance(score, float) and math.isnan(score)):
        return None
    if isinstance(score, bool) or not isinstance(score, str | int | float):
        return math.inf
    text = str(score).strip()
    try:
        return float(text) if text.isascii() and "_" not in text else math.inf
    except ValueError:
        return math.inf


def plan_added(
    board: Board, given: Mapping[str, Given], *, new: NewColumn | None = None, replace: bool = False
) -> list[Added]:
    """What becomes of each column; a difference from what is there and an unknown metric need to be asked for."""
    home = _home(board)
    settings = read_settings_file(home, Problems()).scores
    files = named_files(home, "scores", ".tsv", file_name_mistake, Problems())
    plans = []
    for metric, values in given.items():
        source = next((c.source_name for c in board.imported if metric in (c.name, c.source_name)), None)
        if source is None and new is None:
            names = [column.name for column in board.imported]
            raise InvalidInput(f"{UnknownName('imported metric', metric, names)}; --new adds a column")
        if source is not None and new is not None and new.higher_is_better != _stated(settings, source):
            better = "higher" if _stated(settings, source) else "lower"
            raise InvalidInput(f"{metric}: {FILE} says that {better} is better; give the scores as the column has them")
        before = {} if source is None else _table(files[source], board)
        plans.append(plan_column(source or metric, before, values, is_new=source is None, replace=replace))
    return plans


def _stated(settings: Mapping[str, ImportedSettings], source: str) -> bool:
    return settings.get(source, ImportedSettings(name=source)).higher_is_better


def _home(board: Board) -> Path:
    if board.home is None:
        raise InvalidInput(f"board {board.name} lies in no folder yet; write it with save(board, path) and open that")
    return board.home


def _table(path: Path, board: Board) -> dict[str, Floats]:
    """The scores in a file as they are written there, not turned round."""
    return read_score_table(path.read_bytes(), path.name, board.position, lambda _: True, Problems())


def plan_column(source: str, before: Given, given: Given, *, is_new: bool, replace: bool) -> Added:
    """What becomes of one column whose scores are these before."""
    values = {row: scores.copy() for row, scores in before.items()}
    added, replaced, same = dict[str, int](), dict[str, int](), 0
    for row, scores in given.items():
        place = values.setdefault(row, np.full(len(scores), np.nan))
        filled, stated = np.isfinite(place), np.isfinite(scores)
        differs = filled & stated & (place != scores)
        same += int((filled & stated & ~differs).sum())
        if differs.any() and not replace:
            k = int(np.flatnonzero(differs)[0])
            raise InvalidInput(
                f"{source}: {row} has other scores already on {int(differs.sum())} instances, "
                f"the first {place[k]:g} where the file says {scores[k]:g}; --replace writes over them"
            )
        place[stated] = scores[stated]
        counts = ((added, stated & ~filled), (replaced, differs))
        for counted, mask in counts:
            if mask.any():
                counted[row] = int(mask.sum())
    return Added(source_name=source, is_new=is_new, added=added, replaced=replaced, same=same, values=values)


def write_added(board: Board, plans: Sequence[Added], new: NewColumn | None = None) -> None:
    """Write columns as they are planned to be, and what is said of new ones into `board.toml`."""
    home = _home(board)
    ids = [instance.id for instance in board.instances]
    tables = []
    for plan in plans:
        if plan.is_new or plan.added or plan.replaced:
            name = file_name(plan.source_name)
            existing = named_files(home, "scores", ".tsv", file_name_mistake, Problems()).get(plan.source_name)
            tables.append((existing or home / "scores" / f"{name}.tsv", score_lines(ids, plan.values)))
    facts = {plan.source_name: _facts(new) for plan in plans if plan.is_new and new is not None and _facts(new)}
    if facts:
        text = (home / FILE).read_text("utf-8")
        tables.insert(0, (home / FILE, [text.rstrip("\n"), "", tomli_w.dumps({"scores": facts}).rstrip("\n")]))
    _write_all(tables)


def score_lines(ids: Sequence[str], values: Given) -> list[str]:
    """A table of scores, line by line, as the folder has them."""
    columns = [scores.tolist() for scores in values.values()]
    cells = zip(ids, *columns, strict=True)
    lines = ["\t".join([name, *("" if math.isnan(score) else repr(score) for score in row)]) for name, *row in cells]
    return ["\t".join(["instance", *values]), *lines]


def _facts(new: NewColumn) -> dict[str, object]:
    facts: dict[str, object] = {} if new.higher_is_better else {"higher_is_better": False}
    if new.needs != ("references",):
        facts["needs"] = list(new.needs)
    return facts if new.references is None else facts | {"references": list(new.references)}


def _write_all(tables: Iterable[tuple[Path, Sequence[str]]]) -> None:
    """Write files under other names, and move them into their places only when all are written."""
    ready: list[tuple[Path, Path]] = []
    try:
        for path, lines in tables:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
            ready.append((Path(name), path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
        for work, path in ready:
            work.replace(path)
    except OSError as error:
        raise StoreFailed(f"{error.filename or 'scores'}: can't be written: {error.strerror or error}") from error
    finally:
        for work, _ in ready:
            work.unlink(missing_ok=True)
