"""Tiny random checkpoints in the layouts that authors publish, for metrics that read pairs of texts.

The layouts are those of lucadiliello/BLEURT-20 (config.json, spm.model, pytorch_model.bin), of AlignScore-base.ckpt
(yzha/AlignScore), of tals/albert-xlarge-vitaminc-mnli (an ALBERT with spiece.model) and of SummaC-Conv's trained layer,
summac_conv_vitc_sent_perc_e.bin (tingofurro/summac).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from piece_files import CONTROL, NORMAL, PIECES, UNKNOWN, Piece, character_table, piece_model

LAYERS, HEADS, WIDTH, NARROW, INNER, POSITIONS = 2, 4, 32, 8, 48, 48
SETTINGS = {
    "architectures": ["BleurtForSequenceClassification"],
    "attention_probs_dropout_prob": 0,
    "classifier_dropout": None,
    "embedding_dropout_prob": 0,
    "embedding_size": NARROW,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0,
    "hidden_size": WIDTH,
    "initializer_range": 0.02,
    "intermediate_size": INNER,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": POSITIONS,
    "model_type": "bleurt",
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "output_embedding_size": 16,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "tie_word_embeddings": False,
    "type_vocab_size": 2,
    "use_cache": False,
    "vocab_size": len(PIECES),
}
VITAMINC = {"0": "SUPPORTS", "1": "REFUTES", "2": "NOT ENOUGH INFO"}
State = dict[str, Any]


def random_state(narrow: int | None = NARROW) -> State:
    """Weights under the names of bleurt-pytorch."""
    import torch

    torch.manual_seed(4)
    state: State = {}

    def linear(name: str, wide: int, out: int) -> None:
        state[f"{name}.weight"], state[f"{name}.bias"] = torch.randn(out, wide) / wide**0.5, torch.randn(out) / 5

    def norm(name: str, wide: int) -> None:
        state[f"{name}.weight"], state[f"{name}.bias"] = 1 + torch.randn(wide) / 5, torch.randn(wide) / 5

    first = narrow or WIDTH
    for name, count in (("word", len(PIECES)), ("position", POSITIONS), ("token_type", 2)):
        state[f"bleurt.embeddings.{name}_embeddings.weight"] = torch.randn(count, first)
    norm("bleurt.embeddings.LayerNorm", first)
    if narrow:
        linear("bleurt.encoder.embedding_projection", narrow, WIDTH)
    for k in range(LAYERS):
        layer = f"bleurt.encoder.layer.{k}"
        for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            linear(f"{layer}.{part}", WIDTH, WIDTH)
        norm(f"{layer}.attention.output.LayerNorm", WIDTH)
        linear(f"{layer}.intermediate.dense", WIDTH, INNER)
        linear(f"{layer}.output.dense", INNER, WIDTH)
        norm(f"{layer}.output.LayerNorm", WIDTH)
    linear("bleurt.pooler.dense", WIDTH, WIDTH)
    linear("classifier", WIDTH, 1)
    return state


def write_port(folder: Path) -> Path:
    """A checkpoint of bleurt-pytorch's."""
    import torch

    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(SETTINGS))
    (folder / "spm.model").write_bytes(piece_model(PIECES))
    named = {f"{name.lower()}_token": f"[{name}]" for name in ("CLS", "SEP", "PAD", "UNK", "MASK")}
    said = {**named, "do_lower_case": False, "split_by_punct": False, "tokenizer_class": "BleurtSPTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    positions = {"bleurt.embeddings.position_ids": torch.arange(POSITIONS)[None]}
    torch.save({**positions, **random_state()}, folder / "pytorch_model.bin")
    return folder


def write_align(file: Path, base: Path, **changes: Any) -> Path:
    """A Lightning checkpoint of AlignScore's over a tiny RoBERTa, which it names."""
    import torch
    from transformers import RobertaConfig, RobertaForMaskedLM

    torch.manual_seed(7)
    config = RobertaConfig.from_pretrained(base)
    config.initializer_range = 0.2
    model = RobertaForMaskedLM(config)
    pooler = {"pooler.dense.weight": torch.randn(32, 32) / 4, "pooler.dense.bias": torch.randn(32)}
    state = {f"base_model.{key}": value for key, value in (*model.roberta.state_dict().items(), *pooler.items())}
    state["base_model.embeddings.position_ids"] = torch.arange(66)[None]
    state |= {f"mlm_head.{key}": value for key, value in model.lm_head.state_dict().items()}
    for layer, width in (("bin", 2), ("tri", 3), ("reg", 1)):
        state |= {f"{layer}_layer.weight": torch.randn(width, 32), f"{layer}_layer.bias": torch.randn(width)}
    settings = {"model": str(base), "using_pretrained": True, "learning_rate": 1e-5, "weight_decay": 0.1}
    # Lightning keeps more than tensors and plain settings.
    content = {"epoch": 3, "global_step": 9, "pytorch-lightning_version": "1.7.7", "state_dict": state}
    content |= {"callbacks": {}, "optimizer_states": [], "hyper_parameters": settings, "args": argparse.Namespace()}
    torch.save({**content, **changes}, file)
    return file


def write_albert(folder: Path) -> Path:
    """An ALBERT as tals/albert-xlarge-vitaminc-mnli is published: with a model of SentencePiece's and no more."""
    import torch
    from transformers import AlbertConfig, AlbertForSequenceClassification

    words = ("the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", "not", "very", "small")
    pieces: list[Piece] = [
        ("<pad>", 0.0, CONTROL),
        ("<unk>", 0.0, UNKNOWN),
        *((name, 0.0, CONTROL) for name in ("[CLS]", "[SEP]", "[MASK]")),
    ]
    pieces += [(f"▁{word}", -2.0, NORMAL) for word in words] + [
        (mark, -3.0, NORMAL) for mark in ("▁", ".", ",", "9", "9,")
    ]
    config = AlbertConfig(
        vocab_size=len(pieces),
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=3,
        initializer_range=0.3,
    )
    torch.manual_seed(3)
    AlbertForSequenceClassification(config).save_pretrained(folder)
    said = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**said, "id2label": VITAMINC}))
    (folder / "spiece.model").write_bytes(piece_model(pieces, table=character_table("ﬁ", "fi")))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": True, "keep_accents": False, "model_max_length": 512})
    )
    return folder


def write_layer(path: Path, width: int) -> Path:
    """SummaC-Conv's trained layer over so many bins."""
    import torch

    torch.manual_seed(5)
    state = {"mlp.weight": torch.randn(1, width) / 10, "mlp.bias": torch.randn(1)}
    torch.save({**state, "layer_final.weight": torch.randn(2, 3), "layer_final.bias": torch.randn(2)}, path)
    return path


def write_roberta(folder: Path) -> Path:
    """A tiny RoBERTa whose tokenizer lies in vocab.json and merges.txt; no blank stands before a first word."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import RobertaConfig, RobertaModel

    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("c", "a"), ("ca", "t"), ("Ġ", "cat"), ("Ġ", "s"), ("a", "t")]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *sorted(ByteLevel.alphabet()), *("".join(pair) for pair in merges)]
    vocabulary = {piece: k for k, piece in enumerate([*pieces, "<mask>"])}
    config = RobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=66,
        type_vocab_size=1,
        initializer_range=0.2,
    )
    torch.manual_seed(6)
    RobertaModel(config).save_pretrained(folder)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512}))
    return folder


def write_lens(folder: Path, base: Path, **settings: Any) -> Path:
    """A checkpoint of LENS's over a tiny RoBERTa: hparams.yaml beside checkpoints/model.ckpt, as davidheineman/lens."""
    import torch
    import yaml
    from transformers import RobertaModel

    torch.manual_seed(9)
    encoder = RobertaModel.from_pretrained(base, add_pooling_layer=False)
    state = {f"encoder.model.{name}": value * 1.1 for name, value in encoder.state_dict().items()}
    state |= {f"layerwise_attention.scalar_parameters.{k}": torch.randn(1) for k in range(4)}
    state["layerwise_attention.gamma"] = torch.tensor([1.2])
    for k, (wide, narrow) in enumerate(((32 * 7, 24), (24, 12), (12, 1))):
        state[f"estimator.ff.{3 * k}.weight"], state[f"estimator.ff.{3 * k}.bias"] = (
            torch.randn(narrow, wide) / wide**0.5,
            torch.randn(narrow) / 5,
        )
    said: dict[str, Any] = {
        "class_identifier": "regression_metric_multi_ref",
        "encoder_model": "RoBERTa",
        "pretrained_model": str(base),
    }
    said |= {"activations": "Tanh", "final_activation": None, "hidden_sizes": [24, 12], "layer": "mix", "pool": "avg"}
    said |= {"dropout": 0.1, "topk": 3, "train_data": "data/simpeval_past.csv", "nr_frozen_epochs": 0.3, **settings}
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").write_text(yaml.safe_dump(said))
    # Where the two files differ, hparams.yaml has the last word.
    content = {"epoch": 3, "global_step": 9, "pytorch-lightning_version": "2.0.9", "state_dict": state}
    content["hyper_parameters"] = {**said, "pool": "cls"}
    torch.save(content, folder / "checkpoints" / "model.ckpt")
    return folder
