"""Help and completion of analyses come from the text of their files: what the loaded ones say, without numpy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from billboards.analyses import _declaration, analysis_named, groups, own_analyses
from billboards.analyses._declaration import declared, read_declaration
from billboards.cli.main import GROUPS, command_groups, command_parser, every_command

#: All that doors ask of an analysis before it is run.
ASKED = ("options", "view", "scores", "quick", "group", "paper", "keeps", "has_chart", "summary", "explanation")


@pytest.mark.parametrize("name", list(own_analyses()))
def test_the_text_declares_what_the_loaded_analysis_does(name: str) -> None:
    read, loaded = read_declaration(own_analyses()[name]), analysis_named(name)
    assert {word: getattr(read, word) for word in ASKED} == {word: getattr(loaded, word) for word in ASKED}


def test_groups_are_read_from_the_text_as_the_loaded_analyses_declare_them() -> None:
    loaded = {name: analysis_named(name).group for name in own_analyses()}
    assert groups() == {name: group for name, group in loaded.items() if group}
    assert set(groups().values()) <= GROUPS.keys()
    assert command_groups()["how good are the metrics?"][3:6] == ("decompose", "hybrids", "overrating")


def test_every_command_stands_in_a_group() -> None:
    assert command_groups()["more"] == ()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_help_breaks_no_word_at_the_edge_of_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a command that is longer than the terminal is wide goes on beyond it, so that it can be copied."""
    monkeypatch.setenv("COLUMNS", str(width))
    for name in every_command():
        for line in command_parser(name).format_help().splitlines():
            assert len(line) <= width or line.strip().startswith(("billboards ", "[--")), (name, line)


def test_sentences_of_a_help_are_filled_and_examples_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "62")
    printed = command_parser("annotators").format_help()
    assert (
        "billboards annotators checks scores.csv --corrupt\n"
        "    … and how well noise that is put in would be found\n" in printed
    )


def test_help_and_completion_of_analyses_load_nothing_heavy() -> None:
    code = """
import sys
from billboards.analyses import own_analyses
from billboards.cli.completion import candidates
from billboards.cli.main import main
for name in own_analyses():
    try:
        main([*name.split(), "--help"])
    except SystemExit as end:
        assert not end.code, name
    assert "--json" in candidates([*name.split(), *(["study"] if name == "ensemble" else []), "--"]), name
heavy = {"numpy", "scipy", "altair", "pydantic", "billboards.analyses._analysis"} & set(sys.modules)
sys.exit(str(heavy) if heavy else 0)
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


SPREAD = '''"""How far apart."""

from typing import Annotated, Literal

from billboards.analyses import Named, View, analysis
from billboards.stats.bootstrap import Resampled as Drawn


class Spread:
    """Types may stand behind a class."""


Way = Literal["near", "far"]
USUAL: Way = "far"


@analysis(view=("part",), scores=True, paper="none")
def spread(
    view: View,
    way: Annotated[Way, "which way"] = USUAL,
    *,
    drawn: Annotated[Drawn | None, Named(metavar="WHAT"), "what is drawn"] = None,
) -> Spread:
    """How far apart.

    Two blank lines are no end:


    the text goes on.
    """


@spread.chart
def _chart(result, theme): ...
'''


@pytest.fixture
def spread(monkeypatch: pytest.MonkeyPatch) -> str:
    real = _declaration._text
    monkeypatch.setattr(_declaration, "_text", lambda module: SPREAD if module == "billboards.spread" else real(module))
    read_declaration.cache_clear()
    return "billboards.spread"


def test_names_of_types_are_followed_to_where_they_are_written(spread: str) -> None:
    read = read_declaration(spread)
    way, drawn = read.options
    assert (way.choices, way.default, way.positional) == (("near", "far"), "far", True)
    assert (drawn.choices, drawn.default, drawn.metavar) == (
        ("instances", "documents", "generators", "both"), None, "WHAT",
    )  # fmt: skip
    assert (read.view, read.scores, read.paper, read.quick) == (("part",), True, "none", True)
    assert (read.has_chart, read.keeps) == (True, False)
    assert read.summary == "How far apart."
    assert read.explanation.endswith("the text goes on.")


@pytest.mark.parametrize(
    ("line", "says_more"),
    [
        ('@analysis(view=("part",), scores=True, paper="none")', '@analysis(paper=", ".join(PAPERS))'),
        ("from typing import Annotated, Literal", "from typing import *"),
        ("@analysis(", "@made_elsewhere("),
    ],
)
def test_what_the_text_does_not_say_is_loaded(
    spread: str, line: str, says_more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.SPREAD", SPREAD.replace(line, says_more))
    monkeypatch.setattr(_declaration, "own_analyses", lambda: {"spread": spread})
    monkeypatch.setattr(_declaration, "analysis_named", lambda name: f"{name}, loaded")
    assert str(declared("spread")) == "spread, loaded"
