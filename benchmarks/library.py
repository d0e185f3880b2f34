"""A metric in the hand, beside the libraries that people have there today: the same numbers, the time, and the lines.

Ten everyday tasks, each written twice: with `bb.metric`, and with sacreBLEU, rouge-score, bert_score or Hugging Face's
evaluate. What is timed is the task itself, after one run that loads everything; the lines are those of the two
functions below, without imports. A peer that can't be imported, or a model or module that is not on this machine, is
named and left out. Exit code 1 where numbers differ by more than 1e-6 (BERTScore: 1e-4).

    python benchmarks/library.py [--lines 500] [--runs 3] [--model FOLDER] [--module FOLDER]

`--model` is a folder with a model that both BERTScores read (default: the embedded one), `--module` one with a module
of evaluate, such as google_bleu.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from measuring import shared_data
from texts import wmt20

import billboards as bb

#: Numbers may differ by as much.
TOLERANCE, TOLERANCE_OF_MODELS = 1e-6, 1e-4


@dataclass(frozen=True)
class Texts:
    """Outputs of a system, two references of each, and where model and module lie."""

    outputs: list[str]
    references: list[str]
    others: list[str]
    model: str
    module: str | None


Task = Callable[[Texts], Any]


def own_bleu(texts: Texts) -> Any:
    return bb.metric("bleu").score(texts.outputs, texts.references).corpus


def peer_bleu(texts: Texts) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU().corpus_score(texts.outputs, [texts.references]).score


def own_two_references(texts: Texts) -> Any:
    return bb.metric("chrF").score(texts.outputs, [texts.references, texts.others]).corpus


def peer_two_references(texts: Texts) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF().corpus_score(texts.outputs, [texts.references, texts.others]).score


def own_sentences(texts: Texts) -> Any:
    return bb.metric("bleu").score(texts.outputs, texts.references).sentences


def peer_sentences(texts: Texts) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    bleu = BLEU(effective_order=True)
    return [bleu.sentence_score(o, [r]).score for o, r in zip(texts.outputs, texts.references, strict=True)]


def own_interval(texts: Texts) -> Any:
    low, high = bb.metric("bleu").score(texts.outputs, texts.references).interval()
    return (high - low) / 2


def peer_interval(texts: Texts) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU().corpus_score(texts.outputs, [texts.references], n_bootstrap=1000)._ci


def own_ter(texts: Texts) -> Any:
    return bb.metric("ter").score(texts.outputs[:100], texts.references[:100]).corpus


def peer_ter(texts: Texts) -> Any:
    from sacrebleu.metrics.ter import TER

    return TER().corpus_score(texts.outputs[:100], [texts.references[:100]]).score


def own_rouge(texts: Texts) -> Any:
    return [bb.metric(name).score(texts.outputs, texts.references).corpus for name in ("rouge-1", "rouge-2", "rouge-l")]


def peer_rouge(texts: Texts) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    names = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(names)
    scores = [scorer.score(r, o) for o, r in zip(texts.outputs, texts.references, strict=True)]
    return [sum(score[name].fmeasure for score in scores) / len(scores) for name in names]


def own_best_reference(texts: Texts) -> Any:
    return bb.metric("rouge-l[recall]").score(texts.outputs, [texts.references, texts.others]).sentences


def peer_best_reference(texts: Texts) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"])
    best = [
        max((scorer.score(r, o)["rougeL"] for r in references), key=lambda score: score.fmeasure)
        for o, *references in zip(texts.outputs, texts.references, texts.others, strict=True)
    ]
    return [score.recall for score in best]


def own_bertscore(texts: Texts) -> Any:
    return bb.metric("bertscore", model=texts.model).score(texts.outputs[:100], texts.references[:100]).sentences


def peer_bertscore(texts: Texts) -> Any:
    import bert_score

    _, _, f1 = bert_score.score(
        texts.outputs[:100], texts.references[:100], model_type=_folder(texts.model), num_layers=6
    )
    return f1.numpy()


def own_module(texts: Texts) -> Any:
    return bb.metric(f"evaluate:{texts.module}").score(texts.outputs[:100], texts.references[:100]).corpus


def peer_module(texts: Texts) -> Any:
    import evaluate

    result = evaluate.load(texts.module).compute(predictions=texts.outputs[:100], references=texts.references[:100])
    return next(value for value in result.values() if isinstance(value, float))


def own_function(texts: Texts) -> Any:
    def shared(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [float(len({*o.split()} & {*r[0].split()})) for o, r in zip(outputs, references, strict=True)]

    return bb.metric(shared).score(texts.outputs, texts.references).corpus


def peer_function(texts: Texts) -> Any:
    pairs = zip(texts.outputs, texts.references, strict=True)
    return sum(len({*o.split()} & {*r.split()}) for o, r in pairs) / len(texts.outputs)


#: Each task with the peer's name.
TASKS: tuple[tuple[str, str, Task, Task], ...] = (
    ("BLEU of a corpus", "sacrebleu", own_bleu, peer_bleu),
    ("chrF, two references", "sacrebleu", own_two_references, peer_two_references),
    ("BLEU of each sentence", "sacrebleu", own_sentences, peer_sentences),
    ("interval of BLEU", "sacrebleu", own_interval, peer_interval),
    ("TER, 100 lines", "sacrebleu", own_ter, peer_ter),
    ("ROUGE-1, -2 and -L", "rouge_score", own_rouge, peer_rouge),
    ("recall, best of two", "rouge_score", own_best_reference, peer_best_reference),
    ("BERTScore, 100 lines", "bert_score", own_bertscore, peer_bertscore),
    ("a module, 100 lines", "evaluate", own_module, peer_module),
    ("a function", "plain Python", own_function, peer_function),
)


def _folder(model: str) -> str:
    from billboards.metrics.neural.weights import locate

    return str(locate(model).folder)


def lines_of(task: Task) -> int:
    """The lines that a user writes: those of the function, without its head, imports and blank ones."""
    lines = [line.strip() for line in inspect.getsource(task).splitlines()[1:]]
    return sum(bool(line) and not line.startswith(("import ", "from ")) for line in lines)


def seconds_of(task: Task, texts: Texts, runs: int) -> tuple[float, Any]:
    """The quickest of some runs after a first one, and what came out."""
    result = task(texts)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = task(texts)
        times.append(time.perf_counter() - start)
    return min(times), result


def compare(task: tuple[str, str, Task, Task], texts: Texts, runs: int) -> bool:
    """Print a row of the table; whether the numbers are the same."""
    name, peer, own, other = task
    ours, mine = seconds_of(own, texts, runs)
    try:
        theirs, given = seconds_of(other, texts, runs)
    except (ImportError, FileNotFoundError) as error:
        print(f"| {name} | {peer} | {ours:.3f} | absent: {str(error).splitlines()[0][:60]} | | {lines_of(own)} | | |")
        return True
    difference = float(np.max(np.abs(np.asarray(mine, float) - np.asarray(given, float))))
    lines = f"{lines_of(own)} / {lines_of(other)}"
    ratio = f"{theirs / ours:.0f}" if theirs > 10 * ours else f"{theirs / ours:.2g}"
    print(f"| {name} | {peer} | {ours:.3f} | {theirs:.3f} | {ratio} | {lines} | {difference:.1e} |")
    return difference <= (TOLERANCE_OF_MODELS if peer == "bert_score" else TOLERANCE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--module")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    data = shared_data()
    if data is None:
        print("the human-evaluation data are absent: set BILLBOARDS_SHARED")
        return 1
    wmt = wmt20(data)
    texts = Texts(
        wmt["a"][: arguments.lines],
        wmt["ref"][: arguments.lines],
        wmt["b"][: arguments.lines],
        arguments.model,
        arguments.module,
    )
    print("| task | peer | ours, s | peer, s | ratio | lines, ours / peer | largest difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    chosen = [task for task in TASKS if task[2] is not own_module or arguments.module]
    same = [compare(task, texts, arguments.runs) for task in chosen]
    if not arguments.module:
        print("\nNo module of evaluate was named with --module: that task was left out.")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
