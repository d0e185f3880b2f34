"""Control groups of runs, on a folder that stands for the kernel's tree: what is written where, and what is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from billboards.run import control_groups
from billboards.run.control_groups import ControlGroup, control_group, delegated_group, prepare
from billboards.run.limits import MIB, Limits

FILES = {
    "memory.max": "max", "memory.oom.group": "0", "memory.swap.max": "max", "pids.max": "max", "cpu.max": "max 100000",
    "cgroup.kill": "", "cgroup.procs": "", "cgroup.subtree_control": "", "cgroup.controllers": "cpu memory pids",
    "cgroup.events": "populated 0\nfrozen 0\n", "memory.events": "low 0\noom 0\noom_kill 0\n",
    "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
}  # fmt: skip


def make_group(folder: Path, **files: str) -> ControlGroup:
    """A group as the kernel makes one: its files are there at once."""
    folder.mkdir(exist_ok=True)
    for name, content in {**FILES, **files}.items():
        (folder / name).write_text(content)
    return ControlGroup(folder)


def make_proc(folder: Path, mounts: str, group: str) -> Path:
    folder.mkdir()
    (folder / "mountinfo").write_text(mounts)
    (folder / "cgroup").write_text(group)
    return folder


def test_a_group_has_the_limits_of_the_run_with_room_for_its_private_files(tmp_path: Path) -> None:
    limits = Limits(
        wall_seconds=600, cpu_seconds=1200, memory_bytes=96 * MIB, processes=24, tmp_bytes=16 * MIB, result_bytes=MIB
    )
    make_group(tmp_path / "run").limit(limits)
    written = {name: (tmp_path / "run" / name).read_text() for name in FILES}
    # Written over what was there, as into the kernel's own files, without cutting them.
    assert written["memory.max"] == str((96 + 2 * 16 + 1 + 64) * MIB)
    assert written["pids.max"].startswith("32")
    assert written["cpu.max"].startswith("200000 100000")
    assert written["memory.oom.group"] == "1"
    assert written["memory.swap.max"].startswith("0")


def test_a_run_has_one_processor_at_least(tmp_path: Path) -> None:
    make_group(tmp_path / "run").limit(Limits(wall_seconds=600, cpu_seconds=60))
    assert (tmp_path / "run" / "cpu.max").read_text().startswith("100000 100000")


def test_a_group_tells_its_processor_time_and_whether_memory_ran_out(tmp_path: Path) -> None:
    group = make_group(tmp_path / "run")
    assert (group.cpu_seconds, group.memory_ran_out, group.is_empty) == (1.5, False, True)
    full = make_group(
        tmp_path / "full", **{"memory.events": "oom 1\noom_kill 3\n", "cgroup.events": "populated 1\nfrozen 0\n"}
    )
    assert (full.memory_ran_out, full.is_empty) == (True, False)


def test_a_group_that_is_gone_has_used_nothing_and_holds_nobody(tmp_path: Path) -> None:
    gone = ControlGroup(tmp_path / "gone")
    assert (gone.cpu_seconds, gone.memory_ran_out, gone.is_empty) == (0.0, False, True)
    gone.end()
    gone.remove()


def test_a_group_is_ended_by_the_kernel(tmp_path: Path) -> None:
    group = make_group(tmp_path / "run")
    group.end()
    assert (tmp_path / "run" / "cgroup.kill").read_text() == "1"


def test_a_server_without_a_group_of_its_own_has_none_to_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a group that nobody gave away, nor somebody else's, nor one that can't count memory, nor none at all."""
    tree = tmp_path / "tree"
    make_group(tree)
    make_group(tree / "ours", **{"cgroup.controllers": "hugetlb"})
    mounts = f"30 1 0:26 / {tree} rw - cgroup2 cgroup2 rw\n"
    monkeypatch.setattr(control_groups, "_mark", lambda top, name: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert delegated_group(make_proc(tmp_path / "root", mounts, "4:memory:/x\n0::/\n")) is None
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert delegated_group(make_proc(tmp_path / "other", mounts, "0::/\n")) is None
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(control_groups, "_mark", lambda top, name: b"1")
    assert delegated_group(make_proc(tmp_path / "poor", mounts, "0::/ours\n")) is None
    assert delegated_group(make_proc(tmp_path / "old", "30 1 0:26 / / rw - ext4 x rw\n", "4:memory:/x\n")) is None


def test_what_systemd_gave_away_is_found_also_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    make_group(tree)
    make_group(tree / "billboards.service")
    make_group(tree / "billboards.service" / "billboards-server")
    mounts = f"29 1 0:25 / /sys rw - sysfs sysfs rw\n30 1 0:26 / {tree} rw shared:4 - cgroup2 cgroup2 rw\n"
    monkeypatch.setattr(control_groups, "_mark", lambda top, name: b"1" if name == "user.delegate" else None)
    for name, group in (("top", "0::/billboards.service\n"), ("below", "0::/billboards.service/billboards-server\n")):
        assert delegated_group(make_proc(tmp_path / name, mounts, group)) == tree / "billboards.service"


def test_the_server_moves_below_and_groups_of_dead_servers_go(tmp_path: Path) -> None:
    top = tmp_path / "billboards.service"
    make_group(top, **{"cgroup.procs": "4711\n"})
    make_group(top / "billboards-server")
    (top / "billboards-run-999999999-ab").mkdir()
    (top / f"billboards-run-{os.getpid()}-cd").mkdir()
    prepare(top)
    assert (top / "billboards-server" / "cgroup.procs").read_text() == "4711"
    assert (top / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    assert [folder.name for folder in top.glob("billboards-run-*")] == [f"billboards-run-{os.getpid()}-cd"]


def test_where_no_group_is_given_a_run_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_groups, "delegated_group", lambda: None)
    with control_group(Limits()) as group:
        assert group is None
