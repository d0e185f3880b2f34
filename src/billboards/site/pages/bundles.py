"""Everything a board holds, as files: tables, every score of every output, and the board folder itself.

All of it is made from what one audience may look at, so a download can't say more than a page. Scores keep their full
precision; what is missing is empty or null, never 0.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from billboards.analyses._findings import Findings
from billboards.analyses.overrating import overrating_latex, overrating_table
from billboards.analyses.rank import generator_table, metric_table
from billboards.board import Board
from billboards.errors import MissingPart, NotEnoughData
from billboards.show.csv import csv_text, to_csv
from billboards.show.documents import document_of, dumps
from billboards.show.latex import to_latex
from billboards.site.boards.board_folder import write_folder
from billboards.site.boards.masked import Look
from billboards.site.boards.signatures import signed_ranking

Record = dict[str, Any]

CSV, JSONL, JSON, LATEX = (
    "text/csv; charset=utf-8",
    "application/x-ndjson",
    "application/json",
    "text/x-tex; charset=utf-8",
)
PARQUET, ZIP = "application/vnd.apache.parquet", "application/zip"


def score_records(look: Look) -> Iterator[Record]:
    """One record per output: its instance, generator and every score."""
    matrix, board = look.matrix, look.board
    columns = {"people": matrix.view.human} if look.judged else {}
    columns |= {name: matrix.shown(name) for name in matrix.names}
    for r, row in enumerate(board.rows):
        lists = {name: [None if np.isnan(v) else v for v in values[r].tolist()] for name, values in columns.items()}
        for k, (instance, text) in enumerate(zip(board.instances, row.texts, strict=True)):
            if text is not None:
                yield {"instance": instance.id, "generator": row.name} | {n: v[k] for n, v in lists.items()}


def output_records(board: Board) -> Iterator[Record]:
    """One record per output: its text."""
    for row in board.rows:
        for instance, text in zip(board.instances, row.texts, strict=True):
            if text is not None:
                yield {"instance": instance.id, "generator": row.name, "text": text}


def jsonl_bytes(records: Iterator[Record]) -> bytes:
    """Records as JSON lines."""
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    return "".join(f"{encode(record)}\n" for record in records).encode("utf-8", "replace")


def csv_bytes(records: Iterator[Record], columns: Sequence[str] = ("instance", "generator")) -> bytes:
    """Records as a table, its columns those of the first; where there is none, those named."""
    rows = list(records)
    return csv_text(list(rows[0]) if rows else columns, rows).encode("utf-8", "replace")


def _parquet(records: Iterator[Record]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingPart(
            "Parquet needs pyarrow, which this server lacks; its owner can install it with "
            "`pip install 'billboards[parquet]'`"
        ) from error
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(records)), file, compression="zstd")
    return file.getvalue()


def _ranked(look: Look, make: Callable[[Any], str]) -> bytes:
    if look.ranking is None:
        raise NotEnoughData(f"board {look.name} has no ranking yet; come back when its scores are complete")
    return make(look.ranking).encode("utf-8", "replace")


def _signed(look: Look) -> bytes:
    """The latest ranking in one file with the site's statement about it."""
    document = _signed_document(look)
    if document is None:
        raise NotEnoughData("there is no ranking that everybody sees, and a site signs no other")
    return dumps(document).encode()


def _signed_document(look: Look) -> Record | None:
    snapshot, document = look.live.snapshot, look.live.document
    if snapshot is None or document is None:
        return None
    signed = signed_ranking(look, snapshot, document)
    if signed is None:
        return None
    findings = Findings.read(document).document()
    parts = {"ranking": look.ranking_document(document["ranking"]), **({"findings": findings} if findings else {})}
    return {**signed.as_document(), "kind": "signed_ranking", **parts}


def _overrated(look: Look, make: Callable[[Any], str]) -> bytes:
    if look.overrating is None:
        raise NotEnoughData(f"overrating was not measured on board {look.name}")
    return make(look.overrating).encode("utf-8", "replace")


#: Every download: its file, what it is, its kind, and what makes it.
FILES: Mapping[str, tuple[str, str, Callable[[Look], bytes]]] = {
    "generators.csv": (
        "Generators with ranks and mean scores",
        CSV,
        lambda o: _ranked(o, lambda r: to_csv(generator_table(r))),
    ),
    "generators.tex": ("The same as LaTeX", LATEX, lambda o: _ranked(o, lambda r: to_latex(generator_table(r)))),
    "metrics.csv": (
        "Metrics with correlations and intervals",
        CSV,
        lambda o: _ranked(o, lambda r: to_csv(metric_table(r))),
    ),
    "metrics.tex": ("The same as LaTeX", LATEX, lambda o: _ranked(o, lambda r: to_latex(metric_table(r)))),
    "overrating.csv": (
        "Overrating of machines by each metric",
        CSV,
        lambda o: _overrated(o, lambda r: to_csv(overrating_table(r))),
    ),
    "overrating.tex": ("The same as LaTeX", LATEX, lambda o: _overrated(o, lambda r: overrating_latex([r]))),
    "ranking.json": (
        "The ranking with everything it rests on",
        JSON,
        lambda o: _ranked(o, lambda r: dumps(document_of(r))),
    ),
    "signed-ranking.json": (
        "The ranking with the site's signature, which proves it later: `billboards verify` checks it",
        JSON,
        _signed,
    ),
    "scores.csv": ("Every score of every output", CSV, lambda o: csv_bytes(score_records(o))),
    "scores.jsonl": ("The same as JSON lines", JSONL, lambda o: jsonl_bytes(score_records(o))),
    "scores.parquet": ("The same as Parquet", PARQUET, lambda o: _parquet(score_records(o))),
    "outputs.jsonl": ("Every output's text", JSONL, lambda o: jsonl_bytes(output_records(o.board))),
    "board.zip": (
        "The board folder with all scores, rankings and ensembles: opens and ranks without a server",
        ZIP,
        lambda o: _zipped(o, whole=False),
    ),
    "everything.zip": ("The board folder and all of the above", ZIP, lambda o: _zipped(o, whole=True)),
}


def _zipped(look: Look, *, whole: bool) -> bytes:
    """The board folder as this audience may have it, alone or with all tables and scores beside it."""
    file = io.BytesIO()
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = write_folder(look, Path(work) / look.name)
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                _put(archive, look, f"{look.name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
        for name, (_, kind, make) in FILES.items() if whole else ():
            if kind != ZIP and is_there(look, name):
                _put(archive, look, f"{look.name}-results/{name}", make(look))
        if whole and look.overrating is not None:
            content = dumps(document_of(look.overrating)).encode()
            _put(archive, look, f"{look.name}-results/overrating.json", content)
    return file.getvalue()


def _put(archive: zipfile.ZipFile, look: Look, name: str, content: bytes) -> None:
    """Put a file into an archive under the time of the ranking, so that the same board gives the same archive."""
    snapshot = look.live.snapshot
    made = datetime.fromtimestamp(0 if snapshot is None else snapshot.created, UTC)
    entry = zipfile.ZipInfo(name, date_time=max(made.timetuple()[:6], (1980, 1, 1, 0, 0, 0)))
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def why_missing(look: Look, name: str) -> str:
    """Why a download can't be made now; empty where it can."""
    if is_there(look, name):
        return ""
    if name.endswith(".parquet"):
        return "this server can’t write Parquet: pyarrow is not installed"
    if name.startswith("overrating"):
        return "no person’s texts are judged on this board" if look.ranking is not None else "not there yet"
    return "not there yet"


def is_there(look: Look, name: str) -> bool:
    """Whether a download can be made now."""
    if name.startswith("overrating"):
        return look.overrating is not None
    if name.endswith(".parquet"):
        from importlib.util import find_spec

        return find_spec("pyarrow") is not None
    if name == "signed-ranking.json":
        return _signed_document(look) is not None
    return look.ranking is not None or not name.startswith(("generators", "metrics", "ranking"))
