"""Statistics on arrays by their public names, standings without a board, and results as data frames.

Arrays are drawn by a seed, with ties and gaps in them; a result is taken apart into its fields.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import billboards as bb


def numbers(harbour: Path) -> dict[str, Any]:
    """Everything; data frames are of a board folder."""
    result = bb.rank(bb.open(str(harbour)), draws=100)
    frames = [result.to_pandas(k) for k in range(len(result.tables))]
    tables = [[plain(row) for row in frame.to_dict("records")] for frame in frames]
    return {"statistics": statistics(), "standings": standings(), "frames": tables}


def standings() -> Any:
    """Metrics ranked by arrays alone."""
    scores, human = _drawn(6)
    columns = {"first": scores[0].ravel(), "second": scores[1].ravel()}
    instances = np.tile(np.arange(human.shape[1]), len(human))
    return plain(bb.rank_metrics(columns, human.ravel(), instances=instances, draws=100, seed=2).document)


class PublicStatistics:
    """The functions in `bb.stats` by their names alone: in which of its modules one stands may change."""

    def __getattr__(self, name: str) -> Any:
        for module in dir(bb.stats):
            if callable(found := getattr(getattr(bb.stats, module), name, None)):
                return found
        raise AttributeError(f"bb.stats has no function {name}")


def statistics() -> dict[str, Any]:
    """Results of the functions that the documentation lists, by name."""
    stats = PublicStatistics()
    scores, human = _drawn(1)
    labels = np.where(human > np.nanmedian(human), 1.0, 0.0)
    labels[np.isnan(human)] = np.nan
    ratings, full = _ratings(gaps=True), _ratings(gaps=False)
    machine = np.array([True, True, True, True, False])
    p = np.array([0.001, 0.04, 0.03, np.nan, 0.2])
    counts = {"positive": ([19, 20, 4], [1, 0, 4]), "negative": ([18, 0, 5], [1, 16, 2])}
    report = stats.judge_annotators(["ann", "bob", "cid"], counts)
    results: dict[str, Any] = {
        "pearson": stats.pearson(scores, human),
        "pearson_with_intervals": stats.pearson_with_intervals(scores, human, draws=100, seed=3),
        "acc_eq": stats.acc_eq(scores, human),
        "acc_eq, epsilon": stats.acc_eq(scores, human, epsilon=0.1),
        "pdp": stats.pairwise_difference_pearson(scores, human),
        "spa": stats.soft_pairwise_accuracy(scores, human, draws=100),
        "permute_decisions": stats.permute_decisions(scores, human, draws=50),
        "williams": stats.williams(0.6, 0.5, 0.4, 120),
        "fisher_z": stats.fisher_z(0.6, 100, 0.5, 120),
        "relative_ranking": stats.relative_ranking(scores, human * 30 + 50),
        "area_under_curve": stats.area_under_curve(scores, labels),
        "overrating_all": stats.overrating_all(scores, human, machine),
        "overrating_crossed": stats.overrating_crossed(scores[0], human, machine),
        "holm": stats.holm(p),
        "benjamini_hochberg": stats.benjamini_hochberg(p),
        "estimate_mean": stats.estimate_mean(scores[0, 0], np.where(np.arange(20) % 3, np.nan, human[0])),
        "simulate_coverage": stats.simulate_coverage(scores[1, 1], human[1], labels=8, draws=200),
        "tell_generators_apart": stats.tell_generators_apart(human[0], human[4]),
        "tell_metrics_apart": stats.tell_metrics_apart(scores[0], scores[1], human),
        "follow_annotator": stats.follow_annotator([True, False, False, True], mixture=report.mixtures["negative"]),
        "alpha_with_interval": stats.alpha_with_interval(ratings, resamples=50),
        "inclusion_probabilities": stats.inclusion_probabilities([1.0, 2.0, 0.5, 4.0, 1.5, 0.1], 3),
        "worst_case_se": stats.worst_case_se(0.3, 40),
        "standardised_residuals": stats.standardised_residuals(scores[0, 2], human[2]),
        "measure_agreement": stats.measure_agreement(human, human + scores[0]),
        "mix_hybrids": stats.mix_hybrids(np.nan_to_num(scores), np.nan_to_num(human), count=20, parents=2),
    }
    for statistic in ("pearson", "spearman", "kendall-b", "kendall-c"):
        for grouping in ("pooled", "by-item", "by-system", "system-level"):
            found = stats.correlation(scores, human, statistic=statistic, grouping=grouping)
            results[f"correlation, {statistic}, {grouping}"] = found
    for unit in ("both", "instances", "generators"):
        results[f"permute, {unit}"] = stats.permute_correlations(scores, human, unit=unit, draws=50)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        results[f"alpha, {level}"] = stats.krippendorff_alpha(ratings, level)
    for weights in ("plain", "linear", "quadratic"):
        results[f"kappas, {weights}"] = stats.pairwise_kappas(ratings, weights=weights, at_least=3)
    for model in ("ICC(1)", "ICC(2)", "ICC(3)"):
        results[f"{model}, gaps"] = stats.intraclass_correlation(ratings, model)
        results[f"{model}, full"] = stats.intraclass_correlation(full, model, resamples=20)
    return {name: plain(value) for name, value in results.items()}


def _drawn(seed: int) -> tuple[Any, Any]:
    """Two metrics on five rows of twenty instances, and people, with ties and a few gaps."""
    chance = np.random.default_rng(seed)
    truth = chance.normal(size=(5, 20)) + np.linspace(-1, 1, 5)[:, None]
    human = np.round(truth + 0.5 * chance.normal(size=(5, 20)), 1)
    scores = np.round(truth + np.array([0.6, 1.2])[:, None, None] * chance.normal(size=(2, 5, 20)), 1)
    human[2, 7] = np.nan
    scores[1, 3, 4] = np.nan
    return scores, human


def _ratings(*, gaps: bool) -> Any:
    """Twelve units rated by four annotators from 1 to 5."""
    chance = np.random.default_rng(9)
    units = chance.integers(1, 6, size=(12, 1))
    ratings = np.clip(units + chance.integers(-1, 2, size=(12, 4)), 1, 5).astype(float)
    if gaps:
        ratings[chance.random((12, 4)) < 0.2] = np.nan
    return ratings


def plain(value: Any) -> Any:
    """A result as a document: fields by name, arrays as lists, what is missing as None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
