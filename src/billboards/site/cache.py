"""What one process keeps of a site between two looks: live boards, plans, opened programs, labels of campaigns.

Each kind of thing has a shelf of its own, and a key is looked up on one shelf only: whatever boards are called, nothing
of one kind is taken for another. What stands on a shelf says by itself whether it is still right.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Shelf(Generic[K, V]):
    """The place of one kind of thing, by key; made once, by the module that keeps such things."""


@dataclass
class Cache:
    """The shelves of one process."""

    _shelves: dict[Any, dict[Any, Any]] = field(default_factory=dict, repr=False)

    def get(self, shelf: Shelf[K, V], key: K) -> V | None:
        """What was last put there under this key."""
        value: V | None = self._shelves.get(shelf, {}).get(key)
        return value

    def put(self, shelf: Shelf[K, V], key: K, value: V) -> V:
        """Keep a value in the place of the last one."""
        self._shelves.setdefault(shelf, {})[key] = value
        return value
