"""COMET and COMET-QE beside unbabel-comet on the same checkpoints, for an environment that has both or one of the two.

unbabel-comet wants an older transformers than this package, so it has an environment of its own:

    python benchmarks/comet_equality.py write FOLDER           # here: tiny random checkpoints and our scores
    other/bin/python benchmarks/comet_equality.py compare FOLDER    # there: its scores beside ours

`write FOLDER --checkpoint PATH` adds a real checkpoint that lies on this machine. `both` does one after the other, with
the interpreter that BILLBOARDS_COMET_PYTHON names, or says that none is named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

WORDS = ["the", "a", "cat", "dog", "mat", "sat", "ran", "on", "under", "away", "and", ",", ".", "not", "very", "small"]
REGRESSION, WITHOUT_REFERENCES = "regression_metric", "referenceless_regression_metric"
TINY: dict[str, dict[str, Any]] = {
    "mix, normalised, mean": {"class_identifier": REGRESSION},
    "sparse mix, first token": {
        "class_identifier": REGRESSION,
        "layer_norm": False,
        "layer_transformation": "sparsemax",
        "pool": "cls",
    },
    "one layer, maximum, sigmoid": {
        "class_identifier": REGRESSION,
        "layer": 2,
        "pool": "max",
        "final_activation": "Sigmoid",
    },
    "no references": {"class_identifier": WITHOUT_REFERENCES, "layer_norm": False},
}


def texts(count: int, seed: int) -> list[str]:
    """Texts of 1 to 70 words; the longest are longer than the tiny models read."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 70))) for _ in range(count)]


def write_base(folder: Path) -> None:
    """A tiny XLM-R with random weights, and a tokenizer of whole words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    special = {name: f"<{name}>" for name in ("cls", "pad", "sep", "unk", "mask")}
    vocabulary = {word: k for k, word in enumerate((*special.values(), *WORDS))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [(end, vocabulary[end]) for end in ("<cls>", "<sep>")]
    words.post_processor = processors.TemplateProcessing(single="<cls> $A <sep>", special_tokens=ends)
    named = {f"{name}_token": token for name, token in special.items()}
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=64, **named).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    config = XLMRobertaConfig(vocab_size=len(vocabulary), max_position_embeddings=66, pad_token_id=1, **sizes)
    config.initializer_range = 0.2
    torch.manual_seed(5)
    XLMRobertaModel(config).save_pretrained(folder)


def write_checkpoint(folder: Path, base: Path, settings: dict[str, Any]) -> None:
    """A random checkpoint in Unbabel's format."""
    import torch
    import yaml
    from transformers import AutoModel

    said = {"pretrained_model": str(base), "encoder_model": "XLM-RoBERTa", "hidden_sizes": [24, 12], **settings}
    torch.manual_seed(3)
    state = {f"encoder.model.{name}": value for name, value in AutoModel.from_pretrained(base).state_dict().items()}
    state |= {f"layerwise_attention.scalar_parameters.{k}": torch.randn(1) for k in range(4)}
    state["layerwise_attention.gamma"] = torch.tensor([1.3])
    sizes = (32 * (6 if settings["class_identifier"] == REGRESSION else 4), 24, 12, 1)
    for k, (wide, narrow) in enumerate(pairwise(sizes)):
        state[f"estimator.ff.{3 * k}.weight"] = torch.randn(narrow, wide) / 5
        state[f"estimator.ff.{3 * k}.bias"] = torch.randn(narrow)
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    (folder / "hparams.yaml").write_text(yaml.safe_dump(said))
    own = {name: value for name, value in said.items() if name != "class_identifier"}
    kept = {"state_dict": state, "hyper_parameters": own, "pytorch-lightning_version": "2.0.0"}
    torch.save(kept, folder / "checkpoints" / "model.ckpt")


def write(folder: Path, real: list[str]) -> None:
    """Checkpoints, texts and our scores."""
    from billboards.errors import InvalidInput
    from billboards.metrics.base import Batch
    from billboards.metrics.neural.comet import Comet, CometQE

    write_base(folder / "base")
    for name, settings in TINY.items():
        write_checkpoint(folder / name, folder / "base", settings)
    inputs, outputs, references = (texts(30, seed) for seed in (1, 2, 3))
    scores = {}
    for place in (*(str(folder / name) for name in TINY), *real):
        try:
            found = Comet(place).score_batch(Batch(outputs, [[text] for text in references], inputs))
        except InvalidInput:
            found = CometQE(place).score_batch(Batch(outputs, (), inputs))
        scores[place] = found.tolist()
    kept = {"inputs": inputs, "outputs": outputs, "references": references, "scores": scores}
    (folder / "ours.json").write_text(json.dumps(kept))


def compare(folder: Path) -> None:
    """The largest difference from unbabel-comet's scores, checkpoint by checkpoint."""
    from comet import load_from_checkpoint  # type: ignore[import-not-found]

    kept = json.loads((folder / "ours.json").read_text())
    rows = zip(kept["inputs"], kept["outputs"], kept["references"], strict=True)
    samples = [{"src": given, "mt": output, "ref": reference} for given, output, reference in rows]
    for place, ours in kept["scores"].items():
        model = load_from_checkpoint(f"{place}/checkpoints/model.ckpt", local_files_only=True)
        theirs = model.predict(samples, batch_size=8, gpus=0, num_workers=0, progress_bar=False).scores
        largest = max(abs(one - other) for one, other in zip(ours, theirs, strict=True))
        print(f"{Path(place).name:30} n {len(ours)}  spread {max(theirs) - min(theirs):.3f}  differs by {largest:.1e}")


def both() -> None:
    """Write here and compare there."""
    other = os.environ.get("BILLBOARDS_COMET_PYTHON")
    if other is None:
        print("COMET: not compared; set BILLBOARDS_COMET_PYTHON to a Python that has unbabel-comet")
        return
    with tempfile.TemporaryDirectory(prefix="billboards-comet-") as folder:
        write(Path(folder).resolve(), [])
        subprocess.run([other, __file__, "compare", folder], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("write", "compare", "both"))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("comet-equality"))
    parser.add_argument("--checkpoint", action="append", default=[], help="a real checkpoint's folder")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.do == "both":
        both()
    elif arguments.do == "write":
        write(arguments.folder.resolve(), arguments.checkpoint)
    else:
        compare(arguments.folder.resolve())


if __name__ == "__main__":
    main()
