"""A site as it is deployed: Debian's nginx with the shipped files, two web processes, PostgreSQL, a log-in service."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from urllib.parse import urljoin

import httpx
import pytest
from nginx import Nginx, free_port, nginx_program
from postgres import PostgresServer
from small_campaigns import distinct_board

from billboards.board.card_facts import with_facts
from billboards.board.writing import write_board
from billboards.site.settings import DATABASE, METRICS_TOKEN, OIDC_SECRET

pytestmark = pytest.mark.long
DRAFT = replace(distinct_board(instances=3, generators=2), metrics=("length",))
BOARD = with_facts(DRAFT, dict.fromkeys(DRAFT.missing_facts, "en"))
PERSON = {"sub": "person-1", "name": "Ada", "preferred_username": "ada", "email": "ada@example.org"}


def until(true: Callable[[], bool], seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.1)


@dataclass
class Deployed:
    """What tests need to know of a deployed site."""

    proxy: Nginx
    ports: list[int]
    processes: list[subprocess.Popen[bytes]]
    token: str
    start: Callable[[int], subprocess.Popen[bytes]]

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.proxy.https}"

    def client(self) -> httpx.Client:
        """A browser, which keeps cookies; the certificate is nobody's."""
        return httpx.Client(base_url=self.address, verify=False, timeout=30, trust_env=False)

    def counted(self, port: int) -> int:
        """Requests for the list of boards that one web process has answered."""
        text = httpx.get(f"http://127.0.0.1:{port}/metrics", headers=TOKEN, trust_env=False).text
        found = re.findall(r'^billboards_requests_total\{route="/api/v1/boards",.*\} (\d+)', text, re.MULTILINE)
        return sum(map(int, found))


TOKEN = {"authorization": "Bearer watching"}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[Deployed]:
    program = nginx_program()
    if program is None:
        pytest.skip("nginx is not installed; Debian has it as nginx-light")
    home = tmp_path_factory.mktemp("deployed")
    folder = write_board(BOARD, home / "data" / "boards" / "fleet")
    assert folder.exists()
    ports, provider = [free_port(), free_port()], free_port()
    with ExitStack() as stack:
        proxy = stack.enter_context(Nginx(program, home / "nginx", ports))
        written = f'base_url = "https://127.0.0.1:{proxy.https}"\npoll_seconds = 0.1\nlogs = "json"\n'
        written += f'[oidc]\nissuer = "http://127.0.0.1:{provider}"\nclient_id = "boards"\nname = "the club"\n'
        (home / "data" / "site.toml").write_text(written)
        environment = {
            **os.environ,
            DATABASE: postgres.new_database(),
            METRICS_TOKEN: "watching",
            OIDC_SECRET: "secret",
            "NO_PROXY": "*",
        }
        serve = [sys.executable, "-m", "billboards", "serve", str(home / "data")]
        token = subprocess.run([*serve, "--token", "me"], env=environment, capture_output=True, text=True, check=True)
        said = ["--port", str(provider), "--user-claims", json.dumps(PERSON), "--require-nonce", "true"]
        service = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", *said]
        log = stack.enter_context((home / "provider.log").open("wb"))
        processes = [subprocess.Popen(service, stdout=log, stderr=log)]

        def start(port: int) -> subprocess.Popen[bytes]:
            process = subprocess.Popen([*serve, "--port", str(port), "--workers", "1"], env=environment)
            processes.append(process)
            return process

        try:
            servers = [start(port) for port in ports]
            for port in ports:
                until(lambda port=port: is_ready(port))  # type: ignore[misc]
            yield Deployed(proxy, ports, servers, token.stdout.strip(), start)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(30)


def is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ready", timeout=20, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_debians_nginx_takes_the_shipped_files_without_a_word(deployed: Deployed) -> None:
    assert "[warn]" not in deployed.proxy.words
    assert "[emerg]" not in deployed.proxy.words


def test_plain_requests_are_led_to_tls_and_counts_stay_inside(deployed: Deployed) -> None:
    plain = httpx.get(f"http://127.0.0.1:{deployed.proxy.http}/boards/fleet", trust_env=False)
    assert (plain.status_code, plain.headers["location"]) == (301, "https://127.0.0.1/boards/fleet")
    with deployed.client() as client:
        answer = client.get("/metrics", headers=TOKEN)
        assert answer.status_code == 404
        page = client.get("/login")
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        assert re.fullmatch(r"[0-9a-f]{32}", page.headers["x-request-id"]), "nginx's own id"


def test_a_form_is_taken_on_a_port_that_is_not_443(deployed: Deployed) -> None:
    with deployed.client() as client:
        page = {"origin": deployed.address, "referer": f"{deployed.address}/login"}
        entered = client.post("/login", data={"token": deployed.token, "next": "/account"}, headers=page)
        assert (entered.status_code, entered.headers["location"]) == (303, "/account")
        assert "Secure" in entered.headers["set-cookie"]
        assert client.get("/account").status_code == 200
        strange = client.post("/login", data={"token": deployed.token}, headers={"origin": "https://127.0.0.1"})
        assert strange.status_code == 403, "another port is another site"


def test_both_processes_are_asked_and_show_what_one_of_them_was_sent(deployed: Deployed) -> None:
    before = [deployed.counted(port) for port in deployed.ports]
    headers = {"authorization": f"Bearer {deployed.token}"}
    with deployed.client() as client:
        for _ in range(8):
            assert client.get("/api/v1/boards", headers=headers).status_code == 200
        lines = [{"instance": instance.id, "text": f"one boat, {instance.id}"} for instance in BOARD.instances]
        file = ("o.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
        path = f"/api/v1/boards/{BOARD.name}/generators"
        sent = client.post(path, headers=headers, data={"name": "tug"}, files={"file": file})
        assert sent.status_code == 201, sent.text
        own = f"/api/v1/submissions/{sent.json()['id']}"
        until(lambda: client.get(own, headers=headers).json()["state"] == "scored")
    after = [deployed.counted(port) for port in deployed.ports]
    assert [later - earlier for later, earlier in zip(after, before, strict=True)] == [4, 4]
    for port in deployed.ports:
        answer = httpx.get(f"http://127.0.0.1:{port}{own}", headers=headers, trust_env=False)
        assert answer.json()["state"] == "scored"


def test_a_real_log_in_service_lets_somebody_in_through_the_proxy(deployed: Deployed) -> None:
    with deployed.client() as client:
        begun = client.get("/login/elsewhere?next=/account")
        assert begun.status_code in (302, 303), begun.text
        form = httpx.get(begun.headers["location"], trust_env=False)
        assert form.status_code == 200, form.text
        action = re.search(r'<form[^>]*action="([^"]*)"', form.text)
        place = urljoin(str(form.url), action[1].replace("&amp;", "&")) if action else str(form.url)
        back = httpx.post(place, data={"sub": PERSON["sub"]}, trust_env=False)
        assert back.headers["location"].startswith(f"{deployed.address}/login/elsewhere/back?")
        entered = client.get(back.headers["location"])
        assert (entered.status_code, entered.headers["location"]) == (303, "/account"), entered.text
        assert "ada" in client.get("/account").text
        again = client.get(back.headers["location"])
        assert again.status_code in (401, 403), "an answer counts once"


def test_nobody_notices_that_one_process_is_gone(deployed: Deployed) -> None:
    headers = {"authorization": f"Bearer {deployed.token}"}
    gone = deployed.processes[0]
    gone.send_signal(signal.SIGTERM)
    assert gone.wait(30) == 0
    with deployed.client() as client:
        answers = [client.get("/api/v1/boards", headers=headers).status_code for _ in range(6)]
        assert answers == [200] * 6
        deployed.start(deployed.ports[0])
        until(lambda: is_ready(deployed.ports[0]))
        earlier = deployed.counted(deployed.ports[0])
        until(
            lambda: (
                client.get("/api/v1/boards", headers=headers).status_code == 200
                and deployed.counted(deployed.ports[0]) > earlier
            )
        )
