"""Baseline rescaling (BERTScore, §3): (x - b) / (1 - b), with b the score of texts that have nothing in common.

A baseline is a table with one row per layer and b for P, R and F1, in the files bert_score uses (`LAYER,P,R,F`). Where
no baseline is found there is no rescaling and no score, so a signature never promises what did not happen.

It is estimated as the mean score of random pairs of sentences, at every layer. All pairs pass through the model once,
and distinct sentences are embedded once each, so a million pairs of a hundred thousand sentences cost little more than
the sentences.
"""

from __future__ import annotations

import csv
import hashlib
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.base import Floats
from billboards.metrics.neural.encoder import Precision
from billboards.metrics.neural.engine import Where, start_engine
from billboards.metrics.neural.idf import even_weights
from billboards.metrics.neural.matching import score_texts
from billboards.metrics.neural.models import EMBEDDED
from billboards.metrics.neural.readout import AllLayers
from billboards.metrics.neural.weights import locate
from billboards.saving import save_file

HEADER = ("LAYER", "P", "R", "F")
#: The baselines that were estimated here, by the model's name, and those that bert_score publishes, in one table.
SHIPPED = Path(__file__).parent / "data"
PUBLISHED = SHIPPED / "baselines.tsv"


@dataclass(frozen=True)
class Baseline:
    """b of each layer, for P, R and F1: layers × 3."""

    values: Floats

    def rescale(self, scores: Floats, layer: int | None) -> Floats:
        """Scores (… × 3, or layers × … × 3 where `layer` is None) between about 0 and 1."""
        b = self.row(layer) if layer is not None else self.values.reshape(-1, *(1,) * (scores.ndim - 2), 3)
        rescaled: Floats = (scores - b) / (1 - b)
        return rescaled

    def row(self, layer: int) -> Floats:
        if layer >= len(self.values):
            raise InvalidInput(f"the baseline has the layers 0 to {len(self.values) - 1}; layer {layer} is none")
        row: Floats = self.values[layer]
        return row

    def digest(self, layer: int) -> str:
        """Eight characters that change with b."""
        return hashlib.sha256(self.row(layer).astype("<f8").tobytes()).hexdigest()[:8]


def read_baseline(path: Path) -> Baseline:
    """The baseline in a file of bert_score's layout."""
    if not path.is_file():
        raise InvalidInput(f"{path}: no baseline there; `billboards bertscore baseline TEXTS -o FILE` makes one")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{path}: can't be read as a baseline: {error}") from error
    if tuple(header) != HEADER:
        raise InvalidInput(f"{path}:1: a baseline begins with the line {','.join(HEADER)}")
    return Baseline(np.array([_read_row(path, number, cells) for number, cells in enumerate(rows)]).reshape(-1, 3))


def _read_row(path: Path, number: int, cells: Sequence[str]) -> list[float]:
    try:
        layer, *values = map(float, cells)
    except ValueError:
        layer, values = -1.0, []
    if layer != number or len(values) != 3 or not all(-1 <= value < 1 for value in values):
        raise InvalidInput(f"{path}:{number + 2}: expected layer {number} and three numbers below 1, found {cells}")
    return values


def write_baseline(baseline: Baseline, path: Path) -> None:
    """A file that bert_score reads, too."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows((layer, *(f"{value:.8f}" for value in row)) for layer, row in enumerate(baseline.values))
    save_file(path, text.getvalue())


@cache
def published_baselines() -> Mapping[str, Mapping[str, Baseline]]:
    """The baselines that bert_score 0.3.12 publishes, by model and language."""
    rows: dict[tuple[str, str], list[list[float]]] = {}
    with PUBLISHED.open(encoding="utf-8", newline="") as file:
        for language, model, _, *values in islice(csv.reader(file, delimiter="\t"), 1, None):
            rows.setdefault((model, language), []).append([float(value) for value in values])
    baselines: dict[str, dict[str, Baseline]] = {}
    for (model, language), layers in rows.items():
        baselines.setdefault(model, {})[language] = Baseline(np.array(layers))
    return baselines


def find_baseline(model: str, language: str | None = None) -> Baseline:
    """The baseline that is known for a model and texts in a language; the only one needs no language."""
    own = SHIPPED / f"{model}.tsv"
    if own.is_file():
        return read_baseline(own)
    by_language = published_baselines().get(model, {})
    code = (language or "").lower().replace("_", "-")
    for wanted in (code, code.partition("-")[0]):
        if wanted in by_language:
            return by_language[wanted]
    if not code and len(by_language) == 1:
        return next(iter(by_language.values()))
    for_language = f" and texts in {language}" if language else ""
    others = f" (there are some for {', '.join(by_language)})" if by_language else ""
    raise InvalidInput(
        f"no baseline is known for {model}{for_language}{others}; `billboards bertscore baseline TEXTS -o FILE` makes "
        "one, and baseline=FILE uses it"
    )


def random_pairs(texts: Iterable[str], pairs: int, seed: int) -> tuple[list[str], list[str]]:
    """Pairs of two different texts, drawn at random from distinct ones that aren't blank."""
    distinct = list(dict.fromkeys(text for text in (line.strip() for line in texts) if text))
    if len(distinct) < 2:
        raise NotEnoughData(f"a baseline needs two different texts or more; {len(distinct)} were given")
    draw = random.Random(seed)
    drawn = [draw.sample(range(len(distinct)), 2) for _ in range(pairs)]
    return [distinct[first] for first, _ in drawn], [distinct[second] for _, second in drawn]


def estimate_baseline(
    texts: Iterable[str], model: str = EMBEDDED, *, pairs: int = 10_000, precision: Precision = "fp32", seed: int = 0
) -> Baseline:
    """b of every layer, for P, R and F1, from random pairs of these texts."""
    first, second = random_pairs(texts, pairs, seed)
    engine = start_engine(locate(model), None, precision, Where.from_environment(), AllLayers())
    scores = score_texts(engine, first, [(text,) for text in second], even_weights(engine.tokenizer))
    return Baseline(scores.mean(axis=1))
