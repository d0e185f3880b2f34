"""What is known of the four public billboards beside their files: languages, judgments, data cards, metric names.

The facts are those of Billboards, §3.1 and Table 10. A board of another name is read as well, with nothing assumed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from billboards.board import DataCard

LANGUAGES = {"zh": "Chinese", "en": "English", "de": "German"}

#: Released names that differ from the metric's own.
CANONICAL = {
    "SentBLEU": "BLEU",
    "chrFpp": "chrF++",
    "wmt20-comet-da": "COMET",
    "wmt20-comet-qe-da": "COMET-QE",
    "CLIPS": "CLIP-S",
    "RefCLIPS": "RefCLIP-S",
    "RefOnlyCLIPS": "RefOnlyC",
}
#: Table 10: metrics that look at the input; the others see references alone. The ensembles hold metrics of both kinds.
REFERENCE_FREE = frozenset({"COMET-QE", "Prism-src", "SummaQA", "CLIP-S"})
ALSO_INPUT = frozenset({"COMET", "RefCLIP-S", "ensemble"})
ENSEMBLE = "ensemble"

_SOURCE = "https://github.com/jungokasai/billboard"
_PAPER = "Kasai et al. (2022): Bidimensional Leaderboards: Generate and Evaluate Language Hand in Hand"


@dataclass(frozen=True)
class Profile:
    """How one public board's files are to be understood."""

    input_language: str | None = None
    output_language: str | None = None
    images: bool = False
    documents: bool = False
    domain: str | None = None
    judgments: Literal["mqm", "thumb"] | None = None
    card: DataCard = field(default_factory=lambda: DataCard(source=_SOURCE, citation=_PAPER))


CNNDM = Profile(
    "en",
    "en",
    judgments="thumb",
    card=DataCard(
        title="CNN/DailyMail summarization",
        task="Summarise a news article in a few sentences",
        source=f"{_SOURCE}; ratings and references: https://github.com/jungokasai/THumB",
        citation=f"{_PAPER}; Fabbri et al. (2021): SummEval: Re-evaluating Summarization Evaluation; references: "
        "Kryściński et al. (2019)",
        licence="None stated for the texts; the articles are CNN's and the Daily Mail's",
        protocol="Each summary is rated from 1 to 5 on coherence, consistency, fluency and relevance",
        annotators="Three experts and, for most systems, five crowd workers per summary",
    ),
)

MSCOCO = Profile(
    output_language="en",
    images=True,
    judgments="thumb",
    card=DataCard(
        title="MSCOCO image captioning",
        task="Describe a photograph in one sentence",
        source=f"{_SOURCE}; ratings and references: https://github.com/jungokasai/THumB",
        citation=f"{_PAPER}; Kasai et al. (2022): Transparent Human Evaluation for Image Captioning; images and "
        "references: Lin et al. (2014), Chen et al. (2015)",
        licence="None stated for the texts; the images are Flickr users'",
        protocol="THumB 1.0: precision and recall from 1 to 5, with penalties for fluency, inclusive language and "
        "conciseness",
        annotators="Annotators who follow the THumB rubric",
    ),
)


def profile_of(board: str) -> Profile:
    """What is known of a board, by its public name."""
    if board == "cnndm":
        return CNNDM
    if board == "mscoco":
        return MSCOCO
    pair = re.fullmatch(r"wmt(\d\d)-([a-z]{2,3})-([a-z]{2,3})", board)
    return Profile() if pair is None else _wmt(pair[1], pair[2], pair[3])


def _wmt(year: str, source: str, target: str) -> Profile:
    names = f"{LANGUAGES.get(source, source)} to {LANGUAGES.get(target, target)}"
    card = DataCard(
        title=f"WMT{year} news translation, {names}",
        task=f"Translate news from {names}, segment by segment",
        source=f"{_SOURCE}; judgments: https://github.com/google/wmt-mqm-human-evaluation",
        citation=f"{_PAPER}; Freitag et al. (2021): Experts, Errors, and Context; WMT{year} news translation task",
        licence="None stated for the texts; the MQM ratings are Apache-2.0",
        protocol="MQM: errors are marked in document context with category and severity, and weighted",
        annotators="Professional translators; the release averages over them",
    )
    return Profile(source, target, documents=True, domain="news", judgments="mqm", card=card)
