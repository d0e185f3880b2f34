"""What every metric that is installed promises, whoever wrote it."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from billboards.errors import MissingPart
from billboards.metrics.base import Batch, Floats, Metric, score_checked, score_counted_checked
from billboards.metrics.cards import card_facts
from billboards.metrics.discovery import metric, metric_class, metric_names
from billboards.metrics.summed import SummedMetric

#: Another valid value for each option that takes text.
OTHER_TEXT = {
    "tokenize": "char",
    "smooth": "floor",
    "tokenizer": "characters",
    "language": "de",
    "references": "mean",
    "definition": "corrected",
    "model": "sentence-transformers/all-MiniLM-L6-v2",
    "layer": 4,
    "baseline": "known",
    "precision": "bf16",
    "kind": "translation into English",
    "aspects": "fluency+relevance",
    "prompt": "automqm",
    "models": "judge-a+judge-b",
    "judge": "MQM",
}
#: The same, where an option of this name takes other values in one metric than elsewhere.
OTHER_TEXT_OF = {("NIST", "definition"): "nltk", ("length", "definition"): "beametrics"} | {
    (f"{statistic}-{n}", "definition"): "beametrics" for statistic in ("repetition", "abstractness") for n in (1, 2, 3)
}
#: Another valid value for each option whose scale ends before one more.
OTHER_SHARE = {"abstain": 0.5, "alpha": 0.5}
#: Long enough for runs of nine words.
LONG = "one two three four five six seven eight nine ten"

OUTPUTS = [
    "The cat sat on the mat.",
    "A dog ran, and ran, and ran away!",
    "",
    "Das Mädchen aß 1,5 Äpfel.",
    "猫坐在垫子上。",
    "The cat sat on the mat.",
    " ",
    "кошка",
    "x",
    LONG,
]
REFERENCES = [
    ["The cat sat on a mat.", "On the mat sat a cat."],
    ["A dog ran away."],
    ["Nothing was said."],
    ["Das Mädchen aß anderthalb Äpfel.", ""],
    ["猫坐在地上。"],
    ["The cat sat on a mat.", "On the mat sat a cat."],
    ["A reference for blanks."],
    ["кошка"],
    ["x y z", "x"],
    [f"{LONG} eleven", "one two"],
]
INPUTS = ["the cat", "a dog ran", "input", "", "猫", "the cat", "blank", "cat", "x y", "one two two"]


def batch_for(scorer: Metric, batch: Batch) -> Batch:
    """A batch with just what the metric says it needs, as scoring gives it."""
    references = batch.references if scorer.card.needs_references else ()
    return Batch(batch.outputs, references, batch.inputs if scorer.card.needs_input else (), batch.language)


def primary(scorer: Metric, batch: Batch) -> Floats:
    """A metric's primary scores, the contract of `score_checked` kept."""
    return next(iter(score_checked(scorer, batch_for(scorer, batch)).values()))


def asks_for_a_model(name: str) -> bool:
    """Whether a metric is nothing until somebody names its model; its own tests make it a small one."""
    found = metric_class(name)
    options = {f.name: f.default for f in fields(found)}
    asked = {options.get("model"), options.get("qa")}
    return found.__module__.startswith("billboards.metrics.neural") and "" in asked


COMPLETE = [name for name in metric_names() if not asks_for_a_model(name)]


def named_where(holds: Callable[[type[Metric]], bool]) -> list[str]:
    return [name for name in COMPLETE if holds(metric_class(name))]


one_by_one = pytest.mark.parametrize("name", named_where(lambda found: not found.needs_corpus))
taking_the_best = pytest.mark.parametrize(
    "name",
    named_where(lambda found: found.card.needs_references and found.multiple_references == "best"),
)


@pytest.mark.parametrize("name", [name for name in metric_names() if name not in COMPLETE])
def test_a_metric_without_a_model_says_how_to_name_one(name: str) -> None:
    with pytest.raises(MissingPart, match=rf"(?s){name}.*model"):
        assert metric(name).signature


@pytest.fixture(params=COMPLETE)
def scorer(request: pytest.FixtureRequest) -> Metric:
    return installed(request.param)


def installed(name: str) -> Metric:
    """A metric that can run here; the tests of others are skipped and say what is missing."""
    found = metric(name)
    try:
        assert found.signature
    except MissingPart as missing:
        pytest.skip(str(missing))
    return found


def bounds(scorer: Metric) -> tuple[float, float]:
    low, high = scorer.card.range or (None, None)
    return (-np.inf if low is None else low, np.inf if high is None else high)


@pytest.fixture
def batch() -> Batch:
    return Batch(copy.deepcopy(OUTPUTS), copy.deepcopy(REFERENCES), copy.deepcopy(INPUTS), "en")


def other(name: str, option: str, value: object) -> Any:
    """A value of a metric's option that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return OTHER_SHARE.get(option, value + 1)
    if option == "endpoint":
        return f"{os.environ['BILLBOARDS_JUDGE_URL']}/elsewhere"
    if (name, option) in OTHER_TEXT_OF:
        return OTHER_TEXT_OF[name, option]
    if option not in OTHER_TEXT:
        pytest.fail(f"option {option} takes text: name another valid value in OTHER_TEXT")
    return OTHER_TEXT[option]


def variants(scorer: Metric) -> list[Metric]:
    """The metric with each of its options changed, one at a time.

    A hub's revision is one of a fetched model, which these metrics don't read: tests/metrics/neural/test_fetching.py.
    """
    options = {f.name: getattr(scorer, f.name) for f in fields(scorer) if f.init and f.name != "revision"}
    return [replace(scorer, **{option: other(scorer.card.name, option, value)}) for option, value in options.items()]


def test_a_metric_is_a_frozen_dataclass(scorer: Metric) -> None:
    assert is_dataclass(type(scorer))
    with pytest.raises(FrozenInstanceError):
        scorer.anything = 1  # type: ignore[attr-defined]


def test_its_name_is_the_one_it_is_found_by_and_finds_it_again(scorer: Metric) -> None:
    assert scorer.name == scorer.card.name
    assert metric(scorer.name) == scorer
    for variant in variants(scorer):
        assert metric(variant.name) == variant


def test_its_card_is_complete(scorer: Metric) -> None:
    card = scorer.card
    assert card.missing() == ()
    low, high = bounds(scorer)
    assert low < high
    assert json.loads(json.dumps(asdict(card), allow_nan=False))["name"] == card.name
    stated = ("measures", "needs", "range", "direction", "training data", "licence", "paper", "known failures")
    assert not set(stated) - set(card_facts(scorer))


def test_its_signature_is_stable_and_equal_for_equal_metrics(scorer: Metric) -> None:
    assert scorer.signature == scorer.signature == metric(scorer.name).signature
    assert not set(scorer.signature) & set("\n\t\r")


def test_its_signature_and_name_change_with_any_option(scorer: Metric) -> None:
    everything = [scorer, *variants(scorer)]
    assert len({each.signature for each in everything}) == len(everything)
    assert len({each.name for each in everything}) == len(everything)


def test_no_two_metrics_share_a_signature() -> None:
    signatures = [installed(name).signature for name in COMPLETE]
    assert len(set(signatures)) == len(signatures)


def test_every_output_gets_one_finite_score_within_the_range(scorer: Metric, batch: Batch) -> None:
    for each in (scorer, *variants(scorer)):
        low, high = bounds(each)
        scores = primary(each, batch)
        assert scores.shape == (len(OUTPUTS),)
        assert np.isfinite(scores).all()
        assert (scores >= low - 1e-9).all()
        assert (scores <= high + 1e-9).all()


def test_an_empty_output_has_a_finite_score(scorer: Metric) -> None:
    scores = primary(scorer, Batch(["", "\n"], [["a reference"], [""]], ["an input", ""]))
    assert np.isfinite(scores).all()


def test_an_empty_batch_has_no_scores(scorer: Metric) -> None:
    assert primary(scorer, Batch([])).shape == (0,)


@pytest.mark.parametrize("name", named_where(lambda found: found.card.deterministic))
def test_scoring_twice_gives_the_same_scores(name: str, batch: Batch) -> None:
    np.testing.assert_array_equal(primary(installed(name), batch), primary(installed(name), batch))


@one_by_one
def test_the_order_of_outputs_does_not_matter(name: str, batch: Batch) -> None:
    order = np.random.default_rng(3).permutation(len(OUTPUTS))
    mixed = Batch([OUTPUTS[k] for k in order], [REFERENCES[k] for k in order], [INPUTS[k] for k in order], "en")
    np.testing.assert_array_equal(primary(metric(name), mixed), primary(metric(name), batch)[order])


@one_by_one
def test_scoring_in_parts_equals_scoring_the_whole(name: str, batch: Batch) -> None:
    parts = [primary(metric(name), batch.part(start, start + 2)) for start in range(0, len(batch), 2)]
    np.testing.assert_array_equal(np.concatenate(parts), primary(metric(name), batch))


def test_duplicates_score_the_same(scorer: Metric, batch: Batch) -> None:
    first, last = [k for k, output in enumerate(OUTPUTS) if output == OUTPUTS[0]]
    scores = primary(scorer, batch)
    assert scores[first] == scores[last]


def test_a_batch_is_not_changed(scorer: Metric, batch: Batch) -> None:
    primary(scorer, batch)
    assert batch == Batch(OUTPUTS, REFERENCES, INPUTS, "en")


def test_what_a_metric_does_not_need_it_does_not_use(scorer: Metric, batch: Batch) -> None:
    """Metrics see only what they ask for; given more, they score as before."""
    card = scorer.card
    strange = Batch(
        OUTPUTS,
        REFERENCES if card.needs_references else [["strange"]] * len(OUTPUTS),
        INPUTS if card.needs_input else ["strange"] * len(OUTPUTS),
    )
    whole = next(iter(score_checked(scorer, strange).values()))
    np.testing.assert_array_equal(whole, primary(scorer, batch))


def test_what_a_metric_needs_it_uses(scorer: Metric, batch: Batch) -> None:
    card = scorer.card
    if card.needs_references:
        foreign = replace(batch, references=[["Something else altogether"]] * len(OUTPUTS))
        assert (primary(scorer, foreign) != primary(scorer, batch)).any()
    if card.needs_input:
        foreign = replace(batch, inputs=["Das Mädchen aß 1,5 Äpfel."] * len(OUTPUTS))
        assert (primary(scorer, foreign) != primary(scorer, batch)).any()


def test_a_metric_travels_to_another_process(scorer: Metric, batch: Batch) -> None:
    for each in (scorer, *variants(scorer)):
        arrived = pickle.loads(pickle.dumps(each))
        assert arrived == each
        assert arrived.signature == each.signature
    np.testing.assert_array_equal(primary(pickle.loads(pickle.dumps(scorer)), batch), primary(scorer, batch))


def test_a_corpus_value_is_that_of_the_summed_counts_or_the_mean(scorer: Metric, batch: Batch) -> None:
    given = batch_for(scorer, batch)
    parts, counts = score_counted_checked(scorer, given)
    scores = next(iter(parts.values()))
    np.testing.assert_array_equal(scores, primary(scorer, batch))
    value = scorer.corpus_score(given)
    if isinstance(scorer, SummedMetric) and scorer.corpus == "counts":
        assert counts is not None
        assert len(counts) == len(OUTPUTS)
        assert value == scorer.corpus_scores_of(counts.sum(axis=0)[np.newaxis])[0]
    else:
        assert (scorer.corpus, counts) == ("mean", None)
        assert value == pytest.approx(np.nanmean(scores), rel=1e-12)


def test_a_metric_with_counts_is_not_scored_together(scorer: Metric) -> None:
    assert not (scorer.scores_together and scorer.corpus != "mean")


def test_a_corpus_signature_names_the_references_and_the_draws(scorer: Metric) -> None:
    signature = scorer.corpus_signature(2, draws=1000)
    assert {"nrefs:2", "bs:1000", "seed:12345"} <= set(signature.split("|"))
    assert not {"nrefs", "bs", "seed"} & {word.split(":")[0] for word in scorer.corpus_signature().split("|")}


def random_batch(seed: int, size: int = 60) -> Batch:
    """Texts of a small vocabulary with 1 to 4 references each; some are empty, and the last one is long."""
    draw = random.Random(seed)
    words = ["the", "The", "cat", "cats,", "sat", "on", "naïve", "猫", "mat.", "1,000"]

    def text() -> str:
        return " ".join(draw.choices(words, k=draw.randrange(9)))

    references = [*([text() for _ in range(draw.randint(1, 4))] for _ in range(size)), [text(), LONG]]
    return Batch([*(text() for _ in range(size)), LONG], references, [text() for _ in range(size + 1)])


def best_over_single_references(scorer: Metric, batch: Batch) -> Floats:
    best = max if scorer.card.higher_is_better else min
    single = []
    for item in batch.items():
        alone = Batch([item.output] * len(item.references), [[r] for r in item.references], ())
        given = replace(alone, inputs=[item.input or ""] * len(alone))
        single.append(best(primary(scorer, given)))
    return np.array(single)


@taking_the_best
def test_best_means_exactly_the_best_over_single_references(name: str) -> None:
    for seed, each in enumerate(e for e in (metric(name), *variants(metric(name))) if e.takes_best_reference):
        batch = random_batch(seed)
        np.testing.assert_array_equal(primary(each, batch), best_over_single_references(each, batch))


@taking_the_best
def test_more_references_never_make_a_best_score_worse(name: str) -> None:
    scorer, batch = metric(name), random_batch(11)
    fewer = replace(batch, references=[texts[:1] for texts in batch.references])
    gain = primary(scorer, batch) - primary(scorer, fewer)
    assert ((gain if scorer.card.higher_is_better else -gain) >= 0).all()
    assert (gain != 0).any()
