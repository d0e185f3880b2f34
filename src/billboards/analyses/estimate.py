"""Estimate people's mean score of generators from labels, with a metric or the ensemble to correct for luck.

People's mean score of a generator from few labels, with a metric or the ensemble as control variate.

The metric scores all of the generator's outputs, people label some: the metric says whether the labelled ones are
easier than the rest. It must not have been fitted on these labels, so the ensemble is fitted on the other generators
only. With fewer labels than there are, a seeded subsample is drawn, which shows what labelling less would have given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._preferences import check_values
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.analyses.ensemble import ENSEMBLE, ensemble_scores, fit_view
from billboards.analyses.next import ALL, Selection
from billboards.board import Aggregate, Board, Slice
from billboards.board.cells import CellStore, with_parts
from billboards.board.matrix import column_named
from billboards.errors import InvalidInput, NotEnoughData
from billboards.options import Named
from billboards.reading import json_value
from billboards.show.table import Table, TableColumn, reason_notes, rows_of
from billboards.show.words import listed, part_note, value_text
from billboards.stats.allocation import (
    WeightedEstimate,
    combine_batches,
    draw_items,
    estimate_regression,
    estimate_weighted,
    inclusion_probabilities,
    residual_spread,
)
from billboards.stats.bootstrap import Interval
from billboards.stats.estimate import Estimate, Target, estimate_mean
from billboards.stats.worst_case import bootstrap_mean, worst_case_se


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean human score with its standard error and 95% interval, and how many labels a plain mean needs for it."""

    mean: float
    se: float | None
    interval: Interval | None
    effective: float | None


@dataclass(frozen=True, kw_only=True)
class MeanEstimate:
    """A generator's mean human score from some labels, with a metric as control variate and without one.

    `labels` were used of the `available` ones, whose mean is `mean_of_all`; `instances` are the generator's outputs, of
    which the metric has scored `scored`. `target` says of what it is the mean: of these instances, or of the population
    they are a sample of. `fitted_on` names the generators that an ensemble was fitted on, never this one.
    """

    DOCUMENT: ClassVar[str] = "estimate"
    ALSO: ClassVar[tuple[str, ...]] = ("saved",)

    board: str
    generator: str
    aggregate: str
    part: str
    metric: str
    target: Literal["instances", "population"]
    labels: int
    available: int
    instances: int
    scored: int
    weight: float
    with_metric: Mean
    plain: Mean
    mean_of_all: float
    seed: int
    fitted_on: tuple[str, ...] = ()

    @property
    def saved(self) -> float | None:
        """Labels that need not be bought, thanks to the metric."""
        return None if self.with_metric.effective is None else self.with_metric.effective - self.labels


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratorEstimate:
    """A generator's mean on one dimension or aggregate: bootstrap interval, worst case, and with a metric's help.

    `worst_se` is None where the scale has no declared ends. `with_metric` has no value where the metric has no score.
    """

    generator: str
    dimension: str
    labels: int
    outputs: int
    mean: float
    interval: Interval
    worst_se: float | None
    with_metric: Mean | None
    saved: float | None


@dataclass(frozen=True, kw_only=True)
class EstimateStudy:
    """Every generator's mean human score on every dimension and overall."""

    DOCUMENT: ClassVar[str] = "estimates"

    board: str
    metric: str
    part: str
    resamples: int
    seed: int
    estimates: tuple[GeneratorEstimate, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NextItem:
    """An instance to label next: its chance to be drawn, and what its label will count."""

    instance: str
    probability: float
    weight: float
    expected_error: float


@dataclass(frozen=True, kw_only=True)
class NextItems:
    """Which of a generator's outputs to label next, and with which chance each could have been drawn."""

    DOCUMENT: ClassVar[str] = "next_items"

    board: str
    generator: str
    aggregate: str
    metric: str
    labels: int
    labelled: int
    outputs: int
    seed: int
    design_effect: float
    items: tuple[NextItem, ...]
    probabilities: Mapping[str, float]


Floats = NDArray[np.float64]
#: What preferences don't give.
NO_MEAN = "there is no mean to estimate"


def estimate_generator(
    board: Board,
    store: CellStore | None,
    generator: str,
    *,
    labels: int | None = None,
    metric: str = ENSEMBLE,
    target: Target | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    seed: int = 0,
) -> MeanEstimate:
    """The mean human score of a generator from `labels` seeded labels, or from all there are.

    Without a `target`, it is the mean over the generator's outputs; that is known exactly once all of them are
    labelled, so then it is the mean over the population they are a sample of.
    """
    row = board.row_position[board.generator(generator).name]
    check_values(board, aggregate, NO_MEAN)
    metric = column_named(board, store, metric)
    view = judged_matrix(board, with_parts(store, [metric]), aggregate=aggregate, part=part)
    keep = board.select(view.part)
    has_output = np.array([board.rows[row].texts[k] is not None for k in keep], bool)
    people = view.human[row][has_output]
    sample = _some(people, labels, generator, seed)
    scores, fitted_on = control_scores(board, view, row, metric)
    x = scores[row][has_output]
    used, available = int(np.isfinite(sample).sum()), int(np.isfinite(people).sum())
    chosen: Target = target or ("population" if used == len(people) else "instances")
    with_metric = estimate_mean(x, sample, target=chosen)
    plain = estimate_mean(np.full(len(x), np.nan), sample, target=chosen)
    return MeanEstimate(
        board=board.name,
        generator=generator,
        aggregate=view.aggregate,
        part=str(view.part),
        metric=metric,
        target=chosen,
        labels=used,
        available=available,
        instances=len(people),
        scored=int(np.isfinite(x).sum()),
        weight=with_metric.weight,
        with_metric=mean_of(with_metric),
        plain=mean_of(plain),
        mean_of_all=float(people[np.isfinite(people)].mean()),
        seed=seed,
        fitted_on=fitted_on,
    )


def control_scores(board: Board, view: JudgedMatrix, row: int, metric: str) -> tuple[Floats, tuple[str, ...]]:
    """The scores of all rows by a control variate that knows none of this row's labels, and whom it was fitted on."""
    if metric != ENSEMBLE:
        return view.scores.of(metric), ()
    others = view.judged & (np.arange(len(view.judged)) != row)
    try:
        fitted = fit_view(board, replace(view, judged=others)).ensemble
    except NotEnoughData as error:
        raise NotEnoughData(
            f"no ensemble without {board.rows[row].name}: {error}; name a metric with --metric (or metric=…)"
        ) from error
    names = (
        outputs.name
        for outputs, taken in zip(board.rows, others, strict=True)
        if taken and outputs.generator is not None
    )
    return ensemble_scores(fitted, view.scores, board, view.part), tuple(names)


def _some(people: Floats, labels: int | None, generator: str, seed: int) -> Floats:
    """Only so many of the labels, drawn by the seed; NaN elsewhere."""
    available = np.flatnonzero(np.isfinite(people))
    count = len(available) if labels is None else labels
    if not 2 <= count <= len(available):
        raise NotEnoughData(
            f"{generator} has {len(available)} labels and {count} are to be used; take 2 or more of those it has"
        )
    chosen = np.random.default_rng(seed).permutation(available)[:count]
    sample = np.full(len(people), np.nan)
    sample[chosen] = people[chosen]
    return sample


def mean_of(estimated: Estimate) -> Mean:
    """A mean with its standard error and interval, which labels that are all the same don't have."""
    if np.isnan(estimated.se):
        return Mean(estimated.mean, None, None, None)
    return Mean(estimated.mean, estimated.se, (estimated.low, estimated.high), estimated.effective)


def estimate_generators(
    board: Board,
    store: CellStore | None,
    *,
    aggregates: Sequence[str] | None = None,
    metric: str = ENSEMBLE,
    part: Slice | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> EstimateStudy:
    """Means of all judged generators; without `aggregates`, by the one that ranks and by each of its dimensions."""
    estimates: list[GeneratorEstimate] = []
    missing: dict[str, str] = {}
    names = aggregates or _by_default(board)
    metric = column_named(board, store, metric)
    for name in names:
        view = judged_matrix(board, with_parts(store, [metric]), aggregate=name, part=part)
        for row, outputs in enumerate(board.rows):
            if outputs.generator is not None and np.isfinite(view.human[row]).any():
                helped = _helped(board, view, row, metric, missing)
                estimates.append(_estimate(board, view, row, helped, resamples, seed))
    if not estimates:
        check_values(board, names[0], NO_MEAN)
        raise NotEnoughData(f"board {board.name} has no judgments of a generator here, so there is nothing to estimate")
    return EstimateStudy(
        board=board.name,
        metric=metric,
        part=str(part or Slice()),
        resamples=resamples,
        seed=seed,
        estimates=tuple(estimates),
        missing=missing,
    )


def _by_default(board: Board) -> tuple[str, ...]:
    chosen = board.aggregate()
    return (chosen.name, *(name for name in chosen.dimensions if name != chosen.name))


def _outputs(board: Board, view: JudgedMatrix, row: int) -> NDArray[np.bool_]:
    texts = board.rows[row].texts
    return np.array([texts[k] is not None for k in board.select(view.part)], bool)


def _helped(
    board: Board, view: JudgedMatrix, row: int, metric: str, missing: dict[str, str]
) -> tuple[Mean, float] | None:
    """The mean with the metric's help and the labels saved; None, with the reason, where the metric can't."""
    has_output = _outputs(board, view, row)
    people = view.human[row][has_output]
    try:
        scores = control_scores(board, view, row, metric)[0][row][has_output]
        if not np.isfinite(scores).any():
            return None
        used = int(np.isfinite(people).sum())
        estimated = estimate_mean(scores, people, target="population" if used == len(people) else "instances")
    except NotEnoughData as error:
        missing[f"{board.rows[row].name}, {view.aggregate}"] = str(error)
        return None
    return mean_of(estimated), estimated.saved


def _estimate(
    board: Board, view: JudgedMatrix, row: int, helped: tuple[Mean, float] | None, resamples: int, seed: int
) -> GeneratorEstimate:
    people = view.human[row]
    labels = int(np.isfinite(people).sum())
    mean, low, high = bootstrap_mean(people, resamples=resamples, seed=seed)
    ends = scale_ends(board, board.aggregate(view.aggregate))
    worst = None if ends is None else worst_case_se(min(max(mean, ends[0]), ends[1]), labels, low=ends[0], high=ends[1])
    return GeneratorEstimate(
        generator=board.rows[row].name,
        dimension=view.aggregate,
        labels=labels,
        outputs=int(_outputs(board, view, row).sum()),
        mean=mean,
        interval=(low, high),
        worst_se=worst,
        with_metric=None if helped is None else helped[0],
        saved=None if helped is None or np.isnan(helped[1]) else helped[1],
    )


def scale_ends(board: Board, aggregate: Aggregate) -> tuple[float, float] | None:
    """The ends of an aggregate's scale on 0-100; None where a dimension declares none, as z-scores do."""
    if aggregate.standardise is not None:
        return None
    ends = []
    for name in aggregate.dimensions:
        dimension = board.dimensions[name]
        if dimension.range is None:
            return None
        slope, intercept = dimension.affine()
        ends.append(sorted(value * slope + intercept for value in dimension.range))
    low, high = np.mean(ends, axis=0)
    return float(low), float(high)


Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class _Prospect:
    """A generator's outputs as they stand: where they are, their labels, what the metric predicts, expected errors."""

    view: JudgedMatrix
    instances: tuple[str, ...]
    labels: Floats
    scores: Floats
    prediction: Floats
    spread: Floats


def choose_next(
    board: Board,
    store: CellStore | None,
    generator: str,
    labels: int,
    *,
    metric: str = ENSEMBLE,
    aggregate: str | None = None,
    seed: int = 0,
) -> NextItems:
    """So many unlabelled outputs of a generator to label next, with the chances that make the estimate right."""
    prospect = _prospect(board, store, generator, metric, aggregate)
    certain = np.isfinite(prospect.labels)
    if labels > (~certain).sum():
        raise NotEnoughData(
            f"{generator} has {(~certain).sum()} outputs without a label ({prospect.view.aggregate}), so {labels} more "
            "can't be labelled"
        )
    chances = inclusion_probabilities(prospect.spread, labels, certain=certain)
    drawn = draw_items(chances, certain=certain, seed=seed)
    free = prospect.spread[~certain]
    return NextItems(
        board=board.name,
        generator=generator,
        aggregate=prospect.view.aggregate,
        metric=metric,
        labels=labels,
        labelled=int(certain.sum()),
        outputs=len(chances),
        seed=seed,
        design_effect=float((free**2).mean() / free.mean() ** 2),
        items=tuple(
            NextItem(prospect.instances[k], float(chances[k]), float(1 / chances[k]), float(prospect.spread[k]))
            for k in drawn[np.argsort(-chances[drawn], kind="stable")].tolist()
        ),
        probabilities=dict(zip(prospect.instances, chances.tolist(), strict=True)),
    )


def estimate_drawn(
    board: Board,
    store: CellStore | None,
    generator: str,
    probabilities: Mapping[str, float],
    *,
    metric: str = ENSEMBLE,
    aggregate: str | None = None,
) -> Mean:
    """The mean over all of a generator's outputs from labels that were drawn with these chances.

    Instances of chance 1 were labelled before; their own estimate is combined with that of the labels drawn after.
    """
    prospect = _prospect(board, store, generator, metric, aggregate)
    unknown = set(prospect.instances) - set(probabilities)
    if unknown:
        raise InvalidInput(
            f"{len(unknown)} outputs of {generator} have no chance in that draw, first {min(unknown)!r}; "
            "draw again with the board as it is"
        )
    chances = np.array([probabilities[name] for name in prospect.instances])
    certain = chances >= 1
    estimated = estimate_weighted(prospect.labels, chances, prediction=prospect.prediction)
    if certain.sum() > 2:
        first = estimate_mean(prospect.scores, np.where(certain, prospect.labels, np.nan))
        estimated = combine_batches(first.mean, first.se, estimated)
    if np.isnan(estimated.se):
        return Mean(estimated.mean, None, None, None)
    return Mean(estimated.mean, estimated.se, (estimated.low, estimated.high), None)


def _prospect(board: Board, store: CellStore | None, generator: str, metric: str, aggregate: str | None) -> _Prospect:
    row = board.row_position[board.generator(generator).name]
    metric = column_named(board, store, metric)
    view = judged_matrix(board, with_parts(store, [metric]), aggregate=aggregate)
    texts = board.rows[row].texts
    has_output = np.array([text is not None for text in texts], bool)
    scores = control_scores(board, view, row, metric)[0]
    others = view.judged & (np.arange(len(board.rows)) != row)
    own, x, y = scores[row], scores[others], view.human[others]
    used = np.isfinite(x) & np.isfinite(y)
    if used.sum() < 20 or np.ptp(x[used]) == 0:
        raise NotEnoughData(
            f"what to label next of {generator} is learned from other generators' labels, and only {used.sum()} of "
            f"those have a score by {metric}; label at random instead"
        )
    slope, intercept = np.polyfit(x[used], y[used], 1)
    spread = residual_spread(own, x[used], y[used] - intercept - slope * x[used])
    prediction = np.where(np.isfinite(own), intercept + slope * own, y[used].mean())
    ids = tuple(instance.id for instance, has in zip(board.instances, has_output, strict=True) if has)
    return _Prospect(
        view=view,
        instances=ids,
        labels=view.human[row][has_output],
        scores=own[has_output],
        prediction=prediction[has_output],
        spread=spread[has_output],
    )


def estimate_table(estimated: MeanEstimate) -> Table:
    """The mean with the metric's help, the plain mean of the same labels, and the mean of all labels."""
    columns = (
        TableColumn("name", "", "left"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("se", "standard error", digits=3, priority=2),
        TableColumn("labels", "labels"),
        TableColumn("effective", "worth labels", digits=1),
    )
    rows = [
        _mean_row(f"labels and {estimated.metric}", estimated.with_metric, estimated.labels),
        _mean_row("labels alone", estimated.plain, estimated.labels),
    ]
    if estimated.labels < estimated.available:
        rows.append({"name": "all labels there are", "mean": estimated.mean_of_all, "labels": estimated.available})
    title = f"{estimated.board}: mean human score of {estimated.generator} ({estimated.aggregate})"
    return Table(title, columns, tuple(rows), (*_estimate_facts(estimated), *part_note(estimated.part)))


def _mean_row(name: str, mean: Mean, labels: int) -> Mapping[str, object]:
    return {
        "name": name,
        "mean": mean.mean,
        "interval": mean.interval,
        "se": mean.se,
        "labels": labels,
        "effective": mean.effective,
    }


def _estimate_facts(estimated: MeanEstimate) -> tuple[str, ...]:
    whole = f"{estimated.instances:,} instances"
    target = (
        f"these {whole}" if estimated.target == "instances" else f"the population that these {whole} are a sample of"
    )
    facts = [f"Target: the mean over {target}. The labelled instances must be a random part of them."]
    metric = "The ensemble" if estimated.fitted_on else estimated.metric
    if not estimated.scored:
        facts.append(f"{metric} has no score of {estimated.generator}, so the plain mean stands.")
    elif estimated.saved is not None:
        facts.append(f"{metric} saves {f'{estimated.saved:,.1f}' if estimated.saved > 0 else 'no'} labels here.")
    if estimated.plain.se is None:
        facts.append("All labels used are the same, so they say nothing of how far off their mean may be.")
    if estimated.fitted_on:
        facts.append(f"It was fitted without {estimated.generator}, on {listed(estimated.fitted_on)}.")
    return tuple(facts)


def estimate_tables(study: EstimateStudy) -> tuple[Table, ...]:
    """A table per dimension: every generator's mean, best first."""
    columns = (
        TableColumn("generator", "generator", "left"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("worst_se", "worst SE", digits=2),
        TableColumn("helped", "with metric", digits=2, priority=1),
        TableColumn("helped_interval", "95% interval", digits=2, kind="interval", priority=2),
        TableColumn("saved", "saved", digits=1, priority=1),
        TableColumn("labels", "labels"),
        TableColumn("outputs", "outputs", priority=3),
        TableColumn("dimension", "dimension", visible=False),
    )
    names = dict.fromkeys(entry.dimension for entry in study.estimates)
    notes = (
        f"Intervals: {study.resamples:,} bootstrap resamplings of labelled outputs, seed {study.seed}. Worst SE: "
        "sqrt(mu(1-mu)/n) on the scale.",
        f"With metric: {study.metric} as control variate; saved: labels it stands in for, none where all outputs are "
        "labelled.",
        *reason_notes("No help:", study.missing),
    )
    return tuple(
        Table(
            f"{study.board}: mean human scores ({name})",
            columns,
            tuple(_estimate_rows(study, name)),
            notes if k == len(names) - 1 else (),
        )
        for k, name in enumerate(names)
    )


def _estimate_rows(study: EstimateStudy, name: str) -> Iterable[Mapping[str, object]]:
    chosen = sorted((entry for entry in study.estimates if entry.dimension == name), key=lambda entry: -entry.mean)
    for entry in chosen:
        helped = entry.with_metric or Mean(float("nan"), None, None, None)
        yield {
            **asdict(entry),
            "helped": None if entry.with_metric is None else helped.mean,
            "helped_interval": helped.interval,
        }


def next_table(draw: NextItems) -> Table:
    """The instances to label next, likeliest first."""
    columns = (
        TableColumn("instance", "instance", "left"),
        TableColumn("probability", "chance", digits=3),
        TableColumn("weight", "its label counts", digits=2),
        TableColumn("expected_error", "expected error", digits=2),
    )
    notes = (
        f"{draw.labelled:,} of {draw.outputs:,} outputs are labelled. Drawn in proportion to the error that "
        f"{draw.metric} makes on other generators, seed {draw.seed}.",
        f"Even draws would need {value_text(draw.design_effect, 2)} times the labels for the same error, where the "
        "expected errors are right.",
        "A plain mean of these labels is wrong. Keep the JSON (--json): `billboards estimate … --drawn FILE` weighs "
        "each label by its chance.",
    )
    title = f"{draw.board}: {draw.labels} outputs of {draw.generator} to label next ({draw.aggregate})"
    return Table(title, columns, rows_of(draw.items), notes)


@dataclass(frozen=True, kw_only=True)
class DrawnEstimate:
    """A generator's mean human score from labels that were drawn by known chances."""

    DOCUMENT: ClassVar[str] = "drawn_estimate"

    board: str
    generator: str
    mean: float
    se: float | None
    interval: Interval | None
    effective: float | None


@dataclass(frozen=True, kw_only=True)
class DrawnStudy:
    """Generators' mean human scores from labels that `next` drew by known chances, with a metric of all outputs."""

    DOCUMENT: ClassVar[str] = "drawn_estimates"

    board: str
    aggregate: str
    metric: str | None
    estimates: tuple[DrawnEstimate, ...]


def estimate_selected(
    board: Board,
    store: CellStore | None,
    selection: Mapping[str, Any],
    *,
    generator: str | None = None,
    metric: str | None = None,
    aggregate: str | None = None,
) -> DrawnStudy:
    """Means over all outputs from labels that `next` drew: by the chances of its document, best generator first.

    An output that the document gives no chance was labelled before the draw, so its label counts once. `metric` is the
    one that the draw relied on, unless another is named.
    """
    name = metric if metric is not None else selection["metric"]
    view = judged_matrix(board, store, aggregate=aggregate or selection["aggregate"] or None)
    names = selection["generators"] if generator is None else [generator]
    estimates = []
    for named in names:
        if named not in selection["generators"]:
            raise InvalidInput(f"the draw has no outputs of {named}; it is of {listed(selection['generators'])}")
        row = board.row_position[board.generator(named).name]
        chances = _chances_of(board, row, view, selection)
        has_output = _outputs(board, view, row)
        scores = None if name is None else view.scores.of(name)[row][has_output]
        mean = estimate_regression(view.human[row][has_output], chances[has_output], metric=scores)
        estimates.append(_drawn(board, named, mean))
    ordered = sorted(estimates, key=lambda entry: -entry.mean)
    return DrawnStudy(board=board.name, aggregate=view.aggregate, metric=name, estimates=tuple(ordered))


def _chances_of(board: Board, row: int, view: JudgedMatrix, selection: Mapping[str, Any]) -> Floats:
    own = selection["probabilities"].get(board.rows[row].name, {})
    of_all = selection["probabilities"].get(ALL, {})
    labelled = np.isfinite(view.human[row])
    chances = np.ones(len(board.instances))
    for k, instance in enumerate(board.instances):
        chance = own.get(instance.id, of_all.get(instance.id))
        if chance is not None:
            chances[k] = chance
        elif not labelled[k] and board.rows[row].texts[k] is not None:
            raise InvalidInput(
                f"instance {instance.id!r} of {board.rows[row].name} has neither a label nor a chance in that draw; "
                "draw again with the board as it is"
            )
    return chances


def _drawn(board: Board, generator: str, mean: WeightedEstimate) -> DrawnEstimate:
    sure = np.isfinite(mean.se)
    return DrawnEstimate(
        board=board.name,
        generator=generator,
        mean=mean.mean,
        se=mean.se if sure else None,
        interval=(mean.low, mean.high) if sure else None,
        effective=None,
    )


def drawn_study_table(study: DrawnStudy) -> Table:
    """Every generator's mean from labels that were drawn by chances, best first."""
    table = drawn_table(study.estimates[0])
    rows = tuple(
        {"generator": entry.generator, "mean": entry.mean, "interval": entry.interval, "se": entry.se}
        for entry in study.estimates
    )
    helped = "" if study.metric is None else f" A line through {study.metric} corrects for the luck of the draw."
    note = f"Each label counts by the chance it had to be drawn.{helped}"
    title = f"{study.board}: mean human scores from labels drawn by chance ({study.aggregate})"
    return replace(table, title=title, rows=rows, notes=(note,))


def drawn_table(drawn: DrawnEstimate) -> Table:
    """The mean from labels that were drawn by chances."""
    columns = (
        TableColumn("generator", "generator", "left"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("se", "standard error", digits=3),
    )
    rows = ({"generator": drawn.generator, "mean": drawn.mean, "interval": drawn.interval, "se": drawn.se},)
    note = "Each label counts by the chance it had to be drawn, as a correction to what the metric predicts."
    return Table(f"{drawn.board}: mean human score from labels drawn by their worth", columns, rows, (note,))


@analysis(group="people", paper="Angelopoulos et al. 2023 (prediction-powered inference)")
def estimate(
    view: View,
    generator: Annotated[
        str | None, Named(metavar="GENERATOR", positional=True), "whose mean to estimate (default: everyone's)"
    ] = None,
    *,
    labels: Annotated[
        int | None, Ge(1), Named(metavar="N"), "use so many of its labels, drawn by the seed (default: all)"
    ] = None,
    metric: Annotated[
        str,
        Named(metavar="NAME", metrics="scored"),
        "the control variate: a metric, or `ensemble`, fitted on the other generators",
    ] = "ensemble",
    target: Annotated[
        Target | None,
        "the mean over the board's instances (default while some have no label) or over all texts like them",
    ] = None,
    next: Annotated[
        int | None,
        Ge(1),
        Named(metavar="N"),
        "draw N outputs to label next, useful ones more often; their plain mean is biased, so use --drawn",
    ] = None,
    drawn: Annotated[
        Path | None,
        Named(metavar="FILE"),
        "the unbiased mean from labels of outputs drawn by --next or by `billboards next`: their JSON",
    ] = None,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> MeanEstimate | EstimateStudy | NextItems | DrawnEstimate | DrawnStudy:
    """Estimate people's mean score of generators from labels, with a metric or the ensemble to correct for luck."""
    selection = None if drawn is None else read_selection(drawn)
    _check_together(view, generator or selection, labels=labels, target=target, next=next, drawn=drawn)
    if selection is not None:
        chosen = None if metric == ENSEMBLE else metric
        return estimate_selected(
            view.counted, view.cells, selection, generator=generator, metric=chosen, aggregate=view.aggregate
        )
    if generator is None:
        aggregates = None if view.aggregate is None else (view.aggregate,)
        return estimate_generators(
            view.counted, view.cells, aggregates=aggregates, metric=metric, part=view.part, seed=seed
        )
    if next is not None:
        return choose_next(
            view.counted, view.cells, generator, next, metric=metric, aggregate=view.aggregate, seed=seed
        )
    if drawn is not None:
        chances = read_chances(drawn, generator)
        mean = estimate_drawn(view.counted, view.cells, generator, chances, metric=metric, aggregate=view.aggregate)
        return DrawnEstimate(
            board=view.board.name,
            generator=generator,
            mean=mean.mean,
            se=mean.se,
            interval=mean.interval,
            effective=mean.effective,
        )
    return estimate_generator(
        view.counted,
        view.cells,
        generator,
        labels=labels,
        metric=metric,
        target=target,
        aggregate=view.aggregate,
        part=view.part,
        seed=seed,
    )


@estimate.table
def _tables(result: MeanEstimate | EstimateStudy | NextItems | DrawnEstimate | DrawnStudy) -> tuple[Table, ...]:
    if isinstance(result, DrawnStudy):
        return (drawn_study_table(result),)
    if isinstance(result, EstimateStudy):
        return estimate_tables(result)
    if isinstance(result, NextItems):
        return (next_table(result),)
    return (estimate_table(result) if isinstance(result, MeanEstimate) else drawn_table(result),)


def _check_together(view: View, generator: object, **options: object) -> None:
    """Refuse options that don't go together."""
    asked = [f"--{name}" for name, value in options.items() if value is not None]
    if generator is None and asked:
        raise InvalidInput(f"{asked[0]} is about one generator; name it")
    for name in ("next", "drawn"):
        if options[name] is not None:
            other = [flag for flag in asked if flag != f"--{name}"]
            if other or view.part:
                refused = other[0] if other else "the slice"
                raise InvalidInput(f"--{name} speaks of all outputs and labels; leave {refused} out")


def _draw_document(path: Path) -> Any:
    try:
        return json_value(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read as JSON: {error}; give what --next N --json printed") from error


def read_selection(path: Path) -> Mapping[str, Any] | None:
    """The document that `billboards next --json` wrote for a draw by chance; None where the file is another draw."""
    document = _draw_document(path)
    if not isinstance(document, dict) or document.get("kind") != Selection.DOCUMENT:
        return None
    if document.get("draw") != "chance":
        raise InvalidInput(
            f"{path}: its items were taken for their worth, so there are no chances; choose with --draw chance"
        )
    chances = document.get("probabilities")
    by_generator = list(chances.values()) if isinstance(chances, dict) else [None]
    if not by_generator or not all(isinstance(of_one, dict) for of_one in by_generator):
        raise InvalidInput(f"{path}: probabilities must be numbers by generator and instance; give what next printed")
    for of_one in by_generator:
        _check_chances(path, of_one)
    generators, metric, aggregate = (document.get(key) for key in ("generators", "metric", "aggregate"))
    if not isinstance(generators, list) or not all(isinstance(name, str) for name in generators) or not generators:
        raise InvalidInput(f"{path}: generators must be a list of names; give what next printed")
    if not isinstance(metric, str | None) or not isinstance(aggregate, str):
        raise InvalidInput(f"{path}: metric and aggregate must be names; give what next printed")
    return {"generators": generators, "metric": metric, "aggregate": aggregate, "probabilities": chances}


def read_chances(path: Path, generator: str) -> Mapping[str, float]:
    """The chances of a draw that --next wrote for this generator."""
    document = _draw_document(path)
    if not isinstance(document, dict) or document.get("kind") != NextItems.DOCUMENT:
        raise InvalidInput(f"{path} holds no draw; give what --next N --json printed")
    if document.get("generator") != generator:
        raise InvalidInput(f"{path} is a draw of {document.get('generator')!r}, not of {generator}")
    return _check_chances(path, document.get("probabilities"))


def _check_chances(path: Path, chances: object) -> Mapping[str, float]:
    if not isinstance(chances, dict) or not all(type(chance) in (int, float) for chance in chances.values()):
        raise InvalidInput(f"{path}: probabilities must be numbers by instance; give what --next N --json printed")
    wrong = [name for name, chance in chances.items() if not 0 < chance <= 1]
    if wrong:
        raise InvalidInput(f"{path}: the probability of {wrong[0]!r} must be above 0 and at most 1")
    return {name: float(chance) for name, chance in chances.items()}
