"""The board's generators are real programs: they write from the input, and know only the training pairs beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from bulletins.generators import Program, programs
from bulletins.learned import Babbler, Neighbour, with_gaps
from bulletins.records import facts_of
from bulletins.templates import write_almanac
from bulletins.texts import Pair, read_instances, read_training

from bulletins import texts

# Records that are on no board.
WEATHER = "place: Fernhill; day: Monday; sky: overcast; temperature: 4 to 9; wind: east gale; rain: drizzle overnight"
TRAVEL = "service: tram; route: Old Town to Moorend; departs: Friday 23:55; status: delayed 35 minutes; reason: a goat"
EVENT = "event: Frog Race; place: Long Sands; day: Sunday; time: 10:10; price: 9 crowns; for: adults; bring: a frog"
FAITHFUL = ("Almanac", "Crier", "Stumbler", "Telegram")


@pytest.fixture(scope="module")
def program() -> dict[str, Program]:
    return {program.name: program for program in programs()}


def test_an_input_is_taken_apart_into_single_facts() -> None:
    assert facts_of(WEATHER) == {
        "place": "Fernhill",
        "day": "Monday",
        "sky": "overcast",
        "low": "4",
        "high": "9",
        "strength": "gale",
        "direction": "east",
        "rain": "drizzle",
        "when": "overnight",
    }
    assert facts_of(TRAVEL)["delay"] == "35"
    assert facts_of(EVENT)["start"] == "10:10"
    assert "end" not in facts_of(EVENT)


def test_the_almanac_says_it_all_in_good_english() -> None:
    assert write_almanac(TRAVEL) == (
        "On Friday, the 23:55 tram from Old Town to Moorend will run 35 minutes late because of a goat."
    )


@pytest.mark.parametrize("name", FAITHFUL)
@pytest.mark.parametrize(("source", "fact"), [(WEATHER, "Fernhill"), (TRAVEL, "35"), (EVENT, "Frog Race")])
def test_faithful_generators_tell_the_facts_of_records_they_never_saw(
    program: dict[str, Program], name: str, source: str, fact: str
) -> None:
    assert fact in program[name].write(source)


def test_no_generator_writes_one_text_for_everything(program: dict[str, Program]) -> None:
    for one in program.values():
        assert len({one.write(source) for source in (WEATHER, TRAVEL, EVENT)}) == 3


@pytest.mark.parametrize("name", [*FAITHFUL, "Babbler", "Embroiderer", "Skimmer"])
def test_another_destination_is_another_text(program: dict[str, Program], name: str) -> None:
    write = program[name].write
    assert write(TRAVEL.replace("Moorend", "Fernhill")) != write(TRAVEL)


def test_generators_read_the_training_pairs_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [str(instance.input) for instance in read_instances()]
    opened: set[str] = set()
    lines = texts._lines

    def recorded(name: str) -> Iterator[dict[str, Any]]:
        opened.add(name)
        return lines(name)

    monkeypatch.setattr(texts, "_lines", recorded)
    for program in programs():
        for source in inputs:
            assert program.write(source)
    assert opened == {"training.jsonl"}


def test_no_training_input_is_a_test_input() -> None:
    assert not {pair.input for pair in read_training()} & {instance.input for instance in read_instances()}


def test_the_neighbour_copies_the_text_with_the_most_facts_in_common() -> None:
    far = Pair("place: Moorend; day: Friday; sky: clear; temperature: 1 to 2; wind: calm; rain: none", "Far.")
    near = Pair("place: Fernhill; day: Friday; sky: overcast; temperature: 1 to 2; wind: calm; rain: none", "Near.")
    assert Neighbour([far, near])(WEATHER) == "Near."


def test_facts_are_cut_out_of_training_texts() -> None:
    facts = {"day": "Monday", "direction": "west", "low": "7"}
    assert with_gaps("Monday: a south-west wind turns west at 7, not at 17.", facts) == (
        "<day>: a south-west wind turns <direction> at <low>, not at 17."
    )


def test_a_babbler_with_one_example_repeats_its_shape_with_new_facts() -> None:
    seen = Pair(TRAVEL, "Friday's tram to Moorend is late.")
    assert Babbler([seen])(TRAVEL.replace("Friday", "Monday")) == "Monday's tram to Moorend is late."


def test_a_babbler_enters_no_gap_that_the_record_cannot_fill() -> None:
    seen = Pair("event: Frog Race; place: Long Sands; day: Sunday; time: 10:00 to 11:00", "It lasts until 11:00 sharp.")
    assert Babbler([seen])(EVENT) == "It lasts until"
