"""Importers: public data sets and tables that become a board, one file for each.

`IMPORTERS` knows those of this package and those that other packages offer by the entry point `billboards.importers`;
`IMPORTERS.load("table")` is one of them. What an importer needs is imported from here
(docs/how-to-add-an-importer.md); it is loaded when it is first used, so that help costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from billboards.importers._importer import Importer, importer
from billboards.registry import Registry

if TYPE_CHECKING:
    from billboards._pickles import read_pickle
    from billboards.board.judgment_sources import Imported, JudgmentSource, SourceJudgment, lay_judgments
    from billboards.board.pseudonyms import is_platform_id, pseudonyms
    from billboards.importers._assembling import (
        LooseOutputs,
        assemble,
        board_name,
        check_name,
        counts,
        default_metrics,
        find_file,
        generator_rows,
        in_folder_order,
        read_cells,
        read_fields,
        read_json,
        read_lines,
        read_objects,
        references,
        refuse_twice,
        rows_of_generators,
        score_column,
        text_in,
        texts_in,
        value_within,
    )
    from billboards.reading import Problems, json_lines, read_columns, read_number, read_source, refuse_errors

#: Every importer by name.
IMPORTERS = Registry(kind="importer", room=__name__, type=Importer)

__all__ = [
    "IMPORTERS",
    "Imported",
    "Importer",
    "JudgmentSource",
    "LooseOutputs",
    "Problems",
    "SourceJudgment",
    "assemble",
    "board_name",
    "check_name",
    "counts",
    "default_metrics",
    "find_file",
    "generator_rows",
    "importer",
    "in_folder_order",
    "is_platform_id",
    "json_lines",
    "lay_judgments",
    "pseudonyms",
    "read_cells",
    "read_columns",
    "read_fields",
    "read_json",
    "read_lines",
    "read_number",
    "read_objects",
    "read_pickle",
    "read_source",
    "references",
    "refuse_errors",
    "refuse_twice",
    "rows_of_generators",
    "score_column",
    "text_in",
    "texts_in",
    "value_within",
]

#: Where what is offered here is defined.
_HOMES = (
    "billboards.importers._assembling",
    "billboards._pickles",
    "billboards.board.judgment_sources",
    "billboards.board.pseudonyms",
    "billboards.reading",
)


def __getattr__(name: str) -> object:
    if name in __all__:
        for home in _HOMES:
            if name in vars(module := import_module(home)):
                return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
