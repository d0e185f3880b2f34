"""The file of scores that a program leaves behind: one number per line, in order, as many as there were outputs.

It is written by a stranger, so nothing is guessed: a line that is no plain decimal number, a number that isn't finite,
one line too many or too few are each refused by name, and no score is filled in.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed
from billboards.run.verdicts import WITHHELD

Floats = NDArray[np.float64]

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)
#: No number needs more; a longer line is a mistake, or meant to hurt.
LONGEST_LINE = 400
#: Lines beyond one for each output that are still looked at, so that a message can say what stands there.
LINES_BEYOND = 100


def parse_scores(content: bytes, outputs: int, *, quoting: bool = True) -> Floats:
    """The scores in a file's content, one for each of so many outputs; MetricFailed says what is wrong with it.

    Without `quoting` the message tells nothing that the program could choose, not even where.
    """
    try:
        return _parsed(content, outputs)
    except MetricFailed as error:
        if quoting:
            raise
        raise MetricFailed(
            f"wrote no file of one finite decimal number for each output, in their order; {WITHHELD}"
        ) from error


def _parsed(content: bytes, outputs: int) -> Floats:
    # Before anything is made of it: a file of the largest size would take forty times its memory as texts.
    count = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    if count > outputs + LINES_BEYOND:
        raise MetricFailed(f"wrote {count} scores for {outputs} outputs; write one line for each, in their order")
    lines = _lines(content)
    if not lines:
        raise MetricFailed(f"wrote an empty scores file; {outputs} lines with one score each are needed")
    scores = np.array([_number(line, k) for k, line in enumerate(lines, 1)], np.float64)
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


def _number(line: str, k: int) -> float:
    if len(line) > LONGEST_LINE:
        raise MetricFailed(f"scores line {k}: {len(line)} characters long; write one number per line")
    written = line.strip(" \t\r")
    if NOT_FINITE.fullmatch(written):
        raise MetricFailed(f"scores line {k}: {written} is not finite; every output needs a finite score")
    if NUMBER.fullmatch(written) is None:
        what = repr(written[:60]) if written else "an empty line"
        raise MetricFailed(f"scores line {k}: {what} is no number; write one decimal number per line")
    score = float(written)
    if not np.isfinite(score):
        raise MetricFailed(
            f"scores line {k}: {written[:60]} is too large to be finite; every output needs a finite score"
        )
    return score
