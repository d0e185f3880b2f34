"""The drop-in function: bert_score's arguments give bert_score's numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
peer = pytest.importorskip("bert_score", reason="the peer bert_score is not installed")

from billboards.errors import InvalidInput, MissingPart  # noqa: E402
from billboards.metrics.neural.bert_score import BERTScorer, score  # noqa: E402

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


def test_every_layer_that_bert_score_publishes_is_known() -> None:
    from bert_score.utils import lang2model, model2layers

    from billboards.metrics.neural.models import model_for, recommended_layers

    assert {model: layer for model, layer in recommended_layers().items() if model in model2layers} == model2layers
    assert {code: model_for(code) for code in lang2model} == dict(lang2model)


def test_every_baseline_that_bert_score_publishes_is_known() -> None:
    from billboards.metrics.neural.baselines import find_baseline, published_baselines, read_baseline

    root = Path(peer.__file__).parent / "rescale_baseline"
    files = sorted(root.rglob("*.tsv"))
    assert len(files) == sum(map(len, published_baselines().values())) > 50
    for path in files:
        language, *names = path.relative_to(root).with_suffix("").parts
        known = find_baseline("/".join(names), language)
        np.testing.assert_array_equal(known.values, read_baseline(path).values)


def test_a_baseline_belongs_to_a_language() -> None:
    from billboards.metrics.neural.baselines import find_baseline

    model = "bert-base-multilingual-cased"
    np.testing.assert_array_equal(find_baseline(model, "zh-CN").values, find_baseline(model, "zh").values)
    assert find_baseline(model, "zh").row(9)[2] != find_baseline(model, "en").row(9)[2]
    assert find_baseline("roberta-large").row(17)[2] == pytest.approx(0.8315, abs=1e-3)
    with pytest.raises(InvalidInput, match=r"known for bert-base-multilingual-cased \(there are some for cs, de"):
        find_baseline(model)
    with pytest.raises(InvalidInput, match=r"known for roberta-large and texts in gu \(there are some for en\)"):
        find_baseline("roberta-large", "gu")


def test_a_board_in_a_language_is_rescaled_by_its_baseline(bert: str) -> None:
    from billboards.metrics.neural.bertscore import BERTScore

    scorer = BERTScore(model="bert-base-multilingual-cased", baseline="known")
    assert scorer.for_language("zh").language == "zh"
    assert scorer.for_language("zh").name == scorer.name
    assert BERTScore(model=bert).for_language("zh").language == ""
    assert BERTScore(baseline="known").for_language("en").language == ""


def test_a_scorer_counts_weights_once_and_scores_often(bert: str, texts: Texts) -> None:
    given: dict[str, Any] = {"model_type": bert, "num_layers": 2, "idf": True, "idf_sents": texts[0], "device": "cpu"}
    ours, theirs = BERTScorer(**given), peer.BERTScorer(**given, batch_size=1)
    for outputs, references in (texts, (texts[0][:1], texts[1][:1])):
        assert_same(ours.score(outputs, references), theirs.score(outputs, references, batch_size=1))
    assert ours.idf
    assert ours.hash.split("_version")[0] == theirs.hash.split("_version")[0]
    _, code = ours.score(*texts, return_hash=True)
    assert code == ours.hash


def test_a_scorer_with_idf_needs_texts_to_count_over(bert: str, texts: Texts) -> None:
    scorer = BERTScorer(model_type=bert, num_layers=2, idf=True)
    with pytest.raises(InvalidInput, match="give idf_sents, or call compute_idf"):
        scorer.score(*texts)
    scorer.compute_idf([text for some in texts[1] for text in some])
    assert_same(scorer.score(*texts), score(*texts, model_type=bert, num_layers=2, idf=True))


def test_a_scorer_draws_a_matching(bert: str, tmp_path: Path) -> None:
    scorer = BERTScorer(model_type=bert, num_layers=2)
    svg = scorer.plot_example("the cat", "a cat", str(tmp_path / "match.svg"))
    assert svg.startswith("<svg")
    assert (tmp_path / "match.svg").read_text("utf-8") == svg + "\n"


def test_the_command_prints_what_bert_scores_command_prints(
    bert: str, texts: Texts, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from billboards.cli.main import main

    (tmp_path / "out").write_text("\n".join(texts[0]) + "\n", "utf-8")
    references = [[some[k % len(some)] for some in texts[1]] for k in range(2)]
    for k, lines in enumerate(references):
        (tmp_path / f"ref{k}").write_text("\n".join(lines) + "\n", "utf-8")
    files = [str(tmp_path / name) for name in ("ref0", "ref1")]
    asked = ["bertscore", "score", "-c", str(tmp_path / "out"), "-r", *files, "-m", bert, "-l", "2", "-s"]
    assert main(asked) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    expected, code = peer.score(
        texts[0], list(zip(*references, strict=True)), bert, 2, device="cpu", batch_size=1, return_hash=True
    )
    assert [[float(cell) for cell in line.split("\t")] for line in lines] == [
        pytest.approx([float(part[k]) for part in expected], abs=2e-6) for k in range(len(texts[0]))
    ]
    assert last.split("_version")[0] == code.split("_version")[0]
    match = re.search(r": P: (\S+) R: (\S+) F1: (\S+)$", last)
    assert match is not None
    means = [float(word) for word in match.groups()]
    assert means == pytest.approx([float(part.mean()) for part in expected], abs=2e-6)


def test_the_command_refuses_files_of_different_lengths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from billboards.cli.main import main

    (tmp_path / "out").write_text("a\nb\n")
    (tmp_path / "ref").write_text("a\n")
    assert main(["bertscore", "score", "-c", str(tmp_path / "out"), "-r", str(tmp_path / "ref"), "-m", "minilm"]) == 2
    assert "ref has 1 lines and" in capsys.readouterr().err


def test_what_is_missing_is_said(bert: str) -> None:
    with pytest.raises(InvalidInput, match="name a model"):
        score(["a"], ["b"])
    with pytest.raises(InvalidInput, match="2 candidates and 1 references"):
        score(["a", "b"], ["b"], model_type=bert)
    with pytest.raises(InvalidInput, match="candidate 1 has an empty list"):
        score(["a", "b"], [["b"], []], model_type=bert, num_layers=2)
    with pytest.raises(InvalidInput, match="no layer is recommended"):
        score(["a"], ["b"], model_type=bert)
    with pytest.raises(MissingPart, match="metrics --fetch bert-base-chinese"):
        score(["a"], ["b"], lang="zh")
