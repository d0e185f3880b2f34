"""Ask people about a board's generators: plan a campaign, quote it, invite annotators, follow it, read its results.

billboards campaign template list
billboards campaign new BOARD first --template genie-translation --preset sentence --pay 0.5 --budget 900
billboards campaign quote first
billboards campaign open first --confirm
billboards campaign invite first ann@example.org ben@example.org
billboards campaign status first
billboards campaign close first --confirm
billboards campaign results first
billboards campaign repeat first --days 3

Campaigns lie in a site's data folder (--data). Nothing that is paid for is opened without --confirm, and none closed or
withdrawn: without it `close` and `withdraw` tell what ranks the board before and after.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import date
from pathlib import Path

from billboards.cli import campaign_templates, options
from billboards.cli.campaign_planning import add_plan
from billboards.formats import FORMATS

_STATES = {
    "open": "let annotators begin; from here on answers are paid for",
    "pause": "give out nothing more until it is resumed",
    "resume": "go on with a paused campaign",
    "close": "end it for good; its judgments then stand on the board, beside those that are there",
    "withdraw": "take a closed campaign's judgments from the board; nothing is deleted",
}


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    campaign_templates.add_arguments(actions.add_parser("template", help="what annotators are asked"))
    _add_new(actions.add_parser("new", help="plan a campaign; nothing is asked yet"))
    _add_meta(actions.add_parser("meta", help="plan a blind check of outputs on which two sources disagree"))
    _add_data(actions.add_parser("list", help="every campaign of the site"), formats=True)
    _add_named(actions.add_parser("quote", help="what it costs, and the standard error that buys"), formats=True)
    for name, text in _STATES.items():
        below = actions.add_parser(name, help=text)
        _add_named(below)
        below.add_argument("--reason", metavar="TEXT", help="why, for the record")
        if name in ("open", "resume"):
            _add_confirm(below)
        if name in ("close", "withdraw"):
            below.add_argument("--confirm", action="store_true", help="yes, change the board as it was told")
            options.add_format(below)
        if name == "close":
            _add_ranks(below)
    _add_top_up(actions.add_parser("top-up", help="add money, generators or labels"))
    _add_repeat(actions.add_parser("repeat", help="plan it again on other days, to see how far results reproduce"))
    _add_admit(actions.add_parser("admit", help="confirm the price of generators that wait to join a rolling campaign"))
    _add_invite(actions.add_parser("invite", help="personal links for annotators, shown once"))
    _add_named(actions.add_parser("status", help="how it stands: labels, money, annotators"), formats=True)
    results = actions.add_parser("results", help="means with intervals, without and with excluded annotators")
    _add_named(results, formats=True)
    _add_judgments(actions.add_parser("judgments", help="what counts of the answers, as a file of another tool"))
    _add_named(actions.add_parser("annotators", help="everybody's test questions and standing"), formats=True)
    survey = actions.add_parser("survey", help="who accepted the consent when, and what annotators said of themselves")
    _add_named(survey, formats=True)
    for name, text in (("exclude", "leave an annotator out"), ("readmit", "let an annotator in again")):
        below = actions.add_parser(name, help=text)
        _add_named(below)
        below.add_argument("annotator", metavar="ANNOTATOR", help="the pseudonym, as `annotators` lists it")
        below.add_argument("--reason", metavar="TEXT", required=True, help="why, for the record")


def _add_judgments(parser: ArgumentParser) -> None:
    _add_named(parser)
    parser.add_argument(
        "--format", required=True, choices=tuple(FORMATS), help="mqm has a line for every marked error; csv has all"
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the file to write (default: print it)")


def _add_data(parser: ArgumentParser, *, formats: bool = False) -> None:
    options.add_data(parser)
    if formats:
        options.add_format(parser)


def _add_named(parser: ArgumentParser, *, formats: bool = False) -> None:
    parser.add_argument(
        "campaign", metavar="CAMPAIGN", help="its name, or its id where two boards have one of the name"
    )
    _add_data(parser, formats=formats)


def _add_confirm(parser: ArgumentParser) -> None:
    parser.add_argument("--confirm", action="store_true", help="yes, spend money")


def _add_ranks(parser: ArgumentParser) -> None:
    ranks = parser.add_mutually_exclusive_group()
    ranks.add_argument(
        "--rank",
        dest="ranks",
        action="store_true",
        default=None,
        help="rank the board by it when it closes (default: only where nothing else ranks)",
    )
    ranks.add_argument("--no-rank", dest="ranks", action="store_false", help="never rank the board by it")


def _add_new(parser: ArgumentParser) -> None:
    parser.add_argument("board", metavar="BOARD", help="the board's name on the site")
    parser.add_argument("campaign", metavar="CAMPAIGN", help="a name of your choice")
    parser.add_argument(
        "--template", required=True, metavar="TEMPLATE", help="a name from `template list`, or a .toml file"
    )
    parser.add_argument(
        "--generator",
        action="append",
        metavar="NAME",
        help="whom to judge; may be repeated (default: every machine generator)",
    )
    parser.add_argument("--rolling", action="store_true", help="generators that are accepted later join too")
    _add_ranks(parser)
    add_plan(parser)
    _add_data(parser, formats=True)


def _add_meta(parser: ArgumentParser) -> None:
    parser.add_argument("board", metavar="BOARD", help="the board's name on the site")
    parser.add_argument("campaign", metavar="CAMPAIGN", help="a name of your choice")
    parser.add_argument("first", metavar="FIRST", help="an aggregate or dimension of judgments")
    parser.add_argument("second", metavar="SECOND", help="another one")
    parser.add_argument(
        "--per-corner", type=options.positive, default=25, metavar="N", help="outputs of each kind (default 25)"
    )
    _add_data(parser)


def _add_top_up(parser: ArgumentParser) -> None:
    _add_named(parser)
    parser.add_argument("--budget", type=options.non_negative, default=0.0, metavar="X", help="money to add")
    parser.add_argument("--generator", action="append", default=[], metavar="NAME", help="whom to judge too")
    parser.add_argument("--labels", type=options.positive, metavar="N", help="labels per output from now on")
    _add_confirm(parser)


def _add_repeat(parser: ArgumentParser) -> None:
    _add_named(parser, formats=True)
    parser.add_argument("--days", type=options.positive, required=True, metavar="N", help="on so many days")
    parser.add_argument("--first", type=_date, metavar="DATE", help="the first of them (default: tomorrow)")
    parser.add_argument("--every", type=options.positive, default=1, metavar="N", help="days between them (default 1)")
    parser.add_argument(
        "--annotators",
        choices=("any", "fresh", "same"),
        default="any",
        help="who may judge: anybody, or only people who have not judged these outputs, or only who has (default any)",
    )
    parser.add_argument(
        "--anchors",
        action="append",
        default=[],
        metavar="NAME",
        help="judge only this generator again, to recalibrate by it; may be repeated (default: all)",
    )
    parser.add_argument("--instances", type=options.positive, metavar="N", help="only so many of its instances")
    parser.add_argument("--rank", action="store_true", help="rank the board by the repetitions too")
    parser.add_argument("--open", action="store_true", help="open them at once; each gives items out on its day only")
    _add_confirm(parser)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no day; write it as in 2026-05-01") from error


def _add_admit(parser: ArgumentParser) -> None:
    _add_named(parser)
    parser.add_argument("generators", nargs="+", metavar="GENERATOR", help="who may join, as `status` lists them")
    _add_confirm(parser)


def _add_invite(parser: ArgumentParser) -> None:
    _add_named(parser, formats=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help="names or e-mail addresses; only you see them")
    parser.add_argument("--count", type=options.positive, metavar="N", help="so many links without names")


def run(arguments: Namespace) -> int:
    if arguments.action == "template":
        return campaign_templates.run(arguments)
    from billboards.cli.campaign_verbs import VERBS
    from billboards.site.accounts.access import local_viewer
    from billboards.site.site import open_site

    options.check_site(arguments.data)
    site = open_site(arguments.data)
    try:
        return VERBS[arguments.action](arguments, site, local_viewer(site))
    finally:
        site.close()
