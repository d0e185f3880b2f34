"""One file from an address to a place on the disk: resumed, bounded, verified, and there only when it is whole.

This is urllib of the standard library with rules of its own. pooch was the candidate (BSD, used by scipy, small): it
checks hashes and moves finished files, but begins a cut-off download anew, retries without looking at the status or at
Retry-After, takes any size and follows redirects anywhere, and brings requests, packaging and platformdirs along. What
would be left of it here is a cache folder's name. httpx is an extra of this package; public boards come without extras.

- A partial file lies in `partial/` under a name made of the address, with the server's validator (ETag, Last-Modified)
  beside it. The next try asks for the rest with Range and If-Range; a server that ignores this sends all of it again.
  Without a validator a file is only resumed where its SHA-256 will tell whether the parts belong together.
- 408, 429, 5xx, a cut or silent connection are tried again, with pauses that double or that Retry-After names, within
  limits. Other refusals end at once.
- Proxies are those of the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). From https a redirect leads to https only,
  and never to another kind of address.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from billboards.catalogue._cache import digest_of, locked, settle, storing
from billboards.errors import DownloadFailed

OFFLINE = "BILLBOARDS_OFFLINE"
#: Seconds between tries that brought nothing; as many tries, and one more.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
#: The longest wait that a server may ask for.
LONGEST_WAIT = 60.0
#: Tries of one file in all, for servers that cut after every few bytes.
TRIES = 30
#: Seconds without a byte after which a connection counts as cut.
SILENCE = 30.0
#: Bytes that must come in each period of so many seconds.
SLOWEST, PERIOD = 1000, 60.0
_CHUNK = 1 << 16
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", re.ASCII)
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

Progress = Callable[[str, int, int | None], None]


def _silent(label: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def _unheard(text: str) -> None:
    """Notes that nobody reads."""


@dataclass(frozen=True, kw_only=True)
class Downloader:
    """Fetches files; what is partial stays in a folder until it is whole."""

    partial: Path
    progress: Progress = _silent
    note: Callable[[str], None] = _unheard
    sleep: Callable[[float], None] = time.sleep
    pauses: tuple[float, ...] = PAUSES

    def fetch(
        self, url: str, target: Path, *, label: str, at_most: int, size: int | None = None, sha256: str | None = None
    ) -> tuple[int, str]:
        """Fetch an address into a file, and return its size and SHA-256; a file that is right already stays."""
        key = hashlib.sha256(url.encode()).hexdigest()[:32]
        wanted = _Wanted(url=url, label=label, size=size, sha256=sha256, at_most=size if size is not None else at_most)

        def waiting() -> None:
            self.note(f"another process is fetching {label}; waiting for it")

        with storing(self.partial, needs=size), locked(self.partial / f"{key}.lock", waiting):
            kept = _kept(target, wanted)
            if kept is not None:
                return kept
            if os.environ.get(OFFLINE):
                raise DownloadFailed(f"{label} is not in the cache and {OFFLINE} is set; unset it or give --from DIR")
            return _Transfer(downloader=self, wanted=wanted, part=self.partial / f"{key}.part").run(target)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    url: str
    label: str
    size: int | None
    sha256: str | None
    at_most: int

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or self.url


def _kept(target: Path, wanted: _Wanted) -> tuple[int, str] | None:
    """Size and digest of a file that is there already and, as far as that is known, right."""
    if not target.is_file():
        return None
    size, sha256 = digest_of(target)
    if wanted.size not in (None, size) or wanted.sha256 not in (None, sha256):
        target.unlink()
        return None
    return size, sha256


class _CutOff(Exception):
    """A try that ended early and may be repeated; says after how many seconds where the server did."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(kw_only=True)
class _Transfer:
    """The tries of one file."""

    downloader: Downloader
    wanted: _Wanted
    part: Path
    #: Whether bytes of an earlier try are in the file.
    resumed: bool = False

    def run(self, target: Path) -> tuple[int, str]:
        fruitless = 0
        for _ in range(TRIES):
            before = self._length()
            try:
                self._receive()
            except _CutOff as cut:
                fruitless = 0 if self._length() > before else fruitless + 1
                if fruitless > len(self.downloader.pauses):
                    raise self._failed(f"{cut} ({fruitless} times); try again later: what came is kept") from cut
                pause = self.downloader.pauses[max(fruitless, 1) - 1] if cut.wait is None else cut.wait
                self.downloader.note(f"{self.wanted.label}: {_printable(str(cut))}; trying again in {pause:g} s")
                self.downloader.sleep(pause)
                continue
            answer = self._placed(target)
            if answer is not None:
                return answer
        raise self._failed(f"the connection was cut {TRIES} times; try again later: what came is kept")

    def _length(self) -> int:
        return self.part.stat().st_size if self.part.is_file() else 0

    def _failed(self, reason: str) -> DownloadFailed:
        return DownloadFailed(f"{self.wanted.url}: {_printable(reason)}")

    def _receive(self) -> None:
        """One request; returns when the server has sent the whole file."""
        have, headers = self._resumable()
        response = None if have and have == self.wanted.size else self._open(headers, have)
        if response is None:
            # All of it came before; the digest will tell.
            self.resumed = True
            return
        with response:
            start, total = self._begin(response, have)
            self.resumed = start > 0
            self._check_length(total)
            if start == 0:
                self._remember(response)
            with self.part.open("r+b" if self.part.exists() else "xb", buffering=0) as file:
                file.truncate(start)
                file.seek(start)
                length = self._copy(response, file, start, total)
        if total is not None and length < total:
            raise _CutOff(f"the connection was cut after {length:,} of {total:,} bytes")

    def _resumable(self) -> tuple[int, dict[str, str]]:
        """How much of the file there is, and the headers that ask for the rest; nothing where parts may not fit."""
        have, about = self._length(), self._remembered()
        validator = about.get("validator")
        if not have or about.get("url") != self.wanted.url or (not validator and self.wanted.sha256 is None):
            return 0, {}
        headers = {"Range": f"bytes={have}-"}
        return have, {**headers, "If-Range": str(validator)} if validator else headers

    def _open(self, headers: Mapping[str, str], have: int) -> HTTPResponse | None:
        """The server's answer, or None where it says that there is no more than what we have."""
        own = {"User-Agent": "billboards", "Accept-Encoding": "identity"}
        request = Request(self.wanted.url, headers={**own, **headers})
        try:
            response = _opener(self.wanted.host).open(request, timeout=SILENCE)
        except HTTPError as error:
            with error:
                if error.code == 416 and have and error.headers.get("Content-Range") == f"bytes */{have}":
                    return None
                if error.code == 416:
                    self._forget()
                    raise _CutOff("the server has no such part of the file") from error
                raise self._refusal(error) from error
        except ssl.SSLError as error:
            raise self._failed(f"no safe connection: {error}") from error
        except URLError as error:
            if isinstance(error.reason, ssl.SSLError):
                raise self._failed(f"no safe connection: {error.reason}; is a proxy's certificate missing?") from error
            if isinstance(error.reason, socket.gaierror) and error.reason.errno == socket.EAI_NONAME:
                hint = "is there a network? `--from DIR` takes files from clones and archives instead"
                raise self._failed(f"no machine is called {self.wanted.host}; {hint}") from error
            raise _CutOff(f"{self.wanted.host} can't be reached: {_reason(error.reason)}") from error
        except (HTTPException, OSError) as error:
            raise _CutOff(f"{self.wanted.host} can't be reached: {_reason(error)}") from error
        except ValueError as error:
            raise self._failed(f"leads to an address that is none: {error}") from error
        if not isinstance(response, HTTPResponse):
            raise self._failed("is no answer over HTTP")
        return response

    def _refusal(self, error: HTTPError) -> Exception:
        if error.code not in _AGAIN:
            hint = {404: "; it may have moved", 410: "; it is gone", 407: "; the proxy wants a password"}
            return self._failed(f"the server answers {error.code} {error.reason}{hint.get(error.code, '')}")
        wait = _retry_after(error.headers.get("Retry-After"))
        if wait is not None and wait > LONGEST_WAIT:
            return self._failed(f"the server answers {error.code} and asks to wait {wait:,.0f} seconds; try again then")
        return _CutOff(f"the server answers {error.code} {error.reason}", wait)

    def _begin(self, response: HTTPResponse, have: int) -> tuple[int, int | None]:
        """Where the body belongs in the file, and how long the whole is."""
        if response.status == 206:
            match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
            if match is None or int(match[1]) != have:
                self._forget()
                raise _CutOff("the server sends another part than it was asked for")
            return have, int(match[2]) + 1 if match[3] == "*" else int(match[3])
        if response.status != 200:
            raise self._failed(f"the server answers {response.status} {response.reason}")
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if _LENGTH.fullmatch(length) else None

    def _check_length(self, total: int | None) -> None:
        expected = self.wanted.size
        if total is not None and expected is not None and total != expected:
            self._forget()
            raise self._failed(f"has {total:,} bytes; the catalogue says {expected:,}. Nothing was kept")
        if total is not None and total > self.wanted.at_most:
            self._forget()
            raise self._failed(f"has {total:,} bytes, more than the {self.wanted.at_most:,} that are taken")

    def _copy(self, response: HTTPResponse, file: IO[bytes], length: int, total: int | None) -> int:
        begun, came = time.monotonic(), 0
        while True:
            try:
                chunk = response.read1(_CHUNK)
            except (HTTPException, OSError) as error:
                raise _CutOff(f"the connection was cut after {length:,} bytes: {_reason(error)}") from error
            if not chunk:
                return length
            length, came = length + len(chunk), came + len(chunk)
            if length > self.wanted.at_most:
                self._forget()
                raise self._failed(f"goes on after {self.wanted.at_most:,} bytes, which is all there should be")
            _write(file, chunk)
            self.downloader.progress(self.wanted.label, length, total or self.wanted.size)
            if time.monotonic() - begun > PERIOD:
                if came < SLOWEST:
                    raise _CutOff(f"only {came:,} bytes came within {PERIOD:.0f} seconds")
                begun, came = time.monotonic(), 0

    def _placed(self, target: Path) -> tuple[int, str] | None:
        """Verify what came and move it to its place; None where parts of two versions were joined, to begin anew."""
        size, sha256 = digest_of(self.part)
        wrong = self.wanted.sha256 not in (None, sha256) or self.wanted.size not in (None, size)
        if wrong:
            self._forget()
            if self.resumed:
                self.resumed = False
                self.downloader.note(f"{self.wanted.label}: the parts did not fit together; it is fetched anew")
                return None
            raise self._failed(
                f"is not the file that the catalogue names: {size:,} bytes with sha256 {sha256}, not "
                f"{self.wanted.sha256}. Nothing was kept; somebody changed the file, here or there"
            )
        with self.part.open("r+b") as file:
            settle(file, self.part, target)
        self._about.unlink(missing_ok=True)
        return size, sha256

    @property
    def _about(self) -> Path:
        return self.part.with_suffix(".json")

    def _remember(self, response: HTTPResponse) -> None:
        """Keep what tells whether the rest will belong to this beginning; weak tags don't."""
        tag = response.headers.get("ETag", "")
        validator = tag if tag.startswith('"') else response.headers.get("Last-Modified")
        self.part.unlink(missing_ok=True)
        fresh = self._about.with_suffix(".new")
        fresh.write_text(json.dumps({"url": self.wanted.url, "validator": validator}), "utf-8")
        fresh.replace(self._about)

    def _remembered(self) -> dict[str, Any]:
        try:
            about = json.loads(self._about.read_text("utf-8"))
        except (FileNotFoundError, ValueError, RecursionError):
            return {}
        return about if isinstance(about, dict) else {}

    def _forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self._about.unlink(missing_ok=True)


def _write(file: IO[bytes], chunk: bytes) -> None:
    """Write all of a chunk: a raw file may take less of it."""
    rest = memoryview(chunk)
    while rest:
        written = file.write(rest)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[written:]


def _reason(error: object) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _retry_after(text: str | None) -> float | None:
    """The seconds that a server asks to wait, from a number or a date."""
    if not text:
        return None
    if _LENGTH.fullmatch(text.strip()):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


class _Redirects(HTTPRedirectHandler):
    """Redirects within http and https, never from https to http."""

    max_redirections = 8

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in ("http", "https") or (old.scheme == "https" and new.scheme != "https"):
            raise _astray(req, newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        target = headers.get("location") or headers.get("uri") or ""
        try:
            # The standard handler refuses other kinds of addresses as an HTTP error; that would hide where they lead.
            if urlsplit(target).scheme not in ("", "http", "https"):
                raise _astray(req, target)
            return super().http_error_302(req, fp, code, msg, headers)
        except (ValueError, DownloadFailed):
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _astray(request: Request, target: str) -> DownloadFailed:
    where = f"{request.full_url}: leads to {target}"
    return DownloadFailed(f"{_printable(where)}, which is no safe address; nothing was fetched")


def _printable(text: str) -> str:
    """Words of a server without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _opener(host: str) -> OpenerDirector:
    """What opens addresses: http and https, proxies of the environment but for this machine, and nothing else."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler({} if host in _LOOPBACK else None),
        UnknownHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        _Redirects(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener
