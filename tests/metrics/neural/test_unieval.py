"""UniEval beside a slow oracle: transformers' own T5, one question at a time, read as the authors' programs read it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nltk
import numpy as np
import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics import nltk_words
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric
from billboards.metrics.neural.first_step import FirstStep
from billboards.metrics.neural.learned import TextsCut
from billboards.metrics.neural.unieval import TASKS, UniEval

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from tiny_t5 import unieval_config, write_t5, write_tokenizer

OUTPUTS = ["The cat sat. A dog ran away.", "not {very} small", "", "The cat sat. A dog ran away."]
SOURCES = ["the cat and the dog\n\non the mat", "a mat", "under", "the cat and the dog\n\non the mat"]
REFERENCES = [["the cat ran", "a dog"], ["small"], ["the mat"], ["the cat ran", "a dog"]]
BATCH = Batch(OUTPUTS, REFERENCES, SOURCES)
HISTORY, FACT = "hi , a cat ? \n the dog ran \n\n", "the mat is small .\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A checkpoint of MingZhong/unieval-sum's layout."""
    from transformers import AutoTokenizer

    made = tmp_path_factory.mktemp("unieval-sum")
    write_tokenizer(made)
    write_t5(made, unieval_config(len(AutoTokenizer.from_pretrained(made))), seed=2)
    return str(made)


@pytest.fixture(autouse=True)
def punkt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Parameters as Punkt writes them, where nltk looks for them."""
    data = tmp_path / "tokenizers" / "punkt_tab" / "english"
    data.mkdir(parents=True)
    for name in ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab"):
        (data / name).write_text("")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    forget_punkt()
    yield
    forget_punkt()


def forget_punkt() -> None:
    # nltk itself keeps what it has read, too.
    for kept in (nltk_words._parameters, nltk_words._sentence_splitter, nltk.tokenize._get_punkt_tokenizer):
        kept.cache_clear()


@cache
def loaded(folder: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    return AutoModelForSeq2SeqLM.from_pretrained(folder).double().eval(), AutoTokenizer.from_pretrained(folder)


def share(folder: str, question: str) -> float:
    """The authors' recipe: a label of one word, the softmax of the first step, Yes over Yes and No."""
    import torch

    model, words = loaded(folder)
    ids = words(question, max_length=1024, truncation=True, return_tensors="pt")["input_ids"]
    label = torch.tensor([[words("No")["input_ids"][0]]])
    with torch.no_grad():
        likely = model(input_ids=ids, labels=label).logits[0, 0].softmax(-1)
    yes, no = (float(likely[words(word)["input_ids"][0]]) for word in ("Yes", "No"))
    return yes / (yes + no)


def test_a_summary_is_asked_about_in_four_questions(folder: str) -> None:
    expected: dict[str, list[float]] = {name: [] for name in ("coherence", "consistency", "fluency", "relevance")}
    for output, source, references in zip(OUTPUTS, SOURCES, REFERENCES, strict=True):
        sentences = nltk.sent_tokenize(output) or [output]
        expected["coherence"].append(
            share(
                folder,
                "question: Is this a coherent summary to the document? </s> summary: "
                + output
                + " </s> document: "
                + source,
            )
        )
        consistent = [
            share(
                folder,
                "question: Is this claim consistent with the document? </s> claim: " + s + " </s> document: " + source,
            )
            for s in sentences
        ]
        expected["consistency"].append(sum(consistent) / len(consistent))
        fluent = [share(folder, "question: Is this a fluent paragraph? </s> paragraph: " + s) for s in sentences]
        expected["fluency"].append(sum(fluent) / len(fluent))
        expected["relevance"].append(
            max(
                share(
                    folder,
                    "question: Is this summary relevant to the reference? </s> summary: "
                    + output
                    + " </s> reference: "
                    + reference,
                )
                for reference in references
            )
        )
    parts = score_checked(UniEval(folder), BATCH)
    assert list(parts) == ["overall", *expected] == list(UniEval.card.parts)
    for name, scores in expected.items():
        assert parts[name].tolist() == pytest.approx(scores, abs=1e-6), name
    mean = np.mean(list(expected.values()), axis=0)
    assert parts["overall"].tolist() == pytest.approx(mean.tolist(), abs=1e-6)
    assert len({round(score, 5) for score in parts["overall"]}) == 3


def test_a_response_is_asked_about_with_history_and_fact(folder: str) -> None:
    output = "The cat sat. A dog ran away."
    asked = {
        "naturalness": "question: Is this a natural response in the dialogue? </s> response: " + output,
        "coherence": "question: Is this a coherent response given the dialogue history? </s> response: "
        + output
        + " </s> dialogue history: "
        + HISTORY,
        "groundedness": "question: Is this response consistent with knowledge in the fact? </s> response: "
        + output
        + " </s> fact: "
        + FACT,
        "understandability": "question: Is this an understandable response in the dialogue? </s> response: " + output,
    }
    engaging = (
        "question: Is this an engaging and informative response according to the dialogue history and fact? </s> "
        "response: {} </s> dialogue history: " + HISTORY + " </s> fact: " + FACT
    )
    scorer = UniEval(folder, task="dialogue")
    parts = score_checked(scorer, Batch([output], inputs=[HISTORY + FACT]))
    assert list(parts) == [
        "overall",
        "naturalness",
        "coherence",
        "engagingness",
        "groundedness",
        "understandability",
    ]
    for name, question in asked.items():
        assert parts[name].tolist() == pytest.approx([share(folder, question)], abs=1e-6), name
    total = sum(share(folder, engaging.format(sentence)) for sentence in ("The cat sat.", "A dog ran away."))
    assert parts["engagingness"].tolist() == pytest.approx([total], abs=1e-6)
    mean = (total + sum(share(folder, question) for question in asked.values())) / 5
    assert parts["overall"].tolist() == pytest.approx([mean], abs=1e-6)
    assert scorer.card.range == (0.0, None)
    assert not scorer.card.needs_references
    with pytest.raises(InvalidInput, match="with an empty line between them; there is none in 'hi'"):
        scorer.score_batch(Batch(["a"], inputs=["hi"]))
    without_fact = UniEval(folder, task="dialogue", dimensions="naturalness + coherence")
    assert list(without_fact.score_batch(Batch(["a"], inputs=["hi"]))) == ["overall", "naturalness", "coherence"]


def test_facts_and_data_have_questions_of_their_own(folder: str) -> None:
    (scores,) = UniEval(folder, task="fact").score_batch(Batch(OUTPUTS[:1], inputs=SOURCES[:1])).values()
    asked = "question: Is this claim consistent with the document? </s> claim: {} </s> document: " + SOURCES[0]
    sentences = [share(folder, asked.format(sentence)) for sentence in ("The cat sat.", "A dog ran away.")]
    assert scores.tolist() == pytest.approx([np.mean(sentences)], abs=1e-6)
    assert UniEval(folder, task="fact").card.parts == ("consistency",)
    parts = UniEval(folder, task="data2text").score_batch(Batch(OUTPUTS[:1], REFERENCES[:1]))
    natural = share(folder, "question: Is this a fluent utterance? </s> utterance: " + OUTPUTS[0])
    informative = max(
        share(
            folder,
            "question: Is this sentence informative according to the reference? </s> sentence: "
            + OUTPUTS[0]
            + " </s> reference: "
            + reference,
        )
        for reference in REFERENCES[0]
    )
    assert [parts[name][0] for name in ("naturalness", "informativeness")] == pytest.approx(
        [natural, informative], abs=1e-6
    )
    assert not UniEval(folder, task="data2text").card.needs_input


def test_only_the_texts_are_needed_that_are_asked_about(folder: str) -> None:
    fluent = UniEval(folder, dimensions="fluency")
    assert (fluent.card.needs_input, fluent.card.needs_references) == (False, False)
    (scores,) = score_checked(fluent, Batch(OUTPUTS)).values()
    assert scores.tolist() == pytest.approx(UniEval(folder).score_batch(BATCH)["fluency"].tolist(), abs=1e-6)
    related = UniEval(folder, dimensions="relevance+coherence")
    assert related.card.parts == ("overall", "coherence", "relevance")
    assert (related.card.needs_input, related.card.needs_references) == (True, True)
    assert metric(f"UniEval(model={folder})[relevance]").score(OUTPUTS, REFERENCES, SOURCES).sentences.tolist() == (
        pytest.approx(UniEval(folder).score_batch(BATCH)["relevance"].tolist(), abs=1e-6)
    )


def test_long_documents_are_cut_and_counted(folder: str) -> None:
    document, claim = "the cat " * 700, "a dog"
    with pytest.warns(TextsCut, match="1 of 1 texts were cut at the 1024 tokens"):
        (scores,) = UniEval(folder, dimensions="coherence").score_batch(Batch([claim], inputs=[document])).values()
    text = "question: Is this a coherent summary to the document? </s> summary: a dog </s> document: " + document
    assert scores.tolist() == pytest.approx([share(folder, text)], abs=1e-6)


def test_equal_questions_are_asked_once(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain = FirstStep.logits

    def watched(self: FirstStep, tokens: Any, words: Any) -> Any:
        read.extend(len(ids) for ids in tokens)
        return plain(self, tokens, words)

    monkeypatch.setattr(FirstStep, "logits", watched)
    rows = [BATCH.part(0, 1), BATCH.part(3, 4), BATCH.part(0, 0)]
    first, second, none = UniEval(folder).score_rows(rows)
    assert {name: scores.tolist() for name, scores in first.items()} == {
        name: scores.tolist() for name, scores in second.items()
    }
    assert [len(scores) for scores in none.values()] == [0] * 5
    # Coherence once, consistency and fluency of two sentences each, relevance to two references.
    assert len(read) == 1 + 2 + 2 + 2


def test_without_punkt_only_questions_about_whole_texts_are_asked(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "|punkt:" in UniEval(folder).signature
    assert "punkt" not in UniEval(folder, dimensions="coherence").signature
    monkeypatch.setattr(nltk.data, "path", [])
    forget_punkt()
    with pytest.raises(MissingPart, match=r"consistency and fluency sentence by sentence.*punkt_tab"):
        UniEval(folder).score_batch(BATCH)
    assert len(UniEval(folder, dimensions="coherence").score_batch(BATCH)["coherence"]) == 4


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(InvalidInput, match="task 'poetry' is none of summarization, dialogue, data2text, fact"):
        UniEval(task="poetry")
    with pytest.raises(InvalidInput, match=r"dimension 'rhyme' is none of coherence, .* \(summarization\)"):
        UniEval(dimensions="coherence+rhyme")
    for task, published in TASKS.items():
        with pytest.raises(MissingPart, match=rf"needs the authors' model: .*{published.model} is not on this machine"):
            _ = UniEval(task=task).signature


def test_the_signature_names_weights_task_and_dimensions(folder: str) -> None:
    signature = UniEval(folder, dimensions="fluency", precision="bf16").signature
    assert signature.startswith("UniEval|model:unieval-sum")
    assert "|precision:bf16|task:summarization|dimensions:fluency|transformers:" in signature
    half = UniEval(folder, precision="bf16", dimensions="coherence").score_batch(BATCH)["coherence"]
    full = UniEval(folder, dimensions="coherence").score_batch(BATCH)["coherence"]
    assert half.tolist() == pytest.approx(full.tolist(), abs=0.05)
    assert half.tolist() != full.tolist()
