"""Parts of metrics as metrics of their own: `ROUGE-L[recall]`, `BERTScore[P]`, `SARI[keep]`, an aspect of a judge.

Many metrics give several scores at once, of which the first ranks. All of them are kept with the cells, so that a part
costs nothing beside its metric: it has the same cells, and a signature that adds its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from billboards.errors import InvalidInput, MetricFailed, UnknownName
from billboards.metrics.base import Batch, CardedMetric, Floats, Metric
from billboards.metrics.languages import Language

#: What stands between a metric's signature and the name of its part.
PART = "|part:"


@dataclass(frozen=True)
class PartMetric(CardedMetric):
    """One of the scores that a metric gives; its card is made of the metric's."""

    whole: Metric
    part: str

    def __post_init__(self) -> None:
        # What the contract asks of a class is here a matter of the metric that does the work.
        for fact in ("multiple_references", "needs_corpus", "scores_together", "may_abstain", "resources", "travels"):
            object.__setattr__(self, fact, getattr(self.whole, fact))

    @property
    def needs_all_outputs(self) -> bool:
        return self.whole.needs_all_outputs

    @property
    def name(self) -> str:
        return f"{self.whole.name}[{self.part}]"

    @property
    def full_name(self) -> str:
        return f"{self.whole.full_name}[{self.part}]"

    @property
    def label(self) -> str:
        return f"{self.whole.label}[{self.part}]"

    @property
    def signature(self) -> str:
        return f"{self.whole.signature}{PART}{self.part}"

    @property
    def scored_as(self) -> Metric:
        return self.whole

    @property
    def takes_best_reference(self) -> bool:
        # The part is that of the reference which is best for the whole.
        return False

    def language_doubt(self, language: Language) -> str | None:
        return self.whole.language_doubt(language)

    def for_language(self, language: str | None) -> PartMetric:
        return part_of(self.whole.for_language(language), self.part)

    def score_batch(self, batch: Batch) -> Floats:
        return self._taken(self.whole.score_batch(batch))

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        return [self._taken(scores) for scores in self.whole.score_rows(batches)]

    def _taken(self, scores: Floats | Mapping[str, Floats]) -> Floats:
        parts = scores if isinstance(scores, Mapping) else {"": scores}
        if self.part not in parts:
            raise MetricFailed(no_such_part(self.whole.name, self.part, parts))
        return parts[self.part]


def part_of(whole: Metric, part: str) -> PartMetric:
    """A metric's part by its name; one that the metric's card doesn't know is refused where it lists any."""
    written = next((own for own in whole.parts if own.casefold() == part.casefold()), part)
    if whole.parts and written not in whole.parts:
        raise UnknownName(f"part of {whole.name}", part, whole.parts)
    card = replace(
        whole.card,
        name=f"{whole.card.name}[{written}]",
        summary=f"{written} of {whole.card.name}: {whole.card.summary}",
        higher_is_better=whole.card.higher_is_better != (written in whole.card.turned_parts),
        parts=(),
        turned_parts=(),
    )
    return PartMetric(card, whole, written)


def split_part(spec: str) -> tuple[str, str | None]:
    """A metric's name and the part that is meant of it: ("ROUGE-L", "recall") of "ROUGE-L[recall]"."""
    match = re.fullmatch(r"\s*(.*\S)\s*\[([^\[\]]*)\]\s*", spec)
    if match is None or "(" in spec[match.end(1) :] or match[1].count("(") != match[1].count(")"):
        return spec, None
    if not match[2].strip():
        raise InvalidInput(f"{spec!r} names no part; write NAME[part], as in ROUGE-L[recall]")
    return match[1], match[2].strip()


def no_such_part(name: str, part: str, parts: Mapping[str, object] | Sequence[str]) -> str:
    """That a metric has no such part, and which it has."""
    named = [own for own in parts if own]
    return f"{name} has no part {part!r}; " + (
        f"its parts are {', '.join(named)}" if named else "it has only one score"
    )
