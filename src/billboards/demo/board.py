"""SummEval as a board: 16 summarisers and one human writer, judged by experts and by a crowd.

Of ten crowd-written summaries per article the first becomes a human row and the other nine are references, so that the
person is scored like everybody else. The articles and their original highlights are not ours to ship; `billboards get
summeval` fetches them.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from billboards.board import Board, DataCard, Generator, Instance, Judgments, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.importers.thumb import CROWD, EXPERT, SUMMARIES

NAME = "demo-summeval"
HUMAN = Generator(
    "Crowd-writer",
    kind="human",
    description="The first of SummEval's ten crowd-written summaries, by many people; not among the references, and "
    "rated by nobody.",
)
#: What each system is, by its name and its number in the release; papers as SummEval's list cites them.
SYSTEMS = {
    "Lead-3": "The article's first three sentences (M0).",
    "NEUSUM": "Extractive: scores and selects sentences jointly; Zhou et al., 2018 (M1).",
    "BanditSum": "Extractive: a contextual bandit; Dong et al., 2018 (M2).",
    "RNES": "Extractive: rewarded for coherence; Wu and Hu, 2018 (M5).",
    "Pointer-Generator": "Abstractive: copies words or writes new ones; See et al., 2017 (M8).",
    "Fast-abs-rl": "Abstractive: rewrites selected sentences; Chen and Bansal, 2018 (M9).",
    "Bottom-Up": "Abstractive: selects content, then writes; Gehrmann et al., 2018 (M10).",
    "Improve-abs": "Abstractive: rewarded for new phrases; Kryściński et al., 2018 (M11).",
    "Unified-ext-abs": "Abstractive on top of extractive, with a loss for inconsistency; Hsu et al., 2018 (M12).",
    "ROUGESal": "Abstractive: rewarded for saliency and entailment; Pasunuru and Bansal, 2018 (M13).",
    "Multi-task-Ent-QG": "Abstractive: learns entailment and question generation too; Guo et al., 2018 (M14).",
    "Closed-book-decoder": "Abstractive: a second decoder without attention; Jiang and Bansal, 2018 (M15).",
    "T5": "Abstractive: a pre-trained text-to-text transformer; Raffel et al., 2019 (M17).",
    "GPT-2-zero-shot": "Abstractive: GPT-2 without training for the task; Ziegler et al., 2019 (M20).",
    "BART": "Abstractive: a pre-trained denoising autoencoder; Lewis et al., 2020 (M22).",
    "Pegasus-huge-news": "Abstractive: pre-trained to fill in sentences; Zhang et al., 2020 (M23).",
}
#: All that needs neither an article nor a model.
METRICS = (
    "BLEU",
    "chrF",
    "chrF++",
    "TER",
    "ROUGE-1",
    "ROUGE-2",
    "ROUGE-3",
    "ROUGE-L",
    "CIDEr-D",
    "length",
    "repetition-3",
)
DOMAINS = {"cnn": "CNN", "dm": "Daily Mail"}
CARD = DataCard(
    title="SummEval: summaries of news",
    task="Summarise a news article of CNN or the Daily Mail in a few sentences.",
    source="SummEval, https://github.com/Yale-LILY/SummEval: summaries by 16 systems, ten crowd-written references and "
    "all ratings, with the casing that https://github.com/jungokasai/THumB gives the texts.",
    licence="MIT (SummEval's summaries, crowd-written references and ratings; the text comes with the package). The "
    "articles and their highlights belong to CNN and the Daily Mail and are not included.",
    citation="Fabbri, Kryściński, McCann, Xiong, Socher, Radev (2021): SummEval: Re-evaluating Summarization "
    "Evaluation, TACL 9, 391-409. References: Kryściński, Keskar, McCann, Xiong, Socher (2019): Neural Text "
    "Summarization: A Critical Evaluation, EMNLP-IJCNLP. Please cite the systems' papers, too.",
    protocol="Each summary was rated beside its article on four dimensions from 1 to 5: coherence, consistency, "
    "fluency and relevance. Experts rated in two rounds and saw one another's ratings where these lay far apart; crowd "
    "workers rated once.",
    annotators="Three experts and five crowd workers per summary; expert1 to expert3 and turker1 to turker5 are places "
    "in the released lists, not persons.",
    comments="No article is included: `billboards get summeval` adds the articles and the original highlights, with "
    "the experts' means, and `billboards get cnndm` the articles with every rating. Crowd-writer is the first of ten "
    "crowd-written summaries; nobody rated it, so the board shows its scores and no human rating. Experts did rate "
    "the original highlights, which can't be shipped: 81.4 of 100 on average, below 12 of the 16 systems.",
)


def build_board() -> Board:
    """The complete demo board."""
    articles = _read_articles()
    instances = tuple(_instance(article) for article in articles)
    machines = [Generator(name, kind="machine", description=text) for name, text in SYSTEMS.items()]
    generators = sorted((HUMAN, *machines), key=lambda generator: generator.name)
    return Board(
        name=NAME,
        instances=instances,
        rows=tuple(row_of(generator, instances, _texts(generator, articles)) for generator in generators),
        judgments=_judgments(articles, [generator.name for generator in generators]),
        dimensions={dimension.name: dimension for dimension in SUMMARIES},
        aggregates={EXPERT.name: EXPERT, CROWD.name: CROWD},
        ranks=EXPERT.name,
        metrics=METRICS,
        input_language="en",
        output_language="en",
        card=CARD,
        anonymous=("expert", "crowd"),
    )


def _read_articles() -> list[Mapping[str, Any]]:
    """What is known of each article, as `data/README.md` explains it."""
    packed = files("billboards.demo").joinpath("data", "summeval.jsonl.xz").read_bytes()
    return [json.loads(line) for line in lzma.decompress(packed).decode().splitlines()]


def _instance(article: Mapping[str, Any]) -> Instance:
    _, *others = (Reference(f"crowd{k}", text) for k, text in enumerate(article["references"], 1))
    return Instance(article["id"], references=tuple(others), domain=DOMAINS[article["id"].partition("-")[0]])


def _texts(generator: Generator, articles: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    if generator == HUMAN:
        return tuple(article["references"][0] for article in articles)
    return tuple(article["summaries"][generator.name]["text"] for article in articles)


def _judgments(articles: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Judgments:
    """Every rating by an expert or a crowd worker."""
    dimensions = tuple(dimension.name for dimension in SUMMARIES)
    columns = JudgmentColumns(dimensions)
    # A campaign after the other, by name, as a board folder keeps them.
    for campaign, place in (("crowd", "turker"), ("expert", "expert")):
        for k, article in enumerate(articles):
            for name, summary in article["summaries"].items():
                for number, ratings in enumerate(summary[campaign], 1):
                    values = dict(zip(dimensions, ratings, strict=True))
                    columns.add(k, names.index(name), values, annotator=f"{place}{number}", campaign=campaign)
    return columns.build()
