"""Logging in with a token, or elsewhere through a real provider on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_sites import SmallSite, small_site
from fastapi.testclient import TestClient
from joserfc.jwk import RSAKey
from provider import Provider, running_provider

from billboards.site.site import open_site
from billboards.site.web.app import create_app


@pytest.fixture
def small(tmp_path: Path) -> SmallSite:
    return small_site(tmp_path)


def test_a_token_opens_a_session_and_logging_out_ends_it(small: SmallSite) -> None:
    client = small.client
    entered = client.post("/login", data={"token": small.tokens["team"], "next": "/account"}, follow_redirects=False)
    assert entered.status_code == 303
    assert entered.headers["location"] == "/account"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    page = client.get("/account")
    assert "Submitter in team team" in page.text
    word = page.text.split('name="csrf" value="')[1].split('"')[0]
    stolen = client.cookies["billboards"]
    client.post("/logout", data={"csrf": word})
    client.cookies.set("billboards", stolen)
    assert client.get("/account").status_code == 401


def test_a_wrong_token_is_told_and_opens_nothing(small: SmallSite) -> None:
    answer = small.client.post("/login", data={"token": "bb_wrong"}, follow_redirects=False)
    assert answer.status_code == 403
    assert "unknown or revoked" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"])
def test_logging_in_leads_nowhere_but_to_this_site(small: SmallSite, elsewhere: str) -> None:
    sent = {"token": small.tokens["team"], "next": elsewhere}
    assert small.client.post("/login", data=sent, follow_redirects=False).headers["location"] == "/"


def test_logging_out_needs_the_sessions_word(small: SmallSite) -> None:
    small.client.post("/login", data={"token": small.tokens["team"]}, follow_redirects=False)
    assert small.client.post("/logout", data={"csrf": "guess"}, follow_redirects=False).status_code == 403
    assert small.client.get("/account").status_code == 200


def test_an_owner_lets_somebody_in_from_the_page_of_people(small: SmallSite) -> None:
    client = small.client
    client.post("/login", data={"token": small.tokens["owner"]}, follow_redirects=False)
    word = client.get("/account").text.split('name="csrf" value="')[1].split('"')[0]
    sent = {"csrf": word, "name": "Grace", "role": "submitter", "team": "navy"}
    assert client.post("/account/accounts", data=sent).status_code == 200
    assert "Grace" in client.get("/people").text
    made = client.post("/account/tokens", data={"csrf": word, "label": "laptop"})
    token = made.text.split('class="secret">')[1].split("<")[0]
    assert token.startswith("bb_")
    assert token not in client.get("/account").text


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running_provider() as found:
        yield found


@pytest.fixture
def elsewhere(tmp_path: Path, provider: Provider) -> TestClient:
    """A site that lets its provider vouch for people."""
    small = small_site(tmp_path)
    written = f'base_url = "http://testserver"\n[oidc]\nissuer = "{provider.issuer}"\nclient_id = "boards"\n'
    (small.site.data / "site.toml").write_text(written)
    return TestClient(create_app(open_site(small.site.data, login_required=True)))


def _go(client: TestClient) -> Any:
    """Begin, let the provider answer, and come back with its answer."""
    begun = client.get("/login/elsewhere?next=/account", follow_redirects=False)
    answered = httpx.get(begun.headers["location"], follow_redirects=False)
    return client.get(answered.headers["location"].removeprefix("http://testserver"), follow_redirects=False)


def test_somebody_a_provider_vouches_for_gets_an_account_once(elsewhere: TestClient) -> None:
    back = _go(elsewhere)
    assert back.status_code == 303
    assert back.headers["location"] == "/account"
    assert "Ada" in elsewhere.get("/account").text
    elsewhere.cookies.clear()
    _go(elsewhere)
    assert "Ada-" not in elsewhere.get("/account").text


def test_an_answer_for_another_browser_is_refused(elsewhere: TestClient) -> None:
    begun = elsewhere.get("/login/elsewhere", follow_redirects=False)
    answered = httpx.get(begun.headers["location"], follow_redirects=False).headers["location"]
    elsewhere.cookies.clear()
    refused = elsewhere.get(answered.removeprefix("http://testserver"), follow_redirects=False)
    assert refused.status_code in (401, 403)
    assert "not begun in this browser" in refused.text


@pytest.mark.parametrize(
    "claims",
    [{"iss": "http://evil.example"}, {"aud": "another"}, {"exp": 1}, {"nonce": "old"}],
    ids=["issuer", "audience", "time", "nonce"],
)
def test_an_identity_for_another_site_or_time_is_refused(
    elsewhere: TestClient, provider: Provider, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    refused = _go(elsewhere)
    assert refused.status_code in (401, 403)
    assert "can’t be trusted" in refused.text or "can&#39;t be trusted" in refused.text


def test_an_identity_signed_by_somebody_else_is_refused(elsewhere: TestClient, provider: Provider) -> None:
    provider.signing_key = RSAKey.generate_key(2048, {"kid": "one"})
    assert _go(elsewhere).status_code in (401, 403)


def test_a_site_without_a_provider_has_no_such_page(small: SmallSite) -> None:
    assert small.client.get("/login/elsewhere").status_code == 404
