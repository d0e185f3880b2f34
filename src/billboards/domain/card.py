"""A data card: the facts about a board that a reader needs before trusting it (BEAMetrics, §3).

The card is written once, in `board.toml`, and everything that can be counted is counted, not claimed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
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

    def missing(self) -> tuple[str, ...]:
        """The stated facts that are still absent."""
        return tuple(f.name for f in fields(self) if f.name != "comments" and getattr(self, f.name) is None)
