"""The peers' side of the board benchmark, and ours in the same shape: the same numbers, printed as JSON.

`rank` by the usual chain (pandas reads the tables, scipy.stats.pearsonr in a bootstrap loop, scikit-learn's Lasso
leaving out one generator at a time) and by billboards; `BLEU` by a plain loop over sacreBLEU. Each runs in a process of
its own, so that its memory can be seen. `seconds` are those of the statistics alone, after everything is loaded.

    python benchmarks/peers.py (rank-peer|rank-own|bleu-peer) BOARD [LAMBDA DRAWS]
"""

from __future__ import annotations

import json
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def rank_peer(root: Path, lam: float, draws: int) -> dict[str, Any]:
    """Correlations, bootstrap intervals and the ensemble's leave-one-out correlation, by the usual libraries."""
    human, scores = _load_with_pandas(root)
    start = time.perf_counter()
    correlations = {name: _pearson(one, human) for name, one in scores.items()}
    middle = time.perf_counter()
    intervals = _bootstrap(human, scores, draws)
    looped = time.perf_counter() - middle
    ensemble = _leave_one_out(human, scores, lam)
    seconds = {"loop": looped, "rest": time.perf_counter() - start - looped}
    return {"correlations": correlations, "intervals": intervals, "ensemble": ensemble, "seconds": seconds}


def _load_with_pandas(root: Path) -> tuple[Floats, dict[str, Floats]]:
    """Judged generators × instances: people on 0-100, and every imported metric.

    The other libraries are loaded here, too, before any clock runs.
    """
    import pandas as pd
    import scipy.stats  # noqa: F401
    import sklearn.linear_model
    import sklearn.pipeline  # noqa: F401

    settings = tomllib.loads((root / "board.toml").read_text("utf-8"))
    (name, dimension), *_ = settings["dimensions"].items()
    slope, intercept = dimension.get("to_100", (1, 0))
    files = sorted((root / "judgments").glob("*.jsonl"))
    judgments = pd.concat([pd.read_json(path, lines=True, dtype={"instance": str}) for path in files])
    judgments["human"] = [values[name] * slope + intercept for values in judgments["values"]]
    people = {key for key, said in settings.get("generators", {}).items() if said.get("kind") == "human"}
    judgments = judgments[~judgments["generator"].isin(people)]
    order = pd.read_json(root / "instances.jsonl", lines=True, dtype={"id": str})["id"]
    human = judgments.pivot_table(index="instance", columns="generator", values="human").loc[order]
    tables = {}
    for path in sorted((root / "scores").glob("*.tsv")):
        if not settings["scores"][path.stem].get("is_ensemble"):
            table = pd.read_csv(path, sep="\t", dtype={"instance": str}).set_index("instance")
            tables[path.stem] = table.loc[human.index, human.columns].to_numpy().T
    return human.to_numpy().T, tables


def _pearson(x: Floats, y: Floats) -> float:
    from scipy.stats import pearsonr

    return float(pearsonr(x.ravel(), y.ravel()).statistic)


def _bootstrap(human: Floats, scores: dict[str, Floats], draws: int) -> dict[str, list[float]]:
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(draws):
        picked = random.integers(human.shape[1], size=human.shape[1])
        people = human[:, picked]
        drawn.append([_pearson(one[:, picked], people) for one in scores.values()])
    ends = np.quantile(drawn, (0.025, 0.975), axis=0).T.tolist()
    return dict(zip(scores, ends, strict=True))


def _leave_one_out(human: Floats, scores: dict[str, Floats], lam: float) -> float:
    from sklearn.linear_model import Lasso
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    matrix = np.stack(list(scores.values()), axis=-1)
    predicted = np.empty_like(human)
    for held in range(len(human)):
        rest = np.arange(len(human)) != held
        model = make_pipeline(StandardScaler(), Lasso(alpha=lam, tol=1e-10, max_iter=100_000))
        model.fit(matrix[rest].reshape(-1, len(scores)), human[rest].ravel())
        predicted[held] = model.predict(matrix[held])
    return _pearson(predicted, human)


def rank_own(root: Path, lam: float, draws: int) -> dict[str, Any]:
    """The same numbers by billboards, without the rest of what `billboards rank` finds out."""
    import billboards as bb
    from billboards.analyses._view import judged_matrix
    from billboards.analyses.ensemble import fit_view
    from billboards.stats.correlation import pearson_with_intervals

    board = bb.open(root)
    view = judged_matrix(board, None)
    start = time.perf_counter()
    found = pearson_with_intervals(view.scores.values, view.judged_human, draws=draws)
    drawn = time.perf_counter() - start
    ensemble = fit_view(board, view, lam=lam).ensemble
    seconds = {"loop": drawn, "rest": time.perf_counter() - start - drawn}
    names = [column.source_name or column.name for column in view.scores.columns]
    ends = np.stack((found.low, found.high), axis=1).tolist()
    return {
        "correlations": dict(zip(names, found.r.tolist(), strict=True)),
        "intervals": dict(zip(names, ends, strict=True)),
        "ensemble": ensemble.correlation,
        "seconds": seconds,
    }


def bleu_peer(root: Path) -> dict[str, Any]:
    """Sentence BLEU of every output in a plain loop over sacreBLEU, and the largest difference from our kept scores."""
    from sacrebleu.metrics.bleu import BLEU

    instances = [json.loads(line) for line in (root / "instances.jsonl").read_text("utf-8").splitlines()]
    references = {item["id"]: [one["text"] for one in item["references"]] for item in instances}
    outputs = {}
    for path in sorted((root / "generators").glob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        outputs[path.stem] = [(line["text"], references[line["instance"]]) for line in lines]
    start = time.perf_counter()
    scorer = BLEU(effective_order=True)
    scores = {name: [scorer.sentence_score(*one).score for one in lines] for name, lines in outputs.items()}
    return {"seconds": {"all": time.perf_counter() - start}, "difference": _from_kept_cells(root, scores)}


def _from_kept_cells(root: Path, scores: dict[str, list[float]]) -> float:
    import billboards as bb
    from billboards.analyses._archive import home_of
    from billboards.board.missing_cells import column_key

    board = bb.open(root)
    key = column_key(board, bb.metric("BLEU"), board.references)
    kept = home_of(board).cells.load(key, [row.version for row in board.rows])
    return max(float(np.abs(kept[board.row(name).version] - one).max()) for name, one in scores.items())


def main(what: str, root: Path, lam: str = "1", draws: str = "20") -> None:
    work = {"rank-peer": rank_peer, "rank-own": rank_own}
    result = bleu_peer(root) if what == "bleu-peer" else work[what](root, float(lam), int(draws))
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
