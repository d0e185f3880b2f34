"""The paper's two boards, imported from the shared data as a user would."""

from __future__ import annotations

from pathlib import Path

import pytest

import billboards as bb


@pytest.fixture(scope="session")
def zh_en(shared_data: Path) -> bb.Board:
    """WMT20 Chinese-English with MQM judgments, both references and the released scores, in memory."""
    return bb.import_board(
        "billboard",
        shared_data / "billboard",
        board="wmt20-zh-en",
        judgments=shared_data / "wmt-mqm-human-evaluation",
        references=shared_data / "wmt20_references",
    )


@pytest.fixture(scope="session")
def cnndm(shared_data: Path) -> bb.Board:
    """CNN/DailyMail with expert judgments, ten references and the released scores, in memory."""
    return bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
