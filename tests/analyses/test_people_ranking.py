"""Generators ranked by people, through every door, on a board small enough to follow."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import Characters, Errors, Overlap, small_board

import billboards as bb
from billboards.analyses._people import PEOPLE
from billboards.analyses._report import report
from billboards.analyses.rank import Ranking, generator_table, rank_board, rank_words, what_ranks
from billboards.board import Aggregate, Board, Dimension, Generator, ImportedColumn, Slice, row_of
from billboards.board.cells import MemoryCells
from billboards.board.judgments import JudgmentColumns
from billboards.board.missing_cells import score_board
from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.errors import NotEnoughData, UnknownName
from billboards.metrics.executor import InProcess
from billboards.show.documents import document_of, result_of


def scored(board: Board) -> MemoryCells:
    store = MemoryCells()
    score_board(board, store, [Overlap(), Errors(), Characters()], InProcess())
    return store


def rated_board(annotators: int = 4) -> Board:
    """The small board rated on two dimensions by several people, one of its generators by nobody."""
    board = small_board()
    random = np.random.default_rng(7)
    judged = JudgmentColumns(("adequacy", "fluency"))
    for row in (0, 1, 2, 4, 5):
        for k in range(len(board.instances)):
            who = (k + row) % annotators
            values = {"adequacy": float(np.clip(5 - row / 2 + random.normal() / 2, 1, 5)), "fluency": 4.0 + who % 2}
            judged.add(k, row, values, annotator=f"p{who}", campaign="spring")
    return replace(
        board,
        judgments=judged.build(),
        dimensions={name: Dimension(name, range=(1, 5)) for name in ("adequacy", "fluency")},
        aggregates={"overall": Aggregate("overall", ("adequacy", "fluency"))},
    )


def test_people_rank_whom_they_judged_references_among_them() -> None:
    board = rated_board()
    ranking = rank_board(board, scored(board), by=PEOPLE, draws=200)
    assert ranking.ranked_by == "people"
    people = ranking.people
    assert people is not None
    ranked = {g.name: g.rank for g in ranking.generators if g.rank is not None}
    assert set(ranked) == {"g0", "g1", "g2", "A", "B"}
    assert ranked["g0"] == 1
    assert {s.name: (s.rank, s.cluster) for s in people.overall.generators} == {
        g.name: (g.rank, g.cluster) for g in ranking.generators if g.rank is not None
    }
    unjudged = next(g for g in ranking.generators if g.name == "g3")
    assert (unjudged.rank, unjudged.reason) == (None, "not judged by people")
    assert ranking.common is not None
    assert ranking.common.unscored == ("g3",)
    assert ranking.newcomers == "common"


def test_means_are_those_of_the_generators_and_every_dimension_has_its_own() -> None:
    board = rated_board()
    ranking = rank_board(board, scored(board), draws=100)
    assert ranking.ranked_by != "people"
    people = ranking.people
    assert people is not None
    assert {s.name: s.mean for s in people.overall.generators} == pytest.approx(
        {g.name: g.human for g in ranking.generators if g.human is not None}
    )
    assert [column.name for column in people.dimensions] == ["adequacy", "fluency"]
    g0 = people.overall.standings["g0"]
    assert (g0.judgments, g0.instances, g0.annotators) == (12, 12, 4)
    assert g0.interval is not None
    assert 0 <= g0.interval[0] < g0.mean < g0.interval[1] <= 100
    halves = [column.standings["g0"].mean for column in people.dimensions]
    assert sum(halves) / 2 == pytest.approx(g0.mean)


def test_an_anonymous_campaign_has_intervals_over_instances_alone() -> None:
    board = rated_board(annotators=2)
    named = rank_board(board, None, by=PEOPLE, draws=50).people
    hidden = rank_board(replace(board, anonymous=("spring",)), None, by=PEOPLE, draws=50).people
    assert named is not None
    assert hidden is not None
    assert [s.annotators for s in named.overall.generators] == [2] * 5
    assert [s.annotators for s in hidden.overall.generators] == [None] * 5
    assert [s.mean for s in named.overall.generators] == [s.mean for s in hidden.overall.generators]
    narrow, wide = hidden.overall.standings["g2"].interval, named.overall.standings["g2"].interval
    assert narrow is not None
    assert wide is not None
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_a_part_and_one_dimension_are_ranked_by_what_was_said_of_them() -> None:
    board = rated_board()
    ranking = rank_board(board, None, aggregate="adequacy", part=Slice(domain="sea"), by=PEOPLE, draws=0)
    assert ranking.people is not None
    assert ranking.people.overall.name == "adequacy"
    assert [column.name for column in ranking.people.dimensions] == ["fluency"]
    assert {s.instances for s in ranking.people.overall.generators} == {6}
    means = [s.mean for s in ranking.people.overall.generators]
    assert means == sorted(means, reverse=True)


def test_what_was_optimised_is_shown_and_not_ranked() -> None:
    board = rated_board()
    made = row_of(Generator("g0", kind="optimised", optimised_by="overlap"), board.instances, board.rows[0].texts)
    ranking = rank_board(replace(board, rows=(made, *board.rows[1:])), None, by=PEOPLE, draws=50)
    assert ranking.people is not None
    assert ranking.people.overall.standings["g0"].rank is None
    standing = next(g for g in ranking.generators if g.name == "g0")
    assert standing.rank is None
    assert "optimised by overlap" in (standing.reason or "")


def test_people_are_people_whatever_a_metric_is_called() -> None:
    board = rated_board()
    human = np.array([[s + 0.01 * k for k in range(12)] for s in (9.0, 7.0, 5.0, 1.0)])
    column = ImportedColumn(
        name="people",
        source_name="people",
        signature="imported:people",
        values={f"g{k}": human[k] for k in range(4)},
        references=("A",),
    )
    board = replace(board, imported=(column,))
    store = scored(board)
    assert rank_board(board, store, draws=0).ranked_by != "people"
    by_people = rank_board(board, store, by="people", draws=0)
    assert by_people.ranked_by == "people"
    assert next(g.rank for g in by_people.generators if g.name == "g3") is None


def test_nobody_judged_and_unknown_names_are_refused() -> None:
    board = replace(rated_board(), judgments=JudgmentColumns(("adequacy", "fluency")).build())
    with pytest.raises(NotEnoughData, match="nobody judged any of them"):
        rank_board(board, scored(board), by=PEOPLE)
    with pytest.raises(UnknownName, match="no metric named 'peopel'; did you mean people"):
        rank_board(rated_board(), scored(rated_board()), by="peopel")


def test_the_board_may_say_that_people_rank(tmp_path: Path) -> None:
    folder = write_board(replace(rated_board(), by="people", anonymous=("spring",)), tmp_path / "small")
    board = bb.open(folder)
    assert (board.by, board.anonymous) == ("people", ("spring",))
    assert bb.rank(board, draws=20).value.ranked_by == "people"
    assert bb.rank(replace(board, by="COMET"), draws=0).value.notes[-1].startswith("not ranked by COMET, as the board")


def test_a_document_with_people_reads_back_as_it_was() -> None:
    ranking = rank_board(rated_board(), None, by=PEOPLE, draws=20)
    document = json.loads(json.dumps(document_of(ranking)))
    assert document["people"]["overall"]["generators"][0]["annotators"] == 4
    assert result_of(Ranking, document) == ranking
    del document["people"]
    assert result_of(Ranking, document).people is None


def test_tables_and_words_say_what_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = rated_board()
    ranking = rank_board(board, scored(board), by=PEOPLE, draws=100)
    table = generator_table(ranking)
    assert table.title == "small: generators by people (overall)"
    headers = [column.header for column in table.columns if column.visible]
    assert headers[:8] == [
        "#", "generator", "people (overall)", "people's 95%", "annotators", "adequacy", "fluency", "judged",
    ]  # fmt: skip
    assert table.rows[0]["human_interval"] == ranking.people.overall.generators[0].interval  # type: ignore[union-attr]
    assert "People's intervals are over instances and annotators." in table.notes
    assert what_ranks(ranking) == "ranked by people (overall): means of judgments, higher is better, 60 judgments"
    assert any(sentence.startswith("Ranked by people (overall), ") for sentence in rank_words(ranking))
    folder = str(write_board(board, tmp_path / "small"))
    assert main(["rank", folder, "--by", "people", "--no-save", "--draws", "50"]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines()[0].endswith(
        "ranked by people (overall): means of judgments, higher is better, 60 judgments"
    )
    assert "generators by people (overall)" in said.out
    assert main(["rank", folder, "--by", "people", "--no-save", "--draws", "50", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ranked_by"] == "people"
    assert [column["name"] for column in document["people"]["dimensions"]] == ["adequacy", "fluency"]


def test_a_report_can_be_ranked_by_people(tmp_path: Path) -> None:
    folder = write_board(rated_board(), tmp_path / "small")
    board = bb.open(folder)
    page = report(board, tmp_path / "page.html", by="people", with_references=False, with_studies=False).read_text()
    assert "Generators: ranked by people (overall)" in page
    assert "small: generators by people (overall)" in page


def test_who_compared_outputs_is_ranked_by_the_share_that_it_won() -> None:
    board = small_board()
    judged = JudgmentColumns(("better",))
    for k in range(12):
        for first, second in ((0, 1), (1, 2), (0, 2)):
            detail = {"others": (second,), "prefers": f"g{first if k else second}"}
            judged.add(k, first, {}, annotator=f"p{k % 3}", details=detail)
    board = replace(
        board,
        judgments=judged.build(),
        dimensions={"better": Dimension("better", kind="preference")},
        aggregates={},
        ranks="better",
    )
    ranking = rank_board(board, scored(board), by=PEOPLE, draws=100)
    assert ranking.people is not None
    assert ranking.people.overall.wins
    shares = {s.name: s.mean for s in ranking.people.overall.generators}
    assert shares == pytest.approx({"g0": 100 * 11 / 12, "g1": 50.0, "g2": 100 / 12})
    assert [(g.name, g.rank) for g in ranking.generators[:3]] == [("g0", 1), ("g1", 2), ("g2", 3)]
    assert what_ranks(ranking).startswith("ranked by people (better): shares of comparisons won, in percent")
