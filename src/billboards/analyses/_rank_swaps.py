"""Generators' places under two metrics, or people and a metric, as a chart: who rises and falls when the other ranks.

Ties share a rank but not a line, so that no two labels meet; the generators that move most stand out. Of many
generators the first few are drawn, with their ranks among all of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from billboards.analyses._people import PEOPLE
from billboards.analyses.rank import MOST_SWAPS, GeneratorStanding, Ranking
from billboards.errors import NotEnoughData, UnknownName
from billboards.show.table import HUMAN
from billboards.show.words import one_line, rank_texts

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme


def rank_swaps(ranking: Ranking, left: str, right: str, *, theme: Theme = "light") -> alt.LayerChart:
    """Generators' places under two metrics, joined by lines; those that move most are in the accent colour."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, role_colour, themed

    every = _swaps(ranking, left, right)
    swaps = _with_roles(_first(every))
    colours = PALETTES[theme]
    x = alt.X("side:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[0, len(swaps) + 0.5], reverse=True))
    roles = role_colour({"people": colours.people, "moved": colours.accent, "other": colours.plain})
    dashed = alt.Scale(domain=["people", "moved", "other"], range=[[5, 3], [1, 0], [1, 0]])
    dash = alt.StrokeDash("role:N", scale=dashed, legend=None)
    ends = alt.Chart(alt.InlineData(values=[_end(swap, k, side) for k, swap in enumerate(swaps) for side in (0, 1)]))
    lines = ends.mark_line(strokeWidth=1.8).encode(x, y, roles, dash, detail="key:N", order="side:Q")
    tooltip = [
        alt.Tooltip("generator:N"),
        alt.Tooltip("left:N", title=f"rank by {one_line(left)}"),
        alt.Tooltip("right:N", title=f"rank by {one_line(right)}"),
    ]
    dots = ends.mark_point(filled=True, size=36, opacity=1).encode(x, y, roles, tooltip=tooltip)
    words = {"color": colours.text, "limit": 180}
    text = alt.Text("label:N")
    at_left = ends.transform_filter("datum.side == 0").mark_text(align="right", dx=-8, **words).encode(x, y, text)
    at_right = ends.transform_filter("datum.side == 1").mark_text(align="left", dx=8, **words).encode(x, y, text)
    metrics = [{"side": side, "place": 0, "label": one_line(name)} for side, name in enumerate((left, right))]
    heads = alt.Chart(alt.InlineData(values=metrics)).mark_text(fontWeight="bold", **words).encode(x, y, text)
    chart = (lines + dots + at_left + at_right + heads).properties(width=120, height=ROW * (len(swaps) + 1))
    moves = "; ".join(f"{swap.name} {swap.left.rank} to {swap.right.rank}" for swap in swaps)
    return themed(chart, theme, _swap_title(swaps, left, right), _swap_subtitle(ranking, every, swaps, left), moves)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a generator stands under one metric: its line from the top, its rank, and the rank in words."""

    line: int
    rank: int
    text: str


@dataclass(frozen=True, slots=True)
class _Swap:
    """A generator under two metrics."""

    name: str
    people: bool
    left: _Place
    right: _Place
    role: str = "other"

    @property
    def moved(self) -> int:
        return self.right.rank - self.left.rank


def _swaps(ranking: Ranking, left: str, right: str) -> list[_Swap]:
    """Each generator that both metrics scored, or people and a metric."""
    metrics = {PEOPLE, *(name for standing in ranking.generators for name in standing.scores)}
    for name in (left, right):
        if name not in metrics:
            raise UnknownName("metric", name, metrics)
    real = [g for g in ranking.generators if g.kind != "optimised"]
    pairs = [(g, _score(ranking, g, left), _score(ranking, g, right)) for g in real]
    both = [(g, a, b) for g, a, b in pairs if a is not None and b is not None]
    if len(both) < 2:
        raise NotEnoughData(
            f"{ranking.board}: {left} and {right} have {len(both)} generators in common; swaps need two or more"
        )
    lefts, rights = _places([a for _, a, _ in both]), _places([b for _, _, b in both])
    return [
        _Swap(one_line(g.name), g.kind == "human", a, b) for (g, _, _), a, b in zip(both, lefts, rights, strict=True)
    ]


def _score(ranking: Ranking, generator: GeneratorStanding, name: str) -> float | None:
    """What a metric or people give a generator; more is better."""
    return generator.human if name == PEOPLE else ranking.oriented(name, generator.scores.get(name))


def can_swap(ranking: Ranking, left: str, right: str) -> bool:
    """Whether two different sides both put at least two generators in order."""
    scored = [g for g in ranking.generators if g.kind != "optimised"]
    both = [g for g in scored if None not in (_score(ranking, g, left), _score(ranking, g, right))]
    return left != right and len(both) > 1


def swap_title(ranking: Ranking, left: str, right: str) -> str:
    """What the chart of two metrics, or of people and a metric, shows."""
    return _swap_title(_first(_swaps(ranking, left, right)), left, right)


def _first(swaps: list[_Swap]) -> list[_Swap]:
    """Those that the left metric puts first, on the first lines of both sides; ranks stay those among all."""
    if len(swaps) <= MOST_SWAPS:
        return swaps
    chosen = sorted(swaps, key=lambda swap: swap.left.line)[:MOST_SWAPS]
    line = {right: k + 1 for k, right in enumerate(sorted(swap.right.line for swap in chosen))}
    return [replace(swap, right=replace(swap.right, line=line[swap.right.line])) for swap in chosen]


def _with_roles(swaps: list[_Swap]) -> list[_Swap]:
    """Generators with the part that each plays in the picture."""
    moves = sorted((abs(swap.moved) for swap in swaps), reverse=True)
    enough = max(2, moves[min(2, len(moves) - 1)])
    return [replace(swap, role=_swap_role(swap, enough)) for swap in swaps]


def _swap_role(swap: _Swap, enough: int) -> str:
    return "people" if swap.people else "moved" if abs(swap.moved) >= enough else "other"


def _places(scores: Sequence[float]) -> list[_Place]:
    """Ranks with ties, and a line of its own for each so that no two labels meet."""
    order = sorted(range(len(scores)), key=lambda k: -scores[k])
    line = {k: place + 1 for place, k in enumerate(order)}
    ascending = sorted(scores)
    ranks = [1 + len(scores) - bisect_right(ascending, score) for score in scores]
    return [_Place(line[k], ranks[k], text) for k, text in enumerate(rank_texts(ranks))]


def _end(swap: _Swap, key: int, side: int) -> dict[str, Any]:
    place = swap.right if side else swap.left
    name = f"{swap.name} {HUMAN}" if swap.people else swap.name
    label = f"{place.text}  {name}" if side else f"{name}  {place.text}"
    ranks = {"left": swap.left.text, "right": swap.right.text}
    point = {"side": side, "place": place.line, "label": label, "role": swap.role, "key": key}
    return point | {"generator": swap.name} | ranks


def _swap_title(swaps: Sequence[_Swap], left: str, right: str) -> str:
    most = max(swaps, key=lambda swap: abs(swap.moved))
    left, right = one_line(left), one_line(right)
    if most.moved == 0:
        return f"{left} and {right} rank the generators alike"
    verb = "falls" if most.moved > 0 else "rises"
    return f"{most.name} {verb} from {most.left.rank} to {most.right.rank} when {right} ranks instead of {left}"


def _swap_subtitle(ranking: Ranking, every: Sequence[_Swap], swaps: Sequence[_Swap], left: str) -> str:
    left_out = sum(g.kind != "optimised" for g in ranking.generators) - len(every)
    first = f" The first {len(swaps)} of {len(every):,} under {one_line(left)}." if len(swaps) < len(every) else ""
    people = f" Dashed and {HUMAN}: written by people." if any(swap.people for swap in swaps) else ""
    absent = f" {left_out} without a score under both left out." if left_out else ""
    return f"Blue lines move most.{first}{people}{absent}"
