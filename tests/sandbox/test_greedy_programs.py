"""Programs that want too much: processes, memory, disk, files, time, attention."""

from __future__ import annotations

import resource
from collections.abc import Callable

import pytest

from billboards.run.program_metrics import ProgramRun

Attack = Callable[..., ProgramRun]

#: Name: the program, its limits, the verdicts it may get, words of the message.
GREEDY: dict[str, tuple[dict[str, str | float], set[str], str]] = {
    "a fork bomb": (
        {"py": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"},
        {"processes"},
        "more than 24 processes",
    ),
    "a fork bomb of the shell": (
        {"sh": "bomb() { bomb & bomb & sleep 30; }; bomb", "wall_seconds": 5},
        {"processes", "exit code", "wall time"},
        "24 processes",
    ),
    "a thread bomb": (
        {
            "py": "import threading, time\nthreading.stack_size(65536)\nwhile True:\n"
            "    try: threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n"
            "    except RuntimeError: time.sleep(.1)"
        },
        {"processes"},
        "processes or threads",
    ),
    "a memory bomb": (
        {"py": "kept = []\nwhile True: kept.append(b'x' * (1 << 20))"},
        {"memory", "exit code"},
        "96 MiB of memory",
    ),
    "a memory bomb of many processes": (
        {
            "py": "import os, time\nfor _ in range(12):\n    if os.fork() == 0:\n"
            "        kept = b'x' * (16 << 20)\n        time.sleep(30)\ntime.sleep(30)"
        },
        {"memory"},
        "used more than 96 MiB of memory",
    ),
    "a memory bomb of shared memory": (
        {
            "py": "import mmap, time\nkept = []\nfor _ in range(40):\n"
            "    kept.append(mmap.mmap(-1, 4 << 20))\n    kept[-1].write(b'x' * (4 << 20))\ntime.sleep(30)"
        },
        # It is refused as such: what is taken out of a process's tables could not be counted.
        {"exit code"},
        "Operation not permitted",
    ),
    "a memory bomb of a process that closes its map": (
        {
            "py": "import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\nkept = b'x' * (150 << 20)\ntime.sleep(30)",
        },
        {"memory"},
        "used more than 96 MiB of memory",
    ),
    "all memory at one stroke": ({"py": "bytearray(10**12)"}, {"exit code"}, "it may use 96 MiB of memory"),
    "memory in files without a file system": (
        {"py": "import os\nos.memfd_create('hidden')"},
        {"exit code"},
        "Function not implemented",
    ),
    "memory in System V segments": (
        {"py": "import ctypes\nif ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600) < 0: exit('no segment')"},
        {"exit code"},
        "no segment",
    ),
    "a disk filler in /tmp": (
        {"sh": "for k in 1 2 3 4 5 6; do head -c 6M /dev/zero > /tmp/$k || exit 3; done"},
        {"exit code"},
        "its /tmp holds 16 MiB (tmp_bytes)",
    ),
    "a disk filler in /dev/shm": (
        {"sh": "for k in 1 2 3 4 5 6; do head -c 6M /dev/zero > /dev/shm/$k || exit 3; done"},
        {"exit code"},
        "No space left on device",
    ),
    "a disk filler beside the scores": (
        {"sh": "head -c 6M /dev/zero > $(dirname $4)/more"},
        {"exit code"},
        "No space left on device",
    ),
    "a disk filler in its folder": (
        {"sh": "head -c 1M /dev/zero > more"},
        {"exit code"},
        "only $TMPDIR and the folder of the scores file can be written",
    ),
    "a disk filler in /": (
        {"sh": "for place in / /etc /dev /given /billboards /environment /var; do echo x > $place/x; done; exit 4"},
        {"exit code"},
        "ended with exit code 4",
    ),
    "a huge sparse file": ({"sh": "exec truncate -s 1T $TMPDIR/x"}, {"file size"}, "a file of more than 8 MiB"),
    "too many files": (
        {"sh": "k=0; while true; do k=$((k + 1)); : > /tmp/$k; done"},
        {"files"},
        "made more than 500 files",
    ),
    "too many open files": (
        {"py": "kept = [open('/dev/null') for _ in range(1000)]"},
        {"exit code"},
        "it may have 64 files open (open_files)",
    ),
    "an endless loop": (
        {"sh": "while true; do :; done", "cpu_seconds": 0.5},
        {"cpu time"},
        "used more than 0.5 s of processor time",
    ),
    "endless loops in many processes": (
        {"sh": "for k in 1 2 3 4 5 6; do sh -c 'while true; do :; done' & done; wait", "cpu_seconds": 0.8},
        {"cpu time"},
        "processor time",
    ),
    "sleep for ever": ({"sh": "sleep 1000", "wall_seconds": 0.5}, {"wall time"}, "ran longer than 0.5 s"),
    "a sleeper that ignores every signal": (
        {
            "py": "import signal, time\nfor k in range(1, 65):\n    try: signal.signal(k, signal.SIG_IGN)\n"
            "    except (OSError, ValueError): pass\ntime.sleep(1000)",
            "wall_seconds": 0.5,
        },
        {"wall time"},
        "make it faster, or ask the board's owner for a higher wall_seconds",
    ),
    "a slow drip": (
        {"sh": "while true; do echo 0.5 >> $4; echo .; sleep 0.1; done", "wall_seconds": 0.6},
        {"wall time"},
        "ran longer than 0.6 s",
    ),
    "one that waits for input": ({"sh": "cat && exit 7"}, {"exit code"}, "exit code 7"),
    "deep recursion": (
        {"py": "import sys\nsys.setrecursionlimit(10**9)\ndef fall(k): return eval('fall(k)')\nfall(0)"},
        {"signal", "exit code", "memory"},
        "own: ",
    ),
}


@pytest.mark.parametrize("name", GREEDY)
def test_a_greedy_program_is_ended_and_told_why(name: str, attack: Attack) -> None:
    script, verdicts, words = GREEDY[name]
    done = attack(**script)
    assert done.outcome.verdict in verdicts, done.problem
    assert words in str(done.problem)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_is_drained_and_its_end_kept(stream: str, attack: Attack) -> None:
    done = attack(sh=f"head -c 50M /dev/zero | tr '\\0' x >&{1 + (stream == 'stderr')}; echo end >&2; echo end; exit 5")
    kept = str(getattr(done.outcome, stream))
    assert kept.startswith("[")
    assert "earlier bytes left out]" in kept
    assert kept.endswith("end\n")
    assert len(kept) < 4200
    assert "exit code 5" in str(done.problem)


def test_ten_gigabytes_of_stdout_cost_no_memory(attack: Attack) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = attack(sh="head -c 10G /dev/zero; exit 6", wall_seconds=1.0)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert done.problem is not None
    assert grown < 32 * 1024
    assert len(done.outcome.stdout) < 4200


def test_a_flood_into_the_result_is_refused_by_its_limit(attack: Attack) -> None:
    done = attack(sh='head -c 900k /dev/zero > "$4"')
    assert "wrote 900 KiB into scores.txt, which may have 64 KiB (result_bytes)" in str(done.problem)


def test_a_crash_leaves_no_core(attack: Attack) -> None:
    done = attack(sh="ulimit -c unlimited; cd /tmp; kill -ABRT $$")
    assert done.outcome.verdict == "signal"
    assert "was ended by the signal SIGABRT" in str(done.problem)
