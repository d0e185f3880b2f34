"""What moves a metric beside quality is found where it was planted, and not found where it was not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from judge_server import JudgeServer, Received, Reply, completion
from small_boards import small_board

import billboards as bb
from billboards.analyses._kin import kin_of
from billboards.analyses.trust import MetricTrust
from billboards.board import Board, Generator, human_scores, row_of
from billboards.errors import NotEnoughData, UnknownName
from billboards.metrics.judges.endpoint import shared_manners
from billboards.metrics.judges.pace import shared_pace


@pytest.fixture
def server(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    shared_pace.cache_clear()
    shared_manners.cache_clear()
    with JudgeServer() as opened:
        monkeypatch.setenv("BILLBOARDS_JUDGE_URL", opened.url)
        monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "stand-in")
        yield opened


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """Forty instances, three generators, outputs of many lengths."""
    made = small_board(instances=40, generators=3)
    draw = np.random.default_rng(7)
    rows = tuple(
        row_of(row.generator, made.instances, tuple(f"{row.name} " + "word " * draw.integers(1, 30) for _ in row.texts))
        for row in made.rows
        if row.generator is not None
    )
    return bb.save(replace(made, rows=rows, metrics=()), tmp_path / "made")


def measured(board: Board) -> dict[str, MetricTrust]:
    return {metric.metric: metric for metric in bb.trust(board, draws=200).value.metrics}


def answering(received: Received) -> Reply:
    """A judge that likes length, prefers what it is shown first, and has nothing to say about one output."""
    system, texts = received.body["messages"][0]["content"], received.texts
    if '"better"' in system:
        return completion('{"better": "first"}')
    if texts["output"].endswith(" word word ") and texts["output"].count("word") == 2:
        return completion("?")
    return completion(json.dumps({"score": min(100, len(texts["output"]) / 2)}))


@pytest.mark.long
def test_planted_biases_are_found(board: Board, server: JudgeServer) -> None:
    server.answer = answering
    report = bb.score(board, ["judge-DA(abstain=0.5)", "judge-pair"])
    assert report.failures == {}
    found = measured(board)
    long, pair = found["judge-DA(abstain=0.5)"], found["judge-pair"]
    assert long.length is not None
    assert long.length > 0.9
    assert long.length_interval is not None
    assert long.length_interval[0] > 0.9
    assert long.missing == report.abstained.get("judge-DA(abstain=0.5)", (0, 0))[0]
    assert (pair.first, pair.agreed, pair.spread) == (1.0, 0.0, None)
    assert long.first is None
    words = " ".join(bb.trust(board, draws=200).words)
    assert "judge-DA(abstain=0.5) favours longer outputs than people do" in words
    assert "judge-pair prefers the text that is shown first (the first wins 100%)." in words


@pytest.fixture
def family(tmp_path: Path) -> Board:
    """Generators over fourteen documents, one of them by a model of the judge's family."""
    made = small_board(instances=40, generators=5)
    names = ["Qwen2-72B" if row.name == "g3" else row.name for row in made.rows]
    rows = tuple(
        row_of(Generator(name), made.instances, tuple(f"{name} says {k} of it" for k in range(40))) for name in names
    )
    return bb.save(replace(made, rows=rows, metrics=()), tmp_path / "family")


def people_of(board: Board) -> dict[tuple[str, int], float]:
    """People's score of each output, standardised."""
    shape = len(board.rows), len(board.instances)
    scores = human_scores(board.judgments, board.aggregate(), board.dimensions, shape)
    scores = (scores - np.nanmean(scores)) / np.nanstd(scores)
    return {(row.name, k): float(scores[n, k]) for n, row in enumerate(board.rows) for k in range(shape[1])}


@pytest.mark.long
def test_planted_kinship_is_found(family: Board, server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "Qwen/Qwen2.5-7B-Instruct")
    quality = people_of(family)

    def judging(received: Received) -> Reply:
        name, _, number = received.texts["output"].partition(" says ")
        score = 50 + 5 * quality[name, int(number.split()[0])] + (25 if name.startswith("Qwen") else 0)
        return completion(json.dumps({"score": min(100.0, max(0.0, score))}))

    server.answer = judging
    bb.score(family, ["judge-DA", "chrF"])
    found = measured(family)
    judge, other = found["judge-DA"], found["chrF"]
    assert judge.kin == ("Qwen2-72B",)
    assert judge.kin_excess_interval is not None
    assert judge.kin_excess_interval[0] > 0.5
    assert judge.kin_places is not None
    assert judge.kin_places > 0
    assert (other.kin, other.kin_places, other.kin_excess) == ((), None, None)
    assert "judge-DA favours its kin (Qwen2-72B)" in " ".join(bb.trust(family, draws=200).words)
    named = {each.metric: each for each in bb.trust(family, draws=50, kin=("g1",)).value.metrics}
    assert named["judge-DA"].kin == named["chrF"].kin == ("g1",)
    assert "judge-DA favours its kin" not in " ".join(bb.trust(family, draws=200, kin=("g1",)).words)
    with pytest.raises(UnknownName, match="no generator named 'gpt'"):
        bb.trust(family, kin=("gpt",))


@pytest.mark.parametrize(
    ("model", "kin"),
    [
        ("gpt-4o-2024-08-06", {"GPT4-5shot"}),
        ("meta-llama/Llama-3-8B-Instruct", {"llama2_13b"}),
        ("claude-sonnet-4", {"tuned"}),
        ("my-large-model", set()),
        ("m", set()),
    ],
)
def test_kin_share_a_family_with_the_model(model: str, kin: set[str]) -> None:
    made = small_board(instances=4, generators=4)
    generators = (
        Generator("GPT4-5shot"),
        Generator("llama2_13b"),
        Generator("tuned", description="A large translator, tuned on texts of `claude-3`"),
        Generator("Large-Model"),
    )
    rows = tuple(row_of(each, made.instances, row.texts) for each, row in zip(generators, made.rows, strict=False))
    board = replace(made, rows=rows)
    assert kin_of(board, f"judge-DA|model:{model}|endpoint:http://x") == kin
    assert kin_of(board, f"BLEU|model:{model}") == frozenset()


@pytest.mark.long
def test_the_spread_of_samples_is_kept(board: Board, server: JudgeServer) -> None:
    server.answer = lambda received: completion("4")
    bb.score(board, ["judge-GEval(samples=2)"])
    assert measured(board)["judge-GEval(samples=2)"].spread == 0.0


def test_a_metric_that_follows_people_has_no_length_bias(board: Board, server: JudgeServer) -> None:
    bb.score(board, ["chrF"])
    (metric,) = measured(board).values()
    assert metric.missing == 0
    assert metric.first is None
    assert metric.n > 0


def test_one_instance_has_a_partial_correlation_with_length_and_no_interval(tmp_path: Path) -> None:
    board = bb.save(replace(small_board(instances=1, generators=6), metrics=()), tmp_path / "one")
    bb.score(board, ["chrF"])
    (metric,) = measured(board).values()
    assert metric.n > 3
    assert metric.length is not None
    assert metric.length_interval is None, "drawn again, one instance is always the same"


def test_a_board_without_scores_says_so(board: Board) -> None:
    with pytest.raises(NotEnoughData, match="has no scores yet"):
        bb.trust(board)
