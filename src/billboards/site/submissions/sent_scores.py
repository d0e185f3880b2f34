"""A metric that comes as scores only: its author computed them, and nobody here can compute more.

A file is what WMT's tasks exchange (`system<TAB>score`, each system's lines in the board's order), lines of generator,
instance and score, a table with such columns, or JSON lines. What is kept of it names the outputs that were scored by
the version of their texts, so a score never stands beside a text that it is not of. A score that is not there stays
missing; the author may send those of other generators later, and they are put beside the earlier ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, ImportedColumn
from billboards.board.judgments import human_scores
from billboards.errors import InvalidSubmission, Problem, StoreFailed
from billboards.reading import Problems, json_lines, json_value, numbered_lines, shown
from billboards.run.score_lines import NUMBER
from billboards.site.cache import Shelf
from billboards.site.site import Site
from billboards.site.submissions.records import Submission
from billboards.stats.correlation import pearson_with_intervals

Floats = NDArray[np.float64]

#: The words under which files name a generator and an instance, this package's own first.
GENERATOR_WORDS, INSTANCE_WORDS = ("generator", "system"), ("instance", "id", "seg_id")
#: What stands for a score that there is none of.
MISSING = ("", "None", "none", "null")
LISTED = 100
#: Lines beside one for each output: a header, say; a flood is no file.
LINES_BESIDE = 1_000
#: Characters of a line of JSON: two names and a number.
LONGEST_LINE = 10_000
#: A correlation with people that asks whether lower is better.
CLEARLY_NEGATIVE = -0.2

_Cells = Iterator[tuple[int, object, object, object]]


@dataclass(frozen=True, kw_only=True)
class ScoredRow:
    """One generator's scores: its name when they came in, the version of its texts, and a score per instance or NaN."""

    generator: str
    version: str
    scores: Floats


@dataclass(frozen=True, kw_only=True)
class SentScores:
    """Scores as they were sent, not turned, in the order of these instances; and what is odd about them."""

    instances: tuple[str, ...]
    rows: tuple[ScoredRow, ...]
    warnings: tuple[Problem, ...] = ()

    def with_earlier(self, earlier: SentScores) -> SentScores:
        """These, and of an earlier file the generators that these leave out."""
        versions = {row.version for row in self.rows}
        kept = tuple(row for row in earlier.rows if row.version not in versions)
        return replace(self, rows=(*self.rows, *kept)) if self.instances == earlier.instances else self

    def content(self) -> bytes:
        """What is kept of them."""
        lines: list[Mapping[str, Any]] = [{"instances": self.instances}]
        for row in sorted(self.rows, key=lambda row: row.version):
            scores = [None if np.isnan(score) else score for score in row.scores.tolist()]
            lines.append({"generator": row.generator, "version": row.version, "scores": scores})
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode("utf-8", "replace")


def read_sent(raw: bytes, board: Board, *, name: str = "scores") -> SentScores:
    """The scores in a file, checked against the board; `InvalidSubmission` names every mistake with its line."""
    most = len(board.rows) * len(board.instances) + LINES_BESIDE
    if (lines := raw.count(b"\n")) > most:
        raise _refused(name, f"{lines:,} lines for {len(board.rows)} generators and {len(board.instances)} instances")
    problems = Problems(LISTED)
    values, unknown = _Values(board, name, problems), dict[str, int]()
    for line, generator, instance, score in _cells(raw, board, name, problems):
        if not isinstance(generator, str) or generator not in board.row_position:
            unknown[str(generator)[:80]] = line
        else:
            values.add(line, generator, instance, score)
    if not values.rows and not problems.errors:
        others = f"; it names {', '.join(map(shown, list(unknown)[:5]))}" if unknown else ""
        problems.error(name, None, f"holds no score of a generator of board {board.name}{others}")
    if problems.errors:
        raise InvalidSubmission(problems.errors)
    rows = tuple(
        ScoredRow(generator=generator, version=board.row(generator).version, scores=scores)
        for generator, scores in values.rows.items()
    )
    instances = tuple(instance.id for instance in board.instances)
    return SentScores(
        instances=instances, rows=rows, warnings=(*_left_out(unknown, board, name), *_gaps(rows, board, name))
    )


class _Values:
    """Scores as they are read, each checked against the board."""

    def __init__(self, board: Board, name: str, problems: Problems) -> None:
        self.rows: dict[str, Floats] = {}
        self._board, self._name, self._problems = board, name, problems
        self._seen: dict[str, set[int]] = {}

    def add(self, line: int, generator: str, instance: object, score: object) -> None:
        k = self._board.position.get(str(instance))
        if k is None:
            self._problems.error(self._name, line, f"there is no instance {shown(instance)} on this board")
            return
        if k in self._seen.setdefault(generator, set()):
            self._problems.error(self._name, line, f"a second score of {generator} on instance {shown(instance)}")
            return
        self._seen[generator].add(k)
        value = _number(score)
        if value is None:
            self._problems.error(self._name, line, f"{shown(score)} is no score; write None where there is none")
        elif not np.isnan(value):
            if self._board.row(generator).texts[k] is None:
                self._problems.error(self._name, line, f"{generator} has no output for instance {shown(instance)}")
            self.rows.setdefault(generator, np.full(len(self._board.instances), np.nan))[k] = value


def _number(score: object) -> float | None:
    """A score; NaN where there is none, None where something else stands there."""
    if score is None or (isinstance(score, str) and score.strip() in MISSING):
        return float("nan")
    if isinstance(score, bool) or not isinstance(score, str | int | float):
        return None
    text = score.strip() if isinstance(score, str) else repr(score)
    value = float(text) if NUMBER.fullmatch(text) else float("inf")
    return value if np.isfinite(value) else None


def _cells(raw: bytes, board: Board, name: str, problems: Problems) -> _Cells:
    """Line, generator, instance and score, however the file is written."""
    first = next((line for line in raw.removeprefix(b"\xef\xbb\xbf").split(b"\n", 50) if line.strip()), b"")
    if first.strip().startswith(b"{"):
        yield from _objects(raw, name, problems)
        return
    lines = [(k, line.split("\t")) for k, line in numbered_lines(raw, name, problems) if line.strip()]
    # WMT's files have blanks where others have tabs.
    lines = [(k, cells[0].split()) if len(cells) == 1 else (k, cells) for k, cells in lines]
    header = [cell.strip().lower() for cell in lines[0][1]] if lines else []
    if "score" in header:
        yield from _table(header, lines[1:], board, name, problems)
    elif lines:
        words = {2: ("generator", "score"), 3: ("generator", "instance", "score")}.get(len(lines[0][1]))
        if words is None:
            problems.error(name, lines[0][0], "write lines of `generator, score` or `generator, instance, score`")
            return
        yield from _table(words, lines, board, name, problems)


def _objects(raw: bytes, name: str, problems: Problems) -> _Cells:
    for line, item in json_lines(raw, name, problems, longest=LONGEST_LINE):
        generator, instance = _one_of(item, GENERATOR_WORDS), _one_of(item, INSTANCE_WORDS)
        unread = sorted(item.keys() - {*GENERATOR_WORDS, *INSTANCE_WORDS, "score"})
        if unread or "score" not in item or generator is None or instance is None:
            problems.error(name, line, 'write {"generator": "…", "instance": "…", "score": 0.5}')
        else:
            yield line, generator, instance, item["score"]


def _one_of(item: Mapping[str, Any], words: Sequence[str]) -> Any:
    return next((item[word] for word in words if word in item), None)


def _table(
    words: Sequence[str], lines: Iterable[tuple[int, list[str]]], board: Board, name: str, problems: Problems
) -> _Cells:
    """Rows under named columns; without an instance, a generator's lines stand in the board's order, one for each."""
    places = {word: k for k, word in enumerate(words)}
    generator = next((places[word] for word in GENERATOR_WORDS if word in places), None)
    instance = next((places[word] for word in INSTANCE_WORDS if word in places), None)
    if generator is None:
        problems.error(name, 1, "has no column generator; columns are generator, instance and score")
        return
    counted = dict[str, int]()
    for line, cells in lines:
        if len(cells) != len(words):
            problems.error(name, line, f"{len(cells)} cells where {len(words)} are needed")
            continue
        named = cells[generator].strip()
        place = counted[named] = counted.get(named, -1) + 1
        if instance is not None:
            yield line, named, cells[instance].strip(), cells[places["score"]]
        elif place < len(board.instances):
            yield line, named, board.instances[place].id, cells[places["score"]]
    for named, last in counted.items() if instance is None else ():
        if last + 1 != len(board.instances) and named in board.row_position:
            message = f"{last + 1} lines of {named} for {len(board.instances)} instances; write one for each, in order"
            problems.error(name, None, message)


def _left_out(unknown: Mapping[str, int], board: Board, name: str) -> Iterator[Problem]:
    if unknown:
        names = ", ".join(list(unknown)[:10]) + (", …" if len(unknown) > 10 else "")
        message = f"{len(unknown)} names are no generators of board {board.name} and were left out: {names}"
        yield Problem(name, min(unknown.values()), message)


def _gaps(rows: Sequence[ScoredRow], board: Board, name: str) -> Iterator[Problem]:
    scored = {row.generator for row in rows}
    missing = [row.name for row in board.rows if row.generator is not None and row.name not in scored]
    if missing:
        names = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        yield Problem(name, None, f"no score for {len(missing)} generators ({names}): they stay without one")
    for row in rows:
        outputs = sum(text is not None for text in board.row(row.generator).texts)
        if (count := int(np.isfinite(row.scores).sum())) < outputs:
            yield Problem(name, None, f"{row.generator}: {count} of {outputs} outputs have a score, others none")


def doubtful_sign(sent: SentScores, board: Board, *, higher_is_better: bool, name: str) -> Iterator[Problem]:
    """A warning where the scores clearly disagree with what people said, as they do when lower is better."""
    if board.ranks is None:
        return
    human = human_scores(
        board.judgments, board.aggregate(None), board.dimensions, (len(board.rows), len(board.instances))
    )
    values = np.full((1, *human.shape), np.nan)
    for row in sent.rows:
        if row.generator in board.row_position:
            values[0, board.row_position[row.generator]] = row.scores if higher_is_better else 0.0 - row.scores
    r = float(pearson_with_intervals(values, human, draws=0).r[0])
    if r < CLEARLY_NEGATIVE:
        other = "lower" if higher_is_better else "higher"
        yield Problem(name, None, f"correlates with people at {r:.3f}: is a {other} score better? Then send it in so")


_READ = Shelf[str, SentScores]()


def kept_scores(site: Site, submission: Submission) -> SentScores:
    """The scores of a submission as they were kept, read once."""
    kept = site.cache.get(_READ, submission.blob)
    return site.cache.put(_READ, submission.blob, _read_kept(site, submission)) if kept is None else kept


def _read_kept(site: Site, submission: Submission) -> SentScores:
    try:
        head, *lines = (json_value(line) for line in site.blobs.read(submission.blob).decode().splitlines())
        rows = tuple(
            ScoredRow(
                generator=line["generator"],
                version=line["version"],
                scores=np.array([np.nan if score is None else score for score in line["scores"]], np.float64),
            )
            for line in lines
        )
        return SentScores(instances=tuple(head["instances"]), rows=rows)
    except (ValueError, KeyError, TypeError) as error:
        raise StoreFailed(f"the scores of submission {submission.id} are damaged: {error}; send them again") from error


def scores_signature(settings: Mapping[str, Any], blob: str) -> str:
    """What such a column's scores can depend on: the file, and what was said of it."""
    needs = [word for word in ("references", "input") if settings[f"needs_{word}"]]
    facts = {"scores": blob[:32], "references": ",".join(settings.get("references") or ()) or "all"}
    facts |= {"needs": "+".join(needs) or "none", "higher_is_better": "yes" if settings["higher_is_better"] else "no"}
    return "|".join((str(settings["column"]), *(f"{key}:{value}" for key, value in facts.items())))


def sent_column(site: Site, board: Board, submission: Submission) -> ImportedColumn:
    """A submission's scores as a column of the board, for the texts they are of; a reference's text has none."""
    settings, sent = submission.settings, kept_scores(site, submission)
    higher, needs = bool(settings["higher_is_better"]), bool(settings["needs_references"])
    seen = tuple(settings.get("references") or board.references) if needs else ()
    by_version, order = {row.version: row.scores for row in sent.rows}, _order(sent.instances, board)
    values = {}
    for row in board.rows:
        if row.version in by_version and not board.is_reference(row, seen):
            scores = np.append(by_version[row.version], np.nan)[order]
            values[row.name] = scores if higher else 0.0 - scores
    return ImportedColumn(
        name=str(settings["column"]),
        source_name=str(settings["column"]),
        signature=str(settings["signature"]),
        values=values,
        references=seen,
        needs_references=needs,
        needs_input=bool(settings["needs_input"]),
        higher_is_better=higher,
        scores_only=True,
    )


def _order(instances: Sequence[str], board: Board) -> NDArray[np.intp]:
    """Where each of the board's instances stands among those that were scored; -1, behind all, where it doesn't."""
    places = {instance: k for k, instance in enumerate(instances)}
    return np.array([places.get(instance.id, -1) for instance in board.instances], np.intp)


def _refused(name: str, message: str) -> InvalidSubmission:
    return InvalidSubmission([Problem(name, None, message)])
