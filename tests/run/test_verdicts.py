"""What the launcher says is believed only as far as it makes sense."""

from __future__ import annotations

import pytest

from billboards.errors import InvalidInput
from billboards.run.limits import Limits
from billboards.run.verdicts import Report, read_report


def test_a_report_is_read_with_the_result_that_follows_it() -> None:
    assert read_report(b'{"status": 0, "found": "file", "size": 4}\n1\n2\n') == Report(0, "file", 4, b"1\n2\n")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"ready\n",
        b"{}\n",
        b"[]\n",
        b"\xff\xfe\n",
        b'{"status": 1e999, "found": "file", "size": 1}\n',
        b'{"status": -1, "found": "file", "size": 1}\n',
        b'{"status": 99999999999999999999, "found": "file", "size": 1}\n',
        b'{"status": 127, "found": "file", "size": 1}\n',
        b'{"status": 0, "found": "<script>", "size": 1}\n',
        b'{"status": 0, "found": "file"}\n',
        b"[" * 100_000 + b"\n",
        b"9" * 5_000 + b"\n",
    ],
)
def test_a_report_that_makes_no_sense_is_none(said: bytes) -> None:
    assert read_report(said) is None


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="memory_bytes is 0; a limit is a number above 0"):
        Limits(memory_bytes=0)
