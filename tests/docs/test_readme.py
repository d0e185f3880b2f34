"""Excerpts of the README and the tour are what the boards say, links lead somewhere, and named keys are there."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bulletins.build import build_board as build_bulletins
from rich.console import Console

import billboards as bb
from billboards.analyses.rank import Ranking, generator_table, metric_table
from billboards.demo import build_board
from billboards.show.terminal import print_table

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text("utf-8")
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))


def lines(text: str) -> Iterator[str]:
    return (" ".join(line.split()) for line in text.splitlines() if line.strip())


def excerpt(page: str) -> list[str]:
    (block,) = re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [line for line in lines(block) if line != "…"]


def printed(ranking: Ranking) -> Iterator[str]:
    text = io.StringIO()
    for table in (metric_table(ranking), generator_table(ranking)):
        print_table(table, Console(file=text, width=76))
    return lines(text.getvalue())


def missing(wanted: list[str], found: Iterator[str]) -> list[str]:
    """Lines that don't stand in the output, in that order."""
    return [line for line in wanted if line not in found]


@pytest.mark.long
def test_the_excerpt_from_the_demo_board(tmp_path: Path) -> None:
    board = bb.save(build_board(), tmp_path / "demo")
    bb.score(board)
    assert missing(excerpt(README), printed(bb.rank(board).value)) == []


@pytest.mark.long
@pytest.mark.data
def test_the_excerpt_from_wmt20_zh_en(zh_en: bb.Board, tmp_path: Path) -> None:
    folder = bb.save(zh_en, tmp_path / "wmt20-zh-en")
    assert missing(excerpt(TOUR), printed(bb.rank(folder, lam=7.65).value)) == []


def test_the_keys_promised_to_scripts_are_there(tmp_path: Path) -> None:
    board = bb.save(replace(build_bulletins(), metrics=("BLEU", "chrF")), tmp_path / "bulletins")
    bb.score(board)
    ranking, overrating = bb.rank(board, draws=0).document, bb.overrating(board).document
    promised = " ".join(TOUR.partition("`rank --json` prints ")[2].partition(". Further")[0].split())
    for_rank, for_overrating = promised.split("; `overrating --json` prints ")
    assert _absent(for_rank, ranking) == []
    assert _absent(for_overrating, overrating) == []


def _absent(promised: str, document: object) -> list[str]:
    """Keys in backticks that the document lacks; those in brackets belong to the key before them."""
    assert isinstance(document, dict)
    found = []
    for key, inner in re.findall(r"`(\w+)`(?: \(([^)]*)\))?", promised):
        if key not in document:
            found.append(key)
            continue
        value = document[key][0] if isinstance(document[key], list) and inner else document[key]
        found += [f"{key}.{name}" for name in re.findall(r"`(\w+)`", inner) if name not in value]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_pages_and_headings_that_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    broken = []
    for target in re.findall(r"\]\((?!https://)([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        path = (page.parent / name) if name else page
        if not path.exists() or (anchor and anchor not in _anchors(path)):
            broken.append(target)
    assert broken == []


def _anchors(path: Path) -> set[str]:
    """Headings as links name them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
