"""Packs SummEval for the demo board: what its licence lets us ship, and nothing of the articles.

Reads the folders that hold SummEval as others released it: THumB (summaries with every rating, ten references, in the
original casing) and SummEval's articles with all references, which say in what order articles come and which reference
is the original. The original highlights and the articles stay where they are.

    python tools/build_demo_data.py ../shared/data
    python tools/build_demo_data.py ../shared/data --check
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKED = Path(__file__).resolve().parents[1] / "src" / "billboards" / "demo" / "data" / "summeval.jsonl.xz"
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
#: Judged by experts alone and not among the 16 systems of SummEval's release; Human-H is the original highlights.
LEFT_OUT = ("Pegasus-dynamic-mix", "Human-H")
SYSTEMS, REFERENCES, EXPERTS, WORKERS = 16, 10, 3, 5


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def letters(text: str) -> str:
    """A text without case, spaces and marks, in which the releases differ."""
    return re.sub(r"[\W_]+", "", re.sub(r"-[LR][RSC]B-", "", text)).lower()


def build(data: Path) -> str:
    """The content: a line per article."""
    texts = data / "THumB" / "cnndm"
    references = {row["seg_id"]: row["refs"] for row in rows(texts / "cnndm_references.jsonl")}
    rated: dict[str, dict[str, dict[str, Any]]] = {}
    originals: dict[str, str] = {}
    for row in rows(texts / "cnndm_THumB-1.0.jsonl"):
        if row["SYS"] == "Human-H":
            originals[row["seg_id"]] = row["hyp"]
        if row["SYS"] not in LEFT_OUT:
            rated.setdefault(row["seg_id"], {})[row["SYS"]] = summary(row)
    content = []
    for article in rows(data / "summeval" / "summeval_src_refs_scores.jsonl"):
        key = article["doc_id"].rpartition("-")[2]
        check(article, originals[key], references[key], rated[key])
        line = {"id": article["doc_id"], "references": references[key], "summaries": rated[key]}
        content.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(content)


def summary(row: dict[str, Any]) -> dict[str, Any]:
    """A summary with its ratings."""
    experts, workers = row["expert_annotations"], row["turker_annotations"]
    if (len(experts), len(workers)) != (EXPERTS, WORKERS):
        raise ValueError(f"{row['SYS']} on {row['seg_id']}: {len(experts)} experts and {len(workers)} crowd workers")
    by_campaign = {"expert": experts, "crowd": workers}
    ratings = {name: [[one[key] for key in DIMENSIONS] for one in lists] for name, lists in by_campaign.items()}
    return {"text": row["hyp"], **ratings}


def check(article: dict[str, Any], original: str, references: list[str], rated: dict[str, Any]) -> None:
    """Both releases agree on an article: the original comes first, and the others are the ten in the same order."""
    first, *others = map(letters, article["ref_summs"])
    if first != letters(original) or others != [letters(text) for text in references]:
        raise ValueError(f"{article['doc_id']}: the releases differ in references")
    if (len(rated), len(references)) != (SYSTEMS, REFERENCES) or first in others:
        raise ValueError(f"{article['doc_id']}: {len(rated)} systems, {len(references)} references")


def pack(content: str) -> bytes:
    """The same bytes for the same content."""
    return lzma.compress(
        content.encode(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=9 | lzma.PRESET_EXTREME
    )


def main() -> int:
    parser = ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder with THumB and summeval")
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the file holds this content")
    arguments = parser.parse_args()
    content = build(arguments.data)
    if arguments.check:
        same = lzma.decompress(PACKED.read_bytes()).decode() == content
        print(f"{PACKED.name} {'holds' if same else 'does not hold'} what the data say")
        return 0 if same else 1
    PACKED.write_bytes(pack(content))
    print(f"{PACKED.name}: {len(content.encode()):,} bytes in {PACKED.stat().st_size:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
