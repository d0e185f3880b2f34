"""What a ranking says to those from whom judgments or texts are hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest
from examples_of_results import ENSEMBLE, OVERRATING, RANKING
from ranking_examples import generator, metric

from billboards.analyses._disclosed import (
    Disclosure,
    disclosed,
    disclosed_ensemble,
    disclosed_generators,
    disclosed_metrics,
    disclosed_overrating,
)
from billboards.analyses.rank import CommonRanking, CommonStanding
from billboards.stats.ladder import Rung

HIDDEN = Disclosure(judgments=True, people=True)


def test_nothing_changes_where_nothing_is_hidden() -> None:
    assert disclosed(RANKING, Disclosure()) is RANKING
    assert disclosed_ensemble(ENSEMBLE, Disclosure()) is ENSEMBLE
    assert disclosed_overrating(OVERRATING, Disclosure(), ()) is OVERRATING


def test_metrics_that_read_alike_share_a_rank_and_stand_by_name() -> None:
    exact = [
        metric("b", 1, 0.6149, cluster=1),
        metric("a", 2, 0.6051, cluster=2),
        metric("d", 3, 0.58, cluster=3),
        metric("c", 4, 0.57, cluster=3),
        metric("e", 5, 0.50, cluster=4),
        metric("none", None, None),
    ]
    exact = [replace(m, n=400) for m in exact]
    told = disclosed_metrics(exact, HIDDEN)
    assert [(m.name, m.rank, m.correlation, m.cluster) for m in told] == [
        ("a", 1, 0.61, 1),
        ("b", 1, 0.61, 1),
        ("d", 3, 0.58, 2),
        ("c", 3, 0.57, 2),
        ("e", 5, 0.50, 3),
        ("none", None, None, None),
    ]
    assert disclosed_metrics(told, HIDDEN) == told


def test_only_a_withheld_metric_is_rounded_where_judgments_are_shown() -> None:
    exact = [replace(metric(name, k + 1, r), n=400) for k, (name, r) in enumerate({"a": 0.61234, "b": 0.51234}.items())]
    told = disclosed_metrics(exact, Disclosure(columns=frozenset({"b"})))
    assert {m.name: m.correlation for m in told} == {"a": 0.61234, "b": 0.51}


def test_what_speaks_against_a_metric_is_told_with_two_decimals_and_not_of_one_without_a_correlation() -> None:
    flags = ("agrees better with the public judgments (0.9981) than with the private ones (0.412), which", "is barred")
    measured, undefined = (
        replace(m, n=400, flags=flags, public=0.9981, public_n=400, before=0.5554, before_n=400, exposure=0.00123)
        for m in (metric("a", 1, 0.41234), metric("b", None, None))
    )
    told, none = disclosed_metrics([measured, undefined], HIDDEN)
    assert told.flags == (
        "agrees better with the public judgments (1.00) than with the private ones (0.41), which",
        "is barred",
    )
    assert (told.public, told.before, told.exposure) == (1.0, 0.56, 0.0)
    assert none.flags == ("is barred",)
    assert (none.public, none.before, none.exposure) == (None, None, None)
    kept_back = replace(HIDDEN, rungs={"a": Rung(value=0.5, improves=False)})
    (again,) = disclosed_metrics([measured], kept_back)
    assert (again.correlation, again.public, again.flags) == (0.5, None, ("is barred",))


def test_the_ladder_tells_the_best_again_without_an_interval() -> None:
    exact = [replace(metric("a", 1, 0.613), n=400, interval=(0.55, 0.66)), replace(metric("b", 2, 0.2), n=400)]
    exact[1] = replace(exact[1], interval=(0.1, 0.3))
    rungs = {"a": Rung(value=0.61, improves=True), "b": Rung(value=0.61, improves=False)}
    told = disclosed_metrics(exact, replace(HIDDEN, rungs=rungs))
    assert [(m.name, m.rank, m.correlation, m.interval) for m in told] == [
        ("a", 1, 0.61, (0.55, 0.66)),
        ("b", 1, 0.61, None),
    ]


def test_an_ensemble_keeps_two_digits_of_its_heaviest_weight_and_drops_what_is_left_of_nothing() -> None:
    names = ("x", "y", "z")
    fitted = replace(
        ENSEMBLE,
        weights={"x": 3.7654, "y": -1.2345, "z": 0.04},
        signatures={name: name for name in names},
        candidates=names,
        intercept=67.8912,
        lam=0.012345,
        lam_range=(0.01, 0.02),
        correlation=0.61234,
        n=400,
        centres=dict.fromkeys(names, 0.12345),
        scales=dict.fromkeys(names, 0.5),
    )
    told = disclosed_ensemble(fitted, HIDDEN)
    assert told.weights == {"x": 3.8, "y": -1.2}
    assert told.centres == {"x": 0.123, "y": 0.123}
    assert (told.intercept, told.lam, told.lam_range, told.correlation) == (68.0, 0.012, None, 0.61)
    assert told.digest != fitted.digest
    assert disclosed_ensemble(fitted, Disclosure(columns=frozenset({"elsewhere"}))) is fitted


def test_means_under_a_withheld_metric_have_three_digits_and_no_interval() -> None:
    rows = [generator("g", 1, 60.0, honest=0.123456789, spy=123456.789), generator("h", 2, 50.0, honest=0.1, spy=None)]
    rows = [replace(row, interval={"honest": (0.1, 0.2), "spy": (123000.0, 124000.0)}) for row in rows]
    told = disclosed_generators(rows, None, Disclosure(columns=frozenset({"spy"})))
    assert told[0].scores == {"honest": 0.123456789, "spy": 123000.0}
    assert told[1].scores["spy"] is None
    assert all(row.interval == {"honest": (0.1, 0.2)} for row in told)


def test_a_whole_ranking_is_told_without_people_notes_and_alternatives() -> None:
    common = CommonRanking(
        ranked_by="ensemble",
        correlation=0.54321,
        n=400,
        unscored=(),
        generators=(CommonStanding(name="g", kind="machine", rank=1, score=0.123456),),
        ensemble=replace(ENSEMBLE, weights={name: w + 0.00123 for name, w in ENSEMBLE.weights.items()}),
    )
    notes = ("x correlates with people at -0.123: is a lower score better?", "another note")
    exact = replace(RANKING, common=common, alternative=ENSEMBLE, notes=notes)
    told = disclosed(exact, HIDDEN)
    assert told.notes == ("another note",)
    assert told.alternative is None
    assert told.people is None
    assert {g.human for g in told.generators} == {None}
    assert told.common is not None
    assert told.common.correlation == 0.54
    assert told.common.ensemble is not None
    assert all(float(f"{weight:.2g}") == weight for weight in told.common.ensemble.weights.values())
    assert disclosed(told, HIDDEN) == told
    partly = disclosed(exact, Disclosure(judgments=True))
    assert [g.human for g in partly.generators] == [g.human for g in exact.generators]


def test_overrating_has_two_decimals_and_no_metric_without_a_correlation() -> None:
    names = [estimate.name for estimate in OVERRATING.metrics]
    told = disclosed_overrating(OVERRATING, HIDDEN, names[:1])
    assert [estimate.name for estimate in told.metrics if estimate.name != "ensemble"] == names[:1]
    assert told.metrics[0].beta0 == pytest.approx(OVERRATING.metrics[0].beta0, abs=0.0051)
    assert told.metrics[0].beta0 == round(told.metrics[0].beta0, 2)
