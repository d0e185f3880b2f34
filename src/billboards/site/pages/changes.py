"""What changed between two rankings: who moved, who came, who went, and what became of the ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking
from billboards.site.boards.refresh import ranks_among

#: A correlation that moves less than it is printed with has not moved.
SEEN = 0.0005


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One entry in two rankings; `before` or `after` is None where it was not ranked."""

    name: str
    before: int | None
    after: int | None
    value_before: float | None = None
    value_after: float | None = None
    new: bool = False
    gone: bool = False
    #: Its ranks among those that are in both rankings; others get another number when somebody comes or goes above.
    among: tuple[int | None, int | None] | None = None

    @property
    def words(self) -> str:
        if self.new:
            return f"new at {self.after}" if self.after is not None else "new, not ranked"
        if self.gone:
            return "gone"
        if self.before != self.after and self.is_renumbered:
            return f"{_place(self.after)} (was {_place(self.before)}; only renumbered)"
        return f"{_place(self.before)} → {_place(self.after)}"

    @property
    def is_renumbered(self) -> bool:
        """Whether its number changed only because somebody else came or went."""
        return self.among is not None and self.among[0] == self.among[1]

    @property
    def role(self) -> str:
        """Whether it rose or fell among those that were there before, for colour; words say it as well."""
        before, after = (self.before, self.after) if self.among is None else self.among
        if before is None or after is None or before == after:
            return ""
        return "up" if after < before else "down"

    @property
    def shift(self) -> float | None:
        return None if self.value_before is None or self.value_after is None else self.value_after - self.value_before


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that differs; what stayed is not listed."""

    generators: tuple[Move, ...]
    metrics: tuple[Move, ...]
    ranked_by: tuple[str | None, str | None]
    ensemble: tuple[str | None, str | None]

    def __bool__(self) -> bool:
        same = self.ranked_by[0] == self.ranked_by[1] and self.ensemble[0] == self.ensemble[1]
        return bool(self.generators or self.metrics or not same)


def changes_between(before: Ranking, after: Ranking) -> Changes:
    """How the second ranking differs from the first."""
    return Changes(
        tuple(_moves(before.generators, after.generators, {}, {})),
        tuple(_moves(before.metrics, after.metrics, _correlations(before), _correlations(after))),
        (before.ranked_by, after.ranked_by),
        (_signature(before), _signature(after)),
    )


def _signature(ranking: Ranking) -> str | None:
    return None if ranking.ensemble is None else ranking.ensemble.signature


def _correlations(ranking: Ranking) -> Mapping[str, float | None]:
    return {metric.name: metric.correlation for metric in ranking.metrics}


def _moves(
    before: Sequence[MetricStanding] | Sequence[GeneratorStanding],
    after: Sequence[MetricStanding] | Sequence[GeneratorStanding],
    old: Mapping[str, float | None],
    new: Mapping[str, float | None],
) -> Iterator[Move]:
    was, now = ({standing.name: standing.rank for standing in standings} for standings in (before, after))
    earlier, later = ranks_among(was, now), ranks_among(now, was)
    for standing in after:
        name, rank = standing.name, standing.rank
        among = (earlier[name], later[name]) if name in was else None
        move = Move(
            name=name,
            before=was.get(name),
            after=rank,
            value_before=old.get(name),
            value_after=new.get(name),
            new=name not in was,
            among=among,
        )
        if move.new or earlier[name] != later[name] or abs(move.shift or 0.0) >= SEEN:
            yield move
    names = {standing.name for standing in after}
    for standing in before:
        if standing.name not in names:
            yield Move(
                name=standing.name, before=standing.rank, after=None, value_before=old.get(standing.name), gone=True
            )


def _place(rank: int | None) -> str:
    return "unranked" if rank is None else str(rank)
