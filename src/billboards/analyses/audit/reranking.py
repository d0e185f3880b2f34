"""Reranking: of several outputs of an instance, the one a metric likes best (§4.3).

Candidates come from the other generators of the board, from a file, or from the beams of a sequence-to-sequence model.
With the generators as the pool, each one is held against the best of the *others*: otherwise it would supply the very
output it is compared with. Scores that came with the data can rerank as well as a program can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, given_text, real_rows
from billboards.analyses.audit.optimised import Optimised, Pool, best_of, drawn
from billboards.analyses.audit.results import OptimisationMethod
from billboards.board import Board, Texts
from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.base import Metric
from billboards.reading import Problems, json_lines, shown

Floats = NDArray[np.float64]
Candidates = Sequence[tuple[str, ...]]


@dataclass(frozen=True)
class Reranking:
    """The best of a given list of candidates for every instance; `source` says where they came from."""

    candidates: Candidates
    source: str
    method: OptimisationMethod = "rerank"

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        if metric.card.needs_references:
            raise InvalidInput(f"{metric.name} needs references, which reranking doesn't see; use --method risk")
        spent = bench.budget.spent
        texts = best_candidates(bench, metric, self.candidates)
        most = max(map(len, self.candidates), default=0)
        how, pairs = f"reranking of up to {most} {self.source}", bench.budget.spent - spent
        return Optimised(
            method="rerank", how=how, texts=texts, pairs=pairs, random_texts=random_candidates(bench, self.candidates)
        )


@dataclass(frozen=True)
class PoolReranking:
    """The best of the generators' own outputs."""

    method: OptimisationMethod = "rerank"

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        if metric.card.needs_references:
            raise InvalidInput(f"{metric.name} needs references, which reranking doesn't see; use --method risk")
        rows, spent = pool_rows(bench.board), bench.budget.spent
        scores = bench.scores(metric, [bench.board.rows[k] for k in rows])
        return rerank_pool(bench.board, rows, scores, bench.budget.spent - spent)


def rerank_pool(board: Board, rows: Sequence[int], scores: Floats, pairs: int = 0) -> Optimised:
    """The best of the generators' outputs by scores that are there (rows × instances)."""
    pool = scored_pool(board, rows, scores)
    return Optimised(method="rerank", how=pool_words(pool), texts=pool_texts(board, pool), pairs=pairs, pool=pool)


def scored_pool(board: Board, rows: Sequence[int], scores: Floats) -> Pool:
    """The rows that have scores, valued by them."""
    scored: NDArray[np.bool_] = np.asarray(np.isfinite(scores).any(axis=1))
    pool = Pool(tuple(k for k, own in zip(rows, scored, strict=True) if own), scores[scored])
    if len(pool.rows) < 3:
        raise NotEnoughData(
            f"board {board.name}: a pool needs the outputs of 3 generators; {len(pool.rows)} are scored"
        )
    return pool


def pool_words(pool: Pool) -> str:
    return f"reranking over the outputs of {len(pool.rows)} generators"


def pool_rows(board: Board) -> list[int]:
    """Rows that may be chosen from: real generators whose text is not a reference."""
    return [k for k in real_rows(board) if not board.is_reference(board.rows[k], board.references)]


def pool_texts(board: Board, pool: Pool, without: int | None = None) -> Texts:
    """The texts of the best choice, with one row left out or none."""
    best = pool.best(without)
    return tuple(None if p < 0 else board.rows[pool.rows[p]].texts[k] for k, p in enumerate(best.tolist()))


def best_candidates(bench: Bench, metric: Metric, candidates: Candidates) -> Texts:
    """The candidate of each instance that the metric likes best, all scored in one call."""
    distinct = [tuple(dict.fromkeys(own)) for own in candidates]
    tries = [(i, text) for i, own in enumerate(distinct) for text in own]
    if not tries:
        raise NotEnoughData("there are no candidates to choose from")
    bench.budget.need(len(tries), f"reranking {len(tries):,} candidates")
    scores = bench.score_texts(metric, [i for i, _ in tries], [text for _, text in tries])
    best = best_of([i for i, _ in tries], scores)
    return tuple(tries[best[i]][1] if i in best else None for i in range(len(distinct)))


def random_candidates(bench: Bench, candidates: Candidates) -> Texts:
    """Any candidate of each instance."""
    return tuple(
        drawn(bench.seed, instance.id).choice(tuple(dict.fromkeys(own))) if own else None
        for own, instance in zip(candidates, bench.board.instances, strict=True)
    )


def read_candidates(path: Path, board: Board) -> Reranking:
    """Candidates from JSON lines of `instance` and `text` or `texts`; an instance may have several lines."""
    problems = Problems(20)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error
    candidates: list[list[str]] = [[] for _ in board.instances]
    for line, item in json_lines(raw, path.name, problems):
        texts = item.get("texts", [item["text"]] if "text" in item else None)
        instance = item.get("instance")
        if not isinstance(instance, str) or instance not in board.position:
            problems.error(path.name, line, f"instance {shown(instance)} is not on the board")
        elif not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            problems.error(path.name, line, 'needs "text", or "texts" as a list of texts in quotes')
        else:
            candidates[board.position[instance]] += texts
    for problem in problems.errors:
        raise InvalidInput(f"{problem}; give lines of instance and texts")
    if not any(candidates):
        raise InvalidInput(f"{path}: holds no candidates; give lines of instance and texts")
    return Reranking(tuple(map(tuple, candidates)), f"candidates of {path.name}")


def model_candidates(bench: Bench, model: str, *, beams: int, longest: int) -> Reranking:
    """The beams of a sequence-to-sequence model that lies on this machine."""
    from billboards.metrics.neural.devices import find_devices
    from billboards.metrics.neural.engine import Where
    from billboards.metrics.neural.likelihood import language_model
    from billboards.metrics.neural.weights import locate
    from billboards.metrics.neural.writing import beam_search

    device = find_devices(Where.from_environment().devices)[0]
    loaded = language_model(locate(model), "encoder-decoder", "fp32", device)
    inputs = [given_text(instance) for instance in bench.board.instances]
    candidates = beam_search(loaded, inputs, beams=beams, longest=longest)
    return Reranking(candidates, f"beams of {Path(model).name}")
