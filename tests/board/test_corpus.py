"""Corpus values: of summed counts, of any part of a board, with sacreBLEU's intervals."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from small_boards import Errors, Overlap

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.cells import FILE, CellStore, MemoryCells, SqliteCells
from billboards.board.corpus import CorpusColumn, corpus_values
from billboards.board.missing_cells import column_key, score_board
from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Metric, MetricCard, SystemMetric
from billboards.metrics.corpus import mean_values
from billboards.metrics.discovery import metric
from billboards.metrics.executor import InProcess
from billboards.stats import resampling
from billboards.stats.resampling import Resampling

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    ",",
    ".",
    "猫",
    "quickly",
    "away",
    "from",
    "house",
]
PEERS: dict[str, Callable[[], Any]] = {"BLEU": BLEU, "chrF": CHRF, "chrF++": lambda: CHRF(word_order=2), "TER": TER}


def text(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randrange(12)))


def near(draw: random.Random, reference: str) -> str:
    return " ".join(word for word in reference.split() if draw.random() < 0.85) + draw.choice(("", " indeed"))


def text_board(size: int = 40, missing: int = 0) -> Board:
    """Three generators with two references each; the last generator lacks its first outputs."""
    draw = random.Random(1)
    instances = tuple(
        Instance(f"i{k}", references=(Reference("A", text(draw)), Reference("B", text(draw)))) for k in range(size)
    )
    rows = []
    for g in range(3):
        texts = [near(draw, instance.references[g % 2].text) for instance in instances]
        lacking = missing if g == 2 else 0
        rows.append(row_of(Generator(f"g{g}"), instances, (*[None] * lacking, *texts[lacking:])))
    return Board(name="texts", instances=instances, rows=tuple(rows))


def scored(board: Board, *metrics: Metric, store: CellStore | None = None) -> tuple[CellStore, list[CorpusColumn]]:
    cells = MemoryCells() if store is None else store
    assert score_board(board, cells, metrics, InProcess()).failures == {}
    keys = [column_key(board, each, board.references) for each in metrics]
    return cells, list(corpus_values(board, cells, keys, metrics={m.signature: m for m in metrics}))


@pytest.mark.parametrize("name", PEERS)
def test_values_and_intervals_are_sacrebleus_also_where_outputs_are_missing(name: str) -> None:
    board = text_board(missing=7)
    _, (column,) = scored(board, metric(name))
    for row in board.rows:
        places = [k for k, output in enumerate(row.texts) if output is not None]
        outputs = [row.texts[k] or "" for k in places]
        references = [[board.instances[k].references[r].text for k in places] for r in range(2)]
        peer = PEERS[name]()
        expected = peer.corpus_score(outputs, references, n_bootstrap=1000)
        value = column.values[row.name]
        assert value.value == expected.score
        assert value.mean == pytest.approx(float(expected._mean), abs=1e-5)
        assert value.half_width == pytest.approx(float(expected._ci), abs=1e-5)
        assert value.low < value.value < value.high
        assert (value.n, column.kind) == (len(places), "counts")
        assert column.signature == str(peer.get_signature())
    assert column.values["g2"].n == 33


def test_a_part_of_the_board_is_scored_without_its_texts() -> None:
    board = text_board()
    bleu = metric("BLEU")
    cells, _ = scored(board, bleu)
    key = column_key(board, bleu, board.references)
    some = [1, 4, 9, 16, 25]
    (column,) = corpus_values(board, cells, [key], instances=some)
    outputs = [board.rows[0].texts[k] or "" for k in some]
    references = [[board.instances[k].references[r].text for k in some] for r in range(2)]
    assert column.values["g0"].value == BLEU().corpus_score(outputs, references).score
    assert column.values["g0"].n == 5
    (masked,) = corpus_values(board, cells, [key], instances=np.isin(np.arange(40), some))
    assert masked.values == column.values


def test_positions_outside_the_board_are_refused() -> None:
    board = text_board(5)
    for instances in ([5], [-1], np.array([True])):
        with pytest.raises(InvalidInput, match=r"positions|marks"):
            corpus_values(board, MemoryCells(), [], instances=instances)


def test_other_metrics_have_the_mean_and_lower_is_better_is_shown_as_users_know_it() -> None:
    board = text_board()
    cells, (overlap, errors, ter) = scored(board, Overlap(), Errors(), metric("TER"))
    sentences = Errors().score_batch(Batch(list(map(str, board.rows[0].texts)), board.reference_texts(("A", "B"))))[
        "count"
    ]
    value = errors.values["g0"]
    assert value.value == value.sentence_mean == pytest.approx(sentences.mean())
    assert (overlap.kind, overlap.higher_is_better, errors.higher_is_better) == ("mean", True, False)
    assert ter.values["g0"].value > 0
    assert ter.values["g0"].sentence_mean > 0
    draws = np.random.default_rng(12345).choice(40, (1000, 40))
    resampled = np.sort(sentences[draws].mean(axis=1))
    assert [value.low, value.high] == pytest.approx(resampled[[25, 974]])
    (stored,) = cells.load(errors.key, [board.rows[0].version]).values()
    assert mean_values(-stored[np.newaxis])[0] == value


def test_a_metric_that_cant_be_opened_shows_the_mean_of_what_is_kept() -> None:
    board = text_board()
    cells, _ = scored(board, Errors())
    (column,) = corpus_values(board, cells, [column_key(board, Errors(), board.references)])
    assert (column.kind, column.signature) == ("mean", None)
    assert column.values["g0"].value < 0


def test_draws_in_small_pieces_are_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(0).integers(0, 50, (37, 4))
    whole = Resampling().sums(matrix)
    expected = matrix[np.random.default_rng(12345).choice(37, (1000, 37))].sum(axis=1)
    np.testing.assert_array_equal(whole, expected)
    monkeypatch.setattr(resampling, "_AT_ONCE", 16 * 37 * 3)
    monkeypatch.setattr(resampling, "_KEPT", 0)
    drawn = Resampling()
    np.testing.assert_array_equal(drawn.sums(matrix), expected)
    np.testing.assert_array_equal(drawn.sums(matrix * 10**9), expected * 10**9)
    np.testing.assert_allclose(drawn.sums(matrix / 3), expected / 3)
    board = text_board()
    _, (column,) = scored(board, metric("chrF"))
    monkeypatch.undo()
    _, (again,) = scored(board, metric("chrF"))
    assert column.values == again.values


def test_without_draws_there_is_no_interval() -> None:
    board = text_board()
    cells, _ = scored(board, metric("BLEU"))
    (column,) = corpus_values(board, cells, [column_key(board, metric("BLEU"), board.references)], draws=0)
    value = column.values["g0"]
    assert np.isnan([value.low, value.high, value.mean, value.half_width]).all()
    assert column.signature == metric("BLEU").corpus_signature(2)


def test_a_row_that_is_a_reference_or_has_no_output_has_no_value() -> None:
    board = text_board()
    itself = row_of(Generator("A"), board.instances, tuple(i.references[0].text for i in board.instances))
    silent = row_of(Generator("silent"), board.instances, (None,) * 40)
    board = replace(board, rows=(*board.rows, itself, silent))
    _, (column,) = scored(board, metric("BLEU"))
    assert set(column.values) == {"g0", "g1", "g2"}
    assert column.without_counts == ()


def test_cells_of_version_0_1_are_filled_in_and_keep_their_scores(tmp_path: Path) -> None:
    board = text_board()
    store, (whole,) = scored(board, metric("BLEU"), store=SqliteCells(tmp_path))
    key = column_key(board, metric("BLEU"), board.references)
    before = store.load(key, store.present(key))
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("drop table counts")
    assert store.counted(key) == frozenset()
    (column,) = corpus_values(board, store, [key])
    assert (column.values, column.without_counts) == ({}, ("g0", "g1", "g2"))
    assert score_board(board, store, [metric("BLEU")], InProcess()).present == 3
    report = score_board(board, store, [metric("BLEU")], InProcess(), counted=True)
    assert (report.computed, report.present) == (3, 0)
    for version, scores in store.load(key, store.present(key)).items():
        np.testing.assert_array_equal(scores, before[version])
    assert corpus_values(board, store, [key])[0] == whole
    assert score_board(board, store, [metric("BLEU")], InProcess(), counted=True).computed == 0


@dataclass(frozen=True)
class Distinct(SystemMetric):
    """Different words over words, of all outputs together."""

    card: ClassVar[MetricCard] = MetricCard(name="distinct-1", needs_references=False)

    def score_system(self, batch: Batch) -> float:
        words = [word for output in batch.outputs for word in output.split()]
        return len(set(words)) / len(words)


def test_a_system_metric_is_scored_once_and_has_a_value_of_the_whole_board_only(tmp_path: Path) -> None:
    board = text_board(missing=7)
    store, (column,) = scored(board, Distinct(), store=SqliteCells(tmp_path))
    assert column.kind == "system"
    words = " ".join(output for output in board.rows[2].texts if output is not None).split()
    assert column.values["g2"].value == len(set(words)) / len(words)
    assert (column.values["g2"].n, column.values["g0"].n) == (33, 40)
    assert np.isnan([column.values["g2"].low, column.values["g2"].sentence_mean]).all()
    assert np.isnan(store.load(column.key, [board.rows[0].version])[board.rows[0].version]).all()
    assert score_board(board, store, [Distinct()], InProcess(), counted=True).computed == 0
    given = {Distinct().signature: Distinct()}
    assert corpus_values(board, store, [column.key], instances=[0, 1], metrics=given)[0].values == {}
