"""The study of equality with rouge-score, nltk and pycocoevalcap runs, and finds it, on few outputs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def compared(*arguments: str, wordnet: Path) -> list[str]:
    """The lines that the study prints; it ends with code 1 where a difference is above 1e-9."""
    command = [sys.executable, str(ROOT / "benchmarks" / "lexical_equality.py"), *arguments]
    environment = {**os.environ, "BILLBOARDS_WORDNET": str(wordnet)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
def test_generated_texts_have_their_peers_scores(small_wordnet: Path) -> None:
    """11 kinds of ROUGE, best and mean, plain, stemmed and by words of any script; METEOR and CIDEr-D."""
    lines = compared("--data", "generated", "--generated", "60", wordnet=small_wordnet)
    assert sum("  60  " in line for line in lines) == 11 * 2 * 3 + 2


@pytest.mark.long
@pytest.mark.data
def test_captions_and_summaries_in_eight_languages_have_their_peers_scores(
    small_wordnet: Path, shared_data: Path
) -> None:
    lines = compared("--data", "flickr8k", "multi_summeval", "--every", "300", wordnet=small_wordnet)
    assert sum(line.startswith("flickr8k ") and "  20  " in line for line in lines) == 68
    assert sum(line.startswith("multi_summeval ") and "   8  " in line for line in lines) == 68
