"""How often somebody may ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from api_sites import small_site
from fastapi.testclient import TestClient

from billboards.site.home import Site
from billboards.web.app import create_app
from billboards.web.limits import REMEMBERED, Rate


def test_a_bucket_lets_a_burst_pass_and_then_refills_steadily() -> None:
    rate = Rate(60)
    assert [rate.wait("me", 0.0) for _ in range(60)] == [0.0] * 60
    assert rate.wait("me", 0.0) == pytest.approx(1.0)
    assert rate.wait("me", 0.5) == pytest.approx(0.5)
    assert rate.wait("me", 1.0) == 0.0
    assert rate.wait("you", 1.0) == 0.0


def test_a_bucket_that_was_idle_holds_no_more_than_a_minute() -> None:
    rate = Rate(2)
    rate.wait("me", 0.0)
    assert [rate.wait("me", 1e6) for _ in range(2)] == [0.0, 0.0]
    assert rate.wait("me", 1e6) > 0


def test_only_so_many_askers_are_remembered() -> None:
    rate = Rate(1)
    for k in range(REMEMBERED + 10):
        rate.wait(str(k), 0.0)
    assert len(rate._buckets) == REMEMBERED


def test_a_flood_is_told_when_to_come_back(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    (small.site.data / "site.toml").write_text("reads_per_minute = 3\n")
    slow = _opened_again(small.site)
    client = TestClient(create_app(slow))
    answers = [client.get("/api/v1/boards") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def _opened_again(site: Site) -> Site:
    from billboards.site.home import open_site

    return open_site(site.data, login_required=True)
