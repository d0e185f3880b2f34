"""Challenge sets: each mistake is made where it can be, the same everywhere, and noticed or not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from small_audits import INSTANCES, Honest, audit_board

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.bias import reference_row
from billboards.analyses.audit.challenges import challenge, spoil_row
from billboards.analyses.audit.perturbations import ATTACKS, PERTURBATIONS, Original
from billboards.board.cells import MemoryCells
from billboards.errors import NotEnoughData, UnknownName
from billboards.metrics.discovery import metric

KINDS = {one.name: one for one in (*PERTURBATIONS, *ATTACKS)}


def spoilt(kind: str, text: str, language: str = "en", **given: object) -> str | None:
    names = given.get("names", ("Berlin",))
    assert isinstance(names, tuple)
    source = given.get("source")
    given_text = None if source is None else str(source)
    return KINDS[kind](
        Original(
            text=text,
            input=given_text,
            language=language,
            names=names,
            random=random.Random(0),
            input_language=given.get("source_language"),  # type: ignore[arg-type]  # as given
        )
    )


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
        ("capitals", "en", "It rained.", "IT RAINED."),
        ("capitals", "zh", "今天下雨", None),
        ("small letters", "en", "It rained in Paris.", "it rained in paris."),
        ("small letters", "en", "it rained", None),
        ("no punctuation", "en", "It rained, e.g. at 3.5 m; we left.", "It rained e.g at 3.5 m we left"),
        ("no punctuation", "zh", "今天，下雨。", "今天下雨"),
        ("informal", "en", "It is not so. They are going to do it.", "It isn't so. They're gonna do it."),
        ("informal", "de", "Es ist nicht so.", None),
        ("padding", "fi", "Mylly on vanha.", None),
        ("untranslated half", "en", "It rained today again.", None),
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
    report = challenge(Bench(board=audit_board(), store=MemoryCells()), [Honest(), metric("length"), metric("ROUGE-1")])
    found = {(one.metric, one.perturbation): one for one in report.results}
    assert found["honest", "number"].share == 1.0
    assert found["honest", "repetition"].share == 0.0
    assert found["honest", "repetition"].tied == INSTANCES
    assert found["length", "truncation"].share == 1.0
    assert found["ROUGE-1", "word order"].tied == INSTANCES
    low, high = found["honest", "number"].interval
    assert [low, high] == pytest.approx([0.8620, 1.0], abs=1e-4)
    assert (report.base, report.against) == ("ref1", ("ref2",))


def test_padding_adds_and_an_untranslated_half_is_the_input() -> None:
    padded = spoilt("padding", "It rained.") or ""
    assert padded.startswith("It rained. It is important")
    assert len(padded.split()) > 20
    half = spoilt("untranslated half", "It rained all day", source="Es regnete den ganzen Tag", source_language="de")
    assert half == "It rained ganzen Tag" or half == "It rained den ganzen Tag"
    same = spoilt("untranslated half", "It rained all day", source="It rained today", source_language="en-GB")
    assert same is None


def test_length_style_and_language_are_attacks_of_their_own_with_their_texts() -> None:
    report = challenge(Bench(board=audit_board(), store=MemoryCells()), [metric("length"), Honest()])
    assert {one.perturbation for one in report.results} <= {one.name for one in PERTURBATIONS}
    attacks = {(one.metric, one.perturbation): one for one in report.attacks}
    assert attacks["length", "padding"].share == 0.0, "length prefers what says nothing"
    assert attacks["honest", "padding"].tied == INSTANCES
    assert attacks["honest", "capitals"].share == 1.0
    assert report.missing["untranslated half"] == "no text of the board can be spoilt in this way"
    shown = [one for one in report.texts if one.perturbation == "capitals"]
    assert len(shown) == 2
    assert all(one.spoilt == one.text.upper() for one in shown)
    (only,) = challenge(Bench(board=audit_board(), store=MemoryCells()), [Honest()], kinds=["capitals"], shown=1).texts
    assert only.instance == "i0"


def test_with_one_reference_the_best_machine_is_spoilt_for_metrics_that_need_it() -> None:
    board = audit_board(references=1)
    report = challenge(
        Bench(board=board, store=MemoryCells()), [metric("chrF"), Honest()], kinds=["truncation", "capitals"]
    )
    assert (report.machine, report.machine_by) == ("best", "chrF")
    assert [(one.metric, one.perturbation, one.share) for one in report.machine_results] == [
        ("chrF", "truncation", 1.0),
        ("chrF", "capitals", 1.0),
    ]
    named = challenge(Bench(board=board, store=MemoryCells()), [metric("chrF")], base="weak", kinds=["truncation"])
    assert (named.base, named.against, named.results[0].pairs) == ("weak", ("ref1",), INSTANCES)


def test_a_reference_is_never_its_own_reference() -> None:
    report = challenge(
        Bench(board=audit_board(references=1), store=MemoryCells()), [metric("chrF"), Honest()], kinds=["number"]
    )
    assert report.missing["chrF"] == "compares with references, and ref1 is the only one: it would be its own"
    assert [one.metric for one in report.results] == ["honest"]


def test_what_cannot_be_made_is_said_with_its_reason() -> None:
    board = replace(audit_board(), output_language="fi")
    report = challenge(Bench(board=board, store=MemoryCells()), [Honest()], kinds=["negation", "number"])
    assert report.missing["negation"] == "knows en, de, es, zh; the board's output language is fi"
    with pytest.raises(UnknownName, match="perturbation"):
        challenge(Bench(board=board, store=MemoryCells()), [Honest()], kinds=["typo"])
    with pytest.raises(NotEnoughData, match="no references, so there is no good text to spoil"):
        challenge(Bench(board=audit_board(references=0), store=MemoryCells()), [Honest()])
