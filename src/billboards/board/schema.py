"""The JSON schema of `board.toml`, as editors want it to complete keys and mark mistakes while one types.

It is made from the model that reads the file, so the two can't differ, in the dialect and layout of the JSON Schema
Store: one file for the schema, and an entry of the catalogue that says which files it is for.
"""

from __future__ import annotations

import json
from typing import Any

from billboards.board.settings import SCHEMA, _Tables

ID = "https://json.schemastore.org/billboards-board.json"


def board_schema() -> dict[str, Any]:
    """The schema, in draft 7, which editors know best."""
    made = json.loads(json.dumps(_Tables.model_json_schema(by_alias=True)).replace("#/$defs/", "#/definitions/"))
    definitions = made.pop("$defs", {})
    made["properties"]["schema"] = {"const": SCHEMA, "default": SCHEMA, "description": "the version of this format"}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": ID,
        **made,
        "title": "board.toml of billboards",
        "description": "A board: what is ranked, by which judgments and metrics",
        "definitions": definitions,
    }


def catalogue_entry() -> dict[str, Any]:
    """What the Schema Store's catalogue says of it."""
    return {
        "name": "billboards board",
        "description": "board.toml, the settings of a billboards board",
        "fileMatch": ["board.toml"],
        "url": ID,
    }
