"""How many labelled instances give the ranking of generators that all labels give? Ours beside subset2evaluate.

A repetition takes three quarters of a board's instances at random as the population. Every selector orders them by
metrics' scores and texts alone; after each few instances the generators are ranked by the labels so far, and Kendall's
tau with the ranking by all labels of the population is taken. The peer ranks by the mean of the labels; ours by labels
and metric (`combined_standing`), and by the mean as well. Selectors of both get the same metrics. Printed: the mean tau
over budgets, and the labelled instances from which the mean tau over repetitions reaches .90 and .95 for good.

Then means from draws with known chances, over as many seeds: bias and coverage beside the mean of the worthiest.

Constants were chosen on wmt20-zh-en, which is not among them. That `gain` knows hard instances was decided after one
look at these boards (20 repetitions), so that it is not wholly blind to them.

    python benchmarks/selection.py --peer /path/to/python [--repetitions 200] [--only cnndm] [--work FOLDER]

The peer's interpreter needs subset2evaluate; what it answered is kept in the work folder, so that a run goes on where
it was. Its consistency is slow, so it is asked with the first two metrics only. Its selectors that need a model from a
hub (LM diversity, DiffUse, PreCOMET, sentinels) or a fork of py-irt and a GPU (DiffDisc) don't run here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import judged_matrix, look_at
from billboards.selectors import SELECTORS, Candidates
from billboards.stats.allocation import estimate_regression
from billboards.stats.selection import centred, chances_within, combined_standing, draw_systematic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: The share of a board's instances that is a repetition's population.
SHARE = 0.75
#: Metrics that both sides are given, as the boards name them.
METRICS = {
    "wmt23": ("MetricX-23-refA", "XCOMET-Ensemble-refA", "COMET-refA"),
    "cnndm": ("COMET", "COMET-QE", "BERTScore", "METEOR", "BLEURT", "ROUGE-L"),
    "summeval": ("ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "chrF", "TER", "abstractness-2"),
}
#: Ours that look at one metric, the default last.
OURS = ("variance", "difficulty", "consistency", "irt", "gain")
GOALS = (0.90, 0.95)


@dataclass(frozen=True, kw_only=True)
class Data:
    """Judged generators × instances of a board: people's scores, metrics' scores and texts."""

    name: str
    human: Floats
    scores: Floats
    metrics: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    generators: tuple[str, ...]
    #: Labels come in such steps.
    step: int


def load(name: str, data: Path, work: Path) -> Data:
    """The instances of a board that all judged generators have labels and texts of."""
    if name == "summeval":
        if not (work / name / "board.toml").exists():
            bb.save(bb.import_board("summeval", data / "summeval"), work / name)
        board = bb.open(work / name)
        bb.score(board)
    elif name == "cnndm":
        board = bb.import_board("billboard", data / "billboard", board="cnndm", judgments=data / "THumB")
    else:
        board = bb.import_board("mtme", data / "mtme_wmt23_en-de")
    matrix = judged_matrix(board, look_at(board).cells)
    human = matrix.human[matrix.judged]
    whole = np.isfinite(human).all(axis=0)
    scores = matrix.scores.values[:, matrix.judged][:, :, whole]
    named = [k for k in range(len(scores)) if np.isfinite(scores[k]).all()]
    rows = [row for row, judged in zip(board.rows, matrix.judged, strict=True) if judged]
    return Data(
        name=name,
        human=human[:, whole],
        scores=scores[named],
        metrics=tuple(matrix.scores.names[k] for k in named),
        texts=tuple(tuple(row.texts[k] or "" for k in np.flatnonzero(whole)) for row in rows),
        generators=tuple(row.name for row in rows),
        step=10 if whole.sum() > 200 else 5,
    )


def populations(data: Data, repetitions: int) -> list[Ints]:
    count = data.human.shape[1]
    return [
        np.sort(np.random.default_rng(seed).permutation(count)[: int(SHARE * count)]) for seed in range(repetitions)
    ]


def taus(standings: Floats, truth: Floats) -> Floats:
    """Kendall's tau-b of each row of standings with the truth."""
    first, second = np.triu_indices(len(truth), 1)
    of_rows = np.sign(np.round(standings[:, first] - standings[:, second], 9))
    of_truth = np.sign(np.round(truth[first] - truth[second], 9))
    pairs = np.sqrt((of_rows != 0).sum(axis=1) * (of_truth != 0).sum())
    return np.where(pairs > 0, (of_rows @ of_truth) / np.maximum(pairs, 1), 0.0)


def budgets(data: Data) -> list[int]:
    return list(range(data.step, int(0.8 * SHARE * data.human.shape[1]) + 1, data.step))


def by_mean(data: Data, population: Ints, order: Sequence[int]) -> Floats:
    """Tau after each budget, generators ranked by the mean of their labels."""
    human = data.human[:, population]
    sums = np.cumsum(human[:, list(order)], axis=1)
    at = budgets(data)
    return taus((sums[:, [n - 1 for n in at]] / at).T, human.mean(axis=1))


def by_both(data: Data, population: Ints, order: Sequence[int], metrics: Sequence[int]) -> Floats:
    """Tau after each budget, generators ranked by labels and the metric that is relied on at that budget."""
    human = data.human[:, population]
    rows = []
    for n, metric in zip(budgets(data), metrics, strict=True):
        labels = np.full(human.shape, np.nan)
        labels[:, list(order[:n])] = human[:, list(order[:n])]
        rows.append(combined_standing(labels, data.scores[metric][:, population]))
    return taus(np.array(rows), human.mean(axis=1))


def candidates(data: Data, population: Ints, metric: int, labels: Floats, *, texts: bool = False) -> Candidates:
    """One metric's scores of a population; texts only where somebody reads them."""
    return Candidates(
        scores=data.scores[metric : metric + 1][:, :, population],
        metrics=data.metrics[metric : metric + 1],
        metric=0,
        texts=data.texts if texts else (),
        labels=labels,
    )


def at_once(data: Data, population: Ints, selector: str, metric: int) -> list[int]:
    """All instances in the order of their worth before there are labels."""
    asked = candidates(data, population, metric, np.full((len(data.human), len(population)), np.nan))
    return list(map(int, np.argsort(-SELECTORS.load(selector)(asked), kind="stable")))


def in_batches(data: Data, population: Ints, choose: Callable[[Floats], int]) -> tuple[list[int], list[int]]:
    """Instances as `gain` takes them batch by batch, with the labels so far; and the metric relied on for each."""
    human = data.human[:, population]
    labels = np.full(human.shape, np.nan)
    order: list[int] = []
    relied: list[int] = []
    metric = choose(labels)
    for n in budgets(data):
        worth = SELECTORS.load("gain")(candidates(data, population, metric, labels)).copy()
        worth[order] = -1.0
        batch = np.argsort(-worth, kind="stable")[: n - len(order)].tolist()
        order += batch
        labels[:, batch] = human[:, batch]
        metric = choose(labels)
        relied.append(metric)
    return order, relied


def agreeing(data: Data, population: Ints, among: Sequence[int]) -> Callable[[Floats], int]:
    """The metric that agrees best with labels within instances; before there are any, with the other metrics."""
    if len(among) == 1:
        return lambda _: among[0]
    within = centred(data.scores[list(among)][:, :, population])
    size = np.sqrt((within**2).sum(axis=(1, 2)))
    alike = np.maximum(np.einsum("kgi,lgi->kl", within, within) / np.outer(size, size), 0)

    def choose(labels: Floats) -> int:
        people = np.nan_to_num(centred(labels))
        if not people.any():
            return among[int(np.argmax(alike.sum(axis=1)))]
        part = np.sqrt((within**2 * np.isfinite(labels)).sum(axis=(1, 2)))
        return among[int(np.argmax((within * people).sum(axis=(1, 2)) / np.maximum(part, 1e-12)))]

    return choose


def ours(data: Data, taken: Sequence[Ints]) -> dict[str, Floats]:
    """Tau by selector, repetitions × budgets."""
    curves: dict[str, list[Floats]] = {}

    def add(name: str, curve: Floats) -> None:
        curves.setdefault(name, []).append(curve)

    named = [data.metrics.index(name) for name in METRICS[data.name]]
    steps = len(budgets(data))
    everything = candidates(
        data, np.arange(data.human.shape[1]), named[0], np.full(data.human.shape, np.nan), texts=True
    )
    distances = SELECTORS.load("diversity")(everything)
    for seed, population in enumerate(taken):
        luck = np.random.default_rng(10_000 + seed).permutation(len(population)).tolist()
        add("random, mean", by_mean(data, population, luck))
        words = list(map(int, np.argsort(-distances[population], kind="stable")))
        for metric in named:
            called = data.metrics[metric]
            add(f"random, both {called}", by_both(data, population, luck, [metric] * steps))
            add(f"diversity, both {called}", by_both(data, population, words, [metric] * steps))
            for selector in OURS[:-1]:
                order = at_once(data, population, selector, metric)
                add(f"{selector}, both {called}", by_both(data, population, order, [metric] * steps))
                add(f"{selector}, mean {called}", by_mean(data, population, order))
            order, relied = in_batches(data, population, agreeing(data, population, [metric]))
            add(f"gain, both {called}", by_both(data, population, order, relied))
            add(f"gain, mean {called}", by_mean(data, population, order))
        order, relied = in_batches(data, population, agreeing(data, population, named))
        add("gain, both, metric by labels", by_both(data, population, order, relied))
    return {name: np.array(rows) for name, rows in curves.items()}


def peer(data: Data, taken: Sequence[Ints], python: Path, work: Path) -> dict[str, Floats]:
    """The same by the peer's orders, which are kept in the work folder."""
    methods = [["diversity unigram", "diversity", "unigram"], ["diversity BLEU", "diversity", "bleu"]]
    for place, metric in enumerate(METRICS[data.name]):
        asked_for = ("metric_var", "metric_avg", "metric_cons") if place < 2 else ("metric_var", "metric_avg")
        methods += [[f"{method} {metric}", method, metric] for method in asked_for]
    kept = work / f"peer-{data.name}-{len(taken)}.json"
    orders = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    items = [
        {
            "tgt": {name: data.texts[g][k] for g, name in enumerate(data.generators)},
            "scores": {
                name: {metric: float(data.scores[data.metrics.index(metric), g, k]) for metric in METRICS[data.name]}
                for g, name in enumerate(data.generators)
            },
        }
        for k in range(data.human.shape[1])
    ]
    for method in methods:
        if method[0] in orders:
            continue
        request = {"items": items, "methods": [method], "populations": [part.tolist() for part in taken]}
        asked = work / f"request-{data.name}.json"
        asked.write_text(json.dumps(request), "utf-8")
        script = Path(__file__).with_name("selection_peer.py")
        answered = subprocess.run([python, script, asked], check=True, capture_output=True, text=True).stdout
        orders |= json.loads(answered)
        kept.write_text(json.dumps(orders), "utf-8")
    return {
        name: np.array([by_mean(data, part, order) for part, order in zip(taken, of_method, strict=True)])
        for name, of_method in orders.items()
    }


def needed(curves: Floats, data: Data, goal: float) -> str:
    """The labelled instances from which the mean tau stays at the goal or above."""
    mean = curves.mean(axis=0)
    low = np.flatnonzero(mean < goal)
    at = budgets(data)
    place = 0 if not len(low) else int(low[-1]) + 1
    return str(at[place]) if place < len(at) else f">{at[-1]}"


def lines(data: Data, curves: dict[str, Floats]) -> Iterator[str]:
    ordered = sorted(curves.items(), key=lambda item: -item[1].mean())
    for name, curve in ordered:
        error = curve.mean(axis=1).std(ddof=1) / np.sqrt(len(curve))
        yield f"  {name:44} {curve.mean():.3f} ±{error:.3f} " + " ".join(
            f"{needed(curve, data, goal):>6}" for goal in GOALS
        )


def unbiased(data: Data, draws: int) -> Iterator[str]:
    """Means of every generator from a fifth of the instances: by draws with known chances, and from the worthiest."""
    metric = data.metrics.index(METRICS[data.name][0])
    everyone = np.arange(data.human.shape[1])
    asked = candidates(data, everyone, metric, np.full(data.human.shape, np.nan))
    worth = SELECTORS.load("gain")(asked)
    count, truth = len(everyone) // 5, data.human.mean(axis=1)
    chances = chances_within(worth, np.ones(len(worth)), float(count))
    estimates = {name: np.empty((draws, len(truth), 3)) for name in ("with the metric", "weighted labels alone")}
    plain = np.empty((draws, len(truth)))
    for seed in range(draws):
        drawn = draw_systematic(chances, seed=seed)
        labels = np.full(data.human.shape, np.nan)
        labels[:, drawn] = data.human[:, drawn]
        plain[seed] = data.human[:, drawn].mean(axis=1)
        for name, values in estimates.items():
            for g in range(len(truth)):
                scores = data.scores[metric][g] if name == "with the metric" else None
                mean = estimate_regression(labels[g], chances, metric=scores)
                values[seed, g] = mean.mean, mean.low, mean.high
    yield f"  {count} of {len(worth)} instances, {draws} draws, {METRICS[data.name][0]}; people's scores are on 0-100"
    for name, values in estimates.items():
        bias = values[:, :, 0].mean(axis=0) - truth
        covered = ((values[:, :, 1] <= truth) & (truth <= values[:, :, 2])).mean()
        spread = values[:, :, 0].std(axis=0).mean()
        chance = np.sqrt(2 / np.pi) * spread / np.sqrt(draws)
        yield (
            f"  {name:24} mean |bias| {np.abs(bias).mean():.3f} ({chance:.3f} by the luck of {draws} draws), "
            f"standard deviation {spread:.3f}, 95% intervals cover {covered:.1%}"
        )
    top = data.human[:, np.argsort(-worth, kind="stable")[:count]].mean(axis=1)
    yield f"  {'plain mean of the draws':24} mean |bias| {np.abs(plain.mean(axis=0) - truth).mean():.3f}"
    yield f"  {'mean of the worthiest':24} mean |bias| {np.abs(top - truth).mean():.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, metavar="PYTHON", help="an interpreter that has subset2evaluate")
    parser.add_argument("--repetitions", type=int, default=200, help="populations of each board (default 200)")
    parser.add_argument("--only", metavar="BOARD", choices=list(METRICS), help="one of the boards")
    parser.add_argument("--work", type=Path, default=Path("build/selection"), help="where the peer's orders are kept")
    options = parser.parse_args()
    data = shared_data()
    if data is None:
        raise SystemExit("the human-evaluation data are absent: set BILLBOARDS_SHARED, or put shared/ beside this")
    options.work.mkdir(parents=True, exist_ok=True)
    for name in METRICS if options.only is None else (options.only,):
        begun = time.perf_counter()
        board = load(name, data, options.work)
        taken = populations(board, options.repetitions)
        print(
            f"{name}: {len(board.human)} generators, {len(taken[0])} of {board.human.shape[1]} instances, "
            f"{len(taken)} repetitions; mean tau over budgets, instances for tau {GOALS[0]:.2f} and {GOALS[1]:.2f}"
        )
        print(*lines(board, ours(board, taken)), sep="\n")
        print(f"  {time.perf_counter() - begun:.0f} s", flush=True)
        if options.peer is not None:
            print("  -- subset2evaluate")
            print(*lines(board, peer(board, taken, options.peer, options.work)), sep="\n")
        print("  -- means")
        print(*unbiased(board, options.repetitions), sep="\n")
        print(f"  {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
