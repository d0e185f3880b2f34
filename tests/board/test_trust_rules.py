"""`[trust]` in `board.toml`: what an owner lets count, read, written and applied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_sites import make_board

from billboards.board.doubts import Doubt
from billboards.board.folder import open_board
from billboards.board.private_share import private_instances, without_private
from billboards.board.settings import read_settings
from billboards.board.trust import TrustRules
from billboards.board.writing import write_board
from billboards.reading import Problems

RULES = TrustRules(
    bars=("copies references", "other order"),
    bars_from=0.25,
    private_share=0.4,
    private_seed=9,
    flagged="count",
    admits=("chrF",),
    barred={"g1": "sent twice"},
)


def test_rules_are_written_and_read_again(tmp_path: Path) -> None:
    board = replace(make_board(), trust=RULES)
    again = open_board(write_board(board, tmp_path / "b"))
    assert again.trust == RULES
    assert again.version != open_board(write_board(make_board(), tmp_path / "plain")).version


def test_a_board_without_rules_has_the_version_it_always_had(tmp_path: Path) -> None:
    assert replace(make_board(), trust=TrustRules()).version == make_board().version
    assert "trust" not in (write_board(make_board(), tmp_path / "b") / "board.toml").read_text()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("private_share = 1.0", "private_share in [trust] must be a share between 0 and 1, not 1.0"),
        ("private_share = 0", "private_share in [trust] must be a share between 0 and 1, not 0"),
        ("bars_from = 2", "bars_from in [trust] must be a share between 0 and 1, not 2"),
        ('bars = ["copies all"]', "bars in [trust] must be a list of doubts: copies references"),
        ('flagged = "in"', "flagged in [trust] must be 'out' or 'count', not 'in'"),
        ("private_seed = -1", "private_seed in [trust] must be a whole number, 0 or more, not -1"),
        ('barred = ["x"]', "barred in [trust] must be a table of reasons"),
        ("privat_share = 0.3", "unknown key 'privat_share' in [trust]; did you mean private_share?"),
        ('admits = ["x"]\nbarred = { x = "no" }', "[trust] both admits and bars 'x'; take it out of one"),
    ],
)
def test_every_mistake_is_named_with_its_line(line: str, words: str) -> None:
    problems = Problems()
    read_settings(f'schema = 1\nname = "b"\n[trust]\n{line}\n', problems)
    (problem,) = problems
    assert str(problem).startswith("board.toml:4: ")
    assert words in str(problem)


def doubt(kind: str, count: int) -> Doubt:
    return Doubt(kind=kind, count=count, of=100, words=f"{count} of 100 outputs {kind}")  # type: ignore[arg-type]


def test_a_doubt_bars_where_the_rules_name_it_and_enough_outputs_have_it() -> None:
    rules = TrustRules(bars=("other order",), bars_from=0.5, admits=("friend",), barred={"foe": "by hand"})
    assert rules.bar("x", [doubt("other order", 50)]) == "50 of 100 outputs other order"
    assert rules.bar("x", [doubt("other order", 49), doubt("copies references", 100)]) is None
    assert rules.bar("friend", [doubt("other order", 100)]) is None
    assert rules.bar("foe", []) == "by hand"


def test_a_flagged_metric_counts_only_where_the_owner_says_so() -> None:
    assert TrustRules().counts("m", [])
    assert not TrustRules().counts("m", ["is flagged"])
    assert TrustRules(flagged="count").counts("m", ["is flagged"])
    assert TrustRules(admits=("m",)).counts("m", ["is flagged"])
    assert not TrustRules(flagged="count", barred={"m": "no"}).counts("m", ())


def test_documents_are_private_as_a_whole_and_judgments_that_come_change_nothing() -> None:
    board = replace(make_board(instances=40), trust=RULES)
    documents = tuple(replace(i, document=f"d{k // 4}") for k, i in enumerate(board.instances))
    board = replace(board, instances=documents)
    private = private_instances(board)
    assert private is not None
    assert private.reshape(10, 4).all(axis=1).sum() == private.reshape(10, 4).any(axis=1).sum() == 4
    fewer = replace(board, judgments=without_private(board).judgments)
    assert np.array_equal(private_instances(fewer), private)  # type: ignore[arg-type]
    assert not np.array_equal(private_instances(replace(board, trust=replace(RULES, private_seed=10))), private)  # type: ignore[arg-type]


def test_without_the_private_share_no_private_judgment_and_no_seed_is_left() -> None:
    board = replace(make_board(instances=40), trust=RULES)
    private = private_instances(board)
    assert private is not None
    public = without_private(board)
    assert len(public.judgments) == (~private[board.judgments.instance]).sum()
    assert not private[public.judgments.instance].any()
    assert (public.trust.private_share, public.trust.private_seed) == (None, 0)
    kept = ~private[board.judgments.instance]
    assert np.array_equal(public.judgments.values, board.judgments.values[kept])
    assert without_private(make_board()).judgments.version == make_board().judgments.version
