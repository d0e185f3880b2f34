"""SFRES: dialogue acts about restaurants in San Francisco (Wen et al., 2015), put into words by data-driven systems.

The layout and the ratings are those of `_dialogue_acts.py`.
"""

from __future__ import annotations

from pathlib import Path

from billboards.board.judgment_sources import Imported
from billboards.importers._dialogue_acts import card, import_dialogue_acts
from billboards.importers._importer import importer

CARD = card(
    "SFRES",
    acts="restaurants in San Francisco",
    citation="Wen et al. (2015): Semantically Conditioned LSTM-based Natural Language Generation for Spoken Dialogue "
    "Systems",
    comments="Which of two systems wrote an utterance is not said.",
)


@importer(card=CARD)
def sfres(source: Path) -> Imported:
    """SFRES: dialogue acts about restaurants in words, rated by crowd workers on three dimensions.

    The source is a clone of BARTScore, its folder `D2T/SFRES`, or the file.
    """
    return import_dialogue_acts(source, "sfres")
