"""Challenge sets: each mistake is made where it can be, the same everywhere, and noticed or not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from small_audits import INSTANCES, Honest, audit_board

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.bias import reference_row
from billboards.analyses.audit.challenges import challenge, spoil_row
from billboards.analyses.audit.perturbations import PERTURBATIONS, Original
from billboards.board.cells import MemoryCells
from billboards.errors import NotEnoughData, UnknownName
from billboards.metrics.discovery import metric

KINDS = {one.name: one for one in PERTURBATIONS}


def spoilt(kind: str, text: str, language: str = "en", **given: object) -> str | None:
    names = given.get("names", ("Berlin",))
    assert isinstance(names, tuple)
    source = given.get("source")
    return KINDS[kind](Original(text, None if source is None else str(source), language, names, random.Random(0)))


@pytest.mark.parametrize(
    ("kind", "language", "text", "expected"),
    [
        ("negation", "en", "The mill was old.", "The mill was not old."),
        ("negation", "en", "The mill was not old.", "The mill was old."),
        ("negation", "en", "They didn't come.", "They did come."),
        ("negation", "de", "Die Mühle war alt.", "Die Mühle war nicht alt."),
        ("negation", "es", "El molino es viejo.", "El molino no es viejo."),
        ("negation", "zh", "这是旧的。", "这不是旧的。"),
        ("negation", "fi", "Mylly on vanha.", None),
        ("negation", "en", "Rain!", None),
        ("entity", "en", "We saw Paris today.", "We saw Berlin today."),
        ("entity", "en", "Paris was wet.", None),
        ("entity", "de", "Wir sahen Paris.", None),
        ("truncation", "en", "one two three four", "one two"),
        ("truncation", "en", "one two three", None),
        ("truncation", "zh", "今天下雨", "今天"),
        ("repetition", "en", "It rained. We left.", "It rained. We left. We left."),
        ("number", "en", "no numbers here", None),
        ("word order", "en", "two two", None),
        ("copy", "en", "a summary", None),
    ],
)
def test_a_text_is_spoilt_in_the_way_asked_or_not_at_all(
    kind: str, language: str, text: str, expected: str | None
) -> None:
    assert spoilt(kind, text, language) == expected


def test_a_number_becomes_another_of_as_many_digits() -> None:
    found = spoilt("number", "It opened in 1905.") or ""
    year = found.removeprefix("It opened in ").removesuffix(".")
    assert year != "1905"
    assert (len(year), year.isdigit(), year[0] != "0") == (4, True, True)
    word = (spoilt("number", "It had three doors.") or "").split()[2]
    assert word != "three"
    assert word in ["two", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def test_shuffled_words_are_the_same_words() -> None:
    text = "It rained. The old mill on the hill burned down in the night."
    found = spoilt("word order", text) or ""
    assert found != text
    assert sorted(found.split()) == sorted(text.split())
    assert found.startswith("It rained.")


def test_the_same_seed_makes_the_same_challenge_and_another_seed_another() -> None:
    board = audit_board()
    whole = reference_row(board, "ref1")
    number = KINDS["number"]
    first, again, other = (spoil_row(board, whole, number, seed).texts for seed in (0, 0, 1))
    assert first == again
    assert first != other
    alone = replace(board, instances=board.instances[3:4], rows=())
    assert spoil_row(alone, reference_row(alone, "ref1"), number, 0).texts[0] == first[3]


def test_a_metric_that_counts_facts_notices_what_touches_facts() -> None:
    report = challenge(Bench(audit_board(), MemoryCells()), [Honest(), metric("length"), metric("ROUGE-1")])
    found = {(one.metric, one.perturbation): one for one in report.results}
    assert found["honest", "number"].share == 1.0
    assert found["honest", "repetition"].share == 0.0
    assert found["honest", "repetition"].tied == INSTANCES
    assert found["length", "truncation"].share == 1.0
    assert found["ROUGE-1", "word order"].tied == INSTANCES
    low, high = found["honest", "number"].interval
    assert [low, high] == pytest.approx([0.8620, 1.0], abs=1e-4)
    assert (report.base, report.against) == ("ref1", ("ref2",))


def test_a_reference_is_never_its_own_reference() -> None:
    report = challenge(Bench(audit_board(references=1), MemoryCells()), [metric("chrF"), Honest()], kinds=["number"])
    assert report.missing["chrF"] == "compares with references, and ref1 is the only one: it would be its own"
    assert [one.metric for one in report.results] == ["honest"]


def test_what_cannot_be_made_is_said_with_its_reason() -> None:
    board = replace(audit_board(), output_language="fi")
    report = challenge(Bench(board, MemoryCells()), [Honest()], kinds=["negation", "number"])
    assert report.missing["negation"] == "knows en, de, es, zh; the board's output language is fi"
    with pytest.raises(UnknownName, match="perturbation"):
        challenge(Bench(board, MemoryCells()), [Honest()], kinds=["typo"])
    with pytest.raises(NotEnoughData, match="no references, so there is no good text to spoil"):
        challenge(Bench(audit_board(references=0), MemoryCells()), [Honest()])
