"""Runs a metric that is one Python function, inside the sandbox, by the contract of run.sh.

Like the launcher it stands alone. It reads the three files of JSON lines, calls `score(outputs, references, inputs)`,
and writes what comes back, checked just enough to say in the author's own terms what is wrong with it; the outside
checks the file again.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

Score = Callable[[list[str], list[list[str]], list[str]], Any]


def main(program: str, source: str, generator: str, references: str, scores: str) -> None:
    function = load(program)
    outputs = [line["hyp"] for line in lines(generator)]
    returned = function(outputs, [line["refs"] for line in lines(references)], [line["src"] for line in lines(source)])
    numbers = [number(value, k) for k, value in enumerate(returned)]
    if len(numbers) != len(outputs):
        sys.exit(f"score() returned {len(numbers)} scores for {len(outputs)} outputs; return one for each, in order")
    with open(scores, "w", encoding="utf-8") as file:  # noqa: PTH123 - one plain write
        file.writelines(f"{score!r}\n" for score in numbers)


def load(program: str) -> Score:
    """The function `score` of a Python file, which may import its neighbours."""
    sys.path.insert(0, str(Path(program).parent))
    spec = importlib.util.spec_from_file_location("submitted_metric", program)
    if spec is None or spec.loader is None:
        sys.exit(f"{Path(program).name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["submitted_metric"] = module
    spec.loader.exec_module(module)
    function: Score | None = getattr(module, "score", None)
    if not callable(function):
        sys.exit(f"{Path(program).name} has no function score(outputs, references, inputs)")
    return function


def lines(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return [json.loads(line) for line in file]


def number(value: object, k: int) -> float:
    """A score as a float; numbers of array libraries are welcome, truth values and texts are not."""
    if isinstance(value, bool) or not (isinstance(value, Real) or hasattr(value, "__float__")):
        sys.exit(f"score() returned {value!r:.60} for output {k + 1}; return a number for each output")
    return float(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
