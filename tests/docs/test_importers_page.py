"""The importers page holds every importer with its options, as the importer itself declares them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from billboards.importers import IMPORTERS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "importers.md").read_text("utf-8")


def test_the_table_of_options_is_what_the_importers_declare() -> None:
    spec = importlib.util.spec_from_file_location("importer_table", ROOT / "tools" / "importer_table.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = PAGE.partition(tool.HEADING)[2]
    assert written == tool.table(), "write it anew with `python tools/importer_table.py`"


def test_every_importer_is_on_the_page() -> None:
    assert [name for name in IMPORTERS.own if f"`{name}`" not in PAGE] == []
