"""The tutorial is true: its shell blocks run one after the other, and print what its excerpts say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from shell_pages import blocks, missing, outputs

pytestmark = pytest.mark.long
TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block prints, run in order in one new folder."""
    return outputs(TUTORIAL, tmp_path_factory.mktemp("tutorial"))


def test_every_block_of_the_tutorial_is_found() -> None:
    text = TUTORIAL.read_text("utf-8")
    assert len(blocks(TUTORIAL)) == text.count("```sh\n") >= 10
    assert sum(bool(excerpt) for _, excerpt in blocks(TUTORIAL)) == text.count("```text\n")


@pytest.mark.parametrize("number", range(len(blocks(TUTORIAL))))
def test_a_block_prints_what_its_excerpt_says(number: int, printed: list[str]) -> None:
    assert missing(blocks(TUTORIAL)[number][1], printed[number]) == [], printed[number]


def test_the_report_of_the_tutorial_has_the_sections_it_names(printed: list[str]) -> None:
    """The bold names under "The report" are headings of the page's template."""
    section = TUTORIAL.read_text("utf-8").partition("## 5. The report")[2].partition("\n## ")[0]
    named = [name.strip("?") for name in re.findall(r"\*\*(.+?)\*\*", section)]
    template = (TUTORIAL.parents[1] / "src/billboards/analyses/report.html.j2").read_text("utf-8").lower()
    assert len(named) >= 7
    assert [name for name in named if name.lower() not in template] == []
