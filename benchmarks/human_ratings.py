"""Studies of people's ratings on real data and on made-up campaigns whose truth is known; docs/ratings.md quotes them.

    python benchmarks/human_ratings.py [folder of the shared data]

GENIE's designs on cnndm's crowd and on ASSET; severity on made-up campaigns, on ESA and on WMT21; labels drawn where
they say most; Dawid-Skene and MACE against the majority; whether doubtful ratings are those that others contradict.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

from billboards.analyses.ratings._ratings import RatingColumns, TableColumns, table_ratings
from billboards.analyses.ratings.designs import study_designs
from billboards.analyses.ratings.doubts import find_implausible
from billboards.api.boards import import_board
from billboards.board import Dimension, human_scores
from billboards.stats.aggregation import METHODS, aggregate_ratings
from billboards.stats.allocation import (
    combine_batches,
    draw_items,
    estimate_weighted,
    inclusion_probabilities,
    residual_spread,
)
from billboards.stats.estimate import estimate_mean
from billboards.stats.ratings import ratings_in_columns
from billboards.stats.severity import correct_severity

Floats = NDArray[np.float64]


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else shared_data()
    if data is None:
        sys.exit("no shared data; name its folder")
    designs("cnndm's crowd", crowd_of_cnndm(data))
    asset = TableColumns(
        ("original_sentence_id", "simplification"), "rating", "worker_id", None, "aspect", None, (0, 100)
    )
    designs("ASSET", table_ratings(data / "asset" / "human_ratings.csv", asset))
    simulated_severity()
    severity_on_esa(data)
    severity_on_wmt21(data)
    drawing()
    drawing_in_two_batches()
    aggregating()
    doubting(data)


def crowd_of_cnndm(data: Path) -> Mapping[str, RatingColumns]:
    """The crowd's ratings of 16 summarisers on 1-5, by dimension."""
    found: dict[str, list[tuple[str, str, float]]] = {}
    for line in (data / "THumB" / "cnndm" / "cnndm_THumB-1.0.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for rating in row["turker_annotations"] if isinstance(row["turker_annotations"], list) else ():
            for name, value in rating.items():
                found.setdefault(name, []).append((row["SYS"], row["seg_id"], float(value)))
    return {name: _columns(name, rows) for name, rows in found.items()}


def _columns(name: str, rows: list[tuple[str, str, float]]) -> RatingColumns:
    systems, generator = np.unique([row[0] for row in rows], return_inverse=True)
    instance = np.unique([row[1] for row in rows], return_inverse=True)[1]
    unknown = np.full(len(rows), -1)
    return RatingColumns(
        source="cnndm",
        dimension=Dimension(name, range=(1.0, 5.0)),
        output=generator * (instance.max() + 1) + instance,
        instance=instance,
        generator=generator,
        annotator=unknown,
        campaign=unknown,
        value=np.array([row[2] for row in rows]),
        time=np.full(len(rows), np.nan),
        generators=tuple(systems),
        annotators=(),
    )


def designs(title: str, sources: Mapping[str, RatingColumns]) -> None:
    print(f"\n{title}: standard deviation of the score, 500 rounds")
    study = study_designs(sources.values())
    for one in study.designs:
        separation = "" if one.separation is None else f"  separation {one.separation:.2f}"
        print(
            f"  {one.dimension:12} {one.scale:11} {one.aggregation:9} {one.labels}  {one.sd:.4f}  as in the paper "
            f"{one.fixed_sd:.4f}  halves {one.days:.4f}{separation}"
        )
    for claim in dict.fromkeys(one.claim for one in study.findings):
        holds = [one.dimension for one in study.findings if one.claim == claim and one.holds]
        print(f"  {claim}: {len(holds)} of {len(sources)} dimensions ({', '.join(holds)})")


def simulated_severity(campaigns: int = 100) -> None:
    """Annotators of known severity and drift who favour some generators: errors of means, plain and corrected."""
    errors: dict[str, list[float]] = {"plain": [], "z-scored": [], "corrected": []}
    covered, alike = [], []
    for seed in range(campaigns):
        random = np.random.default_rng(seed)
        quality, severity, drift = random.normal(60, 4, 8), random.normal(0, 8, 20), random.normal(0, 5, 20)
        annotator, instance = np.repeat(np.arange(20), 60), random.integers(0, 200, 1200)
        generator = np.concatenate([random.choice(8, 60, p=random.dirichlet(np.full(8, 0.7))) for _ in range(20)])
        position = (np.tile(np.arange(60), 20) - 29.5) / 100
        value = quality[generator] + random.normal(0, 6, 200)[instance] - severity[annotator]
        value += drift[annotator] * position + random.normal(0, 10, 1200)
        fit = correct_severity(value, generator, instance, annotator)
        truth = quality - quality.mean()
        standardised = _by_group(_z(value, annotator), generator) * value.std()
        for name, means in (("plain", fit.raw), ("z-scored", standardised), ("corrected", fit.means)):
            errors[name].append(float(((means - means.mean() - truth) ** 2).mean()))
        centre = np.eye(8) - 1 / 8
        spread = np.sqrt(np.diag(centre @ fit.covariance @ centre))
        covered.append(np.abs(fit.means - fit.means.mean() - truth) < 1.96 * spread)
        alike.append(np.corrcoef(fit.severity, severity)[0, 1])
    print(f"\nMade-up campaigns ({campaigns}): root mean square error of generators' means")
    print("  " + ", ".join(f"{name} {np.sqrt(np.mean(some)):.2f}" for name, some in errors.items()))
    print(f"  severity found: r = {np.mean(alike):.3f}; 95% intervals cover {np.mean(covered):.1%}")


def severity_on_esa(data: Path) -> None:
    """ESA's 33 annotators: system means against MQM, with all of them and with a few."""
    rows = [
        row for row in _csv(data / "esa_campaign" / "240315rc5ESA.scores.csv") if row[3] == "TGT" and row[8] == "False"
    ]
    rows = [row for row in rows if row[1].startswith("wmt23.")]
    systems, generator = np.unique([row[1].removeprefix("wmt23.") for row in rows], return_inverse=True)
    annotator = np.unique([row[0] for row in rows], return_inverse=True)[1]
    document = np.unique([row[7].split("#")[0] for row in rows], return_inverse=True)[1]
    value, time = np.array([float(row[6]) for row in rows]), np.array([float(row[10]) for row in rows])
    gold = _system_scores(data / "mtme_wmt23_en-de" / "human-scores" / "en-de.mqm.sys.score")
    print(f"\nESA campaign, {len(rows):,} ratings by {annotator.max() + 1} annotators: Pearson with MQM over systems")
    everyone = np.ones(len(rows), bool)
    print("  everyone: " + _against(gold, systems, value, generator, document, annotator, time, everyone))
    random = np.random.default_rng(0)
    few = [np.isin(annotator, random.permutation(annotator.max() + 1)[:8]) for _ in range(40)]
    found = np.array([_correlations(gold, systems, value, generator, document, annotator, time, one) for one in few])
    plain, z, corrected = found.mean(axis=0)
    print(f"  8 annotators, mean of 40 draws: plain {plain:.3f}, z-scored {z:.3f}, corrected {corrected:.3f}")


def severity_on_wmt21(data: Path) -> None:
    """WMT21 de-en: the released ratings are z-scored by worker, so nothing of severity should be left."""
    lines = (data / "wmt21_deen_da" / "ad-deen-good-stnd-redup.csv").read_text(encoding="utf-8").splitlines()
    rows = [row for row in (line.split("\t") for line in lines[1:]) if row[8] == "SYSTEM"]
    systems, generator = np.unique([row[6] for row in rows], return_inverse=True)
    annotator = np.unique([row[1] for row in rows], return_inverse=True)[1]
    instance = np.unique([row[9] for row in rows], return_inverse=True)[1]
    value = np.array([float(row[10]) for row in rows])
    fit = correct_severity(value, generator, instance, annotator, drift=False)
    print(f"\nWMT21 de-en, {len(rows):,} z-scored ratings by {annotator.max() + 1} workers: Pearson with the published")
    table = [line.split() for line in (data / "wmt21_deen_da" / "ad-sys-scores-de-en.csv").read_text().splitlines()[1:]]
    for name, place in (("RAW.SCR", 0), ("Z.SCR", 1)):
        gold = {row[3]: float(row[place]) for row in table}
        published = np.array([gold[system] for system in systems])
        plain, corrected = (np.corrcoef(means, published)[0, 1] for means in (fit.raw, fit.means))
        print(f"  {name}: plain {plain:.4f}, corrected {corrected:.4f}")
    deviations = np.sqrt(fit.annotator_variance), np.sqrt(fit.residual_variance)
    print("  standard deviation of workers' severity {:.3f}, of what is left {:.3f}".format(*deviations))


def drawing(draws: int = 4000) -> None:
    """60 of 400 labels, drawn evenly or where a metric errs most; errors that differ by a factor of 5, 2 or 1."""
    print(f"\nLabels drawn where they say most ({draws:,} draws of 60 of 400)")
    for factor in (5.0, 2.0, 1.0):
        random = np.random.default_rng(0)
        score = random.normal(0, 1, 400)
        spread = np.where(score < -0.5, 5 * factor, 5.0)
        human = 60 + 8 * score + random.normal(0, 1, 400) * spread
        chances = inclusion_probabilities(spread, 60)
        wise, even, covered = [], [], []
        for seed in range(draws):
            drawn, some = draw_items(chances, seed=seed), random.permutation(400)[:60]
            found = estimate_weighted(_only(human, drawn), chances, prediction=60 + 8 * score)
            wise.append(found.mean - human.mean())
            covered.append(found.low <= human.mean() <= found.high)
            even.append(estimate_mean(score, _only(human, some)).mean - human.mean())
        gain = np.var(even) / np.var(wise)
        print(
            f"  errors 1:{factor:g}: bias {np.mean(wise):+.3f}, standard deviation {np.std(wise):.2f} against "
            f"{np.std(even):.2f} (worth {60 * gain:.0f} labels), 95% intervals cover {np.mean(covered):.1%}"
        )


def drawing_in_two_batches(draws: int = 2000) -> None:
    """30 labels drawn evenly, and 30 more where the first ones found the metric to err most."""
    random = np.random.default_rng(0)
    score = random.normal(0, 1, 400)
    human = 60 + 8 * score + random.normal(0, 1, 400) * np.where(score < -0.5, 25.0, 5.0)
    wise, even, covered = [], [], []
    for seed in range(draws):
        first = random.permutation(400)
        certain = np.isin(np.arange(400), first[:30])
        slope, start = np.polyfit(score[certain], human[certain], 1)
        prediction = start + slope * score
        spread = residual_spread(score, score[certain], (human - prediction)[certain])
        chances = inclusion_probabilities(spread, 30, certain=certain)
        both = np.concatenate((first[:30], draw_items(chances, certain=certain, seed=seed)))
        before = estimate_mean(score, _only(human, first[:30]))
        found = estimate_weighted(_only(human, both), chances, prediction=prediction)
        found = combine_batches(before.mean, before.se, found)
        wise.append(found.mean - human.mean())
        covered.append(found.low <= human.mean() <= found.high)
        even.append(estimate_mean(score, _only(human, first[:60])).mean - human.mean())
    print(
        f"  errors 1:5, learned from the first 30: standard deviation {np.std(wise):.2f} against {np.std(even):.2f}, "
        f"95% intervals cover {np.mean(covered):.1%}"
    )


def aggregating(crowds: int = 5) -> None:
    """200 units of five values, five labels each; 12 of 20 annotators guess."""
    right: dict[str, list[float]] = {method: [] for method in METHODS if method != "mean"}
    for seed in range(crowds):
        random = np.random.default_rng(seed)
        truth, unit = random.integers(0, 5, 200) / 4, np.repeat(np.arange(200), 5)
        annotator = np.concatenate([random.permutation(20)[:5] for _ in range(200)])
        knows = random.random(1000) < np.where(annotator < 8, 0.9, 0.0)
        value = np.where(knows, truth[unit], random.integers(0, 5, 1000) / 4)
        for method in METHODS[1:]:
            found = aggregate_ratings(ratings_in_columns(unit, annotator, value), method)
            right[method].append(float((found.value == truth).mean()))
    print("\nSeveral labels made one, 12 of 20 annotators guessing: share of units that come out right")
    print("  " + ", ".join(f"{method} {np.mean(some):.1%}" for method, some in right.items()))


def doubting(data: Path) -> None:
    """Do the other two experts contradict a rating that the ensemble doubts more than one that is merely extreme?"""
    folder = data / "THumB" / "cnndm"
    board = import_board(
        "billboard", data / "billboard", board="cnndm", judgments=folder, references=folder / "cnndm_references.jsonl"
    )
    means = human_scores(board.judgments, board.aggregate(), board.dimensions, (len(board.rows), len(board.instances)))
    study = find_implausible(board, None, shown=len(board.judgments))
    places = [(board.row_position[one.generator], board.position[one.instance]) for one in study.implausible]
    value = np.array([one.value for one in study.implausible])
    others = (3 * np.array([means[place] for place in places]) - value) / 2
    apart = np.abs(value - others)
    extreme = np.argsort(-np.abs(value - value.mean()), kind="stable")[:100]
    print("\nDoubtful ratings of cnndm's experts: distance from the other two experts, on 0-100")
    print(
        f"  the 100 most doubted {apart[:100].mean():.1f}, the 100 most extreme {apart[extreme].mean():.1f}, "
        f"all {len(apart):,} {apart.mean():.1f}"
    )


def _only(values: Floats, places: NDArray[np.int64]) -> Floats:
    labels = np.full(len(values), np.nan)
    labels[places] = values[places]
    return labels


def _z(value: Floats, annotator: NDArray[np.int64]) -> Floats:
    count = np.bincount(annotator)
    centred = value - (np.bincount(annotator, value) / count)[annotator]
    return np.asarray(centred / np.sqrt(np.bincount(annotator, centred**2) / count)[annotator], float)


def _by_group(value: Floats, group: NDArray[np.int64]) -> Floats:
    return np.asarray(np.bincount(group, value) / np.bincount(group), float)


def _csv(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def _system_scores(path: Path) -> dict[str, float]:
    pairs = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {name: float(score) for name, score in pairs if score != "None"}


def _correlations(
    gold: Mapping[str, float],
    systems: NDArray[np.str_],
    value: Floats,
    generator: NDArray[np.int64],
    document: NDArray[np.int64],
    annotator: NDArray[np.int64],
    time: Floats,
    chosen: NDArray[np.bool_],
) -> tuple[float, float, float]:
    """Pearson with the gold scores of plain, z-scored and corrected means of the chosen ratings."""
    (names, g), (_, d), (_, a) = (
        np.unique(one[chosen], return_inverse=True) for one in (generator, document, annotator)
    )
    fit = correct_severity(value[chosen], g, d, a, time=time[chosen])
    judged = np.array([systems[k] in gold for k in names])
    published = np.array([gold[systems[k]] for k in names[judged]])
    means = (fit.raw, _by_group(_z(value[chosen], a), g), fit.means)
    plain, z, corrected = (float(np.corrcoef(one[judged], published)[0, 1]) for one in means)
    return plain, z, corrected


def _against(gold: Mapping[str, float], systems: NDArray[np.str_], *columns: NDArray[np.generic]) -> str:
    found = _correlations(gold, systems, *columns)  # type: ignore[arg-type]
    return "plain {:.4f}, z-scored {:.4f}, corrected {:.4f}".format(*found)


if __name__ == "__main__":
    main()
