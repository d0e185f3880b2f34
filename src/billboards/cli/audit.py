"""Find out what a metric really rewards: make outputs for it, and ask everyone else about them.

    billboards audit BOARD
    billboards audit BOARD --metric length --method extract --sentences 3 --html audit.html

By default every reference-free metric of the board is audited. The outputs enter the board as a generator that is shown
and never ranked, and the verdict is kept in BOARD/audits.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    from billboards.analyses.audit import audit
    from billboards.cli import _analyses

    _analyses.add_arguments(parser, audit)
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with charts and a gallery")


def run(arguments: Namespace) -> int:
    from billboards.analyses.audit import audit
    from billboards.analyses.audit.page import audit_html
    from billboards.cli import _analyses
    from billboards.cli.output import note

    result = _analyses.answer(arguments, audit)
    _analyses.show(arguments, result)
    if arguments.html is not None:
        arguments.html.write_text(audit_html(result.value.audits), encoding="utf-8")
        note(f"wrote {arguments.html}")
    return 0
