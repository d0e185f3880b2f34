"""Mixing: every output comes to a call once, nobody can tell whose it is, and its score finds home."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.metrics.base import Batch
from billboards.run.shuffled_outputs import (
    Comparison,
    chosen,
    compare,
    joined,
    keyed,
    line_ids,
    mix,
    put_back,
    sample,
    shuffle_whole,
)

ROWS = [
    Batch([f"{name}{k}" for k in range(6)], [[f"r{k}"] for k in range(6)], [f"i{k}" for k in range(6)])
    for name in "abcd"
]
SHORT = Batch(["e0", "e1"], [["r0"], ["r1"]], ["i0", "i1"])
STRAYS = Batch([f"s{k}" for k in range(5)], [[f"r{k}"] for k in range(5)], [f"i{k}" for k in range(5)])
SEED = keyed(b"secret", "column")


def test_a_seed_follows_from_the_secret_and_every_word() -> None:
    assert keyed(b"secret", "column") == SEED
    others = {keyed(b"other", "column"), keyed(b"secret", "columns"), keyed(b"secret", "col", "umn"), SEED}
    assert len(others) == 4


def test_ids_are_distinct_random_and_other_ones_under_another_seed() -> None:
    ids = line_ids(SEED, 1000)
    assert ids == line_ids(SEED, 1000)
    assert len({text for text, _ in ids}) == len({number for _, number in ids}) == 1000
    assert max(number for _, number in ids) < 2**52
    assert not {text for text, _ in ids} & {text for text, _ in line_ids(keyed(SEED, "other"), 1000)}
    # No id tells a position: as many go up as down.
    steps = np.diff([number for _, number in ids])
    assert 400 < (steps > 0).sum() < 600


def test_each_call_has_every_instance_once_and_no_call_is_one_writers() -> None:
    calls = mix(ROWS, Batch([]), SEED)
    assert len(calls) == 4
    for call in calls:
        assert sorted(call.batch.inputs) == [f"i{k}" for k in range(6)]
        assert len({output[0] for output in call.batch.outputs}) > 1
        for output, references, given in zip(call.batch.outputs, call.batch.references, call.batch.inputs, strict=True):
            assert (list(references), given) == ([f"r{output[1]}"], f"i{output[1]}")
    assert sorted(output for call in calls for output in call.batch.outputs) == sorted(joined(ROWS).outputs)
    assert [list(call.batch.inputs) for call in calls] != [[f"i{k}" for k in range(6)]] * 4


def test_the_same_seed_mixes_alike_and_another_differently() -> None:
    again, other = mix(ROWS, STRAYS, SEED), mix(ROWS, STRAYS, keyed(SEED, "other"))
    calls = mix(ROWS, STRAYS, SEED)
    assert [call.batch for call in calls] == [call.batch for call in again]
    assert [call.batch for call in calls] != [call.batch for call in other]


@pytest.mark.parametrize("rows", [ROWS, [*ROWS, SHORT], [SHORT], [ROWS[0]]])
def test_scores_find_home(rows: list[Batch]) -> None:
    whole = [*rows, STRAYS]
    names = [output for batch in whole for output in batch.outputs]
    score = {name: float(k) for k, name in enumerate(names)}
    for calls in (mix(rows, STRAYS, SEED), shuffle_whole(whole, SEED)):
        scores = [np.array([score[output] for output in call.batch.outputs]) for call in calls]
        home = put_back(calls, scores, [len(batch) for batch in whole])
        assert [row.tolist() for row in home] == [[score[output] for output in batch.outputs] for batch in whole]


def test_a_generator_alone_is_in_one_call_with_strays() -> None:
    (call,) = mix([ROWS[0]], STRAYS, SEED)
    assert len(call) == 11
    assert call.batch.outputs != [*ROWS[0].outputs, *STRAYS.outputs]


def test_whole_generators_come_each_in_a_call_in_random_order() -> None:
    calls = shuffle_whole(ROWS, SEED)
    assert [len({output[0] for output in call.batch.outputs}) for call in calls] == [1] * 4
    assert {call.batch.outputs[0][0] for call in calls} == set("abcd")
    orders = [[int(output[1]) for output in call.batch.outputs] for call in calls]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert orders != [list(range(6))] * 4


def test_a_sample_is_of_all_generators_and_no_larger_than_asked_for() -> None:
    few = sample(ROWS, 10, SEED)
    assert len(few) == len(set(few.batch.outputs)) == 10
    assert len(sample(ROWS, 100, SEED)) == 24
    assert [few.batch.outputs[0]] == chosen(ROWS[few.origins[0]], [int(few.places[0])]).outputs


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e9])
def test_a_difference_counts_by_the_spread_of_scores_and_no_offset_hides_it(offset: float) -> None:
    first = offset + np.arange(8.0)
    second = first + np.array([0, 0, 1e-3, 0, 0, -1e-3, 0, 0])
    assert compare(first, second, tolerance=1e-6) == Comparison(8, 2)
    assert compare(first, second, tolerance=1e-3) == Comparison(8, 0)


def test_one_wild_score_hides_nothing_and_equal_scores_may_not_differ_at_all() -> None:
    wild = np.array([0.0, 1, 2, 3, 4, 5, 6, 1e12])
    assert compare(wild, wild + np.array([1, 0, 0, 0, 0, 0, 0, 0]), tolerance=1e-3).differing == 1
    equal = np.ones(5)
    assert compare(equal, equal + 1e-9, tolerance=0.01).differing == 5
    assert compare(equal, equal * (1 + 4e-16), tolerance=0.0).differing == 0


def test_a_score_that_is_missing_once_differs() -> None:
    first = np.array([1.0, np.nan, 3.0, np.nan])
    assert compare(first, first, tolerance=1e-6) == Comparison(4, 0)
    assert compare(first, np.array([1.0, 2.0, 3.0, np.nan]), tolerance=1e-6) == Comparison(4, 1)
    assert compare(np.empty(0), np.empty(0), tolerance=1e-6) == Comparison(0, 0)


def test_who_declares_not_to_repeat_itself_may_be_noisy_but_not_at_will() -> None:
    scores = np.arange(20.0)
    noise = np.where(np.arange(20) % 2, 2.0, -2.0)
    seen = compare(scores, scores + noise, tolerance=1e-6, deterministic=False)
    assert (seen.differing, seen.is_inconsistent(deterministic=False)) == (0, False)
    assert compare(scores, scores + noise, tolerance=1e-6).is_inconsistent()
    turned = compare(scores, scores[::-1], tolerance=1e-6, deterministic=False)
    assert turned.is_inconsistent(deterministic=False)
    assert not Comparison(20, 2).is_inconsistent(deterministic=False)
    assert Comparison(20, 3).is_inconsistent(deterministic=False)
