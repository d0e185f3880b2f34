"""The first program inside a sandbox: gives up every privilege, starts the submitted program, hands its result out.

It runs as the same user as the program, so it closes its memory to it; where that user is also the server's, it is the
first process of its world, which signals from inside don't reach. It stands alone (standard library only, run by path)
because nothing of billboards is in sight in there. It speaks to the outside through one pipe: `ready`, then, when the
program has ended, one line of JSON on how it ended and what its result file is, then the file's content. Whatever it
says comes from the program's side of the wall, so the outside reads it with a bound and checks it.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import stat
import sys
import time
from collections.abc import Callable
from typing import Any

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 1, 4, 24, 47, 4
CAPABILITY_VERSION_3 = 0x20080522
BLOCK = 1 << 16
UNREADABLE, UNKNOWN = "file that can't be read", "thing of no known kind"
KINDS: dict[str, Callable[[int], bool]] = {
    "file": stat.S_ISREG,
    "link": stat.S_ISLNK,
    "folder": stat.S_ISDIR,
    "named pipe": stat.S_ISFIFO,
    "socket": stat.S_ISSOCK,
    "device": lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode),
}


def main(plan_path: str, pipe: int) -> None:
    with open(plan_path, encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs a third of the start-up
        plan: dict[str, Any] = json.load(file)
    os.set_inheritable(pipe, False)
    if plan["uid"] is not None:
        become(plan["uid"])
    if plan["confined"]:
        close_memory()
    else:
        go_first()
        die_with_parent()
    os.chdir(plan["folder"])
    # Waited for by hand: a first process is not ended by an alarm, and a handler could be called by the program.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    os.write(pipe, b"ready\n")
    child = os.fork()
    if child == 0:
        start(plan)
    status = wait_for(child, plan["seconds"])
    hand_out(pipe, status, plan["result"], plan["result_bytes"])


def become(uid: int) -> None:
    """From root, of whom only the right to do this is left, to a user who is nobody else, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    header, nothing = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    if libc.capset(header, nothing) != 0:
        sys.exit("could not give up the capabilities")


def go_first() -> None:
    """When memory runs out for everybody, these processes shall go first. In a sandbox that was said at its start."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
        file.write("1000")


def die_with_parent() -> None:
    """What bubblewrap does for a sandbox: nothing outlives whoever started it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def close_memory() -> None:
    """No process of the same user can read or write this one's memory, files or registers from here on."""
    if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        sys.exit("could not close the launcher's memory")
    # Python has a handler for it, and what has a handler reaches a first process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for(child: int, seconds: float) -> int:
    """How a child ended; others that lost their parents are waited for, too, so that their time is counted."""
    deadline = time.monotonic() + seconds
    while True:
        pid = -1
        while pid != 0:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                return status
        left = deadline - time.monotonic()
        if left <= 0:
            sys.exit("nobody ended the program in time")
        signal.sigtimedwait({signal.SIGCHLD}, left)


def start(plan: dict[str, Any]) -> None:
    """Set the limits and become the program."""
    try:
        # In a sandbox the program may signal its whole group and is still reported on; outside, we need the group.
        os.setpgid(0, 0) if plan["confined"] else die_with_parent()
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            # Python ignores these; a program expects to be ended by them.
            signal.signal(ignored, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.nice(plan["nice"])
        for name, (soft, hard) in plan["limits"].items():
            resource.setrlimit(getattr(resource, name), (soft, hard))
        os.execve(plan["command"][0], plan["command"], plan["environment"])
    except OSError as error:
        os.write(2, f"the program could not be started: {error}\n".encode())
    finally:
        os._exit(127)


def hand_out(pipe: int, status: int, path: str, most: int) -> None:
    """How the program ended, what stands at `path`, and its content where that is a plain file."""
    state, size, file = "missing", 0, -1
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        state, size = kind(os.fstat(file).st_mode), os.fstat(file).st_size
    except FileNotFoundError:
        pass
    except OSError:
        state = kind_of_unopenable(path)
    if state == "file" and size > most:
        state = "too large"
    write_all(pipe, json.dumps({"status": status, "found": state, "size": size}).encode() + b"\n")
    left = most if state == "file" else 0
    while left > 0 and (block := os.read(file, min(BLOCK, left))):
        write_all(pipe, block)
        left -= len(block)


def kind(mode: int) -> str:
    for name, matches in KINDS.items():
        if matches(mode):
            return name
    return UNKNOWN


def kind_of_unopenable(path: str) -> str:
    """What stands where nothing could be opened: a link, a socket, a file that its own program locked away."""
    try:
        state = kind(os.lstat(path).st_mode)
    except OSError:
        return "missing"
    return UNREADABLE if state == "file" else state


def write_all(pipe: int, content: bytes) -> None:
    while content:
        content = content[os.write(pipe, content) :]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
