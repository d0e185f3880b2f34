"""Tests that serve a site leave the process as it was."""

from __future__ import annotations

import io
import logging
from pathlib import Path

from api_sites import small_site
from served_sites import serving
from serving import served


class Closing(logging.StreamHandler[io.StringIO]):
    """A handler that closes what it writes to, as the one of absl does while standard error is another stream."""

    def close(self) -> None:
        self.stream.close()
        super().close()


def test_serving_a_site_closes_no_handler_of_the_process(tmp_path: Path) -> None:
    stream = io.StringIO()
    handler = Closing(stream)
    small = small_site(tmp_path)
    with served(small, working=False), serving(small.site):
        assert not stream.closed
    assert not stream.closed
    handler.close()
