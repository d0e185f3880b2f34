"""What people said by comparing outputs, as pairs: of two outputs of an instance one is better, or they are alike.

A judgment may prefer some of the outputs it speaks of (these are alike, and each is better than each other one), or
none of them (all are alike), or put all of them in order, equal ones together. Each of these is a number of pairs, and
pairs are what the statistics of preferences are about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.board.judgments import Aggregate, Floats, Ints
from billboards.board.model import Board


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """Pairs of outputs by position: better row, worse row, instance, who said so (-1 for unknown), and whether alike.

    Where two outputs are alike, which of them stands as the better one means nothing.
    """

    better: Ints
    worse: Ints
    instance: Ints
    annotator: Ints
    tied: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.better)

    @cached_property
    def decided(self) -> Preferences:
        """The pairs of which one output is better; ties say nothing about which way a metric should go."""
        return self.where(~self.tied)

    def where(self, chosen: NDArray[np.bool_]) -> Preferences:
        """Some of the pairs."""
        return Preferences(
            better=self.better[chosen],
            worse=self.worse[chosen],
            instance=self.instance[chosen],
            annotator=self.annotator[chosen],
            tied=self.tied[chosen],
        )

    def share_won(self, shape: tuple[int, ...]) -> Floats:
        """How many of its comparisons each output won, in percent, a tie counting half; NaN where it has none."""
        won, all_of = np.zeros(shape), np.zeros(shape)
        for row, worth in ((self.better, np.where(self.tied, 0.5, 1.0)), (self.worse, np.where(self.tied, 0.5, 0.0))):
            np.add.at(won, (row, self.instance), worth)
            np.add.at(all_of, (row, self.instance), 1.0)
        shares = np.full(shape, np.nan)
        np.divide(100.0 * won, all_of, out=shares, where=all_of > 0)
        return shares


def is_preference(board: Board, aggregate: Aggregate) -> bool:
    """Whether people compared outputs on what an aggregate speaks of, and gave no values."""
    return all(board.dimensions[name].kind == "preference" for name in aggregate.dimensions)


def preferred_pairs(board: Board, aggregate: Aggregate) -> Preferences:
    """Every pair that people compared on the dimensions of an aggregate, test questions aside."""
    judgments = board.judgments
    of_campaigns = judgments.of_campaigns(aggregate.campaigns)
    pairs = [
        (first, second, judgments.instance[k], judgments.annotator[k], tied)
        for k, detail in judgments.details.items()
        if of_campaigns[k] and not detail.get("test") and compared_on(board, detail) in aggregate.dimensions
        for first, second, tied in _pairs(board, k, detail)
    ]
    better, worse, instance, annotator, tied = np.array(pairs, np.int32).reshape(-1, 5).T
    return Preferences(better=better, worse=worse, instance=instance, annotator=annotator, tied=tied.astype(bool))


def compared_on(board: Board, detail: Mapping[str, Any]) -> str | None:
    """The dimension on which a judgment compares outputs; it need not say where the board has only one such."""
    if not detail.get("others") or not ("prefers" in detail or "order" in detail):
        return None
    only = [d.name for d in board.dimensions.values() if d.kind == "preference"]
    dimension: str | None = detail.get("dimension", only[0] if len(only) == 1 else None)
    return dimension


def _pairs(board: Board, k: int, detail: Mapping[str, Any]) -> Iterator[tuple[int, int, bool]]:
    """Better row, worse row, and whether they are alike."""
    instance = int(board.judgments.instance[k])
    row_of = {_called(board, row, instance): row for row in (int(board.judgments.row[k]), *detail["others"])}
    places = [[row_of[name] for name in place] for place in _places(detail, list(row_of))]
    for better, worse in combinations(places, 2):
        yield from ((a, b, False) for a, b in product(better, worse))
    alike = places if "order" in detail else places[:1]
    yield from ((a, b, True) for place in alike for a, b in combinations(place, 2))


def _places(detail: Mapping[str, Any], names: Sequence[str]) -> list[list[str]]:
    """The outputs judged, best first, equal ones together."""
    if "order" in detail:
        return [[place] if isinstance(place, str) else list(place) for place in detail["order"]]
    preferred = detail["prefers"]
    chosen = [preferred] if isinstance(preferred, str) else list(preferred)
    return [place for place in (chosen, [name for name in names if name not in chosen]) if place]


def _called(board: Board, row: int, instance: int) -> str:
    """What a judgment calls an output: its generator, or its own id where it has none."""
    outputs = board.rows[row]
    return outputs.name if outputs.generator is not None else outputs.ids[instance] or ""
