"""ROUGE, METEOR and CIDEr-D held against rouge-score, nltk and pycocoevalcap, on real and on generated texts.

Prints, for every data set and metric, how many outputs were compared and the largest difference; ends with code 1 where
one is above 1e-9. Without options every output of wmt20-zh-en, cnndm, flickr8k and multi_summeval is compared, and
20,000 generated ones (hours, nearly all of them the peers'); `--every N` takes each N-th, `--data` some of the sets.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import billboards as bb
from billboards.metrics import rouge
from billboards.metrics.base import Batch, Floats, Metric, score_checked
from billboards.metrics.cider import CIDErD
from billboards.metrics.meteor import METEOR
from billboards.metrics.wordnet import FILES, wordnet
from billboards.metrics.words import caption_words, unicode_words

TOLERANCE = 1e-9
Parts = dict[str, Floats]
Peer = Callable[[Batch], Parts]


def every(batch: Batch, step: int) -> Batch:
    return Batch(batch.outputs[::step], batch.references[::step])


def board_of(name: str, data: Path) -> bb.Board:
    """One of the paper's two boards that are at hand."""
    if name == "cnndm":
        return bb.import_board("billboard", data / "billboard", board="cnndm", judgments=data / "THumB")
    judgments, references = data / "wmt-mqm-human-evaluation", data / "wmt20_references"
    return bb.import_board("billboard", data / "billboard", board=name, judgments=judgments, references=references)


def batches_of(board: bb.Board) -> Iterator[tuple[str, Batch]]:
    references = board.reference_texts(board.references)
    for row in board.rows:
        if not board.is_reference(row, board.references):
            yield row.name, Batch([text or "" for text in row.texts], references)


def flickr8k(data: Path) -> Batch:
    """The captions that experts judged, with the five captions of the image they were judged for."""
    captions = dict(line.split("\t") for line in _lines(data / "flickr8k" / "Flickr8k.token.txt"))
    judged = [line.split("\t")[:2] for line in _lines(data / "flickr8k" / "ExpertAnnotations.txt")]
    return Batch(
        [captions[c] for _, c in judged], [[captions[f"{image}#{k}"] for k in range(5)] for image, _ in judged]
    )


def multi_summeval(data: Path) -> Batch:
    """Both systems' summaries in eight languages."""
    rows = [json.loads(line) for line in _lines(data / "multi_summeval" / "texts.jsonl")]
    systems = ("pred_BERT", "pred_PG")
    return Batch([row[s] for row in rows for s in systems], [[row["gold"]] for row in rows for _ in systems])


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").rstrip("\n").split("\n")


ALPHABETS = (
    "abcdefghij",
    "the cat sat running",
    "ÀéîõüßŞİı\u212a’ſ",
    "😀👩\u200d👧🏽🇹🇷\ufe0f",
    "a\u0301e\u0302n\u0303\u093c\u0301",
    "שלוםمرحبا\u200f\u200e",
    "猫坐在垫子上の行くひらカタ",
    "кошкасидит",
    "กขค\u0e34\u0e35\u0e38\u0942",
    "\x00\x01\x07\x1b\x1c\x1f\x85\u2028\u200b\t\r\x0b\x0c",
    "0123456789.,;:!?-_'\"()[]%&#",
    "\ud800\udfff",
)
WORDS = ["the", "The", "cats", "cat", "sitting", "sat", "sits", "on", "Mats", "mat", "naïve", "1,000", "running", "ran"]
WORDS += ["run", "big", "large", "quickly", "it's", "don't"]


def generated(count: int, seed: int = 7) -> Batch:
    """Texts as nobody writes them, and some as everybody does; one in a thousand has 10,000 words."""
    draw = random.Random(seed)
    outputs, references = [], []
    for k in range(count):
        outputs.append(_long(draw) if k % 1000 == 500 else _text(draw))
        references.append([_text(draw) for _ in range(draw.randint(1, 4))])
        if draw.random() < 0.1:
            references[-1].append(outputs[-1] if len(outputs[-1]) < 1000 else "the cat")
    return Batch(outputs, references)


def _long(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=10_000))


def _text(draw: random.Random) -> str:
    kind = draw.randrange(4)
    if kind == 0:
        return " ".join(draw.choices(WORDS, k=draw.randrange(40)))
    if kind == 1:
        return draw.choice(["", " ", "\n", *(a[0] for a in ALPHABETS)])
    letters = draw.choice(ALPHABETS) if kind == 2 else "".join(ALPHABETS)
    words = ("".join(draw.choices(letters, k=draw.randint(1, 6))) for _ in range(draw.randrange(20)))
    return "".join(word + draw.choice(" \n  ") for word in words)


ROUGES: dict[str, type[rouge.Rouge]] = {
    **{f"rouge{n}": getattr(rouge, f"Rouge{n}") for n in range(1, 10)},
    "rougeL": rouge.RougeL,
    "rougeLsum": rouge.RougeLsum,
}
PARTS = ("fmeasure", "precision", "recall")


def rouge_pairs(kinds: tuple[str, ...], **options: Any) -> Iterator[tuple[Metric, Peer]]:
    """Our ROUGE metrics beside rouge-score, best and mean over references; the peer scores each pair once for all."""
    from rouge_score.rouge_scorer import RougeScorer

    own = SimpleNamespace(tokenize=unicode_words) if options.get("tokenizer") == "unicode" else None
    scorer = RougeScorer(list(kinds), use_stemmer=options.get("stemmer", False), tokenizer=own)
    known: dict[int, list[list[dict[str, Any]]]] = {}

    def scored(batch: Batch) -> list[list[dict[str, Any]]]:
        if id(batch) not in known:
            known[id(batch)] = [[scorer.score(r, i.output) for r in i.references] for i in batch.items()]
        return known[id(batch)]

    def best(batch: Batch, kind: str) -> Parts:
        chosen = [max((one[kind] for one in each), key=lambda s: s.fmeasure) for each in scored(batch)]
        return {part: np.array([getattr(score, part) for score in chosen]) for part in PARTS}

    def mean(batch: Batch, kind: str) -> Parts:
        return {p: np.array([np.mean([getattr(s[kind], p) for s in each]) for each in scored(batch)]) for p in PARTS}

    for kind in kinds:
        yield ROUGES[kind](**options), partial(best, kind=kind)
        yield ROUGES[kind](references="mean", **options), partial(mean, kind=kind)


def nltk_wordnet(folder: Path) -> Any:
    """nltk's own reader of the WordNet that is configured; it wants a copy under its data path, and a list of names."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def map_wn(self, version: str = "wordnet") -> None:
            """No map to another WordNet: its files are not here."""

    for name in FILES:
        shutil.copy(wordnet().folder / name, folder)
    (folder / "lexnames").write_text("".join(f"{k:02d}\tname{k}\t1\n" for k in range(45)))
    nltk.data.path.insert(0, str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(str(folder), None)


def meteor_peer(folder: Path) -> Peer:
    from nltk.translate.meteor_score import meteor_score

    reader = nltk_wordnet(folder)

    def peer(batch: Batch) -> Parts:
        items = ((i.output.split(), [r.split() for r in i.references]) for i in batch.items())
        return {"": np.array([meteor_score(references, output, wordnet=reader) for output, references in items])}

    return peer


def cider_peer(batch: Batch) -> Parts:
    from pycocoevalcap.cider.cider import Cider

    outputs = {k: [text] for k, text in enumerate(batch.outputs)}
    return {"": Cider().compute_score(dict(enumerate(map(list, batch.references))), outputs)[1]}


def prepared(batch: Batch) -> Batch:
    """Texts as captions are prepared, so that both sides split at blanks."""
    cut = [[" ".join(caption_words(text)) for text in texts] for texts in batch.references]
    return Batch([" ".join(caption_words(text)) for text in batch.outputs], cut)


def largest_difference(metric: Metric, peer: Peer, batches: list[Batch]) -> float:
    worst = 0.0
    for batch in batches:
        ours, theirs = score_checked(metric, batch), peer(batch)
        worst = max(worst, *(float(np.max(np.abs(ours[part] - theirs[part]), initial=0)) for part in theirs))
    return worst


class Findings:
    """What was compared, printed as it comes."""

    def __init__(self) -> None:
        self.worst = 0.0
        print(f"{'data':16}{'metric':44}{'outputs':>8}  largest difference")

    def add(self, data: str, name: str, batches: list[Batch], difference: float) -> None:
        self.worst = max(self.worst, difference)
        print(f"{data:16}{name:44}{sum(map(len, batches)):8}  {difference:.1e}", flush=True)


def compare(findings: Findings, data: str, batches: list[Batch], meteor: Peer) -> None:
    everything = tuple(ROUGES)
    for options in ({}, {"stemmer": True}, {"tokenizer": "unicode"}):
        for metric, peer in rouge_pairs(everything, **options):
            findings.add(data, metric.name, batches, largest_difference(metric, peer, batches))
    findings.add(data, "METEOR", batches, largest_difference(METEOR(), meteor, batches))
    cut = [prepared(batch) for batch in batches]
    findings.add(data, "CIDEr-D", cut, largest_difference(CIDErD(tokenizer="split"), cider_peer, cut))


def compare_released(findings: Findings, name: str, board: bb.Board, step: int) -> None:
    """The METEOR columns that came with the boards; nltk changed between the two."""
    metric = METEOR(early_nltk=name == "wmt20-zh-en")
    (column,) = (column for column in board.imported if column.name == "METEOR")
    batches = {row: every(batch, step) for row, batch in batches_of(board) if row in column.values}
    gaps = np.concatenate([abs(metric.score_batch(part) - column.values[row][::step]) for row, part in batches.items()])
    apart = gaps > TOLERANCE
    said = f"{metric.name} as released"
    print(f"{name:16}{said:44}{apart.size:8}  {apart.sum()} differ, the most by {gaps.max():.1e}")
    if apart.any():
        findings.worst = float("inf")


SETS = ("generated", "flickr8k", "multi_summeval", "cnndm", "wmt20-zh-en")


def compare_set(findings: Findings, name: str, data: Path, arguments: argparse.Namespace, meteor: Peer) -> None:
    step = arguments.every
    if name == "generated":
        compare(findings, name, [generated(arguments.generated)], meteor)
    elif name in ("flickr8k", "multi_summeval"):
        whole = flickr8k(data) if name == "flickr8k" else multi_summeval(data)
        compare(findings, name, [every(whole, step)], meteor)
    else:
        board = board_of(name, data)
        compare(findings, name, [every(batch, step) for _, batch in batches_of(board)], meteor)
        compare_released(findings, name, board, step)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="compare each N-th output only")
    parser.add_argument("--generated", type=int, default=20_000, metavar="N", help="generated outputs (default 20000)")
    parser.add_argument("--data", nargs="+", choices=SETS, default=SETS, help="which sets (default all)")
    arguments = parser.parse_args()
    root = os.environ.get("BILLBOARDS_SHARED")
    data = (Path(root) if root else Path(__file__).resolve().parents[2] / "shared") / "data"
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder:
        meteor = meteor_peer(Path(folder))
        for name in arguments.data:
            compare_set(findings, name, data, arguments, meteor)
    print(f"largest difference of all: {findings.worst:.1e}")
    return int(findings.worst > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
