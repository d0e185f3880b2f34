"""The public billboard repository (jungokasai/billboard): one board's sources, generators and released scores.

    submissions/BOARD/source/BOARD_src.jsonl              seg_id, set_id, src
    submissions/BOARD/generators/BOARD_GENERATOR.jsonl    seg_id, set_id, hyp
    results/BOARD/GENERATOR||METRIC.csv                   SYS,seg_id,set_id,metric,score

The sources say which segments there are and in which order (that of `set_id`); every other file must hold each of them
once, under the same two ids, in any order. Judgments and references lie in other repositories and are laid on the board
when given. Released scores are oriented already: higher is better in every one of them.

What is known of the four public boards beside their files is that of Billboards, §3.1 and Table 10. A board of another
name is read as well, with nothing assumed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from billboards.board import Board, DataCard, Generator, ImportedColumn, Instance, Judgments, Reference, Texts
from billboards.board.judgment_sources import Imported, JudgmentSource, lay_judgments
from billboards.board.names import is_human, plain_name
from billboards.errors import ImportRefused, UnknownName
from billboards.importers._assembling import (
    Floats,
    board_name,
    check_name,
    default_metrics,
    find_file,
    generator_rows,
    in_folder_order,
    score_column,
)
from billboards.importers._importer import importer
from billboards.importers._wmt_references import TestSet, find_wmt_references, read_wmt_references, refuse_nothing
from billboards.importers.mqm import find_mqm, read_mqm
from billboards.importers.thumb import find_thumb, read_thumb
from billboards.reading import (
    Problems,
    check_ended,
    json_lines,
    numbered_lines,
    read_number,
    read_source,
    refuse_errors,
    shown,
    some,
)

#: Released names that differ from the metric's own.
CANONICAL = {
    "SentBLEU": "BLEU",
    "chrFpp": "chrF++",
    "wmt20-comet-da": "COMET",
    "wmt20-comet-qe-da": "COMET-QE",
    "CLIPS": "CLIP-S",
    "RefCLIPS": "RefCLIP-S",
    "RefOnlyCLIPS": "RefOnlyC",
}
#: Table 10: metrics that look at the input; the others see references alone. The ensembles hold metrics of both kinds.
REFERENCE_FREE = frozenset({"COMET-QE", "Prism-src", "SummaQA", "CLIP-S"})
ALSO_INPUT = frozenset({"COMET", "RefCLIP-S", "ensemble"})
ENSEMBLE = "ensemble"
HEADER = ["SYS", "seg_id", "set_id", "metric", "score"]
_NUMBER = re.compile(r"[0-9]{1,18}")
SetIds = Mapping[str, int]
References = dict[str, tuple[Reference, ...]]


@importer()
def billboard(
    source: Path,
    *,
    board: Annotated[str, "the board's name there, such as wmt20-zh-en, cnndm or mscoco"],
    judgments: Annotated[Path | None, "human judgments: a clone of the MQM or THumB repository"] = None,
    references: Annotated[
        tuple[Path, ...],
        "references: a clone of OPUS-MT-testsets or wmt19-paraphrased-references, a folder of Human-X.txt, or a .jsonl "
        "file; may be repeated",
    ] = (),
) -> Imported:
    """The public billboard repository: sources, generators and released scores of one board."""
    profile = profile_of(board_name(board))
    set_ids, inputs = read_sources(_source_file(source, board))
    texts: dict[str, Texts] = dict(_read_generators(source, board, set_ids))
    judged = None if judgments is None else _read_judgments(judgments, board, profile, set_ids)
    by_segment, notes = _find_references(references, judgments, board, profile, inputs, set_ids)
    if profile.judged_person_is_reference and judged is not None:
        by_segment, more = _with_judged_people(by_segment, judged, set_ids)
        notes = (*notes, *more)
    instances = tuple(_instance(s, inputs[s], by_segment.get(s, ()), profile) for s in set_ids)
    texts |= _human_texts(instances, judged, texts)
    columns, score_notes = _read_scores(
        source / "results" / board, set_ids, texts, _reference_names(instances), {**CANONICAL, **profile.canonical}
    )
    result = Board(
        name=board,
        instances=instances,
        rows=generator_rows({name: _generator(name) for name in texts}, instances, texts),
        judgments=Judgments(),
        dimensions={},
        aggregates={},
        metrics=(*default_metrics(instances), *(profile.metrics if _reference_names(instances) else ())),
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
    sources: Sequence[Path],
    judgments: Path | None,
    board: str,
    profile: Profile,
    inputs: Mapping[str, str],
    set_ids: SetIds,
) -> tuple[References, tuple[str, ...]]:
    """The references given, else those that lie beside THumB's ratings, else none."""
    pair = f"{profile.input_language}-{profile.output_language}" if profile.documents else None
    if not sources and profile.judgments == "thumb" and judgments is not None:
        beside = find_thumb(judgments, board).parent
        sources = [beside] if any(beside.glob(f"{board}_ref*")) else []
    if not sources:
        return {}, ("no references were given, so no metric can be computed against them; add --references",)
    joined: References = dict.fromkeys(set_ids, ())
    notes: tuple[str, ...] = ()
    origin: dict[str, Path] = {}
    for source in sources:
        by_segment, more = read_references(source, board, pair, set_ids, inputs)
        for name in dict.fromkeys(ref.name for refs in by_segment.values() for ref in refs):
            if name in origin:
                raise ImportRefused(
                    f"{source}: brings references of {name}, and so does {origin[name]}; give one of them"
                )
            origin[name] = source
        joined = {segment: (*joined[segment], *by_segment.get(segment, ())) for segment in set_ids}
        notes = (*notes, *more)
    return joined, notes


def _with_judged_people(
    references: References, judged: JudgmentSource, set_ids: SetIds
) -> tuple[References, tuple[str, ...]]:
    """References and, after them, the texts of judged people: the released scores used both."""
    people: dict[str, dict[str, str]] = {}
    for judgment in judged.judgments:
        if is_human(judgment.system) and judgment.text is not None:
            people.setdefault(plain_name(judgment.system), {})[judgment.segment] = judgment.text
    named = {reference.name for texts in references.values() for reference in texts}
    new = {name: texts for name, texts in people.items() if name not in named}
    joined = {
        segment: (
            *references.get(segment, ()),
            *(Reference(name, texts[segment]) for name, texts in new.items() if segment in texts),
        )
        for segment in set_ids
    }
    note = f"the judged texts of {some(list(new))} stand among the references, as they did for the released scores"
    return joined, (note,) if new else ()


def _instance(segment: str, source: str, references: tuple[Reference, ...], profile: Profile) -> Instance:
    return Instance(
        segment,
        references=references,
        input=None if profile.images else source,
        image=source if profile.images else None,
        document=segment.rpartition("::")[0] or None if profile.documents else None,
        domain=profile.domain,
    )


def _reference_names(instances: Sequence[Instance]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))


def _generator(name: str) -> Generator:
    return Generator(name, kind="human" if is_human(name) else "machine")


def _human_texts(
    instances: Sequence[Instance], judged: JudgmentSource | None, texts: Mapping[str, Texts]
) -> dict[str, Texts]:
    """People among the generators who have no file: the authors of references, and those whose judged text is told."""
    written: dict[str, dict[str, str]] = {}
    for instance in instances:
        for reference in instance.references:
            if is_human(reference.name):
                written.setdefault(reference.name, {})[instance.id] = reference.text
    for judgment in () if judged is None else judged.judgments:
        if is_human(judgment.system) and judgment.text is not None and plain_name(judgment.system) not in texts:
            written.setdefault(plain_name(judgment.system), {}).setdefault(judgment.segment, judgment.text)
    return {name: tuple(by_id.get(i.id) for i in instances) for name, by_id in written.items() if name not in texts}


def _read_scores(
    folder: Path,
    set_ids: SetIds,
    generators: Mapping[str, Texts],
    references: Sequence[str],
    canonical: Mapping[str, str],
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
    columns = in_folder_order(
        _column(metric, canonical.get(metric, metric), values, references) for metric, values in metrics.items()
    )
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


def _column(metric: str, name: str, values: Mapping[str, Floats], references: Sequence[str]) -> ImportedColumn:
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


def read_segments(path: Path, key: str, problems: Problems) -> dict[str, tuple[int, int, dict[str, Any]]]:
    """The objects of a file by `seg_id`, each with its line and `set_id`; `key` must be among their keys."""
    name = str(path)
    segments: dict[str, tuple[int, int, dict[str, Any]]] = {}
    for line, item in json_lines(read_source(path), name, problems):
        segment, number = item.get("seg_id"), item.get("set_id")
        if not isinstance(segment, str) or not isinstance(number, int) or isinstance(number, bool):
            problems.error(
                name, line, f'"seg_id" must be text and "set_id" a number; found {shown(segment)}, {shown(number)}'
            )
        elif key not in item:
            problems.error(name, line, f'has no "{key}"; found {", ".join(map(repr, item))}')
        elif segment in segments:
            problems.error(name, line, f"segment {segment!r} appears twice, first on line {segments[segment][0]}")
        else:
            check_name("segment", segment, name, line, problems)
            segments[segment] = (line, number, item)
    return segments


def read_sources(path: Path) -> tuple[dict[str, int], dict[str, str]]:
    """The segments of a board in the order of `set_id`: their numbers and their inputs."""
    problems = Problems()
    segments = read_segments(path, "src", problems)
    seen: dict[int, str] = {}
    for segment, (line, number, item) in segments.items():
        if not isinstance(item["src"], str):
            problems.error(str(path), line, f'"src" must be text; found {shown(item["src"])}')
        if number in seen:
            problems.error(str(path), line, f"set_id {number} of {segment!r} is also that of {seen[number]!r}")
        seen[number] = segment
    if not segments:
        problems.error(str(path), None, "holds no segment; fetch the file again")
    refuse_errors(problems)
    ordered = {seen[number]: number for number in sorted(seen)}
    return ordered, {segment: segments[segment][2]["src"] for segment in ordered}


def read_outputs(path: Path, set_ids: SetIds, problems: Problems) -> tuple[str, ...]:
    """A generator's texts in the order of the segments."""
    segments = read_segments(path, "hyp", problems)
    check_aligned(str(path), {s: (line, number) for s, (line, number, _) in segments.items()}, set_ids, problems)
    for line, _, item in segments.values():
        if not isinstance(item["hyp"], str):
            problems.error(str(path), line, f'"hyp" must be text; found {shown(item["hyp"])}')
    refuse_errors(problems)
    return tuple(segments[segment][2]["hyp"] for segment in set_ids)


def check_aligned(name: str, lines: Mapping[str, tuple[int, int]], set_ids: SetIds, problems: Problems) -> None:
    """Every segment of the sources must be there, under its own number, and no other."""
    for segment, (line, number) in lines.items():
        if segment not in set_ids:
            problems.error(name, line, f"segment {segment!r} is not in the sources")
        elif set_ids[segment] != number:
            problems.error(name, line, f"set_id {number} of {segment!r} is {set_ids[segment]} in the sources")
    missing = [segment for segment in set_ids if segment not in lines]
    if missing:
        problems.error(name, None, f"lacks {len(missing)} of {len(set_ids)} segments, first {missing[0]!r}; cut off?")


def read_references(
    source: Path, board: str, pair: str | None, set_ids: SetIds, inputs: Mapping[str, str] | None = None
) -> tuple[References, tuple[str, ...]]:
    """The references of a board, from whatever they lie in.

    That is a .jsonl file or a folder that has one, a folder of text files per pair, or a clone of a public repository
    of WMT's references, whose lines are held against the board's `inputs`.
    """
    folders = [folder for folder in (source / (pair or "."), source) if any(folder.glob("Human-*.txt"))]
    if folders and not any(source.glob(f"{board}_ref*")):
        return _references_of_texts(folders[0], set_ids)
    patterns = (f"{board}_refs.jsonl", f"{board}_references.jsonl", f"{board}_references.json")
    test_set = TestSet.of_board(board)
    if inputs is not None and test_set is not None and not any(any(source.glob(pattern)) for pattern in patterns):
        files = find_wmt_references(source, test_set)
        if files:
            texts, notes = read_wmt_references(files, test_set, inputs)
            return {s: tuple(Reference(name, lines[s]) for name, lines in texts.items()) for s in set_ids}, notes
    if source.is_dir() and not any(any(source.rglob(pattern)) for pattern in patterns):
        raise refuse_nothing(source, board, test_set)
    return _references_of_lines(find_file(source, patterns, f"references for {board}"), set_ids), ()


def _references_of_lines(path: Path, set_ids: SetIds) -> References:
    problems = Problems()
    segments = read_segments(path, "refs", problems)
    check_aligned(str(path), {s: (line, number) for s, (line, number, _) in segments.items()}, set_ids, problems)
    references = {s: _named(item, str(path), line, problems) for s, (line, _, item) in segments.items()}
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
    references = {s: tuple(Reference(name, by_segment[s]) for name, by_segment in texts.items()) for s in set_ids}
    return references, notes


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


LANGUAGES = {"zh": "Chinese", "en": "English", "de": "German"}
_SOURCE = "https://github.com/jungokasai/billboard"
_PAPER = "Kasai et al. (2022): Bidimensional Leaderboards: Generate and Evaluate Language Hand in Hand"


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """How one public board's files are to be understood."""

    input_language: str | None = None
    output_language: str | None = None
    images: bool = False
    documents: bool = False
    domain: str | None = None
    judgments: Literal["mqm", "thumb"] | None = None
    #: Whether the released scores had the texts of judged people among their references.
    judged_person_is_reference: bool = False
    #: Released names that mean another metric on this board.
    canonical: Mapping[str, str] = field(default_factory=dict)
    #: Metrics that this board computes beside the usual ones.
    metrics: tuple[str, ...] = ()
    card: DataCard = field(default_factory=lambda: DataCard(source=_SOURCE, citation=_PAPER))


CNNDM = Profile(
    input_language="en",
    output_language="en",
    judgments="thumb",
    card=DataCard(
        title="CNN/DailyMail summarization",
        task="Summarise a news article in a few sentences",
        source=f"{_SOURCE}; ratings and references: https://github.com/jungokasai/THumB",
        citation=f"{_PAPER}; Fabbri et al. (2021): SummEval: Re-evaluating Summarization Evaluation; references: "
        "Kryściński et al. (2019)",
        licence="None stated for the texts; the articles are CNN's and the Daily Mail's",
        protocol="Each summary is rated from 1 to 5 on coherence, consistency, fluency and relevance",
        annotators="Three experts and, for most systems, five crowd workers per summary",
    ),
)
MSCOCO = Profile(
    output_language="en",
    images=True,
    judgments="thumb",
    judged_person_is_reference=True,
    canonical={"CIDEr": "CIDEr-D"},
    metrics=("METEOR", "CharacTER", "CIDEr-D"),
    card=DataCard(
        title="MSCOCO image captioning",
        task="Describe a photograph in one sentence",
        source=f"{_SOURCE}; ratings and references: https://github.com/jungokasai/THumB",
        citation=f"{_PAPER}; Kasai et al. (2022): Transparent Human Evaluation for Image Captioning; images and "
        "references: Lin et al. (2014), Chen et al. (2015)",
        licence="None stated for the texts; the images are Flickr users'",
        protocol="THumB 1.0: precision and recall from 1 to 5, with penalties for fluency, inclusive language and "
        "conciseness",
        annotators="Annotators who follow the THumB rubric",
    ),
)


def profile_of(board: str) -> Profile:
    """What is known of a board, by its public name."""
    if board == "cnndm":
        return CNNDM
    if board == "mscoco":
        return MSCOCO
    pair = re.fullmatch(r"wmt(\d\d)-([a-z]{2,3})-([a-z]{2,3})", board)
    return Profile() if pair is None else _wmt(pair[1], pair[2], pair[3])


def _wmt(year: str, source: str, target: str) -> Profile:
    names = f"{LANGUAGES.get(source, source)} to {LANGUAGES.get(target, target)}"
    card = DataCard(
        title=f"WMT{year} news translation, {names}",
        task=f"Translate news from {names}, segment by segment",
        source=f"{_SOURCE}; judgments: https://github.com/google/wmt-mqm-human-evaluation",
        citation=f"{_PAPER}; Freitag et al. (2021): Experts, Errors, and Context; WMT{year} news translation task",
        licence="None stated for the texts; the MQM ratings are Apache-2.0",
        protocol="MQM: errors are marked in document context with category and severity, and weighted",
        annotators="Professional translators; the release averages over them",
    )
    return Profile(
        input_language=source, output_language=target, documents=True, domain="news", judgments="mqm", card=card
    )
