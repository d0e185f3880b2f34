"""The interface for programs: what it says of boards, rankings and submissions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from api_sites import SmallSite, small_site

from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job


@pytest.fixture
def small(tmp_path: Path) -> SmallSite:
    return small_site(tmp_path)


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    """A site whose board is scored and ranked, and which nothing changes."""
    found = small_site(tmp_path_factory.mktemp("site"))
    found.work()
    return found


def test_a_board_says_what_it_is(ranked: SmallSite) -> None:
    facts = ranked.ask("visitor", "GET", "/boards/small").json()
    assert facts["instances"] == 12
    assert facts["generators"] == 6
    assert facts["references"] == ["A", "B"]
    assert facts["settings"]["accepts"] == ["generator", "metric"]


def test_a_list_comes_in_pages_that_miss_and_repeat_nothing(ranked: SmallSite) -> None:
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = ranked.ask("visitor", "GET", f"/boards/small/instances?limit=5&cursor={cursor}").json()
        assert len(page["items"]) <= 5
        found += [item["id"] for item in page["items"]]
        cursor = page["next"]
    assert found == [f"i{k}" for k in range(12)]


def test_a_cursor_of_another_list_is_refused(ranked: SmallSite) -> None:
    answer = ranked.ask("visitor", "GET", "/boards/small/instances?cursor=bm9uc2Vuc2U")
    assert answer.status_code == 422
    assert "begin without one" in answer.json()["detail"]


def test_an_answer_that_is_known_already_is_not_sent_again(ranked: SmallSite) -> None:
    first = ranked.ask("visitor", "GET", "/boards/small/ranking")
    again = ranked.ask("visitor", "GET", "/boards/small/ranking", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304
    assert again.content == b""


def test_the_ranking_has_metrics_generators_and_a_permalink(ranked: SmallSite) -> None:
    now = ranked.ask("visitor", "GET", "/boards/small/ranking").json()
    kept = ranked.ask("visitor", "GET", f"/boards/small/rankings/{now['id']}").json()
    assert kept == now
    assert {metric["name"] for metric in now["ranking"]["metrics"]} == {"BLEU", "length"}
    assert ranked.ask("visitor", "GET", "/boards/small/rankings/1").json() == now
    assert ranked.ask("visitor", "GET", "/boards/small/rankings").json()["items"][0]["number"] == 1


def test_an_owner_reads_the_same_rankings_where_nothing_is_hidden(ranked: SmallSite) -> None:
    for path in ("/boards/small/rankings", "/boards/small/rankings/1", "/boards/small/history/metric"):
        assert ranked.ask("owner", "GET", path).json() == ranked.ask("visitor", "GET", path).json()


def test_scores_are_one_list_per_generator_with_null_where_there_is_none(ranked: SmallSite) -> None:
    items = ranked.ask("visitor", "GET", "/boards/small/metrics/BLEU/scores").json()["items"]
    by_name = {item["generator"]: item["scores"] for item in items}
    assert len(by_name["g0"]) == 12
    assert all(score is not None for score in by_name["g0"])
    assert by_name["A"] == [None] * 12


def test_a_generator_goes_all_the_way_and_moves_ranks(small: SmallSite) -> None:
    small.work()
    sent = small.submit()
    assert sent.status_code == 201
    assert sent.json()["state"] == "received"
    small.work()
    found = small.ask("team", "GET", sent.headers["location"]).json()
    assert found["state"] == "scored"
    latest = small.ask("visitor", "GET", "/boards/small/ranking").json()
    assert latest["number"] == 2
    assert "mine" in [generator["name"] for generator in latest["ranking"]["generators"]]
    assert "mine" in str(latest["cause"])
    log = small.ask("team", "GET", f"/submissions/{found['id']}/log").json()["items"]
    assert any("scored" in line["text"] for line in log)


def test_a_submission_that_is_being_scored_says_how_far_it_has_come(small: SmallSite) -> None:
    small.work()
    sent = small.submit(raw=small.outputs(word="well")).json()["id"]
    seen = []
    while (job := next_job(small.site, "worker")) is not None:
        run_job(small.site, job)
        seen.append(small.ask("team", "GET", f"/submissions/{sent}").json()["progress"])
    told = [(one["done"], one["total"]) for one in seen if one is not None]
    assert told[:2] == [(0, 2), (1, 2)]


def test_every_mistake_of_a_file_is_named_and_nothing_is_kept(small: SmallSite) -> None:
    raw = b'{"instance": "i0", "text": "fine"}\n{"instance": "nowhere", "text": "odd"}\nnot json\n'
    answer = small.submit(raw=raw)
    assert answer.status_code == 422
    problems = "\n".join(answer.json()["problems"])
    assert "nowhere" in problems
    assert ":3:" in problems
    assert small.ask("owner", "GET", "/submissions").json()["items"] == []


def test_an_anonymous_generator_keeps_its_name_from_everybody_else(small: SmallSite) -> None:
    sent = small.submit(name="secret-system", anonymous="true").json()
    small.work()
    for path in ("/boards/small/generators", "/boards/small/ranking", "/boards/small/history/generator"):
        assert "secret-system" not in small.ask("stranger", "GET", path).text
    assert small.ask("team", "GET", f"/submissions/{sent['id']}").json()["name"] == "secret-system"
    assert small.ask("team", "POST", f"/submissions/{sent['id']}/reveal").status_code == 200
    small.work()
    assert "secret-system" in small.ask("stranger", "GET", "/boards/small/ranking").text


def test_hidden_judgments_and_references_are_in_no_answer(small: SmallSite) -> None:
    changes = {"hidden_judgments": True, "hidden_references": True}
    assert small.ask("owner", "PATCH", "/boards/small/settings", json=changes).status_code == 200
    small.work()
    assert small.ask("team", "GET", "/boards/small/judgments").status_code == 409
    assert small.ask("owner", "GET", "/boards/small/judgments").status_code == 200
    instances = small.ask("team", "GET", "/boards/small/instances").json()["items"]
    assert all(instance["references"] == [] for instance in instances)
    outputs = small.ask("team", "GET", "/boards/small/generators/A/outputs").json()["items"]
    assert all(output["text"] is None for output in outputs)
    ranking = small.ask("team", "GET", "/boards/small/ranking").json()["ranking"]
    assert all(generator["human"] is None for generator in ranking["generators"])
    assert small.ask("visitor", "GET", "/boards/small/metrics/people/scores").status_code == 404


def test_all_mistakes_of_settings_are_named_at_once(small: SmallSite) -> None:
    answer = small.ask("owner", "PATCH", "/boards/small/settings", json={"per_day": -1, "foo": 2})
    assert answer.status_code == 422
    first, second = answer.json()["problems"]
    assert first == "per_day must be 0 or more; found -1"
    assert second.startswith("foo is no setting; there are about, accepts, by, draws")
    refused = small.ask("owner", "PATCH", "/boards/small/settings", json={"by": "nonsense"})
    assert refused.status_code == 422
    (problem,) = refused.json()["problems"]
    assert problem.startswith("by must be a metric of the board: ")
    metrics = problem.removeprefix("by must be a metric of the board: ").split(";")[0].split(", ")
    for name in (*metrics, None):
        assert small.ask("owner", "PATCH", "/boards/small/settings", json={"by": name}).status_code == 200


def test_a_file_with_too_many_bytes_is_answered_413(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    settings = small.site.settings.model_copy(update={"generator_bytes": 200})
    narrow = SmallSite(replace(small.site, settings=settings), small.tokens)
    answer = narrow.submit(raw=b"x" * 201)
    assert answer.status_code == 413
    words = "outputs.jsonl: error: has more than the 200 bytes that are taken; send a smaller one"
    assert answer.json()["problems"] == [words]
    scores = {"file": ("scores.tsv", b"x" * 201)}
    assert narrow.ask("owner", "POST", "/boards/small/scores", files=scores).status_code == 413
    assert narrow.submit(raw=b"x" * 200).status_code == 422


def test_a_closed_phase_refuses_with_its_time(small: SmallSite) -> None:
    phases = [{"name": "test", "closes": "2020-01-01T00:00Z"}]
    small.ask("owner", "PATCH", "/boards/small/settings", json={"phases": phases})
    answer = small.submit()
    assert answer.status_code == 409
    assert "2020-01-01" in answer.json()["detail"]


def test_a_token_that_opens_nothing_is_an_error_not_a_visitor(small: SmallSite) -> None:
    answer = small.client.get("/api/v1/boards", headers={"authorization": "Bearer bb_wrong"})
    assert answer.status_code == 401
    assert "revoked" in answer.json()["detail"]


def test_a_revoked_token_opens_nothing(small: SmallSite) -> None:
    made = small.ask("team", "POST", "/account/tokens", json={"label": "laptop"}).json()
    bearer = {"authorization": f"Bearer {made['token']}"}
    assert small.client.get("/api/v1/account/tokens", headers=bearer).status_code == 200
    assert small.ask("team", "DELETE", f"/account/tokens/{made['id']}").status_code == 204
    assert small.client.get("/api/v1/account/tokens", headers=bearer).status_code == 401
    listed = small.ask("team", "GET", "/account/tokens")
    assert made["token"] not in listed.text


@pytest.mark.parametrize("stated", [True, False], ids=["with its length", "in chunks"])
def test_what_is_too_large_is_refused_while_it_comes_in(small: SmallSite, stated: bool) -> None:
    most = small.site.settings.metric_bytes + 2**20
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    chunks = (head, *[b"x" * 2**24] * (most // 2**24 + 1))
    headers = {"content-type": "multipart/form-data; boundary=x"} | (
        {"content-length": "999999999999"} if stated else {}
    )
    answer = small.ask("team", "POST", "/boards/small/metrics", content=iter(chunks), headers=headers)
    assert answer.status_code == 413
    assert "larger than" in answer.json()["detail"]


def test_the_audit_trail_names_who_did_what(small: SmallSite) -> None:
    small.submit()
    items = small.ask("owner", "GET", "/boards/small/audit").json()["items"]
    assert ("team", "submission.received") in [(item["actor"], item["action"]) for item in items]
