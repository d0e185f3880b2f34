"""Likelihoods against a slow oracle: one pair at a time, by the model's own loss or token by token."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.neural import likelihood
from billboards.metrics.neural.learned import TextsCut
from billboards.metrics.neural.likelihood import Causal, EncoderDecoder, LanguageModel, language_model
from billboards.metrics.neural.likelihood_metrics import BARTScore, BARTScoreSrc, Perplexity, PrismRef, PrismSrc
from billboards.metrics.neural.weights import Weights

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

WORDS = ("the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "not", "very", "small")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
#: What each family puts around a text.
AROUND = {"BART": "<s> $A </s>", "T5": "$A </s>", "GPT-2": "$A"}
OUTPUTS = ["the cat sat", "", "a very unknown dog ran away", "the cat sat", "mat"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["not"], ["a dog ran"], ["the cat sat on the mat", "a cat"], ["mat"]]
INPUTS = ["the dog", "away away", "on the small mat ran", "the dog", ""]
BATCH = Batch(OUTPUTS, REFERENCES, INPUTS)


def tokenizer(family: str) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: k for k, word in enumerate((*SPECIAL, *WORDS))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [(one, vocabulary[one]) for one in ("<s>", "</s>")]
    words.post_processor = processors.TemplateProcessing(single=AROUND[family], special_tokens=ends)
    named = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    padding = {} if family == "GPT-2" else {"pad_token": "<pad>"}
    return PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=12, **named, **padding)


def config(family: str) -> Any:
    import transformers

    size, common = len(SPECIAL) + len(WORDS), {"bos_token_id": 0, "eos_token_id": 2}
    if family == "GPT-2":
        return transformers.GPT2Config(
            vocab_size=size, n_positions=16, n_embd=16, n_layer=2, n_head=2, initializer_range=0.3, **common
        )
    if family == "T5":
        return transformers.T5Config(
            vocab_size=size, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, initializer_factor=3.0,
            pad_token_id=1, decoder_start_token_id=1, eos_token_id=2,
        )  # fmt: skip
    layers = {f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    widths = {"d_model": 16, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 16}
    return transformers.BartConfig(
        vocab_size=size, init_std=0.3, pad_token_id=1, decoder_start_token_id=2, **layers, **widths, **common
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a tiny model with random weights."""

    @cache
    def make(family: str) -> str:
        import torch
        import transformers

        folder = tmp_path_factory.mktemp("likelihood") / family
        tokenizer(family).save_pretrained(folder)
        torch.manual_seed(3)
        kind = transformers.AutoModelForCausalLM if family == "GPT-2" else transformers.AutoModelForSeq2SeqLM
        kind.from_config(config(family)).save_pretrained(folder)
        return str(folder)

    return make


@cache
def loaded(folder: str) -> tuple[Any, Any]:
    import transformers

    causal = "GPT-2" in folder
    kind = transformers.AutoModelForCausalLM if causal else transformers.AutoModelForSeq2SeqLM
    return kind.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder)


def own_loss(folder: str, given: str, text: str) -> float:
    """The mean log-likelihood of one text after another: the model's own loss, no padding, no batch."""
    import torch

    model, words = loaded(folder)
    with torch.no_grad():
        one = {
            name: torch.tensor([words(said)["input_ids"]]) for name, said in (("input_ids", given), ("labels", text))
        }
        return -float(model(**one).loss)


def by_steps(folder: str, given: str, text: str) -> float:
    """The same without the token that begins a text, asked for one token after the other."""
    import torch

    model, words = loaded(folder)
    asked, said = words(text)["input_ids"], [model.config.decoder_start_token_id]
    found = []
    for token in asked:
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([words(given)["input_ids"]]), decoder_input_ids=torch.tensor([said])
            ).logits
        if token != words.bos_token_id:
            found.append(float(torch.log_softmax(logits[0, -1], -1)[token]))
        said.append(token)
    return float(np.mean(found))


@pytest.mark.parametrize("family", ["BART", "T5"])
def test_bartscore_is_the_models_own_loss_in_each_direction(made: Callable[[str], str], family: str) -> None:
    folder = made(family)
    precision = [[own_loss(folder, r, o) for r in refs] for o, refs in zip(OUTPUTS, REFERENCES, strict=True)]
    recall = [[own_loss(folder, o, r) for r in refs] for o, refs in zip(OUTPUTS, REFERENCES, strict=True)]
    both = [[(p + r) / 2 for p, r in zip(*pair, strict=True)] for pair in zip(precision, recall, strict=True)]
    for direction, expected in (("precision", precision), ("recall", recall), ("F", both)):
        found = score_checked(BARTScore(folder, direction=direction), BATCH)[""]
        assert found.tolist() == pytest.approx([max(one) for one in expected], abs=1e-5)
    found = score_checked(BARTScoreSrc(folder), Batch(OUTPUTS, inputs=INPUTS))[""]
    assert found.tolist() == pytest.approx(
        [own_loss(folder, *pair) for pair in zip(INPUTS, OUTPUTS, strict=True)], abs=1e-5
    )


def test_a_sum_is_the_mean_times_the_tokens(made: Callable[[str], str]) -> None:
    batch = Batch(["the cat sat"], inputs=["a dog"])
    mean = score_checked(BARTScoreSrc(made("BART")), batch)[""]
    total = score_checked(BARTScoreSrc(made("BART"), normalised=False), batch)[""]
    # <s> the cat sat </s>
    assert total.tolist() == pytest.approx((5 * mean).tolist(), abs=1e-5)


@pytest.mark.parametrize("family", ["BART", "T5"])
def test_prism_leaves_out_the_tokens_before_a_text_and_keeps_its_end(made: Callable[[str], str], family: str) -> None:
    folder, batch = made(family), BATCH.part(0, 3)
    expected = [
        max((by_steps(folder, r, o) + by_steps(folder, o, r)) / 2 for r in refs)
        for o, refs in zip(batch.outputs, batch.references, strict=True)
    ]
    assert score_checked(PrismRef(folder), batch)[""].tolist() == pytest.approx(expected, abs=1e-5)
    expected = [by_steps(folder, i, o) for i, o in zip(batch.inputs, batch.outputs, strict=True)]
    assert score_checked(PrismSrc(folder), batch)[""].tolist() == pytest.approx(expected, abs=1e-5)


def multilingual(folder: Path) -> str:
    """mBART's kind of model, with its own tokenizer: a text begins with the token of its language."""
    import torch
    import transformers

    pieces = [(one, 0.0) for one in ("<s>", "<pad>", "</s>", "<unk>")] + [(f"▁{word}", -1.0) for word in WORDS]
    words = transformers.MBart50Tokenizer(vocab=pieces, src_lang="en_XX", tgt_lang="de_DE", model_max_length=12)
    words.save_pretrained(folder)
    sizes = {"vocab_size": len(words), "d_model": 16, "max_position_embeddings": 16, "init_std": 0.3}
    heads = {f"{side}_attention_heads": 2 for side in ("encoder", "decoder")}
    depth = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    torch.manual_seed(3)
    transformers.MBartForConditionalGeneration(
        transformers.MBartConfig(pad_token_id=1, eos_token_id=2, **sizes, **heads, **depth)
    ).save_pretrained(folder)
    return str(folder)


def test_a_model_of_several_languages_is_told_which(tmp_path: Path) -> None:
    import torch
    import transformers

    folder, batch = multilingual(tmp_path), Batch(["the cat", "a dog"], inputs=["small mat", "very"])
    found = score_checked(PrismSrc(folder, source_language="fr_XX", language="de_DE"), batch)[""]
    model, words = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), tokenizer_of(folder)
    code = words.convert_tokens_to_ids
    for output, given, score in zip(batch.outputs, batch.inputs, found, strict=True):
        read = torch.tensor([[code("fr_XX"), *(code(f"▁{word}") for word in given.split()), 2]])
        asked = [code("de_DE"), *(code(f"▁{word}") for word in output.split()), 2]
        with torch.no_grad():
            logits = model(input_ids=read, decoder_input_ids=torch.tensor([[2, *asked[:-1]]])).logits[0]
        likely = torch.log_softmax(logits, -1)[range(len(asked)), asked]
        assert score == pytest.approx(float(likely[1:].mean()), abs=1e-5)
    # Both directions of one language.
    assert score_checked(PrismRef(folder, language="de_DE"), Batch(["a"], [["a"]]))[""] < 0
    with pytest.raises(InvalidInput, match="reads several languages; name them"):
        PrismSrc(folder).score_batch(batch)
    with pytest.raises(InvalidInput, match="knows no language 'fr' or 'de_DE'"):
        PrismSrc(folder, source_language="fr", language="de_DE").score_batch(batch)


def tokenizer_of(folder: str) -> Any:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(folder)


def test_a_model_of_one_language_is_not_told_which(made: Callable[[str], str]) -> None:
    with pytest.raises(InvalidInput, match="is not told languages; name none"):
        BARTScore(made("BART"), language="de_DE").score_batch(BATCH)


def test_perplexity_is_the_exponent_of_the_models_own_loss(made: Callable[[str], str]) -> None:
    import torch

    model, words = loaded(made("GPT-2"))
    found = score_checked(Perplexity(made("GPT-2")), Batch(OUTPUTS))[""]
    for output, perplexity in zip(OUTPUTS, found, strict=True):
        # Nothing but the end where there is no text.
        ids = torch.tensor([[0, *(words(output)["input_ids"] or [2])]])
        with torch.no_grad():
            loss = float(model(input_ids=ids, labels=ids).loss)
        assert perplexity == pytest.approx(math.exp(loss), rel=1e-5)
    assert found[0] == found[3]


def test_an_equal_pair_is_asked_once_and_a_batch_that_does_not_fit_is_halved(made: Callable[[str], str]) -> None:
    import torch

    sizes: list[int] = []

    class Cramped(EncoderDecoder):
        """A model whose memory holds two pairs at most."""

        def logits(self, given: Any, labels: Any) -> Any:
            sizes.append(len(given))
            if len(given) > 2:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super().logits(given, labels)

    cramped = Cramped(Weights("tiny", Path(made("BART"))), "fp32", "cpu")
    pairs = [("the cat", output) for output in OUTPUTS]
    found = likelihood.log_likelihoods([cramped], pairs)
    assert list(found.of) == list(dict.fromkeys(pairs))
    assert sizes == [4, 2, 2]
    assert found.of["the cat", "mat"] == pytest.approx(own_loss(made("BART"), "the cat", "mat"), abs=1e-5)

    class Full(EncoderDecoder):
        def logits(self, given: Any, labels: Any) -> Any:
            raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(MetricFailed, match="doesn't suffice for a single text"):
        likelihood.log_likelihoods([Full(cramped.weights, "fp32", "cpu")], pairs)


def test_batches_are_sorted_by_length_and_change_no_score(
    made: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[list[int]] = []

    class Watched(EncoderDecoder):
        def sums(self, given: Any, asked: Any, *, marks: bool) -> Any:
            lengths.append([len(ids) for ids in asked])
            return super().sums(given, asked, marks=marks)

    weights = Weights("tiny", Path(made("T5")))
    pairs = list(zip(INPUTS, OUTPUTS, strict=True))
    whole = likelihood.log_likelihoods([language_model(weights, "encoder-decoder", "fp32", "cpu")], pairs)
    monkeypatch.setitem(likelihood.BATCH, "cpu", 10)
    parts = likelihood.log_likelihoods([Watched(weights, "fp32", "cpu")], pairs)
    assert len(lengths) > 1
    flat = [length for batch in lengths for length in batch]
    assert flat == sorted(flat)
    assert parts.of == pytest.approx(whole.of, abs=1e-5)


def test_two_devices_share_the_work(made: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = score_checked(PrismSrc(made("BART")), Batch(OUTPUTS, inputs=INPUTS))[""]
    monkeypatch.setenv("BILLBOARDS_DEVICES", "cpu,cpu")
    monkeypatch.setitem(likelihood.BATCH, "cpu", 10)
    assert score_checked(PrismSrc(made("BART")), Batch(OUTPUTS, inputs=INPUTS))[""] == pytest.approx(alone, abs=1e-5)


def test_rows_scored_together_are_scored_as_if_alone(made: Callable[[str], str]) -> None:
    metric, batches = BARTScore(made("BART")), [BATCH.part(0, 2), BATCH.part(2, 5), BATCH.part(0, 0)]
    together = metric.score_rows(batches)
    assert [len(scores) for scores in together] == [2, 3, 0]
    alone: list[NDArray[np.float64]] = [metric.score_batch(batch) for batch in batches]
    np.testing.assert_allclose(np.concatenate(together), np.concatenate(alone), atol=1e-5)


def test_a_text_longer_than_the_model_reads_is_cut_and_counted(made: Callable[[str], str]) -> None:
    long = "the cat " * 10
    with pytest.warns(TextsCut, match="1 of 2 texts were cut"):
        cut = Perplexity(made("GPT-2")).score_batch(Batch([long]))
    assert cut.tolist() == pytest.approx(Perplexity(made("GPT-2")).score_batch(Batch(["the cat " * 6])).tolist())


@pytest.mark.parametrize("kind", [PrismRef, PrismSrc, BARTScore, BARTScoreSrc, Perplexity])
def test_without_a_model_the_message_says_how_to_name_one(kind: type[PrismRef]) -> None:
    with pytest.raises(MissingPart, match=rf"{kind.card.name} needs a model.* as in {kind.card.name}\(model="):
        _ = kind().signature


def test_a_model_of_the_wrong_kind_is_refused(made: Callable[[str], str], tmp_path: Path) -> None:
    import transformers

    with pytest.raises(InvalidInput, match="is a gpt2 model, which reads no other text"):
        PrismSrc(made("GPT-2")).score_batch(Batch(["a"], inputs=["a"]))
    with pytest.raises(InvalidInput, match="BartForConditionalGeneration, which is no causal model"):
        Perplexity(made("BART")).score_batch(Batch(["a"]))
    transformers.T5EncoderModel(config("T5")).save_pretrained(tmp_path)
    # A folder that promises more than it holds.
    config("T5").save_pretrained(tmp_path)
    tokenizer("T5").save_pretrained(tmp_path)
    with pytest.raises(InvalidInput, match=r"lacks \d+ weights of a model that writes"):
        PrismSrc(str(tmp_path)).score_batch(Batch(["a"], inputs=["a"]))
    with pytest.raises(InvalidInput, match="direction 'up' is none of precision, recall, F"):
        BARTScore(made("BART"), direction="up").score_batch(BATCH)


def test_the_signature_names_weights_direction_and_versions(made: Callable[[str], str]) -> None:
    one = BARTScore(made("BART"), direction="recall").signature
    assert one.startswith("BARTScore|model:BART|weights:")
    assert "|precision:fp32|direction:recall|normalised:True|language:none|transformers:" in one
    assert one != BARTScore(made("T5"), direction="recall").signature != BARTScore(made("T5")).signature


def test_half_the_precision_is_near_and_another_column(made: Callable[[str], str]) -> None:
    full, half = Perplexity(made("GPT-2")), Perplexity(made("GPT-2"), precision="bf16")
    found = half.score_batch(Batch(OUTPUTS))
    assert found.tolist() == pytest.approx(full.score_batch(Batch(OUTPUTS)).tolist(), rel=0.05)
    assert found.tolist() != full.score_batch(Batch(OUTPUTS)).tolist()
    assert half.signature == full.signature.replace("fp32", "bf16")


def test_a_tokenizer_without_an_end_is_refused(made: Callable[[str], str]) -> None:
    model: LanguageModel = Causal(Weights("tiny", Path(made("GPT-2"))), "fp32", "cpu")
    model.tokenizer.eos_token = None
    with pytest.raises(InvalidInput, match="names no token that ends a text"):
        model.asked_tokens([""])


@pytest.mark.parametrize("family", ["BART", "T5"])
def test_what_a_model_writes_itself_is_likelier_than_what_others_wrote(made: Callable[[str], str], family: str) -> None:
    scorer = BARTScoreSrc(model=made(family))
    inputs = ["the dog ran", "a very small cat", "mat"]
    beams = scorer.decode(inputs, beams=4, longest=8)
    assert [len(own) for own in beams] == [4, 4, 4]
    best = [
        scorer.score_batch(Batch(list(own), [], [given] * 4)).max() for own, given in zip(beams, inputs, strict=True)
    ]
    others = scorer.score_batch(Batch(["the cat sat on a mat", "a dog ran away", "under the mat"], [], inputs))
    assert (np.array(best) > others).all()


def test_a_causal_model_writes_the_same_whatever_the_input(made: Callable[[str], str]) -> None:
    scorer = Perplexity(model=made("GPT-2"))
    first, second = scorer.decode(["the dog", "a cat"], beams=3, longest=6)
    assert first == second
    own = scorer.score_batch(Batch(list(first)))
    assert own.min() < scorer.score_batch(Batch(["the cat sat on a mat"]))[0]


@pytest.mark.parametrize("metric", [BARTScore, BARTScoreSrc, PrismRef, PrismSrc])
def test_a_log_likelihood_is_at_most_zero(metric: type[BARTScore]) -> None:
    assert metric.card.range == (None, 0.0)
