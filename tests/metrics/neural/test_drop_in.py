"""The drop-in function: bert_score's arguments give bert_score's numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
peer = pytest.importorskip("bert_score", reason="the peer bert_score is not installed")

from billboards.errors import InvalidInput, MissingPart  # noqa: E402
from billboards.metrics.neural.bert_score import score  # noqa: E402

Texts = tuple[list[str], list[list[str]]]


@pytest.fixture
def bert(tiny_model: Callable[[str], Path]) -> str:
    return str(tiny_model("BERT"))


def assert_same(found: Any, expected: Any) -> None:
    for own, their in zip(found, expected, strict=True):
        assert own.dtype == their.dtype
        torch.testing.assert_close(own, their, atol=1e-5, rtol=0)


def baseline_file(folder: Path) -> str:
    path = folder / "b.tsv"
    path.write_text("LAYER,P,R,F\n" + "".join(f"{k},0.{k}1,0.{k}2,0.{k}3\n" for k in range(4)))
    return str(path)


def test_one_reference_may_be_a_plain_text(bert: str, texts: Texts) -> None:
    references = [some[0] for some in texts[1]]
    given: dict[str, Any] = {"model_type": bert, "num_layers": 2, "device": "cpu", "batch_size": 1}
    assert_same(score(texts[0], references, **given), peer.score(texts[0], references, **given))


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")  # bert_score's own
def test_a_baseline_rescales_and_the_hash_code_says_so(bert: str, texts: Texts, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "model_type": bert,
        "num_layers": 2,
        "lang": "en",
        "rescale_with_baseline": True,
        "baseline_path": baseline_file(tmp_path),
        "return_hash": True,
        "batch_size": 1,
    }
    found, code = score(*texts, **given)
    expected, their_code = peer.score(*texts, **given)
    assert_same(found, expected)
    assert str(code).endswith("-custom-rescaled")
    assert str(code).split("_version")[0] == their_code.split("_version")[0]


def test_a_baseline_that_is_not_found_is_an_error_and_not_a_false_hash_code(bert: str, texts: Texts) -> None:
    with pytest.raises(InvalidInput, match="no baseline is known"):
        score(*texts, model_type=bert, num_layers=2, lang="en", rescale_with_baseline=True, return_hash=True)


def test_all_layers_come_as_layers_by_outputs(bert: str, texts: Texts) -> None:
    references = [some[0] for some in texts[1]]
    given: dict[str, Any] = {"model_type": bert, "num_layers": 2, "all_layers": True, "batch_size": 1}
    found, expected = score(texts[0], references, **given), peer.score(texts[0], references, **given)
    assert found[0].shape == (4, len(texts[0]))
    assert_same(found, expected)


def test_weights_may_be_given(bert: str, texts: Texts) -> None:
    weights: Any = defaultdict(lambda: 0.5, {0: 0.0, 2: 0.0, 7: 3.0})
    given: dict[str, Any] = {"model_type": bert, "num_layers": 2, "idf": weights, "batch_size": 1}
    assert_same(score(*texts, **given), peer.score(*texts, **given))


def test_empty_outputs_score_0_where_bert_score_fails(bert: str) -> None:
    outputs, references = ["", "a cat"], ["a dog", "a cat"]
    with pytest.raises(AttributeError, match="build_inputs_with_special_tokens"):
        peer.score(outputs, references, model_type=bert, num_layers=2)
    found = score(outputs, references, model_type=bert, num_layers=2)
    np.testing.assert_allclose(torch.stack(tuple(found)).numpy().T, [[0, 0, 0], [1, 1, 1]], atol=1e-6)


def test_bert_scores_own_files_of_baselines_are_read() -> None:
    from billboards.metrics.neural.baselines import find_baseline

    assert find_baseline("roberta-large", "en").row(17)[2] == pytest.approx(0.8315, abs=1e-3)


def test_what_is_missing_is_said(bert: str) -> None:
    with pytest.raises(InvalidInput, match="name a model"):
        score(["a"], ["b"])
    with pytest.raises(InvalidInput, match="2 candidates and 1 references"):
        score(["a", "b"], ["b"], model_type=bert)
    with pytest.raises(InvalidInput, match="candidate 1 has an empty list"):
        score(["a", "b"], [["b"], []], model_type=bert, num_layers=2)
    with pytest.raises(InvalidInput, match="no layer is recommended"):
        score(["a"], ["b"], model_type=bert)
    with pytest.raises(MissingPart, match="bertscore fetch bert-base-chinese"):
        score(["a"], ["b"], lang="zh")
