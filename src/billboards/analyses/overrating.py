"""Measure how much each metric, and the ensemble, overrates machines over a person, beyond what people say.

Overrating on a board (§2.3): one person takes part, and that person's text is kept out of the references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._entries import named_references
from billboards.analyses._families import AUTO, FamilyOption
from billboards.analyses._preferences import check_values
from billboards.analyses._probation import trusted_matrix
from billboards.analyses._view import View, judged_matrix
from billboards.analyses.ensemble import ENSEMBLE, Method, ensemble_scores, fit_view
from billboards.board import Board, Outputs, ReferenceSet, Scores, human_scores
from billboards.board.cells import CellStore
from billboards.board.matrix import board_scores
from billboards.errors import InvalidInput, NotEnoughData
from billboards.options import Named
from billboards.show.latex import escape_latex, latex_float
from billboards.show.table import Table, TableColumn, finite, reason_notes
from billboards.show.words import interval_text, listed, one_line, value_text
from billboards.stats.bootstrap import Interval
from billboards.stats.overrating import overrating_all, overrating_crossed

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme


@dataclass(frozen=True, kw_only=True, slots=True)
class OverratingEstimate:
    """How much one metric overrates machines over people, in its standard deviations (§2.3).

    Where generators, too, count as a sample, `p` is Satterthwaite's two-sided one, and `components` holds the shares of
    variance between instances, between generators, and left over.
    """

    name: str
    signature: str
    beta0: float
    se: float
    interval90: Interval
    n: int
    instances: int
    p: float | None = None
    components: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class OverratingReport:
    """Overrating of every metric that can be measured, and why the others can't.

    `crossed` says that generators were a second random effect: it is about machines like these, not these alone.
    """

    DOCUMENT: ClassVar[str] = "overrating"

    board: str
    human: str
    references: tuple[str, ...]
    aggregate: str
    metrics: tuple[OverratingEstimate, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    crossed: bool = False


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: What overrating can't say where people only compared outputs.
NO_EQUAL_QUALITY = "machines and people can't be compared at equal quality"


def human_generators(board: Board) -> tuple[str, ...]:
    """The people whose texts are judged, so that machines can be compared with them."""
    human = _people(board, None)
    return tuple(
        row.name
        for k, row in enumerate(board.rows)
        if row.generator is not None and row.generator.kind == "human" and np.isfinite(human[k]).any()
    )


def references_without(board: Board, human: str, references: ReferenceSet | None) -> ReferenceSet:
    """The references to score with: those asked for, or all but the person's own; never the person's own text."""
    row = board.row(human)
    if row.generator is None or row.generator.kind != "human":
        people = ", ".join(human_generators(board)) or "none"
        raise InvalidInput(f"{human} is not a human generator; judged ones on this board: {people}")
    own = [name for name in board.reference_names if board.is_reference(row, (name,))]
    if references is None:
        return tuple(name for name in board.references if name not in own)
    for name in references:
        if name in own:
            raise InvalidInput(f"reference {name} is {human}'s own text; leave it out of --references")
    return board.check_references(references)


def rows_compared(board: Board, human: str, aggregate: str | None = None) -> list[Outputs]:
    """The rows that take part: the person, and every judged machine."""
    people = _people(board, aggregate)
    return [row for row, takes_part in zip(board.rows, _takes_part(board, human, people), strict=True) if takes_part]


def _people(board: Board, aggregate: str | None) -> Floats:
    shape = (len(board.rows), len(board.instances))
    return human_scores(board.judgments, board.aggregate(aggregate), board.dimensions, shape)


def _takes_part(board: Board, human: str, people: Floats) -> NDArray[np.bool_]:
    return np.array(
        [
            row.name == human
            or (row.generator is not None and row.generator.kind == "machine" and np.isfinite(people[k]).any())
            for k, row in enumerate(board.rows)
        ],
        bool,
    )


def measure_overrating(
    board: Board,
    store: CellStore | None,
    human: str,
    *,
    references: ReferenceSet | None = None,
    aggregate: str | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = AUTO,
    crossed: bool = False,
    only: str | None = None,
) -> OverratingReport:
    """Overrating of every metric and of the ensemble, or the reason why not; with generators as a sample if crossed.

    only: a metric, where the others and the ensemble, which takes long to fit, are not asked for.
    """
    check_values(board, aggregate, NO_EQUAL_QUALITY)
    used = references_without(board, human, references)
    chosen = board.aggregate(aggregate)
    people = _people(board, aggregate)
    if not np.isfinite(people[board.row_position[human]]).any():
        raise InvalidInput(f"{human} has no judgments under {chosen.name}; overrating compares with judged people")
    rows = _takes_part(board, human, people)
    machine = np.array([row.name != human for row in board.rows], bool)
    scores = board_scores(board, store, references=used).leading()
    estimates, missing = [], _unscored(board, store, scores, used)
    columns = [(c.name, c.signature, scores.values[n]) for n, c in enumerate(scores.columns) if not c.is_statistic]
    if only is None:
        columns += _ensemble_column(board, store, scores, aggregate, missing, k=k, lam=lam, method=method)
    else:
        columns = [column for column in columns if column[0] == only]
    matrix = np.array([values[rows] for _, _, values in columns]).reshape(-1, *people[rows].shape)
    measured = overrating_all(matrix, people[rows], machine[rows])
    for column, (name, signature, values) in enumerate(columns):
        try:
            result = measured.of(column)
            estimate = OverratingEstimate(
                name=name,
                signature=signature,
                beta0=result.beta0,
                se=result.se,
                interval90=result.interval90,
                n=result.n,
                instances=result.instances,
            )
            estimates.append(_crossed(estimate, matrix[column], people[rows], machine[rows]) if crossed else estimate)
        except NotEnoughData as error:
            unscored = not np.isfinite(values[board.row_position[human]]).any()
            missing[name] = f"has no scores of {human}" if unscored else str(error)
    estimates.sort(key=_least_first)
    return OverratingReport(
        board=board.name,
        human=human,
        references=used,
        aggregate=chosen.name,
        metrics=tuple(estimates),
        missing=missing,
        crossed=crossed,
    )


def _crossed(estimate: OverratingEstimate, scores: Floats, people: Floats, machine: Bools) -> OverratingEstimate:
    """The same metric where generators, too, are a sample."""
    result = overrating_crossed(scores, people, machine)
    components = {
        "instances": result.fit.instance_variance,
        "generators": result.fit.generator_variance,
        "residual": result.fit.residual_variance,
    }
    total = sum(components.values()) or 1.0
    shares = {name: value / total for name, value in components.items()}
    return replace(
        estimate, beta0=result.beta0, se=result.se, interval90=result.interval90, p=result.p, components=shares
    )


def _unscored(board: Board, store: CellStore | None, scores: Scores, used: ReferenceSet) -> dict[str, str]:
    """Metrics on the board that have no column against these references, and why."""
    reasons = {}
    scored = set(scores.names)
    for column in board_scores(board, store).leading().columns:
        if column.name not in scored:
            source = "its released scores used" if column.origin == "imported" else "it was scored with"
            names = ", ".join(column.references)
            reasons[column.name] = f"{source} references {names}; scores with {', '.join(used)} alone are needed"
    return reasons


def _ensemble_column(
    board: Board,
    store: CellStore | None,
    scores: Scores,
    aggregate: str | None,
    missing: dict[str, str],
    *,
    k: int,
    lam: float | None,
    method: Method,
) -> list[tuple[str, str, Floats]]:
    """The board's ensemble on these scores: its weights are the board's, its metrics see these references."""
    try:
        fitted = fit_view(
            board, trusted_matrix(board, judged_matrix(board, store, aggregate=aggregate)), k=k, lam=lam, method=method
        )
    except NotEnoughData as error:
        missing[ENSEMBLE] = str(error)
        return []
    lacking = [name for name in fitted.ensemble.inputs if name not in scores.names]
    if lacking:
        missing[ENSEMBLE] = f"its metrics {', '.join(lacking)} have no scores with these references"
        return []
    return [(ENSEMBLE, fitted.ensemble.signature, ensemble_scores(fitted.ensemble, scores, board))]


def _least_first(estimate: OverratingEstimate) -> tuple[float, str]:
    """By overrating; what differs by rounding alone, as another processor would round it, by name."""
    return round(estimate.beta0, 9), estimate.name


def overrating_table(report: OverratingReport) -> Table:
    """How much each metric overrates machines over one human generator, least first, then why the others lack it."""
    measured = sorted(report.metrics, key=_least_first)
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


def verdict(estimate: OverratingEstimate) -> str:
    """What a 90% interval says about a metric: whom it overrates, if it can be told."""
    low, high = estimate.interval90
    return "overrates machines" if low > 0 else "overrates people" if high < 0 else "neither"


def overrating_latex(reports: Sequence[OverratingReport], *, per_line: int = 8, label: str | None = None) -> str:
    """Overrating on one or more boards in the form of the paper's Table 12."""
    blocks = [_overrating_lines(report, per_line) for report in reports]
    widest = max((min(per_line, len(report.metrics)) for report in reports), default=0)
    return latex_float(
        "l" + "c" * widest,
        [],
        blocks,
        "How much metrics overrate machines over people, in standard deviations of the metric.",
        label,
        notes=_overrating_notes(reports),
        star=widest > IN_A_COLUMN,
        packages=("booktabs", "xcolor"),
    )


#: So many metrics stand side by side in one column of a two-column page.
IN_A_COLUMN = 4


def _overrating_lines(report: OverratingReport, per_line: int) -> list[str]:
    estimates = sorted(report.metrics, key=_least_first)
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
    around = rf"$_{{\pm {value_text((high - low) / 2, 2)}}}$"
    colour = {"overrates machines": "red", "overrates people": "blue"}.get(verdict(estimate))
    # Bold as well, for prints without colour.
    return rf"\textcolor{{{colour}}}{{\textbf{{{value}}}{around}}}" if colour else f"{value}{around}"


def _overrating_notes(reports: Sequence[OverratingReport]) -> list[str]:
    against = "; ".join(f"{r.board}: {r.human} against {', '.join(r.references) or 'no references'}" for r in reports)
    return [
        "Fixed effects of mixed-effects models, at equal quality; subscripts: half of the 90% interval. Bold: "
        "significantly above 0, machines are overrated (red), or below, people are (blue).",
        f"{against}.",
    ]


def overrating_forest(report: OverratingReport, *, theme: Theme = "light") -> alt.LayerChart:
    """How much each metric overrates machines, with 90% intervals and a line at zero, least first."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, distinct, role_colour, themed

    if not report.metrics:
        raise NotEnoughData(f"{report.board}: overrating was measured for no metric; nothing to draw")
    colours = PALETTES[theme]
    estimates = sorted(report.metrics, key=_least_first)
    names = distinct(estimate.name for estimate in estimates)
    rows = [
        {
            "name": name,
            "beta0": e.beta0,
            "low": e.interval90[0],
            "high": e.interval90[1],
            "role": verdict(e),
            "metric": e.name,
            "interval": interval_text(e.interval90, 2),
        }
        for name, e in zip(names, estimates, strict=True)
    ]
    kinds = ["overrates machines", "neither", "overrates people"]
    roles = role_colour(dict(zip(kinds, (colours.people, colours.plain, colours.accent), strict=True)))
    shapes = alt.Scale(domain=kinds, range=["circle", "diamond", "square"])
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True))
    x = alt.X("beta0:Q", title="beta0, in standard deviations of the metric")
    tooltip = [
        alt.Tooltip("name:N", title="metric"),
        alt.Tooltip("beta0:Q", format=".2f", title="overrating"),
        alt.Tooltip("interval:N", title="90% interval"),
        alt.Tooltip("role:N", title="it"),
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color=colours.text, strokeDash=[3, 3])
        .encode(x="zero:Q")
    )
    whiskers = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), y, alt.X2("high:Q"), roles)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, roles, alt.Shape("role:N", scale=shapes, legend=None), tooltip=tooltip
    )
    chart = (zero + whiskers + dots).properties(width=WIDTH, height=ROW * len(rows))
    subtitle = "Circles: machines overrated. Squares: people overrated. Diamonds: neither. Lines are 90% intervals."
    words = "; ".join(f"{row['name']} {value_text(row['beta0'], 2)}" for row in rows)
    return themed(chart, theme, overrating_words(report), subtitle, words)


def overrating_words(report: OverratingReport) -> str:
    """The finding of an overrating report in one line."""
    over = sum(verdict(estimate) == "overrates machines" for estimate in report.metrics)
    metrics = "metric" if len(report.metrics) == 1 else "metrics"
    clearly = "overrates" if over == len(report.metrics) == 1 else "overrate"
    return f"{over} of {len(report.metrics)} {metrics} significantly {clearly} machines over {one_line(report.human)}"


def overrating_sentence(report: OverratingReport) -> str | None:
    if not report.metrics:
        return None
    most = max(report.metrics, key=lambda estimate: estimate.beta0)
    sentence = f"{overrating_words(report)}; the most is {value_text(most.beta0, 2)} standard deviations"
    people = [estimate.name for estimate in report.metrics if verdict(estimate) == "overrates people"]
    return f"{sentence} ({one_line(most.name)})." + (f" The other way round: {listed(people)}." if people else "")


@analysis(
    view=("aggregate",), scores=True, group="how good are the metrics?", paper="Billboards, section 2.3 and Table 12"
)
def overrating(
    view: View,
    human: Annotated[str | None, Named(metavar="NAME"), "the human generator (default: the only judged one)"] = None,
    *,
    references: Annotated[
        str | Sequence[str] | None,
        Named(metavar="A,B"),
        "references to score with (default: all but the person's own)",
    ] = None,
    metrics: Annotated[
        tuple[str, ...] | None,
        Named(name="metric", metavar="NAME", metrics="computed"),
        "a metric, options in brackets as in 'chrF(beta=1)', a part as in 'ROUGE-L[recall]', a file, pack:NAME or "
        "evaluate:NAME; may be repeated (default: the board's)",
    ] = None,
    score: Annotated[bool, "compute the scores that are missing first"] = True,
    crossed: Annotated[bool, "let generators be a sample, too: intervals about machines like these"] = False,
    k: Annotated[int, Ge(1), Named(metavar="N"), "tune lambda so that N metrics take part"] = 3,
    lam: Annotated[
        float | None, Ge(0), Named(name="lambda", metavar="X"), "use this lambda (scikit-learn's alpha) instead"
    ] = None,
    method: FamilyOption = AUTO,
) -> OverratingReport:
    """Measure how much each metric, and the ensemble, overrates machines over a person, beyond what people say.

    The person's own text is kept out of the references. Scores that this needs and that can be computed here are
    computed first; for the others the reason is given.
    """
    board = view.counted
    human = human or _only_human(board)
    used = references_without(board, human, named_references(references))
    failures: Mapping[str, str] = {}
    # Where nothing may be computed, as on a site, nothing that was named is opened either.
    if score and view.scoring is not None and (metrics or board.metrics):
        rows = rows_compared(board, human, view.aggregate)
        failures = view.score(view.metrics(metrics), references=used, rows=rows)
    report = measure_overrating(
        board,
        view.cells,
        human,
        references=used,
        aggregate=view.aggregate,
        k=k,
        lam=lam,
        method=method,
        crossed=crossed,
    )
    return replace(report, missing={**report.missing, **failures})


overrating.table(overrating_table)


@overrating.latex
def _as_table_12(report: OverratingReport) -> str:
    return overrating_latex([report])


@overrating.chart
def _forest(report: OverratingReport, theme: Theme) -> alt.LayerChart | None:
    return overrating_forest(report, theme=theme) if report.metrics else None


@overrating.words
def _sentences(report: OverratingReport) -> list[str]:
    sentence = overrating_sentence(report)
    return [] if sentence is None else [sentence]


def _only_human(board: Board) -> str:
    people = human_generators(board)
    if not people:
        check_values(board, None, NO_EQUAL_QUALITY)
        raise NotEnoughData(f"board {board.name} has no judged human generator, and overrating compares with one")
    if len(people) > 1:
        names = ", ".join(people)
        raise InvalidInput(
            f"board {board.name}: choose the human generator with --human (or human=…); judged ones: {names}"
        )
    return people[0]


@overrating.in_report
def _first_human(view: View) -> list[dict[str, str]]:
    return [{"human": name} for name in human_generators(view.counted)[:1]] if view.counted.ranks else []
