"""Processes of a test, found by a mark among their arguments."""

from __future__ import annotations

from pathlib import Path


def is_running(mark: str) -> bool:
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in arguments.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def children(pid: int) -> dict[int, str]:
    """The processes that a process has started, with their command lines."""
    found = {}
    try:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found[int(child)] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return found
    return found
