"""What a board's owner lets count: which doubts bar a generator, what metrics are measured on, and who may lead.

The rules stand under `[trust]` in `board.toml`, or in a site's settings of the board. Whatever they keep out stays
visible, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from billboards.board.doubts import Doubt

DoubtKind = Literal[
    "copies references",
    "copies a generator",
    "copies an earlier version",
    "copies inputs",
    "other order",
    "other language",
    "cut off",
    "tokenised",
    "lower case",
    "repeats itself",
    "empty",
]
DOUBTS: tuple[DoubtKind, ...] = get_args(DoubtKind)
Flagged = Literal["out", "count"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrustRules:
    """What an owner lets count."""

    #: Doubts for which a submitted generator gets no rank; of at least `bars_from` of its outputs.
    bars: tuple[DoubtKind, ...] = ("copies references",)
    bars_from: float = 0.5
    #: The share of judged instances, by whole documents, that metrics are measured on and nobody else is shown.
    private_share: float | None = None
    private_seed: int = 0
    #: Whether metrics that something speaks against stay out of leadership and ensembles, or count all the same.
    flagged: Flagged = "out"
    #: Metrics and generators that the owner has looked at and lets count.
    admits: tuple[str, ...] = ()
    #: Metrics and generators that don't count, each with the reason that everybody reads.
    barred: Mapping[str, str] = field(default_factory=dict)

    def bar(self, name: str, doubts: Sequence[Doubt]) -> str | None:
        """Why a generator about which there are doubts has no rank; None where it may have one."""
        if name in self.barred:
            return self.barred[name]
        if name in self.admits:
            return None
        grave = (doubt for doubt in doubts if doubt.kind in self.bars and doubt.share >= self.bars_from)
        return next((doubt.words for doubt in grave), None)

    def counts(self, name: str, flags: Iterable[str]) -> bool:
        """Whether a metric may lead and join ensembles, whatever speaks against it."""
        if name in self.barred:
            return False
        return self.flagged == "count" or name in self.admits or not any(True for _ in flags)

    @property
    def facts(self) -> tuple[object, ...]:
        """All that a ranking may depend on; nothing where no rule differs from the usual ones."""
        if self == TrustRules():
            return ()
        return (
            self.bars,
            self.bars_from,
            self.private_share,
            self.private_seed if self.private_share is not None else None,
            self.flagged,
            self.admits,
            sorted(self.barred.items()),
        )
