"""Ask every metric whether it notices a spoilt text: a reference against itself with one mistake put in.

Mistakes: negation, number, entity, word order, truncation, repetition, and a copy of the input. The same seed makes the
same mistakes everywhere.
"""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.challenges import challenge as run_challenge
from billboards.analyses.audit.results import ChallengeReport
from billboards.analyses.audit.tables import challenge_tables
from billboards.board.cells import MemoryCells
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.run.local import executor


@analysis(view=(), scores=True, quick=False)
def challenge(
    view: View,
    metrics: Annotated[
        tuple[str, ...] | None,
        Named(name="metric", metavar="NAME", metrics="computed"),
        "a metric, options in brackets as in 'chrF(beta=1)', a part as in 'ROUGE-L[recall]', a file, pack:NAME or "
        "evaluate:NAME; may be repeated (default: the board's)",
    ] = None,
    *,
    base: Annotated[str | None, Named(metavar="NAME"), "the reference to spoil (default: the board's first)"] = None,
    kinds: Annotated[
        tuple[str, ...] | None, Named(name="kind", metavar="NAME"), "only this mistake; may be repeated"
    ] = None,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> ChallengeReport:
    """Ask every metric whether it notices a spoilt text: a reference against itself with one mistake put in.

    Mistakes: negation, number, entity, word order, truncation, repetition, and a copy of the input. The same seed makes
    the same mistakes everywhere.
    """
    if view.scoring is None:
        raise NotEnoughData("a challenge scores spoilt texts, which is not done here; run `billboards challenge BOARD`")
    cells, watcher = view.cells or MemoryCells(), view.scoring.on_progress
    bench = Bench(view.counted, cells, executor(view.scoring.jobs), on_progress=watcher)
    return run_challenge(bench, view.metrics(metrics), base=base, kinds=kinds, seed=seed)


challenge.table(challenge_tables)
