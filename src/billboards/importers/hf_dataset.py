"""A Hugging Face data set of outputs: JSON lines, CSV or Parquet, as `load_dataset` reads and `to_json` writes them.

Each row is an instance. Columns say what is what: an id, the input, the references (a text or a list of texts), and one
column for each generator; numbers in further columns may be taken as scores of a generator. A folder may hold several
files of one split, as `data/test-00000-of-00002.parquet`. Parquet needs pyarrow (`pip install 'billboards[parquet]'`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from billboards.board import DataCard
from billboards.board.judgment_sources import Imported
from billboards.errors import InvalidInput
from billboards.importers._harness import Sample, Samples, files_below, plain_text
from billboards.importers._importer import importer
from billboards.reading import is_number, read_table, shown

CARD = DataCard(title="Outputs in a Hugging Face data set")


@importer(card=CARD)
def hf_dataset(
    source: Path,
    *,
    output: Annotated[
        tuple[str, ...], "a column of outputs, or GENERATOR=COLUMN; may be repeated, once for each generator"
    ],
    input: Annotated[str | None, "the column of inputs"] = None,
    references: Annotated[tuple[str, ...], "a column of references, texts or lists of texts; may be repeated"] = (),
    id: Annotated[str | None, "the column of ids (default: rows are numbered)"] = None,
    score: Annotated[tuple[str, ...], "scores of a generator: GENERATOR:METRIC=COLUMN; may be repeated"] = (),
    split: Annotated[str | None, "read only files whose names begin so, as in test"] = None,
    name: Annotated[str | None, "the board's name (default: the folder's or file's)"] = None,
) -> Imported:
    """Outputs in a data set of Hugging Face's hub, or any file of its formats."""
    files = files_below(source, ["*.jsonl", "*.parquet", "*.csv"], "data files (.jsonl, .parquet or .csv)")
    files = [path for path in files if split is None or path.name.startswith(split)]
    if not files:
        raise InvalidInput(f"{source}: no file's name begins with {split!r}; say another --split")
    outputs = dict(_named(each) for each in output)
    scores = [_score(each, outputs) for each in score]
    samples, number, unseen = Samples(), 0, {column for *_, column in scores}
    for path in files:
        for line, row in _rows(path, samples):
            number += 1
            unseen -= row.keys()
            key = str(number) if id is None else _text(row, id, str(path), line, samples) or str(number)
            texts = [text for column in references for text in _texts(row, column, str(path), line, samples)]
            given = _text(row, input, str(path), line, samples) if input is not None else None
            for generator, column in outputs.items():
                sample = Sample(
                    instance=key,
                    input=given,
                    targets=tuple(texts),
                    output=_text(row, column, str(path), line, samples) or "",
                    scores={m: float(row[c]) for g, m, c in scores if g == generator and _is_score(row.get(c))},
                )
                samples.add(generator, sample, str(path), line)
    if unseen and number:
        raise InvalidInput(f"{source}: --score names {shown(min(unseen))}, a column that no row has")
    usual = source.stem.lower() if source.is_file() else source.name.lower()
    return samples.board(source, name, usual, CARD)


def _named(asked: str) -> tuple[str, str]:
    generator, equals, column = asked.partition("=")
    return (generator, column) if equals else (asked, asked)


def _score(asked: str, outputs: Mapping[str, str]) -> tuple[str, str, str]:
    place, equals, column = asked.partition("=")
    generator, colon, metric = place.partition(":")
    if not equals or not colon or generator not in outputs:
        raise InvalidInput(
            f"--score {asked!r} must be GENERATOR:METRIC=COLUMN, with a generator of --output: {', '.join(outputs)}"
        )
    return generator, metric, column


def _rows(path: Path, samples: Samples) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file, with the values that it has: texts, numbers, lists."""
    table = read_table(path, samples.problems, numbered=True)
    for line, cells in table.rows:
        yield line, {key: _as_number(value) for key, value in cells.items()} if path.suffix == ".csv" else cells


def _as_number(text: str) -> str | float:
    try:
        return float(text) if text.strip() and text.strip().lower() not in ("nan", "inf", "-inf") else text
    except ValueError:
        return text


def _is_score(value: object) -> bool:
    return isinstance(value, bool) or is_number(value)


def _text(row: Mapping[str, Any], column: str, where: str, line: int, samples: Samples) -> str | None:
    if column not in row:
        samples.problems.error(where, line, f"has no column {shown(column)}; it has {', '.join(list(row)[:12])}")
        return None
    value = row[column]
    if isinstance(value, float):
        return f"{value:g}"
    text = plain_text(value)
    if text is None:
        samples.problems.error(where, line, f"{column} must be text; found {shown(value)}")
    return text


def _texts(row: Mapping[str, Any], column: str, where: str, line: int, samples: Samples) -> list[str]:
    value = row.get(column)
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return list(value)
    text = _text(row, column, where, line, samples)
    return [] if text is None else [text]
