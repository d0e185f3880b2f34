"""Print a JSON schema: of board.toml, with which editors complete its keys, or of what a command prints with --json.

billboards schema board > board.schema.json    and, as the first line of board.toml: #:schema ./board.schema.json
billboards schema metrics                      what `billboards metrics --json` prints; so for check and judges
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any


def _board() -> dict[str, Any]:
    from billboards.board.schema import board_schema

    return board_schema()


def _catalogue() -> dict[str, Any]:
    from billboards.board.schema import catalogue_entry

    return catalogue_entry()


def _check() -> dict[str, Any]:
    from billboards.cli.check import Checked

    return _schema_of(Checked)


def _metrics() -> dict[str, Any]:
    from billboards.cli.metrics import Described

    return _schema_of(list[Described])


def _judges() -> dict[str, Any]:
    from billboards.cli.judges import SpentWithCost

    return _schema_of(list[SpentWithCost])


def _schema_of(kind: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter

    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(kind).json_schema()}


KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "board": _board,
    "catalogue": _catalogue,
    "check": _check,
    "judges": _judges,
    "metrics": _metrics,
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        choices=tuple(KINDS),
        metavar="KIND",
        help="board; catalogue: the Schema Store's entry of it; check, metrics, judges: what they print with --json",
    )


def run(arguments: Namespace) -> int:
    print(json.dumps(KINDS[arguments.kind](), indent=2))
    return 0
