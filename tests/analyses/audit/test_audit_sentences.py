"""Sentences by their marks, in several scripts."""

from __future__ import annotations

import pytest

from billboards.analyses.audit.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We left! Why? Nobody knew.", ["It rained.", "We left!", "Why?", "Nobody knew."]),
        ("Dr. Smith met Mr. Jones. They spoke.", ["Dr. Smith met Mr. Jones.", "They spoke."]),
        ("The U.S. Army came. George W. Bush left.", ["The U.S. Army came.", "George W. Bush left."]),
        ("It cost 2.6 million. he said so.", ["It cost 2.6 million. he said so."]),
        ('"We won." They cheered.', ['"We won."', "They cheered."]),
        ("Scroll down for video . The rest follows .", ["Scroll down for video .", "The rest follows ."]),
        ("下雨了。我们走了！为什么？", ["下雨了。", "我们走了！", "为什么？"]),
        ("A heading\nA line below", ["A heading", "A line below"]),
        ("one sentence without an end", ["one sentence without an end"]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_a_text_is_cut_where_sentences_end(text: str, expected: list[str]) -> None:
    assert list(split_sentences(text)) == expected
