"""Badges: a board's word on one generator or on its best metric, as a small picture for a README.

A badge is drawn from text alone, with widths that any common font fits into, and says in its title what it shows.
"""

from __future__ import annotations

from html import escape

from billboards.analyses.rank import Ranking, best_metric
from billboards.errors import UnknownName
from billboards.show.words import listed, one_line, rank_texts, value_text

#: Pixels that a letter of the badge's font takes; text is stretched to fit exactly.
LETTER = 6.6
_WIDE = 11.0


def generator_words(ranking: Ranking, name: str) -> str:
    """What a generator's badge says."""
    ranks = rank_texts([standing.rank for standing in ranking.generators])
    for standing, rank in zip(ranking.generators, ranks, strict=True):
        if standing.name == name:
            ranked = sum(generator.rank is not None for generator in ranking.generators)
            return "not ranked" if standing.rank is None else f"#{rank} of {ranked}"
    raise UnknownName("generator", name, (standing.name for standing in ranking.generators))


def metric_words(ranking: Ranking) -> str:
    """What the badge of the leading metric says."""
    ensemble, best = ranking.ensemble, best_metric(ranking)
    if ranking.ranked_by == "ensemble" and ensemble is not None:
        return f"ensemble {value_text(ensemble.correlation, 3)}"
    return "none yet" if best is None else f"{one_line(best.label)} {value_text(best.correlation, 3)}"


def own_metric_words(ranking: Ranking, name: str) -> str:
    """What the badge of one metric says."""
    ranks = rank_texts([metric.rank for metric in ranking.metrics])
    for metric, rank in zip(ranking.metrics, ranks, strict=True):
        if metric.name == name:
            ranked = sum(other.rank is not None for other in ranking.metrics)
            if metric.rank is None:
                return "not ranked"
            return f"#{rank} of {ranked}, {value_text(metric.correlation, 3)}"
    raise UnknownName("metric", name, (metric.name for metric in ranking.metrics))


def ranking_words(ranking: Ranking, number: int) -> str:
    """What the badge of a ranking says: its number, and who leads."""
    first = [standing.name for standing in ranking.generators if standing.rank == 1]
    return f"ranking {number}" + (f", {one_line(listed(first[:2]))} first" if len(first) in (1, 2) else "")


def badge(left: str, right: str) -> str:
    """Two words side by side as SVG."""
    left, right = one_line(left), one_line(right)
    a, b = _width(left), _width(right)
    words = escape(f"{left}: {right}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{a + b}" height="20" role="img" aria-label="{words}">'
        f"<title>{words}</title>"
        f'<clipPath id="r"><rect width="{a + b}" height="20" rx="4"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{a}" height="20" fill="#3b434c"/>'
        f'<rect x="{a}" width="{b}" height="20" fill="#0b62b5"/></g>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="7" y="14" textLength="{a - 14}" lengthAdjust="spacingAndGlyphs">{escape(left)}</text>'
        f'<text x="{a + 7}" y="14" textLength="{b - 14}" lengthAdjust="spacingAndGlyphs">{escape(right)}</text>'
        "</g></svg>"
    )


def _width(text: str) -> int:
    return round(14 + sum(_WIDE if ord(letter) > 0x2E80 else LETTER for letter in text))
