"""Lines over past rankings, drawn as plain SVG that takes its colours from the page.

Each ranking is one step to the right, whatever time passed between: what matters is how a correlation moved as
generators and metrics came in. The numbers stand in the table beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billboards.site.boards.snapshots import Place

WIDTH, HEIGHT = 640, 240
LEFT, TOP, BOTTOM = 44, 12, 28
#: Room for the labels at the right end: so much for a letter, within these bounds.
LETTER, LEAST, MOST = 7.2, 90, 300
#: Rankings that a chart goes back; before that lines are too dense to be read.
STEPS = 200
#: Labels at the right end, which must not touch.
GAP = 14


@dataclass(frozen=True, slots=True)
class Line:
    """One name's values as a path, with its label where the line ends."""

    name: str
    path: str
    first: bool
    x: float
    y: float
    label_y: float
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """A small chart: its lines, its ticks at the left and at the bottom."""

    lines: tuple[Line, ...]
    levels: tuple[tuple[float, str], ...]
    steps: tuple[tuple[float, str], ...]
    width: int = WIDTH
    height: int = HEIGHT
    right: int = LEAST


def first_step(latest: int | None) -> int:
    """The number of the first ranking that a chart shows, from that of the latest."""
    return max((latest or 0) - STEPS + 1, 1)


def timeline(
    values: Mapping[str, Sequence[float | None]],
    numbers: Sequence[int],
    *,
    first: str | None = None,
    ranks: bool = False,
) -> Timeline | None:
    """Values by name, one per step, as lines; None where there is nothing to draw. Of `ranks` the first is on top."""
    levels = [v for line in values.values() for v in line if v is not None]
    if not levels or not numbers:
        return None
    right = _room(values)
    width = WIDTH - 150 + right
    height = max(HEIGHT, TOP + BOTTOM + GAP * len(values))
    low, high = min(levels), max(levels)
    room = 0.5 if ranks else 0.05
    low, high = (low - room, high + room) if high - low < 0.01 else (low, high)
    steps = max(len(numbers) - 1, 1)

    def x(k: int) -> float:
        return round(LEFT + (width - LEFT - right) * k / steps, 1)

    def y(value: float) -> float:
        down = value - low if ranks else high - value
        return round(TOP + (height - TOP - BOTTOM) * down / (high - low), 1)

    drawn = []
    for name, line in values.items():
        points = tuple((x(k), y(v)) for k, v in enumerate(line) if v is not None)
        if points:
            path = "M" + "L".join(f"{a} {b}" for a, b in points)
            drawn.append(Line(name, path, name == first, *points[-1], points[-1][1], points))
    ticks = [low + (high - low) * k / 3 for k in range(4)]
    if ranks:
        ticks = [float(tick) for tick in sorted({round(tick) for tick in ticks}) if low <= tick <= high]
    every = max(1, len(numbers) // 8)
    return Timeline(
        lines=_apart(drawn, height - BOTTOM),
        levels=tuple((y(tick), f"{tick:.0f}" if ranks else f"{tick:.2f}") for tick in ticks),
        steps=tuple((x(k), str(number)) for k, number in enumerate(numbers) if k % every == 0),
        width=width,
        height=height,
        right=right,
    )


def _room(names: Iterable[str]) -> int:
    """How wide the labels are, so that none is cut off."""
    longest = max((len(name) for name in names), default=0)
    return round(min(max(LEAST, LETTER * longest + 16), MOST))


def _apart(lines: Sequence[Line], floor: float) -> tuple[Line, ...]:
    """Lines with labels moved as far as it takes not to touch: down first, and up again from the bottom."""
    ordered = sorted(lines, key=lambda line: line.y)
    places: list[float] = []
    for line in ordered:
        places.append(max(line.y, places[-1] + GAP if places else line.y))
    lowest = floor
    for k in range(len(places) - 1, -1, -1):
        places[k] = min(places[k], lowest)
        lowest = places[k] - GAP
    placed = [replace(line, label_y=round(y, 1)) for line, y in zip(ordered, places, strict=True)]
    return tuple(sorted(placed, key=lambda line: line.first))


#: Lines that a bump chart draws, the height of each, and the width of what lies between the labels.
MOST_BUMPS, ROW, BETWEEN = 50, 18, 520


@dataclass(frozen=True, kw_only=True)
class Bump:
    """One generator's places as a path, with a label where it begins and where it ends."""

    name: str
    path: str
    start: tuple[float, float]
    end: tuple[float, float]
    begins: str
    ends: str
    chosen: bool


@dataclass(frozen=True, kw_only=True)
class Bumps:
    """Places over time: a line each, and the rankings below."""

    lines: tuple[Bump, ...]
    steps: tuple[tuple[float, str], ...]
    width: int
    height: int
    #: Generators that are not drawn, because they stand below those that are.
    rest: int


def bump_chart(places: Sequence[Place], chosen: str) -> Bumps | None:
    """The first fifty of the latest ranking, through all rankings; None where there are not two to join.

    Each has a row of its own in every ranking, so that no two lines lie on one another; ties keep the order of names.
    """
    numbers = sorted({place.number for place in places})
    last = {place.name: place.rank for place in places if place.number == numbers[-1] and place.rank is not None}
    if len(numbers) < 2 or not last:
        return None
    names = sorted(last, key=lambda name: (last[name] or 0, name))
    drawn = names[:MOST_BUMPS]
    if chosen in last and chosen not in drawn:
        drawn[-1] = chosen
    ranks = {(place.name, place.number): place.rank for place in places if place.rank is not None}
    left = right = _room(f"{name} 000" for name in drawn)
    rows = {
        (name, number): row
        for number in numbers
        for row, name in enumerate(
            sorted((n for n in drawn if (n, number) in ranks), key=lambda n: (ranks[n, number], n))
        )
    }

    def at(name: str, number: int) -> tuple[float, float]:
        step = numbers.index(number) / (len(numbers) - 1)
        return round(left + BETWEEN * step, 1), TOP + ROW * (rows[name, number] + 0.5)

    lines = []
    for name in drawn:
        own = [number for number in numbers if (name, number) in rows]
        points = [at(name, number) for number in own]
        lines.append(
            Bump(
                name=name,
                path="M" + "L".join(f"{x:g} {y:g}" for x, y in points),
                start=points[0],
                end=points[-1],
                begins=f"{name} {ranks[name, own[0]]}" if own[0] == numbers[0] else "",
                ends=f"{ranks[name, own[-1]]} {name}",
                chosen=name == chosen,
            )
        )
    every = max(1, len(numbers) // 10)
    height = TOP + ROW * len(drawn) + BOTTOM
    steps = tuple(
        (round(left + BETWEEN * k / (len(numbers) - 1), 1), str(n)) for k, n in enumerate(numbers) if k % every == 0
    )
    # What is chosen is drawn last, over the others.
    ordered = tuple(sorted(lines, key=lambda line: line.chosen))
    return Bumps(lines=ordered, steps=steps, width=left + BETWEEN + right, height=height, rest=len(names) - len(drawn))
