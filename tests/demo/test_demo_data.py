"""What is packed for the demo board is what may be shipped: it is rebuilt here, and holds nothing of the articles."""

from __future__ import annotations

import json
import lzma
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "src" / "billboards" / "demo" / "data"
PACKED = DATA / "summeval.jsonl.xz"
#: Words in a row that nobody writes twice by chance.
RUN = 12
MOST = 2**20


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "tools"))
    yield import_module("build_demo_data")
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def packed() -> list[dict[str, Any]]:
    return [json.loads(line) for line in lzma.decompress(PACKED.read_bytes()).decode().splitlines()]


def test_it_stays_under_one_mebibyte() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < MOST


def test_packing_twice_gives_the_same_bytes(tool: ModuleType) -> None:
    content = '{"id":"é"}\n' * 1000
    assert tool.pack(content) == tool.pack(content)
    assert lzma.decompress(tool.pack(content)).decode() == content


def test_each_line_has_ten_references_and_sixteen_rated_summaries_and_no_more(
    packed: list[dict[str, Any]],
) -> None:
    assert len(packed) == 100
    for line in packed:
        assert list(line) == ["id", "references", "summaries"]
        assert len(line["references"]) == 10
        assert len(line["summaries"]) == 16
        for summary in line["summaries"].values():
            assert list(summary) == ["text", "expert", "crowd"]
            assert [len(ratings) for ratings in summary["expert"]] == [4] * 3
            assert [len(ratings) for ratings in summary["crowd"]] == [4] * 5


def test_the_licence_and_the_data_are_part_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "demo/data/*" in project["tool"]["setuptools"]["package-data"]["billboards"]
    assert str((DATA / "LICENSE.SummEval").relative_to(ROOT)) in project["project"]["license-files"]
    text = (DATA / "LICENSE.SummEval").read_text("utf-8")
    assert text.startswith("MIT License")
    assert "Alex Fabbri, Wojciech Kryściński, Bryan McCann, Caiming Xiong, Richard Socher, and Dragomir Radev" in text


@pytest.mark.data
def test_the_tool_builds_what_is_packed(tool: ModuleType, shared_data: Path) -> None:
    assert tool.build(shared_data) == lzma.decompress(PACKED.read_bytes()).decode()


@pytest.mark.data
def test_no_article_and_no_original_highlights_are_packed(
    tool: ModuleType, shared_data: Path, packed: list[dict[str, Any]]
) -> None:
    articles = {row["doc_id"]: row for row in tool.rows(shared_data / "summeval" / "summeval_src_refs_scores.jsonl")}
    for line in packed:
        article = articles[line["id"]]
        texts = [*line["references"], *(summary["text"] for summary in line["summaries"].values())]
        letters = [tool.letters(text) for text in texts]
        original, source = tool.letters(article["ref_summs"][0]), tool.letters(article["src"])
        assert [text for text in letters if original in text] == []
        assert [text for text in letters if source in text] == []


@pytest.mark.data
def test_crowd_written_references_are_no_copies_of_articles_or_highlights(
    tool: ModuleType, shared_data: Path, packed: list[dict[str, Any]]
) -> None:
    """Crowd workers took over a sentence now and then; the whole of what they wrote is their own."""
    articles = {row["doc_id"]: row for row in tool.rows(shared_data / "summeval" / "summeval_src_refs_scores.jsonl")}
    from_articles = from_highlights = total = 0
    for line in packed:
        article = articles[line["id"]]
        source, original = runs(article["src"]), runs(article["ref_summs"][0])
        for text in article["ref_summs"][1:]:
            written = runs(text)
            total += len(written)
            from_articles += len(written & source)
            from_highlights += len(written & original)
    assert (from_articles / total, from_highlights / total) < (0.1, 0.01)


@pytest.mark.data
def test_experts_put_the_original_highlights_where_the_card_says(
    tool: ModuleType, shared_data: Path, packed: list[dict[str, Any]]
) -> None:
    ratings = tool.rows(shared_data / "THumB" / "cnndm" / "cnndm_THumB-1.0.jsonl")
    highlights = 20 * sum(row["human_score"] for row in ratings if row["SYS"] == "Human-H") / 100
    systems = {
        name: 20 * sum(sum(map(sum, line["summaries"][name]["expert"])) / 12 for line in packed) / 100
        for name in packed[0]["summaries"]
    }
    assert round(highlights, 1) == 81.4
    assert sum(mean > highlights for mean in systems.values()) == 12


def runs(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return set(zip(*(words[k:] for k in range(RUN)), strict=False))
