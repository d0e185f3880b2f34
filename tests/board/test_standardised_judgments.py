"""Aggregates of z-scores, held against a plain transcription of what WMT and Simplicity-DA do."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_boards import small_board

import billboards as bb
from billboards.analyses.agreement import study_agreement
from billboards.analyses.rank import rank_board
from billboards.board import Aggregate, Board, Dimension, Judgments, human_scores, judged_values
from billboards.board.check import check_board
from billboards.board.folder import open_board
from billboards.board.judgments import JudgmentColumns, standardisation_notes
from billboards.board.writing import write_board
from billboards.errors import InvalidBoard, InvalidInput

SCALES = {"adequacy": Dimension("adequacy", range=(1, 5)), "errors": Dimension("errors", higher_is_better=False)}
Z = Aggregate("z", ("adequacy",), standardise="annotator")


def plain_scores(
    judgments: Judgments, aggregate: Aggregate, scales: dict[str, Dimension]
) -> dict[tuple[int, int], float]:
    """Each output's aggregate, one rating after the other, by the standard library alone."""
    of_dimension = []
    for name in aggregate.dimensions:
        ratings = []
        for k in range(len(judgments)):
            value = float(judgments.values[k, judgments.dimensions.index(name)])
            campaign = judgments.campaigns[judgments.campaign[k]] if judgments.campaign[k] >= 0 else None
            of_it = aggregate.campaigns is None or campaign in aggregate.campaigns
            if value == value and of_it and judgments.annotator[k] >= 0:
                ratings.append((k, judgments.annotator[k], value))
        by_annotator = defaultdict(list)
        for _, annotator, value in ratings:
            by_annotator[annotator].append(value)
        deviation = statistics.stdev if aggregate.ddof == 1 else statistics.pstdev
        cells = defaultdict(list)
        for k, annotator, value in ratings:
            own = by_annotator[annotator]
            if len(set(own)) > 1 and not judgments.details.get(k, {}).get("test"):
                z = (value - statistics.fmean(own)) / deviation(own)
                sign = 1 if scales[name].higher_is_better else -1
                cells[int(judgments.row[k]), int(judgments.instance[k])].append(sign * z)
        of_dimension.append({cell: statistics.fmean(values) for cell, values in cells.items()})
    everywhere = set.intersection(*(set(cells) for cells in of_dimension))
    return {cell: statistics.fmean([cells[cell] for cells in of_dimension]) for cell in everywhere}


ratings = st.tuples(
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(-1, 3),
    st.integers(-1, 1),
    st.one_of(st.just(float("nan")), st.integers(1, 5).map(float)),
    st.integers(-1000, 1000).map(lambda value: value / 8),
    st.booleans(),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(ratings, max_size=40), st.sampled_from([None, ("one",), ("one", "two")]), st.sampled_from([0, 1]))
def test_z_scores_equal_a_plain_transcription(
    rows: list[tuple[int, int, int, int, float, float, bool]], campaigns: tuple[str, ...] | None, ddof: int
) -> None:
    columns = JudgmentColumns(("adequacy", "errors"))
    for row, instance, annotator, campaign, adequacy, errors, is_test in rows:
        columns.add(
            instance,
            row,
            {"adequacy": adequacy, "errors": errors},
            annotator=None if annotator < 0 else f"p{annotator}",
            campaign=None if campaign < 0 else ("one", "two")[campaign],
            details={"test": "negative"} if is_test else {},
        )
    judgments = columns.build()
    for dimensions in (("adequacy",), ("adequacy", "errors")):
        aggregate = Aggregate("z", dimensions, campaigns, standardise="annotator", ddof=ddof)
        try:
            scores = human_scores(judgments, aggregate, SCALES, (3, 4))
        except InvalidInput:
            scores = np.full((3, 4), np.nan)
        expected = np.full((3, 4), np.nan)
        for cell, value in plain_scores(judgments, aggregate, SCALES).items():
            expected[cell] = value
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def judged(*ratings: tuple[int, int, str | None, float], campaign: str = "one") -> Judgments:
    columns = JudgmentColumns(("adequacy", "errors"))
    for row, instance, annotator, value in ratings:
        columns.add(instance, row, {"adequacy": value}, annotator=annotator, campaign=campaign)
    return columns.build()


def test_a_severe_annotator_counts_like_a_mild_one() -> None:
    ratings = judged((0, 0, "ann", 1), (0, 1, "ann", 3), (1, 0, "bob", 3), (1, 1, "bob", 5))
    z = human_scores(ratings, Z, SCALES, (2, 2))
    np.testing.assert_allclose(z, [[-(0.5**0.5), 0.5**0.5]] * 2)
    np.testing.assert_allclose(human_scores(ratings, replace(Z, ddof=0), SCALES, (2, 2)), [[-1, 1], [-1, 1]])


def test_an_affine_map_of_the_scale_changes_nothing_but_its_direction() -> None:
    ratings = judged((0, 0, "ann", 1), (0, 1, "ann", 3), (1, 0, "ann", 5))
    expected = human_scores(ratings, Z, SCALES, (2, 2))
    mapped = {"adequacy": Dimension("adequacy", range=(1, 5), to_100=(20, 0))}
    np.testing.assert_array_equal(human_scores(ratings, Z, mapped, (2, 2)), expected)
    turned = {"adequacy": Dimension("adequacy", range=(1, 5), higher_is_better=False)}
    np.testing.assert_array_equal(human_scores(ratings, Z, turned, (2, 2)), -expected)


def test_who_has_no_spread_and_who_has_no_name_is_left_out_and_counted() -> None:
    ratings = judged(
        (0, 0, "ann", 1), (0, 1, "ann", 3), (1, 0, "flat", 4), (1, 1, "flat", 4), (1, 0, "once", 2), (1, 1, None, 5)
    )
    z = human_scores(ratings, Z, SCALES, (2, 2))
    assert np.isfinite(z).tolist() == [[True, True], [False, False]]
    scale, nameless, flat = standardisation_notes(ratings, Z, SCALES)
    assert "divided by n - 1" in scale
    assert nameless == "z leaves out 1 ratings on adequacy that name no annotator"
    assert flat.startswith("z leaves out 3 ratings on adequacy by 2 annotators")
    assert list(standardisation_notes(ratings, Aggregate("raw", ("adequacy",)), SCALES)) == []


def test_without_any_annotator_a_standardised_aggregate_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no judgment on adequacy names its annotator"):
        human_scores(judged((0, 0, None, 1), (0, 1, None, 3)), Z, SCALES, (1, 2))
    assert np.isnan(human_scores(judged(), Z, SCALES, (1, 2))).all()


def test_single_values_of_an_aggregate_average_to_its_scores() -> None:
    ratings = judged((0, 0, "ann", 1), (0, 0, "bob", 2), (0, 1, "ann", 3), (1, 0, "bob", 5))
    for aggregate in (Z, Aggregate("raw", ("adequacy",))):
        values = judged_values(ratings, aggregate, SCALES)[:, 0]
        means = ratings.cell_means(values, (2, 2))
        np.testing.assert_allclose(means, human_scores(ratings, aggregate, SCALES, (2, 2)))


def severe_board() -> Board:
    """The small board, rated by people of whom each is more severe than the one before."""
    board = small_board()
    random = np.random.default_rng(3)
    columns = JudgmentColumns(("adequacy",))
    for row in (0, 1, 2):
        for k in range(len(board.instances)):
            for who in range(4):
                value = float(np.clip(80 - 10 * row - 15 * who + random.normal() * 8, 0, 100))
                columns.add(k, row, {"adequacy": value}, annotator=f"p{who}", campaign="spring")
    return replace(
        board,
        judgments=columns.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(0, 100))},
        aggregates={"quality": Aggregate("quality", ("adequacy",), ("spring",), standardise="annotator", ddof=0)},
        ranks="quality",
    )


def test_a_standardised_board_ranks_reports_and_agrees(tmp_path: Path) -> None:
    board = severe_board()
    ranking = rank_board(board, None, by="people", draws=200)
    people = ranking.people
    assert people is not None
    assert people.overall.name == "quality"
    assert [standing.name for standing in people.overall.generators] == ["g0", "g1", "g2"]
    first, _, last = people.overall.generators
    assert first.interval is not None
    assert last.mean < 0 < first.mean
    assert first.interval[0] < first.mean < first.interval[1]
    assert first.annotators == 4
    # The plain ratings stand beside: there severity is in the interval.
    (raw,) = people.dimensions
    spread = raw.standings["g0"].interval
    assert raw.name == "adequacy"
    assert spread is not None
    assert spread[1] - spread[0] > 10
    assert any("mean of z-scores" in note and "divided by n)" in note for note in ranking.notes)
    study = study_agreement(board, "quality", "adequacy")
    assert np.isnan(study.bias)
    assert "on different scales" in bb.agreement(board, "quality", "adequacy").to_text()
    assert [line.name for line in ranking.lines if line.kind == "annotator"]
    write_board(board, tmp_path / "board")
    bb.report(open_board(tmp_path / "board"), tmp_path / "report.html")
    assert "mean of z-scores" in (tmp_path / "report.html").read_text()


def test_a_standardised_aggregate_is_written_and_read(tmp_path: Path) -> None:
    board = severe_board()
    write_board(board, tmp_path / "board")
    text = (tmp_path / "board" / "board.toml").read_text()
    assert 'standardise = "annotator"\nddof = 0\n' in text
    again = open_board(tmp_path / "board")
    assert again.aggregates == board.aggregates
    write_board(again, tmp_path / "again")
    assert open_board(tmp_path / "again").version == again.version
    assert replace(board, aggregates={"quality": replace(board.aggregates["quality"], ddof=1)}).version != board.version
    assert not [problem for problem in check_board(tmp_path / "board") if "standardise" in problem.message]


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ('standardise = "generator"', "must be 'annotator', not 'generator'"),
        ("standardise = true", "must be 'annotator', not True"),
        ('standardise = "annotator"\nddof = 2', "ddof in [aggregates.quality] must be 0 or 1, not 2"),
        ("ddof = 0", "ddof of aggregate quality is said without standardise"),
    ],
)
def test_what_standardise_can_t_say_is_a_mistake_on_its_line(tmp_path: Path, added: str, message: str) -> None:
    board = severe_board()
    write_board(replace(board, aggregates={"quality": Aggregate("quality", ("adequacy",))}), tmp_path / "board")
    path = tmp_path / "board" / "board.toml"
    path.write_text(path.read_text().replace("[aggregates.quality]\n", f"[aggregates.quality]\n{added}\n"))
    with pytest.raises(InvalidBoard) as refused:
        open_board(tmp_path / "board")
    line = 1 + path.read_text().splitlines().index(added.splitlines()[-1])
    assert f"board.toml:{line}: " in str(refused.value)
    assert message in str(refused.value)


def test_anonymous_campaigns_and_preferences_can_t_be_standardised(tmp_path: Path) -> None:
    board = replace(severe_board(), anonymous=("spring",))
    with pytest.raises(InvalidInput, match="annotators of campaign 'spring' are anonymous"):
        write_board(board, tmp_path / "board")
    preferring = replace(
        severe_board(),
        dimensions={"adequacy": Dimension("adequacy", kind="preference")},
    )
    with pytest.raises(InvalidInput, match="preferences have no values"):
        write_board(preferring, tmp_path / "board")


def test_check_tells_of_ratings_without_z_scores(tmp_path: Path) -> None:
    board = severe_board()
    nameless = replace(board, judgments=replace(board.judgments, annotator=np.full(len(board.judgments), -1, np.int32)))
    write_board(nameless, tmp_path / "board")
    (problem,) = [problem for problem in check_board(tmp_path / "board") if "standardises" in problem.message]
    assert "no judgment on adequacy names its annotator" in problem.message


@pytest.mark.data
def test_wmt21_s_released_z_scores_are_over_all_ratings_of_a_worker_with_one_degree_less(shared_data: Path) -> None:
    by_worker = defaultdict(list)
    lines = (shared_data / "wmt21_deen_da" / "ad-deen-good-stnd-redup.csv").read_text().splitlines()
    for line in lines[1:]:
        cells = line.split("\t")
        by_worker[cells[1]].append(float(cells[10]))
    assert len(by_worker) == 181
    assert max(abs(statistics.fmean(values)) for values in by_worker.values()) < 2e-6
    assert max(abs(statistics.stdev(values) - 1) for values in by_worker.values()) < 2e-6
    assert min(abs(statistics.pstdev(values) - 1) for values in by_worker.values()) > 1e-4
    # Standardised once more they stay what they are: mean and spread are those of `standardise`.
    columns = JudgmentColumns(("adequacy", "errors"))
    for worker, values in by_worker.items():
        for k, value in enumerate(values):
            columns.add(k, 0, {"errors": value}, annotator=worker)
    plain = {"errors": Dimension("errors")}
    z = judged_values(columns.build(), replace(Z, dimensions=("errors",)), plain)[:, 0]
    np.testing.assert_allclose(z, np.concatenate(list(by_worker.values())), atol=2e-5)


def test_differences_too_small_to_square_are_no_spread() -> None:
    ratings = judged((0, 0, "ann", 0.0), (0, 1, "ann", 5e-324), (1, 0, "bob", 1), (1, 1, "bob", 2))
    assert np.isfinite(human_scores(ratings, Z, SCALES, (2, 2))).tolist() == [[False, False], [True, True]]
