"""Metrics that people still report, beside peers: how many cases were compared, and the largest difference.

    python benchmarks/parity_classic.py

The plain transcriptions of the published formulas are those of the tests. What the authors of YiSi publish beside their
program is compared where BILLBOARDS_YISI names a clone of it (github.com/chikiulo/yisi); gensim,
and mauve-text with faiss, where they are installed.
"""

from __future__ import annotations

import os
import random
import runpy
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from billboards.metrics.base import Batch, Metric, score_checked
from billboards.metrics.discovery import metric

TESTS = Path(__file__).resolve().parents[1] / "tests" / "metrics"
Row = tuple[str, str, int, float]
WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "and", "ran", "of", "to", "is", "Café", "1,000", "."]
Corpus = tuple[list[list[str]], list[list[list[str]]]]


def oracles(test: str) -> dict[str, Any]:
    """The plain transcriptions in a file of tests, by name."""
    return runpy.run_path(str(TESTS / test))


def corpora(count: int, seed: int, *, references: int = 3, longest: int = 18) -> list[Corpus]:
    """Small corpora of random texts, some of them empty, with up to so many references."""
    draw = random.Random(seed)

    def text() -> list[str]:
        return draw.choices(WORDS, k=draw.randint(0, longest))

    made = []
    for _ in range(count):
        size = draw.randint(1, 12)
        texts = [[text() for _ in range(draw.randint(1, references))] for _ in range(size)]
        made.append(([text() for _ in range(size)], texts))
    return made


def batch_of(corpus: Corpus) -> Batch:
    outputs, references = corpus
    return Batch([" ".join(words) for words in outputs], [[" ".join(text) for text in texts] for texts in references])


def compared(own: Metric, corpora: Sequence[Corpus], peer: Callable[[Corpus], float]) -> tuple[int, float]:
    """How many corpora have a value under both, and the largest difference; a peer may fail by dividing by nothing."""
    cases, largest = 0, 0.0
    for corpus in corpora:
        try:
            expected = peer(corpus)
        except ZeroDivisionError:
            continue
        cases, largest = cases + 1, max(largest, abs(own.corpus_score(batch_of(corpus)) - expected))
    return cases, largest


def nist_rows() -> list[Row]:
    import nltk
    from nltk.translate.nist_score import corpus_nist

    written = oracles("test_nist.py")
    mteval, is_tied = written["mteval"], written["is_tied"]
    some = corpora(600, 1)
    clear = [corpus for corpus in some if not is_tied(*corpus)]
    own, nltks = metric("NIST(tokenize=none)"), metric("NIST(tokenize=none,definition=nltk)")
    return [
        ("NIST", "mteval-v13a's formulas, written out", *compared(own, some, lambda corpus: mteval(*corpus))),
        (
            "NIST(definition=nltk)",
            f"nltk {nltk.__version__} corpus_nist, where it has a number and rounding doesn't choose the reference",
            *compared(nltks, clear, lambda corpus: corpus_nist(corpus[1], corpus[0])),
        ),
    ]


def error_rate_rows() -> list[Row]:
    written = oracles("test_edit_rates.py")

    def words_apart(output: list[str], reference: list[str]) -> int:
        shared = (Counter(output) & Counter(reference)).total()
        return max(len(output), len(reference)) - shared

    def rate(edits: Callable[[list[str], list[str]], int]) -> Callable[[Corpus], float]:
        def of_corpus(corpus: Corpus) -> float:
            chosen = []
            for output, texts in zip(*corpus, strict=True):
                pairs = [(edits(output, text), len(text)) for text in texts]
                chosen.append(min(pairs, key=lambda pair: pair[0] / pair[1] if pair[1] else float(pair[0] > 0)))
            total, length = np.sum(chosen, axis=0)
            return float(100 * total / length if length else 100.0 * (total > 0))

        return of_corpus

    some = corpora(600, 2)
    plain = "its definition, written out"
    return [
        ("WER", plain, *compared(metric("WER"), some, rate(written["levenshtein"]))),
        ("PER", plain, *compared(metric("PER"), some, rate(words_apart))),
        ("CDER", "the paper's recursion, written out", *compared(metric("CDER"), some, rate(written["jump_table"]))),
    ]


def yisi_rows() -> list[Row]:
    written, cases, largest = oracles("test_yisi.py")["yisi"], 0, 0.0
    own = metric("YiSi-0(tokenize=none)")
    for corpus in corpora(60, 3):
        scores = score_checked(own, batch_of(corpus))["YiSi-0"]
        cases, largest = cases + len(scores), max(largest, _apart(scores, written(*corpus)))
    rows: list[Row] = [("YiSi-0", "the authors' formulas, written out", cases, largest)]
    if clone := os.environ.get("BILLBOARDS_YISI"):
        folder = Path(clone) / "test"
        outputs, texts = ((folder / name).read_text("utf-8").splitlines() for name in ("test_hyp.en", "test_ref.en"))
        published = np.loadtxt(folder / "ref" / "test_hyp.sntyisi0")
        scores = score_checked(own, Batch(outputs, [[text] for text in texts]))["YiSi-0"]
        rows.append(("YiSi-0", "the authors' published test, six digits", len(scores), _apart(scores, published)))
    return rows


def wmd_rows() -> list[Row]:
    """The distance beside gensim's, where it is installed, and the linear programme of the test, on random vectors."""
    written = runpy.run_path(str(TESTS / "neural" / "test_wmd.py"))
    draw = np.random.default_rng(4)
    pairs = [pair for corpus in corpora(60, 5, references=1) for pair in zip(*corpus, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        vectors = {word: draw.normal(size=20).astype(np.float32) for word in WORDS[:-2]}
        lines = (" ".join((word, *map(repr, vector.tolist()))) for word, vector in vectors.items())
        path.write_text(f"{len(vectors)} 20\n" + "\n".join(lines) + "\n", "utf-8")
        some = [
            (output, texts[0]) for output, texts in pairs if {*output} & vectors.keys() and {*texts[0]} & vectors.keys()
        ]
        batch = Batch([" ".join(output) for output, _ in some], [[" ".join(text)] for _, text in some])
        with environment(BILLBOARDS_CACHE=folder):
            scores = score_checked(metric(f"WMD(model={path},tokenize=none)"), batch)[""]
        plain = [written["linear_programme"](vectors, *pair) for pair in some]
        rows: list[Row] = [("WMD", "scipy's linear programme", len(some), _apart(scores, plain))]
        if find_spec("gensim") is None:
            return rows
        peer = import_module("gensim.models").KeyedVectors.load_word2vec_format(path)
        # gensim calls texts of the same words infinitely far apart where all distances are 0.
        theirs = np.array([peer.wmdistance(*pair) for pair in some])
    rows.append(
        (
            "WMD",
            "gensim's wmdistance, which has unit vectors in single precision",
            int(np.isfinite(theirs).sum()),
            _apart(*np.array([scores, theirs])[:, np.isfinite(theirs)]),
        )
    )
    return rows


def mauve_rows() -> list[Row]:
    """MAUVE's curve beside the formulas of the test and, where mauve-text is installed, its own functions.

    Of the whole way from vectors to scores the difference is that of two k-means: faiss' and ours.
    """
    from billboards.metrics.neural.mauve import area, cluster, divergence_curve, histogram, reduced

    written = runpy.run_path(str(TESTS / "neural" / "test_mauve.py"))["frontier_area"]
    draw = np.random.default_rng(6)
    pairs = [draw.dirichlet(np.full(40, 0.3), 2).round(3) for _ in range(200)]
    shares = [(human / human.sum(), machine / machine.sum()) for human, machine in pairs]
    ours = [area(divergence_curve(human, machine, 5.0)) for human, machine in shares]
    plain = [written(human.tolist(), machine.tolist()) for human, machine in shares]
    rows: list[Row] = [("MAUVE, area", "the papers' formulas, written out", len(shares), _apart(ours, plain))]
    if find_spec("mauve") is None or find_spec("faiss") is None:
        return rows
    peer = import_module("mauve.compute_mauve")
    weights = np.linspace(1e-6, 1 - 1e-6, 25)
    curves = [
        _apart(divergence_curve(*pair, scaling=5.0), peer.get_divergence_curve_for_multinomials(*pair, weights, 5))
        for pair in shares
    ]
    rows.append(("MAUVE, curve", "mauve-text's, of the same histograms", len(shares), max(curves)))
    areas = []
    for pair in shares:
        x, y = peer.get_divergence_curve_for_multinomials(*pair, weights, 5).T
        sorted_by = (np.argsort(x), np.argsort(y))
        both = [
            peer.compute_area_under_curve(a[k], b[k]) for (a, b), k in zip(((x, y), (y, x)), sorted_by, strict=True)
        ]
        areas.append(sum(both) / 2)
    rows.append(("MAUVE, area", "mauve-text's, of the same histograms", len(shares), _apart(ours, areas)))
    apart = []
    for shift in np.linspace(0.0, 1.0, 8):
        human, machine = draw.normal(size=(400, 24)), draw.normal(size=(400, 24)) + shift
        theirs = peer.compute_mauve(p_features=human, q_features=machine).mauve
        labels = cluster(reduced(np.vstack((machine, human)), 0.9), 40, starts=5, iterations=500, seed=25)
        curve = divergence_curve(histogram(labels[400:], 40), histogram(labels[:400], 40), 5.0)
        apart.append(abs(theirs - area(curve)))
    rows.append(("MAUVE, from vectors", "mauve-text's compute_mauve: another k-means", len(apart), max(apart)))
    return rows


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _apart(scores: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(scores) - np.asarray(expected)).max())


def rows() -> list[Row]:
    """Metric, peer, cases, largest difference."""
    return [*nist_rows(), *error_rate_rows(), *yisi_rows(), *wmd_rows(), *mauve_rows()]


def main() -> None:
    print(f"{'metric':<28} {'cases':>6} {'largest difference':>19}  peer")
    for name, peer, cases, difference in rows():
        print(f"{name:<28} {cases:>6} {difference:>19.1e}  {peer}")


if __name__ == "__main__":
    main()
