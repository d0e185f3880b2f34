"""Find out what a metric really rewards: make outputs for it, and ask everyone else about them.

    billboards audit BOARD
    billboards audit BOARD --metric length --method extract --sentences 3 --html audit.html

By default every reference-free metric of the board is audited. The outputs enter the board as a generator that is shown
and never ranked, and the verdict is kept in BOARD/audits.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="a metric to audit, with its program or its released scores; may be repeated (default: every "
        "reference-free one)",
    )
    parser.add_argument(
        "--method",
        choices=("auto", "decode", "extract", "enumerate", "rerank", "risk"),
        default="auto",
        help="decode with the metric's own model, extract sentences of the input greedily or by trying all, rerank "
        "candidates, or minimum Bayes risk over the generators' outputs (default: what suits the metric)",
    )
    parser.add_argument(
        "--sentences", type=options.positive, default=3, metavar="K", help="sentences to extract (default 3)"
    )
    parser.add_argument(
        "--candidates", type=Path, metavar="FILE", help="rerank these: JSON lines of instance and text, or texts"
    )
    parser.add_argument("--model", metavar="NAME", help="rerank the beams of this sequence-to-sequence model")
    parser.add_argument(
        "--beams", type=options.positive, default=5, metavar="N", help="beams of a beam search (default 5)"
    )
    parser.add_argument(
        "--against",
        action="append",
        metavar="NAME",
        help="a reference-based metric to ask about the outputs; may be repeated (default: quick ones of the board)",
    )
    parser.add_argument(
        "--budget", type=options.positive, metavar="N", help="score at most N pairs (default: no limit)"
    )
    parser.add_argument(
        "--no-save", action="store_true", help="leave the board as it is: enter no generator, keep no verdict"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with charts and a gallery")
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.auditing import audit_metrics
    from billboards.board.folder import open_board
    from billboards.cli.output import emit, note
    from billboards.cli.progress import scoring_progress

    board = open_board(arguments.board)
    with scoring_progress() as show:
        result = audit_metrics(
            board,
            arguments.metric,
            method=arguments.method,
            sentences=arguments.sentences,
            candidates=arguments.candidates,
            model=arguments.model,
            beams=arguments.beams,
            against=arguments.against,
            budget=arguments.budget,
            save=not arguments.no_save,
            html=arguments.html,
            seed=arguments.seed,
            jobs=arguments.jobs,
            on_progress=show,
        )
    emit(arguments, result.tables, lambda: result.document)
    for name, reason in result.document["left_out"].items():
        note(f"not audited: {name}: {reason}")
    if arguments.html is not None:
        note(f"wrote {arguments.html}")
    return 0
