"""How a metric is written: a name, and options in brackets, as in `chrF(beta=1)` or `BLEU(tokenize=zh)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from billboards.errors import InvalidInput

#: One option with its value: up to a comma that stands in no square brackets and no quotes.
_OPTION = re.compile(r"""(?:\[[^\]]*\]|"[^"]*"|'[^']*'|[^,])+""")


def cut_name(spec: str) -> tuple[str, str]:
    """A name and what stands in its brackets."""
    match = re.fullmatch(r"\s*([^()]+?)\s*(?:\((.*)\))?\s*", spec)
    if match is None:
        raise InvalidInput(f"{spec!r} is not a metric; write NAME or NAME(option=value,…)")
    return match[1], match[2] or ""


def cut_options(spec: str, text: str) -> Iterator[tuple[str, str]]:
    """Options and their values as they stand in the brackets of a name."""
    for item in filter(None, (part.strip() for part in _OPTION.findall(text))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals:
            raise InvalidInput(f"{spec!r}: option {item!r} has no value; write NAME(option=value)")
        yield key, value


def read_value(text: str, *, takes_text: bool = False) -> object:
    """A value as Python reads it; an option that takes text gets what is no quoted text as it stands."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        # Python gives up on what is nested too deeply in one of several ways.
        return text
    return text if takes_text and not isinstance(value, str) else value
