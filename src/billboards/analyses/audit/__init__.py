"""Find out what a metric really rewards: make outputs for it, and ask everyone else about them.

An audit optimises a metric, enters the result on the board as a generator that is shown and never ranked, and asks
reference-based metrics and people about it (Deutsch, Dror and Roth 2022). The modules beside this one are its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.audit.bench import Bench, Budget
from billboards.analyses.audit.boards import audit_board
from billboards.analyses.audit.choosing import Method as SearchMethod
from billboards.analyses.audit.choosing import Search
from billboards.analyses.audit.entering import enter as enter_optimised
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.audit.tables import audit_tables, audits_table
from billboards.board import Outputs
from billboards.board.cells import MemoryCells
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.run.local import executor
from billboards.show.documents import SCHEMA, document_of
from billboards.show.table import Table


@dataclass(frozen=True, kw_only=True)
class Audits:
    """Several metrics of one board, audited; `left_out` says which were not, and why."""

    audits: tuple[MetricAudit, ...]
    left_out: Mapping[str, str]
    #: The outputs that were made for each metric, to be entered on the board.
    rows: tuple[Outputs, ...] = field(default=(), repr=False, metadata={"document": False})

    def __iter__(self) -> Iterator[MetricAudit]:
        return iter(self.audits)

    def __len__(self) -> int:
        return len(self.audits)

    def __getitem__(self, place: int) -> MetricAudit:
        return self.audits[place]

    def document(self) -> dict[str, Any]:
        """All audits as one JSON document."""
        audits = [document_of(audit) for audit in self.audits]
        return {"schema": SCHEMA, "kind": "audits", "audits": audits, "left_out": dict(self.left_out)}


@analysis(view=(), scores=True, quick=False, paper="Deutsch, Dror and Roth 2022")
def audit(
    view: View,
    metrics: Annotated[
        tuple[str, ...] | None,
        Named(name="metric", metavar="NAME", metrics="computed"),
        "a metric to audit, with its program or its released scores; may be repeated (default: every "
        "reference-free one)",
    ] = None,
    *,
    method: Annotated[
        SearchMethod,
        "only this attack: decode with the metric's own model, extract sentences of the input greedily or by trying "
        "all, rerank candidates, minimum Bayes risk over the generators' outputs, or let a language model write "
        "(default: every one that suits the metric, and the strongest counts)",
    ] = "auto",
    sentences: Annotated[int, Ge(1), Named(metavar="K"), "sentences to extract"] = 3,
    candidates: Annotated[
        Path | None, Named(metavar="FILE"), "rerank these: JSON lines of instance and text, or texts"
    ] = None,
    model: Annotated[str | None, Named(metavar="NAME"), "rerank the beams of this sequence-to-sequence model"] = None,
    beams: Annotated[int, Ge(1), Named(metavar="N"), "beams of a beam search"] = 5,
    written: Annotated[
        int,
        Ge(0),
        Named(name="write", metavar="N"),
        "also ask the language model that judges ask for N outputs of each instance that please the metric (default: "
        "none; texts leave the machine)",
    ] = 0,
    against: Annotated[
        tuple[str, ...] | None,
        Named(metavar="NAME", metrics="computed"),
        "a reference-based metric to ask about the outputs; may be repeated (default: quick ones of the board)",
    ] = None,
    budget: Annotated[
        int | None,
        Ge(1),
        Named(metavar="N"),
        "score at most N pairs for each metric (default: the board's outputs ten times, and 1,000,000 more, or 50,000 "
        "for a slow metric)",
    ] = None,
    draws: Annotated[int, Ge(1), Named(metavar="N"), "draws of intervals"] = 1000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> Audits:
    """Find out what a metric really rewards: make outputs for it, and ask everyone else about them.

    By default every reference-free metric of the board is audited by every attack that suits it, and the strongest
    counts. Where answers are kept, its outputs enter the board as a generator that is shown and never ranked, and the
    verdict is kept in BOARD/audits.
    """
    if view.scoring is None:
        raise NotEnoughData(
            "an audit scores outputs that it makes, which is not done here; run `billboards audit BOARD`"
        )
    watcher = view.scoring.on_progress
    bench = Bench(
        board=view.counted,
        store=view.cells or MemoryCells(),
        executor=executor(view.scoring.jobs),
        budget=Budget(budget),
        on_progress=watcher,
    )
    search = Search(method, sentences, beams, candidates=candidates, model=model, written=written)
    done = audit_board(bench, metrics, against=against, search=search, draws=draws, seed=seed)
    return Audits(
        audits=tuple(entry.audit for entry in done.audited),
        left_out=dict(done.left_out),
        rows=tuple(entry.row for entry in done.audited),
    )


@audit.table
def _tables(result: Audits) -> list[Table]:
    return [audits_table(result.audits), *(table for entry in result.audits for table in audit_tables(entry))]


@audit.notes
def _not_audited(_: View, result: Audits) -> list[str]:
    return [f"not audited: {name}: {reason}" for name, reason in result.left_out.items()]


@audit.keep
def _keep(view: View, result: Audits) -> Audits:
    assert view.archive is not None
    for entry, row in zip(result.audits, result.rows, strict=True):
        view.archive.keep_audit(entry)
        enter_optimised(view.counted, row, entry.how)
    return result


@audit.in_report
def _none(_: View) -> Sequence[Mapping[str, Any]]:
    """A report shows the audits that were kept, and makes none."""
    return ()
