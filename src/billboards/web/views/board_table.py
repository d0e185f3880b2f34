"""The bidimensional table of Figure 1: metrics as columns under their agreement with people, generators as rows.

The table is laid out here as plain values in the order that was asked for, so that the template only writes it down.
Whatever has no value stands last, whichever way a column is sorted: a missing score is neither good nor bad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from billboards.domain import GeneratorStanding, MetricStanding, OverratingEstimate, OverratingReport, Ranking
from billboards.reports.tables import STATISTIC, mean_digits, metric_mark
from billboards.reports.wording import interval_text, rank_texts, value_text, verdict
from billboards.service.ranking import ENSEMBLE

Direction = Literal["ascending", "descending"]

RANK, NAME, PEOPLE = "rank", "generator", "people"
ORDERS = ("correlation", "overrating", "name")
#: How many shades tell a column's best from its worst.
SHADES = 5
#: Pinned columns that stay in sight; there is no room for more beside the names.
MOST_PINNED = 2


@dataclass(frozen=True, slots=True)
class Wish:
    """How a reader wants the table: sorted by what, which way, columns in which order, hidden or pinned."""

    sort: str = RANK
    direction: Direction | None = None
    order: str = "correlation"
    hidden: frozenset[str] = frozenset()
    pinned: tuple[str, ...] = ()
    ranks: bool = False

    @property
    def way(self) -> Direction:
        """Names and ranks begin at the top, scores with the best."""
        return self.direction or ("ascending" if self.sort in (RANK, NAME) else "descending")

    def turned(self, key: str) -> Wish:
        """The wish of a reader who chooses a column, or its other direction if it is chosen already."""
        if key != self.sort:
            return replace(self, sort=key, direction=None)
        return replace(self, direction="descending" if self.way == "ascending" else "ascending")

    def query(self) -> dict[str, object]:
        """The wish as the end of an address, without what goes without saying."""
        plain = Wish(sort=self.sort).way
        return {
            "sort": None if self.sort == RANK and self.way == plain else self.sort,
            "direction": None if self.way == plain else self.way,
            "order": None if self.order == "correlation" else self.order,
            "hide": sorted(self.hidden),
            "pin": list(self.pinned),
            "show": "ranks" if self.ranks else None,
        }


@dataclass(frozen=True, slots=True)
class TopCell:
    """A value of a metric above the generators, with what a reader learns who asks for more."""

    text: str
    more: tuple[str, ...] = ()
    role: str = ""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: people, the ensemble, or a metric."""

    key: str
    name: str
    kind: Literal["people", "ensemble", "metric"]
    mark: str
    leads: bool
    rank: TopCell
    correlation: TopCell
    overrating: TopCell
    pin: int = 0


@dataclass(frozen=True, slots=True)
class TableCell:
    """One score: what is shown, what is sorted by, how good it is among its column (0 worst), and its place there."""

    text: str
    value: float | None
    shade: int | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class TableRow:
    """One generator."""

    name: str
    human: bool
    rank: int | None
    rank_text: str
    more: tuple[str, ...]
    opens_cluster: bool
    cells: tuple[TableCell, ...]
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class BoardTable:
    """The table as it is written down."""

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    wish: Wish
    measured: bool
    hidden: int


def board_table(ranking: Ranking, overrating: OverratingReport | None, wish: Wish) -> BoardTable:
    """A ranking laid out as a reader wants it."""
    every = _columns(ranking, overrating, wish)
    columns = tuple(column for column in every if column.key not in wish.hidden)
    by_column = [_cells(_values(ranking, column.key), shaded=column.mark != STATISTIC) for column in columns]
    ranks = rank_texts([standing.rank for standing in ranking.generators])
    rows = [_row(ranking, k, ranks[k], tuple(cells[k] for cells in by_column)) for k in range(len(ranks))]
    ordered = _sorted(ranking, rows, columns, wish)
    return BoardTable(columns, ordered, wish, overrating is not None, len(every) - len(columns))


def _columns(ranking: Ranking, overrating: OverratingReport | None, wish: Wish) -> list[TableColumn]:
    """Every column: people, the ensemble, then metrics in the order asked for; pinned ones first."""
    measured = {} if overrating is None else {one.name: one for one in overrating.metrics}
    missing: Mapping[str, str] = {} if overrating is None else overrating.missing
    found: list[TableColumn] = []
    if any(standing.human is not None for standing in ranking.generators):
        found.append(_people_column(ranking))
    if ranking.ensemble is not None:
        found.append(_ensemble_column(ranking, measured, missing))
    texts = dict(zip((m.name for m in ranking.metrics), rank_texts([m.rank for m in ranking.metrics]), strict=True))
    metrics = [_metric_column(ranking, m, texts[m.name], measured, missing) for m in _ordered(ranking, measured, wish)]
    found += [column for column in metrics if any(g.scores.get(column.key) is not None for g in ranking.generators)]
    pinned = [replace(c, pin=k + 1) for k, key in enumerate(wish.pinned[:MOST_PINNED]) for c in found if c.key == key]
    return [*pinned, *(c for c in found if c.key not in {p.key for p in pinned})]


def _people_column(ranking: Ranking) -> TableColumn:
    judged = sum(standing.judged for standing in ranking.generators)
    more = (f"Mean human score ({ranking.aggregate}), 0 to 100.", f"{judged:,} judged outputs.")
    return TableColumn(PEOPLE, "people", "people", "", False, TopCell(""), TopCell("", more), TopCell(""))


def _ensemble_column(
    ranking: Ranking, measured: Mapping[str, OverratingEstimate], missing: Mapping[str, str]
) -> TableColumn:
    ensemble = ranking.ensemble
    assert ensemble is not None
    parts = ", ".join(ensemble.weights)
    more = (f"On generators it has not seen, n = {ensemble.n:,}.", f"Made of {parts}.", ensemble.signature)
    return TableColumn(
        ENSEMBLE,
        "ensemble",
        "ensemble",
        "",
        ranking.ranked_by == ENSEMBLE,
        TopCell(""),
        TopCell(value_text(ensemble.correlation, 3), more),
        _overrating_cell(ENSEMBLE, measured, missing),
    )


def _metric_column(
    ranking: Ranking,
    standing: MetricStanding,
    rank: str,
    measured: Mapping[str, OverratingEstimate],
    missing: Mapping[str, str],
) -> TableColumn:
    return TableColumn(
        standing.name,
        standing.name,
        "metric",
        metric_mark(standing),
        ranking.ranked_by == standing.name,
        TopCell(rank, _cluster_words(standing, [m for m in ranking.metrics if m is not standing])),
        _correlation_cell(standing),
        _overrating_cell(standing.name, measured, missing),
    )


def _correlation_cell(standing: MetricStanding) -> TopCell:
    if standing.correlation is None:
        return TopCell("–", (standing.reason or "no correlation",))
    interval = () if standing.interval is None else (f"95% interval {interval_text(standing.interval, 3)}",)
    return TopCell(value_text(standing.correlation, 3), (*interval, f"n = {standing.n:,} judged outputs"))


def _overrating_cell(name: str, measured: Mapping[str, OverratingEstimate], missing: Mapping[str, str]) -> TopCell:
    estimate = measured.get(name)
    if estimate is None:
        return TopCell("–", (missing.get(name, "not measured"),))
    said = verdict(estimate)
    more = (f"90% interval {interval_text(estimate.interval90, 2)}", said if said != "neither" else "not significant")
    role = {"overrates machines": "down", "overrates people": "up"}.get(said, "")
    return TopCell(value_text(estimate.beta0, 2), more, role)


def _cluster_words(
    standing: MetricStanding | GeneratorStanding, others: Sequence[MetricStanding] | Sequence[GeneratorStanding]
) -> tuple[str, ...]:
    """Whom this one can't be told apart from."""
    if standing.rank is None:
        return (standing.reason or "not ranked",)
    alike = [other.name for other in others if other.cluster is not None and other.cluster == standing.cluster]
    if standing.cluster is None:
        return (f"Rank {standing.rank}",)
    if not alike:
        return (f"Rank {standing.rank}, told apart from all others (p ≤ .05)",)
    return (f"Rank {standing.rank}, cluster {standing.cluster}", f"Not told apart from {', '.join(alike)}")


def _ordered(ranking: Ranking, measured: Mapping[str, OverratingEstimate], wish: Wish) -> Sequence[MetricStanding]:
    if wish.order == "name":
        return sorted(ranking.metrics, key=lambda m: m.name.casefold())
    if wish.order == "overrating":
        return sorted(ranking.metrics, key=lambda m: (m.name not in measured, _beta(measured, m.name)))
    return ranking.metrics


def _beta(measured: Mapping[str, OverratingEstimate], name: str) -> float:
    return measured[name].beta0 if name in measured else 0.0


def _values(ranking: Ranking, key: str) -> list[float | None]:
    return [g.human if key == PEOPLE else g.scores.get(key) for g in ranking.generators]


def _cells(values: Sequence[float | None], *, shaded: bool) -> list[TableCell]:
    """A column's cells; the best of it is shaded most, unless more is not better there."""
    there = sorted((value for value in values if value is not None), reverse=True)
    digits = mean_digits(there)
    return [_cell(value, there, digits, shaded=shaded) for value in values]


def _cell(value: float | None, there: Sequence[float], digits: int, *, shaded: bool) -> TableCell:
    if value is None:
        return TableCell("–", None, None, None)
    rank = 1 + there.index(value)
    shade = max(SHADES - 1 - (rank - 1) * SHADES // len(there), 0)
    return TableCell(value_text(value, digits), value, shade if shaded else None, rank)


def _row(ranking: Ranking, k: int, rank_text: str, cells: tuple[TableCell, ...]) -> TableRow:
    standing = ranking.generators[k]
    before = ranking.generators[k - 1] if k else None
    opens = before is not None and before.cluster != standing.cluster and standing.rank is not None
    more = _cluster_words(standing, [g for g in ranking.generators if g is not standing])
    return TableRow(standing.name, standing.kind == "human", standing.rank, rank_text, more, opens, cells)


def _sorted(
    ranking: Ranking, rows: Sequence[TableRow], columns: Sequence[TableColumn], wish: Wish
) -> tuple[TableRow, ...]:
    """Rows by the chosen column; those without a value last, in the board's own order, whichever way it goes."""
    if wish.sort == RANK:
        keyed: list[tuple[float | str | None, TableRow]] = [(row.rank, row) for row in rows]
    elif wish.sort == NAME:
        keyed = [(row.name.casefold(), row) for row in rows]
    else:
        place = next((k for k, column in enumerate(columns) if column.key == wish.sort), None)
        shown = _values(ranking, wish.sort)
        keyed = [(shown[k] if place is None else row.cells[place].value, row) for k, row in enumerate(rows)]
    there = [(key, row) for key, row in keyed if key is not None]
    there.sort(key=lambda pair: pair[0], reverse=wish.way == "descending")
    by_rank = wish.sort == RANK and wish.way == "ascending"
    final = [row for _, row in there] + [row for key, row in keyed if key is None]
    return tuple(row if by_rank else replace(row, opens_cluster=False) for row in final)
