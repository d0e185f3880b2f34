"""The lexical metrics beside their peers: how many times as fast, on the same outputs and with the same numbers.

On one core each, outputs of wmt20-zh-en with both references are scored by sacreBLEU or rouge-score and by billboards,
in one process; processor time counts, because it suffers less from whatever else the machine does. Then the whole board
on two cores beside sacreBLEU's TER on 200 outputs, by the clock; the memory of a million outputs that stream by; and
how time grows with a document's length.

    python benchmarks/lexical.py [--part speed|board|memory|length] [--outputs 1000]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring import growth, run, shared_data

#: The least times as fast a metric should be.
GOALS = {"BLEU": 10, "chrF": 20, "chrF++": 20, "TER": 200, "ROUGE-3 + L": 20}
WHOLE = ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-3", "ROUGE-L")
#: Outputs that sacreBLEU's TER is timed on: it takes a tenth of a second for each.
TER_OUTPUTS = 200
STREAMED, GOAL_MIB = 1_000_000, 1024

Texts = tuple[list[str], list[list[str]]]
Scores = Sequence[float]


def zh_en(data: Path) -> Texts:
    """Every generator's outputs, each with both references."""
    with (data / "wmt20_references" / "wmt20-zh-en_refs.jsonl").open(encoding="utf-8") as file:
        known = {line["seg_id"]: line["refs"] for line in map(json.loads, file)}
    outputs, references = [], []
    for path in sorted((data / "billboard" / "submissions" / "wmt20-zh-en" / "generators").glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            for line in map(json.loads, file):
                outputs.append(line["hyp"])
                references.append(known[line["seg_id"]])
    return outputs, references


def some(texts: Texts, count: int) -> Texts:
    """So many outputs, drawn from all generators."""
    chosen = random.Random(0).sample(range(len(texts[0])), min(count, len(texts[0])))
    return [texts[0][k] for k in chosen], [texts[1][k] for k in chosen]


def sacrebleu_scores(scorer: Any, texts: Texts) -> Scores:
    return [scorer.sentence_score(o, r).score for o, r in zip(*texts, strict=True)]


def rouge_scores(texts: Texts) -> Scores:
    """The best F of ROUGE-3 and of ROUGE-L over the references, both in one list."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge3", "rougeL"])
    found = [[scorer.score(r, o) for r in refs] for o, refs in zip(*texts, strict=True)]
    return [max(one[kind].fmeasure for one in scores) for kind in ("rouge3", "rougeL") for scores in found]


def peers() -> Mapping[str, Callable[[Texts], Scores]]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return {
        "BLEU": lambda texts: sacrebleu_scores(BLEU(effective_order=True), texts),
        "chrF": lambda texts: sacrebleu_scores(CHRF(), texts),
        "chrF++": lambda texts: sacrebleu_scores(CHRF(word_order=2), texts),
        "TER": lambda texts: sacrebleu_scores(TER(), texts),
        "ROUGE-3 + L": rouge_scores,
    }


def own_scores(name: str, texts: Texts) -> Scores:
    """Our scores, by metric; of a metric with parts, the primary one."""
    from billboards.metrics.base import Batch, score_checked
    from billboards.metrics.discovery import metric

    names = ("ROUGE-3", "ROUGE-L") if name == "ROUGE-3 + L" else (name,)
    parts = [next(iter(score_checked(metric(one), Batch(*texts)).values())) for one in names]
    return [float(score) for scores in parts for score in scores]


def timed(work: Callable[[], Scores], clock: Callable[[], float]) -> tuple[float, Scores]:
    start = clock()
    found = work()
    return clock() - start, found


def measure_speed(texts: Texts, count: int) -> None:
    """Each metric on one core, beside its peer, on the same outputs; ours is the best of three runs."""
    _use_cores(1)
    print(f"one core each; microseconds of processor time per output, {count} outputs ({TER_OUTPUTS} for TER)")
    for name, peer in peers().items():
        chosen = some(texts, min(TER_OUTPUTS, count) if name == "TER" else count)
        # What loads on first use is no part of the comparison, on either side.
        # What either loads when first used is not its speed.
        own_scores(name, some(texts, 3))
        peer(some(texts, 3))
        peer(some(texts, 2))
        runs = [timed(lambda: own_scores(name, chosen), time.process_time) for _ in range(3)]  # noqa: B023
        ours, scores = min(runs, key=lambda one: one[0])
        theirs, expected = timed(lambda: peer(chosen), time.process_time)  # noqa: B023
        difference = max(abs(a - b) for a, b in zip(scores, expected, strict=True))
        per = 1e6 / len(chosen[0])
        ratio, goal = theirs / ours, GOALS[name]
        print(
            f"{name:12} ours {ours * per:8.1f}  peer {theirs * per:10.1f}  {ratio:7.1f}×  goal {goal}×: "
            f"{'met' if ratio >= goal else 'missed'}; largest difference {difference:.1e}",
            flush=True,
        )


def measure_board(texts: Texts) -> None:
    """All metrics on the whole board on two cores, and sacreBLEU's TER on a few outputs of it, by the clock."""
    _use_cores(2)
    total = 0.0
    for name in WHOLE:
        seconds, _ = timed(lambda: own_scores(name, texts), time.perf_counter)  # noqa: B023
        total += seconds
        print(f"{name:12} {len(texts[0])} outputs in {seconds:6.2f} s", flush=True)
    theirs, _ = timed(lambda: peers()["TER"](some(texts, TER_OUTPUTS)), time.perf_counter)
    print(f"all {len(WHOLE)}: {total:.1f} s on two cores; sacreBLEU's TER of {TER_OUTPUTS} outputs: {theirs:.1f} s")
    print(f"goal: all of ours within the time of those: {'met' if total <= theirs else 'missed'}")


def measure_memory(count: int) -> None:
    """The peak of a process that scores outputs as they stream by, beside that of one that scores ten thousand."""
    small, large = (
        run((sys.executable, __file__, "--part", "stream", "--outputs", str(n)))[0] for n in (min(count, 10_000), count)
    )
    print(
        f"{count} outputs streamed in {large.seconds:.0f} s: {large.mib:.0f} MiB at the peak "
        f"({small.mib:.0f} for the first ten thousand)"
    )
    print(f"goal: under {GOAL_MIB} MiB: {'met' if large.mib < GOAL_MIB else 'missed'}")


def stream(count: int) -> None:
    """Score so many made-up outputs with four metrics, ten thousand at a time."""
    from billboards.metrics.base import Batch
    from billboards.metrics.discovery import metric

    draw = random.Random(0)
    metrics = [metric(name) for name in ("BLEU", "chrF", "chrF++", "TER")]
    for start in range(0, count, 10_000):
        texts = [_sentence(draw, 25) for _ in range(min(10_000, count - start))]
        batch = Batch(texts[::-1], [[text] for text in texts])
        for one in metrics:
            one.score_batch(batch)


def measure_length() -> None:
    """Time for one document against one reference, and the exponent of its growth from 5,000 to 10,000 words."""
    _use_cores(1)
    draw = random.Random(0)
    print("milliseconds for one document of 2500, 5000, 10000 words, and the growth's exponent at the end")
    for name in (*WHOLE, "WER", "CER"):
        seconds = []
        for words in (2500, 5000, 10_000):
            texts: Texts = ([_sentence(draw, words)], [[_sentence(draw, words)]])
            seconds.append(min(timed(lambda: own_scores(name, texts), time.process_time)[0] for _ in range(2)))  # noqa: B023
        shown = " ".join(f"{1000 * s:9.1f}" for s in seconds)
        print(f"{name:8} {shown}  {growth(seconds[1], seconds[2], 2):5.2f}", flush=True)


def _sentence(draw: random.Random, words: int) -> str:
    return " ".join(f"w{int(draw.paretovariate(0.5)) % 20_000}" for _ in range(words))


def _use_cores(count: int) -> None:
    """Keep this process to so many cores, where the system lets it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(_CORES)[:count])


_CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set[int]()


def _parts(arguments: argparse.Namespace) -> Iterator[Callable[[], None]]:
    chosen = [arguments.part] if arguments.part else ["speed", "board", "memory", "length"]
    data = shared_data()
    if data is None and {"speed", "board"} & set(chosen):
        print("wmt20-zh-en: not measured, data absent; set BILLBOARDS_SHARED")
    texts = zh_en(data) if data is not None else ([], [])
    if "speed" in chosen and data is not None:
        yield lambda: measure_speed(texts, arguments.outputs or 1000)
    if "board" in chosen and data is not None:
        yield lambda: measure_board(texts)
    if "memory" in chosen:
        yield lambda: measure_memory(arguments.outputs or STREAMED)
    if "length" in chosen:
        yield measure_length


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("speed", "board", "memory", "length", "stream"), help="only this one")
    parser.add_argument("--outputs", type=int, help="outputs to time (default 1000), or to stream (a million)")
    arguments = parser.parse_args()
    if arguments.part == "stream":
        stream(arguments.outputs or STREAMED)
        return
    for part in _parts(arguments):
        part()


if __name__ == "__main__":
    main()
