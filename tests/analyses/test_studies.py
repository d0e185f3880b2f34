"""Hybrids, means from few labels, power and agreement: what the statistics give, laid on boards by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_boards import noisy_board, small_board

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.analyses.agreement import agreement_words, other_source, study_agreement
from billboards.analyses.ensemble import ensemble_scores, fit_view
from billboards.analyses.estimate import MeanEstimate, estimate_generator
from billboards.analyses.hybrids import study_hybrids
from billboards.analyses.power import power_of_generators, power_of_metrics
from billboards.board import Aggregate, Board, Dimension, Judgments, human_scores
from billboards.board.judgments import JudgmentColumns
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.stats.agreement import disagreement_corners, measure_agreement
from billboards.stats.estimate import estimate_mean
from billboards.stats.hybrid import correlate_hybrids, mix_hybrids, select_models
from billboards.stats.power import labels_to_tell_generators_apart, tell_generators_apart, tell_metrics_apart


def without(board: Board, metric: str, generator: str) -> Board:
    """The same board where a metric has not scored one generator."""
    columns = (
        replace(one, values={k: v for k, v in one.values.items() if k != generator}) if one.name == metric else one
        for one in board.imported
    )
    return replace(board, imported=tuple(columns))


def two_sources(seed: int = 3) -> Board:
    """A board with experts' and crowd's judgments of 3 of the 4 machines on the same dimension."""
    board = small_board(instances=20)
    random = np.random.default_rng(seed)
    judged = JudgmentColumns(("adequacy",))
    for row in range(4):
        for k in range(20):
            value = float(random.integers(1, 6))
            judged.add(k, row, {"adequacy": value}, campaign="expert")
            if row < 3:
                noisy = float(np.clip(value + random.integers(-2, 3), 1, 5))
                judged.add(k, row, {"adequacy": noisy}, campaign="crowd")
    aggregates = {name: Aggregate(name, ("adequacy",), (name,)) for name in ("expert", "crowd")}
    return replace(board, judgments=judged.build(), aggregates=aggregates, ranks="expert")


def test_hybrids_hold_what_the_statistics_give_best_metric_first() -> None:
    board = noisy_board({"poor": 60, "good": 10})
    study = study_hybrids(board, None, mixtures=500, sample=20, seed=4)
    view = judged_matrix(board, None)
    hybrids = mix_hybrids(view.scores.values, view.judged_human, count=500, parents=2, seed=4)
    found, picked = correlate_hybrids(hybrids), select_models(hybrids, sample=20, seed=4)
    assert [one.name for one in study.metrics] == ["good", "poor"]
    for one in study.metrics:
        k = view.scores.column(one.name)
        expected = (found.pearson[k], found.kendall[k], picked.hits[k], picked.mrr[k], picked.difference[k])
        assert (one.correlation, one.kendall, one.hits, one.mrr, one.difference) == pytest.approx(expected, abs=1e-12)
    best, other = study.metrics
    assert (best.rank, best.p, other.rank, other.cluster) == (1, None, 2, 2)
    assert other.p == pytest.approx(found.p[view.scores.column("good"), view.scores.column("poor")])
    assert (study.generators, study.instances) == (("g0", "g1", "g2", "g3"), 50)


def test_metrics_that_williams_can_t_tell_apart_share_a_rank() -> None:
    board = noisy_board({"a": 20})
    twin = replace(board.imported[0], name="b", source_name="b", signature="imported:b")
    study = study_hybrids(replace(board, imported=(*board.imported, twin)), None, mixtures=200)
    assert [(one.rank, one.cluster) for one in study.metrics] == [(1, 1), (1, 1)]


def test_hybrids_name_the_metrics_that_lack_a_generator_instead_of_dropping_the_generator() -> None:
    study = study_hybrids(without(noisy_board({"a": 9, "b": 9}), "b", "g2"), None, mixtures=200)
    assert [one.name for one in study.metrics] == ["a"]
    assert study.left_out == {"b": "scores 3 of 4 judged generators"}
    assert "g2" in study.generators


def test_hybrids_of_all_generators_and_of_a_slice() -> None:
    study = study_hybrids(noisy_board({"a": 9}), None, mixtures=200, parents=None, part=bb.Slice(domain="sea"))
    assert (study.parents, study.instances, study.part) == (None, 25, "domain sea")


@pytest.mark.parametrize(
    ("mixtures", "parents", "sample", "said"),
    [
        (3, 2, 1, "ask for 4 or more"),
        (50, 2, 51, "choose 1 to 50"),
        (50, 5, 10, "hybrids of 5 parents"),
    ],
)
def test_hybrids_that_can_t_be_drawn_are_refused(mixtures: int, parents: int, sample: int, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        study_hybrids(noisy_board({"a": 9}), None, mixtures=mixtures, parents=parents, sample=sample)


def test_what_has_no_judgments_or_no_scores_has_no_hybrids() -> None:
    with pytest.raises(NotEnoughData, match="no judged generator to mix"):
        study_hybrids(replace(noisy_board({"a": 9}), judgments=Judgments(), ranks=None), None)
    with pytest.raises(NotEnoughData, match="score it first"):
        study_hybrids(small_board(), None)


def test_an_estimate_is_the_statistic_on_the_labels_that_the_seed_draws() -> None:
    board = noisy_board({"m": 10})
    found = estimate_generator(board, None, "g2", labels=12, metric="m", seed=5)
    view = judged_matrix(board, None)
    people = view.human[2]
    labels = np.full(50, np.nan)
    chosen = np.random.default_rng(5).permutation(50)[:12]
    labels[chosen] = people[chosen]
    expected = estimate_mean(view.scores.of("m")[2], labels)
    assert (found.with_metric.mean, found.with_metric.se) == pytest.approx((expected.mean, expected.se), rel=1e-12)
    assert found.with_metric.interval == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert (found.plain.mean, found.plain.se) == pytest.approx((expected.plain_mean, expected.plain_se), rel=1e-12)
    assert found.saved == pytest.approx(expected.saved, rel=1e-12)
    assert (found.labels, found.available, found.instances, found.target) == (12, 50, 50, "instances")
    assert found.mean_of_all == pytest.approx(people.mean())
    assert found.fitted_on == ()


def test_all_labels_are_used_by_default_and_the_target_is_the_population() -> None:
    board = noisy_board({"m": 10})
    found = estimate_generator(board, None, "g2", metric="m")
    assert (found.labels, found.target) == (50, "population")
    assert (found.with_metric.se or 0) > 0
    census = estimate_generator(board, None, "g2", metric="m", target="instances")
    assert (census.with_metric.mean, census.with_metric.se) == pytest.approx((census.mean_of_all, 0))


def test_the_ensemble_never_saw_the_generator_it_estimates() -> None:
    board = noisy_board({"a": 10, "b": 30})
    found = estimate_generator(board, None, "g1", labels=20, seed=1)
    assert found.fitted_on == ("g0", "g2", "g3")
    view = judged_matrix(board, None)
    blind = replace(view, judged=view.judged & (np.arange(6) != 1))
    scores = ensemble_scores(fit_view(board, blind).ensemble, view.scores, board)[1]
    labels = np.full(50, np.nan)
    chosen = np.random.default_rng(1).permutation(50)[:20]
    labels[chosen] = view.human[1][chosen]
    assert found.with_metric.mean == pytest.approx(estimate_mean(scores, labels).mean, rel=1e-12)


def test_a_metric_without_scores_leaves_the_plain_mean_and_the_table_says_so() -> None:
    result = bb.estimate(without(noisy_board({"m": 10}), "m", "g2"), "g2", labels=12, metric="m")
    assert isinstance(result.value, MeanEstimate)
    assert (result.value.scored, result.value.weight) == (0, 0)
    assert result.value.with_metric == result.value.plain
    assert "m has no score of g2, so the plain mean stands." in str(result)


def test_estimates_that_can_t_be_made_are_refused() -> None:
    board = noisy_board({"m": 10})
    with pytest.raises(NotEnoughData, match="g2 has 50 labels and 51 are to be used"):
        estimate_generator(board, None, "g2", labels=51)
    with pytest.raises(UnknownName, match="no generator named 'g9'"):
        estimate_generator(board, None, "g9")
    with pytest.raises(UnknownName, match="no metric named 'n'"):
        estimate_generator(board, None, "g2", metric="n")
    with pytest.raises(NotEnoughData, match=r"no ensemble without g0: .*; name a metric with --metric"):
        estimate_generator(small_board(), None, "g0")


def test_power_of_two_generators_by_people_and_by_every_metric() -> None:
    board = noisy_board({"m": 20})
    study = power_of_generators(board, None, "g0", "g1")
    view = judged_matrix(board, None)
    people, scores = view.human[:2], view.scores.of("m")[:2]
    assert [(need.name, need.unit, need.units) for need in study.needs] == [
        ("people", "instances", 50),
        ("m", "instances", 50),
    ]
    labels = labels_to_tell_generators_apart((people[0], people[1]), (scores[0], scores[1]))
    for need, values, expected in zip(study.needs, (people, scores), (labels.alone, labels.with_metric), strict=True):
        closed = tell_generators_apart(values[0], values[1])
        assert (need.difference, need.power_here) == pytest.approx((closed.difference, closed.power_here))
        assert (need.needed, need.labels) == (closed.needed, expected)
    more = power_of_generators(board, None, "g0", "g1", power=0.95)
    assert (more.needs[0].needed or 0) > (study.needs[0].needed or 0)


def test_power_of_two_metrics_in_instances_and_in_generators() -> None:
    board = noisy_board({"good": 10, "poor": 60})
    study = power_of_metrics(board, None, "good", "poor")
    view = judged_matrix(board, None)
    closed = tell_metrics_apart(view.scores.of("good"), view.scores.of("poor"), view.judged_human)
    assert [(need.unit, need.units) for need in study.needs] == [("instances", 50), ("generators", 4)]
    assert study.needs[0].needed == closed.needed
    assert study.needs[0].difference == pytest.approx(closed.difference)
    few = power_of_metrics(without(board, "poor", "g3"), None, "good", "poor")
    assert [need.unit for need in few.needs] == ["instances"]
    assert "there are 3" in few.missing["Pearson of generators' means"]


def test_no_number_tells_a_generator_from_itself() -> None:
    study = power_of_generators(noisy_board({"m": 5}), None, "g1", "g1")
    assert {need.needed for need in study.needs} == {None}
    assert "no number is enough" in str(bb.power(noisy_board({"m": 5}), "g1", "g1"))


def test_power_names_what_it_can_t_say_and_refuses_what_can_t_be_compared() -> None:
    board = noisy_board({"m": 5, "n": 5})
    study = power_of_generators(without(board, "n", "g1"), None, "g0", "g1")
    assert list(study.missing) == ["n"]
    with pytest.raises(InvalidInput, match="g0 is a generator and m is none"):
        bb.power(board, "m", "g0")
    with pytest.raises(UnknownName, match="no metric named 'mm'"):
        bb.power(board, "m", "mm")
    with pytest.raises(NotEnoughData, match="more instances or scores are needed"):
        power_of_generators(replace(small_board(), judgments=Judgments(), ranks=None), None, "g0", "g1")


def test_agreement_of_two_aggregates_with_the_texts_of_both_corners() -> None:
    board = two_sources()
    study = study_agreement(board, "crowd", "expert", shown=3)
    crowd, expert = (
        human_scores(board.judgments, board.aggregate(name), board.dimensions, (6, 20)) for name in ("crowd", "expert")
    )
    found, (above, below) = measure_agreement(crowd, expert), disagreement_corners(crowd, expert, k=3)
    outputs, generators = study.levels
    assert (outputs.level, outputs.n, generators.level, generators.n) == ("outputs", 60, "generators", 3)
    assert outputs.pearson == pytest.approx(found.outputs.pearson, abs=1e-12)
    assert generators.kendall == pytest.approx(found.generators.kendall, abs=1e-12)
    assert (study.bias, study.distance) == pytest.approx((found.bias, found.distance))
    for outputs_of, corner in ((study.first_above, above), (study.second_above, below)):
        assert [board.row_position[one.generator] for one in outputs_of] == corner.row.tolist()
        assert [board.position[one.instance] for one in outputs_of] == corner.instance.tolist()
    first = study.first_above[0]
    assert first.first > first.second
    assert first.output == board.row(first.generator).texts[board.position[first.instance]]
    assert first.input == board.instances[board.position[first.instance]].input
    assert agreement_words(study) == (
        f"The judgments crowd and expert correlate by {outputs.pearson:.3f} over 60 outputs and by "
        f"{generators.pearson:.3f} over 3 generators (Pearson).",
    )


def test_another_source_of_judgments_is_another_aggregate_or_what_an_aggregate_leaves_out() -> None:
    board = small_board()
    dimension = next(iter(board.dimensions.values()))
    dimensions = {name: replace(dimension, name=name) for name in ("adequacy", "fluency")}
    both, one = Aggregate("both", ("adequacy", "fluency")), Aggregate("one", ("adequacy",))
    several = replace(board, dimensions=dimensions, aggregates={"both": both, "one": one})
    assert [other_source(several, name) for name in ("both", "one", "fluency")] == ["one", "both", "both"]
    assert other_source(replace(several, aggregates={"one": one}), "one") == "fluency"
    assert other_source(replace(several, aggregates={"both": both}), "both") is None


def test_agreement_on_a_slice_shows_only_that_slice() -> None:
    board = two_sources()
    study = study_agreement(board, "crowd", "expert", part=bb.Slice(domain="land"))
    assert study.levels[0].n == 30
    shown = [*study.first_above, *study.second_above]
    assert shown
    assert {board.instances[board.position[one.instance]].domain for one in shown} == {"land"}


def test_a_source_that_never_varies_has_no_correlation_and_no_corners() -> None:
    board = two_sources()
    flat = replace(board, dimensions={"adequacy": Dimension("adequacy", range=(1, 5), to_100=(0.0, 50.0))})
    study = study_agreement(flat, "crowd", "expert")
    assert (study.levels[0].pearson, study.standardised_distance) == (None, None)
    assert (study.first_above, study.second_above) == ((), ())
    assert agreement_words(study) == ()


def test_sources_that_share_nothing_or_are_not_there_are_refused() -> None:
    board = two_sources()
    nobody = Aggregate("nobody", ("adequacy",), ("nobody",))
    with pytest.raises(NotEnoughData, match="no output has both crowd and nobody"):
        study_agreement(replace(board, aggregates={**board.aggregates, "nobody": nobody}), "crowd", "nobody")
    with pytest.raises(UnknownName, match="no aggregate or dimension named 'crowds'"):
        study_agreement(board, "crowds", "expert")


def test_every_study_prints_and_has_a_document_of_its_kind() -> None:
    board = noisy_board({"a": 9, "b": 20})
    results: dict[str, bb.Result[Any]] = {
        "hybrids": bb.hybrids(board, mixtures=200),
        "estimate": bb.estimate(board, "g1", labels=10),
        "power": bb.power(board, "a", "b"),
        "agreement": bb.agreement(two_sources(), "crowd", "expert"),
    }
    for kind, result in results.items():
        assert result.document["kind"] == kind
        assert result.value.board in str(result)
        assert "<table" in result._repr_html_()
    assert results["estimate"].document["saved"] == results["estimate"].value.saved
    assert len(results["agreement"].tables) == 3


@pytest.fixture(scope="module")
def cnndm(shared_data: Path) -> Board:
    return bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")


@pytest.fixture(scope="module")
def zh_en(shared_data: Path) -> Board:
    source, judgments = shared_data / "billboard", shared_data / "wmt-mqm-human-evaluation"
    references = shared_data / "wmt20_references"
    return bb.import_board("billboard", source, board="wmt20-zh-en", judgments=judgments, references=references)


@pytest.mark.data
def test_crowd_against_experts_on_cnndm(cnndm: Board) -> None:
    study = bb.agreement(cnndm, "crowd", "overall", shown=25).value
    outputs, generators = study.levels
    assert (outputs.n, generators.n) == (1600, 16)
    assert (outputs.pearson, generators.pearson) == pytest.approx((0.0676, 0.1764), abs=5e-5)
    assert (study.bias, study.distance) == pytest.approx((-6.102, 14.51), abs=5e-4)
    assert study.first_above[0].generator == "Improve-abs"
    assert (len(study.first_above), len(study.second_above)) == (25, 25)


@pytest.mark.study
@pytest.mark.data
def test_direct_assessment_against_mqm_on_wmt20_zh_en(zh_en: Board, shared_data: Path, tmp_path: Path) -> None:
    bb.save(zh_en, tmp_path / "zh-en")
    board = bb.import_board("wmt-da", shared_data / "wmt20_da", into=tmp_path / "zh-en")
    outputs, generators = bb.agreement(board, "da", "overall").value.levels
    assert (outputs.n, generators.n) == (15391, 9)
    assert (outputs.pearson, outputs.kendall) == pytest.approx((0.1263, 0.1045), abs=5e-5)
    assert generators.pearson == pytest.approx(-0.8495, abs=5e-5)


@pytest.mark.long
@pytest.mark.data
def test_what_a_metric_saves_on_wmt20_zh_en(zh_en: Board) -> None:
    found = bb.estimate(zh_en, "DeepMind.381", labels=100).value
    assert isinstance(found, MeanEstimate)
    assert found.with_metric.interval is not None
    assert found.with_metric.interval[0] < found.mean_of_all < found.with_metric.interval[1]
    assert (found.saved or 0) > 20
    # Human-A is a reference: no metric scores it, so its labels stand alone.
    reference = bb.estimate(zh_en, "Human-A", labels=50).value
    assert isinstance(reference, MeanEstimate)
    assert reference.scored == 0


@pytest.mark.data
def test_hybrids_and_power_on_cnndm(cnndm: Board) -> None:
    study = bb.hybrids(cnndm, mixtures=2000).value
    assert (len(study.generators), study.instances, len(study.metrics)) == (18, 100, 15)
    assert {one.name for one in study.metrics[:2]} == {"COMET", "COMET-QE"}
    power = bb.power(cnndm, "COMET", "ROUGE-L").value
    assert [(need.unit, need.units) for need in power.needs] == [("instances", 100), ("generators", 18)]
    assert (power.needs[0].needed or 0) < 100
