"""BAD items and their originals: paired by document and place, for each annotator."""

from __future__ import annotations

from pathlib import Path

from billboards.analyses._annotators import control_items
from billboards.board.appraise_answers import AppraiseAnswer, read_appraise


def answer(item: str, document: str, score: float, *, kind: str = "TGT", annotator: str = "a") -> AppraiseAnswer:
    return AppraiseAnswer(
        line=1,
        annotator=annotator,
        system="s",
        item=item,
        kind=kind,
        source_language="eng",
        target_language="deu",
        score=score,
        document=document,
        is_document=False,
        spans=(),
        started=1.0,
        ended=2.0,
    )


def test_segments_of_a_corrupted_document_meet_their_originals_in_order() -> None:
    found = control_items(
        [
            answer("9", "doc#s", 90),
            answer("10", "doc#s", 100),
            answer("31", "doc#s#bad3", 50, kind="BAD"),
            answer("30", "doc#s#bad3", 95, kind="BAD"),
        ]
    )
    assert [(pair.bad, pair.original) for pair in found.pairs["a"]] == [(95, 90), (50, 100)]
    assert found.unpaired == ()


def test_a_copy_of_a_repeated_document_meets_the_repeated_original() -> None:
    found = control_items(
        [
            answer("1", "doc#s", 10),
            answer("2", "doc#s#duplicate1", 80),
            answer("3", "doc#s#bad5#duplicate1", 27, kind="BAD"),
        ]
    )
    assert [(pair.bad, pair.original) for pair in found.pairs["a"]] == [(27, 80)]


def test_another_annotators_original_does_not_count() -> None:
    bad = answer("2", "doc#s#bad1", 10, kind="BAD")
    found = control_items([bad, answer("1", "doc#s", 90, annotator="b")])
    assert found.pairs == {"a": (), "b": ()}
    assert found.unpaired == (bad,)


def test_a_document_that_lacks_a_segment_is_not_paired_by_guess() -> None:
    copies = [answer(str(item), "doc#s#bad1", 10, kind="BAD") for item in (3, 4)]
    found = control_items([answer("1", "doc#s", 90), *copies])
    assert found.pairs == {"a": ()}
    assert found.unpaired == tuple(copies)


def test_every_control_item_of_the_esa_campaign_finds_its_original(shared_data: Path) -> None:
    found = control_items(read_appraise(shared_data / "esa_campaign" / "240315rc5ESA.scores.csv"))
    pairs = [pair for several in found.pairs.values() for pair in several]
    assert (len(found.pairs), len(pairs), len(found.unpaired)) == (33, 397, 0)
    assert sum(pair.bad < pair.original for pair in pairs) == 351
