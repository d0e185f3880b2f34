"""What a board says in sentences."""

from __future__ import annotations

from dataclasses import replace

from examples_of_results import OVERRATING, RANKING

from billboards.analyses._report import findings, reference_words
from billboards.analyses.overrating import overrating_words
from billboards.analyses.rank import best_metric, popular_metric


def test_a_board_says_its_findings_in_four_sentences() -> None:
    assert findings(RANKING, OVERRATING) == (
        "Of 3 metrics, COMET agrees best with people: its Pearson correlation with the human judgments (mqm) is 0.551 "
        "(95% interval 0.500 to 0.600, n = 300). Not told apart from it: COMET-QE.",
        "An ensemble of 2 metrics, 1.72·COMET-QE + 1.48·COMET, reaches 0.605 on generators it has not seen: "
        "0.054 more than COMET alone.",
        "Ranked by ensemble, Huoshan (78.85), THUNLP (78.5) and <script>alert(1)</script> (78.5) lead 4 generators.",
        "1 of 3 metrics significantly overrate machines over Human-B; the most is 0.62 standard deviations (BLEU). "
        "The other way round: TER.",
    )


def test_generators_that_people_put_elsewhere_are_named() -> None:
    first = RANKING.generators[0]
    humans = (50.0, 90.0, 80.0, 70.0, 60.0)
    many = tuple(replace(first, name=f"g{k}", kind="machine", rank=k, human=h) for k, h in enumerate(humans, 1))
    assert findings(replace(RANKING, generators=many))[3:] == (
        "People and ensemble differ most on g1 (place 1 by ensemble, 5 by people), of 5 judged generators.",
    )
    assert len(findings(replace(RANKING, generators=many, ranked_by="people"))) == 3


def test_many_references_are_counted() -> None:
    assert reference_words(()) == "none"
    assert reference_words(("Ada", "Ben")) == "Ada, Ben"
    assert reference_words([f"r{k}" for k in range(1, 10)]) == "9: r1 … r9"


def test_an_ensemble_that_is_worse_is_said_to_be() -> None:
    assert RANKING.ensemble is not None
    worse = replace(RANKING, ensemble=replace(RANKING.ensemble, correlation=0.29))
    assert findings(worse)[1].endswith("0.261 less than COMET alone.")


def test_what_the_results_cannot_say_is_left_out() -> None:
    silent = replace(RANKING, metrics=(), ensemble=None, ranked_by=None)
    assert findings(silent, replace(OVERRATING, metrics=())) == ()


def test_a_statistic_is_never_the_best_metric_however_well_it_correlates() -> None:
    length = replace(RANKING.metrics[3], correlation=0.99)
    best = best_metric(replace(RANKING, metrics=(length, *RANKING.metrics[:3])))
    assert best is not None
    assert best.name == "COMET"


def test_the_best_metric_is_compared_with_the_most_popular_one_else_with_the_least_agreeing() -> None:
    comet, estimate, bleu, *_ = RANKING.metrics
    assert popular_metric(RANKING) == bleu
    assert popular_metric(replace(RANKING, metrics=(comet, estimate))) == estimate
    assert popular_metric(replace(RANKING, metrics=(comet,))) is None


def test_one_metric_alone_is_counted_in_the_singular() -> None:
    one = replace(OVERRATING, metrics=OVERRATING.metrics[:1])
    assert overrating_words(one) == "1 of 1 metric significantly overrates machines over Human-B"
