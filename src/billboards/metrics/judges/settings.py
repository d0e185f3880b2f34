"""What changes no score and is therefore no option: how fast a judge is asked, where answers lie, what tokens cost.

All of it comes from the environment, as keys do. A key is kept nowhere and goes only to the site that is named for it,
so that a board that names another endpoint doesn't get it: BILLBOARDS_JUDGE_KEY to that of BILLBOARDS_JUDGE_URL, else
OPENAI_API_KEY to that of OPENAI_BASE_URL (by default OpenAI's own), else AZURE_OPENAI_API_KEY to that of
AZURE_OPENAI_ENDPOINT.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import SplitResult, urlsplit

from billboards.errors import InvalidInput

URL, KEY, MODEL = "BILLBOARDS_JUDGE_URL", "BILLBOARDS_JUDGE_KEY", "BILLBOARDS_JUDGE_MODEL"
CACHE, PRICES = "BILLBOARDS_JUDGE_CACHE", "BILLBOARDS_JUDGE_PRICES"
BUDGET, TOKENS = "BILLBOARDS_JUDGE_BUDGET", "BILLBOARDS_JUDGE_TOKENS"
OPENAI_KEY, OPENAI_URL, OPENAI_SITE = "OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com"
AZURE_KEY, AZURE_URL = "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"
AZURE_VERSIONS = ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
PER_MINUTE, AT_ONCE, SECONDS = "BILLBOARDS_JUDGE_PER_MINUTE", "BILLBOARDS_JUDGE_AT_ONCE", "BILLBOARDS_JUDGE_SECONDS"


@dataclass(frozen=True)
class Settings:
    """How a judge is asked; `per_minute` bounds the requests of one process, None doesn't."""

    cache: Path
    per_minute: float | None = None
    at_once: int = 4
    seconds: float = 120.0

    @classmethod
    def from_environment(cls) -> Self:
        at_once = number(AT_ONCE, 4.0)
        if at_once != int(at_once):
            raise InvalidInput(f"{AT_ONCE}={at_once:g} must be a whole number of requests")
        limited = os.environ.get(PER_MINUTE)
        return cls(cache_file(), number(PER_MINUTE, 0.0) if limited else None, int(at_once), number(SECONDS, 120.0))


def number(variable: str, default: float) -> float:
    """A positive number from the environment."""
    written = os.environ.get(variable)
    if not written:
        return default
    try:
        value = float(written)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise InvalidInput(f"{variable}={written!r} must be a number above 0, such as {variable}=60")
    return value


def cache_file() -> Path:
    """The file that keeps every answer."""
    named = os.environ.get(CACHE)
    if named:
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "billboards" / "judge-answers.sqlite"


def checked_url(url: str) -> str:
    """An endpoint's address without what is added to it, and surely without a secret in it."""
    try:
        parts = urlsplit(url.strip())
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid or not url.strip().isprintable() or " " in url.strip():
        shown = url.rpartition("@")[2].partition("?")[0]
        raise InvalidInput(f"{shown!r} is no address of a judge; write it as in https://judge.example.org/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidInput(
            f"the judge's address at {parts.hostname} holds a user, a query or a fragment: addresses are shown and "
            f"kept, so give only the address, and the key in {KEY}"
        )
    return parts.geturl().rstrip("/").removesuffix("/chat/completions")


@dataclass(frozen=True)
class Credentials:
    """What goes to an endpoint beside the question: a key, its header, and a version of the interface."""

    key: str | None = None
    is_azure: bool = False
    version: str = ""

    @property
    def headers(self) -> dict[str, str]:
        if self.key is None:
            return {}
        return {"api-key": self.key} if self.is_azure else {"authorization": f"Bearer {self.key}"}

    @property
    def query(self) -> str:
        return f"?api-version={self.version}" if self.version else ""


def credentials_for(url: str) -> Credentials:
    """What the environment states for this address, and for no other."""
    is_azure = _is_named(url, os.environ.get(AZURE_URL))
    variable = next((name for name in AZURE_VERSIONS if os.environ.get(name, "").strip()), AZURE_VERSIONS[0])
    version = os.environ.get(variable, "").strip() if is_azure else ""
    if not all(sign.isalnum() or sign in ".-" for sign in version):
        raise InvalidInput(f"{variable}={version!r} must be a version, as in 2024-10-21")
    named = os.environ.get(URL)
    stated = (
        (KEY, bool(named) and _site(urlsplit(checked_url(named or ""))) == _site(urlsplit(url))),
        (OPENAI_KEY, _is_named(url, os.environ.get(OPENAI_URL) or OPENAI_SITE)),
        (AZURE_KEY, is_azure),
    )
    for variable, is_meant in stated:
        key = os.environ.get(variable, "").strip()
        if key and is_meant:
            if not (key.isascii() and key.isprintable()):
                raise InvalidInput(
                    f"{variable} holds characters that no header can carry (it is not shown here); set it anew"
                )
            return Credentials(key, is_azure, version)
    return Credentials(None, is_azure, version)


def _is_named(url: str, address: str | None) -> bool:
    """Whether an address lies at the site that another one names."""
    try:
        return bool(address) and _site(urlsplit(url)) == _site(urlsplit(checked_url(address or "")))
    except InvalidInput:
        return False


def _site(parts: SplitResult) -> tuple[str, str | None, int]:
    return parts.scheme, parts.hostname, parts.port or {"http": 80}.get(parts.scheme, 443)
