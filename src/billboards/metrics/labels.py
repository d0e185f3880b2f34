"""How a column is headed: by its metric's name, and for BERTScore by the model, too.

BERTScores of two models are two metrics, and the small embedded one is no stand-in for roberta-large. The name that
people type, the cells and the signatures stay as they are; tables, pages and charts show the label, which is read off
the signature. Wherever a name is typed, its label will do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from billboards.metrics.spelling import cut_options

_BERTSCORE = "BERTScore"
#: What the embedded model is called on its package's page and on the hub, and how it is shown.
_SHORT = {"minilm": "MiniLM", "all-MiniLM-L6-v2": "MiniLM"}
_NAME = re.compile(rf"{_BERTSCORE}(?:\((?P<options>.*?)\))?(?P<rest>(?:\[[^\]]*\])?(?: \((?:own|imported)\))?)")


def column_label(name: str, signature: str | None) -> str:
    """A column's heading: "BERTScore (MiniLM)" of BERTScore by the embedded model, other names as they are."""
    model = _model(signature or "")
    match = _NAME.fullmatch(name)
    if model is None or match is None:
        return name
    options = [f"{key}={value}" for key, value in cut_options(name, match["options"] or "") if key != "model"]
    others = f"({','.join(options)})" if options else ""
    return f"{_BERTSCORE} ({shown_model(model)}){others}{match['rest']}"


def shown_model(model: str) -> str:
    """A model's name without its owner on the hub."""
    short = model.rstrip("/").rpartition("/")[2]
    return _SHORT.get(short, short)


def _model(signature: str) -> str | None:
    """The model in a signature of BERTScore."""
    metric, *facts = signature.split("|")
    named = [fact.removeprefix("model:") for fact in facts if fact.startswith("model:")]
    return named[0] if metric == _BERTSCORE and named else None


def relabelled_text(text: str, labels: Mapping[str, str]) -> str:
    """A sentence with labels for names; what is labelled already, and signatures, stay as they are."""
    for name in sorted(labels, key=len, reverse=True):
        suffix = re.escape(labels[name].removeprefix(name)) if labels[name].startswith(name) else r"\|"
        plain = re.compile(rf"(?<!\w){re.escape(name)}(?![\w(|]|{suffix})")
        text = labels[name].join(plain.split(text))
    return text
