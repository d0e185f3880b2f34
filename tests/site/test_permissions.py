"""Who may use which route, asked of every route there is.

The table of routes is the application's own: a route that names no permission fails here, and so does one that lets
through somebody whom its permission does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_sites import ASKERS, SmallSite, small_site
from fastapi.routing import APIRoute

from billboards.site.accounts.access import PERMISSIONS, Action
from billboards.site.accounts.permissions import Permission, SubmissionPermission
from billboards.site.web.routers import ROUTERS

#: What stands for a parameter of a path, so that the route is asked for something that is there.
PLACES = {"board": "small", "generator": "g0", "metric": "BLEU", "key": "1", "side": "metric"}
PLACES |= {"action": "pause", "verdict": "exclude", "suite": "alone", "number": "1", "draft": "nothing"}
NUMBERS = {"token_id": "999", "webhook_id": "999", "account_id": "999", "session": "0" * 16}
ROLES = {"visitor": "visitor", "annotator": "annotator", "stranger": "submitter", "team": "submitter", "owner": "owner"}


def api_routes() -> list[APIRoute]:
    return [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def permission(route: APIRoute) -> Permission | SubmissionPermission | None:
    found = [dependency.call for dependency in route.dependant.dependencies]
    return next((call for call in found if isinstance(call, Permission | SubmissionPermission)), None)


def allowed(needed: Permission | SubmissionPermission, asker: str) -> bool:
    roles = PERMISSIONS[needed.action]
    own = isinstance(needed, SubmissionPermission) and asker == "team" and "team" in roles
    return own or ROLES[asker] in roles


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    found = small_site(tmp_path_factory.mktemp("site"))
    suites = found.site.data / "suites"
    suites.mkdir()
    (suites / "alone.toml").write_text('[[boards]]\nfolder = "../../small"\n')
    found.submit()
    found.work()
    return found


def test_every_path_that_is_described_is_in_the_table_asked_here(small: SmallSite) -> None:
    described = small.client.get("/api/v1/openapi.json").json()["paths"]
    assert set(described) == {route.path for route in api_routes()}


def test_every_route_of_the_interface_names_a_permission() -> None:
    routes = api_routes()
    assert len(routes) > 30
    assert [route.path for route in routes if permission(route) is None] == []


@pytest.mark.long
def test_every_route_lets_through_whom_it_should_and_nobody_else(small: SmallSite) -> None:
    submission = small.ask("owner", "GET", "/submissions").json()["items"][0]["id"]
    places = {**PLACES, **NUMBERS, **_campaign(small), "submission_id": submission}
    wrong = []
    for route, method in _requests():
        needed = permission(route)
        assert needed is not None
        path = route.path.format(**places)
        for asker in ASKERS:
            if allowed(needed, asker) and method != "GET":
                continue
            status = small.ask(asker, method, path).status_code
            refused = status in (401, 403)
            if refused == allowed(needed, asker):
                wrong.append(f"{asker}: {method} {path} -> {status}")
    assert wrong == []


def test_a_route_for_a_submission_lets_its_own_team_change_it(small: SmallSite) -> None:
    sent = small.submit(name="another").json()["id"]
    small.work()
    assert small.ask("stranger", "POST", f"/submissions/{sent}/withdraw").status_code == 403
    assert small.ask("team", "POST", f"/submissions/{sent}/withdraw").json()["state"] == "withdrawn"


def test_a_session_can_change_nothing_over_the_interface_without_its_word(small: SmallSite) -> None:
    small.client.post("/login", data={"token": small.tokens["team"]}, follow_redirects=False)
    refused = small.client.post("/api/v1/account/tokens", json={})
    small.client.cookies.clear()
    assert refused.status_code == 403
    assert "out of date" in refused.json()["detail"]


@pytest.mark.parametrize("action", sorted(PERMISSIONS))
def test_no_action_is_open_to_somebody_lower_and_closed_to_an_owner(action: Action) -> None:
    assert "owner" in PERMISSIONS[action]


#: Pages and forms of owners: everybody else is refused, before anything is read or changed.
OWNERS = (
    "/people",
    "/boards/small/message",
    "/organise",
    "/organise/new",
    "/organise/new/catalogue",
    "/organise/audit",
    "/boards/small/organise",
    "/boards/small/organise/settings",
    "/boards/small/organise/about",
    "/boards/small/organise/files",
    "/boards/small/organise/audit",
)
OWNERS_FORMS = (
    "/people/requests",
    "/people/invite",
    "/people/invitations",
    "/people/tokens",
    "/account/accounts",
    "/account/accounts/change",
    "/boards/small/message",
    "/organise/new/catalogue",
    "/organise/drafts/nothing/card",
    "/organise/drafts/nothing/publish",
    "/organise/drafts/nothing/discard",
    "/boards/small/organise/act",
    "/boards/small/organise/settings",
    "/boards/small/organise/about",
    "/boards/small/organise/files",
)
#: Forms of one's own account, which a visitor has none of.
HOLDERS_FORMS = ("address", "mail", "sessions/end", "team/invite", "team/invitations", "team/members")


def test_owners_pages_and_forms_are_theirs_alone(small: SmallSite) -> None:
    wrong = []
    for asker in ASKERS:
        headers = {} if asker == "visitor" else {"authorization": f"Bearer {small.tokens[asker]}"}
        statuses = {path: small.client.get(path, headers=headers).status_code for path in OWNERS}
        sent = {"account": "1", "invitation": "1", "request": "1", "role": "submitter", "name": "x", "team": "y"}
        for path in OWNERS_FORMS if asker != "owner" else ():
            statuses[f"POST {path}"] = small.client.post(path, headers=headers, data=sent).status_code
        wanted = {"owner": 200, "visitor": 401}.get(asker, 403)
        wrong += [f"{asker}: {path} -> {status}" for path, status in statuses.items() if status != wanted]
    assert wrong == []


def test_forms_of_an_account_want_one(small: SmallSite) -> None:
    statuses = [
        small.client.post(f"/account/{path}", data={"account": "1", "invitation": "1"}) for path in HOLDERS_FORMS
    ]
    assert [answer.status_code for answer in statuses] == [401] * len(HOLDERS_FORMS)


def _campaign(small: SmallSite) -> dict[str, str]:
    """A campaign with an annotator, whose link lets anybody annotate."""
    sent = {"name": "asked", "template": "binary", "plan": {"instances": 2}}
    made = small.ask("owner", "POST", "/boards/small/campaigns", json=sent).json()["id"]
    (link,) = small.ask("owner", "POST", f"/campaigns/{made}/annotators", json={"count": 1}).json()
    return {"campaign": made, "token": link["token"], "annotator": link["annotator"]}


def _requests() -> Iterator[tuple[APIRoute, str]]:
    for route in api_routes():
        for method in sorted(route.methods or ()):
            yield route, method


def test_the_places_used_here_are_there(small: SmallSite, tmp_path: Path) -> None:
    answers: dict[str, Any] = {
        path: small.ask("visitor", "GET", path).status_code
        for path in (
            "/boards/small/generators/g0/outputs",
            "/boards/small/metrics/BLEU/scores",
            "/boards/small/rankings/1",
            "/suites/alone",
            "/suites/alone/ranking",
            "/suites/alone/tables",
            "/suites/alone/rankings",
            "/suites/alone/rankings/1",
        )
    }
    assert set(answers.values()) == {200}
