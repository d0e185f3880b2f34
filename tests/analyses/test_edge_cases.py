"""Every service on boards at the edge of what has an answer: a defined result, or a refusal that explains itself.

`EXPECTED` is the whole table, edge by edge. What stands under "ordinary" holds on every board that says nothing else
of a service; each other entry is what is different there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from edge_boards import EDGES, METRICS
from small_boards import Overlap

import billboards as bb
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.show.documents import dumps

FEW = 20


@dataclass(frozen=True)
class Gives:
    """A result that has a property."""

    named: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Refuses:
    """A refusal whose message says this."""

    error: type[InvalidInput]
    saying: str


def too_little(saying: str) -> Refuses:
    return Refuses(NotEnoughData, saying)


def generators(board: bb.Board) -> tuple[str, str]:
    return board.rows[0].name, board.rows[-1].name


def page(board: bb.Board) -> str:
    assert board.home is not None
    return bb.report(board, Path(str(board.home)) / "page.html").read_text(encoding="utf-8")


SERVICES: Mapping[str, Callable[[bb.Board], Any]] = {
    "rank": lambda board: bb.rank(board, draws=FEW),
    "compare metrics": lambda board: bb.compare(board, "first", "second", draws=FEW),
    "compare generators": lambda board: bb.compare(board, *generators(board), draws=FEW),
    "compare all": lambda board: bb.compare_all(board, draws=FEW),
    "sensitivity": lambda board: bb.sensitivity(board, draws=FEW),
    "hybrids": lambda board: bb.hybrids(board, mixtures=50, sample=5),
    "estimate": lambda board: bb.estimate(board, board.rows[0].name, metric="first"),
    "estimate by ensemble": lambda board: bb.estimate(board, board.rows[0].name),
    "power of metrics": lambda board: bb.power(board, "first", "second"),
    "power of generators": lambda board: bb.power(board, *generators(board)),
    "agreement": lambda board: bb.agreement(board, "adequacy", "fluency"),
    "lasso": bb.ensemble,
    "best subset": lambda board: bb.ensemble(board, method="best-subset"),
    "overrating": lambda board: bb.overrating(board, score=False),
    "references": lambda board: bb.references(board, [Overlap()]),
    "report": page,
}
#: What keeps scores or pages needs a folder.
IN_A_FOLDER = ("overrating", "references", "report")


def metric(found: Any, name: str) -> Any:
    return next(one for one in found.metrics if one.name == name)


def condition(found: Any, name: str) -> Any:
    return next(one for one in found.conditions if one.name == name)


def pair(found: Any, one: str, other: str) -> Any:
    return next(p for p in found.compared if {p.first, p.second} == {one, other})


def need(found: Any, name: str) -> Any:
    return next(one for one in found.needs if one.name == name)


UNSCORED = Refuses(UnknownName, "no metric named 'first'")
CANT_BE_KEPT = Refuses(InvalidInput, "has an infinite score; NaN stands for one that does not exist")
NO_CONSTANT_JOINS = too_little("first: has the same score for every judged output")
CONSTANT_IS_NOT_CORRELATED = too_little("one of the metrics or the judgments do not vary")
NOTHING_TO_FIT = too_little("every judgment is the same, so there is nothing to fit an ensemble to")
NO_CURVE = Gives("why there is no curve", lambda f: f.curves == {} and "don't vary" in f.missing["overlap"])

EXPECTED: Mapping[str, Mapping[str, Gives | Refuses]] = {
    "ordinary": {
        "rank": Gives("all metrics ranked, with intervals", lambda f: all(m.rank and m.interval for m in f.metrics)),
        "compare metrics": Gives(
            "a difference with an interval and p-values of both statistics",
            lambda f: f.interval[0] < f.difference < f.interval[1] and f.accuracy.p_pairs > 0 and f.p_permutation > 0,
        ),
        "compare generators": Gives("people and four metrics", lambda f: len(f.scores) == 5 and not f.missing),
        "compare all": Gives("six pairs, corrected", lambda f: len([p for p in f.compared if p.holm >= p.p]) == 6),
        "sensitivity": Gives("a place for all", lambda f: all(m.best <= m.worst for m in f.metrics)),
        "hybrids": Gives("all ranked", lambda f: all(m.rank and 0 <= m.hits <= 1 for m in f.metrics)),
        "estimate": Gives("an interval round the mean", lambda f: f.with_metric.interval[0] < f.with_metric.mean),
        "estimate by ensemble": Gives("an ensemble of the others", lambda f: f.generator not in f.fitted_on != ()),
        "power of metrics": Gives("instances and generators", lambda f: len(f.needs) == 2),
        "power of generators": Gives("a number by people and all metrics", lambda f: len(f.needs) == 5),
        "agreement": Gives("r of both levels and corners", lambda f: f.levels[1].pearson and f.first_above),
        "lasso": Gives("a correlation", lambda f: f.ensemble.correlation > 0),
        "best subset": Gives("a correlation", lambda f: f.ensemble.correlation > 0),
        "overrating": Gives("intervals with a width", lambda f: all(m.se > 0 for m in f.metrics) and not f.missing),
        "references": Gives("a point for one and for two", lambda f: [p.size for p in f.curves["overlap"]] == [1, 2]),
        "report": Gives("sections", lambda f: 'id="ensemble"' in f and 'id="overrating"' in f),
    },
    "a constant metric": {
        "rank": Gives(
            "it has no rank, and why",
            lambda f: metric(f, "first").rank is None and "don't vary" in metric(f, "first").reason,
        ),
        "compare metrics": Gives(
            "no correlation to compare, but pairs",
            lambda f: f.difference is f.p_permutation is f.needed is None and f.accuracy.difference < 0,
        ),
        "compare all": Gives(
            "no p for its pairs, which don't count in the correction",
            lambda f: pair(f, "first", "second").p is None and len([p for p in f.compared if p.p is not None]) == 3,
        ),
        "sensitivity": Gives("no place by correlation", lambda f: metric(f, "first").rank is None),
        "hybrids": Gives("left out, and why", lambda f: "same score" in f.left_out["first"]),
        "estimate": Gives("the plain mean", lambda f: f.weight == 0 and f.with_metric == f.plain),
        "power of metrics": CONSTANT_IS_NOT_CORRELATED,
        "power of generators": Gives("no number is enough by it", lambda f: need(f, "first").needed is None),
        "lasso": Gives("no candidate", lambda f: "same score" in f.ensemble.left_out["first"]),
        "best subset": Gives("no candidate", lambda f: "same score" in f.ensemble.left_out["first"]),
        "overrating": Gives("why not", lambda f: "every output has the same score" in f.missing["first"]),
    },
    "only constant metrics": {
        "rank": Gives("generators unranked, and why", lambda f: f.ranked_by is None and "--by" in f.notes[-1]),
        "compare metrics": Gives("a tie in every pair", lambda f: f.difference is None and f.accuracy.p_pairs == 1),
        "compare all": Gives("no p anywhere", lambda f: all(p.p is p.holm is p.bh is None for p in f.compared)),
        "sensitivity": Gives("nothing moves", lambda f: not any(m.moves for m in f.metrics)),
        "hybrids": NO_CONSTANT_JOINS,
        "estimate": Gives("the plain mean", lambda f: f.weight == 0 and f.with_metric == f.plain),
        "estimate by ensemble": NO_CONSTANT_JOINS,
        "power of metrics": CONSTANT_IS_NOT_CORRELATED,
        "lasso": NO_CONSTANT_JOINS,
        "best subset": NO_CONSTANT_JOINS,
        "overrating": Gives("why for each", lambda f: not f.metrics and set(f.missing) == {*METRICS, "ensemble"}),
        "report": Gives("no ensemble, and why", lambda f: 'id="ensemble"' not in f and "no ensemble:" in f),
    },
    "two generators": {
        "compare generators": Gives("people and four metrics", lambda f: f.scores[0].n == 12),
        "sensitivity": Gives("none left out in turn", lambda f: not f.pulls and condition(f, "SPA").n["first"] == 1),
        "estimate by ensemble": too_little("needs judgments of at least 2 generators"),
        "power of metrics": Gives(
            "instances only, and why not generators",
            lambda f: [n.unit for n in f.needs] == ["instances"] and "there are 2" in next(iter(f.missing.values())),
        ),
        "best subset": too_little("a nested choice needs judgments of at least 3 generators"),
        "overrating": too_little("has no judged human generator"),
        "report": Gives("no section on overrating", lambda f: 'id="overrating"' not in f and 'id="ensemble"' in f),
    },
    "four outputs": {
        "rank": Gives("four pairs", lambda f: [m.n for m in f.metrics] == [4] * 4),
        "compare metrics": Gives("two pairs of outputs", lambda f: f.n == 4 and f.accuracy.pairs == 2),
        "compare all": Gives("nothing found", lambda f: all(p.holm > 0.05 for p in f.compared)),
        "estimate": Gives("labels too few to weigh by", lambda f: f.weight == 0 and f.with_metric.interval is not None),
        "estimate by ensemble": too_little("needs judgments of at least 2 generators"),
        "power of metrics": too_little("two metrics need 4 units"),
        "power of generators": Gives("instances", lambda f: need(f, "people").needed > 2),
        "agreement": Gives("four outputs, two generators", lambda f: [one.n for one in f.levels] == [4, 2]),
        "lasso": Gives("a fit on four outputs", lambda f: f.ensemble.n == 4),
        "best subset": too_little("a nested choice needs judgments of at least 3 generators"),
        "overrating": Gives(
            "no interval without width, but why",
            lambda f: not f.metrics and "4 outputs of 2 instances leave nothing" in f.missing["first"],
        ),
    },
    "one instance": {
        "rank": Gives("no interval from one instance", lambda f: all(m.rank and not m.interval for m in f.metrics)),
        "compare metrics": Gives("no interval from one instance", lambda f: f.interval is None and f.difference),
        "compare generators": Gives("one instance decides nothing", lambda f: f.scores[0].p > 0.4 and f.needed is None),
        "sensitivity": Gives("one item, no p by it", lambda f: condition(f, "pearson, by item").p["first"] is None),
        "estimate": too_little("take 2 or more"),
        "estimate by ensemble": too_little("take 2 or more"),
        "power of metrics": too_little("there are 1"),
        "power of generators": too_little("no scores on 2 common instances"),
        "lasso": Gives("a fit on five outputs", lambda f: f.ensemble.n == 5),
        "best subset": too_little("no metric varies within generators"),
        "overrating": Gives("least squares on five outputs", lambda f: {m.n for m in f.metrics} == {5}),
    },
    "all-tied judgments": {
        "rank": Gives(
            "no metric ranked, no ensemble, and why",
            lambda f: f.ranked_by is f.ensemble is None and "every judgment is the same" in f.notes[0],
        ),
        "compare metrics": Gives(
            "no correlation; a metric that ties everything agrees with people",
            lambda f: f.difference is None and f.accuracy.values == pytest.approx((1, 1)) and f.accuracy.p_pairs == 1,
        ),
        "compare generators": Gives("a tie by people", lambda f: f.scores[0].ties == 12 and f.scores[0].p == 1),
        "compare all": Gives("no p anywhere", lambda f: all(p.p is None and p.p_accuracy == 1 for p in f.compared)),
        "sensitivity": Gives("no rank by correlation", lambda f: all(m.rank is None for m in f.metrics)),
        "hybrids": too_little("every judgment is the same, so no hybrid is better than another"),
        "estimate": Gives("the mean, and no error to tell", lambda f: f.plain.mean == 50 and f.plain.se is None),
        "estimate by ensemble": NOTHING_TO_FIT,
        "power of metrics": CONSTANT_IS_NOT_CORRELATED,
        "power of generators": Gives("people have no difference to find", lambda f: need(f, "people").needed is None),
        "agreement": Gives("no r and no corners", lambda f: f.levels[0].pearson is None and not f.first_above),
        "lasso": NOTHING_TO_FIT,
        "best subset": NOTHING_TO_FIT,
        "overrating": Gives("why not", lambda f: not f.metrics and "every judgment is the same" in f.missing["first"]),
        "references": NO_CURVE,
        "report": Gives("no ensemble, and why", lambda f: 'id="ensemble"' not in f and "no ensemble:" in f),
    },
    "infinities": {
        "rank": Gives(
            "an infinite score counts as missing",
            lambda f: metric(f, "first").n == 50 and metric(f, "second").n == 60,
        ),
        "compare metrics": Gives("what both have", lambda f: f.n == 50 and f.accuracy.pairs == 100),
        "compare generators": Gives("what both have", lambda f: [s.n for s in f.scores] == [12, 10, 12, 12, 12]),
        "compare all": Gives("what both have", lambda f: pair(f, "first", "third").n == 50),
        "sensitivity": Gives("what both have", lambda f: condition(f, "acc_eq").n["first"] == 100),
        "hybrids": Gives("left out, and why", lambda f: f.left_out == {"first": "scores 50 of 60 judged outputs"}),
        "estimate": Gives("scored less", lambda f: (f.scored, f.instances) == (10, 12)),
        "power of metrics": Gives("ten instances", lambda f: f.needs[0].units == 10),
        "power of generators": Gives("ten instances", lambda f: need(f, "first").units == 10),
        "lasso": Gives("left out, and why", lambda f: "50 of 60" in f.ensemble.left_out["first"]),
        "best subset": Gives("left out, and why", lambda f: "50 of 60" in f.ensemble.left_out["first"]),
        "overrating": CANT_BE_KEPT,
        "references": CANT_BE_KEPT,
        "report": CANT_BE_KEPT,
    },
    "equal to the judgments": {
        "rank": Gives(
            "r of 1, in every resample, ahead of all",
            lambda f: metric(f, "first").interval == (1, 1) and [m.rank for m in f.metrics][:2] == [1, 2],
        ),
        "compare metrics": Gives("r of 1", lambda f: f.correlations[0] == f.accuracy.values[0] == 1 and f.needed > 0),
        "sensitivity": Gives("first under every condition", lambda f: metric(f, "first").worst == 1),
        "hybrids": Gives("the right pick always", lambda f: metric(f, "first").hits == pytest.approx(1)),
        "estimate": Gives("weight 1 and nothing saved", lambda f: f.weight == pytest.approx(1) and abs(f.saved) < 1e-9),
        "lasso": Gives("it alone", lambda f: set(f.ensemble.weights) == {"first"} and f.ensemble.correlation == 1),
        "best subset": Gives("it alone counts", lambda f: f.ensemble.correlation == pytest.approx(1)),
        "overrating": Gives(
            "exactly neutral",
            lambda f: (metric(f, "first").beta0, metric(f, "first").interval90) == (0, (0, 0)),
        ),
    },
    "all equal to the judgments": {
        "rank": Gives("all share the first rank", lambda f: {m.rank for m in f.metrics} == {1}),
        "compare metrics": Gives(
            "no difference, for sure", lambda f: f.interval == (0, 0) and f.p_permutation == f.p_williams == 1
        ),
        "compare all": Gives("no difference", lambda f: all(p.difference == 0 and p.p == 1 for p in f.compared)),
        "sensitivity": Gives("nothing moves", lambda f: not any(m.moves for m in f.metrics)),
        "hybrids": Gives("all share the first rank", lambda f: {m.rank for m in f.metrics} == {1}),
        "power of metrics": Gives("no number is enough", lambda f: all(n.needed is None for n in f.needs)),
        "lasso": Gives("one of them", lambda f: len(f.ensemble.weights) == 1 and f.ensemble.correlation == 1),
        "best subset": Gives(
            "one of them, where three say the same", lambda f: len(f.ensemble.weights) == 1 and f.ensemble.correlation
        ),
        "overrating": Gives("exactly neutral", lambda f: {m.beta0 for m in f.metrics} == {0}),
    },
    "no judgments": {
        "rank": Gives("why", lambda f: {m.reason for m in f.metrics} == {"no judged output has a score"}),
        "compare metrics": too_little("share 0 judged outputs"),
        "compare generators": Gives("metrics alone", lambda f: f.decided_by == "first" and "people" in f.missing),
        "compare all": too_little("needs judged outputs"),
        "sensitivity": too_little("needs judged outputs"),
        "hybrids": too_little("no judged generator to mix"),
        "estimate": too_little("has 0 labels"),
        "estimate by ensemble": too_little("has 0 labels"),
        "power of metrics": too_little("there are 0"),
        "power of generators": Gives("metrics alone", lambda f: len(f.needs) == 4 and "people" in f.missing),
        "agreement": too_little("no output has both adequacy and fluency"),
        "lasso": too_little("no output is judged"),
        "best subset": too_little("no output is judged"),
        "overrating": Refuses(InvalidInput, "no judgments to rank metrics by"),
        "references": too_little("has no judged outputs"),
        "report": Gives("no ensemble", lambda f: 'id="ensemble"' not in f and 'id="metrics"' in f),
    },
    "no scores": {
        "rank": Gives("no metrics", lambda f: f.metrics == () and f.ranked_by is None),
        "compare metrics": UNSCORED,
        "compare generators": Gives("people alone", lambda f: [s.name for s in f.scores] == ["people"]),
        "compare all": too_little("scores of two metrics"),
        "sensitivity": too_little("and scores"),
        "hybrids": too_little("there are no scores"),
        "estimate": UNSCORED,
        "estimate by ensemble": too_little("there are no scores"),
        "power of metrics": UNSCORED,
        "power of generators": Gives("people alone", lambda f: [n.name for n in f.needs] == ["people"]),
        "lasso": too_little("there are no scores"),
        "best subset": too_little("there are no scores"),
        "overrating": Gives("why", lambda f: f.metrics == () and "there are no scores" in f.missing["ensemble"]),
        "report": Gives("no ensemble, and why", lambda f: 'id="ensemble"' not in f and "no ensemble:" in f),
    },
}


def test_the_table_names_edges_and_services_that_there_are() -> None:
    assert EXPECTED.keys() == EDGES.keys()
    assert all(row.keys() <= SERVICES.keys() for row in EXPECTED.values())
    assert EXPECTED["ordinary"].keys() == SERVICES.keys()


def answer(edge: str, service: str, folder: Path) -> Any:
    board = EDGES[edge]()
    if service in IN_A_FOLDER:
        board = bb.save(board, folder / "board")
    return SERVICES[service](board)


@pytest.mark.parametrize("service", list(SERVICES))
@pytest.mark.parametrize("edge", list(EDGES))
def test_every_service_has_an_answer_at_every_edge(edge: str, service: str, tmp_path: Path) -> None:
    expected = EXPECTED[edge].get(service, EXPECTED["ordinary"][service])
    if isinstance(expected, Refuses):
        with pytest.raises(expected.error) as refusal:
            answer(edge, service, tmp_path)
        assert expected.saying in str(refusal.value)
        return
    found = answer(edge, service, tmp_path)
    if isinstance(found, str):
        assert expected.holds(found), expected.named
        return
    assert expected.holds(found.value), expected.named
    assert json.loads(dumps(found.document))["kind"] == found.document["kind"]
    assert str(found)
