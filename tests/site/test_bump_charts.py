"""Places over time: a line for each generator, labelled where it begins and ends, none on top of another."""

from __future__ import annotations

from itertools import pairwise

from billboards.site.boards.snapshots import Place
from billboards.site.pages.changes import Move
from billboards.site.pages.timelines import ROW, bump_chart, timeline


def places(ranks: dict[str, list[int | None]]) -> list[Place]:
    return [
        Place(number=k + 1, name=name, rank=rank, value=None)
        for name, line in ranks.items()
        for k, rank in enumerate(line)
    ]


def test_fifty_lines_have_rows_of_their_own_in_every_ranking_and_the_rest_is_counted() -> None:
    chart = bump_chart(places({f"g{k:02}": [k + 1, 60 - k] for k in range(60)}), "")
    assert chart is not None
    assert (len(chart.lines), chart.rest) == (50, 10)
    ends = sorted(line.end[1] for line in chart.lines)
    assert all(b - a == ROW for a, b in pairwise(ends))
    assert ends[-1] < chart.height


def test_ties_are_drawn_apart_and_keep_their_shared_rank() -> None:
    chart = bump_chart(places({"a": [1, 1], "b": [2, 1]}), "")
    assert chart is not None
    assert [line.ends for line in chart.lines] == ["1 a", "1 b"]
    assert chart.lines[0].end[1] != chart.lines[1].end[1]


def test_a_newcomer_has_no_label_at_the_left_and_who_is_chosen_is_drawn_last() -> None:
    chart = bump_chart(places({"a": [1, 2], "new": [None, 1]}), "a")
    assert chart is not None
    assert [(line.name, line.begins, line.chosen) for line in chart.lines] == [("new", "", False), ("a", "a 1", True)]


def test_one_ranking_is_no_chart() -> None:
    assert bump_chart(places({"a": [1]}), "") is None


def test_long_labels_have_room_and_many_stay_inside_the_chart() -> None:
    names = [f"a metric with quite a long name {k}" for k in range(12)]
    chart = timeline({name: [0.5, 0.5] for name in names}, [1, 2])
    assert chart is not None
    assert chart.right > 7 * len(names[0])
    labels = sorted(line.label_y for line in chart.lines)
    assert labels[-1] <= chart.height
    assert all(b - a >= 13.9 for a, b in pairwise(labels))


def test_another_number_because_somebody_came_in_above_is_neither_good_nor_bad() -> None:
    renumbered = Move(name="BLEURT", before=4, after=5, among=(4, 4))
    assert (renumbered.words, renumbered.role) == ("5 (was 4; only renumbered)", "")
    assert (Move(name="BLEURT", before=4, after=5).words, Move(name="BLEURT", before=4, after=5).role) == (
        "4 → 5",
        "down",
    )
