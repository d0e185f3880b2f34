"""Tables of people's means, of what to label next, and of ratings worth a second look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from billboards.analyses.rating_results import EstimateStudy, ImplausibleStudy, NextItems
from billboards.analyses.rating_tables import rows_of
from billboards.analyses.study_results import Mean
from billboards.show.table import Table, TableColumn, reason_notes
from billboards.show.words import clipped, value_text


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
    names = dict.fromkeys(one.dimension for one in study.estimates)
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
    chosen = sorted((one for one in study.estimates if one.dimension == name), key=lambda one: -one.mean)
    for one in chosen:
        helped = one.with_metric or Mean(float("nan"), None, None, None)
        yield {
            **asdict(one),
            "helped": None if one.with_metric is None else helped.mean,
            "helped_interval": helped.interval,
        }


def next_table(found: NextItems) -> Table:
    """The instances to label next, likeliest first."""
    columns = (
        TableColumn("instance", "instance", "left"),
        TableColumn("probability", "chance", digits=3),
        TableColumn("weight", "its label counts", digits=2),
        TableColumn("expected_error", "expected error", digits=2),
    )
    notes = (
        f"{found.labelled:,} of {found.outputs:,} outputs are labelled. Drawn in proportion to the error that "
        f"{found.metric} makes on other generators, seed {found.seed}.",
        f"Even draws would need {value_text(found.design_effect, 2)} times the labels for the same error, where the "
        "expected errors are right.",
        "A plain mean of these labels is wrong. Keep the JSON (--json): `billboards estimate … --drawn FILE` weighs "
        "each label by its chance.",
    )
    title = f"{found.board}: {found.labels} outputs of {found.generator} to label next ({found.aggregate})"
    return Table(title, columns, rows_of(found.items), notes)


def drawn_table(board: str, generator: str, found: Mean) -> Table:
    """The mean from labels that were drawn by chances."""
    columns = (
        TableColumn("generator", "generator", "left"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("se", "standard error", digits=3),
    )
    rows = ({"generator": generator, "mean": found.mean, "interval": found.interval, "se": found.se},)
    note = "Each label counts by the chance it had to be drawn, as a correction to what the metric predicts."
    return Table(f"{board}: mean human score from labels drawn by their worth", columns, rows, (note,))


def implausible_table(study: ImplausibleStudy) -> Table:
    """The ratings to look at again."""
    columns = (
        TableColumn("residual", "z", digits=2),
        TableColumn("value", "people", digits=1),
        TableColumn("expected", "expected", digits=1),
        TableColumn("instance", "instance", "left"),
        TableColumn("generator", "generator", "left", priority=1),
        TableColumn("annotator", "annotator", "left", priority=2),
        TableColumn("output", "output", "left"),
        TableColumn("reference", "reference", "left", priority=4),
        TableColumn("input", "input", "left", visible=False),
    )
    rows = tuple(
        {**asdict(one), "output": clipped(one.output), "reference": clipped(one.reference), "input": clipped(one.input)}
        for one in study.implausible
    )
    notes = (
        f"{study.beyond:,} of {study.ratings:,} ratings lie more than 3 standard deviations from what {study.metric} "
        "makes one expect. People may be right and the metric wrong: look, then decide.",
        *(() if study.part in ("", "whole board") else (f"Only {study.part}.",)),
    )
    return Table(f"{study.board}: ratings worth a second look ({study.aggregate})", columns, rows, notes)
