"""Kept rankings: numbered, named by what they say, read back as written, with a history that opens no document."""

from __future__ import annotations

from typing import Any

import pytest

from billboards.analyses.ensemble import Ensemble
from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking
from billboards.errors import UnknownName
from billboards.show.documents import document_of
from billboards.site.boards import snapshots
from billboards.site.boards.snapshots import Snapshot
from billboards.site.database import trail
from billboards.site.database.engine import Database


def ranking(correlation: float, version: int = 1) -> Ranking:
    metric = MetricStanding(
        name="BLEU",
        signature="BLEU|v1",
        rank=1,
        correlation=correlation,
        n=9,
        interval=None,
        references=("A",),
        origin="own",
        source_name=None,
        reference_free=False,
    )
    generator = GeneratorStanding(
        name="tug", kind="machine", rank=1, scores={"BLEU": 0.5}, covered={"BLEU": 9}, human=None, judged=0
    )
    ensemble = ensemble_of(correlation, version)
    return Ranking(
        board="ferry",
        board_version="v",
        statistic="pearson",
        grouping="pooled",
        aggregate="overall",
        part="",
        references=("A",),
        seed=0,
        draws=9,
        metrics=(metric,),
        generators=(generator,),
        ranked_by="BLEU",
        ensemble=ensemble,
    )


def ensemble_of(weight: float, version: int = 0) -> Ensemble:
    one = {"BLEU": weight}
    return Ensemble(
        board="ferry",
        board_version="v",
        version=version,
        references=("A",),
        lam=1.0,
        lam_range=None,
        k=1,
        weights=one,
        centres=one,
        scales=one,
        signatures={"BLEU": "BLEU|v1"},
        intercept=0.0,
        correlation=0.5,
        n=9,
        aggregate="overall",
        candidates=("BLEU",),
    )


def keep(database: Database, correlation: float, audience: Any = "public") -> Snapshot:
    document = {"ranking": document_of(ranking(correlation)), "overrating": None}
    with database.writing() as connection:
        return snapshots.keep(
            connection, "ferry", audience, document, basis="b", cause={}, moves=[], ensemble=None, now=7.0
        )


def test_snapshots_are_numbered_and_named_by_what_they_say(database: Database) -> None:
    first, second, again = keep(database, 0.1), keep(database, 0.2), keep(database, 0.1)
    assert [one.number for one in (first, second, again)] == [1, 2, 3]
    assert first.id == again.id != second.id
    with database.reading() as connection:
        assert snapshots.latest(connection, "ferry") == again
        assert snapshots.snapshot(connection, "ferry", first.id) == again
        assert snapshots.snapshot(connection, "ferry", 2) == second
        assert snapshots.ranking(connection, second) == ranking(0.2)
        assert trail.generation(connection, "ferry") == 1 + 3


def test_what_owners_are_shown_is_not_among_what_everybody_is(database: Database) -> None:
    hidden = keep(database, 0.3, "owners")
    with database.reading() as connection:
        assert snapshots.list_snapshots(connection, "ferry") == ()
        assert snapshots.list_snapshots(connection, "ferry", "owners") == (hidden,)
        with pytest.raises(UnknownName, match="no ranking of ferry named"):
            snapshots.snapshot(connection, "ferry", hidden.id)


def test_how_a_correlation_moved_is_read_off(database: Database) -> None:
    for correlation in (0.1, 0.2, 0.3):
        keep(database, correlation)
    with database.reading() as connection:
        places = snapshots.history(connection, "ferry", "metric", name="BLEU")
        everything = snapshots.history(connection, "ferry", "metric")
        rows = snapshots.history(connection, "ferry", "generator")
    assert [(place.number, place.value) for place in places] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    assert {place.name for place in everything} == {"BLEU", "ensemble"}
    assert [(place.name, place.rank, place.value) for place in rows] == [("tug", 1, 0.5)] * 3


def test_pages_of_snapshots_go_back_in_time(database: Database) -> None:
    for correlation in (0.1, 0.2, 0.3):
        keep(database, correlation)
    with database.reading() as connection:
        page = snapshots.list_snapshots(connection, "ferry", limit=2)
        rest = snapshots.list_snapshots(connection, "ferry", before=page[-1].number, limit=2)
    assert [one.number for one in (*page, *rest)] == [3, 2, 1]


def test_an_equal_fit_keeps_its_version_and_another_gets_the_next(database: Database) -> None:
    with database.writing() as connection:
        kept = [
            snapshots.keep_ensemble(connection, ensemble_of(weight), public=True, now=1.0).version
            for weight in (0.5, 0.6, 0.5)
        ]
        hidden = snapshots.keep_ensemble(connection, ensemble_of(0.7), public=False, now=1.0)
        assert kept == [1, 2, 1]
        assert hidden.version == 3
        assert len(snapshots.list_ensembles(connection, "ferry")) == 2
        assert len(snapshots.list_ensembles(connection, "ferry", hidden=True)) == 3
        snapshots.keep_ensemble(connection, ensemble_of(0.7), public=True, now=2.0)
        assert len(snapshots.list_ensembles(connection, "ferry")) == 3
