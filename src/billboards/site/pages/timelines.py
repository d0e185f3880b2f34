"""Lines over past rankings, drawn as plain SVG that takes its colours from the page.

Each ranking is one step to the right, whatever time passed between: what matters is how a correlation moved as
generators and metrics came in. The numbers stand in the table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 150, 12, 28
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


@dataclass(frozen=True, slots=True)
class Timeline:
    """A small chart: its lines, its ticks at the left and at the bottom."""

    lines: tuple[Line, ...]
    levels: tuple[tuple[float, str], ...]
    steps: tuple[tuple[float, str], ...]
    width: int = WIDTH
    height: int = HEIGHT


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
    low, high = min(levels), max(levels)
    room = 0.5 if ranks else 0.05
    low, high = (low - room, high + room) if high - low < 0.01 else (low, high)
    steps = max(len(numbers) - 1, 1)

    def x(k: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * k / steps, 1)

    def y(value: float) -> float:
        down = value - low if ranks else high - value
        return round(TOP + (HEIGHT - TOP - BOTTOM) * down / (high - low), 1)

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
        _apart(drawn),
        tuple((y(tick), f"{tick:.0f}" if ranks else f"{tick:.2f}") for tick in ticks),
        tuple((x(k), str(number)) for k, number in enumerate(numbers) if k % every == 0),
    )


def _apart(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Lines with labels moved down as far as it takes not to touch; labels that fall off the chart are left out."""
    placed: list[Line] = []
    floor = float(-GAP)
    for line in sorted(lines, key=lambda line: line.y):
        floor = max(line.y, floor + GAP)
        placed.append(replace(line, label_y=round(floor, 1)))
    return tuple(sorted(placed, key=lambda line: line.first))
