"""A made-up site of any size, and what a worker does on it, as a process that prints what each step cost.

Ten generators of the board's folder are judged on every instance; all others came in as submissions, through the same
calls as over the web, and were not judged. The metrics are EED with as many values of alpha, so that one more generator
is really scored; the cells of the others are drawn at random and written under the keys a worker would use. The owner
asks for the lasso: choosing among families depends on the judged outputs alone and is done once for them.

    python benchmarks/scale_site.py make|work DATA [--generators 10] [--metrics 50] [--instances 2000]
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from synthetic import sentence, write_board

if TYPE_CHECKING:
    from billboards.site.site import Site

BOARD = "large"
JUDGED = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("make", "work"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--generators", type=int, default=JUDGED)
    parser.add_argument("--metrics", type=int, default=50)
    parser.add_argument("--instances", type=int, default=2000)
    given = parser.parse_args()
    if given.step == "make":
        make(given.data, given.generators, given.metrics, given.instances)
    else:
        work(given.data, given.instances)


@contextmanager
def counted(step: str) -> Iterator[dict[str, float]]:
    """What a step takes: seconds by the clock and of processor time, MiB at its peak, MiB read from files."""
    from os import times

    Path("/proc/self/clear_refs").write_text("5")
    begin, before, read = time.perf_counter(), times(), _read()
    found: dict[str, float] = {}
    yield found
    after = times()
    found["seconds"] = time.perf_counter() - begin
    found["processor"] = after.user + after.system - before.user - before.system
    found["mib"] = _peak()
    found["read"] = (_read() - read) / 2**20
    print(json.dumps({"step": step, **found}), flush=True)


def _read() -> int:
    """Bytes that this process has read so far, from a disk or from what the system keeps of it."""
    return int(re.findall(r"rchar: (\d+)", Path("/proc/self/io").read_text())[0])


def _peak() -> float:
    return int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def make(data: Path, generators: int, metrics: int, instances: int) -> None:
    """The board's folder, the submissions and all cells."""
    folder = data / "boards" / BOARD
    write_board(folder, generators=min(JUDGED, generators), instances=instances, metrics=0)
    written = (folder / "board.toml").read_text("utf-8")
    names = ", ".join(f'"EED(alpha={1 + k / 100:.2f})"' for k in range(metrics))
    (folder / "board.toml").write_text(written.replace("ranks =", f"metrics = [{names}]\nranks =", 1), "utf-8")

    from billboards.site.boards import registry
    from billboards.site.site import open_site

    site = open_site(data)
    with site.database.writing() as connection:
        settings = {"method": "lasso"}
        registry.change_board(
            connection, BOARD, "board.settings", actor="benchmark", now=site.clock(), settings=settings
        )
    with counted("submit") as found:
        _submit(site, generators - JUDGED, instances)
        found["each"] = max(generators - JUDGED, 0)
    _write_cells(site)
    site.close()


def outputs(instances: int, seed: int) -> bytes:
    random = Random(seed)
    return "\n".join(sentence(random) for _ in range(instances)).encode()


def _submit(site: Site, count: int, instances: int) -> None:
    from billboards.site.accounts.access import local_viewer
    from billboards.site.submissions import records as submissions
    from billboards.site.submissions.sending import submit_generator

    viewer = local_viewer(site)
    for k in range(count):
        one = submit_generator(site, viewer, BOARD, f"submitted {k:04}", outputs(instances, k)).submission
        with site.database.writing() as connection:
            for state in ("checking", "scoring", "scored"):
                submissions.advance(connection, one.id, state, actor="benchmark", now=site.clock())


def _write_cells(site: Site) -> None:
    """Every cell that a worker would miss: people's judgment, or the generator's own level, with noise."""
    import numpy as np

    from billboards.board import human_scores
    from billboards.site.work.cells import write_cell
    from billboards.site.work.worklist import plan_board

    plan = plan_board(site, BOARD)
    board, random = plan.board, np.random.default_rng(0)
    human = human_scores(
        board.judgments, board.aggregate(None), board.dimensions, (len(board.rows), len(board.instances))
    )
    levels = {row.version: human[k] for k, row in enumerate(board.rows)}
    levels |= {row.version: 60 + 8 * random.normal() for row in plan.rows if row.version not in levels}
    with site.database.writing() as connection:
        for cell in plan.cells():
            noise = random.normal(scale=12.0, size=len(board.instances))
            scores = {"": levels[cell.row.version] + noise}
            write_cell(connection, BOARD, cell.key, cell.row.version, scores, seconds=0.01, now=site.clock())


def work(data: Path, instances: int) -> None:
    """Open the site, rank the board, and take one more generator, in one process as a worker does."""
    from billboards.site.accounts.access import local_viewer
    from billboards.site.boards import snapshots
    from billboards.site.boards.live import live_board
    from billboards.site.site import open_site
    from billboards.site.submissions.sending import submit_generator
    from billboards.site.work.jobs import run_job
    from billboards.site.work.worker import work_until_done
    from billboards.site.work.worklist import next_job, standing

    with counted("open"):
        site = open_site(data)
        live_board(site, BOARD)
    with counted("plan"):
        standing(site, BOARD)
    with counted("rank"):
        assert work_until_done(site) == 1
    submit_generator(site, local_viewer(site), BOARD, "one more", outputs(instances, 10**6))
    with counted("score") as found:
        jobs = 0
        while (job := next_job(site, "benchmark")) is not None and job.kind != "refresh":
            run_job(site, job)
            jobs += 1
        found["jobs"] = jobs
    assert job is not None
    with counted("refresh") as found:
        run_job(site, job)
        live = live_board(site, BOARD)
        assert live.snapshot is not None
        with site.database.reading() as connection:
            found["document"] = len(snapshots.document_text(connection, live.snapshot)) / 2**20
    assert next_job(site, "benchmark") is None
    site.close()


if __name__ == "__main__":
    main()
