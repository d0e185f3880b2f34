"""Procedures of several questions: errors then a score, expectations, both orders, panels; at a real server."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from itertools import cycle

import numpy as np
import pytest
from judge_server import JudgeServer, Received, Reply, completion, token_logprobs

from billboards.errors import InvalidInput, MetricFailed, MissingPart, UnknownName
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric
from billboards.metrics.judges.esa import ESA
from billboards.metrics.judges.geval import GEval
from billboards.metrics.judges.mqm import MQM
from billboards.metrics.judges.pair import Pair
from billboards.metrics.judges.panel import Panel

HELLO = Batch(["hello"], [["hi", "good day"]], ["hallo"])
ALONE = Batch(["hello"], (), ["hallo"])


def listed(found: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]) -> dict[str, list[float]]:
    return {part: scores.tolist() for part, scores in found.items()}


def esa_judge(received: Received) -> Reply:
    """Errors where none are shown, then a score that depends on how many are."""
    texts = received.texts
    if "errors" not in texts:
        return completion('{"errors": [{"span": "hell", "category": "style", "severity": "Minor"}]}')
    return completion(json.dumps({"score": 90 - len(texts["errors"])}))


def test_esa_scores_an_output_given_the_errors_that_were_found(server: JudgeServer) -> None:
    server.answer = esa_judge
    found = listed(score_checked(ESA(), ALONE))
    assert found == {"score": [89.0], "critical": [0.0], "major": [0.0], "minor": [1.0]}
    errors, score = server.received
    assert set(errors.texts) == {"input", "output"}
    assert score.texts["errors"] == [{"span": "hell", "category": "style", "severity": "minor"}]
    assert score.body["messages"][0]["content"].splitlines()[-1] == '{"score": 0}'


def test_esa_shares_its_first_question_with_mqm(server: JudgeServer) -> None:
    server.answer = esa_judge
    assert listed(score_checked(MQM(), ALONE))["score"] == [-1.0]
    score_checked(ESA(), ALONE)
    assert len(server.received) == 2


def test_esa_abstains_where_either_step_can_not_be_read(server: JudgeServer) -> None:
    texts = ["output 0", "output 1", "output 2", "output 3"]
    outputs = Batch(texts, (), texts)

    def answer(received: Received) -> Reply:
        shown = received.texts
        if shown["output"] == "output 1" or ("errors" in shown and shown["output"] == "output 2"):
            return completion("Who knows?")
        return esa_judge(received)

    server.answer = answer
    scores = score_checked(ESA(abstain=0.5), outputs)["score"]
    assert np.flatnonzero(np.isnan(scores)).tolist() == [1, 2]


def test_geval_is_the_mean_over_samples_and_keeps_their_spread(server: JudgeServer) -> None:
    drawn = cycle(["2", "4", "Score: 4", "5/5"])
    server.answer = lambda received: completion(next(drawn))
    found = listed(score_checked(GEval(samples=4), ALONE))
    spread = math.sqrt(np.var([2, 4, 4, 5]))
    assert found["mean"] == found["coherence"] == [3.75]
    assert found["spread"] == [pytest.approx(spread)]
    assert len(server.received) == 4
    assert {received.body["temperature"] for received in server.received} == {1.0}
    assert len({json.dumps(received.body) for received in server.received}) == 1
    # More samples need only the new ones; none is asked for twice.
    score_checked(GEval(samples=4), ALONE)
    score_checked(GEval(samples=6), ALONE)
    assert len(server.received) == 6


def test_geval_asks_for_each_aspect_alone(server: JudgeServer) -> None:
    server.answer = lambda received: completion("5" if "- fluency" in received.body["messages"][0]["content"] else "2")
    found = listed(score_checked(GEval(aspects="fluency+relevance", samples=2), ALONE))
    assert found == {"mean": [3.5], "fluency": [5.0], "relevance": [2.0], "spread": [0.0]}


def test_geval_leaves_out_samples_that_can_not_be_read(server: JudgeServer) -> None:
    server.script.extend(map(completion, ["3", "?", "?", "5"]))
    assert listed(score_checked(GEval(samples=3), ALONE))["mean"] == [4.0]


def test_geval_weighs_numbers_by_their_probability(server: JudgeServer) -> None:
    probabilities = {"4": 0.5, " 5": 0.25, "3": 0.125, "four": 0.1, "9": 0.025}
    server.script.append(completion("4", logprobs=token_logprobs(probabilities)))
    found = listed(score_checked(GEval(logprobs=True), ALONE))
    mean = (4 * 0.5 + 5 * 0.25 + 3 * 0.125) / 0.875
    assert found["mean"] == [pytest.approx(mean)]
    variance = sum(p * (n - mean) ** 2 for n, p in ((4, 0.5), (5, 0.25), (3, 0.125))) / 0.875
    assert found["spread"] == [pytest.approx(math.sqrt(variance))]
    (received,) = server.received
    assert (received.body["logprobs"], received.body["top_logprobs"]) == (True, 20)
    # They are kept with the answer.
    assert listed(score_checked(GEval(logprobs=True), ALONE)) == found
    assert len(server.received) == 1


def test_geval_says_where_an_endpoint_gives_no_probabilities(server: JudgeServer) -> None:
    server.script.append(completion("4"))
    with pytest.raises(MetricFailed, match=r"gives no log-probabilities .*sample instead"):
        score_checked(GEval(logprobs=True), ALONE)


def test_geval_refuses_options_that_make_no_sense() -> None:
    for wrong in ("samples=0", "aspects=wit", "kind="):
        with pytest.raises(InvalidInput):
            metric(f"judge-GEval({wrong})")


def preferring(better: Callable[[str, str], str]) -> Callable[[Received], Reply]:
    return lambda received: completion(
        json.dumps({"better": better(received.texts["first"], received.texts["second"])})
    )


def test_a_pair_is_shown_in_both_orders_and_a_tie_counts_half(server: JudgeServer) -> None:
    ranks = {"hello": 2, "hi": 1, "good day": 3, "same": 2}

    def better(first: str, second: str) -> str:
        return "Tie" if ranks[first] == ranks[second] else "first" if ranks[first] > ranks[second] else "second"

    server.answer = preferring(better)
    batch = Batch(["hello", "hi"], [["hi", "good day", "same", "hello"], ["good day"]], ["hallo", "hallo"])
    found = listed(score_checked(Pair(), batch))
    # Of four: one won, one lost, one tied, and one is the output itself.
    assert found == {"won": [0.5, 0.0], "first": [0.5, 0.5], "agreed": [1.0, 1.0]}
    orders = Counter((received.texts["first"], received.texts["second"]) for received in server.received)
    assert len(orders) == 8
    assert set(orders.values()) == {1}


def test_the_position_bias_of_a_planted_judge_is_found_and_cancels_in_the_score(server: JudgeServer) -> None:
    """A judge that prefers longer texts, and in three of ten pairs whatever it is shown first."""
    draw = np.random.default_rng(5)
    outputs = ["x" * (2 * int(half) + 1) for half in draw.integers(0, 20, 200)]
    references = [["y" * 20] for _ in outputs]
    biased = {text for k, text in enumerate(dict.fromkeys(outputs)) if k % 10 < 3}

    def better(first: str, second: str) -> str:
        return "first" if {first, second} & biased or len(first) > len(second) else "second"

    server.answer = preferring(better)
    found = score_checked(Pair(input=False), Batch(outputs, references, ()))
    share = np.mean([text in biased for text in outputs])
    assert found["first"].mean() == pytest.approx(0.5 + share / 2)
    assert found["agreed"].mean() == pytest.approx(1 - share)
    untouched = np.array([text not in biased for text in outputs])
    assert set(found["first"][untouched]) == {0.5}
    longer = np.array([len(text) > 20 for text in outputs])
    np.testing.assert_array_equal(found["won"][untouched], longer[untouched].astype(float))
    assert set(found["won"][~untouched]) == {0.5}


def test_a_judge_without_bias_shows_none(server: JudgeServer) -> None:
    server.answer = preferring(lambda first, second: "first" if first > second else "second")
    outputs = [f"text {k}" for k in range(50)]
    found = score_checked(Pair(input=False), Batch(outputs, [["text 25x"]] * 50, ()))
    assert set(found["first"]) == {0.5}
    assert set(found["agreed"]) == {1.0}


def test_a_choice_that_is_none_is_asked_for_once_more(server: JudgeServer) -> None:
    server.script.extend(map(completion, ['{"better": "both"}', '{"better": "FIRST "}', '{"better": "second"}']))
    found = listed(score_checked(Pair(), Batch(["hello"], [["hi"]], ["hallo"])))
    assert found["won"] == [1.0]


def by_model(**scores: str) -> Callable[[Received], Reply]:
    return lambda received: completion(scores[received.body["model"]])


def test_a_panel_is_the_mean_of_its_members_and_keeps_each(server: JudgeServer) -> None:
    server.answer = by_model(a='{"score": 10}', b='{"score": 40}', c='{"score": 70}')
    found = listed(score_checked(metric("judge-panel(models=a+b+c)"), HELLO))
    assert found == {"mean": [40.0], "a": [10.0], "b": [40.0], "c": [70.0]}
    assert metric("judge-panel(models=a+b)[b]").signature.endswith("|part:b")


def test_a_member_that_abstains_is_left_out(server: JudgeServer) -> None:
    def answer(received: Received) -> Reply:
        is_odd = received.body["model"] == "b" and received.texts["output"] == "output 3"
        return completion("?" if is_odd else '{"score": 10}' if received.body["model"] == "a" else '{"score": 30}')

    server.answer = answer
    texts = [f"output {k}" for k in range(20)]
    found = score_checked(Panel(models="a+b"), Batch(texts, [[text] for text in texts], texts))
    assert found["mean"].tolist() == [20.0] * 3 + [10.0] + [20.0] * 16
    assert np.isnan(found["b"]).sum() == 1


def test_a_panel_asks_what_its_judge_asks(server: JudgeServer) -> None:
    panel = Panel(models="a+b", judge="MQM")
    assert (panel.card.range, panel.card.needs_references) == ((-25.0, 0.0), False)
    score_checked(panel, ALONE)
    assert {"errors" in received.body["messages"][0]["content"] for received in server.received} == {True}
    assert listed(score_checked(MQM(model="a"), ALONE))["score"] is not None
    assert len(server.received) == 2


def test_a_panel_of_nobody_twice_or_of_a_strange_judge_is_refused(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in ("a+a", "a+", "+"):
        with pytest.raises(InvalidInput, match="must be names, each once"):
            Panel(models=wrong)
    with pytest.raises(UnknownName, match="DA, ESA, Likert, MQM"):
        Panel(judge="pair")
    monkeypatch.delenv("BILLBOARDS_JUDGE_MODEL")
    with pytest.raises(MissingPart, match="judge-panel needs models"):
        assert Panel().signature
