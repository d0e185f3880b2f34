"""A page that many ask for at once is made once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from apart import run_apart

from billboards.errors import StoreFailed
from billboards.site.site import open_site
from billboards.site.web.asking import Pages
from billboards.site.web.rendering import Body


class Making:
    """Makes a page slowly, and counts how often."""

    def __init__(self, *, fails: bool = False) -> None:
        self.count, self.fails = 0, fails

    async def __call__(self) -> Body:
        self.count += 1
        await asyncio.sleep(0.01)
        if self.fails:
            raise StoreFailed("the database is gone")
        return Body(b"a page")


async def ask(pages: Pages, making: Making, times: int) -> list[Body | BaseException]:
    return await asyncio.gather(*(pages.made_once("key", making) for _ in range(times)), return_exceptions=True)


def test_twenty_readers_of_a_changed_board_wait_for_one_page(tmp_path: Path) -> None:
    site, making = open_site(tmp_path), Making()
    pages = Pages(site)
    found = run_apart(ask(pages, making, 20))
    assert making.count == 1
    assert {id(body) for body in found} == {id(pages.bodies.get("key"))}
    site.close()


def test_what_went_wrong_is_told_to_all_and_not_kept(tmp_path: Path) -> None:
    site, making = open_site(tmp_path), Making(fails=True)
    pages = Pages(site)
    found = run_apart(ask(pages, making, 3))
    assert [str(error) for error in found] == ["the database is gone"] * 3
    making.fails = False
    assert run_apart(ask(pages, making, 1)) == [pages.bodies.get("key")]
    assert making.count == 2
    site.close()


def test_who_goes_away_does_not_take_the_page_from_the_others(tmp_path: Path) -> None:
    site, making = open_site(tmp_path), Making()
    pages = Pages(site)

    async def go_away() -> Body:
        first = asyncio.ensure_future(pages.made_once("key", making))
        second = asyncio.ensure_future(pages.made_once("key", making))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert run_apart(go_away()) is pages.bodies.get("key")
    assert making.count == 1
    site.close()
