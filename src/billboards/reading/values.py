"""Numbers and JSON as texts write them, read alike at every border.

Python's own `int` and `float` take more than people mean: digits of other scripts, `1_000`, blanks, `nan` and `inf`;
and its `isdigit` says yes to "²", which `int` then refuses. Here a number is written in decimal digits and is finite,
and JSON that can't be followed is a mistake of its text like any other.
"""

from __future__ import annotations

import json
import math
import re
from reprlib import Repr
from typing import Any, TypeGuard

#: Digits of the largest whole number that is read from a text: what fits into 64 bits.
MOST_DIGITS = 18
#: No number needs more characters; a longer one is a mistake, or meant to hurt.
LONGEST = 400

_shortened = Repr()
_shortened.maxstring = _shortened.maxother = 80

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def shown(value: object) -> str:
    """A value as a message shows it: never longer than a line, however large or deep it is."""
    return _shortened.repr(value)


def whole_number(text: str) -> int | None:
    """The number that decimal digits write; None where there are others, or more than any position or count has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def signed_number(text: str) -> int | None:
    """A whole number that may have a sign before its digits."""
    sign, digits = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    found = whole_number(digits)
    return -found if found is not None and sign == "-" else found


def decimal_number(text: str) -> float | None:
    """The finite number that a text writes with a point or an exponent; None where it writes none."""
    if len(text) > LONGEST or _DECIMAL.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value read from TOML or JSON is a finite number that a float can hold; true and false are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def json_value(text: str | bytes) -> Any:
    """What a JSON text says; a `ValueError` where it says nothing that Python can follow."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
