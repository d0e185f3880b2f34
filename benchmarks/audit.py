"""Greedy extraction, batched, against the plain loop; and what greedy leaves behind against trying everything.

The metric is the similarity of output and source (all-MiniLM-L6-v2), the board cnndm. The plain loop asks the metric
for one candidate at a time. Both must choose the same sentences. Short documents are enumerated, too.

    python benchmarks/audit.py [--instances 100] [--sentences 3] [--most 500]
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from audit_study import opened
from measuring import shared_data

if TYPE_CHECKING:
    from billboards import Board, Metric


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100, help="documents to use (default 100, all)")
    parser.add_argument("--sentences", type=int, default=3, help="sentences to choose (default 3)")
    parser.add_argument("--most", type=int, default=500, help="choices up to which a document is enumerated")
    arguments, data = parser.parse_args(), shared_data()
    if data is None:
        print("not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    warnings.simplefilter("ignore")  # that sources are longer than the model reads is known
    with tempfile.TemporaryDirectory() as folder:
        measure(opened("cnndm", data, Path(folder)), arguments.instances, arguments.sentences, arguments.most)


def measure(board: Board, instances: int, k: int, most: int) -> None:
    from dataclasses import replace

    import numpy as np

    import billboards as bb
    from billboards.analyses.audit.bench import Bench
    from billboards.analyses.audit.extracting import Enumeration, Extraction
    from billboards.board.cells import MemoryCells

    board = replace(board, instances=board.instances[:instances], rows=(), home=None)
    metric = bb.metric("source-cosine")
    metric.score_batch(bb.Batch(["warm"], [], ["up"]))
    bench = Bench(board=board, store=MemoryCells())
    # The plain loop first: what the batched one leaves in memory would help it.
    start = time.perf_counter()
    plain = plain_loop(board, metric, k)
    theirs = time.perf_counter() - start
    start = time.perf_counter()
    batched = Extraction(k).optimise(bench, metric)
    ours = time.perf_counter() - start
    same = sum(one == other for one, other in zip(batched.texts, plain, strict=True))
    print(f"documents {len(board.instances)}, pairs scored {batched.pairs:,}")
    print(f"the same {k} sentences: {same} of {len(plain)}")
    print(f"batched {ours:8.1f} s\nplain   {theirs:8.1f} s\nratio   {theirs / ours:8.1f}x  (goal 10x)")
    exact = Enumeration(k, most).optimise(bench, metric)
    short = [i for i, text in enumerate(exact.texts) if text is not None]
    greedy, best = (
        bench.score_texts(metric, short, [texts[i] or "" for i in short]) for texts in (batched.texts, exact.texts)
    )
    equal = int(np.isclose(greedy, best, rtol=0, atol=1e-6).sum())
    print(f"enumerated {len(short)} documents of up to {most} choices ({exact.pairs:,} pairs)")
    left, worst = 1 - greedy.mean() / best.mean(), (1 - greedy / best).max()
    print(f"greedy finds the best of all on {equal}; mean {greedy.mean():.4f} of {best.mean():.4f}")
    print(f"leaves behind {100 * left:.2f}% on average, {100 * worst:.2f}% at worst")


def plain_loop(board: Board, metric: Metric, k: int) -> list[str | None]:
    """One candidate at a time, one call of the metric for each."""
    from billboards.analyses.audit.extracting import joined
    from billboards.analyses.audit.sentences import split_sentences

    found: list[str | None] = []
    for instance in board.instances:
        sentences, chosen = split_sentences(instance.input or ""), list[int]()
        for _ in range(min(k, len(sentences))):
            scores = {
                s: one_score(metric, joined(sentences, [*chosen, s]), instance.input or "")
                for s in range(len(sentences))
                if s not in chosen
            }
            chosen.append(max(scores, key=lambda s: scores[s]))
        found.append(joined(sentences, chosen) if sentences else None)
    return found


def one_score(metric: Metric, output: str, given: str) -> float:
    import billboards as bb
    from billboards.metrics.base import score_checked

    return float(next(iter(score_checked(metric, bb.Batch([output], [], [given], "en")).values()))[0])


if __name__ == "__main__":
    main()
