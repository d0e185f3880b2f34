"""Kept ensembles: versions, files, and scoring new outputs from a signature alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses._archive import Home, keep, open_home
from billboards.analyses.ensemble import apply_ensemble, read_metric_scores
from billboards.analyses.rank import rank_board
from billboards.board.matrix import board_scores
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.executor import InProcess


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A small board in a folder, scored with two real metrics."""
    board = replace(small_board(instances=25), metrics=("BLEU", "chrF"))
    write_board(board, tmp_path / "small")
    bb.score(bb.open(tmp_path / "small"))
    return open_home(tmp_path / "small")


def test_the_same_ensemble_keeps_its_version_and_another_gets_the_next(home: Home) -> None:
    ranking = rank_board(home.board, home.cells, draws=0)
    first, name = keep(home, ranking)
    again, same = keep(home, ranking)
    other, another = keep(home, rank_board(home.board, home.cells, k=1, draws=0))
    assert first.ensemble is not None
    assert again.ensemble == first.ensemble
    assert other.ensemble is not None
    assert [first.ensemble.short_signature, other.ensemble.short_signature] == [
        "ensemble.small+refs.AB+version.1",
        "ensemble.small+refs.AB+version.2",
    ]
    assert first.ensemble.signature == f"ensemble.small+refs.AB+version.1+{first.ensemble.digest}"
    assert first.ensemble.digest != other.ensemble.digest
    assert home.archive.ensemble("ensemble.small+refs.AB+version.2") == other.ensemble
    assert name == same != another
    assert list(home.archive.rankings()) == sorted(home.archive.rankings(), key=list(home.archive.rankings()).index)
    assert home.archive.ranking(name) == first
    assert home.archive.ensemble(first.ensemble.signature) == first.ensemble


def test_applied_to_a_boards_own_generator_it_gives_the_boards_scores(home: Home, tmp_path: Path) -> None:
    ranking, _ = keep(home, rank_board(home.board, home.cells, draws=0))
    assert ranking.ensemble is not None
    outputs = home.board.home / "generators" / "g2.jsonl" if home.board.home else Path()
    applied = apply_ensemble(home.archive.named(ranking.ensemble.signature), home.board, outputs, InProcess())
    expected = next(g.scores["ensemble"] for g in ranking.generators if g.name == "g2")
    assert applied.mean == pytest.approx(expected, abs=1e-10)
    assert applied.n == 25
    copied = tmp_path / "sent.json"
    kept = home.board.home / "ensembles" / f"{ranking.ensemble.signature}.json" if home.board.home else Path()
    copied.write_bytes(kept.read_bytes())
    assert apply_ensemble(home.archive.named(str(copied)), home.board, outputs, InProcess()).mean == applied.mean


def test_partial_outputs_are_scored_where_they_are(home: Home, tmp_path: Path) -> None:
    ranking, _ = keep(home, rank_board(home.board, home.cells, draws=0))
    assert ranking.ensemble is not None
    outputs = tmp_path / "few.jsonl"
    outputs.write_text(json.dumps({"instance": "i3", "text": "the ferry leaves at noon"}) + "\n")
    applied = apply_ensemble(ranking.ensemble, home.board, outputs, InProcess())
    assert applied.n == 1
    assert applied.document()["scores"]["i0"] is None


def test_a_metric_that_cannot_run_here_must_be_given(home: Home, tmp_path: Path) -> None:
    ranking, _ = keep(home, rank_board(home.board, home.cells, draws=0))
    assert ranking.ensemble is not None
    name = next(iter(ranking.ensemble.weights))
    foreign = replace(ranking.ensemble, signatures={**ranking.ensemble.signatures, name: "imported:0123"})
    outputs = home.board.home / "generators" / "g1.jsonl" if home.board.home else Path()
    with pytest.raises(InvalidInput, match="give its scores with --scores"):
        apply_ensemble(foreign, home.board, outputs, InProcess())
    own = board_scores(home.board, home.cells).of(name)[home.board.row_position["g1"]]
    table = tmp_path / "scores.tsv"
    lines = [f"{i.id}\t{score!r}" for i, score in zip(home.board.instances, own.tolist(), strict=True)]
    table.write_text("\n".join((f"instance\t{name}", *lines)) + "\n")
    given = read_metric_scores(table, home.board, foreign)
    np.testing.assert_array_equal(given[name], own)
    expected = next(g.scores["ensemble"] for g in ranking.generators if g.name == "g1")
    assert apply_ensemble(foreign, home.board, outputs, InProcess(), scores=given).mean == pytest.approx(expected)


def test_another_version_of_a_metric_is_refused(home: Home) -> None:
    ranking, _ = keep(home, rank_board(home.board, home.cells, draws=0))
    assert ranking.ensemble is not None
    name, signature = next(iter(ranking.ensemble.signatures.items()))
    older = replace(ranking.ensemble, signatures={**ranking.ensemble.signatures, name: signature + "x"})
    outputs = home.board.home / "generators" / "g1.jsonl" if home.board.home else Path()
    with pytest.raises(InvalidInput, match="this installation has"):
        apply_ensemble(older, home.board, outputs, InProcess())


def test_an_unknown_signature_is_refused_with_near_ones(home: Home) -> None:
    keep(home, rank_board(home.board, home.cells, draws=0))
    with pytest.raises(UnknownName, match=r"did you mean ensemble\.small\+refs\.AB\+version\.1"):
        home.archive.named("ensemble.small+refs.AB+version.7")


def test_damaged_files_are_named(home: Home) -> None:
    _, name = keep(home, rank_board(home.board, home.cells, draws=0))
    assert home.board.home is not None
    (home.board.home / "rankings" / f"{name}.json").write_text("{")
    with pytest.raises(InvalidInput, match="restore it from git"):
        home.archive.rankings()
