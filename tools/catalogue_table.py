"""Writes the table of public boards into docs/public-boards.md, below its last heading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from billboards.catalogue import Entry, Source, import_command, read_catalogue
from billboards.catalogue._catalogue import OWN
from billboards.catalogue._entry import Template, read_entries
from billboards.catalogue._terminal import size_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "public-boards.md"
HEADING = "## Boards\n\n"


def table() -> str:
    """A row for every entry of this package, and the sources and import commands of each file below."""
    return "\n".join((*_rows(), "", *_sources(), ""))


def _own() -> list[tuple[Path, list[Entry]]]:
    """The files of entries with what stands in them; a shape of names is shown with capitals."""
    files = sorted(OWN.glob("*.toml"))
    return [(file, [e.example if isinstance(e, Template) else e for e in read_entries(file)]) for file in files]


def _rows() -> Iterator[str]:
    yield "| NAME | what is judged | task | languages | judged outputs | files | verified | licence |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    names = {entry.name for _, entries in _own() for entry in entries}
    for entry in read_catalogue():
        if entry.name in names:
            judged = "" if entry.judged is None else f"{entry.judged:,}"
            yield (
                f"| `{entry.name}` | {entry.title} | {entry.task} | {', '.join(entry.languages)} | {judged} | "
                f"{size_text(entry.size)} | {'yes' if entry.is_verified else 'no'} | {entry.licence} |"
            )


def _sources() -> Iterator[str]:
    yield "Where they come from, and the command that imports clones which lie in the current folder:"
    yield ""
    for file, entries in _own():
        entry = entries[0]
        places = ", ".join(map(_place, entry.sources))
        yield f"- **{file.stem}**: {places}. `{import_command(entry)}`. {entry.citation}."


def _place(source: Source) -> str:
    if source.repository is None:
        return f"[{source.label}]({source.url})"
    short = str(source.commit)[:7]
    return f"[{source.repository}](https://github.com/{source.repository}/tree/{source.commit}) at {short}"


if __name__ == "__main__":
    before, heading, _ = PAGE.read_text("utf-8").partition(HEADING)
    PAGE.write_text(before + heading + table(), "utf-8")
