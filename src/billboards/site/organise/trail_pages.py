"""The audit trail as a page: who did what and when on a board or the whole site, with values before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter

from billboards.errors import InvalidInput
from billboards.reading import whole_number
from billboards.show.words import clipped
from billboards.site.accounts.access import require
from billboards.site.database import trail
from billboards.site.database.trail import Entry
from billboards.site.organise.pages import organise_page
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Entries on a page, and characters of a value that are shown.
PAGE, READ = 50, 160


def entry_lines(entry: Entry) -> list[tuple[str, str | None, str]]:
    """What an entry says in detail: each value with its name, and with what it was before where that is known."""
    changes = entry.detail.get("changes")
    if isinstance(changes, Mapping):
        return [(key, _value(old), _value(new)) for key, (old, new) in changes.items()]
    return [(str(key), None, _value(value)) for key, value in entry.detail.items() if value not in (None, "", [], {})]


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clipped(text, READ) or "empty"


def _shown(ask: Ask, board: str | None) -> dict[str, Any]:
    """One page of the trail, and what its filter offers."""
    before, action = _before(ask.query.get("before")), ask.query.get("action") or None
    with ask.site.database.reading() as connection:
        entries = trail.entries(connection, board=board, action=action, before=before, limit=PAGE + 1)
        actions = trail.actions(connection, board=board)
    groups = {action.partition(".")[0] for action in actions}
    older = {"action": action, "before": entries[PAGE - 1].id} if len(entries) > PAGE else None
    return {
        "entries": [(entry, entry_lines(entry)) for entry in entries[:PAGE]],
        "actions": sorted({*actions, *groups}),
        "action": action,
        "older": None if older is None else quote(ask.path) + addresses.asked(older),
        "newest": before is None,
        "first": quote(ask.path) + addresses.asked({"action": action}),
    }


def _before(text: str | None) -> int | None:
    number = whole_number(text) if text and text.isascii() else None
    if text and number is None:
        raise InvalidInput(f"before must be a number of an entry; found {text[:40]!r}")
    return number


def show_board_trail(ask: Ask) -> Body:
    """What happened on a board, the latest first."""
    require(ask.viewer, "administer")
    look = ask.look()
    return organise_page(ask, "organise_audit", look, "audit", **_shown(ask, look.name))


def show_site_trail(ask: Ask) -> Body:
    """What happened on the whole site, the latest first."""
    require(ask.viewer, "administer")
    return ask.page("site_audit", **_shown(ask, None))


router.add_route("/boards/{board}/organise/audit", reading(show_board_trail, kept=False), include_in_schema=False)
router.add_route("/organise/audit", reading(show_site_trail, kept=False), include_in_schema=False)
