"""The memory that BERTScore takes on a CPU, at full depth, while the number of outputs grows.

Made-up outputs of seven tokens, all of them distinct, ten to a reference. Each size is scored by a process of its
own, so that its peak is its own; what Python, the libraries and the texts take before anything is scored stands beside
it. The time for a million is projected from the last size.

    python benchmarks/bertscore_memory.py [--outputs 50000 --outputs 100000 --outputs 200000] [--model FOLDER]
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from itertools import islice, product

from measuring import run

SIZES = (50_000, 100_000, 200_000)
GOAL_MIB, MILLION = 4000, 1_000_000
#: Outputs to a reference, as ten generators would have them.
GENERATORS = 10
#: Five words of sixteen each: a million sentences and some more.
WORDS = (
    "anna ben clara david emma frank grace henry ida jack kate leo mary nina oscar paul",
    "buys sells finds paints moves cleans loses carries breaks hides takes keeps makes wants sees gets",
    "two three four five six seven eight nine ten some many few more these those twelve",
    "red blue green black white brown pink grey yellow dark large small old new good heavy",
    "chairs tables boxes lamps books shoes clocks doors cups bags beds cars boats pens coats hats",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", action="append", type=int, help="how many; may be repeated")
    parser.add_argument("--model", help="a folder with a model (default: the one that comes as a package)")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(score(arguments.child, arguments.model)))
        return
    chosen = ("--model", arguments.model) if arguments.model else ()
    print(f"{'outputs':>10} {'MiB before':>11} {'MiB at the peak':>16} {'seconds':>9} {'outputs/s':>10} {'tokens':>12}")
    for outputs in arguments.outputs or SIZES:
        cost, said = run((sys.executable, __file__, "--child", str(outputs), *chosen))
        found = json.loads(said)
        rate = outputs / found["seconds"]
        line = f"{outputs:10,} {found['before']:11,.0f} {cost.mib:16,.0f} {found['seconds']:9,.0f} {rate:10,.0f}"
        print(f"{line} {found['tokens']:12,}", flush=True)
    verdict = "under" if cost.mib < GOAL_MIB else "NOT under"
    print(f"{verdict} the goal of {GOAL_MIB:,} MiB; {MILLION:,} outputs would take {MILLION / rate / 60:.0f} minutes")


def outputs_and_references(count: int) -> tuple[list[str], list[list[str]]]:
    """Distinct outputs, ten in a row with the same reference."""
    written = [" ".join(words) for words in islice(product(*(words.split() for words in WORDS)), count)]
    return written, [[f"{written[k - k % GENERATORS]} today"] for k in range(count)]


def score(count: int, model: str | None) -> dict[str, float]:
    """What scoring so many outputs takes in this process: seconds, tokens, and MiB before it began."""
    import numpy as np

    from billboards.metrics.neural.bertscore import BERTScore
    from billboards.metrics.neural.engine import Where, start_engine
    from billboards.metrics.neural.idf import even_weights
    from billboards.metrics.neural.matching import score_texts
    from billboards.metrics.neural.weights import locate

    metric = BERTScore()
    engine = start_engine(locate(model or metric.model), metric.used_layer, "fp32", Where("cpu"))
    outputs, references = outputs_and_references(count)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    found = score_texts(engine, outputs, references, even_weights(engine.tokenizer))
    seconds = time.perf_counter() - start
    assert np.isfinite(found).all()
    assert np.ptp(found[:, 2]) > 0
    return {"before": before, "seconds": seconds, "tokens": engine.tally.tokens}


if __name__ == "__main__":
    main()
