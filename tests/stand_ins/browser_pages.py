"""Pages in browsers of all kinds, none of which may complain on its console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

OpenPage = Callable[..., Page]


def is_complaint(said: ConsoleMessage) -> bool:
    """Whether a browser complains; it also remarks on a form shown again, and on a request that a test cut off."""
    meant = ("status of 422", "net::ERR_FAILED", "net::ERR_INTERNET_DISCONNECTED")
    return said.type in ("error", "warning") and not any(words in said.text for words in meant)


@contextmanager
def watched_pages(chromium: Browser, address: str, **usual: object) -> Iterator[OpenPage]:
    """Opens pages of a site, each in a browser of its own; at the end none of them may have complained."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def make(path: str = "/", **kind: object) -> Page:
        context = chromium.new_context(base_url=address, **{**usual, **kind})  # type: ignore[arg-type]
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if is_complaint(said) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []
