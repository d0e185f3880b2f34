"""Answers read off texts, beside a search through every span, one pair at a time and window by window by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from question_models import READERS, WORDS, write_reader, write_writer
from question_oracles import by_search

from billboards.errors import InvalidInput

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.qa_answers import NO_ANSWER, Answer, Reach, SpanReader  # noqa: E402
from billboards.metrics.neural.weights import Weights  # noqa: E402

Made = Callable[[str], Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    @cache
    def make(architecture: str) -> Path:
        return write_reader(tmp_path_factory.mktemp("readers") / architecture, architecture)

    return make


def reader(folder: Path, **reach: int) -> SpanReader:
    return SpanReader(Weights(str(folder), folder), "fp32", "cpu", Reach(**reach))


def texts(count: int, seed: int, shortest: int, longest: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS[:-1], k=draw.randint(shortest, longest))) for _ in range(count)]


def agree(found: Answer, expected: Answer) -> None:
    assert (found.text, found.is_given) == (expected.text, expected.is_given)
    assert found.confidence == pytest.approx(expected.confidence, abs=1e-5)
    assert found.no_answer == pytest.approx(expected.no_answer, abs=1e-5)


# Loading DeBERTa's code compiles a function in a way that torch deprecates.
@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("architecture", READERS)
def test_the_answer_is_the_best_of_all_spans_also_over_several_windows(made: Made, architecture: str) -> None:
    folder = made(architecture)
    short = zip(texts(6, 1, 2, 6), texts(6, 2, 1, 30), strict=True)
    # Windows of 40 tokens over up to 130.
    long = zip(texts(4, 3, 3, 8), texts(4, 4, 60, 130), strict=True)
    pairs = [*short, *long]
    found = reader(folder, window=40, overlap=6, longest=5).read(pairs)
    assert found.cut == 0
    answers = [by_search(folder, *pair, limit=40, overlap=6, longest=5) for pair in pairs]
    for pair, expected in zip(pairs, answers, strict=True):
        agree(found.of[pair], expected)
    assert len({answer.text for answer in answers}) > 5


def test_that_there_is_no_answer_is_the_best_of_some_short_texts(made: Made) -> None:
    pairs = list(zip(texts(30, 20, 2, 6), texts(30, 21, 1, 2), strict=True))
    found = reader(made("BERT"), window=40, overlap=6, longest=5).read(pairs).of
    for pair, answer in found.items():
        agree(answer, by_search(made("BERT"), *pair, limit=40, overlap=6, longest=5))
        assert answer.is_given or answer.no_answer > 0.2
    assert {answer.is_given for answer in found.values()} == {True, False}


def test_an_answer_is_never_longer_than_allowed(made: Made) -> None:
    pairs = list(zip(texts(5, 5, 2, 6), texts(5, 6, 20, 40), strict=True))
    for longest in (1, 3):
        found = reader(made("BERT"), longest=longest).read(pairs).of
        assert {len(answer.text.split()) for answer in found.values()} <= set(range(1, longest + 1))


def test_a_blank_text_holds_no_answer_and_is_not_read(made: Made) -> None:
    found = reader(made("BERT")).read([("who ?", ""), ("who ?", " \n"), ("", "Alice"), ("who ?", "")])
    assert found.of["who ?", ""] == found.of["who ?", " \n"] == NO_ANSWER
    assert found.of["", "Alice"].text == "Alice"
    assert reader(made("BERT")).read([]).of == {}


def test_answers_do_not_depend_on_what_else_is_read(made: Made) -> None:
    pairs = list(zip(texts(12, 7, 2, 8), texts(12, 8, 1, 90), strict=True))
    together = reader(made("BERT"), window=48).read(pairs).of
    backwards = reader(made("BERT"), window=48).read(pairs[::-1]).of
    for pair in pairs:
        alone = reader(made("BERT"), window=48).read([pair]).of[pair]
        agree(together[pair], alone)
        agree(backwards[pair], alone)
    assert reader(made("BERT"), window=48).read(pairs).of == together


def test_memory_that_does_not_suffice_halves_the_batch(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = list(zip(texts(8, 9, 2, 8), texts(8, 10, 5, 20), strict=True))
    tight = reader(made("BERT"))
    whole, spans = tight.read(pairs).of, tight._spans

    def small(windows: Any) -> Any:
        if len(windows) > 2:
            raise RuntimeError("can't allocate memory")
        return spans(windows)

    monkeypatch.setattr(tight, "_spans", small)
    for pair, answer in tight.read(pairs).of.items():
        agree(answer, whole[pair])


def test_a_question_longer_than_half_a_window_is_cut_and_counted(made: Made) -> None:
    asked, context = " ".join(["who"] * 40), "Alice met Bob in Rome"
    found = reader(made("BERT"), window=32).read([(asked, context), ("who ?", context)])
    assert found.cut == 1
    agree(found.of[asked, context], reader(made("BERT"), window=32).read([("who " * 15 + "who", context)]).of[
        "who " * 15 + "who", context
    ])  # fmt: skip


def test_a_model_that_does_not_point_at_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"lacks \d+ weights of a model that points at answers"):
        reader(write_writer(tmp_path / "BART"))
    with pytest.raises(InvalidInput, match="give at least 16, 0 and 1"):
        Reach(window=8)


def test_the_smallest_window_has_sixteen_tokens() -> None:
    assert Reach(window=16, overlap=0, longest=1).window == 16
    for smaller in ({"window": 15}, {"overlap": -1}, {"longest": 0}):
        with pytest.raises(InvalidInput, match="give at least 16, 0 and 1"):
            Reach(**smaller)
