"""A page that is kept for somebody who is logged in is shown as long as the session lasts, and to nobody else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_sites import PageSite, page_site

from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer

PAGE = "/boards/harbour"


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PageSite:
    monkeypatch.setenv("BILLBOARDS_METRICS_TOKEN", "counts")
    pages = page_site(tmp_path)
    # A board that is not ranked shows how far it is, which is not kept.
    pages.work()
    return pages


def log_in(pages: PageSite, name: str, token: str | None = None) -> dict[str, str]:
    """The cookie of a new session."""
    account = pages.viewer(name).account
    assert account is not None
    return {"cookie": f"billboards={access.begin_session(pages.site, account, token)[0]}"}


def kept_answers(pages: PageSite) -> int:
    """How many requests were answered with a kept page, as the site's own counts have it."""
    text = pages.client.get("/metrics", headers={"authorization": "Bearer counts"}).text
    return sum(int(count) for count in re.findall(r'^billboards_requests_total{route="kept".*} (\d+)$', text, re.M))


def seen(pages: PageSite, headers: dict[str, str]) -> str:
    """Who a page says is logged in."""
    answer = pages.get(PAGE, None, **headers)
    assert answer.status_code == 200
    for name in ("owner", "team"):
        if f">{name}<" in answer.text.partition("<main")[0]:
            return name
    return "visitor"


def test_the_second_time_the_page_is_at_hand_and_still_ones_own(pages: PageSite) -> None:
    team, owner = log_in(pages, "team"), log_in(pages, "owner")
    before = kept_answers(pages)
    assert [seen(pages, team), seen(pages, owner), seen(pages, {})] == ["team", "owner", "visitor"]
    assert kept_answers(pages) == before
    assert [seen(pages, team), seen(pages, owner), seen(pages, {})] == ["team", "owner", "visitor"]
    assert kept_answers(pages) == before + 3


def end_all(pages: PageSite, viewer: Viewer) -> None:
    access.end_sessions(pages.site, viewer)


def disable(pages: PageSite, viewer: Viewer) -> None:
    assert viewer.account is not None
    access.change_account(pages.site, pages.owner, viewer.account.id, disabled=True)


@pytest.mark.parametrize("end", [end_all, disable])
def test_who_is_logged_out_or_shut_out_sees_what_visitors_see(
    pages: PageSite, end: Callable[[PageSite, Viewer], None]
) -> None:
    cookie = log_in(pages, "team")
    assert [seen(pages, cookie), seen(pages, cookie)] == ["team", "team"]
    end(pages, pages.viewer("team"))
    assert seen(pages, cookie) == "visitor"


def test_a_session_that_is_over_shows_nothing_kept(pages: PageSite) -> None:
    cookie = log_in(pages, "team")
    assert [seen(pages, cookie), seen(pages, cookie)] == ["team", "team"]
    now = pages.site.clock() + pages.site.settings.session_seconds + 1
    pages.site.clock = lambda: now
    assert seen(pages, cookie) == "visitor"


def test_somebody_with_another_role_is_shown_its_pages(pages: PageSite) -> None:
    cookie = log_in(pages, "team")
    tabs: list[Any] = []
    for role in ("submitter", "annotator", "owner"):
        account = pages.viewer("team").account
        assert account is not None
        access.change_account(pages.site, pages.owner, account.id, role=role)
        text = [pages.get(PAGE, None, **cookie).text for _ in range(2)][1]
        tabs.append((f"{PAGE}/campaigns" in text, f"{PAGE}/organise" in text))
    assert tabs == [(False, False), (True, False), (True, True)]


def test_an_owner_who_looks_as_a_visitor_is_not_shown_the_owners_page(pages: PageSite) -> None:
    cookie = log_in(pages, "owner")
    assert [f"{PAGE}/organise" in pages.get(PAGE, None, **cookie).text for _ in range(2)] == [True, True]
    as_visitor = {"cookie": f"{cookie['cookie']}; billboards-as=visitor"}
    assert [f"{PAGE}/organise" in pages.get(PAGE, None, **as_visitor).text for _ in range(2)] == [False, False]


def test_what_a_token_may_not_is_not_offered_because_another_may(pages: PageSite) -> None:
    everything = pages.get(PAGE, "owner").text
    reading = access.add_token(pages.site, pages.owner, "reads", scope="read")[1]
    limited = pages.client.get(PAGE, headers={"accept": "text/html", "authorization": f"Bearer {reading}"}).text
    assert [f"{PAGE}/organise" in text for text in (everything, limited)] == [True, False]
