"""Challenge sets: a reference against itself, spoilt in one way; how often does a metric prefer it as it was?

The text that is spoilt is a person's, so every metric should put it above its spoilt copy. A reference-based metric
compares both with the other references, never with the text itself, which would give the answer away.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, text_row
from billboards.analyses.audit.bias import reference_row
from billboards.analyses.audit.perturbations import PERTURBATIONS, Original, Perturbation, names_in
from billboards.analyses.audit.results import ChallengeReport, ChallengeResult
from billboards.board import Board, Outputs, Texts
from billboards.errors import MetricFailed, MissingPart, NotEnoughData, UnknownName
from billboards.metrics.base import Metric
from billboards.stats.system_level import wilson_interval

Floats = NDArray[np.float64]


def challenge(
    bench: Bench,
    metrics: Sequence[Metric],
    *,
    base: str | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
) -> ChallengeReport:
    """The share of pairs that each metric orders right, for each way to spoil the reference `base`."""
    board = bench.board
    if not board.references:
        raise NotEnoughData(f"board {board.name} has no references, so there is no good text to spoil")
    name = board.references[0] if base is None else board.check_references([base])[0]
    against = tuple(reference for reference in board.references if reference != name)
    whole = reference_row(board, name)
    spoilt = {perturbation.name: spoil_row(board, whole, perturbation, seed) for perturbation in _chosen(kinds)}
    missing = {kind: _nothing_spoilt(kind, board) for kind, row in spoilt.items() if not any(row.texts)}
    rows = {kind: row for kind, row in spoilt.items() if kind not in missing}
    results: list[ChallengeResult] = []
    for metric in metrics:
        if metric.card.needs_references and not against:
            missing[metric.name] = f"compares with references, and {name} is the only one: it would be its own"
            continue
        try:
            scores = bench.scores(metric, [whole, *rows.values()], references=against)
        except (MetricFailed, MissingPart) as error:
            missing[metric.name] = str(error)
            continue
        results += _results(metric.name, list(rows), scores)
    return ChallengeReport(board.name, name, against, board.output_language, seed, tuple(results), missing)


def spoil_row(board: Board, whole: Outputs, perturbation: Perturbation, seed: int) -> Outputs:
    """The texts of a row, each spoilt where it can be."""
    every = sorted({name for text in whole.texts if text for name in names_in(text)})

    def spoilt(text: str | None, k: int) -> str | None:
        instance = board.instances[k]
        draw = random.Random(f"{seed}\t{perturbation.name}\t{instance.id}")
        return None if not text else perturbation(Original(text, instance.input, board.output_language, every, draw))

    texts: Texts = tuple(spoilt(text, k) for k, text in enumerate(whole.texts))
    return text_row(board, f"{whole.name}, {perturbation.name}", texts)


def _chosen(kinds: Sequence[str] | None) -> list[Perturbation]:
    by_name = {perturbation.name: perturbation for perturbation in PERTURBATIONS}
    for kind in kinds or ():
        if kind not in by_name:
            raise UnknownName("perturbation", kind, by_name)
    return [by_name[kind] for kind in kinds or by_name]


def _nothing_spoilt(kind: str, board: Board) -> str:
    languages = next(perturbation.languages for perturbation in PERTURBATIONS if perturbation.name == kind)
    if languages is not None and (board.output_language or "").split("-")[0] not in languages:
        return f"knows {', '.join(languages)}; the board's output language is {board.output_language or 'not stated'}"
    return "no text of the board can be spoilt in this way"


def _results(metric: str, kinds: Sequence[str], scores: Floats) -> Iterator[ChallengeResult]:
    """The first row against each of the others, on the instances that both have a score for."""
    whole = scores[0]
    for kind, own in zip(kinds, scores[1:], strict=True):
        both = np.isfinite(whole) & np.isfinite(own)
        right, tied, pairs = int((whole > own)[both].sum()), int((whole == own)[both].sum()), int(both.sum())
        if pairs:
            yield ChallengeResult(metric, kind, right, tied, pairs, right / pairs, wilson_interval(right, pairs))
