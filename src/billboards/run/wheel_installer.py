"""pip, unable to start another program: the one way in which it could run a package's own code is to build it.

Asked for wheels only, pip still builds what a wheel's metadata points to by address. Building means a new process, and
here no process can be made, so nothing of a package runs before it is in a sandbox. Stands alone, run by path.
"""

from __future__ import annotations

import runpy
import sys

STARTS_A_PROGRAM = (
    "subprocess.Popen",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "pty.spawn",
)


def refuse(event: str, _: tuple[object, ...]) -> None:
    if event in STARTS_A_PROGRAM:
        raise PermissionError("a package wanted to be built; only wheels are installed")


if __name__ == "__main__":
    sys.addaudithook(refuse)
    sys.argv[0] = "pip"
    runpy.run_module("pip", run_name="__main__")
