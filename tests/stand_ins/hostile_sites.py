"""A site whose every text is hostile, with a campaign on it, and requests as nobody would send them by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st
from page_forms import Form, forms_of
from page_sites import PageSite, page_board, page_site

from billboards.board import Board, DataCard, Reference, row_of
from billboards.campaigns.plan import CampaignPlan
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.web.app import PAGES
from billboards.site.web.routers import ROUTERS

#: A word that a page holds as markup only where it forgot to escape.
MARK = "<xss>"
TEXTS = (
    f"{MARK}<script>alert(1)</script>",
    f'"{MARK}\' onmouseover="alert(1)',
    f"{{{{ 7*7 }}}}{{% raw %}}${{7*7}}{MARK}",
    f"\u202e{MARK}txt.exe\u2066\u2069\u200b\ufeff",
    f"a\u0301{'́' * 300}{MARK}",
    f"{'w' * 4000}{MARK}",
    f"=HYPERLINK(\"http://evil.example\"){MARK}",
    f"javascript:alert(1)//{MARK}\u2028\u2029\x85\x1b[31m",
)  # fmt: skip


def hostile_board() -> Board:
    """The pages' board with these texts in every place."""
    board = page_board(len(TEXTS))
    instances = tuple(
        replace(instance, references=tuple(Reference(one.name, f"{text} {one.text}") for one in instance.references),
                input=text, domain=text[:60].replace("\n", " ") or None)
        for instance, text in zip(board.instances, TEXTS, strict=True)
    )  # fmt: skip
    rows = [
        row_of(row.generator, instances, tuple(f"{t} {text}" for t, text in zip(row.texts, TEXTS, strict=True)))
        for row in board.rows
        if row.generator is not None
    ]
    words = {"title": TEXTS[0], "task": TEXTS[1], "source": TEXTS[2], "licence": TEXTS[3], "citation": TEXTS[7]}
    return replace(board, instances=instances, rows=tuple(rows), card=DataCard(**words))


@dataclass
class HostileSite:
    """A served site, one annotator's link, and every address without its places."""

    pages: PageSite
    link: str
    campaign: str
    submission: str
    routes: tuple[tuple[str, str], ...]

    def places(self) -> dict[str, str]:
        """Places that lead somewhere."""
        return {
            "board": "harbour",
            "token": self.link.rpartition("/")[2],
            "campaign": self.campaign,
            "submission": self.submission,
            "submission_id": self.submission,
            "generator": "late",
            "metric": "chrF",
            "instance": "i/1",
            "template": "esa",
            "file": "scores.csv",
            "number": "1",
            "ranking": "1",
        }

    def forms(self) -> list[Form]:
        """Every form on every page that an owner sees, one for each place that it goes to."""
        found: dict[str, Form] = {}
        for method, route in self.routes:
            if method == "GET" and not route.startswith(("/login", "/api/", "/static/")):
                path = self.path(route)
                answered = self.ask("GET", path, "owner", headers={"accept": "text/html"})
                found |= {form.action: form for form in forms_of(path, answered.text)}
        return list(found.values())

    def path(self, route: str, **odd: str) -> str:
        """An address with its places filled in."""
        places = {**self.places(), **odd}
        return re.sub(r"\{(\w+)(:path)?\}", lambda found: in_path(places.get(found[1], "1")), route)

    def ask(self, method: str, path: str, asker: str | None, **sent: Any) -> Any:
        headers = dict(sent.pop("headers", {}))
        if asker is not None:
            headers["authorization"] = f"Bearer {self.pages.tokens[asker]}"
        return self.pages.client.request(method, path, headers=headers, **sent)


def hostile_site(home: Path) -> HostileSite:
    """Scored and ranked, with an open campaign of a staged template with marks."""
    found = page_site(home, board=hostile_board())
    sent = found.submit("sent")
    found.work()
    plan = CampaignPlan(instances=4, positive=0, negative=0)
    made = create_campaign(found.site, found.owner, "harbour", "fuzzed", "esa", plan=plan)
    open_campaign(found.site, found.owner, made.id)
    (link,) = invite(found.site, found.owner, made.id, ["somebody"])
    return HostileSite(found, link.path, made.id, sent.id, tuple(_routes(found.client.app)))


def _routes(app: Any) -> list[tuple[str, str]]:
    api = [route for router in ROUTERS for route in router.routes]
    found = [
        (method, route.path)
        for route in [*app.routes, *(route for page in PAGES for route in page.router.routes), *api]
        for method in sorted(getattr(route, "methods", None) or ())
        if not route.path.endswith(("/events", "/generations"))
    ]
    return sorted(set(found))


def hostile_texts() -> st.SearchStrategy[str]:
    """Short texts of every kind of character, and those that broke something somewhere."""
    odd = st.sampled_from((*TEXTS, "", "\0", "\ud800", "..", "../../etc/passwd", "%", "%00", "-1", "9" * 30, "9" * 5000,
                           "1e999", "nan", "null", "[]", "{}", "[" * 3000, '{"a":' * 3000, "²", "\r\nset-cookie: a=b",
                           "true", "a" * 3000, "'; drop table boards; --", "//evil.example", "\\\\evil"))  # fmt: skip
    return st.one_of(odd, st.text(max_size=20))


def in_path(text: str) -> str:
    """A text as a place in an address; what is no text is sent as the bytes that it would be."""
    return quote(text.encode("utf-8", "surrogatepass"), safe="")[:6000]
