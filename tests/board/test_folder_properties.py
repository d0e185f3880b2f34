"""Any board survives its folder, and no damage to a folder gets past reading unnoticed or as a foreign exception."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Judgment,
    Judgments,
    Kind,
    Outputs,
    Reference,
    loose_rows,
    row_of,
)
from billboards.board.check import check_board
from billboards.board.folder import open_board
from billboards.board.judgments import JudgmentColumns
from billboards.board.names import file_name
from billboards.board.writing import write_board
from billboards.errors import InvalidInput

EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["\u2028", "a\nb", "\t", "\0", "\r\n", "שלום", "😀", '"\\', "\ufeff", "\x85", "{}", " "]
)
name = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=6)
generator_name = name.filter(lambda each: not (each[0] == "#" and each[1:].isdigit()))
maybe_text = st.none() | text
number = st.floats(allow_nan=False, allow_infinity=False, width=64)
score = number | st.just(float("nan"))
KINDS: tuple[Kind, ...] = ("machine", "human")
plain = st.recursive(
    st.none() | st.booleans() | number | text | st.integers(-(2**70), 2**70),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)


DETAILS: Mapping[str, st.SearchStrategy[Any]] = {
    "spans": st.lists(plain, max_size=2),
    "test": text,
    "time": text | number,
    "template": text,
}


@st.composite
def instances(draw: st.DrawFn) -> tuple[Instance, ...]:
    ids = draw(st.lists(name, min_size=1, max_size=4, unique=True))
    writers = draw(st.lists(name, max_size=3, unique=True))
    return tuple(
        Instance(
            key,
            references=tuple(Reference(each, draw(text)) for each in writers if draw(st.booleans())),
            input=draw(maybe_text),
            image=draw(maybe_text),
            document=draw(maybe_text),
            domain=draw(maybe_text),
            tags=tuple(draw(st.lists(text, max_size=2))),
        )
        for key in ids
    )


@st.composite
def rows(draw: st.DrawFn, of: tuple[Instance, ...]) -> tuple[Outputs, ...]:
    made = []
    for each in draw(st.lists(generator_name, max_size=3, unique=True)):
        generator = Generator(
            each,
            kind=draw(st.sampled_from(KINDS)),
            description=draw(maybe_text),
            paper=draw(maybe_text),
            url=draw(maybe_text),
        )
        made.append(row_of(generator, of, tuple(draw(maybe_text) for _ in of)))
    ids = draw(st.lists(name, max_size=4, unique=True))
    outputs = [(draw(st.sampled_from(of)).id, key, draw(text)) for key in ids]
    return (*made, *loose_rows(of, outputs))


@st.composite
def dimensions(draw: st.DrawFn) -> dict[str, Dimension]:
    made = {}
    for each in draw(st.lists(name, max_size=3, unique=True)):
        limits = draw(st.sampled_from([None, (1.0, 5.0), (-25.0, 0.0), (-1.5, 2.25)]))
        higher = draw(st.booleans())
        slope = draw(st.floats(0.01, 100)) * (1 if higher else -1)
        mapping = draw(st.none() | st.tuples(st.just(slope), st.floats(-100, 100)))
        made[each] = Dimension(each, range=limits, higher_is_better=higher, to_100=mapping, definition=draw(maybe_text))
    return made


@st.composite
def judgments(
    draw: st.DrawFn, of: tuple[Instance, ...], about: tuple[Outputs, ...], scales: Mapping[str, Dimension]
) -> Judgments:
    columns = JudgmentColumns(tuple(scales))
    generators = [k for k, row in enumerate(about) if row.generator is not None]
    cells: list[tuple[tuple[int, ...], int]] = [(tuple(generators), i) for i in range(len(of)) if len(generators) > 1]
    cells += [((k,), i) for k, row in enumerate(about) for i in range(len(of)) if row.generator or row.ids[i]]
    for chosen, i in draw(st.lists(st.sampled_from(cells), max_size=6)) if cells else []:
        values = {each: draw(_within(scale)) for each, scale in scales.items() if draw(st.booleans())}
        preferred: list[Any] = [about[k].name for k in chosen if about[k].generator is not None]
        optional = {"prefers": st.sampled_from([[], preferred, *preferred]), **DETAILS}
        details: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=optional))
        if len(chosen) > 1:
            details["others"] = chosen[1:]
        who, campaign = draw(maybe_text), draw(st.none() | name)
        columns.add(i, chosen[0], values, annotator=who, campaign=campaign, details=details)
    return columns.build()


def _within(scale: Dimension) -> st.SearchStrategy[float]:
    return number if scale.range is None else st.floats(*scale.range)


@st.composite
def imported(draw: st.DrawFn, of: tuple[Instance, ...], about: tuple[Outputs, ...]) -> tuple[ImportedColumn, ...]:
    reference_names = tuple(dict.fromkeys(ref.name for instance in of for ref in instance.references))
    made = []
    for source in draw(st.lists(name, max_size=2, unique=True)):
        values = {
            row.name: np.array(draw(st.lists(score, min_size=len(of), max_size=len(of))))
            for row in about
            if draw(st.booleans())
        }
        needs = draw(st.booleans())
        seen = tuple(each for each in reference_names if needs and draw(st.booleans()))
        made.append(
            ImportedColumn(
                name=draw(name),
                source_name=source,
                signature="imported:any",
                values=values,
                references=seen,
                needs_references=needs,
                needs_input=draw(st.booleans()),
                is_ensemble=draw(st.booleans()),
                is_statistic=draw(st.booleans()),
            )
        )
    return tuple(made)


@st.composite
def boards(draw: st.DrawFn) -> Board:
    of = draw(instances())
    about = draw(rows(of))
    scales = draw(dimensions())
    combined = {
        each: Aggregate(each, tuple(scales), draw(st.none() | st.lists(name, max_size=2, unique=True).map(tuple)))
        for each in draw(st.lists(name, max_size=2, unique=True))
        if scales
    }
    reference_names = tuple(dict.fromkeys(ref.name for instance in of for ref in instance.references))
    return Board(
        name=draw(st.from_regex(r"[a-z][\w.-]{0,5}", fullmatch=True)),
        instances=of,
        rows=about,
        judgments=draw(judgments(of, about, scales)),
        dimensions=scales,
        aggregates=combined,
        ranks=draw(st.sampled_from([None, *scales, *combined])),
        metrics=tuple(draw(st.lists(text, max_size=2, unique=True))),
        imported=draw(imported(of, about)),
        lead=draw(st.sampled_from(["imported", "own"])),
        references_used=draw(st.none() | st.just(reference_names) | st.just(reference_names[:1])),
        input_language=draw(maybe_text),
        output_language=draw(maybe_text),
        card=DataCard(title=draw(maybe_text), comments=draw(maybe_text)),
    )


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of its own for every example."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def in_words(board: Board) -> list[tuple[str, ...]]:
    """Every judgment in words, in an order that does not depend on the order of files."""
    ids, names = tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)
    return sorted(_words(judgment) for judgment in board.judgments.each(ids, names))


def _words(judgment: Judgment) -> tuple[str, ...]:
    details = sorted((key, repr(value)) for key, value in judgment.details.items())
    values = sorted((key, value.hex()) for key, value in judgment.values.items())
    return tuple(
        map(repr, (judgment.instance, judgment.outputs, values, judgment.annotator, judgment.campaign, details))
    )


def assert_same(each: Board, other: Board) -> None:
    assert each.instances == other.instances
    rows_of_one, rows_of_other = ({row.name: row for row in board.rows} for board in (each, other))
    assert rows_of_one.keys() == rows_of_other.keys()
    for key, row in rows_of_one.items():
        assert rows_of_other[key].texts == row.texts
        assert (rows_of_other[key].version, rows_of_other[key].generator) == (row.version, row.generator)
        assert rows_of_other[key].ids == row.ids
    assert in_words(each) == in_words(other)
    assert (each.dimensions, each.aggregates, each.ranks) == (other.dimensions, other.aggregates, other.ranks)
    assert (each.name, each.metrics, each.lead, each.card) == (other.name, other.metrics, other.lead, other.card)
    assert (each.input_language, each.output_language) == (other.input_language, other.output_language)
    assert each.references_used == other.references_used
    assert_same_scores(each, other)


def assert_same_scores(each: Board, other: Board) -> None:
    columns = {column.source_name: column for column in other.imported}
    assert columns.keys() == {column.source_name for column in each.imported}
    for column in each.imported:
        made = columns[column.source_name]
        assert (made.name, made.references, made.is_ensemble) == (column.name, column.references, column.is_ensemble)
        assert made.is_statistic == column.is_statistic
        assert (made.needs_references, made.needs_input) == (column.needs_references, column.needs_input)
        assert {row: values.tobytes() for row, values in made.values.items()} == {
            row: values.tobytes() for row, values in column.values.items()
        }


@EXAMPLES
@given(boards())
def test_a_board_that_is_written_and_opened_is_the_same_board(board: Board) -> None:
    with scratch() as folder:
        made = open_board(write_board(board, folder / "b"))
        assert_same(board, made)
        shape = (len(board.rows), len(board.instances))
        order = [made.row_position[row.name] for row in board.rows]
        for dimension in board.dimensions:
            means = made.judgments.means(dimension, shape)[order]
            np.testing.assert_allclose(means, board.judgments.means(dimension, shape), rtol=1e-12)


@pytest.mark.long
@EXAMPLES
@given(boards())
def test_writing_twice_gives_the_same_bytes_and_so_does_writing_what_was_read(board: Board) -> None:
    with scratch() as folder:
        first, second = write_board(board, folder / "1"), write_board(board, folder / "2")
        assert contents(first) == contents(second)
        assert contents(write_board(open_board(first), folder / "3")) == contents(first)


@pytest.mark.long
@EXAMPLES
@given(boards(), st.data())
def test_damage_is_refused_or_changes_only_what_was_damaged(board: Board, data: st.DataObject) -> None:
    with scratch() as folder:
        root = write_board(board, folder / "b")
        before = open_board(root)
        damaged = data.draw(st.sampled_from([path for path in contents(root) if path != ".gitignore"]))
        raw = (root / damaged).read_bytes()
        changed = data.draw(_damage(raw))
        (root / damaged).write_bytes(changed)
        try:
            after = open_board(root)
            _ = [row.texts for row in after.rows]
        except InvalidInput:
            return
        assert_differs_only_in(damaged, before, after)
        assert isinstance(check_board(root), list)


def _damage(raw: bytes) -> st.SearchStrategy[bytes]:
    """One byte flipped, one line dropped, one line doubled, or the end cut off."""
    lines = raw.split(b"\n")
    flips = st.tuples(st.integers(0, max(len(raw) - 1, 0)), st.integers(1, 255)).map(
        lambda at: raw[: at[0]] + bytes(byte ^ at[1] for byte in raw[at[0] : at[0] + 1]) + raw[at[0] + 1 :]
    )
    places = st.integers(0, len(lines) - 1)
    dropped = places.map(lambda k: b"\n".join(lines[:k] + lines[k + 1 :]))
    doubled = places.map(lambda k: b"\n".join(lines[: k + 1] + lines[k:]))
    cut = st.integers(0, len(raw)).map(lambda k: raw[:k])
    return flips | dropped | doubled | cut


def assert_differs_only_in(damaged: str, each: Board, other: Board) -> None:
    """Everything that does not come from the damaged file is as it was."""
    if damaged != "instances.jsonl":
        assert each.instances == other.instances
        for row in each.rows:
            if row.generator is not None and damaged != f"generators/{file_name(row.name)}.jsonl":
                assert other.row(row.name).texts == row.texts
    if not damaged.startswith(("scores/", "instances", "board", "outputs")):
        assert_same_scores(each, other)
    if not damaged.startswith(("judgments/", "instances", "board", "outputs")):
        assert in_words(each) == in_words(other)
    if damaged != "board.toml":
        assert (each.name, each.dimensions, each.aggregates) == (other.name, other.dimensions, other.aggregates)
        assert (each.ranks, each.metrics, each.card) == (other.ranks, other.metrics, other.card)
        assert each.generators == other.generators
