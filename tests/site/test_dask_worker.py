"""A site whose cells a Dask cluster computes: killed anywhere, its board comes out as one that was scored in peace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback_dask import LoopbackDask
from small_sites import Harbour, MakeHarbour

from billboards.cli.main import main
from billboards.run.dask_cluster import Cluster
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.work import leases
from billboards.site.work.cluster_worker import _Traffic, for_cluster, for_this_machine, work_on_cluster
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import plan_board, standing

SETTINGS = "lease_seconds = 1.0\npoll_seconds = 0.05\nattempts = 100\n"
OUTPUTS = "\n".join(f"the ferry leaves at {k}" for k in range(12))


def cells(site: Site) -> dict[tuple[str, str, str], bytes]:
    store = site.cells("ferry")
    return {
        (key.column.signature, key.context, version): scores.tobytes()
        for key in store.columns()
        for version, scores in store.load(key, store.present(key)).items()
    }


def wait_until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def calm(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(name="calm")
    submitting.submit_generator(harbour.site, harbour.owner, "ferry", "new", OUTPUTS.encode())
    work_until_done(harbour.site)
    return harbour


def start_worker(site: Site, address: str, *, leases: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "billboards", "worker", str(site.data), "--engine", "dask"]
    return subprocess.Popen([*command, "--address", address, "--leases", str(leases)], stdin=subprocess.DEVNULL)


@pytest.mark.long
def test_workers_killed_on_both_sides_lose_nothing(make_harbour: MakeHarbour, loopback_dask: LoopbackDask) -> None:
    harbour = make_harbour(name="storm", settings=SETTINGS)
    site = harbour.site
    sent = submitting.submit_generator(site, harbour.owner, "ferry", "new", OUTPUTS.encode()).submission.id

    first = start_worker(site, loopback_dask.address, leases=1)
    try:
        wait_until(lambda: bool(cells(site)))
    finally:
        first.kill()
        first.wait()
    before = len(cells(site))
    second = start_worker(site, loopback_dask.address, leases=4)
    try:
        wait_until(lambda: len(cells(site)) > before)
        with Cluster(loopback_dask.address) as cluster:
            os.kill(min(cluster.connect().run(os.getpid).values()), signal.SIGKILL)
        wait_until(lambda: is_scored(site, sent))
    finally:
        second.terminate()
        assert second.wait(30) == 0
    found = cells(site)
    assert len(found) >= 4 * 5
    assert found == cells(calm(make_harbour).site)


def is_scored(site: Site, submission: str) -> bool:
    with site.database.reading() as connection:
        return submissions.get(connection, submission).state == "scored"


def test_cells_wait_while_the_scheduler_is_away_and_cost_no_attempt(make_harbour: MakeHarbour) -> None:
    site = make_harbour(name="away", settings=SETTINGS).site
    stop = threading.Event()
    cluster = Cluster("tcp://127.0.0.1:9")
    worker = threading.Thread(target=work_on_cluster, args=(site, "w", stop, cluster), kwargs={"leases": 2})
    worker.start()
    time.sleep(0.3)
    stop.set()
    worker.join()
    now = standing(site, "ferry")
    assert now.missing == now.plan.versions
    assert now.failed == {}
    assert cells(site) == {}


@pytest.mark.long
def test_a_cluster_without_workers_leases_nothing_so_that_others_do_the_work(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(name="starving", settings="poll_seconds = 0.05\n")
    site, stop = harbour.site, threading.Event()
    with LoopbackDask(workers=0) as dask, Cluster(dask.address) as cluster:
        assert cluster.room() == 0
        worker = threading.Thread(target=work_on_cluster, args=(site, "w", stop, cluster), kwargs={"leases": 4})
        worker.start()
        try:
            for k in range(2):
                submitting.submit_generator(site, harbour.owner, "ferry", f"tug{k}", harbour.outputs(k))
            wait_until(lambda: work_until_done(site, "local") == 0 and standing(site, "ferry").missing == {})
            with site.database.reading() as connection:
                assert leases.count_workers(connection, now=site.clock()) == 1, "lanes are no workers of their own"
        finally:
            stop.set()
            worker.join()


def test_a_cluster_is_given_what_its_threads_and_resources_can_take(make_harbour: MakeHarbour) -> None:
    cluster = Cluster("tcp://127.0.0.1:9")
    cluster._counted, cluster._workers = float("inf"), [(3, {}), (1, {"GPU": 1.0})]
    assert cluster.room() == 8
    assert cluster.room({"GPU": 1.0}) == 2
    assert cluster.room({"GPU": 2.0}) == 0
    traffic = _Traffic(cluster)
    cell = next(iter(plan_board(make_harbour(name="room").site, "ferry").cells()))
    assert traffic.takes("cell", cell)
    traffic.change(8)
    assert not traffic.takes("cell", cell)


def test_what_can_not_travel_is_done_here(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    cells = plan_board(harbour.site, "ferry").cells()
    assert {for_cluster("cell", cell) for cell in cells} == {True}
    assert for_this_machine("refresh", None)


def test_an_engine_needs_an_address_and_a_site_must_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["worker", str(tmp_path / "none")]) == 2
    assert "`billboards serve` makes" in capsys.readouterr().err
    assert main(["worker", str(tmp_path), "--engine", "dask"]) == 2
    assert "--engine dask --address tcp://HOST:8786" in capsys.readouterr().err
    assert main(["worker", str(tmp_path), "--engine", "dask", "--address", "tcp://127.0.0.1:9"]) == 1
    assert "start one with `dask scheduler`" in capsys.readouterr().err
