"""Importers: which public layouts can become a board, and how the command line offers them.

This registry is read for `--help`, so it holds descriptions only; an importer's module is loaded when it is used. Each
module has one function `import_board(source, **options)` that returns a board in memory with notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from billboards.errors import UnknownName

if TYPE_CHECKING:
    from billboards.board.judgment_sources import Imported


@dataclass(frozen=True, slots=True)
class Argument:
    """One keyword option of an importer, as the command line shows it."""

    flag: str
    help: str
    required: bool = False
    repeat: bool = False
    is_path: bool = False

    @property
    def keyword(self) -> str:
        """The option's name in Python: `--language-pair` is `language_pair`."""
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True, slots=True)
class ImporterCard:
    """What an importer says of itself; its source path is always the first argument."""

    name: str
    module: str
    summary: str
    arguments: tuple[Argument, ...] = ()


def load_importer(name: str) -> Callable[..., Imported]:
    """The function `import_board(source: Path, **options)` of an importer."""
    if name not in IMPORTERS:
        raise UnknownName("importer", name, IMPORTERS)
    function: Callable[..., Imported] = import_module(IMPORTERS[name].module).import_board
    return function


_INTO = Argument("--into", "the board folder whose outputs were judged", required=True, is_path=True)

_CARDS = (
    ImporterCard(
        "billboard",
        f"{__name__}.billboard",
        "the public billboard repository: sources, generators and released scores of one board",
        (
            Argument("--board", "the board's name there, such as wmt20-zh-en, cnndm or mscoco", required=True),
            Argument("--judgments", "human judgments: a clone of the MQM or THumB repository", is_path=True),
            Argument("--references", "a folder or .jsonl file of references", is_path=True),
        ),
    ),
    ImporterCard(
        "mtme",
        f"{__name__}.mtme",
        "a test set in the mt-metrics-eval layout, for one language pair",
        (
            Argument("--language-pair", "such as en-de; needed where the test set holds several"),
            Argument("--judgments", "the human scores that rank, such as mqm"),
            Argument("--name", "the board's name (default: folder and language pair)"),
        ),
    ),
    ImporterCard("mqm", f"{__name__}.mqm", "MQM averages of WMT systems, added to a board", (_INTO,)),
    ImporterCard("thumb", f"{__name__}.thumb", "THumB ratings of summaries or captions, added to a board", (_INTO,)),
    ImporterCard("wmt-da", f"{__name__}.wmt_da", "WMT direct-assessment segment scores, added to a board", (_INTO,)),
    ImporterCard("summeval", f"{__name__}.summeval", "SummEval: summaries of news, rated on four dimensions"),
    ImporterCard("webnlg-2017", f"{__name__}.webnlg_2017", "WebNLG 2017: triples put into words, rated by a crowd"),
    ImporterCard(
        "flickr8k",
        f"{__name__}.flickr8k",
        "Flickr8k: captions judged beside images, by experts and by a crowd",
        (Argument("--judgments", "whose judgments: expert (default), crowd, or all for both"),),
    ),
    ImporterCard("efficientqa", f"{__name__}.efficientqa", "EfficientQA: answers to questions, rated on three levels"),
    ImporterCard(
        "multi-summeval",
        f"{__name__}.multi_summeval",
        "Multi-SummEval: summaries in eight languages, rated for focus and coverage",
        (Argument("--language", "one of DE, EN, ES, FR, ID, RU, TR, ZH (default: all on one board)"),),
    ),
    ImporterCard(
        "asset",
        f"{__name__}.asset",
        "ASSET: simplified sentences, rated from 0 to 100 or compared in pairs",
        (Argument("--judgments", "ratings of systems' outputs (default), or pairwise: human ones compared"),),
    ),
    ImporterCard(
        "wmt19-darr",
        f"{__name__}.wmt19_darr",
        "WMT19 DArr: pairs of translations, of which people found one better",
        (Argument("--language-pair", "such as gu-en; needed where the folder holds several"),),
    ),
    ImporterCard("realsumm", f"{__name__}.realsumm", "REALSumm: summaries of news, judged by lightweight pyramids"),
    ImporterCard("pascal-50s", f"{__name__}.pascal_50s", "Pascal-50S: pairs of captions, of which people chose one"),
    ImporterCard(
        "muss",
        f"{__name__}.muss",
        "MUSS: simplified sentences in three languages, rated for three qualities",
        (Argument("--language", "the code of the sentences' language, where it is one: en, fr or es"),),
    ),
    ImporterCard("okvqa-eval", f"{__name__}.okvqa_eval", "OkVQA-Eval: answers about images, rated for three qualities"),
    ImporterCard(
        "webnlg-2020",
        f"{__name__}.webnlg_2020",
        "WebNLG 2020: triples put into words, rated for five qualities",
        (Argument("--language", "en (default) or ru"),),
    ),
    ImporterCard(
        "simplicity-da",
        f"{__name__}.simplicity_da",
        "Simplicity-DA: simplified sentences of six systems, rated from 0 to 100",
        (Argument("--references", "a folder with ASSET's asset.test.orig and asset.test.simp.*", is_path=True),),
    ),
    ImporterCard(
        "table",
        f"{__name__}.table",
        "any CSV, TSV, JSONL or Parquet file with one output per row",
        (
            Argument("--instance", "column of the instance's id"),
            Argument("--generator", "column of the generator's name; without one, outputs belong to no generator"),
            Argument("--output", "column of the output text"),
            Argument("--output-id", "column of the output's id, where there is no generator"),
            Argument("--input", "column of the input text"),
            Argument("--image", "column of the input image's path or URL"),
            Argument("--reference", "column of a reference; its name becomes the reference's", repeat=True),
            Argument("--document", "column of the document"),
            Argument("--domain", "column of the domain"),
            Argument("--tags", "column of tags, commas between"),
            Argument("--judgment", "column of human values; its name becomes a dimension", repeat=True),
            Argument("--range", "scale of a dimension, as in adequacy=1:5", repeat=True),
            Argument("--annotator", "column of the annotator's name"),
            Argument("--score", "column of a metric's scores, higher is better", repeat=True),
            Argument("--name", "the board's name (default: the file's)"),
        ),
    ),
)

IMPORTERS: Mapping[str, ImporterCard] = {card.name: card for card in _CARDS}
