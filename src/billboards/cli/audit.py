"""Find out what a metric really rewards: make outputs for it, and ask everyone else about them.

    billboards audit BOARD
    billboards audit BOARD --metric length --method extract --sentences 3 --html audit.html
    billboards audit BOARD BOARD --metric COMET-QE --against BLEU --scatter figure.svg

By default every reference-free metric of the board is audited by every attack that suits it, and the strongest counts.
Its outputs enter the board as a generator that is shown and never ranked, and the verdict is kept in BOARD/audits.
Several boards give one table of correlations with the metrics' own outputs as references, and the points behind it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from billboards.analyses._analysis import Result
    from billboards.analyses.audit.results import MetricAudit


def add_arguments(parser: ArgumentParser) -> None:
    from billboards.analyses._declaration import declared
    from billboards.cli import _analyses

    parser.add_argument("boards", type=Path, nargs="+", metavar="BOARD", help="a board folder; several are one audit")
    _analyses.add_own_arguments(parser, declared("audit"))
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with charts and a gallery")
    parser.add_argument(
        "--scatter", type=Path, metavar="FILE.svg", help="draw machines under a metric and against its own output"
    )


def run(arguments: Namespace) -> int:
    from billboards.cli import _analyses

    if len(arguments.boards) > 1:
        audits = _several(arguments)
    else:
        result = _asked(arguments, arguments.boards[0])
        _analyses.show(arguments, result)
        audits = list(result.value.audits)
    _write(arguments, audits)
    return 0


def _asked(arguments: Namespace, board: Path) -> Result[Any]:
    from billboards.analyses.audit import audit
    from billboards.cli import _analyses

    return _analyses.answer(Namespace(**{**vars(arguments), "board": board}), audit)


def _several(arguments: Namespace) -> list[MetricAudit]:
    """Audit one board after the other; a board that can't be audited doesn't stop the others."""
    from billboards.analyses.audit.several import several_document, several_tables
    from billboards.cli.output import emit, note
    from billboards.errors import InvalidInput

    audits: list[MetricAudit] = []
    left_out: dict[str, str] = {}
    for board in arguments.boards:
        try:
            result = _asked(arguments, board)
        except InvalidInput as error:
            left_out[str(board)] = str(error)
            continue
        audits += result.value.audits
        left_out |= {f"{board}, {name}": reason for name, reason in result.value.left_out.items()}
    if not audits:
        raise InvalidInput("; ".join(f"{board}: {why}" for board, why in left_out.items()))
    for name, reason in left_out.items():
        note(f"not audited: {name}: {reason}")
    emit(arguments, several_tables(audits), lambda: several_document(audits, left_out))
    return audits


def _write(arguments: Namespace, audits: list[MetricAudit]) -> None:
    from billboards.cli.output import note
    from billboards.saving import save_file

    if arguments.html is not None:
        from billboards.analyses.audit.page import audit_html

        note(f"wrote {save_file(arguments.html, audit_html(audits))}")
    if arguments.scatter is not None:
        from billboards.analyses.audit.several import pseudo_scatter
        from billboards.show.figures import save_chart

        for file in save_chart(pseudo_scatter(audits), arguments.scatter):
            note(f"wrote {file}")
