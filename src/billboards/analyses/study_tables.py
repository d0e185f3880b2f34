"""Tables of hybrid systems, of means from few labels, of power and of two sources of judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from billboards.analyses.study_results import (
    AgreementStudy,
    Disagreement,
    HybridStudy,
    Mean,
    MeanEstimate,
    PowerStudy,
)
from billboards.show.table import Table, TableColumn, reason_notes
from billboards.show.words import COMPARISONS_WON, clipped, listed, value_text


def hybrids_table(study: HybridStudy) -> Table:
    """Metrics by their correlation over hybrids, with what choosing by each would give."""
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("kendall", "Kendall", digits=3, priority=3),
        TableColumn("p", "p", kind="p", priority=2),
        TableColumn("hits", "Hits@1", digits=3),
        TableColumn("mrr", "MRR", digits=3),
        TableColumn("difference", "people's loss", digits=3),
        TableColumn("cluster", "cluster", visible=False),
    )
    rows = tuple(
        {
            "rank": one.rank,
            "name": one.name,
            "correlation": one.correlation,
            "kendall": one.kendall,
            "p": one.p,
            "hits": one.hits,
            "mrr": one.mrr,
            "difference": one.difference,
            "cluster": one.cluster,
        }
        for one in study.metrics
    )
    title = f"{study.board}: metrics over {study.mixtures:,} hybrid systems ({study.aggregate})"
    return Table(title, columns, rows, (*_hybrid_facts(study), *_part_note(study.part)))


def _hybrid_facts(study: HybridStudy) -> tuple[str, ...]:
    of = "all" if study.parents is None else f"{study.parents} of"
    return (
        f"Each hybrid mixes {of} {len(study.generators)} generators, instance by instance ({study.instances:,}).",
        "p: Williams' one-sided test that the best metric correlates better; metrics it can't tell apart share a rank. "
        "Hybrids of the same few generators say little about new ones.",
        f"Hits@1, MRR and people's loss: expected when choosing among {study.sample:,} hybrids by the metric.",
        *reason_notes("Left out:", study.left_out),
    )


def estimate_table(found: MeanEstimate) -> Table:
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
        _mean_row(f"labels and {found.metric}", found.with_metric, found.labels),
        _mean_row("labels alone", found.plain, found.labels),
    ]
    if found.labels < found.available:
        rows.append({"name": "all labels there are", "mean": found.mean_of_all, "labels": found.available})
    title = f"{found.board}: mean human score of {found.generator} ({found.aggregate})"
    return Table(title, columns, tuple(rows), (*_estimate_facts(found), *_part_note(found.part)))


def estimates_table(estimates: Sequence[MeanEstimate]) -> Table:
    """Several generators' means from few labels, with the metric's help and without it."""
    columns = (
        TableColumn("name", "generator", "left"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("plain", "labels alone", digits=2),
        TableColumn("plain_interval", "95% interval", digits=2, kind="interval"),
        TableColumn("labels", "labels"),
        TableColumn("effective", "worth labels", digits=1),
        TableColumn("all", "all labels", digits=2),
    )
    rows = tuple(
        {
            "name": one.generator,
            "mean": one.with_metric.mean,
            "interval": one.with_metric.interval,
            "plain": one.plain.mean,
            "plain_interval": one.plain.interval,
            "labels": one.labels,
            "effective": one.with_metric.effective,
            "all": one.mean_of_all,
        }
        for one in estimates
    )
    first = estimates[0]
    help_of = "the ensemble, fitted without the generator" if first.fitted_on else first.metric
    notes = (
        f"Mean: from labels drawn by the seed, with the help of {help_of}; the target is the mean of all that people "
        "could label here, which stands in the last column.",
        "Worth labels: how many labels alone would give an interval as narrow.",
    )
    return Table(f"{first.board}: mean human scores from few labels ({first.aggregate})", columns, rows, notes)


def _mean_row(name: str, one: Mean, labels: int) -> Mapping[str, object]:
    return {
        "name": name,
        "mean": one.mean,
        "interval": one.interval,
        "se": one.se,
        "labels": labels,
        "effective": one.effective,
    }


def _estimate_facts(found: MeanEstimate) -> tuple[str, ...]:
    whole = f"{found.instances:,} instances"
    target = f"these {whole}" if found.target == "instances" else f"the population that these {whole} are a sample of"
    facts = [f"Target: the mean over {target}. The labelled instances must be a random part of them."]
    metric = "The ensemble" if found.fitted_on else found.metric
    if not found.scored:
        facts.append(f"{metric} has no score of {found.generator}, so the plain mean stands.")
    elif found.saved is not None:
        facts.append(f"{metric} saves {f'{found.saved:,.1f}' if found.saved > 0 else 'no'} labels here.")
    if found.plain.se is None:
        facts.append("All labels used are the same, so they say nothing of how far off their mean may be.")
    if found.fitted_on:
        facts.append(f"It was fitted without {found.generator}, on {listed(found.fitted_on)}.")
    return tuple(facts)


def power_table(study: PowerStudy) -> Table:
    """What it takes to tell two entries apart, a row per score or unit."""
    columns = (
        TableColumn("name", "told apart by", "left"),
        TableColumn("difference", "difference", digits=4),
        TableColumn("unit", "unit", "left", priority=2),
        TableColumn("units", "there are"),
        TableColumn("power_here", "power here", digits=3),
        TableColumn("needed", f"needed for {study.power:.0%}"),
        TableColumn("labels", "labels for it", visible=study.entries == "generators"),
    )
    rows = tuple(
        {
            "name": need.name,
            "difference": need.difference,
            "unit": need.unit,
            "units": need.units,
            "power_here": need.power_here,
            "needed": need.needed,
            "labels": need.labels,
        }
        for need in study.needs
    )
    title = f"{study.board}: what it takes to tell {study.first} from {study.second}"
    return Table(title, columns, rows, (*_power_facts(study), *_part_note(study.part)))


def _power_facts(study: PowerStudy) -> tuple[str, ...]:
    facts = [f"Two-sided tests at {value_text(study.level)}, if the true difference is the one seen here."]
    if study.entries == "generators":
        facts.append(
            "Labels: instances on which people must judge both, to tell which they prefer on all that are here; "
            "people's row alone, the others with that metric's help."
        )
        if study.preferences:
            facts.append(f"people: {COMPARISONS_WON}")
    if any(need.needed is None for need in study.needs):
        facts.append("Where there is no difference, no number is enough.")
    return (*facts, *reason_notes("Not said:", study.missing))


def agreement_table(study: AgreementStudy) -> Table:
    """Correlations of two sources over outputs and over generators."""
    columns = (
        TableColumn("level", "over", "left"),
        TableColumn("pearson", "Pearson", digits=3),
        TableColumn("spearman", "Spearman", digits=3),
        TableColumn("kendall", "Kendall", digits=3),
        TableColumn("n", "n"),
    )
    rows = tuple(
        {"level": one.level, "pearson": one.pearson, "spearman": one.spearman, "kendall": one.kendall, "n": one.n}
        for one in study.levels
    )
    notes = (
        f"{study.first} is {abs(study.bias):.2f} {'above' if study.bias >= 0 else 'below'} {study.second} on average; "
        f"they are {study.distance:.2f} apart, {value_text(study.standardised_distance, 2)} standard deviations.",
        *_part_note(study.part),
    )
    return Table(f"{study.board}: {study.first} against {study.second}", columns, rows, notes)


def corner_tables(study: AgreementStudy) -> tuple[Table, Table]:
    """The outputs that one source puts high and the other low, with their texts; both corners."""
    names = (study.first, study.second)
    return (
        _corner(f"Outputs that {study.first} puts highest above {study.second}", study.first_above, names),
        _corner(f"Outputs that {study.second} puts highest above {study.first}", study.second_above, names),
    )


def _corner(title: str, outputs: Sequence[Disagreement], names: tuple[str, str]) -> Table:
    columns = (
        TableColumn("instance", "instance", "left"),
        TableColumn("generator", "generator", "left", priority=2),
        TableColumn("first", names[0], digits=1),
        TableColumn("second", names[1], digits=1),
        TableColumn("difference", "z", digits=2, priority=5),
        TableColumn("output", "output", "left"),
        TableColumn("reference", "reference", "left", priority=4),
        TableColumn("input", "input", "left", visible=False),
    )
    rows = tuple(
        {
            "instance": one.instance,
            "generator": one.generator,
            "first": one.first,
            "second": one.second,
            "difference": one.difference,
            "output": clipped(one.output),
            "reference": clipped(one.reference),
            "input": clipped(one.input),
        }
        for one in outputs
    )
    return Table(title, columns, rows)


def _part_note(part: str) -> tuple[str, ...]:
    return () if part in ("", "whole board") else (f"Only {part}.",)
