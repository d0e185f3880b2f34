"""The hash code that papers print beside a BERTScore: model, layer, idf, versions, and rescaling if it happened.

The format is bert_score's. The version says that the numbers come from here, and `rescaled` stands there only when a
baseline was applied.
"""

from __future__ import annotations

from billboards.metrics.neural.installed import installed_version


def hash_code(model: str, layer: int | None, *, idf: bool, rescaled: bool, own_baseline: bool = False) -> str:
    """One line that names everything a score depends on; `own_baseline` says that the user brought the baseline."""
    weighting = "idf" if idf else "no-idf"
    versions = f"version=billboards-{installed_version('billboards')}(hug_trans={installed_version('transformers')})"
    ending = ("-custom-rescaled" if own_baseline else "-rescaled") if rescaled else ""
    return f"{model}_L{'all' if layer is None else layer}_{weighting}_{versions}{ending}"
