"""A board from rated translations alone: files that repeat source and target on every line, as MQM's and SQM's do.

Segments are named DOCUMENT::n by their place in the document, as mt-metrics-eval's are here. A system whose name says
that people wrote it (`Human-A.0`, `ref`, `refB`, `ref.C`) is a human row, and its texts are references of that name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from billboards.board import Board, Dimension, Generator, Instance, Judgment, Outputs, Reference
from billboards.board.mqm_ratings import RatedLine, RatedLines, cleanest, unmarked
from billboards.board.names import is_human
from billboards.errors import ImportRefused
from billboards.importers._assembling import assemble, board_name, check_name, rows_of_generators
from billboards.reading import Problems, refuse_errors, some, whole_number

_REFERENCE = re.compile(r"ref(erence)?[-_. ]?[A-Za-z0-9]?", re.IGNORECASE)
_PAIR = re.compile(r"(?:^|[-_.])([a-z]{2,3})-?([a-z]{2,3})(?=[-_.]|$)")
_LANGUAGES = frozenset(
    "bn cs de en es fr gu ha he hi hr is it ja kk ko lt liv mas pl ps pt ro ru sah ta tr uk xh zh zu".split()  # noqa: SIM905
)


@dataclass(frozen=True, kw_only=True)
class Segments:
    """The segments and outputs of a file, by name."""

    instances: tuple[Instance, ...]
    rows: tuple[Outputs, ...]
    #: The instance and system of each line, in order.
    places: tuple[tuple[str, str], ...]
    #: The instance that has a segment's number, where each number is of one instance.
    numbers: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def is_written_by_people(system: str) -> bool:
    """Whether a system's name says that people wrote its outputs: Human-A.0, ref, refB."""
    return is_human(re.sub(r"\.\d+$", "", system)) or _REFERENCE.fullmatch(system) is not None


def segments_of(read: RatedLines) -> Segments:
    """The segments and outputs that a file's lines are of."""
    problems = Problems()
    named, notes = _instance_names(read.lines), list[str]()
    prefixed = [line["system"] for line in read.lines if line["system"].startswith("hyp.")]
    if prefixed:
        notes.append(f"{read.path}: systems named hyp.NAME stand here as NAME: {some(dict.fromkeys(prefixed))}")
    by_segment: dict[str, list[RatedLine]] = {}
    by_output: dict[tuple[str, str], list[RatedLine]] = {}
    places, systems = [], set[str]()
    for line in read.lines:
        segment, system = named(line), line["system"].removeprefix("hyp.")
        if segment not in by_segment:
            check_name("instance", segment, read.path, line.number, problems)
        if system not in systems:
            check_name("generator", system, read.path, line.number, problems)
            systems.add(system)
        by_segment.setdefault(segment, []).append(line)
        by_output.setdefault((system, segment), []).append(line)
        places.append((segment, system))
    refuse_errors(problems)
    ordered = sorted(by_segment, key=_order(by_segment))
    texts: dict[str, dict[str, str]] = {}
    for (system, segment), lines in by_output.items():
        texts.setdefault(system, {})[segment] = cleanest(lines, "target")
    notes += _differing(read.path, by_segment.values(), "source", "sources")
    notes += _differing(read.path, by_output.values(), "target", "outputs")
    people = [system for system in sorted(texts) if is_written_by_people(system)]
    instances = tuple(_instance(segment, by_segment[segment], texts, people) for segment in ordered)
    generators = {system: Generator(system, kind="human") for system in people}
    numbers = {lines[0]["seg_id"]: segment for segment, lines in by_segment.items() if lines[0]["seg_id"]}
    return Segments(
        instances=instances,
        rows=rows_of_generators(instances, texts, generators),
        places=tuple(places),
        numbers=numbers if len(numbers) == len(by_segment) else {},
        notes=tuple(notes),
    )


class _Named:
    """An instance's name: its document with the place in it, unless that would be of several segments."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def __call__(self, line: RatedLine) -> str:
        return "::".join(line[column].strip() for column in self._columns if line[column].strip())


def _instance_names(lines: Iterable[RatedLine]) -> _Named:
    keys = {(line["doc"].strip(), line["doc_id"].strip(), line["seg_id"].strip()) for line in lines}
    for columns, chosen in ((("doc", "doc_id"), (0, 1)), (("doc", "seg_id"), (0, 2))):
        names = {tuple(key[k] for k in chosen) for key in keys}
        if len(names) == len(keys) and all(name[1] for name in names):
            return _Named(columns)
    return _Named(("doc", "doc_id", "seg_id"))


def _order(by_segment: Mapping[str, Sequence[RatedLine]]) -> _Order:
    """Segments by their numbers in the test set; where these are of their documents, by document and number."""
    numbers = [whole_number(lines[0]["seg_id"]) for lines in by_segment.values()]
    counted = Counter(number for number in numbers if number is not None)
    return _Order(by_segment, overall=len(counted) == len(by_segment))


class _Order:
    def __init__(self, by_segment: Mapping[str, Sequence[RatedLine]], *, overall: bool) -> None:
        self._by_segment, self._overall = by_segment, overall

    def __call__(self, segment: str) -> tuple[int, str, int, str]:
        line = self._by_segment[segment][0]
        overall = whole_number(line["seg_id"]) or 0 if self._overall else 0
        within = whole_number(line["doc_id"] or line["seg_id"])
        return overall, line["doc"], -1 if within is None else within, segment


def _instance(
    segment: str, lines: Sequence[RatedLine], texts: Mapping[str, Mapping[str, str]], people: Sequence[str]
) -> Instance:
    written = [Reference(system, texts[system][segment]) for system in people if texts[system].get(segment, "").strip()]
    given = cleanest((line for line in lines if line["reference"].strip()), "reference")
    if given and given not in [reference.text for reference in written]:
        written.append(Reference("reference", given))
    return Instance(
        segment,
        references=tuple(written),
        input=cleanest(lines, "source"),
        document=lines[0]["doc"].strip() or None,
    )


def _differing(path: str, groups: Iterable[Sequence[RatedLine]], column: str, what: str) -> Iterator[str]:
    """A note on texts of which lines have several variants."""
    several = [lines for lines in groups if len({unmarked(line[column]) for line in lines}) > 1]
    if several:
        yield (
            f"{path}: {len(several)} {what} stand there in several variants, the first from line "
            f"{min(lines[0].number for lines in several)}; the one that most unmarked lines have was taken"
        )


def languages_in(name: str, wanted: str | None, read: RatedLines) -> tuple[str | None, str | None]:
    """Input and output language: as asked, as the columns say, or as a file's name ends, in `_zhen`."""
    if wanted is not None:
        first, dash, second = wanted.partition("-")
        if not (first and dash and second):
            raise ImportRefused(f"{wanted!r} is no language pair; give one such as en-de")
        return first, second
    line = read.lines[0]
    if line["source_lang"] and line["target_lang"]:
        return line["source_lang"], line["target_lang"]
    for match in reversed(list(_PAIR.finditer(name.lower()))):
        if match[1] in _LANGUAGES and match[2] in _LANGUAGES:
            return match[1], match[2]
    return None, None


def board_from(
    path: Path,
    read: RatedLines,
    segments: Segments,
    judgments: Iterable[Judgment],
    dimension: Dimension,
    *,
    name: str | None,
    language_pair: str | None,
) -> Board:
    """The board of a file."""
    stem = re.sub(r"\.(tsv|txt|gz)\b", "", path.name)
    default = re.sub(r"[^\w.]+|_+", "-", stem).strip("-.")
    source, target = languages_in(stem, language_pair, read)
    return assemble(
        board_name(name or default),
        segments.instances,
        segments.rows,
        judgments,
        dimensions=(dimension,),
        ranks=dimension.name,
        input_language=source,
        output_language=target,
    )
