"""Who watches a model at work is told, batch by batch, how many texts it has read.

A learned metric scores all generators of a board in one go, which may take hours: what shows how far scoring has come
registers here, and needn't know which model it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: What is called with the number of texts in each batch that was read.
Watcher = Callable[[int], None]
_watchers: list[Watcher] = []


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """As long as this lasts, somebody is told of every batch; calls may come from several threads."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def tell(texts: int) -> None:
    """So many further texts were read."""
    for watcher in tuple(_watchers):
        watcher(texts)
