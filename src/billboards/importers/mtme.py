"""A test set in the layout of mt-metrics-eval v2 (google-research/mt-metrics-eval), for one language pair; both ways.

    sources/LP.txt, references/LP.NAME.txt, system-outputs/LP/SYSTEM.txt      a line per segment
    documents/LP.docs                                                         domain, document
    human-scores/LP.NAME.seg.score, metric-scores/LP/METRIC-REF.seg.score     system, score or None, in line order

Lines have no ids there, so the n-th segment of a document gets the id `DOCUMENT::n`. REF names the references a metric
used, joined by dots, or is `all`, or `src` for none. A system that bears a reference's name is that reference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np

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
from billboards.board.names import folder_order
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
}
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
    judgments: Annotated[str | None, "the human scores that rank, such as mqm"] = None,
    name: Annotated[str | None, "the board's name (default: folder and language pair)"] = None,
) -> Imported:
    """A test set in the mt-metrics-eval layout, for one language pair."""
    pair = _language_pair(source, language_pair)
    instances = _read_instances(source, pair)
    texts = _read_outputs(source, pair, len(instances))
    references = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    generators = {system: Generator(system, kind="human" if system in references else "machine") for system in texts}
    rows = generator_rows(generators, instances, texts)
    human = _read_human_scores(source, pair, [row.name for row in rows], len(instances))
    columns = _read_metrics(source, pair, [row.name for row in rows], len(instances), references)
    input_language, _, output_language = pair.partition("-")
    board = Board(
        name=board_name(name or _default_name(source, pair)),
        instances=instances,
        rows=rows,
        judgments=_judgments(human, rows),
        dimensions={name: Dimension(name, definition=definition_of(name)) for name in human},
        ranks=_ranking(human, judgments),
        metrics=default_metrics(instances),
        imported=columns,
        input_language=input_language,
        output_language=output_language,
        card=card_of(source, pair),
    )
    return Imported(board, tuple(_notes(source, pair, board)))


def _language_pair(source: Path, wanted: str | None) -> str:
    pairs = sorted(path.stem for path in (source / "sources").glob("*.txt"))
    if not pairs:
        raise ImportRefused(f"{source}: has no sources/LANGUAGE-PAIR.txt; give a test set's folder, such as wmt23")
    if wanted is None and len(pairs) > 1:
        raise ImportRefused(f"{source}: holds {len(pairs)} language pairs, {some(pairs)}; choose with --language-pair")
    if wanted is not None and wanted not in pairs:
        raise UnknownName("language pair", wanted, pairs)
    return wanted or pairs[0]


def _read_instances(source: Path, pair: str) -> tuple[Instance, ...]:
    problems = Problems()
    inputs = _read_texts(source / "sources" / f"{pair}.txt", None, problems)
    references = {
        path.name.removeprefix(f"{pair}.").removesuffix(".txt"): _read_texts(path, len(inputs), problems)
        for path in sorted((source / "references").glob(f"{pair}.*.txt"))
    }
    documents = _read_documents(source / "documents" / f"{pair}.docs", len(inputs), problems)
    for name in references:
        check_name("reference", name, f"references/{pair}.{name}.txt", None, problems)
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


def _read_texts(path: Path, count: int | None, problems: Problems) -> list[str]:
    """A line per segment, as many as the sources have."""
    raw = read_source(path)
    check_ended(raw, str(path), problems)
    lines = [line for _, line in numbered_lines(raw, str(path), problems)]
    if count is not None and len(lines) != count:
        problems.error(str(path), None, f"has {len(lines)} lines where the sources have {count}; cut off?")
        refuse_errors(problems)
    return lines


def _read_documents(path: Path, count: int, problems: Problems) -> list[tuple[str, str | None, str | None]]:
    """The id, domain and document of each segment; without the file, segments are numbered."""
    if not path.is_file():
        return [(str(k), None, None) for k in range(1, count + 1)]
    seen: Counter[str] = Counter()
    segments: list[tuple[str, str | None, str | None]] = []
    for number, line in enumerate(_read_texts(path, count, problems), 1):
        cells = line.split()
        if len(cells) != 2:
            problems.error(str(path), number, f"must hold a domain and a document; found {shown(line)}")
            continue
        seen[cells[1]] += 1
        segments.append((f"{cells[1]}::{seen[cells[1]]}", cells[0], cells[1]))
    return segments


def _read_outputs(source: Path, pair: str, count: int) -> dict[str, Texts]:
    problems = Problems()
    folder = source / "system-outputs" / pair
    outputs: dict[str, Texts] = {}
    for path in sorted(folder.glob("*.txt")):
        check_name("generator", path.stem, str(path), None, problems)
        lines = _read_texts(path, count, problems)
        outputs[path.stem] = tuple(None if line == NO_TRANSLATION else line for line in lines)
    if not outputs:
        raise ImportRefused(f"{folder}: holds no system output such as SYSTEM.txt")
    refuse_errors(problems)
    return outputs


def _read_human_scores(source: Path, pair: str, systems: Sequence[str], count: int) -> dict[str, dict[str, Floats]]:
    files, problems = _score_files(source / "human-scores", f"{pair}."), Problems()
    for name, path in files.items():
        check_name("campaign", name, str(path), None, problems)
    refuse_errors(problems)
    return {name: _read_scores(files[name], systems, count) for name in sorted(files, key=folder_order)}


def _read_metrics(
    source: Path, pair: str, systems: Sequence[str], count: int, references: tuple[str, ...]
) -> tuple[ImportedColumn, ...]:
    columns, problems = [], Problems()
    for name, path in _score_files(source / "metric-scores" / pair, "").items():
        used = _references_used(name, path, references)
        check_name("scores", name, str(path), None, problems)
        columns.append(
            score_column(
                name,
                _read_scores(path, systems, count),
                references=used,
                needs_references=bool(used),
                needs_input=not used,
                is_statistic=is_statistic(name.removesuffix("-src")),
            )
        )
    refuse_errors(problems)
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


def _references_used(name: str, path: Path, references: tuple[str, ...]) -> tuple[str, ...]:
    _, dash, used = name.rpartition("-")
    if dash and used == "src":
        return ()
    names = references if used == "all" else tuple(used.split("."))
    if not dash or not names or not set(names) <= set(references):
        raise ImportRefused(
            f"{path}: must be named METRIC-REF.seg.score with REF a reference ({some(references) or 'none here'}), "
            "several joined by dots, `all`, or `src`"
        )
    return tuple(reference for reference in references if reference in names)


def _read_scores(path: Path, systems: Sequence[str], count: int) -> dict[str, Floats]:
    """Each system's scores in the order of its lines, NaN for None."""
    problems = Problems()
    raw = read_source(path)
    check_ended(raw, str(path), problems)
    by_system: dict[str, list[float]] = {}
    for number, line in numbered_lines(raw, str(path), problems):
        cells = line.split()
        if len(cells) != 2:
            problems.error(str(path), number, f"must hold a system and a score; found {shown(line)}")
            continue
        if cells[0] not in systems and cells[0] not in by_system:
            problems.error(str(path), number, f"system {cells[0]!r} has no file in system-outputs/")
        by_system.setdefault(cells[0], []).append(read_number(cells[1], "score", str(path), number, problems))
    for system, scores in by_system.items():
        if len(scores) != count:
            problems.error(str(path), None, f"has {len(scores)} scores of {system} for {count} segments; cut off?")
    refuse_errors(problems)
    return {system: np.array(scores) for system, scores in by_system.items()}


def _judgments(human: Mapping[str, Mapping[str, Floats]], rows: Sequence[Outputs]) -> Judgments:
    """Each human score as one judgment in a campaign of its name; the layout doesn't say by whom."""
    columns = JudgmentColumns(tuple(human))
    for name, scores in human.items():
        for r, row in enumerate(rows):
            values = scores.get(row.name, np.empty(0))
            for k in np.flatnonzero(~np.isnan(values)):
                columns.add(int(k), r, {name: float(values[k]) + 0.0}, campaign=name)
    return columns.build()


def _ranking(human: Iterable[str], wanted: str | None) -> str | None:
    names = list(human)
    if wanted is not None and wanted not in names:
        raise UnknownName("human score", wanted, names)
    if wanted is not None:
        return wanted
    return "mqm" if "mqm" in names else next(iter(names), None)


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
    yield "system- and domain-level scores and error spans were not read: they follow from, or add to, segment scores"
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
        for name, human in _human_columns(board):
            _write_scores(root / "human-scores" / f"{pair}.{name}", human, names)
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


def _human_columns(board: Board) -> Iterator[tuple[str, dict[str, Floats]]]:
    """The means of each dimension, apart for each campaign where several judged it; higher is better."""
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
            yield re.sub(r"[\s/]+", "_", name), judged


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


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else float("nan")


def _cell(score: float) -> str:
    return "None" if np.isnan(score) else repr(float(score))
