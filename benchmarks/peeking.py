"""How often looking after each label misleads, and what stopping early saves.

False alarms: campaigns of equal generators are looked at after each complete instance. An alarm is an interval of their
difference that leaves 0 out (ordinary: Student's t from ten instances on; sequence: by betting), or with several pairs
a decision by e-BH; for one pair these are the same.
Ratings are simulated on 0-100 and on 1-5, and taken from real campaigns whose two generators change places by chance on
each instance, so that they are equal by design. Metrics and annotators are looked at in the same way.

Labels saved: real judgments are replayed instance by instance in random orders. A generator that is told apart from all
others is asked about no more. What is decided is held against the means of all labels of the campaign. Beside stand
ordinary intervals used in the same way, and the fixed-size test (t-tests with Benjamini-Hochberg at the same 5%) that
decides as many pairs: the labels that would do if one knew the right number before.

    python benchmarks/peeking.py [--campaigns 1000] [--orders 40]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray
from scipy.stats import t as student

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.analyses.estimate import scale_ends
from billboards.stats.annotators import FIXED_2, AnnotatorModel, is_noisy, posterior
from billboards.stats.correlation import instance_sums, pearson_of_sums
from billboards.stats.sequences import confidence_sequence, log_evidence, log_evidence_of_error
from billboards.stats.watching import cells_by_unit, watch_pairs
from billboards.stats.watching_metrics import pearson_gradient, watch_correlations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
LEVEL = 0.05
#: Ordinary intervals are looked at from so many instances on.
FIRST = 10
INSTANCES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=1000, help="simulated campaigns (default 1000)")
    parser.add_argument("--orders", type=int, default=40, help="random orders of each real campaign (default 40)")
    chosen = parser.parse_args()
    data = shared_data()
    if data is None:
        sys.exit("the human-evaluation data are absent: set BILLBOARDS_SHARED or put shared/ beside the checkout")
    real = dict(_real(data))
    _false_alarms(real, chosen.campaigns)
    _many_generators(chosen.campaigns)
    _equal_metrics(chosen.campaigns)
    _annotators(chosen.campaigns)
    _widths()
    _pairs_alone(real, chosen.orders)
    _savings(real, chosen.orders)


def _real(data: Path) -> Iterator[tuple[str, Floats]]:
    """Real campaigns as generators × instances on 0-1, those instances that all generators have."""
    summeval = bb.import_board("summeval", data / "summeval")
    yield "SummEval experts (1-5)", _on_unit(summeval)
    chinese = bb.import_board(
        "billboard",
        data / "billboard",
        board="wmt20-zh-en",
        judgments=data / "wmt-mqm-human-evaluation",
        references=data / "wmt20_references",
    )
    yield "WMT20 zh-en MQM (0-25)", _on_unit(chinese)
    yield "WMT23 en-de ESA (0-100)", _esa(data / "esa_campaign" / "en-de.ESA-1.seg.score")


def _on_unit(board: bb.Board) -> Floats:
    matrix = judged_matrix(board, None)
    ends = scale_ends(board, board.aggregate(None))
    assert ends is not None
    values = (matrix.human[matrix.judged] - ends[0]) / (ends[1] - ends[0])
    return _complete(np.clip(values, 0, 1))


def _esa(path: Path) -> Floats:
    rows: dict[str, list[float]] = {}
    for line in path.read_text("utf-8").splitlines():
        name, score = line.split("\t")
        rows.setdefault(name, []).append(np.nan if score == "None" else float(score) / 100)
    return _complete(np.array(list(rows.values())))


def _complete(values: Floats) -> Floats:
    return values[:, np.isfinite(values).all(axis=0)]


def _rated(random: np.random.Generator, generators: int, levels: int) -> Floats:
    """Equal generators: instances differ in difficulty, annotators in what they see; ratings pile up at the top."""
    latent = 0.75 + random.normal(0, 0.2, INSTANCES) + random.normal(0, 0.25, (generators, INSTANCES))
    return np.asarray(np.clip(np.round(latent * (levels - 1)) / (levels - 1), 0, 1))


def _swapped(values: Floats) -> Callable[[np.random.Generator], Floats]:
    """Two real generators that change places by chance on each instance, in a random order of instances."""

    def draw(random: np.random.Generator) -> Floats:
        pair = values[random.choice(len(values), 2, replace=False)]
        order = random.permutation(values.shape[1])[:INSTANCES]
        turned = random.random(len(order)) < 0.5
        return np.where(turned, pair[::-1, order], pair[:, order])

    return draw


def _ordinary_p(differences: Floats) -> Floats:
    """The p-value of the paired t-test after each instance (along the last axis), 1 before the first look."""
    n = np.arange(1, differences.shape[-1] + 1)
    mean = np.cumsum(differences, axis=-1) / n
    spread = np.cumsum(differences**2, axis=-1) / n - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.abs(mean) / np.sqrt(np.maximum(spread, 0) / (n - 1))
        p = np.where(spread > 1e-12, 2 * student.sf(score, np.maximum(n - 1, 1)), 1.0)
    return np.where(n >= FIRST, p, 1.0)


def _decided_at(values: Floats, *, pool: int | None = None) -> tuple[Ints, Bools]:
    """When each pair is decided by e-BH, instance by instance (0 for never), and whether for the first."""
    cells = cells_by_unit(values, np.ones(values.shape, np.int64), range(values.shape[1]))
    decisions = watch_pairs(cells, np.isfinite(values), level=LEVEL, pool=pool).decisions
    return decisions.decided_at, decisions.first_is_better


def _false_alarms(real: dict[str, Floats], campaigns: int) -> None:
    print(f"\nfalse alarms in {campaigns:,} campaigns of two equal generators, looked at after each of their instances")
    print(f"{'ratings':<32}{'instances':>10}{'once':>9}{'ordinary':>10}{'sequence':>10}{'seconds':>9}")
    sources: dict[str, Callable[[np.random.Generator], Floats]] = {
        "simulated, 0-100": lambda random: _rated(random, 2, 101),
        "simulated, 1-5": lambda random: _rated(random, 2, 5),
    }
    sources |= {f"{name}, swapped": _swapped(values) for name, values in real.items()}
    for name, draw in sources.items():
        start = time.perf_counter()
        random = np.random.default_rng(1)
        alarms = np.zeros((campaigns, 3), bool)
        for run in range(campaigns):
            values = draw(random)
            difference = values[0] - values[1]
            p = _ordinary_p(difference)
            share = (difference + 1) / 2
            evidence = max(log_evidence(share, 0.5).max(), log_evidence(1 - share, 0.5).max())
            alarms[run] = p[-1] < LEVEL, p.min() < LEVEL, evidence >= np.log(2 / LEVEL)
        rates = "".join(f"{rate:>{width}.1%}" for rate, width in zip(alarms.mean(axis=0), (9, 10, 10), strict=True))
        print(f"{name:<32}{values.shape[1]:>10}{rates}{time.perf_counter() - start:>9.0f}", flush=True)


def _many_generators(campaigns: int) -> None:
    print(f"\nany false decision in {campaigns:,} campaigns of five equal generators (ten pairs), ratings on 1-5")
    random = np.random.default_rng(2)
    ordinary, decided = 0, 0
    first, second = np.triu_indices(5, 1)
    for _ in range(campaigns):
        values = _rated(random, 5, 5)
        ordinary += bool((_ordinary_p(values[first] - values[second]) < LEVEL).any())
        decided += bool(_decided_at(values)[0].any())
    print(f"ordinary intervals {ordinary / campaigns:.1%}, e-BH {decided / campaigns:.1%}", flush=True)


def _equal_metrics(campaigns: int) -> None:
    """Two metrics with equal noise; ordinary is the normal interval of the difference of r, by the same spread."""
    print(f"\nfalse alarms in {campaigns:,} boards with two equally good metrics, looked at after each instance")
    random = np.random.default_rng(3)
    ordinary, decided = 0, 0
    for _ in range(campaigns):
        human = random.normal(0, 1, (3, INSTANCES)) + random.normal(0, 0.7, INSTANCES)
        scores = human + random.normal(0, 1, (2, 3, INSTANCES))
        sums = instance_sums(scores, human)
        decided += bool(watch_correlations(sums, level=LEVEL).decisions.decided.any())
        ordinary += _ever_apart(sums)
    print(f"ordinary intervals {ordinary / campaigns:.1%}, e-BH {decided / campaigns:.1%}", flush=True)


def _ever_apart(sums: Floats) -> bool:
    """Whether the ordinary 95% interval of the difference of two r ever leaves 0 out, at every fifth look."""
    for n in range(30, sums.shape[1] + 1, 5):
        seen = sums[:, :n]
        mean = seen.mean(axis=1)
        influence = np.einsum("mua,ma->mu", seen - mean[:, None], pearson_gradient(mean))
        se = (influence[0] - influence[1]).std(ddof=1) / np.sqrt(n)
        first, second = pearson_of_sums(seen.sum(axis=1))
        if abs(first - second) > 1.96 * se:
            return True
    return False


def _annotators(campaigns: int) -> None:
    print(f"\nannotators ever excluded of {campaigns:,}, looked at after each of 100 test questions, pass mark 80%")
    print(f"{'accuracy':<12}{'model':>10}{'e-value':>10}{'questions, model':>18}{'questions, e-value':>20}")
    random, model = np.random.default_rng(4), AnnotatorModel(prior="fixed")
    for accuracy in (0.95, 0.9, 0.8, 0.6, 0.5, 0.25):
        right = np.cumsum(random.random((campaigns, 100)) < accuracy, axis=1)
        wrong = np.arange(1, 101) - right
        beliefs = posterior(FIXED_2, right.ravel(), wrong.ravel())
        noisy = is_noisy(model, FIXED_2, beliefs).reshape(right.shape)
        enough = log_evidence_of_error(right, wrong, accuracy=0.8) >= np.log(100)
        shares = [marked.any(axis=1).mean() for marked in (noisy, enough)]
        asked = [_median_first(marked) for marked in (noisy, enough)]
        print(f"{accuracy:<12}{shares[0]:>10.1%}{shares[1]:>10.1%}{asked[0]:>18}{asked[1]:>20}", flush=True)


def _median_first(marked: Bools) -> str:
    """After how many questions those who are marked are, in the middle."""
    ever = marked.any(axis=1)
    return f"{np.median(marked[ever].argmax(axis=1) + 1):.0f}" if ever.any() else "–"


def _plug_in(x: Floats, alpha: float = LEVEL) -> float:
    """The width of the hedged capital interval with predictable plug-in bets, on a grid of 1,000 means.

    Waudby-Smith and Ramdas (2024), section 4: the oracle beside the mixture that is used here.
    """
    n = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (n + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (n + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    bets = np.sqrt(2 * np.log(2 / alpha) / (before * n * np.log1p(n)))
    kept = []
    for m in (np.arange(1000) + 0.5) / 1000:
        up = np.cumsum(np.log1p(np.minimum(bets, 0.5 / m) * (x - m))).max()
        down = np.cumsum(np.log1p(-np.minimum(bets, 0.5 / (1 - m)) * (x - m))).max()
        kept.append(max(up, down) < np.log(2 / alpha))
    return float(np.mean(kept))


def _widths() -> None:
    """Widths of 95% intervals of a mean of ratings on 1-5."""
    print("\nwidth of the 95% interval of a mean of ratings on 1-5, in points of 100 (20 campaigns)")
    peer = find_spec("ville") is not None
    print(f"{'instances':<12}{'looked at once':>16}{'here':>10}{'plug-in bets':>14}{'ville':>10}{'here/plug-in':>14}")
    random = np.random.default_rng(5)
    for size in (50, 200, 800):
        drawn = [np.clip(np.round(4 * random.normal(0.75, 0.25, size)) / 4, 0, 1) for _ in range(20)]
        once = 100 * np.mean([2 * 1.96 * x.std(ddof=1) / np.sqrt(size) for x in drawn])
        own = 100 * np.mean([np.diff(confidence_sequence(x)) for x in drawn])
        plug_in = 100 * np.mean([_plug_in(x) for x in drawn])
        theirs = f"{100 * np.mean([_ville(x) for x in drawn]):.1f}" if peer else "absent"
        print(f"{size:<12}{once:>16.1f}{own:>10.1f}{plug_in:>14.1f}{theirs:>10}{own / plug_in:>14.2f}", flush=True)


def _ville(x: Floats) -> float:
    from ville import BettingCS  # type: ignore[import-not-found,unused-ignore]

    fitted = BettingCS(alpha=LEVEL).fit(x)
    return float(fitted.upper_[-1] - fitted.lower_[-1])


def _savings(real: dict[str, Floats], orders: int) -> None:
    print(f"\nlabels saved by stopping when decided, {orders} random orders; level {LEVEL:.0%}")
    for name, values in real.items():
        start = time.perf_counter()
        generators, instances = values.shape
        first, second = np.triu_indices(generators, 1)
        better = (values[first] - values[second]).mean(axis=1) >= 0
        print(f"\n{name}: {generators} generators, {instances} instances, {len(first)} pairs, {values.size:,} labels")
        print(f"{'':<34}{'decided':>9}{'false':>8}{'any false':>11}{'labels':>9}{'saved':>8}{'fixed size needs':>18}")
        random = np.random.default_rng(6)
        shuffled = [values[:, random.permutation(instances)] for _ in range(orders)]
        fixed = _fixed_sizes(shuffled, first, second, better)
        _line("ordinary intervals", [_peek(v, first, second) for v in shuffled], better, generators, instances, fixed)
        _line("e-values", [_decided_at(v) for v in shuffled], better, generators, instances, fixed)
        pool = [_decided_at(v, pool=instances) for v in shuffled]
        _line("e-values, about these instances", pool, better, generators, instances, fixed)
        print(f"{'all labels, t-tests, looked at once':<36}{fixed[-1][1]:>7.1f}", end="")
        print(f"{'':>27}{values.size:>9,}   ({time.perf_counter() - start:.0f} s)", flush=True)


def _pairs_alone(real: dict[str, Floats], orders: int) -> None:
    """Each two generators as a campaign of their own that stops when it is decided which is better."""
    print(f"\neach two generators as a campaign of their own, {orders} random orders; level {LEVEL:.0%}")
    head = f"{'decided':>9}{'false':>8}{'labels':>8}{'saved':>8}{'of decided':>12}"
    print(f"{'':<28}{'pairs':>6}{'planned':>9}{'':>4}{head}")
    for name, values in real.items():
        instances = values.shape[1]
        first, second = np.triu_indices(len(values), 1)
        better = (values[first] - values[second]).mean(axis=1) >= 0
        random = np.random.default_rng(7)
        shuffled = [values[:, random.permutation(instances)] for _ in range(orders)]
        once = [_ordinary_p(v[first] - v[second])[:, -1] < LEVEL for v in shuffled[:1]]
        print(f"{name:<28}{len(first):>6}{2 * instances:>9}    {np.mean(once):>9.1%}   all labels, looked at once")
        outcomes = {
            "ordinary intervals": [_peek(v, first, second) for v in shuffled],
            "e-values": [_alone(v, first, second) for v in shuffled],
        }
        for way, pairs in outcomes.items():
            at, up = np.array([at for at, _ in pairs]), np.array([up for _, up in pairs])
            decided, used = at > 0, np.where(at > 0, at, instances)
            wrong = (decided & (up != better)).sum() / max(decided.sum(), 1)
            print(
                f"  {way:<45}{decided.mean():>9.1%}{wrong:>8.2%}{2 * used.mean():>8,.0f}"
                f"{1 - used.mean() / instances:>8.1%}{1 - at[decided].mean() / instances:>12.1%}",
                flush=True,
            )


def _alone(values: Floats, first: Ints, second: Ints) -> tuple[Ints, Bools]:
    """When each pair is decided by its own two e-values (0 for never), and whether for the first."""
    at, up = np.zeros(len(first), np.int64), np.zeros(len(first), bool)
    for k, difference in enumerate(values[first] - values[second]):
        share = (difference + 1) / 2
        both = np.stack([log_evidence(share, 0.5), log_evidence(1 - share, 0.5)])
        reached = (both >= np.log(2 / LEVEL)).any(axis=0)
        if reached.any():
            at[k] = reached.argmax() + 1
            up[k] = both[0, at[k] - 1] > both[1, at[k] - 1]
    return at, up


def _peek(values: Floats, first: Ints, second: Ints) -> tuple[Ints, Bools]:
    """When each pair is found different by ordinary intervals, looked at after each instance (0 for never)."""
    differences = values[first] - values[second]
    below = _ordinary_p(differences) < LEVEL
    at = np.where(below.any(axis=1), below.argmax(axis=1) + 1, 0)
    means = np.cumsum(differences, axis=1)[np.arange(len(first)), np.maximum(at, 1) - 1]
    return np.asarray(at, np.int64), np.asarray(means >= 0)


def _line(
    name: str,
    outcomes: list[tuple[Ints, Bools]],
    better: Bools,
    generators: int,
    instances: int,
    fixed: list[tuple[int, float]],
) -> None:
    decided = np.array([(at > 0).sum() for at, _ in outcomes], float)
    wrong = np.array([((at > 0) & (up != better)).sum() for at, up in outcomes], float)
    labels = np.array([_labels(at, generators, instances) for at, _ in outcomes], float)
    total = generators * instances
    enough = next((size * generators for size, count in fixed if count >= decided.mean()), None)
    needs = "more than all" if enough is None else f"{enough:,}"
    print(
        f"{name:<34}{decided.mean():>9.1f}{(wrong / np.maximum(decided, 1)).mean():>8.2%}{(wrong > 0).mean():>11.0%}"
        f"{labels.mean():>9,.0f}{1 - labels.mean() / total:>8.1%}{needs:>18}",
        flush=True,
    )


def _labels(at: Ints, generators: int, instances: int) -> int:
    """Labels given until every generator is told apart from all others, or all instances are used up."""
    first, second = np.triu_indices(generators, 1)
    needed = np.where(at > 0, at, instances)
    return sum(int(needed[(first == k) | (second == k)].max()) for k in range(generators))


def _fixed_sizes(shuffled: list[Floats], first: Ints, second: Ints, better: Bools) -> list[tuple[int, float]]:
    """How many pairs t-tests with Benjamini-Hochberg decide rightly on average, by the number of instances."""
    instances = shuffled[0].shape[1]
    sizes = np.unique(np.linspace(FIRST, instances, 60).astype(int)).tolist()
    counts = np.zeros(len(sizes))
    for values in shuffled:
        differences = values[first] - values[second]
        p, means = _ordinary_p(differences), np.cumsum(differences, axis=1)
        for k, size in enumerate(sizes):
            found = _benjamini_hochberg(p[:, size - 1])
            counts[k] += (found & ((means[:, size - 1] >= 0) == better)).sum()
    return list(zip(sizes, (counts / len(shuffled)).tolist(), strict=True))


def _benjamini_hochberg(p: Floats) -> Bools:
    order = np.sort(p)
    passed = np.flatnonzero(order <= LEVEL * np.arange(1, len(p) + 1) / len(p))
    return np.asarray(p <= order[passed[-1]] if len(passed) else np.zeros(len(p), bool))


if __name__ == "__main__":
    main()
