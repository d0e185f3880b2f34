"""What LLM judges were asked, what they answered word for word, and what that took, over all runs.

billboards judges --spans BOARD JUDGE    the errors that a judge marked in a board's outputs; nothing is asked
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass

from billboards.metrics.judges.answers import Answers, Spent


def add_arguments(parser: ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--answers", action="store_true", help="print questions and raw answers, one JSON object a line")
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--spans",
        nargs=2,
        metavar=("BOARD", "JUDGE"),
        help="print the errors that a judge marked in a board's outputs, one JSON object a line",
    )


def run(arguments: Namespace) -> int:
    from billboards.cli.output import note
    from billboards.metrics.judges.settings import cache_file

    if arguments.spans:
        return _print_spans(*arguments.spans)
    path = cache_file()
    if not path.exists():
        if arguments.json:
            _print_json(None)
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


def _print_spans(folder: str, name: str) -> int:
    from pathlib import Path

    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.errors import InvalidInput
    from billboards.metrics.base import Batch
    from billboards.metrics.discovery import metric_for
    from billboards.metrics.judges.spans import MarksErrors

    board = open_board(Path(folder))
    judge = metric_for(board.output_language, name)
    if not isinstance(judge, MarksErrors):
        raise InvalidInput(f"{name} marks no errors; judge-MQM, judge-ESA and prompts whose answer is errors do")
    unanswered = 0
    for row in board.rows:
        places = [k for k, text in enumerate(row.texts) if text is not None]
        batch = Batch(
            [row.texts[k] or "" for k in places],
            [[r.text for r in board.instances[k].references] for k in places] if judge.card.needs_references else (),
            [board.instances[k].input or "" for k in places] if judge.card.needs_input else (),
        )
        for k, spans in zip(places, judge.error_spans(batch), strict=True):
            unanswered += spans is None
            if spans is not None:
                told = {"generator": row.name, "instance": board.instances[k].id, "errors": list(map(asdict, spans))}
                print(json.dumps(told, ensure_ascii=False))
    if unanswered:
        note(f"{name} has no say about {unanswered:,} outputs: score them first, or it abstained from them")
    return 0


@dataclass(frozen=True, kw_only=True)
class SpentWithCost(Spent):
    """What the answers of one model took, and what they cost where the user states prices."""

    cost: float | None


def _print_json(answers: Answers | None) -> None:
    spent = () if answers is None else answers.spent()
    print(json.dumps([asdict(SpentWithCost(**asdict(total), cost=_cost(total))) for total in spent], indent=1))


def _print_totals(answers: Answers) -> None:
    from billboards.metrics.judges.usage import Prices, tokens_in_words

    prices = Prices.from_environment()
    for spent in answers.spent():
        tokens = tokens_in_words(spent.tokens_in, spent.tokens_out, spent.uncounted, prices)
        abstained = f", {spent.abstained:,} questions abstained from" if spent.abstained else ""
        print(f"{spent.model} at {spent.endpoint}: {spent.answers:,} answers{abstained}; {tokens}")


def _cost(spent: Spent) -> float | None:
    """What was spent, where the user states prices."""
    from billboards.metrics.judges.usage import Prices

    prices = Prices.from_environment()
    return None if prices is None else prices.cost(spent.tokens_in, spent.tokens_out)
