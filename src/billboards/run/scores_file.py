"""The file of scores that a program leaves behind: one number per line, in order, as many as there were outputs.

It is written by a stranger, so nothing is guessed: a line that is no plain decimal number, a number that isn't finite,
one line too many or too few are each refused by name, and no score is filled in.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed

Floats = NDArray[np.float64]

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)
#: No number needs more; a longer line is a mistake, or meant to hurt.
LONGEST_LINE = 400


def parse_scores(content: bytes, outputs: int, *, quoting: bool = True) -> Floats:
    """The scores in a file's content, one for each of so many outputs; MetricFailed says what is wrong with it.

    Without `quoting` the message says where, but repeats nothing that stands there.
    """
    lines = _lines(content)
    if not lines:
        raise MetricFailed(f"wrote an empty scores file; {outputs} lines with one score each are needed")
    scores = np.array([_number(line, k, quoting=quoting) for k, line in enumerate(lines, 1)], np.float64)
    if len(scores) != outputs:
        raise MetricFailed(f"wrote {len(scores)} scores for {outputs} outputs; write one line for each, in their order")
    return scores


def _lines(content: bytes) -> list[str]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise MetricFailed(f"scores line {line}: not UTF-8 text; write decimal numbers") from error
    return text.removesuffix("\n").split("\n") if text else []


def _number(line: str, k: int, *, quoting: bool) -> float:
    if len(line) > LONGEST_LINE:
        raise MetricFailed(f"scores line {k}: {len(line)} characters long; write one number per line")
    written = line.strip(" \t\r")
    if NOT_FINITE.fullmatch(written):
        raise MetricFailed(f"scores line {k}: {written} is not finite; every output needs a finite score")
    if NUMBER.fullmatch(written) is None:
        quoted = repr(written[:60]) if quoting else "what stands there"
        what = quoted if written else "an empty line"
        raise MetricFailed(f"scores line {k}: {what} is no number; write one decimal number per line")
    score = float(written)
    if not np.isfinite(score):
        what = written[:60] if quoting else "the number"
        raise MetricFailed(f"scores line {k}: {what} is too large to be finite; every output needs a finite score")
    return score
