"""Write a board folder to fill in: a commented board.toml and two example instances that already open and rank."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder to write; it must not exist yet")
    parser.add_argument("--name", help="the board's name (default: the folder's)")


def run(arguments: Namespace) -> int:
    from billboards.board.skeleton import write_skeleton
    from billboards.cli.output import note

    path = write_skeleton(arguments.folder, arguments.name or arguments.folder.resolve().name)
    note(f"wrote {path}: edit board.toml, then `billboards check {path}` and `billboards score {path}`")
    return 0
