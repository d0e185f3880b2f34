"""What sentence cosine and MoverScore with the embedded model are worth: Pearson with people, beside BERTScore's.

The data are the judged outputs of WMT17, as in bertscore_study.py; the model is all-MiniLM-L6-v2.

    python benchmarks/learned_study.py [--metric 'MoverScore(idf=False)'] [--pair cs-en]
"""

from __future__ import annotations

import argparse
import time

from bertscore_study import PAIRS, r, read_wmt17, say
from measuring import shared_data

METRICS = (
    "BERTScore",
    "sentence-cosine",
    "MoverScore",
    "MoverScore(idf=False)",
    "MoverScore(ngram=2)",
    "MoverScore(layers=1)",
    "MoverScore(squared=True)",
)


def main() -> None:
    from billboards.metrics.base import Batch, score_checked
    from billboards.metrics.discovery import metric

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", action="append", help="only this metric; may be repeated")
    parser.add_argument("--pair", action="append", choices=PAIRS, help="only this pair; may be repeated")
    arguments, data = parser.parse_args(), shared_data()
    pairs = arguments.pair or PAIRS
    if data is None:
        print("not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    judged = {pair: read_wmt17(data / "wmt17_da" / f"testset_{pair}.tsv") for pair in pairs}
    print(f"{'':32}" + "".join(f"{pair:>8}" for pair in pairs) + "    mean")
    print(f"{'n':32}" + "".join(f"{len(human):8}" for *_, human in judged.values()))
    for name in arguments.metric or METRICS:
        start, row = time.perf_counter(), []
        for outputs, references, _, human in judged.values():
            parts = score_checked(metric(name), Batch(outputs, [[text] for text in references]))
            row.append(r(next(iter(parts.values())), human))
        say(name, row)
        print(f"{'':32}{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
