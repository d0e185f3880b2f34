"""Partial pooling over boards, beside plain formulas, statsmodels and simulated boards whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas
import pytest
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, multivariate_t
from statsmodels.formula.api import mixedlm

from billboards.errors import NotEnoughData
from billboards.stats import pooling as model
from billboards.stats.pooling import (
    EFFECTS,
    MEAN,
    SCALES,
    Agreements,
    Asked,
    Pooling,
    fit_pooling,
    leave_boards_out,
    predict,
    thinned,
)

Floats = NDArray[np.float64]
TRUTH = np.array([0.15, 0.05, 0.1, 0.1, 0.15, 0.1, 0.05, 0.04, 0.06])


@dataclass(frozen=True)
class Simulated:
    """Agreements as they would be measured, and the true z of every metric on every board."""

    agreements: Agreements
    truth: Floats


def simulate(
    boards: int, metrics: int, *, seed: int, sds: Floats = TRUTH, error: float = 0.03, share: float = 1.0
) -> Simulated:
    """Boards of four tasks and five languages, two in a collection; of each, a share of the metrics is measured."""
    random = np.random.default_rng(seed)
    task, language, collection = random.integers(0, 4, boards), random.integers(0, 5, boards), np.arange(boards) // 2
    groups = (boards + 1) // 2

    def normal(effect: int, *shape: int) -> Floats:
        drawn: Floats = sds[effect] * random.standard_normal(shape)
        return drawn

    level = normal(0, 4)[task] + normal(1, 5)[language] + normal(2, groups)[collection] + normal(3, boards)
    truth: Floats = 0.4 + level[:, None] + normal(4, metrics) + normal(5, 4, metrics)[task]
    truth = (
        truth + normal(6, 5, metrics)[language] + normal(7, groups, metrics)[collection] + normal(8, boards, metrics)
    )
    board, metric = np.nonzero(random.random((boards, metrics)) < share)
    same = board[:, None] == board
    noise = error**2 * (0.6 * same + 0.4 * np.eye(len(board)))
    z = truth[board, metric] + np.linalg.cholesky(noise) @ random.standard_normal(len(board))
    alike = [(kind[:, None] == kind).astype(float) for kind in (task, language, collection)]
    placed = {"task": alike[0], "language": alike[1], "collection": alike[2]}
    return Simulated(Agreements(z=z, board=board, metric=metric, noise=noise, **placed), truth)


def asked_like(data: Agreements, board: int, metrics: list[int], *, itself: bool = False) -> Asked:
    """A new board that is like one of the boards, or this board itself."""
    alike = (data.task[board], data.language[board], data.collection[board])
    numbers, place = np.array(metrics, np.intp), board if itself else None
    return Asked(metric=numbers, task=alike[0], language=alike[1], collection=alike[2], board=place)


def plain_covariance(sds: Floats, a: list[tuple[int, int]], b: list[tuple[int, int]], data: Agreements) -> Floats:
    """The covariance of true agreements at (board, metric), one by one, from what the model says."""
    table = np.zeros((len(a), len(b)))
    for i, (first, metric) in enumerate(a):
        for j, (second, other) in enumerate(b):
            alike = [float(kind[first, second]) for kind in (data.task, data.language, data.collection)]
            levels, same = [*alike, float(first == second)], float(metric == other)
            shares = (*levels, same, *(same * level for level in levels))
            table[i, j] = MEAN**2 + sum(sd**2 * share for sd, share in zip(sds, shares, strict=True))
    return table


def places(data: Agreements) -> list[tuple[int, int]]:
    return list(zip(data.board.tolist(), data.metric.tolist(), strict=True))


def certain(sds: Floats) -> Pooling:
    return Pooling(sds=sds, drawn=sds[None], weights=np.ones(1))


def test_the_density_is_the_normal_likelihood_times_rayleighs_priors() -> None:
    data = simulate(5, 4, seed=3, share=0.8).agreements
    posterior = model._Posterior(data)

    def plain(logs: Floats) -> float:
        covariance = plain_covariance(np.exp(logs), places(data), places(data), data) + data.noise
        covariance += 1e-8 * np.eye(len(data.z))
        prior = (2 * logs - np.exp(2 * logs) / (2 * SCALES**2)).sum()
        return float(multivariate_normal(np.zeros(len(data.z)), covariance).logpdf(data.z) + prior)

    first, second = np.log(SCALES), np.log(TRUTH)
    difference = posterior.value(second) - posterior.value(first)
    assert difference == pytest.approx(plain(second) - plain(first), abs=1e-8)
    value, slope = posterior.value_and_slope(second)
    assert value == posterior.value(second)
    steps = 1e-5 * np.eye(len(EFFECTS))
    numeric = [(posterior.value(second + step) - posterior.value(second - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope, numeric, atol=1e-6)


def test_draws_count_by_the_density_over_that_which_they_were_drawn_from() -> None:
    posterior = model._Posterior(simulate(5, 4, seed=3, share=0.8).agreements)
    mode = np.log(TRUTH)
    drawn, weights = model._importance_draws(posterior, mode, 200, seed=1)
    shape = np.linalg.inv(posterior.precision(mode))
    proposal = multivariate_t(mode, shape, df=int(model._FREEDOM))
    logs = np.array([posterior.value(one) - proposal.logpdf(one) for one in drawn])
    inside = ((drawn > model._LOWEST) & (drawn < model._HIGHEST)).all(axis=1)
    expected = np.exp(logs - logs.max())
    ratio = weights[inside] / expected[inside]
    assert inside.sum() > 150
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-8)


def test_predictions_are_the_conditional_normal_of_the_plain_formula() -> None:
    data = simulate(6, 4, seed=5, share=0.7).agreements
    known = places(data)
    # Board 0 as if it were new: of its task and language, with nothing else shared.
    rest = data.of(data.board != 0)
    asked = asked_like(data, 0, [0, 1, 2, 3])
    predicted = predict(certain(TRUTH), rest, asked)
    kept = [place for place in known if place[0] != 0]
    wanted = [(0, metric) for metric in range(4)]
    total = plain_covariance(TRUTH, kept, kept, data) + rest.noise + 1e-8 * np.eye(len(kept))
    shared = plain_covariance(TRUTH, wanted, kept, data)
    mean = shared @ np.linalg.solve(total, rest.z)
    covariance = plain_covariance(TRUTH, wanted, wanted, data) - shared @ np.linalg.solve(total, shared.T)
    np.testing.assert_allclose(predicted.mean, mean, atol=1e-10)
    np.testing.assert_allclose(predicted.covariances[0], covariance, atol=1e-10)
    np.testing.assert_allclose(predicted.sd, np.sqrt(np.diag(covariance)), atol=1e-10)


def test_a_board_that_was_judged_is_predicted_closer_than_a_new_one_of_its_kind() -> None:
    data = simulate(8, 5, seed=1).agreements
    new, judged = asked_like(data, 2, list(range(5))), asked_like(data, 2, list(range(5)), itself=True)
    assert (predict(certain(TRUTH), data, judged).sd < 0.3 * predict(certain(TRUTH), data, new).sd).all()


def test_leaving_boards_out_at_once_equals_predicting_them_from_the_others() -> None:
    data = simulate(7, 4, seed=2, share=0.8).agreements
    pooling = Pooling(sds=TRUTH, drawn=np.array([TRUTH, SCALES]), weights=np.array([0.7, 0.3]))
    groups = [[0], [3, 5], [6]]
    for group, left in zip(groups, leave_boards_out(pooling, data, groups), strict=True):
        out = np.isin(data.board, group)
        for k, sds in enumerate(pooling.drawn):
            inside, outside = (np.array(places(data))[rows].tolist() for rows in (out, ~out))
            total = plain_covariance(sds, outside, outside, data) + data.noise[np.ix_(~out, ~out)]
            shared = plain_covariance(sds, inside, outside, data)
            own = plain_covariance(sds, inside, inside, data) + data.noise[np.ix_(out, out)]
            np.testing.assert_allclose(left.means[k], shared @ np.linalg.solve(total, data.z[~out]), atol=1e-5)
            covariance = own - shared @ np.linalg.solve(total, shared.T)
            np.testing.assert_allclose(left.covariances[k], covariance, atol=1e-5)


def test_the_likelihood_is_highest_where_restricted_maximum_likelihood_is() -> None:
    """`z ~ (1 | board) + (1 | metric)` by statsmodels: from there our likelihood climbs no further."""
    random = np.random.default_rng(4)
    board, metric = (index.ravel() for index in np.indices((20, 10)))
    z = 0.3 + 0.2 * random.standard_normal(20)[board] + 0.15 * random.standard_normal(10)[metric]
    z = z + 0.1 * random.standard_normal(len(z))
    frame = pandas.DataFrame({"z": z, "board": board, "metric": metric, "all": 1})
    parts = {"board": "0 + C(board)", "metric": "0 + C(metric)"}
    fitted = mixedlm("z ~ 1", frame, groups="all", re_formula="0", vc_formula=parts).fit(reml=True)
    kinds = dict.fromkeys(("task", "language", "collection"), np.eye(20))
    posterior = model._Posterior(Agreements(z=z, board=board, metric=metric, noise=np.zeros((200, 200)), **kinds))
    logs = np.full(len(EFFECTS), np.log(1e-4))
    places = [EFFECTS.index(name) for name in ("board", "metric", "rest")]
    logs[places] = np.log([*fitted.vcomp, fitted.scale]) / 2
    prior = 2 - np.exp(2 * logs) / SCALES**2
    slope = (posterior.value_and_slope(logs)[1] - prior)[places]
    curvature = posterior.precision(logs)[np.ix_(places, places)] - 4 * np.eye(3)
    np.testing.assert_allclose(np.linalg.solve(curvature, slope), 0.0, atol=0.02)


def test_the_standard_deviations_of_simulated_boards_are_found_again() -> None:
    fitted = fit_pooling(simulate(36, 10, seed=6).agreements, draws=8)
    assert fitted.sds[[4, 5, 8]] == pytest.approx(TRUTH[[4, 5, 8]], rel=0.4)
    assert fitted.weights.sum() == pytest.approx(1)
    assert fitted.drawn.shape == (len(fitted.weights), len(EFFECTS))


def test_intervals_of_boards_that_nobody_judged_cover_the_truth() -> None:
    inside, errors, baseline = [], [], []
    for seed in range(12):
        drawn = simulate(12, 8, seed=100 + seed, share=0.8)
        rest = drawn.agreements.of(drawn.agreements.board != 0)
        asked = asked_like(drawn.agreements, 0, list(range(8)))
        predicted = predict(fit_pooling(rest, draws=16), rest, asked)
        low, high = np.quantile(predicted.draw(2000, 0), (0.025, 0.975), axis=0)
        truth = drawn.truth[0]
        inside += ((low <= truth) & (truth <= high)).tolist()
        errors += ((predicted.mean - truth) ** 2).tolist()
        baseline += (
            (np.bincount(rest.metric, rest.z, 8) / np.bincount(rest.metric, minlength=8) - truth) ** 2
        ).tolist()
    assert 0.9 <= np.mean(inside) <= 1.0
    assert np.mean(errors) < np.mean(baseline)


def test_the_less_is_known_the_wider_the_interval() -> None:
    drawn = simulate(14, 6, seed=8)
    data, pooling = drawn.agreements, certain(TRUTH)
    few = data.of((data.metric != 5) | (data.board == 3))
    nowhere = np.zeros(14)
    alike = asked_like(data, 0, [0, 5, -1])
    other = Asked(metric=np.array([0, 5, -1]), task=nowhere, language=nowhere, collection=nowhere)
    well, seldom, never = predict(pooling, few, alike).sd
    assert well < seldom < never
    assert (predict(pooling, few, other).sd > predict(pooling, few, alike).sd).all()


def test_one_agreement_gives_back_the_priors_and_a_wide_interval() -> None:
    one = np.ones((1, 1))
    data = Agreements(
        z=np.array([0.5]),
        board=np.zeros(1, np.intp),
        metric=np.zeros(1, np.intp),
        noise=0.01 * one,
        task=one,
        language=one,
        collection=one,
    )
    fitted = fit_pooling(data)
    assert fitted.sds == pytest.approx(SCALES * np.sqrt(2), rel=0.2)
    predicted = predict(fitted, data, asked_like(data, 0, [0]))
    assert 0.2 < predicted.mean[0] < 0.5
    assert predicted.sd[0] > 0.25


def test_metrics_that_are_the_same_and_boards_without_error_break_nothing() -> None:
    drawn = simulate(5, 3, seed=9, error=1e-9)
    data = drawn.agreements
    twice = Agreements(
        z=np.tile(data.z, 2),
        board=np.tile(data.board, 2),
        metric=np.concatenate([data.metric, data.metric + 3]),
        noise=np.zeros((2 * len(data.z), 2 * len(data.z))),
        task=data.task,
        language=data.language,
        collection=data.collection,
    )
    predicted = predict(fit_pooling(twice), twice, asked_like(data, 0, list(range(6))))
    assert predicted.mean[:3] == pytest.approx(predicted.mean[3:], abs=1e-6)
    assert np.isfinite(predicted.draw(50, 1)).all()


def test_the_same_seed_gives_the_same_draws_and_more_agreements_than_fit_are_fitted_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = simulate(12, 8, seed=10).agreements
    assert (fit_pooling(data, seed=1).drawn == fit_pooling(data, seed=1).drawn).all()
    monkeypatch.setattr(model, "MOST", 40)
    part = model._part(data)
    assert 0 < len(part.z) <= 40
    assert set(part.board.tolist()) < set(data.board.tolist())
    assert len(fit_pooling(data).weights) < len(fit_pooling(part).weights)


def test_standard_deviations_are_fitted_to_1500_agreements_at_most_of_boards_that_lie_evenly_among_all() -> None:
    def agreements(*metrics: int) -> Agreements:
        """Boards with so many metrics each."""
        board = np.repeat(np.arange(len(metrics)), metrics)
        metric = np.concatenate([np.arange(count) for count in metrics])
        kinds = dict.fromkeys(("task", "language", "collection"), np.eye(len(metrics)))
        return Agreements(
            z=np.zeros(len(board)), board=board, metric=metric, noise=np.zeros((len(board), len(board))), **kinds
        )

    assert len(model._part(agreements(*[15] * 100)).z) == 1500
    more = model._part(agreements(*[15] * 100, 1))
    assert np.unique(more.board).tolist() == list(range(0, 101, 2))
    assert len(more.z) == 751
    assert model._part(agreements(1600)).metric.tolist() == list(range(1500))


def test_thinned_draws_keep_the_posterior_and_nothing_to_pool_is_refused() -> None:
    pooling = Pooling(sds=TRUTH, drawn=np.arange(27.0).reshape(3, 9), weights=np.array([0.5, 0.0, 0.5]))
    few = thinned(pooling, 4)
    assert few.drawn[:, 0].tolist() == [0, 0, 18, 18]
    assert few.weights.tolist() == [0.25] * 4
    nothing, none = np.zeros((0, 0)), np.zeros(0, np.intp)
    kinds = dict.fromkeys(("task", "language", "collection"), nothing)
    with pytest.raises(NotEnoughData, match="no agreement"):
        fit_pooling(Agreements(z=np.zeros(0), board=none, metric=none, noise=nothing, **kinds))


def test_draws_have_the_mean_and_the_covariance_of_the_mixture() -> None:
    data = simulate(6, 3, seed=11).agreements
    predicted = predict(fit_pooling(data, draws=8), data, asked_like(data, 1, [0, 1, 2]))
    drawn = predicted.draw(20000, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), predicted.mean, atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), predicted.sd, rtol=0.05)
