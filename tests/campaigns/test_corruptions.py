"""Small faults: each kind is made, differs in words, and is never a text that is right too."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from billboards.campaigns.corruptions import FAULTS, corrupt, differs, names_in

TEXT = "Anna met Captain Olsen at pier 12, and the ferry was late because of the storm."


def faults(text: str, **options: object) -> dict[str, set[str]]:
    """All that several draws make of a text, by fault."""
    made: dict[str, set[str]] = {}
    for seed in range(80):
        spoilt = corrupt(text, random.Random(seed), **options)  # type: ignore[arg-type]
        if spoilt is not None:
            made.setdefault(spoilt.fault, set()).add(spoilt.text)
    return made


def test_every_fault_is_made_where_the_text_has_room_for_it() -> None:
    made = faults(TEXT, names=["Bergen", "Marta"], language="en-GB")
    assert set(made) == set(FAULTS)
    assert "Anna met Captain Olsen at pier 12, and the ferry was not late because of the storm." in made["negation"]
    assert all("pier 12" not in text and len(text) == len(TEXT) for text in made["number"])
    assert any("Marta" in text or "Bergen" in text for text in made["name"])
    assert made["omission"] == {"And the ferry was late because of the storm."}
    assert faults("We left the old harbour early, in a storm.")["omission"] == {"We left the old harbour early."}


def test_a_negation_is_taken_out_or_turned_round() -> None:
    assert "The ship is safe." in faults("The ship is not safe.", language="en")["negation"]
    assert "They always come." in faults("They never come.", language="en")["negation"]
    assert "Das Schiff ist nicht da." in faults("Das Schiff ist da.", language="de")["negation"]
    assert "negation" not in faults("Das Schiff ist da.", language="fr")


def test_texts_that_leave_no_room_are_left_alone() -> None:
    assert corrupt("Yes.", random.Random(0), language="en") is None
    assert corrupt("", random.Random(0)) is None


def test_a_script_without_spaces_loses_its_end() -> None:
    assert faults("\u6e21\u8239\u56e0\u4e3a\u66b4\u98ce\u96e8\u4eca\u5929\u665a\u70b9\u4e86\u5f88\u591a") != {}


def test_a_fault_is_never_another_right_text() -> None:
    right = "They always come."
    assert right not in faults("They never come.", language="en", right=[right]).get("negation", set())


def test_signs_and_capitals_make_no_difference() -> None:
    assert not differs("the ferry, late", ["The ferry late."])
    assert differs("the ferry was late", ["The ferry late."])


def test_names_are_capitals_within_a_sentence() -> None:
    assert names_in("The captain saw Anna. Then Oslo came, and NATO.") == ["Anna", "Oslo"]


@given(st.text(max_size=120), st.integers(0, 50), st.sampled_from(["en", "de", "zh", None]))
def test_whatever_the_text_a_fault_differs_in_its_words(text: str, seed: int, language: str | None) -> None:
    spoilt = corrupt(text, random.Random(seed), names=["Bergen"], language=language)
    if spoilt is not None:
        assert differs(spoilt.text, [text])
        again = corrupt(text, random.Random(seed), names=["Bergen"], language=language)
        assert again == spoilt, "the same seed spoils the same way"
