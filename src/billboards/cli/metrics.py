"""List the metrics that are installed, or print one metric's card."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this metric's card")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    from dataclasses import asdict

    from billboards.metrics.discovery import known_metrics, metric

    chosen = [metric(name) for name in ([arguments.name] if arguments.name else known_metrics())]
    if not (arguments.json or arguments.name):
        # No signatures here: asking for one may load the library behind a metric.
        for one in chosen:
            print(f"{one.card.name:16}{one.card.summary}")
        return 0
    cards = [{**asdict(one.card), "signature": one.signature} for one in chosen]
    if arguments.json:
        print(json.dumps(cards, indent=1, ensure_ascii=False))
        return 0
    for key, value in cards[0].items():
        if value is not None:
            print(f"{key.replace('_', ' '):18}{value}")
    return 0
