"""What is decided on a board while one watches: orders, units, scales, and the interval that is looked at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses.watch import WatchStudy, verdict
from billboards.board import Aggregate, Board, Dimension, Generator, ImportedColumn, Instance, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.errors import NotEnoughData
from billboards.stats.correlation import instance_sums
from billboards.stats.sequences import confidence_sequence
from billboards.stats.watching_metrics import watch_correlations
from billboards.stats.worst_case import bootstrap_mean

#: How much better each generator is than the first, on 1-5.
GAPS = {"low": 0.0, "like": 0.0, "high": 1.6}


def judged_board(
    units: int = 60, *, by_generator: bool = False, times: bool = False, range_: tuple[float, float] | None = (1, 5)
) -> Board:
    """Three generators on instances of twenty documents; labels come instance by instance, or by generator."""
    random = np.random.default_rng(4)
    instances = tuple(
        Instance(f"i{k}", references=(Reference("Ada", f"text {k}"),), document=f"d{k % 20}") for k in range(units)
    )
    rows = tuple(row_of(Generator(name), instances, tuple(f"{name} says {k}" for k in range(units))) for name in GAPS)
    values = {
        (g, k): float(np.clip(round(2.2 + gap + random.normal(0, 0.8)), 1, 5))
        for k in range(units)
        for g, gap in enumerate(GAPS.values())
    }
    places = sorted(values) if by_generator else sorted(values, key=lambda place: place[::-1])
    judged = JudgmentColumns(("quality",))
    for g, k in places:
        # Times tell that the instances came backwards.
        judged.add(k, g, {"quality": values[g, k]}, annotator="ann", details={"time": 1000 - k} if times else {})
    scores = {
        "good": [[values[g, k] for k in range(units)] for g in range(3)],
        "bad": random.normal(0, 1, (3, units)).tolist(),
    }
    columns = tuple(
        ImportedColumn(
            name=name,
            source_name=name,
            signature=f"imported:{name}",
            values={row.name: np.array(column[g]) for g, row in enumerate(rows)},
        )
        for name, column in scores.items()
    )
    return Board(
        name="watched",
        instances=instances,
        rows=rows,
        judgments=judged.build(),
        dimensions={"quality": Dimension("quality", range=range_)},
        aggregates={"overall": Aggregate("overall", ("quality",))},
        ranks="overall",
        imported=columns,
    )


def watched(board: Board, home: Path, **options: object) -> WatchStudy:
    return bb.watch(bb.save(board, home / board.name), **{"draws": 100, **options}).value


def test_pairs_are_decided_after_labels_and_means_have_both_intervals(tmp_path: Path) -> None:
    board = judged_board()
    study = watched(board, tmp_path)
    assert (study.order, study.unit, study.method) == ("file", "instance", "betting")
    assert (study.labels, study.instances) == (180, 60)
    assert study.means[0].generator == "high"
    by_pair = {frozenset((pair.better, pair.other)): pair for pair in study.pairs}
    assert by_pair[frozenset(("low", "like"))].decided is False
    sure = by_pair[frozenset(("high", "low"))]
    assert sure.better == "high"
    assert sure.labels == 3 * (sure.instances or 0) < 180
    human = (board.judgments.means("quality", (3, 60)) - 1) * 25
    high = next(mean for mean in study.means if mean.generator == "high")
    assert high.interval == pytest.approx(confidence_sequence(human[2], high=100))
    assert high.once == pytest.approx(bootstrap_mean(human[2], resamples=100)[1:])
    assert sure.interval == pytest.approx(confidence_sequence(human[2] - human[0], low=-100, high=100))
    assert sure.once == pytest.approx(bootstrap_mean(human[2] - human[0], resamples=100)[1:])
    assert sure.interval[0] < sure.once[0] < sure.once[1] < sure.interval[1]  # type: ignore[index]


def test_metrics_are_followed_over_the_same_instances(tmp_path: Path) -> None:
    board = judged_board()
    study = watched(board, tmp_path)
    assert [metric.metric for metric in study.metrics] == ["good", "bad"]
    assert (study.metrics[0].beaten, study.metrics[1].beaten_by) == (1, 1)
    human = board.judgments.means("quality", (3, 60))
    scores = np.stack([[column.values[row.name] for row in board.rows] for column in board.imported]).astype(float)
    expected = watch_correlations(instance_sums(scores, human))
    assert study.metrics[1].interval == pytest.approx((expected.low[1], expected.high[1]))
    (pair,) = study.metric_pairs
    assert (pair.better, pair.other, pair.decided) == ("good", "bad", True)
    assert pair.interval == pytest.approx((expected.difference_low[0], expected.difference_high[0]))


def test_words_and_tables_say_what_is_decided_and_what_was_looked_at_once(tmp_path: Path) -> None:
    result = bb.watch(bb.save(judged_board(), tmp_path / "watched"), draws=50)
    text = result.to_text(wide=True)
    assert "95%, looked at once" in text
    assert "95%, valid while you watch" in text
    assert "not yet decided" in text
    assert "decided after" in text
    assert result.words[0].startswith("2 of 3 pairs of generators are decided, the last of them after ")
    assert result.words[1].startswith("good is decided to agree better with people than 1 of 1 other metrics")
    assert verdict(None) == "not yet decided"
    assert verdict(1200) == "decided after 1,200 labels"


def test_a_file_that_goes_by_generator_says_so_and_a_random_order_helps(tmp_path: Path) -> None:
    given = bb.watch(bb.save(judged_board(by_generator=True), tmp_path / "watched"), draws=20)
    assert "this order goes by generator" in given.to_text()
    random = bb.watch(bb.open(tmp_path / "watched"), draws=20, order="random", seed=3)
    assert "this order goes by generator" not in random.to_text()
    assert "in a random order (seed 3)" in random.to_text()
    first = min(pair.labels for pair in given.value.pairs if pair.labels is not None)
    assert min(pair.labels for pair in random.value.pairs if pair.labels is not None) < first - 60


def test_times_order_the_labels_where_every_judgment_has_one(tmp_path: Path) -> None:
    board = judged_board(times=True)
    study = watched(board, tmp_path)
    assert study.order == "time"
    human = (board.judgments.means("quality", (3, 60)) - 1) * 25
    backwards = confidence_sequence(human[2, ::-1], high=100)
    assert next(mean for mean in study.means if mean.generator == "high").interval == pytest.approx(backwards)


def test_documents_and_pools(tmp_path: Path) -> None:
    board = judged_board()
    by_document = watched(board, tmp_path, unit="document")
    assert (by_document.instances, by_document.labels) == (20, 180)
    assert {mean.n for mean in by_document.means} == {20}
    assert by_document.metrics == (), "too few documents for an asymptotic sequence"
    pool = bb.watch(bb.open(tmp_path / "watched"), target="instances", draws=20).value
    means = (board.judgments.means("quality", (3, 60)) - 1) * 25
    low, high = next(mean for mean in pool.means if mean.generator == "high").interval or (0.0, 0.0)
    assert (low, high) == pytest.approx((means[2].mean(), means[2].mean())), "all of them are judged"


def test_a_scale_without_ends_has_asymptotic_sequences(tmp_path: Path) -> None:
    result = bb.watch(bb.save(judged_board(range_=None), tmp_path / "watched"), draws=20)
    assert result.value.method == "asymptotic"
    assert "The scale has no ends" in result.to_text()
    assert all(mean.interval is not None for mean in result.value.means)
    few = bb.watch(bb.save(judged_board(20, range_=None), tmp_path / "few"), draws=20).value
    assert [mean.interval for mean in few.means] == [None] * 3


def test_z_scores_are_told_as_such(tmp_path: Path) -> None:
    board = replace(judged_board(), aggregates={"overall": Aggregate("overall", ("quality",), standardise="annotator")})
    result = bb.watch(bb.save(board, tmp_path / "watched"), draws=20)
    assert result.value.method == "asymptotic"
    assert "Values are z-scores" in result.to_text()


def test_where_nothing_can_be_decided_the_reason_is_told(tmp_path: Path) -> None:
    one = replace(judged_board(), rows=judged_board().rows[:1])
    lonely = JudgmentColumns(("quality",))
    lonely.add(0, 0, {"quality": 3.0})
    with pytest.raises(NotEnoughData, match="two judged generators"):
        bb.watch(bb.save(replace(one, judgments=lonely.build(), imported=()), tmp_path / "one"))
    board = judged_board()
    first = row_of(Generator("low"), board.instances, (None, *board.rows[0].texts[1:]))
    rows = (first, *board.rows[1:])
    kept = JudgmentColumns(("quality",))
    for k in range(1, 60):
        for g in range(3):
            kept.add(k, g, {"quality": 3.0})
    gap = replace(board, rows=rows, judgments=kept.build(), imported=())
    with pytest.raises(NotEnoughData, match="an output of each generator"):
        bb.watch(bb.save(gap, tmp_path / "gap"), target="instances")
    nothing = bb.watch(bb.open(tmp_path / "gap"), draws=20)
    assert nothing.words == ("None of 3 pairs of generators is decided after 177 labels.",)


def test_people_who_judged_little_decide_nothing(tmp_path: Path) -> None:
    study = watched(small_board(instances=20), tmp_path)
    assert study.metrics == ()
    assert all((mean.interval or (-1.0, 0.0))[0] >= 0 for mean in study.means)
