"""Rankings on boards small enough to check by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_boards import Characters, Errors, Overlap, small_board

from billboards.analyses.rank import rank_board
from billboards.board import (
    Board,
    Generator,
    ImportedColumn,
    Instance,
    Judgments,
    Slice,
    human_scores,
    loose_rows,
    row_of,
)
from billboards.board.cells import MemoryCells
from billboards.board.judgments import JudgmentColumns
from billboards.board.missing_cells import score_board
from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.executor import InProcess

NAN = float("nan")


def scored(board: Board) -> MemoryCells:
    store = MemoryCells()
    score_board(board, store, [Overlap(), Errors(), Characters()], InProcess())
    return store


def with_column(
    board: Board, name: str, values: dict[str, list[float]], *, references: tuple[str, ...] = ("A",)
) -> Board:
    column = ImportedColumn(
        name=name,
        source_name=name,
        signature=f"imported:{name}",
        values={g: np.array(v) for g, v in values.items()},
        references=references,
        needs_references=bool(references),
    )
    return replace(board, imported=(*board.imported, column))


def test_correlations_are_over_judged_rows_that_are_not_references() -> None:
    board = small_board()
    store = scored(board)
    ranking = rank_board(board, store, draws=0)
    assert {m.name: m.n for m in ranking.metrics} == {"overlap": 48, "errors": 48, "characters": 48}
    assert ranking.metrics[0].name == "overlap"
    assert [m.rank for m in ranking.metrics] == [1, 2, 3]


def test_the_best_metric_or_the_ensemble_ranks_and_references_have_no_rank() -> None:
    board = small_board(instances=40)
    ranking = rank_board(board, scored(board), draws=0)
    best = ranking.metrics[0].correlation or 0
    assert ranking.ensemble is not None
    expected = "ensemble" if (ranking.ensemble.correlation or 0) > best else "overlap"
    assert ranking.ranked_by == expected
    assert [g.name for g in ranking.generators] == ["g0", "g1", "g2", "g3", "A", "B"]
    assert [g.rank for g in ranking.generators] == [1, 2, 3, 4, None, None]
    assert ranking.generators[-1].reason == "the text is among the references"
    assert ranking.generators[-1].human == 100


def test_statistics_are_shown_but_never_join_or_lead() -> None:
    board = small_board()
    ranking = rank_board(board, scored(board), draws=0)
    assert ranking.ensemble is not None
    assert ranking.ensemble.left_out == {"characters": "a statistic, not a metric"}
    assert "characters" in ranking.generators[0].scores


def test_equal_scores_share_a_rank() -> None:
    board = small_board(instances=3, generators=3)
    board = with_column(board, "m", {"g0": [1, 2, 3], "g1": [3, 2, 1], "g2": [0, 0, 1]})
    ranking = rank_board(board, None, by="m", draws=0)
    assert [(g.name, g.rank) for g in ranking.generators[:3]] == [("g0", 1), ("g1", 1), ("g2", 3)]


def test_nan_is_never_ranked_first_and_partial_coverage_has_no_rank() -> None:
    board = small_board(instances=3, generators=3)
    board = with_column(board, "m", {"g0": [NAN, NAN, NAN], "g1": [NAN, 9, 9], "g2": [0, 0, 1]})
    ranking = rank_board(board, None, by="m", draws=0)
    assert [(g.name, g.rank) for g in ranking.generators[:1]] == [("g2", 1)]
    by_name = {g.name: g for g in ranking.generators}
    assert by_name["g0"].scores["m"] is None
    assert by_name["g1"].scores["m"] == 9
    assert by_name["g1"].reason == "m scores 2 of 3 instances"


def test_a_constant_metric_is_unranked_with_the_reason() -> None:
    board = small_board(instances=3, generators=2)
    board = with_column(board, "flat", {"g0": [1, 1, 1], "g1": [1, 1, 1]})
    (metric,) = rank_board(board, None, draws=10).metrics
    assert (metric.rank, metric.correlation, metric.interval) == (None, None, None)
    assert metric.reason == "the scores or the judgments don't vary"


def test_a_reference_free_metric_does_not_rank_alone_where_there_are_references() -> None:
    board = small_board(instances=12, generators=4)
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, 12)).tolist()
    noise = np.random.default_rng(0).normal(size=(4, 12)) * 10
    board = with_column(board, "free", {f"g{k}": people[k] for k in range(4)}, references=())
    board = with_column(board, "based", {f"g{k}": (people[k] + noise[k]).tolist() for k in range(4)})
    ranking = rank_board(board, None, draws=0, lam=1000)
    assert ranking.metrics[0].name == "free"
    assert ranking.ranked_by == "based"
    assert "free uses no reference" in ranking.notes[-1]


def test_a_slice_ranks_only_its_instances() -> None:
    board = small_board(instances=12)
    store = scored(board)
    whole, sea = rank_board(board, store, draws=0), rank_board(board, store, part=Slice(domain="sea"), draws=0)
    assert {m.n for m in whole.metrics} == {48}
    assert {m.n for m in sea.metrics} == {24}
    assert sea.part == "domain sea"
    assert {g.judged for g in sea.generators} == {6}
    assert {m.n for m in rank_board(board, store, part=Slice(document="d1"), draws=0).metrics} == {12}
    assert {m.n for m in rank_board(board, store, part=Slice(tag="t2"), draws=0).metrics} == {16}
    assert sea.ensemble is None or "+part.domain sea" in sea.ensemble.signature


def test_an_empty_slice_is_refused_with_what_there_is() -> None:
    board = small_board()
    with pytest.raises(UnknownName, match=r"domain air.*domain sea"):
        rank_board(board, scored(board), part=Slice(domain="air"))


def test_a_board_without_judgments_lists_generators_and_says_why_nothing_is_ranked() -> None:
    board = replace(small_board(), judgments=Judgments(), ranks=None)
    ranking = rank_board(board, scored(board))
    assert ranking.ranked_by is None
    assert any("no metric has a correlation" in note for note in ranking.notes)
    assert {m.reason for m in ranking.metrics} == {"no judged output has a score"}
    by_hand = rank_board(board, scored(board), by="overlap")
    assert by_hand.generators[0].rank == 1


def test_one_judged_generator_gives_metrics_but_no_ensemble() -> None:
    board = small_board()
    columns = JudgmentColumns(("adequacy",))
    for k in range(12):
        columns.add(k, 2, {"adequacy": 1.0 + k % 5})
    ranking = rank_board(replace(board, judgments=columns.build()), scored(board), draws=0)
    assert ranking.ensemble is None
    assert "at least 2 generators" in ranking.notes[0]
    assert ranking.metrics[0].n == 12


def test_a_metric_that_lacks_a_judged_generator_is_measured_but_does_not_join() -> None:
    board = small_board(instances=6, generators=3)
    board = with_column(board, "partial", {"g0": [1, 2, 3, 4, 5, 6], "g1": [6, 5, 4, 3, 2, 1]})
    ranking = rank_board(board, scored(board), draws=0)
    assert ranking.ensemble is not None
    assert ranking.ensemble.left_out["partial"] == "scores 2 of 3 judged generators"
    assert next(m.n for m in ranking.metrics if m.name == "partial") == 12


def test_imported_scores_lead_unless_the_board_says_own() -> None:
    board = with_column(
        small_board(instances=3, generators=2), "overlap", {"g0": [9, 9, 8], "g1": [7, 8, 7]}, references=("A", "B")
    )
    store = scored(board)
    assert {m.origin for m in rank_board(board, store, draws=0).metrics if m.name == "overlap"} == {"imported"}
    own = rank_board(replace(board, lead="own"), store, draws=0)
    assert {m.origin for m in own.metrics if m.name == "overlap"} == {"own"}


def test_unknown_metrics_and_aggregates_are_refused_with_near_names() -> None:
    board = small_board()
    with pytest.raises(UnknownName, match="did you mean overlap"):
        rank_board(board, scored(board), by="overlp")
    with pytest.raises(UnknownName, match="did you mean overall"):
        rank_board(board, scored(board), aggregate="overal")
    assert rank_board(board, scored(board), aggregate="adequacy", draws=0).aggregate == "adequacy"


def test_outputs_without_a_generator_count_for_metrics_and_are_not_ranked() -> None:
    instances = tuple(Instance(f"i{k}", references=()) for k in range(4))
    rows = loose_rows(instances, [(f"i{k}", f"o{k}{j}", "x" * (k + j + 1)) for k in range(4) for j in range(2)])
    columns = JudgmentColumns(("adequacy",))
    for k in range(4):
        for j in range(2):
            columns.add(k, j, {"adequacy": 1.0 + (k + j) % 5})
    board = replace(small_board(), instances=instances, rows=rows, judgments=columns.build())
    store = MemoryCells()
    score_board(board, store, [Characters()], InProcess())
    ranking = rank_board(board, store, draws=0)
    assert ranking.metrics[0].correlation == pytest.approx(1)
    assert ranking.metrics[0].n == 8
    assert ranking.generators == ()


def test_the_order_of_generators_and_instances_does_not_matter() -> None:
    board = small_board(instances=30)
    first = rank_board(board, scored(board), draws=0)
    order = [5, 0, 3, 1, 4, 2]
    rows = tuple(board.rows[k] for k in order)
    judgments = replace(board.judgments, row=np.array([order.index(int(r)) for r in board.judgments.row], np.int32))
    turned = replace(board, rows=rows, judgments=judgments)
    second = rank_board(turned, scored(turned), draws=0)
    assert [m.name for m in first.metrics] == [m.name for m in second.metrics]
    for a, b in zip(first.metrics, second.metrics, strict=True):
        assert a.correlation == pytest.approx(b.correlation, abs=1e-12)
    assert [g.name for g in first.generators] == [g.name for g in second.generators]
    assert first.ensemble is not None
    assert second.ensemble is not None
    assert first.ensemble.correlation == pytest.approx(second.ensemble.correlation, abs=1e-10)


def test_overlong_k_takes_what_there_is() -> None:
    board = small_board(instances=30)
    ensemble = rank_board(board, scored(board), k=10, draws=0).ensemble
    assert ensemble is not None
    assert len(ensemble.weights) == 2


def test_by_ensemble_is_refused_where_there_is_none() -> None:
    board = small_board(generators=1)
    with pytest.raises(InvalidInput):
        rank_board(board, scored(board), by="ensemble")
    assert row_of(Generator("x"), board.instances, board.rows[0].texts).version == board.rows[0].version


def test_what_tests_cannot_tell_apart_shares_a_rank_and_a_cluster() -> None:
    board = small_board(instances=40, generators=4)
    noise = np.random.default_rng(1).normal(size=(4, 40))
    level = [3.0, 3.01, 1.0, 1.02]
    board = with_column(board, "m", {f"g{k}": (noise[k] * 0.3 + level[k]).tolist() for k in range(4)})
    ranking = rank_board(board, None, by="m", draws=200)
    found = {g.name: (g.rank, g.cluster) for g in ranking.generators[:4]}
    assert {found["g0"], found["g1"]} == {(1, 1)}
    assert {found["g2"], found["g3"]} == {(3, 2)}
    assert [g.rank for g in rank_board(board, None, by="m", draws=0).generators[:4]] == [1, 2, 3, 4]


def test_metrics_in_one_cluster_share_a_rank() -> None:
    board = small_board(instances=60, generators=4)
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, 60))
    random = np.random.default_rng(2)
    for name, noise in (("good", 10), ("alike", 10), ("poor", 300)):
        values = people + noise * random.normal(size=people.shape)
        board = with_column(board, name, {f"g{k}": values[k].tolist() for k in range(4)})
    ranking = rank_board(board, None, draws=300)
    assert {m.name: (m.rank, m.cluster) for m in ranking.metrics} == {"good": (1, 1), "alike": (1, 1), "poor": (3, 2)}
