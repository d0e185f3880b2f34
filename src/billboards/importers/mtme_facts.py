"""What is known of the test sets in mt-metrics-eval beside their files: what scores mean, and whom to cite."""

from __future__ import annotations

import re
from pathlib import Path

from billboards.board import DataCard

#: The findings of the WMT metrics tasks, by their year.
_CITATIONS = {
    "19": "Ma et al. (2019): Results of the WMT19 Metrics Shared Task",
    "20": "Mathur et al. (2020): Results of the WMT20 Metrics Shared Task",
    "21": "Freitag et al. (2021): Results of the WMT21 Metrics Shared Task",
    "22": "Freitag et al. (2022): Results of WMT22 Metrics Shared Task",
    "23": "Freitag et al. (2023): Results of WMT23 Metrics Shared Task",
    "24": "Freitag et al. (2024): Are LLMs Breaking MT Metrics? Results of the WMT24 Metrics Shared Task",
}
#: What a human score means, by how its name begins.
_DEFINITIONS = {
    "mqm": "Minus the weighted errors that professional translators marked in context; 0 is a text without errors.",
    "da-sqm": "Direct assessment with scalar quality metrics: how good is the translation, from 0 to 100?",
    "esa": "Error span annotation: after marking errors, how good is the translation, from 0 to 100?",
    "wmt-appraise": "Direct assessment: how well does the translation convey the input, from 0 to 100?",
    "wmt-raw": "Direct assessment: how well does the translation convey the input or reference, from 0 to 100?",
    "wmt-z": "Direct assessment, standardised by annotator.",
    "wmt": "Direct assessment as the WMT translation task collected it.",
    "psqm": "Scalar quality metric by professional translators, from 0 to 6, in context.",
    "csqm": "Scalar quality metric by crowd workers, from 0 to 6, in context.",
    "da": "Direct assessment: how well does the translation convey the input, from 0 to 100?",
}


def definition_of(human: str) -> str | None:
    """What a human score of a known name means."""
    return next((text for prefix, text in _DEFINITIONS.items() if human.startswith(prefix)), None)


def card_of(source: Path, pair: str) -> DataCard:
    """The facts of a test set; whom to cite only where its folder's name tells the year."""
    folder = source.resolve().name
    year = re.search(r"wmt(\d\d)", folder)
    return DataCard(
        title=f"{folder}: {pair}",
        task="Translate, segment by segment",
        source="https://github.com/google-research/mt-metrics-eval",
        licence="None stated for the texts and judgments; mt-metrics-eval is Apache-2.0",
        citation=_CITATIONS.get(year[1]) if year else None,
        protocol="As named by each campaign; one score per output, which may be a mean over annotators",
        annotators="Not named by the layout; the paper to cite says who they were",
        comments="Systems named as references are those references.",
    )
