"""QAGS' human judgments (Wang et al., 2020): whether the sentences of a summary agree with the facts of its article.

Two sets, one of CNN/DailyMail and one of XSUM. BARTScore's repository has them as pickles (`SUM/QAGS_CNN/data.pkl`,
`SUM/QAGS_XSUM/data.pkl`: for each article `src` and one summary with the score `fact`), UniEval's as JSON
(`qags_cnndm.json`, `qags_xsum.json`). The article stands in the place of a reference there; it is the input here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from billboards.board import DataCard, Dimension, Generator
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import find_file
from billboards.importers._importer import importer
from billboards.importers._rated_outputs import board_of_systems, read_rated_outputs, renamed
from billboards.reading import Problems

FACT = Dimension(
    "fact",
    range=(0.0, 1.0),
    definition="The share of the summary's sentences that the article supports, as most of three workers see it.",
)
_NAMES = {"cnn": "CNN/DailyMail", "xsum": "XSUM"}
_SYSTEMS = {
    "cnn": Generator("Bottom-Up", description="Gehrmann et al. (2018)"),
    "xsum": Generator("BART", description="Lewis et al. (2020), fine-tuned on XSUM"),
}
_PLACES = {
    "cnn": ("QAGS_CNN/data.pkl", "qags_cnn*.json", "qags_cnn*.pkl"),
    "xsum": ("QAGS_XSUM/data.pkl", "qags_xsum*.json", "qags_xsum*.pkl"),
}


@importer()
def qags(
    source: Path,
    *,
    articles: Annotated[
        Literal["cnn", "xsum"] | None, "whose articles; told by the file's or folder's name else"
    ] = None,
) -> Imported:
    """QAGS: summaries of news, judged on whether they keep to the facts.

    The source is a clone of BARTScore or UniEval, one of its folders, or a file.
    """
    asked = (articles,) if articles else tuple(_PLACES)
    places = tuple(place for group in zip(*(_PLACES[each] for each in asked), strict=True) for place in group)
    files = {path for place in places for path in source.rglob(place)} if source.is_dir() and len(asked) > 1 else set()
    if len(files) > 1:
        names = ", ".join(sorted(str(path.relative_to(source)) for path in files))
        raise ImportRefused(f"{source}: holds several sets of QAGS: {names}; choose by --articles, or give one of them")
    path, problems = find_file(source, (*places, "data.pkl"), "QAGS' judgments"), Problems()
    kind = articles or _kind(path)
    return board_of_systems(
        path,
        f"qags-{kind}",
        renamed(read_rated_outputs(path, problems), {"consistency": FACT.name}),
        problems,
        dimensions=(FACT,),
        generators={"0": _SYSTEMS[kind], "": _SYSTEMS[kind]},
        campaign="crowd",
        card=_card(kind),
    )


def _kind(path: Path) -> str:
    """Whose articles a file has, by its name and its folder's."""
    told = [kind for kind in _PLACES if kind in f"{path.parent.name}/{path.name}".lower()]
    if len(told) != 1:
        raise ImportRefused(f"{path}: its name doesn't tell whose articles it has; say --articles cnn or xsum")
    return told[0]


def _card(kind: str) -> DataCard:
    length = {"cnn": "a few sentences", "xsum": "one sentence"}[kind]
    publisher = {"cnn": "CNN's and the Daily Mail's", "xsum": "the BBC's"}[kind]
    return DataCard(
        title=f"QAGS, {_NAMES[kind]}",
        task=f"Summarise a news article in {length}",
        source="https://github.com/W4ngatang/qags, as released with BARTScore (https://github.com/neulab/BARTScore) "
        f"and UniEval; articles: {_NAMES[kind]}",
        licence=f"None stated for the judgments; BARTScore's repository: Apache-2.0; the articles are {publisher}",
        citation="Wang, Cho and Lewis (2020): Asking and Answering Questions to Evaluate the Factual Consistency of "
        "Summaries",
        protocol="Workers read the article and said of each sentence of the summary whether the article supports it; "
        "the majority decides for a sentence, and the score is the mean over sentences",
        annotators="Three workers of Amazon Mechanical Turk per summary; the release has one score",
        comments="One system wrote every summary, so that metrics are ranked, not generators. There are no references: "
        "the files repeat the article in their place.",
    )
