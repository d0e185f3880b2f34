"""Writes an aggregator of Nubia's authors, a pickled network of scikit-learn, as numbers that the pack reads.

A pickle runs what is in it when it is read: convert only what you trust. Needs scikit-learn and joblib, which the pack
itself does without.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def convert(network: Any) -> dict[str, Any]:
    """A scikit-learn MLPRegressor as weights (inputs × outputs), biases and activations."""
    if not hasattr(network, "coefs_") or not hasattr(network, "intercepts_"):
        sys.exit(f"holds a {type(network).__name__}; a network with layers (MLPRegressor) is needed")
    layers = zip(network.coefs_, network.intercepts_, strict=True)
    return {
        "activation": network.activation,
        "output_activation": network.out_activation_,
        "layers": [{"weight": weight.tolist(), "bias": bias.tolist()} for weight, bias in layers],
    }


def main(pickled: str, written: str) -> None:
    import joblib  # type: ignore[import-untyped]

    Path(written).write_text(json.dumps(convert(joblib.load(pickled))), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python convert_aggregator.py AGGREGATOR.joblib models/aggregator.json")
    main(*sys.argv[1:])
