"""What programs are answered about boards: every document of the interface, whole, to each reader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import pytest
from approving import approve
from page_sites import ODD, SLASHED
from read_sites import ReadSite, read_site
from told_pages import compact, told, unlike, without

API = "/api/v1"
BAY, COVE = f"{API}/boards/bay", f"{API}/boards/cove"
#: What is measured or made anew in each run.
MEASURED = ("signature", "public_key", "seconds", "id", "speed")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> ReadSite:
    return read_site(tmp_path_factory.mktemp("read"))


def asked(read: ReadSite, path: str, asker: str = "visitor", *, kept_whole: bool = False) -> Any:
    """An answer with its headers, without what no two runs measure alike; lists are short texts, unless kept whole."""
    answer = without(told(read.get(path, asker)), MEASURED)
    return answer if kept_whole else compact(answer)


def all_asked(
    read: ReadSite, base: str, ends: Iterable[str], asker: str = "visitor", *, kept_whole: bool = False
) -> dict[str, Any]:
    return {f"{end} {asker}": asked(read, f"{base}{end}", asker, kept_whole=kept_whole) for end in ends}


def named(name: str) -> str:
    return quote(name, safe="")


def test_what_a_board_is_is_answered_as_approved(read: ReadSite) -> None:
    said: dict[str, Any] = {}
    for asker in ("visitor", "owner"):
        for board in ("bay", "cove", "bare", "pairs", "long"):
            said |= all_asked(read, f"{API}/boards", (f"/{board}", f"/{board}/progress"), asker)
    said |= all_asked(
        read, f"{API}/boards", ("", "?limit=2", "?limit=0", "?limit=1001", "?limit=x", "?cursor=x", "/nobody")
    )
    said |= all_asked(read, BAY, ("/instances?limit=2", "/instances?limit=12", "/instances?limit=11"))
    said |= all_asked(read, COVE, ("/instances?limit=1",)) | all_asked(read, COVE, ("/instances?limit=1",), "owner")
    following = read.get(f"{BAY}/instances?limit=11").json()["next"]
    said["the rest"] = asked(read, f"{BAY}/instances?limit=11&cursor={following}")
    said |= all_asked(read, BAY, ("/generators", "/generators?limit=3", "/instances?cursor=W10", "/nothing"))
    said |= all_asked(read, BAY, ("/generators?limit=20",), "owner") | all_asked(
        read, COVE, ("/generators",), "stranger"
    )
    said |= all_asked(read, BAY, (f"/generators/{named(SLASHED)}/outputs", "/generators/ibis/outputs?limit=5"))
    said |= all_asked(read, BAY, ("/generators/nobody/outputs", "/generators/gull/outputs?limit=12"))
    approve("site-answers/boards", said)


def test_metrics_and_judgments_are_answered_as_approved(read: ReadSite) -> None:
    said: dict[str, Any] = all_asked(read, BAY, ("/metrics", "/metrics?limit=3", "/metrics/TER/scores?limit=2"))
    said |= all_asked(
        read, BAY, ("/metrics/errors/scores", "/metrics/ensemble/scores?limit=3", "/metrics/people/scores")
    )
    said |= all_asked(read, BAY, ("/metrics/nothing/scores", "/metrics/TER/scores?limit=101", "/judgments?limit=12"))
    said |= all_asked(read, BAY, ("/metrics/sonar/scores?limit=1",), "stranger")
    said |= all_asked(read, f"{API}/boards", ("/pairs/judgments?limit=4", "/bare/judgments", "/bare/metrics"))
    for asker in ("visitor", "stranger", "owner"):
        said |= all_asked(read, COVE, ("/metrics", "/metrics/chrF/scores?limit=2", "/judgments?limit=2"), asker)
    approve("site-answers/scores", said)


def test_rankings_are_answered_as_approved(read: ReadSite) -> None:
    said: dict[str, Any] = all_asked(read, BAY, ("/rankings", "/rankings?limit=2", "/rankings/99", "/rankings/none"))
    first = read.get(f"{BAY}/rankings?limit=2").json()["next"]
    said["the rest"] = asked(read, f"{BAY}/rankings?limit=2&cursor={first}")
    said |= all_asked(read, BAY, ("/ranking",)) | all_asked(read, BAY, ("/ranking/generators?limit=2",))
    said |= all_asked(read, BAY, ("/history/metric?name=TER", "/history/generator?limit=5", "/history/other"))
    said |= all_asked(
        read, BAY, ("/history/generator?name=gull", "/history/generator?name=nobody", "/ensembles?limit=1")
    )
    approve("site-answers/rankings", said)


def test_rankings_of_other_boards_are_answered_as_approved(read: ReadSite) -> None:
    said: dict[str, Any] = {}
    for asker in ("visitor", "stranger", "owner"):
        said |= all_asked(read, COVE, ("/history/metric", "/rankings?limit=1", "/ensembles"), asker)
    said |= all_asked(read, COVE, ("/ranking",))
    said |= all_asked(
        read, f"{API}/boards", ("/bare/ranking", "/bare/rankings", "/bare/ensembles", "/bare/ranking/generators")
    )
    said |= all_asked(read, f"{API}/boards", ("/long/ranking/generators?limit=2", "/pairs/ranking"))
    approve("site-answers/other-rankings", said)


def test_keys_and_advice_are_answered_as_approved(read: ReadSite) -> None:
    said: dict[str, Any] = all_asked(
        read, API, ("/keys", "/advice", "/advice?task=translation&language=en&references=no")
    )
    ends = (
        "/advice?references=maybe",
        "/advice?cost=much",
        f"/advice?task={'x' * 101}",
        "/advice?cost=instant",
        "/nothing",
    )
    said |= all_asked(read, API, ends) | all_asked(read, API, ("/advice",), "owner")
    said |= all_asked(
        read, API, ("/suites", "/suites/nothing", "/suites/nothing/ranking", "/suites/nothing/rankings/x")
    )
    approve("site-answers/advice", said)


ANALYSES = (
    "agreement",
    "agreement?aggregate=adequacy&domain=sea",
    "agreement?aggregate=none",
    "compare?metrics=TER&metrics=chrF",
    "efficiency?cost=latency",
    "efficiency?cost=nothing",
    "card",
    "references",
    "trust",
    "spans",
    "rank?draws=20&by=TER",
    "rank?draws=20&domain=sky",
    "rank?draws=x",
    "rank?draws=-1",
    "rank?draws=1000000",
    "ratings.severity",
    "overrating?tag=short",
    "nothing",
)


def test_analyses_are_answered_as_approved(read: ReadSite) -> None:
    said: dict[str, Any] = {"list": asked(read, f"{BAY}/analyses"), "nothing": asked(read, f"{API}/boards/x/analyses")}
    for end in ANALYSES:
        answer = asked(read, f"{BAY}/analyses/{end}")
        said[end] = answer if answer["status"] != 200 else [answer["status"], sorted(answer["content"])]
    said |= all_asked(read, f"{COVE}/analyses", ("/agreement", "/spans", "/rank?draws=10"))
    said |= all_asked(read, f"{API}/boards/bare/analyses", ("/agreement", "/rank", "/card", "/overrating"))
    approve("site-answers/analyses", said)


def test_pages_of_analyses_show_what_was_approved(read: ReadSite) -> None:
    said: dict[str, Any] = all_asked(read, "/boards/bay/analyses", ("", "/nothing"))
    pages = (
        "/agreement?aggregate=adequacy",
        "/agreement?aggregate=none",
        "/efficiency?cost=latency&digits=1",
        "/efficiency?digits=13",
        "/efficiency?columns=nothing",
        "/efficiency?rows=gull&cost=price",
        "/overrating?asked=yes",
        "/rank?draws=20&domain=sky",
        "/rank?draws=100000000",
        "/compare",
        "/spans",
        "/agreement/files/1.csv",
        "/agreement/files/1.tex?digits=2",
        "/agreement/files/1.md?digits=0",
        "/agreement/files/1.txt",
        "/agreement/files/none.csv",
        "/agreement/files/1.csv?rows=none",
        "/efficiency/charts/0.csv?cost=latency",
        "/efficiency/charts/0.data.json?cost=latency",
        "/efficiency/charts/9.csv?cost=latency",
        "/efficiency/charts/x.csv?cost=latency",
    )
    answers = all_asked(read, "/boards/bay/analyses", pages, kept_whole=True)
    answers |= all_asked(read, "/boards/cove/analyses", ("/agreement", "/overrating"), "owner", kept_whole=True)
    usual: dict[str, list[str]] = {}
    for path, answer in answers.items():
        lines, first = answer["content"], usual.setdefault(path.split("?")[0].split(" ")[0], answer["content"])
        is_page = "html" in answer["content-type"] and answer["status"] == 200
        said[path] = answer if lines is first or not is_page else unlike(first, lines)
    approve("site-answers/analysis-pages", said)


def test_an_answer_that_is_known_is_not_sent_again(read: ReadSite) -> None:
    said: dict[str, Any] = {}
    for path in (BAY, f"{BAY}/ranking", "/boards/bay", "/boards/bay/downloads/scores.csv", f"{API}/boards?limit=2"):
        first = read.get(path)
        again = read.get(path, **{"if-none-match": first.headers["etag"]})
        squeezed = read.get(path, **{"accept-encoding": "gzip"})
        names = ("cache-control", "vary", "link", "content-encoding", "content-security-policy", "x-frame-options")
        told_headers = [
            {name: a.headers[name] for name in names if name in a.headers} for a in (first, again, squeezed)
        ]
        said[path] = [first.status_code, again.status_code, len(again.content), *told_headers]
    for method in ("POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        answers = [
            read.client.request(method, path) for path in (f"{BAY}/ranking", "/boards/bay", "/help", "/static/x/y")
        ]
        allowed = [sorted(a.headers.get("allow", "").split(", ")) for a in answers]
        told_kinds = [[a.status_code, a.headers.get("content-type")] for a in answers]
        said[method] = [told_kinds, allowed]
    foreign = read.client.get("/boards/nothing", headers={"accept": "application/json"})
    said["as JSON"] = told(foreign)
    said["from elsewhere"] = told(
        read.client.post("/boards/bay/submit/generator", headers={"origin": "https://x.example"})
    )
    wrong = read.client.get(f"{BAY}/ranking", headers={"authorization": "Bearer nothing"})
    said["wrong token"] = [wrong.status_code, wrong.headers.get("www-authenticate")]
    approve("site-answers/headers", said)
    assert ODD in read.get(f"{BAY}/generators").text.replace('\\"', '"')
