"""Alpha, kappa and intraclass correlations against examples worked by hand in print, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.intraclass import intraclass_correlation, spearman_brown
from billboards.stats.ratings import ratings_in_columns, ratings_in_table
from billboards.stats.reliability import (
    WEIGHTS,
    Level,
    Weights,
    alpha_with_interval,
    cohen_kappa,
    krippendorff_alpha,
    krippendorff_alpha_of_columns,
    pairwise_kappas,
    percentile_interval,
)

NO = np.nan

#: Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", C: four observers, twelve units, gaps.
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
        [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
    ]
).T

#: Shrout & Fleiss (1979), Table 2: six targets, four judges.
SIX_TARGETS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_is_krippendorffs_for_four_observers_with_gaps(level: Level, published: float) -> None:
    assert krippendorff_alpha(FOUR_OBSERVERS, level) == pytest.approx(published, abs=0.0005)


def test_alpha_is_krippendorffs_for_binary_data_of_two_observers() -> None:
    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(np.array([meg, owen]).T, "nominal") == pytest.approx(0.095, abs=0.0005)


def test_alpha_is_krippendorffs_for_nominal_data_of_two_observers() -> None:
    ben = [1, 1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 1]
    gerry = [2, 1, 2, 2, 2, 3, 3, 3, 5, 4, 4, 4]
    assert krippendorff_alpha(np.array([ben, gerry]).T, "nominal") == pytest.approx(0.692, abs=0.0005)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_from_columns_equals_alpha_written_out_over_all_pairs(level: Level) -> None:
    table = np.random.default_rng(1).integers(0, 6, (15, 7)).astype(float)
    table[np.random.default_rng(2).random(table.shape) < 0.4] = NO
    unit, annotator = np.nonzero(~np.isnan(table))
    names = np.array([f"person {k}" for k in annotator])
    value = krippendorff_alpha_of_columns(unit * 100, names, table[unit, annotator], level)
    assert value == pytest.approx(_alpha_over_pairs(table, level), abs=1e-12)


def _alpha_over_pairs(table: np.ndarray, level: str) -> float:
    """The textbook's double sums, one pair at a time."""
    units = [[v for v in row if not np.isnan(v)] for row in table]
    units = [unit for unit in units if len(unit) > 1]
    everything = [v for unit in units for v in unit]

    def squared(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "ratio":
            return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        between = sum(low <= v <= high for v in everything)
        return float((between - (everything.count(a) + everything.count(b)) / 2) ** 2) if a != b else 0.0

    observed = sum(sum(squared(a, b) for a in unit for b in unit) / (len(unit) - 1) for unit in units)
    expected = sum(squared(a, b) for a in everything for b in everything) / (len(everything) - 1)
    return 1 - observed / expected


def test_alpha_does_not_depend_on_units_that_one_person_rated_nor_on_who_is_who() -> None:
    alone = np.full((3, 4), NO)
    alone[:, 1] = [5, 1, 3]
    table = np.concatenate((alone, FOUR_OBSERVERS[:, ::-1]))
    assert krippendorff_alpha(table, "ordinal") == pytest.approx(krippendorff_alpha(FOUR_OBSERVERS, "ordinal"))


def test_unknown_annotators_are_different_people() -> None:
    value = krippendorff_alpha_of_columns([0, 0, 1, 1], [-1, -1, -1, -1], [1, 1, 2, 2])
    assert value == 1


def test_ratings_that_never_differ_have_no_alpha() -> None:
    found = alpha_with_interval(np.full((5, 2), 0.1), "interval", resamples=20)
    assert np.isnan(found.value)
    assert np.isnan(found.low)


def test_the_interval_of_alpha_holds_it_and_follows_from_the_seed() -> None:
    first = alpha_with_interval(FOUR_OBSERVERS, "nominal", resamples=200, seed=3)
    again = alpha_with_interval(FOUR_OBSERVERS, "nominal", resamples=200, seed=3)
    other = alpha_with_interval(FOUR_OBSERVERS, "nominal", resamples=200, seed=4)
    assert first == again != other
    assert first.low < first.value < first.high
    assert (first.units, first.ratings) == (11, 40)


def test_an_annotator_who_rates_a_unit_twice_is_named_and_refused() -> None:
    with pytest.raises(InvalidInput, match="annotator ann rated unit u1 more than once"):
        ratings_in_columns(["u1", "u2", "u1"], ["ann", "ann", "ann"], [1, 2, 3])


def test_no_shared_unit_is_refused() -> None:
    with pytest.raises(NotEnoughData, match="no unit was rated by two annotators"):
        krippendorff_alpha([[1, NO], [NO, 2]], "nominal")


def test_a_negative_value_has_no_place_on_a_ratio_scale() -> None:
    with pytest.raises(InvalidInput, match="the least one here is -1"):
        krippendorff_alpha([[1, -1], [2, 2]], "ratio")


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_is_scikit_learns(weights: Weights) -> None:
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(0)
    first = random.integers(0, 5, 60).astype(float)
    second = np.clip(first + random.integers(-1, 3, 60), 0, 6)
    expected = cohen_kappa_score(first.astype(int), second.astype(int), weights=None if weights == "plain" else weights)
    assert cohen_kappa(first, second, weights=weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_a_weighted_kappa_counts_the_scales_steps_also_those_that_nobody_gave(weights: Weights) -> None:
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(4)
    first = random.choice([0, 5, 10, 90, 100], 40)
    second = np.where(random.random(40) < 0.6, first, random.choice([0, 20, 60, 100], 40))
    scale = list(range(101))
    expected = cohen_kappa_score(first, second, labels=scale, weights=weights)
    assert cohen_kappa(first, second, weights=weights, on_scale=True) == pytest.approx(expected, abs=1e-12)
    among_those_given = cohen_kappa_score(first, second, weights=weights)
    assert abs(expected - among_those_given) > 0.005
    assert cohen_kappa(first, second, weights=weights) == pytest.approx(among_those_given, abs=1e-12)
    (pair,) = pairwise_kappas(np.stack([first, second], 1).astype(float), weights=weights, on_scale=True)
    assert pair.kappa == pytest.approx(expected, abs=1e-12)


def test_pairwise_kappas_are_those_of_the_units_that_two_people_share() -> None:
    found = {(one.first, one.second): one for one in pairwise_kappas(FOUR_OBSERVERS, weights="linear", at_least=8)}
    # A and C share eight units, A and D nine, C and D ten.
    assert {pair: one.units for pair, one in found.items()} == {
        (0, 1): 9, (0, 2): 8, (0, 3): 9, (1, 2): 9, (1, 3): 10, (2, 3): 10,
    }  # fmt: skip
    for (a, b), one in found.items():
        assert one.kappa == pytest.approx(cohen_kappa(FOUR_OBSERVERS[:, a], FOUR_OBSERVERS[:, b], weights="linear"))
    assert len(pairwise_kappas(FOUR_OBSERVERS, at_least=10)) == 2


@pytest.mark.parametrize(
    ("model", "single", "average"), [("ICC(1)", 0.17, 0.44), ("ICC(2)", 0.29, 0.62), ("ICC(3)", 0.71, 0.91)]
)
def test_intraclass_correlations_are_shrouts_and_fleisss(model: str, single: float, average: float) -> None:
    found = intraclass_correlation(SIX_TARGETS, model)  # type: ignore[arg-type]
    assert found.single.value == pytest.approx(single, abs=0.005)
    assert found.average == pytest.approx(average, abs=0.005)
    assert found.k == 4


def test_an_intraclass_correlation_takes_two_units_with_two_ratings_each() -> None:
    alone = [[3.0, np.nan], [np.nan, 4.0], [2.0, np.nan]]
    for table in (alone, [[3.0, 4.0], *alone]):
        with pytest.raises(NotEnoughData, match="needs two units or more that two annotators have rated"):
            intraclass_correlation(table)


def test_with_gaps_icc1_is_the_analysis_of_variance_of_unequal_groups() -> None:
    # The means are 2, 5, 8.5 and 36/7 in all; three units have 2, 3 and 2 ratings, so k0 = (7 - 17/7)/2 = 16/7.
    table = np.array([[1, 3, NO], [4, 5, 6], [8, NO, 9]])
    between = (2 * (2 - 36 / 7) ** 2 + 3 * (5 - 36 / 7) ** 2 + 2 * (8.5 - 36 / 7) ** 2) / 2
    within, k = (2 + 2 + 0.5) / 4, 16 / 7
    assert intraclass_correlation(table).single.value == pytest.approx(
        (between - within) / (between + (k - 1) * within)
    )


def test_with_gaps_icc2_recovers_known_variances() -> None:
    random = np.random.default_rng(5)
    table = random.normal(0, 2, (400, 1)) + random.normal(0, 1, (1, 30)) + random.normal(0, 1, (400, 30))
    table[random.random(table.shape) < 0.8] = NO
    found = [intraclass_correlation(table, model).single.value for model in ("ICC(1)", "ICC(2)", "ICC(3)")]
    # Variances of units, annotators and rest are 4, about 1 and 1.
    assert found[0] == pytest.approx(4 / 6, abs=0.06)
    assert found[1] == pytest.approx(4 / 6, abs=0.06)
    assert found[2] == pytest.approx(4 / 5, abs=0.04)


def test_with_gaps_icc2_is_nan_where_nobody_rated_two_units() -> None:
    table = np.array([[1, 2, NO, NO], [NO, NO, 3, 5]])
    single = intraclass_correlation(table, "ICC(2)", resamples=20).single
    assert np.isnan([single.value, single.low, single.high]).all(), "units and annotators can't be told apart"


def test_spearman_brown_of_one_rating_is_itself() -> None:
    assert spearman_brown(0.3, 1) == pytest.approx(0.3)
    assert spearman_brown(0.5, 3) == pytest.approx(0.75)


def test_an_icc_interval_holds_the_value() -> None:
    random = np.random.default_rng(6)
    table = random.normal(0, 1, (60, 1)) + random.normal(0, 1, (60, 4))
    for model in ("ICC(1)", "ICC(2)"):
        single = intraclass_correlation(table, model, resamples=200).single
        assert single.low < single.value < single.high


def test_two_way_icc_of_unknown_annotators_is_refused() -> None:
    unknown = ratings_in_columns([0, 0, 1, 1], [-1, -1, -1, -1], [1, 2, 3, 5])
    with pytest.raises(NotEnoughData, match="whose each rating is"):
        intraclass_correlation(unknown, "ICC(2)")
    assert intraclass_correlation(unknown).single.value == pytest.approx(2 / 3)


def test_columns_and_tables_are_one_thing() -> None:
    table = ratings_in_table(FOUR_OBSERVERS)
    assert np.array_equal(ratings_in_columns(table.unit, table.annotator, table.value).table(), FOUR_OBSERVERS, True)


def test_an_interval_needs_half_of_its_draws() -> None:
    assert percentile_interval(np.array([1.0, 2.0, NO, NO])) == pytest.approx((1.025, 1.975))
    assert np.isnan(percentile_interval(np.array([1.0, 2.0, NO, NO, NO]))).all()
    assert np.isnan(percentile_interval(np.array([1.0, NO]))).all()
