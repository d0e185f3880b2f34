"""Places under two metrics as a chart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drawn_charts import data_of, subtitle_of, title_of
from examples_of_results import RANKING

from billboards.analyses._rank_swaps import can_swap, rank_swaps, swap_title
from billboards.errors import NotEnoughData, UnknownName


def test_swaps_show_each_generators_rank_under_both_metrics_and_mark_the_human_one() -> None:
    chart = rank_swaps(RANKING, "COMET", "BLEU")
    ends = data_of(chart)
    left = {end["key"]: end for end in ends if end["side"] == 0}
    right = {end["key"]: end for end in ends if end["side"] == 1}
    assert left[0]["label"] == "Huoshan  1"
    assert right[0]["label"] == "2  Huoshan"
    assert right[4]["label"] == "4  Human-B ‡"
    assert right[4]["role"] == "people"
    assert title_of(chart) == "Huoshan falls from 1 to 2 when BLEU ranks instead of COMET"
    assert "Dashed and ‡: written by people." in subtitle_of(chart)


def test_people_can_be_one_side() -> None:
    judged = [replace(g, human=human) for g, human in zip(RANKING.generators, (60.0, 90.0, 80.0), strict=False)]
    ranking = replace(RANKING, generators=tuple(judged))
    ends = data_of(rank_swaps(ranking, "people", "COMET"))
    places = [end["label"].rpartition("  ")[2] for end in ends if end["side"] == 0]
    assert places == ["3", "1", "2"]
    assert swap_title(ranking, "people", "COMET") == "Huoshan rises from 3 to 1 when COMET ranks instead of people"
    assert can_swap(ranking, "people", "COMET")
    assert not can_swap(ranking, "people", "people")
    assert not can_swap(replace(RANKING, generators=(judged[0],)), "people", "COMET")


def test_tied_generators_have_one_rank_and_a_line_each() -> None:
    chart = rank_swaps(RANKING, "ensemble", "COMET-QE")
    ends = [end for end in data_of(chart) if end["side"] == 1]
    assert [end["label"].split()[0] for end in ends] == ["1="] * 4
    assert sorted(end["place"] for end in ends) == [1, 2, 3, 4]
    assert "1 without a score under both left out." in subtitle_of(chart)


def test_of_many_generators_the_first_fifty_are_drawn_with_their_ranks_among_all() -> None:
    first = RANKING.generators[0]
    many = [
        replace(first, name=f"g{k:03d}", kind="machine", scores={"COMET": -float(k), "BLEU": float(k % 7)})
        for k in range(120)
    ]
    chart = rank_swaps(replace(RANKING, generators=tuple(many)), "COMET", "BLEU")
    ends = data_of(chart)
    assert len(ends) == 100
    assert [end["label"] for end in ends if end["side"] == 0][-1] == "g049  50"
    right = {end["key"]: end for end in ends if end["side"] == 1}
    assert sorted(end["place"] for end in right.values()) == list(range(1, 51))
    assert right[0]["label"] == "103=  g000"
    assert "The first 50 of 120 under COMET." in subtitle_of(chart)


def test_swaps_of_an_unknown_metric_or_of_one_generator_are_refused() -> None:
    with pytest.raises(UnknownName, match="no metric named 'BLEW'; did you mean BLEU"):
        rank_swaps(RANKING, "COMET", "BLEW")
    with pytest.raises(NotEnoughData, match="COMET and BLEU have 1 generators in common"):
        rank_swaps(replace(RANKING, generators=RANKING.generators[:1]), "COMET", "BLEU")
