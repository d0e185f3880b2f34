"""A clone of cider-matlab with five pairs of captions, as MATLAB keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io


def pascal_clone(root: Path, **changes: Any) -> Path:
    """Five pairs of two images: one of each category, and one of a caption with itself."""
    rows = [
        ("a.jpg", " A dog.", " A black dog. ", (6, 6), 1, [1, -1, 1]),
        ("a.jpg", "A cat.", "A dog.", (7, 6), 2, [-1, -1, -1]),
        ("b.jpg", "Sun.", "Moon.", (6, 3), 3, [1, -1]),
        ("b.jpg", "Sun.", "Stars.", (1, 5), 4, [1, 0, 1]),
        ("b.jpg", "Sun.", " Sun.", (1, 2), 4, [1, 1, -1]),
    ]
    inputs = np.zeros((1, len(rows)), [("name", "O"), ("sent1", "O"), ("sent2", "O")])
    results = np.zeros((1, len(rows)), [("result", "O")])
    for k, (image, first, second, _, _, votes) in enumerate(rows):
        inputs[0, k], results[0, k] = (image, first, second), (np.array([votes], float),)
    pairs = {
        "new_input": inputs,
        "new_data": np.array([row[3] for row in rows], float),
        "category": np.array([[row[4] for row in rows]], float),
        "result": results,
    }
    references = np.zeros((1, 1), [("image", "O"), ("sent", "O")])
    sentences = np.empty((1, 2), object)
    sentences[0, :] = ["The sun shines.", "Moonlight."]
    references[0, 0] = ("b.jpg", sentences)
    (root / "data").mkdir(parents=True)
    scipy.io.savemat(root / "data" / "pair_pascal.mat", pairs | changes, do_compression=True)
    scipy.io.savemat(root / "data" / "pascal50S.mat", {"refs": references})
    return root
