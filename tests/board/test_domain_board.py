"""A board's own questions: parts of it, its references, its rows, and the digests that name what it holds."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from billboards.analyses.ensemble import Ensemble
from billboards.board import (
    Aggregate,
    Board,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Judgments,
    Outputs,
    Reference,
    Slice,
    Texts,
    digest,
    generator_lines,
    loose_rows,
    row_of,
)
from billboards.errors import InvalidInput, UnknownName

INSTANCES = (
    Instance(
        "1",
        references=(Reference("A", "One."), Reference("B", "The one.")),
        input="Eins",
        image=None,
        document="d1",
        domain="news",
        tags=("short",),
    ),
    Instance("2", references=(Reference("A", "Two."),), input="Zwei", image=None, document="d1", domain="talk"),
    Instance(
        "3",
        references=(Reference("B", "The three."),),
        input=None,
        image="3.png",
        document="d2",
        domain="news",
        tags=("short", "odd"),
    ),
)


def row(name: str, *texts: str | None, human: bool = False) -> Outputs:
    return row_of(Generator(name, kind="human" if human else "machine"), INSTANCES, texts)


ROWS = (row("M", "1", "2", "3"), row("H", "One.", "Two.", None, human=True), row("A", "x", "y", "z", human=True))
BOARD = Board(
    name="b",
    instances=INSTANCES,
    rows=ROWS,
    dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
    aggregates={"all": Aggregate("all", ("adequacy",), ("experts",))},
    ranks="all",
)


@pytest.mark.parametrize(
    ("part", "chosen", "words"),
    [
        (Slice(), (0, 1, 2), "whole board"),
        (Slice(domain="news"), (0, 2), "domain news"),
        (Slice(document="d1"), (0, 1), "document d1"),
        (Slice(tag="odd"), (2,), "tag odd"),
        (Slice(domain="news", document="d1", tag="short"), (0,), "domain news, document d1, tag short"),
    ],
)
def test_a_slice_chooses_instances_and_says_so(part: Slice, chosen: tuple[int, ...], words: str) -> None:
    assert BOARD.select(part) == chosen
    assert str(part) == words
    assert bool(part) == (part != Slice())


def test_a_slice_by_an_empty_word_is_a_slice() -> None:
    assert Slice(domain="")
    assert not Slice(domain="").holds(INSTANCES[0])


def test_a_slice_that_holds_nothing_is_refused_with_the_nearest_parts() -> None:
    with pytest.raises(UnknownName, match="no part of the board named 'domain new'; did you mean domain news"):
        BOARD.select(Slice(domain="new"))
    with pytest.raises(UnknownName, match="document d1"):
        BOARD.select(Slice(document="d"))
    tagged = replace(BOARD, instances=tuple(replace(instance, tags=("long",)) for instance in BOARD.instances))
    with pytest.raises(UnknownName, match="no part of the board named 'tag log'; did you mean tag long"):
        tagged.select(Slice(tag="log"))


def test_references_are_named_in_order_of_first_appearance() -> None:
    assert BOARD.reference_names == ("A", "B")
    assert BOARD.references == ("A", "B")
    assert replace(BOARD, references_used=("B",)).references == ("B",)
    assert replace(BOARD, references_used=()).references == ()


def test_reference_texts_are_those_an_instance_has() -> None:
    assert BOARD.reference_texts(("A", "B")) == [("One.", "The one."), ("Two.",), ("The three.",)]
    assert BOARD.reference_texts(("B",)) == [("The one.",), (), ("The three.",)]


def test_a_reference_set_is_in_the_boards_order_and_known() -> None:
    assert BOARD.check_references(["B", "A"]) == ("A", "B")
    with pytest.raises(UnknownName, match="no reference named 'C'"):
        BOARD.check_references(["A", "C"])


def test_a_person_is_a_reference_by_name_or_by_having_written_it() -> None:
    machine, same, called = ROWS
    assert not BOARD.is_reference(machine, ("A", "B"))
    assert BOARD.is_reference(same, ("A", "B"))
    assert not BOARD.is_reference(same, ("B",))
    assert BOARD.is_reference(called, ("A",))
    assert not BOARD.is_reference(called, ("B",))
    assert not BOARD.is_reference(row("N", None, None, None, human=True), ("A", "B"))


def test_a_machine_that_happens_to_write_the_reference_is_no_reference() -> None:
    assert not BOARD.is_reference(row("N", "One.", "Two.", None), ("A",))


def test_the_aggregate_that_ranks_is_found_and_a_dimension_is_one() -> None:
    assert BOARD.aggregate() == Aggregate("all", ("adequacy",), ("experts",))
    assert BOARD.aggregate("adequacy") == Aggregate("adequacy", ("adequacy",))
    with pytest.raises(UnknownName, match="no aggregate or dimension named 'beauty'"):
        BOARD.aggregate("beauty")
    with pytest.raises(InvalidInput, match="no judgments to rank metrics by"):
        replace(BOARD, ranks=None).aggregate()


def test_generators_and_rows_are_found_by_name() -> None:
    assert BOARD.generator("H").kind == "human"
    assert BOARD.row("M").texts == ("1", "2", "3")
    with pytest.raises(UnknownName, match="no generator named 'N'"):
        BOARD.generator("N")
    with pytest.raises(UnknownName, match="no generator named 'N'"):
        BOARD.row("N")


def test_loose_outputs_fill_nameless_rows_in_their_order() -> None:
    first, second = loose_rows(INSTANCES, [("2", "x", "X"), ("1", "y", "Y"), ("2", "z", "Z")])
    assert (first.name, first.generator, first.texts, first.ids) == ("#1", None, ("Y", "X", None), ("y", "x", None))
    assert (second.name, second.texts, second.ids) == ("#2", (None, "Z", None), (None, "z", None))
    assert loose_rows(INSTANCES, []) == ()


def test_loose_rows_change_their_version_with_text_and_id() -> None:
    versions = {loose_rows(INSTANCES, [("1", key, text)])[0].version for key in "xy" for text in "XY"}
    assert len(versions) == 4


def test_a_digest_is_the_same_everywhere_and_for_ever() -> None:
    """sha256 of the lines in UTF-8, each ended by a newline: its first 16 hexadecimal digits."""
    assert digest(["a", "é"]) == hashlib.sha256(b"a\n\xc3\xa9\n").hexdigest()[:16] == "3b8e79201784bc68"
    assert digest([]) == "e3b0c44298fc1c14"


def test_a_rows_version_is_the_digest_of_its_file() -> None:
    written = b'{"instance": "1", "text": "\xc3\xa9"}\n{"instance": "3", "text": ""}\n'
    outputs = row("M", "é", None, "")
    assert outputs.version == hashlib.sha256(written).hexdigest()[:16] == "48b34d9816321a5c"
    assert generator_lines(INSTANCES, ("é", None, "")) == written.decode().split("\n")[:-1]


def test_the_context_a_metric_sees_is_named_by_what_is_in_it() -> None:
    """The ids, the language of the outputs and the references used, each a line; inputs only where they are seen."""
    ids = hashlib.sha256(b"1\n2\n3\n").hexdigest()[:16]
    lines = "".join(json.dumps([["A", text]] if text else []) + "\n" for text in ("One.", "Two.", ""))
    references = hashlib.sha256(lines.encode()).hexdigest()[:16]
    expected = hashlib.sha256(f"{ids}\nen\n{references}\n".encode()).hexdigest()[:16]
    english = replace(BOARD, output_language="en")
    assert english.context_version(references=("A",), inputs=False) == expected
    assert english.context_version(references=("A", "B"), inputs=False) != expected
    assert BOARD.context_version(references=("A",), inputs=False) != expected


def test_what_a_metric_does_not_see_does_not_change_its_context() -> None:
    other = replace(BOARD, instances=(replace(INSTANCES[0], input="Uno"), *INSTANCES[1:]))
    assert other.context_version(references=("A",), inputs=False) == BOARD.context_version(
        references=("A",), inputs=False
    )
    assert other.context_version(references=("A",), inputs=True) != BOARD.context_version(
        references=("A",), inputs=True
    )


@pytest.mark.parametrize(
    "change",
    [
        {"instances": (replace(INSTANCES[0], domain="talk"), *INSTANCES[1:])},
        {"instances": (replace(INSTANCES[0], references=()), *INSTANCES[1:])},
        {"rows": (row("M", "1", "2", "4"), *ROWS[1:])},
        {"rows": (row("M", "1", "2", "3", human=True), *ROWS[1:])},
        {"dimensions": {"adequacy": Dimension("adequacy", range=(1, 6))}},
        {"aggregates": {"all": Aggregate("all", ("adequacy",))}},
        {
            "imported": (
                ImportedColumn(name="BLEU", source_name="bleu", signature="imported:1", values={"M": np.zeros(3)}),
            )
        },
        {"judgments": Judgments(dimensions=("adequacy",), values=np.empty((0, 1)))},
        {"lead": "own"},
        {"output_language": "en"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_version_of_a_board_changes_with_what_a_ranking_depends_on(change: dict[str, Any]) -> None:
    assert replace(BOARD, **change).version != BOARD.version


def test_the_version_of_a_board_does_not_change_with_what_is_only_said_of_it() -> None:
    described = replace(BOARD, ranks=None, metrics=("BLEU",), references_used=("A",))
    assert described.version == BOARD.version


def test_texts_are_loaded_once() -> None:
    calls = []

    def load() -> Texts:
        calls.append(1)
        return ("x",)

    outputs = Outputs(name="M", generator=None, version="v", load=load)
    assert outputs.texts == outputs.texts == ("x",)
    assert len(calls) == 1


def ensemble(references: tuple[str, ...], version: int = 1) -> Ensemble:
    return Ensemble(
        board="wmt20-zh-en",
        board_version="v",
        version=version,
        references=references,
        lam=1.0,
        lam_range=None,
        k=3,
        weights={},
        centres={},
        scales={},
        signatures={},
        intercept=0.0,
        correlation=None,
        n=0,
        aggregate="mqm",
        candidates=(),
    )


@pytest.mark.parametrize(
    ("references", "signature"),
    [
        (("Human-A", "Human-B"), "ensemble.wmt20-zh-en+refs.AB+version.1"),
        (("refA", "refB", "refC"), "ensemble.wmt20-zh-en+refs.ABC+version.1"),
        (("Human-A",), "ensemble.wmt20-zh-en+refs.Human-A+version.1"),
        (("A",), "ensemble.wmt20-zh-en+refs.A+version.1"),
        (("ann", "bob"), "ensemble.wmt20-zh-en+refs.ann,bob+version.1"),
        ((), "ensemble.wmt20-zh-en+refs.none+version.1"),
        (tuple(f"ref{k}" for k in range(11)), "ensemble.wmt20-zh-en+refs.11+version.1"),
    ],
)
def test_an_ensembles_signature_names_board_references_and_version(references: tuple[str, ...], signature: str) -> None:
    assert ensemble(references).short_signature == signature
    assert re.fullmatch(rf"{re.escape(signature)}\+[0-9a-f]{{8}}", ensemble(references).signature)


def test_a_later_ensemble_has_a_later_version() -> None:
    assert ensemble(("A", "B"), 2).short_signature == "ensemble.wmt20-zh-en+refs.AB+version.2"


def test_a_board_is_shown_in_one_line_however_large_it_is() -> None:
    instances = tuple(Instance(str(k), input="word " * 50) for k in range(2_000))
    rows = (row_of(Generator("M"), instances, ("text",) * 2_000),)
    large = Board(name="large", instances=instances, rows=rows)
    assert repr(large) == "<Board large: 2,000 instances, 1 generators, 0 judgments, 0 imported metrics>"
    assert repr(large.judgments) == "<Judgments: 0 on no dimension>"
