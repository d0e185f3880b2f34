"""The bidimensional table of Figure 1: metrics as columns under their agreement with people, generators as rows.

The table is laid out here as plain values in the order that was asked for, so that the template only writes it down.
Whatever has no value stands last, whichever way a column is sorted: a missing score is neither good nor bad.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from billboards.analyses.ensemble import ENSEMBLE, unseen_words
from billboards.analyses.overrating import OverratingEstimate, OverratingReport, verdict
from billboards.analyses.rank import MetricStanding, Ranking, metric_mark
from billboards.show.table import STATISTIC
from billboards.show.words import headed, interval_text, one_line, rank_texts, value_text
from billboards.site.pages.board_rows import MOST_ROWS, TableRow, cluster_words, clusters, lay_rows
from billboards.site.pages.board_wish import Wish
from billboards.site.pages.columns import BoardColumn, Own, own_columns, people_keys
from billboards.site.pages.long_lists import Stretch

#: Columns that a board shows unless more are asked for; one with a few more shows them all.
MOST_COLUMNS, FEW_MORE = 20, 6
#: Pinned columns that stay in sight; there is no room for more beside the names.
MOST_PINNED = 2


@dataclass(frozen=True, slots=True)
class TopCell:
    """A value of a metric above the generators, with what a reader learns who asks for more."""

    text: str
    more: tuple[str, ...] = ()
    role: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableColumn:
    """One column: a metric, the ensemble, or a plain one, such as what people said."""

    key: str
    name: str
    kind: Literal["plain", "ensemble", "metric"]
    mark: str
    leads: bool
    rank: TopCell
    correlation: TopCell
    overrating: TopCell
    within: TopCell = TopCell("")
    pin: int = 0
    #: What speaks against its numbers being what its name says.
    wrong: str = ""
    #: Whether the best of it are shaded.
    shaded: bool = True
    #: Whether it stays on a board that is too wide to show all columns.
    stays: bool = False
    #: Whether a generator's rank in it stands beside the number.
    ranked: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class BoardTable:
    """The table as it is written down."""

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    wish: Wish
    measured: bool
    hidden: int
    shown: Stretch[int]
    total: int
    hidden_keys: frozenset[str] = frozenset()
    #: Whether the board, and not the reader, chose the columns.
    is_choice: bool = False

    @property
    def is_part(self) -> bool:
        """Whether the board has more rows than one page: then a search or another order takes the server."""
        return self.total > MOST_ROWS

    @property
    def has_within(self) -> bool:
        """Whether any column has an agreement within items."""
        return any(column.within.text for column in self.columns)


def board_table(
    ranking: Ranking,
    overrating: OverratingReport | None,
    wish: Wish,
    *,
    find: str = "",
    page: int = 1,
    wrong: Mapping[str, str] | None = None,
    own: Own | None = None,
) -> BoardTable:
    """A ranking laid out as a reader wants it, one page of it; `wrong` says which columns are not what they seem.

    `own` are the columns that are no metrics'; by default those that every board has.
    """
    marked, own = wrong or {}, own_columns() if own is None else own
    every = [replace(column, wrong=marked.get(column.key, "")) for column in _columns(ranking, overrating, wish, own)]
    hidden, is_choice = hidden_columns(every, ranking, wish)
    columns = tuple(column for column in every if column.key not in hidden)
    keys = [(column.key, column.shaded and column.mark != STATISTIC) for column in columns]
    rows, shown = lay_rows(ranking, keys, wish, find=find, page=page, own=own)
    measured, total = overrating is not None, len(ranking.generators)
    left_out = len(every) - len(columns)
    return BoardTable(
        columns=columns,
        rows=rows,
        wish=wish,
        measured=measured,
        hidden=left_out,
        shown=shown,
        total=total,
        hidden_keys=hidden,
        is_choice=is_choice,
    )


def hidden_columns(every: Sequence[TableColumn], ranking: Ranking, wish: Wish) -> tuple[frozenset[str], bool]:
    """The columns that are left out, and whether the board chose them: on a wide one, those that agree least."""
    if wish.every or wish.hidden or len(every) <= MOST_COLUMNS + FEW_MORE:
        return wish.hidden, False
    agreeing = [metric.name for metric in ranking.metrics if not metric.is_statistic and metric.correlation is not None]
    first = [column.key for column in every if column.leads or column.pin or column.kind == "ensemble"]
    first += [column.key for column in every if column.stays]
    first += [wish.sort, *agreeing, *(column.key for column in every)]
    kept = set(list(dict.fromkeys(key for key in first if key in {column.key for column in every}))[:MOST_COLUMNS])
    return frozenset(column.key for column in every if column.key not in kept), True


def _columns(ranking: Ranking, overrating: OverratingReport | None, wish: Wish, own: Own) -> list[TableColumn]:
    """Every column: people, the ensemble, metrics in the order asked for, dimensions, costs; pinned ones first."""
    measured = {} if overrating is None else {estimate.name: estimate for estimate in overrating.metrics}
    missing: Mapping[str, str] = {} if overrating is None else overrating.missing
    columns: list[TableColumn] = []
    declared = [column for column in own.values() if _has_values(column, ranking)]
    columns += [_own_column(column, ranking) for column in declared if not column.lower]
    if ranking.ensemble is not None:
        columns.append(_ensemble_column(ranking, measured, missing))
    alike = clusters(ranking.metrics)
    texts = dict(zip((m.name for m in ranking.metrics), rank_texts([m.rank for m in ranking.metrics]), strict=True))
    top_cells = {m.name: TopCell(texts[m.name], cluster_words(m, alike)) for m in ranking.metrics}
    metrics = [
        _metric_column(ranking, m, top_cells[m.name], measured, missing) for m in _ordered(ranking, measured, wish)
    ]
    columns += [column for column in metrics if any(g.scores.get(column.key) is not None for g in ranking.generators)]
    columns += [_dimension_column(key, name) for key, name in people_keys(ranking).items()]
    columns += [_cost_column(column, ranking) for column in declared if column.lower]
    pinned = [replace(c, pin=k + 1) for k, key in enumerate(wish.pinned[:MOST_PINNED]) for c in columns if c.key == key]
    return [*pinned, *(c for c in columns if c.key not in {p.key for p in pinned})]


def _has_values(column: BoardColumn, ranking: Ranking) -> bool:
    return any(column.value(standing) is not None for standing in ranking.generators)


def _own_column(column: BoardColumn, ranking: Ranking) -> TableColumn:
    """A column that is no metric's: what people said, or what a package brings."""
    cell = TopCell("", column.explained(ranking))
    mark = "" if column.shaded else STATISTIC
    leads = ranking.ranked_by == column.name
    return TableColumn(
        key=column.name,
        name=column.name,
        kind="plain",
        mark=mark,
        leads=leads,
        rank=TopCell(""),
        correlation=cell,
        overrating=TopCell(""),
        stays=column.stays,
        ranked=column.ranked,
    )


def _cost_column(column: BoardColumn, ranking: Ranking) -> TableColumn:
    """A column of which less is better, and that says nothing of quality: it stands last, unshaded."""
    cell, head = TopCell("", column.explained(ranking)), headed(column.name, higher_is_better=False)
    return TableColumn(
        key=column.name,
        name=head,
        kind="plain",
        mark="",
        leads=False,
        rank=TopCell(""),
        correlation=cell,
        overrating=TopCell(""),
        shaded=False,
    )


def _dimension_column(key: str, name: str) -> TableColumn:
    """What people said on one dimension."""
    cell = TopCell("", (f"Mean human score on {one_line(name)}; higher is better.",))
    return TableColumn(
        key=key,
        name=name,
        kind="plain",
        mark="",
        leads=False,
        rank=TopCell(""),
        correlation=cell,
        overrating=TopCell(""),
    )


def _ensemble_column(
    ranking: Ranking, measured: Mapping[str, OverratingEstimate], missing: Mapping[str, str]
) -> TableColumn:
    ensemble = ranking.ensemble
    assert ensemble is not None
    parts = ", ".join(ensemble.inputs)
    more = (
        f"On {unseen_words(ensemble)} it has not seen, n = {ensemble.n:,}.",
        f"Made of {parts}.",
        ensemble.signature,
    )
    return TableColumn(
        key=ENSEMBLE,
        name="ensemble",
        kind="ensemble",
        mark="",
        leads=ranking.ranked_by == ENSEMBLE,
        rank=TopCell(""),
        correlation=TopCell(value_text(ensemble.correlation, 3), more),
        overrating=_overrating_cell(ENSEMBLE, measured, missing),
        within=TopCell("" if ensemble.within is None else value_text(ensemble.within, 3), more[:1]),
    )


def _metric_column(
    ranking: Ranking,
    standing: MetricStanding,
    rank: TopCell,
    measured: Mapping[str, OverratingEstimate],
    missing: Mapping[str, str],
) -> TableColumn:
    return TableColumn(
        key=standing.name,
        name=headed(standing.label, higher_is_better=standing.higher_is_better),
        kind="metric",
        mark=metric_mark(standing),
        leads=ranking.ranked_by == standing.name,
        rank=rank,
        correlation=_correlation_cell(ranking, standing),
        overrating=_overrating_cell(standing.name, measured, missing),
        within=_within_cell(standing),
    )


def _correlation_cell(ranking: Ranking, standing: MetricStanding) -> TopCell:
    if standing.correlation is None:
        return TopCell("–", (standing.reason or "no correlation",))
    interval = () if standing.interval is None else (f"95% interval {interval_text(standing.interval, 3)}",)
    more = [*interval, f"n = {standing.n:,} judged outputs"]
    if ranking.private is not None:
        more += ["On the private share of the judgments", f"On the public ones {value_text(standing.public, 3)}"]
    if standing.before is not None:
        more.append(f"On the judgments before {value_text(standing.before, 3)}")
    more += [f"It {flag}" for flag in standing.flags]
    return TopCell(value_text(standing.correlation, 3), tuple(more), "" if standing.counts else "down")


def _within_cell(standing: MetricStanding) -> TopCell:
    """Agreement over pairs of outputs of one instance; nothing where there is none."""
    if standing.within is None:
        return TopCell("")
    interval = standing.within_interval
    more = (
        *(() if interval is None else (f"95% interval {interval_text(interval, 3)}",)),
        f"n = {standing.within_n:,} pairs of outputs of one instance",
    )
    return TopCell(value_text(standing.within, 3), more)


def _overrating_cell(name: str, measured: Mapping[str, OverratingEstimate], missing: Mapping[str, str]) -> TopCell:
    estimate = measured.get(name)
    if estimate is None:
        return TopCell("–", (missing.get(name, "not measured"),))
    outcome = verdict(estimate)
    more = (
        f"90% interval {interval_text(estimate.interval90, 2)}",
        outcome if outcome != "neither" else "not significant",
    )
    role = {"overrates machines": "down", "overrates people": "up"}.get(outcome, "")
    return TopCell(value_text(estimate.beta0, 2), more, role)


def _ordered(ranking: Ranking, measured: Mapping[str, OverratingEstimate], wish: Wish) -> Sequence[MetricStanding]:
    if wish.order == "name":
        return sorted(ranking.metrics, key=lambda m: m.name.casefold())
    if wish.order == "overrating":
        return sorted(ranking.metrics, key=lambda m: (m.name not in measured, _beta(measured, m.name)))
    return ranking.metrics


def _beta(measured: Mapping[str, OverratingEstimate], name: str) -> float:
    return measured[name].beta0 if name in measured else 0.0
