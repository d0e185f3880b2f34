"""Families of ensembles: against scikit-learn's plain loops, on simulated truth, with gaps, and written down."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from simulated_judgments import simulated
from sklearn.linear_model import Lasso, Ridge

from billboards.ensembles import FAMILIES, LinearModel
from billboards.ensembles._choosing import choose_family, compare_predictions, why_too_few
from billboards.ensembles._family import Training, dealt
from billboards.ensembles._held_out import Fitted, Judged, fit_family, parts_of, pearson, predict_held_out
from billboards.ensembles._inputs import expanded, input_directions, learn_filling, lengths, make_cells
from billboards.ensembles._intervals import coverage, error_quantiles, widened
from billboards.ensembles._models import read_model
from billboards.ensembles.ridge import PENALTIES
from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]


def training_of(judged: Judged, *, items: bool = True) -> Training:
    return Training(
        inputs=expanded(judged.table, items=items),
        target=judged.target,
        generator=judged.generator,
        document=judged.document,
        metrics=judged.metrics,
        directions=input_directions(judged.metrics, items=items),
    )


def test_the_families_are_these() -> None:
    assert set(FAMILIES.own) == {"lasso", "best-subset", "ridge", "boosting", "stacking"}
    small = [name for name in FAMILIES.own if FAMILIES.load(name).small]
    assert small == ["best-subset", "lasso"]


def test_ridge_is_scikit_learns_at_one_of_its_penalties() -> None:
    training = training_of(simulated()[0])
    model = FAMILIES.load("ridge").fit(training)
    assert isinstance(model, LinearModel)
    standard = (training.inputs - training.inputs.mean(0)) / training.inputs.std(0)
    ways = [
        Ridge(alpha=penalty * len(standard)).fit(standard, training.target).predict(standard) for penalty in PENALTIES
    ]
    assert min(np.abs(model.predict(training.inputs) - way).max() for way in ways) < 1e-8


def test_ridge_takes_the_penalty_that_predicts_unseen_generators_and_documents_best() -> None:
    """A plain loop of refits over the same groups comes to the same penalty."""
    training = training_of(simulated(metrics=9, documents=6, seed=3)[0])
    mean, spread = training.inputs.mean(0), training.inputs.std(0)
    inputs, target = (training.inputs - mean) / spread, training.target - training.target.mean()
    rows, columns = dealt(training.generator, 3, 0), dealt(training.document, 3, 0)
    reached = []
    for penalty in PENALTIES:
        predicted = np.zeros(len(target))
        for row in range(3):
            for column in range(3):
                held, seen = (rows == row) & (columns == column), (rows != row) & (columns != column)
                plain = Ridge(alpha=penalty * seen.sum(), fit_intercept=False).fit(inputs[seen], target[seen])
                predicted[held] = plain.predict(inputs[held])
        reached.append(np.corrcoef(predicted, target)[0, 1])
    best = PENALTIES[int(np.argmax(reached))]
    expected = Ridge(alpha=best * len(target), fit_intercept=False).fit(inputs, target).predict(inputs)
    ours = FAMILIES.load("ridge").fit(training).predict(training.inputs) - training.target.mean()
    np.testing.assert_allclose(ours, expected, atol=1e-8)


def test_the_lasso_is_scikit_learns_with_three_weights() -> None:
    training = training_of(simulated()[0], items=False)
    model = FAMILIES.load("lasso").fit(training)
    assert isinstance(model, LinearModel)
    assert np.count_nonzero(model.weights) == 3
    scores = training.inputs[:, : training.metrics]
    standard = (scores - scores.mean(0)) / scores.std(0)
    lam = _penalty_of(model, standard, training.target)
    plain = Lasso(alpha=lam, tol=1e-12, max_iter=100_000).fit(standard, training.target)
    np.testing.assert_allclose(model.weights[: training.metrics], plain.coef_, atol=1e-6)


def _penalty_of(model: LinearModel, standard: Floats, target: Floats) -> float:
    """The penalty under which these weights are a lasso's: the slope that is left along each metric taken."""
    left = target - target.mean() - standard @ model.weights[: standard.shape[1]]
    slopes = np.abs(standard.T @ left) / len(target)
    return float(slopes[np.flatnonzero(model.weights)].mean())


def test_held_out_predictions_are_those_of_a_plain_loop() -> None:
    judged, _ = simulated(generators=4, documents=8)
    family = FAMILIES.load("ridge")
    ours = predict_held_out(family, judged, "both", most_generators=25)
    groups = dealt(judged.document, 5, 0)
    for generator in range(4):
        for group in range(5):
            held = (judged.generator == generator) & (groups == group)
            seen = (judged.generator != generator) & (groups != group)
            model = family.fit(training_of(judged.only(seen)))
            of_all = model.predict(expanded(judged.table, items=True))
            np.testing.assert_allclose(ours.raw[held], of_all[held], rtol=1e-9)
            moved = of_all[held] - of_all.mean() + judged.target.mean()
            np.testing.assert_allclose(ours.predicted[held], moved, rtol=1e-9)


@pytest.mark.parametrize("scheme", ["both", "generators", "documents"])
def test_no_part_has_seen_what_it_predicts(scheme: Any) -> None:
    judged, _ = simulated()
    covered = np.zeros(len(judged.target), int)
    for part in parts_of(judged, scheme):
        covered += part.held
        if scheme != "documents":
            assert not set(judged.generator[part.held]) & set(judged.generator[part.seen])
        if scheme != "generators":
            assert not set(judged.document[part.held]) & set(judged.document[part.seen])
    assert (covered == 1).all()


def test_means_are_over_the_others_and_leads_are_what_is_left() -> None:
    scores = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    cells = make_cells([scores], lengths([["ab", None], ["a", "b"], ["", "abc"]]), np.array([True, True, False]))
    np.testing.assert_allclose(cells.around[0], [[3.0, np.nan], [1.0, 2.0], [2.0, 2.0]])
    assert np.isnan(cells.own[1, 0, 1])
    assert cells.own[1, 2, 1] == pytest.approx(np.log(4))
    table = cells.at(np.array([0]), np.array([0]))
    np.testing.assert_allclose(expanded(table, items=True)[0], [1, np.log(3), 3, np.log(2), -2, np.log(3) - np.log(2)])
    np.testing.assert_allclose(expanded(table, items=False)[0], [1])


def test_gaps_are_filled_with_what_a_regression_on_the_rest_expects() -> None:
    random = np.random.default_rng(0)
    table = random.normal(size=(500, 4)) @ random.normal(size=(4, 4))
    filling = learn_filling(table)
    gap = table[:3].copy()
    gap[:, 2] = np.nan
    known = np.delete(table, 2, axis=1)
    with_one = np.column_stack([np.ones(500), known])
    slopes = np.linalg.lstsq(with_one, table[:, 2], rcond=None)[0]
    np.testing.assert_allclose(filling.fill(gap)[:, 2], with_one[:3] @ slopes, rtol=1e-3)
    assert (filling.fill(table) == table).all()
    np.testing.assert_allclose(filling.fill(np.full((1, 4), np.nan))[0], table.mean(0))


def test_a_missing_metric_is_made_up_for_and_widens_the_interval() -> None:
    judged, _ = simulated(documents=30, metrics=4)
    held_out = predict_held_out(FAMILIES.load("ridge"), judged)
    whole = held_out.correlation(judged)
    falls = [whole - pearson(without, judged.target) for without in held_out.without]
    # The last metric sees most: without it most is lost, and still far more is known than nothing.
    assert int(np.argmax(falls)) == 3
    assert 0.005 < falls[3] < whole / 2
    errors = judged.target - held_out.raw
    low, high = error_quantiles(errors, judged.document)
    moved = held_out.raw - held_out.predicted
    low_without, high_without = error_quantiles(judged.target - held_out.without[3] - moved, judged.document)
    assert high_without - low_without > high - low
    both = widened((low, high), [(low_without, high_without)] * 2)
    assert both[1] - both[0] > high_without - low_without


def test_metrics_are_taken_away_only_for_who_asks_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged, _ = simulated(documents=20, metrics=4)
    predictions: list[int] = []
    predict = Fitted.predict

    def counted(self: Fitted, table: Floats) -> Floats:
        predictions.append(len(table))
        return predict(self, table)

    monkeypatch.setattr(Fitted, "predict", counted)
    held_out = predict_held_out(FAMILIES.load("ridge"), judged)
    parts = len(parts_of(judged, "both"))
    assert len(predictions) == parts
    assert held_out.without.shape == (4, len(judged.target))
    assert held_out.without is held_out.without
    assert len(predictions) == parts + 4 * parts


@pytest.mark.long
def test_outputs_with_gaps_are_learned_from_and_predicted() -> None:
    judged, _ = simulated(documents=20)
    table = judged.table.copy()
    table[judged.generator == 2, 4] = np.nan
    gapped = Judged(table=table, target=judged.target, generator=judged.generator, document=judged.document)
    for name in FAMILIES.own:
        held_out = predict_held_out(FAMILIES.load(name), gapped)
        assert np.isfinite(held_out.predicted).all()
        assert held_out.correlation(gapped) > 0.4


@pytest.mark.parametrize("seed", range(3))
def test_intervals_hold_what_they_say_on_unseen_generators_and_documents(seed: int) -> None:
    judged, _ = simulated(generators=10, documents=40, seed=seed)
    held_out = predict_held_out(FAMILIES.load("ridge"), judged)
    assert 0.93 <= coverage(held_out, judged, parts_of(judged, "both")) <= 0.97


def test_error_quantiles_count_documents_not_outputs() -> None:
    """A document with many outputs weighs no more than one with a single output."""
    errors = np.concatenate([np.full(1000, 50.0), np.linspace(-1, 1, 99)])
    documents = np.concatenate([np.zeros(1000, np.int64), np.arange(1, 100)])
    low, high = error_quantiles(errors, documents)
    assert -1.1 <= low < high < 2


@pytest.mark.parametrize("name", ["lasso", "best-subset", "ridge", "boosting", "stacking"])
def test_models_are_written_down_and_read_back_to_the_same_numbers(name: str) -> None:
    judged, _ = simulated(documents=20)
    family = FAMILIES.load(name)
    fitted = fit_family(family, judged)
    inputs = expanded(judged.table, items=family.items)
    again = read_model(json.loads(json.dumps(fitted.model.document())), inputs.shape[1])
    np.testing.assert_allclose(again.predict(inputs), fitted.model.predict(inputs), rtol=1e-12)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "linear", "weights": [1.0], "centre": [0.0], "scale": [0.0], "intercept": 0.0},
        {"kind": "linear", "weights": [1.0, 2.0], "centre": [0.0], "scale": [1.0], "intercept": 0.0},
        {"kind": "linear", "weights": [float("nan")], "centre": [0.0], "scale": [1.0], "intercept": 0.0},
        {"kind": "mixed", "members": [], "weights": [], "intercept": 0.0},
        {"kind": "program", "code": "import os"},
        {},
    ],
)
def test_damaged_models_are_refused(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        read_model(document, 1)


def test_models_inside_models_end() -> None:
    document: dict[str, Any] = {"kind": "linear", "weights": [1.0], "centre": [0.0], "scale": [1.0], "intercept": 0.0}
    for _ in range(20):
        document = {"kind": "mixed", "members": [document], "weights": [1.0], "intercept": 0.0}
    with pytest.raises(InvalidInput, match="not known"):
        read_model(document, 1)


def test_nothing_is_fitted_to_judgments_that_are_all_the_same() -> None:
    judged, _ = simulated()
    same = Judged(
        table=judged.table, target=np.ones(len(judged.target)), generator=judged.generator, document=judged.document
    )
    with pytest.raises(NotEnoughData, match="the same"):
        fit_family(FAMILIES.load("ridge"), same)


@pytest.mark.long
def test_the_small_family_stays_where_truth_is_simple_and_makes_place_where_it_bends() -> None:
    for bent, expected in ((0.0, "lasso"), (1.0, "boosting")):
        judged, _ = simulated(generators=10, documents=60, metrics=4, bent=bent, seed=2)
        alone = {name: predict_held_out(FAMILIES.load(name), judged, k=4).predicted for name in ("lasso", "boosting")}
        choice = choose_family(judged, {name: partial(np.asarray, values) for name, values in alone.items()})
        assert choice.name == expected
        assert choice.reached.keys() == {"lasso", "boosting"}


def test_differences_are_drawn_over_generators_and_documents() -> None:
    judged, _ = simulated(generators=12, documents=30)
    random = np.random.default_rng(0)
    good = judged.target + random.normal(size=len(judged.target))
    bad = judged.target + 20 * random.normal(size=len(judged.target))
    difference = compare_predictions(good, bad, judged)
    assert difference.is_better
    assert difference.difference == pytest.approx(pearson(good, judged.target) - pearson(bad, judged.target))
    assert difference.low < difference.difference < difference.high
    assert not compare_predictions(bad, good, judged).is_better
    assert not compare_predictions(good, good, judged).is_better


def test_what_is_too_little_is_said() -> None:
    assert why_too_few(simulated(generators=3, documents=40)[0]) == "3 judged generators, and 4 are needed"
    assert why_too_few(simulated(generators=5, documents=10)[0]) == "10 documents, and 20 are needed"
    assert why_too_few(simulated(generators=4, documents=21, each=1)[0]) == "84 judged outputs, and 400 are needed"
    assert why_too_few(simulated(generators=8, documents=25, metrics=2)[0]) == "2 metrics, and 3 are needed"
    assert why_too_few(simulated(generators=8, documents=25)[0]) is None
