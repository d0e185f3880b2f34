"""What those ask who watch over a site, the ids of requests, and logs that are JSON."""

from __future__ import annotations

import io
import json
import logging
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from api_sites import SmallSite, small_site
from fastapi.testclient import TestClient
from sqlalchemy import text

from billboards.site.admin.logs import LOGGERS, about, write_logs
from billboards.site.settings import METRICS_TOKEN
from billboards.site.web.app import create_app
from billboards.site.web.measures import Measures, sample
from billboards.site.work.worker import _say_alive, work_once


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    return small_site(tmp_path_factory.mktemp("site"))


@pytest.fixture
def here(small: SmallSite) -> TestClient:
    """A program on the server's own machine."""
    return TestClient(create_app(small.site), client=("127.0.0.1", 50_000))


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Logs as JSON, in memory; afterwards as they were."""
    before = [(logging.getLogger(n), logging.getLogger(n).handlers[:], logging.getLogger(n).level) for n in LOGGERS]
    stream = io.StringIO()
    write_logs("json", stream)
    yield stream
    for logger, handlers, level in before:
        logger.handlers, logger.propagate = handlers, True
        logger.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def value(metrics: str, start: str) -> float:
    (line,) = [line for line in metrics.splitlines() if line.startswith(start)]
    return float(line.rpartition(" ")[2])


def test_a_site_that_works_lives_and_is_ready(small: SmallSite) -> None:
    assert small.client.get("/health").json() == {"status": "alive"}
    ready = small.client.get("/ready")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
    assert ready.headers["cache-control"] == "no-store"


def test_a_full_disk_makes_it_unready_but_not_dead(small: SmallSite) -> None:
    full = replace(small.site, settings=small.site.settings.model_copy(update={"free_bytes": 2**62}))
    client = TestClient(create_app(full))
    answer = client.get("/ready")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "bytes left" in answer.json()["obstacles"][0]
    assert client.get("/health").status_code == 200


def test_a_database_of_another_version_or_none_makes_it_unready(tmp_path: Path) -> None:
    one = small_site(tmp_path)
    with one.site.database.writing() as connection:
        connection.execute(text("update alembic_version set version_num = '0002'"))
    assert "migration 0002" in one.client.get("/ready").json()["obstacles"][0]
    one.site.database.close()
    for path in one.site.data.glob("site.sqlite*"):
        path.unlink()
    (one.site.data / "site.sqlite").mkdir()
    answer = one.client.get("/ready")
    assert (answer.status_code, answer.json()["obstacles"]) == (503, ["the database can't be reached"])
    assert one.client.get("/health").status_code == 200


def test_metrics_count_requests_by_the_pattern_of_their_path(small: SmallSite, here: TestClient) -> None:
    began = time.monotonic() - 3600
    for _ in range(2):
        here.get("/boards/small", headers={"cookie": "a=b"})
    here.get("/boards/none", headers={"cookie": "a=b"})
    here.get("/no/such/page")
    found = here.get("/metrics")
    assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert value(found.text, 'billboards_requests_total{route="/boards/{board}",method="GET",status="200"}') == 2
    assert value(found.text, 'billboards_requests_total{route="/boards/{board}",method="GET",status="404"}') == 1
    assert value(found.text, 'billboards_request_seconds_bucket{route="/boards/{board}",le="+Inf"}') == 3
    assert value(found.text, 'billboards_request_seconds_count{route="/boards/{board}"}') == 3
    assert value(found.text, "billboards_database_statements_total") > 0
    assert 0 < value(found.text, "billboards_database_seconds_total") < time.monotonic() - began
    assert value(found.text, "billboards_database_up") == 1
    assert "no/such" not in found.text


def test_every_line_of_metrics_is_of_prometheus_format(here: TestClient) -> None:
    here.get("/health")
    label = r'[a-z_]+="(?:[^"\\\n]|\\.)*"'
    form = re.compile(rf"# (?:HELP|TYPE) billboards_\w+ .+|billboards_\w+(?:\{{{label}(?:,{label})*\}})? [\d.e+-]+")
    found = here.get("/metrics").text
    assert found.endswith("\n")
    assert [line for line in found.splitlines() if not form.fullmatch(line)] == []
    assert sample("a", {"b": 'c"d\\e\nf'}, 1) == r'a{b="c\"d\\e\nf"} 1'


def test_submissions_workers_and_jobs_are_counted(tmp_path: Path) -> None:
    one = small_site(tmp_path)
    client = TestClient(create_app(one.site), client=("127.0.0.1", 50_000))
    one.submit()
    before = client.get("/metrics").text
    assert value(before, 'billboards_submissions{kind="generator",state="received"}') == 1
    assert (value(before, "billboards_submissions_waiting"), value(before, "billboards_workers")) == (1, 0)
    for name in ("first", "second", "first"):
        _say_alive(one.site, name)
    one.work()
    after = client.get("/metrics").text
    assert value(after, 'billboards_submissions{kind="generator",state="scored"}') == 1
    assert (value(after, "billboards_submissions_waiting"), value(after, "billboards_workers")) == (0, 2)


def test_metrics_are_for_this_machine_or_who_has_the_token(
    small: SmallSite, here: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.get("/metrics").status_code == 200
    assert here.get("/metrics", headers={"x-forwarded-for": "192.0.2.7"}).status_code == 403
    with_token = {"authorization": "Bearer s3cret"}
    assert small.client.get("/metrics", headers=with_token).status_code == 403
    monkeypatch.setenv(METRICS_TOKEN, "s3cret")
    assert small.client.get("/metrics", headers=with_token).status_code == 200
    assert small.client.get("/metrics", headers={"authorization": "Bearer other"}).status_code == 403
    assert small.client.get("/metrics").status_code == 403


def test_a_durations_bucket_holds_its_upper_end() -> None:
    measures = Measures()
    for seconds in (0.005, 0.006, 11.0):
        measures.count("/", "GET", 200, seconds)
    found = "\n".join(measures.lines())
    ends = ("0.005", "0.02", "10.0", "+Inf")
    assert [value(found, f'billboards_request_seconds_bucket{{route="/",le="{end}"}}') for end in ends] == [1, 2, 2, 3]
    assert value(found, 'billboards_request_seconds_sum{route="/"}') == pytest.approx(11.011)


def test_a_request_id_is_kept_if_plain_and_drawn_if_not(small: SmallSite) -> None:
    def answered(given: str) -> str:
        return str(small.client.get("/health", headers={"x-request-id": given}).headers["x-request-id"])

    assert answered("proxy-17.a") == "proxy-17.a"
    for odd in ("", "a b", "x" * 65, 'a"b'):
        assert re.fullmatch("[0-9a-f]{16}", answered(odd))


def test_logs_as_json_carry_the_requests_id_and_no_path(small: SmallSite, written: io.StringIO) -> None:
    small.client.get("/annotate/secret-link", headers={"x-request-id": "r1"})
    (line,) = lines(written)
    assert (line["request_id"], line["method"], line["level"]) == ("r1", "GET", "info")
    assert "secret-link" not in written.getvalue()
    with about(request_id="r2"):
        logging.getLogger("billboards.site.web").error("it broke")
    assert lines(written)[1].items() >= {"request_id": "r2", "message": "it broke", "level": "error"}.items()


def test_a_workers_lines_name_its_job(tmp_path: Path, written: io.StringIO) -> None:
    one = small_site(tmp_path)
    sent = one.submit().json()["id"]
    while work_once(one.site, "w1"):
        pass
    found = [line for line in lines(written) if line["logger"] == "billboards.worker"]
    check, *_ = found
    assert (
        check.items() >= {"worker": "w1", "job": "check", "board": "small", "submission": sent, "subject": sent}.items()
    )
    assert {line["job"] for line in found} == {"check", "cell", "refresh"}
    assert all("seconds" in line for line in found if str(line["message"]).startswith("ends"))


def test_text_stays_as_it_was() -> None:
    handlers = logging.getLogger("billboards").handlers
    write_logs("text")
    assert logging.getLogger("billboards").handlers == handlers
