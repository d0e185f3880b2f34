"""Word mover's distance beside a plain linear programme, and files of word vectors of every kind, good and bad."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from billboards.errors import InvalidInput, MissingPart, StoreFailed
from billboards.metrics.base import Batch
from billboards.metrics.discovery import board_metric, metric
from billboards.metrics.neural.wmd import WMD
from billboards.metrics.neural.word_vectors import open_vectors, read_vectors

Vectors = Mapping[str, NDArray[np.float32]]
DRAW = np.random.default_rng(7)
VECTORS = {word: DRAW.normal(size=4).astype(np.float32) for word in ("cat", "dog", "sat", "ran", "The", ".", "猫")}


def linear_programme(vectors: Vectors, output: list[str], reference: list[str], *, norm: bool = True) -> float:
    """gensim's definition, written out: shares of known words, distances of unit vectors, the cheapest flow."""
    sides = []
    for text in (output, reference):
        counts = Counter(word for word in text if word in vectors)
        values = [vectors[word].astype(float) for word in counts]
        sides.append(([v / np.linalg.norm(v) if norm else v for v in values], list(counts.values())))
    (values, supply), (others, demand) = sides
    costs = [float(np.linalg.norm(a - b)) for a in values for b in others]
    gives = [[float(k // len(others) == i) for k in range(len(costs))] for i in range(len(values))]
    takes = [[float(k % len(others) == j) for k in range(len(costs))] for j in range(len(others))]
    shares = [*(x / sum(supply) for x in supply), *(x / sum(demand) for x in demand)]
    solved = linprog(costs, A_eq=[*gives, *takes], b_eq=shares)
    return float(solved.fun or 0.0)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "word-vectors"


def lines(vectors: Vectors = VECTORS) -> str:
    return "".join(" ".join((word, *map(repr, vector.tolist()))) + "\n" for word, vector in vectors.items())


def binary(vectors: Vectors = VECTORS, end: bytes = b"\n") -> bytes:
    written = b"".join(word.encode() + b" " + vector.tobytes() + end for word, vector in vectors.items())
    return f"{len(vectors)} 4\n".encode() + written


FILES = {
    "glove.txt": lines().encode(),
    "fasttext.vec": f"{len(VECTORS)} 4\n{lines()}".encode(),
    "word2vec.bin": binary(),
    "without-line-ends.bin": binary(end=b""),
    "glove.txt.gz": gzip.compress(lines().encode(), mtime=0),
    "word2vec.bin.gz": gzip.compress(binary(), mtime=0),
    "blanks.txt": lines().replace("\n", " \r\n").encode(),
}


@pytest.fixture
def vectors_file(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(lines(), "utf-8")
    return path


@pytest.mark.parametrize("name", FILES)
def test_files_of_every_format_give_the_same_vectors(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    vectors = open_vectors(tmp_path / name)
    assert vectors.longest == pytest.approx(max(np.linalg.norm(vector) for vector in VECTORS.values()))
    found = vectors.find([*VECTORS, "unknown", "cat"])
    assert list(found) == list(VECTORS)
    for word, vector in VECTORS.items():
        np.testing.assert_array_equal(found[word], vector)


def test_a_word_may_hold_blanks_and_the_first_of_two_counts(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text("a 1 2\n. . . 3 4\na 5 6\n", "utf-8")
    found = open_vectors(tmp_path / "glove.txt").find([". . .", "a"])
    assert {word: vector.tolist() for word, vector in found.items()} == {". . .": [3, 4], "a": [1, 2]}


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.txt", b"", "a.txt has no word vectors"),
        ("a.txt", b"cat 1 2\ndog 1\n", "a.txt, line 2: no word with 2 numbers"),
        ("a.txt", b"cat 1 x\n", "a.txt, line 1: a number of the vector is none"),
        ("a.txt", b"cat 1 nan\n", "a.txt, line 1: a number of the vector is not finite"),
        ("a.vec", b"3 2\ncat 1 2\n", "a.vec: announces 3 words and has 1"),
        ("a.vec", b"1 2\ncat 1 2\ndog 1 2\n", "a.vec: announces 1 words and has 2"),
        (
            "a.vec",
            b"99999999999 2\ncat 1 2\n",
            "line 1: 99999999999 words of 2 numbers are more, or fewer, than can be",
        ),
        ("a.vec", b"1 99999\ncat 1 2\n", "line 1: 1 words of 99999 numbers are more"),
        ("a.txt", b"cat " + b"1 " * 700_000 + b"\n", "a.txt, line 1: no word with"),
        ("a.bin", b"cat 1 2\n", "line 1: a .bin file of word2vec begins with the numbers"),
        ("a.bin", b"2 1\ncat " + struct.pack("<f", 1.0), "a.bin: ends in word 2 of the 2 that it announces"),
        ("a.bin", b"1 2\ncat " + struct.pack("<f", 1.0), "a.bin: ends in word 1 of the 1 that it announces"),
        ("a.bin", b"1 1\n" + b"c" * 5000, "a.bin: ends in word 1"),
        ("a.bin", b"1 1\ncat " + struct.pack("<f", np.inf), "a.bin, word 1: a number of the vector is not finite"),
        ("a.txt.gz", b"no gzip", "a.txt.gz: word vectors can't be read"),
        ("a.txt.gz", gzip.compress(b"cat 1 2\n", mtime=0)[:-4], "a.txt.gz: word vectors can't be read"),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(
    tmp_path: Path, own_cache: Path, name: str, content: bytes, complaint: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=complaint):
        open_vectors(tmp_path / name)
    assert list(own_cache.iterdir()) == []


def test_a_file_is_read_once_and_a_changed_one_again(vectors_file: Path, own_cache: Path) -> None:
    open_vectors(vectors_file)
    (kept,) = own_cache.iterdir()
    times = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    open_vectors(vectors_file)
    assert {path.name: path.stat().st_mtime_ns for path in kept.iterdir()} == times
    vectors_file.write_text("cat 1 2\n", "utf-8")
    assert open_vectors(vectors_file).longest == pytest.approx(5**0.5)
    assert len(list(own_cache.iterdir())) == 2


def test_a_cache_that_can_not_be_written_or_read_says_so(
    vectors_file: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_CACHE", str(vectors_file / "under-a-file"))
    with pytest.raises(StoreFailed, match="no word vectors can be kept here"):
        open_vectors(vectors_file)
    monkeypatch.setenv("BILLBOARDS_CACHE", str(own_cache.parent))
    vectors_file.write_text("cat 1 2 3\n", "utf-8")
    open_vectors(vectors_file)
    (folder,) = own_cache.iterdir()
    (folder / "rows.npy").write_bytes(b"")
    open_vectors.__globals__["_opened"].cache_clear()
    with pytest.raises(StoreFailed, match=r"can't be read: .*; delete the folder"):
        open_vectors(vectors_file)


@pytest.mark.parametrize("norm", [True, False])
def test_distances_are_those_of_the_linear_programme(vectors_file: Path, norm: bool) -> None:
    words = [*VECTORS, "unknown"]
    draw = np.random.default_rng(3)
    pairs = [tuple(["cat", *draw.choice(words, draw.integers(1, 9)).tolist()] for _ in range(2)) for _ in range(40)]
    scores = WMD(model=str(vectors_file), tokenize="none", norm=norm).score_batch(
        Batch([" ".join(output) for output, _ in pairs], [[" ".join(text)] for _, text in pairs])
    )
    expected = [linear_programme(VECTORS, output, text, norm=norm) for output, text in pairs]
    assert scores == pytest.approx(expected, abs=1e-9)
    assert max(expected) > 0.5


def test_a_distance_worked_out_by_hand(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("a 1 0\nb 0 2\nc -3 0\n", "utf-8")
    scorer = WMD(model=str(tmp_path / "v.txt"))
    batch = Batch(["a a b", "a", "A", "a", "x", "x y", ""], [["a b"], ["c", "b"], ["a"], ["a q"], ["x"], ["a"], ["a"]])
    # Of "a a b" one sixth of the text goes from a to b, which are at a right angle.
    assert scorer.score_batch(batch) == pytest.approx([2**0.5 / 6, 2**0.5, 0.0, 0.0, 0.0, 2.0, 2.0])
    plain = WMD(model=str(tmp_path / "v.txt"), norm=False).score_batch(Batch(["a", "x"], [["c"], ["a"]]))
    # The longest vector has a length of 3, and no two words are further apart than twice that.
    assert plain == pytest.approx([4.0, 6.0])


def test_stop_words_take_no_part(tmp_path: Path, vectors_file: Path) -> None:
    (tmp_path / "stop.txt").write_text("The\n.\n", "utf-8")
    whole, without = (
        metric(f"WMD(model={vectors_file}{option})") for option in ("", f",stop_words={tmp_path / 'stop.txt'}")
    )
    batch = Batch(["The cat."], [["cat"]])
    assert whole.corpus_score(batch) > 0.1
    assert without.corpus_score(batch) == 0.0
    assert whole.signature != without.signature
    assert "stop_words:none" in whole.signature


def test_texts_of_too_many_words_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.txt"
    path.write_text("".join(f"w{k} {k} 1\n" for k in range(3002)), "utf-8")
    words = [f"w{k}" for k in range(3002)]
    refusal = (
        "an output of 3,001 distinct words and a reference of 3,001 are too long; the product may be 9,000,000 at most"
    )
    with pytest.raises(InvalidInput, match=refusal):
        WMD(model=str(path)).score_batch(Batch([" ".join(words[1:])], [[" ".join(words[:-1])]]))


def test_a_file_must_be_named_and_be_there(vectors_file: Path) -> None:
    with pytest.raises(MissingPart, match="WMD needs word vectors: name their file as its model"):
        metric("WMD").score_batch(Batch(["a"], [["a"]]))
    with pytest.raises(MissingPart, match=r"WMD: there is no file nowhere\.txt of word vectors"):
        assert metric("WMD(model=nowhere.txt)").signature
    with pytest.raises(InvalidInput, match="a board's file can't name a file"):
        board_metric(f"WMD(model={vectors_file})", "en")


def test_the_signature_names_the_file_by_its_content(vectors_file: Path) -> None:
    scorer = WMD(model=str(vectors_file))
    before = scorer.signature
    assert before.startswith("WMD|vectors:vectors.txt|digest:")
    vectors_file.write_text("cat 1 2\n", "utf-8")
    assert scorer.signature != before
    assert [word for word, _ in read_vectors(vectors_file)] == [b"cat"]
