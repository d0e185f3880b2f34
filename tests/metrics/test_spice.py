"""SPICE's program called as the real one is, by a stand-in that reads and writes the same files."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.errors import MetricFailed, MissingPart
from billboards.metrics import spice
from billboards.metrics.base import Batch
from billboards.metrics.spice import SPICE

BATCH = Batch(["a cat", "a dog", ""], [["a cat", "one mouse"], ["a cat"], ["é"]])


def test_scores_come_back_in_the_order_of_the_outputs(spice_jar: Path) -> None:
    # The stand-in answers in reverse: 2 · 2 / (2 + 4), 2 · 1 / (2 + 2), nothing.
    assert SPICE().score_batch(BATCH) == pytest.approx([2 / 3, 1 / 2, 0.0])


def test_nothing_is_left_behind(spice_jar: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    SPICE().score_batch(BATCH)
    assert sorted(tmp_path.iterdir()) == before


def test_the_signature_names_the_content_of_the_jar(spice_jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = SPICE().signature, spice_jar.with_name("spice-2.0.jar")
    other.write_text("gap")
    monkeypatch.setenv("BILLBOARDS_SPICE", str(other))
    assert first.startswith("SPICE|jar:")
    assert SPICE().signature != first


@pytest.mark.parametrize(
    ("misbehaviour", "message"),
    [
        ("crash", "failed with code 1: Exception in thread main: no parser models"),
        ("garbage", "without a readable answer"),
        ("silence", "without a readable answer"),
        ("gap", "no score for 'a cat'"),
        ("hang", "no answer after 1 s"),
    ],
)
def test_a_program_that_misbehaves_fails_the_metric_and_says_how(
    misbehaviour: str, message: str, spice_jar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spice_jar.write_text(misbehaviour)
    if misbehaviour == "hang":
        monkeypatch.setattr(spice, "LOADING", 1)
        monkeypatch.setattr(spice, "PER_OUTPUT", 0)
    with pytest.raises(MetricFailed, match=message):
        SPICE().score_batch(BATCH)


def test_a_program_that_is_not_there_is_said_with_what_to_do(spice_jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spice_jar.unlink()
    with pytest.raises(MissingPart, match=r"spice-1\.0\.jar is no file: get SPICE-1\.0"):
        SPICE().score_batch(BATCH)
    monkeypatch.delenv("BILLBOARDS_SPICE")
    with pytest.raises(MissingPart, match="BILLBOARDS_SPICE is not set"):
        SPICE().score_batch(BATCH)


def test_java_that_is_not_there_is_said_too(spice_jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(spice_jar.parent))
    with pytest.raises(MissingPart, match="no program `java`"):
        SPICE().score_batch(BATCH)
