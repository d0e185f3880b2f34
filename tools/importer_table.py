"""Writes the table of importers and their options into docs/importers.md, below its last heading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from billboards.importers import IMPORTERS, Importer
from billboards.options import Option

PAGE = Path(__file__).resolve().parents[1] / "docs" / "importers.md"
HEADING = "## Options\n\n"


def table() -> str:
    """A row for every importer of this package, and one for each of its options, as they declare themselves."""
    return "\n".join(("| KIND and options | what it reads or means |", "| --- | --- |", *_rows(), ""))


def _rows() -> Iterator[str]:
    for importer in map(IMPORTERS.load, IMPORTERS.own):
        yield f"| **`{importer.name}`** | {importer.summary}{_licence(importer)} |"
        yield from (f"| `{option.flag}`{_remark(option)} | {option.help} |" for option in importer.options)


def _licence(importer: Importer) -> str:
    return "" if importer.card is None or importer.card.licence is None else f". Licence: {importer.card.licence}"


def _remark(option: Option) -> str:
    if option.required:
        return ", required"
    return ", repeated" if option.many else ""


if __name__ == "__main__":
    before, heading, _ = PAGE.read_text("utf-8").partition(HEADING)
    PAGE.write_text(before + heading + table(), "utf-8")
