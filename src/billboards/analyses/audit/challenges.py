"""Challenge sets: a text against itself, spoilt in one way; how often does a metric prefer it as it was?

The text that is spoilt is a person's, so every metric should put it above its spoilt copy. A reference-based metric
compares both with the other references, never with the text itself, which would give the answer away. Where a board
has one reference only, such metrics are asked about the best machine's outputs instead, with that reference.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, real_rows, text_row
from billboards.analyses.audit.bias import reference_row
from billboards.analyses.audit.perturbations import ATTACKS, PERTURBATIONS, Original, Perturbation, names_in
from billboards.analyses.audit.results import ChallengeReport, ChallengeResult, ChallengeText
from billboards.board import Board, Outputs, ReferenceSet, Texts, human_scores
from billboards.errors import MetricFailed, MissingPart, NotEnoughData, UnknownName
from billboards.metrics.base import Metric
from billboards.metrics.discovery import metric_for
from billboards.stats.system_level import wilson_interval

Floats = NDArray[np.float64]
#: Who names the best machine where people have judged none.
BEST_BY = "chrF"
#: Texts of each kind that are shown.
SHOWN = 2


@dataclass(frozen=True)
class _Challenge:
    """A row, its spoilt copies by kind, and the references that outputs are compared with."""

    whole: Outputs
    spoilt: Mapping[str, Outputs]
    against: ReferenceSet

    def results(self, bench: Bench, metric: Metric) -> list[ChallengeResult]:
        scores = bench.scores(metric, [self.whole, *self.spoilt.values()], references=self.against)
        return list(pair_results(metric.name, list(self.spoilt), scores))


def challenge(
    bench: Bench,
    metrics: Sequence[Metric],
    *,
    base: str | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    shown: int = SHOWN,
) -> ChallengeReport:
    """The share of pairs that each metric orders right, for each way to spoil the text of `base`.

    `base` is a reference, by default the first, or a generator.
    """
    board = bench.board
    if not board.references:
        raise NotEnoughData(f"board {board.name} has no references, so there is no good text to spoil")
    whole, against = _base(board, base)
    chosen = _chosen(kinds)
    spoilt = {kind.name: spoil_row(board, whole, kind, seed) for kind in chosen}
    missing = {kind.name: _nothing_spoilt(kind, board) for kind in chosen if not any(spoilt[kind.name].texts)}
    made = _Challenge(whole, {kind: row for kind, row in spoilt.items() if kind not in missing}, against)
    results: list[ChallengeResult] = []
    left: list[Metric] = []
    for metric in metrics:
        if metric.card.needs_references and not against:
            missing[metric.name] = f"compares with references, and {whole.name} is the only one: it would be its own"
            left.append(metric)
            continue
        results += _tried(bench, made, metric, missing)
    machine, machine_by, machine_results = _of_machine(bench, left, chosen, seed, missing)
    styles = {attack.name for attack in ATTACKS}
    return ChallengeReport(
        board=board.name,
        base=whole.name,
        against=against,
        language=board.output_language,
        seed=seed,
        results=tuple(result for result in results if result.perturbation not in styles),
        missing=missing,
        attacks=tuple(result for result in results if result.perturbation in styles),
        machine=machine,
        machine_by=machine_by,
        machine_results=tuple(machine_results),
        texts=tuple(_texts(board, made, shown)),
    )


def _tried(bench: Bench, made: _Challenge, metric: Metric, missing: dict[str, str]) -> list[ChallengeResult]:
    try:
        return made.results(bench, metric)
    except (MetricFailed, MissingPart) as error:
        missing[metric.name] = str(error)
        return []


def _base(board: Board, base: str | None) -> tuple[Outputs, ReferenceSet]:
    """The row to spoil, and the references that it may be compared with."""
    if base is not None and base not in board.references and base in board.row_position:
        row = board.row(base)
        return row, tuple(name for name in board.references if not board.is_reference(row, (name,)))
    name = board.references[0] if base is None else board.check_references([base])[0]
    return reference_row(board, name), tuple(reference for reference in board.references if reference != name)


def _of_machine(
    bench: Bench, metrics: Sequence[Metric], chosen: Sequence[Perturbation], seed: int, missing: dict[str, str]
) -> tuple[str | None, str | None, list[ChallengeResult]]:
    """Metrics whose only reference is the base, on the spoilt outputs of the best machine."""
    if not metrics:
        return None, None, []
    row, by = best_machine(bench)
    if row is None:
        return None, None, []
    board = bench.board
    spoilt = {kind.name: spoil_row(board, row, kind, seed) for kind in chosen}
    made = _Challenge(row, {kind: own for kind, own in spoilt.items() if any(own.texts)}, board.references)
    return row.name, by, [result for metric in metrics for result in _tried(bench, made, metric, missing)]


def best_machine(bench: Bench) -> tuple[Outputs | None, str]:
    """The machine that people put first, or where they judged none, a quick metric."""
    board = bench.board
    machines = [k for k in real_rows(board) if (own := board.rows[k].generator) is not None and own.kind == "machine"]
    if not machines:
        return None, ""
    if board.ranks is not None:
        human = human_scores(
            board.judgments, board.aggregate(), board.dimensions, (len(board.rows), len(board.instances))
        )
        judged = {k: float(np.nanmean(human[k])) for k in machines if np.isfinite(human[k]).any()}
        if judged:
            return board.rows[max(judged, key=lambda k: judged[k])], "people"
    scores = bench.scores(metric_for(board.output_language, BEST_BY), [board.rows[k] for k in machines])
    means = [float(np.nanmean(own)) if np.isfinite(own).any() else -np.inf for own in scores]
    return board.rows[machines[int(np.argmax(means))]], BEST_BY


def spoil_row(board: Board, whole: Outputs, perturbation: Perturbation, seed: int) -> Outputs:
    """The texts of a row, each spoilt where it can be."""
    every = sorted({name for text in whole.texts if text for name in names_in(text)})

    def spoilt(text: str | None, k: int) -> str | None:
        instance = board.instances[k]
        draw = random.Random(f"{seed}\t{perturbation.name}\t{instance.id}")
        original = Original(
            text=text or "",
            input=instance.input,
            language=board.output_language,
            names=every,
            random=draw,
            input_language=board.input_language,
        )
        return None if not text else perturbation(original)

    texts: Texts = tuple(spoilt(text, k) for k, text in enumerate(whole.texts))
    return text_row(board, f"{whole.name}, {perturbation.name}", texts)


def _chosen(kinds: Sequence[str] | None) -> list[Perturbation]:
    by_name = {perturbation.name: perturbation for perturbation in (*PERTURBATIONS, *ATTACKS)}
    for kind in kinds or ():
        if kind not in by_name:
            raise UnknownName("perturbation", kind, by_name)
    return [by_name[kind] for kind in kinds or by_name]


def _nothing_spoilt(kind: Perturbation, board: Board) -> str:
    if not kind.can_spoil(board.output_language):
        languages = ", ".join(kind.languages or ())
        return f"knows {languages}; the board's output language is {board.output_language or 'not stated'}"
    return "no text of the board can be spoilt in this way"


def _texts(board: Board, made: _Challenge, shown: int) -> Iterator[ChallengeText]:
    """The first texts of each kind, as they were and as they were spoilt."""
    for kind, row in made.spoilt.items():
        places = [k for k, text in enumerate(row.texts) if text is not None][:shown]
        for k in places:
            yield ChallengeText(kind, board.instances[k].id, made.whole.texts[k] or "", row.texts[k] or "")


def pair_results(metric: str, kinds: Sequence[str], scores: Floats) -> Iterator[ChallengeResult]:
    """The first row against each of the others, on the instances that both have a score for."""
    whole = scores[0]
    for kind, own in zip(kinds, scores[1:], strict=True):
        result = pair_result(metric, kind, whole, own)
        if result is not None:
            yield result


def pair_result(metric: str, kind: str, good: Floats, bad: Floats) -> ChallengeResult | None:
    """How often the good text scores higher than the bad one; a tie is not right. None without a pair."""
    both = np.isfinite(good) & np.isfinite(bad)
    right, tied, pairs = int((good > bad)[both].sum()), int((good == bad)[both].sum()), int(both.sum())
    if not pairs:
        return None
    return ChallengeResult(
        metric=metric,
        perturbation=kind,
        right=right,
        tied=tied,
        pairs=pairs,
        share=right / pairs,
        interval=wilson_interval(right, pairs),
    )
