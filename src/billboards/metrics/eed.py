"""EED, the extended edit distance (Stanchev et al. 2019).

An edit distance of characters in which letters of the output may be passed over at a small cost, and at each blank of
the reference the path may jump to any place in the output. Letters of the output that are visited not once but more
often or never add to the cost. With several references the lowest counts; a corpus's score is the mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import CorpusKind, Floats, MetricCard
from billboards.metrics.kernels.calling import F64, I32, I64, U32, Kernel
from billboards.metrics.kernels.items import Items, check_lengths
from billboards.metrics.kernels.texts import pack
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.summed import Rows, SummedMetric

_scores = Kernel("_edits", "eed_scores", (U32, I64, I32, I32, I64, int, int, float, float, float, float, F64))

#: The most that the letters of an output and a reference may multiply to.
MOST_CELLS = 4_000_000_000

_MARK = re.compile(r"[.!?,]")
_BLANKS = re.compile(r"\s+")
_NUMBER = re.compile(r"(\d) ([.,]) (\d)")
#: The authors' pattern takes any character for the full stop of a title ("Dr Who" becomes "Dr.ho"); so it does here,
#: because scores of other programs do the same.
_TITLE = re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) .")
_ABBREVIATION = re.compile(r"e \. g \.|i \. e \.|U \. S \.")


@dataclass(frozen=True)
class EED(SummedMetric):
    """The extended edit distance; `alpha` is the cost of a jump, `rho` that of a letter not visited exactly once."""

    alpha: float = 2.0
    rho: float = 0.3
    deletion: float = 0.2
    insertion: float = 1.0

    corpus: ClassVar[CorpusKind] = "mean"
    card: ClassVar[MetricCard] = MetricCard(
        name="EED",
        summary="Edit distance of characters with jumps, between 0 and 1",
        higher_is_better=False,
        range=(0.0, 1.0),
        training_data="none (its four costs were tuned on WMT's human judgments)",
        licence="Apache-2.0 (own code, from the paper's definition)",
        paper="Stanchev, Wang and Ney 2019, EED: Extended Edit Distance Measure for Machine Translation, WMT",
        failures="Texts are prepared by rules for tokenised English. Jumps happen at blanks "
        "only: scripts without spaces have none. Time grows with the square of the length: texts whose lengths in "
        "characters multiply to more than 4,000 million (63,000 each) are refused.",
    )

    def versions(self) -> dict[str, str]:
        return {"kernel": "1"}

    def statistics(self, items: Items) -> Rows:
        """The score of each item, and a one to count it by."""
        costs = (float(self.alpha), float(self.rho), float(self.deletion), float(self.insertion))
        if not all(0 <= cost < float("inf") for cost in costs):
            raise InvalidInput(f"{self.name}: costs must be numbers that are not negative")
        letters = pack([prepared(text) for text in items.texts])
        check_lengths(self.name, np.diff(letters.offsets), items, MOST_CELLS, "characters")
        rows = np.ones((len(items), 2))
        scores = np.empty(len(items))
        given = (letters.codes, letters.offsets, items.outputs, items.references, items.bounds)
        in_parts(lambda start, stop: _scores(*given, start, stop, *costs, scores), len(items), smallest=16)
        rows[:, 0] = scores
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        scores: Floats = rows[:, 0] / rows[:, 1]
        return scores


def prepared(text: str) -> str:
    """A text with a blank at either end and before each mark; numbers and abbreviations in pieces are joined again."""
    text = _BLANKS.sub(" ", _MARK.sub(r" \g<0>", text.rstrip()))
    text = _TITLE.sub(r"\1.", _NUMBER.sub(r"\1\2\3", text))
    text = _ABBREVIATION.sub(lambda match: match[0].replace(" ", ""), text)
    return f" {text} "


METRICS = {"EED": EED}
