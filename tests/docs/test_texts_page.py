"""The page on text files is true: its commands run as they stand there, and print what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell_pages import blocks, missing, outputs

pytestmark = pytest.mark.long
PAGE = Path(__file__).resolve().parents[2] / "docs" / "texts.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return outputs(PAGE, tmp_path_factory.mktemp("texts"))


@pytest.mark.parametrize("number", range(len(blocks(PAGE))))
def test_a_block_prints_what_its_excerpt_says(number: int, printed: list[str]) -> None:
    excerpt = blocks(PAGE)[number][1]
    assert excerpt
    assert missing(excerpt, printed[number]) == [], printed[number]


def test_the_tables_of_the_page_are_latex_with_significance(printed: list[str]) -> None:
    """Two commands lead from text files to a table with marks, and two from ratings to a ranking."""
    assert r"$^{{*}\dagger}$" in printed[1]
    assert all(shell.count("billboards ") <= 2 for shell, _ in blocks(PAGE))
