"""Optimisers: the same choice as the plain loop, within the budget, going on where they were stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from small_audits import INSTANCES, Cheating, Coverage, Honest, PlainCoverage, audit_board

from billboards.analyses.audit.bench import Bench, Budget
from billboards.analyses.audit.decoding import Decoding
from billboards.analyses.audit.extracting import Enumeration, Extraction, joined
from billboards.analyses.audit.reranking import PoolReranking, pool_texts, read_candidates
from billboards.analyses.audit.risk import MinimumRisk
from billboards.analyses.audit.sentences import split_sentences
from billboards.board import Board
from billboards.board.cells import MemoryCells
from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.base import Batch, Floats, Metric
from billboards.metrics.discovery import metric


def bench(board: Board | None = None, limit: int | None = None) -> Bench:
    return Bench(board=audit_board() if board is None else board, store=MemoryCells(), budget=Budget(limit))


def plain_greedy(board: Board, scorer: Metric, k: int) -> list[str]:
    """The algorithm as the paper says it: one instance, one step, one candidate at a time."""
    found = []
    for instance in board.instances:
        sentences, chosen = split_sentences(instance.input or ""), list[int]()
        for _ in range(min(k, len(sentences))):
            best, best_score = -1, -np.inf
            for s in range(len(sentences)):
                if s not in chosen:
                    output = joined(sentences, [*chosen, s])
                    score = float(np.asarray(scorer.score_batch(Batch([output], [], [instance.input or ""])))[0])
                    score = score if scorer.card.higher_is_better else -score
                    if score > best_score:
                        best, best_score = s, score
            chosen.append(best)
        found.append(joined(sentences, chosen))
    return found


@pytest.mark.parametrize("scorer", [Honest(), PlainCoverage(), Coverage(), metric("length"), metric("repetition-1")])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_batched_greedy_chooses_what_the_plain_loop_chooses(scorer: Metric, k: int) -> None:
    assert list(Extraction(k).optimise(bench(), scorer).texts) == plain_greedy(audit_board(), scorer, k)


def test_a_step_is_one_call_for_all_instances() -> None:
    class Counting(PlainCoverage):
        calls = 0

        def score_batch(self, batch: Batch) -> Floats:
            Counting.calls += 1
            return super().score_batch(batch)

    found = Extraction(3).optimise(bench(), Counting())
    assert Counting.calls == 3
    assert found.pairs == INSTANCES * (6 + 5 + 4)


def test_a_metric_that_declares_itself_submodular_is_asked_less_and_chooses_the_same() -> None:
    lazily, eagerly = Extraction(4).optimise(bench(), Coverage()), Extraction(4).optimise(bench(), PlainCoverage())
    assert lazily.texts == eagerly.texts
    assert lazily.pairs < eagerly.pairs == INSTANCES * (6 + 5 + 4 + 3)


@pytest.mark.parametrize("scorer", [PlainCoverage(), Coverage()])
def test_a_budget_ends_the_search_after_a_whole_step(scorer: Metric) -> None:
    found = Extraction(3).optimise(bench(limit=INSTANCES * 8), scorer)
    assert not found.complete
    assert {len(split_sentences(text or "")) for text in found.texts} == {1}


def test_a_budget_too_small_for_the_first_step_is_refused_with_what_it_takes() -> None:
    with pytest.raises(InvalidInput, match=r"the first sentence takes 144 scored pairs .* budget of 100 has 100 left"):
        Extraction(3).optimise(bench(limit=100), PlainCoverage())


@pytest.mark.parametrize("scorer", [PlainCoverage(), Coverage()])
def test_an_interrupted_search_goes_on_where_it_was(tmp_path: Path, scorer: Metric) -> None:
    board = replace(audit_board(), home=tmp_path)
    first = Extraction(2).optimise(bench(board), scorer)
    again = Extraction(2).optimise(bench(board), scorer)
    longer = Extraction(3).optimise(bench(board), scorer)
    assert (again.texts, again.pairs) == (first.texts, 0)
    assert longer.texts == Extraction(3).optimise(bench(), scorer).texts
    assert longer.pairs <= INSTANCES * (1 + 6 + 1 + 4)


def test_enumeration_finds_the_best_of_all_and_greedy_may_not() -> None:
    board = audit_board()
    exact = Enumeration(2, most=15).optimise(bench(board), Honest())
    for text, instance in zip(exact.texts, board.instances, strict=True):
        sentences = split_sentences(instance.input or "")
        tries = [joined(sentences, pair) for pair in combinations(range(len(sentences)), 2)]
        scores = Honest().score_batch(Batch(tries, [], [instance.input or ""] * len(tries)))
        assert Honest().score_batch(Batch([text or ""], [], [instance.input or ""]))[0] == scores.max()
    with pytest.raises(NotEnoughData, match="no input has at most 14 choices of 2"):
        Enumeration(2, most=14).optimise(bench(board), Honest())


def test_reranking_takes_the_best_of_the_generators_and_can_leave_one_out() -> None:
    board = audit_board()
    found = PoolReranking().optimise(bench(board), Cheating())
    assert found.texts == board.row("house").texts
    assert found.pool is not None
    house = found.pool.rows.index(board.row_position["house"])
    assert pool_texts(board, found.pool, house) == board.row("cousin").texts


def test_an_optimised_row_on_the_board_is_never_chosen_from() -> None:
    board = audit_board()
    made = replace(board.rows[5], generator=replace(board.generators[5], kind="optimised", optimised_by="cheating"))
    entered = replace(board, rows=(*board.rows[:5], made, *board.rows[6:]))
    assert PoolReranking().optimise(bench(entered), Cheating()).texts == board.row("cousin").texts


def test_candidates_come_from_a_file_and_mistakes_in_it_are_named(tmp_path: Path) -> None:
    board, path = audit_board(), tmp_path / "beams.jsonl"
    lines = [{"instance": one.id, "texts": ["nothing", one.input]} for one in board.instances]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    found = read_candidates(path, board).optimise(bench(board), Honest())
    assert found.texts == tuple(one.input for one in board.instances)
    assert found.how == "reranking of up to 2 candidates of beams.jsonl"
    path.write_text('{"instance": "i99", "text": "x"}\n', "utf-8")
    with pytest.raises(InvalidInput, match=r"beams.jsonl:1: .*instance 'i99' is not on the board"):
        read_candidates(path, board)


def test_minimum_risk_chooses_the_output_nearest_to_all_others() -> None:
    board, scorer = audit_board(), metric("ROUGE-1")
    found = MinimumRisk().optimise(bench(board), scorer)
    k, texts = 7, [row.texts[7] or "" for row in board.rows]
    parts = [scorer.score_batch(Batch([texts[i]] * 7, [[t] for j, t in enumerate(texts) if j != i])) for i in range(8)]
    means = [float(np.mean(np.asarray(next(iter(part.values()))))) for part in parts if isinstance(part, dict)]
    assert found.texts[k] == texts[int(np.argmax(means))]


@pytest.mark.parametrize(
    ("optimiser", "scorer", "message"),
    [
        (Extraction(), metric("BLEU"), "BLEU needs references, which extraction doesn't see"),
        (PoolReranking(), metric("BLEU"), "BLEU needs references, which reranking doesn't see"),
        (MinimumRisk(), Honest(), "honest uses no references, so it has no risk"),
        (Decoding(), Honest(), "honest is no generation model"),
    ],
)
def test_an_optimiser_that_does_not_suit_says_which_does(
    optimiser: Extraction | PoolReranking | MinimumRisk | Decoding, scorer: Metric, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        optimiser.optimise(bench(), scorer)
