"""Scores files: what is read, to the bit, and what is refused."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from billboards.errors import MetricFailed
from billboards.run.score_lines import parse_scores


@pytest.mark.parametrize(
    ("content", "scores"),
    [
        (b"1\n2\n", [1.0, 2.0]),
        (b"1\n2", [1.0, 2.0]),
        (b"-0.5\r\n+.5e-3 \r\n", [-0.5, 0.0005]),
        (b" 1.\n\t2E2\n", [1.0, 200.0]),
    ],
)
def test_plain_decimal_numbers_are_read(content: bytes, scores: list[float]) -> None:
    assert parse_scores(content, 2).tolist() == scores


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_what_python_writes_is_read_back_to_the_bit(scores: list[float]) -> None:
    content = "".join(f"{score!r}\n" for score in scores).encode()
    assert parse_scores(content, len(scores)).tobytes() == np.array(scores).tobytes()


@given(st.binary(max_size=60))
def test_any_other_bytes_are_refused_and_nothing_else_happens(content: bytes) -> None:
    with suppress(MetricFailed):
        scores = parse_scores(content, 2)
        assert np.isfinite(scores).all()
        assert len(scores) == 2


def test_the_first_wrong_line_is_named() -> None:
    with pytest.raises(MetricFailed, match="scores line 3: 'x' is no number"):
        parse_scores(b"1\n2\nx\ny\n", 4)
