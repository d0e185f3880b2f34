"""Rankings' documents, kept small: compressed, and most of them as what differs from an earlier one.

A board's rankings say nearly the same again and again: with a thousand generators one takes ten megabytes as text, and
what one more generator changes of it some twenty kilobytes. So one ranking in many is kept whole, and those after it
name it as their base: zstd compresses them with the base's text as its dictionary. No difference rests on another, so
every document is two steps away. The text comes back byte for byte. Rankings that version 0.1 and 0.2.0's first
databases kept as plain text are read as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zstandard
from sqlalchemy import Connection, RowMapping, select, update

from billboards.errors import StoreFailed
from billboards.site.database.schema import rankings

#: How hard zstd tries: on whole documents, and on differences, of which lower levels find too few.
WHOLE_LEVEL, DIFFERENCE_LEVEL = 3, 9
#: After so many differences, or where one takes more than this share of its base, the next document is kept whole.
MOST_DIFFERENCES, LARGEST_SHARE = 100, 0.25
#: The largest document that is unpacked, in bytes.
LARGEST = 2**31 - 1


def pack(text: str, base: str | None = None) -> bytes:
    """A text in few bytes; those of a text that resembles `base` are the fewest, and need it again."""
    content = text.encode("utf-8", "surrogatepass")
    if base is None:
        return zstandard.ZstdCompressor(level=WHOLE_LEVEL).compress(content)
    before = base.encode("utf-8", "surrogatepass")
    size = len(content) + len(before)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        DIFFERENCE_LEVEL, source_size=size, window_log=min(max(size.bit_length(), 10), 30), enable_ldm=True
    )
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_dictionary(before)).compress(content)


def unpack(packed: bytes, base: str | None = None) -> str:
    """The text again; a ValueError where it is damaged, or the base is another."""
    dictionary = None if base is None else _dictionary(base.encode("utf-8", "surrogatepass"))
    try:
        if zstandard.frame_content_size(packed) > LARGEST:
            raise ValueError("a packed document is larger than documents can be")
        unpacked = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=2**30).decompress(packed)
    except zstandard.ZstdError as error:
        raise ValueError(f"a packed document is damaged ({error})") from error
    return unpacked.decode("utf-8", "surrogatepass")


def _dictionary(content: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


@dataclass(frozen=True, kw_only=True)
class KeptText:
    """How a ranking's document is kept: as plain text, packed whole, or packed as a difference to a base."""

    document: str
    packed: bytes | None
    base: int | None

    @property
    def bytes(self) -> int:
        return len(self.document.encode("utf-8", "surrogatepass")) + len(self.packed or b"")


_COLUMNS = (rankings.c.document, rankings.c.packed, rankings.c.base)


def read_text(connection: Connection, board: str, audience: str, number: int) -> str:
    """A ranking's document as it was written; empty where it was thinned out."""
    return _text(connection, board, audience, number, _kept(connection, board, audience, number))


def packed_values(connection: Connection, board: str, audience: str, number: int, text: str) -> dict[str, Any]:
    """What to write of a new document: what differs from the last whole one, or all of it where that is much.

    number: that of the last ranking, 0 where there is none.
    """
    base = _base(connection, board, audience, number)
    if base is not None and number + 1 - base <= MOST_DIFFERENCES:
        before = _kept(connection, board, audience, base)
        packed = pack(text, _text(connection, board, audience, base, before))
        if len(packed) <= LARGEST_SHARE * before.bytes:
            return {"document": "", "packed": packed, "base": base}
    return whole_values(text)


def whole_values(text: str) -> dict[str, Any]:
    """What to write of a document that rests on no other."""
    return {"document": "", "packed": pack(text), "base": None}


def replace_text(connection: Connection, board: str, audience: str, number: int, text: str) -> None:
    """Write another text in a ranking's place, or none; those that rest on it stay what they are."""
    resting = _resting_on(connection, board, audience, number)
    others = {other: read_text(connection, board, audience, other) for other in resting}
    values = whole_values(text) if text else {"document": "", "packed": None, "base": None}
    _write(connection, board, audience, number, values)
    base: tuple[int, str] | None = (number, text) if text else None
    for other, other_text in others.items():
        packed = whole_values(other_text) if base is None else {"packed": pack(other_text, base[1]), "base": base[0]}
        _write(connection, board, audience, other, {"document": "", **packed})
        # Where nothing is left to rest on, the next one takes its place.
        base = (other, other_text) if base is None else base


def change_texts(connection: Connection, board: str, change: Callable[[str], str]) -> list[tuple[str, int]]:
    """Change every document of a board; returns the audience and number of those that are others now."""
    query = select(rankings.c.audience, rankings.c.number).where(rankings.c.board == board, rankings.c.base.is_(None))
    changed: list[tuple[str, int]] = []
    for audience, number in connection.execute(query).all():
        texts = {
            k: read_text(connection, board, audience, k)
            for k in (number, *_resting_on(connection, board, audience, number))
        }
        new = {k: change(text) if text else text for k, text in texts.items()}
        different = [k for k in texts if new[k] != texts[k]]
        for k in texts if different else ():
            values = whole_values(new[k]) if k == number else {"packed": pack(new[k], new[number]), "base": number}
            if new[k]:
                _write(connection, board, audience, k, {"document": "", **values})
        changed += [(audience, k) for k in different]
    return changed


def _kept(connection: Connection, board: str, audience: str, number: int) -> KeptText:
    row: RowMapping = connection.execute(select(*_COLUMNS).where(*_is(board, audience, number))).mappings().one()
    return KeptText(**row)


def _text(connection: Connection, board: str, audience: str, number: int, kept: KeptText) -> str:
    if kept.packed is None or kept.document:
        return kept.document
    try:
        if kept.base is not None and kept.base >= number:
            raise ValueError(f"it is kept as a difference to ranking {kept.base}, which is no earlier one")
        base = None if kept.base is None else read_text(connection, board, audience, kept.base)
        return unpack(kept.packed, base)
    except ValueError as error:
        raise StoreFailed(f"ranking {number} of {board}: {error}; the database is damaged: restore a backup") from error


def _base(connection: Connection, board: str, audience: str, number: int) -> int | None:
    """The whole document that a ranking's rests on, or its own number where it is whole."""
    query = select(rankings.c.base, rankings.c.basis).where(*_is(board, audience, number))
    row = connection.execute(query).one_or_none()
    if row is None or not row.basis:
        return None
    return number if row.base is None else int(row.base)


def _resting_on(connection: Connection, board: str, audience: str, number: int) -> list[int]:
    where = (rankings.c.board == board, rankings.c.audience == audience, rankings.c.base == number)
    return list(connection.execute(select(rankings.c.number).where(*where).order_by(rankings.c.number)).scalars())


def _write(connection: Connection, board: str, audience: str, number: int, values: dict[str, Any]) -> None:
    connection.execute(update(rankings).where(*_is(board, audience, number)).values(**values))


def _is(board: str, audience: str, number: int) -> tuple[Any, ...]:
    return rankings.c.board == board, rankings.c.audience == audience, rankings.c.number == number
