"""Which model reads which language, and which of its layers (BERTScore, §4 and Table 8).

Only names: nothing is fetched here. The layer of the embedded model was chosen on WMT17, as docs/bertscore.md shows;
the other layers are those that bert_score reads, chosen by its authors on WMT16.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from billboards.errors import InvalidInput

#: The model that comes as a Python package, so that the metric runs on a machine that never saw a model hub.
EMBEDDED = "minilm"
#: Its name on the hub means the same weights.
EMBEDDED_ON_HUB = "sentence-transformers/all-MiniLM-L6-v2"

MULTILINGUAL = "bert-base-multilingual-cased"
OF_LANGUAGE: Mapping[str, str] = {
    "en": "roberta-large",
    "zh": "bert-base-chinese",
    "tr": "dbmdz/bert-base-turkish-cased",
    "en-sci": "allenai/scibert_scivocab_uncased",
}

#: The layers of the models that bert_score has none for.
OWN_LAYERS: Mapping[str, int] = {EMBEDDED: 6, EMBEDDED_ON_HUB: 6}
#: Models and layers as bert_score 0.3.12 publishes them.
LAYERS = Path(__file__).parent / "data" / "layers.tsv"


@cache
def recommended_layers() -> Mapping[str, int]:
    """Every model that has a recommended layer, with it."""
    _, *lines = LAYERS.read_text("utf-8").splitlines()
    published = (line.split("\t") for line in lines)
    return {model: int(layer) for model, layer in published} | dict(OWN_LAYERS)


def model_for(language: str) -> str:
    """The default model of a language, by its code (`en`, `zh`, `de`, `en-sci`)."""
    code = language.lower()
    return OF_LANGUAGE.get(code) or OF_LANGUAGE.get(code.replace("_", "-").split("-")[0], MULTILINGUAL)


def layer_for(model: str) -> int:
    """The recommended layer of a model."""
    layers = recommended_layers()
    if model not in layers:
        raise InvalidInput(
            f"no layer is recommended for the model {model}: name one (layer=N), "
            "or find the best on judged outputs with `billboards bertscore tune`"
        )
    return layers[model]
