"""Runs the kernels' tests on libraries that notice every mistake in C: reads past an array, overflows, NULL handed on.

    python tools/sanitize_kernels.py
    python tools/sanitize_kernels.py -k edit

The kernels are compiled with AddressSanitizer and UndefinedBehaviorSanitizer in a copy of `src`, and the tests that
call them with arrays of any content run there. The first mistake ends the run. Needs gcc or clang and their
sanitizers' libraries, on Linux; part of `make studies`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from build_kernels import KERNELS, SUFFIX, compile_kernel, compiler, sources  # noqa: E402

FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g", "-O1")
TESTS = ("tests/metrics/kernels",)


def library(name: str) -> str:
    """Where the compiler's own library of a sanitizer is; it must be loaded before Python's allocator is used."""
    command = [*compiler(), f"-print-file-name={name}"]
    path = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(path).is_absolute():
        raise SystemExit(f"{command[0]} has no {name}; install it (Debian: libgcc-12-dev or later, with libasan8)")
    return str(Path(path).resolve())


def main(arguments: list[str] | None = None) -> int:
    more = sys.argv[1:] if arguments is None else arguments
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"))
        for source in sources(ROOT / KERNELS):
            compile_kernel(source, (copy / KERNELS.relative_to("src") / source.name).with_suffix(SUFFIX), FLAGS)
        environment = {
            **os.environ,
            "PYTHONPATH": str(copy),
            "LD_PRELOAD": " ".join(map(library, ("libasan.so", "libubsan.so"))),
            # Python keeps much until its end, and on purpose.
            "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1:abort_on_error=1",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        }
        used = "import billboards; print(billboards.__file__)"
        found = subprocess.run(
            [sys.executable, "-c", used], env=environment, capture_output=True, text=True, check=True
        )
        if not found.stdout.startswith(work):
            raise SystemExit(f"the tests would use {found.stdout.strip()}, not the sanitized copy")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *TESTS, *more]
        done = subprocess.run(command, env=environment, cwd=ROOT, check=False)
    print("the kernels' tests ran under AddressSanitizer and UndefinedBehaviorSanitizer: ", end="")
    print("nothing was noticed" if done.returncode == 0 else "something was noticed")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
