"""A submission's life from both sides: taken, checked, tried, scored, ranked, and what the board says afterwards."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from small_sites import DECLARED, SHARED_WORDS, Harbour, MakeHarbour, all_cells, make_board

from billboards.analyses.rank import METHOD, Ranking, rank_board
from billboards.board import digest
from billboards.board.cells import MemoryCells
from billboards.board.missing_cells import score_board
from billboards.errors import Refused
from billboards.metrics.discovery import metric
from billboards.metrics.executor import InProcess
from billboards.site.boards import ranking_options as ranking_of_sites
from billboards.site.boards import refresh, snapshots
from billboards.site.boards.live import live_board
from billboards.site.database import trail
from billboards.site.site import notice_changes, open_site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.records import Submission
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import plan_board, progress, standing


def send(harbour: Harbour, name: str = "tug", seed: int = 0, **said: object) -> Submission:
    who = harbour.person("ann")
    return submitting.submit_generator(
        harbour.site,
        who,
        "ferry",
        name,
        harbour.outputs(seed),
        **said,  # type: ignore[arg-type]
    ).submission


def test_a_generator_gets_a_row_a_rank_and_says_who_moved(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    before = live_board(harbour.site, "ferry")
    assert before.snapshot is not None
    assert before.snapshot.number == 1
    one = send(harbour)
    assert one.state == "received"
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"
    after = live_board(harbour.site, "ferry")
    assert [row.name for row in after.board.rows] == ["Ben", "g0", "g1", "g2", "g3", "tug"]
    assert after.snapshot is not None
    assert after.snapshot.cause["added"] == [{"side": "generator", "name": "tug", "submission": one.id}]
    moves = {move["name"]: move for move in after.snapshot.moves}
    assert moves["tug"]["change"] == "new"
    assert after.document is not None
    ranks = {g["name"]: g["rank"] for g in after.document["ranking"]["generators"]}
    assert ranks["tug"] == moves["tug"]["after"] is not None


def test_its_cells_are_those_the_command_line_computes_bit_for_bit(harbour: Harbour) -> None:
    send(harbour)
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    plain = MemoryCells()
    score_board(live.board, plain, [metric(name) for name in live.board.metrics], InProcess())
    for key in plain.columns():
        versions = plain.present(key)
        theirs, ours = plain.load(key, versions), live.cells.load(key, versions)
        assert {v: s.tobytes() for v, s in theirs.items()} == {v: s.tobytes() for v, s in ours.items()}


@pytest.mark.long
def test_a_metric_is_tried_ranked_and_refits_the_ensemble_under_a_new_version(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    received = submitting.submit_metric(
        harbour.site,
        harbour.person("ann"),
        "ferry",
        SHARED_WORDS.encode(),
        name="shared words",
        file_name="shared.py",
        manifest=DECLARED,
    )
    work_until_done(harbour.site)
    one = harbour.now(received.submission)
    assert one.state == "scored", one.reason
    with harbour.site.database.reading() as connection:
        states = [entry.action for entry in reversed(trail.entries(connection, subject=one.id))]
        log = "\n".join(line.text for line in trail.read_log(connection, one.id))
        heads = snapshots.list_snapshots(connection, "ferry")
        kept = [ensemble.signature for ensemble, _ in snapshots.list_ensembles(connection, "ferry")]
        history = snapshots.history(connection, "ferry", "metric", name="shared words")
        document = snapshots.document(connection, heads[0])
    wanted = ("received", "checking", "checked", "trial", "scoring", "probed", "scored")
    assert states == [f"submission.{state}" for state in wanted]
    assert "trial passed" in log
    assert [head.number for head in heads] == [2, 1]
    assert heads[0].cause["added"] == [{"side": "metric", "name": "shared words", "submission": one.id}]
    assert [signature.split("+")[-2] for signature in kept] == ["version.2", "version.1"]
    assert heads[0].ensemble == kept[0]
    assert "shared words" in document["ranking"]["ensemble"]["candidates"]
    assert [(place.number, place.value is not None) for place in history] == [(2, True)]
    assert document["overrating"]["human"] == "Ben"
    assert {m["name"] for m in document["overrating"]["metrics"]} >= {"shared words", "chrF", "ROUGE-1"}


def test_a_metric_that_gives_nonsense_is_rejected_with_the_reason_and_a_log(harbour: Harbour) -> None:
    code = b"def score(outputs, references, inputs):\n    return [float('nan')] * len(outputs)\n"
    one = submitting.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", code, name="nonsense", manifest=DECLARED
    ).submission
    work_until_done(harbour.site)
    found = harbour.now(one)
    assert found.state == "rejected"
    assert found.reason is not None
    assert "nonsense" in found.reason
    assert any("trial failed" in line.text for line in submitting.read_log(harbour.site, harbour.owner, one.id))


def test_a_metric_that_is_no_python_is_rejected_with_the_line(harbour: Harbour) -> None:
    code = b"def score(outputs, references, inputs:\n    return []\n"
    one = submitting.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", code, name="typo", manifest=DECLARED
    ).submission
    work_until_done(harbour.site)
    found = harbour.now(one)
    assert found.state == "rejected"
    log = "".join(line.text for line in submitting.read_log(harbour.site, harbour.owner, one.id))
    assert "SyntaxError" in log


@pytest.mark.long
def test_a_metric_that_breaks_on_one_generator_fails_with_its_log_and_leaves_no_column(harbour: Harbour) -> None:
    code = (
        b"def score(outputs, references, inputs):\n"
        b"    if len(outputs) > 8 and any('wrong' in text for text in outputs):\n"
        b"        raise ValueError('no wrong words please')\n"
        b"    return [1.0] * len(outputs)\n"
    )
    one = submitting.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", code, name="picky", manifest=DECLARED
    ).submission
    work_until_done(harbour.site)
    found = harbour.now(one)
    assert (found.state, found.platform) == ("failed", False)
    text = "\n".join(line.text for line in submitting.read_log(harbour.site, harbour.owner, one.id))
    assert "no wrong words please" in text
    live = live_board(harbour.site, "ferry")
    assert live.document is not None
    assert "picky" not in [m["name"] for m in live.document["ranking"]["metrics"]]


def test_a_new_version_takes_the_place_of_the_old_one_when_it_is_scored(harbour: Harbour) -> None:
    first = send(harbour, seed=1)
    work_until_done(harbour.site)
    second = send(harbour, seed=2)
    assert (first.version, second.version) == (1, 2)
    assert live_board(harbour.site, "ferry").generators["tug"].id == first.id
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert live.generators["tug"].id == second.id
    assert [row.name for row in live.board.rows].count("tug") == 1
    assert live.snapshot is not None
    assert [one["name"] for one in live.snapshot.cause["changed"]] == ["tug"]


def test_sending_the_same_again_gives_what_is_there(harbour: Harbour) -> None:
    assert send(harbour, seed=1).id == send(harbour, seed=1).id


def test_a_withdrawn_row_leaves_the_board_and_stays_in_past_rankings(harbour: Harbour) -> None:
    one = send(harbour)
    work_until_done(harbour.site)
    submitting.withdraw(harbour.site, harbour.person("ann"), one.id)
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert "tug" not in live.board.row_position
    assert live.snapshot is not None
    assert [entry["name"] for entry in live.snapshot.cause["removed"]] == ["tug"]
    with harbour.site.database.reading() as connection:
        past = snapshots.snapshot(connection, "ferry", live.snapshot.number - 1)
        assert "tug" in [g.name for g in snapshots.ranking(connection, past).generators]


def test_two_teams_cannot_share_a_name(harbour: Harbour) -> None:
    send(harbour)
    with pytest.raises(Refused, match="tug is taken by another team"):
        submitting.submit_generator(harbour.site, harbour.person("ben"), "ferry", "tug", harbour.outputs(5))


def test_names_of_rows_references_and_metrics_are_not_given_away(harbour: Harbour) -> None:
    for name in ("g1", "Ada"):
        with pytest.raises(Refused, match=f"reference {name} on board ferry already"):
            send(harbour, name)
    with pytest.raises(Refused, match="reference chrF on board ferry already"):
        submitting.submit_metric(
            harbour.site, harbour.owner, "ferry", SHARED_WORDS.encode(), name="chrF", manifest=DECLARED
        )


def test_a_missing_value_is_never_ranked_first(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(make_board(metrics=("chrF", "ROUGE-1", "ROUGE-L", "nowhere")))
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert "no metric named 'nowhere'" in live.unavailable["nowhere"]
    assert live.document is not None
    generators = live.document["ranking"]["generators"]
    assert [g["name"] for g in generators if g["rank"] is None] == ["Ben"]
    assert generators[-1]["name"] == "Ben"
    assert generators[0]["rank"] == 1


@pytest.mark.long
def test_a_cell_that_fails_leaves_the_generator_scored_without_it(harbour: Harbour) -> None:
    code = (
        b"def score(outputs, references, inputs):\n"
        b"    if any(text == 'trap' for text in outputs):\n"
        b"        raise ValueError('fell into it')\n"
        b"    return [float(len(text)) for text in outputs]\n"
    )
    submitting.submit_metric(harbour.site, harbour.owner, "ferry", code, name="naive", manifest=DECLARED)
    work_until_done(harbour.site)
    lines = harbour.outputs().split(b"\n")
    raw = b"\n".join([b"trap", *lines[1:]])
    one = submitting.submit_generator(harbour.site, harbour.person("ann"), "ferry", "trapper", raw).submission
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"
    live = live_board(harbour.site, "ferry")
    assert live.document is not None
    (row,) = [g for g in live.document["ranking"]["generators"] if g["name"] == "trapper"]
    assert row["scores"]["naive"] is None
    assert row["scores"]["chrF"] is not None


def test_progress_counts_cells_and_foretells(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    one = send(harbour)
    with harbour.site.database.writing() as connection:
        for state in ("checking", "scoring"):
            one = submissions.advance(connection, one.id, state, actor="test", now=1.0)
    found = progress(harbour.site, one)
    assert (found.done, found.failed, found.total) == (0, 0, 4)
    assert found.seconds is not None
    assert found.seconds >= 0


def test_cells_of_overrating_are_computed_against_the_other_reference(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    references = {key.column.references for key in harbour.site.cells("ferry").columns()}
    assert references == {("Ada", "Ben"), ("Ada",), ()}
    planned = {cell.id for cell in plan_board(harbour.site, "ferry").cells()}
    assert planned == {cell[:3] for cell in all_cells(harbour.site)}
    assert standing(harbour.site, "ferry").missing == {}


def test_an_edited_board_folder_is_ranked_anew(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    folder = harbour.site.data / "boards" / "ferry"
    judged = next((folder / "judgments").glob("*.jsonl"))
    lines = judged.read_text().splitlines()
    judged.write_text("\n".join(lines[:-5]) + "\n")
    assert notice_changes(harbour.site) == ["ferry"]
    assert notice_changes(harbour.site) == []
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert live.snapshot is not None
    assert live.snapshot.number == 2
    (folder / "board.toml").write_text("this is no board")
    assert notice_changes(harbour.site) == []
    assert live_board(harbour.site, "ferry").snapshot == live.snapshot


def test_the_same_basis_makes_no_second_snapshot(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    assert work_until_done(harbour.site) == 0
    with harbour.site.database.reading() as connection:
        (only,) = snapshots.list_snapshots(connection, "ferry")
        ranking = snapshots.ranking(connection, only)
    assert np.isfinite(ranking.metrics[0].correlation or np.nan)


def test_another_method_of_ranking_makes_a_new_ranking_once(harbour: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    work_until_done(harbour.site)

    def other_rank_board(*given: Any, **options: Any) -> Ranking:
        ranking = rank_board(*given, **options)
        return replace(ranking, notes=(*ranking.notes, "ranked by another method"))

    monkeypatch.setattr(ranking_of_sites, "rank_board", other_rank_board)
    with closing(open_site(harbour.site.data, clock=harbour.clock)) as upgraded:
        assert work_until_done(upgraded) == 0
    monkeypatch.setattr(refresh, "METHOD", METHOD + 1)
    with closing(open_site(harbour.site.data, clock=harbour.clock)) as upgraded:
        assert work_until_done(upgraded) == 1
        assert work_until_done(upgraded) == 0
        with upgraded.database.reading() as connection:
            last, first = snapshots.list_snapshots(connection, "ferry")
            assert "ranked by another method" in snapshots.ranking(connection, last).notes
    assert (first.number, last.number) == (1, 2)


def test_a_site_whose_rankings_name_no_method_ranks_anew_once(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert live.snapshot is not None
    own = live.settings
    options = [own.k, own.method, own.by, own.draws, own.seed, live.board.ranks, own.reference_free]
    first = digest((live.board.version, *sorted(live.cells.signatures or ()), json.dumps(options)))
    with harbour.site.database.writing() as connection:
        snapshots.rebase(connection, live.snapshot, first, now=harbour.clock())
    with closing(open_site(harbour.site.data, clock=harbour.clock)) as upgraded:
        assert work_until_done(upgraded) == 1
        assert work_until_done(upgraded) == 0
        assert live_board(upgraded, "ferry").snapshot == live.snapshot
