"""The rubric finds what is lost, invented and badly put, and the readers turn that into ratings."""

from __future__ import annotations

import pytest
from bulletins.judging import READERS, marks, rate
from bulletins.language import flaws_of
from bulletins.records import facts_of
from bulletins.rubric import Findings, Rubric
from bulletins.texts import read_human, read_instances, read_training, read_wordings

FERRY = (
    "service: ferry; route: North Quay to Gull Island; departs: Tuesday 08:15; status: delayed 40 minutes; reason: fog"
)
EVENT = "event: Seed Swap; place: the Old Mill; day: Saturday; time: 10:00 to 13:00; price: free; for: everyone"
FLAWLESS = Findings((), 0.0, (), {})


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    inputs = [str(instance.input) for instance in read_instances()]
    return Rubric([*inputs, *(pair.input for pair in read_training())], read_wordings())


@pytest.mark.parametrize(
    ("source", "text", "lost", "invented"),
    [
        (FERRY, "The 08:15 ferry from North Quay to Gull Island is 40 minutes late on Tuesday: fog.", (), ()),
        (FERRY, "Fog makes Tuesday's quarter past eight ferry to Gull Island late.", ("origin", "delay"), ()),
        (
            FERRY,
            "The 08:15 ferry from North Quay to Gull Island is 45 minutes late on Monday because of fog.",
            ("day", "delay"),
            ("45", "Monday"),
        ),
        (EVENT, "Everyone may come to the Seed Swap at the Old Mill from ten to one on Saturday for free.", (), ()),
        (
            EVENT,
            "The Seed Swap for children, with music, is at the Old Mill on Saturday, 10:00 to 13:00.",
            ("price", "for"),
            ("music", "children"),
        ),
    ],
)
def test_lost_and_invented_facts_are_named(
    rubric: Rubric, source: str, text: str, lost: tuple[str, ...], invented: tuple[str, ...]
) -> None:
    findings = rubric.look_over(source, text)
    assert (findings.lost, findings.invented) == (lost, invented)


def test_a_main_fact_weighs_more_than_a_detail(rubric: Rubric) -> None:
    no_day = rubric.look_over(EVENT, "The Seed Swap: the Old Mill, 10:00 to 13:00, free, everyone.")
    no_guests = rubric.look_over(EVENT, "The Seed Swap: the Old Mill on Saturday, 10:00 to 13:00, free.")
    assert no_day.share_lost == pytest.approx(1.0 / 6.6)
    assert no_guests.share_lost == pytest.approx(0.6 / 6.6)


def test_what_people_wrote_is_recognised_nearly_always(rubric: Rubric) -> None:
    human = read_human()
    total = lost = invented = 0
    for instance in read_instances():
        source = str(instance.input)
        for text in (human[instance.id], *(reference.text for reference in instance.references)):
            findings = rubric.look_over(source, text)
            total += len(facts_of(source))
            lost += len(findings.lost)
            invented += len(findings.invented)
    assert total == 1200
    assert (lost, invented) == (1, 1)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("The temperature are high, so you sweat.", "agreement"),
        ("The Seed Swap take place when you come.", "agreement with a name"),
        ("It is 12 degree when you come.", "number"),
        ("It is a overcast day, so you stay.", "article"),
        ("You come on Sat at noon.", "abbreviation"),
        ("Please be informed that you are late.", "padding"),
        ("On Monday you come, and on Monday you go.", "repetition"),
        ("You should bring your seeds and", "loose end"),
        ("You will see a light from the, so stay.", "broken phrase"),
        ("The ferry for you.", "no verb"),
        ("The walk starts at noon is free for you.", "run-on"),
        ("The ferry is late.", "stiff"),
    ],
)
def test_a_mark_of_bad_language_is_found(text: str, flaw: str) -> None:
    assert flaw in flaws_of(text)


def test_a_good_sentence_has_no_flaw() -> None:
    assert flaws_of("If you take the 08:15 ferry on Tuesday, you will be 40 minutes late because of fog.") == {}


def test_marks_start_at_5_and_fall_with_every_finding() -> None:
    assert marks(FLAWLESS) == {"adequacy": 5.0, "fluency": 5.0}
    assert marks(Findings((), 0.2, (), {})) == {"adequacy": pytest.approx(4.1), "fluency": 5.0}
    assert marks(Findings((), 0.0, ("music",), {})) == {"adequacy": pytest.approx(4.2), "fluency": 5.0}
    assert marks(Findings((), 0.0, (), {"padding": 2.0})) == {"adequacy": pytest.approx(4.5), "fluency": 3.0}
    assert marks(Findings((), 1.0, ("music",), {"padding": 9.0})) == {"adequacy": 1.0, "fluency": 1.0}


def test_a_rating_depends_on_the_seed_the_reader_and_the_output_alone() -> None:
    middling = Findings((), 0.3, (), {"padding": 1.5})
    outputs = [f"events-{k}|Crier" for k in range(50)]
    first = [rate(READERS[0], middling, output) for output in outputs]
    assert [rate(READERS[0], middling, output) for output in reversed(outputs)][::-1] == first
    assert [rate(READERS[0], middling, output, seed=7) for output in outputs] != first
    assert {rating for ratings in first for rating in ratings.values()} <= {1, 2, 3, 4, 5}


def test_the_kindest_reader_rates_higher_than_the_harshest() -> None:
    middling = Findings((), 0.3, (), {"padding": 1.5})
    means = [sum(rate(reader, middling, f"{k}")["adequacy"] for k in range(400)) / 400 for reader in READERS]
    assert means[0] > means[1] > means[2]
