"""The columns that a reader chose for a board are there again at the next visit."""

from __future__ import annotations

import pytest
from browser_pages import OpenPage
from playwright.sync_api import expect

BOARD = "/boards/bulletins"


@pytest.mark.long
def test_hidden_columns_stay_hidden_until_the_usual_ones_are_asked_for(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    page.get_by_text("Pin or hide columns").click()
    page.get_by_label("hide BLEU").check()
    expect(page.locator("th[data-key=BLEU]")).to_be_hidden()
    page.goto("/help")
    page.goto(BOARD)
    page.wait_for_url("**hide=BLEU**")
    expect(page.locator("th[data-key=BLEU]")).to_have_count(0)
    page.locator("#columns summary").click()
    page.get_by_role("link", name="Usual columns").click()
    expect(page.locator("th[data-key=BLEU]")).to_be_visible()
    page.goto(BOARD)
    expect(page.locator("th[data-key=BLEU]")).to_be_visible()
