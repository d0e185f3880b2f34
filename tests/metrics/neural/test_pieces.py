"""Models of SentencePiece's, read without it: texts cut by hand, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from piece_files import CONTROL, NORMAL, PIECES, UNKNOWN, UNUSED, WRITTEN_BY_USER, character_table, field, piece_model

from billboards.errors import InvalidInput
from billboards.metrics.neural.pieces import Pieces, _size, read_pieces

pytest.importorskip("tokenizers", reason="tokenizers is not installed: pip install 'billboards[neural]'")


def read(tmp_path: Path, content: bytes) -> Pieces:
    path = tmp_path / "spm.model"
    path.write_bytes(content)
    return read_pieces(path)


def test_the_first_byte_of_every_character_says_how_many_it_has() -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    first = {encoded[0]: len(encoded) for encoded in map(str.encode, characters)}
    assert {byte: _size(byte) for byte in first} == first


def cut(pieces: Pieces, text: str) -> list[str]:
    return [pieces.pieces[number] for number in pieces.cut([text])[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cat sat", ["▁the", "▁cat", "▁sat"]),
        ("  the \u200a", ["▁the", "▁", "[UNK]"]),
        ("the   cat  ", ["▁the", "▁cat"]),
        ("sitting", ["▁", "s", "i", "t", "t", "ing"]),
        ("cats.", ["▁cat", "s", "."]),
        # A run of unknown characters is one piece.
        ("the 東京 cat", ["▁the", "▁", "[UNK]", "▁cat"]),
        # A text can't name a control piece.
        ("[SEP]", ["▁", "[UNK]"]),
        ("", []),
        ("   ", []),
    ],
)
def test_a_text_is_cut_into_the_pieces_of_the_greatest_score(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert cut(read(tmp_path, piece_model(PIECES)), text) == expected


def test_characters_are_replaced_by_the_files_table(tmp_path: Path) -> None:
    pieces = read(tmp_path, piece_model(PIECES, table=character_table("ﬁ", "fi")))
    assert pieces.normalised("ﬁsh ﬁn") == "▁fish▁fin"
    assert pieces.normalised("ﬂ") == "▁ﬂ"
    assert pieces.normalised("plain text") == "▁plain▁text"
    blanks = read(tmp_path, piece_model(PIECES, table=character_table("\u3000", " ")))
    assert blanks.normalised("\u3000the\u3000 cat\u3000") == "▁the▁cat"
    plain = read(tmp_path, piece_model(PIECES, table=character_table("ab", "ba")))
    assert plain.normalised("cabs") == "▁cbas"


def test_settings_of_the_file_are_kept(tmp_path: Path) -> None:
    plain = read(tmp_path, piece_model(PIECES, normaliser={3: 0, 4: 0}))
    assert plain.normalised(" the  cat ") == "▁the▁▁cat▁"


def test_pieces_written_by_users_win_and_unused_ones_are_never_chosen(tmp_path: Path) -> None:
    own = [*PIECES, ("<br>", 0.0, WRITTEN_BY_USER), ("▁mat", 0.0, UNUSED)]
    pieces = read(tmp_path, piece_model([*own[:12], *own[13:]]))
    assert cut(pieces, "cat<br>ran mat") == ["▁cat", "<br>", "r", "a", "n", "▁", "m", "a", "t"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xff", "ends inside a number"),
        (b"\xff" * 12, "more than 64 bits"),
        (b"\x0a\x7fab", "ends inside a field of 127 bytes"),
        (b"\x0b", "a field of kind 3"),
        (field(1, 5), "a number stands where a text or message is expected"),
        (field(1, field(1, b"\xff\xfe")), "codec can't decode"),
        (field(1, field(3, 9)), "a piece is of kind 9"),
        (field(1, field(2, b"1")), "a text or message stands where a number is expected"),
        (piece_model([("a", 0.0, NORMAL)]), "no piece for what is unknown"),
        (piece_model(PIECES, kind=2), "no unigram model"),
        (piece_model(PIECES, normaliser={5: 0}), "leaves blanks as they are"),
        (piece_model(PIECES, table=b"\xff\xff\xff\x00"), "table of characters is damaged"),
    ],
)
def test_what_is_no_model_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=rf"spm\.model is no model of SentencePiece's: .*{reason}"):
        read(tmp_path, content)


def test_a_piece_that_is_missing_is_named(tmp_path: Path) -> None:
    pieces = read(tmp_path, piece_model([("[UNK]", 0.0, UNKNOWN), ("[CLS]", 0.0, CONTROL)]))
    assert pieces.number("[CLS]") == 1
    with pytest.raises(InvalidInput, match=r"has no \[SEP\]"):
        pieces.number("[SEP]")
