"""Generators of a suite's boards by what people said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_suites import written_suite

import billboards as bb
from billboards.analyses.suite.open import open_suite
from billboards.analyses.suite.people import SuitePeople
from billboards.cli.main import main
from billboards.show.documents import result_of


def test_every_board_has_its_own_ranking_on_the_suites_dimensions(tmp_path: Path) -> None:
    result = open_suite(written_suite(tmp_path)).people(draws=50)
    said = result.value
    assert [(board.label, [column.name for column in board.columns]) for board in said.boards] == [
        ("One", ["truth", "style"]), ("Two", ["truth"]), ("Pairs", ["better"]),
    ]  # fmt: skip
    truth, pairs = said.boards[0].columns[0], said.boards[2].columns[0]
    assert [standing.name for standing in truth.generators] == ["good", "fair", "poor"]
    assert (truth.wins, pairs.wins) == (False, True)
    alone = bb.rank(bb.open(tmp_path / "one"), by="people", draws=50).value.people
    assert alone is not None
    assert truth == alone.overall
    (table,) = result.tables
    assert table.title == "ports: generators ranked by people"
    assert table.rows[0]["interval"] == truth.generators[0].interval


def test_the_command_gives_the_same_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written_suite(tmp_path)
    assert main(["suite", "people", str(path), "--draws", "50", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert result_of(SuitePeople, document) == open_suite(path).people(draws=50).value
    assert main(["suite", "people", str(path), "--draws", "50"]) == 0
    assert capsys.readouterr().out.startswith("ports: generators ranked by people")
