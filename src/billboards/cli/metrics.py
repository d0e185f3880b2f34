"""List the metrics that are installed, with whether each can run here, or print one metric's card.

billboards metrics --fetch MODEL    download a model that a learned metric reads; scoring never does
billboards metrics --verify NAME    compute published values anew, with a model that lies on this machine
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.errors import MissingPart
from billboards.metrics.base import Metric, MetricCard

if TYPE_CHECKING:
    from billboards.metrics.neural.published_values import Verification


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="print this metric's card")
    parser.add_argument("--json", action="store_true", help="print JSON")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print cards as sections of a Markdown page")
    form.add_argument("--fetch", metavar="MODEL", help="download a model from the hub, such as Unbabel/wmt22-comet-da")
    form.add_argument("--verify", metavar="NAME", help="compute the values published for a metric or model anew")
    parser.add_argument(
        "--model", metavar="MODEL", help="with --verify: this folder or model (default: the published one)"
    )
    parser.add_argument(
        "--examples", type=Path, metavar="FILE", help="with --verify: texts and scores in this TOML file"
    )
    add_fetching(parser)


def add_fetching(parser: ArgumentParser) -> None:
    """The options of a download."""
    parser.add_argument("--revision", metavar="R", help="with --fetch: this commit, tag or branch (default: main)")
    parser.add_argument("--offline", action="store_true", help="with --fetch: refuse to use the network, and end")


def fetch_model(model: str, arguments: Namespace) -> int:
    """Download a model, print its folder, and say which commit it is."""
    from billboards.cli.output import note, print_document
    from billboards.metrics.neural.weights import fetch

    fetched = fetch(model, arguments.revision, offline=arguments.offline)
    if arguments.json:
        print_document("model", {"model": model, "folder": str(fetched.folder), "commit": fetched.commit})
        return 0
    print(fetched.folder)
    if fetched.commit:
        note(f"{model} is at commit {fetched.commit}; pin it with revision={fetched.commit}")
    return 0


def run(arguments: Namespace) -> int:
    if arguments.fetch:
        return fetch_model(arguments.fetch, arguments)
    if arguments.verify:
        return _verify(arguments)
    from billboards.metrics.cards import markdown
    from billboards.metrics.discovery import metric, metric_names

    chosen = [metric(name) for name in ([arguments.name] if arguments.name else metric_names())]
    if arguments.json:
        print(json.dumps([asdict(_described(entry)) for entry in chosen], indent=1, ensure_ascii=False))
    elif arguments.markdown:
        print(markdown(chosen), end="")
    elif arguments.name:
        _print_card(chosen[0])
    else:
        widest = max(len(entry.card.name) for entry in chosen)
        for entry in chosen:
            absent = _absent(entry)
            here = "yes" if absent is None else "no"
            about = f"{entry.card.summary}{f' ({absent})' if absent else ''}"
            print(_wrapped(f"{entry.card.name:{widest}}  {here:3}  ", about))
    return 0


def _wrapped(head: str, text: str) -> str:
    """A line as it is for programs; on a terminal, lines that break between words, below one another."""
    if not sys.stdout.isatty():
        return head + text
    from shutil import get_terminal_size
    from textwrap import fill

    width = max(get_terminal_size().columns, len(head) + 20)
    return fill(text, width, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False)


def _verify(arguments: Namespace) -> int:
    """Print published scores beside those of this machine; 1 where one is further away than it may be."""
    from dataclasses import replace

    from billboards.cli.output import print_document
    from billboards.metrics.neural.published_values import Verification, published_for, read_published, verify

    if arguments.examples is None:
        published = published_for(arguments.verify)
    else:
        read = read_published(arguments.examples)
        published = (replace(read, revision=arguments.revision or read.revision),)
    verifications = list[Verification]()
    for values in published:
        verifications.append(verify(values, arguments.model or ""))
        if not arguments.json:
            _print_verification(verifications[-1])
    if arguments.json:
        entries = [{**asdict(verification), "holds": verification.holds} for verification in verifications]
        print_document("verification", {"models": entries})
    return 0 if all(verification.holds for verification in verifications) else 1


def _print_verification(verification: Verification) -> None:
    published = verification.published
    commit = f" at commit {verification.commit}" if verification.commit else ""
    print(f"{published.metric} with {verification.model}{commit}")
    print(f"  published: {published.source or 'source not stated'}; tolerance {published.tolerance:g}")
    print(f"  signature: {verification.signature}")
    print(f"  {'published':>12}  {'here':>12}  {'difference':>12}  within")
    for row in verification.rows:
        text = row.example.output if len(row.example.output) <= 40 else f"{row.example.output[:39]}…"
        answer = "yes" if row.within else "NO"
        print(f"  {row.example.score:12.6f}  {row.score:12.6f}  {row.difference:12.2e}  {answer:6}  {text!r}")
    outside = sum(not row.within for row in verification.rows)
    print(f"  {len(verification.rows) - outside} of {len(verification.rows)} within the tolerance")


def _absent(metric: Metric) -> str | None:
    """What a metric lacks on this machine, in few words; its card says how to get it."""
    # Only a metric that needs a part is asked: that may load a library.
    reason = _signature(metric)[1] if metric.card.needs_part else None
    return None if reason is None else re.split("[:;]", reason)[0].removeprefix(f"{metric.card.name} ")


def _print_card(metric: Metric) -> None:
    from billboards.metrics.cards import card_facts

    signature, absent = _signature(metric)
    for fact, value in {"name": metric.name, **card_facts(metric)}.items():
        print(f"{fact:20}{value}")
    print(f"{'signature':20}{signature}" if signature else f"{'can not run here':20}{absent}")


@dataclass(frozen=True, kw_only=True)
class Described(MetricCard):
    """A metric's card, and whether it runs here: its signature, or what is absent."""

    needs_corpus: bool
    signature: str | None
    absent: str | None


def _described(metric: Metric) -> Described:
    signature, absent = _signature(metric)
    return Described(**asdict(metric.card), needs_corpus=metric.needs_corpus, signature=signature, absent=absent)


def _signature(metric: Metric) -> tuple[str | None, str | None]:
    """A metric's signature, or the reason why it can't run on this machine."""
    try:
        return metric.signature, None
    except MissingPart as error:
        return None, str(error)
