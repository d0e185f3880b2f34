"""Generators ranked by people on cnndm, WMT23 English-German and SummEval, beside a transcription in plain loops."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from plain_people import Judgment, PlainMean, plain_clusters, plain_means

import billboards as bb
from billboards.analyses._people import PeopleColumn, rank_by_people
from billboards.board import Slice


def plain_judgments(board: bb.Board, aggregate: str) -> list[Judgment]:
    """A board's judgments on 0-100, read one by one; of anonymous campaigns without their annotators."""
    chosen = board.aggregate(aggregate)
    scales = {name: board.dimensions[name].affine() for name in chosen.dimensions}
    ids, names = tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)
    judgments: list[Judgment] = []
    for judgment in board.judgments.each(ids, names):
        if chosen.campaigns is None or judgment.campaign in chosen.campaigns:
            who = None if judgment.campaign in board.anonymous else judgment.annotator
            given = {name: judgment.values.get(name) for name in scales}
            values = tuple(None if v is None else scales[n][0] * v + scales[n][1] for n, v in given.items())
            judgments.append((judgment.outputs[0], judgment.instance, who, values))
    return judgments


def same(board: bb.Board, column: PeopleColumn, plain: dict[str, PlainMean], low: float, high: float) -> None:
    """The column says what the transcription says: means, intervals within the scale, counts and clusters."""
    assert {standing.name for standing in column.generators} == set(plain)
    for standing in column.generators:
        own = plain[standing.name]
        assert standing.mean == pytest.approx(own.mean, abs=1e-9)
        assert own.half is not None
        expected = (max(own.mean - own.half, low), min(own.mean + own.half, high))
        assert standing.interval == pytest.approx(expected, rel=1e-9)
        counts = standing.judgments, standing.instances, standing.annotators
        assert counts == (own.judgments, own.instances, own.annotators)
    clusters: dict[int | None, list[str]] = {}
    for standing in column.generators:
        clusters.setdefault(standing.cluster, []).append(standing.name)
    expected_clusters = plain_clusters(plain, [i.id for i in board.instances], draws=1000, seed=0)
    # Equal means may stand in either order.
    assert list(map(set, clusters.values())) == list(map(set, expected_clusters))
    firsts = {number: min(column.standings[n].rank or 0 for n in members) for number, members in clusters.items()}
    place = 1
    for number, members in clusters.items():
        assert firsts[number] == place
        place += len(members)


@pytest.mark.long
def test_cnndm_by_people_is_what_loops_say(cnndm: bb.Board) -> None:
    people = rank_by_people(cnndm, aggregate=None, part=Slice(), draws=1000, seed=0)
    assert people is not None
    # Experts are places in the released lists: their intervals are over instances alone.
    assert cnndm.anonymous == ("expert", "crowd")
    assert len(people.overall.generators) == 18
    same(cnndm, people.overall, plain_means(plain_judgments(cnndm, "overall")), 20.0, 100.0)
    assert [column.name for column in people.dimensions] == ["coherence", "consistency", "fluency", "relevance"]
    experts = cnndm.aggregate("overall").campaigns
    coherence = people.dimensions[0]
    kept = [(g, i, who, values[:1]) for g, i, who, values in plain_judgments(cnndm, "overall")]
    assert experts == ("expert",)
    same(cnndm, coherence, plain_means(kept), 20.0, 100.0)


def test_a_person_judged_among_the_references_has_a_rank(cnndm: bb.Board) -> None:
    people = rank_by_people(cnndm, aggregate=None, part=Slice(), draws=100, seed=0)
    assert people is not None
    assert all(standing.rank is not None for standing in people.overall.generators if standing.kind == "human")


def test_wmt23_english_german_by_people_is_what_loops_say(shared_data: Path) -> None:
    board = bb.import_board("mtme", shared_data / "mtme_wmt23_en-de")
    people = rank_by_people(board, aggregate=None, part=Slice(), draws=1000, seed=0)
    assert people is not None
    aggregate = board.aggregate()
    ends = [sorted(s * end + t for end in d.range) for d in map(board.dimensions.get, aggregate.dimensions)
            if d is not None and d.range is not None for s, t in (d.affine(),)]  # fmt: skip
    low, high = np.mean(ends, axis=0).tolist() if ends else (-np.inf, np.inf)
    same(board, people.overall, plain_means(plain_judgments(board, aggregate.name)), low, high)
    # The human reference was judged, and people say where it stands.
    assert people.overall.standings["refA"].rank is not None


def test_summeval_by_people_is_what_the_released_file_says(shared_data: Path) -> None:
    path = shared_data / "summeval" / "summeval_src_refs_scores.jsonl"
    board = bb.import_board("summeval", path)
    people = rank_by_people(board, aggregate=None, part=Slice(), draws=1000, seed=0)
    assert people is not None
    judgments: list[Judgment] = []
    names = {row.generator.description: row.name for row in board.rows if row.generator is not None}
    for line in path.read_text("utf-8").splitlines():
        article = json.loads(line)
        for system, summary in article["sys_summs"].items():
            qualities = ("coherence", "consistency", "fluency", "relevance")
            values = tuple(20.0 * summary["scores"][quality] for quality in qualities)
            judgments.append((names.get(f"{system} in the release", system), article["doc_id"], None, values))
    same(board, people.overall, plain_means(judgments), 20.0, 100.0)
