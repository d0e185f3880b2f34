"""The measured part of a data card, on a board small enough to count by hand, and alpha as published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from public_sets import make_efficientqa, make_flickr8k, make_wmt19_darr

from billboards.analyses.card import measure_card
from billboards.board import Board, DataCard, Dimension, Generator, Instance, Reference, row_of
from billboards.board.judgments import Aggregate, JudgmentColumns
from billboards.board.preferences import preferred_pairs

INSTANCES = (
    Instance(
        "1", references=(Reference("A", "The cat sat."), Reference("B", "A cat sat down.")), input="eins", document="d"
    ),
    Instance("2", references=(Reference("A", "It rains."),), input="zwei", document="d"),
    Instance("3", references=(), input="zwei"),
)
ROWS = (
    row_of(Generator("copier"), INSTANCES, ("the cat  sat", "Never.", "Never.")),
    row_of(Generator("other"), INSTANCES, ("Dogs.", "Never.", "Often.")),
    row_of(Generator("A", kind="human"), INSTANCES, ("The cat sat.", "It rains.", None)),
)


def board() -> Board:
    scale = Dimension("quality", range=(1.0, 5.0), definition="How good is it?")
    columns = JudgmentColumns(("quality",))
    for k, values in enumerate([(1, 1, None), (5, 4, 5), (3, None, None)]):
        for who, value in zip(("ann", "bob", "cem"), values, strict=True):
            if value is not None:
                columns.add(k, 0, {"quality": value}, annotator=who, campaign="c")
    columns.add(0, 0, {"quality": 5}, annotator="ann", campaign="c")
    columns.add(2, 1, {"quality": 2}, details={"test": "positive"})
    return Board(
        name="small",
        instances=INSTANCES,
        rows=ROWS,
        judgments=columns.build(),
        dimensions={"quality": scale},
        ranks="quality",
        output_language="en",
    )


def test_counts_are_those_of_the_board() -> None:
    card = measure_card(board())
    assert (card.instances, card.documents, card.machines, card.people, card.outputs) == (3, 1, 2, 1, 8)
    assert card.references is not None
    assert (card.references.lowest, card.references.median, card.references.highest) == (0, 1, 2)
    assert (card.judgments, card.annotators, card.unnamed, card.campaigns) == (8, 3, 1, ("c",))
    lengths = {one.kind: one for one in card.lengths}
    assert (lengths["outputs"].texts, lengths["references"].texts, lengths["inputs"].texts) == (8, 3, 3)
    assert lengths["inputs"].words is not None
    assert lengths["inputs"].words.highest == 1


def test_copies_and_leaked_references_are_counted() -> None:
    copies = measure_card(board()).copies
    assert copies.inputs == 1
    assert copies.outputs == 2  # the cat of copier and A, and "Never." of copier and other
    assert copies.repeated == 0  # the two instances with "Never." ask the same
    assert (copies.leaked, copies.leaking) == (1, {"copier": 1})


def test_a_scale_s_use_leaves_test_questions_out_and_keeps_second_thoughts() -> None:
    (use,) = measure_card(board()).dimensions
    assert (use.judgments, use.outputs, use.annotators, use.scale) == (7, 3, 3, "1 to 5")
    assert use.shares == {"1": 2 / 7, "3": 1 / 7, "4": 1 / 7, "5": 3 / 7}
    assert (use.at_lowest, use.at_highest) == (2 / 7, 3 / 7)


def test_agreement_counts_everybody_s_first_word() -> None:
    found = measure_card(board()).dimensions[0].agreement
    assert (found.level, found.units, found.ratings) == ("ordinal", 2, 5)
    # Mid-ranks of 1, 4, 5 are 1.5, 3, 4.5: D_o = 4 · 1.5² / 2 / 5, D_e = (4 · 1.5² + 8 · 3² + 4 · 1.5²) / 20.
    assert found.alpha == pytest.approx(1 - 0.9 / 4.5)


def test_alpha_is_krippendorff_s_own_example() -> None:
    """Krippendorff (2011): four observers, 12 units; nominal .743, ordinal .815, interval .849."""
    gap = np.nan
    data = np.array(
        [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, gap, gap, gap],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, gap, 3],
            [gap, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, gap],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, gap],
        ]
    )
    instances = tuple(Instance(str(k)) for k in range(12))
    row = row_of(Generator("g"), instances, tuple("x" for _ in instances))
    columns = JudgmentColumns(("d",))
    for who, values in enumerate(data):
        for k, value in enumerate(values):
            if not np.isnan(value):
                columns.add(k, 0, {"d": value}, annotator=f"o{who}")
    made = Board(
        name="k",
        instances=instances,
        rows=(row,),
        judgments=columns.build(),
        dimensions={"d": Dimension("d", range=(1.0, 5.0))},
        ranks="d",
    )
    (use,) = measure_card(made).dimensions
    assert use.agreement.alpha == pytest.approx(0.815, abs=5e-4)
    assert use.agreement.interval is not None
    low, high = use.agreement.interval
    assert low < 0.815 < high <= 1


def test_where_each_output_has_one_value_the_card_says_so(tmp_path: Path) -> None:
    card = measure_card(make_efficientqa(tmp_path).load("efficientqa").board)
    assert [use.agreement.reason for use in card.dimensions] == ["no output was judged by two"] * 3
    assert [use.scale for use in card.dimensions][1] == "1 where level is at least 1, else 0"
    assert card.dimensions[1].shares == {"0": 4 / 7, "1": 3 / 7}


def test_preferences_have_shares_of_ties_and_nominal_agreement(tmp_path: Path) -> None:
    (use,) = measure_card(make_wmt19_darr(tmp_path).load("wmt19-darr").board).dimensions
    assert (use.judgments, use.outputs, use.scale) == (4, 6, "which output is better")
    assert use.shares == {"one is better": 1.0, "alike": 0.0}
    assert use.agreement.level == "nominal"


def test_two_compared_outputs_are_both_judged_and_those_who_are_not_named_are_nobody(tmp_path: Path) -> None:
    made = make_wmt19_darr(tmp_path).load("wmt19-darr").board
    (use,) = measure_card(made).dimensions
    pairs = preferred_pairs(made, Aggregate(use.name, (use.name,)))
    shown = {(int(row), int(k)) for row, k in zip(pairs.better, pairs.instance, strict=True)}
    shown |= {(int(row), int(k)) for row, k in zip(pairs.worse, pairs.instance, strict=True)}
    assert use.outputs == len(shown)
    assert use.annotators == len({int(who) for who in pairs.annotator if who >= 0})


def test_votes_without_names_are_different_people_s(tmp_path: Path) -> None:
    card = measure_card(make_flickr8k(tmp_path).load("flickr8k").board)
    crowd = next(use for use in card.dimensions if use.name == "crowd")
    assert (crowd.annotators, crowd.agreement.units, crowd.agreement.ratings) == (0, 2, 6)
    assert card.loose_outputs == card.outputs == 4


def test_references_among_outputs_without_a_generator_are_counted_together() -> None:
    loose = tuple(replace(row, generator=None) if row.name in ("copier", "other") else row for row in ROWS)
    copies = measure_card(replace(board(), rows=loose)).copies
    assert copies.leaking == {"outputs without a generator": 1}


def test_what_nobody_stated_is_named() -> None:
    stated = DataCard(title="t", task="t", source="s", licence="l", citation="c", protocol="p", annotators="a")
    assert measure_card(replace(board(), card=stated)).missing == ()
    missing = measure_card(replace(board(), card=replace(stated, licence=" "), output_language=None)).missing
    assert missing == ("licence", "output-language")
