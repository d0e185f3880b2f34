"""Metrics on probation: what speaks against a metric's agreement with people, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from small_sites import make_board

import billboards as bb
from billboards.analyses._probation import Alarms, alarms
from billboards.analyses._reference_lines import PeoplesAgreement, peoples_agreement
from billboards.analyses.rank import Ranking, RankingOptions, generator_table, metric_table, rank_board
from billboards.board import Aggregate, Board, Dimension, ImportedColumn, Slice, human_scores
from billboards.board.judgments import JudgmentColumns
from billboards.board.private_share import private_instances, without_private
from billboards.board.trust import TrustRules
from billboards.errors import UnknownName
from billboards.stats.correlation import Correlations, pearson

Floats = NDArray[np.float64]
DRAWS = 200


def judged_board(*, annotators: int = 3, noise: float = 0.3) -> Board:
    """A board of 60 instances whose annotators agree well with one another."""
    board, numbers = make_board(instances=60, generators=4), np.random.default_rng(2)
    judged = JudgmentColumns(("adequacy", "again"))
    truth = numbers.normal(size=(4, 60))
    for g in range(4):
        for k in range(60):
            for a in range(annotators):
                first, second = (float(np.clip(3 + truth[g, k] + noise * numbers.normal(), 1, 5)) for _ in range(2))
                judged.add(k, g, {"adequacy": first, "again": second}, annotator=f"a{a}")
    scale = {name: Dimension(name, range=(1, 5)) for name in ("adequacy", "again")}
    rules = {"overall": Aggregate("overall", ("adequacy",)), "later": Aggregate("later", ("again",))}
    return replace(board, rows=board.rows[:4], judgments=judged.build(), dimensions=scale, aggregates=rules, metrics=())


def people(board: Board) -> Floats:
    return human_scores(board.judgments, board.aggregate(), board.dimensions, (len(board.rows), len(board.instances)))


def with_columns(board: Board, columns: Mapping[str, Floats]) -> Board:
    """A board with these columns of scores (rows × instances)."""
    imported = tuple(
        ImportedColumn(
            name=name,
            source_name=name,
            signature=f"imported:{name}",
            values={row.name: values[k] for k, row in enumerate(board.rows)},
            references=board.references,
        )
        for name, values in columns.items()
    )
    return replace(board, imported=imported)


def honest(board: Board, strength: float, seed: int) -> Floats:
    """A metric that agrees with people about this well, and with any part of the board alike."""
    values = people(board)
    noise = np.random.default_rng(seed).normal(size=values.shape) * np.nanstd(values)
    return strength * values + (1 - strength) * noise


def ranked(board: Board, **options: object) -> Ranking:
    return rank_board(board, None, RankingOptions(draws=DRAWS, **options))  # type: ignore[arg-type]


def standing(ranking: Ranking, name: str):  # type: ignore[no-untyped-def]
    return next(m for m in ranking.metrics if m.name == name)


def five(board: Board) -> dict[str, Floats]:
    return {f"m{k}": honest(board, 0.2 + 0.08 * k, 100 + k) for k in range(5)}


def test_what_agrees_better_than_people_do_is_on_probation_and_no_honest_metric_is() -> None:
    board = judged_board()
    ranking = ranked(with_columns(board, five(board) | {"oracle": people(board)}))
    oracle = standing(ranking, "oracle")
    best = max(line.correlation or 0.0 for line in ranking.lines if line.kind == "annotator")
    assert best < 0.99 < (oracle.correlation or 0.0)
    assert (oracle.rank, oracle.counts, oracle.reason) == (None, False, "on probation")
    assert [m.name for m in ranking.metrics if m.flags] == ["oracle"]
    assert ranking.ranked_by in ("m4", "ensemble")
    assert "oracle" not in (ranking.ensemble.weights if ranking.ensemble else {})
    assert "oracle is on probation: it correlates best but does not rank generators alone" in ranking.notes
    assert any(
        "oracle agrees better with people than even a perfect judge" in note for note in metric_table(ranking).notes
    )


@pytest.mark.parametrize("rules", [TrustRules(flagged="count"), TrustRules(admits=("oracle",))])
def test_an_owner_lets_it_count_and_it_stays_marked(rules: TrustRules) -> None:
    board = replace(judged_board(), trust=rules)
    oracle = standing(ranked(with_columns(board, five(board) | {"oracle": people(board)})), "oracle")
    assert (oracle.rank, oracle.counts) == (1, True)
    assert oracle.flags


def test_asking_for_it_by_name_shows_what_it_would_say() -> None:
    board = judged_board()
    assert ranked(with_columns(board, five(board) | {"oracle": people(board)}), by="oracle").ranked_by == "oracle"


def test_an_owner_bars_metrics_and_generators_by_name() -> None:
    board = replace(judged_board(), trust=TrustRules(barred={"m4": "has a fault", "g0": "sent twice"}))
    ranking = ranked(with_columns(board, five(board)))
    assert (standing(ranking, "m4").rank, standing(ranking, "m4").flags) == (None, ("has a fault",))
    out = next(g for g in ranking.generators if g.name == "g0")
    assert (out.rank, out.reason) == (None, "kept out by the board's owner: sent twice")
    assert all(g.rank is not None for g in ranking.generators if g.name != "g0")
    by_people = ranked(with_columns(board, five(board)), by="people")
    assert next(g.rank for g in by_people.generators if g.name == "g0") is None


def correlations(*values: float, width: float = 0.05) -> Correlations:
    r = np.array(values)
    return Correlations(r=r, n=np.full(len(r), 100), low=r - width, high=r + width)


PEOPLE = PeoplesAgreement(best=0.8, ceiling=0.93)


def test_an_alarm_takes_more_than_luck_and_a_flag_more_than_a_good_metric() -> None:
    assert alarms(correlations(0.84, 0.5, 0.4), PEOPLE) == Alarms()
    good = alarms(correlations(0.9, 0.5, 0.4), PEOPLE)
    assert (list(good.flags), list(good.marks), good.note) == ([], [0], None)
    cheat = alarms(correlations(0.99, 0.5, 0.4), PEOPLE)
    assert (list(cheat.flags), list(cheat.marks), cheat.note) == ([0], [], None)
    assert alarms(correlations(0.99, 0.5, 0.4), None) == Alarms()


def test_where_most_metrics_agree_better_the_annotators_are_the_trouble() -> None:
    alarm = alarms(correlations(0.5, 0.4, 0.1), PeoplesAgreement(best=0.2, ceiling=0.3))
    assert (dict(alarm.flags), dict(alarm.marks)) == ({}, {})
    assert alarm.note is not None
    assert "agree too little" in alarm.note


@pytest.mark.parametrize("noise", [0.2, 0.6, 1.2])
def test_the_ceiling_is_what_the_truth_behind_the_judgments_reaches(noise: float) -> None:
    board, numbers = make_board(instances=400, generators=4), np.random.default_rng(12)
    truth, severity = numbers.normal(size=(4, 400)), (0.0, 1.5, -1.0)
    judged = JudgmentColumns(("adequacy",))
    for g in range(4):
        for k in range(400):
            for a in range(3):
                value = float(truth[g, k] + severity[a] + noise * numbers.normal())
                judged.add(k, g, {"adequacy": value}, annotator=f"a{a}")
    scale = {"adequacy": Dimension("adequacy", range=(-20, 20))}
    board = replace(board, rows=board.rows[:4], judgments=judged.build(), dimensions=scale)
    people_say = peoples_agreement(board, Slice())
    assert people_say is not None
    reached, _ = pearson(truth[None], people(board))
    assert people_say.ceiling == pytest.approx(reached[0], abs=0.02)
    assert people_say.best < people_say.ceiling


def test_agreement_is_measured_on_the_private_share_and_the_public_one_stands_beside() -> None:
    board = replace(judged_board(), trust=TrustRules(private_share=0.4, private_seed=3))
    private, values = private_instances(board), people(board)
    assert private is not None
    columns = five(board)
    ranking = ranked(with_columns(board, columns))
    for name, scores in columns.items():
        inside, _ = pearson(scores[None], np.where(private, values, np.nan))
        outside, n = pearson(scores[None], np.where(private, np.nan, values))
        own = standing(ranking, name)
        assert own.correlation == pytest.approx(inside[0], abs=1e-12)
        assert own.public == pytest.approx(outside[0], abs=1e-12)
        assert (own.n, own.public_n) == (4 * int(private.sum()), n[0])
    assert ranking.private is not None
    assert (ranking.private.private, ranking.private.public) == (int(private.sum()), int((~private).sum()))
    assert ranking.ensemble is not None
    assert ranking.ensemble.n == 4 * int(private.sum())
    assert not any(m.flags for m in ranking.metrics)


def test_a_look_up_of_the_public_judgments_is_exposed() -> None:
    board = replace(judged_board(), trust=TrustRules(private_share=0.4, private_seed=3))
    seen = people(without_private(board))
    noise = np.random.default_rng(8).normal(size=seen.shape) * np.nanstd(seen)
    learned = np.where(np.isfinite(seen), seen + 0.5 * noise, np.nanmean(seen) + noise)
    ranking = ranked(with_columns(board, five(board) | {"learned": learned}))
    assert [m.name for m in ranking.metrics if not m.counts] == ["learned"]
    assert (standing(ranking, "learned").exposure or 0) <= 0.01
    assert any("has it seen the public ones?" in note for note in metric_table(ranking).notes)


def test_agreement_before_and_the_drop_are_shown_where_somebody_asks() -> None:
    board = judged_board()
    ranking = ranked(with_columns(board, five(board)), aggregate="later", before="overall")
    again = ranked(with_columns(board, five(board)))
    for metric in ranking.metrics:
        assert metric.before == pytest.approx(standing(again, metric.name).correlation)
        assert metric.drop == pytest.approx((metric.before or 0) - (metric.correlation or 0))
    shown = metric_table(ranking)
    assert {"before", "drop"} <= {column.key for column in shown.visible}
    with pytest.raises(UnknownName):
        ranked(with_columns(board, five(board)), before="nothing of the kind")


def test_the_ensemble_of_a_study_is_that_of_the_ranking() -> None:
    board = replace(judged_board(), trust=TrustRules(private_share=0.4, private_seed=3, barred={"m4": "has a fault"}))
    board = with_columns(board, five(board) | {"oracle": people(board)})
    study, ranking = bb.ensemble(board).value, ranked(board)
    assert ranking.ensemble is not None
    assert study.ensemble.weights == ranking.ensemble.weights
    assert not {"m4", "oracle"} & {*study.ensemble.weights, *study.names}


def test_doubts_stand_beside_a_generators_name() -> None:
    board = judged_board()
    ranking = ranked(with_columns(board, five(board)), doubts={"g1": ("8 of 9 outputs are the input",)})
    table = generator_table(ranking)
    assert [row["name"] for row in table.rows if row["mark"] == "?"] == ["g1"]
    assert any("8 of 9 outputs are the input" in note for note in table.notes)
