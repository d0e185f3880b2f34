"""The scripts for SLURM do what they say, with a stand-in for `srun` that starts its command on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from small_campaigns import distinct_board

import billboards as bb
from billboards.board.writing import write_board
from billboards.site.boards.live import live_board
from billboards.site.site import open_site

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
BOARD = replace(distinct_board(instances=3, generators=2), metrics=("length",))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What SLURM would set, with a cluster of one node: this one."""
    stand_in = tmp_path / "bin" / "srun"
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec "$@"\n')
    stand_in.chmod(0o755)
    return {
        "PATH": f"{stand_in.parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "BILLBOARDS_PYTHON": sys.executable,
        "SLURM_JOB_ID": "7",
        "SLURM_SUBMIT_DIR": str(tmp_path),
        "SLURM_CPUS_PER_TASK": "1",
    }


@pytest.mark.long
@pytest.mark.parametrize("given", ["cores", "gpu"])
def test_a_job_scores_a_board_on_a_cluster_of_its_own_and_leaves_nothing_behind(
    tmp_path: Path, environment: dict[str, str], given: str
) -> None:
    folder = write_board(BOARD, tmp_path / "board")
    said = {"BOARD": str(folder), "INTERFACE": "lo", **({"SLURM_GPUS_PER_TASK": "1"} if given == "gpu" else {})}
    done = subprocess.run(
        ["bash", str(DEPLOY / "dask.sbatch")],
        env=environment | said,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "3 cells computed, 0 were there already" in done.stderr
    assert "tcp://127.0.0.1" in done.stderr, "nothing listens to other machines"
    assert bb.rank(bb.open(folder), draws=0).value.metrics[0].name == "length"
    assert not list(tmp_path.glob("scheduler-*.json"))
    assert "End scheduler" in done.stderr
    assert "End worker" in done.stderr


def test_a_job_whose_scheduler_does_not_start_ends(tmp_path: Path, environment: dict[str, str]) -> None:
    said = {"BOARD": str(tmp_path), "INTERFACE": "no-such-network"}
    command = ["bash", str(DEPLOY / "dask.sbatch")]
    done = subprocess.run(
        command, env=environment | said, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "the scheduler did not start" in done.stderr


@pytest.mark.long
def test_a_job_of_workers_scores_what_a_site_lacks_and_stops_when_it_is_told(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    folder = write_board(BOARD, tmp_path / "board")
    site = open_site(tmp_path / "data", boards=[folder])
    assert live_board(site, BOARD.name).snapshot is None
    said = {"DATA": str(tmp_path / "data"), "BILLBOARDS_DATABASE": f"sqlite:///{tmp_path / 'data' / 'site.sqlite'}"}
    job = subprocess.Popen(
        ["bash", str(DEPLOY / "workers.sbatch")], env=environment | said, cwd=tmp_path, start_new_session=True
    )
    try:
        for _ in range(600):
            if live_board(site, BOARD.name).snapshot is not None:
                break
            time.sleep(0.1)
        document = live_board(site, BOARD.name).document
        assert document is not None, "scored and ranked"
        assert [one["name"] for one in document["ranking"]["metrics"]] == ["length"]
        job.send_signal(signal.SIGTERM)
        assert job.wait(30) == 0
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        site.close()


@pytest.mark.parametrize(("script", "needs"), [("dask.sbatch", "board folder"), ("workers.sbatch", "data folder")])
def test_a_script_says_what_it_needs(script: str, needs: str) -> None:
    path = str(DEPLOY / script)
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0
    done = subprocess.run(["bash", path], env={"PATH": "/bin:/usr/bin"}, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert needs in done.stderr
