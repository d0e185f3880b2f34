"""The JSON lines of the public billboard layout: segments with `seg_id` and `set_id`, aligned by id in every file.

Sources, generators and references are all files of this kind. The sources say which segments there are and in which
order (that of `set_id`); every other file must hold each of them once, under the same two ids, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from billboards.board import Reference
from billboards.importers.base import check_name, find_file, some
from billboards.reading import Problems, check_ended, json_lines, numbered_lines, read_source, refuse_errors, shown

SetIds = Mapping[str, int]
References = dict[str, tuple[Reference, ...]]


def read_segments(path: Path, key: str, problems: Problems) -> dict[str, tuple[int, int, dict[str, Any]]]:
    """The objects of a file by `seg_id`, each with its line and `set_id`; `key` must be among their keys."""
    name = str(path)
    found: dict[str, tuple[int, int, dict[str, Any]]] = {}
    for line, item in json_lines(read_source(path), name, problems):
        segment, number = item.get("seg_id"), item.get("set_id")
        if not isinstance(segment, str) or not isinstance(number, int) or isinstance(number, bool):
            problems.error(
                name, line, f'"seg_id" must be text and "set_id" a number; found {shown(segment)}, {shown(number)}'
            )
        elif key not in item:
            problems.error(name, line, f'has no "{key}"; found {", ".join(map(repr, item))}')
        elif segment in found:
            problems.error(name, line, f"segment {segment!r} appears twice, first on line {found[segment][0]}")
        else:
            check_name("segment", segment, name, line, problems)
            found[segment] = (line, number, item)
    return found


def read_sources(path: Path) -> tuple[dict[str, int], dict[str, str]]:
    """The segments of a board in the order of `set_id`: their numbers and their inputs."""
    problems = Problems()
    found = read_segments(path, "src", problems)
    seen: dict[int, str] = {}
    for segment, (line, number, item) in found.items():
        if not isinstance(item["src"], str):
            problems.error(str(path), line, f'"src" must be text; found {shown(item["src"])}')
        if number in seen:
            problems.error(str(path), line, f"set_id {number} of {segment!r} is also that of {seen[number]!r}")
        seen[number] = segment
    if not found:
        problems.error(str(path), None, "holds no segment; fetch the file again")
    refuse_errors(problems)
    ordered = {seen[number]: number for number in sorted(seen)}
    return ordered, {segment: found[segment][2]["src"] for segment in ordered}


def read_outputs(path: Path, set_ids: SetIds, problems: Problems) -> tuple[str, ...]:
    """A generator's texts in the order of the segments."""
    found = read_segments(path, "hyp", problems)
    check_aligned(str(path), {s: (line, number) for s, (line, number, _) in found.items()}, set_ids, problems)
    for line, _, item in found.values():
        if not isinstance(item["hyp"], str):
            problems.error(str(path), line, f'"hyp" must be text; found {shown(item["hyp"])}')
    refuse_errors(problems)
    return tuple(found[segment][2]["hyp"] for segment in set_ids)


def check_aligned(name: str, found: Mapping[str, tuple[int, int]], set_ids: SetIds, problems: Problems) -> None:
    """Every segment of the sources must be there, under its own number, and no other."""
    for segment, (line, number) in found.items():
        if segment not in set_ids:
            problems.error(name, line, f"segment {segment!r} is not in the sources")
        elif set_ids[segment] != number:
            problems.error(name, line, f"set_id {number} of {segment!r} is {set_ids[segment]} in the sources")
    missing = [segment for segment in set_ids if segment not in found]
    if missing:
        problems.error(name, None, f"lacks {len(missing)} of {len(set_ids)} segments, first {missing[0]!r}; cut off?")


def read_references(source: Path, board: str, pair: str | None, set_ids: SetIds) -> tuple[References, tuple[str, ...]]:
    """The references of a board, from a .jsonl file, a folder that has one, or a folder of text files per pair."""
    folders = [folder for folder in (source / (pair or "."), source) if any(folder.glob("Human-*.txt"))]
    if folders and not any(source.glob(f"{board}_ref*")):
        return _references_of_texts(folders[0], set_ids)
    patterns = (f"{board}_refs.jsonl", f"{board}_references.jsonl", f"{board}_references.json")
    return _references_of_lines(find_file(source, patterns, f"references for {board}"), set_ids), ()


def _references_of_lines(path: Path, set_ids: SetIds) -> References:
    problems = Problems()
    found = read_segments(path, "refs", problems)
    check_aligned(str(path), {s: (line, number) for s, (line, number, _) in found.items()}, set_ids, problems)
    references = {s: _named(item, str(path), line, problems) for s, (line, _, item) in found.items()}
    refuse_errors(problems)
    return references


def _named(item: Mapping[str, Any], path: str, line: int, problems: Problems) -> tuple[Reference, ...]:
    texts = item["refs"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        problems.error(path, line, f'"refs" must be a list of texts; found {shown(texts)}')
        return ()
    names = item.get("ref_names", [f"ref{k}" for k in range(1, len(texts) + 1)])
    if not isinstance(names, list) or len(set(map(str, names))) != len(names) or len(names) != len(texts):
        problems.error(path, line, f'"ref_names" must hold {len(texts)} names, all different; found {shown(names)}')
        return ()
    for name in names:
        check_name("reference", str(name), path, line, problems)
    return tuple(Reference(str(name), text) for name, text in zip(names, texts, strict=True))


def _references_of_texts(folder: Path, set_ids: SetIds) -> tuple[References, tuple[str, ...]]:
    """One file per reference, a line per segment; `details.tsv` says which segment, else the order does."""
    problems = Problems()
    files = [path for path in sorted(folder.glob("*.txt")) if path.name != "src.txt"]
    segments, notes = _line_segments(folder, set_ids, problems)
    texts: dict[str, dict[str, str]] = {}
    for path in files:
        raw = read_source(path)
        check_ended(raw, str(path), problems)
        lines = [line for _, line in numbered_lines(raw, str(path), problems)]
        if len(lines) != len(segments):
            problems.error(str(path), None, f"has {len(lines)} lines for {len(segments)} segments; cut off?")
        else:
            texts[path.stem] = dict(zip(segments, lines, strict=True))
    refuse_errors(problems)
    found = {s: tuple(Reference(name, by_segment[s]) for name, by_segment in texts.items()) for s in set_ids}
    return found, notes


def _line_segments(folder: Path, set_ids: SetIds, problems: Problems) -> tuple[list[str], tuple[str, ...]]:
    path = folder / "details.tsv"
    if not path.is_file():
        return list(set_ids), (f"{folder}: references were aligned by line, as there is no details.tsv",)
    segments = []
    for number, line in numbered_lines(read_source(path), str(path), problems):
        cells = line.split("\t")
        segments.append("::".join(cells[-2:]))
        if len(cells) != 5 or cells[0] != str(number):
            problems.error(str(path), number, "must hold line number, test set, languages, document, number in it")
    if sorted(segments) != sorted(set_ids):
        other = set(segments) ^ set(set_ids)
        problems.error(str(path), None, f"names other segments than the sources: {some(sorted(other)) or 'one twice'}")
    refuse_errors(problems)
    return segments, ()
