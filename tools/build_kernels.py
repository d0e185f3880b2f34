"""Compiles the C kernels; run as a script, beside their sources.

A kernel is one C file without any dependency, made into one plain shared library: no Python headers are needed, and one
build serves every Python version. The compiler is the machine's own; where there is none, it is `ziglang`, a C compiler
that comes as a wheel.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

KERNELS = Path("src/billboards/metrics/kernels")
SUFFIX = ".dll" if sys.platform == "win32" else ".so"
#: No fused multiply-add: it would change the last digit of a score from one machine to the next.
FLAGS = ("-std=c11", "-O3", "-shared", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-Wall", "-Wextra")
#: A mistake in a kernel should end the process, not be of use to somebody: what is written past an array on the stack
#: is noticed, copies are checked against sizes that are known, and the table of functions can't be written to. Only
#: for ELF: other systems' linkers know none of it.
HARDENING = (
    "-fstack-protector-strong",
    "-U_FORTIFY_SOURCE",
    "-D_FORTIFY_SOURCE=2",
    "-Wl,-z,relro",
    "-Wl,-z,now",
    "-Wl,-z,noexecstack",
)


def own_compiler() -> list[str] | None:
    """The machine's compiler: what CC names, or the first of the usual names that works."""
    if named := os.environ.get("CC"):
        return shlex.split(named)
    found = filter(None, map(shutil.which, ("cc", "gcc", "clang")))
    return next(([path] for path in found if _works(path)), None)


def _works(path: str) -> bool:
    """Whether this is a compiler: macOS has a `cc` from the start that only tells where to get one."""
    return subprocess.run([path, "--version"], capture_output=True, check=False).returncode == 0


def compiler_wanted() -> list[str]:
    """What a build must install first: a compiler, where the machine has none."""
    return [] if own_compiler() else ["ziglang>=0.13"]


def compiler() -> list[str]:
    """The command of a C compiler."""
    if own := own_compiler():
        return own
    if find_spec("ziglang") is not None:
        # The baseline, as other compilers have it: a library built here may be run on an older machine.
        return [sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline"]
    raise SystemExit("no C compiler: install one (cc, gcc or clang), or `pip install ziglang`, or name one in CC")


def sources(folder: Path) -> list[Path]:
    """The kernels' C files."""
    return sorted(folder.glob("*.c"))


def digest(source: Path) -> str:
    """What a library says of its sources, so that one that is out of date is known before it is called."""
    headers = sorted(source.parent.glob("*.h"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in (source, *headers))).hexdigest()[:16]


def hardening() -> tuple[str, ...]:
    """The flags that make a library harder to abuse, where the system knows them."""
    return HARDENING if sys.platform == "linux" else ()


def compile_kernel(source: Path, target: Path, flags: Sequence[str] | None = None) -> None:
    """Compile one file; the library appears whole or not at all, whoever has the old one open.

    `flags` are given in addition to those that every kernel has; by default they are the system's `hardening`.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building-") as folder:
        built = Path(folder) / target.name
        define = f'-DSOURCE_DIGEST="{digest(source)}"'
        more = hardening() if flags is None else flags
        subprocess.run([*compiler(), *FLAGS, *more, define, str(source), "-o", str(built), "-lm"], check=True)
        built.replace(target)


def _is_current(source: Path, target: Path) -> bool:
    return target.exists() and digest(source).encode() in target.read_bytes()


def build_in_place(folder: Path = KERNELS) -> None:
    """Compile what is missing or out of date, beside its source."""
    for source in sources(folder):
        target = source.with_suffix(SUFFIX)
        if not _is_current(source, target):
            print(f"compiling {source}")
            compile_kernel(source, target)


if __name__ == "__main__":
    os.chdir(Path(__file__).parents[1])
    build_in_place()
