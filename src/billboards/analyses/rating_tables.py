"""Tables about people's ratings: agreement, designs, severity and drift, several labels made one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from billboards.analyses.rating_results import (
    AnnotatorAgreement,
    AnnotatorAgreementStudy,
    ConsensusStudy,
    DesignStanding,
    DesignStudy,
    SeverityStudy,
)
from billboards.show.table import Table, TableColumn, reason_notes

#: Rows of lists that go on and on; the rest is in the JSON document.
MOST = 10


def annotator_tables(study: AnnotatorAgreementStudy) -> tuple[Table, ...]:
    """Agreement by dimension, by population where asked, and of the pairs that share most."""
    facts = (
        f"Alpha: Krippendorff's, {study.level} scale. ICC(1) of one label, and of the mean of an output's labels. "
        f"Kappa: mean over pairs of annotators who share 10 outputs or more, weights {study.weights}.",
        f"Intervals: 95%, {study.resamples:,} resamplings of outputs, seed {study.seed}.",
    )
    shown = [_agreement_table(f"{study.source}: do annotators agree?", study.dimensions, facts, "labels of")]
    if study.by is not None:
        reasons = reason_notes("Not told apart:", study.missing)
        notes = (*_spread_notes(study.populations, study.by), *reasons)
        shown.append(_agreement_table(f"{study.source}: by {study.by}", study.populations, notes, study.by))
    if study.pairs:
        shown.append(_pairs_table(study))
    return tuple(shown)


def _agreement_table(title: str, lines: Sequence[AnnotatorAgreement], notes: tuple[str, ...], who: str) -> Table:
    columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("population", who, "left", visible=who != "labels of"),
        TableColumn("labels", "labels"),
        TableColumn("outputs", "outputs", priority=3),
        TableColumn("shared", "by several", priority=4),
        TableColumn("annotators", "annotators", priority=3),
        TableColumn("score", "score", digits=2),
        TableColumn("score_interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("alpha", "alpha", digits=3),
        TableColumn("alpha_interval", "95% interval", digits=3, kind="interval", priority=1),
        TableColumn("icc", "ICC(1)", digits=3),
        TableColumn("icc_interval", "ICC interval", digits=3, kind="interval", visible=False),
        TableColumn("icc_of_mean", "of the mean", digits=3, priority=2),
        TableColumn("kappa", "kappa", digits=3),
        TableColumn("pairs", "pairs", priority=4),
    )
    return Table(title, columns, rows_of(lines), notes)


def _spread_notes(lines: Sequence[AnnotatorAgreement], by: str) -> tuple[str, ...]:
    """How far apart the populations' scores lie, dimension by dimension."""
    notes = []
    for name in dict.fromkeys(one.dimension for one in lines):
        scores = [one.score for one in lines if one.dimension == name]
        if len(scores) > 1:
            notes.append(f"{name}: scores of {len(scores)} {by}s from {min(scores):.2f} to {max(scores):.2f}.")
    return tuple(notes)


def _pairs_table(study: AnnotatorAgreementStudy) -> Table:
    columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("first", "annotator", "left"),
        TableColumn("second", "and", "left"),
        TableColumn("kappa", "kappa", digits=3),
        TableColumn("outputs", "shared outputs"),
    )
    rows = rows_of(study.pairs[:MOST])
    notes = (f"{MOST} of {len(study.pairs):,} pairs; --json has all.",) if len(study.pairs) > MOST else ()
    return Table(f"{study.source}: pairs of annotators (kappa, {study.weights} weights)", columns, rows, notes)


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
    told = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("claim", "the paper's conclusion", "left"),
        TableColumn("holds", "holds", "left"),
        TableColumn("figures", "figures", "left", priority=1),
    )
    designs = tuple({**asdict(one), "design": design_words(one)} for one in study.designs)
    findings = tuple({**asdict(one), "holds": "yes" if one.holds else "no"} for one in study.findings)
    return (
        Table(f"{study.source}: which design is steadiest?", columns, designs, notes),
        Table(f"{study.source}: GENIE's conclusions here", told, findings),
    )


def design_words(one: DesignStanding) -> str:
    """A design in a few words; a single label needs no aggregation."""
    return f"{one.scale}, 1 label" if one.labels == 1 else f"{one.scale}, {one.aggregation} of {one.labels}"


def _separation_note(study: DesignStudy) -> tuple[str, ...]:
    if study.groups < 2:
        return ()
    return (
        f"SDs are root mean squares over {study.groups} generators. Separation: standard deviation of the generators' "
        "scores over SD; a scale that narrows everything narrows differences too.",
    )


def severity_tables(study: SeverityStudy) -> tuple[Table, Table]:
    """Generators' means without the annotators' severity, and the annotators."""
    of_generators = (
        TableColumn("generator", "generator", "left"),
        TableColumn("corrected", "corrected", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("raw", "plain mean", digits=2),
        TableColumn("standardised", "z-scored", digits=3),
        TableColumn("labels", "labels"),
        TableColumn("part", "part", visible=study.parts > 1),
        TableColumn("se", "standard error", digits=3, visible=False),
        TableColumn("dimension", "dimension", visible=False),
    )
    of_annotators = (
        TableColumn("annotator", "annotator", "left"),
        TableColumn("severity", "severity", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("drift", "drift per 100", digits=2, visible=study.drift),
        TableColumn("drift_interval", "95% interval", digits=2, kind="interval", visible=study.drift),
        TableColumn("labels", "labels"),
        TableColumn("dimension", "dimension", visible=False),
    )
    title = f"{study.source}: {study.dimension}"
    generators, annotators = (
        tuple({**row, "dimension": study.dimension} for row in rows_of(some))
        for some in (study.generators, study.annotators)
    )
    return (
        Table(f"{title}, corrected for severity", of_generators, generators, _severity_facts(study)),
        Table(
            f"{title}, annotators by severity",
            of_annotators,
            annotators,
            (
                "Above 0: more severe than the average"
                + ("; drift above 0: more lenient with time. Both" if study.drift else ". Values")
                + " are drawn towards 0 where ratings are few.",
            ),
        ),
    )


def _severity_facts(study: SeverityStudy) -> tuple[str, ...]:
    facts = [
        f"Standard deviations on 0-100: annotators {study.annotator_sd:.2f}"
        + (f", drift {study.drift_sd:.2f} per 100 ratings" if study.drift else "")
        + f", instances {study.instance_sd:.2f}, what is left {study.residual_sd:.2f}."
        + ("" if study.drift else " Drift was not asked for, or some ratings have no time."),
        f"{study.shared:,} of {study.outputs:,} outputs were rated by several.",
        "Intervals say how far a mean could be off with other annotators and instances; differences are surer.",
    ]
    if study.parts > 1:
        facts.insert(
            0,
            f"NOT IDENTIFIED: no annotators connect the {study.parts} parts. Generators of different parts differ by "
            "quality or by who rated them, and nobody can say which; let some annotators rate generators of both.",
        )
    return tuple(facts)


def consensus_tables(study: ConsensusStudy) -> tuple[Table, ...]:
    """Generators under every aggregation, and whom the models trust."""
    columns = (
        TableColumn("generator", "generator", "left"),
        *(TableColumn(method, method, digits=2) for method in study.methods),
        TableColumn("outputs", "outputs"),
        TableColumn("dimension", "dimension", visible=False),
    )
    rows = tuple(
        {"generator": one.generator, "outputs": one.outputs, "dimension": study.dimension, **one.means}
        for one in study.generators
    )
    notes = reason_notes("Left out:", study.left_out)
    shown = [Table(f"{study.source}: {study.dimension}, several labels made one", columns, rows, notes)]
    if study.skill:
        skills = (
            TableColumn("annotator", "annotator", "left"),
            *(TableColumn(method, method, digits=3) for method in study.skill),
        )
        names = sorted({name for one in study.skill.values() for name in one}, key=lambda name: _skill(study, name))
        people = tuple({"annotator": name, **{m: one[name] for m, one in study.skill.items()}} for name in names)
        note = "Dawid-Skene: how often the right value was said. MACE: chance of not guessing. Least trusted first."
        shown.append(Table(f"{study.source}: annotators as the models see them", skills, people, (note,)))
    return tuple(shown)


def _skill(study: ConsensusStudy, name: str) -> float:
    return sum(one[name] or 0.0 for one in study.skill.values())


def rows_of(some: Sequence[Any]) -> tuple[Mapping[str, object], ...]:
    """The fields of results as rows of a table."""
    return tuple(asdict(one) for one in some)
