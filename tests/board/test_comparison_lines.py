"""Comparisons in files: what may be written, what is refused with file and line, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from billboards.board import Aggregate, Dimension
from billboards.board.folder import open_board
from billboards.board.settings import read_settings
from billboards.board.trust import TrustRules
from billboards.board.writing import write_board
from billboards.errors import InvalidBoard, InvalidInput
from billboards.reading import Problems

Folder = Callable[..., Path]

TOML = """\
name = "b"
ranks = "better"
[dimensions.better]
kind = "preference"
[dimensions.level]
range = [0, 2]
[dimensions.right]
levels_of = "level"
at_least = 1
"""
GOOD = """\
{"instance": "a", "generators": ["M", "H"], "prefers": "H", "dimension": "better", "annotator": "ann"}
{"instance": "a", "generators": ["M", "H"], "prefers": [], "dimension": "better"}
{"instance": "a", "generators": ["M", "H"], "order": [["H", "M"]], "dimension": "better"}
{"instance": "a", "outputs": ["x1", "x2"], "order": ["x2", "x1"]}
{"instance": "b", "generator": "M", "values": {"level": 2}}
"""


def judged(folder: Folder, lines: str) -> Path:
    return folder({"board.toml": TOML, "judgments/experts.jsonl": lines})


def test_comparisons_survive_being_written_and_opened(folder: Folder, tmp_path: Path) -> None:
    board = open_board(judged(folder, GOOD))
    again = open_board(write_board(board, tmp_path / "again"))
    assert again.judgments.version == board.judgments.version
    assert again.dimensions == board.dimensions
    assert again.judgments.details[2] == {"order": [["H", "M"]], "dimension": "better", "others": (0,)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"generators": ["M", "H"], "order": ["M"]', '"order" must hold every output judged exactly once'),
        ('"generators": ["M", "H"], "order": ["M", "H", "M"]', '"order" must hold every output judged exactly once'),
        ('"generators": ["M", "H"], "order": "M"', '"order" must be the names of the outputs judged, best first'),
        ('"generators": ["M", "H"], "order": ["M", "H"], "prefers": "M"', "say the same thing; write one of them"),
        ('"generators": ["M", "H"], "prefers": "M", "dimension": "level"', "not declared under [dimensions]"),
        ('"generators": ["M", "H"], "prefers": "M", "dimension": "x"', "not declared under [dimensions]"),
        ('"generators": ["M", "H"], "prefers": "M", "dimension": ["x"]', '"dimension" must be'),
        ('"generators": ["M", "H"], "prefers": "M", "dimension": {}', '"dimension" must be'),
        ('"generator": "M", "values": {"level": 1}, "dimension": "better"', "for judgments that compare outputs"),
        ('"generator": "M", "values": {"better": 1}', "'better' is judged by preference"),
        ('"generator": "M", "values": {"right": 1}', "'right' is read off the levels of 'level'"),
    ],
)
def test_a_comparison_that_says_nothing_clear_is_refused(line: str, message: str, folder: Folder) -> None:
    with pytest.raises(InvalidBoard) as caught:
        open_board(judged(folder, f'{{"instance": "a", {line}}}\n'))
    (problem,) = caught.value.problems
    assert message in problem.message
    assert (problem.path, problem.line) == ("judgments/experts.jsonl", 1)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[dimensions.d]\nlevels_of = "level"\n', "levels_of and at_least of dimension d belong together"),
        ("[dimensions.d]\nat_least = 1\n", "levels_of and at_least of dimension d belong together"),
        (
            '[dimensions.d]\nlevels_of = "e"\nat_least = 1\n',
            "levels_of dimension d must name a declared rating; found 'e'",
        ),
        ('[dimensions.d]\nlevels_of = "d"\nat_least = 1\n', "levels_of dimension d must name a declared rating"),
        ('[dimensions.d]\nkind = "preference"\nrange = [1, 5]\n', "so it has no range, no to_100 and no levels"),
        ('[dimensions.d]\nkind = "vote"\n', "kind in [dimensions.d] must be 'rating' or 'preference'"),
        (
            '[dimensions.d]\nlevels_of = "e"\nat_least = "1"\n[dimensions.e]\n',
            "at_least in [dimensions.d] must be a finite",
        ),
        (
            '[dimensions.d]\nkind = "preference"\n[dimensions.e]\n[aggregates.x]\ndimensions = ["d", "e"]\n',
            "aggregate x mixes ratings and preferences; make an aggregate of each",
        ),
    ],
)
def test_a_dimension_that_can_not_be_is_named(toml: str, message: str) -> None:
    problems = Problems()
    read_settings(f'name = "b"\n{toml}', problems)
    assert message in problems[0].message


def test_a_board_in_memory_is_held_to_the_same_rules(folder: Folder, tmp_path: Path) -> None:
    board = open_board(judged(folder, GOOD))
    odd = {"better": board.dimensions["better"], "right": Dimension("right", levels_of="absent", at_least=1.0)}
    with pytest.raises(InvalidInput, match="must name a declared rating; found 'absent'"):
        write_board(replace(board, dimensions=odd), tmp_path / "a")
    for change, said in (
        ({"before": "none"}, "before names 'none', which is no aggregate and no dimension"),
        ({"anonymous": ("M", "M")}, "anonymous"),
        ({"trust": TrustRules(admits=("M",), barred={"M": "copied"})}, "both admits and bars 'M'"),
    ):
        with pytest.raises(InvalidInput, match=f"board 'b' can't be written: .*{said}"):
            write_board(replace(board, name="b", **change), tmp_path / "c")
    mixed = {"x": Aggregate("x", ("better", "level"))}
    with pytest.raises(InvalidInput, match="aggregate 'x' mixes ratings and preferences"):
        write_board(replace(board, aggregates=mixed), tmp_path / "b")
