"""METEOR: numbers worked out by hand, and nltk's own beside them, over the same WordNet."""

from __future__ import annotations

import random
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nltk
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate.meteor_score import meteor_score

from billboards.errors import MissingPart, UnknownName
from billboards.metrics import nltk_words
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.meteor import METEOR
from billboards.metrics.wordnet import FILES, USUAL_PLACE, WordNet, wordnet

pytestmark = pytest.mark.usefixtures("small_wordnet")


class NltkReader(WordNetCorpusReader):  # type: ignore[misc]
    """nltk's reader, without its map to another WordNet, whose files are not here."""

    def map_wn(self, version: str = "wordnet") -> None:
        """None: no map."""


@pytest.fixture
def reader(small_wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """nltk's reader; it wants the files below its data path, and a list of names that METEOR doesn't use."""
    for name in FILES:
        shutil.copy(small_wordnet / name, tmp_path)
    (tmp_path / "lexnames").write_text("".join(f"{k:02d}\tname{k}\t1\n" for k in range(45)))
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = NltkReader(str(tmp_path), None)
    yield found
    for file in found._data_file_map.values():
        file.close()


def score(matches: int, words: int, reference_words: int, chunks: int) -> float:
    precision, recall = matches / words, matches / reference_words
    return (1 - 0.5 * (chunks / matches) ** 3) * precision * recall / (0.9 * precision + 0.1 * recall)


@pytest.mark.parametrize(
    ("output", "references", "expected"),
    [
        ("the cat sat", ["the cat sat"], score(3, 3, 3, 1)),
        ("the cat sat", ["the dog sat"], score(2, 3, 3, 2)),
        # case doesn't count, punctuation sticks to words
        ("The CAT sat.", ["the cat sat"], score(2, 3, 3, 1)),
        # by stem
        ("cats running", ["cat runs"], score(2, 2, 2, 1)),
        # by synonym: rug and mat
        ("a cat on the rug", ["a cat on the mat"], score(5, 5, 5, 1)),
        # synonyms are those of stems, as in nltk since 3.6.3: larg has none
        ("large", ["big"], 0.0),
        # the last of equal words is taken first, so that the order breaks
        ("a b a", ["a b"], score(2, 3, 2, 2)),
        ("nothing here", ["at all"], 0.0),
        ("", ["a"], 0.0),
        ("a", [""], 0.0),
        # the best reference
        ("the cat", ["a dog", "the cat"], score(2, 2, 2, 1)),
    ],
)
def test_a_score_is_the_one_worked_out_by_hand(output: str, references: list[str], expected: float) -> None:
    assert METEOR().score_batch(Batch([output], [references])) == pytest.approx([expected], abs=1e-12)


def test_scores_are_those_of_nltk(reader: Any) -> None:
    draw = random.Random(4)
    words = ["The", "cat", "cats", "kitty", "mice", "mouse", "sat", "sitting", "ran", "runs", "mat", "rug", "carpet"]
    words += ["large", "bigger", "quickly", "rapidly", "猫", "mat.", "galore", "abounding", "é"]

    def text() -> str:
        return " ".join(draw.choices(words, k=draw.randrange(14)))

    outputs, references = (
        [text() for _ in range(400)],
        [[text() for _ in range(draw.randint(1, 3))] for _ in range(400)],
    )
    expected = [
        meteor_score([r.split() for r in texts], output.split(), wordnet=reader)
        for output, texts in zip(outputs, references, strict=True)
    ]
    assert METEOR().score_batch(Batch(outputs, references)) == pytest.approx(expected, abs=1e-12)


def test_nltk_before_3_6_3_offered_words_matched_by_stem_once_more() -> None:
    """nltk's issue 2729: likes and like matched twice there."""
    batch = Batch(["I likes pizza"], [["I really like pizza"]])
    assert METEOR().score_batch(batch) == pytest.approx([0.655], abs=5e-4)


@pytest.mark.parametrize(("output", "reference"), [("rugs", "rug"), ("large", "big")])
def test_early_nltk_counts_a_word_in_two_stages(output: str, reference: str) -> None:
    once, twice = (METEOR(early_nltk=t).score_batch(Batch([output], [[reference]]))[0] for t in (False, True))
    assert once < twice


def test_early_nltk_looked_for_base_forms_until_it_found_one() -> None:
    """Scarperings is no verb, nor is scarpering; scarper is."""
    assert wordnet().synonyms("scarperings") == frozenset()
    assert wordnet().synonyms("scarperings", deep=True) == {"run", "scarper"}
    assert wordnet().synonyms("zzzs", deep=True) == frozenset()
    assert wordnet().synonyms("cats", deep=True) == wordnet().synonyms("cats")


def test_words_of_other_scripts_are_parted_from_marks_on_request() -> None:
    assert list(METEOR().score_batch(Batch(["кошка!"], [["кошка"]]))) == [0.0]
    assert METEOR(tokenizer="unicode").score_batch(Batch(["Кошка!"], [["кошка"]])) == pytest.approx([0.5])
    with pytest.raises(UnknownName, match="known: characters, nltk, split, unicode"):
        metric("METEOR(tokenizer=x)")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("cat", {"cat", "kitty", "Cat"}),
        ("kitties", {"cat", "kitty"}),
        ("cats", {"cat", "kitty", "Cat"}),
        # the exceptions; computer_mouse is two words
        ("mice", {"mouse"}),
        ("sat", {"sit"}),
        ("large", {"big", "large"}),
        ("abounding", {"galore", "abounding"}),
        ("runs", {"run", "scarper"}),
        ("", set()),
        ("cat n", set()),
        ("zzz", set()),
        ("!", set()),
        ("\ud800", set()),
    ],
)
def test_synonyms_are_the_words_that_share_a_synset(word: str, expected: set[str], reader: Any) -> None:
    assert wordnet().synonyms(word) == expected
    theirs = {lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas() if word.isprintable()}
    assert {name for name in theirs if "_" not in name} == expected


def test_the_real_wordnet_knows_synonyms_and_base_forms() -> None:
    if not USUAL_PLACE.is_dir():
        pytest.skip("WordNet is absent: install the Debian package wordnet-base")
    found = WordNet(USUAL_PLACE)
    assert {"automobile", "machine", "car"} <= found.synonyms("cars")
    assert {"goose", "fathead"} <= found.synonyms("geese")
    assert {"good", "well", "in_effect"} & found.synonyms("better") == {"good", "well"}
    assert found.synonyms("software.") == frozenset()


def test_the_signature_names_the_content_of_wordnet(small_wordnet: Path, tmp_path: Path) -> None:
    for name in FILES:
        shutil.copy(small_wordnet / name, tmp_path)
    before = WordNet(tmp_path).digest
    assert before == wordnet().digest
    assert METEOR().signature.endswith(f"|wordnet:{before}")
    (tmp_path / "noun.exc").write_text("mice mouse\ngeese goose\n")
    assert WordNet(tmp_path).digest != before


def test_a_wordnet_that_is_absent_or_incomplete_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.noun").touch()
    monkeypatch.setenv("BILLBOARDS_WORDNET", str(tmp_path))
    with pytest.raises(MissingPart, match=r"no complete WordNet: data\.noun, noun\.exc, .* wordnet-base"):
        METEOR().score_batch(Batch(["a"], [["a"]]))
    monkeypatch.delenv("BILLBOARDS_WORDNET")
    monkeypatch.setattr("billboards.metrics.wordnet.USUAL_PLACE", tmp_path / "nowhere")
    with pytest.raises(MissingPart, match=r"needs WordNet, .* or set BILLBOARDS_WORDNET"):
        METEOR().score_batch(Batch(["a"], [["a"]]))


@pytest.fixture
def punkt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Parameters as Punkt writes them, where nltk looks for them; "Mr" is an abbreviation."""
    folder = tmp_path / "tokenizers" / "punkt_tab" / "english"
    folder.mkdir(parents=True)
    for name, text in (("abbrev_types.txt", "mr"), ("collocations.tab", ""), ("sent_starters.txt", "")):
        (folder / name).write_text(text)
    (folder / "ortho_context.tab").write_text("smith\t2\n")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    for kept in (nltk_words._parameters, nltk_words._sentence_splitter):
        kept.cache_clear()
    yield
    for kept in (nltk_words._parameters, nltk_words._sentence_splitter):
        kept.cache_clear()


@pytest.fixture
def no_punkt(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(nltk.data, "path", [])
    for kept in (nltk_words._parameters, nltk_words._sentence_splitter):
        kept.cache_clear()
    yield
    for kept in (nltk_words._parameters, nltk_words._sentence_splitter):
        kept.cache_clear()


@pytest.mark.usefixtures("no_punkt")
def test_words_of_nltk_give_the_score_that_evaluate_gives() -> None:
    batch = Batch(["It is late."], [["It is late"]])
    # "It is late" matches as one chunk of three among four words; split at blanks, "late." matches nothing.
    assert METEOR(tokenizer="nltk").score_batch(batch) == pytest.approx([score(3, 4, 3, 1)])
    assert METEOR(tokenizer="nltk").score_batch(batch)[0] == pytest.approx(0.950, abs=5e-4)
    assert METEOR().score_batch(batch) == pytest.approx([score(2, 3, 3, 1)])


@pytest.mark.usefixtures("no_punkt")
def test_without_punkts_parameters_a_text_is_one_sentence_and_the_signature_says_so() -> None:
    assert nltk_words.nltk_words("He isn't late. Go!") == ["He", "is", "n't", "late.", "Go", "!"]
    assert METEOR(tokenizer="nltk").signature.endswith("|punkt:none")
    assert "punkt" not in METEOR().signature


@pytest.mark.usefixtures("punkt")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He isn't late. Go!", ["He", "is", "n't", "late", ".", "Go", "!"]),
        ("Mr. Smith is here. He sat.", ["Mr.", "Smith", "is", "here", ".", "He", "sat", "."]),
        ("", []),
    ],
)
def test_with_punkts_parameters_words_are_those_of_word_tokenize(text: str, words: list[str]) -> None:
    assert nltk_words.nltk_words(text) == nltk.word_tokenize(text) == words
    assert re.fullmatch(r"[0-9a-f]{12}", nltk_words.punkt_version())
    assert METEOR(tokenizer="nltk").signature.endswith(f"|punkt:{nltk_words.punkt_version()}")
