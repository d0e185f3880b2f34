"""Making things ahead of those who take them: the next window is tokenised while the device works on this one."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

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
