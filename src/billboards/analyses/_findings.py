"""What speaks against entries of a board: found by a site, kept with its rankings, and told to whoever ranks again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a site found that speaks against entries of a board: kept with its ranking, read where it is ranked again.

    barred: metrics that may not lead, each with the reason.
    flagged: metrics that something speaks against, which neither lead nor join ensembles.
    marked: metrics that something should be said of.
    out: generators without a rank, each with the reason.
    doubts: doubts about generators' outputs.
    """

    barred: Mapping[str, str] = field(default_factory=dict)
    flagged: Mapping[str, str] = field(default_factory=dict)
    marked: Mapping[str, str] = field(default_factory=dict)
    out: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Findings:
        """What a snapshot's document holds of it; one of version 0.1 holds little."""
        kept = document.get("findings") or {"barred": document.get("barred") or {}}
        return cls(**{name: kept.get(name, {}) for name in cls.__dataclass_fields__})

    def document(self) -> dict[str, Any]:
        """What is kept: no more than there is."""
        return {name: dict(value) for name, value in vars(self).items() if value}
