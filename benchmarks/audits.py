"""Every audit that can be made on SummEval, cnndm and wmt20-zh-en, with its evidence, as docs/audit.md has them.

Reference-free metrics are attacked by every search that suits them, reference-based ones by minimum Bayes risk; scores
that came with the data can only rerank, and those that need references can't be audited without their program. Two
quick reference-based metrics are asked, and people wherever they have judged.

    python benchmarks/audits.py [--work FOLDER] [--board cnndm] [--metric length] [--budget 200000] [--draws 300]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audit_study import opened
from measuring import shared_data

if TYPE_CHECKING:
    from billboards import Board
    from billboards.analyses.audit.results import Attack, MetricAudit

FREE = ("length", "abstractness-2", "repetition-3", "ngram-perplexity")
BASED = ("ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "chrF")
#: The metrics of each board, those without references first, and who is asked about their outputs.
BOARDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "summeval": ((*FREE, *BASED), ("ROUGE-2", "chrF")),
    "cnndm": (("SummaQA", "COMET-QE", *FREE, *BASED), ("ROUGE-2", "chrF")),
    "wmt20-zh-en": (("Prism-src", "COMET-QE", "length", "repetition-3", "BLEU", "chrF"), ("BLEU", "chrF")),
}
HEAD = (
    "metric", "attack", "outcome", "itself", "random", "people", "metrics", "attack by people", "over all", "verdict"
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, help="keep boards and scores here, so that a second run is quick")
    parser.add_argument("--board", action="append", choices=list(BOARDS), help="only this board; may be repeated")
    parser.add_argument("--metric", action="append", help="only this metric; may be repeated")
    parser.add_argument("--budget", type=int, default=1_000_000, help="pairs for each metric (default 1,000,000)")
    parser.add_argument("--draws", type=int, default=300, help="draws of intervals (default 300)")
    arguments, data = parser.parse_args(), shared_data()
    with tempfile.TemporaryDirectory() as folder:
        work = arguments.work or Path(folder)
        for name in arguments.board or BOARDS:
            if name != "summeval" and data is None:
                print(f"\n{name}: not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
                continue
            board = _summeval(work) if data is None or name == "summeval" else opened(name, data, work)
            study(name, board, arguments.metric, budget=arguments.budget, draws=arguments.draws)


def study(name: str, board: Board, only: Sequence[str] | None, *, budget: int, draws: int) -> None:
    """A line for every attack on every metric of a board, and what it takes."""
    import billboards as bb

    metrics, against = BOARDS[name]
    print(f"\n{name}: {len(board.instances)} instances, {len(board.generators)} generators, budget {budget:,} pairs")
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
    begun = time.process_time()
    for metric in metrics:
        if only and metric not in only:
            continue
        asked = [judge for judge in (*against, "ROUGE-L") if judge != metric][:2]
        try:
            audit = bb.audit(board, [metric], against=asked, budget=budget, draws=draws).value[0]
        except (bb.errors.InvalidInput, bb.errors.MissingPart) as error:
            print(f"| {metric} | | can't be audited: {error} |")
            continue
        for place, attack in enumerate(audit.attacks):
            print(line(audit, attack, is_first=place == 0), flush=True)
        for method, reason in audit.not_tried.items():
            print(f"| | {method} | could not be tried: {reason} |")
    print(f"\n{time.process_time() - begun:.0f} s of processor time", flush=True)


def line(audit: MetricAudit, attack: Attack, *, is_first: bool) -> str:
    """One attack: where it lands under the metric, a random choice there, people, the metrics asked, and the scores."""
    ranks = {landing.judge: f"{landing.rank}/{landing.machines + 1}" for landing in attack.judges}
    metrics = ", ".join(f"{judge} {rank}" for judge, rank in ranks.items() if judge != "people")
    random = f"{attack.random[0].rank}/{attack.random[0].machines + 1}" if attack.random else ""
    cells = (
        audit.metric if is_first else "",
        attack.method,
        attack.outcome,
        f"{attack.own.rank}/{attack.own.machines + 1}",
        random,
        ranks.get("people", ""),
        metrics,
        _score(attack.people_attack, attack.people_interval),
        _score(attack.attack, attack.attack_interval),
        f"{audit.level}{': ' if audit.signs else ''}{'; '.join(audit.signs)}" if is_first else "",
    )
    return f"| {' | '.join(cells)} |"


def _score(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if interval is None else f"{value:.2f} ({interval[0]:.2f} to {interval[1]:.2f})"


def _summeval(work: Path) -> Board:
    """The board that comes with the package: SummEval."""
    import billboards as bb
    from billboards.demo.board import build_board

    if not (work / "summeval" / "board.toml").exists():
        bb.save(build_board(), work / "summeval")
    return bb.open(work / "summeval")


if __name__ == "__main__":
    main()
