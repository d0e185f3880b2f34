"""Print the JSON schema of board.toml, with which editors complete its keys and mark mistakes.

billboards schema board > board.schema.json    and, as the first line of board.toml: #:schema ./board.schema.json
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        choices=("board", "catalogue"),
        metavar="KIND",
        help="board, or catalogue: the Schema Store's entry of it",
    )


def run(arguments: Namespace) -> int:
    from billboards.board.schema import board_schema, catalogue_entry

    print(json.dumps(board_schema() if arguments.kind == "board" else catalogue_entry(), indent=2))
    return 0
