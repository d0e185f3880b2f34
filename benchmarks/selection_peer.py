"""The peer's side of the selection benchmark: subset2evaluate's own functions, run by an interpreter that has it.

Reads a JSON file with items as subset2evaluate takes them, populations (lists of item numbers) and methods, and prints
the order in which each method would have each population judged. Diversity depends on an item alone, so it is computed
once; the others are asked anew for each population.

    PEER_PYTHON benchmarks/selection_peer.py REQUEST.json > orders.json
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

#: Methods whose utility of an item does not depend on the other items.
ALONE = ("diversity",)


def orders(request: dict[str, Any]) -> dict[str, list[list[int]]]:
    """The order of every population by every method."""
    methods = import_module("subset2evaluate.methods")
    items = request["items"]
    result: dict[str, list[list[int]]] = {}
    for name, method, metric in request["methods"]:
        ask = methods.METHODS[method]
        alone = ask(items, metric=metric) if method in ALONE else None
        result[name] = []
        for population in request["populations"]:
            chosen = [items[k] for k in population]
            worth = [alone[k] for k in population] if alone is not None else ask(chosen, metric=metric)
            # The package sorts with Python's own sort, highest first.
            result[name].append(sorted(range(len(population)), key=list(worth).__getitem__, reverse=True))
    return result


if __name__ == "__main__":
    print(json.dumps(orders(json.loads(Path(sys.argv[1]).read_text("utf-8")))))
