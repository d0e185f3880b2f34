"""A board of any size, worked off in pieces of bounded size.

Windows hold distinct texts: outputs that share references stand together, whichever generator wrote them, so a
reference is embedded once for all generators, and equal outputs of one instance are one text. A window is closed when
its texts have a given number of characters; nothing but the scores outlives it, so memory doesn't grow with the board.
The next window is tokenised while the device works on this one.

What memory holds is known only by trying: other programs use it, too, and it is cut up by what came before. So a batch
is tried, and one that fails for want of memory is halved and tried again, down to a single item.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed
from billboards.metrics.neural.tokens import Tokens

if TYPE_CHECKING:
    from torch import Tensor


def halve_until_it_fits(items: NDArray[np.intp], work: Callable[[NDArray[np.intp]], Tensor]) -> Tensor:
    """What `work` gives for these items, along the last dimension but one."""
    import torch

    try:
        return work(items)
    except RuntimeError as error:
        if not ran_out_of_memory(error):
            raise
        if len(items) == 1:
            raise MetricFailed("memory doesn't suffice for a single text; use another device or model") from error
    # The error is gone here, and with it the tensors its traceback held.
    free_memory()
    middle = len(items) // 2
    return torch.cat([halve_until_it_fits(half, work) for half in (items[:middle], items[middle:])], -2)


def free_memory() -> None:
    """Give back what torch holds on to, so that smaller pieces fit."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def ran_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch failed for want of memory; on a CPU it says so in words only."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


T = TypeVar("T")


@dataclass(frozen=True)
class _End:
    """No more items, and why: the error that ended them, if one did."""

    error: BaseException | None = None


class Ahead(Generic[T]):
    """An iterator whose items a thread of its own makes, a few steps ahead; several threads may take from it."""

    def __init__(self, items: Iterable[T], depth: int = 2) -> None:
        self._made: queue.Queue[T | _End] = queue.Queue(depth)
        self._stopped = threading.Event()
        threading.Thread(target=self._make, args=(items,), daemon=True).start()

    def __iter__(self) -> Ahead[T]:
        return self

    def __next__(self) -> T:
        item = self._made.get()
        if not isinstance(item, _End):
            return item
        # Whoever else takes from here must find the end, too.
        self._made.put(item)
        if item.error is not None:
            raise item.error
        raise StopIteration

    def stop(self) -> None:
        """Make no more items, and let everybody who takes find the end."""
        self._stopped.set()
        while not self._made.empty():
            self._made.get_nowait()
        self._made.put(_End())

    def _make(self, items: Iterable[T]) -> None:
        end = _End()
        try:
            for item in items:
                if not self._put(item):
                    return
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the item is taken
            end = _End(error)
        self._put(end)

    def _put(self, item: T | _End) -> bool:
        while not self._stopped.is_set():
            try:
                self._made.put(item, timeout=0.2)
            except queue.Full:
                continue
            return True
        return False


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
        count = len(self.numbers)
        number = self.numbers.setdefault(text.strip(), count)
        if number == count:
            self.characters += len(text) + 2
        return number

    def close(self) -> Window:
        pairs = (np.array(column, np.intp) for column in (self.outputs, self.references, self.items))
        return Window(list(self.numbers), *pairs)


def tokenised(windows: Iterable[Window], tokenize: Callable[[Sequence[str]], Tokens]) -> Iterator[TokenWindow]:
    """The windows with their tokens, each in one batch call."""
    for window in windows:
        yield TokenWindow(window.texts, window.outputs, window.references, window.items, tokenize(window.texts))
