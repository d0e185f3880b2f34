"""Choose which outputs to have judged next, so that labels count most for what is to be found out.

A selector says what a label on each instance is worth; it sees metrics' scores, texts and the labels so far. For means
the instances are drawn by chance, likelier where they are worth more, and each label counts 1/chance: `estimate
--drawn` does so. For telling generators or metrics apart the worthiest are taken, and a plain mean over them is biased.
Asked again when labels have come in, it takes them into account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import JudgedMatrix, View
from billboards.board import Board
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.options import Named
from billboards.selectors import SELECTORS, Candidates
from billboards.show.table import Table, TableColumn, rows_of
from billboards.show.words import listed, part_note
from billboards.stats.selection import (
    centred,
    chances_within,
    combined_standing,
    draw_systematic,
    take_worthiest,
)

Floats = NDArray[np.float64]
Aim = Literal["separate", "metrics", "means"]
Unit = Literal["instances", "outputs"]
Draw = Literal["chance", "top"]

#: Who chooses for each aim, unless somebody else is named.
BY_AIM: Mapping[Aim, str] = {"separate": "gain", "metrics": "disagreement", "means": "gain"}
#: What stands for all generators where instances are chosen whole.
ALL = "*"
#: Costs that are counted from the texts.
COUNTED = ("words", "characters")
#: The fewest outputs with label and score from which the metric to rely on is chosen.
FEWEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An instance, or one generator's output of it, to have judged: its worth, its cost, and its chance to be drawn.

    `generator` is None where all generators' outputs of the instance are meant. Without a draw there is no chance.
    """

    instance: str
    generator: str | None
    worth: float | None
    cost: float
    probability: float | None
    weight: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a generator stands above the average one: by labels and metric over all instances, or labels alone."""

    generator: str
    standing: float
    plain: float
    labels: int


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What to have judged next. `probabilities` are those of every open instance, by generator or `*` for all.

    `draw` is `chance` where instances were drawn with these probabilities, so that weighted means are unbiased, and
    `top` where the worthiest were taken: then a mean over them is biased. Costs are in the unit that `costs` names.
    """

    DOCUMENT: ClassVar[str] = "selection"

    board: str
    aim: Aim
    selector: str
    metric: str | None
    aggregate: str
    part: str
    unit: Unit
    draw: Draw
    generators: tuple[str, ...]
    costs: str
    cost: float
    labelled: int
    open: int
    seed: int
    items: tuple[Choice, ...]
    probabilities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    standings: tuple[Standing, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Prospect:
    """The outputs that may be chosen, generators × instances, with what is known of them."""

    candidates: Candidates
    generators: tuple[str, ...]
    instances: tuple[str, ...]
    has_output: NDArray[np.bool_]
    cost: Floats


@analysis(quick=False, group="people", paper="Zouhar, Cui and Sachan 2025 (selectors); Neyman 1934, Hájek 1971 (draws)")
def next(
    view: View,
    *,
    items: Annotated[int, Ge(1), Named(metavar="N"), "choose so many, or all that are open where they are fewer"] = 50,
    aim: Annotated[
        Aim, "what labels are for: tell generators apart, rank metrics, or estimate generators' means"
    ] = "separate",
    generator: Annotated[
        tuple[str, ...], Named(metavar="NAME"), "only these generators (may be repeated; default: every machine)"
    ] = (),
    selector: Annotated[
        str | None,
        Named(metavar="NAME"),
        "who says what a label is worth (default: gain, or disagreement for metrics); see docs/selecting.md",
    ] = None,
    metric: Annotated[
        str | None,
        Named(metavar="NAME", metrics="scored"),
        "the metric to rely on (default: the one that agrees best with the labels so far, or else with other metrics)",
    ] = None,
    unit: Annotated[Unit, "choose instances with all generators' outputs, or single outputs"] = "instances",
    draw: Annotated[
        Draw | None,
        "draw by chances that keep means unbiased, or take the worthiest (default: chance for means and for random)",
    ] = None,
    cost: Annotated[
        str | None,
        Named(metavar="NAME"),
        "what a label costs: words, characters, or a metric's scores such as length (default: all the same)",
    ] = None,
    budget: Annotated[
        float | None, Gt(0), Named(metavar="X"), "choose as many as cost so much, instead of a number of items"
    ] = None,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> Selection:
    """Choose which outputs to have judged next, so that labels count most for what is to be found out."""
    return select_items(
        view,
        items=items,
        aim=aim,
        generators=generator,
        selector=selector,
        metric=metric,
        unit=unit,
        draw=draw,
        cost=cost,
        budget=budget,
        seed=seed,
    )


def select_items(
    view: View,
    *,
    items: int = 50,
    aim: Aim = "separate",
    generators: Sequence[str] = (),
    selector: str | None = None,
    metric: str | None = None,
    unit: Unit = "instances",
    draw: Draw | None = None,
    cost: str | None = None,
    budget: float | None = None,
    seed: int = 0,
    among: Sequence[str] | None = None,
    anew: bool = False,
) -> Selection:
    """The instances or outputs to have judged next.

    `among` leaves only these instances to choose from; with `anew` those that have labels may be chosen, too.
    """
    matrix = view.matrix()
    prospect = _prospect(view, matrix, generators, metric, cost, seed)
    name = selector or BY_AIM[aim]
    worth = np.broadcast_to(SELECTORS.load(name)(prospect.candidates), prospect.has_output.shape)
    labelled = prospect.has_output & np.isfinite(prospect.candidates.labels)
    lacking = prospect.has_output if anew else prospect.has_output & ~labelled
    if among is not None:
        lacking = lacking & np.isin(np.array(prospect.instances, object), list(among))
    how: Draw = draw or ("chance" if aim == "means" or name == "random" else "top")
    choices, chances = _chosen(prospect, worth, lacking, unit, how, items=items, budget=budget, seed=seed)
    relied = prospect.candidates.metric
    return Selection(
        board=view.board.name,
        aim=aim,
        selector=name,
        metric=None if relied is None else prospect.candidates.metrics[relied],
        aggregate=matrix.aggregate,
        part=str(view.part),
        unit=unit,
        draw=how,
        generators=prospect.generators,
        costs=cost or "items",
        cost=float(sum(choice.cost for choice in choices)),
        labelled=int(labelled.sum()),
        open=int((lacking.any(axis=0) if unit == "instances" else lacking).sum()),
        seed=seed,
        items=choices,
        probabilities=chances,
        standings=_standings(prospect),
    )


def _prospect(
    view: View, matrix: JudgedMatrix, generators: Sequence[str], metric: str | None, cost: str | None, seed: int
) -> _Prospect:
    board = view.counted
    rows = _rows(board, generators)
    keep = list(board.select(view.part))
    # Texts are those that this audience may read.
    texts = tuple(tuple(view.board.rows[row].texts[k] for k in keep) for row in rows)
    has_output = np.array([[board.rows[row].texts[k] is not None for k in keep] for row in rows], bool)
    scored = [k for k in range(len(matrix.scores.columns)) if np.isfinite(matrix.scores.values[k][rows]).any()]
    scores, labels = matrix.scores.values[np.ix_(scored, rows)], matrix.human[rows]
    names = tuple(matrix.scores.names[k] for k in scored)
    candidates = Candidates(
        scores=scores,
        metrics=names,
        metric=_relied_on(matrix, scores, names, labels, metric),
        texts=texts,
        labels=labels,
        seed=seed,
    )
    return _Prospect(
        candidates=candidates,
        generators=tuple(board.rows[row].name for row in rows),
        instances=tuple(board.instances[k].id for k in keep),
        has_output=has_output,
        cost=_costs(view, matrix, rows, keep, texts, cost),
    )


def _rows(board: Board, generators: Sequence[str]) -> list[int]:
    if generators:
        if len(set(generators)) < len(generators):
            raise InvalidInput("a generator is named twice; name each once")
        return [board.row_position[board.generator(name).name] for name in generators]
    rows = [k for k, row in enumerate(board.rows) if row.generator is not None and row.generator.kind == "machine"]
    if not rows:
        raise NotEnoughData(f"board {board.name} has no machine generators; name whose outputs are to be judged")
    return rows


def _relied_on(
    matrix: JudgedMatrix, scores: Floats, names: Sequence[str], labels: Floats, metric: str | None
) -> int | None:
    """The metric named; else the one that agrees best with labels, or with the other metrics, within instances."""
    if metric is not None:
        column = matrix.scores.columns[matrix.scores.column(metric)].name
        if column not in names:
            raise NotEnoughData(f"{metric} has no score of these generators' outputs; score them first")
        return list(names).index(column)
    if not names:
        return None
    within, people = centred(scores), centred(labels)
    if (np.isfinite(people) & np.isfinite(within).any(axis=0)).sum() >= FEWEST:
        agreement = [_correlation(values, people) for values in within]
        if np.isfinite(agreement).any():
            return int(np.nanargmax(agreement))
    common = [
        np.mean([max(_correlation(first, second), 0.0) for j, second in enumerate(within) if j != k] or [0.0])
        for k, first in enumerate(within)
    ]
    return int(np.nanargmax(np.nan_to_num(common)))


def _correlation(first: Floats, second: Floats) -> float:
    """Of values that are centred within instances already; NaN where one does not vary."""
    both = np.isfinite(first) & np.isfinite(second)
    size = float(np.sqrt((first[both] ** 2).sum() * (second[both] ** 2).sum()))
    return float((first[both] * second[both]).sum()) / size if size > 0 else float("nan")


def _costs(
    view: View,
    matrix: JudgedMatrix,
    rows: Sequence[int],
    keep: Sequence[int],
    texts: Sequence[Sequence[str | None]],
    cost: str | None,
) -> Floats:
    """What a label of each output costs."""
    if cost is None:
        return np.ones((len(rows), len(keep)))
    if cost in COUNTED:
        inputs = np.array([_size(view.board.instances[k].input, cost) for k in keep], float)
        outputs = np.array([[_size(text, cost) for text in of_row] for of_row in texts], float)
        return np.asarray(outputs + inputs + 1, np.float64)
    if cost not in matrix.scores.names and cost not in [column.source_name for column in matrix.scores.columns]:
        raise UnknownName("cost", cost, (*COUNTED, *matrix.scores.names))
    price = np.abs(matrix.scores.natural(cost)[rows])
    seen = np.isfinite(price) & (price > 0)
    if not seen.any():
        raise NotEnoughData(f"{cost} has no value above 0 for these outputs, so it says no cost")
    return np.asarray(np.where(seen, price, price[seen].mean()), np.float64)


def _size(text: str | None, cost: str) -> int:
    return 0 if text is None else len(text.split()) if cost == "words" else len(text)


def _chosen(
    prospect: _Prospect,
    worth: Floats,
    lacking: NDArray[np.bool_],
    unit: Unit,
    how: Draw,
    *,
    items: int,
    budget: float | None,
    seed: int,
) -> tuple[tuple[Choice, ...], dict[str, dict[str, float]]]:
    """The choices, worthiest or likeliest first, and the chances of all that were open and of those labelled before."""
    whole = unit == "instances"
    if whole:
        each = _average(worth, lacking)
        price = np.where(lacking, prospect.cost, 0.0).sum(axis=0)
        places = np.flatnonzero(lacking.any(axis=0))
    else:
        each, price, places = worth.ravel(), prospect.cost.ravel(), np.flatnonzero(lacking.ravel())
    if not len(places):
        raise NotEnoughData("every output has a label already, so there is nothing to have judged next")
    # Without a budget each item counts 1, whatever it costs: the worth alone decides.
    prices = price[places] if budget is not None else np.ones(len(places))
    limit = float(min(items, len(places))) if budget is None else budget
    if budget is not None and budget < prices.min():
        raise InvalidInput(f"a budget of {budget:g} buys nothing: the cheapest item costs {prices.min():g}")
    if how == "chance":
        chances = chances_within(each[places], prices, limit)
        drawn = draw_systematic(chances, seed=seed)
        order = drawn[np.argsort(-chances[drawn], kind="stable")]
    else:
        chances = np.ones(len(places))
        order = take_worthiest(each[places], prices, limit, seed=seed)
    choices = tuple(
        _choice(prospect, whole, int(places[k]), each, price, float(chances[k]) if how == "chance" else None)
        for k in order.tolist()
    )
    return choices, (_by_name(prospect, lacking, whole, places, chances) if how == "chance" else {})


def _average(worth: Floats, lacking: NDArray[np.bool_]) -> Floats:
    """The mean worth of an instance's open outputs; NaN where nothing is known."""
    seen = lacking & np.isfinite(worth)
    count = seen.sum(axis=0)
    return np.asarray(
        np.where(count > 0, np.where(seen, worth, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan), np.float64
    )


def _choice(prospect: _Prospect, whole: bool, place: int, worth: Floats, price: Floats, chance: float | None) -> Choice:
    row, k = (None, place) if whole else divmod(place, len(prospect.instances))
    return Choice(
        instance=prospect.instances[k],
        generator=None if row is None else prospect.generators[row],
        worth=float(worth[place]) if np.isfinite(worth[place]) else None,
        cost=float(price[place]),
        probability=chance,
        weight=None if chance is None else 1 / chance,
    )


def _by_name(
    prospect: _Prospect, lacking: NDArray[np.bool_], whole: bool, places: NDArray[np.intp], chances: Floats
) -> dict[str, dict[str, float]]:
    """Chances by generator and instance; what had a label before is not among them, or certain beside those of `*`."""
    by_name: dict[str, dict[str, float]] = {}
    for place, chance in zip(places.tolist(), chances.tolist(), strict=True):
        row, k = (None, place) if whole else divmod(place, len(prospect.instances))
        generator = ALL if row is None else prospect.generators[row]
        by_name.setdefault(generator, {})[prospect.instances[k]] = chance
        if whole:
            for labelled in np.flatnonzero(prospect.has_output[:, k] & ~lacking[:, k]).tolist():
                by_name.setdefault(prospect.generators[labelled], {})[prospect.instances[k]] = 1.0
    return by_name


def _standings(prospect: _Prospect) -> tuple[Standing, ...]:
    """Generators by labels and metric, best first; none before three instances have labels of all of them."""
    labels, metric = prospect.candidates.labels, prospect.candidates.metric
    labelled = np.isfinite(labels).all(axis=0)
    if metric is None or labelled.sum() < 3 or len(labels) < 2:
        return ()
    combined = combined_standing(labels, prospect.candidates.scores[metric])
    plain = centred(labels[:, labelled]).mean(axis=1)
    standings = (
        Standing(generator=name, standing=float(combined[k]), plain=float(plain[k]), labels=int(labelled.sum()))
        for k, name in enumerate(prospect.generators)
    )
    return tuple(sorted(standings, key=lambda entry: -entry.standing))


@next.table
def _tables(selection: Selection) -> tuple[Table, ...]:
    columns = [
        TableColumn("instance", "instance", "left"),
        *([TableColumn("generator", "generator", "left", kind="name")] if selection.unit == "outputs" else []),
        TableColumn("worth", "worth", digits=3),
        TableColumn("cost", "cost", digits=0 if selection.costs in (*COUNTED, "items") else 2, priority=1),
    ]
    if selection.draw == "chance":
        columns += [TableColumn("probability", "chance", digits=3), TableColumn("weight", "counts", digits=2)]
    what = "instances" if selection.unit == "instances" else "outputs"
    tables = [
        Table(
            f"{selection.board}: {len(selection.items)} {what} to have judged next ({_AIMS[selection.aim]})",
            tuple(columns),
            rows_of(selection.items),
            _notes(selection),
            name="items",
        )
    ]
    if selection.standings:
        tables.append(_standing_table(selection))
    return tuple(tables)


_AIMS: Mapping[Aim, str] = {
    "separate": "to tell generators apart",
    "metrics": "to rank metrics",
    "means": "to estimate means",
}


def _notes(selection: Selection) -> tuple[str, ...]:
    relied = "" if selection.metric is None else f" Metric relied on: {selection.metric}."
    notes = [
        f"Chosen by {selection.selector} among {selection.open:,} open {selection.unit}; {selection.labelled:,} "
        f"outputs of {listed(selection.generators)} have a label.{relied}",
    ]
    if selection.draw == "chance":
        notes.append(
            f"Drawn by these chances, seed {selection.seed}. A plain mean of these labels is wrong: each counts "
            "1/chance. Keep the JSON (--json): `billboards estimate … --drawn FILE` weighs them so."
        )
    else:
        notes.append(
            "The worthiest were taken, so a mean over them is biased: use it to compare, or --draw chance for means."
        )
    return (*notes, *part_note(selection.part))


def _standing_table(selection: Selection) -> Table:
    columns = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("standing", "above average", digits=2),
        TableColumn("plain", "by labels alone", digits=2),
        TableColumn("labels", "instances"),
    )
    note = (
        f"Over all instances: labels where all of these generators have one, elsewhere {selection.metric} and the "
        "labels' offsets from it."
    )
    return Table(
        f"{selection.board}: generators by the labels so far and {selection.metric}",
        columns,
        rows_of(selection.standings),
        (note,),
        name="standings",
    )
