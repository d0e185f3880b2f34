"""The options by which a campaign is planned: how much is asked, when, and at what price."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.campaigns.plan import CampaignPlan


def add_plan(parser: ArgumentParser) -> None:
    _add_amount(parser)
    _add_test_questions(parser)
    _add_money(parser)
    _add_times(parser)
    _add_decisions(parser)
    options.add_seed(parser)


def _add_amount(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--preset",
        choices=("sentence", "long"),
        default="sentence",
        help="800 instances for sentences (default), 300 for larger texts",
    )
    parser.add_argument("--instances", type=options.positive, metavar="N", help="judge a random N of the instances")
    parser.add_argument("--labels", type=options.positive, metavar="N", help="labels per output (default 1)")
    parser.add_argument(
        "--overlap", type=options.non_negative, metavar="X", help="share of outputs that get one label more (default 0)"
    )


def _add_test_questions(parser: ArgumentParser) -> None:
    parser.add_argument("--positive", type=options.non_negative, metavar="X", help="share of positive test questions")
    parser.add_argument(
        "--negative", type=options.non_negative, metavar="X", help="of negative ones (default 0.05 each)"
    )
    parser.add_argument(
        "--attention",
        type=options.non_negative,
        metavar="X",
        help="of texts shown again with a small fault (default 0)",
    )
    parser.add_argument(
        "--early",
        type=options.none_or_more,
        metavar="N",
        help="test questions in each twenty while it is open whether somebody reads (default 12; 0: as many as later)",
    )
    parser.add_argument(
        "--most-answers", type=options.positive, metavar="N", help="the most answers of one person (default no limit)"
    )
    parser.add_argument(
        "--annotators",
        type=options.positive,
        metavar="N",
        help="people who are expected, for the quote (default one for 40 labels, at most 20)",
    )
    parser.add_argument(
        "--qualification", type=options.positive, metavar="N", help="begin with a test of N questions (default none)"
    )
    parser.add_argument("--pass-mark", type=options.non_negative, metavar="X", help="share to be right (default 0.8)")
    parser.add_argument(
        "--minutes", type=options.non_negative, metavar="N", help="minutes to keep an item (default 20)"
    )


def _add_money(parser: ArgumentParser) -> None:
    parser.add_argument("--pay", type=options.non_negative, metavar="X", help="for one answer (default 0)")
    parser.add_argument("--fee", type=options.non_negative, metavar="X", help="the platform's share on top (default 0)")
    parser.add_argument("--currency", metavar="NAME", help="default USD")
    parser.add_argument("--hourly", type=options.non_negative, metavar="X", help="least wage of an hour (default 15)")
    parser.add_argument("--budget", type=options.non_negative, metavar="X", help="spend no more than this")
    parser.add_argument(
        "--newcomer-each",
        type=options.non_negative,
        metavar="X",
        help="rolling: a later generator joins without a question if it costs at most X",
    )
    parser.add_argument(
        "--newcomers-total",
        type=options.non_negative,
        metavar="X",
        help="rolling: later generators join without a question up to X for all of them",
    )
    parser.add_argument("--seconds", type=options.non_negative, metavar="X", help="what an item is expected to take")


def _add_times(parser: ArgumentParser) -> None:
    parser.add_argument("--opens", type=_moment, metavar="TIME", help="not before, as in 2026-05-01T12:00Z")
    parser.add_argument("--closes", type=_moment, metavar="TIME", help="not after")
    parser.add_argument("--days", metavar="DAYS", help="only on these, as in mon,tue,wed,thu,fri")
    parser.add_argument("--hours", type=_hours, metavar="FROM-TO", help="only within these, as in 10-18")
    parser.add_argument("--zone", metavar="NAME", help="time zone of days and hours (default UTC)")


def _add_decisions(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--selector", metavar="NAME", help="choose the instances as `billboards next` does (default: at random)"
    )
    parser.add_argument(
        "--aim", choices=("separate", "metrics", "means"), help="what labels are for, where a selector chooses"
    )
    parser.add_argument(
        "--stop",
        choices=("never", "decided"),
        help="decided: ask no more about a generator that is told apart from all others (default never)",
    )
    parser.add_argument(
        "--stop-level", type=options.non_negative, metavar="X", help="share of false decisions (default 0.05)"
    )
    parser.add_argument(
        "--exclusion",
        choices=("signs", "model", "e-value"),
        help="exclude by all signs together (default), by the annotator model alone, or who is short of the pass mark",
    )
    parser.add_argument(
        "--consent", type=Path, metavar="FILE", help="a text that annotators must accept before their first item"
    )
    parser.add_argument(
        "--schedule",
        choices=("random", "balanced", "adaptive"),
        help="who is compared with whom: at random (default), each pair and order equally often, or more often where "
        "two generators are not told apart yet",
    )


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no time; write it as in 2026-05-01T12:00Z") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _hours(text: str) -> tuple[float, float]:
    from billboards.reading import decimal_number

    first, dash, last = text.partition("-")
    begin, end = decimal_number(first), decimal_number(last)
    if begin is None or end is None:
        raise ArgumentTypeError(f"{text!r} are no hours; write them as in 10-18{'' if dash else ', with a -'}")
    return begin, end


def _text_of(path: Path) -> str:
    from billboards.errors import InvalidInput

    try:
        return path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: can't be read: {error}; name a text file in UTF-8") from error


def chosen_plan(arguments: Namespace) -> CampaignPlan:
    """The preset with everything that was said beside it."""
    from billboards.campaigns.plan import PRESETS, read_plan

    plan: dict[str, Any] = PRESETS[arguments.preset].document()
    asked = ("instances", "labels", "overlap", "positive", "negative", "qualification", "pass_mark")
    paid = ("pay", "fee", "currency", "hourly", "budget", "opens", "closes", "zone", "seed", "selector", "aim")
    stops = ("stop", "stop_level", "exclusion", "attention", "early", "most_answers", "annotators")
    words = (*asked, *paid, *stops, "newcomer_each", "newcomers_total", "schedule")
    plan |= {word: getattr(arguments, word) for word in words if getattr(arguments, word) is not None}
    plan |= {} if arguments.consent is None else {"consent": _text_of(arguments.consent)}
    plan |= {} if arguments.minutes is None else {"lease_seconds": 60 * arguments.minutes}
    plan |= {} if arguments.seconds is None else {"seconds_per_item": arguments.seconds}
    plan |= {} if arguments.days is None else {"days": [day.strip() for day in arguments.days.split(",")]}
    if arguments.hours is not None:
        plan["from_hour"], plan["until_hour"] = arguments.hours
    return read_plan(plan)
