"""Every generator has a place: own scores complete imported ones, and all are ranked by what scores everyone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import Errors, Overlap, noisy_board, small_board

from billboards.analyses.ensemble import FEWEST_METRICS
from billboards.analyses.rank import Ranking, rank_board, rank_words
from billboards.board import Board, Generator, ImportedColumn, Slice, human_scores, row_of
from billboards.board.cells import MemoryCells
from billboards.board.folder import open_board
from billboards.board.matrix import SHARE, board_scores
from billboards.board.missing_cells import chosen_metrics, score_board
from billboards.board.writing import write_board
from billboards.metrics.discovery import metric
from billboards.metrics.executor import InProcess


def own_scores(board: Board) -> MemoryCells:
    store = MemoryCells()
    score_board(board, store, [Overlap(), Errors()], InProcess())
    return store


def with_newcomer(board: Board) -> Board:
    """One more generator, which nobody judged and no released score knows: every second output of g0 and of g2."""
    texts = tuple(board.rows[2 * (k % 2)].texts[k] for k in range(len(board.instances)))
    return replace(board, rows=(*board.rows, row_of(Generator("new"), board.instances, texts)))


def released(board: Board, name: str, changed: float = 0.0) -> ImportedColumn:
    """The own scores of the machines as if they came with the data; a share of them changed."""
    values = board_scores(board, own_scores(board)).of(name)
    rows = {}
    for k in range(4):
        rows[f"g{k}"] = values[k].copy()
        rows[f"g{k}"][: round(changed * values.shape[1])] += 3.0
    return ImportedColumn(name=name, source_name=name, signature=f"imported:{name}", values=rows, references=("A", "B"))


def standing(ranking: Ranking, name: str) -> tuple[int | None, str | None]:
    return next((g.rank, g.reason) for g in ranking.generators if g.name == name)


def test_own_scores_fill_the_gaps_of_equal_imported_ones() -> None:
    board = with_newcomer(replace(small_board(), imported=(released(small_board(), "overlap"),)))
    scores = board_scores(board, own_scores(board))
    column = scores.columns[scores.column("overlap")]
    assert (column.origin, column.completed, column.equal) == ("imported", ("new",), 1.0)
    assert scores.key("overlap") is not None
    own = board_scores(replace(board, imported=()), own_scores(board))
    np.testing.assert_array_equal(scores.of("overlap"), own.of("overlap"))
    ranking = rank_board(board, own_scores(board), by="overlap", draws=0)
    assert standing(ranking, "new") == (next(g.rank for g in ranking.generators if g.name == "new"), None)
    assert standing(ranking, "new")[0] is not None
    assert next(m for m in ranking.metrics if m.name == "overlap").completed == ("new",)


def test_single_cells_that_were_not_released_are_filled_too() -> None:
    column = released(small_board(), "overlap")
    values = dict(column.values)
    values["g1"] = np.where(np.arange(12) == 3, np.nan, values["g1"])
    board = replace(small_board(), imported=(replace(column, values=values),))
    scores = board_scores(board, own_scores(board))
    assert np.isfinite(scores.of("overlap")[1]).all()
    assert scores.columns[scores.column("overlap")].completed == ("g1",)
    assert np.isnan(board_scores(board, None).of("overlap")[1, 3])


@pytest.mark.parametrize(("changed", "completed"), [(0.0, True), (1 / 24, True), (2 / 24, False), (1.0, False)])
def test_columns_are_equal_where_nearly_all_scores_are(changed: float, completed: bool) -> None:
    board = small_board(instances=24)
    board = with_newcomer(replace(board, imported=(released(board, "overlap", changed),)))
    scores = board_scores(board, own_scores(board))
    assert (1 - changed >= SHARE) is completed
    assert ("overlap (own)" not in scores.names) is completed
    assert scores.columns[scores.column("overlap")].equal == pytest.approx(1 - changed)
    assert np.isfinite(scores.of("overlap")[6]).all() == completed


def test_where_they_differ_both_stand_and_one_leads() -> None:
    board = small_board()
    alone = rank_board(replace(board, imported=(released(board, "overlap", 0.5),)), None, draws=50)
    board = replace(board, imported=(released(board, "overlap", 0.5),))
    ranking = rank_board(board, own_scores(board), draws=50)
    places = {m.name: (m.rank, m.beside, m.origin) for m in ranking.metrics}
    assert places["overlap (own)"] == (None, "overlap", "own")
    assert places["overlap"][1:] == (None, "imported")
    lead = next(m for m in ranking.metrics if m.name == "overlap")
    assert lead.correlation == alone.metrics[0].correlation
    assert ranking.ensemble is not None
    assert "overlap (own)" not in ranking.ensemble.candidates
    turned = rank_board(replace(board, lead="own"), own_scores(board), draws=50)
    assert {m.name: m.beside for m in turned.metrics if m.beside} == {"overlap (imported)": "overlap"}
    assert rank_board(board, own_scores(board), by="overlap (own)", draws=0).ranked_by == "overlap (own)"


def judged_columns(board: Board) -> Board:
    """Two released metrics that agree with people far better than what can be computed here."""
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, len(board.instances)))
    random = np.random.default_rng(0)
    for name in ("learned", "deep"):
        values = people + 4 * random.normal(size=people.shape)
        column = ImportedColumn(
            name=name,
            source_name=name,
            signature=f"imported:{name}",
            values={f"g{k}": values[k] for k in range(4)},
            references=("A", "B"),
        )
        board = replace(board, imported=(*board.imported, column))
    return board


def test_whom_the_leader_cannot_score_the_common_ranking_places() -> None:
    board = with_newcomer(judged_columns(small_board(instances=40)))
    ranking = rank_board(board, own_scores(board), draws=100)
    assert ranking.ranked_by in ("ensemble", "learned", "deep")
    assert standing(ranking, "new")[0] is None
    assert standing(ranking, "g0")[0] == 1
    common = ranking.common
    assert common is not None
    assert (common.unscored, ranking.newcomers) == (("new",), "common")
    assert common.ranked_by in ("overlap", "errors", "ensemble")
    assert {g.name for g in common.generators} == {"g0", "g1", "g2", "g3", "new"}
    assert all(g.rank is not None for g in common.generators)
    if common.ensemble is not None:
        assert set(common.ensemble.weights) <= {"overlap", "errors"}
    without = rank_board(replace(board, imported=()), own_scores(board), draws=100)
    assert common.correlation == pytest.approx(
        without.ensemble.correlation if common.ensemble and without.ensemble else without.metrics[0].correlation
    )
    assert [g.rank for g in without.generators if g.rank] == [g.rank for g in common.generators]
    assert any("Ranked by" in sentence for sentence in rank_words(ranking))


def test_where_the_leader_scores_everyone_there_is_one_ranking() -> None:
    board = with_newcomer(small_board())
    ranking = rank_board(board, own_scores(board), draws=0)
    assert ranking.common is None
    assert ranking.newcomers == "leader"
    assert standing(ranking, "new")[0] is not None
    assert rank_board(noisy_board({"m": 5.0}), None, draws=0).newcomers is None


def test_who_left_outputs_out_is_in_no_ranking() -> None:
    board = with_newcomer(judged_columns(small_board(instances=40)))
    texts = tuple(None if k % 2 else text for k, text in enumerate(board.rows[-1].texts))
    half = row_of(Generator("half"), board.instances, texts)
    board = replace(board, rows=(*board.rows, half))
    common = rank_board(board, own_scores(board), draws=0).common
    assert common is not None
    assert common.unscored == ("new",)
    assert "half" not in {g.name for g in common.generators}


def test_a_judged_row_without_scores_leaves_the_fit_and_not_the_columns() -> None:
    board = noisy_board({"m": 3.0, "n": 6.0, "o": 9.0})
    whole = rank_board(board, None, draws=0).ensemble
    columns = tuple(
        replace(column, values={name: v for name, v in column.values.items() if name != "g3"})
        for column in board.imported
    )
    ranking = rank_board(replace(board, imported=columns), None, draws=0)
    assert whole is not None
    assert ranking.ensemble is not None
    assert ranking.ensemble.generators_left_out == ("g3",)
    assert (whole.n, ranking.ensemble.n) == (200, 150)
    assert ranking.ensemble.left_out == {}
    some = (columns[0], *board.imported[1:])
    fitted = rank_board(replace(board, imported=some), None, draws=0).ensemble
    assert fitted is not None
    assert fitted.generators_left_out == ()
    assert fitted.left_out == {"m": "scores 3 of 4 judged generators"}
    assert FEWEST_METRICS < 2 / 3


def test_generators_have_corpus_values_and_intervals() -> None:
    from sacrebleu.metrics import bleu

    board = with_newcomer(replace(small_board(), metrics=("BLEU", "TER")))
    store = MemoryCells()
    score_board(board, store, [metric("BLEU"), metric("TER"), Overlap()], InProcess())
    ranking = rank_board(board, store, by="overlap")
    new = next(g for g in ranking.generators if g.name == "new")
    texts = [text or "" for text in board.rows[-1].texts]
    references = [[i.references[k].text for i in board.instances] for k in (0, 1)]
    peer = bleu.BLEU().corpus_score(texts, references, n_bootstrap=1000)
    assert new.corpus["BLEU"] == pytest.approx(peer.score, abs=1e-9)
    low, high = new.interval["BLEU"]
    assert (high - low) / 2 == pytest.approx(peer._ci, abs=1e-4)
    assert new.corpus["TER"] > 0
    assert new.interval["TER"][0] <= new.corpus["TER"] <= new.interval["TER"][1]
    assert "overlap" not in new.corpus
    assert new.interval["overlap"][0] <= (new.scores["overlap"] or 0) <= new.interval["overlap"][1]
    signature = next(m.corpus_signature for m in ranking.metrics if m.name == "BLEU")
    assert signature is not None
    assert signature.startswith("nrefs:2|bs:1000|seed:12345|case:mixed|eff:no|tok:13a")
    assert all(not g.interval for g in rank_board(board, store, by="overlap", draws=0).generators)
    part = rank_board(board, store, by="overlap", part=Slice(domain="sea"))
    kept = [k for k, instance in enumerate(board.instances) if instance.domain == "sea"]
    smaller = bleu.BLEU().corpus_score([texts[k] for k in kept], [[r[k] for k in kept] for r in references])
    assert next(g for g in part.generators if g.name == "new").corpus["BLEU"] == pytest.approx(smaller.score, abs=1e-9)


def test_every_ensemble_has_a_signature_of_its_own() -> None:
    board = noisy_board({"m": 3.0, "n": 6.0, "o": 9.0})
    fits = [rank_board(board, None, k=3, lam=lam, draws=0).ensemble for lam in (0.5, 0.6, 0.5)]
    signatures = [fit.signature for fit in fits if fit is not None]
    assert signatures[0] == signatures[2] != signatures[1]
    assert len({fit.short_signature for fit in fits if fit is not None}) == 1


def test_an_owner_names_the_metric_that_computes_a_released_column(tmp_path: Path) -> None:
    board = small_board()
    store = MemoryCells()
    score_board(board, store, [metric("chrF(beta=1)")], InProcess())
    values = board_scores(board, store).of("chrF(beta=1)")
    column = ImportedColumn(
        name="learned",
        source_name="learned",
        signature="imported:learned",
        values={f"g{k}": values[k] for k in range(4)},
        references=("A", "B"),
        computed_by="chrf(beta=1)",
    )
    write_board(with_newcomer(replace(board, imported=(column,))), tmp_path / "board")
    opened = open_board(tmp_path / "board")
    assert opened.imported[0].computed_by == "chrf(beta=1)"
    store = MemoryCells()
    score_board(opened, store, chosen_metrics(opened, None), InProcess())
    ranking = rank_board(opened, store, draws=0)
    assert [m.name for m in ranking.metrics] == ["learned"]
    assert ranking.metrics[0].completed == ("new",)
    assert (ranking.ranked_by, ranking.newcomers) == ("learned", "leader")
    assert standing(ranking, "new")[0] is not None
