"""A suite's file: what it says, what is wrong with it, and what its boards must have."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_suites import SUITE, valued_board, written_suite

from billboards.analyses.suite.checked_boards import open_boards
from billboards.analyses.suite.open import open_suite
from billboards.analyses.suite.settings import BOARD_KEYS, KEYS, read_suite
from billboards.analyses.suite.writing import write_suite
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, UnknownName


def test_a_suite_is_read_as_it_is_written(tmp_path: Path) -> None:
    suite = read_suite(written_suite(tmp_path))
    assert (suite.name, suite.title, suite.metrics) == ("ports", "Ports of call", ("ROUGE-1", "chrF", "length"))
    assert [board.folder.name for board in suite.boards] == ["one", "two", "pairs"]
    assert suite.boards[1].weight == 2.0
    assert suite.boards[0].others == ("style",)
    assert suite.families == {"words": ("ROUGE-1",), "letters": ("chrF",)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = [", "is no TOML"),
        ("", "names no board"),
        ('colour = "red"\n[[boards]]\nfolder = "one"', "unknown key 'colour'"),
        ('[[boards]]\ncorrectness = "truth"', "board 1 has no folder"),
        ('[[boards]]\nfolder = "one"\nweight = 0', "weight must be above 0; found 0"),
        ('[[boards]]\nfolder = "one"\nweight = "much"', "weight must be a number; found 'much'"),
        ('[[boards]]\nfolder = "one"\ncorrectness = 3', "correctness must be a name in quotes"),
        ('[[boards]]\nfolder = "one"\nshape = "round"', "board 1: unknown key 'shape'"),
        ('[[boards]]\nfolder = "one"\n[boards.instead]\nBLEU = 4', "instead.BLEU must be a metric in quotes"),
        ('name = "a/b"\n[[boards]]\nfolder = "one"', "name 'a/b'"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "suite.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"suite\.toml") as error:
        read_suite(path)
    assert says in str(error.value)


def test_a_dimension_that_a_board_lacks_is_refused_before_anything_is_scored(tmp_path: Path) -> None:
    path = written_suite(tmp_path, SUITE.replace('correctness = "truth"', 'correctness = "turth"', 1))
    with pytest.raises(UnknownName, match="no aggregate or dimension named 'turth'; did you mean truth"):
        open_boards(read_suite(path))


def test_two_boards_of_one_label_are_refused(tmp_path: Path) -> None:
    path = written_suite(tmp_path, SUITE.replace('label = "Two"', 'label = "One"'))
    with pytest.raises(InvalidInput, match="two boards are labelled 'One'"):
        open_boards(read_suite(path))


def test_dimensions_default_to_what_ranks_and_every_other_one(tmp_path: Path) -> None:
    write_board(valued_board("plain", 4, seed=0), tmp_path / "plain")
    (tmp_path / "s.toml").write_text('[[boards]]\nfolder = "plain"')
    (opened,) = open_boards(read_suite(tmp_path / "s.toml"))
    assert opened.dimensions == (("truth", "correctness"), ("style", "other"))
    assert opened.references("all") == ("ref0", "ref1")
    assert opened.references("one") == ("ref0",)


def test_a_new_suite_names_its_boards_and_opens(tmp_path: Path) -> None:
    write_board(valued_board("plain", 4, seed=0), tmp_path / "boards" / "plain")
    path = write_suite(tmp_path / "suite.toml", [tmp_path / "boards" / "plain"])
    suite = read_suite(path)
    assert suite.metrics == ("chrF",)
    assert open_boards(suite)[0].correctness == ("truth",)
    with pytest.raises(InvalidInput, match="is there already"):
        write_suite(path, [tmp_path / "boards" / "plain"])


def test_a_preset_or_statistics_are_read_and_mistakes_in_them_are_named(tmp_path: Path) -> None:
    path = written_suite(tmp_path, 'preset = "wmt24"\nties = "half"\npreferences = "mixed"\n' + SUITE)
    suite = read_suite(path)
    assert [how.name for how in suite.yardsticks] == ["spa/system-level", "acc-eq/by-item"]
    assert (suite.preset, suite.ties, suite.preferences) == ("wmt24", "half", "mixed")
    path.write_text('statistics = ["spearman/by-item", "kendall-c"]\n' + SUITE)
    assert [how.name for how in read_suite(path).yardsticks] == ["spearman/by-item", "kendall-c/pooled"]
    for text, says in (
        ('preset = "wmt99"\n', "wmt99"),
        ('statistics = "spa/pooled"\n', "spa is measured system-level, not pooled"),
        ('ties = "twice"\n', "ties must be one of wrong, half, left-out"),
        ('preset = "wmt24"\nstatistics = "spa"\n', "not both"),
    ):
        path.write_text(text + SUITE)
        with pytest.raises(InvalidInput, match=says):
            read_suite(path)


def test_two_boards_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder, seed in (("first", 1), ("second", 2)):
        write_board(valued_board("ports", 10, seed=seed), tmp_path / folder)
    path = write_suite(tmp_path / "both.toml", [tmp_path / "first", tmp_path / "second"])
    suite = open_suite(path).judging(["chrF"])
    assert [member.label for member in suite.boards] == ["first", "second"]
    suite.score()
    values = suite.rank(draws=20).value.standings[0].values
    assert list(values) == ["first:truth", "second:truth"]
    assert values["first:truth"] != values["second:truth"]


def test_two_boards_of_one_name_in_folders_of_one_name_get_numbers(tmp_path: Path) -> None:
    folders = [tmp_path / where / "ports" for where in ("first", "second", "third")]
    for seed, folder in enumerate(folders):
        write_board(valued_board("ports", 10, seed=seed), folder)
    suite = open_suite(write_suite(tmp_path / "all.toml", folders))
    assert [member.label for member in suite.boards] == ["ports", "ports-2", "ports-3"]


def test_every_key_is_documented() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "suites.md").read_text()
    assert [key for key in (*KEYS, *BOARD_KEYS) if f"`{key}`" not in page] == []


def test_paths_of_metrics_are_relative_to_the_suites_file(tmp_path: Path) -> None:
    text = SUITE.replace('"ROUGE-1", "chrF", "length"', '"ROUGE-1", "own/mine.py", "evaluate:./own", "evaluate:rouge"')
    suite = read_suite(written_suite(tmp_path, text))
    assert suite.metrics == (
        "ROUGE-1",
        f"{tmp_path}/own/mine.py",
        f"evaluate:{tmp_path}/own",
        "evaluate:rouge",
    )


def test_a_board_of_a_suite_names_no_path(tmp_path: Path) -> None:
    path = written_suite(tmp_path, SUITE.replace('metrics = ["ROUGE-1", "chrF", "length"]\n', ""))
    settings = tmp_path / "one" / "board.toml"
    settings.write_text(settings.read_text().replace('"chrF"', '"evaluate:./one"'))
    with pytest.raises(InvalidInput, match="a board's file can't name a path"):
        _ = open_suite(path).chosen
