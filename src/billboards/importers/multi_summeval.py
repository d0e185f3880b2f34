"""Multi-SummEval (Koto et al., 2021): two systems' summaries in eight languages, rated for focus and coverage.

A clone holds `resulting_data/LANG/{gold,pred_BERT,pred_PG}/ID`, and below `mturk/` or beside it
`annotation_result/LANG/` with `human_focus_final.csv`, `human_coverage_final.csv` (`id`, `model`, `score`) and
`analysis_clean.csv` with every worker's standardised scores. Where the latter folder is missing, the mean scores in
`resulting_data/LANG/score.csv` (`id`, `model`, `focus`, `coverage`) are read. The texts may also come as one file
`texts.jsonl` (`lang`, `doc_id`, `gold`, `pred_BERT`, `pred_PG`).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from billboards.board import DataCard, Dimension, Generator, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.board.pseudonyms import is_platform_id
from billboards.errors import ImportRefused, UnknownName
from billboards.importers._assembling import (
    assemble,
    check_name,
    counts,
    read_cells,
    refuse_twice,
    rows_of_generators,
    text_in,
    value_within,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, is_number, json_lines, read_source, refuse_errors, shown

CAMPAIGN = "mturk"
LANGUAGES = {
    "DE": "German",
    "EN": "English",
    "ES": "Spanish",
    "FR": "French",
    "ID": "Indonesian",
    "RU": "Russian",
    "TR": "Turkish",
    "ZH": "Mandarin Chinese",
}
FOCUS = Dimension(
    "focus", definition="Precision: how much of what the summary says the reference says, standardised by worker."
)
COVERAGE = Dimension(
    "coverage", definition="Recall: how much of what the reference says the summary says, standardised by worker."
)
MODELS = {
    "BERT": Generator("BERT", description="BERT-based extractive or abstractive summariser"),
    "PG": Generator("PG", description="Pointer-generator network"),
}
CARD = DataCard(
    title="Multi-SummEval",
    task="Summarise a news article",
    source="https://github.com/fajri91/Multi_SummEval",
    licence="None stated",
    citation="Koto, Lau and Baldwin (2021): Evaluating the Efficacy of Summarization Evaluation across Languages, "
    "Findings of ACL",
    protocol="Workers saw a system's summary and the reference, without the article, and said on a slider from 1 to "
    "100 how much of the one the other holds; scores are standardised by worker",
    annotators="Three workers of Amazon Mechanical Turk per summary and dimension, native speakers who passed 7 of 10 "
    "quality checks",
    comments="The release has no articles. Means of the workers' scores are the published scores.",
)
_TOLERANCE = 1e-6
#: What a worker scored: the language (English is written as its corpus), the document, the direction and the system.
_KEY = re.compile(r"([A-Z]+)-(.+)-(REFERENCE-SYSTEM|SYSTEM-REFERENCE)-(BERT|PG)")
ENGLISH_CORPUS = "CNNDM"

Texts = Mapping[str, str]
Judged = tuple[str, str, str]


@importer(card=CARD)
def multi_summeval(
    source: Path,
    *,
    language: Annotated[str | None, "one of DE, EN, ES, FR, ID, RU, TR, ZH (default: all on one board)"] = None,
) -> Imported:
    """Multi-SummEval: summaries in eight languages, rated for focus and coverage.

    Where all languages stand on one board, the language is the domain.
    """
    codes = _languages(source)
    if language is not None and language.upper() not in codes:
        raise UnknownName("language", language, codes)
    wanted = codes if language is None else (language.upper(),)
    problems, notes = Problems(), list[str]()
    texts = _texts(source, wanted, problems)
    judgments = [judgment for code in wanted for judgment in _judgments(source, code, texts, problems, notes)]
    refuse_errors(problems)
    instances = tuple(
        Instance(key, references=(Reference("gold", text_of["gold"]),), domain=key[:2].lower())
        for key, text_of in texts.items()
    )
    outputs = {model: {key: text_of[f"pred_{model}"] for key, text_of in texts.items()} for model in MODELS}
    name = "multi-summeval" if language is None else f"multi-summeval-{language.lower()}"
    code = None if language is None else language.lower()
    board = assemble(
        name,
        instances,
        rows_of_generators(instances, outputs, MODELS),
        judgments,
        dimensions=(FOCUS, COVERAGE),
        ranks=FOCUS.name,
        input_language=code,
        output_language=code,
        card=_card(wanted, language),
    )
    return Imported(board, (counts(source, board), *notes))


def _card(wanted: tuple[str, ...], language: str | None) -> DataCard:
    """What differs from language to language."""
    languages = ", ".join(LANGUAGES.get(code, code) for code in wanted)
    return DataCard(title=f"{CARD.title}: {languages}" if language else CARD.title, languages=languages)


def _languages(source: Path) -> tuple[str, ...]:
    folders = (path.name for path in _results(source).iterdir() if path.is_dir())
    return tuple(sorted(name for name in folders if re.fullmatch("[A-Z]{2}", name)))


def _results(source: Path) -> Path:
    """The folder with a folder of scores for each language."""
    if not source.exists():
        raise ImportRefused(f"{source}: no such file or folder; it should hold a clone of fajri91/Multi_SummEval")
    for name in ("mturk/annotation_result", "annotation_result", "resulting_data"):
        if (source / name).is_dir():
            return source / name
    raise ImportRefused(
        f"{source}: holds neither annotation_result nor resulting_data; give a clone of fajri91/Multi_SummEval"
    )


def _texts(source: Path, wanted: tuple[str, ...], problems: Problems) -> dict[str, Texts]:
    """The three texts of every document, by language and id."""
    listed = source / "texts.jsonl"
    texts = _listed_texts(listed, wanted, problems) if listed.exists() else _single_texts(source, wanted)
    for key in texts:
        check_name("instance", key, str(listed if listed.exists() else source), None, problems)
    return {key: texts[key] for key in sorted(texts)}


def _listed_texts(path: Path, wanted: tuple[str, ...], problems: Problems) -> dict[str, Texts]:
    texts: dict[str, Texts] = {}
    seen: dict[str, int] = {}
    for line, item in json_lines(read_source(path), str(path), problems):
        fields = {
            key: text_in(item, key, str(path), line, problems).strip()
            for key in ("lang", "doc_id", "gold", "pred_BERT", "pred_PG")
        }
        key = f"{fields['lang']}-{fields['doc_id']}"
        refuse_twice(seen, key, f"document {shown(key)}", str(path), line, problems)
        if fields["lang"] in wanted:
            texts[key] = fields
    return texts


def _single_texts(source: Path, wanted: tuple[str, ...]) -> dict[str, Texts]:
    texts: dict[str, Texts] = {}
    for code in wanted:
        folder = source / "resulting_data" / code
        for path in sorted((folder / "gold").glob("[!.]*")):
            files = {kind: folder / kind / path.name for kind in ("gold", "pred_BERT", "pred_PG")}
            texts[f"{code}-{path.name}"] = {kind: _whole(file) for kind, file in files.items()}
        if not any(key.startswith(code) for key in texts):
            raise ImportRefused(f"{folder / 'gold'}: holds no texts; give a clone of the Multi_SummEval repository")
    return texts


def _whole(path: Path) -> str:
    try:
        return read_source(path).decode().strip()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{path}:{line}: not UTF-8; fetch the file again") from error


def _judgments(
    source: Path, code: str, texts: Mapping[str, Texts], problems: Problems, notes: list[str]
) -> Iterator[Judgment]:
    """Every worker's scores, which must average to the published ones; these alone where no others are."""
    folder = _results(source) / code
    final = {
        judged: value
        for dimension in (FOCUS, COVERAGE)
        for judged, value in _final(folder, code, dimension, texts, problems, notes)
    }
    every = folder / "analysis_clean.csv"
    if not every.exists():
        notes.append(f"{folder}: only mean scores, no worker's own")
        yield from (_judgment(judged, value, None) for judged, value in final.items())
        return
    ratings: dict[Judged, list[float]] = {}
    for judged, value, worker in _workers(every, code, problems, notes):
        ratings.setdefault(judged, []).append(value)
        # A platform's id names one person in all languages; a number that a copy gave may be another's elsewhere.
        yield _judgment(judged, value, worker if is_platform_id(worker) else f"{code}-{worker}")
    if not problems.errors:
        _compare(every, ratings, final, problems)


def _judgment(judged: Judged, value: float, annotator: str | None) -> Judgment:
    key, model, dimension = judged
    return Judgment(instance=key, outputs=(model,), values={dimension: value}, annotator=annotator, campaign=CAMPAIGN)


def _final(
    folder: Path, code: str, dimension: Dimension, texts: Mapping[str, Texts], problems: Problems, notes: list[str]
) -> Iterator[tuple[Judged, float]]:
    path, column = folder / f"human_{dimension.name}_final.csv", "score"
    if folder.parent.name == "resulting_data":
        path, column = folder / "score.csv", dimension.name
    seen: dict[Judged, int] = {}
    for line, cells in read_cells(path, ("id", "model", column), problems, notes):
        judged = (f"{code}-{cells['id']}", cells["model"], dimension.name)
        refuse_twice(seen, judged, f"{cells['model']} on {cells['id']}", str(path), line, problems)
        if judged[0] not in texts or cells["model"] not in MODELS:
            problems.error(str(path), line, f"there is no text of {shown(cells['model'])} for {shown(judged[0])}")
        yield judged, value_within(cells[column], dimension, str(path), line, problems)
    missing = sorted(key for key in texts for model in MODELS if (key, model, dimension.name) not in seen)
    if any(key.startswith(f"{code}-") for key in missing) and not problems.errors:
        first = next(key for key in missing if key.startswith(f"{code}-"))
        problems.error(str(path), None, f"has no {dimension.name} of {first}; the file may be cut off")


def _workers(path: Path, code: str, problems: Problems, notes: list[str]) -> Iterator[tuple[Judged, float, str]]:
    """What each worker said of each summary, from Python's notation of a dictionary."""
    seen: dict[str, int] = {}
    for line, cells in read_cells(path, ("worker_id", "assignment_id", "annotation_res"), problems, notes):
        refuse_twice(seen, cells["assignment_id"], f"assignment {cells['assignment_id']}", str(path), line, problems)
        try:
            answers = ast.literal_eval(cells["annotation_res"])
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            answers = None
        if not isinstance(answers, dict):
            problems.error(str(path), line, f"annotation_res must hold scores by item; found {shown(answers)}")
            continue
        for item, value in answers.items():
            match = _KEY.fullmatch(str(item))
            own = (code, ENGLISH_CORPUS) if code == "EN" else (code,)
            if match is None or match[1] not in own or not is_number(value):
                problems.error(str(path), line, f"{shown(item)} is no summary with a score; found {shown(value)}")
                continue
            dimension = FOCUS if match[3] == "REFERENCE-SYSTEM" else COVERAGE
            yield (f"{code}-{match[2]}", match[4], dimension.name), float(value), cells["worker_id"]


def _compare(
    path: Path, ratings: Mapping[Judged, list[float]], final: Mapping[Judged, float], problems: Problems
) -> None:
    for judged in sorted(final.keys() | ratings.keys()):
        values = ratings.get(judged, [])
        mean = math.fsum(values) / len(values) if values else math.nan
        if not abs(mean - final.get(judged, math.nan)) <= _TOLERANCE:
            key, model, dimension = judged
            problems.error(
                str(path),
                None,
                f"workers' {dimension} of {model} on {key} is {mean:.4f}, but the published mean "
                f"{final.get(judged, math.nan):.4f}; the file may be cut off",
            )
