"""`NAME[part]`: one of the scores that a metric gives is a metric, and costs nothing where the metric is scored."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from small_boards import Errors, Overlap, small_board

import billboards as bb
from billboards.analyses.rank import RankingOptions, rank_board
from billboards.board.cells import MemoryCells, SqliteCells
from billboards.board.folder import open_board
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import column_key, score_board
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, MetricFailed, UnknownName
from billboards.metrics.base import Batch, Floats, Metric, MetricCard, score_checked
from billboards.metrics.cards import card_facts
from billboards.metrics.discovery import canonical, metric, part_names
from billboards.metrics.executor import InProcess
from billboards.metrics.parts import part_of, split_part

BATCH = Batch(["the cat sat"], [["the cat sat down here"]])


@pytest.mark.parametrize(
    ("spec", "name", "part"),
    [
        ("ROUGE-L[recall]", "ROUGE-L", "recall"),
        (" rouge-l [ recall ] ", "rouge-l", "recall"),
        ("ROUGE-L(stemmer=True)[recall]", "ROUGE-L(stemmer=True)", "recall"),
        ("BLEU(smooth=floor[0.05])", "BLEU(smooth=floor[0.05])", None),
        ("BLEU(smooth=floor[0.05]", "BLEU(smooth=floor[0.05]", None),
        ("chrF", "chrF", None),
    ],
)
def test_a_part_stands_in_square_brackets_at_the_end(spec: str, name: str, part: str | None) -> None:
    assert tuple(text and text.strip() for text in split_part(spec)) == (name, part)


def test_a_part_is_a_metric() -> None:
    recall = metric("rouge-1(stemmer=True)[Recall]")
    assert recall.name == "ROUGE-1(stemmer=True)[recall]"
    assert recall.signature == metric("ROUGE-1(stemmer=True)").signature + "|part:recall"
    assert list(score_checked(recall, BATCH)) == [""]
    assert score_checked(metric("ROUGE-1[recall]"), BATCH)[""] == pytest.approx([3 / 5])
    assert score_checked(metric("ROUGE-1[precision]"), BATCH)[""] == pytest.approx([1])
    assert pickle.loads(pickle.dumps(recall)).signature == recall.signature
    assert canonical("bertscore[P]") == "BERTScore[P]"
    assert part_names(["BLEU", "rouge-l[recall]"]) == ("ROUGE-L[recall]",)


def test_a_part_goes_with_its_metrics_language() -> None:
    chosen = metric("ROUGE-1[recall]").for_language("ru")
    assert chosen.name == "ROUGE-1[recall]"
    assert chosen.full_name == "ROUGE-1(tokenizer=unicode)[recall]"
    assert "tokenizer:unicode" in chosen.signature


def test_unknown_parts_are_named_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match="no part of ROUGE-L named 'recal'; did you mean recall"):
        metric("ROUGE-L[recal]")
    with pytest.raises(MetricFailed, match="BLEU has no part 'x'; it has only one score"):
        metric("BLEU[x]").score_batch(BATCH)
    with pytest.raises(InvalidInput, match="names no part"):
        metric("BLEU[]")


def test_a_card_lists_the_parts() -> None:
    assert (
        card_facts(metric("SARI"))["parts"]
        == "SARI (the score), keep, delete, add; each may be named, as in `SARI[add]`"
    )
    assert "parts" not in card_facts(metric("BLEU"))
    assert metric("judge-Likert(aspects=fluency+relevance)").parts == ("mean", "fluency", "relevance")


@pytest.mark.parametrize("name", ["ROUGE-1", "ROUGE-Lsum", "SARI"])
def test_the_card_names_the_parts_that_come(name: str) -> None:
    scorer = metric(name)
    batch = Batch(["a cat"], [["the cat"]], ["one cat"])
    assert tuple(score_checked(scorer, batch)) == scorer.parts


@dataclass(frozen=True)
class Counted(Metric):
    """Words shared, and words that are wrong; counts how often it is run."""

    card: ClassVar[MetricCard] = MetricCard(name="counted", parts=("shared", "wrong"), turned_parts=("wrong",))
    runs: ClassVar[list[int]] = []

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        self.runs.append(len(batch))
        return {"shared": Overlap().score_batch(batch), "wrong": Errors().score_batch(batch)["count"]}


def test_a_part_of_a_scored_metric_is_scored_without_running_it_again() -> None:
    board, store = small_board(), MemoryCells()
    whole = Counted()
    score_board(board, store, [whole], InProcess())
    runs = len(Counted.runs)
    report = score_board(board, store, [part_of(whole, "wrong"), part_of(whole, "shared")], InProcess())
    assert len(Counted.runs) == runs
    assert (report.computed, report.failures) == (0, {})
    scores = board_scores(board, store)
    assert scores.names == ("counted", "counted[shared]", "counted[wrong]")
    np.testing.assert_array_equal(scores.of("counted[shared]"), scores.of("counted"))
    own = next(k for k, row in enumerate(board.rows) if row.name == "g3")
    batch = Batch(
        [text or "" for text in board.rows[own].texts], [[r.text for r in i.references] for i in board.instances]
    )
    # Wrong words are fewer where the score is better, so they are turned for themselves.
    np.testing.assert_array_equal(scores.of("counted[wrong]")[own], -Errors().score_batch(batch)["count"])


def test_a_part_alone_is_scored_with_its_metric() -> None:
    board, store = small_board(), MemoryCells()
    report = score_board(board, store, [part_of(Errors(), "any"), part_of(Errors(), "no")], InProcess())
    assert report.computed == 4
    assert report.failures == {"errors[no]": "errors has no part 'no'; its parts are count, any"}
    assert board_scores(board, store).names == ("errors", "errors[any]")
    key = column_key(board, part_of(Errors(), "any"), board.references)
    assert set(store.load(key, [row.version for row in board.rows])) == {row.version for row in board.rows[:4]}


def test_a_ranking_by_a_part_needs_no_scoring(tmp_path: Path) -> None:
    board = small_board()
    write_board(board, tmp_path / "b")
    board = open_board(tmp_path / "b")
    bb.score(board, ["ROUGE-L", "chrF"])
    ranking = rank_board(board, SqliteCells(tmp_path / "b"), RankingOptions(by="ROUGE-L[recall]", draws=0))
    assert ranking.ranked_by == "ROUGE-L[recall]"
    recall = next(standing for standing in ranking.metrics if standing.name == "ROUGE-L[recall]")
    assert recall.signature.endswith("|part:recall")
    assert recall.correlation is not None
    assert {standing.name for standing in bb.rank(board, draws=0).value.metrics} == {"ROUGE-L", "chrF"}
    with pytest.raises(UnknownName, match="no part of ROUGE-L named 'x'; known: fmeasure, precision, recall"):
        bb.rank(board, by="ROUGE-L[x]", draws=0)
    with pytest.raises(UnknownName, match=r"no metric named 'ROUGE-2\[recall\]'"):
        bb.rank(board, by="ROUGE-2[recall]", draws=0)
    pair = bb.compare(board, "ROUGE-L[recall]", "ROUGE-L", draws=10).value
    assert getattr(pair, "first", None) == "ROUGE-L[recall]"


def test_a_part_that_the_boards_file_names_is_a_column(tmp_path: Path) -> None:
    write_board(replace(small_board(), metrics=("ROUGE-L[recall]", "chrF")), tmp_path / "b")
    board = open_board(tmp_path / "b")
    bb.score(board)
    assert [standing.name for standing in bb.rank(board, draws=0).value.metrics if "[" in standing.name] == [
        "ROUGE-L[recall]"
    ]
