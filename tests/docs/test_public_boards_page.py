"""The page of public boards holds every entry as the catalogue has it, and the guide's entry is one."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from billboards.catalogue import Entry, Template, check_entry, read_entries

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "how-to-add-a-public-board.md").read_text("utf-8")


def test_the_table_is_what_the_catalogue_says() -> None:
    spec = importlib.util.spec_from_file_location("catalogue_table", ROOT / "tools" / "catalogue_table.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = tool.PAGE.read_text("utf-8").partition(tool.HEADING)[2]
    assert written == tool.table(), "write it anew with `python tools/catalogue_table.py`"


def test_the_entry_of_the_guide_is_right(tmp_path: Path) -> None:
    whole, several = re.findall(r"^```toml\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "newcomers.toml").write_text(whole, "utf-8")
    (entry,) = read_entries(tmp_path / "newcomers.toml")
    assert isinstance(entry, Entry)
    assert check_entry(entry).name == "table"
    assert entry.is_verified
    rest = whole.partition('title = "Newcomers, summaries of minutes"\n')[2].replace("judged = 400", "#")
    names, values = several.split("\n\n", 1)
    (tmp_path / "several.toml").write_text(f"{names}\n{rest}\n{values}", "utf-8")
    both = [entry for entry in read_entries(tmp_path / "several.toml") if not isinstance(entry, Template)]
    assert [(entry.name, entry.title, entry.judged) for entry in both] == [
        ("newcomers-en-de", "Newcomers, English to German", 400),
        ("newcomers-en-fr", "Newcomers, English to French", 380),
    ]


def test_every_key_of_a_source_is_in_the_guide() -> None:
    from billboards.catalogue import Source

    keys = {*Source.model_fields, "digests"} - {"patterns"}
    assert [key for key in keys if f"`{key}`" not in GUIDE and f"`{key} = true`" not in GUIDE] == []
