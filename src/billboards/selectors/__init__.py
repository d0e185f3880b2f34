"""Selectors: what a label is worth on each instance, one file for each way to say so.

`SELECTORS` knows those of this package and those that other packages offer by the entry point `billboards.selectors`
(docs/selecting.md). `billboards next` and campaigns choose by them what is judged.
"""

from __future__ import annotations

from billboards.registry import Registry
from billboards.selectors._selector import Candidates, Selector, selector

#: Every selector by name.
SELECTORS = Registry(kind="selector", room=__name__, type=Selector)

__all__ = ["SELECTORS", "Candidates", "Selector", "selector"]
