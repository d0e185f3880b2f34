"""A test set in the layout of mt-metrics-eval v2 (google-research/mt-metrics-eval), for one language pair; both ways.

    sources/LP.txt, references/LP.NAME.txt, system-outputs/LP/SYSTEM.txt      a line per segment
    documents/LP.docs                                                         domain, document
    human-scores/LP.NAME.seg.score, metric-scores/LP/METRIC-REF.seg.score     system, score or None, in line order
    human-scores/LP.NAME.merged.seg.rating, LP.NAME.rater1.seg.rating         system, errors as JSON or None, rater

Lines have no ids there, so the n-th segment of a document gets the id `DOCUMENT::n`. REF names the references a metric
used, joined by dots, or is `all`, or `src` for none. A system that bears a reference's name is that reference.

Years differ: some have no documents, no judgments of segments, or scores of systems and against references whose texts
are not there. What can't be used is left out with a note; what can't be read is refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from billboards.board import (
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Judgments,
    Outputs,
    Reference,
    Texts,
)
from billboards.board.judgment_sources import Imported
from billboards.board.judgments import JudgmentColumns
from billboards.board.names import folder_order, is_human
from billboards.board.writing import new_folder, write_lines
from billboards.errors import ImportRefused, InvalidInput, UnknownName
from billboards.importers._assembling import (
    Floats,
    board_name,
    check_name,
    default_metrics,
    generator_rows,
    in_folder_order,
    is_statistic,
    score_column,
)
from billboards.importers._importer import importer
from billboards.reading import (
    Problems,
    check_ended,
    lacks_line_end,
    numbered_lines,
    read_number,
    read_source,
    refuse_errors,
    shown,
    some,
)

#: How the layout writes an output that was never given.
NO_TRANSLATION = "[No translation supplied]"
#: The findings of the WMT metrics tasks, by their year.
_CITATIONS = {
    "19": "Ma et al. (2019): Results of the WMT19 Metrics Shared Task",
    "20": "Mathur et al. (2020): Results of the WMT20 Metrics Shared Task",
    "21": "Freitag et al. (2021): Results of the WMT21 Metrics Shared Task",
    "22": "Freitag et al. (2022): Results of WMT22 Metrics Shared Task",
    "23": "Freitag et al. (2023): Results of WMT23 Metrics Shared Task",
    "24": "Freitag et al. (2024): Are LLMs Breaking MT Metrics? Results of the WMT24 Metrics Shared Task",
    "25": "Lavie et al. (2025): Findings of the WMT25 Shared Task on Automated Translation Evaluation Systems",
}
#: Which human scores rank where several are there: as mt-metrics-eval chooses for segments, year by year.
_RANKING = ("mqm", "esa", "da-sqm", "wmt", "wmt-appraise", "wmt-raw", "wmt-z", "psqm", "csqm", "da")
#: What a human score means, by how its name begins.
_DEFINITIONS = {
    "mqm": "Minus the weighted errors that professional translators marked in context; 0 is a text without errors.",
    "da-sqm": "Direct assessment with scalar quality metrics: how good is the translation, from 0 to 100?",
    "esa": "Error span annotation: after marking errors, how good is the translation, from 0 to 100?",
    "wmt-appraise": "Direct assessment: how well does the translation convey the input, from 0 to 100?",
    "wmt-raw": "Direct assessment: how well does the translation convey the input or reference, from 0 to 100?",
    "wmt-z": "Direct assessment, standardised by annotator.",
    "wmt": "Direct assessment as the WMT translation task collected it.",
    "psqm": "Scalar quality metric by professional translators, from 0 to 6, in context.",
    "csqm": "Scalar quality metric by crowd workers, from 0 to 6, in context.",
    "da": "Direct assessment: how well does the translation convey the input, from 0 to 100?",
}


@importer()
def mtme(
    source: Path,
    *,
    language_pair: Annotated[str | None, "such as en-de; needed where the test set holds several"] = None,
    test_set: Annotated[str | None, "such as wmt23, where the folder holds several test sets"] = None,
    judgments: Annotated[str | None, "the human scores that rank, such as mqm"] = None,
    name: Annotated[str | None, "the board's name (default: folder and language pair)"] = None,
) -> Imported:
    """A test set in the mt-metrics-eval layout of any year, for one language pair."""
    source = _test_set(source, test_set, language_pair)
    pair = _language_pair(source, language_pair)
    notes: list[str] = []
    instances = _read_instances(source, pair, notes)
    texts = _read_outputs(source, pair, len(instances), notes)
    references = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    generators = {
        system: Generator(system, kind="human" if system in references or _is_human(system) else "machine")
        for system in texts
    }
    rows = generator_rows(generators, instances, texts)
    systems = [row.name for row in rows]
    human = _read_human_scores(source, pair, systems, len(instances), notes)
    marked = _read_ratings(source, pair, human, systems, len(instances), notes)
    columns = _read_metrics(source, pair, systems, len(instances), references, notes)
    input_language, _, output_language = pair.partition("-")
    board = Board(
        name=board_name(name or _default_name(source, pair)),
        instances=instances,
        rows=rows,
        judgments=_judgments(human, rows, marked),
        dimensions={name: Dimension(name, definition=definition_of(name)) for name in human},
        ranks=_ranking(human, judgments),
        metrics=default_metrics(instances),
        imported=columns,
        input_language=_language(input_language),
        output_language=_language(output_language),
        card=card_of(source, pair),
    )
    return Imported(board, (*_notes(source, pair, board), *notes))


def _is_human(system: str) -> bool:
    """Whether a system's name says that people wrote it, though no reference bears the name."""
    return is_human(re.sub(r"\.\d+$", "", system)) or re.fullmatch(r"ref[-_.]?[A-Za-z]?", system) is not None


def _language(code: str) -> str:
    """A language without its country or script: `sr_Cyrl_RS` is sr."""
    return code.partition("_")[0]


def _test_set(source: Path, wanted: str | None, pair: str | None) -> Path:
    """The folder of a test set: the one given, or one of those below it."""
    if (source / "sources").is_dir():
        return source
    below = sorted({path.parent for depth in ("*", "*/*") for path in source.glob(f"{depth}/sources")})
    if not below:
        unpack = "; unpack it first" if source.is_file() else ""
        raise ImportRefused(
            f"{source}: has no sources/LANGUAGE-PAIR.txt; give a test set's folder, such as wmt23{unpack}"
        )
    names = {folder.name: folder for folder in below}
    if wanted is not None:
        if wanted not in names:
            raise UnknownName("test set", wanted, names)
        return names[wanted]
    having = [folder for folder in below if pair is None or (folder / "sources" / f"{pair}.txt").is_file()]
    if len(having) != 1:
        what = f"the pair {pair}" if pair else "language pairs"
        listed = some([folder.name for folder in having or below], 12)
        raise ImportRefused(f"{source}: {len(having)} test sets hold {what}: {listed}; choose with --test-set")
    return having[0]


def _language_pair(source: Path, wanted: str | None) -> str:
    pairs = sorted(path.stem for path in (source / "sources").glob("*.txt"))
    if not pairs:
        raise ImportRefused(f"{source}: has no sources/LANGUAGE-PAIR.txt; give a test set's folder, such as wmt23")
    if wanted is None and len(pairs) > 1:
        raise ImportRefused(f"{source}: holds {len(pairs)} language pairs, {some(pairs)}; choose with --language-pair")
    if wanted is not None and wanted not in pairs:
        raise UnknownName("language pair", wanted, pairs)
    return wanted or pairs[0]


def _read_instances(source: Path, pair: str, notes: list[str]) -> tuple[Instance, ...]:
    problems = Problems()
    inputs = _read_texts(source / "sources" / f"{pair}.txt", None, problems, notes) or []
    references: dict[str, list[str]] = {}
    for path in sorted((source / "references").glob(f"{pair}.*.txt")):
        name = path.name.removeprefix(f"{pair}.").removesuffix(".txt")
        check_name("reference", name, f"references/{path.name}", None, problems)
        if (texts := _read_texts(path, len(inputs), problems, notes)) is not None:
            references[name] = texts
    documents = _read_documents(source / "documents" / f"{pair}.docs", len(inputs), problems, notes)
    refuse_errors(problems)
    return tuple(
        Instance(
            key,
            references=tuple(
                Reference(n, text) for n, texts in references.items() if (text := texts[k]) != NO_TRANSLATION
            ),
            input=inputs[k],
            document=document,
            domain=domain,
        )
        for k, (key, domain, document) in enumerate(documents)
    )


def _read_texts(path: Path, count: int | None, problems: Problems, notes: list[str]) -> list[str] | None:
    """A line per segment, as many as the sources have; None, with a note, where there are more or fewer."""
    raw = read_source(path)
    if lacks_line_end(raw):
        notes.append(f"{path}: the last line has no line end; make sure that the file is complete")
    lines = [line for _, line in numbered_lines(raw, str(path), problems)]
    if not any(line.strip() for line in lines) and not problems.errors:
        problems.error(str(path), 1, "holds empty lines only; fetch the file again")
    if count is None or len(lines) == count:
        return lines
    if len(lines) > count and not any(line.strip() for line in lines[count:]):
        notes.append(f"{path}: {len(lines) - count} empty lines at the end were left out")
        return lines[:count]
    if not problems.errors:
        notes.append(f"{path}: left out, as it has {len(lines)} lines where the sources have {count}")
    return None


def _read_documents(
    path: Path, count: int, problems: Problems, notes: list[str]
) -> list[tuple[str, str | None, str | None]]:
    """The id, domain and document of each segment; without the file, segments are numbered."""
    lines = _read_texts(path, count, problems, notes) if path.is_file() else None
    if lines is None:
        return [(str(k), None, None) for k in range(1, count + 1)]
    seen: Counter[str] = Counter()
    segments: list[tuple[str, str | None, str | None]] = []
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            problems.error(str(path), number, f"must hold a domain and a document; found {shown(line)}")
            continue
        document = cells[min(1, len(cells) - 1)]
        seen[document] += 1
        segments.append((f"{document}::{seen[document]}", cells[0] if len(cells) > 1 else None, document))
    return segments


def _read_outputs(source: Path, pair: str, count: int, notes: list[str]) -> dict[str, Texts]:
    problems = Problems()
    folder = source / "system-outputs" / pair
    outputs: dict[str, Texts] = {}
    for path in sorted(folder.glob("*.txt")):
        check_name("generator", path.stem, str(path), None, problems)
        lines = _read_texts(path, count, problems, notes)
        if lines is not None:
            outputs[path.stem] = tuple(None if line.strip() == NO_TRANSLATION else line for line in lines)
    refuse_errors(problems)
    if not outputs:
        raise ImportRefused(f"{folder}: holds no system output such as SYSTEM.txt with {count} lines")
    return outputs


def _read_human_scores(
    source: Path, pair: str, systems: Sequence[str], count: int, notes: list[str]
) -> dict[str, dict[str, Floats]]:
    files, problems = _score_files(source / "human-scores", f"{pair}."), Problems()
    for name, path in files.items():
        check_name("campaign", name, str(path), None, problems)
    refuse_errors(problems)
    human = {name: _read_scores(files[name], systems, count, notes) for name in sorted(files, key=folder_order)}
    for name in [name for name, scores in human.items() if not _any_score(scores)]:
        notes.append(f"{files[name]}: left out, as it has no score of a system whose outputs are here")
        del human[name]
    return human


def _any_score(scores: Mapping[str, Floats]) -> bool:
    return any(np.isfinite(values).any() for values in scores.values())


def _read_metrics(
    source: Path, pair: str, systems: Sequence[str], count: int, references: tuple[str, ...], notes: list[str]
) -> tuple[ImportedColumn, ...]:
    columns, problems, unknown = [], Problems(), dict[str, str]()
    for name, path in _score_files(source / "metric-scores" / pair, "").items():
        used = _references_used(name, references)
        check_name("scores", name, str(path), None, problems)
        scores = _read_scores(path, systems, count, notes)
        if not _any_score(scores):
            notes.append(f"{path}: left out, as it has no score of a system whose outputs are here")
            continue
        if used is None:
            unknown[name] = name.rpartition("-")[2]
        columns.append(
            score_column(
                name,
                scores,
                references=used or (),
                needs_references=used != (),
                needs_input=used == (),
                is_statistic=is_statistic(name.removesuffix("-src")),
            )
        )
    refuse_errors(problems)
    if unknown:
        absent = some(sorted(set(unknown.values())))
        notes.append(f"scores of {some(unknown)} name references that are not here ({absent}): they stay unknown")
    return in_folder_order(columns)


def _score_files(folder: Path, prefix: str) -> dict[str, Path]:
    """Files of segment scores by the name of what they hold, plain or gzipped."""
    files: dict[str, Path] = {}
    for path in sorted((*folder.glob(f"{prefix}*.seg.score"), *folder.glob(f"{prefix}*.seg.score.gz"))):
        name = path.name.removeprefix(prefix).removesuffix(".gz").removesuffix(".seg.score")
        if name in files:
            raise ImportRefused(f"{folder}: holds {files[name].name} and {path.name}; keep one of them")
        files[name] = path
    return files


def _references_used(name: str, references: tuple[str, ...]) -> tuple[str, ...] | None:
    """The references that a metric's name says it used, none for `src`; None where one of them is not here."""
    _, dash, used = name.rpartition("-")
    if dash and used == "src":
        return ()
    names = references if used == "all" else tuple(used.split("."))
    if not dash or not names or not set(names) <= set(references):
        return None
    return tuple(reference for reference in references if reference in names)


def _read_scores(path: Path, systems: Sequence[str], count: int, notes: list[str]) -> dict[str, Floats]:
    """Each system's scores in the order of its lines, NaN for None; of systems that are here, with every segment."""
    problems, names = Problems(), set(systems)
    raw = read_source(path)
    check_ended(raw, str(path), problems)
    by_system: dict[str, list[float]] = {}
    for number, line in numbered_lines(raw, str(path), problems):
        cells = line.split()
        if len(cells) != 2:
            if cells:
                problems.error(str(path), number, f"must hold a system and a score; found {shown(line)}")
            continue
        by_system.setdefault(cells[0], []).append(read_number(cells[1], "score", str(path), number, problems))
    if not by_system and not problems.errors:
        problems.error(str(path), 1, "holds no score; fetch the file again")
    refuse_errors(problems)
    if absent := [system for system in by_system if system not in names]:
        notes.append(f"{path}: left out scores of {some(absent)}: no outputs in system-outputs/")
    cut = {system: len(s) for system, s in by_system.items() if system in names and len(s) != count}
    for system, length in cut.items():
        notes.append(f"{path}: left out {length} scores of {system}, as there are {count} segments")
    return {system: np.array(scores) for system, scores in by_system.items() if system in names and system not in cut}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Marked:
    """What one rater marked in one output."""

    rater: str | None
    spans: tuple[dict[str, Any], ...]
    total: float


#: Ratings by human score, system and segment.
_Ratings = dict[tuple[str, str, int], list[_Marked]]


def _read_ratings(
    source: Path, pair: str, human: Mapping[str, Any], systems: Sequence[str], count: int, notes: list[str]
) -> _Ratings:
    """Errors that were marked, by the human score they led to."""
    ratings: _Ratings = {}
    unused = []
    folder = source / "human-scores"
    for path in sorted((*folder.glob(f"{pair}.*.seg.rating"), *folder.glob(f"{pair}.*.seg.rating.gz"))):
        written = path.name.removeprefix(f"{pair}.").removesuffix(".gz").removesuffix(".seg.rating")
        name, _, last = written.rpartition(".")
        rater = last if last.startswith("rater") else None
        if not (name and (rater or last == "merged")):
            name = written
        if name in human:
            _read_rating_file(path, name, rater, set(systems), count, ratings, notes)
        else:
            unused.append(path.name)
    if unused:
        notes.append(f"{folder}: error spans without scores of segments were left out: {some(unused)}")
    return ratings


def _read_rating_file(
    path: Path, name: str, rater: str | None, systems: set[str], count: int, ratings: _Ratings, notes: list[str]
) -> None:
    problems, seen = Problems(), Counter[str]()
    collected: list[tuple[str, int, _Marked]] = []
    for number, line in numbered_lines(read_source(path), str(path), problems):
        system, tab, rest = line.partition("\t")
        written, _, who = rest.partition("\t")
        if not tab:
            if line.strip():
                problems.error(str(path), number, f"must hold a system, a tab and a rating; found {shown(line)}")
            continue
        if written != "None" and system in systems:
            marked = _marked(written, who.strip() or rater, str(path), number, problems)
            collected.append((system, seen[system], marked))
        seen[system] += 1
    refuse_errors(problems)
    if cut := [system for system, lines in seen.items() if system in systems and lines != count]:
        notes.append(f"{path}: left out the error spans of {some(cut)}: not as many as there are segments")
    for system, k, marked in collected:
        if seen[system] == count:
            ratings.setdefault((name, system, k), []).append(marked)


def _marked(written: str, rater: str | None, path: str, number: int, problems: Problems) -> _Marked:
    try:
        rating = json.loads(written)
        errors = rating["errors"]
        spans = tuple(_span(error) for error in errors)
        total = sum(float(error.get("score") or 0.0) for error in errors)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        problems.error(path, number, f'must hold None or {{"errors": […]}}; found {shown(written)} ({error})')
        return _Marked(rater=rater, spans=(), total=0.0)
    return _Marked(rater=None if rater == "None" else rater, spans=spans, total=total)


def _span(error: Mapping[str, Any]) -> dict[str, Any]:
    """An error as judgments here have it; what was left out is marked in the source."""
    start, end = error.get("start"), error.get("end")
    is_placed = type(start) is int and type(end) is int and 0 <= start <= end
    place = {"start": start, "end": end} if is_placed else {}
    named = {key: str(error[key]) for key in ("category", "severity") if error.get(key) is not None}
    for text in named.values():
        text.encode()  # half a character, which JSON can write, is refused here
    return {**place, **named, **({"missing": True} if error.get("is_source_error") else {})}


def _judgments(human: Mapping[str, Mapping[str, Floats]], rows: Sequence[Outputs], marked: _Ratings) -> Judgments:
    """Each human score as one judgment in a campaign of its name, with the errors that were marked.

    A rater is named where one alone rated an output, and the score follows from the errors.
    """
    columns = JudgmentColumns(tuple(human))
    for name, scores in human.items():
        for r, row in enumerate(rows):
            values = scores.get(row.name, np.empty(0))
            for k in np.flatnonzero(~np.isnan(values)):
                value = float(values[k]) + 0.0
                ratings = marked.get((name, row.name, int(k)), [])
                spans = [
                    {**span, "rater": rating.rater} if len(ratings) > 1 and rating.rater else span
                    for rating in ratings
                    for span in rating.spans
                ]
                alone = len(ratings) == 1 and abs(ratings[0].total + value) < 1e-6
                columns.add(
                    int(k),
                    r,
                    {name: value},
                    annotator=ratings[0].rater if alone else None,
                    campaign=name,
                    details={"spans": spans} if spans else None,
                )
    return columns.build()


def _ranking(human: Iterable[str], wanted: str | None) -> str | None:
    names = list(human)
    if wanted is not None and wanted not in names:
        raise UnknownName("human score", wanted, names)
    if wanted is not None:
        return wanted
    return next((name for name in _RANKING if name in names), next(iter(names), None))


def definition_of(human: str) -> str | None:
    """What a human score of a known name means."""
    return next((text for prefix, text in _DEFINITIONS.items() if human.startswith(prefix)), None)


def card_of(source: Path, pair: str) -> DataCard:
    """The facts of a test set; whom to cite only where its folder's name tells the year."""
    folder = source.resolve().name
    year = re.search(r"wmt(\d\d)", folder)
    return DataCard(
        title=f"{folder}: {pair}",
        task="Translate, segment by segment",
        source="https://github.com/google-research/mt-metrics-eval",
        licence="None stated for the texts and judgments; mt-metrics-eval is Apache-2.0",
        citation=_CITATIONS.get(year[1]) if year else None,
        protocol="As named by each campaign; one score per output, which may be a mean over annotators",
        annotators="Not named by the layout; the paper to cite says who they were",
        comments="Systems named as references are those references.",
    )


def _default_name(source: Path, pair: str) -> str:
    folder = re.sub(r"[^\w.-]+", "-", source.resolve().name)
    return folder if folder.endswith(pair) else f"{folder}-{pair}"


def _notes(source: Path, pair: str, board: Board) -> Iterator[str]:
    yield (
        "instances are named DOCUMENT::n, the n-th segment of its document"
        if any(instance.document for instance in board.instances)
        else "there is no documents file: instances are named by line number"
    )
    yield "system- and domain-level scores were not read: they follow from segment scores"
    if spans := sum(len(detail.get("spans", ())) for detail in board.judgments.details.values()):
        yield f"{spans:,} error spans of {len(board.judgments.details):,} outputs came along"
    if len(board.dimensions) > 1:
        others = some([name for name in board.dimensions if name != board.ranks])
        yield f"{board.ranks} ranks; {others} can be chosen with --judgments or as `ranks` in board.toml"
    columns = {column.source_name for column in board.imported}
    files = (source / "metric-scores" / pair).glob("*.sys.score*")
    system_only = sorted({path.name.partition(".sys.score")[0] for path in files} - columns)
    if system_only:
        yield f"no segment scores, so not imported: {some(system_only)}"
    for column in board.imported:
        missing = sum(int(np.isnan(scores).sum()) for scores in column.values.values())
        if missing:
            yield f"{missing} scores of {column.source_name} are None; they stay missing"


def export_board(board: Board, target: Path, *, language_pair: str | None = None, replace: bool = False) -> Path:
    """Write a board as a test set of this layout, with its judgments' means and imported scores; all of it or nothing.

    References and the people who wrote them lose dashes and dots from their names, which the layout forbids there.
    """
    pair = _pair_of(board, language_pair)
    names = _layout_names(board)
    with new_folder(target, replace=replace, mark="sources") as root:
        write_lines(root / "sources" / f"{pair}.txt", _source_lines(board))
        write_lines(root / "documents" / f"{pair}.docs", _document_lines(board))
        for reference in board.reference_names:
            lines = _text_lines(board, f"reference {reference}", _reference_column(board, reference))
            write_lines(root / "references" / f"{pair}.{names[reference]}.txt", lines)
        for row in board.rows:
            lines = _text_lines(board, f"generator {row.name}", row.texts)
            write_lines(root / "system-outputs" / pair / f"{names[row.name]}.txt", lines)
        for name, human, chosen in _human_columns(board):
            _write_scores(root / "human-scores" / f"{pair}.{name}", human, names)
            _write_spans(root / "human-scores" / f"{pair}.{name}.merged.seg.rating", board, human, chosen, names)
        for column in board.imported:
            path = root / "metric-scores" / pair / _metric_name(column, board, names)
            _write_scores(path, column.values, names)
    return target


def _pair_of(board: Board, wanted: str | None) -> str:
    pair = wanted or f"{board.input_language or ''}-{board.output_language or ''}"
    if not re.fullmatch(r"[^\s/.-]+-[^\s/.]+", pair):
        raise InvalidInput(f"board {board.name}: {pair!r} is no language pair; give one such as en-de")
    return pair


def _layout_names(board: Board) -> dict[str, str]:
    """The name of every system and reference in the layout."""
    for row in board.rows:
        if row.generator is None:
            raise InvalidInput(f"board {board.name}: has outputs without a generator, for which mtme has no place")
    names = {row.name: row.name for row in board.rows}
    names |= {reference: re.sub(r"[-.]", "_", reference) for reference in board.reference_names}
    for name in names.values():
        if re.search(r"[\s/]", name) or name in ("", "all", "src"):
            raise InvalidInput(f"board {board.name}: {name!r} can't be a name in mtme's layout; rename it first")
    twice = [name for name, count in Counter(names.values()).items() if count > 1]
    if twice:
        raise InvalidInput(f"board {board.name}: two systems or references would be named {twice[0]!r}; rename one")
    return names


def _source_lines(board: Board) -> Iterator[str]:
    for instance in board.instances:
        if instance.input is None:
            raise InvalidInput(f"board {board.name}: instance {instance.id!r} has no input text, which mtme needs")
        yield _one_line(instance.input, f"the input of {instance.id!r}")


def _document_lines(board: Board) -> Iterator[str]:
    for instance in board.instances:
        cells = (instance.domain or "all", instance.document or "all")
        if any(len(cell.split()) != 1 for cell in cells):
            raise InvalidInput(f"instance {instance.id!r}: mtme allows no blanks in domain and document; found {cells}")
        yield "\t".join(cells)


def _reference_column(board: Board, name: str) -> Texts:
    return tuple(next((r.text for r in i.references if r.name == name), None) for i in board.instances)


def _text_lines(board: Board, whose: str, texts: Texts) -> Iterator[str]:
    for instance, text in zip(board.instances, texts, strict=True):
        yield NO_TRANSLATION if text is None else _one_line(text, f"the text of {whose} on {instance.id!r}")


def _one_line(text: str, what: str) -> str:
    if "\n" in text or "\r" in text:
        raise InvalidInput(f"{what} holds a line end, and mtme keeps one text per line; remove it first")
    return text


def _human_columns(board: Board) -> Iterator[tuple[str, dict[str, Floats], NDArray[np.bool_]]]:
    """The means of each dimension, apart for each campaign where several judged it; higher is better.

    Beside them stands which judgments they are of.
    """
    shape = (len(board.rows), len(board.instances))
    whole = not board.judgments.campaigns or bool((board.judgments.campaign < 0).any())
    for dimension in board.dimensions.values():
        sign = 1.0 if dimension.higher_is_better else -1.0
        groups = [None] if whole else [(campaign,) for campaign in board.judgments.campaigns]
        by_campaign = {group: board.judgments.means(dimension, shape, group) * sign for group in groups}
        by_campaign = {group: means for group, means in by_campaign.items() if not np.isnan(means).all()}
        for group, means in by_campaign.items():
            name = dimension.name if len(by_campaign) == 1 or group is None else f"{group[0]}-{dimension.name}"
            judged = {row.name: m for row, m in zip(board.rows, means, strict=True) if not np.isnan(m).all()}
            used = board.judgments.counted(group) & np.isfinite(board.judgments.on(dimension))
            yield re.sub(r"[\s/]+", "_", name), judged, used


def _metric_name(column: ImportedColumn, board: Board, names: Mapping[str, str]) -> str:
    base = re.sub(r"[\s/]+", "_", column.source_name)
    if not column.needs_references:
        return base if base.endswith("-src") else f"{base}-src"
    if not column.references:
        raise InvalidInput(f"scores {column.source_name}: it is not known which references were used; mtme needs it")
    used = ".".join(names[reference] for reference in column.references)
    endings = [used, "all"] if column.references == board.reference_names else [used]
    return base if any(base.endswith(f"-{ending}") for ending in endings) else f"{base}-{used}"


def _write_scores(stem: Path, scores: Mapping[str, Floats], names: Mapping[str, str]) -> None:
    """Segment scores, and beside them each system's mean over the segments that have one."""
    if stem.with_name(f"{stem.name}.seg.score").exists():
        raise InvalidInput(f"two columns of scores would be named {stem.name} in mtme's layout; rename one")
    segments = (f"{names[system]}\t{_cell(score)}" for system, values in scores.items() for score in values)
    write_lines(stem.with_name(f"{stem.name}.seg.score"), segments)
    means = (f"{names[system]}\t{_cell(_mean(values))}" for system, values in scores.items())
    write_lines(stem.with_name(f"{stem.name}.sys.score"), means)


def _write_spans(
    path: Path, board: Board, human: Mapping[str, Floats], chosen: NDArray[np.bool_], names: Mapping[str, str]
) -> None:
    """The errors that were marked in each output, of all annotators together; nothing where none were."""
    errors: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for k, detail in sorted(board.judgments.details.items()):
        if chosen[k] and detail.get("spans"):
            cell = board.rows[board.judgments.row[k]].name, int(board.judgments.instance[k])
            errors.setdefault(cell, []).extend(_error(span) for span in detail["spans"] if isinstance(span, dict))
    if not errors:
        return
    write_lines(
        path,
        (
            f"{names[system]}\t" + ("None" if np.isnan(score) else json.dumps({"errors": errors.get((system, k), [])}))
            for system, scores in human.items()
            for k, score in enumerate(scores)
        ),
    )


def _error(span: Mapping[str, Any]) -> dict[str, Any]:
    place = {"start": span.get("start"), "end": span.get("end")}
    named = {"category": span.get("category"), "severity": span.get("severity")}
    return {**place, **named, "score": None, "is_source_error": bool(span.get("missing"))}


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def _cell(score: float) -> str:
    return "None" if np.isnan(score) else repr(float(score))
