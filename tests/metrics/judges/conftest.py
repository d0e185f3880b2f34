"""A language model's endpoint on this machine, named as a user would name it; waits between attempts are short."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from judge_purse import empty_purse
from judge_server import JudgeServer

from billboards.metrics.judges import endpoint
from billboards.metrics.judges.pace import shared_pace


@pytest.fixture
def server(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    shared_pace.cache_clear()  # a port may be met again
    endpoint.shared_manners.cache_clear()
    empty_purse()
    with JudgeServer() as found:
        monkeypatch.setenv("BILLBOARDS_JUDGE_URL", found.url)
        monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "stand-in")
        yield found
