"""Families of ensembles on four real boards, on simulated truth, and beside plain loops of scikit-learn.

Every family predicts judged outputs of generators, of documents, or of both at once that its fit has not seen; each
generator is held out alone, documents in five groups. All settings are chosen inside the training part. `held` is the
share of people's values inside 95% intervals whose errors come from other generators and other documents.

    python benchmarks/ensembles.py [--only cnndm] [--family stacking]
    python benchmarks/ensembles.py --simulate 200     what is shown beside what is true, on simulated boards
    python benchmarks/ensembles.py --peer             the same loops in scikit-learn, with seconds and the ratio
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._families import TRIED, Learning, learning_of
from billboards.analyses._view import judged_matrix, only_rows
from billboards.board import Slice
from billboards.board.cells import MemoryCells
from billboards.board.missing_cells import score_board
from billboards.ensembles import FAMILIES
from billboards.ensembles._choosing import choose_family
from billboards.ensembles._held_out import SCHEMES, Judged, fit_family, parts_of, pearson, predict_held_out
from billboards.ensembles._inputs import expanded, make_cells
from billboards.ensembles._intervals import coverage
from billboards.ensembles.ridge import GROUPS, PENALTIES
from billboards.metrics.discovery import installed_metric
from billboards.metrics.kernels.boosting import Growth, fit_trees
from billboards.run.local import executor

Floats = NDArray[np.float64]

#: Each generator is held out alone.
ALONE = 10_000
LEXICAL = ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-3", "ROUGE-L")


def boards(data: Path, only: str) -> Iterator[tuple[str, Learning]]:
    """Boards as families see them, with the columns that were released; SummEval with own lexical ones."""
    makers: dict[str, Callable[[], bb.Board]] = {
        "wmt20-zh-en": lambda: bb.import_board(
            "billboard", data / "billboard", board="wmt20-zh-en", judgments=data / "wmt-mqm-human-evaluation"
        ),
        "cnndm": lambda: bb.import_board("billboard", data / "billboard", board="cnndm", judgments=data / "THumB"),
        "wmt23-en-de": lambda: bb.import_board("mtme", data / "mtme_wmt23_en-de"),
        "summeval": lambda: bb.import_board("summeval", data / "summeval"),
    }
    for name, make in makers.items():
        if name.startswith(only):
            board, store = make(), MemoryCells()
            if not board.imported:
                score_board(board, store, [installed_metric(metric) for metric in LEXICAL], executor(1))
            view = judged_matrix(board, store)
            generators = np.array([row.generator is not None for row in board.rows], bool)
            yield name, learning_of(board, view.scores, only_rows(view.judged_human, generators), Slice())


def study(name: str, learning: Learning, only: str) -> None:
    """Print what each family reaches on one board."""
    judged = learning.judged
    generators, documents = (len(np.unique(values)) for values in (judged.generator, judged.document))
    size = f"{judged.metrics} metrics, {len(judged.target):,} outputs, {generators} generators, {documents} documents"
    print(f"\n{name}: {size}")
    best = max(pearson(judged.table[:, k], judged.target) for k in range(judged.metrics))
    print(f"  best metric alone {best:.3f}")
    print(f"  {'family':12} {'both':>6} {'generators':>11} {'documents':>10} {'held':>6} {'seconds':>8}")
    for family in sorted(FAMILIES.own, key=lambda family: (not FAMILIES.load(family).small, family)):
        if not family.startswith(only):
            continue
        begun = time.perf_counter()
        held_out = {s: predict_held_out(FAMILIES.load(family), judged, s, most_generators=ALONE) for s in SCHEMES}
        seconds = time.perf_counter() - begun
        reached = {scheme: predictions.correlation(judged) for scheme, predictions in held_out.items()}
        inside = coverage(held_out["both"], judged, parts_of(judged, "both", most_generators=ALONE))
        print(
            f"  {family:12} {reached['both']:6.3f} {reached['generators']:11.3f} {reached['documents']:10.3f} "
            f"{inside:6.1%} {seconds:8.1f}",
            flush=True,
        )


class World:
    """Generators and documents of their own quality, and metrics that see some of it; people bend what is good."""

    def __init__(self, seed: int, *, generators: int = 8, documents: int = 30, each: int = 2, metrics: int = 6) -> None:
        self.random = np.random.default_rng(seed)
        self.generators, self.documents, self.each = generators, documents, each
        self.sees = self.random.uniform(0.1, 0.8, metrics)
        self.bent = self.random.uniform(0, 1)
        self.own = self.random.normal(size=(generators, 1))

    def judged(self, *, new: bool) -> Judged:
        """Outputs of the board's generators, or (`new`) of as many new ones, in new documents."""
        random, instances = self.random, self.documents * self.each
        difficulty = np.repeat(random.normal(size=self.documents), self.each)
        quality = np.concatenate([self.own, random.normal(size=self.own.shape)]) + difficulty
        quality = quality + random.normal(size=quality.shape)
        scores = [sees * quality + random.normal(size=quality.shape) for sees in self.sees]
        human = 10 * ((1 - self.bent) * quality + self.bent * np.tanh(2 * quality)) + 8 * random.normal(
            size=quality.shape
        )
        among = np.arange(len(quality)) < self.generators
        cells = make_cells(scores, np.zeros_like(quality) + random.normal(size=quality.shape), among)
        rows, places = np.nonzero(np.repeat((among != new)[:, None], instances, axis=1))
        return Judged(
            table=cells.at(rows, places), target=human[rows, places], generator=rows, document=places // self.each
        )


def simulate(count: int) -> None:
    """Print what a choice shows of itself beside what is true of it."""
    differences, chosen, begun = [], dict.fromkeys(TRIED, 0), time.perf_counter()
    for seed in range(count):
        world = World(seed)
        judged = world.judged(new=False)
        predicted = {name: predict_held_out(FAMILIES.load(name), judged).predicted for name in TRIED}
        choice = choose_family(judged, {name: partial(np.asarray, values) for name, values in predicted.items()})
        chosen[choice.name] += 1
        fitted = fit_family(FAMILIES.load(choice.name), judged)
        fresh = [world.judged(new=True) for _ in range(20)]
        truth = np.mean([pearson(fitted.predict(other.table), other.target) for other in fresh])
        differences.append(choice.reached[choice.name] - truth)
        if (seed + 1) % 20 == 0:
            mean, error = np.mean(differences), np.std(differences) / np.sqrt(len(differences))
            print(f"  {seed + 1} boards: shown less true {mean:+.4f} (standard error {error:.4f})", flush=True)
    names = ", ".join(f"{name} {times}" for name, times in chosen.items())
    print(f"simulated: {count} boards, chosen: {names}; {time.perf_counter() - begun:.0f} s")


def peer(name: str, learning: Learning) -> None:
    """Print our loops beside scikit-learn's: the same predictions, and the seconds."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import Ridge

    judged = learning.judged
    parts = parts_of(judged, "both", most_generators=ALONE)[:10]
    inputs = expanded(judged.table, items=True)
    begun = time.perf_counter()
    ours = np.concatenate(
        [fit_family(FAMILIES.load("ridge"), judged.only(p.seen)).predict(judged.table[p.held]) for p in parts]
    )
    own_seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    theirs = np.concatenate([_plain_ridge(Ridge, inputs, judged, part.seen, part.held) for part in parts])
    seconds = time.perf_counter() - begun
    print(f"{name}, nested ridge, {len(parts)} parts: {_beside(own_seconds, seconds)}")
    print(f"  predictions differ by at most {np.abs(ours - theirs).max():.1e}", flush=True)
    growth = Growth(trees=200, leaves=8, fewest=20, rate=0.05)
    free = np.zeros(inputs.shape[1], np.int32)
    begun = time.perf_counter()
    ours = fit_trees(inputs, judged.target, free, growth).predict(inputs)
    own_seconds = time.perf_counter() - begun
    begun = time.perf_counter()
    plain = HistGradientBoostingRegressor(
        max_iter=200, max_leaf_nodes=8, min_samples_leaf=20, learning_rate=0.05, max_bins=64, early_stopping=False
    )
    theirs = plain.fit(inputs, judged.target).predict(inputs)
    seconds = time.perf_counter() - begun
    print(f"{name}, 200 trees: {_beside(own_seconds, seconds)}")
    print(f"  predictions correlate {np.corrcoef(ours, theirs)[0, 1]:.4f}", flush=True)


def _beside(ours: float, theirs: float) -> str:
    return f"ours {ours:.2f} s, scikit-learn {theirs:.2f} s, {theirs / ours:.1f} times"


def _plain_ridge(
    ridge: type, inputs: Floats, judged: Judged, seen: NDArray[np.bool_], held: NDArray[np.bool_]
) -> Floats:
    """Nested ridge as one writes it: a refit for every penalty and every group."""
    from billboards.ensembles._family import dealt

    values, target = inputs[seen], judged.target[seen]
    mean, spread = values.mean(axis=0), values.std(axis=0)
    values, level = (values - mean) / spread, target.mean()
    rows, columns = dealt(judged.generator[seen], GROUPS, 0), dealt(judged.document[seen], GROUPS, 0)
    reached = []
    for penalty in PENALTIES:
        predicted = np.zeros(len(target))
        for row in range(GROUPS):
            for column in range(GROUPS):
                out, rest = (rows == row) & (columns == column), (rows != row) & (columns != column)
                model = ridge(alpha=penalty * rest.sum(), fit_intercept=False)
                predicted[out] = model.fit(values[rest], target[rest] - level).predict(values[out])
        reached.append(np.corrcoef(predicted, target)[0, 1])
    best = PENALTIES[int(np.argmax(reached))]
    model = ridge(alpha=best * len(target), fit_intercept=False).fit(values, target - level)
    return np.asarray(level + model.predict((inputs[held] - mean) / spread))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="BOARD", help="one of the boards, by the beginning of its name")
    parser.add_argument("--family", default="", help="one of the families, by the beginning of its name")
    parser.add_argument("--simulate", type=int, metavar="N", help="simulated boards instead")
    parser.add_argument("--peer", action="store_true", help="scikit-learn's loops beside ours instead")
    options = parser.parse_args()
    if options.simulate:
        simulate(options.simulate)
        return
    data = shared_data()
    if data is None:
        raise SystemExit("the human-evaluation data are absent: set BILLBOARDS_SHARED, or put shared/ beside this")
    for name, learning in boards(data, options.only):
        if options.peer:
            peer(name, learning)
        else:
            study(name, learning, options.family)


if __name__ == "__main__":
    main()
