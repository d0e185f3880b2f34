"""Annotators as tables: verdicts with the prior behind them, and how well noisy annotators are found.

Table 1 of GENIE stands beside what is found here, cell by cell. Shares are shown in per cent, as the paper has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from billboards.analyses.ranking_results import Interval
from billboards.show.table import Table, TableColumn
from billboards.show.words import listed, value_text
from billboards.stats.annotator_results import (
    AnnotatorModel,
    AnnotatorReport,
    ControlStudy,
    CorruptionStudy,
    Detection,
    DetectionStudy,
)

#: From here on a concentration says only that annotators are all alike.
ALIKE = 1e6


def detection_overview(study: DetectionStudy) -> Table:
    """Precision / recall of every model as GENIE's Table 1 lays them out, the published cells in brackets."""
    columns = (
        *_MODEL_COLUMNS,
        *(TableColumn(f"bucket_{place}", bucket_text(bucket)) for place, bucket in enumerate(study.buckets)),
    )
    rows = []
    for one in study.models:
        published = one.published or [None] * len(study.buckets)
        cells = zip(one.detections, published, strict=True)
        rows.append({**_model_row(one.model), **{f"bucket_{i}": _cell(*cell) for i, cell in enumerate(cells)}})
    note = "Precision/recall in per cent by number of test questions, GENIE's Table 1 in brackets."
    return Table("Noisy annotators found", columns, tuple(rows), (note,))


def detection_table(study: DetectionStudy) -> Table:
    """A row for each model and bucket, with intervals beside the published values."""
    columns = (
        *_MODEL_COLUMNS,
        TableColumn("questions", "asked"),
        *_DETECTION_COLUMNS[:2],
        TableColumn("published_precision", "GENIE"),
        *_DETECTION_COLUMNS[2:4],
        TableColumn("published_recall", "GENIE"),
        *_DETECTION_COLUMNS[4:],
    )
    rows = []
    for one in study.models:
        published = one.published or [(None, None)] * len(study.buckets)
        for bucket, found, (precision, recall) in zip(study.buckets, one.detections, published, strict=True):
            theirs = {"published_precision": precision, "published_recall": recall}
            rows.append({**_model_row(one.model), "questions": bucket_text(bucket), **_detection_row(found), **theirs})
    title = f"Precision and recall over {study.rounds:,} rounds, per cent"
    return Table(title, columns, tuple(rows), _simulation_notes(study))


def mixture_table(report: AnnotatorReport) -> Table:
    """The prior of each kind of questions, component by component."""
    columns = (
        TableColumn("kind", "questions", "left"),
        TableColumn("component", "component"),
        TableColumn("weight", "weight", digits=4),
        TableColumn("mean", "mean accuracy", digits=4),
        TableColumn("concentration", "concentration"),
        TableColumn("log_likelihood", "log-likelihood", digits=3, visible=False),
    )
    rows = []
    for kind, mixture in report.mixtures.items():
        parts = zip(mixture.weights, mixture.means, mixture.concentrations, strict=True)
        for place, (weight, mean, concentration) in enumerate(parts, 1):
            row = {"kind": kind, "component": place, "weight": weight, "mean": mean, "concentration": concentration}
            rows.append({**row, "log_likelihood": mixture.log_likelihood})
    return Table(
        f"Prior of annotators' accuracy: {_prior_text(report.model)}", columns, tuple(rows), _mixture_notes(report)
    )


def verdict_table(report: AnnotatorReport) -> Table:
    """Every annotator on every kind of questions, the likeliest to be noisy first."""
    columns = (
        TableColumn("annotator", "annotator", "left", kind="name"),
        TableColumn("verdict", "verdict", "left"),
        TableColumn("kind", "kind", "left", visible=len(report.mixtures) > 1),
        TableColumn("right", "right"),
        TableColumn("wrong", "wrong"),
        TableColumn("p_noisy", "P(noisy)", kind="p"),
        TableColumn("accuracy", "accuracy", digits=3, priority=2),
        TableColumn("interval", "95% interval", digits=3, kind="interval", priority=3),
        TableColumn("own_interval", "own answers", digits=2, kind="interval"),
        TableColumn("reason", "reason", "left", visible=False),
    )
    ordered = sorted(report.verdicts, key=lambda one: -max(standing.p_noisy for standing in one.standings))
    rows = tuple(
        {
            "annotator": one.annotator,
            "verdict": "noisy" if one.noisy else "kept",
            "kind": standing.kind,
            "right": standing.right,
            "wrong": standing.wrong,
            "p_noisy": standing.p_noisy,
            "accuracy": standing.accuracy,
            "interval": standing.interval,
            "own_interval": standing.own_interval,
            "reason": one.reason,
        }
        for one in ordered
        for standing in one.standings
    )
    people = f"{len(report.verdicts)} annotator{'' if len(report.verdicts) == 1 else 's'}"
    return Table(f"{people}, {len(report.noisy)} noisy", columns, rows, _verdict_notes(report))


def control_tables(study: ControlStudy) -> tuple[Table, ...]:
    """Attention checks: verdicts, prior, and noise that was put in where it was."""
    tables = (verdict_table(study.report), mixture_table(study.report))
    return tables if study.corruption is None else (*tables, corruption_table(study.corruption))


def corruption_table(study: CorruptionStudy) -> Table:
    """Precision and recall by how much noise was put in."""
    columns = (
        TableColumn("rate", "answers at random"),
        TableColumn("right", "right then", digits=1),
        *_DETECTION_COLUMNS,
    )
    rows = tuple(
        {"rate": f"{one.rate:.0%}", "right": _per_cent(one.right), **_detection_row(one.detection)}
        for one in study.levels
    )
    notes = [
        f"{study.rounds:,} rounds with seed {study.seed}, in each {study.share:.0%} of {study.annotators} annotators "
        f"made noisy; model {study.model.name}, marked above {study.model.threshold:g}.",
        "A score at random is drawn from all that the annotator gave.",
    ]
    if study.left_out:
        notes.append(f"Marked as they are, so left out: {listed(study.left_out)}.")
    return Table("Noise put in and found, per cent", columns, rows, tuple(notes))


def bucket_text(bucket: tuple[int, int | None]) -> str:
    """Numbers of questions as the paper writes them: 1-4, 15+."""
    low, high = bucket
    return f"{low}+" if high is None else f"{low}-{high}"


_MODEL_COLUMNS = (
    TableColumn("model", "model", "left"),
    TableColumn("criterion", "criterion", "left", visible=False),
    TableColumn("prior", "prior", "left", visible=False),
    TableColumn("components", "k", visible=False),
)

_DETECTION_COLUMNS = (
    TableColumn("precision", "precision", digits=0),
    TableColumn("precision_interval", "95%", digits=0, kind="interval"),
    TableColumn("recall", "recall", digits=0),
    TableColumn("recall_interval", "95%", digits=0, kind="interval"),
    TableColumn("found", "found", priority=3),
    TableColumn("marked", "marked", priority=3),
    TableColumn("noisy", "noisy", priority=3),
)


def _model_row(model: AnnotatorModel) -> Mapping[str, object]:
    parts = {"criterion": model.criterion, "prior": model.prior, "components": model.components}
    return {"model": model.name, **parts}


def _detection_row(found: Detection) -> Mapping[str, object]:
    return {
        "precision": _per_cent(found.precision),
        "precision_interval": _per_cents(found.precision_interval),
        "recall": _per_cent(found.recall),
        "recall_interval": _per_cents(found.recall_interval),
        "found": found.found,
        "marked": found.marked,
        "noisy": found.noisy,
    }


def _cell(found: Detection, published: tuple[int, int] | None) -> str:
    ours = "/".join(value_text(_per_cent(value), 0) for value in (found.precision, found.recall))
    return ours if published is None else f"{ours} ({published[0]}/{published[1]})"


def _per_cent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _per_cents(interval: Interval | None) -> Interval | None:
    return None if interval is None else (100 * interval[0], 100 * interval[1])


def _simulation_notes(study: DetectionStudy) -> tuple[str, ...]:
    asked = study.questions
    return (
        f"GENIE's question counts are not published; here {len(asked)} annotators answer {min(asked)} to {max(asked)} "
        f"each, {sum(asked):,} together. Seed {study.seed}.",
        "Intervals resample rounds, and are at least as wide as Wilson's. A dash: nobody was marked.",
    )


def _prior_text(model: AnnotatorModel) -> str:
    return f"{model.prior}, {model.components} component{'s' if model.components > 1 else ''}"


def _mixture_notes(report: AnnotatorReport) -> tuple[str, ...]:
    alike = any(value > ALIKE for mixture in report.mixtures.values() for value in mixture.concentrations)
    fitted = [mixture for mixture in report.mixtures.values() if mixture.log_likelihood is not None]
    notes = ["Fitted by EM to these annotators and GENIE's 40 pseudo-annotators, each kind apart."] if fitted else []
    if alike:
        notes.append(f"A concentration above {ALIKE:,.0f}: as far as the answers tell, these annotators are all alike.")
    if not all(mixture.converged for mixture in fitted):
        notes.append("The fit was still climbing when it was stopped.")
    return tuple(notes)


def _verdict_notes(report: AnnotatorReport) -> tuple[str, ...]:
    model = report.model
    what = "not of the best component" if model.criterion == "class" else f"accuracy of at most {model.accuracy:g}"
    either = "; on either kind is noisy" if len(report.mixtures) > 1 else ""
    standings = [standing for one in report.verdicts for standing in one.standings]
    too_good = any(one.p_noisy > model.threshold and not one.noisy for one in standings)
    return (
        f"Noisy by {model.criterion}: {what}, marked where that is likelier than {model.threshold:g}{either}.",
        *(("Kept in spite of it: who is more accurate than the best component.",) if too_good else ()),
        "Own answers: the 95% interval of the accuracy that the annotator's answers give without the others'.",
    )
