"""The kinds of fitted models: each predicts, and is written down as plain JSON and read back to the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.kernels.boosting import Trees

Floats = NDArray[np.float64]

#: Bounds on what is read from strangers' documents.
MOST_PLACES, MOST_MEMBERS, MOST_DEPTH = 2_000_000, 100, 4


class Model(Protocol):
    """Anything fitted: from inputs (outputs × inputs) to what people would say."""

    def predict(self, inputs: Floats) -> Floats: ...

    def document(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class LinearModel:
    """intercept + Σ weight · (input - centre) / scale."""

    weights: Floats
    centre: Floats
    scale: Floats
    intercept: float

    def predict(self, inputs: Floats) -> Floats:
        used = np.flatnonzero(self.weights)
        slopes = self.weights[used] / self.scale[used]
        return np.asarray(self.intercept + (inputs[:, used] - self.centre[used]) @ slopes)

    def document(self) -> dict[str, Any]:
        return {
            "kind": "linear",
            "weights": self.weights.tolist(),
            "centre": self.centre.tolist(),
            "scale": self.scale.tolist(),
            "intercept": self.intercept,
        }


@dataclass(frozen=True, kw_only=True)
class TreesModel:
    """Boosted trees."""

    trees: Trees

    def predict(self, inputs: Floats) -> Floats:
        return self.trees.predict(inputs)

    def document(self) -> dict[str, Any]:
        """Inner nodes only as far as each tree has them: [input, limit, left, right] or [value]."""
        trees, nodes = self.trees, self.trees.nodes
        written = []
        for start in range(0, len(trees.input), nodes):
            size = 1 + int(trees.children[2 * start : 2 * (start + nodes)].max(initial=0))
            written.append([_node(trees, k) for k in range(start, start + size)])
        return {"kind": "trees", "inputs": trees.inputs, "base": trees.base, "nodes": nodes, "trees": written}


def _node(trees: Trees, k: int) -> list[float]:
    if trees.input[k] < 0:
        return [float(trees.value[k])]
    return [int(trees.input[k]), float(trees.limit[k]), int(trees.children[2 * k]), int(trees.children[2 * k + 1])]


@dataclass(frozen=True, kw_only=True)
class MixedModel:
    """intercept + Σ weight · (member's prediction - intercept)."""

    members: tuple[Model, ...]
    weights: tuple[float, ...]
    intercept: float

    def predict(self, inputs: Floats) -> Floats:
        total = np.full(len(inputs), self.intercept)
        for member, weight in zip(self.members, self.weights, strict=True):
            total += weight * (member.predict(inputs) - self.intercept)
        return total

    def document(self) -> dict[str, Any]:
        return {
            "kind": "mixed",
            "members": [member.document() for member in self.members],
            "weights": list(self.weights),
            "intercept": self.intercept,
        }


def read_model(document: Mapping[str, Any], inputs: int, depth: int = 0) -> Model:
    """A model from its document; whatever does not fit together is refused."""
    try:
        match document["kind"]:
            case "linear":
                return _read_linear(document, inputs)
            case "trees":
                return _read_trees(document, inputs)
            case "mixed" if depth < MOST_DEPTH:
                return _read_mixed(document, inputs, depth)
            case kind:
                raise InvalidInput(f"an ensemble's model of kind {str(kind)[:40]!r} is not known; use a newer version")
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise InvalidInput(f"an ensemble's model is damaged ({error}); get it anew") from error


def _read_linear(document: Mapping[str, Any], inputs: int) -> LinearModel:
    weights, centre, scale = (_numbers(document[name], inputs) for name in ("weights", "centre", "scale"))
    if not scale.all():
        raise ValueError("a scale of 0")
    return LinearModel(weights=weights, centre=centre, scale=scale, intercept=_number(document["intercept"]))


def _read_trees(document: Mapping[str, Any], inputs: int) -> TreesModel:
    written, nodes = document["trees"], int(document["nodes"])
    if int(document["inputs"]) != inputs or not 1 <= nodes <= 8192 or len(written) * nodes > MOST_PLACES:
        raise ValueError("trees of other inputs or sizes")
    places = len(written) * nodes
    trees = Trees(
        inputs=inputs,
        nodes=nodes,
        base=_number(document["base"]),
        input=np.full(places, -1, np.int32),
        limit=np.zeros(places),
        children=np.zeros(2 * places, np.int32),
        value=np.zeros(places),
    )
    for number, tree in enumerate(written):
        if not 1 <= len(tree) <= nodes:
            raise ValueError("a tree of the wrong size")
        for place, node in enumerate(tree):
            k = number * nodes + place
            if len(node) == 1:
                trees.value[k] = _number(node[0])
                continue
            feature, limit, left, right = node
            trees.input[k], trees.limit[k] = int(feature), float(limit)
            trees.children[2 * k : 2 * k + 2] = int(left), int(right)
            inside = 0 <= int(feature) < inputs and all(place < int(child) < len(tree) for child in (left, right))
            if not inside or np.isnan(trees.limit[k]):
                raise ValueError("a tree that leads nowhere")
    return TreesModel(trees=trees)


def _read_mixed(document: Mapping[str, Any], inputs: int, depth: int) -> MixedModel:
    members = document["members"]
    if not 1 <= len(members) <= MOST_MEMBERS or len(members) != len(document["weights"]):
        raise ValueError("members and weights that don't fit")
    return MixedModel(
        members=tuple(read_model(member, inputs, depth + 1) for member in members),
        weights=tuple(_number(weight) for weight in document["weights"]),
        intercept=_number(document["intercept"]),
    )


def _numbers(values: Any, count: int) -> Floats:
    numbers = np.array(values, np.float64)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ValueError("numbers of another count, or not finite")
    return numbers


def _number(value: Any) -> float:
    number = float(value)
    if not np.isfinite(number):
        raise ValueError("a number that is not finite")
    return number
