"""Ask every metric whether it notices a spoilt text: a reference against itself with one mistake put in.

Mistakes: negation, number, entity, word order, truncation, repetition, and a copy of the input. Changes of length,
style and language are tried beside them. The same seed makes the same mistakes everywhere. Pairs may also come from the
files of a public challenge set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.challenge_sets import PAIRS, challenge_by_set, read_challenge_set
from billboards.analyses.audit.challenges import challenge as run_challenge
from billboards.analyses.audit.results import ChallengeReport
from billboards.analyses.audit.tables import challenge_tables, set_tables
from billboards.board.cells import MemoryCells
from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.discovery import metrics_named
from billboards.options import Named
from billboards.run.local import executor
from billboards.show.table import Table


@analysis(view=(), scores=True, quick=False, group="how good are the metrics?")
def challenge(
    view: View,
    metrics: Annotated[
        tuple[str, ...] | None,
        Named(name="metric", metavar="NAME", metrics="computed"),
        "a metric, options in brackets as in 'chrF(beta=1)', a part as in 'ROUGE-L[recall]', a file, pack:NAME or "
        "evaluate:NAME; may be repeated (default: the board's)",
    ] = None,
    *,
    base: Annotated[
        str | None, Named(metavar="NAME"), "the reference or generator to spoil (default: the board's first reference)"
    ] = None,
    kinds: Annotated[
        tuple[str, ...] | None, Named(name="kind", metavar="NAME"), "only this mistake; may be repeated"
    ] = None,
    sets: Annotated[
        tuple[Path, ...] | None,
        Named(name="set", metavar="FILE"),
        "pairs from a challenge set in place of spoilt texts: a file of ACES (TSV, JSON lines) or DEMETR (JSON), or a "
        "folder of them; may be repeated",
    ] = None,
    shown: Annotated[int, Ge(0), Named(name="show", metavar="N"), "texts of each kind to show"] = 2,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> ChallengeReport:
    """Ask every metric whether it notices a spoilt text: a reference against itself with one mistake put in.

    Mistakes: negation, number, entity, word order, truncation, repetition, and a copy of the input; and changes of
    length, style and language. The same seed makes the same mistakes everywhere.
    """
    if view.scoring is None:
        raise NotEnoughData("a challenge scores spoilt texts, which is not done here; run `billboards challenge BOARD`")
    cells, watcher = view.cells or MemoryCells(), view.scoring.on_progress
    bench = Bench(board=view.counted, store=cells, executor=executor(view.scoring.jobs), on_progress=watcher)
    if not sets:
        return run_challenge(bench, view.metrics(metrics), base=base, kinds=kinds, seed=seed, shown=shown)
    if base is not None or kinds is not None:
        raise InvalidInput("a challenge set has its own texts and kinds: leave out base and kind")
    board = view.counted
    pairs = read_challenge_set(sets, board.output_language)
    named = metrics or tuple(metric.name for metric in view.metrics(None))
    return challenge_by_set(pairs, lambda language: metrics_named(named, language), bench, examples=shown)


@challenge.table
def _tables(report: ChallengeReport) -> tuple[Table, ...]:
    return set_tables(report) if report.base == PAIRS else challenge_tables(report)
