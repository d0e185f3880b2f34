"""Plain text files as a board: inputs, references and outputs line by line, and judgments in a table of their own.

Line k of every file speaks of the same instance; only a newline ends a line. Systems and references are named as in
`--output NAME=FILE`, or by their files. Where people judged a reference as if it were a system's output, it becomes a
human row as well, as it does under a name such as Human-A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from billboards.board import Board, DataCard, Generator, Instance, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused, InvalidInput
from billboards.importers._assembling import assemble, board_name, check_name, read_lines, rows_of_generators
from billboards.importers._importer import importer
from billboards.importers._judgment_tables import Join, Wanted, judged_board, read_judgment_table
from billboards.reading import Problems, refuse_errors, some

_ENDINGS = (".gz", ".txt")


@importer()
def text(
    source: Path | None = None,
    *,
    output: Annotated[tuple[str, ...], "a system's outputs, as NAME=FILE or FILE"] = (),
    reference: Annotated[tuple[str, ...], "references, as NAME=FILE or FILE"] = (),
    judgments: Annotated[Path | None, "a table of judgments"] = None,
    documents: Annotated[Path | None, "the document of each line; DOMAIN and a tab may stand before it"] = None,
    ids: Annotated[Path | None, "the id of each line (default: its number)"] = None,
    segment: Annotated[str | None, "column of the judgments' line or id"] = None,
    system: Annotated[str | None, "column of the judged system"] = None,
    annotator: Annotated[str | None, "column of the annotator's name"] = None,
    dimension: Annotated[str | None, "column that names the dimension of a value"] = None,
    judgment: Annotated[tuple[str, ...], "column of human values; its name becomes a dimension"] = (),
    range: Annotated[tuple[str, ...], "scale of a dimension, as in adequacy=1:5"] = (),
    by: Annotated[Join | None, "what that column holds: lines or ids (default: ids where they are)"] = None,
    first: Annotated[int, "the number of the first line in the judgments"] = 1,
    name: Annotated[str | None, "the board's name (default: texts)"] = None,
) -> Imported:
    """Text files, one text on each line, with a table of judgments beside them."""
    files = _Files()
    inputs = None if source is None else files.read("the source", source)
    outputs = {key: files.read(f"output {key}", path) for key, path in _named(output, "output").items()}
    references = {key: files.read(f"reference {key}", path) for key, path in _named(reference, "reference").items()}
    places = None if documents is None else files.read("the documents", documents)
    names = None if ids is None else files.read("the ids", ids)
    if not outputs:
        raise InvalidInput("no outputs to import; name them with --output NAME=FILE")
    files.check()
    instances = _instances(files.lines, inputs, references, places, names)
    _check_names(outputs, references, names, ids)
    wanted = Wanted(
        system=system,
        segment=segment,
        annotator=annotator,
        dimension=dimension,
        judgment=judgment,
        range=range,
        by=by,
        first=first,
    )
    judged = None
    if judgments is not None:
        all_names = tuple(dict.fromkeys((*outputs, *references)))
        judged = read_judgment_table(judgments, wanted, systems=all_names, instances=[i.id for i in instances])
    elif wanted != Wanted():
        raise InvalidInput("columns of judgments are named, and no table of judgments; name it with --judgments FILE")
    people = [key for key in (judged.systems if judged else ()) if key not in outputs]
    texts = {key: dict(zip((i.id for i in instances), lines, strict=True)) for key, lines in outputs.items()}
    texts |= {key: _written(instances, references[key]) for key in people}
    rows = rows_of_generators(instances, texts, {key: Generator(key, kind="human") for key in people})
    called = board_name(name or "texts")
    card = DataCard(title=called, source=", ".join(path.name for path in files.paths))
    board = judged_board(
        assemble(called, instances, rows, (), dimensions=(), ranks=None, card=card),
        judged,
    )
    return Imported(board, (*files.notes, *(judged.notes if judged else ()), *_notes(board, references, people)))


class _Files:
    """Text files as they are read, and whether all have as many lines."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.paths: list[Path] = []
        self._sizes: dict[Path, tuple[str, int]] = {}

    def read(self, what: str, path: Path) -> list[str]:
        problems = Problems()
        lines = [text.rstrip() for _, text in read_lines(path, problems, self.notes)]
        refuse_errors(problems)
        self.paths.append(path)
        self._sizes[path] = (what, len(lines))
        return lines

    @property
    def lines(self) -> int:
        return next(iter(self._sizes.values()))[1]

    def check(self) -> None:
        (first, (_, size)), *others = self._sizes.items()
        for path, (what, count) in others:
            if count != size:
                raise ImportRefused(
                    f"{first} has {size:,} lines and {path} ({what}) {count:,}; each line must stand for the same text"
                )


def _named(written: Sequence[str], what: str) -> dict[str, Path]:
    """Files by their names: those written before =, else the file's own without its ending."""
    named: dict[str, Path] = {}
    for text in written:
        name, equals, file = text.partition("=")
        path = Path(file) if equals and name and not Path(text).exists() else Path(text)
        key = name if path == Path(file) and equals else path.name
        for ending in _ENDINGS if key == path.name else ():
            key = key.removesuffix(ending)
        if key in named:
            raise InvalidInput(f"two files are called {key}; name them apart: --{what} NAME=FILE")
        named[key] = path
    return named


def _check_names(
    outputs: Mapping[str, object], references: Mapping[str, object], names: Sequence[str] | None, ids: Path | None
) -> None:
    problems = Problems()
    for key in outputs:
        check_name("generator", key, "--output", None, problems)
    for key in references:
        check_name("reference", key, "--reference", None, problems)
    seen: dict[str, int] = {}
    for line, key in enumerate(names or (), 1):
        check_name("instance", key, str(ids), line, problems)
        if key in seen:
            problems.error(str(ids), line, f"instance {key!r} appears twice, first on line {seen[key]}")
        seen[key] = line
    refuse_errors(problems)


def _instances(
    lines: int,
    inputs: Sequence[str] | None,
    references: Mapping[str, Sequence[str]],
    places: Sequence[str] | None,
    names: Sequence[str] | None,
) -> tuple[Instance, ...]:
    return tuple(
        Instance(
            str(k + 1) if names is None else names[k],
            input=None if inputs is None else inputs[k],
            references=tuple(Reference(key, texts[k]) for key, texts in references.items() if texts[k].strip()),
            document=None if places is None else places[k].rpartition("\t")[2] or None,
            domain=None if places is None else places[k].rpartition("\t")[0] or None,
        )
        for k in range(lines)
    )


def _written(instances: Sequence[Instance], texts: Sequence[str]) -> dict[str, str]:
    """The texts of a reference by instance, without those that it lacks."""
    return {instance.id: text for instance, text in zip(instances, texts, strict=True) if text.strip()}


def _notes(board: Board, references: Mapping[str, Sequence[str]], people: Sequence[str]) -> Iterator[str]:
    named = "1 reference" if len(references) == 1 else f"{len(references)} references"
    yield (
        f"{len(board.instances)} instances, {len(board.generators)} generators, {named}, "
        f"{len(board.judgments)} judgments"
    )
    for key, texts in references.items():
        if empty := sum(not text.strip() for text in texts):
            yield f"reference {key} has no text on {empty} lines"
    if people:
        yield f"people judged {some(people)}, so that a reference is a human row as well"
    human = [
        generator.name for generator in board.generators if generator.kind == "human" and generator.name not in people
    ]
    if human:
        yield f"taken for people by their names: {some(human)}"
    if board.ranks is not None:
        yield f"{board.ranks} ranks metrics; choose another as `ranks` in board.toml"
    yield "say in board.toml which [languages] input and output are in"
