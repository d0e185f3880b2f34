"""Audits of several boards side by side: Tables 2 to 4 of Deutsch et al. (2022), and the points of Figures 5 to 7.

A cell of the table is Pearson's r of a metric's system scores with those of a reference-based metric whose only
reference is the output that was made for the metric, board by board and on average. The points are the machines behind
each cell. What was chosen from the machines' own outputs leaves each machine's own out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from billboards.analyses.audit.results import Attack, Equivalence, MetricAudit
from billboards.analyses.audit.tables import audits_table
from billboards.errors import NotEnoughData
from billboards.show.documents import SCHEMA, document_of
from billboards.show.table import Table, TableColumn
from billboards.show.words import one_line, value_text

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

#: Panels of a figure in a row.
PANELS = 4


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """A metric against a reference-based one with the output of one attack as its reference, over several boards."""

    metric: str
    method: str
    judge: str
    boards: Mapping[str, float | None]

    @property
    def mean(self) -> float | None:
        """The average over the boards that have one."""
        measured = [value for value in self.boards.values() if value is not None]
        return sum(measured) / len(measured) if measured else None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The machines of one board under a metric and under a reference-based one against the metric's own output."""

    board: str
    metric: str
    method: str
    equivalence: Equivalence


def panels_of(audits: Sequence[MetricAudit]) -> list[Panel]:
    """Every cell of the table, with its points."""
    return [
        Panel(board=audit.board, metric=audit.metric, method=attack.method, equivalence=equivalence)
        for audit in audits
        for attack in _in_order(audit.attacks)
        for equivalence in attack.equivalence
    ]


def _in_order(attacks: Sequence[Attack]) -> list[Attack]:
    return sorted(attacks, key=lambda attack: attack.method)


def correlations_of(audits: Sequence[MetricAudit]) -> list[Correlation]:
    """A row for every metric, attack and reference-based metric."""
    boards = list(dict.fromkeys(audit.board for audit in audits))
    cells: dict[tuple[str, str, str], dict[str, float | None]] = {}
    for panel in panels_of(audits):
        key = (panel.metric, panel.method, panel.equivalence.judge)
        cells.setdefault(key, dict.fromkeys(boards))[panel.board] = panel.equivalence.correlation
    ordered = sorted(cells.items(), key=lambda cell: cell[0][:2])
    return [Correlation(metric=m, method=a, judge=j, boards=values) for (m, a, j), values in ordered]


def several_tables(audits: Sequence[MetricAudit]) -> list[Table]:
    """The verdicts, the correlations as in Tables 2 to 4, and the points of Figures 5 to 7."""
    return [_verdicts(audits), correlations_table(audits), points_table(audits)]


def several_document(audits: Sequence[MetricAudit], left_out: Mapping[str, str]) -> dict[str, Any]:
    """All of it as one JSON document."""
    return {
        "schema": SCHEMA,
        "kind": "audits-of-boards",
        "audits": [document_of(audit) for audit in audits],
        "correlations": [
            {"metric": row.metric, "method": row.method, "judge": row.judge, "boards": row.boards, "mean": row.mean}
            for row in correlations_of(audits)
        ],
        "points": [dict(row) for row in _points(audits)],
        "left_out": dict(left_out),
    }


def _verdicts(audits: Sequence[MetricAudit]) -> Table:
    table = audits_table(audits)
    rows = tuple({"board": audit.board, **row} for audit, row in zip(audits, table.rows, strict=True))
    columns = (TableColumn("board", "board", "left", kind="name"), *table.columns)
    return Table("What the metrics of several boards reward", columns, rows, table.notes, name="verdicts")


def correlations_table(audits: Sequence[MetricAudit]) -> Table:
    """Tables 2 to 4 of the paper: boards as columns, and their average."""
    boards = list(dict.fromkeys(audit.board for audit in audits))
    columns = (
        TableColumn("metric", "metric", "left", kind="name"),
        TableColumn("method", "optimised by", "left"),
        TableColumn("judge", "reference-based metric", "left"),
        *(TableColumn(f"board_{k}", board, digits=2) for k, board in enumerate(boards)),
        TableColumn("mean", "Avg.", digits=2),
    )
    rows = tuple(
        {
            "metric": row.metric,
            "method": row.method,
            "judge": row.judge,
            **{f"board_{k}": row.boards[board] for k, board in enumerate(boards)},
            "mean": row.mean,
        }
        for row in correlations_of(audits)
    )
    notes = (
        "Pearson's r of the metric's system scores with those of a reference-based metric whose only reference is the "
        "output made for the metric. A machine never supplies its own reference.",
    )
    return Table("Metrics as pseudo-references (Tables 2 to 4)", columns, rows, notes, name="correlations")


def points_table(audits: Sequence[MetricAudit]) -> Table:
    """The scatter of Figures 5 to 7: a row for each machine of each panel."""
    columns = (
        TableColumn("board", "board", "left", kind="name"),
        TableColumn("metric", "metric", "left"),
        TableColumn("method", "optimised by", "left"),
        TableColumn("judge", "reference-based metric", "left"),
        TableColumn("machine", "machine", "left"),
        TableColumn("pseudo", "against its own output", digits=3),
        TableColumn("score", "metric's score", digits=3),
    )
    return Table("Every machine (Figures 5 to 7)", columns, tuple(_points(audits)), name="points")


def _points(audits: Sequence[MetricAudit]) -> Iterator[Mapping[str, object]]:
    for panel in panels_of(audits):
        head = {"board": panel.board, "metric": panel.metric, "method": panel.method, "judge": panel.equivalence.judge}
        for point in panel.equivalence.points:
            yield {**head, "machine": point.name, "pseudo": point.pseudo, "score": point.metric}


def pseudo_scatter(audits: Sequence[MetricAudit], *, theme: Theme = "light") -> alt.LayerChart:
    """Figures 5 to 7: a panel for every board, metric and reference-based metric, of each metric's strongest attack."""
    import altair as alt

    from billboards.show.plot import PALETTES, themed

    strongest = {(audit.board, audit.metric): audit.method for audit in audits}
    panels = [
        panel
        for panel in panels_of(audits)
        if panel.method == strongest[panel.board, panel.metric] and len(panel.equivalence.points) > 1
    ]
    if not panels:
        raise NotEnoughData("no audit has machines that are scored against the metric's own output; nothing to draw")
    points = [
        {"panel": _panel_title(panel), "x": round(point.pseudo, 6), "y": round(point.metric, 6), "name": point.name}
        for panel in panels
        for point in panel.equivalence.points
    ]
    dots = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, size=30, color=PALETTES[theme].accent, opacity=0.9)
        .encode(
            alt.X("x:Q", title="against its own output", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
            alt.Y("y:Q", title="metric", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
            tooltip=["name:N"],
        )
        .properties(width=150, height=130)
    )
    head = alt.Facet("panel:N", title=None, sort=[_panel_title(panel) for panel in panels])
    chart = dots.facet(head, columns=PANELS).resolve_scale(x="independent", y="independent")
    title = "Scores of a metric, and scores against the output that was made for it"
    subtitle = "One point per machine; each panel has its board, metric, reference-based metric and Pearson's r."
    return themed(chart, theme, title, subtitle, "; ".join(map(_panel_title, panels)))


def _panel_title(panel: Panel) -> str:
    r = value_text(panel.equivalence.correlation, 2)
    return one_line(f"{panel.board}: {panel.metric}, {panel.equivalence.judge}, r = {r}")
