"""What reference-free metrics reward, on two boards of the Billboard paper, beside Deutsch et al.'s Tables 2 to 4.

cnndm: similarity to the source (all-MiniLM-L6-v2), length and the perplexity of an n-gram model of the sources by
greedy extraction of three sentences; abstractness and the released SummaQA and COMET-QE scores by reranking over the
26 generators. wmt20-zh-en: the released Prism-src and COMET-QE scores by reranking over 19. Asked are ROUGE-2 or BLEU,
and BERTScore with the embedded model.

    python benchmarks/audit_study.py [--work FOLDER] [--board cnndm] [--metric length]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from measuring import shared_data

if TYPE_CHECKING:
    from billboards import Board

METRICS: dict[str, dict[str, Literal["extract", "rerank"]]] = {
    "cnndm": {
        "source-cosine": "extract",
        "length": "extract",
        "ngram-perplexity": "extract",
        "abstractness-2": "rerank",
        "SummaQA": "rerank",
        "COMET-QE": "rerank",
    },
    "wmt20-zh-en": {"Prism-src": "rerank", "COMET-QE": "rerank"},
}
NO_INTERVAL = (float("nan"), float("nan"))
AGAINST = {"cnndm": ("ROUGE-2", "BERTScore"), "wmt20-zh-en": ("BLEU", "BERTScore")}
#: The paper's correlations with the optimised output as the reference: for QuestEval on SummEval and REALSumm
#: (Table 4), and on average over language pairs for Prism-src and COMET-QE (Tables 2 and 3).
PUBLISHED = (
    ("QuestEval, extraction", "ROUGE-2 .85 .83, BERTScore .62 .85, QAEval .86 .89", "Table 4"),
    ("QuestEval, reranking", "ROUGE-2 .77 .77, BERTScore .19 .78, QAEval .87 .85", "Table 4"),
    ("Prism-src, reranking", "BLEU .83, BERTScore .92, BLEURT .84", "Table 2"),
    ("COMET-QE, reranking", "BLEU .88, BERTScore .92, BLEURT .83", "Table 3"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="keep boards and scores here, so that a second run is quick")
    parser.add_argument("--board", action="append", choices=list(METRICS), help="only this board; may be repeated")
    parser.add_argument("--metric", action="append", help="only this metric; may be repeated")
    arguments, data = parser.parse_args(), shared_data()
    if data is None:
        print("not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.board or METRICS:
            study(name, data, arguments.work or Path(folder), arguments.metric)
    print("\nthe paper's correlations")
    for what, values, table in PUBLISHED:
        print(f"{what:28}{values}  ({table})")


def study(name: str, data: Path, work: Path, only: list[str] | None) -> None:
    """Audit the metrics of a board, one line each for where their output lands and what it equals."""
    import billboards as bb

    board = opened(name, data, work)
    print(f"\n{name}: {len(board.instances)} instances, {len(board.generators)} generators")
    against = AGAINST[name]
    head = "".join(f"{f'rank {one}':>18}" for one in against)
    print(f"{'metric':20}{'by':>9}{'rank':>8}{'margin':>8}{head}{'people':>9}{'attack':>8}  interval       verdict   s")
    rows = []
    for metric, method in METRICS[name].items():
        if only and metric not in only:
            continue
        start = time.perf_counter()
        found = bb.audit_metrics(board, [metric], method=method, against=against).value[0]
        landed = {one.judge: f"{one.rank}/{one.machines + 1}" for one in (found.own, *found.judges)}
        ranks = "".join(f"{landed.get(one, '-'):>18}" for one in against)
        low, high = found.attack_interval or NO_INTERVAL
        seconds = time.perf_counter() - start
        own = f"{metric:20}{method:>9}{landed[found.metric]:>8}{found.own.margin:8.2f}"
        others = f"{ranks}{landed.get('people', '-'):>9}{found.attack:8.2f}  {low:.2f} to {high:.2f}"
        print(f"{own}{others}   {found.level:8}{seconds:4.0f}", flush=True)
        rows.append(found)
    print(f"\n{'correlation, its own output as the reference':46}{'r':>6}  {'interval':14}{'with own outputs':>16}")
    for found in rows:
        for one in found.equivalence:
            low, high = one.interval or NO_INTERVAL
            own = "" if one.with_own is None else f"{one.with_own:.2f}"
            print(f"{found.metric:26}{one.judge:20}{one.correlation:6.2f}  {low:5.2f} to {high:4.2f}{own:>16}")
    print(f"\n{'machines above people':28}{'share':>6}   kinship (likeness rewarded at equal quality)")
    for found in rows:
        share, (low, high) = found.share_above_people(), found.kinship_interval or NO_INTERVAL
        above = "     -" if share is None else f"{share:6.2f}"
        print(f"{found.metric:28}{above}   {found.kinship:.2f} ({low:.2f} to {high:.2f})")


def opened(name: str, data: Path, work: Path) -> Board:
    """The board in a folder, imported if it isn't there yet."""
    import billboards as bb

    if not (work / name / "board.toml").exists():
        extra: dict[str, Any] = {
            "cnndm": {"judgments": data / "THumB", "references": data / "THumB" / "cnndm"},
            "wmt20-zh-en": {
                "judgments": data / "wmt-mqm-human-evaluation",
                "references": data / "wmt20_references",
            },
        }[name]
        bb.save(bb.import_board("billboard", data / "billboard", board=name, **extra), work / name)
    return bb.open(work / name)


if __name__ == "__main__":
    main()
