"""What people said of generators, in plain loops: means, intervals, tests and clusters as the method states them.

Nothing here comes from the package, so that the two can only agree where both do what docs/method.md says.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

#: One judgment: generator, instance, annotator (None: nobody knows), and a value per dimension (None: not asked).
Judgment = tuple[str, str, str | None, tuple[float | None, ...]]


@dataclass(frozen=True)
class PlainMean:
    mean: float
    half: float | None
    judgments: int
    instances: int
    annotators: int | None
    #: The mean of each judged output.
    outputs: dict[str, float]


def plain_means(judgments: Sequence[Judgment]) -> dict[str, PlainMean]:
    """Every generator's mean with half the width of its 95% interval."""
    by_generator: dict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        if any(value is not None for value in judgment[3]):
            by_generator[judgment[0]].append(judgment)
    means = {name: _mean_of(mine) for name, mine in by_generator.items()}
    return {name: mean for name, mean in means.items() if mean is not None}


def _mean_of(judgments: list[Judgment]) -> PlainMean | None:
    dimensions = len(judgments[0][3])
    ratings: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in range(dimensions)])
    for _, instance, _, values in judgments:
        for d, value in enumerate(values):
            if value is not None:
                ratings[instance][d].append(value)
    complete = {instance: lists for instance, lists in ratings.items() if all(lists)}
    if not complete:
        return None
    outputs = {instance: sum(sum(one) / len(one) for one in lists) / dimensions for instance, lists in complete.items()}
    middle = [
        sum(sum(lists[d]) / len(lists[d]) for lists in complete.values()) / len(complete) for d in range(dimensions)
    ]
    used = [judgment for judgment in judgments if judgment[1] in complete]
    pieces = []
    for _, instance, annotator, values in used:
        weight = residual = 0.0
        for d, value in enumerate(values):
            if value is not None:
                share = 1 / (len(complete) * dimensions * len(complete[instance][d]))
                weight += share
                residual += share * (value - middle[d])
        pieces.append((instance, annotator, weight, residual))
    people = {annotator for _, annotator, _, _ in pieces}
    return PlainMean(
        mean=sum(outputs.values()) / len(outputs),
        half=_half(pieces, people),
        judgments=len(used),
        instances=len(complete),
        annotators=None if None in people else len(people),
        outputs=outputs,
    )


def _half(pieces: list[tuple[str, str | None, float, float]], people: set[str | None]) -> float | None:
    of_instances = _clustered([(instance, instance, w, u) for instance, _, w, u in pieces], parts=False)
    if of_instances is None:
        return None
    half = _student(*of_instances)
    if None in people or len(people) < 2:
        return half
    of_annotators = _clustered([(annotator, instance, w, u) for instance, annotator, w, u in pieces], parts=True)
    of_both = _clustered([((instance, annotator), None, w, u) for instance, annotator, w, u in pieces], parts=False)
    assert of_annotators is not None
    assert of_both is not None
    grown, even = _beside(pieces)
    beside = grown * max(of_instances[0] - of_both[0], 0.0)
    total = of_annotators[0] + beside
    floor = (1 - even / 3) * half
    if total == 0:
        return floor
    df = total**2 / (of_annotators[0] * total / of_annotators[1] + beside**2 / of_instances[1])
    return max(floor, _student(total, df))


def _beside(pieces: list[tuple[str, str | None, float, float]]) -> tuple[float, float]:
    """How much of the instances' variance the annotators' part lacks, from matrices; and the annotators' evenness."""
    instances, annotators = sorted({p[0] for p in pieces}), sorted({str(p[1]) for p in pieces})
    table = np.zeros((len(annotators), len(instances)))
    for instance, annotator, weight, _ in pieces:
        table[annotators.index(str(annotator)), instances.index(instance)] += weight
    by_annotator, by_instance = table.sum(axis=1), table.sum(axis=0)
    # How a unit of each instance's effect, of each cell's, and of each annotator's moves the annotators' sums.
    of_instances = table - np.outer(by_annotator, by_instance)
    of_cells = 0.0
    for a, i in zip(*np.nonzero(table), strict=True):
        moved = -by_annotator * table[a, i]
        moved[a] += table[a, i]
        of_cells += float((moved**2).sum())
    of_annotators = np.diag(by_annotator) - np.outer(by_annotator, by_annotator)
    scale = float((by_annotator**2).sum()) / float((of_annotators**2).sum())
    held = float((table**2).sum()) + scale * (float((of_instances**2).sum()) - of_cells)
    apart = float((by_instance**2).sum() - (table**2).sum())
    even = 1 / (len(annotators) * float((by_annotator**2).sum()))
    return (max((float((by_instance**2).sum()) - held) / apart, 0.0) if apart > 1e-9 else 0.0), even


def _clustered(pieces: list[tuple[object, object, float, float]], *, parts: bool) -> tuple[float, float] | None:
    """Variance and degrees of freedom by Bell and McCaffrey, from the matrices that they write down.

    With parts, a cluster has an effect and independent parts beside it.
    """
    weights: dict[object, float] = defaultdict(float)
    residuals: dict[object, float] = defaultdict(float)
    of_part: dict[object, dict[object, float]] = defaultdict(lambda: defaultdict(float))
    for code, part, weight, residual in pieces:
        weights[code] += weight
        residuals[code] += residual
        of_part[code][part] += residual
    if len(weights) < 2:
        return None
    w = np.array(list(weights.values()))
    q = np.array([sum(u * u for u in of_part[code].values()) if parts else 0.0 for code in weights])
    maker = np.eye(len(w)) - np.outer(np.ones(len(w)), w)
    form = maker.T @ np.diag(w**2) @ maker
    # What the sum of squares is expected to be per unit of the effects' variance, and from the parts alone.
    per_effect, from_parts = float(np.trace(form)), float(np.trace(form @ np.diag(q / w**2)))
    effect = (sum(u * u for u in residuals.values()) - from_parts) / per_effect
    variance = max(effect * float((w**2).sum()) + float(q.sum()), 0.0)
    covariance = form @ np.diag(max(effect, 0.0) + q / w**2)
    squared = float(np.trace(covariance @ covariance))
    return variance, float(np.trace(covariance)) ** 2 / squared if squared > 0 else 1.0


def _student(variance: float, df: float) -> float:
    return float(student.ppf(0.975, df)) * math.sqrt(variance)


def plain_clusters(means: dict[str, PlainMean], instances: Sequence[str], *, draws: int, seed: int) -> list[list[str]]:
    """Clusters, best first: one starts where somebody of the last one is significantly better, two-sided at .05.

    Signs are the bits of the generator's bytes, eight in a byte and a row of whole bytes for each draw, one for each of
    the `instances` that both have, in their order.
    """
    order = sorted(means, key=lambda name: -means[name].mean)
    clusters: list[list[str]] = []
    for name in order:
        if not clusters or any(
            _p(means[member], means[name], instances, draws, seed) <= 0.05 for member in clusters[-1]
        ):
            clusters.append([])
        clusters[-1].append(name)
    return clusters


def _p(better: PlainMean, worse: PlainMean, instances: Sequence[str], draws: int, seed: int) -> float:
    """The paired permutation test on the instances that both were judged on."""
    shared = [i for i in instances if i in better.outputs and i in worse.outputs]
    if not shared:
        return 1.0
    differences = np.array([better.outputs[i] - worse.outputs[i] for i in shared])
    bits = np.frombuffer(np.random.default_rng(seed).bytes(draws * -(-len(shared) // 8)), np.uint8).reshape(draws, -1)
    reached = 1.0
    for row in bits:
        signs = 2.0 * np.unpackbits(row, count=len(shared)) - 1.0
        reached += abs(float(signs @ differences)) >= float(differences.sum()) - 1e-9
    return reached / (1 + draws) if differences.sum() > 0 else 1.0
