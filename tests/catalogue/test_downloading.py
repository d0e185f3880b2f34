"""One file over HTTP: whole, cut off, redirected, refused, too long, spliced, on a full disk, twice at once, killed."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request

import pytest
from catalogue_entries import TABLE, WriteEntry, sha256, toml, url_source
from file_server import FileServer, Handler, cut, hang, status

from billboards.catalogue import _download
from billboards.catalogue._download import Downloader, _Redirects, _retry_after
from billboards.cli.main import main
from billboards.errors import DownloadFailed, StoreAway, StoreFailed

DATA = bytes(range(256)) * 4096
PATH = "/data.bin"


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def downloader(tmp_path: Path, pauses: list[float]) -> Downloader:
    return Downloader(partial=tmp_path / "partial", sleep=pauses.append)


@pytest.fixture
def fetch(server: FileServer, downloader: Downloader, tmp_path: Path) -> Callable[..., bytes]:
    """Fetch the server's file and return its bytes as they lie in their place."""
    server.files[PATH] = DATA

    def fetched(*, sha: str | None = sha256(DATA), size: int | None = len(DATA), at_most: int = 10**8) -> bytes:
        target = tmp_path / "place" / "data.bin"
        told = downloader.fetch(server.url + PATH, target, label="data", size=size, sha256=sha, at_most=at_most)
        assert told == (len(target.read_bytes()), sha256(target.read_bytes()))
        return target.read_bytes()

    return fetched


def leftovers(tmp_path: Path) -> list[str]:
    """What lies in the folder of partial files beside locks."""
    return sorted(path.name for path in (tmp_path / "partial").iterdir() if path.suffix != ".lock")


def test_a_file_is_fetched_once(fetch: Callable[..., bytes], server: FileServer, tmp_path: Path) -> None:
    assert fetch() == DATA
    assert fetch() == DATA
    assert server.sent[PATH] == len(DATA)
    assert leftovers(tmp_path) == []


def test_a_damaged_file_in_the_cache_is_fetched_again(fetch: Callable[..., bytes], tmp_path: Path) -> None:
    fetch()
    (tmp_path / "place" / "data.bin").write_bytes(DATA[:-1] + b"?")
    assert fetch() == DATA


def test_a_wrong_digest_is_refused_with_both_digests_and_nothing_is_kept(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path
) -> None:
    server.files[PATH] = DATA[::-1]
    with pytest.raises(DownloadFailed, match=f"sha256 {sha256(DATA[::-1])}, not {sha256(DATA)}"):
        fetch()
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "place").exists()
    assert len(server.requests) == 1


def test_a_cut_connection_is_resumed_and_no_byte_comes_twice(
    fetch: Callable[..., bytes], server: FileServer, pauses: list[float]
) -> None:
    server.tricks[PATH] = [cut(300_000), cut(1), cut(500_000)]
    assert fetch() == DATA
    assert server.sent[PATH] == len(DATA)
    assert [headers.get("Range") for _, headers in server.requests] == [
        None,
        "bytes=300000-",
        "bytes=300001-",
        "bytes=800001-",
    ]
    assert {headers.get("If-Range") for _, headers in server.requests[1:]} == {'"1"'}
    assert pauses == [0.5, 0.5, 0.5]


def test_what_came_before_a_failure_is_used_by_the_next_call(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path, pauses: list[float]
) -> None:
    server.tricks[PATH] = [cut(700_000), *[status(502)] * 6]
    with pytest.raises(DownloadFailed, match=r"502 Bad Gateway \(6 times\); try again later: what came is kept"):
        fetch()
    assert not (tmp_path / "place").exists()
    assert pauses == [0.5, *_download.PAUSES]
    assert fetch() == DATA
    assert server.sent[PATH] == len(DATA)


def test_a_server_that_ignores_ranges_sends_all_of_it_again(fetch: Callable[..., bytes], server: FileServer) -> None:
    server.takes_ranges = False
    server.tricks[PATH] = [cut(300_000)]
    assert fetch() == DATA
    assert server.sent[PATH] == len(DATA) + 300_000


def test_a_file_that_changed_meanwhile_is_fetched_anew(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path
) -> None:
    def change(handler: Handler) -> bool:
        handler.server.files[PATH], handler.server.tag = DATA[::-1], '"2"'
        return False

    server.tricks[PATH] = [cut(300_000), change]
    assert fetch(sha=None, size=None) == DATA[::-1]


def test_without_a_validator_only_a_digest_lets_parts_be_joined(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path
) -> None:
    server.tag = ""
    server.tricks[PATH] = [cut(300_000)]
    assert fetch() == DATA
    assert server.sent[PATH] == len(DATA)
    (tmp_path / "place" / "data.bin").unlink()
    server.tricks[PATH] = [cut(300_000)]
    assert fetch(sha=None, size=None) == DATA
    assert server.sent[PATH] == 2 * len(DATA) + 300_000


def test_parts_of_two_versions_are_noticed_and_the_file_is_fetched_anew(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path
) -> None:
    server.tag, server.files[PATH] = "", DATA[::-1]

    def mend(handler: Handler) -> bool:
        handler.server.files[PATH] = DATA
        return False

    server.tricks[PATH] = [cut(300_000), mend]
    assert fetch() == DATA
    assert leftovers(tmp_path) == []


def test_a_whole_partial_file_needs_no_further_byte(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path
) -> None:
    server.tricks[PATH] = [cut(len(DATA) - 1), *[status(500)] * 6]
    with pytest.raises(DownloadFailed):
        fetch(size=None)
    (part,) = (tmp_path / "partial").glob("*.part")
    part.write_bytes(DATA)
    assert fetch(size=None) == DATA
    assert server.sent[PATH] == len(DATA) - 1


def test_a_body_without_a_length_is_taken_to_its_end(fetch: Callable[..., bytes], server: FileServer) -> None:
    def chunked(handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(DATA), 1 << 18):
            piece = DATA[start : start + (1 << 18)]
            handler.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.send(b"0\r\n\r\n")
        return True

    server.tricks[PATH] = [chunked]
    assert fetch(sha=None, size=None) == DATA


def test_a_cut_body_without_a_length_is_never_taken_for_whole(fetch: Callable[..., bytes], server: FileServer) -> None:
    def half(handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.send(b"%x\r\n%s\r\n" % (1000, DATA[:1000]))
        handler.close_connection = True
        return True

    server.tricks[PATH] = [half]
    assert fetch(sha=None, size=None) == DATA


def test_a_redirect_is_followed(fetch: Callable[..., bytes], server: FileServer) -> None:
    server.files["/elsewhere"] = DATA
    server.tricks[PATH] = [status(302, Location="/elsewhere")]
    assert fetch() == DATA
    assert server.sent == {PATH: 0, "/elsewhere": len(DATA)}


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirect_to_another_kind_of_address_is_refused(
    target: str, fetch: Callable[..., bytes], server: FileServer
) -> None:
    server.tricks[PATH] = [status(302, Location=target)]
    with pytest.raises(DownloadFailed, match=f"leads to {target}, which is no safe address"):
        fetch()


def test_from_https_no_redirect_leads_to_http() -> None:
    request = Request("https://example.org/a")
    with pytest.raises(DownloadFailed, match="no safe address"):
        _Redirects().redirect_request(request, None, 302, "Found", {}, "http://example.org/a")
    followed = _Redirects().redirect_request(request, None, 302, "Found", {}, "https://example.net/b")
    assert followed is not None
    assert followed.full_url == "https://example.net/b"


def test_a_circle_of_redirects_ends(fetch: Callable[..., bytes], server: FileServer) -> None:
    server.tricks[PATH] = [status(302, Location=PATH)] * 40
    with pytest.raises(DownloadFailed, match="302"):
        fetch()
    assert len(server.requests) < 15


def test_a_busy_server_is_asked_again_after_the_time_it_names(
    fetch: Callable[..., bytes], server: FileServer, pauses: list[float]
) -> None:
    server.tricks[PATH] = [status(503, Retry_After="7"), status(429)]
    assert fetch() == DATA
    assert pauses == [7.0, 1.0]


def test_a_server_that_asks_for_an_hour_is_not_waited_for(
    fetch: Callable[..., bytes], server: FileServer, pauses: list[float]
) -> None:
    server.tricks[PATH] = [status(503, Retry_After="3600")]
    with pytest.raises(DownloadFailed, match="asks to wait 3,600 seconds; try again then"):
        fetch()
    assert pauses == []


def test_a_time_to_wait_may_be_a_date() -> None:
    assert _retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert _retry_after("soon") is None
    assert (_retry_after(time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3600))) or 0) > 3000


@pytest.mark.parametrize(("code", "words"), [(404, "404 Not Found; it may have moved"), (403, "403 Forbidden")])
def test_other_refusals_end_at_once(code: int, words: str, fetch: Callable[..., bytes], server: FileServer) -> None:
    server.tricks[PATH] = [status(code)]
    with pytest.raises(DownloadFailed, match=words):
        fetch()
    assert len(server.requests) == 1


def test_a_file_of_another_length_is_refused_before_it_is_fetched(
    fetch: Callable[..., bytes], server: FileServer
) -> None:
    server.files[PATH] = DATA + b"!"
    with pytest.raises(DownloadFailed, match=r"has 1,048,577 bytes; the catalogue says 1,048,576"):
        fetch()


def test_a_body_that_goes_on_is_cut_at_the_bound(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path
) -> None:
    def endless(handler: Handler) -> bool:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        try:
            for _ in range(1000):
                handler.send(DATA)
        except OSError:
            handler.close_connection = True
        return True

    server.tricks[PATH] = [endless]
    with pytest.raises(DownloadFailed, match="goes on after 3,000,000 bytes"):
        fetch(sha=None, size=None, at_most=3_000_000)
    assert leftovers(tmp_path) == []
    assert server.sent[PATH] < 100 * len(DATA)


def test_a_server_that_is_away_is_named(downloader: Downloader, tmp_path: Path, pauses: list[float]) -> None:
    with FileServer() as gone:
        url = gone.url
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1 can't be reached: Connection refused"):
        downloader.fetch(f"{url}/x", tmp_path / "x", label="x", at_most=10)
    assert pauses == list(_download.PAUSES)


def test_who_has_no_network_is_told_at_once(
    downloader: Downloader, tmp_path: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nameless)
    words = r"no machine is called data\.example\.invalid; is there a network\? `--from DIR`"
    with pytest.raises(DownloadFailed, match=words):
        downloader.fetch("https://data.example.invalid/x", tmp_path / "x", label="x", at_most=10)
    assert pauses == []


def test_a_try_that_is_repeated_is_told(server: FileServer, tmp_path: Path) -> None:
    server.files[PATH] = DATA
    server.tricks[PATH] = [cut(300_000), status(503, Retry_After="3")]
    told = list[str]()
    downloader = Downloader(partial=tmp_path / "partial", sleep=lambda seconds: None, note=told.append)
    downloader.fetch(server.url + PATH, tmp_path / "x", label="data", at_most=10**7)
    assert told == [
        "data: the connection was cut after 300,000 of 1,048,576 bytes; trying again in 0.5 s",
        "data: the server answers 503 Service Unavailable; trying again in 3 s",
    ]


def test_a_full_disk_is_told_and_the_download_goes_on_later(
    fetch: Callable[..., bytes], server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, room = _download._write, [400_000]

    def until_full(file: object, chunk: bytes) -> None:
        room[0] -= len(chunk)
        if room[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file, chunk)  # type: ignore[arg-type]

    monkeypatch.setattr(_download, "_write", until_full)
    with pytest.raises(
        StoreAway, match=r"partial: no space left \(1\.0 MB are needed\); free some, or let BILLBOARDS_CACHE"
    ):
        fetch()
    assert not (tmp_path / "place").exists()
    (part,) = (tmp_path / "partial").glob("*.part")
    came = part.stat().st_size
    assert 0 < came <= 400_000
    monkeypatch.setattr(_download, "_write", real)
    server.requests.clear()
    assert fetch() == DATA
    assert server.requests[0][1]["Range"] == f"bytes={came}-"


def test_a_cache_that_can_not_be_written_is_told(tmp_path: Path, server: FileServer) -> None:
    (tmp_path / "partial").write_text("a file where a folder should be")
    downloader = Downloader(partial=tmp_path / "partial")
    with pytest.raises(StoreFailed, match=r"can't be written: .*; let BILLBOARDS_CACHE name a folder of yours"):
        downloader.fetch(f"{server.url}/x", tmp_path / "x", label="x", at_most=10)


def test_nothing_is_fetched_where_somebody_works_offline(
    fetch: Callable[..., bytes], server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_OFFLINE", "1")
    with pytest.raises(DownloadFailed, match="BILLBOARDS_OFFLINE is set"):
        fetch()
    assert server.requests == []


def test_the_proxy_of_the_environment_is_asked(
    server: FileServer, downloader: Downloader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    address = "http://data.example.invalid/data.bin"
    server.files[address] = DATA
    downloader.fetch(address, tmp_path / "x", label="x", at_most=10**7, sha256=sha256(DATA))
    assert [path for path, _ in server.requests] == [address]


def command(entry: Path, out: Path) -> list[str]:
    return [sys.executable, "-m", "billboards", "get", "two", "--catalogue", str(entry), "-o", str(out), "--yes"]


@pytest.fixture
def table_entry(server: FileServer, entry_file: WriteEntry) -> Path:
    server.files["/ratings.csv"] = TABLE
    return entry_file(toml("two", url_source(f"{server.url}/ratings.csv", TABLE)))


@pytest.mark.long
def test_two_processes_at_once_fetch_a_file_once(server: FileServer, table_entry: Path, tmp_path: Path) -> None:
    release = threading.Event()
    server.tricks["/ratings.csv"] = [hang(20, release)]
    both = [
        subprocess.Popen(command(table_entry, tmp_path / name), stderr=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    wait_for(lambda: len(server.requests) == 1)
    time.sleep(1.0)
    release.set()
    texts = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], texts
    assert len(server.requests) == 1
    assert server.sent["/ratings.csv"] == len(TABLE)
    assert (tmp_path / "a" / "board.toml").read_bytes() == (tmp_path / "b" / "board.toml").read_bytes()


def test_a_process_that_was_killed_leaves_nothing_that_counts_as_whole(
    server: FileServer, table_entry: Path, tmp_path: Path, cache: Path
) -> None:
    release = threading.Event()
    server.tricks["/ratings.csv"] = [hang(50, release)]
    process = subprocess.Popen(command(table_entry, tmp_path / "out"), stderr=subprocess.PIPE)
    wait_for(lambda: [path.stat().st_size for path in cache.rglob("*.part")] == [50])
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    release.set()
    assert not (tmp_path / "out").exists()
    assert list(cache.rglob("ratings.csv")) == []
    assert main(command(table_entry, tmp_path / "out")[3:]) == 0
    assert server.requests[1][1]["Range"] == "bytes=50-"
    assert [path.read_bytes() for path in cache.rglob("ratings.csv")] == [TABLE]


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.parametrize(
    "target", ["http://[::1", "http://127.0.0.1:99999999/x", "https://\x1b[31mred", "//", "http://ex ample/"]
)
def test_a_redirect_to_no_address_is_refused_in_plain_words(
    target: str, fetch: Callable[..., bytes], server: FileServer, pauses: list[float]
) -> None:
    server.tricks[PATH] = [status(302, Location=target)] * 10
    with pytest.raises(DownloadFailed) as caught:
        fetch()
    assert str(caught.value).isprintable()


def test_words_of_a_server_do_not_steer_the_terminal(fetch: Callable[..., bytes], server: FileServer) -> None:
    def painted(handler: Handler) -> bool:
        handler.wfile.write(b"HTTP/1.1 403 \x1b[2J\x1b[31mgone\r\nContent-Length: 0\r\n\r\n")
        return True

    server.tricks[PATH] = [painted]
    with pytest.raises(DownloadFailed, match=r"403 \?\[2J\?\[31mgone"):
        fetch()


@pytest.mark.parametrize("length", ["9" * 5000, "-5", "١٢", "1e3", ""])
def test_an_odd_length_is_no_length(length: str, fetch: Callable[..., bytes], server: FileServer) -> None:
    def odd(handler: Handler) -> bool:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\nConnection: close\r\n\r\n" % length.encode())
        handler.send(DATA)
        handler.close_connection = True
        return True

    server.tricks[PATH] = [odd]
    assert fetch() == DATA


def test_this_machine_is_asked_without_the_proxy(fetch: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example.invalid:1")
    assert fetch() == DATA
