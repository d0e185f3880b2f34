"""Writes what bert_score publishes as numbers into the package: each model's layer, and baselines by language.

Run where bert_score is installed; tests compare the files with the package that is installed beside them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "src" / "billboards" / "metrics" / "neural" / "data"


def layers() -> Iterator[tuple[str, int]]:
    """Every model with the layer that bert_score reads."""
    from bert_score.utils import model2layers

    yield from sorted(model2layers.items())


def baselines() -> Iterator[tuple[str, ...]]:
    """Language, model, layer, and b of P, R and F1, as bert_score writes them."""
    spec = find_spec("bert_score")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent / "rescale_baseline"
    for path in sorted(root.rglob("*.tsv")):
        language, *names = path.relative_to(root).with_suffix("").parts
        with path.open(encoding="utf-8", newline="") as file:
            _, *rows = csv.reader(file)
        yield from ((language, "/".join(names), *row) for row in rows)


def write(name: str, header: tuple[str, ...], rows: Iterator[tuple[object, ...]]) -> None:
    with (DATA / name).open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter="\t", lineterminator="\n")
        lines.writerow(header)
        lines.writerows(rows)


if __name__ == "__main__":
    write("layers.tsv", ("model", "layer"), layers())
    write("baselines.tsv", ("language", "model", "layer", "P", "R", "F"), baselines())
