"""Agreement, designs, severity, consensus, estimates, what to label next and doubtful ratings, on boards and tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from crowded_boards import SEVERITY, crowded_board
from small_boards import small_board

from billboards.analyses.estimate import choose_next, estimate_drawn, estimate_generators
from billboards.analyses.ratings._ratings import TableColumns, board_ratings, seconds, table_ratings
from billboards.analyses.ratings.agreement import study_annotators
from billboards.analyses.ratings.consensus import study_consensus
from billboards.analyses.ratings.designs import design_spread, design_words, study_designs
from billboards.analyses.ratings.doubts import find_implausible
from billboards.analyses.ratings.severity import study_severity
from billboards.board import Board
from billboards.board.judgments import JudgmentColumns, join_judgments
from billboards.errors import ImportRefused, InvalidInput, NotEnoughData, UnknownName
from billboards.show.plot import ROW
from billboards.stats.reliability import krippendorff_alpha
from billboards.stats.worst_case import worst_case_se

COLUMNS = TableColumns(("doc", "seg"), "rating", "worker", "system", "aspect", "when", (0, 100))


def written(path: Path, *lines: str) -> Path:
    path.write_text("doc,seg,system,worker,aspect,rating,when\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_boards_ratings_are_its_single_judgments_without_test_questions() -> None:
    columns = board_ratings(crowded_board(), "adequacy")
    assert len(columns) == 4 * 30 * 3
    assert columns.generators == ("g0", "g1", "g2", "g3", "A", "B")
    assert np.bincount(columns.output, minlength=120).tolist() == [3] * 120
    assert set(np.round(columns.time - columns.time.min()).tolist()) == {0, 86400}
    spring = board_ratings(crowded_board(), "adequacy", campaigns=["spring"])
    assert {spring.annotators[k] for k in spring.annotator} == {"ann", "cem", "eve"}


def test_the_last_word_of_an_annotator_counts() -> None:
    judged = JudgmentColumns(("adequacy",))
    for value in (1.0, 5.0):
        judged.add(0, 0, {"adequacy": value}, annotator="ann")
        judged.add(0, 0, {"adequacy": value})
    columns = board_ratings(replace(small_board(), judgments=judged.build()), "adequacy")
    # Ann's first rating is gone; two ratings by nobody known are two people's.
    assert sorted(columns.value.tolist()) == [1, 5, 5]


def test_a_tables_ratings_are_told_apart_by_dimension_and_item(tmp_path: Path) -> None:
    path = written(
        tmp_path / "ratings.csv",
        "d1,1,A,w1,fluency,50,2026-03-02",
        "d1,1,B,w1,fluency,100,86400",
        "d1,2,A,w2,fluency,0,",
        "d1,1,A,w2,meaning,25,",
        "d1,1,A,w3,meaning,,",
    )
    found = table_ratings(path, COLUMNS)
    assert set(found) == {"fluency", "meaning"}
    fluency = found["fluency"]
    # Two generators' outputs for the first item, one for the second.
    assert fluency.output.tolist() == [0, 1, 2]
    assert fluency.instance.tolist() == [0, 0, 1]
    assert (fluency.generators, fluency.annotators, fluency.source) == (("A", "B"), ("w1", "w2"), "ratings.csv")
    assert fluency.on_unit.tolist() == [0.5, 1, 0]
    assert fluency.time[1] == 86400
    assert np.isnan(fluency.time[2])


def test_mistakes_in_a_table_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "bad.csv", "d1,1,A,w1,fluency,good,")
    with pytest.raises(ImportRefused, match=r"bad\.csv:2: rating must be a number"):
        table_ratings(path, COLUMNS)
    with pytest.raises(UnknownName, match=r"no column in .*bad\.csv named 'score'"):
        table_ratings(path, TableColumns(("doc",), "score"))
    wide = written(tmp_path / "wide.csv", "d1,1,A,w1,fluency,120,")
    with pytest.raises(InvalidInput, match="beyond 0 to 100"):
        table_ratings(wide, COLUMNS)


def test_times_are_iso_or_seconds() -> None:
    assert seconds("1970-01-02") == 86400
    assert seconds("1970-01-01T01:00:00+01:00") == 0
    assert seconds("12.5") == seconds(12.5) == 12.5
    assert np.isnan(seconds("yesterday"))
    assert np.isnan(seconds(None))


def test_agreement_by_dimension_and_day() -> None:
    columns = board_ratings(crowded_board(), "adequacy")
    study = study_annotators([columns], by="day", resamples=50)
    (whole,) = study.dimensions
    assert whole.alpha == pytest.approx(krippendorff_alpha(columns.ratings))
    assert (whole.labels, whole.outputs, whole.shared, whole.annotators) == (360, 120, 120, 6)
    assert whole.score == pytest.approx(columns.on_100.mean())
    assert whole.icc is not None
    assert whole.icc_of_mean is not None
    assert whole.icc_of_mean > whole.icc
    assert [one.population for one in study.populations] == ["2026-03-02", "2026-03-03"]
    assert sum(one.labels for one in study.populations) == 360
    assert study.pairs
    assert all(one.outputs >= 10 for one in study.pairs)


def test_days_that_nobody_noted_are_said_to_be_missing() -> None:
    columns = board_ratings(small_board(), "adequacy")
    study = study_annotators([columns], by="day", resamples=5)
    assert study.missing == {"adequacy": "no rating says its day"}
    assert study.dimensions[0].alpha is None


def test_designs_say_which_conclusions_hold_with_their_figures() -> None:
    study = study_designs([board_ratings(crowded_board(), "adequacy")], rounds=60, seed=2)
    assert (study.several, study.half, study.groups, study.items) == (3, 1, 4, {"adequacy": 120})
    sds = {(one.scale, one.aggregation, one.labels): one.sd for one in study.designs}
    claim = study.findings[0]
    assert claim.holds == all(sds[scale, "mean", 1] < sds[scale, "mean", 3] for scale, _, _ in sds)
    assert len(study.findings) == 4
    rows = len({design_words(design) for design in study.designs})
    assert (rows, design_spread(study).to_dict()["height"]) == (len(study.designs), ROW * rows)


def test_designs_without_several_labels_name_the_dimension() -> None:
    with pytest.raises(NotEnoughData, match="small, adequacy: no item has 3 labels"):
        study_designs([board_ratings(small_board(), "adequacy")])


def test_severe_annotators_are_found_in_order() -> None:
    study = study_severity(board_ratings(crowded_board(), "adequacy"))
    assert [one.annotator for one in study.annotators][:2] == ["ann", "bob"]
    assert [one.annotator for one in study.annotators][-2:] == ["eve", "fay"]
    # One point on 1-5 is 25 on 0-100; the ends of the scale cut some of it off, and few ratings are shrunken.
    assert study.annotators[0].severity == pytest.approx(25 * SEVERITY["ann"], abs=8)
    assert (study.parts, study.shared, study.outputs) == (1, 120, 120)
    # Each of them worked at one time only, so nobody can have drifted.
    assert max(abs(one.drift) for one in study.annotators) < 1e-6
    assert [one.generator for one in study.generators] == ["g0", "g1", "g2", "g3"]


def test_ratings_without_times_say_nothing_of_drift() -> None:
    columns = board_ratings(crowded_board(), "adequacy")
    study = study_severity(replace(columns, time=np.full(len(columns), np.nan)))
    assert not study.drift


def test_severity_without_known_annotators_is_refused() -> None:
    columns = board_ratings(crowded_board(), "adequacy")
    unknown = replace(columns, annotator=np.full(len(columns), -1))
    with pytest.raises(NotEnoughData, match="known annotators of known generators"):
        study_severity(unknown)


def test_consensus_of_two_ways_of_counting() -> None:
    columns = board_ratings(crowded_board(), "adequacy")
    study = study_consensus(columns, ("mean", "majority"))
    means = {one.generator: one.means["mean"] for one in study.generators}
    assert means["g0"] == pytest.approx(columns.on_100[columns.generator == 0].mean())
    assert study.skill == {}


def test_models_that_ratings_do_not_allow_are_left_out_with_the_reason() -> None:
    columns = board_ratings(crowded_board(), "adequacy")
    unknown = replace(columns, annotator=np.full(len(columns), -1))
    study = study_consensus(unknown)
    assert study.methods == ("mean", "majority")
    assert "whose each rating is" in study.left_out["mace"]
    with pytest.raises(NotEnoughData, match="whose each rating is"):
        study_consensus(unknown, ["dawid-skene"])


def test_estimates_of_every_generator_hold_mean_interval_and_worst_case() -> None:
    board = crowded_board(instances=40, unlabelled=15)
    study = estimate_generators(board, None, metric="good", resamples=200)
    assert [(one.generator, one.dimension) for one in study.estimates][:2] == [("g0", "overall"), ("g1", "overall")]
    last = study.estimates[3]
    assert (last.generator, last.labels, last.outputs) == ("g3", 25, 40)
    assert last.interval[0] < last.mean < last.interval[1]
    assert last.worst_se == pytest.approx(worst_case_se(last.mean, 25, low=0, high=100))
    assert last.with_metric is not None
    assert last.saved is not None
    assert last.saved > 0


def test_what_to_label_next_and_the_mean_from_it() -> None:
    board = crowded_board(instances=60, unlabelled=40)
    found = choose_next(board, None, "g3", 15, metric="good", seed=3)
    assert (len(found.items), found.labelled, found.outputs) == (15, 20, 60)
    labelled = {f"i{k}" for k in range(20)}
    assert {name for name, chance in found.probabilities.items() if chance == 1} >= labelled
    assert sum(found.probabilities.values()) == pytest.approx(35)
    assert not labelled & {one.instance for one in found.items}
    assert all(one.weight == pytest.approx(1 / one.probability) for one in found.items)
    later = _labelled(board, [int(one.instance[1:]) for one in found.items])
    mean = estimate_drawn(later, None, "g3", found.probabilities, metric="good")
    assert mean.interval is not None
    whole = np.mean([one.mean for one in estimate_generators(crowded_board(60), None, metric="good").estimates[3:4]])
    assert mean.interval[0] - 5 < whole < mean.interval[1] + 5


def _labelled(board: Board, instances: list[int]) -> Board:
    """The board with more labels of g3, as if people had given them."""
    full = crowded_board(60).judgments
    chosen = np.isin(full.instance, instances) & (full.row == 3)
    more = JudgmentColumns(("adequacy",))
    for k in np.flatnonzero(chosen).tolist():
        more.add(int(full.instance[k]), 3, {"adequacy": float(full.values[k, 0])}, annotator="late")
    return replace(board, judgments=join_judgments(board.judgments, more.build()))


def test_a_draw_of_another_board_and_too_many_labels_are_refused() -> None:
    board = crowded_board()
    with pytest.raises(NotEnoughData, match="g3 has 0 outputs without a label"):
        choose_next(board, None, "g3", 5, metric="good")
    with pytest.raises(InvalidInput, match="have no chance in that draw"):
        estimate_drawn(board, None, "g3", {"i0": 1.0}, metric="good")


def test_the_rating_that_was_turned_round_is_doubted_first() -> None:
    board = crowded_board()
    judgments = board.judgments
    best = int(np.flatnonzero((judgments.row == 0) & (judgments.values[:, 0] == 5))[0])
    values = judgments.values.copy()
    values[best] = 1.0
    study = find_implausible(replace(board, judgments=replace(judgments, values=values)), None, metric="good", shown=3)
    first = study.implausible[0]
    assert (first.instance, first.generator) == (f"i{judgments.instance[best]}", "g0")
    assert first.annotator == judgments.annotators[judgments.annotator[best]]
    assert first.residual < -2
    assert first.value < first.expected
    assert (study.ratings, len(study.implausible)) == (360, 3)
