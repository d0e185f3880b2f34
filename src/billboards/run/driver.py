"""Runs a metric that is one Python file, inside the sandbox, by the contract of run.sh.

Like the launcher it stands alone. It reads files of JSON lines, calls `score(outputs, references, inputs)`, and writes
what comes back, checked just enough to say in the author's own terms what is wrong with it; the outside checks the file
again.

A file that has `load()` is loaded once, and `score(outputs, references, inputs, loaded)` is called for one generator
after the other, each in a fork of the loaded process: what scoring changes in memory is gone with the fork, and so are
its files and processes. Where a fork can't be had, on a graphics card, all of them are scored in the loaded process.
"""

from __future__ import annotations

import ctypes
import importlib.util
import inspect
import json
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import Any

PR_SET_DUMPABLE = 4
BLOCK = 1 << 16
#: Seconds until what a fork left running must have ended.
PATIENCE = 10.0


def main(program: str, source: str, generator: str, references: str, scores: str) -> None:
    """Score one generator by a file without `load`."""
    function = named(load_module(program), program, "score")
    write(scores, called(function, read(source, generator, references)))


def main_loaded(program: str, company: str, given: str, count: str, scores: str) -> None:
    """Load once and score so many generators, whose files are numbered.

    `company` is `apart`, in a sandbox of our own; `trusted`, apart too, but among the processes of others; `together`.
    """
    module = load_module(program)
    function = named(module, program, "score")
    loaded = named(module, program, "load")()
    numbers: list[float] = []
    for k in range(int(count)):
        files = read(*(f"{given}/{k}.{name}.jsonl" for name in ("source", "generator", "references")))
        given_with = (*files, loaded)
        alone = company == "apart"
        numbers += called(function, given_with) if company == "together" else apart(function, given_with, alone=alone)
    write(scores, numbers)


def apart(function: Any, given: tuple[Any, ...], *, alone: bool) -> list[float]:
    """Call a function in a fork of this process, and leave nothing of it behind but its numbers.

    Only where this process and its parent are `alone` in their world may every other process be ended.
    """
    # A fork could else write into the memory of this process, which the next one begins with.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # What is still to be written would be written by the fork, too.
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setpgid(0, 0)
        score_in_fork(writing, function, given)
    os.close(writing)
    content = read_result(reading, child)
    _, status = os.waitpid(child, 0)
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    if alone:
        end_others()
        clear("/dev/shm")
    clear(os.environ["TMPDIR"])
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        # Ended by a signal: this process ends by the same, so that the outside sees it.
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    if code:
        sys.exit(code)
    return [float(number) for number in json.loads(content)]


def score_in_fork(pipe: int, function: Any, given: tuple[Any, ...]) -> None:
    """What a fork does: it never comes back."""
    code = 1
    try:
        content = json.dumps(called(function, given)).encode()
        while content:
            content = content[os.write(pipe, content) :]
        code = 0
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        code = error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001 - whatever it is, it must not run on as if it were the parent
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def read_result(pipe: int, child: int) -> bytes:
    """What a fork writes until it ends, also where others that it started hold the pipe open."""
    content = b""
    os.set_blocking(pipe, False)
    while True:
        # Asked before reading: what it wrote before it ended is there then.
        over = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        select.select([pipe], [], [], 0 if over else 0.02)
        with suppress(BlockingIOError):
            while block := os.read(pipe, BLOCK):
                content += block
        if over:
            os.close(pipe)
            return content


def end_others() -> None:
    """End what a fork left running; in the sandbox there is nobody else but the launcher, which is our parent."""
    spared, deadline = {1, os.getpid(), os.getppid()}, time.monotonic() + PATIENCE
    while others := {int(name) for name in os.listdir("/proc") if name.isdigit()} - spared:  # noqa: PTH208
        for process in others:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        if time.monotonic() > deadline:
            sys.exit("what score() left running can't be ended")
        time.sleep(0.001)


def clear(folder: str) -> None:
    """Empty a folder that a fork could write."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)  # noqa: PTH108


def called(function: Any, given: tuple[Any, ...]) -> list[float]:
    """What a function returns for some outputs: as many numbers."""
    outputs = given[0]
    values = answer(function, given)
    if values is None:
        sys.exit("score() returned nothing; return a number for each output")
    numbers = [number(value, k) for k, value in enumerate(values)]
    if len(numbers) != len(outputs):
        sys.exit(f"score() returned {len(numbers)} scores for {len(outputs)} outputs; return one for each, in order")
    return numbers


def answer(function: Any, given: tuple[Any, ...]) -> Any:
    """Call a function with all there is, in order; one that names less is given what it names."""
    names = ("outputs", "references", "inputs", "loaded")[: len(given)]
    try:
        named = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        named = names
    if 0 < len(named) < len(given) and set(named) <= set(names):
        return function(**{name: given[names.index(name)] for name in named})
    return function(*given)


def load_module(program: str) -> ModuleType:
    """A Python file as a module, which may import its neighbours."""
    sys.path.insert(0, str(Path(program).parent))
    spec = importlib.util.spec_from_file_location("submitted_metric", program)
    if spec is None or spec.loader is None:
        sys.exit(f"{Path(program).name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["submitted_metric"] = module
    spec.loader.exec_module(module)
    return module


def named(module: ModuleType, program: str, name: str) -> Any:
    """A function of the module."""
    function = getattr(module, name, None)
    if not callable(function):
        signature = "score(outputs, references, inputs)" if name == "score" else "load()"
        sys.exit(f"{Path(program).name} has no function {signature}")
    return function


def read(source: str, generator: str, references: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Outputs, references and inputs."""
    outputs = [line["hyp"] for line in lines(generator)]
    return outputs, [line["refs"] for line in lines(references)], [line["src"] for line in lines(source)]


def lines(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return [json.loads(line) for line in file]


def write(path: str, numbers: list[float]) -> None:
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - one plain write
        file.writelines(f"{score!r}\n" for score in numbers)


def number(value: object, k: int) -> float:
    """A score as a float; numbers of array libraries are welcome, truth values and texts are not."""
    if isinstance(value, bool) or not (isinstance(value, Real) or hasattr(value, "__float__")):
        sys.exit(f"score() returned {value!r:.60} for output {k + 1}; return a number for each output")
    return float(value)


if __name__ == "__main__":
    main_loaded(*sys.argv[2:]) if sys.argv[1] == "--loaded" else main(*sys.argv[1:])
