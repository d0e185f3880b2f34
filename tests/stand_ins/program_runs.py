"""A program run on one generator's outputs alone."""

from __future__ import annotations

from billboards.metrics.base import Batch
from billboards.run.program import ProgramMetric, run_rows
from billboards.run.program_metrics import ProgramRun


def run_program(program: ProgramMetric, batch: Batch, *, quoting: bool = True) -> ProgramRun:
    return run_rows(program, [batch], quoting=quoting)[0]
