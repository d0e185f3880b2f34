"""Tiny models of every architecture with random weights, and texts of many lengths for them to read."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

WORDS = ("the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", ",", ".", "not", "very", "small")
#: Every architecture, by its configuration class and the sizes it calls by names of its own.
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT": ("BertConfig", {}),
    "RoBERTa": ("RobertaConfig", {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}),
    "XLM-R": ("XLMRobertaConfig", {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}),
    "XLM-R-XL": ("XLMRobertaXLConfig", {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}),
    "DeBERTa 1": (
        "DebertaConfig",
        {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False},
    ),
    "DeBERTa": (
        "DebertaV2Config",
        {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "share_att_key": True,
            "position_biased_input": False,
        },
    ),
    "XLNet": ("XLNetConfig", {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 64}),
    "XLM": ("XLMConfig", {"emb_dim": 32, "n_layers": 3, "n_heads": 4}),
    "ModernBERT": ("ModernBertConfig", {"local_attention": 8, "pad_token_id": 1}),
}


def sentences(count: int, seed: int, longest: int = 20) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, longest))) for _ in range(count)]


@pytest.fixture(scope="session")
def texts() -> tuple[list[str], list[list[str]]]:
    """Outputs of many lengths with one to three references each; some outputs are equal."""
    outputs = sentences(20, 1)
    outputs[7] = outputs[3]
    draw, references = random.Random(3), sentences(60, 2)
    return outputs, [draw.sample(references, draw.randint(1, 3)) for _ in outputs]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A model of an architecture, three layers of width 32, in a folder of its own."""
    pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

    @cache
    def make(architecture: str) -> Path:
        return make_model(architecture, tmp_path_factory.mktemp("models") / architecture)

    return make


def make_model(architecture: str, folder: Path) -> Path:
    import torch
    import transformers

    tokenizer = byte_tokenizer() if architecture == "RoBERTa" else word_tokenizer()
    tokenizer.save_pretrained(folder)
    name, own = ARCHITECTURES[architecture]
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    named_otherwise = architecture in ("XLNet", "XLM")
    common = {} if architecture == "XLNet" else {"max_position_embeddings": 66}
    # Larger than usual weights, so that layers differ and tokens are told apart.
    config = getattr(transformers, name)(
        vocab_size=len(tokenizer), **({} if named_otherwise else sizes), **common, **own
    )
    config.initializer_range = 0.2
    torch.manual_seed(5)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return folder


def word_tokenizer() -> Any:
    """Whole words, with the tokens that BERT puts around a text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"]
    vocabulary = {word: k for k, word in enumerate((*special, *WORDS))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    words.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    named = {f"{name.lower()}_token": f"[{name}]" for name in ("CLS", "PAD", "SEP", "UNK", "MASK")}
    return PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=64, **named)


def byte_tokenizer() -> Any:
    """RoBERTa's own kind of tokenizer, trained on a few sentences.

    Its files ask for the blank before the first word that BERTScore's paper wants (footnote 5); the argument by which
    bert_score asks for it has no effect under transformers 5.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaTokenizer

    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    pieces.train_from_iterator(sentences(50, 9), trainer)
    written = json.loads(pieces.to_str())["model"]
    merges = [tuple(pair) for pair in written["merges"]]
    return RobertaTokenizer(vocab=written["vocab"], merges=merges, add_prefix_space=True, model_max_length=64)
