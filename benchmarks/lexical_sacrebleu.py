"""BLEU, chrF, chrF++ and TER beside sacreBLEU: the largest difference over real boards and generated texts.

Outputs are scored by both programs, with many options; sentence scores and, on real boards, corpus scores. Real are
wmt20-zh-en, cnndm, flickr8k and multi_summeval (eight languages), of which `--every N` takes each Nth, and a tenth
of those for options other than the defaults; generated are `--cases N` texts of all the kinds that break programs.
sacreBLEU's TER takes a tenth of a second for an output and minutes for long ones, so it takes every 101st of the real
outputs and texts of up to 1,000 words. All outputs of two boards are held against their released TER and CharacTER.
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from measuring import shared_data
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.summed import SummedMetric

TOLERANCE = 1e-9
METRICS = ("BLEU", "chrF", "chrF++", "TER")


def _bleu(**options: Any) -> BLEU:
    return BLEU(**{"effective_order": True, **options})


#: Our metric, and the sacreBLEU object whose numbers it must have.
PAIRS: dict[str, Any] = {
    "BLEU": _bleu(),
    "BLEU(lowercase=True)": _bleu(lowercase=True),
    "BLEU(tokenize=none)": _bleu(tokenize="none"),
    "BLEU(tokenize=intl)": _bleu(tokenize="intl"),
    "BLEU(tokenize=zh)": _bleu(tokenize="zh"),
    "BLEU(tokenize=char)": _bleu(tokenize="char"),
    "BLEU(smooth=none)": _bleu(smooth_method="none"),
    "BLEU(smooth=floor)": _bleu(smooth_method="floor"),
    "BLEU(smooth=floor[0.01])": _bleu(smooth_method="floor", smooth_value=0.01),
    "BLEU(smooth=add-k)": _bleu(smooth_method="add-k"),
    "BLEU(smooth=add-k[0.5],max_ngram_order=6)": _bleu(smooth_method="add-k", smooth_value=0.5, max_ngram_order=6),
    "BLEU(effective_order=False)": BLEU(),
    "BLEU(effective_order=False,smooth=none,max_ngram_order=2)": BLEU(smooth_method="none", max_ngram_order=2),
    "chrF": CHRF(),
    "chrF(beta=1)": CHRF(beta=1),
    "chrF(beta=3,char_order=10)": CHRF(beta=3, char_order=10),
    "chrF(lowercase=True,char_order=1)": CHRF(lowercase=True, char_order=1),
    "chrF(whitespace=True)": CHRF(whitespace=True),
    "chrF(eps_smoothing=True)": CHRF(eps_smoothing=True),
    "chrF++": CHRF(word_order=2),
    "chrF++(word_order=3,eps_smoothing=True)": CHRF(word_order=3, eps_smoothing=True),
    "chrF++(lowercase=True,whitespace=True,beta=0)": CHRF(word_order=2, lowercase=True, whitespace=True, beta=0),
    "TER": TER(),
    "TER(case_sensitive=True)": TER(case_sensitive=True),
    "TER(normalized=True)": TER(normalized=True),
    "TER(no_punct=True)": TER(no_punct=True),
    "TER(normalized=True,asian_support=True)": TER(normalized=True, asian_support=True),
    "TER(normalized=True,no_punct=True,asian_support=True)": TER(normalized=True, no_punct=True, asian_support=True),
}
FAMILIES = {family: [name for name in PAIRS if name.partition("(")[0] == family] for family in METRICS}


@dataclass
class Differences:
    """The largest difference found, over how many scores, and where."""

    count: int = 0
    largest: float = 0.0
    where: str = ""

    def note(self, ours: float, theirs: float, where: str) -> None:
        self.count += 1
        if not abs(ours - theirs) <= self.largest:
            self.largest, self.where = abs(ours - theirs), f"{where}: {ours!r} and not {theirs!r}"

    def __str__(self) -> str:
        verdict = "equal" if self.largest <= TOLERANCE else f"DIFFERENT {self.where}"
        return f"{self.count:7} scores, largest difference {self.largest:.1e} ({verdict})"


def compare(name: str, outputs: Sequence[str], references: Sequence[Sequence[str]], found: Differences) -> None:
    """Sentence scores of ours and of the peer."""
    ours = metric(name).score_batch(Batch(outputs, references))
    assert not isinstance(ours, dict)
    for own, output, texts in zip(ours, outputs, references, strict=True):
        theirs = PAIRS[name].sentence_score(output, list(texts)).score
        found.note(float(own), theirs, f"{name} of {output[:60]!r} against {[text[:60] for text in texts]!r}")


def compare_corpus(name: str, outputs: Sequence[str], references: Sequence[Sequence[str]], found: Differences) -> None:
    """The corpus score of ours and of the peer, which takes streams of references, gaps as None."""
    scorer = metric(name)
    assert isinstance(scorer, SummedMetric)
    most = max(map(len, references))
    streams = [[texts[k] if k < len(texts) else None for texts in references] for k in range(most)]
    found.note(scorer.corpus_score(Batch(outputs, references)), PAIRS[name].corpus_score(outputs, streams).score, name)


Board = tuple[list[str], list[list[str]]]


def _lines(path: Path) -> list[Any]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def billboard(data: Path, board: str) -> Board:
    """Every generator's outputs, each with all references."""
    known = {line["seg_id"]: line["refs"] for line in _lines(data / REFERENCES[board])}
    outputs, texts = [], []
    for path in sorted((data / "billboard" / "submissions" / board / "generators").glob("*.jsonl")):
        for line in _lines(path):
            outputs.append(line["hyp"])
            texts.append(known[line["seg_id"]])
    return outputs, texts


def flickr8k(data: Path) -> Board:
    """Each judged pair of image and caption: the caption against the image's five."""
    captions: dict[str, list[str]] = {}
    for line in (data / "flickr8k" / "Flickr8k.token.txt").read_text("utf-8").splitlines():
        key, caption = line.split("\t")
        captions.setdefault(key.partition("#")[0], []).append(caption)
    outputs, texts = [], []
    with (data / "flickr8k" / "ExpertAnnotations.txt").open(encoding="utf-8", newline="") as file:
        for image, caption, *_ in csv.reader(file, delimiter="\t"):
            other, _, number = caption.partition("#")
            if other in captions and image in captions:
                outputs.append(captions[other][int(number)])
                texts.append(captions[image])
    return outputs, texts


def multi_summeval(data: Path) -> Board:
    """Two summaries of each article in eight languages, against its own."""
    lines = _lines(data / "multi_summeval" / "texts.jsonl")
    outputs = [line[model] for line in lines for model in ("pred_BERT", "pred_PG")]
    return outputs, [[line["gold"]] for line in lines for _ in range(2)]


REFERENCES = {
    "wmt20-zh-en": "wmt20_references/wmt20-zh-en_refs.jsonl",
    "cnndm": "THumB/cnndm/cnndm_references.jsonl",
}
BOARDS: dict[str, Callable[[Path], Board]] = {
    "wmt20-zh-en": lambda data: billboard(data, "wmt20-zh-en"),
    "cnndm": lambda data: billboard(data, "cnndm"),
    "flickr8k": flickr8k,
    "multi_summeval": multi_summeval,
}


def compare_board(board: str, every: int) -> bool:
    """Both programs on a real board."""
    data = shared_data()
    if data is None:
        print(f"{board}: not compared, data absent; set BILLBOARDS_SHARED")
        return True
    outputs, references = BOARDS[board](data)
    equal = True
    for family, names in FAMILIES.items():
        found = Differences()
        for name in names:
            chosen = range(0, len(outputs), every * stride(name))
            own, theirs = [outputs[k] for k in chosen], [references[k] for k in chosen]
            compare(name, own, theirs, found)
            compare_corpus(name, own, theirs, found)
        print(f"{board:14} {family:6} {len(names):3} choices of options {found}", flush=True)
        equal &= found.largest <= TOLERANCE
    return equal


def stride(name: str) -> int:
    """Every how many-th output of a board a metric is compared on."""
    if name.startswith("TER"):
        return 101
    return 1 if "(" not in name else 10


def compare_released(every: int) -> bool:
    """TER and CharacTER of every output beside the scores that were released with it, which are negated."""
    data = shared_data()
    if data is None:
        print("released: not compared, data absent; set BILLBOARDS_SHARED")
        return True
    equal = True
    for board, name in ((board, name) for board in REFERENCES for name in ("TER", "CharacTER")):
        outputs, references = BOARDS[board](data)
        ours = metric(name).score_batch(Batch(outputs[::every], references[::every]))
        assert not isinstance(ours, dict)
        found = Differences()
        for own, theirs in zip(ours, released(data, board, name)[::every], strict=True):
            found.note(float(own), -theirs, f"{board} {name}")
        print(f"{board:14} {name:9} as released          {found}", flush=True)
        equal &= found.largest <= TOLERANCE
    return equal


def released(data: Path, board: str, name: str) -> list[float]:
    """The released scores in the order of the board's outputs."""
    scores = []
    for path in sorted((data / "billboard" / "submissions" / board / "generators").glob("*.jsonl")):
        column = f"{path.stem.removeprefix(f'{board}_')}||{name}.csv"
        with (data / "billboard" / "results" / board / column).open(encoding="utf-8", newline="") as file:
            by_segment = {row["seg_id"]: float(row["score"]) for row in csv.DictReader(file)}
        scores += [by_segment[line["seg_id"]] for line in _lines(path)]
    return scores


WORDS = [
    "the",
    "The",
    "a",
    "cat",
    "cat,",
    "sat",
    "mat.",
    "on",
    "naïve",
    "1,000",
    "2.5",
    "don't",
    "(hi)",
    "e.g.",
    "U.S.",
]
WORDS += ["semi-final", "9-5", "&amp;", "&lt;b&gt;", "<skipped>"]
PIECES: dict[str, Sequence[str]] = {
    "words": WORDS,
    "few words": ["a", "b", "c"],
    "cjk": [*"的一是不了人我在有他这中大来上国。，、！「」カタカナひらがな漢字한국어"],
    "emoji": ["👩‍👩‍👧", "👍🏽", "🇫🇷", "❤️", "😀", "x"],
    "combining": ["e\u0301", "é", "n\u0303\u0303", "z\u0351\u036b", "ก็", "\u093f", "a\u0308"],
    "right-to-left": ["שלום", "עולם", "مرحبا", "بِالعَرَبِيَّة", "،", "؟", "\u200f", "\u202e"],
    "control": [
        "\x00",
        "\x07",
        "\x1b[0m",
        "\x1c",
        "\x85",
        "\u2028",
        "\u00a0",
        "\u200b",
        "\ufeff",
        "-\n",
        "a",
        "\r\n",
        ".",
    ],
    "marks": [*".,-!?:;'\"()[]{}/\\|@#$%^&*_+=~`<> 01aé", "&quot;", "&amp;lt;", "'s "],
}


def any_text(draw: random.Random, length: int) -> str:
    """A text of one kind of pieces, or of any code points."""
    kind = draw.choice([*PIECES, "any"])
    if kind == "any":
        return "".join(chr(draw.choice((draw.randrange(0x250), draw.randrange(0x110000)))) for _ in range(length))
    joined = "" if kind in ("cjk", "marks", "emoji") and draw.random() < 0.7 else " "
    return joined.join(draw.choices(PIECES[kind], k=length))


def disturbed(draw: random.Random, text: str) -> str:
    """A text with pieces dropped, doubled and moved, so that much of it still matches."""
    pieces = text.split(" ") if " " in text else list(text)
    for _ in range(draw.randrange(5)):
        if not pieces:
            break
        start = draw.randrange(len(pieces))
        phrase = pieces[start : start + draw.randrange(1, 6)]
        if draw.random() < 0.7:
            del pieces[start : start + len(phrase)]
        if draw.random() < 0.7:
            place = draw.randrange(len(pieces) + 1)
            pieces[place:place] = phrase
    return (" " if " " in text else "").join(pieces)


def case(draw: random.Random, longest: int) -> tuple[str, list[str]]:
    """An output and its references: often empty or short, now and then as long as may be."""
    length = draw.choice((0, 1, 2, 5, 10, 20, 40)) if draw.random() < 0.995 else draw.randrange(longest)
    references = [any_text(draw, length if draw.random() < 0.8 else draw.randrange(12))]
    references += [disturbed(draw, references[0]) for _ in range(draw.choice((0, 0, 1, 3)))]
    output = disturbed(draw, references[-1]) if draw.random() < 0.7 else any_text(draw, draw.choice((0, 1, 8, length)))
    return output, references


def compare_generated(cases: int, seed: int = 0) -> bool:
    """Each generated case under one choice of options for each metric; and texts of 10,000 words."""
    draw = random.Random(seed)
    equal = True
    for family, names in FAMILIES.items():
        found = Differences()
        asked: dict[str, tuple[list[str], list[list[str]]]] = {name: ([], []) for name in names}
        for _ in range(cases):
            outputs, references = asked[draw.choice(names)]
            output, texts = case(draw, 200 if family == "TER" else 1000)
            outputs.append(output)
            references.append(texts)
        for name, (outputs, references) in asked.items():
            compare(name, outputs, references, found)
        for output, texts in long_cases(draw, 1000 if family == "TER" else 10_000) if cases >= 20_000 else ():
            compare(family, [output], [texts], found)
        print(f"{'generated':14} {family:6} {len(names):3} choices of options {found}", flush=True)
        equal &= found.largest <= TOLERANCE
    return equal


def long_cases(draw: random.Random, words: int) -> Iterator[tuple[str, list[str]]]:
    """Documents of so many words, near to their reference and not."""
    for distinct in (50, 500, 5000):
        vocabulary = [*WORDS, *(f"w{k}" for k in range(distinct))]
        reference = " ".join(draw.choices(vocabulary, k=words))
        yield disturbed(draw, reference), [reference]
        yield " ".join(draw.choices(vocabulary, k=words)), [reference]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--part", choices=("generated", "released", *BOARDS), action="append", help="only this (default: all)"
    )
    parser.add_argument("--every", type=int, default=1, help="compare every Nth output of the boards")
    parser.add_argument("--cases", type=int, default=20_000, help="generated cases for each metric")
    arguments = parser.parse_args()
    # It advises against options that are compared here on purpose.
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    parts: dict[str, Callable[[], bool]] = {
        "generated": lambda: compare_generated(arguments.cases),
        "released": lambda: compare_released(arguments.every),
        **{board: partial(compare_board, board, arguments.every) for board in BOARDS},
    }
    results = [parts[part]() for part in arguments.part or parts]
    sys.exit(0 if all(results) else "some scores differ by more than 1e-9")


if __name__ == "__main__":
    main()
