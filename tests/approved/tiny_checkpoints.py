"""Tiny models for every learned metric, whose weights hang on their names alone and not on a library's version."""

from __future__ import annotations

import importlib.util
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from pair_checkpoints import write_albert, write_align, write_layer, write_lens, write_port, write_roberta
from question_models import write_reader, write_tagger, write_writer
from tiny_t5 import metricx_config, unieval_config, write_t5, write_tokenizer

_NEURAL = Path(__file__).resolve().parents[1] / "metrics" / "neural"
#: Checkpoints of Unbabel's, by the kind that they say they are and by what they say of themselves.
COMETS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "comet": ("regression_metric", {}),
    "comet-qe": ("referenceless_regression_metric", {}),
    "kiwi": ("unified_metric", {"input_segments": ["mt", "src"]}),
    "unite": ("unified_metric", {"input_segments": ["mt", "src", "ref"]}),
    "xcomet": ("xcomet_metric", {"encoder_model": "XLM-RoBERTa-XL", "word_layer": 3}),
}


def made_by(name: str) -> Any:
    """A module of the neural metrics' own tests, by its file's name."""
    spec: Any = importlib.util.spec_from_file_location(f"neural_{name}", _NEURAL / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settled(folder: Path) -> Path:
    """A checkpoint whose numbers are drawn anew, tensor by tensor, each from its name."""
    import torch
    from safetensors.torch import load_file, save_file

    for path in [folder] if folder.is_file() else sorted(folder.rglob("*")):
        if path.suffix == ".safetensors":
            save_file({name: drawn(name, value) for name, value in load_file(path).items()}, path, {"format": "pt"})
        elif path.suffix in (".ckpt", ".bin"):
            content = torch.load(path, weights_only=False)
            state = content.get("state_dict", content)
            for name, value in state.items():
                if isinstance(value, torch.Tensor):
                    state[name] = drawn(name, value)
            torch.save(content, path)
    return folder


def drawn(name: str, value: Any) -> Any:
    """A tensor of the same shape, drawn from its name; what holds no fractions stays."""
    import torch

    if not value.is_floating_point():
        return value
    noise = np.random.RandomState(zlib.crc32(name.encode())).standard_normal(tuple(value.shape))
    if value.dim() == 1:
        # Scales are about 1, and what is added everywhere is small, so that texts are told apart.
        return torch.tensor((1 + noise / 10) if name.endswith("weight") else noise / 20, dtype=value.dtype)
    wide = 1.0 if "embed" in name else 1.5 / value.shape[-1] ** 0.5
    return torch.tensor(noise * wide, dtype=value.dtype)


def write_comet(folder: Path, base: Path, kind: str, settings: Mapping[str, Any]) -> Path:
    """A checkpoint in Unbabel's layout over a tiny encoder."""
    import torch
    import yaml
    from transformers import AutoModel

    said = {
        "class_identifier": kind,
        "pretrained_model": str(base),
        "encoder_model": "XLM-RoBERTa",
        "hidden_sizes": [24, 12],
        **settings,
    }
    encoder = AutoModel.from_pretrained(base)
    state = {f"encoder.model.{name}": value for name, value in encoder.state_dict().items()}
    layers = encoder.config.num_hidden_layers + 1
    state |= {f"layerwise_attention.scalar_parameters.{k}": torch.zeros(1) for k in range(layers)}
    state["layerwise_attention.gamma"] = torch.tensor([1.3])
    wide = {"regression_metric": 6, "referenceless_regression_metric": 4}.get(kind, 1) * encoder.config.hidden_size
    for k, (before, after) in enumerate(pairwise((wide, 24, 12, 1))):
        state[f"estimator.ff.{3 * k}.weight"] = torch.zeros(after, before)
        state[f"estimator.ff.{3 * k}.bias"] = torch.zeros(after)
    if kind == "xcomet_metric":
        state |= {"hidden2tag.weight": torch.zeros(4, encoder.config.hidden_size), "hidden2tag.bias": torch.zeros(4)}
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").write_text(yaml.safe_dump(said))
    torch.save({"state_dict": state, "hyper_parameters": said}, folder / "checkpoints" / "model.ckpt")
    return folder


def labelled(folder: Path, base: Path) -> Path:
    """A checkpoint that marks errors, mended so that its labels differ from token to token."""
    import torch
    from transformers import AutoModel

    path = folder / "checkpoints" / "model.ckpt"
    content = torch.load(path, weights_only=False)
    state = content["state_dict"]
    encoder = AutoModel.from_pretrained(base).eval()
    own = {name.removeprefix("encoder.model."): value for name, value in state.items() if "encoder.model" in name}
    encoder.load_state_dict(own)
    with torch.inference_mode():
        layers = encoder(torch.arange(5, 21)[None], output_hidden_states=True).hidden_states
    middle = layers[content["hyper_parameters"]["word_layer"]].mean((0, 1)).clone()
    state["hidden2tag.bias"] = -state["hidden2tag.weight"] @ middle
    torch.save(content, path)
    return folder


def tiny_checkpoints(home: Path) -> Callable[[str], Path]:
    """Makes each checkpoint when it is first asked for, by name."""
    encoders, likelihood = made_by("conftest"), made_by("test_likelihood")

    def encoder(name: str) -> Path:
        folder: Path = encoders.make_model(name, home / name)
        return settled(folder)

    def nli(folder: Path, base: Path) -> Path:
        from transformers import AutoTokenizer, RobertaConfig, RobertaForSequenceClassification

        AutoTokenizer.from_pretrained(base).save_pretrained(folder)
        labels = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
        named = {label: k for k, label in labels.items()}
        config = RobertaConfig.from_pretrained(base, num_labels=3, id2label=labels, label2id=named)
        RobertaForSequenceClassification(config).save_pretrained(folder)
        return folder

    def likely(family: str) -> Path:
        import transformers

        folder = home / family
        likelihood.tokenizer(family).save_pretrained(folder)
        kind = transformers.AutoModelForCausalLM if family == "GPT-2" else transformers.AutoModelForSeq2SeqLM
        kind.from_config(likelihood.config(family)).save_pretrained(folder)
        return settled(folder)

    def unieval() -> Path:
        from transformers import AutoTokenizer

        folder = home / "unieval-sum"
        folder.mkdir()
        write_tokenizer(folder)
        write_t5(folder, unieval_config(len(AutoTokenizer.from_pretrained(folder))), seed=2)
        return folder

    def t5(name: str) -> Path:
        write_t5(home / name, metricx_config())
        return home / name

    def words(name: str) -> Path:
        folder = home / name
        folder.mkdir()
        write_tokenizer(folder)
        return folder

    @cache
    def make(name: str) -> Path:
        makers: dict[str, Callable[[], Path]] = {
            "lens": lambda: settled(write_lens(home / "lens", make("base"))),
            "base": lambda: settled(write_roberta(home / "base")),
            "bleurt": lambda: settled(write_port(home / "BLEURT-tiny")),
            "align": lambda: settled(write_align(home / "AlignScore-base.ckpt", make("RoBERTa"))),
            "albert": lambda: settled(write_albert(home / "albert-vitaminc")),
            "nli": lambda: settled(nli(home / "roberta-nli", make("RoBERTa"))),
            "layer": lambda: settled(write_layer(home / "layer.bin", 23)),
            "metricx-24-hybrid-large-v2p6": lambda: t5(name),
            "metricx-23-large-v2p0": lambda: t5(name),
            "mt5": lambda: words("mt5-xl"),
            "unieval": unieval,
            "reader": lambda: settled(write_reader(home / "reader", seed=20)),
            "tagger": lambda: settled(write_tagger(home / "tagger")),
            "writer": lambda: settled(write_writer(home / "writer")),
            "weighter": lambda: settled(write_writer(home / "weighter", "T5")),
            **{family: (lambda family=family: likely(family)) for family in ("GPT-2", "BART", "T5")},  # type: ignore[misc]
        }
        if name in COMETS:
            kind, settings = COMETS[name]
            base = make("XLM-R-XL" if settings.get("encoder_model") == "XLM-RoBERTa-XL" else "XLM-R")
            folder = settled(write_comet(home / f"tiny-{name}", base, kind, settings))
            return labelled(folder, base) if kind == "xcomet_metric" else folder
        return makers[name]() if name in makers else encoder(name)

    return make
