"""The paper's two boards in memory, for the pages that quote them."""

from __future__ import annotations

from pathlib import Path

import pytest

import billboards as bb


@pytest.fixture(scope="session")
def zh_en(shared_data: Path) -> bb.Board:
    """WMT20 Chinese-English with MQM judgments and both references."""
    judgments, references = shared_data / "wmt-mqm-human-evaluation", shared_data / "wmt20_references"
    source = shared_data / "billboard"
    return bb.import_board("billboard", source, board="wmt20-zh-en", judgments=judgments, references=references)


@pytest.fixture(scope="session")
def cnndm(shared_data: Path) -> bb.Board:
    """CNN/DailyMail with expert judgments."""
    return bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
