"""COMET, COMET-QE, COMETKiwi, UniTE and XCOMET beside unbabel-comet 2.2.7: tiny random checkpoints of published layout.

unbabel-comet wants an older transformers than this package, so it has an environment of its own:

    BILLBOARDS_COMET_PYTHON=other/bin/python python benchmarks/parity_comet.py

writes the checkpoints and our scores here, has them scored there and prints the largest differences. Where the other
packages lie in a folder instead, BILLBOARDS_COMET_PATH names it and the same interpreter is used. `--checkpoint PATH`
adds a real checkpoint that lies on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

WORDS = ["the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", ",", ".", "not", "very", "small"]
ORACLE = "unbabel-comet 2.2.7"
XL = {"encoder_model": "XLM-RoBERTa-XL"}
#: unbabel-comet's names for what is kept as a part.
PARTS = {"src": "src_scores", "ref": "ref_scores", "unified": "unified_scores", "mqm": "mqm_scores"}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A checkpoint to make: its class, what hparams.yaml says and what model.ckpt says beside the weights."""

    metric: str
    source: str
    kind: str
    own: Mapping[str, Any] = field(default_factory=dict)
    #: What hparams.yaml says of settings; None for the same as the checkpoint.
    listed: Mapping[str, Any] | None = None


TAGS = {"word_level_training": True, "word_layer": 3}
UNIFIED = {"sent_layer": "mix", "layer_norm": False, "layer_transformation": "sparsemax"}
#: Published hparams.yaml: of Unbabel/wmt22-cometkiwi-da as the hub has it; of the others as unbabel-comet's
#: configs/models and class defaults have it, with sizes made small.
LAYOUTS: Mapping[str, Layout] = {
    "wmt20-comet-da": Layout(
        metric="COMET", source="regression, mix normalised, mean", kind="regression_metric", own={"pool": "avg"}
    ),
    "wmt22-comet-da": Layout(
        metric="COMET",
        source="regression, sparse mix that only the checkpoint tells of",
        kind="regression_metric",
        own={"layer_norm": False, "layer_transformation": "sparsemax", "pool": "avg"},
        listed={},
    ),
    "regression, first token": Layout(
        metric="COMET",
        source="regression, first token, hparams.yaml says otherwise",
        kind="regression_metric",
        own={"pool": "cls"},
        listed={"pool": "max", "layer_norm": False, "final_activation": "Sigmoid"},
    ),
    "regression, one layer": Layout(
        metric="COMET",
        source="regression, one layer, maximum, sigmoid",
        kind="regression_metric",
        own={"layer": 2, "pool": "max", "final_activation": "Sigmoid"},
    ),
    "regression, one layer, XL": Layout(
        metric="COMET",
        source="regression, a middle layer of XLM-R-XL",
        kind="regression_metric",
        own={"layer": 1, **XL},
    ),
    "wmt20-comet-qe-da": Layout(
        metric="COMET-QE",
        source="referenceless_regression, mix",
        kind="referenceless_regression_metric",
        own={"layer_norm": False},
    ),
    "wmt22-cometkiwi-da": Layout(
        metric="COMETKiwi",
        source="unified [mt, src], sparsemax_patch",
        kind="unified_metric",
        own={**UNIFIED, "input_segments": ["mt", "src"], "pool": "avg", "layer": "mix", "word_weights": [0.15, 0.85]},
        listed={**UNIFIED, "layer_transformation": "sparsemax_patch", "input_segments": ["mt", "src"]},
    ),
    "wmt23-cometkiwi-da-xl": Layout(
        metric="COMETKiwi",
        source="unified [mt, src], XLM-R-XL",
        kind="unified_metric",
        own={**UNIFIED, **XL, "input_segments": ["mt", "src"], "layer_transformation": "softmax"},
    ),
    "unite-mup": Layout(
        metric="UniTE",
        source="unified [mt, src, ref], top layer",
        kind="unified_metric",
        own={"sent_layer": 3, "input_segments": ["mt", "src", "ref"]},
    ),
    "wmt22-unite-da": Layout(
        metric="UniTE",
        source="unified [mt, src, ref], class defaults, words tagged",
        kind="unified_metric",
        own={"word_level_training": True, "word_layer": 2},
    ),
    "unite without references": Layout(
        metric="COMETKiwi", source="unified [mt, src, ref] without references", kind="unified_metric"
    ),
    "XCOMET-XL": Layout(
        metric="XCOMET", source="xcomet, XLM-R-XL, words of the top layer", kind="xcomet_metric", own={**XL, **TAGS}
    ),
    "XCOMET-XL, two layers": Layout(
        metric="XCOMET",
        source="xcomet, XLM-R-XL, words of a middle layer",
        kind="xcomet_metric",
        own={**XL, "sent_layer": 1, "word_layer": 2, "layer_transformation": "softmax"},
    ),
    "XCOMET-XL without references": Layout(
        metric="XCOMET-QE", source="xcomet, XLM-R-XL, without references", kind="xcomet_metric", own={**XL, **TAGS}
    ),
}
FREE = ("COMET-QE", "COMETKiwi", "XCOMET-QE")


def texts(count: int, seed: int) -> list[str]:
    """Texts of 0 to 70 words; the longest are longer than the tiny models read, some have blanks in odd places."""
    draw = random.Random(seed)
    made = [" ".join(draw.choices(WORDS, k=draw.randint(1, 70 if k % 5 == 0 else 20))) for k in range(count)]
    made[3], made[4], made[5] = "", f"  {made[4]}", made[5].replace(" ", "  ") + " "
    return made


def write_base(folder: Path, *, large: bool) -> None:
    """A tiny XLM-R or XLM-R-XL with random weights, and a tokenizer of word pieces as sentencepiece makes them."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    pieces = Tokenizer(models.Unigram())
    pieces.normalizer = normalizers.NFKC()
    pieces.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    pieces.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=special, unk_token="<unk>", show_progress=False)
    pieces.train_from_iterator([" ".join(WORDS)] * 50, trainer)
    ends = [("<s>", 0), ("</s>", 2)]
    pieces.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    named = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token", "mask_token"), special, strict=True))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=128, **named)
    tokenizer.save_pretrained(folder)
    kind = transformers.XLMRobertaXLConfig if large else transformers.XLMRobertaConfig
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    config = kind(vocab_size=len(tokenizer), max_position_embeddings=66, pad_token_id=1, **sizes)
    config.initializer_range = 0.2
    torch.manual_seed(5)
    transformers.AutoModel.from_config(config).save_pretrained(folder)


def write_checkpoint(folder: Path, base: Path, layout: Layout) -> None:
    """A random checkpoint in Unbabel's format."""
    import torch
    import yaml
    from transformers import AutoModel

    named = {"pretrained_model": str(base), "encoder_model": "XLM-RoBERTa", "hidden_sizes": [24, 12]}
    own = {**named, **layout.own}
    torch.manual_seed(3)
    encoder = AutoModel.from_pretrained(base).eval()
    state = {f"encoder.model.{name}": value for name, value in encoder.state_dict().items()}
    state |= {f"layerwise_attention.scalar_parameters.{k}": torch.randn(1) for k in range(4)}
    state["layerwise_attention.gamma"] = torch.tensor([1.3])
    times = {"regression_metric": 6, "referenceless_regression_metric": 4}.get(layout.kind, 1)
    for k, (wide, narrow) in enumerate(pairwise((32 * times, 24, 12, 1))):
        state[f"estimator.ff.{3 * k}.weight"] = torch.randn(narrow, wide) / 5
        state[f"estimator.ff.{3 * k}.bias"] = torch.randn(narrow)
    labels = {"unified_metric": 3, "xcomet_metric": 4}.get(layout.kind)
    if labels:
        # Around what a usual token looks like, so that every label is some token's likeliest.
        with torch.inference_mode():
            usual = encoder(
                torch.randint(5, encoder.config.vocab_size, (8, 40)), output_hidden_states=True
            ).hidden_states
        middle = usual[layout.own.get("word_layer", 3)].mean((0, 1)).clone()
        state["hidden2tag.weight"] = torch.randn(labels, 32) * 3
        state["hidden2tag.bias"] = -state["hidden2tag.weight"] @ middle
        # Some scores lie above 1, where XCOMET cuts them.
        state["estimator.ff.6.weight"] *= 4
        state["estimator.ff.6.bias"] += 1
    (folder / "checkpoints").mkdir(parents=True)
    listed = named | dict(layout.own if layout.listed is None else layout.listed)
    (folder / "hparams.yaml").write_text(yaml.safe_dump({"class_identifier": layout.kind, **listed}))
    kept = {"state_dict": state, "hyper_parameters": own, "pytorch-lightning_version": "2.0.0", "epoch": 3}
    torch.save(kept, folder / "checkpoints" / "model.ckpt")


def ours(metric: str, folder: Path, samples: Sequence[Mapping[str, str]], *, words: bool) -> dict[str, Any]:
    """Our scores, with their parts and error spans where there are some."""
    from dataclasses import asdict

    import billboards as bb
    from billboards.metrics.base import Batch

    chosen = bb.metric(metric, model=str(folder))
    references = [] if metric in FREE else [[sample["ref"]] for sample in samples]
    batch = Batch([sample["mt"] for sample in samples], references, [sample["src"] for sample in samples])
    parts = chosen.score(batch).parts
    made: dict[str, Any] = {"scores": next(iter(parts.values())).tolist()}
    made |= {PARTS[part]: scores.tolist() for part, scores in parts.items() if part in PARTS}
    if words:
        spans = chosen.error_spans(batch)  # type: ignore[attr-defined]  # these metrics have it
        made["error_spans"] = [[asdict(span) for span in own] for own in spans]
    return made


def write(folder: Path, real: Sequence[str]) -> None:
    """Checkpoints, texts and our scores."""
    for large in (False, True):
        write_base(folder / f"base-{large}", large=large)
    inputs, outputs, references = (texts(40, seed) for seed in (1, 2, 3))
    rows = zip(inputs, outputs, references, strict=True)
    samples = [{"src": given, "mt": output, "ref": reference} for given, output, reference in rows]
    scored = {}
    for name, layout in LAYOUTS.items():
        large = layout.own.get("encoder_model") == "XLM-RoBERTa-XL"
        write_checkpoint(folder / name, folder / f"base-{large}", layout)
        words = layout.kind == "xcomet_metric" or "word_level_training" in layout.own
        scored[name] = {"metric": layout.metric, "ours": ours(layout.metric, folder / name, samples, words=words)}
    for given in real:
        metric, place = given.split("=", 1)
        words = metric.startswith("XCOMET")
        scored[place] = {"metric": metric, "ours": ours(metric, Path(place).resolve(), samples, words=words)}
    (folder / "ours.json").write_text(json.dumps({"samples": samples, "scored": scored}))


def theirs(folder: Path) -> None:
    """What unbabel-comet gives, into theirs.json; run in its environment."""
    from comet import load_from_checkpoint  # type: ignore[import-not-found]

    kept = json.loads((folder / "ours.json").read_text())
    made = {}
    for place, scored in kept["scored"].items():
        model = load_from_checkpoint(f"{folder / place}/checkpoints/model.ckpt", local_files_only=True)
        free = scored["metric"] in FREE
        samples = [{k: v for k, v in sample.items() if not (free and k == "ref")} for sample in kept["samples"]]
        output = model.predict(samples, batch_size=8, gpus=0, num_workers=0, progress_bar=False)
        made[place] = {"scores": output.scores, **dict(output.get("metadata", {}))}
    (folder / "theirs.json").write_text(json.dumps(made))


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> float:
    """The largest difference of any number that both have; infinite where error spans are other spans."""
    largest = 0.0
    for name in ours:
        if name != "error_spans":
            pairs = zip(ours[name], theirs[name], strict=True)
            largest = max([largest, *(abs(mine - other) for mine, other in pairs)])
            continue
        for mine, other in zip(ours[name], theirs[name], strict=True):
            same = ("start", "end", "text", "severity")
            if [[span[key] for key in same] for span in mine] != [[span[key] for key in same] for span in other]:
                return float("inf")
            pairs = zip(mine, other, strict=True)
            largest = max([largest, *(abs(a["confidence"] - b["confidence"]) for a, b in pairs)])
    return largest


def rows(real: Sequence[str] = ()) -> list[tuple[str, str, float, str]]:
    """Metric, layout, largest difference and what it is compared with, for each checkpoint; none without the peer."""
    path, other = os.environ.get("BILLBOARDS_COMET_PATH"), os.environ.get("BILLBOARDS_COMET_PYTHON", sys.executable)
    if path is None and "BILLBOARDS_COMET_PYTHON" not in os.environ:
        return []
    with tempfile.TemporaryDirectory(prefix="billboards-comet-") as made:
        folder = Path(made).resolve()
        write(folder, real)
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"} | ({"PYTHONPATH": path} if path else {})
        subprocess.run([other, __file__, "--theirs", made], check=True, env=environment, capture_output=True)
        scored = json.loads((folder / "ours.json").read_text())["scored"]
        peers = json.loads((folder / "theirs.json").read_text())
    sources = {name: f"{name}: {layout.source}" for name, layout in LAYOUTS.items()}
    return [
        (own["metric"], sources.get(name, name), differences(own["ours"], peers[name]), ORACLE)
        for name, own in scored.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", action="append", default=[], help="METRIC=FOLDER of a real checkpoint")
    parser.add_argument("--theirs", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.theirs is not None:
        theirs(arguments.theirs)
        return
    compared = rows(arguments.checkpoint)
    if not compared:
        print("COMET: not compared; name a Python that has unbabel-comet by BILLBOARDS_COMET_PYTHON")
    for metric, layout, largest, oracle in compared:
        print(f"{metric:10} {layout:82} differs by {largest:.1e} from {oracle}")


if __name__ == "__main__":
    main()
