"""What a site says in every state of a board, of itself to whoever watches it, and to those whom it keeps out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from approving import approve
from fastapi.testclient import TestClient
from page_sites import page_board
from read_sites import BEGIN, ReadSite, fix_seconds, fixed_identities, new_site, outputs
from small_sites import Clock
from told_pages import compact, main_lines, page_lines, steady, told, unlike, without

from billboards.board.writing import write_board
from billboards.site.database import trail
from billboards.site.site import notice_changes, open_site
from billboards.site.web.app import create_app
from billboards.site.web.limits import LONGEST_ADDRESS, Rate
from billboards.site.web.measures import Measures

BOARD = "/boards/harbour"
API = f"/api/v1{BOARD}"
ASKERS = ("visitor", "team", "owner")
#: Pages on which the state of a board shows.
PAGES = ("", "/metrics", "/instances", "/compare", "/ensembles", "/rankings", "/submissions", "/downloads", "/submit")


def shown(read: ReadSite, path: str, asker: str = "visitor") -> list[str]:
    answer = read.get(path, asker)
    if "html" not in answer.headers.get("content-type", ""):
        return [str(answer.status_code), *map(str, told(answer)["content"] or ())]
    return [] if answer.status_code == 304 else [str(answer.status_code), *main_lines(answer.text)]


def test_a_board_shows_in_every_state_what_was_approved(tmp_path: Path) -> None:
    board = page_board(6)
    said: dict[str, Any] = {}
    with fixed_identities():
        read = new_site(tmp_path, board)
        said |= {f"new{page}": shown(read, BOARD + page) for page in PAGES}
        said["new, progress"] = told(read.get(f"{API}/progress"))
        read.work()
        last = [shown(read, BOARD)]

        def note(state: str, *pages: str) -> None:
            now = shown(read, BOARD)
            said[state] = {"visitor": unlike(last.pop(), now)}
            said[state] |= {asker: unlike(now, shown(read, BOARD, asker)) for asker in ASKERS[1:]}
            last.append(now)
            said[state] |= {page: shown(read, BOARD + page) for page in pages}

        read.send("team", "harbour", "boat", outputs(board, "boat"))
        note("one on the way", "/submissions")
        read.send("team", "harbour", "tug", outputs(board, "tug"))
        note("two on the way")
        said["progress"] = told(read.get(f"{API}/progress"))
        read.work()
        note("ranked")
        read.settle("harbour", k=2, by="people")
        note("changed")
        with read.site.database.writing() as connection:
            trail.note(connection, "site", "ranking.failed", "harbour", now=read.clock.now, board="harbour", detail={})
            trail.raise_generation(connection, "harbour", now=read.clock.now)
        note("in vain")
        read.work()
        moment = "2041-01-01T00:00Z"
        read.settle(
            "harbour", phases=[{"name": "first", "blind": True, "closes": moment}, {"name": "next", "opens": moment}]
        )
        read.send("team", "harbour", "blind boat", outputs(board, "blind"), entry="contrastive")
        read.work()
        note("blind phase", "/submit")
        read.settle("harbour", inputs_from="next", hidden_references=True)
        read.work()
        note("inputs hidden", "/instances/i%2F1", "/submit/generator")
        read.settle("harbour", hidden_judgments=True, ladder=0.01, by=None)
        read.work()
        fix_seconds(read.site)
        note("judgments hidden", "/metrics", "/metrics/chrF")
        read.client.post(f"{API}/freeze", headers={"authorization": f"Bearer {read.tokens['owner']}"})
        read.settle(
            "harbour", hidden_judgments=False, hidden_references=False, phases=[], inputs_from=None, revealed=True
        )
        read.work()
        note("frozen", "/submit")
        path = tmp_path / "harbour" / "board.toml"
        kept = path.read_text()
        path.write_text(kept + "\n[odd]\n")
        notice_changes(read.site)
        note("unreadable")
        path.write_text(kept)
        notice_changes(read.site)
        read.work()
        note("mended")
    for action in ("", "?action=board", "?action=ranking&limit=2", "?limit=3", "?limit=0", "?cursor=x", "?action=none"):
        answer = without(told(read.get(f"{API}/audit{action}", "owner")), ("detail", "next"))
        said[f"trail{action}"] = compact(answer)
    said["trail, visitor"] = told(read.get(f"{API}/audit"))
    said["trail of all"] = compact(without(told(read.get("/api/v1/audit?limit=2", "team")), ("detail",)))
    approve("states/boards", said, folder=tmp_path)


WRONG_SETTINGS: tuple[Any, ...] = (
    {"k": 0},
    {"k": 101, "draws": -1, "odd": 1},
    {"draws": 100_000_000},
    {"seed": -1, "quiet": -0.5},
    {"method": "none"},
    {"by": "nothing"},
    {"ranks": "nothing"},
    {"metrics": ["nothing", "chrF(word_order=x)"]},
    {"phases": [{"name": "", "opens": "x"}]},
    {"phases": [{"name": "a", "opens": "2041-01-02T00:00Z", "closes": "2041-01-01T00:00Z"}]},
    {"phases": [{"name": "a"}, {"name": "a"}]},
    {"inputs_from": "none"},
    {"hidden_judgments": True, "by": "people"},
    {"ladder": 2},
    {"accepts": ["nothing"]},
    {"trust": {"private_share": 2, "bars": ["odd"]}},
    {"about": {"accent": "#ffffff", "accent_dark": "#000000", "title": "x" * 151}},
    {"about": {"timeline": [{"at": "x"}]}},
    {"frozen": "yesterday"},
    {"sides": "three", "reference_free": "odd"},
    [],
    "text",
    None,
)


#: Where the server kept for a moment what was sent.
PLACE = re.compile(r"\S*/tmp\w*/(?=scores)")


def test_settings_and_scores_are_taken_and_refused_as_approved(tmp_path: Path) -> None:
    board = page_board(4)
    said: dict[str, Any] = {}
    with fixed_identities():
        read = new_site(tmp_path, board)
        read.send("team", "harbour", "boat", outputs(board, "boat"))
        read.work()

        def note(step: str, method: str, path: str, asker: str = "owner", **sent: Any) -> None:
            headers = {} if asker == "visitor" else {"authorization": f"Bearer {read.tokens[asker]}"}
            answer = compact(told(read.client.request(method, path, headers=headers, **sent)))
            content = answer["content"]
            if isinstance(content, dict) and isinstance(content.get("detail"), str):
                content["detail"] = PLACE.sub("PLACE/", content["detail"])
            said[step] = answer

        for asker in ASKERS:
            note(f"settings, {asker}", "GET", f"{API}/settings", asker)
            note(f"freeze, {asker}", "POST", f"{API}/freeze", asker)
            note(f"unfreeze, {asker}", "POST", f"{API}/unfreeze", asker)
            note(f"changed, {asker}", "PATCH", f"{API}/settings", asker, json={"k": 2})
        for wrong in WRONG_SETTINGS:
            note(f"wrong: {str(wrong)[:60]}", "PATCH", f"{API}/settings", json=wrong)
        note("no JSON", "PATCH", f"{API}/settings", content="{")
        note("reveal", "POST", f"{API}/reveal")
        note("retry", "POST", f"{API}/retry")
        note("no board", "GET", "/api/v1/boards/none/settings")
        lines = ["instance,generator,score", *(f"{i.id},boat,{k}" for k, i in enumerate(board.instances))]
        lines += [f"{i.id},late,{k + 1}" for k, i in enumerate(board.instances)]
        table = {"file": ("scores.csv", "\n".join(lines).encode())}
        other = {"file": ("scores.csv", "\n".join(line.replace(",2", ",7") for line in lines).encode())}
        steps: Mapping[str, tuple[Mapping[str, Any], Mapping[str, str]]] = {
            "no metric": (table, {}),
            "an unknown metric": (table, {"metric": "judge"}),
            "only said": (table, {"metric": "judge", "new": "true", "dry_run": "true"}),
            "a new column": (table, {"metric": "judge", "new": "true", "lower_is_better": "true", "needs": "input"}),
            "the same again": (table, {"metric": "judge"}),
            "other scores": (other, {"metric": "judge"}),
            "replaced": (other, {"metric": "judge", "replace": "true"}),
            "odd needs": (table, {"metric": "judge2", "new": "true", "needs": "luck"}),
            "a wrong file": ({"file": ("scores.csv", b"instance,generator\nx,y\n")}, {"metric": "judge"}),
            "an empty file": ({"file": ("scores.csv", b"")}, {"metric": "judge"}),
            "no file": ({}, {"metric": "judge"}),
            "a kind of file": ({"file": ("scores.xls", b"x")}, {"metric": "judge"}),
        }
        for step, (files, data) in steps.items():
            note(step, "POST", f"{API}/scores", files=files, data=data)
        note("by a team", "POST", f"{API}/scores", "team", files=table, data={"metric": "judge"})
        read.work()
        note("scores", "GET", f"{API}/metrics/judge/scores", "visitor")
    folder = tmp_path / "harbour" / "scores"
    said["files"] = {path.name: path.read_text().splitlines() for path in sorted(folder.iterdir())}
    approve("states/settings", said, folder=tmp_path)


def test_limits_are_kept_as_approved(tmp_path: Path) -> None:
    folder = write_board(page_board(4), tmp_path / "harbour")
    data = tmp_path / "data"
    data.mkdir()
    settings = (
        "reads_per_minute = 3\nchanges_per_minute = 2\nform_bytes = 1000\ngenerator_bytes = 2000\nmetric_bytes = 10\n"
    )
    (data / "site.toml").write_text(settings)
    clock = Clock(BEGIN)
    site = open_site(data, boards=[folder], login_required=True, clock=clock)
    client = TestClient(create_app(site), "http://localhost", raise_server_exceptions=False, follow_redirects=False)
    said: dict[str, Any] = {}

    def note(step: str, method: str, path: str, **sent: Any) -> None:
        answer = client.request(method, path, **sent)
        content = told(answer) if answer.status_code >= 400 else {"status": answer.status_code}
        said[step] = {**content, "connection": answer.headers.get("connection")}

    for k in range(5):
        note(f"read {k}", "GET", "/api/v1/boards")
    clock.now += 20.0
    for k in range(2):
        note(f"read after a third of a minute {k}", "GET", "/help", headers={"accept": "text/html"})
    clock.now += 600.0
    for k in range(3):
        note(f"change {k}", "POST", "/login", data={"token": "x"})
    clock.now += 600.0
    note("longest address", "GET", "/api/v1/boards?" + "x" * (LONGEST_ADDRESS - len("/api/v1/boards")))
    note("too long an address", "GET", "/api/v1/boards?" + "x" * (LONGEST_ADDRESS - len("/api/v1/boards") + 1))
    for size in (1000, 1001):
        clock.now += 600.0
        note(f"form of {size}", "POST", "/login", content=b"x" * size)
    for size in (3000, 3001):
        clock.now += 600.0
        note(f"upload of {size}", "POST", f"{API}/generators", content=b"x" * size)
    clock.now += 600.0
    form = {"content-type": "application/x-www-form-urlencoded"}
    for last in (100, 101):
        note(f"chunks of 900 and {last}", "POST", "/login", content=iter([b"x" * 900, b"x" * last]), headers=form)
        clock.now += 600.0
    note("both", "POST", "/login", content=b"x", headers={"transfer-encoding": "chunked", "content-length": "1"})
    rate, waits = Rate(6), []
    for seconds in (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 1.0, 600.0, 600.0):
        waits.append(rate.wait("a", seconds))
    said["waits"] = waits
    site.close()
    approve("states/limits", said)


#: What differs from run to run of all that is counted.
MEASURED = re.compile(r"_seconds_sum|_seconds_total|_bucket|memory_bytes|free_bytes|statements_total|_info|_seconds ")


def counted(text: str) -> list[str]:
    """Lines of Prometheus' format without what is measured."""
    lines = [line for line in steady(text).splitlines() if "connections" not in line]
    return [
        f"{line.rpartition(' ')[0]} N" if MEASURED.search(line) and not line.startswith("#") else line for line in lines
    ]


def test_whoever_watches_a_site_reads_what_was_approved(tmp_path: Path) -> None:
    read = new_site(tmp_path, page_board(4))
    read.work()
    fix_seconds(read.site)
    said: dict[str, Any] = {}
    app = create_app(read.site)
    here = TestClient(app, "http://localhost", client=("127.0.0.1", 50_000))
    away = TestClient(app, "http://localhost", client=("192.0.2.1", 50_000), raise_server_exceptions=False)
    for path in ("/", BOARD, BOARD, "/nothing", f"{API}/ranking", f"{BOARD}/metrics/chrF"):
        here.get(path)
    here.post("/login", data={"token": "x"})
    for path in ("/health", "/ready", "/metrics"):
        for name, client in (("here", here), ("away", away)):
            answer = client.get(path)
            content = answer.json() if "json" in answer.headers["content-type"] else counted(answer.text)
            said[f"{path}, {name}"] = [answer.status_code, answer.headers["cache-control"], content]
    for header in ("x-forwarded-for", "via", "forwarded", "x-real-ip"):
        said[header] = here.get("/metrics", headers={header: "x"}).status_code
    said["posted"] = here.post("/health").status_code
    measures = Measures()
    for seconds in (0.001, 0.005, 0.02, 0.0201, 0.1, 2.0, 10.0, 11.0):
        measures.count('/a"b\\c', "GET", 200, seconds)
    said["measures"] = list(measures.lines())
    read.site.settings = read.site.settings.model_copy(update={"free_bytes": 10**18})
    answer = TestClient(create_app(read.site), "http://localhost").get("/ready")
    said["no room"] = [answer.status_code, answer.headers["retry-after"], re.sub(r"[\d,]{4,}", "N", answer.text)]
    approve("states/watched", said)


def test_who_is_kept_out_reads_what_was_approved(tmp_path: Path) -> None:
    read = new_site(tmp_path, page_board(4))
    read.work()
    said: dict[str, Any] = {}
    policy = {
        name: steady(value) for name, value in read.get(BOARD).headers.items() if name not in ("etag", "content-length")
    }
    said["headers of a page"] = without(policy, ("x-request-id", "server-timing"))
    said["headers of what is embedded"] = steady(read.get(f"/embed{BOARD}").headers["content-security-policy"])
    senders = (
        {"origin": "https://elsewhere.example"},
        {"origin": "http://localhost"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    )
    for headers in senders:
        answer = read.client.post("/login", data={"token": "x"}, headers=headers)
        said[str(headers)] = [answer.status_code, main_lines(answer.text)[-4:]]
    read.client.post("/login", data={"token": read.tokens["owner"]})
    (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', read.client.get(f"{BOARD}/organise").text))
    usual = page_lines(read.client.get(BOARD).text)
    said["no form of this session"] = told(read.client.post("/see-as", data={"audience": "visitor", "csrf": "x"}))
    for audience in ("visitor", "team", "annotator", "nobody"):
        answer = read.client.post("/see-as", data={"audience": audience, "back": BOARD, "csrf": csrf})
        said[f"as {audience}"] = [
            answer.status_code,
            answer.headers.get("location"),
            unlike(usual, page_lines(read.client.get(BOARD).text)),
        ]
        said[f"changes as {audience}"] = told(
            read.client.patch(f"{API}/settings", json={"k": 1}, headers={"x-csrf-token": csrf})
        )
    with_cookie = read.client.get(BOARD, headers={"accept-encoding": "gzip"})
    said["again"] = [
        with_cookie.status_code,
        with_cookie.headers.get("content-encoding"),
        with_cookie.headers.get("vary"),
    ]
    read.site.login_required = False
    for host in ("localhost", "127.0.0.1:8000", "[::1]", "boards.example.org", "", "localhost.example"):
        client = TestClient(create_app(read.site), "http://localhost", raise_server_exceptions=False)
        answer = client.get("/api/v1/boards", headers={"host": host})
        said[f"host {host}"] = [answer.status_code, answer.text if answer.status_code != 200 else "is answered"]
    for header in ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "x-real-ip", "via"):
        answer = client.get("/api/v1/boards", headers={header: "x"})
        said[f"through {header}"] = [answer.status_code, answer.text]
    approve("states/kept-out", said)


def test_a_site_for_its_own_machine_wants_its_token_as_approved(tmp_path: Path) -> None:
    folder, token = write_board(page_board(3), tmp_path / "harbour"), "a-token-of-twenty-four-bytes"
    site = open_site(tmp_path / "data", boards=[folder], clock=Clock(BEGIN))
    site.start_token = token
    app = create_app(site)
    said: dict[str, Any] = {}

    def fresh() -> TestClient:
        return TestClient(app, "http://localhost", raise_server_exceptions=False, follow_redirects=False)

    for path in ("/", BOARD, API, "/login", "/static/x/y", f"{BOARD}/badges/metric.svg", "/annotate/x", "/health"):
        for accept in ("text/html", "application/json"):
            answer = fresh().get(path, headers={"accept": accept})
            body = answer.text if answer.status_code == 401 and "html" not in answer.headers["content-type"] else ""
            said[f"{path} {accept}"] = [answer.status_code, answer.headers.get("location"), body]
    said["posted"] = [fresh().post(BOARD).status_code, fresh().post(f"/?token={token}").status_code]
    for query in (f"token={token}", f"a=1&token={token}&b=", "token=wrong", f"token={token[:-1]}", "token="):
        client = fresh()
        place = f"http://localhost//elsewhere.example/x?{query}" if "b=" in query else f"{BOARD}?{query}"
        answer = client.get(place, headers={"accept": "text/html"})
        cookie = re.sub(r"start-[0-9a-f]{12}=[^;]+", "start-DIGEST=TOKEN", answer.headers.get("set-cookie", ""))
        said[f"asked with {query}"] = [answer.status_code, answer.headers.get("location"), cookie]
        said[f"then {query}"] = client.get(BOARD, headers={"accept": "text/html"}).status_code
    for scheme in ("Bearer", "bearer", "Basic", ""):
        said[f"scheme {scheme}"] = fresh().get(BOARD, headers={"authorization": f"{scheme} {token}"}).status_code
    said["as the owner"] = page_lines(
        fresh().get("/", headers={"authorization": f"Bearer {token}", "accept": "text/html"}).text
    )
    site.close()
    approve("states/own-machine", said)
