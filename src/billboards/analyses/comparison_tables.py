"""Tables of sensitivity and of comparisons, for every way results are shown."""

from __future__ import annotations

from collections.abc import Sequence

from billboards.analyses.comparison_results import (
    DecidingOutput,
    GeneratorComparison,
    MetricComparison,
    MetricPairs,
    Sensitivity,
)
from billboards.analyses.ranking_tables import resampled_text
from billboards.show.table import Table, TableColumn
from billboards.show.words import COMPARISONS_WON, clipped, interval_text, p_text, value_text

#: The statistic that ranks metrics where people compared outputs.
WMT_KENDALL = "WMT's Kendall"
_PERMUTED = {"both": "PERM-BOTH", "instances": "PERM-INPUTS", "generators": "PERM-SYSTEMS"}


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


def values_table(report: Sensitivity) -> Table:
    """Every metric under every statistic: its value, its p-value where there is a test, and on how much it rests."""
    columns = (
        TableColumn("statistic", "statistic", "left"),
        TableColumn("name", "metric", "left"),
        TableColumn("value", "value", digits=3),
        TableColumn("p", "p", kind="p"),
        TableColumn("n", "n"),
    )
    rows = tuple(
        {"statistic": c.name, "name": name, "value": c.values[name], "p": c.p.get(name), "n": c.n.get(name)}
        for c in report.conditions
        if c.kind == "statistic"
        for name in (metric.name for metric in report.metrics)
    )
    return Table(
        f"{report.board}: every metric under every statistic ({report.aggregate})", columns, rows, _value_notes(report)
    )


def _value_notes(report: Sensitivity) -> tuple[str, ...]:
    if report.conditions[0].name == WMT_KENDALL:
        return (f"{WMT_KENDALL}: (C - D)/(C + D) over the pairs of which people found one better. n: these pairs.",)
    return (
        "p: two-sided, of no association. n: outputs; generators at system level; pairs of outputs or of generators "
        "where pairs are compared. By system there is no p, because generators share their instances.",
        f"{WMT_KENDALL}: (C - D)/(C + D) over the pairs that people put 25 of 100 points apart or more.",
    )


def metric_comparison_table(found: MetricComparison) -> Table:
    """Two metrics side by side."""
    if found.statistic == "kendall":
        return _preference_comparison_table(found)
    columns = (TableColumn("what", "", align="left"), TableColumn("value", "value", align="right"))
    first, second = found.correlations
    rows: list[dict[str, object]] = [
        {"what": f"correlation of {found.first}", "value": value_text(first, 3)},
        {"what": f"correlation of {found.second}", "value": value_text(second, 3)},
        {"what": "difference", "value": value_text(found.difference, 3)},
        {
            "what": f"95% interval (bootstrap over {resampled_text(found.resampled)})",
            "value": interval_text(found.interval, 3),
        },
        {"what": f"p, one-sided ({_PERMUTED[found.unit]})", "value": p_text(found.p_permutation)},
        {"what": "p, one-sided (Williams)", "value": p_text(found.p_williams)},
        {"what": "correlation between the two", "value": value_text(found.between, 3)},
        {"what": "judged outputs", "value": f"{found.n:,}"},
        {"what": "instances for 80% power", "value": "–" if found.needed is None else f"{found.needed:,}"},
        *_accuracy_rows(found),
    ]
    return Table(f"{found.board}: {found.first} against {found.second}", columns, tuple(rows), _accuracy_notes(found))


def _preference_comparison_table(found: MetricComparison) -> Table:
    """Two metrics on the pairs that people compared."""
    columns = (TableColumn("what", "", align="left"), TableColumn("value", "value", align="right"))
    units = resampled_text(found.resampled)
    rows: tuple[dict[str, object], ...] = (
        {"what": f"{WMT_KENDALL} of {found.first}", "value": value_text(found.correlations[0], 3)},
        {"what": f"{WMT_KENDALL} of {found.second}", "value": value_text(found.correlations[1], 3)},
        {"what": "difference", "value": value_text(found.difference, 3)},
        {"what": f"95% interval (bootstrap over {units})", "value": interval_text(found.interval, 3)},
        {"what": f"p, one-sided (whole {units} exchanged)", "value": p_text(found.p_permutation)},
        {"what": "pairs of outputs that people compared", "value": f"{found.n:,}"},
        {"what": "instances for 80% power", "value": "–" if found.needed is None else f"{found.needed:,}"},
    )
    notes = (
        f"{WMT_KENDALL}: (C - D)/(C + D) over the pairs of which people found one better and that both metrics score; "
        "a metric that ties a pair has it wrong.",
        "In the lists of outputs, a metric's number is its score of the output that people preferred less that of the "
        "other: above 0, it agrees with them.",
    )
    return Table(f"{found.board}: {found.first} against {found.second}", columns, rows, notes)


def _accuracy_rows(found: MetricComparison) -> list[dict[str, object]]:
    """acc_eq of both and how sure its difference is, where instances have pairs of judged outputs."""
    accuracy = found.accuracy
    if accuracy is None:
        return []
    first, second = accuracy.values
    return [
        {"what": f"acc_eq of {found.first}", "value": value_text(first, 3)},
        {"what": f"acc_eq of {found.second}", "value": value_text(second, 3)},
        {"what": "difference in acc_eq", "value": value_text(accuracy.difference, 3)},
        {"what": "p, one-sided (pairs permutation)", "value": p_text(accuracy.p_pairs)},
        {"what": "p, one-sided (whole instances exchanged)", "value": p_text(accuracy.p_instances)},
        {"what": "pairs of outputs", "value": f"{accuracy.pairs:,}"},
    ]


def _accuracy_notes(found: MetricComparison) -> tuple[str, ...]:
    if found.accuracy is None:
        return ("acc_eq needs two judged outputs of one instance, and there are none.",)
    if not any(found.accuracy.epsilons):
        return ("acc_eq: only equal scores count as ties; no epsilon does better on these pairs.",)
    ties = " and ".join(f"{epsilon:.3g}" for epsilon in found.accuracy.epsilons)
    return (f"acc_eq: differences up to {ties} count as ties, each metric's best epsilon on these pairs.",)


def metric_pairs_table(found: MetricPairs) -> Table:
    """Every two metrics, with p-values corrected for all of them."""
    with_accuracy = found.statistic == "pearson"
    columns = (
        TableColumn("first", "ahead", "left"),
        TableColumn("second", "behind", "left"),
        TableColumn("difference", "difference", digits=3),
        TableColumn("p", "p", kind="p"),
        TableColumn("holm", "Holm", kind="p"),
        TableColumn("bh", "BH", kind="p"),
        TableColumn("n", "n", priority=4),
        TableColumn("accuracy", "in acc_eq", digits=3, priority=2, visible=with_accuracy),
        TableColumn("p_accuracy", "p (pairs)", kind="p", priority=2, visible=with_accuracy),
        TableColumn("pairs", "pairs", priority=4, visible=with_accuracy),
    )
    rows = tuple({column.key: getattr(pair, column.key) for column in columns} for pair in found.compared)
    what = "pooled Pearson" if with_accuracy else f"{WMT_KENDALL} over the n pairs of outputs that people compared"
    permuted = _PERMUTED[found.unit] if with_accuracy else "whole instances exchanged"
    notes = [
        f"Two-sided p of the difference in {what} ({permuted}, {found.draws:,} draws); Holm and Benjamini-Hochberg "
        f"correct it for {len(rows):,} pairs of metrics."
        + (" p (pairs): the pairs permutation for acc_eq." if with_accuracy else ""),
    ]
    if 2 * len(rows) / (1 + found.draws) > 0.05:
        notes.append(f"{found.draws:,} draws are too few for any pair to pass Holm's at .05; take {40 * len(rows):,}.")
    return Table(f"{found.board}: every two metrics ({found.aggregate})", columns, rows, tuple(notes))


def generator_comparison_table(found: GeneratorComparison) -> Table:
    """Two generators under people and every metric."""
    columns = (
        TableColumn("name", "score", align="left"),
        TableColumn("first", found.first, digits=3),
        TableColumn("second", found.second, digits=3),
        TableColumn("difference", "difference", digits=3),
        TableColumn("p", "p", kind="p"),
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
    if found.preferences:
        notes.append(f"people: {COMPARISONS_WON}")
    notes += [f"Not compared: {name}: {reason}" for name, reason in found.missing.items()]
    return Table(f"{found.board}: {found.first} against {found.second}", columns, rows, tuple(notes))


def deciding_table(title: str, outputs: Sequence[DecidingOutput], names: tuple[str, str]) -> Table:
    """The outputs that speak most for a side, with the texts to look at."""
    compared = any(o.other_generator for o in outputs)
    # Of two generators both texts stand here, the first one's first, whichever of them an instance speaks for.
    of_both = not compared and any(o.other for o in outputs)
    columns = (
        TableColumn("instance", "instance", align="left"),
        TableColumn("generator", "generator", align="left", priority=2, visible=not of_both),
        TableColumn("other_generator", "preferred to", align="left", priority=2, visible=compared),
        TableColumn("human", "people", digits=1, visible=not compared),
        TableColumn("first", names[0], digits=3),
        TableColumn("second", names[1], digits=3),
        TableColumn("output", f"output of {names[0]}" if of_both else "output", align="left"),
        TableColumn(
            "other",
            f"output of {names[1]}" if of_both else "the other output",
            align="left",
            priority=0 if of_both else 3,
            visible=compared or of_both,
        ),
        TableColumn("reference", "reference", align="left", priority=4),
    )
    rows = tuple(
        {
            "instance": o.instance,
            "generator": o.generator,
            "other_generator": o.other_generator,
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
