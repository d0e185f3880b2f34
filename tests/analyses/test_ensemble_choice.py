"""Which family makes a board's ensemble, and that every door knows what to do with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import billboards as bb
from billboards.analyses._archive import Home, keep, open_home
from billboards.analyses._disclosed import Disclosure
from billboards.analyses.ensemble import Ensemble, apply_ensemble, ensemble_scores
from billboards.analyses.rank import Ranking, RankingOptions, rank_board
from billboards.board import Aggregate, Board, Dimension, Generator, Instance, Reference, Slice, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.board.matrix import board_scores
from billboards.board.private_share import without_private
from billboards.board.trust import TrustRules
from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.executor import InProcess
from billboards.show.documents import document_of, result_of

METRICS = ("BLEU", "chrF", "ROUGE-1", "ROUGE-L")
WORDS = (
    *("ferry", "harbour", "leaves", "noon", "storm", "captain", "island", "ticket"),
    *("rope", "anchor", "gull", "tide", "mast", "crew", "deck", "light"),
)


def lengthy_board(generators: int = 8, documents: int = 30, each: int = 2) -> Board:
    """People who mind length, which no metric sees, and mistakes, which all see."""
    random = np.random.default_rng(5)
    instances: list[Instance] = []
    texts: list[list[str]] = [[] for _ in range(generators)]
    human: list[tuple[str, str, float]] = []
    for number in range(documents * each):
        words = list(random.choice(np.array(WORDS), random.integers(4, 30)))
        document = f"d{number // each}"
        instances.append(Instance(f"i{number}", references=(Reference("A", " ".join(words)),), document=document))
        for generator in range(generators):
            share = 0.1 + 0.05 * generator
            wrong = random.random(len(words)) < share
            output = [word if not bad else "wrong" for word, bad in zip(words, wrong, strict=True)]
            texts[generator].append(" ".join(output))
            value = 95 - 20 * np.log(len(words)) - 30 * wrong.mean() + 4 * random.normal()
            human.append((f"i{number}", f"g{generator}", float(np.clip(value, 0, 100))))
    rows = tuple(row_of(Generator(f"g{k}"), tuple(instances), tuple(texts[k])) for k in range(generators))
    columns = JudgmentColumns(("good",))
    for instance, name, value in human:
        columns.add(instance=int(instance[1:]), row=int(name[1:]), values={"good": value}, campaign="all")
    return Board(
        name="lengthy",
        instances=tuple(instances),
        rows=rows,
        judgments=columns.build(),
        dimensions={"good": Dimension("good", range=(0, 100))},
        aggregates={"good": Aggregate("good", ("good",))},
        ranks="good",
        metrics=METRICS,
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("choice") / "lengthy"
    write_board(lengthy_board(), folder)
    bb.score(bb.open(folder))
    return open_home(folder)


@pytest.fixture(scope="module")
def ranking(home: Home) -> Ranking:
    return keep(home, rank_board(home.board, home.cells, draws=20))[0]


def fitted(ranking: Ranking) -> Ensemble:
    assert ranking.ensemble is not None
    return ranking.ensemble


def test_a_flexible_family_ranks_where_it_is_significantly_better(ranking: Ranking) -> None:
    ensemble = fitted(ranking)
    assert ensemble.method in ("ridge", "stacking")
    assert ranking.ranked_by == "ensemble"
    assert not ensemble.is_small
    assert set(ensemble.inputs) == set(METRICS)
    assert ensemble.correlation is not None
    assert ensemble.correlation > max(ensemble.tried["lasso"], ensemble.tried["best-subset"]) + 0.1
    assert ensemble.within is not None
    assert 0 < ensemble.within < 1
    assert ranking.alternative is not None
    assert ranking.alternative.method == "best-subset"
    assert ranking.newcomers == "leader"


def test_a_family_that_is_named_is_taken(home: Home) -> None:
    for method in ("lasso", "best-subset", "ridge", "boosting"):
        assert fitted(rank_board(home.board, home.cells, method=method, draws=0)).method == method
    with pytest.raises(UnknownName, match="stackin"):
        rank_board(home.board, home.cells, method="stackin", draws=0)
    with pytest.raises(InvalidInput, match="lambda belongs to the lasso"):
        rank_board(home.board, home.cells, method="ridge", lam=1.0, draws=0)
    assert fitted(rank_board(home.board, home.cells, lam=1.0, draws=0)).method == "lasso"


def test_it_survives_being_written_down(home: Home, ranking: Ranking) -> None:
    again = result_of(Ranking, json.loads(json.dumps(document_of(ranking))))
    assert fitted(again) == fitted(ranking)
    ours, theirs = (
        ensemble_scores(fitted(each), board_scores(home.board, home.cells), home.board) for each in (ranking, again)
    )
    assert (ours == theirs).all()
    assert home.archive.ensemble(fitted(ranking).signature) == fitted(ranking)
    once_more, _ = keep(home, rank_board(home.board, home.cells, draws=0))
    assert fitted(once_more).signature == fitted(ranking).signature


def test_a_ranking_is_verified_to_the_last_number(home: Home, ranking: Ranking) -> None:
    assert home.board.home is not None
    verified = bb.verify(home.board.home).value
    assert verified.ranking is not None
    assert verified.ranking.outcome == "equal"


def test_applied_to_a_boards_own_generator_it_gives_the_boards_scores(home: Home, ranking: Ranking) -> None:
    assert home.board.home is not None
    outputs = home.board.home / "generators" / "g2.jsonl"
    applied = apply_ensemble(fitted(ranking), home.board, outputs, InProcess(), cells=home.cells)
    expected = next(g.scores["ensemble"] for g in ranking.generators if g.name == "g2")
    assert applied.mean == pytest.approx(expected, rel=1e-9)
    assert (applied.missing, applied.interval) == ((), fitted(ranking).interval)


def test_a_metric_that_cant_be_computed_widens_the_interval(
    home: Home, ranking: Ranking, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert home.board.home is not None
    foreign = replace(
        fitted(ranking),
        signatures={**fitted(ranking).signatures, "chrF": "imported:1"},
        first_digest="",
        wider={**fitted(ranking).wider, "chrF": (-90.0, 90.0)},
    )
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps(document_of(foreign)))
    outputs = str(home.board.home / "generators" / "g2.jsonl")
    assert main(["ensemble", "apply", str(path), outputs, "--board", str(home.board.home), "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    expected = next(g.scores["ensemble"] for g in ranking.generators if g.name == "g2")
    assert float(printed.out) == pytest.approx(expected, abs=3)
    assert "without chrF" in printed.err
    assert "between -90.0 and +90.0" in printed.err
    nothing = replace(foreign, signatures=dict.fromkeys(METRICS, "imported:1"))
    path.write_text(json.dumps(document_of(nothing)))
    assert main(["ensemble", "apply", str(path), outputs, "--board", str(home.board.home)]) == 2
    assert "4 of 4 metrics are missing" in capsys.readouterr().err


def test_a_newcomer_without_one_metric_has_its_place(home: Home, ranking: Ranking) -> None:
    scores = board_scores(home.board, home.cells)
    values = scores.values.copy()
    values[scores.column("chrF"), 0] = np.nan
    predicted = ensemble_scores(fitted(ranking), replace(scores, values=values), home.board)
    whole = ensemble_scores(fitted(ranking), scores, home.board)
    assert np.isfinite(predicted).all()
    assert np.corrcoef(predicted[0], whole[0])[0, 1] > 0.9
    values[:, 0] = np.nan
    assert np.isnan(ensemble_scores(fitted(ranking), replace(scores, values=values), home.board)[0]).all()


def test_where_judgments_are_hidden_no_model_tells_them(home: Home) -> None:
    hidden = rank_board(home.board, home.cells, RankingOptions(draws=0, disclosure=Disclosure(judgments=True)))
    assert fitted(hidden).is_small
    rules = TrustRules(private_share=0.3, private_seed=1)
    private = rank_board(replace(home.board, trust=rules), home.cells, draws=0)
    assert fitted(private).is_small
    assert fitted(rank_board(without_private(replace(home.board, trust=rules)), home.cells, draws=0)).is_small


def test_the_card_says_what_is_unseen_what_is_missed_and_for_whom_it_errs(home: Home) -> None:
    study = bb.ensemble(home.board, method="ridge")
    card = study.value.card
    assert card is not None
    assert set(card.held_out) == {"both", "generators", "documents"}
    assert card.held_out["both"] == study.value.ensemble.correlation
    assert set(card.adds) == set(METRICS)
    assert {group.kind for group in card.groups} == {"generator", "length"}
    assert card.covered is not None
    assert 0.9 < card.covered < 0.99
    assert card.slope == pytest.approx(1, abs=0.15)
    tables = [table.name for table in study.tables]
    assert tables == ["ensemble", "unseen", "missed", "errs"]
    small = bb.ensemble(home.board, method="lasso")
    assert [table.name for table in small.tables] == ["ensemble", "without-each", "added", "unseen", "missed", "errs"]


def test_small_boards_stay_with_the_paper(home: Home) -> None:
    part = bb.rank(home.board, part=Slice(document="d1"), draws=0).value
    assert (fitted(part).method, dict(fitted(part).tried)) == ("lasso", {})
