"""Scoring: only what is missing, in the right place, and never against oneself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import Broken, Characters, Errors, Overlap, small_board

from billboards.board import Board, Generator, Instance, missing_cells, row_of
from billboards.board.cells import MemoryCells, SqliteCells
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import Progress, column_key, score_board
from billboards.metrics.executor import Executor, InProcess, Result, Task
from billboards.run.local import LocalPool

METRICS = [Overlap(), Errors(), Characters()]


class Shuffled:
    """An executor that finishes tasks in another order than they came."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        results = list(InProcess().run(tasks))
        return iter([results[k] for k in np.random.default_rng(0).permutation(len(results))])


def test_every_cell_holds_its_metrics_scores_in_the_boards_order() -> None:
    board, store = small_board(), MemoryCells()
    report = score_board(board, store, METRICS, InProcess())
    assert (report.computed, report.present, report.failures) == (4 + 4 + 6, 0, {})
    scores = board_scores(board, store)
    first = board.rows[1].texts[5] or ""
    reference = board.instances[5].references[0].text
    assert scores.of("overlap")[1, 5] == len(set(first.split()) & set(reference.split()))
    assert scores.of("characters")[1, 5] == len(first)


def test_lower_is_better_is_turned_around() -> None:
    board, store = small_board(), MemoryCells()
    score_board(board, store, [Errors()], InProcess())
    assert board_scores(board, store).of("errors")[:4].max() <= 0
    assert board_scores(board, store).of("errors")[:4].min() < 0


def test_a_second_run_has_nothing_to_do_and_a_changed_generator_costs_one_row() -> None:
    board, store = small_board(), MemoryCells()
    score_board(board, store, METRICS, InProcess())
    again = score_board(board, store, METRICS, InProcess())
    assert (again.computed, again.present) == (0, 14)
    texts = ("another text", *board.rows[2].texts[1:])
    changed = replace(board, rows=(*board.rows[:2], row_of(Generator("g2"), board.instances, texts), *board.rows[3:]))
    assert score_board(changed, store, METRICS, InProcess()).computed == 3


def test_a_changed_reference_makes_only_the_metrics_that_see_it_missing() -> None:
    board, store = small_board(), MemoryCells()
    score_board(board, store, METRICS, InProcess())
    first = board.instances[0]
    edited = replace(first, references=(replace(first.references[0], text="edited"), *first.references[1:]))
    changed = replace(board, instances=(edited, *board.instances[1:]))
    report = score_board(changed, store, METRICS, InProcess())
    assert (report.computed, report.present) == (8, 6)


def test_a_row_whose_text_is_a_reference_is_not_scored_against_itself() -> None:
    board, store = small_board(), MemoryCells()
    score_board(board, store, [Overlap()], InProcess())
    assert np.isnan(board_scores(board, store).of("overlap")[4:]).all()
    score_board(board, store, [Overlap()], InProcess(), references=("A",))
    against_a = board_scores(board, store, references=("A",)).of("overlap")
    assert np.isnan(against_a[4]).all()
    assert (against_a[5] == 6).all()


def test_missing_outputs_and_references_stay_missing() -> None:
    board = small_board()
    texts = (None, *board.rows[0].texts[1:])
    bare = Instance("i1", references=(), input=board.instances[1].input)
    board = replace(
        board,
        instances=(board.instances[0], bare, *board.instances[2:]),
        rows=(row_of(Generator("g0"), board.instances, texts), *board.rows[1:]),
    )
    store = MemoryCells()
    score_board(board, store, METRICS, InProcess())
    scores = board_scores(board, store)
    assert np.isnan(scores.of("overlap")[0, :2]).all()
    assert np.isfinite(scores.of("overlap")[0, 2:]).all()
    assert np.isnan(scores.of("characters")[0, 0])
    assert np.isfinite(scores.of("characters")[0, 1])


def test_a_metric_that_fails_is_named_with_its_generator_and_the_others_go_on() -> None:
    board = small_board()
    texts = ("bad", *board.rows[0].texts[1:])
    board = replace(board, rows=(*board.rows[1:], row_of(Generator("culprit"), board.instances, texts)))
    store = MemoryCells()
    report = score_board(board, store, [Broken(), Overlap()], InProcess())
    assert "culprit" in report.failures["broken"]
    assert "RuntimeError: I can't read this" in report.failures["broken"]
    assert "overlap" in board_scores(board, store).names


@pytest.mark.parametrize("executor", [Shuffled(), LocalPool(2)], ids=["shuffled", "pool"])
def test_parts_that_finish_in_any_order_end_in_the_right_place(
    executor: Executor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(missing_cells, "CHUNK", 5)
    board = small_board(instances=23)
    whole, parts = MemoryCells(), SqliteCells(tmp_path)
    score_board(board, parts, METRICS, executor)
    monkeypatch.setattr(missing_cells, "CHUNK", 1000)
    score_board(board, whole, METRICS, InProcess())
    np.testing.assert_array_equal(board_scores(board, parts).values, board_scores(board, whole).values)


class StoppedAfter:
    """An executor that is interrupted after some tasks, as by Ctrl-C."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        for k, result in enumerate(InProcess().run(tasks)):
            if k == self.tasks:
                raise KeyboardInterrupt
            yield result


def test_an_interrupt_keeps_the_finished_cells_and_the_next_run_goes_on(tmp_path: Path) -> None:
    board, store = small_board(), SqliteCells(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        score_board(board, store, METRICS, StoppedAfter(5))
    report = score_board(board, store, METRICS, InProcess())
    assert (report.computed, report.present) == (9, 5)


def test_progress_ends_at_its_total() -> None:
    seen: list[Progress] = []
    score_board(small_board(), MemoryCells(), METRICS, InProcess(), on_progress=seen.append)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert seen[-1].done == seen[-1].total == 14 * 12


def test_an_empty_row_has_a_cell_of_nothing() -> None:
    board = small_board()
    empty = row_of(Generator("silent"), board.instances, (None,) * len(board.instances))
    board = replace(board, rows=(empty,))
    store = MemoryCells()
    assert score_board(board, store, METRICS, InProcess()).computed == 3
    assert score_board(board, store, METRICS, InProcess()).computed == 0
    assert np.isnan(board_scores(board, store).values).all()


def test_the_column_key_changes_with_references_but_not_with_generators() -> None:
    board: Board = small_board()
    both, one = (column_key(board, Overlap(), references) for references in (("A", "B"), ("A",)))
    assert both != one
    assert column_key(replace(board, rows=board.rows[:1]), Overlap(), ("A",)) == one
    assert column_key(board, Characters(), ("A",)) == column_key(board, Characters(), ("B",))
