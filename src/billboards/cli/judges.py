"""What LLM judges were asked, what they answered word for word, and what that took, over all runs."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billboards.metrics.judges.answers import Answers, Spent


def add_arguments(parser: ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--answers", action="store_true", help="print questions and raw answers, one JSON object a line")
    form.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    from billboards.cli.output import note
    from billboards.metrics.judges.answers import Answers
    from billboards.metrics.judges.settings import cache_file

    path = cache_file()
    if not path.exists():
        note(f"no answer of a judge is kept in {path}")
        return 0
    if arguments.answers:
        for line in Answers(path).lines():
            print(json.dumps(line))
    elif arguments.json:
        _print_json(Answers(path))
    else:
        _print_totals(Answers(path))
        note(f"kept in {path}")
    return 0


def _print_json(answers: Answers) -> None:
    from dataclasses import asdict

    print(json.dumps([{**asdict(spent), "cost": _cost(spent)} for spent in answers.spent()], indent=1))


def _print_totals(answers: Answers) -> None:
    from billboards.metrics.judges.counting import Prices, tokens_in_words

    prices = Prices.from_environment()
    for spent in answers.spent():
        tokens = tokens_in_words(spent.tokens_in, spent.tokens_out, spent.uncounted, prices)
        abstained = f", {spent.abstained:,} questions abstained from" if spent.abstained else ""
        print(f"{spent.model} at {spent.endpoint}: {spent.answers:,} answers{abstained}; {tokens}")


def _cost(spent: Spent) -> float | None:
    """What was spent, where the user states prices."""
    from billboards.metrics.judges.counting import Prices

    prices = Prices.from_environment()
    return None if prices is None else prices.cost(spent.tokens_in, spent.tokens_out)
