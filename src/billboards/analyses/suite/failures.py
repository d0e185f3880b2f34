"""Where a metric fails worst on a board: the outputs that it places furthest from where people place them.

Places are shares of the board's judged outputs that lie below, so that metrics on any scale can be read; ties count
half. Where people gave preferences, the worst failures are the pairs that a metric decides the wrong way by the widest
margin.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.dimension_agreement import people_say
from billboards.analyses.suite.report_results import FailedOutput
from billboards.board import Preferences

Floats = NDArray[np.float64]


def worst_failures(
    member: OpenBoard, scores: Floats, dimension: str, shown: int
) -> tuple[tuple[FailedOutput, ...], tuple[FailedOutput, ...]]:
    """Outputs that a metric (rows × instances) places too high, and too low, the worst first."""
    if member.given(dimension) == "preferences":
        return _wrong_pairs(member, scores, member.pairs(dimension), shown), ()
    human = people_say(member, dimension)
    used = np.isfinite(scores) & np.isfinite(human)
    row, instance = np.nonzero(used)
    by_metric, by_people = _places(scores[used]), _places(human[used])
    gap = by_metric - by_people
    order = np.argsort(gap, kind="stable")

    def failed(k: int) -> FailedOutput:
        return _failed(member, int(row[k]), int(instance[k]), float(by_metric[k]), float(by_people[k]))

    high = tuple(failed(int(k)) for k in order[::-1][:shown] if gap[k] > 0)
    return high, tuple(failed(int(k)) for k in order[:shown] if gap[k] < 0)


def _places(values: Floats) -> Floats:
    """The share of values below each, ties counting half."""
    from scipy.stats import rankdata

    places: Floats = (rankdata(values) - 0.5) / max(len(values), 1)
    return places


def _wrong_pairs(member: OpenBoard, scores: Floats, pairs: Preferences, shown: int) -> tuple[FailedOutput, ...]:
    """Pairs that a metric decides against people, widest margin first; each pair of texts once."""
    place = np.full(scores.shape, np.nan)
    scored = np.isfinite(scores)
    place[scored] = _places(scores[scored])
    margin = place[pairs.worse, pairs.instance] - place[pairs.better, pairs.instance]
    failures: dict[tuple[int, int, int], FailedOutput] = {}
    for k in np.argsort(-np.nan_to_num(margin), kind="stable"):
        if len(failures) == shown or not margin[k] > 0:
            break
        better, worse, instance = int(pairs.better[k]), int(pairs.worse[k]), int(pairs.instance[k])
        other = member.board.rows[worse].texts[instance] or ""
        at = float(place[better, instance])
        failed = _failed(member, better, instance, at, at + float(margin[k]), other)
        failures.setdefault((better, worse, instance), failed)
    return tuple(failures.values())


def _failed(
    member: OpenBoard, row: int, instance: int, metric_place: float, human_place: float, other: str = ""
) -> FailedOutput:
    board = member.board
    example, output = board.instances[instance], board.rows[row]
    return FailedOutput(
        instance=example.id,
        generator=output.name if output.generator is not None else "",
        metric_place=metric_place,
        human_place=human_place,
        output=output.texts[instance] or "",
        reference=example.references[0].text if example.references else "",
        input=example.input or "",
        other=other,
    )
