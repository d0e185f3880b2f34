"""`billboards serve`: a real server that opens, outlives the death of its parts, and won't be open to everybody."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from billboards.board.skeleton import write_skeleton
from billboards.cli.main import main
from billboards.cli.serve import check_installed, is_loopback
from billboards.errors import MissingPart
from billboards.site.accounts.access import viewer_of_token
from billboards.site.site import open_site


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=10, follow_redirects=True).status_code == 200
    except httpx.HTTPError:
        return False


def children(pid: int) -> dict[int, str]:
    found = {}
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found[int(child)] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
    return found


@pytest.mark.long
def test_the_site_opens_survives_its_servers_death_and_ends_with_all_its_processes(tmp_path: Path) -> None:
    write_skeleton(tmp_path / "my-board", "my-board")
    command = [sys.executable, "-m", "billboards.cli.main", "serve", str(tmp_path / "data")]
    options = ["--board", str(tmp_path / "my-board"), "--port", "0", "--workers", "1"]
    server = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        while "http://" not in line:
            assert line, "it ended"
            line = server.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}", line)
        assert found is not None
        url = found[0]
        until(lambda: answers(url))
        (web,) = [pid for pid, text in children(server.pid).items() if "web_process" in text]
        os.kill(web, signal.SIGKILL)
        until(lambda: web not in children(server.pid) and answers(url))
        family = list(children(server.pid))
        assert len(family) == 2
    finally:
        server.terminate()
        assert server.wait(60) == 0
        assert server.stderr is not None
        server.stderr.close()
    assert not any(Path(f"/proc/{pid}").exists() for pid in family)
    assert not answers(url)


def test_another_address_is_refused_until_somebody_could_log_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(tmp_path / "data")
    assert main(["serve", data, "--host", "0.0.0.0"]) == 2
    said = capsys.readouterr().err
    assert "nobody could log in" in said
    assert f"billboards serve {data} --token NAME" in said


def test_a_token_is_printed_once_and_opens_the_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path), "--token", "olga"]) == 0
    text = capsys.readouterr().out.strip()
    site = open_site(tmp_path)
    viewer = viewer_of_token(site, text)
    assert viewer is not None
    assert (viewer.name, viewer.role) == ("olga", "owner")
    assert text not in (tmp_path / "site.sqlite").read_bytes().decode("latin-1")
    site.close()


def test_a_broken_board_or_a_taken_port_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken").mkdir()
    assert main(["serve", str(tmp_path / "data"), "--board", str(tmp_path / "broken")]) == 2
    assert "not a board folder" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["serve", str(tmp_path / "data"), "--port", str(taken.getsockname()[1])]) == 2
    assert "choose another with --port" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["serve", str(tmp_path / "data"), "--port", "99999999"])
    assert "choose a number from 0 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.0.0.2", True), ("0.0.0.0", False),
     ("::", False), ("192.168.1.7", False), ("localhost.example.org", False)],
)  # fmt: skip
def test_only_loopback_is_loopback(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_a_part_that_is_not_installed_is_named_with_how_to_get_it() -> None:
    with pytest.raises(MissingPart, match=r"needs no_such_package, not installed; .*billboards\[site\]"):
        check_installed(["sqlalchemy", "no_such_package"])


@pytest.mark.long
@pytest.mark.parametrize("module", ["billboards.cli.web_process", "billboards.site.work.worker"])
def test_a_process_of_a_site_is_started_without_packages_that_only_some_analyses_need(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{'scipy', 'pandas', 'torch'}} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
