"""The sandbox as its callers see it: outcomes, live output, cancelling, and what happens where there is none."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest
from processes import is_running

from billboards.errors import MissingPart
from billboards.run import confinement, sandbox
from billboards.run.sandbox import Limits, Work, run, sandbox_available
from billboards.run.tally import ProcessView, Tally
from billboards.run.verdicts import Ending, outcome_of

LIMITS = Limits(wall_seconds=20, cpu_seconds=20, memory_bytes=256 << 20)

ORDINARY = """
import asyncio, concurrent.futures, fcntl, multiprocessing, os, shutil, socket, sqlite3, subprocess, sys
import tempfile, threading
from multiprocessing import shared_memory

def put(queue): queue.put(2)

async def echo():
    process = await asyncio.create_subprocess_exec("echo", "3", stdout=subprocess.PIPE)
    return (await process.communicate())[0].decode().strip()

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        one = pool.map(abs, [-1])[0]
    queue = multiprocessing.Queue()
    child = multiprocessing.Process(target=put, args=(queue,))
    child.start()
    two = queue.get()
    child.join()
    memory = shared_memory.SharedMemory(create=True, size=4096)
    memory.close()
    memory.unlink()
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(abs, range(9)))
    room = tempfile.gettempdir()
    with sqlite3.connect(f"{room}/words.db") as database:
        database.execute("create table words (word)")
        database.execute("insert into words values ('x')")
    with open(f"{room}/lock", "w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
    shutil.copytree("/metric", f"{room}/copy")
    subprocess.run(["cp", "-a", "/metric/ordinary.py", f"{room}/again"], check=True)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        far, _ = server.accept()
        near.sendall(b"x" * 1000)
        assert len(far.recv(2000)) > 0
        far.close()
    three = asyncio.run(echo())
    with open(sys.argv[1], "w") as file:
        print(one, two, three, file=file)
"""


def shell(folder: Path, script: str, **files: bytes) -> Work:
    return Work(folder, lambda places: ("/bin/sh", "-c", script, "sh", places.inputs, places.result), files)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "program"
    made.mkdir()
    return made


@pytest.fixture
def confined() -> None:
    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))


@pytest.fixture
def without_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server on which bubblewrap is not installed."""
    empty = tmp_path / "no-programs"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    for found in (confinement.bubblewrap, sandbox_available):
        found.cache_clear()
    yield
    for found in (confinement.bubblewrap, sandbox_available):
        found.cache_clear()


@pytest.mark.usefixtures("confined")
def test_a_program_reads_what_it_is_given_and_its_result_comes_back(folder: Path) -> None:
    outcome = run(
        shell(folder, 'cat "$1/words" > "$2"; echo said; echo warned >&2', words=b"two words\n"), limits=LIMITS
    )
    assert outcome.result == b"two words\n"
    assert (outcome.verdict, outcome.exit_code, outcome.problem) == ("finished", 0, None)
    assert (outcome.stdout, outcome.stderr) == ("said\n", "warned\n")
    assert not outcome.platform


@pytest.mark.usefixtures("confined")
def test_output_is_heard_while_the_program_runs_up_to_the_limit(folder: Path) -> None:
    heard: list[tuple[str, str]] = []
    limits = Limits(wall_seconds=20, output_bytes=6)
    outcome = run(
        shell(folder, "echo one; sleep .2; echo two; sleep .2; echo three"), limits=limits, listen=heard_in(heard)
    )
    assert "".join(text for _, text in heard) == "one\ntw"
    assert outcome.stdout == "[8 earlier bytes left out]\nthree\n"


def heard_in(heard: list[tuple[str, str]]) -> Callable[[str, str], None]:
    return lambda stream, text: heard.append((stream, text))


@pytest.mark.usefixtures("confined")
def test_a_cancelled_program_ends_at_once(folder: Path) -> None:
    heard: list[tuple[str, str]] = []
    outcome = run(
        shell(folder, "echo begun; sleep 1000"), limits=LIMITS, listen=heard_in(heard), cancelled=lambda: bool(heard)
    )
    assert outcome.verdict == "cancelled"
    assert outcome.problem == "was cancelled while it ran"
    assert outcome.seconds < 20


@pytest.mark.usefixtures("confined")
def test_a_listener_that_raises_ends_the_program(folder: Path) -> None:
    mark = f"3600.{time.monotonic_ns()}"

    def refuse(stream: str, text: str) -> None:
        raise OSError("the log is full")

    with pytest.raises(OSError, match="the log is full"):
        run(shell(folder, f"echo x; sleep {mark}"), limits=LIMITS, listen=refuse)
    assert not wait_for_end(mark)


@pytest.mark.usefixtures("confined")
def test_several_programs_run_at_once_and_know_nothing_of_one_another(folder: Path) -> None:
    works = [shell(folder, f'sleep .1; ls /proc | grep -c "^[0-9]" > $TMPDIR/n; echo {k} > "$2"') for k in range(6)]
    with ThreadPoolExecutor(3) as pool:
        results = [outcome.result for outcome in pool.map(run, works)]
    assert results == [f"{k}\n".encode() for k in range(6)]


@pytest.mark.usefixtures("confined")
def test_a_program_dies_with_a_server_that_is_killed(folder: Path) -> None:
    mark = f"3600.{time.monotonic_ns()}"
    server = f"""
import sys
from pathlib import Path
from billboards.run.sandbox import Work, run
command = ("/bin/sh", "-c", "(setsid sleep {mark} >/dev/null 2>&1 &); echo begun; sleep {mark}")
run(Work(Path({str(folder)!r}), lambda places: command), listen=lambda stream, text: print(text, flush=True))
"""
    process = subprocess.Popen([sys.executable, "-c", server], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert wait_for(lambda: is_running(mark))
    finally:
        process.kill()
        process.communicate()
    assert not wait_for_end(mark)


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("ending", ["sys.exit()", "time.sleep(3600)"])
def test_nothing_lives_after_a_run_whatever_became_of_the_sandboxs_own_processes(
    user: int, ending: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launcher that a program took over, and that no longer dies with its parent, leaves a process behind."""
    if user != os.geteuid():
        monkeypatch.setattr("billboards.run.confinement.os.geteuid", lambda: user)
    mark = f"3600.{time.monotonic_ns()}"
    taken_over = f"""
import ctypes, os, sys, time
os.write(int(sys.argv[2]), b"ready\\n")
ctypes.CDLL(None).prctl(1, 0)
if os.fork() == 0:
    os.setsid()
    os.execv("/bin/sleep", ["sleep", "{mark}"])
{ending}
"""
    files_inside = confinement._files_inside

    def with_another_launcher(work: Work, plan: bytes, uid: int | None) -> dict[str, bytes]:
        return {**files_inside(work, plan, uid), f"{confinement.OWN}/launcher.py": taken_over.encode()}

    monkeypatch.setattr(confinement, "_files_inside", with_another_launcher)
    outcome = run(shell(folder, "true"), limits=Limits(wall_seconds=1))
    assert outcome.result is None
    # Not after a while: at once.
    assert not is_running(mark)


class Crowded:
    """A sandbox's processes as the watch sees them: within every limit, but with so many locks."""

    def __init__(self, locks: int) -> None:
        self.held, self.looks, self.counts = locks, 0, 0

    def tally(self) -> Tally:
        self.looks += 1
        return Tally(memory=1, threads=1)

    def count_mappings(self) -> None:
        self.counts += 1

    def locks(self) -> int:
        return self.held


def test_mappings_and_locks_are_slow_to_count_so_this_is_done_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    def watch(view: Crowded) -> sandbox._Watch:
        with subprocess.Popen(["true"], stdout=subprocess.DEVNULL) as process:
            started = confinement.Started(process, pipe=-1, info=None)
        return sandbox._Watch(LIMITS, cast(ProcessView, view), started, lambda: None)

    monkeypatch.setattr(sandbox, "SELDOM", 3600.0)
    young, crowded = Crowded(1001), Crowded(1001)
    assert [watch(young)._excess() for _ in range(3)] == [None] * 3
    assert (young.looks, young.counts) == (3, 0)
    late = watch(crowded)
    late._counted -= 3601
    assert [late._excess() for _ in range(3)] == ["locks", None, None], "by the clock, not at every look"
    assert (crowded.looks, crowded.counts) == (3, 1)
    fits = watch(Crowded(1000))
    fits._counted -= 3601
    assert fits._excess() is None


def test_a_program_that_cannot_be_ended_is_the_platforms_fault() -> None:
    ending = Ending(
        ready=True, report=None, stopped="wall time", killed_from_outside=False, lives_on=True, stdout="", stderr="",
        seconds=1.0, cpu_seconds=0.0, peak_memory=0,
    )  # fmt: skip
    outcome = outcome_of(ending, LIMITS, "scores.txt")
    assert outcome.platform
    assert "its sandbox could not be ended" in str(outcome.problem)


@pytest.mark.usefixtures("confined")
def test_a_sandbox_killed_from_outside_is_the_platforms_fault(folder: Path) -> None:
    def kill_the_walls(stream: str, text: str) -> None:
        for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
            if b"bwrap" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)

    outcome = run(shell(folder, "echo begun; sleep 1000"), limits=LIMITS, listen=kill_the_walls)
    assert outcome.verdict == "broken"
    assert outcome.platform
    assert "ended from outside; this is no fault of the program" in str(outcome.problem)


@pytest.mark.usefixtures("confined")
def test_a_program_whose_command_is_not_there_is_told_so(folder: Path) -> None:
    outcome = run(Work(folder, lambda places: ("/usr/bin/not-there",)), limits=LIMITS)
    assert "could not be started: [Errno 2] No such file or directory" in str(outcome.problem)
    assert not outcome.platform


@pytest.mark.usefixtures("confined")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root's programs have a user of their own")
def test_a_folder_that_the_programs_user_may_not_enter_is_not_the_programs_fault(folder: Path) -> None:
    folder.chmod(0o700)
    outcome = run(shell(folder, "true"), limits=LIMITS)
    assert outcome.platform
    assert "could not be built or watched, which is no fault of the program" in str(outcome.problem)
    assert "Permission denied: '/metric'" in str(outcome.problem)


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("seconds", [0, 20])
def test_a_sandbox_that_can_not_be_looked_into_is_an_error_unless_it_has_ended(
    folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """The kernel refuses to look at a process that ends in this very moment, as it does where nobody may look."""

    def refuse(pid: int, _: object) -> None:
        while seconds == 0 and Path(f"/proc/{pid}").exists():
            time.sleep(0.01)
        raise PermissionError(13, "Permission denied", f"/proc/{pid}/root/proc")

    monkeypatch.setattr(sandbox, "ProcessView", refuse)
    work = shell(folder, f"echo 1 > $2; sleep {seconds}")
    if seconds:
        with pytest.raises(MissingPart, match="may not look into its sandboxes"):
            run(work, limits=LIMITS)
    else:
        assert run(work, limits=LIMITS).result == b"1\n"


@pytest.mark.usefixtures("confined")
def test_a_server_without_root_builds_the_same_walls() -> None:
    """Run by a system's Python as nobody where we are root, since there the kernel itself must be asked again."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        shutil.copytree(Path(confinement.__file__).parents[1], place / "billboards", ignore=only_the_sandbox)
        (place / "folder").mkdir(mode=0o755)
        (place / "folder" / "bomb.py").write_text(
            "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
        )
        script = """
import sys
from pathlib import Path
from billboards.run.sandbox import Limits, Work, run, sandbox_available
from billboards.run.verdicts import Ending, outcome_of
assert sandbox_available(), sandbox_available().reason
limits = Limits(wall_seconds=20, processes=20, memory_bytes=64 << 20)
held = "for k in 1 2 3 4; do (head -c 40M /dev/zero; sleep 9) | tail -n 1 & done; wait"
for script in ("echo 1 > $1", "exec python3 bomb.py", held):
    outcome = run(Work(Path("folder"), lambda places: ("/bin/sh", "-c", script, "sh", places.result)), limits=limits)
    print(outcome.verdict, outcome.result)
"""
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        python = "/usr/bin/python3" if other else sys.executable
        done = subprocess.run(
            [python, "-B", "-c", script],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            **other,  # type: ignore[call-overload]
        )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["finished b'1\\n'", "processes None", "memory None"]


def only_the_sandbox(folder: str, names: list[str]) -> set[str]:
    kept = {"__init__.py", "errors.py", "run"} if Path(folder).name == "billboards" else set(names)
    return {name for name in names if name not in kept}


@pytest.mark.usefixtures("without_bubblewrap")
def test_without_bubblewrap_a_program_is_refused_and_the_message_says_what_to_install(folder: Path) -> None:
    assert not sandbox_available()
    with pytest.raises(MissingPart, match=r"apt-get install bubblewrap.*or mark programs as trusted"):
        run(shell(folder, "true"))


@pytest.mark.usefixtures("without_bubblewrap")
def test_without_bubblewrap_a_trusted_program_runs_within_limits(folder: Path) -> None:
    fine = run(shell(folder, 'cat "$1/words" > "$2"', words=b"1\n"), limits=LIMITS, trusted=True)
    assert (fine.problem, fine.result) == (None, b"1\n")
    slow = run(shell(folder, "sleep 1000"), limits=Limits(wall_seconds=0.3), trusted=True)
    assert slow.verdict == "wall time"
    greedy = run(shell(folder, "exec head -c 20M /dev/zero > $2"), limits=Limits(file_bytes=1 << 20), trusted=True)
    assert greedy.verdict == "file size"
    assert "a file of more than 1 MiB" in str(greedy.problem)


@pytest.mark.usefixtures("without_bubblewrap")
def test_a_trusted_program_sees_no_variables_and_leaves_no_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_TOKEN", "secret")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    outcome = run(shell(folder, "env; touch $TMPDIR/left; exit 1"), limits=LIMITS, trusted=True)
    assert "secret" not in outcome.stdout
    assert f"TMPDIR={folder}/billboards-" in outcome.stdout
    assert not list(folder.glob("billboards-*"))


@pytest.mark.usefixtures("confined")
@pytest.mark.parametrize("user", [0, 1000])
def test_ordinary_programs_work_within_the_list_of_calls(
    user: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads, processes, queues, shared memory, locks, databases, sockets, copies of files."""
    if user != os.geteuid():
        monkeypatch.setattr("billboards.run.confinement.os.geteuid", lambda: user)
    (folder / "ordinary.py").write_text(ORDINARY)
    work = Work(folder, lambda places: (places.python, "ordinary.py", places.result))
    outcome = run(work, limits=LIMITS)
    assert outcome.stderr == ""
    assert outcome.result == b"1 2 3\n"


@pytest.mark.usefixtures("confined")
def test_a_trusted_program_is_confined_where_it_can_be(folder: Path) -> None:
    outcome = run(shell(folder, 'ls /proc | grep -c "^[0-9]*$"; exit 1'), limits=LIMITS, trusted=True)
    assert int(outcome.stdout) < 10


def test_a_bubblewrap_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho usage: bwrap --unshare-all\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    confinement.bubblewrap.cache_clear()
    try:
        with pytest.raises(MissingPart, match=r"bwrap is too old .* install bubblewrap 0\.8 or later"):
            confinement.bubblewrap()
    finally:
        confinement.bubblewrap.cache_clear()


def test_a_bubblewrap_that_may_not_make_sandboxes_is_no_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = tmp_path / "bwrap"
    refused.write_text(
        "#!/bin/sh\necho '--disable-userns'\necho 'bwrap: No permissions to create a namespace' >&2\nexit 1\n"
    )
    refused.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for found in (confinement.bubblewrap, sandbox_available):
        found.cache_clear()
    try:
        reason = str(sandbox_available().reason)
    finally:
        for found in (confinement.bubblewrap, sandbox_available):
            found.cache_clear()
    assert "No permissions to create a namespace" in reason
    assert "allow user namespaces to the server's user" in reason


def wait_for_end(mark: str) -> bool:
    """Whether a process with this mark among its arguments is left after a while."""
    return not wait_for(lambda: not is_running(mark))


def wait_for(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()
