"""All judgments of a board, kept as columns of numbers; rows are kept by name.

One more generator moves the rows of others on the board but says nothing new about what people said, so it must not
cost reading a million judgments again. Where a generator that was judged is gone, nothing kept fits any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board.judgments import Judgments
from billboards.board.kept import keep_numbers, kept_numbers
from billboards.board.model import Outputs


def keep_judgments(path: Path, key: str, judgments: Judgments, rows: Sequence[Outputs]) -> None:
    """Keep judgments that were read without a mistake."""
    judged = sorted({*np.unique(judgments.row).tolist(), *_others(judgments.details.values())})
    place = np.zeros(len(rows), np.int32)
    place[judged] = np.arange(len(judged))
    facts = {
        "dimensions": judgments.dimensions,
        "annotators": judgments.annotators,
        "campaigns": judgments.campaigns,
        "rows": [rows[k].name for k in judged],
        "details": [[k, _moved(detail, place)] for k, detail in judgments.details.items()],
    }
    columns = (judgments.instance, place[judgments.row], judgments.annotator, judgments.campaign, judgments.values)
    keep_numbers(path, key, facts, columns)


def kept_judgments(path: Path, key: str, rows: Sequence[Outputs]) -> Judgments | None:
    """The judgments kept under this key, on the board's rows as they stand now."""
    found = kept_numbers(path, key)
    position = {row.name: k for k, row in enumerate(rows)}
    if found is None or not position.keys() >= set(found[0]["rows"]):
        return None
    facts, (instance, row, annotator, campaign, values) = found
    place = np.array([position[name] for name in facts["rows"]], np.int32)
    return Judgments(
        tuple(facts["dimensions"]),
        tuple(facts["annotators"]),
        tuple(facts["campaigns"]),
        instance,
        place[row],
        annotator,
        campaign,
        values,
        {k: _moved(detail, place) for k, detail in facts["details"]},
    )


def _others(details: Any) -> list[int]:
    return [row for detail in details for row in detail.get("others", ())]


def _moved(detail: Mapping[str, Any], place: Any) -> dict[str, Any]:
    """A judgment's details with the rows of further outputs where they stand elsewhere."""
    if "others" not in detail:
        return dict(detail)
    return {**detail, "others": tuple(int(place[row]) for row in detail["others"])}
