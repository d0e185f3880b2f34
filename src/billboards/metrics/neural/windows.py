"""A board of any size as windows of bounded size, each with its distinct texts.

Outputs that share references stand together, whichever generator wrote them: so a reference is embedded once for all
generators, and equal outputs of one instance are one text. A window is closed when its texts have a given number of
characters; nothing but the scores outlives it, so memory doesn't grow with the board.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.neural.tokens import Tokens

Indices = NDArray[np.intp]
#: The first window is a small one, so that the device has work while the next one is tokenised.
FIRST = 8


@dataclass(frozen=True)
class Window:
    """Some outputs with their references, as pairs of distinct texts: pair k belongs to the output `items[k]`."""

    texts: Sequence[str]
    outputs: Indices
    references: Indices
    items: Indices


@dataclass(frozen=True)
class TokenWindow(Window):
    """A window whose texts were tokenised."""

    tokens: Tokens

    def halves(self) -> tuple[TokenWindow, TokenWindow]:
        """The window as two, each with the texts of its own pairs."""
        middle = len(self.items) // 2
        return self._part(slice(None, middle)), self._part(slice(middle, None))

    def _part(self, pairs: slice) -> TokenWindow:
        outputs, references = self.outputs[pairs], self.references[pairs]
        texts, own = np.unique(np.concatenate((outputs, references)), return_inverse=True)
        named = [self.texts[text] for text in texts]
        return TokenWindow(named, own[: len(outputs)], own[len(outputs) :], self.items[pairs], self.tokens.some(texts))


def plan_windows(outputs: Sequence[str], references: Sequence[Sequence[str]], characters: int) -> Iterator[Window]:
    """The outputs in windows of about so many characters of distinct text."""
    limit = max(characters // FIRST, 1)
    growing = _Growing()
    for item in _by_references(references):
        growing.add(item, outputs[item], references[item])
        if growing.characters >= limit:
            yield growing.close()
            growing, limit = _Growing(), characters
    if growing.items:
        yield growing.close()


def _by_references(references: Sequence[Sequence[str]]) -> NDArray[np.intp]:
    """Positions of the outputs, those with equal references together, in order of first appearance."""
    number: dict[tuple[str, ...], int] = {}
    groups = np.fromiter((number.setdefault(tuple(texts), len(number)) for texts in references), np.intp)
    return np.argsort(groups, kind="stable")


class _Growing:
    """A window that is being filled."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.characters = 0
        self.outputs: list[int] = []
        self.references: list[int] = []
        self.items: list[int] = []

    def add(self, item: int, output: str, references: Sequence[str]) -> None:
        written = self._number(output)
        for reference in references:
            self.outputs.append(written)
            self.references.append(self._number(reference))
            self.items.append(item)

    def _number(self, text: str) -> int:
        known = len(self.numbers)
        number = self.numbers.setdefault(text.strip(), known)
        if number == known:
            self.characters += len(text) + 2
        return number

    def close(self) -> Window:
        pairs = (np.array(one, np.intp) for one in (self.outputs, self.references, self.items))
        return Window(list(self.numbers), *pairs)


def tokenised(windows: Iterable[Window], tokenize: Callable[[Sequence[str]], Tokens]) -> Iterator[TokenWindow]:
    """The windows with their tokens, each in one batch call."""
    for window in windows:
        yield TokenWindow(window.texts, window.outputs, window.references, window.items, tokenize(window.texts))
