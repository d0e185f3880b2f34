"""What the contract's own code enforces: batches that fit together, needs that are met, scores that are scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import (
    Batch,
    Counts,
    Floats,
    Item,
    Metric,
    MetricCard,
    SystemMetric,
    score_checked,
    score_counted_checked,
    score_each,
)
from billboards.metrics.summed import SummedMetric


@dataclass(frozen=True)
class Fixed(Metric):
    """Returns what it was made with, right or wrong."""

    answer: tuple[float, ...] = ()
    card: ClassVar[MetricCard] = MetricCard(name="fixed", needs_references=False)

    def score_batch(self, batch: Batch) -> Floats:
        return np.array(self.answer)


@dataclass(frozen=True)
class Parts(Metric):
    """Returns named parts, the second of them broken where asked."""

    broken: bool = False
    card: ClassVar[MetricCard] = MetricCard(name="parts", needs_references=False)

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        ones = np.ones(len(batch))
        return {"f1": ones, "precision": ones * (np.inf if self.broken else 2)}


@dataclass(frozen=True)
class Silent(Metric):
    """Returns no part at all."""

    card: ClassVar[MetricCard] = MetricCard(name="silent", needs_references=False)

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        return {}


@dataclass(frozen=True)
class Needy(Metric):
    """Needs references and inputs."""

    card: ClassVar[MetricCard] = MetricCard(name="needy", needs_input=True)

    def score_batch(self, batch: Batch) -> Floats:
        return np.zeros(len(batch))


def test_a_metric_that_returns_too_few_scores_has_failed() -> None:
    with pytest.raises(MetricFailed, match=r"fixed.*: returned \(1,\) scores for 2 outputs; one each is needed"):
        score_checked(Fixed((1.0,)), Batch(["a", "b"]))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_no_finite_number_is_refused_with_its_output(bad: float) -> None:
    with pytest.raises(MetricFailed, match=rf"scored 'second' as {bad}; scores must be finite"):
        score_checked(Fixed((1.0, bad)), Batch(["first", "second"]))


def test_a_broken_part_is_named() -> None:
    assert list(score_checked(Parts(), Batch(["a"]))) == ["f1", "precision"]
    with pytest.raises(MetricFailed, match=r"parts\(broken=True\)\[precision\]: scored 'a' as inf"):
        score_checked(Parts(broken=True), Batch(["a"]))


def test_a_metric_without_any_part_has_failed() -> None:
    with pytest.raises(MetricFailed, match="silent: returned no part at all"):
        score_checked(Silent(), Batch(["a"]))


def test_an_output_without_reference_is_refused_where_one_is_needed() -> None:
    with pytest.raises(InvalidInput, match="needy needs a reference for every output; 'b' has none"):
        score_checked(Needy(), Batch(["a", "b"], [["r"], []], ["i", "i"]))
    with pytest.raises(InvalidInput, match="needy needs a reference for every output; 'a' has none"):
        score_checked(Needy(), Batch(["a", "b"], [], ["i", "i"]))


def test_inputs_that_are_needed_must_be_given() -> None:
    with pytest.raises(InvalidInput, match="needy needs the input of every output; 0 were given"):
        score_checked(Needy(), Batch(["a", "b"], [["r"], ["r"]]))


def test_three_outputs_against_two_reference_lists_are_no_batch() -> None:
    with pytest.raises(InvalidInput, match="3 outputs and 2 lists of references; give one for each, or none"):
        Batch(["a", "b", "c"], [["r"], ["r"]])
    with pytest.raises(InvalidInput, match="1 outputs and 2 inputs"):
        Batch(["a"], inputs=["i", "i"])


def test_a_bare_text_is_no_list_of_references() -> None:
    with pytest.raises(InvalidInput, match="a list of texts for each output, also where there is only one"):
        Batch(["a", "b"], ["ref", "ref"])


def test_a_part_of_a_batch_keeps_outputs_references_and_inputs_together() -> None:
    batch = Batch(["a", "b", "c"], [["ra"], ["rb", "rb2"], ["rc"]], ["ia", "ib", "ic"], "en")
    assert list(batch.part(1, 3).items()) == [Item("b", ("rb", "rb2"), "ib"), Item("c", ("rc",), "ic")]
    assert batch.part(1, 3).language == "en"


def test_what_appears_twice_is_worked_out_once() -> None:
    asked: list[Item] = []

    def score(item: Item) -> float:
        asked.append(item)
        return float(len(item.output))

    batch = Batch(["aa", "b", "aa", "aa"], [["r"], ["r"], ["r"], ["other"]])
    assert list(score_each(batch, score)) == [2.0, 1.0, 2.0, 2.0]
    assert asked == [Item("aa", ("r",), None), Item("b", ("r",), None), Item("aa", ("other",), None)]


def test_a_name_carries_only_the_options_that_differ_and_a_signature_all() -> None:
    assert (Parts().name, Parts(broken=True).name) == ("parts", "parts(broken=True)")
    assert (Parts().signature, Parts(broken=True).signature) == ("parts|broken:False", "parts|broken:True")


@dataclass(frozen=True)
class Distinct(SystemMetric):
    """Different words over words, of all outputs together."""

    broken: bool = False
    card: ClassVar[MetricCard] = MetricCard(name="distinct-1", needs_references=False)

    def score_system(self, batch: Batch) -> float:
        words = [word for output in batch.outputs for word in output.split()]
        return float("nan") if self.broken else len(set(words)) / len(words)


def test_a_system_metric_has_one_value_and_no_sentence_scores() -> None:
    batch = Batch(["a b", "a c"])
    assert Distinct().corpus_score(batch) == 3 / 4
    parts, counts = score_counted_checked(Distinct(), batch)
    assert np.isnan(parts[""]).all()
    np.testing.assert_array_equal(counts, [[3 / 4, 2]])
    assert Distinct().corpus_signature(draws=10) == "distinct-1|broken:False|corpus:system|bs:10|seed:12345"


def test_a_system_value_must_be_finite() -> None:
    with pytest.raises(MetricFailed, match=r"distinct-1.*scored 1 outputs together as nan"):
        Distinct(broken=True).corpus_score(Batch(["a"]))
    with pytest.raises(InvalidInput, match="no output to score"):
        Distinct().corpus_score(Batch([]))


@dataclass(frozen=True)
class Uncounted(SummedMetric):
    """Promises counts and gives wrong ones, or none."""

    rows: int | None = None
    card: ClassVar[MetricCard] = MetricCard(name="uncounted", needs_references=False)

    def statistics(self, items: object) -> Counts:
        return np.zeros((0, 1))

    def scores_of(self, rows: Counts) -> Floats:
        return np.zeros(len(rows))

    def score_counted(self, batch: Batch) -> tuple[Floats, Counts | None]:
        return np.zeros(len(batch)), None if self.rows is None else np.full((self.rows, 1), np.nan)


@pytest.mark.parametrize(("rows", "problem"), [(None, "no counts"), (3, "3, 1.*2 are needed"), (2, "no finite")])
def test_counts_that_a_corpus_value_needs_are_checked(rows: int | None, problem: str) -> None:
    with pytest.raises(MetricFailed, match=problem):
        score_counted_checked(Uncounted(rows), Batch(["a", "b"]))


def test_the_corpus_value_of_other_metrics_is_the_mean_of_their_scores() -> None:
    assert Fixed((1.0, 2.0, 6.0)).corpus_score(Batch(["a", "b", "c"])) == 3.0
    with pytest.raises(InvalidInput, match="no output to score"):
        Fixed(()).corpus_score(Batch([]))
