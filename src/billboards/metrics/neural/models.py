"""Which model reads which language, and which of its layers (BERTScore, §4 and Table 8).

Only names: nothing is fetched here. The layer of the embedded model was chosen on WMT17, as docs/bertscore.md shows;
the other layers are the paper's, chosen on WMT16.
"""

from __future__ import annotations

from collections.abc import Mapping

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

RECOMMENDED_LAYER: Mapping[str, int] = {
    EMBEDDED: 6,
    EMBEDDED_ON_HUB: 6,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-cased-finetuned-mrpc": 9,
    MULTILINGUAL: 9,
    "bert-base-chinese": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlnet-base-cased": 5,
    "xlnet-large-cased": 7,
    "xlm-mlm-en-2048": 7,
    "xlm-mlm-100-1280": 11,
    "dbmdz/bert-base-turkish-cased": 10,
    "allenai/scibert_scivocab_uncased": 8,
}


def model_for(language: str) -> str:
    """The default model of a language, by its code (`en`, `zh`, `de`, `en-sci`)."""
    code = language.lower()
    return OF_LANGUAGE.get(code) or OF_LANGUAGE.get(code.replace("_", "-").split("-")[0], MULTILINGUAL)


def layer_for(model: str) -> int:
    """The recommended layer of a model."""
    if model not in RECOMMENDED_LAYER:
        raise InvalidInput(
            f"no layer is recommended for the model {model}: name one (layer=N), "
            "or find the best on judged outputs with `billboards bertscore tune`"
        )
    return RECOMMENDED_LAYER[model]
