"""What is asked for and how: answers by rule and by model, questions as a model writes them one at a time."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from question_models import loaded, write_tagger, write_writer
from question_oracles import step_by_step

from billboards.errors import InvalidInput
from billboards.metrics.neural.qa_answers import answer_words, exact_match, overlap_f1
from billboards.metrics.neural.qa_questions import Asking, Question, ask, select_by_rule, sentence_spans

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.likelihood import EncoderDecoder, LanguageModel  # noqa: E402
from billboards.metrics.neural.qa_questions import Tagger  # noqa: E402
from billboards.metrics.neural.weights import Weights  # noqa: E402
from billboards.metrics.neural.writing import _settings, write  # noqa: E402


@pytest.mark.parametrize(
    ("given", "right", "exact", "f1"),
    [
        ("the Cat!", "cat", 1, 1),
        ("a cat sat", "the cat ran", 0, 1 / 2),
        ("Paris, in 1999", "1999", 0, 1 / 2),
        ("cat cat", "cat", 0, 2 / 3),
        ("", "cat", 0, 0),
        ("the", "a", 1, 1),
        ("U.S.", "US", 1, 1),
        ("dog", "cat", 0, 0),
    ],
)
def test_answers_are_compared_by_squads_rules(given: str, right: str, exact: float, f1: float) -> None:
    assert exact_match(given, right) == exact_match(right, given) == exact
    assert overlap_f1(given, right) == overlap_f1(right, given) == pytest.approx(f1)


def test_case_punctuation_and_articles_do_not_count() -> None:
    assert answer_words(" An apple, THE pear; another one's ") == ["apple", "pear", "another", "ones"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Alice met Bob. They left!  Why? No.", ["Alice met Bob.", "They left!", "Why?", "No."]),
        ("Dr. J. Smith saw Mrs. Jones. 7 left.", ["Dr. J. Smith saw Mrs. Jones.", "7 left."]),
        ('"Go," she said. "Now." (He went.)', ['"Go," she said.', '"Now."', "(He went.)"]),
        ("a line\nanother line\n\n", ["a line", "another line"]),
        ("It cost 3.5 million e.g. in Rome.", ["It cost 3.5 million e.g. in Rome."]),
        ("他来了。她走了！", ["他来了。", "她走了！"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_text_is_cut_into_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:stop] for start, stop in sentence_spans(text)] == sentences


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        # A first word is no name where it stands in lower case elsewhere, or never is one.
        ("In Berlin, Angela Merkel met Dr. J. Smith.", ["Berlin", "Angela Merkel", "Dr. J. Smith"]),
        ("Angela Merkel spoke. Merkel left. Rain fell, and the rain stayed.", ["Angela Merkel", "Merkel"]),
        ("The White House paid $1,200.50 on 3 May 2019.", ["White House", "$1,200.50", "3", "May", "2019"]),
        ("NASA said I'm late, and I agreed.", ["NASA"]),
        ("They saw Bob's cat in the U.S. at 10:30 for 5%.", ["Bob", "U.S.", "10:30", "5%"]),
        ("no name stands here.", []),
        ("", []),
    ],
)
def test_names_and_numbers_are_what_the_rule_asks_for(text: str, answers: list[str]) -> None:
    found = select_by_rule(text)
    assert [candidate.answer for candidate in found] == answers
    for candidate in found:
        assert text[slice(*candidate.span)] == candidate.answer
        assert "".join(candidate.context(whole=True)) == text
        assert "".join(candidate.context(whole=False)) in text


SENTENCES = [
    "Alice met the cat in Paris .",
    "7 dog ran on Bob , very small .",
    "the mat",
    "Carol saw 12 cat and Rome .",
]


def test_a_model_marks_what_transformers_own_pipeline_marks(tmp_path: Path) -> None:
    import transformers

    folder = write_tagger(tmp_path / "tagger")
    found, sentences, cut = Tagger(Weights("tagger", folder), "fp32", "cpu").select(SENTENCES, frozenset())
    assert (sentences, cut) == (4, 0)
    model, tokenizer = loaded(folder, "AutoModelForTokenClassification")
    pipeline = transformers.pipeline(
        "token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple", device="cpu"
    )
    expected = [[(one["start"], one["end"]) for one in pipeline(sentence)] for sentence in SENTENCES]
    assert [[candidate.span for candidate in own] for own in found] == expected
    assert sum(map(len, expected)) > 4


def test_only_the_kinds_that_are_named_are_asked_for(tmp_path: Path) -> None:
    tagger = Tagger(Weights("tagger", write_tagger(tmp_path / "tagger")), "fp32", "cpu")
    text = " ".join(SENTENCES)
    everything, people, numbers = (tagger.select([text], frozenset(kinds))[0][0] for kinds in ((), ("PER",), ("NUM",)))
    assert {c.span for c in everything} == {c.span for c in people} | {c.span for c in numbers}
    assert 0 < len(people) < len(everything)
    assert tagger.select([""], frozenset()) == ([[]], 0, 0)


def test_a_sentence_that_is_too_long_to_be_marked_is_counted(tmp_path: Path) -> None:
    tagger = Tagger(Weights("tagger", write_tagger(tmp_path / "tagger")), "fp32", "cpu")
    assert tagger.select(["Alice met Bob " * 40, "Bob left ."], frozenset())[1:] == (2, 1)


def test_a_model_without_a_label_for_the_rest_is_refused(tmp_path: Path) -> None:
    folder = write_tagger(tmp_path / "tagger", ("LABEL_0", "LABEL_1"))
    with pytest.raises(InvalidInput, match="has no label O for what is no answer"):
        Tagger(Weights("tagger", folder), "fp32", "cpu")


def writer(folder: Path) -> LanguageModel:
    return EncoderDecoder(Weights(str(folder), folder), "fp32", "cpu")


TEXTS = ["Alice </s> Alice met Bob", "the cat sat on the mat and ran", "7", "Rome </s> very small dog", "7"]


@pytest.mark.parametrize("family", ["BART", "T5"])
def test_what_is_written_is_the_likeliest_word_again_and_again(tmp_path: Path, family: str) -> None:
    folder = write_writer(tmp_path / family, family)
    written = write(writer(folder), TEXTS, beams=1, longest=9)
    assert written.cut == 0
    assert written.of == {text: step_by_step(folder, text, 9) for text in TEXTS}
    assert len(set(written.of.values())) > 1


@pytest.mark.parametrize("family", ["BART", "T5"])
def test_beams_are_those_of_transformers_one_text_at_a_time(tmp_path: Path, family: str) -> None:
    folder = write_writer(tmp_path / family, family)
    model, tokenizer = loaded(folder, "AutoModelForSeq2SeqLM")

    def alone(text: str) -> str:
        given = tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        ids = model.generate(**given, num_beams=3, max_new_tokens=7, do_sample=False)
        decoded: str = tokenizer.batch_decode(ids, skip_special_tokens=True)[0]
        return decoded.strip()

    expected = {text: alone(text) for text in TEXTS}
    own = writer(folder)
    before = own.model.generation_config.to_dict()
    assert write(own, TEXTS, beams=3, longest=7).of == expected
    # The model is shared, and keeps its settings.
    assert own.model.generation_config.to_dict() == before
    # What the model's files say about sampling and lengths changes nothing.
    model.generation_config.update(do_sample=True, temperature=3.0, min_length=6)
    model.generation_config.save_pretrained(folder)
    assert write(writer(folder), TEXTS, beams=3, longest=7).of == expected


def test_nothing_to_write_after_is_nothing_written(tmp_path: Path) -> None:
    model = writer(write_writer(tmp_path / "BART"))
    assert write(model, [], beams=1, longest=5).of == {}
    assert write(model, ["cat " * 60], beams=1, longest=5).cut == 1
    with pytest.raises(InvalidInput, match="both must be at least 1"):
        write(model, ["cat"], beams=0, longest=5)


class Echo:
    """A model's stand-in for templates: what it was given is what it is asked to write."""

    @staticmethod
    def given(template: str, scope: str) -> list[str]:
        asking = Asking(template, scope, beams=1, longest=5)
        return [asking.given(candidate) for candidate in select_by_rule("It rained. Then Bob left Rome.")]


def test_a_template_shows_the_answer_in_its_sentence_or_in_the_whole_text() -> None:
    assert Echo.given("{answer} </s> {context}", "sentence") == [
        "Bob </s> Then Bob left Rome.",
        "Rome </s> Then Bob left Rome.",
    ]
    assert Echo.given("ask: {before}<hl> {answer} <hl>{after}", "text") == [
        "ask: It rained. Then <hl> Bob <hl> left Rome.",
        "ask: It rained. Then Bob left <hl> Rome <hl>.",
    ]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{context}", r"\{answer\} must be among them"),
        ("{answer} {who}", "its fields are"),
        ("{answer", "is no template"),
        ("{answer}, {context}", "commas, bars and line ends"),
    ],
)
def test_a_template_that_can_not_work_is_refused(template: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Asking(template, "sentence", 1, 5)
    with pytest.raises(InvalidInput, match="scope 'page' is none of sentence, text"):
        Asking("{answer}", "page", 1, 5)


def test_questions_stand_by_the_text_and_in_the_order_of_their_answers(tmp_path: Path) -> None:
    folder, texts = write_writer(tmp_path / "T5", "T5"), ["Then Bob left Rome .", "Alice met Carol .", "rain"]
    asking = Asking("{answer} </s> {context}", "sentence", 1, 6)
    found, cut = ask(writer(folder), asking, map(select_by_rule, texts))
    expected: dict[str, Any] = {
        text: [
            Question(step_by_step(folder, f"{answer} </s> {text}", 6), answer) for answer in names
        ]
        for text, names in ((texts[0], ["Bob", "Rome"]), (texts[1], ["Alice", "Carol"]))
    }  # fmt: skip
    kept = {text: [question for question in own if question.text] for text, own in expected.items()}
    assert found == {text: own for text, own in kept.items() if own}
    assert cut == 0
    assert found


@pytest.mark.parametrize(("own", "model", "told"), [(4, 7, 4), (None, 7, 7), (None, None, None)])
def test_a_text_begins_with_the_token_that_settings_of_writing_name_or_else_the_models(
    own: int | None, model: int | None, told: int | None
) -> None:
    inner = SimpleNamespace(
        generation_config=SimpleNamespace(decoder_start_token_id=own, eos_token_id=2),
        config=SimpleNamespace(decoder_start_token_id=model),
    )
    writer: Any = SimpleNamespace(model=inner, weights=SimpleNamespace(name="writer"))
    if told is None:
        with pytest.raises(InvalidInput, match="writer doesn't say with which token a text begins"):
            _settings(writer, 2, 5)
    else:
        settings = _settings(writer, 2, 5)
        assert (settings.decoder_start_token_id, settings.eos_token_id, settings.num_beams) == (told, 2, 2)
        assert (settings.max_new_tokens, settings.do_sample) == (5, False)
