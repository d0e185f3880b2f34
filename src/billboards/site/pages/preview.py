"""A board as one picture, for link previews: who leads, by what, and which metric agrees best with people.

It is drawn as SVG from texts and bars alone and turned into PNG, which is what previews take. Whoever asks is shown
what a visitor sees, because a preview is shown to everybody.
"""

from __future__ import annotations

from html import escape

from fastapi import APIRouter

from billboards.analyses.rank import GeneratorStanding, Ranking, best_metric
from billboards.show.words import clipped, one_line, rank_texts, value_text
from billboards.site.accounts.access import VISITOR
from billboards.site.boards.masked import Look
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: What previews are shown in, in pixels.
WIDTH, HEIGHT = 1200, 630
#: Entries of each side, and letters of a name.
ROWS, LETTERS = 5, 24
#: A picture stands on other sites' pages, whose copies should be an hour old at most.
HEAD = (("cache-control", "public, max-age=3600"), ("cross-origin-resource-policy", "cross-origin"))
TEXT, FAINT, ACCENT, GROUND, SUNK, PEOPLE = "#16202b", "#5a6672", "#0b62b5", "#ffffff", "#e7edf4", "#b4530a"


def show_preview(ask: Ask) -> Body:
    """The picture of a board."""
    import vl_convert

    svg = preview_svg(ask.pages.look(ask.board_name, VISITOR))
    return Body(bytes(vl_convert.svg_to_png(svg)), "image/png", headers=HEAD)


def preview_svg(look: Look) -> str:
    """The picture before it is turned into PNG."""
    ranking = look.ranking
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
        f'<rect width="{WIDTH}" height="12" fill="{ACCENT}"/>',
        _text(60, 92, look.title, 46, bold=True, most=42),
        _text(60, 138, look.board.card.task or "Generators and the metrics that judge them", 25, FAINT, most=84),
    ]
    if ranking is None:
        parts.append(_text(60, 330, "Not ranked yet", 34, FAINT))
    else:
        parts += _generators(ranking) + _metrics(ranking)
    figures = f"{len(look.board.generators):,} generators · {len(look.board.instances):,} instances"
    parts.append(_text(60, 590, f"{figures} · {look.live.site.settings.title}", 23, FAINT, most=90))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"{''.join(parts)}</svg>"
    )


def _generators(ranking: Ranking) -> list[str]:
    """The first generators with their ranks."""
    ranked = [standing for standing in ranking.generators if standing.rank is not None]
    ranks = rank_texts([standing.rank for standing in ranked])
    lead = ranking.ranked_by or "nothing yet"
    parts = [_text(60, 208, f"Generators, by {lead}", 26, ACCENT, bold=True, most=38)]
    for k, (standing, rank) in enumerate(zip(ranked[:ROWS], ranks, strict=False)):
        y = 262 + 56 * k
        parts.append(_text(60, y, rank, 28, FAINT))
        parts.append(_text(124, y, standing.name, 30, PEOPLE if _is_human(standing) else TEXT, most=LETTERS))
    return parts


def _is_human(standing: GeneratorStanding) -> bool:
    return standing.kind == "human"


def _metrics(ranking: Ranking) -> list[str]:
    """The metrics that agree best with people, each with its correlation as a bar."""
    best = best_metric(ranking)
    parts = [_text(640, 208, "Metrics, by agreement with people", 26, ACCENT, bold=True)]
    if best is None:
        return [*parts, _text(640, 262, "none measured yet", 28, FAINT)]
    measured = [m for m in ranking.metrics if m.correlation is not None and m.rank is not None]
    widest = max((abs(m.correlation or 0.0) for m in measured), default=0.0) or 1.0
    for k, metric in enumerate(measured[:ROWS]):
        y, value = 262 + 56 * k, metric.correlation or 0.0
        parts.append(_text(640, y, metric.label, 28, most=18))
        parts.append(f'<rect x="930" y="{y - 22}" width="130" height="26" rx="4" fill="{SUNK}"/>')
        width = round(130 * max(value, 0.0) / widest, 1)
        parts.append(f'<rect x="930" y="{y - 22}" width="{width}" height="26" rx="4" fill="{ACCENT}"/>')
        parts.append(_text(1075, y, value_text(value, 3), 26))
    return parts


def _text(x: int, y: int, text: str, size: int, colour: str = TEXT, *, bold: bool = False, most: int = 60) -> str:
    weight = ' font-weight="700"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" font-family="Inter,Helvetica,Arial,DejaVu Sans,sans-serif" font-size="{size}"'
        f'{weight} fill="{colour}">{escape(clipped(one_line(text), most))}</text>'
    )


router.add_route("/boards/{board}/preview.png", reading(show_preview), include_in_schema=False)
