"""The Python blocks of the Python page and of the README run, in order, beside a demo board."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import billboards as bb
from billboards.demo import build_board

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/python.md")


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_readme_needs_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bb.save(replace(build_board(), metrics=("BLEU", "ROUGE-1")), "demo-board")
    for extra in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, extra, None)
    for block in blocks("README.md"):
        exec(compile(block, "README.md", "exec"), {})


def test_the_metrics_page_says_what_comes_out_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Its blocks need no board; where a peer is named, its number stands before ours."""
    names: dict[str, object] = {}
    for block in blocks("docs/metrics.md"):
        exec(compile(block, "docs/metrics.md", "exec"), names)
    *_, bleu, rouge = capsys.readouterr().out.splitlines()
    theirs, ours = map(float, bleu.split())
    assert ours == pytest.approx(theirs, rel=1e-12)
    their_f, our_f, their_recall, our_recall = (float(number.strip("[]")) for number in rouge.split())
    assert (our_f, our_recall) == pytest.approx((their_f, their_recall))


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run_in_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Quick metrics only: the pages show how names are used, not how long TER takes.
    bb.save(replace(build_board(), metrics=("BLEU", "ROUGE-1", "ROUGE-L")), "demo-board")
    names: dict[str, object] = {}
    for block in blocks(page):
        exec(compile(block, page, "exec"), names)
    assert blocks(page)
    assert (tmp_path / "demo-board" / ".billboards").is_dir()
