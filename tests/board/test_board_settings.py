"""`board.toml`: every mistake is named, with its line."""

from __future__ import annotations

import pytest

from billboards.board import Aggregate, DataCard, Dimension, Generator
from billboards.board.settings import ImportedSettings, Settings, key_lines, read_settings
from billboards.reading import Problems


def read(text: str) -> tuple[Settings, list[str]]:
    problems = Problems()
    return read_settings(text, problems), [str(problem).replace("error: ", "") for problem in problems]


def test_every_setting_is_read() -> None:
    settings, problems = read("""\
schema = 1
name = "b"
ranks = "all"
metrics = ["BLEU", "chrF(beta=1)"]
lead = "own"
references = ["A"]
languages = { input = "zh", output = "en" }
[dimensions.mqm]
range = [-25, 0]
to_100 = [4, 100]
definition = "severity"
[dimensions."a.b"]
higher_is_better = false
[aggregates.all]
dimensions = ["mqm", "a.b"]
campaigns = ["experts"]
[generators."Human A"]
kind = "human"
description = "d"
paper = "p"
url = "u"
[scores.sentBLEU]
name = "BLEU"
references = ["A"]
needs = ["references", "input"]
higher_is_better = false
is_ensemble = true
is_statistic = true
[card]
title = "t"
comments = "c"
""")
    assert problems == []
    assert settings == Settings(
        name="b",
        ranks="all",
        metrics=("BLEU", "chrF(beta=1)"),
        lead="own",
        references=("A",),
        input_language="zh",
        output_language="en",
        dimensions={
            "mqm": Dimension(
                "mqm", range=(-25.0, 0.0), higher_is_better=True, to_100=(4.0, 100.0), definition="severity"
            ),
            "a.b": Dimension("a.b", range=None, higher_is_better=False),
        },
        aggregates={"all": Aggregate("all", ("mqm", "a.b"), ("experts",))},
        generators={"Human A": Generator("Human A", kind="human", description="d", paper="p", url="u")},
        scores={
            "sentBLEU": ImportedSettings(
                name="BLEU",
                references=("A",),
                needs=("references", "input"),
                higher_is_better=False,
                is_ensemble=True,
                is_statistic=True,
            )
        },
        card=DataCard(title="t", comments="c"),
    )


def test_what_is_left_out_has_its_default() -> None:
    settings, problems = read('name = "b"\n')
    assert problems == []
    assert settings == Settings(name="b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = 2", "board.toml:2: schema 2 is not known to this version; it reads schema 1"),
        ("schema = true", "board.toml:2: schema True is not known to this version; it reads schema 1"),
        ("colour = 1", "board.toml:2: unknown key 'colour' in board.toml; known: schema, name,"),
        ("metrics = 'BLEU'", "board.toml:2: metrics in board.toml must be a list of texts, not 'BLEU'"),
        ("metrics = ['a', 'a']", "board.toml:2: metrics in board.toml holds a name twice: ['a', 'a']"),
        ("lead = 'both'", "board.toml:2: lead in board.toml must be 'imported' or 'own', not 'both'"),
        ("lead = ['own']", "board.toml:2: lead in board.toml must be 'imported' or 'own', not ['own']"),
        ("languages = 'en'", "board.toml:2: languages must be a table, written [languages]"),
        ("[languages]\ninput = 1", "board.toml:3: input in [languages] must be text in quotes, not 1"),
        ("ranks = 'x'", "board.toml:2: ranks names 'x', which is no aggregate and no dimension"),
        ("aggregates = [[1]]", "board.toml:2: aggregates must be a table, written [aggregates]"),
        ("ranks = 'x'\naggregates = 5", "board.toml:3: aggregates must be a table, written [aggregates]"),
        ("[aggregates]\nx = 3", "board.toml:3: x must be a table, written [aggregates.x]"),
        ("[aggregates.x]", 'board.toml:2: aggregate x names no dimensions; write dimensions = ["…"]'),
        (
            "[aggregates.x]\ndimensions = ['y']",
            "board.toml:3: aggregate x uses dimension 'y', which [dimensions] doesn't declare",
        ),
        ("[dimensions.x]\nrange = [5, 1]", "board.toml:3: range of dimension x must rise, as in [1, 5]"),
        ("[dimensions.x]\nrange = [1, 1]", "board.toml:3: range of dimension x must rise, as in [1, 5]"),
        ("[dimensions.x]\nrange = [0, inf]", "board.toml:3: range in [dimensions.x] must be two finite numbers"),
        ("[dimensions.x]\nrange = [0, nan]", "board.toml:3: range in [dimensions.x] must be two finite numbers"),
        ("[dimensions.x]\nrange = [false, true]", "board.toml:3: range in [dimensions.x] must be two finite numbers"),
        (f"[dimensions.x]\nrange = [0, 1{'0' * 400}]", "board.toml:3: not TOML: it holds a whole number of 1,329 bits"),
        ("range = [0, 0xffffffffffffffffff]", "board.toml:2: not TOML: it holds a whole number of 72 bits; at most 63"),
        ("0x_ = 9999999999999999999", "board.toml:2: not TOML: it holds a whole number of 64 bits; at most 63"),
        ("range = [0, 9999999999999999999]", "board.toml:2: not TOML: it holds a whole number of 64 bits; at most 63"),
        ("[dimensions.x]\nrange = [0, 1e-320]", "board.toml:3: range of dimension x can't be stretched to 0-100"),
        ("[dimensions.x]\nto_100 = [0, 50]", "board.toml:3: to_100 of dimension x must be a slope other than 0"),
        (
            "[dimensions.x]\nhigher_is_better = false\nto_100 = [4, 0]",
            "board.toml:4: to_100 of dimension x has slope 4 although lower is better",
        ),
        ("[dimensions.x]\nto_100 = [-4, 0]", "board.toml:3: to_100 of dimension x has slope -4 although higher is"),
        ("[dimensions.x]\nhigher_is_better = 0", "board.toml:3: higher_is_better in [dimensions.x] must be true or"),
        ('[dimensions."a\\tb"]', "board.toml:2: the name 'a\\tb' in [dimensions] holds the character U+0009"),
        ('[aggregates.""]\ndimensions=["x"]', "board.toml:2: the name '' in [aggregates] is empty"),
        ("[generators.'#1']", "board.toml:2: the name '#1' in [generators] is taken"),
        ("[generators.x]\nkind = 'robot'", "board.toml:3: kind in [generators.x] must be 'machine' or 'human'"),
        (
            "[scores.x]\nneeds = ['luck']",
            'board.toml:3: needs in [scores.x] must be a list that may hold "references" and "input", not [\'luck\']',
        ),
        ("[card]\ntitel = 'x'", "board.toml:3: unknown key 'titel' in [card]; did you mean title?"),
        ("[card]\nweather = 'x'", "board.toml:3: unknown key 'weather' in [card]; known: title, task,"),
        ("[card]\ntitle = 2020-01-01", "board.toml:3: title in [card] must be text in quotes, not datetime.date"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, message: str) -> None:
    _, problems = read(f'name = "b"\n{text}\n')
    assert problems
    assert problems[0].startswith(message)


@pytest.mark.parametrize("name", ['""', '"a b"', "3", '".."'])
def test_the_name_of_a_board_is_a_word(name: str) -> None:
    _, problems = read(f"schema = 1\nname = {name}\n")
    assert problems[0].startswith("board.toml:2:")


@pytest.mark.parametrize(
    "text", ["name = ", "a = 1\na = 2", "x = 2021-13-45", "x = " + "[" * 5000, f"x = {'9' * 5000}"]
)
def test_what_is_not_toml_is_one_mistake_and_no_exception(text: str) -> None:
    settings, problems = read(text)
    assert len(problems) == 1
    assert "TOML" in problems[0]
    assert settings.lines is None


def test_a_mistake_in_one_of_two_tables_has_the_line_of_that_one() -> None:
    _, problems = read('name = "b"\n[dimensions.x]\nrange = [1, 5]\n[dimensions.y]\nrange = [5, 1]\n')
    assert [problem.split(": ")[0] for problem in problems] == ["board.toml:5"]


def test_lines_are_found_through_quoted_and_dotted_keys() -> None:
    settings = key_lines('a.b = 1\n["c d".e] # x\n"f = g" = 2\n  h=3\n[[i]]\n')
    assert settings == {("a", "b"): 1, ("c d", "e"): 2, ("c d", "e", "f = g"): 3, ("c d", "e", "h"): 4}


def test_the_line_of_a_key_that_is_not_there_is_that_of_its_table() -> None:
    settings, _ = read('name = "b"\n[dimensions.x]\nrange = [1, 5]\n')
    assert settings.line("dimensions", "x", "definition") == 2
    assert settings.line("card") is None


def test_all_mistakes_are_named_in_one_pass_and_the_rest_is_read() -> None:
    settings, problems = read("""\
lead = "both"
metrics = ["BLEU", 3]
[dimensions.x]
range = [0, inf]
definition = "kept"
[aggregates.all]
dimensions = "x"
[generators.M]
kind = "robot"
url = "kept"
""")
    assert [problem.split(" ", 1)[0] for problem in problems] == [
        "board.toml:2:", "board.toml:1:", "board.toml:4:", "board.toml:7:", "board.toml:9:", "board.toml:",
    ]  # fmt: skip
    assert settings.dimensions == {"x": Dimension("x", definition="kept")}
    assert settings.generators == {"M": Generator("M", url="kept")}
    assert (settings.lead, settings.metrics, settings.aggregates) == ("imported", (), {})
