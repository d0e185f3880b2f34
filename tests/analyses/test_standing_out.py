"""Who is best in each column of a ranking, who is not significantly worse, and who beats a baseline."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import billboards as bb
from billboards.analyses.rank import Ranking, generator_table, metric_table
from billboards.board import Board
from billboards.errors import UnknownName
from billboards.show.documents import document_of, result_of
from billboards.stats.resampling import Swaps, randomisation_p

WORDS = ["the", "quick", "fox", "jumps", "over", "a", "lazy", "dog", "near", "old", "river", "banks", "while", "birds"]


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Board, Ranking]:
    """A board on which `exact` and `nearly` are close, and `far` is not."""
    random = np.random.default_rng(0)
    references = [" ".join(random.permutation(WORDS)[:12]) for _ in range(40)]

    def noisy(share: float, seed: int) -> list[str]:
        own = np.random.default_rng(seed)
        return [
            " ".join(word if own.random() > share else str(own.choice(WORDS)) for word in text.split())
            for text in references
        ]

    texts = {"nearly": noisy(0.20, 2), "exact": noisy(0.19, 1), "far": noisy(0.7, 3), "lost": noisy(0.95, 4)}
    home = tmp_path_factory.mktemp("standing") / "board"
    _write(home, references, texts)
    board = bb.open(home)
    bb.score(board)
    board = bb.open(home)
    return board, bb.rank(board, baseline="far", draws=500).value


def _write(home: Path, references: list[str], texts: dict[str, list[str]]) -> None:
    (home / "generators").mkdir(parents=True)
    (home / "board.toml").write_text(
        'schema = 1\nname = "standing"\nmetrics = ["BLEU", "TER", "ROUGE-1"]\n'
        '[languages]\ninput = "en"\noutput = "en"\n'
    )
    lines = [{"id": f"i{k}", "references": [{"name": "r", "text": text}]} for k, text in enumerate(references)]
    (home / "instances.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name, outputs in texts.items():
        own = [{"instance": f"i{k}", "text": text} for k, text in enumerate(outputs)]
        (home / "generators" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in own))


def test_the_best_by_a_metrics_mean_is_set_apart_with_those_not_significantly_worse(
    ranked: tuple[Board, Ranking],
) -> None:
    _, ranking = ranked
    assert ranking.outstanding is not None
    assert set(ranking.outstanding.generators["ROUGE-1"]) == {"exact", "nearly"}
    assert set(ranking.outstanding.corpus["BLEU"]) == {"exact", "nearly"}
    assert set(ranking.outstanding.corpus["TER"]) == {"exact", "nearly"}


def test_the_table_sets_them_in_bold_and_marks_what_differs_from_the_baseline(ranked: tuple[Board, Ranking]) -> None:
    _, ranking = ranked
    table = generator_table(ranking)
    names = [row["name"] for row in table.rows]
    assert {names[k] for k in table.best["ROUGE-1"]} == {"exact", "nearly"}
    assert {names[k]: mark for k, mark in table.marks["corpus:TER"].items()} == {
        "exact": "+",
        "nearly": "+",
        "lost": "−",
    }
    assert any(note.startswith("+, −: significantly better or worse than far (paired") for note in table.notes)
    assert metric_table(ranking).marks == {"correlation": {}}


def test_corpus_values_are_tested_by_approximate_randomisation_of_their_counts(ranked: tuple[Board, Ranking]) -> None:
    from billboards.analyses._view import look_at
    from billboards.board.cells import ColumnKey
    from billboards.metrics.bleu import BLEU

    board, ranking = ranked
    cells = look_at(board).cells
    assert cells is not None
    key: ColumnKey = next(key for key in cells.columns() if key.column.name == "BLEU")
    rows = {row.name: row.version for row in board.rows}
    counts = cells.load_counts(key, set(rows.values()))
    first, second = counts[rows["far"]], counts[rows["lost"]]
    scores = BLEU().corpus_scores_of
    values = [float(scores(of.sum(axis=0)[np.newaxis])[0]) for of in (first, second)]
    p = randomisation_p(first, second, scores, values[1] - values[0], swaps=Swaps(500))
    assert ranking.outstanding is not None
    assert ranking.outstanding.p_corpus["BLEU"]["lost"] == p


def test_a_baseline_that_is_not_there_is_named(ranked: tuple[Board, Ranking]) -> None:
    with pytest.raises(UnknownName, match="did you mean far"):
        bb.rank(ranked[0], baseline="fra")


def test_what_stands_out_is_kept_in_the_document(ranked: tuple[Board, Ranking]) -> None:
    _, ranking = ranked
    assert result_of(Ranking, document_of(ranking)).outstanding == ranking.outstanding


def test_without_draws_nothing_is_tested_and_nothing_set_apart(ranked: tuple[Board, Ranking]) -> None:
    ranking = bb.rank(ranked[0], draws=0).value
    assert ranking.outstanding is None
    assert generator_table(ranking).best == {}


def test_python_has_the_tables_of_a_paper(ranked: tuple[Board, Ranking]) -> None:
    result = bb.rank(ranked[0], draws=100)
    latex = result.to_latex("generators", columns="rank,name,corpus:BLEU", digits=1, label="tab:g", star=True)
    assert r"\label{tab:g}" in latex
    assert latex.splitlines()[6].count("&") == 2
    assert result.to_markdown("generators", rows="exact,far").count("\n| ") == 4
    assert result.to_csv("generators").splitlines()[0].startswith("rank,name,kind,cluster")
    assert "<table>" in result.to_html(1)
    with pytest.raises(UnknownName, match="generators"):
        result.to_latex("generator")
