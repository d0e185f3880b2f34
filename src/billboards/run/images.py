"""A metric as an OCI image, run by podman or docker where the owner of a site has one of them.

An image is named with its digest, so that what runs tomorrow is what was tried today. It runs without a network, on a
read-only file system with a private /tmp, as nobody and without privileges, within limits of memory, processes,
processors and time. It reads one JSON line for each output from its standard input,

    {"seg_id": "5a…", "set_id": 1587…, "hyp": "the output", "src": "the input", "refs": ["a reference"]}

and writes one score a line to its standard output; what it writes to standard error is its log. What it does not
declare to need is empty, and ids mean nothing, as for any program.
"""

from __future__ import annotations

import codecs
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import IO

from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.base import Batch, MetricCard
from billboards.run.limits import MIB, Limits
from billboards.run.manifest import Contract
from billboards.run.program import json_lines_of
from billboards.run.program_metrics import ProgramRun, WatchedMetric, facts_signed, judged
from billboards.run.sandbox import Listener, Outcome, Stream
from billboards.run.shuffled_outputs import line_ids
from billboards.run.verdicts import WITHHELD, Verdict

ENGINES = ("podman", "docker")
IMAGE = re.compile(r"[a-z0-9](?:[a-z0-9._/-]|:[0-9]+/)*(?::[\w.-]+)?@sha256:[0-9a-f]{64}", re.ASCII)
LONGEST = 400
#: Processors that an image may use at a time, seconds that fetching one may take, and between looks.
CPUS, FETCH, PAUSE = 2, 1800.0, 0.05
#: How engines say that not the image but they themselves failed.
ENGINE_FAILED = 125
NOBODY = 65534
BLOCK = 1 << 16
DEFAULT_LIMITS, DEFAULT_CONTRACT = Limits(), Contract()


def find_engine() -> str:
    """The path of a program that runs images."""
    for name in ENGINES:
        if path := shutil.which(name):
            return path
    raise MissingPart(f"no {' or '.join(ENGINES)} is installed, so images can't be run; install one of them")


def checked_image(image: str) -> str:
    """An image's name with its digest."""
    if len(image) > LONGEST or IMAGE.fullmatch(image) is None:
        raise InvalidInput(
            f"{image[:80]!r} is no image with its digest; write registry/name@sha256:… with 64 hexadecimal digits"
        )
    return image


def fetch_image(engine: str, image: str, *, cancelled: Callable[[], bool] | None = None) -> str:
    """See that an image is here, by its digest; what the engine said where it had to be fetched."""
    if _asked(engine, "image", "inspect", image, seconds=60.0)[0] == 0:
        return ""
    code, output = _asked(engine, "pull", "--quiet", image, seconds=FETCH, cancelled=cancelled)
    if code != 0:
        raise MissingPart(f"the image could not be fetched: {output.strip()[-300:] or f'exit code {code}'}")
    return output


def _asked(engine: str, *words: str, seconds: float, cancelled: Callable[[], bool] | None = None) -> tuple[int, str]:
    """What an engine answers; a request that takes too long, or is unwanted by now, is ended."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [engine, *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        deadline = time.monotonic() + seconds
        while process.poll() is None:
            if time.monotonic() > deadline or (cancelled is not None and cancelled()):
                process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PAUSE)
        output.seek(max(0, output.tell() - BLOCK))
        return process.returncode, output.read().decode("utf-8", "replace")


@dataclass(frozen=True)
class ImageMetric(WatchedMetric):
    """An image that scores."""

    image: str
    engine: str
    limits: Limits = DEFAULT_LIMITS
    contract: Contract = DEFAULT_CONTRACT

    @property
    def signature(self) -> str:
        parts = {"image": self.image.rpartition("@")[2], **facts_signed(self.card, self.contract)}
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    def command(self, name: str) -> list[str]:
        """How it is run, under a name by which it can be ended."""
        limits = self.limits
        memory = str(limits.memory_bytes)
        walls = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
        walls += ["--user", f"{NOBODY}:{NOBODY}", "--tmpfs", f"/tmp:rw,nosuid,nodev,size={limits.tmp_bytes}"]
        bounds = ["--memory", memory, "--memory-swap", memory, "--pids-limit", str(limits.processes)]
        bounds += ["--cpus", str(CPUS), "--ulimit", f"nofile={limits.open_files}:{limits.open_files}"]
        bounds += ["--ulimit", f"cpu={int(limits.cpu_seconds) + 1}"]
        given = ["--env", "PYTHONHASHSEED=0", "--env", "OMP_NUM_THREADS=1"]
        start = [self.engine, "run", "--rm", "--interactive", "--pull", "never", "--name", name, "--log-driver", "none"]
        return [*start, *walls, *bounds, *given, self.image]

    def run(
        self,
        batches: Sequence[Batch],
        *,
        listen: Listener | None = None,
        cancelled: Callable[[], bool] | None = None,
        quoting: bool = True,
        seed: bytes | None = None,
        times: float | None = None,
    ) -> list[ProgramRun]:
        (batch,) = batches
        if not len(batch):
            raise MetricFailed(f"{self.name}: there is no output to score")
        given = given_lines(self.card, batch, secrets.token_bytes(32) if seed is None else seed)
        metric = self if times is None else replace(self, limits=self.limits.times(times))
        outcome = _run(metric, given, listen, cancelled, quoting=quoting)
        return judged(self.name, outcome, batches, quoting=quoting)


def given_lines(card: MetricCard, batch: Batch, seed: bytes) -> bytes:
    """What an image reads: a JSON line for each output."""
    inputs = batch.inputs if card.needs_input and batch.inputs else [""] * len(batch)
    references: Sequence[Sequence[str]] = [()] * len(batch)
    if card.needs_references and batch.references:
        references = batch.references
    cells = zip(line_ids(seed, len(batch)), batch.outputs, inputs, references, strict=True)
    return json_lines_of(
        {"seg_id": text_id, "set_id": number, "hyp": output, "src": text, "refs": list(refs)}
        for (text_id, number), output, text, refs in cells
    )


class _Drain(Thread):
    """Reads a stream to its end and keeps a part: the beginning of a result, the end of a log."""

    def __init__(self, stream: IO[bytes], most: int, listen: Callable[[str], None] | None = None) -> None:
        super().__init__(daemon=True)
        self.stream, self.most, self.listen = stream, most, listen
        self.total, self.kept = 0, bytearray()
        self.start()

    def run(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while block := os.read(self.stream.fileno(), BLOCK):
            if self.listen is not None:
                if self.total < self.most:
                    self.listen(
                        decoder.decode(block[: self.most - self.total]).replace("\0", "\N{REPLACEMENT CHARACTER}")
                    )
                self.kept += block
                del self.kept[: -self.most]
            elif len(self.kept) <= self.most:
                self.kept += block[: self.most + 1 - len(self.kept)]
            self.total += len(block)


def _run(
    metric: ImageMetric,
    given: bytes,
    listen: Listener | None,
    cancelled: Callable[[], bool] | None,
    *,
    quoting: bool,
) -> Outcome:
    limits, name = metric.limits, f"billboards-{secrets.token_hex(8)}"
    began, stopped = time.monotonic(), None
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = subprocess.Popen(
            metric.command(name), stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        assert process.stdout is not None
        assert process.stderr is not None
        stream: Stream = "stderr"
        log = _Drain(process.stderr, limits.output_bytes, lambda text: listen(stream, text) if listen else None)
        result = _Drain(process.stdout, limits.result_bytes)
        try:
            while process.poll() is None and stopped is None:
                stopped = _stopped(began, limits, result, cancelled)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(PAUSE)
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                # The one who asked for it is gone; what was asked for may still run.
                _asked(metric.engine, "rm", "--force", name, seconds=60.0)
            for drain in (log, result):
                drain.join(10)
            process.stdout.close()
            process.stderr.close()
    seconds = time.monotonic() - began
    # It may have ended between two looks.
    stopped = stopped or ("file size" if result.total > limits.result_bytes else None)
    output = bytes(log.kept).decode("utf-8", "replace")
    verdict, problem = _judged_end(process.returncode, stopped, limits, output, quoting=quoting)
    return Outcome(
        verdict=verdict,
        exit_code=process.returncode,
        stdout="",
        stderr=output,
        seconds=seconds,
        cpu_seconds=0.0,
        peak_memory=0,
        result=None if problem is not None else bytes(result.kept),
        problem=problem,
        platform=verdict == "broken",
    )


def _stopped(began: float, limits: Limits, result: _Drain, cancelled: Callable[[], bool] | None) -> Verdict | None:
    if cancelled is not None and cancelled():
        return "cancelled"
    if time.monotonic() - began > limits.wall_seconds:
        return "wall time"
    return "file size" if result.total > limits.result_bytes else None


def _judged_end(
    code: int, stopped: Verdict | None, limits: Limits, text: str, *, quoting: bool
) -> tuple[Verdict, str | None]:
    """How a run ended, and the sentence that tells its author; None where it ended well."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    words = f"; its last words: {lines[-1][-200:]}" if lines and quoting else ""
    sentences = {
        "cancelled": "was cancelled while it ran",
        "wall time": f"ran longer than {limits.wall_seconds:g} s and was ended; make it faster",
        "file size": f"wrote more than {limits.result_bytes // MIB} MiB of scores; write one line for each output",
    }
    if stopped is not None:
        return stopped, sentences[stopped]
    if code == 0:
        return "finished", None
    if code == ENGINE_FAILED:
        return "broken", "the engine could not run it, which is no fault of the image"
    if code == 128 + signal.SIGKILL:
        memory = limits.memory_bytes // MIB
        return "memory", f"was ended by SIGKILL; it may use {memory} MiB of memory, so use less{words}"
    if not quoting:
        return "exit code", f"ended with an exit code that is not 0; {WITHHELD}"
    return "exit code", f"ended with exit code {code}; 0 is needed{words}"
