"""Tiny T5 and mT5 checkpoints with random weights, in the layout of those that were published.

A MetricX of Google's (google/metricx-24-hybrid-*-v2p6, google/metricx-23-*-v2p0) is config.json with `model_type` mt5
and the weights of an MT5ForConditionalGeneration, whose class in google-research/metricx is MT5ForRegression: 250,112
words, an `lm_head.weight` of its own, no tokenizer beside it. A UniEval (MingZhong/unieval-*) is a
T5ForConditionalGeneration with its tokenizer. Here layers are few and narrow, and the tokenizer knows few pieces; names
and shapes are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

WORDS = (
    *("the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", "not", "very", "small", "Yes", "No"),
    *("question:", "candidate:", "reference:", "source:", "document:", "claim:", "summary:", "paragraph:", "response:"),
)
#: mT5's vocabulary, of which the tokenizer names few words.
MT5_WORDS = 250_112
SIZES: Mapping[str, Any] = {
    "d_model": 8,
    "d_kv": 4,
    "d_ff": 16,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 2,
}


def write_tokenizer(folder: Path) -> None:
    """A unigram tokenizer as T5's: pieces that begin a word, single letters, and <extra_id_*>."""
    from transformers import T5Tokenizer

    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?.,:!'\""
    pieces = [(special, 0.0) for special in ("<pad>", "</s>", "<unk>")]
    pieces += [(f"▁{word}", -3.0) for word in WORDS] + [("▁", -4.0)] + [(letter, -6.0) for letter in letters]
    pieces += [(f"<extra_id_{k}>", 0.0) for k in reversed(range(100))]
    T5Tokenizer(vocab=pieces).save_pretrained(folder)


def write_t5(folder: Path, config: Mapping[str, Any], seed: int = 4) -> dict[str, Any]:
    """A checkpoint with these settings in config.json, word for word; its weights by their published names."""
    import torch
    from safetensors.torch import save_file

    tensors = random_weights(config, torch.Generator().manual_seed(seed))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return tensors


def random_weights(config: Mapping[str, Any], generator: Any, dtype: Any = None) -> dict[str, Any]:
    """Random weights by the names of T5ForConditionalGeneration's; norms about 1, the rest of T5's own spread."""
    import torch

    width, inner, hidden = config["d_model"], config["num_heads"] * config["d_kv"], config["d_ff"]
    gate = ("wi_0", "wi_1") if config["feed_forward_proj"].startswith("gated") else ("wi",)
    made_with = {"generator": generator, "device": generator.device}

    def matrix(rows: int, columns: int, spread: float) -> Any:
        return (torch.randn((rows, columns), **made_with) * spread).to(dtype or torch.float32)

    def norm() -> Any:
        return (0.7 + torch.rand(width, **made_with)).to(dtype or torch.float32)

    def block(prefix: str, kinds: list[str]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for place, kind in enumerate(kinds):
            layer = f"{prefix}layer.{place}."
            made[f"{layer}layer_norm.weight"] = norm()
            if kind == "DenseReluDense":
                made |= {f"{layer}{kind}.{name}.weight": matrix(hidden, width, width**-0.5) for name in gate}
                made[f"{layer}{kind}.wo.weight"] = matrix(width, hidden, hidden**-0.5)
            else:
                asked = (width * config["d_kv"]) ** -0.5
                made[f"{layer}{kind}.q.weight"] = matrix(inner, width, asked)
                made |= {f"{layer}{kind}.{name}.weight": matrix(inner, width, width**-0.5) for name in "kv"}
                made[f"{layer}{kind}.o.weight"] = matrix(width, inner, inner**-0.5)
        return made

    tensors = {"shared.weight": matrix(config["vocab_size"], width, 1)}
    for side, layers, kinds in (
        ("encoder", config["num_layers"], ["SelfAttention", "DenseReluDense"]),
        ("decoder", config["num_decoder_layers"], ["SelfAttention", "EncDecAttention", "DenseReluDense"]),
    ):
        for k in range(layers):
            tensors |= block(f"{side}.block.{k}.", kinds)
        bias = f"{side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        tensors[bias] = matrix(config["relative_attention_num_buckets"], config["num_heads"], 1)
        tensors[f"{side}.final_layer_norm.weight"] = norm()
    if not config["tie_word_embeddings"]:
        tensors["lm_head.weight"] = matrix(config["vocab_size"], width, 3)
    return tensors


def metricx_config(**own: Any) -> dict[str, Any]:
    """What config.json of a MetricX says, with small sizes."""
    return {
        "architectures": ["MT5ForRegression"],
        "model_type": "mt5",
        **SIZES,
        "decoder_start_token_id": 0,
        "dense_act_fn": "gelu_new",
        "dropout_rate": 0.1,
        "eos_token_id": 1,
        "feed_forward_proj": "gated-gelu",
        "initializer_factor": 1.0,
        "is_encoder_decoder": True,
        "is_gated_act": True,
        "layer_norm_epsilon": 1e-06,
        "pad_token_id": 0,
        "relative_attention_max_distance": 128,
        "relative_attention_num_buckets": 32,
        "tie_word_embeddings": False,
        "torch_dtype": "float32",
        "use_cache": True,
        "vocab_size": MT5_WORDS,
        **own,
    }


def unieval_config(vocabulary: int, **own: Any) -> dict[str, Any]:
    """What config.json of a T5 of the first kind says (input words are output words), with small sizes."""
    return {
        "architectures": ["T5ForConditionalGeneration"],
        "model_type": "t5",
        **SIZES,
        "decoder_start_token_id": 0,
        "dropout_rate": 0.1,
        "eos_token_id": 1,
        "feed_forward_proj": "relu",
        "initializer_factor": 1.0,
        "is_encoder_decoder": True,
        "layer_norm_epsilon": 1e-06,
        "pad_token_id": 0,
        "relative_attention_max_distance": 128,
        "relative_attention_num_buckets": 32,
        "tie_word_embeddings": True,
        "use_cache": True,
        "vocab_size": vocabulary,
        **own,
    }
