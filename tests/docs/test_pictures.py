"""The pictures of the main pages: ten pages at three widths in two themes, all shown, and small enough to keep."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
KEPT = 3_000_000


def test_every_main_page_is_shown_at_three_widths_in_both_themes() -> None:
    files = sorted((DOCS / "screenshots" / "pages").glob("*.png"))
    names = [re.fullmatch(r"([a-z]+)-(1440|1280|390)-(light|dark)", file.stem) for file in files]
    assert None not in names
    assert len({name[1] for name in names if name}) == 10
    assert len(files) == 60
    shown = re.findall(r"\(screenshots/pages/([a-z0-9-]+\.png)\)", (DOCS / "look.md").read_text("utf-8"))
    assert sorted(set(shown)) == [file.name for file in files]
    assert sum(file.stat().st_size for file in files) < KEPT
