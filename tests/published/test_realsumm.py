"""REALSumm in BEAMetrics' Table 2 (Scialom and Hill 2021): Pearson's r x 100 over all 2,500 rows of both files.

Published are ROUGE-1 47.4 and ROUGE-L 42.6. They are checked wherever the whole release is at hand, as a clone or as
JSON; the sample, three of 100 documents, must give what Python's own pickle, rouge-score and scipy give.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import pearsonr

import billboards as bb
from billboards.board import Board, human_scores
from billboards.importers import IMPORTERS
from billboards.metrics.base import score_checked

PUBLISHED = {"ROUGE-1": 47.4, "ROUGE-L": 42.6}
ROWS = 2_500


def dictionaries(folder: Path) -> list[dict[Any, Any]]:
    """The two score dictionaries as Python itself reads them."""
    return [pickle.loads((folder / "scores_dicts" / f"{kind}.pkl").read_bytes()) for kind in ("abs", "ext")]


def correlation(board: Board, name: str) -> tuple[float, int]:
    """Pearson's r of a metric with people over every judged output, and how many there are."""
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (len(board.rows), len(board.instances)))
    references = [[reference.text for reference in instance.references] for instance in board.instances]
    metric = bb.metric(name)
    batches = (bb.Batch([text or "" for text in row.texts], references) for row in board.rows)
    scores = np.array([next(iter(score_checked(metric, batch).values())) for batch in batches])
    judged = np.isfinite(people)
    return float(pearsonr(scores[judged], people[judged]).statistic), int(judged.sum())


def independently(files: list[dict[Any, Any]], name: str) -> tuple[float, int]:
    key = name.replace("ROUGE-", "rouge")
    scorer, pairs = RougeScorer([key]), []
    for documents in files:
        for document in documents.values():
            for summary in document["system_summaries"].values():
                texts = (_plain(text) for text in (document["ref_summ"], summary["system_summary"]))
                pairs.append((scorer.score(*texts)[key].fmeasure, float(summary["scores"]["litepyramid_recall"])))
    return float(pearsonr(*zip(*pairs, strict=True)).statistic), len(pairs)


def _plain(text: str) -> str:
    return text.replace("<t> ", "").replace(" </t>", "")


def whole_releases(shared: Path) -> Iterator[Path]:
    """Wherever all 100 documents lie."""
    for place in (shared / "REALSumm", shared / "summeval"):
        if (place / "scores_dicts" / "abs.pkl").exists() or (place / "realsumm_abs.jsonl").exists():
            yield place


@pytest.mark.data
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_cells_of_both_files_come_out(name: str, shared_data: Path) -> None:
    sample = shared_data.parent / "samples" / "REALSumm"
    ours = correlation(IMPORTERS.load("realsumm")(sample).board, name)
    assert ours == pytest.approx(independently(dictionaries(sample), name), abs=1e-9)
    assert ours[1] == 75
    for place in whole_releases(shared_data):
        r, rows = correlation(IMPORTERS.load("realsumm")(place).board, name)
        print(f"{place}: {name} {100 * r:.1f} (published {PUBLISHED[name]}) over {rows} rows")
        assert rows == ROWS
        assert round(100 * r, 1) == pytest.approx(PUBLISHED[name], abs=0.1001)


@pytest.mark.data
def test_json_of_the_same_dictionaries_is_the_same_board(shared_data: Path, tmp_path: Path) -> None:
    sample = shared_data.parent / "samples" / "REALSumm"
    for kind, documents in zip(("abs", "ext"), dictionaries(sample), strict=True):
        lines = [json.dumps(document, default=float) + "\n" for document in documents.values()]
        (tmp_path / f"realsumm_{kind}.jsonl").write_text("".join(lines), "utf-8")
    boards = [IMPORTERS.load("realsumm")(source).board for source in (sample, tmp_path)]
    assert boards[0].instances == boards[1].instances
    assert [(row.name, row.texts) for row in boards[0].rows] == [(row.name, row.texts) for row in boards[1].rows]
    assert [column.signature for column in boards[0].imported] == [column.signature for column in boards[1].imported]
    assert correlation(boards[0], "ROUGE-1") == correlation(boards[1], "ROUGE-1")
