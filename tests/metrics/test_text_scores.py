"""Scores of texts, intervals and paired tests beside sacreBLEU's, in several languages and with odd texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest

import billboards as bb
from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, MetricCard, SystemMetric
from billboards.metrics.texts import score_outputs
from billboards.stats.resampling import Resampling, Swaps

SENTENCES = {
    "en": "The bus is late today because the bridge was closed after the storm, isn't it?",
    "de": "Der Bus kommt heute später, weil die Brücke nach dem Sturm „gesperrt“ worden ist.",
    "zh": "因为暴风雨后大桥关闭了，所以公交车今天晚点了。",
    "ru": "Сегодня автобус опаздывает, потому что после бури мост закрыли.",
    "ar": "تتأخر الحافلة اليوم لأن الجسر أغلق بعد العاصفة.",
}
PEERS: dict[str, Callable[[str], Any]] = {
    "BLEU": lambda tokenizer: BLEU(tokenize=tokenizer),
    "chrF": lambda _: CHRF(),
    "chrF++": lambda _: CHRF(word_order=2),
    "TER": lambda _: TER(),
}


def corpus(language: str, lines: int, seed: int, unlike: float) -> list[str]:
    """Sentences with units taken out, doubled or moved; some are empty."""
    chooses, texts = random.Random(seed), []
    joins = "" if language == "zh" else " "
    units = list(SENTENCES[language]) if language == "zh" else SENTENCES[language].split()
    for _ in range(lines):
        kept = [unit for unit in units for _ in range(chooses.choices((1, 0, 2), (1 - unlike, unlike, unlike / 2))[0])]
        if chooses.random() < unlike:
            chooses.shuffle(kept)
        texts.append("" if chooses.random() < 0.02 else joins.join(kept))
    return texts


def peer_results(
    name: str, tokenizer: str, systems: dict[str, list[str]], references: Sequence[list[str]], test: str
) -> tuple[list[Any], str]:
    """What `sacrebleu -i … --paired-bs` or `--paired-ar` gives for each system, and the signature."""
    run = PairedTest(list(systems.items()), {name: PEERS[name](tokenizer)}, references, test_type=test)
    signatures, scores = run()
    (column,) = [key for key in scores if key != "System"]
    return list(scores[column]), str(signatures[column].format())


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("count", [1, 2])
def test_numbers_and_signatures_are_sacrebleus(name: str, language: str, count: int) -> None:
    lines = 40 if name == "TER" else 120
    references = [corpus(language, lines, seed, 0.05) for seed in range(count)]
    systems = {f"s{k}": corpus(language, lines, 10 + k, unlike) for k, unlike in enumerate((0.1, 0.15, 0.1))}
    # sacreBLEU's TER cuts Chinese only where it is told to.
    report = bb.score_texts(systems, references, metrics=[name], language=None if name == "TER" else language)
    (ours,) = report.metrics
    tokenizer = "zh" if language == "zh" else "13a"
    by_bootstrap, signature = peer_results(name, tokenizer, systems, references, "bs")
    assert ours.signature == signature
    for own, theirs in zip(ours.scores, by_bootstrap, strict=True):
        assert own.score == pytest.approx(theirs.score, rel=1e-12)
        assert own.mean == pytest.approx(theirs.mean, rel=1e-5)
        assert own.half_width == pytest.approx(theirs.ci, abs=5e-5)
        assert own.p_bootstrap == theirs.p_value
    by_randomisation, signature = peer_results(name, tokenizer, systems, references, "ar")
    assert ours.randomisation_signature == signature
    assert [own.p_randomisation for own in ours.scores] == [theirs.p_value for theirs in by_randomisation]


def test_texts_that_lack_a_reference_have_sacrebleus_numbers() -> None:
    outputs = corpus("en", 30, 1, 0.2)
    first, second = corpus("en", 30, 2, 0.1), corpus("en", 30, 3, 0.1)
    missing: list[str | None] = [None if k % 3 else text for k, text in enumerate(second)]
    (ours,) = bb.score_texts(outputs, [first, missing], metrics="BLEU").metrics
    peer = BLEU()
    score = peer.corpus_score(outputs, [first, missing], n_bootstrap=1000)  # type: ignore[list-item]  # it takes None
    assert ours.scores[0].score == pytest.approx(score.score, rel=1e-12)
    assert ours.signature == str(peer.get_signature().format())
    assert "nrefs:var" in ours.signature


def test_one_result_holds_corpus_sentences_parts_and_signature() -> None:
    outputs, references = corpus("en", 30, 1, 0.2), [[text] for text in corpus("en", 30, 2, 0.1)]
    scores = score_outputs(bb.metric("rouge-l"), outputs, references)
    parts = bb.metric("ROUGE-L").score_batch(Batch(outputs, references))
    assert isinstance(parts, dict)
    assert list(scores.parts) == list(parts)
    np.testing.assert_array_equal(scores.sentences, next(iter(parts.values())))
    assert scores.corpus == pytest.approx(scores.sentences.mean())
    low, high = scores.interval()
    assert low < scores.corpus < high
    assert "corpus:mean" in scores.signature
    assert len(scores.to_pandas()) == 30
    assert str(scores).startswith("ROUGE-L ")


def test_means_are_tested_as_sums_of_counts_are() -> None:
    first, second = corpus("en", 60, 1, 0.3), corpus("en", 60, 2, 0.05)
    references = [[text] for text in corpus("en", 60, 3, 0.02)]
    metric = bb.metric("ROUGE-L")
    baseline, other = (score_outputs(metric, outputs, references) for outputs in (first, second))
    tests = baseline.tests(other, Resampling(), Swaps())
    assert tests is not None
    draws = np.random.default_rng(12345).choice(60, (1000, 60))
    drawn = np.abs(other.sentences[draws].mean(axis=1) - baseline.sentences[draws].mean(axis=1))
    observed = abs(other.corpus - baseline.corpus)
    assert tests.bootstrap == (np.sum(drawn - drawn.mean() > observed) + 1) / 1001
    assert tests.randomisation == 1 / 10001
    assert tests.difference == pytest.approx(other.corpus - baseline.corpus)


@dataclass(frozen=True)
class Total(SystemMetric):
    card: ClassVar[MetricCard] = MetricCard(name="Total", needs_references=False)

    def score_system(self, batch: Batch) -> float:
        return float(sum(map(len, batch.outputs)))


def test_a_metric_of_the_whole_system_has_no_interval_and_no_test() -> None:
    report = bb.score_texts({"a": ["one", "two"], "b": ["three", "four"]}, metrics=Total())
    (total,) = report.metrics
    assert [each.score for each in total.scores] == [6, 9]
    assert np.isnan(total.scores[1].low)
    assert (total.scores[1].p_bootstrap, total.randomisation_signature) == (None, None)
    assert "has no scores of single outputs" in str(report)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "no output to score"),
        (("text",), "outputs are a list of texts"),
        ((["a"], "text"), "references are a list of texts"),
        ((["a"],), "BLEU, chrF need references"),
        ((["a", "b"], ["a"]), "output has 2 texts and the reference 1"),
        (({"a": ["a"], "b": ["a", "b"]}, ["a"]), "a has 1 texts and b 2"),
        ((["a"], [["a"], ["a", "b"]]), "output has 1 texts and reference 2 2"),
        ((["a"], ["a"], ["x", "y"]), "output has 1 texts and the sources 2"),
        ((["a"], [[None]]), "text 1 has no reference"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bb.score_texts(*arguments)


def test_a_metric_that_reads_inputs_asks_for_sources() -> None:
    with pytest.raises(InvalidInput, match="SARI needs sources"):
        bb.score_texts(["a"], ["a"], metrics="SARI")


def test_the_same_outputs_twice_are_told() -> None:
    outputs = corpus("en", 20, 1, 0.2)
    report = bb.score_texts({"a": outputs, "b": list(outputs)}, corpus("en", 20, 2, 0.1), metrics="BLEU")
    assert (report.metrics[0].scores[1].difference, report.metrics[0].scores[1].p_randomisation) == (0, 1 / 10001)
    assert "b: the same value as a; a p-value says nothing of no difference" in " ".join(str(report).split())
    assert "*" not in report.to_markdown().partition("\n\n")[0]


def test_score_says_where_texts_belong() -> None:
    with pytest.raises(InvalidInput, match=r"bb\.score takes a board.*bb\.score_texts"):
        bb.score(["a"], ["b"])  # type: ignore[arg-type]
