"""Names and the files they are kept under."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.board.names import (
    board_name_mistake,
    file_name,
    file_name_mistake,
    folded,
    generator_name_mistake,
    name_mistake,
    named,
)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Online-A.1585", "Online-A.1585"),
        ("a/b", "a%2Fb"),
        ("..", "%2E."),
        (".hidden", "%2Ehidden"),
        ("100%", "100%25"),
        ("模型", "%E6%A8%A1%E5%9E%8B"),
        ('C:\\x*?"<>|', "C%3A%5Cx%2A%3F%22%3C%3E%7C"),
        ("two words (v2)", "two words (v2)"),
    ],
)
def test_any_name_is_a_file_name_and_back(name: str, file: str) -> None:
    assert file_name(name) == file
    assert named(Path(f"generators/{file}.jsonl")) == name


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "a\rb", "\0", "\x7f", "\x85", "\u2028", "\u2029", "\ud800", ""])
def test_control_characters_line_ends_and_nothing_are_no_names(name: str) -> None:
    assert name_mistake(name) is not None
    assert file_name_mistake(name) is not None
    assert generator_name_mistake(name) is not None


def test_the_forbidden_character_is_named() -> None:
    assert name_mistake("a\tb") == (
        "holds the character U+0009; names have no tabs, line ends or other control characters"
    )


@pytest.mark.parametrize("name", ["a", " ", "é", "😀", "a b", "\u200b", "עברית"])
def test_ordinary_characters_of_any_script_are_names(name: str) -> None:
    assert name_mistake(name) is None


def test_a_generator_can_not_be_called_like_a_row_of_loose_outputs() -> None:
    assert generator_name_mistake("#1") == ("is taken: #1, #2, … are the rows of outputs that belong to no generator")
    assert generator_name_mistake("#one") is None


def test_a_name_too_long_for_a_file_is_refused_before_the_disk_does() -> None:
    assert file_name_mistake("m" * 200) is None
    assert file_name_mistake("m" * 201) == "is too long: as a file name it has 201 bytes, and at most 200 are allowed"
    assert file_name_mistake("模" * 23) == "is too long: as a file name it has 207 bytes, and at most 200 are allowed"


@pytest.mark.parametrize("name", ["wmt20-zh-en", "a", "a.b_c-2", "é"])
def test_board_names_are_words(name: str) -> None:
    assert board_name_mistake(name) is None


@pytest.mark.parametrize("name", ["", "a b", "a/b", ".a", "..", "-a", "a\n"])
def test_board_names_are_nothing_else(name: str) -> None:
    assert board_name_mistake(name) is not None


def test_names_that_some_file_systems_take_for_one_fold_to_one() -> None:
    assert folded("Model-É") == folded("model-e\u0301")
    assert folded("a") != folded("b")
