"""A generator sent to a board of released scores: it has a place, corpus values and intervals, and was told before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient
from small_sites import Harbour, MakeHarbour, make_board

from billboards.board import Board, ImportedColumn, human_scores
from billboards.board.cells import MemoryCells
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import score_board
from billboards.metrics.discovery import metric
from billboards.metrics.executor import InProcess
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done

METRICS = ("BLEU", "chrF", "TER")


def released_board() -> Board:
    """A board in the shape of the paper's: released BLEU, and a learned metric that can't be computed here."""
    board = make_board(instances=24, metrics=METRICS)
    store = MemoryCells()
    score_board(board, store, [metric(name) for name in METRICS], InProcess())
    own = board_scores(board, store).of("BLEU")
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, own.shape)
    learned = people + 3 * np.random.default_rng(3).normal(size=people.shape)
    columns = [
        ImportedColumn(
            name=name,
            source_name=source,
            signature=f"imported:{name}",
            values={f"g{k}": values[board.row_position[f"g{k}"]] for k in range(4)},
            references=("Ada", "Ben"),
        )
        for name, source, values in (("BLEU", "SentBLEU", own), ("learned", "learned", learned))
    ]
    return replace(board, imported=tuple(columns))


@pytest.fixture
def released(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(released_board())
    work_until_done(harbour.site)
    return harbour


def test_a_newcomer_is_told_its_ranking_before_and_has_a_place_in_it(released: Harbour) -> None:
    from sacrebleu.metrics import bleu

    with TestClient(create_app(released.site), base_url="http://127.0.0.1") as client:
        form = client.get("/boards/ferry/submit/generator").text
        assert "a new generator gets its place in the common ranking" in form
        before = client.get("/api/v1/boards/ferry/ranking").json()["ranking"]
        assert (before["ranked_by"], before["newcomers"], before["common"]) == ("learned", "common", None)
        outputs = released.outputs(7)
        sent = client.post(
            "/api/v1/boards/ferry/generators", data={"name": "late"}, files={"file": ("late.txt", outputs)}
        )
        assert sent.status_code == 201, sent.text
        work_until_done(released.site)
        ranking = client.get("/api/v1/boards/ferry/ranking").json()["ranking"]
        page = client.get("/boards/ferry").text
        own_page = client.get("/boards/ferry/generators/late").text
        instance_page = client.get(f"/boards/ferry/instances/{released.board.instances[0].id}").text
    late = next(g for g in ranking["generators"] if g["name"] == "late")
    assert late["rank"] is None
    placed = {g["name"]: g["rank"] for g in ranking["common"]["generators"]}
    assert placed["late"] is not None
    assert set(placed) == {"g0", "g1", "g2", "g3", "late"}
    assert (
        ranking["common"]["correlation"] < next(m for m in ranking["metrics"] if m["name"] == "learned")["correlation"]
    )
    texts = outputs.decode().splitlines()
    references = [[i.references[k].text for i in released.board.instances] for k in (0, 1)]
    assert late["corpus"]["BLEU"] == pytest.approx(bleu.BLEU().corpus_score(texts, references).score, abs=1e-9)
    assert late["interval"]["BLEU"][0] < late["corpus"]["BLEU"] < late["interval"]["BLEU"][1]
    assert next(m for m in ranking["metrics"] if m["name"] == "BLEU")["completed"] == ["late"]
    assert "all generators by" in page
    assert f"{late['corpus']['BLEU']:.2f}"[:4] in page
    assert "mean of sentences" in page
    assert "rank among all" in own_page
    assert "BLEU of sentences" in own_page
    assert "<span>TER ↓ <b>" in instance_page
    assert "<span>chrF <b>" in instance_page


def test_where_the_leader_can_be_computed_a_newcomer_is_told_so(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    with TestClient(create_app(harbour.site), base_url="http://127.0.0.1") as client:
        assert "A new generator is ranked with the others, by" in client.get("/boards/ferry/submit/generator").text
        assert client.get("/api/v1/boards/ferry/ranking").json()["ranking"]["newcomers"] == "leader"
