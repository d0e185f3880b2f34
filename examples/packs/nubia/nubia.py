"""Nubia (Kane et al. 2020): features of three models about a reference and an output, weighed by a small network.

The features are the similarity that a model trained on STS-B sees, the log-probabilities of contradiction, neutrality
and entailment of one trained on MNLI, GPT-2's loss on each of the two texts and, if the network asks for them, their
lengths. Its number is set against the number that the reference gets beside itself, and cut to 0 and 1. A blank text
scores 0. With several references the best counts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Reference and output.
Pair = tuple[str, str]

MODELS = Path(__file__).parent / "models"
RELATIONS = ("contradiction", "neutral", "entailment")
ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "identity": lambda values: values,
    "logistic": lambda values: 1 / (1 + np.exp(-values)),
    "relu": lambda values: np.maximum(values, 0),
    "tanh": np.tanh,
}
BATCH = 16
LONGEST_PAIR, LONGEST_TEXT = 512, 1023


def main(source: str, generator: str, references: str, scores: str) -> None:  # noqa: ARG001 - the input isn't needed
    outputs = [line["hyp"] for line in read_lines(generator)]
    found = score(outputs, [line["refs"] for line in read_lines(references)], MODELS)
    Path(scores).write_text("".join(f"{value!r}\n" for value in found), "utf-8")


def score(outputs: Sequence[str], references: Sequence[Sequence[str]], models: Path) -> list[float]:
    """The score of each output, the best over its references."""
    rated = rate({(text, out) for out, texts in zip(outputs, references, strict=True) for text in texts}, models)
    return [max(rated[text, out] for text in texts) for out, texts in zip(outputs, references, strict=True)]


def rate(pairs: Iterable[Pair], models: Path) -> dict[Pair, float]:
    """The calibrated score of each pair."""
    wanted = sorted(pairs)
    full = [(reference, output) for reference, output in wanted if reference.strip() and output.strip()]
    asked = list(dict.fromkeys((*full, *((reference, reference) for reference, _ in full))))
    raw = dict(zip(asked, aggregate(features(asked, models), models / "aggregator.json").tolist(), strict=True))
    calibrated = {(one, two): calibrate(raw[one, two], raw[one, one]) for one, two in full}
    return dict.fromkeys(wanted, 0.0) | calibrated


def calibrate(raw: float, own: float) -> float:
    """A number set against the one that the reference gets beside itself, between 0 and 1."""
    return min(1.0, max(0.0, 1.0 - (own - raw) / (abs(own) + 1)))


def features(pairs: Sequence[Pair], models: Path) -> Floats:
    """What is known of each pair: pairs × 8. One model after the other is loaded, so that memory holds one."""
    said = settings(models)
    likeness = classify(models / "sts", pairs)
    if likeness.shape[1] != 1:
        sys.exit(f"models/sts gives {likeness.shape[1]} numbers; a model of similarity gives one")
    similarity = 1 / (1 + np.exp(-likeness)) if said["similarity_sigmoid"] else likeness
    relations = log_softmax(classify(models / "mnli", pairs, RELATIONS))
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    loss = dict(zip(texts, losses(models / "gpt2", texts).tolist(), strict=True))
    each = [(loss[one], loss[two], len(one.split(" ")), len(two.split(" "))) for one, two in pairs]
    return np.hstack((said["similarity_scale"] * similarity, relations, np.array(each, np.float64).reshape(-1, 4)))


def aggregate(given: Floats, file: Path) -> Floats:
    """The network's number for each row of features; it reads the first 6 of them, or all 8."""
    said = json.loads(file.read_text("utf-8"))
    inside, values = ACTIVATIONS[said["activation"]], given[:, : len(said["layers"][0]["weight"])]
    for k, layer in enumerate(said["layers"]):
        values = (values if k == 0 else inside(values)) @ np.array(layer["weight"]) + np.array(layer["bias"])
    return ACTIVATIONS[said["output_activation"]](values)[:, 0]


def classify(folder: Path, pairs: Sequence[Pair], labels: Sequence[str] = ()) -> Floats:
    """A model's outputs for each pair, in the order of these labels where some are named."""
    import torch
    from transformers import AutoModelForSequenceClassification

    model = load(folder, AutoModelForSequenceClassification)
    tokenizer = tokenizer_of(folder)
    limit = min(LONGEST_PAIR, tokenizer.model_max_length)
    order = columns(folder, model.config, labels) if labels else list(range(model.config.num_labels))

    def read(some: Sequence[Pair]) -> Floats:
        given = tokenizer(
            [one for one, _ in some],
            [two for _, two in some],
            padding=True,
            truncation=True,
            max_length=limit,
            return_tensors="pt",
        )
        with torch.inference_mode():
            found: Floats = model(**given).logits.double().numpy()
        return found

    return in_batches(pairs, read, len(order))[:, order]


def losses(folder: Path, texts: Sequence[str]) -> Floats:
    """The mean negative log-likelihood of each text's tokens, after the token that ends a text."""
    import torch
    from transformers import AutoModelForCausalLM

    model = load(folder, AutoModelForCausalLM)
    tokenizer = tokenizer_of(folder)
    limit = min(LONGEST_TEXT, tokenizer.model_max_length - 1)

    def read(text: str) -> float:
        ids = [tokenizer.eos_token_id, *tokenizer(text, truncation=True, max_length=limit)["input_ids"]]
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids])).logits[0, :-1]
            return float(torch.nn.functional.cross_entropy(logits.double(), torch.tensor(ids[1:])))

    return np.array([read(text) for text in texts], np.float64)


def load(folder: Path, kind: Any) -> Any:
    """A model from its folder; one that lacks a part would give random numbers."""
    if not (folder / "config.json").is_file():
        sys.exit(f"models/{folder.name} holds no model; README.md says what belongs there")
    model, info = kind.from_pretrained(folder, local_files_only=True, output_loading_info=True)
    if info["missing_keys"]:
        sys.exit(f"models/{folder.name} lacks {sorted(info['missing_keys'])[0]}; it is not the model that is needed")
    return model.eval()


def tokenizer_of(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)


def columns(folder: Path, config: Any, labels: Sequence[str]) -> list[int]:
    """Where a model has these labels, whatever their case."""
    known = {str(name).lower(): int(place) for place, name in config.id2label.items()}
    if set(labels) != set(known):
        sys.exit(f"models/{folder.name} has the labels {', '.join(known)}; {', '.join(labels)} are needed (id2label)")
    return [known[label] for label in labels]


def in_batches(pairs: Sequence[Pair], read: Callable[[Sequence[Pair]], Floats], width: int) -> Floats:
    """What `read` gives for all pairs, read in batches of about equal lengths."""
    order = sorted(range(len(pairs)), key=lambda k: (len(pairs[k][0]) + len(pairs[k][1]), k))
    found = np.empty((len(pairs), width))
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        found[some] = read([pairs[k] for k in some])
    return found


def log_softmax(values: Floats) -> Floats:
    shifted = values - values.max(axis=1, keepdims=True, initial=-np.inf)
    found: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return found


def settings(models: Path) -> dict[str, Any]:
    """What the similarity model's output means."""
    file = models / "settings.json"
    said = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {"similarity_scale": 5.0, "similarity_sigmoid": False, **said}


def read_lines(path: str) -> list[dict[str, Any]]:
    with Path(path).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    main(*sys.argv[1:])
