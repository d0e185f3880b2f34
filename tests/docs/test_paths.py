"""The four ways in are true: their commands run as they stand on the pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell_pages import blocks, missing, outputs

from billboards.api.boards import save
from billboards.demo import build_board

PATHS = Path(__file__).resolve().parents[2] / "docs" / "paths"


@pytest.mark.long
@pytest.mark.parametrize("page", sorted(PATHS.glob("*.md")), ids=lambda page: page.stem)
def test_the_commands_of_a_page_run_and_print_what_it_says(page: Path, tmp_path: Path) -> None:
    if "demo-board" in page.read_text("utf-8"):
        save(build_board(), tmp_path / "demo-board")
    printed = outputs(page, tmp_path)
    assert printed
    for (_, excerpt), text in zip(blocks(page), printed, strict=True):
        assert missing(excerpt, text) == [], text
