"""Rank generators by their strength in people's comparisons: Bradley and Terry's model, with ties and intervals.

Where people said which of two outputs is better, or chose the best and the worst of several, each generator gets a
strength from whom it was preferred to and how strong those are. So it may have met weak or strong ones: shares of wins
can't say that, strengths can. Generators that can't be told apart share a rank. Elo ratings over the course of the
comparisons stand beside; they depend on the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._comparisons import Compared, compared_generators
from billboards.analyses._view import View
from billboards.errors import InvalidInput, NotEnoughData
from billboards.options import Named
from billboards.show.table import HUMAN, MarkNotes, Table, TableColumn
from billboards.show.words import listed, part_note
from billboards.stats.bootstrap import Interval
from billboards.stats.bradley_terry import (
    ELO_MEAN,
    ELO_POINTS,
    Separated,
    Strengths,
    TieModel,
    best_worst_scores,
    clustered_covariance,
    comparison_scores,
    count_pairs,
    difference_z,
    draw_strengths,
    elo_history,
    fit_best_worst,
    fit_strengths,
)
from billboards.stats.clusters import significance_clusters

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

Floats = NDArray[np.float64]
Certainty = Literal["clustered", "bootstrap", "information"]
#: Imaginary comparisons of each generator where the real ones fix no finite strengths.
WEAK_PRIOR = 1.0
#: How many points of an Elo history are kept, and how many generators a table of wins and a chart show.
MOST_STEPS, MOST_COLUMNS, MOST_LINES = 200, 12, 6
_MODELS: dict[TieModel, str] = {
    "davidson": "Bradley-Terry with Davidson's ties",
    "rao-kupper": "Bradley-Terry with Rao and Kupper's ties",
    "half": "Bradley-Terry, a tie as half a win for either",
    "dropped": "Bradley-Terry without ties",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entrant:
    """One generator in the arena. Ratings are strengths on Elo's scale, with a mean of 1000.

    `places` are the best and the worst place that the tests leave it: behind those who are significantly better, before
    those who are significantly worse.
    """

    name: str
    kind: str
    rank: int
    cluster: int
    rating: float
    interval: Interval | None
    strength: float
    comparisons: int
    won: int
    tied: int
    lost: int
    places: tuple[int, int]

    @property
    def share(self) -> float:
        """The share of its comparisons that it won, in percent, a tie counting half."""
        return 100 * (self.won + self.tied / 2) / self.comparisons


@dataclass(frozen=True, kw_only=True, slots=True)
class Meeting:
    """What happened between two generators, and how often the model expects the first to be preferred."""

    first: str
    second: str
    won: int
    tied: int
    lost: int
    expected: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EloStep:
    """Elo ratings after so many comparisons, in the order of the generators in the ranking."""

    comparisons: int
    ratings: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ArenaRanking:
    """Generators by strength, best first, with who met whom and how Elo ratings went."""

    DOCUMENT: ClassVar[str] = "arena"

    board: str
    aggregate: str
    part: str
    model: str
    ties: TieModel
    #: Davidson's ν, or Rao and Kupper's threshold e^c; None where nobody tied or there is no such parameter.
    tie_parameter: float | None
    #: The share of comparisons that were ties.
    tie_share: float
    prior: float
    #: Why there is a prior that nobody asked for.
    separated: str | None
    certainty: Certainty
    #: What is drawn or taken together for the intervals.
    units: tuple[str, ...]
    level: float
    comparisons: int
    #: Answers that chose a best and a worst of several; None where people compared two at a time.
    choices: int | None
    instances: int
    annotators: int | None
    generators: tuple[Entrant, ...]
    meetings: tuple[Meeting, ...]
    elo: tuple[EloStep, ...]
    elo_step: float
    seed: int


@dataclass(frozen=True)
class _Fit:
    """A model of what was compared, with covariances of its errors, the largest of which counts, and Student's df."""

    strengths: Strengths
    covariances: tuple[Floats, ...]
    freedom: float
    units: tuple[str, ...]
    separated: str | None
    drawn: Floats | None = None


@analysis(group="people")
def arena(
    view: View,
    *,
    ties: Annotated[
        TieModel, "what a tie says: a model's (davidson, rao-kupper), half a win for either, or nothing"
    ] = "davidson",
    prior: Annotated[
        float | None,
        Ge(0),
        Named(metavar="N"),
        "imaginary comparisons of each generator with an average one, half of them won (default: none, or 1 where "
        "somebody was never beaten)",
    ] = None,
    certainty: Annotated[
        Certainty,
        "intervals by instances and annotators as clusters, by a bootstrap over instances, or as if all comparisons "
        "were independent",
    ] = "clustered",
    level: Annotated[float, Gt(0), Lt(1), Named(metavar="P"), "chance of a false difference between two"] = 0.05,
    draws: Annotated[int, Ge(2), Named(metavar="N"), "draws of the bootstrap"] = 500,
    elo_step: Annotated[float, Gt(0), Named(metavar="K"), "how far one comparison moves an Elo rating at most"] = 4.0,
    seed: Annotated[int, Ge(0), "what the draws of the bootstrap begin with"] = 0,
) -> ArenaRanking:
    """Rank generators by their strength in people's comparisons: Bradley and Terry's model, with ties and intervals."""
    board = view.counted
    if board.ranks is None and view.aggregate is None:
        raise NotEnoughData(f"nobody compared outputs of {board.name}, so its generators have no strengths")
    aggregate = board.aggregate(view.aggregate)
    compared = compared_generators(board, aggregate, view.part)
    return rank_compared(
        compared,
        board=board.name,
        aggregate=aggregate.name,
        part=str(view.part),
        kinds={generator.name: generator.kind for generator in board.generators},
        ties=ties,
        prior=prior,
        certainty=certainty,
        level=level,
        draws=draws,
        elo_step=elo_step,
        seed=seed,
    )


def rank_compared(
    compared: Compared,
    *,
    board: str,
    aggregate: str,
    part: str = "whole board",
    kinds: Mapping[str, str],
    ties: TieModel = "davidson",
    prior: float | None = None,
    certainty: Certainty = "clustered",
    level: float = 0.05,
    draws: int = 500,
    elo_step: float = 4.0,
    seed: int = 0,
) -> ArenaRanking:
    """Generators by strength from comparisons, wherever these come from."""
    fit = _fitted(compared, ties, prior, certainty, draws, seed)
    theta, count = fit.strengths.theta, len(compared.outcomes)
    counts = count_pairs(compared.outcomes, len(theta))
    better = _significant(fit, level)
    order = [int(k) for k in np.argsort(-theta, kind="stable")]
    p = np.where(better, 0.0, 1.0)
    clusters = significance_clusters(order, p, level=0.5)
    first_of = {cluster: place for place, k in reversed(list(enumerate(order, 1))) for cluster in [clusters[k]]}
    low, high = _interval(fit, level)
    wins, even = counts.wins(), counts.ties()
    entrants = tuple(
        Entrant(
            name=compared.names[k],
            kind=kinds.get(compared.names[k], "machine"),
            rank=first_of[clusters[k]],
            cluster=clusters[k],
            rating=float(fit.strengths.ratings[k]),
            interval=(float(ELO_MEAN + ELO_POINTS * low[k]), float(ELO_MEAN + ELO_POINTS * high[k])),
            strength=float(theta[k]),
            comparisons=int(wins[k].sum() + wins[:, k].sum() + even[k].sum()),
            won=int(wins[k].sum()),
            tied=int(even[k].sum()),
            lost=int(wins[:, k].sum()),
            places=(1 + int(better[:, k].sum()), len(order) - int(better[k].sum())),
        )
        for k in order
    )
    named = compared.annotators_known
    tie = fit.strengths.tie
    return ArenaRanking(
        board=board,
        aggregate=aggregate,
        part=part,
        model=_model(compared, ties, tie),
        ties=ties,
        tie_parameter=None if tie is None else float(np.exp(tie)),
        tie_share=float((compared.outcomes.result == 0).mean()),
        prior=fit.strengths.prior,
        separated=fit.separated,
        certainty=certainty,
        units=fit.units,
        level=level,
        comparisons=count,
        choices=None if compared.choices is None else len(compared.choices.best),
        instances=len(np.unique(compared.instance)),
        annotators=len(np.unique(compared.annotator)) if named else None,
        generators=entrants,
        meetings=_meetings(compared, fit.strengths, order, wins, even),
        elo=_elo(compared, order, elo_step),
        elo_step=elo_step,
        seed=seed,
    )


def _model(compared: Compared, ties: TieModel, tie: float | None) -> str:
    if compared.choices is not None:
        return "Maximum difference (best-worst)"
    return _MODELS[ties] if tie is not None or ties in ("half", "dropped") else "Bradley-Terry (nobody tied)"


def _fitted(
    compared: Compared, ties: TieModel, prior: float | None, certainty: Certainty, draws: int, seed: int
) -> _Fit:
    entries = len(compared.names)

    def model(weight: float) -> Strengths:
        if compared.choices is not None:
            return fit_best_worst(compared.choices, entries, prior=weight)
        return fit_strengths(count_pairs(compared.outcomes, entries), ties=ties, prior=weight)

    separated = None
    try:
        strengths = model(prior or 0.0)
    except Separated as error:
        if prior is not None:
            raise NotEnoughData(error.words(compared.names)) from error
        strengths, separated = model(WEAK_PRIOR), error.words(compared.names).partition(",")[0]
    if certainty == "information":
        return _Fit(strengths, (strengths.covariance,), np.inf, (), separated)
    if certainty == "bootstrap":
        if compared.choices is not None:
            raise InvalidInput("choices of a best and a worst output have no bootstrap; use clustered or information")
        if len(np.unique(compared.instance)) < 2:
            raise NotEnoughData("all comparisons are on one instance, which can't tell what others would say")
        drawn = draw_strengths(compared.outcomes, strengths, compared.instance, draws=draws, seed=seed)
        covariance = np.atleast_2d(np.cov(drawn, rowvar=False))
        return _Fit(
            strengths=strengths,
            covariances=(covariance,),
            freedom=np.inf,
            units=("instances",),
            separated=separated,
            drawn=drawn,
        )
    return _clustered(compared, strengths, separated)


def _clustered(compared: Compared, strengths: Strengths, separated: str | None) -> _Fit:
    """Errors with instances as clusters, and annotators beside them where these are known."""
    if compared.choices is not None:
        scores: Any = best_worst_scores(compared.choices, strengths)
    else:
        scores = comparison_scores(compared.outcomes, strengths)
    units = {"instances": compared.instance}
    if compared.annotators_known:
        units["annotators"] = compared.annotator
    sizes = {name: len(np.unique(unit)) for name, unit in units.items()}
    units = {name: unit for name, unit in units.items() if sizes[name] > 1}
    if not units:
        raise NotEnoughData("all comparisons are on one instance, which can't tell what others would say")
    covariances = [clustered_covariance(scores, strengths, *units.values())]
    if len(units) > 1:
        # Less two parts that overlap, it may come out smaller than one of them by chance.
        covariances.append(clustered_covariance(scores, strengths, units["instances"]))
    freedom = min(sizes[name] for name in units) - 1.0
    return _Fit(strengths, tuple(covariances), freedom, tuple(units), separated)


def _quantile(freedom: float, level: float) -> float:
    from scipy.special import ndtri, stdtrit

    return float(ndtri(1 - level / 2) if np.isinf(freedom) else stdtrit(freedom, 1 - level / 2))


def _significant(fit: _Fit, level: float) -> NDArray[np.bool_]:
    """Where the generator of a row is significantly stronger than that of a column, by a two-sided test."""
    z = np.stack([difference_z(fit.strengths.theta, covariance) for covariance in fit.covariances])
    # Of several errors the largest counts, which gives the smallest z.
    significant: NDArray[np.bool_] = z.min(axis=0) > _quantile(fit.freedom, level)
    return significant


def _interval(fit: _Fit, level: float) -> tuple[Floats, Floats]:
    if fit.drawn is not None:
        low, high = np.quantile(fit.drawn, (level / 2, 1 - level / 2), axis=0)
        return low, high
    variance = np.max([np.diag(covariance) for covariance in fit.covariances], axis=0)
    half = _quantile(fit.freedom, level) * np.sqrt(np.maximum(variance, 0.0))
    return fit.strengths.theta - half, fit.strengths.theta + half


def _meetings(
    compared: Compared, strengths: Strengths, order: list[int], wins: Floats, even: Floats
) -> tuple[Meeting, ...]:
    """Every two that met, in the order of the ranking; of a best and a worst, the expected share is that of two."""
    chances, tied = strengths.chances()
    if compared.choices is not None:
        # Of two outputs the model chooses best and worst with the double difference.
        chances = 1 / (1 + np.exp(-2 * (strengths.theta[:, None] - strengths.theta[None, :])))
    return tuple(
        Meeting(
            first=compared.names[a],
            second=compared.names[b],
            won=int(wins[a, b]),
            tied=int(even[a, b]),
            lost=int(wins[b, a]),
            expected=float(100 * (chances[a, b] + tied[a, b] / 2)),
        )
        for place, a in enumerate(order)
        for b in order[place + 1 :]
        if wins[a, b] + wins[b, a] + even[a, b]
    )


def _elo(compared: Compared, order: list[int], step: float) -> tuple[EloStep, ...]:
    history = elo_history(compared.outcomes, len(order), k=step)[:, order]
    steps = np.unique(np.linspace(0, len(history) - 1, MOST_STEPS).round().astype(int))
    return tuple(EloStep(comparisons=int(k), ratings=tuple(history[k].round(2).tolist())) for k in steps)


@arena.table
def _tables(result: ArenaRanking) -> list[Table]:
    marks = MarkNotes()
    columns = (
        TableColumn("rank", "rank", kind="rank"),
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("rating", "rating", digits=0),
        TableColumn("interval", f"{1 - result.level:.0%} interval", kind="interval", digits=0),
        TableColumn("places", "places", priority=1),
        TableColumn("share", "won, %", digits=1, priority=1),
        TableColumn("comparisons", "comparisons", priority=1),
        TableColumn("won", "won", priority=2),
        TableColumn("tied", "tied", priority=2),
        TableColumn("lost", "lost", priority=2),
        TableColumn("strength", "strength", digits=3, priority=3),
        TableColumn("cluster", "cluster", visible=False),
    )
    rows = tuple(
        {
            "rank": entrant.rank,
            "name": entrant.name,
            "mark": marks.mark(HUMAN if entrant.kind == "human" else ""),
            "rating": entrant.rating,
            "interval": entrant.interval,
            "places": "{}–{}".format(*entrant.places) if entrant.places[0] < entrant.places[1] else entrant.places[0],
            "share": entrant.share,
            "comparisons": entrant.comparisons,
            "won": entrant.won,
            "tied": entrant.tied,
            "lost": entrant.lost,
            "strength": entrant.strength,
            "cluster": entrant.cluster,
        }
        for entrant in result.generators
    )
    title = f"{result.board}: generators by strength in comparisons ({result.aggregate})"
    notes = (*_facts(result), *part_note(result.part), *marks.texts())
    return [Table(title, columns, rows, notes, name="ranking"), _win_matrix(result)]


def _facts(result: ArenaRanking) -> list[str]:
    facts = [
        f"{result.model}; ratings are strengths on Elo's scale: 400 points more are odds of 10 to 1, the mean is 1000.",
        _certainty_note(result),
        f"Generators share a rank unless one is significantly stronger (two-sided, {result.level:g}; WMT's clusters).",
    ]
    if result.choices is not None:
        facts.append(
            f"{result.choices} choices of a best and a worst output; won and lost are of the pairs that they imply."
        )
    elif result.tie_parameter is not None:
        symbol = "ν" if result.ties == "davidson" else "κ"
        facts.append(f"{result.tie_share:.1%} of comparisons are ties; {symbol} = {result.tie_parameter:.3g}.")
    if result.prior:
        why = f": {result.separated}, so there is no finite fit without it" if result.separated else ""
        facts.append(
            f"With a weak prior: {result.prior:g} imaginary comparison(s) of each generator with an average one{why}."
        )
    return facts


def _certainty_note(result: ArenaRanking) -> str:
    if result.certainty == "information":
        return "Intervals take all comparisons as independent."
    if result.certainty == "bootstrap":
        return "Intervals are from a bootstrap over instances."
    people = "" if "annotators" in result.units else "; annotators are not known"
    return f"Intervals take comparisons with the same {' or '.join(u[:-1] for u in result.units)} together{people}."


def _win_matrix(result: ArenaRanking) -> Table:
    """What share of its comparisons with each other generator the one of a row won."""
    names = [entrant.name for entrant in result.generators]
    shares: dict[tuple[str, str], float] = {}
    for meeting in result.meetings:
        total = meeting.won + meeting.tied + meeting.lost
        share = 100 * (meeting.won + meeting.tied / 2) / total
        shares[meeting.first, meeting.second], shares[meeting.second, meeting.first] = share, 100 - share
    columns = (
        TableColumn("place", "place", digits=0),
        TableColumn("name", "generator", "left", kind="name"),
        *(
            TableColumn(f"against {name}", str(k), digits=0, visible=k <= MOST_COLUMNS)
            for k, name in enumerate(names, 1)
        ),
    )
    rows = tuple(
        {"place": k, "name": a} | {f"against {b}": shares.get((a, b)) for b in names} for k, a in enumerate(names, 1)
    )
    more = (
        [f"Shown are the {MOST_COLUMNS} strongest as columns; CSV and JSON have all."]
        if len(names) > MOST_COLUMNS
        else []
    )
    notes = (
        "The share of comparisons that the row won against the column, in percent, a tie counting half; columns are "
        "numbered as rows are.",
        *more,
    )
    return Table(f"{result.board}: who beats whom", columns, rows, notes, name="wins")


@arena.words
def _words(result: ArenaRanking) -> list[str]:
    first = [entrant.name for entrant in result.generators if entrant.cluster == 1]
    leader = result.generators[0]
    clusters = len({entrant.cluster for entrant in result.generators})
    if len(first) == 1:
        words = [f"{leader.name} is the strongest, with a rating of {leader.rating:.0f}."]
    else:
        words = [f"{listed(first, most=6)} share the first place: none is significantly stronger than another."]
    words.append(
        f"{result.comparisons:,} comparisons put {len(result.generators)} generators into {clusters} "
        f"{'cluster' if clusters == 1 else 'clusters'}; {result.tie_share:.0%} are ties."
    )
    if result.separated:
        words.append(f"{result.separated}; a weak prior keeps strengths finite.")
    words.append("Elo ratings depend on the order of the comparisons; the ranking above does not.")
    return words


@arena.chart
def _ratings_chart(result: ArenaRanking, theme: Theme) -> alt.LayerChart:
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, distinct, role_colour, themed

    colours = PALETTES[theme]
    labels = distinct(entrant.name for entrant in result.generators)
    points = [
        {
            "name": label,
            "rating": entrant.rating,
            "low": (entrant.interval or (entrant.rating, entrant.rating))[0],
            "high": (entrant.interval or (entrant.rating, entrant.rating))[1],
            "role": "people" if entrant.kind == "human" else "first" if entrant.cluster == 1 else "other",
        }
        for label, entrant in zip(labels, result.generators, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=points))
    y = alt.Y("name:N", sort=labels, title=None)
    roles = role_colour({"people": colours.people, "first": colours.accent, "other": colours.plain})
    scale = alt.Scale(zero=False)
    whiskers = base.mark_rule(color=colours.text, strokeWidth=1.2).encode(
        alt.X("low:Q", scale=scale, title="rating"), y, alt.X2("high:Q")
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(alt.X("rating:Q", scale=scale), y, roles)
    chart = (whiskers + dots).properties(width=WIDTH, height=ROW * len(points))
    first = [entrant.name for entrant in result.generators if entrant.cluster == 1]
    title = f"{listed(first)} {'leads' if len(first) == 1 else 'lead'} in people's comparisons"
    words = "; ".join(f"{point['name']} {point['rating']:.0f}" for point in points)
    return themed(chart, theme, title, f"Strength on Elo's scale, {1 - result.level:.0%} intervals", words)


@arena.chart
def _elo_chart(result: ArenaRanking, theme: Theme) -> alt.LayerChart:
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH, cycle, distinct, themed

    colours = PALETTES[theme]
    labels = distinct(entrant.name for entrant in result.generators)[:MOST_LINES]
    points = [
        {"name": label, "comparisons": step.comparisons, "rating": step.ratings[k]}
        for k, label in enumerate(labels)
        for step in result.elo
    ]
    scale = alt.Scale(domain=labels, range=cycle(colours.lines, len(labels)))
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelColor=colours.text, labelLimit=140)
    lines = (
        alt.Chart(alt.InlineData(values=points))
        .mark_line(strokeWidth=1.8)
        .encode(
            alt.X("comparisons:Q", title="comparisons"),
            alt.Y("rating:Q", title="Elo rating", scale=alt.Scale(zero=False)),
            alt.Color("name:N", scale=scale, legend=legend),
            alt.StrokeDash("name:N", scale=alt.Scale(domain=labels, range=_dashes(len(labels))), legend=None),
        )
    )
    chart = alt.layer(lines).properties(width=WIDTH, height=200)
    shown = "" if len(labels) == len(result.generators) else f" of the {MOST_LINES} strongest"
    subtitle = f"Ratings{shown} in the order of the comparisons; another order ends elsewhere (K = {result.elo_step:g})"
    words = "; ".join(f"{label} ends at {result.elo[-1].ratings[k]:.0f}" for k, label in enumerate(labels))
    return themed(chart, theme, "Elo ratings over the course of the comparisons", subtitle, words)


def _dashes(count: int) -> list[list[int]]:
    """Lines that differ by more than colour."""
    return [[[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [12, 4], [4, 4]][k % 6] for k in range(count)]
