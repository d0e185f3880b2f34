"""The public billboard repository (jungokasai/billboard): one board's sources, generators and released scores.

    submissions/BOARD/source/BOARD_src.jsonl              seg_id, set_id, src
    submissions/BOARD/generators/BOARD_GENERATOR.jsonl    seg_id, set_id, hyp
    results/BOARD/GENERATOR||METRIC.csv                   SYS,seg_id,set_id,metric,score

Judgments and references lie in other repositories and are laid on the board when given. Released scores are oriented
already: higher is better in every one of them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from billboards.board import Board, Generator, ImportedColumn, Instance, Judgments, Reference, Texts
from billboards.errors import ImportRefused, UnknownName
from billboards.importers.base import (
    Floats,
    Imported,
    board_name,
    check_name,
    default_metrics,
    generator_rows,
    in_folder_order,
    is_human,
    plain_name,
    score_column,
    some,
)
from billboards.importers.billboard_profiles import (
    ALSO_INPUT,
    CANONICAL,
    ENSEMBLE,
    REFERENCE_FREE,
    Profile,
    profile_of,
)
from billboards.importers.billboard_segments import (
    References,
    SetIds,
    check_aligned,
    read_outputs,
    read_references,
    read_sources,
)
from billboards.importers.judgments import JudgmentSource, lay_judgments
from billboards.importers.mqm import find_mqm, read_mqm
from billboards.importers.thumb import find_thumb, read_thumb
from billboards.reading import Problems, check_ended, numbered_lines, read_number, read_source, refuse_errors, shown

HEADER = ["SYS", "seg_id", "set_id", "metric", "score"]
_NUMBER = re.compile(r"[0-9]{1,18}")


def import_board(
    source: Path, *, board: str, judgments: Path | None = None, references: Path | None = None
) -> Imported:
    """One board of a clone of the repository, with its released scores."""
    profile = profile_of(board_name(board))
    set_ids, inputs = read_sources(_source_file(source, board))
    texts: dict[str, Texts] = dict(_read_generators(source, board, set_ids))
    judged = None if judgments is None else _read_judgments(judgments, board, profile, set_ids)
    found, notes = _find_references(references, judgments, board, profile, set_ids)
    instances = tuple(_instance(s, inputs[s], found.get(s, ()), profile) for s in set_ids)
    texts |= _human_texts(instances, judged, texts)
    columns, score_notes = _read_scores(source / "results" / board, set_ids, texts, _reference_names(instances))
    result = Board(
        board,
        instances,
        generator_rows({name: _generator(name) for name in texts}, instances, texts),
        Judgments(),
        {},
        {},
        metrics=default_metrics(instances),
        imported=columns,
        input_language=profile.input_language,
        output_language=profile.output_language,
        card=profile.card if judged else replace(profile.card, protocol=None, annotators=None),
    )
    notes = (*notes, *score_notes)
    if judged is None:
        return Imported(result, (*notes, "no judgments were given, so metrics can't be ranked; add --judgments"))
    laid = lay_judgments(result, judged.ranking_as("overall"), may_lack_systems=False)
    return Imported(laid.board, (*notes, *laid.notes))


def _source_file(source: Path, board: str) -> Path:
    submissions = source / "submissions"
    if not submissions.is_dir():
        raise ImportRefused(f"{source}: has no folder submissions/; give a clone of jungokasai/billboard")
    if not (submissions / board).is_dir():
        raise UnknownName("board", board, (path.name for path in submissions.iterdir() if path.is_dir()))
    return submissions / board / "source" / f"{board}_src.jsonl"


def _read_generators(source: Path, board: str, set_ids: SetIds) -> Iterator[tuple[str, tuple[str, ...]]]:
    problems = Problems()
    folder = source / "submissions" / board / "generators"
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise ImportRefused(f"{folder}: holds no generator such as {board}_NAME.jsonl")
    for path in files:
        name = path.stem.removeprefix(f"{board}_")
        if name == path.stem:
            problems.error(str(path), None, f"a generator's file must be named {board}_NAME.jsonl")
        check_name("generator", name, str(path), None, problems)
        yield name, read_outputs(path, set_ids, problems)
    refuse_errors(problems)


def _read_judgments(path: Path, board: str, profile: Profile, set_ids: SetIds) -> JudgmentSource:
    if profile.judgments == "mqm":
        return read_mqm(find_mqm(path, board), {str(number + 1): segment for segment, number in set_ids.items()})
    if profile.judgments == "thumb":
        return read_thumb(find_thumb(path, board), set_ids)
    raise ImportRefused(
        f"{path}: which judgments belong to board {board} is not known; import it without --judgments, "
        "then add them with `billboards import mqm | thumb | wmt-da … --into`"
    )


def _find_references(
    references: Path | None, judgments: Path | None, board: str, profile: Profile, set_ids: SetIds
) -> tuple[References, tuple[str, ...]]:
    """The references given, else those that lie beside THumB's ratings, else none."""
    pair = f"{profile.input_language}-{profile.output_language}" if profile.documents else None
    if references is None and profile.judgments == "thumb" and judgments is not None:
        beside = find_thumb(judgments, board).parent
        references = beside if any(beside.glob(f"{board}_ref*")) else None
    if references is None:
        return {}, ("no references were given, so no metric can be computed against them; add --references",)
    return read_references(references, board, pair, set_ids)


def _instance(segment: str, source: str, references: tuple[Reference, ...], profile: Profile) -> Instance:
    return Instance(
        segment,
        references,
        input=None if profile.images else source,
        image=source if profile.images else None,
        document=segment.rpartition("::")[0] or None if profile.documents else None,
        domain=profile.domain,
    )


def _reference_names(instances: Sequence[Instance]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))


def _generator(name: str) -> Generator:
    return Generator(name, "human" if is_human(name) else "machine")


def _human_texts(
    instances: Sequence[Instance], judged: JudgmentSource | None, texts: Mapping[str, Texts]
) -> dict[str, Texts]:
    """People among the generators who have no file: the authors of references, and those whose judged text is told."""
    written: dict[str, dict[str, str]] = {}
    for instance in instances:
        for reference in instance.references:
            if is_human(reference.name):
                written.setdefault(reference.name, {})[instance.id] = reference.text
    for one in () if judged is None else judged.given:
        if is_human(one.system) and one.text is not None and plain_name(one.system) not in texts:
            written.setdefault(plain_name(one.system), {}).setdefault(one.segment, one.text)
    return {name: tuple(by_id.get(i.id) for i in instances) for name, by_id in written.items() if name not in texts}


def _read_scores(
    folder: Path, set_ids: SetIds, generators: Mapping[str, Texts], references: Sequence[str]
) -> tuple[tuple[ImportedColumn, ...], tuple[str, ...]]:
    problems = Problems()
    metrics: dict[str, dict[str, Floats]] = {}
    for path in sorted(folder.glob("*.csv")):
        generator, bars, metric = path.stem.partition("||")
        if not bars or not metric:
            problems.error(str(path), None, "a score file must be named GENERATOR||METRIC.csv")
        elif generator not in generators:
            problems.error(str(path), None, f"scores generator {generator!r}, which has no file in submissions/")
        else:
            metrics.setdefault(metric, {})[generator] = _read_score_file(path, generator, metric, set_ids, problems)
    refuse_errors(problems)
    if not metrics:
        return (), (f"{folder}: no released scores",)
    columns = in_folder_order(_column(metric, values, references) for metric, values in metrics.items())
    return columns, tuple(_score_notes(columns, [name for name in generators if not is_human(name)]))


def _read_score_file(path: Path, generator: str, metric: str, set_ids: SetIds, problems: Problems) -> Floats:
    """One score per segment, aligned by `seg_id`; every column must say what the file's name says."""
    name = str(path)
    scores: dict[str, float] = {}
    numbers: dict[str, tuple[int, int]] = {}
    for line, cells in _score_rows(path, problems):
        if len(cells) != 5 or cells[0] != generator or cells[3] != metric or not _NUMBER.fullmatch(cells[2]):
            problems.error(name, line, f"must hold {generator},seg_id,set_id,{metric},score; found {shown(cells)}")
        elif cells[1] in scores:
            first = numbers[cells[1]][0]
            problems.error(name, line, f"segment {cells[1]!r} appears twice, first on line {first}")
        else:
            scores[cells[1]] = read_number(cells[4], "score", name, line, problems)
            numbers[cells[1]] = line, int(cells[2])
    check_aligned(name, numbers, set_ids, problems)
    return np.array([scores.get(segment, np.nan) for segment in set_ids])


def _score_rows(path: Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header of a score file, with their lines."""
    name, raw = str(path), read_source(path)
    check_ended(raw, name, problems)
    rows = csv.reader((line for _, line in numbered_lines(raw, name, problems)), strict=True)
    try:
        header = next(rows, [])
        if header == HEADER:
            yield from ((rows.line_num, cells) for cells in rows if cells)
        else:
            problems.error(name, 1, f"the first line must read {','.join(HEADER)}; found {shown(','.join(header))}")
    except csv.Error as error:
        problems.error(name, rows.line_num, f"not CSV: {error}")


def _column(metric: str, values: Mapping[str, Floats], references: Sequence[str]) -> ImportedColumn:
    name = CANONICAL.get(metric, metric)
    return score_column(
        metric,
        values,
        name=name,
        references=references,
        needs_references=name not in REFERENCE_FREE,
        needs_input=name in REFERENCE_FREE | ALSO_INPUT,
        is_ensemble=name == ENSEMBLE,
    )


def _score_notes(columns: Sequence[ImportedColumn], machines: Sequence[str]) -> Iterator[str]:
    for column in columns:
        without = [name for name in machines if name not in column.values]
        if without:
            yield f"no released {column.source_name} scores for {some(without)}"
        missing = sum(int(np.isnan(scores).sum()) for scores in column.values.values())
        if missing:
            yield f"{missing} released {column.source_name} scores are NaN; they stay missing"
