"""MUSS (Martin et al., 2020): simplified sentences in English, French and Spanish, rated for three qualities.

The ratings come in BEAMetrics' layout, `muss.json`: `source`, `hypothesis`, `references`, `adequacy`, `fluency` and
`simplicity` for each id. The sentences of one language can be kept in a file of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from billboards.board import DataCard, Dimension
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import find_file
from billboards.importers._examples import import_examples
from billboards.importers._importer import importer

SCALE = (0.0, 4.0)
DIMENSIONS = (
    Dimension("adequacy", range=SCALE, definition="How much of the original sentence's meaning is preserved?"),
    Dimension("fluency", range=SCALE, definition="Is the output grammatical and well formed?"),
    Dimension(
        "simplicity",
        range=SCALE,
        definition="Is the output simpler than the original? 0: not simpler, or more complicated; 4: fully.",
    ),
)
CARD = DataCard(
    title="MUSS, ratings of simplified sentences",
    task="Rewrite a sentence so that it is easier to understand",
    source="Martin et al. (2020), https://arxiv.org/abs/2005.00352, as distributed with BEAMetrics",
    licence="None stated; part of the sentences are Newsela's, which asks for an agreement",
    citation="Martin et al. (2020): MUSS: Multilingual Unsupervised Sentence Simplification by Mining Paraphrases",
    protocol="Each output is rated beside its original on a scale from 0 to 4 for adequacy, fluency and simplicity",
    annotators="Volunteer native speakers: five for English, two for French, two for Spanish",
    languages="English, French, Spanish",
)


@importer(card=CARD)
def muss(
    source: Path,
    *,
    language: Annotated[str | None, "the code of the sentences' language, where it is one: en, fr or es"] = None,
) -> Imported:
    """MUSS: simplified sentences in three languages, rated for three qualities."""
    path = find_file(source, ("muss*.json", "muss*.jsonl"), "MUSS's ratings")
    name = "muss" if language is None else f"muss-{language}"
    return import_examples(path, name, DIMENSIONS, source_key="source", language=language)
