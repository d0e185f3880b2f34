"""Tiny models with random weights that answer, ask and mark: one folder each, of several architectures."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

WORDS = (
    *("the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", ",", ".", "not", "very", "small"),
    *("Alice", "Bob", "Carol", "Paris", "Rome", "Oslo", "met", "in", "7", "12", "1999", "MASKED"),
    *("who", "where", "when", "?", "saw", "left", "</s>"),
)
SPECIAL = ("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")
SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
READERS: dict[str, tuple[str, dict[str, Any]]] = {
    "BERT": ("BertConfig", SIZES),
    "ELECTRA": ("ElectraConfig", {**SIZES, "embedding_size": 16}),
    "DeBERTa": ("DebertaV2Config", {**SIZES, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "ModernBERT": ("ModernBertConfig", {**SIZES, "local_attention": 8, "pad_token_id": 1}),
    "XLNet": ("XLNetConfig", {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}),
    "BART": (
        "BartConfig",
        {"d_model": 16, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
        | {f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
        | {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32},
    ),
}
#: What each family puts around a text that it writes after.
AROUND = {"BART": "<s> $A </s>", "T5": "$A </s>"}


def word_tokenizer(longest: int = 64) -> Any:
    """Whole words, with the tokens that BERT puts around two texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: k for k, word in enumerate((*SPECIAL, *WORDS))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("isolated")]
    )
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    named = {f"{name.lower()}_token": f"[{name}]" for name in ("CLS", "PAD", "SEP", "UNK", "MASK")}
    return PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=longest, **named)


def write_reader(folder: Path, architecture: str = "BERT", *, seed: int = 11) -> Path:
    """A model that points at answers."""
    import torch
    import transformers

    tokenizer = word_tokenizer()
    types = ["token_type_ids"] if architecture in ("BERT", "ELECTRA") else []
    tokenizer.model_input_names = ["input_ids", *types, "attention_mask"]
    tokenizer.save_pretrained(folder)
    name, own = READERS[architecture]
    positions = {} if architecture == "XLNet" else {"max_position_embeddings": 64}
    config = getattr(transformers, name)(vocab_size=len(tokenizer), **positions, **own)
    config.initializer_range = config.init_std = 0.4
    torch.manual_seed(seed)
    transformers.AutoModelForQuestionAnswering.from_config(config).save_pretrained(folder)
    return folder


def write_tagger(folder: Path, labels: tuple[str, ...] = ("O", "B-PER", "I-PER", "B-NUM")) -> Path:
    """A model that labels tokens."""
    import torch
    import transformers

    tokenizer = word_tokenizer()
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    tokenizer.save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=64, id2label=dict(enumerate(labels)), **SIZES
    )
    torch.manual_seed(2)
    model = transformers.BertForTokenClassification(config)
    # Labels shall differ from word to word, so words count more than what they are mixed with.
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight *= 50
    model.save_pretrained(folder)
    return folder


def write_writer(folder: Path, family: str = "BART", *, seed: int = 3) -> Path:
    """A model that writes after a text."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ("<s>", "<pad>", "</s>", "<unk>")
    vocabulary = {word: k for k, word in enumerate((*special, *(word for word in WORDS if word not in special)))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [(one, vocabulary[one]) for one in ("<s>", "</s>")]
    words.post_processor = processors.TemplateProcessing(single=AROUND[family], special_tokens=ends)
    named = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=48, **named).save_pretrained(folder)
    torch.manual_seed(seed)
    config = _writer_config(family, len(vocabulary))
    transformers.AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    return folder


def _writer_config(family: str, size: int) -> Any:
    import transformers

    if family == "T5":
        return transformers.T5Config(
            vocab_size=size, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, initializer_factor=4.0,
            pad_token_id=1, decoder_start_token_id=1, eos_token_id=2,
        )  # fmt: skip
    own = dict(READERS["BART"][1])
    return transformers.BartConfig(vocab_size=size, max_position_embeddings=64, init_std=0.6, **own)


@cache
def loaded(folder: Path, kind: str) -> tuple[Any, Any]:
    """A model and its tokenizer, as transformers itself loads them."""
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)
