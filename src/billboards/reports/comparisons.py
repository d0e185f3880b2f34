"""Tables of sensitivity and of comparisons, for every way results are shown."""

from __future__ import annotations

from collections.abc import Sequence

from billboards.domain import DecidingOutput, GeneratorComparison, MetricComparison, Sensitivity
from billboards.reports.tables import Table, TableColumn
from billboards.reports.wording import clipped, interval_text, value_text


def sensitivity_table(report: Sensitivity) -> Table:
    """Every metric's place by default and the best and worst place it takes under any condition."""
    columns = (
        TableColumn("rank", "#", align="right"),
        TableColumn("name", "metric", align="left"),
        TableColumn("best", "best"),
        TableColumn("worst", "worst"),
        TableColumn("moves", "", align="left"),
    )
    rows = tuple(
        {"rank": m.rank, "name": m.name, "best": m.best, "worst": m.worst, "moves": "moves" if m.moves else "stays"}
        for m in report.metrics
    )
    return Table(
        f"{report.board}: ranks of metrics under {len(report.conditions)} conditions", columns, rows, _notes(report)
    )


def _notes(report: Sensitivity) -> tuple[str, ...]:
    pull = next(iter(report.pulls.items()), None)
    said = [] if pull is None else [f"Correlations depend most on {pull[0]}: without it they change by {pull[1]:.3f}."]
    if report.outliers:
        said.append(f"Outlier: {', '.join(report.outliers)} pulls far more than any other generator.")
    return tuple(said)


def conditions_table(report: Sensitivity) -> Table:
    """Every metric's rank under every condition, a row per condition."""
    names = [metric.name for metric in report.metrics]
    columns = (
        TableColumn("kind", "kind", align="left", priority=2),
        TableColumn("condition", "condition", align="left"),
        *(TableColumn(f"rank of {name}", name, priority=3 + place) for place, name in enumerate(names)),
    )
    rows = tuple(
        {
            "kind": condition.kind,
            "condition": f"without {condition.name}" if condition.kind == "without" else condition.name,
            **{f"rank of {name}": condition.ranks[name] for name in names},
        }
        for condition in report.conditions
    )
    return Table(f"{report.board}: the rank of every metric under every condition", columns, rows)


def metric_comparison_table(found: MetricComparison) -> Table:
    """Two metrics side by side."""
    columns = (TableColumn("what", "", align="left"), TableColumn("value", "value", align="right"))
    first, second = found.correlations
    rows = (
        {"what": f"correlation of {found.first}", "value": value_text(first, 3)},
        {"what": f"correlation of {found.second}", "value": value_text(second, 3)},
        {"what": "difference", "value": value_text(found.difference, 3)},
        {"what": "95% interval (bootstrap over instances)", "value": interval_text(found.interval, 3)},
        {"what": "p, one-sided (PERM-BOTH)", "value": value_text(found.p_permutation, 4)},
        {"what": "p, one-sided (Williams)", "value": value_text(found.p_williams, 4)},
        {"what": "correlation between the two", "value": value_text(found.between, 3)},
        {"what": "judged outputs", "value": f"{found.n:,}"},
        {"what": "instances for 80% power", "value": "–" if found.needed is None else f"{found.needed:,}"},
    )
    return Table(f"{found.board}: {found.first} against {found.second}", columns, rows)


def generator_comparison_table(found: GeneratorComparison) -> Table:
    """Two generators under people and every metric."""
    columns = (
        TableColumn("name", "score", align="left"),
        TableColumn("first", found.first, digits=3),
        TableColumn("second", found.second, digits=3),
        TableColumn("difference", "difference", digits=3),
        TableColumn("p", "p", digits=4),
        TableColumn("wins", "wins", priority=2),
        TableColumn("ties", "ties", priority=3),
        TableColumn("losses", "losses", priority=2),
        TableColumn("n", "n", priority=4),
    )
    rows = tuple(
        {
            "name": s.name,
            "first": s.means[0],
            "second": s.means[1],
            "difference": s.difference,
            "p": s.p,
            "wins": s.wins,
            "ties": s.ties,
            "losses": s.losses,
            "n": s.n,
        }
        for s in found.scores
    )
    notes = [f"p: one-sided paired permutation test that the higher one is higher, {found.draws:,} draws."]
    if found.needed is not None:
        notes.append(f"By {found.decided_by}, {found.needed:,} instances like these give 80% power.")
    notes += [f"Not compared: {name}: {reason}" for name, reason in found.missing.items()]
    return Table(f"{found.board}: {found.first} against {found.second}", columns, rows, tuple(notes))


def deciding_table(title: str, outputs: Sequence[DecidingOutput], names: tuple[str, str]) -> Table:
    """The outputs that speak most for a side, with the texts to look at."""
    columns = (
        TableColumn("instance", "instance", align="left"),
        TableColumn("generator", "generator", align="left", priority=2),
        TableColumn("human", "people", digits=1),
        TableColumn("first", names[0], digits=3),
        TableColumn("second", names[1], digits=3),
        TableColumn("output", "output", align="left"),
        TableColumn("other", "the other output", align="left", priority=3, visible=any(o.other for o in outputs)),
        TableColumn("reference", "reference", align="left", priority=4),
    )
    rows = tuple(
        {
            "instance": o.instance,
            "generator": o.generator,
            "human": o.human,
            "first": o.first,
            "second": o.second,
            "output": clipped(o.output),
            "other": clipped(o.other),
            "reference": clipped(o.reference),
        }
        for o in outputs
    )
    return Table(title, columns, rows)
