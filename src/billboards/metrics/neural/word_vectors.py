"""Word vectors in files: word2vec's binary and text formats, GloVe's and fastText's text, gzipped or not.

A file is read once, line by line, checked and converted into arrays that are mapped into memory, so that a vocabulary
of millions of words takes no memory beside the words asked for. The arrays lie in the cache folder under the file's
digest. A word is found by a digest of 64 bits. Of a word that stands twice the first vector counts.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, StoreFailed
from billboards.metrics.neural.weights import digest_files

#: The most words of a file, numbers of a vector, and bytes of a line or word.
MOST_WORDS, MOST_NUMBERS, LONGEST_LINE, LONGEST_WORD = 20_000_000, 10_000, 1 << 20, 1 << 12
#: What a header line has: the number of words, and of numbers of each.
_HEADER = 2

Vector = NDArray[np.float32]
BinaryFile = gzip.GzipFile | BufferedReader


@dataclass(frozen=True)
class WordVectors:
    """The vectors of a file, mapped into memory."""

    hashes: NDArray[np.uint64]
    rows: NDArray[np.int64]
    vectors: Vector
    #: The length of the longest vector.
    longest: float

    def find(self, words: Iterable[str]) -> dict[str, Vector]:
        """The vectors of those words that have one."""
        asked = list(dict.fromkeys(words))
        wanted = np.array([_hash(word.encode("utf-8", "surrogatepass")) for word in asked], np.uint64)
        places = np.minimum(np.searchsorted(self.hashes, wanted), len(self.hashes) - 1)
        is_known = self.hashes[places] == wanted
        return {asked[k]: np.array(self.vectors[self.rows[places[k]]]) for k in np.flatnonzero(is_known)}


def open_vectors(path: Path) -> WordVectors:
    """The vectors of a file, converted first where that has not been done."""
    folder = _cache_folder() / digest_files([path])
    if not folder.is_dir():
        _convert(path, folder)
    return _opened(folder)


@lru_cache(maxsize=4)
def _opened(folder: Path) -> WordVectors:
    try:
        hashes, rows, vectors, longest = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS)
    except (OSError, ValueError, EOFError) as error:
        raise StoreFailed(f"{folder}: word vectors kept there can't be read: {error}; delete the folder") from error
    return WordVectors(hashes, rows, vectors, float(longest[0]))


_ARRAYS = ("hashes", "rows", "vectors", "longest")


def _cache_folder() -> Path:
    named = os.environ.get("BILLBOARDS_CACHE")
    caches = os.environ.get("XDG_CACHE_HOME")
    top = Path(named).expanduser() if named else (Path(caches) if caches else Path.home() / ".cache") / "billboards"
    return top / "word-vectors"


def _convert(path: Path, folder: Path) -> None:
    """Write a file's arrays into a folder, which has its name only when they are whole."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".making-"))
    except OSError as error:
        raise StoreFailed(f"{folder.parent}: no word vectors can be kept here: {error}") from error
    try:
        _write_arrays(path, work)
        if not folder.is_dir():
            work.rename(folder)
    except OSError as error:
        raise StoreFailed(f"{folder.parent}: the word vectors of {path.name} could not be kept: {error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _write_arrays(path: Path, work: Path) -> None:
    hashes, width, longest = [], 0, 0.0
    with (work / "raw").open("wb") as raw:
        for word, vector in read_vectors(path):
            hashes.append(_hash(word))
            width, longest = len(vector), max(longest, float(np.linalg.norm(vector.astype(np.float64))))
            raw.write(vector.tobytes())
    if not hashes:
        raise InvalidInput(f"{path.name} has no word vectors")
    sorted_hashes, rows = np.unique(np.array(hashes, np.uint64), return_index=True)
    np.save(work / "hashes.npy", sorted_hashes)
    np.save(work / "rows.npy", rows.astype(np.int64))
    np.save(work / "longest.npy", np.array([longest]))
    np.save(work / "vectors.npy", np.memmap(work / "raw", np.float32, "r", shape=(len(hashes), width)))
    (work / "raw").unlink()


def read_vectors(path: Path) -> Iterator[tuple[bytes, Vector]]:
    """The words of a file and their vectors, one after the other; what is malformed is refused with its place."""
    binary = path.name.removesuffix(".gz").endswith(".bin")
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            yield from _binary(file, path.name) if binary else _text(file, path.name)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput(f"{path.name}: word vectors can't be read: {error}") from error


def _binary(file: BinaryFile, name: str) -> Iterator[tuple[bytes, Vector]]:
    header = _header(file.readline(LONGEST_WORD), name)
    if header is None:
        raise InvalidInput(
            f"{name}, line 1: a .bin file of word2vec begins with the numbers of words and of dimensions"
        )
    words, width = header
    for place in range(1, words + 1):
        word = _word_before_blank(file)
        numbers = file.read(4 * width)
        if word is None or len(numbers) != 4 * width:
            raise InvalidInput(f"{name}: ends in word {place} of the {words} that it announces; fetch it again")
        yield word, _checked(np.frombuffer(numbers, "<f4").astype(np.float32), f"{name}, word {place}")


def _word_before_blank(file: BinaryFile) -> bytes | None:
    """The bytes up to the next blank, without the line end that some programs put before a word."""
    letters = bytearray()
    while (letter := file.read(1)) != b" ":
        if not letter or len(letters) == LONGEST_WORD:
            return None
        if letters or letter != b"\n":
            letters += letter
    return bytes(letters)


def _text(file: BinaryFile, name: str) -> Iterator[tuple[bytes, Vector]]:
    first = file.readline(LONGEST_LINE + 1)
    header = _header(first, name)
    announced, width = header or (None, len(first.rstrip(b" \r\n").split(b" ")) - 1)
    count = 0
    for number, line in enumerate(_lines(file, None if header else first), 1 if header is None else 2):
        if not line.strip():
            continue
        fields = line.rstrip(b" \r\n").rsplit(b" ", width)
        if len(line) > LONGEST_LINE or len(fields) != width + 1 or width > MOST_NUMBERS or count == MOST_WORDS:
            raise InvalidInput(f"{name}, line {number}: no word with {width} numbers")
        count += 1
        try:
            vector = np.array(fields[1:], np.float32)
        except ValueError as error:
            raise InvalidInput(f"{name}, line {number}: a number of the vector is none: {error}") from error
        yield fields[0], _checked(vector, f"{name}, line {number}")
    if announced is not None and announced != count:
        raise InvalidInput(f"{name}: announces {announced} words and has {count}; fetch it again")


def _lines(file: BinaryFile, first: bytes | None) -> Iterator[bytes]:
    if first is not None:
        yield first
    while line := file.readline(LONGEST_LINE + 1):
        yield line


def _header(line: bytes, name: str) -> tuple[int, int] | None:
    """The numbers of words and of dimensions, where a line has just these."""
    fields = line.split()
    if len(fields) != _HEADER or not all(field.isdigit() and len(field) < LONGEST_WORD for field in fields):
        return None
    words, width = int(fields[0][:12]), int(fields[1][:12])
    if not 1 <= words <= MOST_WORDS or not 1 <= width <= MOST_NUMBERS:
        raise InvalidInput(f"{name}, line 1: {words} words of {width} numbers are more, or fewer, than can be read")
    return words, width


def _checked(vector: Vector, where: str) -> Vector:
    if not np.isfinite(vector).all():
        raise InvalidInput(f"{where}: a number of the vector is not finite")
    return vector


def _hash(word: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(word, digest_size=8).digest(), "little")
