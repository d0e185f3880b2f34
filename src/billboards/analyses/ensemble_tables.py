"""An ensemble as tables: its metrics, itself without each of them, and what each metric adds (Billboards, Table 11).

Whatever was tuned anew says so, and a metric's nearest relative shows who could stand in for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from billboards.analyses.ranking_results import Ablation, Ensemble, EnsembleStudy
from billboards.show.table import Table, TableColumn, column_digits, finite
from billboards.show.words import linear_combination, value_text


def ensemble_table(ensemble: Ensemble) -> Table:
    """The metrics of an ensemble: weight, and the centre and scale that standardise each."""
    heaviest = sorted(ensemble.weights, key=lambda name: -abs(ensemble.weights[name]))
    rows = tuple(
        {
            "name": name,
            "weight": finite(ensemble.weights[name]),
            "centre": finite(ensemble.centres.get(name)),
            "scale": finite(ensemble.scales.get(name)),
            "signature": ensemble.signatures.get(name),
        }
        for name in heaviest
    )
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("weight", "weight", digits=3),
        TableColumn("centre", "centre", digits=column_digits(rows, "centre"), priority=1),
        TableColumn("scale", "scale", digits=column_digits(rows, "scale"), priority=1),
        TableColumn("signature", "signature", "left", priority=2),
    )
    return Table(ensemble.signature, columns, rows, _ensemble_facts(ensemble))


def ablation_table(study: EnsembleStudy) -> Table:
    """The ensemble without each of its metrics, tuned and measured anew (Table 11)."""
    whole = study.ensemble
    kept = Ablation("nothing", whole.correlation, whole.weights, whole.lam)
    rows = (_ablation_row(kept, None), *(_ablation_row(ablation, whole.correlation) for ablation in study.ablations))
    columns = (
        TableColumn("removed", "removed", "left"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("change", "change", digits=3, kind="change"),
        TableColumn("combination", "what is left, tuned anew", "left", priority=1),
        TableColumn("lambda", "lambda", digits=3, priority=2),
    )
    note = "A fall says that the other metrics can't stand in for the one removed."
    return Table(f"{study.ensemble.board}: the ensemble without each of its metrics", columns, rows, (note,))


def gains_table(study: EnsembleStudy) -> Table:
    """What each candidate adds to the ensemble, and the metric it resembles most."""
    rows = tuple(_gain_row(study, name) for name in sorted(study.gains, key=lambda name: _gain_order(study, name)))
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("gain", "adds", digits=3, kind="change"),
        TableColumn("weight", "weight", digits=3),
        TableColumn("nearest", "most like", "left"),
        TableColumn("similarity", "their correlation", digits=3),
    )
    note = "What a metric adds: how much the ensemble's correlation falls when the metric is not among the candidates."
    return Table(f"{study.ensemble.board}: what each metric adds to the ensemble", columns, rows, (note,))


def _how_fitted(ensemble: Ensemble) -> str:
    among = f"{len(ensemble.weights)} of {len(ensemble.candidates)} metrics"
    if ensemble.method == "best-subset":
        return f"The best subset of {among}, nothing shrunk."
    if ensemble.lam_range is None:
        return f"lambda {value_text(ensemble.lam)} as given, which selects {among}."
    low, high = map(value_text, ensemble.lam_range)
    return f"lambda {value_text(ensemble.lam)} (the same metrics from {low} to {high}), chosen for {among}."


def _ensemble_facts(ensemble: Ensemble) -> tuple[str, ...]:
    facts = [
        f"Score = {ensemble.intercept:.4g} + the sum of weight × (score − centre) / scale, "
        f"on the 0-100 scale of {ensemble.aggregate}.",
        _how_fitted(ensemble),
        f"Correlation on generators it has not seen: {value_text(ensemble.correlation, 3)} (n = {ensemble.n:,}).",
    ]
    facts += [f"{name} was no candidate: {reason}" for name, reason in sorted(ensemble.left_out.items())]
    return tuple(facts)


def _ablation_row(ablation: Ablation, whole: float | None) -> Mapping[str, object]:
    left, whole = finite(ablation.correlation), finite(whole)
    return {
        "removed": ablation.removed,
        "correlation": left,
        "change": None if left is None or whole is None else left - whole,
        "combination": linear_combination(ablation.weights),
        "lambda": finite(ablation.lam),
    }


def _gain_row(study: EnsembleStudy, name: str) -> Mapping[str, object]:
    nearest, similarity = _nearest(study, name)
    weight = study.ensemble.weights.get(name)
    gain = study.gains[name]
    return {"name": name, "gain": finite(gain), "weight": weight, "nearest": nearest, "similarity": similarity}


def _gain_order(study: EnsembleStudy, name: str) -> float:
    gain = finite(study.gains[name])
    return math.inf if gain is None else -gain


def _nearest(study: EnsembleStudy, name: str) -> tuple[str | None, float | None]:
    """The other metric with the highest correlation, where one is defined."""
    if name not in study.names:
        return None, None
    row = study.correlations[study.names.index(name)]
    others = [(r, other) for other, r in zip(study.names, row, strict=True) if other != name and finite(r) is not None]
    if not others:
        return None, None
    similarity, nearest = max(others, key=lambda pair: pair[0] or 0.0)
    return nearest, similarity
