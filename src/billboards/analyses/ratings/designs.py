"""Which way of asking gives the steadiest score for the same money.

The study of GENIE's section 4 on any labels: which way of asking gives the steadiest score for the same money?

Every dimension is studied by itself; generators are groups whose scores are judged apart and averaged. The paper's
three conclusions are tested on the figures found and reported as they come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.ratings._ratings import CampaignsOption, DimensionsOption, RatingColumns, ratings_of
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.show.words import one_line
from billboards.stats.designs import Labels, compare_designs, halved, labels_of

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme


@dataclass(frozen=True, kw_only=True, slots=True)
class DesignStanding:
    """What one way of asking leaves to chance, on the scale 0-1; the fields of `stats.designs.DesignResult`."""

    dimension: str
    scale: str
    aggregation: str
    labels: int
    score: float
    sd: float
    fixed_sd: float
    days: float
    separation: float | None


@dataclass(frozen=True, slots=True)
class DesignFinding:
    """Whether a conclusion of the paper holds for one dimension, with the figures it rests on."""

    dimension: str
    claim: str
    holds: bool
    figures: str


@dataclass(frozen=True, kw_only=True)
class DesignStudy:
    """Ways of asking people compared on labels that are there; `several` labels an item stand against one.

    `half` labels an item are taken for several where random halves stand for days.
    """

    DOCUMENT: ClassVar[str] = "designs"

    source: str
    several: int
    half: int
    rounds: int
    seed: int
    items: Mapping[str, int]
    labels: Mapping[str, int]
    groups: int
    designs: tuple[DesignStanding, ...]
    findings: tuple[DesignFinding, ...]


def study_designs(
    sources: Iterable[RatingColumns], *, several: int = 3, rounds: int = 500, seed: int = 0
) -> DesignStudy:
    """Designs compared on each dimension of a source, from the outputs that have at least `several` labels."""
    labelled = [(columns, _labels(columns, several)) for columns in sources]
    if not labelled:
        raise NotEnoughData("designs are compared on a dimension or more; name one that people have rated")
    standings: list[DesignStanding] = []
    for columns, labels in labelled:
        designs = compare_designs(labels, several=several, rounds=rounds, seed=seed)
        standings += [_standing(columns.dimension.name, design) for design in map(asdict, designs)]
    return DesignStudy(
        source=labelled[0][0].source,
        several=several,
        half=min(halved(labels, several) for _, labels in labelled),
        rounds=rounds,
        seed=seed,
        items={columns.dimension.name: len(labels.group) for columns, labels in labelled},
        labels={columns.dimension.name: int(labels.counts.sum()) for columns, labels in labelled},
        groups=max(int(labels.group.max()) + 1 for _, labels in labelled),
        designs=tuple(standings),
        findings=tuple(
            finding for columns, _ in labelled for finding in _findings(columns.dimension.name, standings, several)
        ),
    )


def _labels(columns: RatingColumns, several: int) -> Labels:
    try:
        return labels_of(columns.output, columns.on_unit, columns.generator, at_least=several)
    except NotEnoughData as error:
        raise NotEnoughData(f"{columns.source}, {columns.dimension.name}: {error}") from error


def _standing(dimension: str, values: Mapping[str, Any]) -> DesignStanding:
    plain: dict[str, Any] = {
        key: None if isinstance(value, float) and np.isnan(value) else value for key, value in values.items()
    }
    return DesignStanding(dimension=dimension, **plain)


def _findings(dimension: str, standings: Sequence[DesignStanding], several: int) -> list[DesignFinding]:
    """The paper's conclusions on the figures of one dimension."""
    mine = {
        (standing.scale, standing.aggregation, standing.labels): standing
        for standing in standings
        if standing.dimension == dimension
    }
    scales = list(dict.fromkeys(standing.scale for standing in mine.values()))
    alone = [mine[scale, "mean", 1].sd for scale in scales]
    shared = [mine[scale, "mean", several].sd for scale in scales]
    five, best = mine["five-level", "mean", 1], min(mine.values(), key=lambda standing: standing.sd)
    findings = [
        DesignFinding(
            dimension,
            f"1 label of every item varies less than {several} of 1/{several} of them",
            all(a < b for a, b in zip(alone, shared, strict=True)),
            ", ".join(
                f"{s}: {a:.3f} < {b:.3f}" if a < b else f"{s}: {a:.3f} ≥ {b:.3f}"
                for s, a, b in zip(scales, alone, shared, strict=True)
            ),
        ),
        DesignFinding(
            dimension,
            "five levels, 1 label vary least of all binary and five-level designs",
            five.sd <= min(standing.sd for standing in mine.values() if standing.scale != "as given"),
            f"{five.sd:.3f}; least: {best.scale}, {best.aggregation}, {best.labels} ({best.sd:.3f})",
        ),
        DesignFinding(
            dimension,
            "five levels and the mean are the steadiest from day to day, with 1 label and with several",
            all(_steadiest(mine, labels) for labels in (1, several)),
            f"{five.days:.3f} and {mine['five-level', 'mean', several].days:.3f}; binary: "
            f"{mine['binary', 'mean', 1].days:.3f} and {mine['binary', 'mean', several].days:.3f}",
        ),
    ]
    return [*findings, *_telling_apart(dimension, mine)]


def _steadiest(mine: Mapping[tuple[str, str, int], DesignStanding], labels: int) -> bool:
    """Whether five levels and the mean differ least between halves, among two and five levels with so many labels."""
    others = [standing.days for (scale, _, count), standing in mine.items() if count == labels and scale != "as given"]
    return mine["five-level", "mean", labels].days <= min(others)


def _telling_apart(dimension: str, mine: Mapping[tuple[str, str, int], DesignStanding]) -> list[DesignFinding]:
    """Beyond the paper: a narrow scale also narrows the differences between generators."""
    five, two = mine["five-level", "mean", 1].separation, mine["binary", "mean", 1].separation
    if five is None or two is None:
        return []
    return [
        DesignFinding(
            dimension,
            "five levels tell generators apart better than two (not asked in the paper)",
            five > two,
            f"separation {five:.2f} against {two:.2f}",
        )
    ]


def design_tables(study: DesignStudy) -> tuple[Table, Table]:
    """What each design leaves to chance, and whether the paper's conclusions hold here."""
    columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("design", "design", "left"),
        TableColumn("score", "score", digits=3, priority=1),
        TableColumn("sd", "SD", digits=4),
        TableColumn("fixed_sd", "as in paper", digits=4),
        TableColumn("days", "halves", digits=4),
        TableColumn("separation", "separation", digits=2, visible=study.groups > 1),
        TableColumn("scale", "scale", "left", visible=False),
        TableColumn("aggregation", "aggregated by", "left", visible=False),
        TableColumn("labels", "labels an item", visible=False),
    )
    counts = "; ".join(f"{name} {study.labels[name]:,} of {items:,} items" for name, items in study.items.items())
    notes = (
        f"Labels there are: {counts}. {study.rounds:,} rounds, seed {study.seed}; scores on 0-1.",
        f"Every design costs the same: 1 label of every item, or {study.several} labels of 1/{study.several} of them.",
        "SD: over rounds, items drawn anew in each. As in the paper: with one label an item, items stay and only "
        "labels are drawn. Halves: random halves of the labels, standing for days "
        f"({study.half} an item where several are).",
        *_separation_note(study),
    )
    claim_columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("claim", "the paper's conclusion", "left"),
        TableColumn("holds", "holds", "left"),
        TableColumn("figures", "figures", "left", priority=1),
    )
    designs = tuple({**asdict(standing), "design": design_words(standing)} for standing in study.designs)
    findings = tuple({**asdict(finding), "holds": "yes" if finding.holds else "no"} for finding in study.findings)
    return (
        Table(f"{study.source}: which design is steadiest?", columns, designs, notes),
        Table(f"{study.source}: GENIE's conclusions here", claim_columns, findings),
    )


def design_words(design: DesignStanding) -> str:
    """A design in a few words; a single label needs no aggregation."""
    return (
        f"{design.scale}, 1 label" if design.labels == 1 else f"{design.scale}, {design.aggregation} of {design.labels}"
    )


def _separation_note(study: DesignStudy) -> tuple[str, ...]:
    if study.groups < 2:
        return ()
    return (
        f"SDs are root mean squares over {study.groups} generators. Separation: standard deviation of the generators' "
        "scores over SD; a scale that narrows everything narrows differences too.",
    )


def design_spread(study: DesignStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """The standard deviation of every design: items drawn anew, and between random halves of the labels."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, role_colour, themed

    colours = PALETTES[theme]
    points = []
    for design in study.designs:
        name = one_line(f"{design.dimension}: {design_words(design)}")
        points += [
            {"name": name, "sd": design.sd, "role": "items and labels drawn"},
            {"name": name, "sd": design.days, "role": "between halves"},
        ]
    names = list(dict.fromkeys(point["name"] for point in points))
    roles = role_colour({"items and labels drawn": colours.accent, "between halves": colours.people})
    shapes = alt.Scale(domain=["items and labels drawn", "between halves"], range=["circle", "diamond"])
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True, labelLimit=260))
    x = alt.X("sd:Q", title="standard deviation of the score (0-1)")
    base = alt.Chart(alt.InlineData(values=points))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, roles, alt.Shape("role:N", scale=shapes, legend=None)
    )
    chart = alt.layer(dots).properties(width=WIDTH, height=ROW * len(names))
    least = min(study.designs, key=lambda design: design.sd)
    title = f"{study.source}, {least.dimension}: steadiest is {design_words(least)}"
    subtitle = "Circles: items and labels drawn anew. Diamonds: two halves of the labels on the same items."
    return themed(chart, theme, title, subtitle, "; ".join(f"{p['name']} {p['sd']:.3f}" for p in points))


@analysis("ratings designs", view=(), paper="GENIE, section 4, Figures 2 and 3")
def designs(
    view: View,
    *,
    dimension: DimensionsOption = None,
    campaign: CampaignsOption = None,
    labels: Annotated[int, Ge(1), Named(metavar="N"), "labels an item, against one"] = 3,
    rounds: Annotated[int, Ge(1), Named(metavar="N"), "draws"] = 500,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> DesignStudy:
    """Which way of asking gives the steadiest score for the same money."""
    return study_designs(ratings_of(view, dimension, campaign), several=labels, rounds=rounds, seed=seed)


designs.table(design_tables)


@designs.chart
def _spread_of_designs(study: DesignStudy, theme: Theme) -> alt.LayerChart | None:
    return design_spread(study, theme=theme)
