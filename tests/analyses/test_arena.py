"""Generators ranked by strength in comparisons, wherever the comparisons come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses._comparisons import compared_generators
from billboards.board import Aggregate, Board, Dimension, Generator, Instance, Judgment, Slice, loose_rows, row_of
from billboards.board.folder import open_board
from billboards.board.judgment_sources import judgment_columns
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, NotEnoughData

NAMES = ("A", "B", "C", "D")
THETA = {"A": 1.5, "B": 0.1, "C": 0.0, "D": -1.6}
BETTER = Dimension("better", kind="preference", definition="Which is better?")
VALUE = Dimension("value", range=(0, 100), definition="Which is better?")


def board_of(judgments: list[Judgment], instances: int, *, dimension: Dimension = BETTER, **kinds: Any) -> Board:
    every = tuple(Instance(str(k), domain="odd" if k % 2 else "even") for k in range(instances))
    rows = tuple(
        row_of(Generator(name, kind=kinds.get(name, "machine")), every, tuple(f"{name} {k}" for k in range(instances)))
        for name in NAMES
    )
    bare = Board(
        name="arena-board", instances=every, rows=rows, dimensions={dimension.name: dimension}, ranks=dimension.name
    )
    return judgment_columns(bare, judgments)


def preferences(count: int = 600, *, annotators: int = 6, seed: int = 0, ties: float = 0.2) -> list[Judgment]:
    random = np.random.default_rng(seed)
    judgments = []
    for k in range(count):
        a, b = random.choice(NAMES, 2, replace=False)
        wins = random.random() < 1 / (1 + np.exp(THETA[b] - THETA[a]))
        told: dict[str, Any] = {"order": [[a, b]]} if random.random() < ties else {"prefers": a if wins else b}
        judgments.append(
            Judgment(
                instance=str(k % 50),
                outputs=(str(a), str(b)),
                values={},
                annotator=f"p{k % annotators}",
                campaign="votes",
                details={"dimension": "better", **told},
            )
        )
    return judgments


@pytest.fixture(scope="module")
def board() -> Board:
    return board_of(preferences(), 50, D="human")


def test_generators_that_cannot_be_told_apart_share_a_rank(board: Board) -> None:
    result = bb.arena(board).value
    ranks = {entrant.name: entrant.rank for entrant in result.generators}
    assert ranks == {"A": 1, "B": 2, "C": 2, "D": 4}
    places = {entrant.name: entrant.places for entrant in result.generators}
    assert places == {"A": (1, 1), "B": (2, 3), "C": (2, 3), "D": (4, 4)}
    assert [entrant.cluster for entrant in result.generators] == [1, 2, 2, 3]
    assert np.mean([entrant.rating for entrant in result.generators]) == pytest.approx(1000)
    for entrant in result.generators:
        assert entrant.interval is not None
        assert entrant.interval[0] < entrant.rating < entrant.interval[1]
        assert entrant.won + entrant.tied + entrant.lost == entrant.comparisons
    assert sum(entrant.comparisons for entrant in result.generators) == 2 * 600


def test_what_happened_between_two_stands_in_the_win_matrix(board: Board) -> None:
    result = bb.arena(board)
    meeting = next(m for m in result.value.meetings if (m.first, m.second) == ("A", "D"))
    counted = [j for j in preferences() if set(j.outputs) == {"A", "D"}]
    assert meeting.won == sum(j.details.get("prefers") == "A" for j in counted)
    assert meeting.tied == sum("order" in j.details for j in counted)
    assert meeting.lost == sum(j.details.get("prefers") == "D" for j in counted)
    matrix = result.to_pandas(1)
    share = 100 * (meeting.won + meeting.tied / 2) / len(counted)
    cells = {row["name"]: row for row in matrix.to_dict("records")}
    assert cells["A"]["against D"] == pytest.approx(share)
    assert cells["D"]["against A"] == pytest.approx(100 - share)
    assert share == pytest.approx(meeting.expected, abs=8)


def test_annotators_and_instances_are_clusters_where_known(board: Board) -> None:
    result = bb.arena(board).value
    assert (result.units, result.annotators, result.instances) == (("instances", "annotators"), 6, 50)
    nobody = board_of([replace(j, annotator=None) for j in preferences()], 50)
    assert bb.arena(nobody).value.units == ("instances",)
    assert "annotators are not known" in str(bb.arena(nobody))
    assert bb.arena(replace(board, anonymous=("votes",))).value.annotators is None


@pytest.mark.parametrize("certainty", ["information", "bootstrap"])
def test_other_intervals_have_the_same_middle_and_about_the_same_width(board: Board, certainty: str) -> None:
    usual, other = (bb.arena(board, certainty=c, draws=100).value.generators for c in ("clustered", certainty))
    assert [e.rating for e in usual] == [e.rating for e in other]
    for a, b in zip(usual, other, strict=True):
        assert a.interval is not None
        assert b.interval is not None
        assert 0.3 < (b.interval[1] - b.interval[0]) / (a.interval[1] - a.interval[0]) < 2


def test_the_tie_model_is_chosen_and_told(board: Board) -> None:
    davidson, rao = (bb.arena(board, ties=ties).value for ties in ("davidson", "rao-kupper"))
    assert davidson.tie_parameter is not None
    assert rao.tie_parameter is not None
    assert rao.tie_parameter > 1
    assert davidson.tie_share == pytest.approx(0.2, abs=0.05)
    assert "Davidson's ties" in str(bb.arena(board))
    assert bb.arena(board, ties="half").value.tie_parameter is None
    undecided = board_of(preferences(ties=0.0), 50)
    assert bb.arena(undecided).value.model == "Bradley-Terry (nobody tied)"


def test_who_was_never_beaten_gets_a_stated_weak_prior_unless_it_is_refused() -> None:
    won = [
        Judgment(instance=str(k), outputs=(a, b), values={}, details={"dimension": "better", "prefers": a})
        for k, (a, b) in enumerate([("A", "B"), ("A", "C"), ("B", "C"), ("C", "B"), ("C", "D"), ("D", "B")])
    ]
    board = board_of(won, 6)
    result = bb.arena(board)
    assert (result.value.prior, result.value.separated) == (1.0, "A was never beaten by the others")
    assert "1 imaginary comparison(s) of each generator with an average one: A was never beaten" in " ".join(
        str(result).split()
    )
    with pytest.raises(NotEnoughData, match="A was never beaten by the others, so no finite strength fits best"):
        bb.arena(board, prior=0.0)
    assert bb.arena(board, prior=3.0).value.separated is None


def test_elo_follows_the_order_of_the_judgments(board: Board) -> None:
    forward = bb.arena(board, elo_step=16.0).value
    assert (forward.elo[0].comparisons, forward.elo[-1].comparisons) == (0, 600)
    assert set(forward.elo[0].ratings) == {1000.0}
    assert len(forward.elo) <= 200
    backward = bb.arena(board_of(preferences()[::-1], 50), elo_step=16.0).value
    assert [e.rating for e in backward.generators] == pytest.approx([e.rating for e in forward.generators])
    assert backward.elo[-1].ratings != pytest.approx(forward.elo[-1].ratings, abs=1.0)


def test_values_that_were_given_together_are_comparisons(tmp_path: Path) -> None:
    """As campaigns of pairs lay them on the board: a value for each of two outputs, in one answer."""
    answers = [("A", 75, "B", 25), ("B", 100, "A", 0), ("A", 50, "B", 50), ("C", 75, "A", 25), ("B", 75, "C", 25)]
    judgments = [
        Judgment(
            instance=str(k), outputs=(name,), values={"value": value}, annotator="p", campaign="c",
            details={"time": f"2026-05-01T12:00:{k:02}Z", "template": "pairwise@1"},
        )
        for k, (a, x, b, y) in enumerate(answers)
        for name, value in ((a, float(x)), (b, float(y)))
    ]  # fmt: skip
    # A rating by itself compares nothing.
    judgments.append(replace(judgments[-1], outputs=("D",), details={"time": "2026-05-01T13:00:00Z"}))
    board = open_board(write_board(board_of(judgments, 5, dimension=VALUE), tmp_path / "board"))
    compared = compared_generators(board, board.aggregate(), Slice())
    names = compared.names
    assert names == ("A", "B", "C")
    outcomes = compared.outcomes
    results = zip(outcomes.first, outcomes.second, outcomes.result, strict=True)
    assert [f"{names[a]}{names[b]}{r}" for a, b, r in results] == ["AB1", "BA1", "AB0", "CA1", "BC1"]
    assert bb.arena(board).value.comparisons == 5
    assert bb.arena(board, part=Slice(domain="odd"), prior=1.0).value.comparisons == 2


def best_worst(seed: int = 0, count: int = 200) -> list[Judgment]:
    random, judgments = np.random.default_rng(seed), []
    for k in range(count):
        noisy = {name: THETA[name] + random.gumbel() for name in NAMES}
        order = sorted(NAMES, key=lambda name: -noisy[name])
        for name in NAMES:
            value = 100.0 if name == order[0] else 0.0 if name == order[-1] else 50.0
            judgments.append(
                Judgment(
                    instance=str(k % 40), outputs=(name,), values={"value": value}, annotator=f"p{k % 5}", campaign="c",
                    details={"time": f"2026-05-01T12:{k // 60:02}:{k % 60:02}Z"},
                )
            )  # fmt: skip
    return judgments


def test_choices_of_best_and_worst_have_their_own_model() -> None:
    board = board_of(best_worst(), 40, dimension=VALUE)
    result = bb.arena(board)
    assert (result.value.choices, result.value.comparisons) == (200, 200 * 5)
    assert result.value.model == "Maximum difference (best-worst)"
    names = [entrant.name for entrant in result.value.generators]
    assert (names[0], names[-1]) == ("A", "D")
    assert result.value.tie_share == 0.0, "outputs between best and worst are not ties"
    assert "200 choices of a best and a worst output" in str(result)
    with pytest.raises(InvalidInput, match="have no bootstrap"):
        bb.arena(board, certainty="bootstrap")
    assert bb.arena(board, certainty="information").value.units == ()


def test_ratings_of_single_outputs_are_refused_with_a_way_on() -> None:
    with pytest.raises(NotEnoughData, match=r"people rated single outputs on .* and compared none.*rank --by people"):
        bb.arena(small_board())
    with pytest.raises(NotEnoughData, match="nobody compared outputs"):
        bb.arena(replace(small_board(), ranks=None))


def test_loose_outputs_have_no_strength() -> None:
    every = (Instance("0"), Instance("1"))
    rows = loose_rows(every, [("0", "o1", "one"), ("0", "o2", "two"), ("1", "o3", "three"), ("1", "o4", "four")])
    bare = Board(name="loose", instances=every, rows=rows, dimensions={"better": BETTER}, ranks="better")
    prefers = [("0", "o1"), ("1", "o4")]
    judgments = [
        Judgment(instance=k, outputs=("#1", "#2"), values={}, details={"dimension": "better", "prefers": name})
        for k, name in prefers
    ]
    with pytest.raises(NotEnoughData, match="are not of generators' outputs"):
        bb.arena(judgment_columns(bare, judgments))


def test_charts_show_ratings_and_elo(board: Board) -> None:
    result = bb.arena(board)
    assert len(result.drawn()) == 2
    ratings, elo = (result.chart(k).to_dict() for k in (0, 1))
    assert "A leads in people's comparisons" in " ".join(ratings["title"]["text"])
    assert "order" in " ".join(elo["title"]["subtitle"])


def test_an_aggregate_of_some_campaigns_counts_only_these(board: Board) -> None:
    other = [replace(j, campaign="later") for j in preferences(100, seed=9)]
    both = replace(
        board_of([*preferences(), *other], 50), aggregates={"late": Aggregate("late", ("better",), ("later",))}
    )
    assert bb.arena(both).value.comparisons == 700
    assert bb.arena(both, aggregate="late").value.comparisons == 100
