"""How far to believe `suite advise`: every public board at hand is left out once and predicted from the others.

All boards of the shared data that judge several metrics are imported into a temporary folder (or one that stays,
`--boards FOLDER`) and scored with the lexical metrics; released scores of learned metrics count, too. Then each board,
and each collection of boards that come from one campaign, is left out, the model is fitted to the rest, and what was
measured on the board is compared with what was predicted. Beside it: each metric's mean over the other boards, its mean
over those of the same task, and the metric that was the best most often.

    python benchmarks/advice.py [--boards FOLDER] [--draws 500]
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

from billboards.analyses.suite.advice import (
    Question,
    asked,
    collections,
    laid_out,
    mean_elsewhere,
    pool,
)
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen
from billboards.analyses.suite.evidence import BoardAgreement, Evidence
from billboards.board.missing_cells import compute_cells, missing_cells
from billboards.metrics.executor import InProcess

Floats = NDArray[np.float64]

METRICS = ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-L", "METEOR", "CIDEr")
WMT17 = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
DARR = ("gu-en", "kk-en", "lt-en")
MULTI = ("de", "en", "es", "fr", "id", "ru", "tr", "zh")
WMT17_CARD = {
    "task": "Translate sentences of news into English.",
    "citation": "Bojar et al. 2017, Results of the WMT17 Metrics Shared Task",
    "output-language": "en",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=Path, metavar="FOLDER", help="keep boards and scores here, and use them again")
    parser.add_argument("--draws", type=int, default=500, metavar="N", help="resamplings behind errors (default 500)")
    arguments, data = parser.parse_args(), shared_data()
    if data is None:
        print("not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    with tempfile.TemporaryDirectory() as folder:
        report(made_suite(data, arguments.boards or Path(folder)), arguments.draws)


# The boards.


def sources(data: Path) -> Iterator[tuple[str, str, str, Path, dict[str, Any]]]:
    """Name, task, importer, source and options of every board."""
    billboard = data / "billboard"
    mqm = {"judgments": data / "wmt-mqm-human-evaluation", "references": data / "wmt20_references"}
    yield "wmt20-zh-en", "translation", "billboard", billboard, {"board": "wmt20-zh-en", **mqm}
    yield "cnndm", "summarization", "billboard", billboard, {"board": "cnndm", "judgments": data / "THumB"}
    yield "wmt23-en-de", "translation", "mtme", data / "mtme_wmt23_en-de", {}
    yield "summeval", "summarization", "summeval", data / "summeval", {}
    for language in MULTI:
        options = {"language": language}
        yield f"multi-summeval-{language}", "summarization", "multi-summeval", data / "multi_summeval", options
    for pair in DARR:
        yield f"wmt19-darr-{pair}", "translation", "wmt19-darr", data / "wmt19_darr", {"language_pair": pair}
    for pair in WMT17:
        yield f"wmt17-{pair}", "translation", "table", data / "wmt17_da" / f"testset_{pair}.tsv", {}
    yield "asset", "simplification", "asset", data / "asset", {}
    yield "webnlg-2017", "data to text", "webnlg-2017", data / "webnlg2017", {}
    yield "flickr8k-expert", "captioning", "flickr8k", data / "flickr8k", {}
    yield "flickr8k-crowd", "captioning", "flickr8k", data / "flickr8k", {"judgments": "crowd"}
    yield "efficientqa", "question answering", "efficientqa", data / "efficientqa", {}
    yield "paws-qqp", "paraphrase", "paws", data / "paws_qqp", {}


def made_suite(data: Path, home: Path) -> Path:
    """The suite of all boards in a folder; boards that lie there already are used as they are."""
    import billboards as bb

    start, entries = time.perf_counter(), []
    for name, task, importer, source, options in sources(data):
        if not (home / name).exists():
            board = read_wmt17(source, home) if importer == "table" else bb.import_board(importer, source, **options)
            bb.save(board, home / name)
        entries.append(f'[[boards]]\nfolder = "{name}"\nlabel = "{name}"\ntask = "{task}"\n')
    named = ", ".join(f'"{name}"' for name in METRICS)
    (home / "suite.toml").write_text("\n".join([f'name = "public"\nmetrics = [{named}]\n', *entries]), encoding="utf-8")
    print(f"{len(entries)} boards imported in {time.perf_counter() - start:.0f} s", flush=True)
    return home / "suite.toml"


def read_wmt17(path: Path, home: Path) -> Any:
    """One language pair of WMT17 with a column of ids, which an import asks for."""
    import billboards as bb

    table = home / f"wmt17-{path.stem.removeprefix('testset_')}.csv"
    with path.open(encoding="utf-8", newline="") as given, table.open("w", encoding="utf-8", newline="") as numbered:
        rows = csv.DictReader(given, delimiter="\t", quoting=csv.QUOTE_NONE)
        columns = ("id", "source", "translation", "reference", "HUMAN_score")
        writer = csv.DictWriter(numbered, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows({**row, "id": k} for k, row in enumerate(rows))
    return bb.import_board(
        "table",
        table,
        instance="id",
        input="source",
        output="translation",
        reference=["reference"],
        judgment=["HUMAN_score"],
        facts=WMT17_CARD,
    )


# Leaving out.


def report(suite: Path, draws: int) -> None:
    from billboards.analyses.suite.open import open_suite

    opened = open_suite(suite)
    start = time.perf_counter()
    cells = sum(score(member, opened.chosen) for member in opened.boards)
    print(f"{cells} cells scored in {time.perf_counter() - start:.0f} s", flush=True)
    start = time.perf_counter()
    evidence = opened.evidence(draws=draws)
    print(f"agreements with covariances by {draws} resamplings: {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    pooled = pool(evidence)
    print(f"model fitted, boards left out with its variances: {time.perf_counter() - start:.1f} s")
    describe(evidence)
    print("standard deviations of z: " + ", ".join(f"{name} {sd:.3f}" for name, sd in effects(pooled)))
    print(f"with the variances of all boards: {pooled.held_out}", flush=True)
    boards = range(len(evidence.boards))
    leave_out("one board left out", evidence, [[k] for k in boards])
    leave_out("one collection left out", evidence, collections(evidence.boards))
    by_language: dict[str, list[int]] = {}
    for k in boards:
        by_language.setdefault(evidence.boards[k].language or "", []).append(k)
    others = [group for language, group in by_language.items() if language not in ("", "en")]
    leave_out("one language but English left out", evidence, others)


def score(member: OpenBoard, chosen: Sequence[Chosen]) -> int:
    """Score what is missing on a board against all references, which is all that advice asks for."""
    metrics = [metric for row in chosen if (metric := row.on.get(member.board.name)) is not None]
    cells, _ = missing_cells(member.board, member.home.cells, metrics, member.references("all"), member.judged_rows)
    done = compute_cells(member.board, member.home.cells, cells, InProcess())
    for name, reason in done.failures.items():
        print(f"  {name} on {member.label}: {reason}")
    return done.computed


def describe(evidence: Evidence) -> None:
    count = sum(len(board.metrics) for board in evidence.boards)
    print(f"{len(evidence.boards)} boards, {len(evidence.metrics)} metrics, {count} agreements")
    shared = [
        np.median(np.array(board.correlations)[np.triu_indices(len(board.metrics), 1)])
        for board in evidence.boards
        if len(board.metrics) > 1
    ]
    low, middle, high = np.quantile(shared, (0.1, 0.5, 0.9))
    print(
        f"correlation of errors of two metrics on a board: median {middle:.2f} (80% of boards {low:.2f} to {high:.2f})"
    )
    print(f"{'board':24}{'task':20}{'language':>9}{'metrics':>9}  best")
    for board in evidence.boards:
        best = int(np.argmax(board.values))
        print(
            f"{board.board:24}{board.task or '':20}{board.language or '':>9}{len(board.metrics):9}  "
            f"{board.metrics[best]} {board.values[best]:.3f} ± {board.errors[best]:.3f}"
        )


def effects(pooled: Any) -> list[tuple[str, float]]:
    from billboards.stats.pooling import EFFECTS

    return list(zip(EFFECTS, pooled.pooling.sds.tolist(), strict=True))


Predict = Callable[[Sequence[BoardAgreement], BoardAgreement], Mapping[str, float]]


def leave_out(title: str, evidence: Evidence, groups: Sequence[Sequence[int]]) -> None:
    """Error, coverage and regret over all groups, beside what simple means give."""
    start = time.perf_counter()
    rows: dict[str, list[tuple[float, float, float, float]]] = {}
    covered: list[bool] = []
    contrasts: list[bool] = []
    for group in groups:
        rest = [board for k, board in enumerate(evidence.boards) if k not in group]
        for k in group:
            board = evidence.boards[k]
            model, inside, between = predicted(rest, board)
            covered += inside
            contrasts += between
            mean, by_task = mean_elsewhere(rest), same_task(rest, board)
            answers = {
                "model": (model, model),
                "mean elsewhere": (mean, mean),
                "mean on the same task": (by_task, by_task),
                "most often best": (mean, often_best(rest, mean)),
            }
            kept = [m for m, name in enumerate(board.metrics) if name in model]
            for name, (values, choice) in answers.items():
                rows.setdefault(name, []).append(judged(board, kept, values, choice))
    seconds = time.perf_counter() - start
    print(f"\n{title}: {len(rows['model'])} boards, {len(covered)} agreements, {seconds:.0f} s")
    print(f"{'':24}{'error':>8}{'error of differences':>22}{'regret':>8}{'right':>7}")
    for name, scores in rows.items():
        error, centred, regret, right = np.nanmean(np.array(scores), axis=0)
        print(f"{name:24}{np.sqrt(error):8.3f}{np.sqrt(centred):22.3f}{regret:8.4f}{right:7.0%}")
    shares = f"agreements {np.mean(covered):.1%}, differences from the board {np.mean(contrasts):.1%}"
    print(f"in their 95% intervals: {shares}", flush=True)


def predicted(rest: Sequence[BoardAgreement], board: BoardAgreement) -> tuple[dict[str, float], list[bool], list[bool]]:
    """The model's agreements for a board that it has not seen, and which measured ones lie in their intervals."""
    from billboards.stats.pooling import fit_pooling, predict

    names, agreements = laid_out(rest)
    kept = [m for m, name in enumerate(board.metrics) if name in names]
    question = Question(task=board.task, language=board.language)
    numbers = [names.index(board.metrics[m]) for m in kept]
    answer = predict(fit_pooling(agreements), agreements, asked(rest, question, numbers))
    _, own = laid_out([board])
    noise = own.noise[np.ix_(kept, kept)]
    errors = np.random.default_rng(1).multivariate_normal(np.zeros(len(kept)), noise, 4000, method="eigh")
    drawn = answer.draw(4000, 0) + errors
    inside = within(drawn, own.z[kept])
    between = within(drawn - drawn.mean(axis=1, keepdims=True), own.z[kept] - own.z[kept].mean())
    means = np.tanh(answer.mean)
    return {board.metrics[m]: float(means[k]) for k, m in enumerate(kept)}, inside, between


def within(drawn: Floats, measured: Floats) -> list[bool]:
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    inside: list[bool] = ((low <= measured) & (measured <= high)).tolist()
    return inside


def same_task(rest: Sequence[BoardAgreement], board: BoardAgreement) -> dict[str, float]:
    """Each metric's mean over boards of the task, or over all where there is none."""
    alike = [other for other in rest if other.task == board.task]
    return mean_elsewhere(rest) | mean_elsewhere(alike)


def often_best(rest: Sequence[BoardAgreement], mean: Mapping[str, float]) -> dict[str, float]:
    """On how many of the other boards each metric is the best; of two, the better mean decides."""
    wins = Counter(max(zip(other.values, other.metrics, strict=True))[1] for other in rest if len(other.metrics) > 1)
    return {name: wins[name] + value / 10 for name, value in mean.items()}


def judged(
    board: BoardAgreement, kept: Sequence[int], values: Mapping[str, float], choice: Mapping[str, float]
) -> tuple[float, float, float, float]:
    """Squared error, that of differences from the board's mean, what the choice lacks, and whether it is the best."""
    measured = np.array(board.values)[list(kept)]
    given, by = (np.array([answer[board.metrics[m]] for m in kept]) for answer in (values, choice))
    centred = (given - given.mean()) - (measured - measured.mean())
    lacking = float(measured.max() - measured[by.argmax()])
    return float(((given - measured) ** 2).mean()), float((centred**2).mean()), lacking, float(lacking <= 0)


if __name__ == "__main__":
    main()
