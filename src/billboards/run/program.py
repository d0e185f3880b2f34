"""A submitted program as a metric: a folder with `run.sh`, or a Python file with one function (Billboards, §2.1).

The program is given files of JSON lines and writes a score per line. It sees the outputs, and of references and inputs
only what it declared to need; it never sees who wrote an output, a judgment, or another submission, and the ids of
outputs mean nothing. A Python file that has `load()` is loaded once for several calls, which are apart from one
another. Its signature carries digests of the folder and of its environment, so a changed program is another column.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from billboards.errors import InvalidSubmission, MetricFailed, Problem
from billboards.metrics.base import Batch, MetricCard
from billboards.run.confinement import FOLDER
from billboards.run.environments import Environment
from billboards.run.manifest import SHELL, Contract, Manifest, read_manifest
from billboards.run.program_metrics import ProgramRun, WatchedMetric, facts_signed, judged
from billboards.run.sandbox import Limits, Listener, Places, Work, run
from billboards.run.shuffled_outputs import keyed, line_ids

SOURCE, GENERATOR, REFERENCES, DRIVER = "source.jsonl", "generator.jsonl", "references.jsonl", "driver.py"
DEFAULT_LIMITS, DEFAULT_CONTRACT = Limits(), Contract()
READABLE, OPEN = 0o004, 0o005
#: Line ends of Unicode, at which JSON does not end but many a program's lines do.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}
_BLOCK = 1 << 20
#: How a Python file says that it has a step to be done once: `load`, and a `score` that takes what was `loaded`.
_LOAD, _SCORE = (re.compile(p, re.MULTILINE) for p in (rb"^def load\s*\(", rb"^def score\s*\(([^)]*)"))
_LOADED = re.compile(rb"\bloaded\b")


@dataclass(frozen=True)
class ProgramMetric(WatchedMetric):
    """A program that scores, with every reference of each output."""

    folder: Path
    entry: str
    environment: Environment | None = None
    trusted: bool = False
    limits: Limits = DEFAULT_LIMITS
    #: Files of graphics cards that it is given. No fork can be had of a process that uses one, so all generators of a
    #: run are then scored in one process, if it loads.
    devices: tuple[str, ...] = ()
    contract: Contract = DEFAULT_CONTRACT

    @cached_property
    def digest(self) -> str:
        """A digest of the folder's content."""
        return folder_digest(self.folder)

    @property
    def signature(self) -> str:
        """Everything that a score can depend on; limits and trust decide only whether there is one."""
        parts = {
            "program": self.digest[:32],
            "entry": self.entry,
            "environment": "none" if self.environment is None else self.environment.digest[:32],
            "python": platform.python_version(),
            **facts_signed(self.card, self.contract),
        }
        if self.devices:
            parts |= {"device": "gpu", "company": "one process" if self.loads else "none"}
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    @cached_property
    def loads(self) -> bool:
        """Whether it is a Python file with a step that is done once for all generators."""
        if self.entry == SHELL:
            return False
        text = (self.folder / self.entry).read_bytes()
        # Each list of parameters is looked at once, whatever it is a list of.
        return _LOAD.search(text) is not None and any(map(_LOADED.search, _SCORE.findall(text)))

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
        return run_rows(self, batches, listen=listen, cancelled=cancelled, quoting=quoting, seed=seed, times=times)


def open_program(
    folder: Path,
    *,
    manifest: Manifest | None = None,
    environment: Environment | None = None,
    trusted: bool = False,
    limits: Limits | None = None,
    devices: tuple[str, ...] = (),
) -> ProgramMetric:
    """The metric in a folder, by its `metric.toml` or the manifest given; `InvalidSubmission` if it can't be run."""
    manifest = read_manifest(folder) if manifest is None else manifest
    _check_doors(folder)
    return ProgramMetric(
        card=manifest.card,
        folder=folder,
        entry=manifest.entry,
        environment=environment,
        trusted=trusted,
        limits=limits or DEFAULT_LIMITS,
        devices=devices,
        contract=manifest.contract,
    )


def run_rows(
    program: ProgramMetric,
    batches: Sequence[Batch],
    *,
    listen: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    quoting: bool = True,
    seed: bytes | None = None,
    times: float | None = None,
) -> list[ProgramRun]:
    """Run a program once on several batches of outputs, which only one that `loads` can be given together.

    Time and processor time are those of one generator, so many `times`. What goes wrong with one is said of all.
    """
    if not batches or not all(map(len, batches)):
        raise MetricFailed(f"{program.name}: there is no output to score")
    seed = secrets.token_bytes(32) if seed is None else seed
    outcome = run(
        _loaded_work(program, batches, seed) if program.loads else _work(program, batches[0], seed),
        limits=program.limits.times(len(batches) if times is None else times),
        trusted=program.trusted,
        listen=listen,
        cancelled=cancelled,
        quoting=quoting,
    )
    return judged(program.name, outcome, batches, quoting=quoting)


def folder_digest(folder: Path) -> str:
    """A digest of names, contents and executable bits in a folder."""
    whole = hashlib.sha256()
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        mark = "x" if path.stat().st_mode & 0o111 else "-"
        whole.update(f"{len(name)}:{name}:{mark}:{_file_digest(path)}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def given_files(card: MetricCard, batch: Batch, seed: bytes) -> dict[str, bytes]:
    """The three files a program reads, line by line for the same output; what it doesn't need is empty in them."""
    nothing = [""] * len(batch)
    inputs: Sequence[str] = batch.inputs if card.needs_input and batch.inputs else nothing
    references: Sequence[Sequence[str]] = batch.references if card.needs_references and batch.references else nothing
    named = zip(line_ids(seed, len(batch)), batch.outputs, strict=True)
    outputs = ({"seg_id": text_id, "set_id": number, "hyp": output} for (text_id, number), output in named)
    return {
        SOURCE: json_lines_of({"src": text} for text in inputs),
        GENERATOR: json_lines_of(outputs),
        REFERENCES: json_lines_of({"refs": list(texts)} for texts in references),
    }


def _work(program: ProgramMetric, batch: Batch, seed: bytes) -> Work:
    files = given_files(program.card, batch, seed)

    def arguments(places: Places) -> list[str]:
        return [*(f"{places.inputs}/{name}" for name in (SOURCE, GENERATOR, REFERENCES)), places.result]

    def shell(places: Places) -> list[str]:
        return ["/bin/sh", SHELL, *arguments(places)]

    def python(places: Places) -> list[str]:
        driver, source = f"{places.inputs}/{DRIVER}", f"{places.folder}/{program.entry}"
        return [places.python, "-B", driver, source, *arguments(places)]

    environment = None if program.environment is None else program.environment.folder
    if program.entry == SHELL:
        return Work(program.folder, shell, files, environment, devices=program.devices)
    driver = {DRIVER: Path(__file__).with_name(DRIVER).read_bytes()}
    return Work(program.folder, python, {**files, **driver}, environment, devices=program.devices)


def _loaded_work(program: ProgramMetric, batches: Sequence[Batch], seed: bytes) -> Work:
    """Several batches for a program that is loaded once; their files are numbered."""
    files = {DRIVER: Path(__file__).with_name(DRIVER).read_bytes()}
    for k, batch in enumerate(batches):
        given = given_files(program.card, batch, keyed(seed, str(k)))
        files |= {f"{k}.{name}": content for name, content in given.items()}

    def python(places: Places) -> list[str]:
        driver, source = f"{places.inputs}/{DRIVER}", f"{places.folder}/{program.entry}"
        given = [places.inputs, str(len(batches)), places.result]
        # Only behind walls is every other process one that the program has started.
        company = "together" if program.devices else "apart" if places.folder == FOLDER else "trusted"
        return [places.python, "-B", driver, "--loaded", source, company, *given]

    environment = None if program.environment is None else program.environment.folder
    return Work(program.folder, python, files, environment, devices=program.devices)


def json_lines_of(lines: Iterable[Mapping[str, object]]) -> bytes:
    """JSON lines that any program may cut at line ends."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return text.translate(_ESCAPED).encode("utf-8", "replace")


def _files(folder: Path) -> Iterator[Path]:
    """Plain files below a folder in a fixed order; links lead nowhere and are left out."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _file_digest(path: Path) -> str:
    content = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            content.update(block)
    return content.hexdigest()


def _check_doors(folder: Path) -> None:
    """A program runs as a user of its own, who must be able to read it."""
    closed = [path for path in _files(folder) if not path.stat().st_mode & READABLE]
    closed += [Path(where) for where, _, _ in os.walk(folder) if Path(where).stat().st_mode & OPEN != OPEN]
    if closed:
        message = f"is closed to other users; open it with `chmod -R a+rX {folder.name}`"
        raise InvalidSubmission([Problem(str(path.relative_to(folder.parent)), None, message) for path in closed])
