"""Split each metric's agreement into three: knowing hard items, knowing good generators, judging single outputs.

Where pooled agreement comes from. A metric that only knows which items are hard, as one that counts words may, can
agree well with people over all outputs and be of no use in choosing between two of them. So the pooled correlation is
taken apart into what items, generators and single outputs add to it (`billboards.stats.agreement_parts`); the three add
up to it. People's own scores are taken apart in the same way, which says how much there is to be known of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._preferences import check_values
from billboards.analyses._probation import measured_on
from billboards.analyses._view import JudgedMatrix, View, only_rows
from billboards.board import Board
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn, reason_notes
from billboards.show.words import one_line, part_note, value_text
from billboards.stats.agreement_parts import PARTS, AgreementParts, agreement_parts
from billboards.stats.bootstrap import Interval

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Points, Theme

Floats = NDArray[np.float64]
#: The row of people's own scores.
PEOPLE = "people themselves"
#: What each part is called where there is room.
MEANINGS = {
    "items": "knowing which items are hard",
    "generators": "knowing which generators are good",
    "outputs": "judging single outputs",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class AgreementSources:
    """A metric's correlation with people over n outputs, and what items, generators and outputs add to it.

    The three parts add up to the correlation. `own_…` are shares of the variance of the metric's own scores.
    """

    name: str
    correlation: float
    n: int
    items: float
    generators: float
    outputs: float
    items_interval: Interval | None
    generators_interval: Interval | None
    outputs_interval: Interval | None
    own_items: float
    own_generators: float
    own_outputs: float
    is_statistic: bool = False


@dataclass(frozen=True, kw_only=True)
class Decomposition:
    """Where metrics' agreement with people comes from, and how people's own scores vary.

    Of `people` the correlation is 1 and the parts are shares of the variance of their scores.
    """

    DOCUMENT: ClassVar[str] = "decomposition"

    board: str
    aggregate: str
    part: str
    resampled: Literal["instances", "documents"]
    draws: int
    seed: int
    #: Judged items, and generators.
    items: int
    generators: int
    people: AgreementSources
    metrics: tuple[AgreementSources, ...]
    #: Metrics that could not be taken apart, each with the reason.
    missing: Mapping[str, str] = field(default_factory=dict)


@analysis(group="how good are the metrics?")
def decompose(
    view: View,
    *,
    draws: Annotated[int, Ge(0), Named(metavar="N"), "bootstrap draws for intervals"] = 1000,
    resampled: Annotated[
        Literal["instances", "documents"], Named(name="resample"), "what the bootstrap draws anew for intervals"
    ] = "instances",
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of those draws"] = 0,
) -> Decomposition:
    """Split each metric's agreement into three: knowing hard items, knowing good generators, judging single outputs."""
    board = view.counted
    check_values(board, view.aggregate, "agreement with them has no parts")
    matrix = measured_on(board, view.matrix()).matrix
    human = only_rows(matrix.judged_human, np.array([row.generator is not None for row in board.rows], bool))
    _check(board, matrix, human)
    # People are a metric that agrees with itself: what their agreement is made of is what their scores vary by.
    scores = np.concatenate((human[None], matrix.scores.values))
    unit = _units(board, matrix, resampled)
    taken = agreement_parts(scores, human, unit=unit, draws=draws, seed=seed)
    bounds = taken.intervals[:, :, 0]
    people = _sources(PEOPLE, taken, bounds, 0)
    columns = enumerate(matrix.scores.columns, 1)
    metrics = [_sources(column.name, taken, bounds, k, column.is_statistic) for k, column in columns]
    if people is None:
        raise NotEnoughData(f"people's scores on {board.name} don't vary, or too few items have several judged outputs")
    judged = np.isfinite(human)
    measured = [m for m in metrics if m is not None]
    names = [column.name for column in matrix.scores.columns]
    return Decomposition(
        board=board.name,
        aggregate=matrix.aggregate,
        part=str(matrix.part),
        resampled=resampled,
        draws=draws,
        seed=seed,
        items=int(judged.any(axis=0).sum()),
        generators=int(judged.any(axis=1).sum()),
        people=people,
        metrics=tuple(sorted(measured, key=lambda m: (-m.correlation, m.name))),
        missing={name: NOT_ENOUGH for name, m in zip(names, metrics, strict=True) if m is None},
    )


#: Why a metric has no parts.
NOT_ENOUGH = "its scores don't vary, or too few items have several judged outputs with a score"


def _check(board: Board, matrix: JudgedMatrix, human: Floats) -> None:
    if not len(matrix.scores.columns):
        raise NotEnoughData(f"board {board.name} has no scores yet; compute some with `billboards score`")
    judged = np.isfinite(human)
    if judged.any(axis=1).sum() < 2 or (judged.sum(axis=0) > 1).sum() < 2:
        raise NotEnoughData(
            f"board {board.name} needs two items or more of which people judged outputs of two generators or more"
        )


def _units(board: Board, matrix: JudgedMatrix, resampled: str) -> NDArray[np.intp] | None:
    """What each instance is drawn with."""
    if resampled == "instances":
        return None
    documents = [board.documents[k] for k in board.select(matrix.part)]
    return np.asarray(np.unique(documents, return_inverse=True)[1], np.intp)


def _sources(
    name: str, taken: AgreementParts, bounds: Floats, k: int, is_statistic: bool = False
) -> AgreementSources | None:
    if not np.isfinite(taken.parts[k]).all():
        return None
    items, generators, outputs = map(float, taken.parts[k])
    of_items, of_generators, of_outputs = (_interval(bounds[:, k, place]) for place in range(len(PARTS)))
    own_items, own_generators, own_outputs = map(float, taken.scores[k])
    return AgreementSources(
        name=name,
        correlation=float(taken.r[k]),
        n=int(taken.n[k]),
        items=items,
        generators=generators,
        outputs=outputs,
        items_interval=of_items,
        generators_interval=of_generators,
        outputs_interval=of_outputs,
        own_items=own_items,
        own_generators=own_generators,
        own_outputs=own_outputs,
        is_statistic=is_statistic,
    )


def _interval(bounds: Floats) -> Interval | None:
    low, high = map(float, bounds)
    return (low, high) if np.isfinite(low) else None


@decompose.table
def _table(study: Decomposition) -> Table:
    columns = [TableColumn("name", "metric", "left", kind="name"), TableColumn("correlation", "correlation", digits=3)]
    for part in PARTS:
        interval = TableColumn(f"{part}_interval", "95% interval", digits=3, kind="interval", priority=1)
        columns += [TableColumn(part, part, digits=3), *([interval] if study.draws else [])]
    columns.append(TableColumn("n", "n", priority=2))
    columns += [TableColumn(f"own_{part}", f"own: {part}", digits=2, priority=3) for part in PARTS]
    keys = [column.key for column in columns]
    rows = tuple({key: getattr(m, key) for key in keys} for m in (study.people, *study.metrics))
    over = "" if not study.draws else f" Intervals are over resampled {study.resampled}; the generators stay these."
    notes = (
        "The three parts add up to the correlation. items: earned by knowing which items are hard; generators: by "
        "knowing which generators are good; outputs: by judging an output beyond its item and its generator."
        f"{over}",
        f"{PEOPLE}: shares of the variance of people's scores; the part of outputs holds annotators' chance, too. own: "
        "shares of the variance of a metric's own scores.",
        *reason_notes("Not taken apart:", study.missing),
        *part_note(study.part),
    )
    title = f"{study.board}: where correlation with people comes from ({study.aggregate})"
    return Table(title, tuple(columns), rows, notes)


@decompose.words
def _words(study: Decomposition) -> list[str]:
    people = study.people
    shares = [f"{value_text(100 * value, 0)}%" for value in (people.items, people.generators, people.outputs)]
    sentences = [
        f"People's scores vary by items ({shares[0]} of their variance), by generators ({shares[1]}) and by single "
        f"outputs ({shares[2]})."
    ]
    best = next((m for m in study.metrics if not m.is_statistic), None)
    if best is not None:
        sentences.insert(0, _sentence(best))
    outputs = max((m for m in study.metrics if not m.is_statistic), key=lambda m: m.outputs, default=None)
    if outputs is not None and outputs is not best:
        sentences.append(
            f"{one_line(outputs.name)} earns most by judging single outputs: {value_text(outputs.outputs, 3)} of its "
            f"{value_text(outputs.correlation, 3)}."
        )
    return sentences


def _sentence(metric: AgreementSources) -> str:
    """What a metric's agreement is made of."""
    parts = [f"{value_text(getattr(metric, part), 3)} by {MEANINGS[part]}" for part in PARTS]
    return (
        f"Of the correlation of {one_line(metric.name)} with people, {value_text(metric.correlation, 3)}, it earns "
        f"{parts[0]}, {parts[1]} and {parts[2]}."
    )


@decompose.chart
def stacked_parts(study: Decomposition, theme: Theme) -> alt.LayerChart:
    """A bar for people and for each metric, made of its three parts; what a part takes away goes to the left."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, distinct, themed

    colours = PALETTES[theme]
    every = (study.people, *study.metrics)
    names = distinct(m.name for m in every)
    bars: Points = [
        {"name": name, "part": part, "value": getattr(m, part), "order": place}
        for name, m in zip(names, every, strict=True)
        for place, part in enumerate(PARTS)
    ]
    totals: Points = [
        {
            "name": name,
            "end": sum(max(0.0, getattr(m, part)) for part in PARTS),
            "label": value_text(m.correlation, 3),
        }
        for name, m in zip(names, every, strict=True)
    ]
    y = alt.Y("name:N", sort=names, title=None)
    legend = alt.Legend(orient="top", title=None, labelColor=colours.text, labelFontSize=12)
    shades = alt.Scale(domain=list(PARTS), range=[colours.plain, colours.people, colours.accent])
    lengths = (
        alt.Chart(alt.InlineData(values=bars))
        .mark_bar(height={"band": 0.66})
        .encode(
            alt.X("value:Q", stack="zero", title="part of the correlation with people", axis=alt.Axis(tickCount=6)),
            y,
            alt.Color("part:N", scale=shades, legend=legend),
            order=alt.Order("order:Q"),
            tooltip=["name:N", "part:N", alt.Tooltip("value:Q", format=".3f")],
        )
    )
    figures = (
        alt.Chart(alt.InlineData(values=totals))
        .mark_text(align="left", dx=5, color=colours.text)
        .encode(alt.X("end:Q"), y, text="label:N")
    )
    chart = (lengths + figures).properties(width=WIDTH, height=ROW * len(names))
    title = _title(study)
    words = "; ".join(
        f"{m.name} {value_text(m.correlation, 3)}: " + ", ".join(f"{p} {value_text(getattr(m, p), 3)}" for p in PARTS)
        for m in every
    )
    subtitle = "Of people themselves: shares of the variance of their scores."
    return themed(chart, theme, title, subtitle, words)


def _title(study: Decomposition) -> str:
    best = next((m for m in study.metrics if not m.is_statistic), None)
    if best is None:
        return f"How people's scores vary on {one_line(study.board)}"
    earned, whole = value_text(best.outputs, 3), value_text(best.correlation, 3)
    return f"{one_line(best.name)} earns {earned} of its {whole} by judging single outputs"
