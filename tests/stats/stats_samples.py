"""Small samples that differ in what makes statistics go wrong, and what each function of `stats` is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.stats import (
    alignment,
    annotator_signs,
    annotator_simulation,
    annotators,
    beta_mixture,
    bradley_terry,
    correlation,
    designs,
    ensemble,
    hybrid,
    pooling,
    preferences,
    ratings,
    watching,
    yardsticks,
)

Array = NDArray[Any]
Call = dict[str, Any]

#: Metrics, generators and instances of each sample.
SIZES: Mapping[str, tuple[int, int, int]] = {
    "plain": (4, 5, 12),
    "gaps": (4, 5, 14),
    "ties": (3, 6, 10),
    "flat": (3, 4, 9),
    "wide": (3, 3, 40),
    "two": (2, 2, 2),
}

FIVE = np.array([3.0, 1.0, 2.0, 2.0, 0.5])
P_OF_FIVE = np.abs(np.subtract.outer(FIVE, FIVE)) / 10 + 0.01
P_OF_FOUR = np.array([[1.0, 0.2, 0.01, 0.01], [0.2, 1.0, 0.04, 0.01], [0.01, 0.04, 1.0, 0.3], [0.01, 0.01, 0.3, 1.0]])


@dataclass(frozen=True)
class Sample:
    """Scores (metrics × generators × instances), people's scores, and what else is judged and counted."""

    name: str

    @cached_property
    def random(self) -> np.random.Generator:
        return np.random.default_rng(100 + list(SIZES).index(self.name))

    @cached_property
    def tables(self) -> tuple[Array, Array]:
        metrics, rows, columns = SIZES[self.name]
        worth = self.random.normal(size=(rows, 1)) + self.random.normal(size=columns)
        human = worth + self.random.normal(scale=0.7, size=(rows, columns))
        noise = self.random.normal(size=(metrics, rows, columns)) * np.linspace(0.3, 2, metrics)[:, None, None]
        scores = worth + noise
        if self.name == "gaps":
            human[self.random.random(human.shape) < 0.2] = np.nan
            scores[self.random.random(scores.shape) < 0.15] = np.nan
        elif self.name == "ties":
            human, scores = np.round(human), np.round(scores)
            scores[:, 1] = scores[:, 0]
        elif self.name == "flat":
            scores[0], human[1], scores[2, :, 3] = 0.25, np.nan, np.nan
        return scores, human

    @property
    def scores(self) -> Array:
        return self.tables[0]

    @property
    def human(self) -> Array:
        return self.tables[1]

    @property
    def whole(self) -> Array:
        """People's scores without a gap."""
        return np.asarray(np.nan_to_num(self.human, nan=0.5))

    @property
    def filled(self) -> Array:
        """Scores without a gap."""
        return np.asarray(np.nan_to_num(self.scores, nan=-0.5))

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.human.shape
        return rows, columns

    @property
    def documents(self) -> list[str]:
        return [f"d{k // 3}" for k in range(self.shape[1])]

    @property
    def document(self) -> Array:
        return np.arange(self.shape[1]) // 3

    @property
    def machine(self) -> Array:
        return np.arange(self.shape[0]) > 0

    @property
    def cells(self) -> tuple[Array, Array]:
        """The generator and the instance of each output, in order."""
        rows, columns = np.indices(self.shape)
        return rows.ravel(), columns.ravel()

    @property
    def annotator(self) -> Array:
        rows, columns = self.cells
        return np.asarray((rows + 2 * columns) % 4)

    @property
    def labels(self) -> Array:
        """People's scores on 0-1."""
        low, high = np.nanmin(self.human), np.nanmax(self.human)
        return np.asarray(np.round((self.human - low) / (high - low), 3))

    @property
    def some(self) -> Array:
        """Labels of every third output."""
        rows, columns = self.cells
        return np.asarray(np.where((rows + columns).reshape(self.shape) % 3 == 0, self.labels, np.nan))

    @property
    def chances(self) -> Array:
        rows, columns = self.cells
        return np.asarray((0.2 + 0.1 * ((rows + columns) % 5)).reshape(self.shape))

    @property
    def outcomes(self) -> bradley_terry.Outcomes:
        rows = self.shape[0]
        first, second = (np.concatenate([part] * 8) for part in np.triu_indices(rows, 1))
        lead = second - first + np.arange(len(first)) % 7 - 3
        if self.name == "flat":
            lead = np.abs(lead)
        return bradley_terry.Outcomes(first=first, second=second, result=np.sign(lead))

    @property
    def counted(self) -> bradley_terry.PairCounts:
        return bradley_terry.count_pairs(self.outcomes, self.shape[0])

    @property
    def choices(self) -> bradley_terry.BestWorst:
        rows = self.shape[0]
        sets = np.array([[(k + j) % rows for j in range(min(3, rows))] for k in range(4 * rows)])
        best = np.arange(len(sets)) % 3 % sets.shape[1]
        return bradley_terry.BestWorst(sets=sets, best=best, worst=(best + 1) % sets.shape[1])

    @property
    def right(self) -> Array:
        return np.array([9, 8, 2, 10, 0, 7, 1, 3][: self.shape[1]])

    @property
    def wrong(self) -> Array:
        return np.array([1, 0, 8, 0, 3, 2, 0, 3][: self.shape[1]])

    @property
    def people(self) -> list[str]:
        return [f"p{k}" for k in range(len(self.right))]

    @property
    def columns(self) -> ratings.Ratings:
        """Every output rated by two of four annotators."""
        unit = np.repeat(np.arange(self.whole.size), 2)
        who = np.repeat(self.annotator, 2) + np.tile([0, 1], self.whole.size)
        value = np.round(np.repeat(self.whole.ravel(), 2) + np.tile([0, 0.4], self.whole.size))
        return ratings.ratings_in_columns(unit, who % 4, value)

    @property
    def blocks(self) -> ensemble.Blocks:
        return ensemble.gather_blocks(self.scores, self.human)

    @property
    def mixed(self) -> hybrid.Hybrids:
        return hybrid.mix_hybrids(self.filled, self.whole, count=40)

    @property
    def agreed(self) -> pooling.Agreements:
        """Three metrics on four boards."""
        board, metric = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
        alike = np.where(np.eye(4) > 0, 1.0, 0.3)
        z = 0.3 + 0.1 * metric + 0.05 * board + 0.02 * (len(self.name) - 4) * np.sin(np.arange(12))
        return pooling.Agreements(
            z=z,
            board=board,
            metric=metric,
            noise=np.diag(np.full(12, 0.01)) + 0.002,
            task=alike,
            language=alike**2,
            collection=np.eye(4),
        )

    @property
    def pooled(self) -> pooling.Pooling:
        return pooling.fit_pooling(self.agreed, draws=8)

    @property
    def watched(self) -> watching.Cells:
        rows, columns = self.shape
        units = max(columns * 5, 60)
        generator, unit = np.tile(np.arange(rows), units), np.repeat(np.arange(units), rows)
        value = np.clip(0.2 + 0.6 * generator / rows + 0.1 * np.sin(np.arange(len(unit))), 0, 1)
        return watching.Cells(generator=generator, unit=unit, value=value, labels=np.arange(1, len(unit) + 1))

    @property
    def logs(self) -> dict[str, Array]:
        """Evidence by sign, with somebody of whom nothing was counted."""
        names = annotator_signs.SIGN_NAMES
        signs = {name: np.sin(np.arange(len(self.people)) + k) * (1 + k) for k, name in enumerate(names)}
        signs["questions"][0] = signs["speed"][-1] = np.nan
        return signs


def _asked_of_groups(s: Sample) -> list[Call]:
    statistics = [{"statistic": name, "grouping": g} for name in ("pearson", "spearman", "kendall-c") for g in GROUPED]
    return [{"scores": s.scores, "human": s.human, **asked} for asked in statistics]


GROUPED = ("pooled", "by-item", "by-system", "system-level")


def _sums(s: Sample) -> Array:
    return correlation.instance_sums(*alignment.aligned(s.scores, s.human))


def _pairs(s: Sample) -> tuple[Array, Array, Array]:
    return preferences.preferences(s.whole, threshold=0.5)


def _decided(s: Sample) -> tuple[Array, Array]:
    better, worse, instance = _pairs(s)
    return preferences.decisions(s.scores, better, worse, instance), instance


def _yardsticks(s: Sample) -> list[Call]:
    kinds = [
        yardsticks.yardstick(name, grouping)
        for name, groupings in yardsticks.GROUPINGS_OF.items()
        for grouping in groupings
    ]
    wrong = yardsticks.Yardstick(statistic="acc-eq", grouping="by-system")
    return [{"scores": s.scores, "human": s.human, "how": how} for how in (*kinds, wrong)]


def _mixture(s: Sample) -> beta_mixture.BetaMixture:
    # Two people don't say where two classes of people are.
    return beta_mixture.fit_beta_mixture(s.right, s.wrong, components=min(2, len(s.right) - 1))


def _posterior(s: Sample) -> annotators.Posterior:
    return annotators.posterior(_mixture(s), s.right, s.wrong)


def _models() -> list[annotators.AnnotatorModel]:
    return [
        annotators.AnnotatorModel(),
        annotators.AnnotatorModel(criterion="rate", prior="jeffreys", components=1, threshold=0.8),
        annotators.AnnotatorModel(prior="fixed", accuracy=0.7),
    ]


def _means(s: Sample) -> list[Call]:
    generator, instance = s.cells
    values = np.stack((s.human.ravel(), s.scores[0].ravel()), axis=1)
    unknown = np.where(np.arange(len(instance)) % 5 == 0, -1, s.annotator)
    given = {"values": values, "generator": generator, "instance": instance, "shape": s.shape}
    return [
        {**given, "annotator": s.annotator},
        {**given, "annotator": unknown, "unit": s.document},
        {**given, "values": values[:, :1], "annotator": s.annotator * 0},
    ]


def _signs(s: Sample) -> Call:
    return {"annotator": s.annotator, "values": np.round(s.whole.ravel()), "annotators": 4}


#: What each public function is asked of each sample: calls, each by the names of what it is given, or in order (*).
ASKED: Mapping[str, Callable[[Sample], list[Call]]] = {
    "aggregation.aggregate_ratings": lambda s: [{"ratings": s.columns}] if s.name in ("plain", "ties", "two") else [],
    "agreement.measure_agreement": lambda s: [{"first": s.scores[0], "second": s.human}],
    "agreement.disagreement_corners": lambda s: [{"first": s.scores[0], "second": s.human, "k": 2}],
    "agreement.associate": lambda s: [{"x": s.filled[0].ravel(), "y": s.whole.ravel()}],
    "agreement_parts.agreement_parts": lambda s: [
        {"scores": s.scores, "human": s.human},
        {"scores": s.scores, "human": s.human, "draws": 40},
        {"scores": s.scores, "human": s.human, "draws": 40, "unit": s.document},
    ],
    "alignment.group_centred": lambda s: [{"values": s.scores}],
    "alignment.jointly": lambda s: [{"metric": s.scores[0], "human": s.human}],
    "allocation.inclusion_probabilities": lambda s: [
        {"spread": np.abs(s.whole.ravel()), "labels": max(1, s.whole.size // 3)},
        {"spread": np.abs(s.whole.ravel()), "labels": s.whole.size // 2, "certain": np.arange(s.whole.size) < 2},
        {"spread": s.whole.ravel(), "labels": 3},
        {"spread": np.zeros(s.whole.size), "labels": 3},
        {"spread": np.abs(s.whole.ravel()), "labels": s.whole.size + 1},
    ],
    "allocation.draw_items": lambda s: [
        {"probabilities": s.chances.ravel()},
        {"probabilities": s.chances.ravel(), "certain": np.arange(s.whole.size) < 1},
    ],
    "allocation.residual_spread": lambda s: [
        {"score": s.filled[0].ravel(), "known_score": s.filled[1].ravel(), "residual": s.whole.ravel()}
    ],
    "allocation.neyman_allocation": lambda s: [
        {"sizes": [9, 5, 7, 3], "spreads": np.abs(s.whole.ravel()[:4]), "labels": labels} for labels in (4, 9, 11, 24)
    ],
    "allocation.estimate_weighted": lambda s: [
        {"labels": s.some.ravel(), "probabilities": s.chances.ravel()},
        {"labels": s.some.ravel(), "probabilities": s.chances.ravel(), "prediction": s.filled[0].ravel()},
    ],
    "allocation.estimate_regression": lambda s: [
        {"labels": s.some.ravel(), "probabilities": s.chances.ravel()},
        {"labels": s.some.ravel(), "probabilities": s.chances.ravel(), "metric": s.filled[0].ravel()},
    ],
    "annotator_recall.expected_recall": lambda s: [{"answers": 40.0, "early": 4, "later": len(s.name) // 3}],
    "annotator_recall.answers_for": lambda s: [{"labels": 100.0, "early": 4, "later": len(s.name) // 3}],
    "annotator_signs.e_value_words": lambda s: [{"e": value} for value in (0.0, 0.4, 1.0, 12.3, 99.6, 1e5, 1e30)],
    "annotator_signs.count_evidence": lambda s: [
        {"sign": annotator_signs.CountSign(usual=s.right, unusual=s.wrong)},
        {"sign": annotator_signs.CountSign(usual=s.right, unusual=s.wrong, careless=0.2, known=(4.0, 1.0))},
        {"sign": annotator_signs.CountSign(usual=s.right, unusual=s.wrong, alike=annotator_signs.UNLIKE)},
    ],
    "annotator_signs.pooled_evidence": lambda s: [
        {
            "signs": [
                annotator_signs.CountSign(usual=s.right, unusual=s.wrong),
                annotator_signs.CountSign(usual=s.wrong, unusual=s.right, careless=0.3),
            ]
        }
    ],
    "annotator_signs.combine_signs": lambda s: [
        {"annotators": s.people, "signs": s.logs},
        {"annotators": s.people, "signs": {"speed": s.logs["speed"]}},
        {"annotators": s.people, "signs": s.logs, "weights": annotator_signs.SignWeights(agreement=0.5, speed=0.2)},
    ],
    "annotator_signs.hasty_answers": lambda s: [
        {"annotator": s.annotator, "seconds": 10 ** s.whole.ravel(), "annotators": 4}
    ],
    "annotator_signs.repeated_answers": lambda s: [_signs(s)],
    "annotator_signs.followed_lengths": lambda s: [{**_signs(s), "lengths": np.round(10 * s.filled[0].ravel())}],
    "annotator_signs.speed_evidence": lambda s: [{"took_time": s.right, "hasty": s.wrong}],
    "annotator_signs.repetition_evidence": lambda s: [{"changes": s.right, "repeats": s.wrong}],
    "annotator_signs.length_evidence": lambda s: [{"shorter": s.right, "longer": s.wrong}],
    "annotator_signs.position_evidence": lambda s: [{"first": s.right, "other": s.wrong}],
    "annotator_signs.agreement_evidence": lambda s: [
        {**_signs(s), "item": np.arange(s.whole.size) // 3},
        {**_signs(s), "item": np.arange(s.whole.size) // 3, "values": s.labels.ravel()},
    ],
    "annotator_simulation.simulate_detection": lambda s: [
        {"models": _models()[:2], "questions": np.array([3, 8, 20, 2]), "rounds": 6, "seed": 3}
    ],
    "annotator_simulation.simulate_round": lambda s: [
        {"questions": np.full(30, len(s.name)), "random": np.random.default_rng(len(s.name))}
    ],
    "annotator_simulation.detect_corruption": lambda s: [
        {
            "annotators": [
                annotator_simulation.CheckedScores(
                    np.round(10 * np.abs(np.sin(np.arange(20.0) + k))).reshape(10, 2), np.arange(11.0)
                )
                for k in range(len(s.name))
            ],
            "model": _models()[1],
            "rate": rate,
            "share": share,
            "rounds": 5,
            "seed": 4,
        }
        for rate, share in ((0.0, 0.2), (0.9, 0.5), (0.5, 1.0))
    ],
    "annotators.judge_annotators": lambda s: [
        {"annotators": s.people, "counts": {"spot": (s.right, s.wrong), "repeat": (s.wrong, s.right)}, "model": model}
        for model in _models()[len(s.right) < 3 :]
    ],
    "annotators.follow_annotator": lambda s: [
        {"answers": [True, False, False, True, False, False, False], "mixture": _mixture(s)}
    ],
    "annotators.learned_prior": lambda s: [{"right": s.right, "wrong": s.wrong}] if len(s.right) > 2 else [],
    "annotators.posterior": lambda s: [{"mixture": _mixture(s), "right": s.right, "wrong": s.wrong}],
    "annotators.probability_noisy": lambda s: [
        {"model": model, "mixture": _mixture(s), "beliefs": _posterior(s)} for model in _models()
    ],
    "beta_mixture.fit_beta_mixture": lambda s: [
        {"right": s.right, "wrong": s.wrong, "components": components} for components in (1, 2)[: len(s.right) - 1]
    ],
    "beta_mixture.whole_counts": lambda s: [{"counts": s.right}, {"counts": [1.5]}, {"counts": [-1]}],
    "beta_mixture.random_points": lambda s: [{"components": 2, "starts": 3, "seed": len(s.name)}],
    "bootstrap.bootstrap_pearson": lambda s: [
        {"scores": s.scores, "human": s.human, "draws": 50},
        {"scores": s.scores, "human": s.human, "draws": 50, "unit": "documents", "documents": s.documents},
    ],
    "bradley_terry.count_pairs": lambda s: [
        {"outcomes": s.outcomes, "entries": s.shape[0]},
        {"outcomes": s.outcomes, "entries": s.shape[0], "weights": 1 + np.arange(len(s.outcomes)) % 3.0},
    ],
    "bradley_terry.fit_strengths": lambda s: [
        {"counts": s.counted, "prior": prior, "ties": ties}
        for prior in (0.0, 0.5)
        for ties in ("davidson", "rao-kupper", "half", "dropped")
    ],
    "bradley_terry.fit_best_worst": lambda s: [
        {"choices": s.choices, "entries": s.shape[0], "prior": prior} for prior in (0.0, 1.0)
    ],
    "bradley_terry.elo_history": lambda s: [{"outcomes": s.outcomes, "entries": s.shape[0]}],
    "bradley_terry.draw_strengths": lambda s: [
        {
            "outcomes": s.outcomes,
            "fitted": bradley_terry.fit_strengths(s.counted, prior=0.5),
            "unit": np.arange(len(s.outcomes)) // 2,
            "draws": 12,
        }
    ],
    "bradley_terry.comparison_worth": lambda s: [
        {"theta": fitted.theta, "covariance": fitted.covariance}
        for fitted in [bradley_terry.fit_strengths(s.counted, prior=0.5)]
    ],
    "bradley_terry.clustered_covariance": lambda s: [
        {
            "*": (
                bradley_terry.comparison_scores(s.outcomes, fitted),
                fitted,
                *(np.arange(len(s.outcomes)) // k for k in by),
            )
        }
        for fitted in [bradley_terry.fit_strengths(s.counted, prior=0.5)]
        for by in ((2,), (2, 5), (1000,))
    ],
    "clusters.holm": lambda s: [{"p": np.abs(np.sin(s.human.ravel()[:6])) / 5}],
    "clusters.benjamini_hochberg": lambda s: [{"p": np.abs(np.sin(s.human.ravel()[:6])) / 5}],
    "clusters.significance_clusters": lambda s: [{"order": [1, 0, 2, 3], "p": P_OF_FOUR}],
    "clusters.places": lambda s: [{"values": s.human.ravel()[:5], "tests": None}, {"values": FIVE, "tests": P_OF_FIVE}],
    "correlation.pearson": lambda s: [{"scores": s.scores, "human": s.human}],
    "correlation.pearson_with_intervals": lambda s: [{"scores": s.scores, "human": s.human, "draws": 60}],
    "correlation.between_metrics": lambda s: [{"scores": s.scores}],
    "correlation.resampled_pearson": lambda s: [{"sums": _sums(s), "draws": 6, "seed": 2}],
    "crossed.fit_crossed": lambda s: [
        {"y": s.human, "design": np.stack((np.ones(s.shape), np.broadcast_to(s.machine[:, None], s.shape)))},
        {"y": s.human.T, "design": np.stack((np.ones(s.shape), s.filled[0])).transpose(0, 2, 1)},
        {"y": s.human, "design": np.stack((np.ones(s.shape), s.filled[-1]))},
    ],
    "crossed.likelihood_ratio": lambda s: [
        {"y": s.human, "design": np.stack((np.ones(s.shape), s.filled[-1])), "column": 1}
    ],
    "designs.compare_designs": lambda s: [
        {
            "labels": designs.labels_of(
                np.repeat(np.arange(12), 4),
                np.round(4 * np.abs(np.sin(np.arange(48) + len(s.name)))) / 4,
                np.repeat(groups, 4),
                at_least=2,
            ),
            "rounds": 20,
        }
        for groups in (np.arange(12) % 3, np.minimum(np.arange(12), 1))
    ],
    "disclosure.supported_decimals": lambda s: [
        {"n": n, "interval": interval} for n in (3, 12, 400) for interval in (None, (0.12, 0.31), (0.2, 0.2001))
    ],
    "disclosure.round_significant": lambda s: [
        {"value": value, "beside": beside} for value in (0.0, 1234.567, -0.00123456) for beside in (None, 0.034)
    ],
    "disclosure.hardly_varies": lambda s: [{"scores": s.scores}, {"scores": s.scores * 0}],
    "ensemble.fit_ensemble": lambda s: [
        {"blocks": s.blocks, "k": 2},
        {"blocks": s.blocks, "lam": 0.05},
        {"blocks": s.blocks, "lam": 5.0},
    ],
    "ensemble.fit_lasso": lambda s: [{"blocks": s.blocks, "k": k} for k in (1, 2)],
    "estimate.estimate_mean": lambda s: [
        {"metric": s.scores[1].ravel(), "labels": s.some.ravel()},
        {"metric": s.filled[-1].ravel(), "labels": s.labels.ravel()},
    ],
    "estimate.simulate_coverage": lambda s: [
        {"metric": s.filled[1].ravel(), "human": s.whole.ravel(), "labels": max(3, s.shape[1] // 2), "draws": 50}
    ],
    "exposure.private_documents": lambda s: [{"documents": s.documents, "share": 0.4, "seed": 1}],
    "exposure.compare_shares": lambda s: [
        {
            "scores": s.scores,
            "human": s.human,
            "documents": s.documents,
            "private": np.arange(len(set(s.documents)))[s.document] % 2 == 1,
            "deals": 20,
        },
        {
            "scores": np.tile(s.scores, 4),
            "human": np.tile(s.human, 4),
            "documents": [f"d{k // 2}" for k in range(4 * s.shape[1])],
            "private": np.arange(4 * s.shape[1]) // 2 % 2 == 1,
            "deals": 20,
        },
    ],
    "grouped.correlation": _asked_of_groups,
    "hybrid.correlate_hybrids": lambda s: [{"hybrids": s.mixed}],
    "hybrid.mix_hybrids": lambda s: [
        {"scores": s.filled, "human": s.whole, "count": 15},
        {"scores": s.filled, "human": s.whole, "count": 15, "parents": 2},
        {"scores": s.scores, "human": s.human, "count": 15},
    ],
    "hybrid.select_models": lambda s: [{"hybrids": s.mixed, "sample": 10}, {"hybrids": s.mixed, "sample": 41}],
    "implausible.standardised_residuals": lambda s: [{"score": s.scores[1].ravel(), "human": s.human.ravel()}],
    "intraclass.intraclass_correlation": lambda s: [
        {"ratings": np.where(np.isnan(s.human), 0.3, s.human)},
        {"ratings": s.human},
        {"ratings": s.columns},
        {"ratings": s.whole[:, :1]},
        {"ratings": s.whole * 0},
    ],
    "intraclass.spearman_brown": lambda s: [{"single": r, "k": k} for r in (0.4, -0.5) for k in (0.5, 2, 3)],
    "kendall.kendall_influence": lambda s: [{"scores": s.scores[1], "human": s.human}],
    "kendall.kendall_se": lambda s: [{"scores": s.scores[1], "human": s.human}],
    "kinship.kinship": lambda s: [
        {"scores": s.scores[1], "people": s.human, "kin": np.arange(s.shape[0]) % 3 == 0, "units": s.document},
        {"scores": s.scores[1], "people": s.human, "kin": s.machine, "units": np.arange(s.shape[1])},
    ],
    "ladder.paired_noise": lambda s: [
        {"scores": s.filled[0].ravel(), "best": s.filled[1].ravel(), "human": s.whole.ravel()},
        {"scores": s.filled[0].ravel(), "best": None, "human": s.whole.ravel() + 3},
    ],
    "mixed.fit_random_intercept": lambda s: [
        {
            "y": s.whole.ravel(),
            "design": np.stack((np.ones(s.whole.size), s.filled[-1].ravel()), axis=1),
            "group": s.cells[1],
        }
    ],
    "mixed.likelihood_ratio": lambda s: [
        {
            "y": s.whole.ravel(),
            "design": np.stack((np.ones(s.whole.size), s.filled[-1].ravel()), axis=1),
            "group": s.cells[1],
            "column": 1,
        }
    ],
    "overrating.overrating": lambda s: [
        {"scores": s.scores[-1], "human": s.human, "machine": s.machine},
        {
            "scores": np.where(np.arange(s.shape[1]) + s.machine[:, None] == 1, np.nan, s.filled[-1])[:2, :3],
            "human": s.whole[:2, :3],
            "machine": s.machine[:2],
        },
    ],
    "overrating.overrating_all": lambda s: [{"scores": s.scores, "human": s.human, "machine": s.machine}],
    "overrating.overrating_crossed": lambda s: [{"scores": s.scores[-1], "human": s.human, "machine": s.machine}],
    "pairwise.acc_eq": lambda s: [
        {"scores": s.scores, "human": s.human},
        {"scores": s.scores, "human": s.human, "epsilon": 0.4},
        {"scores": s.scores, "human": s.human, "most": 3},
    ],
    "pairwise.held_out_acc_eq": lambda s: [{"scores": s.scores, "human": s.human}],
    "pairwise.permute_decisions": lambda s: [{"scores": s.scores, "human": s.human, "draws": 60}],
    "pairwise.pairwise_difference_pearson": lambda s: [{"scores": s.scores, "human": s.human}],
    "pareto.pareto_front": lambda s: [{"quality": s.whole.ravel(), "cost": s.filled[0].ravel()}],
    "people.people_means": _means,
    "people.people_tests": lambda s: [{"cells": s.human, "draws": 60}],
    "pooling.fit_pooling": lambda s: [{"agreements": s.agreed, "draws": draws} for draws in (0, 8)],
    "pooling.predict": lambda s: [
        {
            "pooling": s.pooled,
            "agreements": s.agreed,
            "asked": pooling.Asked(
                metric=np.array([0, 2, 7]),
                task=s.agreed.task[1],
                language=s.agreed.language[1],
                collection=s.agreed.collection[1],
                board=board,
            ),
        }
        for board in (None, 1)
    ],
    "pooling.leave_boards_out": lambda s: [
        {"pooling": s.pooled, "agreements": s.agreed, "groups": [[0], [1, 2]]},
    ],
    "power.tell_generators_apart": lambda s: [{"first": s.human[0], "second": s.human[-1]}],
    "power.labels_to_tell_generators_apart": lambda s: [
        {"human": (s.whole[0], s.whole[-1]), "metric": (s.filled[1][0], s.filled[1][-1])},
        {"human": (s.whole[0], s.whole[-1]), "metric": (s.whole[0] * 2 + 1, s.whole[-1] * 2 + 1)},
    ],
    "power.tell_metrics_apart": lambda s: [{"first": s.scores[0], "second": s.scores[1], "human": s.human}],
    "power.tell_preferences_apart": lambda s: [
        {"first": decided[0], "second": decided[1], "instance": instance} for decided, instance in [_decided(s)]
    ],
    "power.generator_means": lambda s: [{"first": s.scores[0], "second": s.scores[1], "human": s.human}],
    "power.resample_generators": lambda s: [{"first": s.human[0], "second": s.human[-1], "sizes": [2, 6], "draws": 40}],
    "power.resample_metrics": lambda s: [
        {"first": s.scores[0], "second": s.scores[1], "human": s.human, "sizes": [3, 6], "draws": 40}
    ],
    "preferences.preferences": lambda s: [{"human": s.human, "threshold": limit} for limit in (0.0, 0.5)],
    "preferences.credits_of": lambda s: [
        {"lead": np.array([1.0, 0.0, -1.0, np.nan]), "ties": ties} for ties in ("wrong", "half", "dropped", "none")
    ],
    "preferences.relative_ranking": lambda s: [
        {"scores": scores, "human": s.human, "threshold": threshold}
        for scores in (s.scores, s.scores[:0])
        for threshold in (0.5, 1e9)
    ],
    "preferences.preference_agreement": lambda s: [{"better": s.scores[0], "worse": s.scores[1]}],
    "preferences.area_under_curve": lambda s: [
        {"scores": s.scores, "human": np.where(np.isnan(s.human), np.nan, s.human > 0)},
        {"scores": s.scores, "human": s.human},
    ],
    "preferences.tied_shares": lambda s: [
        {"scores": s.scores, "better": better, "worse": worse, "instance": instance}
        for better, worse, instance in [_pairs(s)]
    ],
    "preferences.decisions": lambda s: [
        {"scores": s.scores, "better": better, "worse": worse, "instance": instance}
        for better, worse, instance in [_pairs(s)]
    ],
    "preferences.preference_correlations": lambda s: [
        {"decided": decided, "instance": instance, "draws": 60} for decided, instance in [_decided(s)]
    ],
    "preferences.exchange_decisions": lambda s: [
        {"decided": decided, "instance": instance, "draws": 60} for decided, instance in [_decided(s)]
    ],
    "ratings.ratings_in_columns": lambda s: [
        {"unit": [1, 1, 2], "annotator": [0, 1, 0], "value": [3.0, np.nan, 5.0]},
        {"unit": [1, 1, 2], "annotator": [0, 1], "value": [3.0, 4.0, 5.0]},
    ],
    "references.reference_subsets": lambda s: [
        {"names": tuple("ABCDEF")[: s.shape[0]], "size": size, "most": most} for size in (1, 2) for most in (4, 50)
    ],
    "reliability.krippendorff_alpha": lambda s: [
        {"ratings": ratings} for ratings in (s.columns, s.human, np.abs(s.human))
    ],
    "reliability.alpha_with_interval": lambda s: [{"ratings": s.columns, "resamples": 40}],
    "reliability.cohen_kappa": lambda s: [
        {"first": np.round(s.filled[0].ravel()), "second": np.round(s.whole.ravel())},
        {"first": [1, 1, 1], "second": [1, 1, 1]},
    ],
    "reliability.pairwise_kappas": lambda s: [{"ratings": s.columns, "at_least": 2}],
    "repetition.study_repetition": lambda s: [
        {"values": s.whole * 0 + 1, "generator": np.arange(s.shape[0]) // 2, "draws": 200},
        {"values": s.whole, "generator": np.arange(s.shape[0]) // 2, "draws": 200},
        {"values": s.whole.T[:, :3], "generator": np.arange(s.shape[1]) % 3, "draws": 200},
        {
            "values": s.whole,
            "generator": np.arange(s.shape[0]) // 2,
            "draws": 200,
            "when": np.cumsum(1.0 + np.arange(s.shape[1]) % 2),
        },
        {
            "values": s.whole,
            "generator": np.arange(s.shape[0]) // 2,
            "draws": 200,
            "when": np.ones(s.shape[1]),
        },
    ],
    "resampling.bootstrap_p": lambda s: [
        {"first": s.filled[0].ravel(), "second": s.filled[1].ravel(), "difference": 0.1}
    ],
    "selection.item_responses": lambda s: [{"scores": s.filled[0]}],
    "selection.spread": lambda s: [{"scores": s.filled[0]}],
    "selection.difficulty": lambda s: [{"scores": s.filled[0]}],
    "selection.consistency": lambda s: [{"scores": s.filled[0]}],
    "selection.disagreement": lambda s: [{"scores": s.filled}],
    "selection.expected_spread": lambda s: [{"scores": s.filled[0], "labels": s.some}],
    "selection.combined_standing": lambda s: [
        {"labels": s.some, "scores": s.filled[0]},
        {"labels": s.labels, "scores": s.filled[0]},
        {"labels": np.where(np.arange(s.shape[1]) % 4 > 0, s.labels, np.nan), "scores": s.scores[-1]},
        {"labels": s.labels[:1], "scores": s.filled[0][:1]},
    ],
    "selection.chances_within": lambda s: [
        {"worth": np.abs(s.filled[0].ravel()), "cost": 1 + np.arange(s.whole.size) % 3.0, "budget": budget}
        for budget in (0.0, 3.0, s.whole.size / 2, (1 + np.arange(s.whole.size) % 3).sum(), 1e6)
    ],
    "selection.draw_systematic": lambda s: [{"probabilities": s.chances.ravel()}],
    "selection.take_worthiest": lambda s: [
        {"worth": np.round(s.filled[0].ravel()), "cost": 1 + np.arange(s.whole.size) % 3.0, "budget": budget}
        for budget in (3.0, s.whole.size / 2)
    ],
    "sequences.confidence_sequence": lambda s: [
        {"values": s.labels[0][np.isfinite(s.labels[0])]},
        {"values": np.tile(np.nan_to_num(s.labels[-1]), 6), "pool": 400},
        {"values": [1.0 + 5e-10, -5e-10, 0.5]},
        {"values": [1.0 + 5e-9, 0.5]},
        {"values": [0.5], "low": 1.0},
    ],
    "sequences.mixture_width": lambda s: [{}],
    "sequences.asymptotic_sequence": lambda s: [{"estimate": s.whole[0], "sd": np.abs(s.whole[-1]), "n": 50}],
    "sequences.e_benjamini_hochberg": lambda s: [
        {"log_evidence": 4 * s.whole.ravel(), "level": level} for level in (0.0, 0.1, 1.0)
    ],
    "severity.correct_severity": lambda s: [
        *(
            {"value": value, "generator": [0, 0, 1, 1], "instance": [0, 1, 0, 1], "annotator": annotator}
            for value, annotator in (
                ([3.0, np.nan, 1.0, 2.0], [0, 1, 0, 1]),
                ([3.0, 2.0, 1.0, 2.0], [0, -1, 0, 1]),
                ([3.0, 3.0, 3.0, 3.0], [0, 1, 0, 1]),
            )
        ),
        {"value": [], "generator": [], "instance": [], "annotator": []},
        {
            "value": 60 + 20 * s.whole.ravel(),
            "generator": s.cells[0],
            "instance": s.cells[1],
            "annotator": s.annotator,
        },
        {
            "value": 60 + 20 * s.whole.ravel(),
            "generator": s.cells[0],
            "instance": s.cells[1],
            "annotator": s.annotator,
            "time": 50.0 * (np.arange(s.whole.size) // 8),
        },
    ],
    "significance.permute_correlations": lambda s: [{"scores": s.scores, "human": s.human, "draws": 60}],
    "significance.permute_values": lambda s: [{"values": s.human, "draws": 60}],
    "significance.permute_against": lambda s: [{"values": s.human, "entry": 0, "draws": 60}],
    "significance.permute_differences": lambda s: [{"apart": s.whole[1:] - s.whole[0], "draws": 60}],
    "significance.surely_differ": lambda s: [
        {
            "difference": s.whole.sum(axis=1),
            "squares": (s.whole**2).sum(axis=1),
            "units": s.shape[1],
            "draws": draws,
            "seed": 0,
        }
        for draws in (0, 1, 1000)
    ],
    "significance.williams": lambda s: [
        {"r_a": 0.5, "r_b": r_b, "r_ab": 0.3, "n": n} for r_b in (0.2, 0.5, 0.6) for n in (4, 30)
    ],
    "significance.fisher_z": lambda s: [{"r_a": 0.5, "n_a": 20, "r_b": 0.1, "n_b": s.whole.size}],
    "spans.sign_test": lambda s: [
        {"differences": np.round(s.human[0] - s.human[-1], 1)},
        {"differences": np.tile(s.whole[0], 3), "groups": np.arange(3 * s.shape[1]) // 2},
    ],
    "subsets.fit_best_subset": lambda s: [{"blocks": s.blocks, "k": k} for k in (1, 2)],
    "subsets.choose_subset": lambda s: [
        *({"blocks": s.blocks, "k": k} for k in (1, 2, 3)),
        {"blocks": ensemble.gather_blocks(s.scores[:, -1:], s.human[-1:])},
    ],
    "system_level.instance_weights": lambda s: [{"instances": 4, "draws": 5, "seed": 2}],
    "system_level.weighted_means": lambda s: [
        {"scores": s.scores[0], "weights": np.arange(3 * s.shape[1]).reshape(3, -1) % 4.0}
    ],
    "system_level.beaten_shares": lambda s: [
        {"differences": s.human[:-1] - s.human[-1], "weights": np.arange(3 * s.shape[1]).reshape(3, -1) % 4.0}
    ],
    "system_level.correlations": lambda s: [{"x": s.filled[0], "y": s.whole}],
    "system_level.partial_correlations": lambda s: [
        {"x": s.filled[0], "y": s.whole, "given": s.filled[1]},
        {"x": s.filled[0], "y": s.whole, "given": s.filled[0] * 2},
        {"x": s.filled[0], "y": s.whole, "given": s.filled[0] + 1e-7 * s.filled[1]},
    ],
    "system_level.residuals": lambda s: [{"x": s.filled[0], "given": s.filled[1]}],
    "system_level.value_and_interval": lambda s: [{"drawn": s.human.ravel()}, {"drawn": s.human.ravel()[:1]}],
    "system_level.wilson_interval": lambda s: [{"right": right, "n": 9} for right in (0, 4, 9)],
    "system_pairs.system_pairwise_accuracy": lambda s: [{"scores": s.scores, "human": s.human}],
    "system_pairs.soft_pairwise_accuracy": lambda s: [{"scores": s.scores, "human": s.human, "draws": 60}],
    "system_pairs.soft_pairwise_agreements": lambda s: [
        {"scores": s.scores, "human": s.human},
        {"scores": s.scores, "human": s.human, "draws": 1},
        {"scores": s.scores, "human": s.human, "draws": 0},
    ],
    "watching.watch_pairs": lambda s: [
        {
            "cells": s.watched,
            "asked": np.ones((s.shape[0], s.watched.unit[-1] + 1), bool),
            "drop": drop,
            "bounded": bounded,
        }
        for drop in (False, True)
        for bounded in (True, False)
    ],
    "watching_metrics.watch_correlations": lambda s: [{"sums": _sums(s)}],
    "watching_metrics.pearson_gradient": lambda s: [{"sums": _sums(s).sum(axis=1)}],
    "within_items.within_items": lambda s: [
        {"scores": s.scores, "human": s.human},
        {"scores": s.scores, "human": s.human, "draws": 60},
        {"scores": s.scores, "human": s.human, "draws": 60, "unit": "documents", "documents": s.documents},
    ],
    "within_items.within_groups": lambda s: [{"scores": s.human[0], "human": s.scores[0][0], "group": s.document}],
    "within_items.better_within_items": lambda s: [
        {"first": s.scores[0], "second": s.scores[1], "human": s.human, "draws": 60}
    ],
    "worst_case.worst_case_se": lambda s: [
        {"mean": mean, "n": 9, "low": low} for mean in (0.0, 0.3, 1.0, 1.2) for low in (0.0, 0.5)
    ],
    "worst_case.labels_for_se": lambda s: [{"se": 0.05}, {"se": 0.05, "mean": 0.1}, {"se": 0.0}, {"se": 9.0}],
    "worst_case.bootstrap_mean": lambda s: [
        {"values": s.labels[0], "resamples": 40},
        {"values": s.whole.ravel(), "groups": s.cells[1], "resamples": 40},
    ],
    "yardsticks.agreements": lambda s: [
        {**asked, "draws": draws, "exchanges": draws} for asked in _yardsticks(s) for draws in (0, 30)
    ],
    "yardsticks.compare_by": lambda s: [{**asked, "draws": 40} for asked in _yardsticks(s)],
    "yardsticks.yardstick": lambda s: [
        {"name": name, "grouping": grouping}
        for name in (*yardsticks.STATISTICS, *yardsticks.ALIASES, "pearson/sys", "none")
        for grouping in (None, "by-segment", "system", "sys", "none")
    ],
    "yardsticks.preset": lambda s: [{"name": name} for name in (*yardsticks.PRESETS, "none")],
}
