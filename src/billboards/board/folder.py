"""The board folder: a board that a person can write by hand, keep in git, and open with no server.

    board.toml               what the owner decides: dimensions, aggregates, metrics, human generators, data card
    instances.jsonl          {"id", "input" | "image", "references": [{"name", "text"}], "document", "domain", "tags"}
    generators/NAME.jsonl    {"instance", "text"}
    outputs.jsonl            {"instance", "id", "text"}: outputs that belong to no generator
    judgments/NAME.jsonl     {"instance", "generator" | "output", "values": {dimension: number}, "annotator", …}
    scores/NAME.tsv          scores that came with the data: a line per instance, a column per generator
    ensembles/, rankings/    what was fitted and said, kept for ever
    .billboards/             scores computed here, and numbers of large files; may be deleted, is made again

Reading never stops at the first mistake: everything wrong is collected with file and line. Generators' texts are read
when first needed: knowing which scores are missing needs none of them, and ranking a large board only some.
"""

from __future__ import annotations

from pathlib import Path

from billboards.board.instance_lines import read_instances, reference_set
from billboards.board.judgment_files import read_judgments
from billboards.board.model import Board
from billboards.board.output_lines import generator_rows, loose_outputs
from billboards.board.parts import LISTED, read_part
from billboards.board.score_files import read_scores
from billboards.board.settings import Settings, read_settings
from billboards.board.settings_tables import FILE
from billboards.errors import InvalidBoard, InvalidInput
from billboards.reading import Problems, numbered_lines


def open_board(path: str | Path) -> Board:
    """The board in a folder; raises `InvalidBoard` with every mistake found."""
    root = Path(path)
    problems = Problems(LISTED)
    board = read_board(root, problems)
    if problems.errors:
        raise InvalidBoard(str(path), problems.errors)
    return board


def read_board(root: Path, problems: Problems) -> Board:
    """As much of a board as can be read, with everything wrong added to `problems`."""
    settings = read_settings_file(root, problems)
    instances = read_instances(root, problems)
    position = {instance.id: k for k, instance in enumerate(instances)}
    references = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    rows = generator_rows(root, settings, position, problems)
    rows += loose_outputs(root, instances, position, problems)
    return Board(
        settings.name,
        instances,
        rows,
        read_judgments(root, settings, position, rows, problems),
        settings.dimensions,
        settings.aggregates,
        settings.ranks,
        settings.metrics,
        read_scores(root, settings, position, rows, references, problems),
        settings.lead,
        reference_set(settings.references, references, settings, ("references",), problems),
        settings.input_language,
        settings.output_language,
        settings.card,
        settings.reference_free,
        root,
    )


def read_settings_file(root: Path, problems: Problems) -> Settings:
    """What `board.toml` says; a folder without one is not a board."""
    try:
        there = root.is_dir()
    except OSError as error:
        raise InvalidInput(f"{root}: can't be read: {error.strerror}; name another folder") from error
    if not there:
        raise InvalidInput(f"{root}: no such board folder; `billboards new {root}` writes a skeleton")
    before = len(problems)
    raw = read_part(root, FILE, problems)
    if raw is None and len(problems) == before:
        raise InvalidInput(f"{root}: not a board folder, it has no {FILE}; `billboards new DIR` writes a skeleton")
    lines = [line for _, line in numbered_lines(raw or b"", FILE, problems)]
    return read_settings("\n".join(lines), problems) if len(problems) == before else Settings()
