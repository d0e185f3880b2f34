"""Simplicity-DA as its repository is laid out: ratings, means with z-scores, and released metrics."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import zscore

from billboards.analyses.rank import rank_board
from billboards.board import human_scores
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers import IMPORTERS

RATINGS = "data/ratings_per_annotator/simplicity_DA_ratings.csv"
MEANS = "data/simplicity_DA.csv"
METRICS = "data/metrics_per_sentence/metrics_simplicity_DA.csv"


def simplicity_da(source: Path, **options: object) -> Imported:
    imported = IMPORTERS.load("simplicity-da")(source, **options)
    assert isinstance(imported, Imported)
    return imported


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def clone(root: Path, *, ddof: int = 0, sentences: int = 20) -> Path:
    """A clone of the repository's layout, with z-scores to nine digits as scipy has them."""
    random = np.random.default_rng(5)
    systems, raters = ("ACCESS", "Hybrid", "PBMT-R"), 6
    outputs = [(k, system) for k in range(1, sentences + 1) for system in systems]
    scores = np.clip(random.normal(60, 25, (len(outputs), raters)) + 10 * np.arange(raters), 0, 100).round()
    z = zscore(scores, axis=0, ddof=ddof).mean(axis=1)
    texts = [
        {"sent_id": k, "sys_name": system, "orig_sent": f'A "hard", long sentence {k}.', "simp_sent": f"{system} {k}."}
        for k, system in outputs
    ]
    write(
        root / RATINGS,
        [
            text | {"rater_id": rater, "simplicity": int(scores[n, rater])}
            for n, text in enumerate(texts)
            for rater in range(raters)
        ],
    )
    write(
        root / MEANS,
        [
            text
            | {
                "sys_type": "SBMT",
                "fluency": 50 + n % 7,
                "fluency_zscore": n / 100,
                "meaning": 40,
                "meaning_zscore": 0.5,
            }
            | {"simplicity": round(float(scores[n].mean()), 8), "simplicity_zscore": round(float(z[n]), 9)}
            for n, text in enumerate(texts)
        ],
    )
    noise = random.normal(0, 20, len(outputs))
    write(
        root / METRICS,
        [
            {"sent_id": k, "sys_name": system, "test_set": references}
            | {"bleu": 50 + 20 * z[n] + noise[n] * worse, "amean_bleu_sari": n % 11, "fkgl": -z[n], "samsa": n % 3}
            for n, (k, system) in enumerate(outputs)
            for references, worse in (("asset", 1), ("turk", 2), ("hsplit", 3), ("all", 1.5))
        ],
    )
    return root


@pytest.mark.parametrize(("ddof", "divisor"), [(0, "divided by n (else"), (1, "divided by n - 1 (else")])
def test_released_z_scores_are_held_against_those_of_single_ratings(tmp_path: Path, ddof: int, divisor: str) -> None:
    imported = simplicity_da(clone(tmp_path, ddof=ddof))
    board = imported.board
    assert board.ranks == "simplicity_z"
    assert board.aggregates["simplicity_z"].ddof == ddof
    (note,) = [note for note in imported.notes if note.startswith("simplicity_z ranks")]
    assert "for 60 of 60 outputs" in note
    assert divisor in note
    shape = (len(board.rows), len(board.instances))
    computed = human_scores(board.judgments, board.aggregate(), board.dimensions, shape)
    np.testing.assert_allclose(computed, board.judgments.means("simplicity_zscore", shape), atol=1e-9)


def test_three_dimensions_come_with_single_ratings_where_there_are_any(tmp_path: Path) -> None:
    board = simplicity_da(clone(tmp_path)).board
    assert tuple(board.dimensions) == (
        "simplicity", "fluency", "meaning", "simplicity_zscore", "fluency_zscore", "meaning_zscore"
    )  # fmt: skip
    assert board.judgments.campaigns == ("ratings", "released")
    assert len(board.judgments) == 60 * 6 + 60
    single = board.judgments.of_campaigns(("ratings",))
    values = board.judgments.values[:, board.judgments.dimensions.index("simplicity")]
    assert np.isfinite(values[single]).all()
    assert np.isnan(values[~single]).all()
    assert [generator.description for generator in board.generators] == ["System type: SBMT"] * 3


def test_released_metrics_are_columns_named_by_their_reference_set(tmp_path: Path) -> None:
    board = simplicity_da(clone(tmp_path)).board
    columns = {column.name: column for column in board.imported}
    sets = ("all", "asset", "hsplit", "turk")
    expected = {f"{name}-{references}" for name in ("BLEU", "amean(BLEU,SARI)") for references in sets}
    assert set(columns) == expected | {"FKGL", "SAMSA"}
    assert not columns["FKGL"].higher_is_better
    assert not columns["FKGL"].needs_references
    assert not columns["FKGL"].needs_input
    assert columns["SAMSA"].needs_input
    ranking = rank_board(board, None, draws=0)
    agreement = {metric.name: metric.correlation for metric in ranking.metrics}
    assert agreement["FKGL"] == pytest.approx(1.0)
    assert 0 < (agreement["BLEU-turk"] or 0) < (agreement["BLEU-asset"] or 0) < 1


def test_asset_s_references_join_by_the_sentence_s_number(tmp_path: Path) -> None:
    folder = tmp_path / "asset" / "dataset"
    folder.mkdir(parents=True)
    (folder / "asset.test.orig").write_text("".join(f"Original {k}.\n" for k in range(1, 21)))
    (folder / "asset.test.simp.0").write_text("".join(f"Simple {k}.\n" for k in range(1, 21)))
    board = simplicity_da(clone(tmp_path / "clone"), references=tmp_path / "asset").board
    assert [ref.text for ref in board.instances[board.position["7"]].references] == ["Simple 7."]
    columns = {column.name: column for column in board.imported}
    assert columns["BLEU-asset"].references == ("simp.0",)
    assert columns["BLEU-turk"].references == ()


def test_each_file_alone_is_enough(tmp_path: Path) -> None:
    root = clone(tmp_path)
    only_ratings = simplicity_da(root / RATINGS).board
    assert only_ratings.ranks == "simplicity_z"
    assert tuple(only_ratings.dimensions) == ("simplicity",)
    only_means = simplicity_da(root / MEANS).board
    assert only_means.ranks == "simplicity_zscore"
    assert len(only_means.judgments) == 60


def test_other_texts_in_the_files_are_noted(tmp_path: Path) -> None:
    root = clone(tmp_path)
    path = root / MEANS
    path.write_text(path.read_text().replace("Hybrid 3.", "Hybrid three."))
    imported = simplicity_da(root)
    assert any("another text of 1 outputs" in note and "Hybrid's of sentence 3" in note for note in imported.notes)
    assert imported.board.row("Hybrid").texts[imported.board.position["3"]] == "Hybrid 3."
    path.write_text(path.read_text().replace("sentence 7.", "sentence seven."))
    assert any("several originals of the same sentence" in note for note in simplicity_da(root).notes)


def test_numbers_of_rows_in_an_unnamed_column_are_read_over(tmp_path: Path) -> None:
    root = clone(tmp_path)
    sound = simplicity_da(root).board.version
    for name in (RATINGS, MEANS, METRICS):
        head, *lines = (root / name).read_text().splitlines()
        (root / name).write_text(
            "".join(f"{line}\n" for line in (f",{head}", *(f"{k},{x}" for k, x in enumerate(lines))))
        )
    assert simplicity_da(root).board.version == sound


@pytest.mark.parametrize(
    ("path", "old", "new", "message"),
    [
        (RATINGS, "ACCESS 2.,0,", "ACCESS 2.,0,101", "lies outside [0, 100]"),
        (MEANS, "ACCESS 2.,SBMT,53", "ACCESS 2.,SBMT,high", "'high' is not a finite number"),
        (METRICS, "2,ACCESS,turk", "1,ACCESS,turk", "appears twice"),
        (METRICS, "test_set", "references", "has no column 'test_set'"),
        (METRICS, "1,ACCESS,asset,", "1,ACCESS,asset,inf", "is not a finite number"),
        (RATINGS, "rater_id", "rater", "has no column 'rater_id'"),
    ],
)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, path: str, old: str, new: str, message: str) -> None:
    root = clone(tmp_path)
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new, 1))
    with pytest.raises(ImportRefused) as refused:
        simplicity_da(root)
    assert message in str(refused.value)
    assert f"{Path(path).name}:" in str(refused.value)


@pytest.mark.data
def test_the_sample_of_the_public_repository_is_read_as_it_is(shared_data: Path) -> None:
    imported = simplicity_da(shared_data.parent / "samples" / "metaeval-simplification")
    board = imported.board
    assert len(board.instances) == 14
    assert len(board.judgments) == 30 + 12
    assert len(board.imported) == 18 * 4 + 2
    assert board.card.licence == "CC-BY-NC-SA-4.0"
    assert board.ranks == "simplicity_zscore"
    assert any("z-scores of 0 of 12 outputs" in note for note in imported.notes)
    access = board.row("ACCESS")
    assert (access.texts[board.position["268"]] or "").startswith("Prunk is a member")
