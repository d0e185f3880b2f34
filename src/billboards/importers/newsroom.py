"""Newsroom's human evaluation (Grusky et al., 2018): seven systems' summaries of 60 articles, rated by crowd workers.

BARTScore's repository has them as a pickle (`SUM/Newsroom/data.pkl`): for each article `src`, `ref_summ` and
`sys_summs`, with the mean over three workers' ratings on four dimensions.
"""

from __future__ import annotations

from pathlib import Path

from billboards.board import Aggregate, DataCard, Dimension, Generator
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import find_file
from billboards.importers._importer import importer
from billboards.importers._rated_outputs import board_of_systems, read_rated_outputs
from billboards.reading import Problems

_FIVE = (1.0, 5.0)
DIMENSIONS = (
    Dimension("coherence", range=_FIVE, definition="Whether the parts of the summary fit together as one text."),
    Dimension("fluency", range=_FIVE, definition="Whether its single sentences are grammatical and well written."),
    Dimension("informativeness", range=_FIVE, definition="How well it captures the key points of the article."),
    Dimension("relevance", range=_FIVE, definition="Whether its details agree with those of the article."),
)
CROWD = Aggregate("crowd", tuple(dimension.name for dimension in DIMENSIONS), ("crowd",))
_DESCRIPTIONS = {
    "abstractive": "sequence to sequence with attention, trained on Newsroom",
    "fragments": "an oracle: the article's words that the reference shares",
    "lede3": "the article's first three sentences",
    "pointer_c": "Pointer-Generator, trained on CNN/DailyMail",
    "pointer_n": "Pointer-Generator, trained on Newsroom",
    "pointer_s": "Pointer-Generator, trained on a part of Newsroom as large as CNN/DailyMail",
    "textrank": "sentences by TextRank",
}
CARD = DataCard(
    title="Newsroom",
    task="Summarise a news article in a few sentences",
    source="https://lil.nlp.cornell.edu/newsroom/, as released with BARTScore (https://github.com/neulab/BARTScore)",
    licence="Apache-2.0 (BARTScore's repository); articles and references are the publishers', under Newsroom's own "
    "terms for research",
    citation="Grusky, Naaman and Artzi (2018): Newsroom: A Dataset of 1.3 Million Summaries with Diverse Extractive "
    "Strategies; layout: Yuan, Neubig and Liu (2021): BARTScore",
    protocol="Workers read the article and a system's summary and rated it on four dimensions from 1 to 5",
    annotators="Three workers of Amazon Mechanical Turk per summary, master workers from the United States; the "
    "release has their mean",
    comments="The reference is the summary that the publisher wrote into the page. Texts are tokenised.",
)


@importer(card=CARD)
def newsroom(source: Path) -> Imported:
    """Newsroom: summaries of news, rated by crowd workers on four dimensions.

    The source is a clone of BARTScore, its folder `SUM/Newsroom`, or the file.
    """
    path, problems = (
        find_file(source, ("Newsroom/data.pkl", "data.pkl", "*newsroom*.pkl"), "Newsroom's ratings"),
        Problems(),
    )
    return board_of_systems(
        path,
        "newsroom",
        read_rated_outputs(path, problems),
        problems,
        dimensions=DIMENSIONS,
        generators={name: Generator(name, description=text) for name, text in _DESCRIPTIONS.items()},
        campaign="crowd",
        aggregate=CROWD,
    )
