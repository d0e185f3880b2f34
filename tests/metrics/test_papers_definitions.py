"""Metrics as BEAMetrics computed them: options, not defaults."""

from __future__ import annotations

import pytest

from billboards.errors import UnknownName
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric


def value(spec: str, output: str, references: tuple[str, ...] = (), given: str = "") -> float:
    batch = Batch([output], [list(references)] if references else [], [given] if given else [])
    return float(metric(spec).score_batch(batch)[0])  # type: ignore[index]


def test_meteor_is_the_mean_over_references_where_asked() -> None:
    texts = ("the cat sat on the mat", "a dog ran home")
    single = [value("METEOR", "the cat sat", (text,)) for text in texts]
    assert value("METEOR", "the cat sat", texts) == pytest.approx(max(single))
    assert value("METEOR(references=mean)", "the cat sat", texts) == pytest.approx(sum(single) / 2)
    with pytest.raises(UnknownName, match="worst"):
        metric("METEOR(references=worst)")


def test_statistics_follow_the_papers_code_where_asked() -> None:
    text = "A b b c"
    assert value("length(definition=beametrics)", text) == 4
    assert value("repetition-1(definition=beametrics)", text) == pytest.approx(4 - 3 / 3.00001)
    assert value("repetition-1", text) == pytest.approx(1 / 4)
    # Case counts there: "a" of the input is not "A".
    assert value("abstractness-1(definition=beametrics)", text, given="a b") == pytest.approx(2 / 3.00001)
    assert value("abstractness-1", text, given="a b") == pytest.approx(1 / 4)
    with pytest.raises(UnknownName, match="theirs"):
        metric("length(definition=theirs)")
