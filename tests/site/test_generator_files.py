"""Outputs as people send them: three forms that mean the same, and every mistake named with its line."""

from __future__ import annotations

import json

import pytest
from small_sites import make_board

from billboards.board import Board, row_of
from billboards.errors import InvalidSubmission
from billboards.site.submissions.generator_files import canonical, read_generator

BOARD = make_board(3, 1)
TEXTS = ("one ferry", 'two "quoted" ferries', "three")


def mistakes(raw: bytes, board: Board = BOARD) -> list[str]:
    with pytest.raises(InvalidSubmission) as caught:
        read_generator(raw, board)
    return [f"{problem.line}: {problem.message}" for problem in caught.value.problems]


def lines(*items: object) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in items).encode()


def test_all_forms_give_the_same_texts() -> None:
    forms = [
        lines(*({"instance": f"i{k}", "text": text} for k, text in enumerate(TEXTS))),
        lines(*({"seg_id": f"i{k}", "set_id": "0", "hyp": text} for k, text in enumerate(TEXTS))),
        lines(*reversed([{"id": f"i{k}", "output": text} for k, text in enumerate(TEXTS)])),
        "\n".join(TEXTS).encode(),
        ("\ufeff" + "\r\n".join(TEXTS) + "\r\n\r\n").encode(),
    ]
    assert [read_generator(raw, BOARD).texts for raw in forms] == [TEXTS] * 5


def test_a_pasted_column_may_hold_line_ends_in_quotes() -> None:
    raw = b'one\r\n"two\nlines, ""quoted"""\r\nthree\r\n'
    assert read_generator(raw, BOARD).texts == ("one", 'two\nlines, "quoted"', "three")


def test_a_text_that_begins_with_a_brace_is_not_taken_for_json() -> None:
    assert read_generator(b"{ one\ntwo }\nthree", BOARD).texts == ("{ one", "two }", "three")


def test_the_version_is_the_one_that_the_folder_would_have() -> None:
    from hashlib import sha256

    row = row_of(BOARD.generators[0], BOARD.instances, TEXTS)
    assert sha256(canonical(BOARD, TEXTS)).hexdigest()[:16] == row.version


def test_every_mistake_is_named_with_its_line() -> None:
    raw = lines(
        {"instance": "i0", "text": "a"},
        {"instance": "i0", "text": "b"},
        {"instance": "i9", "text": "c"},
        {"instance": "i1", "text": 7},
        {"instance": "i2", "text": "d", "score": 1},
    )
    assert mistakes(raw + b'{"instance": "i1", "te') == [
        "2: instance 'i0' appears twice, first on line 1",
        "3: there is no instance 'i9' on board ferry",
        '4: "text" must be text in quotes; found 7',
        '5: unknown key \'score\'; write {"instance": "…", "text": "…"}',
        "6: not JSON: Unterminated string starting at at column 20; the line seems cut off",
    ]


def test_missing_instances_are_counted_and_the_first_is_named() -> None:
    said = mistakes(lines({"instance": "i1", "text": "b"}))
    assert said == ["None: no output for 2 of 3 instances, first 'i0'; submit every instance exactly once"]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"one\ntwo", "2: 2 lines for 3 instances; write one line for each, in the board's order"),
        (b"1\n2\n3\n4\n5", "4: 5 lines for 3 instances; write one line for each, in the board's order"),
        (b"", "0: 0 lines for 3 instances; write one line for each, in the board's order"),
        (b"\n\n\n", "None: every output is empty; is this the right file?"),
        (b"one\n\xff\xfe\nthree", "2: not UTF-8 at byte 1 of the line; save the file as UTF-8"),
        ("one\ntwo\nthree".encode("utf-16"), "1: looks like UTF-16 or UTF-32; save the file as UTF-8"),
        (b"one\ntw\0o\nthree", "2: holds the character U+0000; is this a text file?"),
    ],
)
def test_plain_text_is_one_line_for_each_instance(raw: bytes, says: str) -> None:
    assert mistakes(raw) == [says]


def test_what_looks_tokenised_or_lowercased_is_remarked_on_and_taken() -> None:
    board = make_board(12, 1)
    raw = "\n".join(f"it does n't leave , at {k}" for k in range(12)).encode()
    found = read_generator(raw, board)
    assert len(found.texts) == 12
    assert any("look tokenised" in warning.message for warning in found.warnings)
    assert {warning.severity for warning in found.warnings} == {"warning"}
