"""List the metrics that are installed, or print one metric's card."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from billboards.errors import MissingPart

if TYPE_CHECKING:
    from billboards.metrics.base import Metric


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this metric's card")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print cards as sections of a Markdown page")


def run(arguments: Namespace) -> int:
    from billboards.metrics.cards import markdown
    from billboards.metrics.discovery import metric, metric_names

    chosen = [metric(name) for name in ([arguments.name] if arguments.name else metric_names())]
    if arguments.json:
        print(json.dumps([_document(entry) for entry in chosen], indent=1, ensure_ascii=False))
    elif arguments.markdown:
        print(markdown(chosen), end="")
    elif arguments.name:
        _print_card(chosen[0])
    else:
        # No signatures here: asking for one may load the library behind a metric.
        for entry in chosen:
            print(f"{entry.card.name:16}{entry.card.summary}")
    return 0


def _print_card(metric: Metric) -> None:
    from billboards.metrics.cards import card_facts

    signature, absent = _signature(metric)
    for fact, value in {"name": metric.name, **card_facts(metric)}.items():
        print(f"{fact:20}{value}")
    print(f"{'signature':20}{signature}" if signature else f"{'can not run here':20}{absent}")


def _document(metric: Metric) -> dict[str, object]:
    from dataclasses import asdict

    signature, absent = _signature(metric)
    return {**asdict(metric.card), "needs_corpus": metric.needs_corpus, "signature": signature, "absent": absent}


def _signature(metric: Metric) -> tuple[str | None, str | None]:
    """A metric's signature, or the reason why it can't run on this machine."""
    try:
        return metric.signature, None
    except MissingPart as error:
        return None, str(error)
