"""Build metrics that need packages of their own, try them on a board, or list what was built.

A pack that was built is used as `pack:NAME` or `pack:FOLDER` wherever a metric is named. It runs in a sandbox.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.board import Board
    from billboards.metrics.base import Batch
    from billboards.run.program import ProgramMetric


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_build(actions.add_parser("build", help="install what a pack requires, so that it can be used"))
    _add_check(actions.add_parser("check", help="run a pack twice on a few outputs of a board"))
    listed = actions.add_parser("list", help="every pack that was built, and whether it can be used")
    options.add_json(listed)
    _add_home(listed)


def _add_build(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="a folder with metric.toml, run.sh or metric.py, requirements.txt"
    )
    parser.add_argument("--cpu-index", metavar="URL", help="an index with builds of torch that need no CUDA")
    parser.add_argument("--wheels", type=Path, metavar="DIR", help="take packages from this folder, not from an index")
    parser.add_argument("--trusted", action="store_true", help="run it also where no sandbox can be built")
    _add_home(parser)


def _add_check(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="a pack that was built: its folder, or its name")
    options.add_board(parser)
    parser.add_argument(
        "--generator", metavar="NAME", help="whose outputs to try (default: the first with all it needs)"
    )
    options.add_json(parser)
    _add_home(parser)


def _add_home(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--home", type=Path, metavar="DIR", help="where packs are kept (default: as BILLBOARDS_PACKS says)"
    )


def run(arguments: Namespace) -> int:
    return {"build": _build, "check": _check, "list": _list}[arguments.action](arguments)


def _build(arguments: Namespace) -> int:
    from billboards.cli.output import note
    from billboards.run.packs import build_pack

    built = build_pack(
        arguments.folder,
        home=arguments.home,
        wheels=arguments.wheels,
        cpu_index=arguments.cpu_index,
        trusted=arguments.trusted,
    )
    if built.replaced is not None:
        note(f"replaces the pack of the same name in {built.replaced}")
    installed = () if built.environment is None else built.environment.installed
    note(f"installed: {', '.join(installed) or 'nothing, since it requires nothing'}")
    print(f"pack:{built.pack.name}")
    return 0


def _check(arguments: Namespace) -> int:
    from billboards.board.folder import open_board
    from billboards.cli.output import note, print_document
    from billboards.run.packs import open_pack
    from billboards.run.trial import try_program

    board = open_board(arguments.board)
    program = open_pack(arguments.folder, home=arguments.home)
    batch = _trial_batch(board, program, arguments.generator)
    trial = try_program(program, batch, rows=len(board.rows))
    if arguments.json:
        words = ("problem", "repeatable", "scores", "seconds", "estimate", "platform")
        print_document("trial", {word: getattr(trial, word) for word in words} | {"signature": program.signature})
        return 0 if trial.problem is None else 1
    if trial.problem is not None:
        note(trial.problem)
        return 1
    print(f"passed: {', '.join(f'{score:.4g}' for score in trial.scores)}")
    print(trial.time_words)
    print(f"signature: {program.signature}")
    return 0


def _trial_batch(board: Board, program: ProgramMetric, generator: str | None) -> Batch:
    """The first outputs that come with all that a program needs; of one generator where it is named."""
    from billboards.board.missing_cells import Cell, cell_batch, column_key
    from billboards.errors import NotEnoughData

    key = column_key(board, program, board.references)
    for row in board.rows if generator is None else [board.row(generator)]:
        batch, _ = cell_batch(board, Cell(program, key, row))
        if len(batch) and not board.is_reference(row, key.column.references):
            return batch
    needs = [need for need, is_needed in _needs(program) if is_needed]
    asked = f", which needs {' and '.join(needs)}" if needs else ""
    raise NotEnoughData(f"board {board.name} has no output to try {program.name} on{asked}")


def _needs(program: ProgramMetric) -> tuple[tuple[str, bool], ...]:
    return ("references", program.card.needs_references), ("inputs", program.card.needs_input)


def _list(arguments: Namespace) -> int:
    from billboards.cli.output import print_document
    from billboards.run.packs import built_packs, pack_state

    states = [(pack, pack_state(pack, home=arguments.home)) for pack in built_packs(home=arguments.home)]
    if arguments.json:
        entries = [
            {"name": pack.name, "folder": str(pack.folder), "trusted": pack.trusted, "state": state}
            for pack, state in states
        ]
        print_document("packs", {"packs": entries})
        return 0
    for pack, state in states:
        print(f"{pack.name:16}{pack.folder}{' (trusted)' if pack.trusted else ''}: {state}")
    return 0
