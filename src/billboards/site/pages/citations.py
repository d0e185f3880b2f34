"""How a board, a generator, a metric or a ranking is quoted elsewhere: BibTeX, a badge, and words for link previews.

Each is made from what its reader sees, and names the ranking it rests on, so that a quotation can be found again. Whole
addresses need the site's own (`base_url`): without one they begin at the site's root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from billboards.analyses.rank import Ranking
from billboards.show.latex import escape_latex
from billboards.show.words import one_line
from billboards.site.boards.masked import Look
from billboards.site.boards.snapshots import Snapshot
from billboards.site.pages import badges
from billboards.site.pages.board_view import standing_lines
from billboards.site.web import addresses


@dataclass(frozen=True, kw_only=True)
class Quote:
    """What a reader copies to quote something of a board."""

    bibtex: str
    badge: str
    words: str
    markdown: str


def whole_address(look: Look, path: str) -> str:
    """An address as it is written elsewhere."""
    return f"{look.live.site.settings.base_url.rstrip('/')}{path}"


def quote_generator(look: Look, name: str) -> Quote | None:
    """A generator's place on the board; None before the first ranking."""
    if look.ranking is None:
        return None
    words = badges.generator_words(look.ranking, name) if _has(look.ranking, name) else "not ranked"
    badge = addresses.board(look.name, "badges", "generators", f"{name}.svg")
    return _quote(look, name, words, badge, addresses.generator(look.name, name), look.live.snapshot)


def quote_metric(look: Look, name: str) -> Quote | None:
    """A metric's place on the board; None before the first ranking."""
    if look.ranking is None:
        return None
    words = badges.own_metric_words(look.ranking, name)
    badge = addresses.board(look.name, "badges", "metrics", f"{name}.svg")
    return _quote(look, name, words, badge, addresses.metric(look.name, name), look.live.snapshot)


def quote_ranking(look: Look, ranking: Ranking, snapshot: Snapshot) -> Quote:
    """A ranking under the address that never changes."""
    badge = addresses.board(look.name, "badges", "rankings", f"{snapshot.id}.svg")
    address = addresses.board(look.name, "rankings", snapshot.id)
    return _quote(look, "", badges.ranking_words(ranking, snapshot.number), badge, address, snapshot)


def _has(ranking: Ranking, name: str) -> bool:
    return any(standing.name == name for standing in ranking.generators)


def _quote(look: Look, name: str, words: str, badge: str, address: str, snapshot: Snapshot | None) -> Quote:
    what = f"{name} on {look.title}" if name else look.title
    sentence = one_line(f"{name or look.name}: {words}")
    markdown = f"[![{sentence}]({whole_address(look, badge)})]({whole_address(look, address)})"
    text = bibtex(
        "-".join(filter(None, ("billboards", look.name, name, "" if snapshot is None else snapshot.id[:8]))),
        title=what,
        address=whole_address(look, address),
        created=None if snapshot is None else snapshot.created,
        note=words if snapshot is None else f"Ranking {snapshot.number} ({snapshot.id}): {words}",
    )
    return Quote(bibtex=text, badge=badge, words=sentence, markdown=markdown)


def bibtex(key: str, *, title: str, address: str, created: float | None, note: str) -> str:
    """An entry for a bibliography."""
    made = None if created is None else datetime.fromtimestamp(created, UTC)
    fields = {"title": f"{{{escape_latex(one_line(title))}}}", "howpublished": f"\\url{{{address}}}"}
    if made is not None:
        fields |= {"year": f"{made:%Y}", "month": f"{made:%b}".lower()}
    fields["note"] = escape_latex(one_line(note))
    lines = "".join(f"  {name} = {value if name == 'month' else f'{{{value}}}'},\n" for name, value in fields.items())
    return f"@misc{{{re.sub(r'[^A-Za-z0-9:_-]+', '-', key).strip('-')},\n{lines}}}"


def preview_words(look: Look) -> str:
    """A board in one or two sentences, for a link to it."""
    task = (look.board.card.task or "").strip()
    if look.ranking is None:
        return task or "A board of text generators and the metrics that judge them."
    sentences = [f"{what}: {who} ({figures})" for what, who, figures in standing_lines(look.ranking, look.board)[:3]]
    return ". ".join(filter(None, (task.rstrip("."), *sentences))) + "."
