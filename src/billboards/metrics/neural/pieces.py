"""SentencePiece's models (Kudo and Richardson 2018) read without the sentencepiece package.

A model file is a message of protocol buffers: the pieces with their scores, and how a text is normalised before it is
cut. Characters are replaced by a trie of the file, the longest match first; blanks are squeezed and become "▁". The
text is then cut into the pieces of the greatest total score (the unigram model), by the tokenizers package, which
transformers brings along. As in sentencepiece, a text can't name a control piece: where "[SEP]" stands in a text, it is
cut like any other word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.neural.protobuf import Value, fields

NORMAL, UNKNOWN, CONTROL, WRITTEN_BY_USER, UNUSED, BYTE = range(1, 7)
UNIGRAM = 1
BLANK = "▁"
#: The largest model file there is by far; others are no model files.
LARGEST = 64 * 2**20
PLAIN = re.compile(r"[ -~]*")


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """A model file's content: pieces in the order of their numbers, each with its score and kind."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    kinds: tuple[int, ...]
    characters: Characters
    prefixed: bool
    squeezed: bool

    @property
    def unknown(self) -> int:
        """The number of the piece that stands for what has none."""
        return self.kinds.index(UNKNOWN)

    def number(self, piece: str) -> int:
        """The number of a piece that the model must have."""
        if piece not in self.pieces:
            raise InvalidInput(f"the model of pieces has no {piece}")
        return self.pieces.index(piece)

    def rows(self) -> list[tuple[str, float]]:
        """The pieces with their scores."""
        return list(zip(self.pieces, self.scores, strict=True))

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        """The pieces of each text, by their numbers."""
        cut = self._tokenizer.encode_batch([self.normalised(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in cut]

    def normalised(self, text: str) -> str:
        """A text as it is cut: characters replaced, blanks squeezed and marked."""
        replaced = self.characters.replaced(text)
        if self.squeezed:
            replaced = re.sub(" +", " ", replaced).lstrip(" ")
        if not replaced:
            return ""
        marked = (BLANK if self.prefixed else "") + replaced.replace(" ", BLANK)
        return marked.rstrip(BLANK) if self.squeezed else marked

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer, models

        highest = max((self.scores[k] for k, kind in enumerate(self.kinds) if kind == NORMAL), default=0.0)
        rows = []
        for piece, score, kind in zip(self.pieces, self.scores, self.kinds, strict=True):
            if kind in (UNKNOWN, CONTROL, UNUSED):
                # A normalised text has no blank, so a piece whose name begins with one is never chosen.
                rows.append((f" {piece}", score))
            else:
                rows.append((piece, len(piece) * highest - 0.1 if kind == WRITTEN_BY_USER else score))
        return Tokenizer(models.Unigram(rows, self.unknown, BYTE in self.kinds))


class Characters:
    """What takes the place of characters: a trie in SentencePiece's compiled form, which is a double array."""

    def __init__(self, compiled: bytes) -> None:
        self.compiled, size = compiled, int.from_bytes(compiled[:4], "little")
        if compiled and (size % 4 or size + 4 > len(compiled)):
            raise InvalidInput("its table of characters is damaged")
        self.units: list[int] = np.frombuffer(compiled, "<u4", size // 4, 4).tolist() if size else []
        self.texts = compiled[4 + size :]
        self.plain_changes = bool(size) and self._any_plain()

    def replaced(self, text: str) -> str:
        """A text with its characters replaced, the longest match first."""
        if not self.units or (not self.plain_changes and PLAIN.fullmatch(text)):
            return text
        given, at, pieces = text.encode("utf-8", "replace"), 0, []
        while at < len(given):
            match = self._longest(given, at)
            if match is None:
                size = _size(given[at])
                pieces.append(given[at : at + size])
            else:
                size, start = match
                pieces.append(self.texts[start : self.texts.find(b"\0", start)])
            at += size
        return b"".join(pieces).decode("utf-8", "replace")

    def _longest(self, given: bytes, at: int) -> tuple[int, int] | None:
        """How many bytes from a place on are replaced, and where the text begins that takes their place."""
        match, node = None, self._offset(0)
        for k in range(at, len(given)):
            node ^= given[k]
            if node >= len(self.units) or self.units[node] & 0x800000FF != given[k]:
                break
            ends, node = self.units[node] >> 8 & 1, node ^ self._offset(node)
            if ends and node < len(self.units):
                match = k + 1 - at, self.units[node] & 0x7FFFFFFF
        return match

    def _offset(self, node: int) -> int:
        unit = self.units[node]
        return unit >> 10 << ((unit & 1 << 9) >> 6)

    def _any_plain(self) -> bool:
        """Whether anything is replaced that consists of plain characters alone."""
        waiting, seen = [0], {0}
        while waiting:
            node = waiting.pop()
            for byte in range(0x20, 0x7F):
                child = node ^ self._offset(node) ^ byte
                if child < len(self.units) and self.units[child] & 0x800000FF == byte and child not in seen:
                    if self.units[child] >> 8 & 1:
                        return True
                    waiting.append(child)
                    seen.add(child)
        return False


def _size(byte: int) -> int:
    """How many bytes a character has whose first is this one."""
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


def read_pieces(path: Path) -> Pieces:
    """The content of a model file."""
    if path.stat().st_size > LARGEST:
        raise InvalidInput(f"{path} is no model of SentencePiece's: it is larger than {LARGEST >> 20} MiB")
    try:
        return _pieces(memoryview(path.read_bytes()))
    except (InvalidInput, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is no model of SentencePiece's: {error}") from error


def _pieces(content: memoryview) -> Pieces:
    read = [_piece(value) for field, value in fields(content) if field == 1]
    trainer = _last(content, 2)
    normaliser = _last(content, 3)
    kinds = tuple(kind for _, _, kind in read)
    if trainer.get(3, UNIGRAM) != UNIGRAM:
        raise InvalidInput("it is no unigram model; only those are read")
    if not normaliser.get(5, True) or trainer.get(24, False):
        raise InvalidInput("it leaves blanks as they are, or marks a word's end; such models are not read")
    if UNKNOWN not in kinds:
        raise InvalidInput("it has no piece for what is unknown")
    return Pieces(
        pieces=tuple(piece for piece, _, _ in read),
        scores=tuple(score for _, score, _ in read),
        kinds=kinds,
        characters=Characters(bytes(_bytes(normaliser.get(2, memoryview(b""))))),
        prefixed=bool(normaliser.get(3, True)),
        squeezed=bool(normaliser.get(4, True)),
    )


def _piece(message: Value) -> tuple[str, float, int]:
    values = dict(fields(_bytes(message)))
    kind = values.get(3, NORMAL)
    if kind not in range(NORMAL, BYTE + 1):
        raise InvalidInput(f"a piece is of kind {kind}, which there is none")
    return str(_bytes(values.get(1, memoryview(b""))), "utf-8"), float(_number(values.get(2, 0.0))), int(_number(kind))


def _last(content: memoryview, wanted: int) -> dict[int, Value]:
    """The fields of the message that stands in a field, if it stands there."""
    messages = [value for field, value in fields(content) if field == wanted]
    return dict(fields(_bytes(messages[-1]))) if messages else {}


def _bytes(value: Value) -> memoryview:
    if not isinstance(value, memoryview):
        raise InvalidInput("a number stands where a text or message is expected")
    return value


def _number(value: Value) -> float:
    if isinstance(value, memoryview):
        raise InvalidInput("a text or message stands where a number is expected")
    return value
