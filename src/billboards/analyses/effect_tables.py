"""Two effects on metrics as tables: of a text's being a machine's, and of one reference more (Billboards, Table 12).

A metric for which an effect was not measured has a row that says why.
"""

from __future__ import annotations

from collections.abc import Sequence

from billboards.analyses.ranking_results import OverratingEstimate, OverratingReport, ReferenceEffect
from billboards.show.latex import escape_latex, latex_float
from billboards.show.table import NOTES, REFERENCE_FREE, Table, TableColumn, finite, reason_notes
from billboards.show.words import value_text


def overrating_table(report: OverratingReport) -> Table:
    """How much each metric overrates machines over one human generator, least first, then why the others lack it."""
    measured = sorted(report.metrics, key=lambda estimate: estimate.beta0)
    rows: list[dict[str, object]] = [
        {
            "name": estimate.name,
            "beta0": finite(estimate.beta0),
            "interval90": estimate.interval90,
            "se": finite(estimate.se),
            "p": estimate.p,
            "between_generators": estimate.components.get("generators"),
            "verdict": verdict(estimate),
            "n": estimate.n,
            "instances": estimate.instances,
            "signature": estimate.signature,
        }
        for estimate in measured
    ]
    rows += [{"name": name, "reason": reason} for name, reason in sorted(report.missing.items())]
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("beta0", "beta0", digits=2),
        TableColumn("interval90", "90% interval", digits=2, kind="interval"),
        TableColumn("se", "se", digits=4, visible=False),
        TableColumn("p", "p", kind="p", visible=report.crossed),
        TableColumn("between_generators", "between generators", digits=2, priority=3, visible=report.crossed),
        TableColumn("verdict", "verdict", "left", priority=1),
        TableColumn("n", "n", priority=2),
        TableColumn("instances", "instances", visible=False),
        TableColumn("reason", "why not", "left", visible=False),
        TableColumn("signature", "signature", "left", visible=False),
    )
    against = ", ".join(report.references) or "no references"
    title = f"{report.board}: how much metrics overrate machines over {report.human} (references: {against})"
    note = f"In standard deviations of the metric, at equal {report.aggregate}; above 0, machines are overrated."
    notes = (note, _CROSSED) if report.crossed else (note,)
    return Table(title, columns, tuple(rows), (*notes, *reason_notes("Not measured:", report.missing)))


_CROSSED = (
    "Generators count as a sample: intervals and p (Satterthwaite, two-sided) are about machines like these. "
    "Between generators: the share of the variance that lies between generators of equal quality."
)


def reference_table(effect: ReferenceEffect) -> Table:
    """Each metric's correlation by the number of references; reference-free ones stand under none."""
    sizes = sorted({point.size for curve in effect.curves.values() for point in curve})
    rows: list[dict[str, object]] = []
    for name, curve in sorted(effect.curves.items(), key=lambda item: -item[1][-1].correlation if item[1] else 1.0):
        row: dict[str, object] = {"name": name}
        for point in curve:
            row |= {f"refs_{point.size}": finite(point.correlation), f"range_{point.size}": (point.low, point.high)}
        rows.append(row)
    free = sorted(effect.reference_free.items(), key=lambda item: -item[1])
    rows += [{"name": name, "refs_0": finite(value), "mark": REFERENCE_FREE} for name, value in free]
    rows += [{"name": name, "reason": reason} for name, reason in sorted(effect.missing.items())]
    columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("refs_0", "none", digits=3, visible=bool(free)),
        *(TableColumn(f"refs_{size}", str(size), digits=3) for size in sizes),
        *(TableColumn(f"range_{size}", f"range {size}", digits=3, kind="interval", visible=False) for size in sizes),
        TableColumn("reason", "why not", "left", visible=False),
    )
    title = f"{effect.board}: correlation with people ({effect.aggregate}) by number of references"
    note = "Each number is a mean over sets of that many references: over all of them, or over 50 drawn with the seed."
    marks = (NOTES[REFERENCE_FREE],) if free else ()
    return Table(title, columns, tuple(rows), (note, *reason_notes("Not measured:", effect.missing), *marks))


def verdict(estimate: OverratingEstimate) -> str:
    """What a 90% interval says about a metric: whom it overrates, if it can be told."""
    low, high = estimate.interval90
    return "overrates machines" if low > 0 else "overrates people" if high < 0 else "neither"


def overrating_latex(reports: Sequence[OverratingReport], *, per_line: int = 8, label: str | None = None) -> str:
    """Overrating on one or more boards in the form of the paper's Table 12."""
    blocks = [_overrating_lines(report, per_line) for report in reports]
    widest = max((min(per_line, len(report.metrics)) for report in reports), default=0)
    return latex_float("l" + "c" * widest, [], blocks, _overrating_caption(reports), label)


def _overrating_lines(report: OverratingReport, per_line: int) -> list[str]:
    estimates = sorted(report.metrics, key=lambda estimate: estimate.beta0)
    lines = []
    for start in range(0, len(estimates), per_line):
        part = estimates[start : start + per_line]
        name = escape_latex(report.board) if start == 0 else ""
        lines.append(" & ".join((name, *(escape_latex(estimate.name) for estimate in part))))
        lines.append(" & ".join(("", *map(_overrating_cell, part))))
    return lines


def _overrating_cell(estimate: OverratingEstimate) -> str:
    low, high = estimate.interval90
    value = value_text(estimate.beta0, 2).replace("-", "$-$")
    cell = rf"{value}$_{{\pm {value_text((high - low) / 2, 2)}}}$"
    colour = {"overrates machines": "red", "overrates people": "blue"}.get(verdict(estimate))
    return rf"\textcolor{{{colour}}}{{{cell}}}" if colour else cell


def _overrating_caption(reports: Sequence[OverratingReport]) -> str:
    against = "; ".join(f"{r.board}: {r.human} against {', '.join(r.references) or 'no references'}" for r in reports)
    return (
        "Fixed-effect coefficients of the mixed-effects models: how much metrics overrate machines over people, in "
        "their standard deviations. 0 is neutral, red significantly positive, blue significantly negative; subscripts "
        f"are 90% confidence intervals. {against}."
    )
