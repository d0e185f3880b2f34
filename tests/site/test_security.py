"""What the site refuses whoever asks: other sites' forms, other names for this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from api_sites import small_site
from fastapi.testclient import TestClient

from billboards.site.site import open_site
from billboards.site.web.app import create_app
from billboards.site.web.security import names_this_machine


@pytest.fixture
def local(tmp_path: Path) -> TestClient:
    """A site that asks nobody to log in."""
    data = small_site(tmp_path).site.data
    return TestClient(create_app(open_site(data)), "http://127.0.0.1:8000")


def test_a_site_without_log_in_answers_only_to_this_machines_names(local: TestClient) -> None:
    assert local.get("/api/v1/boards").status_code == 200
    rebound = local.get("/api/v1/boards", headers={"host": "evil.example:8000"})
    assert rebound.status_code == 421
    assert "small" not in rebound.text


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000"])
def test_these_names_are_this_machines(host: str) -> None:
    assert names_this_machine(host)


@pytest.mark.parametrize("host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1"])
def test_these_names_are_not(host: str) -> None:
    assert not names_this_machine(host)


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}],
)
def test_a_form_of_another_site_changes_nothing(local: TestClient, headers: dict[str, str]) -> None:
    assert local.post("/api/v1/boards/small/freeze", headers=headers).status_code == 403
    assert local.get("/api/v1/boards/small").json()["settings"]["frozen"] is None


def test_every_answer_carries_the_policy_that_allows_no_foreign_script(local: TestClient) -> None:
    for path in ("/", "/api/v1/boards", "/nowhere"):
        policy = local.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
