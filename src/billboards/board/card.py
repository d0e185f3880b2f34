"""A data card: the facts about a board that a reader needs before trusting it (BEAMetrics, §3).

What only its owner knows is stated once, in `board.toml`; everything that can be counted is counted, not claimed. A
measured card holds both, so that whoever reads the claim sees the numbers beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar

#: Facts that only boards with judgments need.
OF_JUDGMENTS = ("protocol", "annotators")


@dataclass(frozen=True, kw_only=True, slots=True)
class DataCard:
    """What a board's owner states about its data."""

    title: str | None = None
    task: str | None = None
    source: str | None = None
    licence: str | None = None
    citation: str | None = None
    protocol: str | None = None
    annotators: str | None = None
    comments: str | None = None
    #: Where outputs are in several languages; a board with one says so by its code.
    languages: str | None = None

    def missing(self) -> tuple[str, ...]:
        """The stated facts that are still absent."""
        optional = ("comments", "languages")
        return tuple(
            f.name for f in fields(self) if f.name not in optional and not (getattr(self, f.name) or "").strip()
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Where a set of numbers lies."""

    lowest: float
    median: float
    mean: float
    highest: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Lengths:
    """How long texts of one kind are, in words between blanks and in characters; None where there are none."""

    kind: str
    texts: int
    empty: int
    words: Spread | None
    characters: Spread | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """Krippendorff's alpha of a dimension with its 95% interval, over the outputs that two or more people judged.

    `level` is the kind of scale it takes the values for. Without a value, `reason` says why.
    """

    level: str
    alpha: float | None
    interval: tuple[float, float] | None
    units: int
    ratings: int
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScaleUse:
    """What people did with a dimension: how much they judged, where the values lie, and whether they agree.

    `shares` says how often each value was given, where there are few; for preferences, how often somebody chose and
    how often outputs were alike.
    """

    name: str
    definition: str | None
    scale: str
    judgments: int
    outputs: int
    annotators: int
    values: Spread | None
    shares: Mapping[str, float]
    at_lowest: float | None
    at_highest: float | None
    agreement: Agreement


@dataclass(frozen=True, kw_only=True, slots=True)
class Copies:
    """Texts that stand where one would expect others; what is counted is single texts.

    `inputs` repeat an earlier instance's input; `outputs` are another row's text for the same instance; `repeated`
    outputs are their generator's text for an instance with another input; `leaked` outputs are a reference of their
    instance, word by word, rows that are a reference's own text aside. `leaking` says whose.
    """

    inputs: int
    outputs: int
    repeated: int
    leaked: int
    leaking: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeasuredCard:
    """A board's card with everything about it that can be counted.

    `missing` names the facts that nobody stated, `hidden` the parts that the reader may not see.
    """

    DOCUMENT: ClassVar[str] = "data-card"

    board: str
    version: str
    stated: DataCard
    input_language: str | None
    output_language: str | None
    instances: int
    documents: int
    domains: int
    machines: int
    people: int
    loose_outputs: int
    outputs: int
    reference_names: tuple[str, ...]
    references: Spread | None
    judgments: int
    annotators: int
    unnamed: int
    campaigns: tuple[str, ...]
    dimensions: tuple[ScaleUse, ...]
    lengths: tuple[Lengths, ...]
    copies: Copies
    missing: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def is_draft(self) -> bool:
        return bool(self.missing)
