"""Which generators are a judge's kin: those that somebody names, or whose name or card shares the model's family.

A judge's model stands in its signature. `gpt-4o-2024-08-06` is kin to GPT4-5shot: both names have the word gpt. Words
that any model's name may have say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from billboards.board import Board, Generator
from billboards.errors import UnknownName

#: Words of models' names that name no family.
COMMON = frozenset(
    {"base", "beta", "chat", "exp", "flash", "haiku", "instruct", "judge", "lab", "labs", "large", "latest", "lite"}
    | {"max", "medium", "mini", "model", "models", "nano", "opus", "org", "preview", "pro", "small", "sonnet", "stand"}
    | {"test", "the", "thinking", "tiny", "turbo", "ultra", "unknown", "xxl"}
)
#: Letters that a family's name has at least.
SHORTEST = 3
_MODEL = re.compile(r"\|models?:([^|]+)")


def named_kin(board: Board, names: Sequence[str]) -> frozenset[str]:
    """The generators of these names, which must be there."""
    named_rows = {row.name for row in board.rows if row.generator is not None}
    for name in names:
        if name not in named_rows:
            raise UnknownName("generator", name, named_rows)
    return frozenset(names)


def kin_of(board: Board, signature: str) -> frozenset[str]:
    """The generators that share a family with the model that a judge's signature names."""
    model = _MODEL.search(signature) if signature.startswith("judge") else None
    if model is None:
        return frozenset()
    families = _words(model[1])
    return frozenset(
        row.name for row in board.rows if row.generator is not None and families & _words(_told(row.generator))
    )


def _told(generator: Generator) -> str:
    """What says which model a generator is: its name, and the models that its card names in back quotes."""
    quoted = re.findall(r"`([^`]+)`", generator.description or "")
    return " ".join((generator.name, *quoted))


def _words(text: str) -> frozenset[str]:
    """The words of a name that can be a family's, without numbers: gpt of GPT4."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    return frozenset(word.casefold() for word in words if len(word) >= SHORTEST) - COMMON
