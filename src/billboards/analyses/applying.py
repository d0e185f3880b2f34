"""Scoring new outputs with a kept ensemble, from its signature alone (§2.2, Reproducibility).

The ensemble's record names its metrics by signature, their centres and scales, and its references; the board supplies
instances and references. A metric whose program is not here (its scores were imported) must be given as scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import combine
from billboards.analyses.ranking_results import Ensemble
from billboards.board import Board, Generator, Outputs, row_of
from billboards.board.cells import MemoryCells
from billboards.board.folder import read_texts
from billboards.board.score_files import read_score_table
from billboards.board.scoring import Progress, column_key, score_board
from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Metric
from billboards.metrics.discovery import installed_metric, metric_names
from billboards.metrics.executor import Executor
from billboards.reading import Problems

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Applied:
    """An ensemble's scores of new outputs."""

    signature: str
    instances: tuple[str, ...]
    scores: Floats

    @property
    def n(self) -> int:
        return int(np.isfinite(self.scores).sum())

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.scores))

    def document(self) -> dict[str, Any]:
        pairs = zip(self.instances, self.scores.tolist(), strict=True)
        scores = {instance: None if np.isnan(score) else score for instance, score in pairs}
        return {"schema": 1, "signature": self.signature, "mean": self.mean, "n": self.n, "scores": scores}


def apply_ensemble(
    ensemble: Ensemble,
    board: Board,
    outputs: Path,
    executor: Executor,
    *,
    given: Mapping[str, Floats] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Applied:
    """The ensemble's score of every output in a file."""
    given = given or {}
    row = _read_row(outputs, board)
    metrics = {name: _metric(ensemble, name) for name in ensemble.weights if name not in given}
    store = MemoryCells()
    references = board.check_references(ensemble.references)
    report = score_board(
        board, store, list(metrics.values()), executor, references=references, rows=[row], on_progress=on_progress
    )
    for name, reason in report.failures.items():
        raise MetricFailed(f"{name}: {reason}")
    own = {
        name: store.load(column_key(board, one, references), [row.version])[row.version]
        for name, one in metrics.items()
    }
    return Applied(ensemble.signature, tuple(i.id for i in board.instances), combine(ensemble, {**given, **own}))


def read_metric_scores(path: Path, board: Board, ensemble: Ensemble) -> dict[str, Floats]:
    """Scores of metrics that can't run here: a line per instance, a metric per column, higher is better."""
    problems = Problems()
    found = read_score_table(_bytes(path), path.name, board.position, ensemble.weights.__contains__, problems)
    _refuse(problems)
    return found


def _metric(ensemble: Ensemble, name: str) -> Metric:
    signature = ensemble.signatures[name]
    if signature.startswith("imported:") or name.partition("(")[0] not in metric_names():
        raise InvalidInput(
            f"{ensemble.signature} uses {name} ({signature}), which can't be computed here; "
            f"compute it where you can and give its scores with --scores FILE.tsv"
        )
    found = installed_metric(name)
    if found.signature != signature:
        raise InvalidInput(
            f"{ensemble.signature} was fitted with {signature}, but this installation has {found.signature}; "
            "install that version, or give the scores with --scores FILE.tsv"
        )
    return found


def _read_row(path: Path, board: Board) -> Outputs:
    problems = Problems()
    texts = read_texts(_bytes(path), path.name, board.position, problems)
    _refuse(problems)
    if not any(text is not None for text in texts):
        raise InvalidInput(f'{path}: holds no outputs; write a line {{"instance": …, "text": …}} for each instance')
    return row_of(Generator(path.stem), board.instances, texts)


def _refuse(problems: Problems) -> None:
    if problems.errors:
        more = f" (and {len(problems.errors) - 1} more)" if len(problems.errors) > 1 else ""
        raise InvalidInput(f"{problems.errors[0]}{more}")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror}") from error
