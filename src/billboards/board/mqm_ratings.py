"""Raw MQM ratings of translations: a line for every error that a rater marked (Freitag et al., 2021).

    system  doc  doc_id  seg_id  rater  source  target  category  severity

The error stands between <v> and </v> in the target, or in the source where something was left out; nothing between
the two in the target says that something is missing there. A segment without errors has one line of severity No-error.
Since 2023 the columns are called docSegId and globalSegId, and a tenth holds metadata, a rater's `note` among them;
another layout has twelve columns and the reference. Nothing is quoted.

A rater's score is minus the sum of the weights that Google's scoring has: 5 for a major error, 25 for a major
non-translation, 1 for a minor error, 0.1 for a minor one of punctuation, 0 for a neutral one. A critical error counts
like a major one. Errors of the source, and reinterpretation that was marked as creative, count nothing. Severity
HOTW-test is the result of an attention check: a sentence into which an error was put on purpose.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from billboards.board.judgment_sources import MQM
from billboards.board.judgments import Dimension
from billboards.errors import ImportRefused
from billboards.reading import Problems, lacks_line_end, numbered_lines, read_source, refuse_errors, shown

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
SQM_COLUMNS = (*COLUMNS[:7], "score")
SEVERITIES = ("no-error", "neutral", "minor", "major", "critical")
HOTW = "hotw-test"
#: What other years call a column.
_SAME = {
    "docsegid": "doc_id",
    "doc_seg_id": "doc_id",
    "doc_segment_id": "doc_id",
    "globalsegid": "seg_id",
    "global_seg_id": "seg_id",
    "segment_id": "seg_id",
    "document": "doc",
    "document_id": "doc",
    "docid": "doc",
    "system_id": "system",
    "sys": "system",
    "rater_id": "rater",
    "annotator": "rater",
    "candidate": "target",
    "hyp": "target",
    "translation": "target",
    "src": "source",
    "ref": "reference",
    "rating": "score",
}
_MARK = re.compile(r"</?v>")
_MARKED = re.compile(r"<v>(.*?)</v>", re.DOTALL)
#: Lines of another width are left out where they are few; beyond this share the file is another one.
_FEW = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class RatedLine:
    """A line of a file, cells by what their columns are called in COLUMNS."""

    number: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "")


@dataclass(frozen=True, kw_only=True)
class RatedLines:
    """All lines of a file, and what to know of them."""

    path: str
    columns: tuple[str, ...]
    lines: tuple[RatedLine, ...]
    notes: tuple[str, ...] = ()


def is_raw(path: Path) -> bool:
    """Whether a file holds single ratings: its first line, tabs between, names a rater and a target or is one."""
    first = next(iter(numbered_lines(read_source(path), str(path), Problems())), (1, ""))[1].split("\t")
    names = _usual_names(first)
    if "system" not in names:
        return len(first) in (len(SQM_COLUMNS), len(COLUMNS), len(COLUMNS) + 1)
    return bool({"rater", "category", "severity"} & set(names))


def read_rated_lines(path: Path, columns: Sequence[str]) -> RatedLines:
    """The lines of a file of ratings; one without a header has the columns in their usual order.

    columns: those that it must have; `doc_id` or `seg_id` may be missing where the other is there
    """
    problems = Problems()
    raw = read_source(path)
    rows = list(_cells(raw, path, problems))
    refuse_errors(problems)
    header = rows[0][1]
    names = _usual_names(header)
    if "system" in names:
        rows = rows[1:]
    elif len(header) in (len(columns), len(columns) + 1):
        names = (*columns, "metadata")[: len(header)]
    numbered = {"doc_id", "seg_id"} if {"doc_id", "seg_id"} & set(names) else set()
    missing = [name for name in columns if name not in (*names, *numbered)]
    if missing:
        listed = ", ".join(header[:12]) if "system" in names else shown("\t".join(header))
        raise ImportRefused(f"{path}:1: has no column {missing[0]!r}; the first line is {listed}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ImportRefused(f"{path}:1: the column {twice[0]!r} stands there twice")
    lines, others = [], []
    for number, cells in rows:
        while len(cells) > len(names) and not cells[-1]:
            cells.pop()
        if len(cells) == len(names) + 1 and "metadata" not in names:
            cells.pop()
        if len(cells) == len(names) - 1 and names[-1] not in columns:
            cells.append("")
        if len(cells) == len(names):
            lines.append(RatedLine(number=number, cells=dict(zip(names, cells, strict=True))))
        elif any(cell.strip() for cell in cells):
            others.append((number, len(cells)))
    if not lines and not others:
        raise ImportRefused(f"{path}: holds nothing below its first line")
    note = f"{path}: the last line has no line end; make sure that the file is complete"
    notes: tuple[str, ...] = (note,) if lacks_line_end(raw) else ()
    if others:
        number, width = others[0]
        what = f"{width} cells where {len(names)} columns are, tabs between"
        if len(others) > _FEW * len(rows):
            raise ImportRefused(f"{path}:{number}: {what}; {len(others)} lines are such")
        notes += (f"{path}: left out {len(others)} lines of another width, the first is line {number}: {what}",)
    return RatedLines(path=str(path), columns=tuple(names), lines=tuple(lines), notes=notes)


def _cells(raw: bytes, path: Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Lines as cells, tabs between; nothing is quoted, unless metadata are: then other cells may be, too."""
    if b'\t"{""' not in raw:
        for number, text in numbered_lines(raw, str(path), problems):
            yield number, text.split("\t")
        return
    lines = (f"{text}\n" for _, text in numbered_lines(raw, str(path), problems))
    reader = csv.reader(lines, delimiter="\t")
    csv.field_size_limit(2**31 - 1)
    number = 1
    try:
        for cells in reader:
            yield number, [cell.replace("\n", " ").rstrip(" ") for cell in cells]
            number = reader.line_num + 1
    except csv.Error as error:
        problems.error(str(path), number, f"can't be read as a table with quoted cells: {error}")


def _usual_names(header: Iterable[str]) -> tuple[str, ...]:
    """A header's names as COLUMNS has them."""
    names = (name.strip().strip("#").strip().lower() for name in header)
    return tuple(_SAME.get(name, name) for name in names)


def unmarked(text: str) -> str:
    """A text without the marks of an error."""
    return _MARK.sub("", text) if "v>" in text else text


@lru_cache(10_000)
def severity_of(written: str) -> str:
    """A severity as SEVERITIES has it."""
    word = re.sub(r"[\s_]+", "-", written.strip().lower())
    return "no-error" if word in ("", "noerror", "none", "n/a", "nan") else word


@lru_cache(10_000)
def weight_of(category: str, severity: str) -> float:
    """What an error takes off."""
    words = category.lower().replace("_", " ").replace("-", " ")
    if severity in ("no-error", "neutral", HOTW):
        return 0.0
    if words.startswith(("source error", "source issue")) or "reinterpretation" in words:
        return 0.0
    if severity == "minor":
        return 0.1 if "punctuation" in words else 1.0
    return 25.0 if words.startswith("non translation") else 5.0


@dataclass(frozen=True, kw_only=True)
class MqmRating:
    """What one rater said of one output: the score, and a span for each error."""

    line: int
    score: float
    spans: tuple[dict[str, Any], ...]
    #: The output without marks, the cleanest that its lines have.
    text: str
    #: Spans that can't be placed: the text around them differs from the output.
    unplaced: int = 0


@dataclass
class AttentionChecks:
    """Results of attention checks, which are no errors."""

    found: int = 0
    missed: int = 0

    def without(self, read: RatedLines) -> RatedLines:
        """The lines of a file that are no such results, which are counted here."""
        lines = []
        for line in read.lines:
            if severity_of(line["severity"]) != HOTW:
                lines.append(line)
            elif line["category"].strip().lower() == "found":
                self.found += 1
            else:
                self.missed += 1
        if not lines:
            raise ImportRefused(f"{read.path}: holds nothing but results of attention checks")
        return replace(read, lines=tuple(lines))

    def notes(self, path: str) -> Iterator[str]:
        if self.found or self.missed:
            yield (
                f"{path}: left out {self.found + self.missed} results of attention checks (HOTW-test), "
                f"{self.found} found and {self.missed} missed"
            )


def mqm_rating(lines: Sequence[RatedLine], text: str, where: str, problems: Problems) -> MqmRating:
    """The rating that a rater's lines of one output make."""
    total, spans, unplaced = 0.0, list[dict[str, Any]](), 0
    for line in lines:
        severity = severity_of(line["severity"])
        if severity not in SEVERITIES:
            words = ", ".join(SEVERITIES)
            problems.error(where, line.number, f"severity {shown(line['severity'])} is none of {words}")
        total += weight_of(line["category"], severity)
        if severity != "no-error":
            span = _span(line, severity, text)
            unplaced += "start" not in span
            spans.append(span)
    spans.sort(key=_first)
    score = 0.0 - round(total, 9)
    return MqmRating(line=lines[0].number, score=score + 0.0, spans=tuple(spans), text=text, unplaced=unplaced)


def _first(span: Mapping[str, Any]) -> tuple[bool, bool, int, int, str, str]:
    """Spans in the order of the text, those of the source and those without a place last, however lines are ordered."""
    return (
        "start" not in span,
        bool(span.get("missing")) and span.get("start") != span.get("end"),
        span.get("start", 0),
        span.get("end", 0),
        span["category"],
        span["severity"],
    )


def _span(line: RatedLine, severity: str, text: str) -> dict[str, Any]:
    """An error's place in the output; what was left out is marked in the source."""
    named = {"category": line["category"].strip(), "severity": severity}
    if comment := _comment(line["metadata"]):
        named["comment"] = comment
    if places := list(_places(line["target"])):
        if unmarked(line["target"]) != text:
            places = list(_moved(line["target"], text))
        missing = {"missing": True} if len(places) == 1 and places[0][0] == places[0][1] else {}
        return named if not places else {**_place(places), **named, **missing}
    if places := list(_places(line["source"])):
        return {**_place(places), **named, "missing": True}
    return named


def _comment(metadata: str) -> str:
    """A rater's note on an error, among the metadata that some files have; what is no such thing has none."""
    try:
        document = json.loads(metadata) if metadata.startswith("{") else {}
    except ValueError:
        return ""
    note = document.get("note", "") if isinstance(document, dict) else ""
    return note.strip() if isinstance(note, str) else ""


def _place(places: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Where an error begins and ends; its parts, where it has several."""
    start, end = min(a for a, _ in places), max(b for _, b in places)
    return {"start": start, "end": end} | ({"parts": [list(place) for place in places]} if len(places) > 1 else {})


def _places(marked: str) -> Iterator[tuple[int, int]]:
    """The places of what is marked, in the text without marks; marks that have no partner are none."""
    for match in _MARKED.finditer(marked):
        start = len(unmarked(marked[: match.start()]))
        yield start, start + len(unmarked(match[1]))


def _moved(marked: str, text: str) -> Iterator[tuple[int, int]]:
    """The places in another text where the same words stand once, as a rater's tool may have changed blanks."""
    for match in _MARKED.finditer(marked):
        words = unmarked(match[1])
        if words.strip() and text.count(words) == 1:
            yield text.index(words), text.index(words) + len(words)


def cleanest(lines: Iterable[RatedLine], column: str) -> str:
    """The text that most lines agree on, those without marks before others; marks may bring doubled words with them."""
    plain, marked = Counter[str](), Counter[str]()
    for line in lines:
        text = line[column]
        bare = unmarked(text)
        (plain if bare == text else marked)[bare] += 1
    votes = plain or marked
    most = max(votes.values(), default=0)
    return min((text for text, count in votes.items() if count == most), default="")


@dataclass
class RatedOutputs:
    """Lines by the output that they are of, and by rater."""

    by_output: dict[tuple[str, str], dict[str, list[RatedLine]]] = field(default_factory=dict)

    def add(self, system: str, segment: str, line: RatedLine) -> None:
        self.by_output.setdefault((system, segment), {}).setdefault(line["rater"], []).append(line)

    def ratings(self, where: str, problems: Problems) -> Iterator[tuple[str, str, str, MqmRating]]:
        """Every rating with its system, segment and rater."""
        for (system, segment), by_rater in self.by_output.items():
            text = cleanest((line for lines in by_rater.values() for line in lines), "target")
            for rater, lines in by_rater.items():
                yield system, segment, rater, mqm_rating(lines, text, where, problems)


def mqm_scale(scores: Iterable[float], own: Dimension | None = None) -> Dimension:
    """The scale of these scores: the board's own, else -25 to 0, which is left open below where a score is lower."""
    if own is not None:
        return own
    assert MQM.range is not None
    return MQM if min(scores, default=0.0) >= MQM.range[0] else replace(MQM, range=None)


def on_scale(score: float, scale: Dimension) -> float:
    """A score, which doesn't lie below the end of its scale."""
    return score if scale.range is None else max(score, scale.range[0])
