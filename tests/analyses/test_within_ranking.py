"""Agreement within items in a ranking: beside the pooled one, with its own leader, and told no more than that."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from ranking_examples import RANKING, metric
from small_boards import noisy_board, small_board

import billboards as bb
from billboards.analyses._disclosed import Disclosure, disclosed, disclosed_leaders, disclosed_lines, disclosed_metrics
from billboards.analyses._reference_lines import ReferenceLine, reference_lines
from billboards.analyses._report import findings
from billboards.analyses._view import judged_matrix
from billboards.analyses._within_items import Leaders, leaders_words
from billboards.analyses.rank import Ranking, RankingOptions, lines_table, metric_table, rank_board, rank_words
from billboards.board import Board, ImportedColumn, Slice, human_scores
from billboards.board.judgments import JudgmentColumns
from billboards.board.trust import TrustRules
from billboards.show.documents import document_of, result_of
from billboards.site.pages.board_table import board_table
from billboards.site.pages.board_wish import Wish
from billboards.stats.ladder import Rung
from billboards.stats.pairwise import pairwise_difference_pearson

Floats = NDArray[np.float64]
HIDDEN = Disclosure(judgments=True, people=True)


def hard_and_easy(instances: int = 60) -> Board:
    """Items differ far more than outputs; `items` knows the items alone, `outputs` judges outputs and not items."""
    random = np.random.default_rng(3)
    board, columns = small_board(instances=instances), JudgmentColumns(("adequacy",))
    hard = random.uniform(-1.4, 1.4, instances)
    quality = random.normal(size=(4, instances)) / 4
    for row, k in np.ndindex(4, instances):
        columns.add(k, row, {"adequacy": float(np.clip(3 + hard[k] + quality[row, k], 1, 5))}, annotator="ann")
    board = replace(board, judgments=columns.build())
    noise = random.normal(size=(2, 4, instances))
    imported = {"items": hard + noise[0] / 20, "outputs": 4 * quality + hard / 2 + noise[1]}
    return replace(board, imported=tuple(_column(name, values) for name, values in imported.items()))


def _column(name: str, values: Floats) -> ImportedColumn:
    return ImportedColumn(
        name=name,
        source_name=name,
        signature=f"imported:{name}",
        values={f"g{k}": values[k] for k in range(4)},
        references=("A", "B"),
    )


@pytest.fixture(scope="module")
def two_leaders() -> Ranking:
    return rank_board(hard_and_easy(), None, draws=200)


def test_every_metric_has_its_agreement_within_items_with_an_interval_and_its_pairs() -> None:
    board = noisy_board({"near": 0.5, "far": 3.0})
    ranking, matrix = rank_board(board, None, draws=200), judged_matrix(board, None)
    expected = pairwise_difference_pearson(matrix.scores.values, matrix.judged_human)
    for m in ranking.metrics:
        place = matrix.scores.names.index(m.name)
        assert m.within == pytest.approx(expected.value[place], abs=1e-12)
        assert m.within_n == expected.n[place] == 300
        assert m.within is not None
        assert m.within_interval is not None
        assert m.within_interval[0] < m.within < m.within_interval[1]
    assert ranking.leaders is None, "near leads both ways"


def test_intervals_come_from_what_the_pooled_ones_draw() -> None:
    board = noisy_board({"near": 0.5, "far": 3.0})
    intervals = {
        resampled: rank_board(board, None, draws=100, resampled=resampled).metrics[0].within_interval
        for resampled in ("instances", "documents", "generators", "both")
    }
    assert len({str(interval) for interval in intervals.values()}) == 4
    assert rank_board(board, None, draws=0).metrics[0].within_interval is None


def test_a_ranking_says_when_another_metric_leads_within_items(two_leaders: Ranking) -> None:
    assert two_leaders.leaders is not None
    assert (two_leaders.leaders.pooled, two_leaders.leaders.within) == ("items", "outputs")
    assert max(two_leaders.leaders.pooled_p or 1, two_leaders.leaders.within_p or 1) < 0.05
    words = leaders_words(two_leaders)
    assert words is not None
    assert words.startswith("Over all outputs items leads (0.9")
    assert "within items outputs does (0." in words
    assert "Both differences are significant (p = 0.0050 and p = 0.0050)" in words
    for told in (rank_words(two_leaders), findings(two_leaders), metric_table(two_leaders).notes):
        assert words in told


@pytest.mark.parametrize(
    ("pooled_p", "within_p", "words"),
    [
        (0.2, 0.3, "Neither difference is significant (p = 0.2000 and p = 0.3000)."),
        (0.01, 0.3, "The difference over all outputs is significant (p = 0.0100), the one within items is not"),
        (0.2, 0.01, "The difference within items is significant (p = 0.0100), the one over all outputs is not"),
        (None, None, "A 0.500)."),
    ],
)
def test_whether_the_differences_are_luck_is_said(pooled_p: float | None, within_p: float | None, words: str) -> None:
    metrics = (replace(metric("A", 1, 0.7), within=0.5), replace(metric("B", 2, 0.6), within=0.55))
    named = Leaders(pooled="A", within="B", pooled_p=pooled_p, within_p=within_p)
    said = leaders_words(replace(RANKING, metrics=metrics, leaders=named)) or ""
    assert words in said
    assert said.startswith("Over all outputs A leads (0.700, B 0.600); within items B does (0.550, A 0.500).")


def test_statistics_and_metrics_on_probation_lead_nothing() -> None:
    board = hard_and_easy()
    barred = rank_board(replace(board, trust=TrustRules(barred={"outputs": "has a fault"})), None, draws=50)
    assert barred.leaders is None
    assert next(m for m in barred.metrics if m.name == "outputs").within is not None


def test_the_board_page_has_a_row_for_it(two_leaders: Ranking) -> None:
    table = board_table(two_leaders, None, Wish())
    cells = {column.key: column.within for column in table.columns}
    assert table.has_within
    assert cells["people"].text == ""
    assert cells["items"].text.startswith(("0.0", "0.1", "0.2", "-0."))
    assert cells["outputs"].more[1] == "n = 360 pairs of outputs of one instance"
    assert not board_table(RANKING, None, Wish()).has_within


def test_a_metric_that_is_constant_in_every_item_has_a_dash() -> None:
    board = small_board(instances=20)
    values = np.tile(np.random.default_rng(1).normal(size=20), (4, 1))
    ranking = rank_board(replace(board, imported=(_column("items", values),)), None, draws=20)
    assert ranking.metrics[0].correlation is not None
    assert ranking.metrics[0].within is None
    assert "within items" not in [column.header for column in metric_table(ranking).visible]


def test_lines_fall_within_items_where_all_they_know_are_items() -> None:
    board = hard_and_easy()
    lines = {line.name: line for line in reference_lines(board, Slice())}
    human = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, 60))[:4]
    lengths = np.array([[len(text or "") for text in row.texts] for row in board.rows[:4]], float)
    expected = pairwise_difference_pearson(lengths[None], human).value[0]
    assert lines["length"].within == pytest.approx(expected, abs=1e-12)
    assert lines["input only"].correlation is not None
    assert lines["input only"].within is None


def test_annotators_are_measured_within_items_too() -> None:
    board, columns, random = small_board(instances=20), JudgmentColumns(("adequacy",)), np.random.default_rng(0)
    said = np.clip(random.uniform(1, 5, (4, 20)) + random.normal(size=(2, 4, 20)), 1, 5)
    for who, row, k in np.ndindex(2, 4, 20):
        columns.add(k, row, {"adequacy": float(said[who, row, k])}, annotator="ab"[who])
    lines = {line.name: line for line in reference_lines(replace(board, judgments=columns.build()), Slice())}
    expected = pairwise_difference_pearson(said[:1], said[1]).value[0]
    assert lines["a"].within == pytest.approx(expected, abs=1e-12)


def test_a_sentinel_above_every_metric_is_said_to_fall(two_leaders: Ranking) -> None:
    lines = (
        ReferenceLine(name="output only", kind="sentinel", correlation=0.99, n=240, summary="surface", within=0.01),
        ReferenceLine(name="input only", kind="sentinel", correlation=0.995, n=240, summary="surface"),
    )
    table = lines_table(replace(two_leaders, lines=lines))
    best = max(m.within or 0 for m in two_leaders.metrics)
    assert table.notes[1] == (
        f"Within items: output only 0.010 and input only can tell nothing apart; the best metric {best:.3f}."
    )
    assert table.rows[0]["within"] == 0.01


def test_where_judgments_are_hidden_it_is_rounded_like_the_pooled_one() -> None:
    exact = [
        replace(metric("a", 1, 0.61234), n=400, within=0.41234, within_n=900, within_interval=(0.35111, 0.46666)),
        replace(metric("b", 2, 0.51234), n=400, within=0.45678, within_n=900),
        replace(metric("c", None, None), within=0.3, within_interval=(0.2, 0.4)),
    ]
    told = {m.name: m for m in disclosed_metrics(exact, HIDDEN)}
    assert (told["a"].within, told["a"].within_interval) == (0.41, (0.35, 0.47))
    assert (told["b"].within, told["c"].within, told["c"].within_interval) == (0.46, None, None)
    kept_back = replace(HIDDEN, rungs={"a": Rung(value=0.5, improves=False)})
    again = {m.name: m for m in disclosed_metrics(exact, kept_back)}
    assert (again["a"].within, again["a"].within_interval) == (None, None)
    (line,) = disclosed_lines(
        [ReferenceLine(name="length", kind="sentinel", correlation=0.12345, n=400, summary="", within=-0.5678)], HIDDEN
    )
    assert (line.correlation, line.within) == (0.12, -0.57)


def test_who_leads_is_said_as_far_as_the_told_numbers_say_it() -> None:
    metrics = (
        replace(metric("A", 1, 0.7), n=400, within=0.501),
        replace(metric("B", 2, 0.6), n=400, within=0.504),
    )
    named = Leaders(pooled="A", within="B", pooled_p=0.0512, within_p=0.001)
    ranking = replace(RANKING, metrics=metrics, leaders=named)
    assert disclosed(ranking, HIDDEN).leaders is None, "both are 0.50 to those who may know two decimals"
    apart = (metrics[0], replace(metrics[1], within=0.56))
    told = disclosed(replace(ranking, metrics=apart), HIDDEN).leaders
    assert told == Leaders(pooled="A", within="B", pooled_p=0.06, within_p=0.01)
    laddered = replace(HIDDEN, rungs={"B": Rung(value=0.6, improves=True)})
    assert disclosed_leaders(named, apart, laddered) == Leaders(pooled="A", within="B")
    assert disclosed_leaders(named, metrics, Disclosure()) is named


def test_a_column_that_singles_outputs_out_within_items_tells_nothing_of_hidden_judgments() -> None:
    board, random = small_board(instances=40), np.random.default_rng(2)
    spy = np.tile(random.normal(size=40), (4, 1))
    spy[1, 7] += 1.0
    honest = np.tile(random.normal(size=40), (4, 1)) + random.normal(size=(4, 40))
    board = replace(board, imported=(_column("spy", spy), _column("honest", honest)))
    shown = {m.name: m.within for m in rank_board(board, None, draws=20).metrics}
    hidden = rank_board(board, None, RankingOptions(disclosure=HIDDEN), draws=20)
    told = {m.name: m for m in hidden.metrics}
    assert abs(shown["spy"] or 0) > 0.01
    assert told["spy"].correlation is not None
    assert told["spy"].within is None
    assert told["honest"].within is not None


def test_on_a_private_share_it_is_measured_on_the_private_judgments() -> None:
    board = replace(hard_and_easy(), trust=TrustRules(private_share=0.4, private_seed=3))
    ranking = rank_board(board, None, draws=20)
    assert ranking.private is not None
    assert {m.within_n for m in ranking.metrics} == {6 * ranking.private.private}


def test_rankings_of_earlier_versions_open_and_are_verified_without_it(tmp_path: Path) -> None:
    home = tmp_path / "small"
    board = bb.save(small_board(), home)
    bb.score(board, ["chrF", "length"])
    bb.rank(bb.open(home), draws=20, save=True)
    (kept,) = (home / "rankings").glob("*.json")
    document = json.loads(kept.read_text("utf-8"))
    ranking = document.get("ranking", document)
    assert ranking["metrics"][0]["within"] is not None
    del ranking["leaders"]
    for entry in (*ranking["metrics"], *ranking["lines"]):
        for key in ("within", "within_n", "within_interval"):
            entry.pop(key, None)
    opened = result_of(Ranking, ranking)
    assert [m.within for m in opened.metrics] == [None, None]
    assert document_of(opened)["leaders"] is None
    kept.write_text(json.dumps(document), "utf-8")
    verified = bb.verify(home).value.ranking
    assert verified is not None
    assert verified.numbers == ()
