"""BAGEL: dialogue acts about places in Cambridge (Mairesse et al., 2010), put into words by data-driven systems.

The layout and the ratings are those of `_dialogue_acts.py`.
"""

from __future__ import annotations

from pathlib import Path

from billboards.board.judgment_sources import Imported
from billboards.importers._dialogue_acts import card, import_dialogue_acts
from billboards.importers._importer import importer

CARD = card(
    "BAGEL",
    acts="restaurants and other places in Cambridge",
    citation="Mairesse et al. (2010): Phrase-Based Statistical Language Generation Using Graphical Models and Active "
    "Learning",
    comments="Names of places are replaced by X. Which of two systems wrote an utterance is not said.",
)


@importer(card=CARD)
def bagel(source: Path) -> Imported:
    """BAGEL: dialogue acts about places in Cambridge in words, rated by crowd workers on three dimensions.

    The source is a clone of BARTScore, its folder `D2T/BAGEL`, or the file.
    """
    return import_dialogue_acts(source, "bagel")
