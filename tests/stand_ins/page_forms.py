"""The forms that stand on pages, as a browser would send them: where they go, and what is in their fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class Form:
    """A form that is posted, with what its fields hold before anybody touches them."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


class _Finder(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.page, self.forms, self._open, self._select = page, list[Form](), False, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said: dict[str, Any] = dict(attrs)
        if tag == "form" and (said.get("method") or "").lower() == "post":
            self.forms.append(Form(said.get("action") or self.page))
            self._open = True
        elif self._open and tag in ("input", "textarea", "select", "button") and said.get("name"):
            self.forms[-1].fields.setdefault(said["name"], said.get("value") or "")
            self._select = said["name"] if tag == "select" else ""
        elif self._select and tag == "option" and not self.forms[-1].fields[self._select]:
            self.forms[-1].fields[self._select] = said.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag != "form"


def forms_of(page: str, text: str) -> list[Form]:
    """Every form on a page that is posted."""
    finder = _Finder(page)
    finder.feed(text)
    return finder.forms
