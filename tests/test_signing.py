"""Signed statements: one text for one document, a signature that holds for nothing else, keys as people name them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from billboards.errors import InvalidInput
from billboards.show.documents import document_of
from billboards.signing import (
    Signed,
    Statement,
    canonical,
    document_digest,
    is_signed_by,
    key_id,
    keys_of,
    public_key_of,
    read_keys,
    read_signed,
    sign,
)

PRIVATE = "11" * 32
PUBLIC = public_key_of(PRIVATE)


def statement(**changes: Any) -> dict[str, Any]:
    said = Statement(
        site="Boards",
        address="https://boards.example.org",
        board="ferry",
        audience="public",
        ranking="0123456789abcdef",
        number=3,
        created="2026-05-01T12:00:00Z",
        documents={"ranking": "ab" * 32},
        key=key_id(PUBLIC),
    )
    return document_of(replace(said, **changes))


def test_the_public_key_of_the_first_test_of_rfc_8032() -> None:
    private = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
    assert public_key_of(private) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


def test_canonical_text_has_sorted_keys_no_spaces_and_ascii_alone() -> None:
    assert canonical({"b": [1, 2.5, None], "a": "é"}) == b'{"a":"\\u00e9","b":[1,2.5,null]}'


def test_a_document_keeps_its_digest_when_it_is_written_and_read_again() -> None:
    document = {"r": 0.1 + 0.2, "small": 5e-324, "large": 1e22, "name": "\ud800é", "none": None, "n": 3}
    again = json.loads(json.dumps(document, indent=3))
    assert document_digest(again) == document_digest(document)


def test_whether_a_board_is_a_draft_now_is_no_part_of_the_digest() -> None:
    assert document_digest({"a": 1, "draft": ["licence"]}) == document_digest({"a": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}])
def test_what_is_no_strict_json_has_no_canonical_text(value: object) -> None:
    with pytest.raises(InvalidInput, match="no strict JSON"):
        canonical({"a": value})


def test_a_signature_holds_for_its_statement_and_key_and_nothing_else() -> None:
    signed = sign(statement(), PRIVATE)
    assert signed == sign(statement(), PRIVATE)
    assert is_signed_by(signed, PUBLIC)
    assert not is_signed_by(signed, public_key_of("22" * 32))
    assert not is_signed_by(replace(signed, document=statement(number=4)), PUBLIC)
    flipped = f"{int(signed.signature[:2], 16) ^ 1:02x}{signed.signature[2:]}"
    assert not is_signed_by(replace(signed, signature=flipped), PUBLIC)


def test_a_word_that_a_later_version_adds_is_signed_too() -> None:
    later = {**statement(), "witness": "somebody"}
    signed = sign(later, PRIVATE)
    assert is_signed_by(signed, PUBLIC)
    assert not is_signed_by(replace(signed, document={**later, "witness": "somebody else"}), PUBLIC)


def test_a_signed_statement_is_read_as_it_was_written() -> None:
    signed = sign(statement(), PRIVATE)
    read = read_signed(json.loads(json.dumps(signed.as_document())), "here")
    assert read == signed
    assert read.statement.number == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"statement": None}, "no signed statement"),
        ({"signature": "ab"}, "not 128 hexadecimal digits"),
        ({"signature": 5}, "not 128 hexadecimal digits"),
        ({"public_key": PUBLIC[:-1]}, "not 64 hexadecimal digits"),
        ({"statement": {"board": "ferry"}}, "without 'site'"),
    ],
)
def test_a_damaged_statement_is_refused_by_name(change: dict[str, Any], words: str) -> None:
    document = sign(statement(), PRIVATE).as_document() | change
    with pytest.raises(InvalidInput, match=words):
        read_signed(document, "here")


def test_a_key_is_named_by_its_digits_or_a_file_of_any_kind_that_sites_give(tmp_path: Path) -> None:
    entry = {"id": key_id(PUBLIC), "public_key": PUBLIC, "created": "2026-05-01T12:00:00Z", "retired": None}
    files = {
        "plain.txt": f"{PUBLIC}\n",
        "list.json": json.dumps([entry]),
        "folder.json": json.dumps({"keys": [entry]}),
        "signed.json": json.dumps(Signed(document=statement(), signature="", public_key=PUBLIC).as_document()),
    }
    assert [key.public_key for key in read_keys(PUBLIC)] == [PUBLIC]
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        (key,) = read_keys(str(tmp_path / name))
        assert (key.id, key.public_key) == (key_id(PUBLIC), PUBLIC), name


def test_what_names_no_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("no key")
    (tmp_path / "empty.json").write_text("[]")
    for text in ("abcd", str(tmp_path / "odd"), str(tmp_path / "empty.json"), str(tmp_path)):
        with pytest.raises(InvalidInput):
            read_keys(text)


def test_a_key_under_another_keys_id_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not the one of that id"):
        keys_of([{"id": "0" * 16, "public_key": PUBLIC}], "keys.json")
