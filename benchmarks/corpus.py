"""Corpus values with intervals beside sacreBLEU's: how many times as fast, and whether the numbers are the same.

Generators of a board under BLEU, chrF, chrF++ and TER with 1,000 resampled corpora. Ours are timed twice: from texts
(counting and resampling) and from kept counts (what a page or another slice of the board costs). sacreBLEU starts from
texts each time; some generators are enough to time it, `--whole` compares all of them. Its TER takes hours for a board:
`--instances` says how many of the first instances are compared. `--write` keeps its numbers for the tests.

    python benchmarks/corpus.py [--boards wmt20-zh-en cnndm wmt23-en-de] [--metrics BLEU chrF chrF++ TER]
                                [--generators 2 | --whole] [--instances 20] [--write FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measuring import shared_data

import billboards as bb
from billboards.board.cells import MemoryCells
from billboards.board.corpus import CorpusColumn, corpus_values
from billboards.board.missing_cells import column_key, score_board
from billboards.metrics.executor import InProcess

DRAWS = 1000
#: sacreBLEU goes on in single precision where it resamples.
TOLERANCE = 5e-5

Values = dict[str, tuple[float, float, float]]


def peers() -> Mapping[str, Callable[[], Any]]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return {"BLEU": BLEU, "chrF": CHRF, "chrF++": lambda: CHRF(word_order=2), "TER": TER}


def boards(data: Path) -> Mapping[str, Callable[[], bb.Board]]:
    folder, references = data / "billboard", data / "wmt20_references"
    return {
        "wmt20-zh-en": lambda: bb.import_board("billboard", folder, board="wmt20-zh-en", references=references),
        "cnndm": lambda: bb.import_board("billboard", folder, board="cnndm", judgments=data / "THumB"),
        "wmt23-en-de": lambda: bb.import_board("mtme", data / "mtme_wmt23_en-de"),
    }


def peer_values(board: bb.Board, name: str, generators: Sequence[str], instances: int) -> tuple[Values, str]:
    """Score, mean and half the interval of each generator, by sacreBLEU, and its signature."""
    references = board.reference_texts(board.references)[:instances]
    values: Values = {}
    theirs = peers()[name]()
    for generator in generators:
        texts = board.row(generator).texts
        places = [k for k, texts_of in enumerate(references) if texts[k] is not None and texts_of]
        most = max(len(references[k]) for k in places)
        streams = [[references[k][r] if r < len(references[k]) else None for k in places] for r in range(most)]
        score = theirs.corpus_score([texts[k] for k in places], streams, n_bootstrap=DRAWS)
        values[generator] = (float(score.score), float(score._mean), float(score._ci))
    return values, str(theirs.get_signature())


def own_values(board: bb.Board, name: str, instances: int) -> tuple[CorpusColumn, float, float]:
    """Our values, with the seconds for counting all instances and for resampling."""
    metric, store = bb.metric(name), MemoryCells()
    start = time.perf_counter()
    score_board(board, store, [metric], InProcess())
    counted = time.perf_counter()
    key = column_key(board, metric, board.references)
    (column,) = corpus_values(board, store, [key], instances=range(instances), draws=DRAWS)
    return column, counted - start, time.perf_counter() - counted


def compare(board: bb.Board, name: str, generators: int | None, instances: int) -> tuple[bool, dict[str, Any]]:
    column, counting, resampling = own_values(board, name, instances)
    compared = list(column.values)[:generators]
    start = time.perf_counter()
    theirs, signature = peer_values(board, name, compared, instances)
    peer = (time.perf_counter() - start) / len(compared) * len(column.values)
    own = [(v.value, v.mean, v.half_width) for v in (column.values[generator] for generator in compared)]
    value, mean, half = np.abs(np.array(own) - np.array([theirs[generator] for generator in compared])).max(axis=0)
    whole = instances == len(board.instances)
    print(f"{name}: ours {counting:.2f} s counting + {resampling:.2f} s resampling, peer {peer:.1f} s")
    from_texts = f"{peer / (counting + resampling):.1f}x as long from texts, " if whole else ""
    print(f"  the peer takes {from_texts}{peer / resampling:.0f}x as long from kept counts")
    print(f"  {len(compared)} compared, largest differences: value {value:.1e}, mean {mean:.1e}, interval {half:.1e}")
    equal = signature == column.signature and value < 1e-11 and max(mean, half) < TOLERANCE
    return bool(equal), {
        "board": board.name,
        "metric": name,
        "instances": None if whole else instances,
        "signature": signature,
        "values": theirs,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", nargs="+", default=["wmt20-zh-en"], help="wmt20-zh-en, cnndm, wmt23-en-de")
    parser.add_argument("--metrics", nargs="+", default=["BLEU", "chrF", "chrF++"], choices=peers())
    parser.add_argument("--generators", type=int, default=2, help="generators that sacreBLEU is timed on")
    parser.add_argument("--instances", type=int, help="how many of the first instances (default: all)")
    parser.add_argument("--whole", action="store_true", help="compare every generator")
    parser.add_argument("--write", type=Path, help="write sacreBLEU's numbers to this file")
    arguments = parser.parse_args()
    data = shared_data()
    if data is None:
        print("the shared data are absent: nothing to measure")
        return 0
    results = []
    for name in arguments.boards:
        board = boards(data)[name]()
        instances = min(arguments.instances or len(board.instances), len(board.instances))
        print(f"{name}: {len(board.rows)} rows, {instances} instances, {DRAWS} draws")
        for metric in arguments.metrics:
            results.append(compare(board, metric, None if arguments.whole else arguments.generators, instances))
    equal = all(same for same, _ in results)
    print("equal" if equal else "NOT EQUAL")
    if arguments.write:
        arguments.write.write_text(json.dumps([kept for _, kept in results], indent=1) + "\n", "utf-8")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
