"""Corpus values with intervals beside sacreBLEU's: how many times as fast, and whether the numbers are the same.

Every generator of wmt20-zh-en under BLEU, chrF, chrF++ and TER with 1,000 resampled corpora. Ours are timed twice: from
texts (counting and resampling) and from kept counts (what a page or another slice of the board costs). sacreBLEU starts
from texts each time; some generators are enough to time it, `--whole` compares all of them (TER takes minutes each).

    python benchmarks/corpus.py [--generators 2] [--metrics BLEU chrF chrF++ TER] [--whole]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from measuring import shared_data

import billboards as bb
from billboards.board.cells import MemoryCells
from billboards.board.corpus import corpus_values
from billboards.board.scoring import column_key, score_board
from billboards.metrics.executor import InProcess

DRAWS = 1000
#: sacreBLEU goes on in single precision where it resamples.
TOLERANCE = 1e-5


def peers() -> Mapping[str, Callable[[], Any]]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return {"BLEU": BLEU, "chrF": CHRF, "chrF++": lambda: CHRF(word_order=2), "TER": TER}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generators", type=int, default=2, help="generators that sacreBLEU is timed on")
    parser.add_argument("--metrics", nargs="+", default=["BLEU", "chrF", "chrF++", "TER"], choices=peers())
    parser.add_argument("--whole", action="store_true", help="compare every generator")
    arguments = parser.parse_args()
    data = shared_data()
    if data is None:
        print("the shared data are absent: nothing to measure")
        return 0
    board = bb.import_board("billboard", data / "billboard", board="wmt20-zh-en", references=data / "wmt20_references")
    references = board.reference_texts(board.references)
    streams = [list(stream) for stream in zip(*references, strict=True)]
    equal = True
    print(f"{len(board.rows)} rows, {len(board.instances)} outputs each, {len(streams)} references, {DRAWS} draws")
    for name in arguments.metrics:
        metric, store = bb.metric(name), MemoryCells()
        start = time.perf_counter()
        score_board(board, store, [metric], InProcess())
        counting = time.perf_counter() - start
        start = time.perf_counter()
        (column,) = corpus_values(board, store, [column_key(board, metric, board.references)], draws=DRAWS)
        resampling = time.perf_counter() - start
        compared = list(column.values)[: None if arguments.whole else arguments.generators]
        start, largest = time.perf_counter(), [0.0, 0.0, 0.0]
        for generator in compared:
            theirs = peers()[name]()
            score = theirs.corpus_score(list(board.row(generator).texts), streams, n_bootstrap=DRAWS)
            own = column.values[generator]
            pairs = (own.value, score.score), (own.mean, score._mean), (own.half_width, score._ci)
            largest = [max(most, abs(a - float(b))) for most, (a, b) in zip(largest, pairs, strict=True)]
            equal &= column.signature == str(theirs.get_signature())
        peer = (time.perf_counter() - start) / len(compared) * len(column.values)
        equal &= largest[0] == 0.0 and max(largest[1:]) < TOLERANCE
        ours = counting + resampling
        print(f"{name}: ours {counting:.2f} s counting + {resampling:.2f} s resampling, peer {peer:.1f} s")
        print(f"  the peer takes {peer / ours:.1f}x as long from texts, {peer / resampling:.0f}x from kept counts")
        value, mean, half = (f"{most:.1e}" for most in largest)
        print(f"  {len(compared)} compared, largest differences: value {value}, mean {mean}, interval {half}")
    print("equal" if equal else "NOT EQUAL")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
