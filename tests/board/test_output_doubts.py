"""Doubts about outputs: every disguise of a copy is seen through, and honest systems are left alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from billboards.board import Board, Generator, Outputs, row_of
from billboards.board.doubts import Doubt, likeness, output_doubts, shingles
from billboards.demo import build_board

Texts = list[str]


@pytest.fixture(scope="module")
def board() -> Board:
    return build_board()


def row(board: Board, texts: list[str | None] | Texts, name: str = "mine") -> Outputs:
    return row_of(Generator(name), board.instances, tuple(texts))


def machine(board: Board, k: int = 0) -> Texts:
    rows = [each for each in board.rows if each.generator and each.generator.kind == "machine"]
    return [text or "" for text in rows[k].texts]


def references(board: Board, k: int = 0) -> Texts:
    return [instance.references[k].text for instance in board.instances]


def kinds(doubts: tuple[Doubt, ...]) -> set[str]:
    return {doubt.kind for doubt in doubts}


def with_typos(text: str) -> str:
    chance = random.Random(text)
    letters = list(text)
    for k in chance.sample(range(len(letters) - 1), max(1, len(letters) // 60)):
        letters[k], letters[k + 1] = letters[k + 1], letters[k]
    return "".join(letters)


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "another full stop": lambda text: text.rstrip(".") + " !",
    "upper case": str.upper,
    "without spaces at commas": lambda text: text.replace(", ", ","),
    "tokenised": lambda text: text.replace(",", " ,").replace(".", " ."),
    "typos": with_typos,
    "noise appended": lambda text: f"{text} Further news will follow tomorrow.",
    "noise before": lambda text: f"In other news: {text}",
    "doubled spaces": lambda text: text.replace(" ", "  "),
    "soft hyphens": "\u00ad".join,
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_references_in_any_disguise_are_seen(board: Board, disguise: str) -> None:
    doubts = output_doubts(board, row(board, [DISGUISES[disguise](text) for text in references(board)]))
    (copies,) = [doubt for doubt in doubts if doubt.kind == "copies references"]
    assert copies.share > 0.9
    assert copies.examples
    assert "references" in str(copies)


def test_references_taken_in_turn_and_mixed_with_honest_outputs_are_seen(board: Board) -> None:
    mixed = [references(board, k % 5)[k] if k % 4 == 0 else text for k, text in enumerate(machine(board))]
    doubts = output_doubts(board, row(board, mixed), others=())
    assert kinds(doubts) == {"copies references"}
    assert doubts[0].count == 25


@pytest.mark.parametrize("disguise", DISGUISES)
def test_another_generators_outputs_in_any_disguise_are_seen(board: Board, disguise: str) -> None:
    doubts = output_doubts(board, row(board, [DISGUISES[disguise](text) for text in machine(board, 3)]))
    name = [each.name for each in board.rows if each.generator and each.generator.kind == "machine"][3]
    copies = [doubt.about for doubt in doubts if doubt.kind == "copies a generator"]
    assert name in copies
    assert not any(name in doubt.words for doubt in doubts)


def test_an_earlier_version_is_named_as_such(board: Board) -> None:
    texts = machine(board, 2)
    later = row(board, [text.replace(".", "!") for text in texts])
    doubts = output_doubts(board, later, others=(), earlier=[row(board, texts, "mine, first")])
    assert [(doubt.kind, doubt.about) for doubt in doubts] == [("copies an earlier version", "mine, first")]


def test_outputs_in_another_order_are_seen(board: Board) -> None:
    honest = machine(board, 1)
    shifted = [*honest[1:], honest[0]]
    doubts = output_doubts(board, row(board, shifted), others=())
    (order,) = [doubt for doubt in doubts if doubt.kind == "other order"]
    assert "1 later" in order.words
    shuffled = random.Random(1).sample(honest, len(honest))
    assert "other order" in kinds(output_doubts(board, row(board, shuffled), others=()))
    half = honest[:50] + random.Random(1).sample(honest[50:], 50)
    assert "other order" in kinds(output_doubts(board, row(board, half), others=()))


GERMAN = (
    "Die Regierung hat am Montag angekündigt, dass die neuen Regeln für den Verkehr in der Stadt erst im nächsten Jahr "
    "gelten sollen, weil viele Menschen noch nicht wissen, was sich für sie ändert. Fall {k}."
)


def test_another_language_is_seen(board: Board) -> None:
    doubts = output_doubts(board, row(board, [GERMAN.format(k=k) for k in range(len(board.instances))]))
    assert "other language" in kinds(doubts)
    assert "repeats itself" not in kinds(doubts)


def test_lower_case_tokens_and_gaps_are_seen(board: Board) -> None:
    lower = [text.lower() for text in machine(board, 1)]
    assert "lower case" in kinds(output_doubts(board, row(board, lower), others=()))
    cut = [text.replace(".", " .").replace(",", " ,") for text in machine(board, 1)]
    assert "tokenised" in kinds(output_doubts(board, row(board, cut), others=()))
    gaps = ["" if k % 3 else text for k, text in enumerate(machine(board, 1))]
    assert "empty" in kinds(output_doubts(board, row(board, gaps), others=()))
    same = ["There is nothing new to be told about this today, readers are told."] * len(board.instances)
    assert "repeats itself" in kinds(output_doubts(board, row(board, same), others=()))


def test_outputs_that_were_cut_off_are_seen(board: Board) -> None:
    cut = [" ".join(text.split()[:18]).rstrip(".,") for text in machine(board, 1)]
    assert "cut off" in kinds(output_doubts(board, row(board, cut), others=()))


@pytest.mark.long
def test_honest_systems_are_left_alone(board: Board) -> None:
    alike = {}
    for each in board.rows:
        if each.generator is not None and each.generator.kind == "machine":
            alike[each.name] = kinds(output_doubts(board, each)) - {"tokenised", "lower case"}
    assert {name: doubts for name, doubts in alike.items() if doubts} == {}


@pytest.mark.study
def test_a_translation_shared_task_is_left_alone_and_its_faults_are_seen(shared_data: Path) -> None:
    import billboards as bb

    board = bb.import_board("mtme", shared_data / "mtme_wmt23_en-de")
    machines = [each for each in board.rows if each.generator is not None and each.generator.kind == "machine"]
    doubts = {each.name: output_doubts(board, each) for each in machines}
    assert {name: [str(doubt) for doubt in told] for name, told in doubts.items() if told} == {}
    texts = [text or "" for text in machines[0].texts]
    english = [instance.input or "" for instance in board.instances]
    assert {"copies inputs", "other language"} <= kinds(output_doubts(board, row(board, english)))
    shifted = [*texts[3:], *texts[:3]]
    assert "other order" in kinds(output_doubts(board, row(board, shifted), others=()))


def test_without_references_the_other_rows_say_what_belongs_where(board: Board) -> None:
    from dataclasses import replace

    bare = replace(board, instances=tuple(replace(instance, references=()) for instance in board.instances))
    honest = machine(bare, 1)
    assert output_doubts(bare, row(bare, honest), others=()) == ()
    shuffled = random.Random(1).sample(honest, len(honest))
    assert "other order" in kinds(output_doubts(bare, row(bare, shuffled), others=()))


def test_what_says_too_little_is_not_doubted() -> None:
    from billboards.board import Instance, Reference

    instances = tuple(Instance(str(k), references=(Reference("A", "yes"),), input="Is it?") for k in range(30))
    board = Board(name="short", instances=instances, rows=())
    assert output_doubts(board, row_of(Generator("mine"), instances, ("yes",) * 30)) == ()


def test_shingles_see_letters_alone() -> None:
    assert shingles("The cat, sat!") == shingles("the CAT sat")
    assert likeness(shingles("The cat sat."), shingles("A dog ran off.")) == 0.0
    assert shingles("...") == frozenset()
