"""Whether the tests notice a change: it is made in a copy of the source, and the tests that reach it are run there.

With a map of which tests reach which lines, files whose tests are quick come first, in a few runs of growing length,
because most changes are noticed soon. Without one, the nearest test files come first, until a time is over. A test that
fails counts only if it passes on the source as it is, by itself.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mutation.contexts import ContextMap, file_of
from mutation.names import NameIndex
from mutation.near import NearTests
from mutation.operators import Mutant
from mutation.runs import TIMED_OUT, Ended, copy_source, run_pytest
from mutation.warm import WarmPytest

#: Seconds of tests in the first runs; the last takes the rest.
RUN_SECONDS = (5.0, 60.0)
#: How long tests may take: so many times their usual time, and so many seconds.
TIMES_USUAL, MORE_SECONDS = 4.0, 30.0
#: Files of tests in the first run, where the nearest are tried; each further run has twice as many.
FIRST_FILES = 4
#: Exit codes of pytest: all passed, nothing to run.
PASSED, NO_TESTS = 0, 5


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a mutant: killed, timeout, survived or not reached."""

    mutant: Mutant
    before: str
    after: str
    outcome: str
    reached_by: int = 0
    tests_tried: int = 0
    killed_by: str | None = None
    seconds: float = 0.0

    @property
    def killed(self) -> bool:
        return self.outcome in ("killed", "timeout")


@dataclass(kw_only=True)
class Laboratory(ABC):
    """What trials need: the checkout, the source as it is, and a folder for copies."""

    root: Path
    scratch: Path
    clean: Path
    files: Mapping[str, bytes]
    more_seconds: float = MORE_SECONDS

    @abstractmethod
    def tests_for(self, mutant: Mutant) -> Collection[str]:
        """The tests, or the files of tests, that a mutant is tried with."""

    @abstractmethod
    def run_all(self, folder: Path, copy: Path, tests: Collection[str]) -> tuple[str, int, str | None]:
        """Outcome, number of tests run, and the test that failed."""

    @abstractmethod
    def unsound(self, killers: Collection[str]) -> set[str]:
        """Those of the tests that failed that fail on the source as it is, too."""

    def try_out(self, number: int, mutant: Mutant, tests: Collection[str]) -> Verdict:
        """Run tests on a mutant until one fails."""
        began = time.monotonic()
        source = self.files[mutant.path]
        before, after = mutant.lines(source)
        folder = self.scratch / str(number)
        outcome, tried, killer = "not reached", 0, None
        if tests:
            copy = copy_source(self.clean, folder)
            write_mutant(copy, mutant, source)
            outcome, tried, killer = self.run_all(folder, copy, tests)
            shutil.rmtree(folder, ignore_errors=True)
        return Verdict(
            mutant=mutant,
            before=before,
            after=after,
            outcome=outcome,
            reached_by=len(tests),
            tests_tried=tried,
            killed_by=killer,
            seconds=round(time.monotonic() - began, 1),
        )


@dataclass(kw_only=True)
class MappedLaboratory(Laboratory):
    """Tries each mutant with the tests that reach its line."""

    tests: ContextMap
    names: NameIndex
    warm: WarmPytest | None = None
    _passes: dict[str, bool] = field(default_factory=dict)
    _checking: threading.Lock = field(default_factory=threading.Lock)

    def tests_for(self, mutant: Mutant) -> set[str]:
        """The tests that depend on the code that a mutant changes."""
        place = mutant.place
        if place.at_import:
            whole = {mutant.path: range(1, self.files[mutant.path].count(b"\n") + 2)}
            return self._tests_for_names(place.owner) or self.tests.tests_reaching(whole)
        contexts = self.tests.contexts_reaching({mutant.path: range(place.first, place.last + 1)})
        tests = self.tests.tests_of(contexts)
        only_at_import = not tests and "" in contexts
        if only_at_import or (tests and place.kept):
            tests |= self._tests_for_names(place.owner)
        return tests

    def _tests_for_names(self, names: Sequence[str]) -> set[str]:
        """The tests that run a line that depends on a name of a module, and those in files that mention it."""
        words = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
        mentioning = {file for file, text in self.tests.texts.items() if names and words.search(text)}
        lines = self.names.dependent_lines(names)
        return self.tests.tests_reaching(lines) | {test for test in self.tests.seconds if file_of(test) in mentioning}

    def run_all(self, folder: Path, copy: Path, tests: Collection[str]) -> tuple[str, int, str | None]:
        tried = 0
        for batch in batches({test: self.tests.seconds[test] for test in tests}):
            while batch:
                ended = self._run(folder, copy, batch)
                tried += len(ended.records)
                if ended.code == TIMED_OUT:
                    return "timeout", tried, None
                if ended.code in (PASSED, NO_TESTS):
                    break
                if self.passes_unchanged(ended.failed or batch[0]):
                    return "killed", tried, ended.failed
                if ended.failed is None:
                    raise SystemExit(f"{batch[0]} can't be run on the source as it is:\n{ended.output[-4000:]}")
                batch = batch[batch.index(ended.failed) + 1 :]
        return "survived", tried, None

    def unsound(self, killers: Collection[str]) -> set[str]:
        return {test for test in killers if not self.passes_unchanged(test)}

    def passes_unchanged(self, test: str) -> bool:
        """Whether a test passes by itself on the source as it is."""
        with self._checking:
            if test not in self._passes:
                ended = self._run(self.clean.parent, self.clean, [test])
                self._passes[test] = ended.code == PASSED
            return self._passes[test]

    def _run(self, folder: Path, copy: Path, batch: list[str]) -> Ended:
        usual = sum(self.tests.seconds[test] for test in batch)
        return run_pytest(
            root=self.root,
            source=copy,
            folder=folder,
            arguments=["-x", *dict.fromkeys(map(file_of, batch))],
            selected=batch,
            limit=TIMES_USUAL * usual + self.more_seconds,
            warm=self.warm,
        )


@dataclass(kw_only=True)
class NearLaboratory(Laboratory):
    """Tries each mutant with the test files near it, nearest first, for some seconds: what it kills, all tests kill."""

    near: NearTests
    seconds: float
    warm: WarmPytest | None = None
    _unsound: set[str] = field(default_factory=set)

    def tests_for(self, mutant: Mutant) -> list[str]:
        return self.near.order(mutant)

    def run_all(self, folder: Path, copy: Path, tests: Collection[str]) -> tuple[str, int, str | None]:
        tried, left, files = 0, self.seconds, list(tests)
        size = FIRST_FILES
        while files and left > 0:
            batch, files, size = files[:size], files[size:], 2 * size
            began = time.monotonic()
            ended = self._run(folder, copy, batch, left)
            left -= time.monotonic() - began
            tried += len(ended.records)
            if ended.code == TIMED_OUT:
                return ("timeout" if self._hangs(ended) else "survived"), tried, None
            if ended.failed is not None:
                return "killed", tried, ended.failed
            if ended.code not in (PASSED, NO_TESTS):
                if not self._can_be_imported(batch):
                    raise SystemExit(f"{batch[0]} can't be run on the source as it is:\n{ended.output[-4000:]}")
                return "killed", tried, None
        return "survived", tried, None

    def unsound(self, killers: Collection[str]) -> set[str]:
        """One run of all tests that failed, on the source as it is; from now on, those that fail there are left out."""
        if not killers:
            return set()
        ended = self._run(self.clean.parent, self.clean, sorted(killers), None, more=())
        passed = {record["test"] for record in ended.records if record["outcome"] == "passed"}
        failing = set(killers) - passed
        self._unsound |= failing
        return failing

    def _can_be_imported(self, files: Sequence[str]) -> bool:
        """Whether files of tests can be imported on the source as it is; a change that breaks this is noticed."""
        return self._run(self.clean.parent, self.clean, files, None, more=("--collect-only",)).code == PASSED

    def _hangs(self, ended: Ended) -> bool:
        """Whether the test that was ended takes much longer than on the source as it is."""
        if ended.running is None or ended.running_seconds < self.more_seconds:
            return False
        usual = self._run(self.clean.parent, self.clean, [ended.running], ended.running_seconds)
        allowed = TIMES_USUAL * sum(record["seconds"] for record in usual.records) + self.more_seconds
        return usual.code == PASSED and allowed < ended.running_seconds

    def _run(
        self, folder: Path, copy: Path, tests: Sequence[str], limit: float | None, *, more: Sequence[str] = ("-x",)
    ) -> Ended:
        left_out = [f"--deselect={test}" for test in sorted(self._unsound)]
        return run_pytest(
            root=self.root,
            source=copy,
            folder=folder,
            arguments=[*more, *left_out, *tests],
            limit=limit,
            warm=self.warm,
        )


def files_reached(mutants: Iterable[Mutant], names: NameIndex) -> set[str]:
    """The files of the source whose lines tell which tests may notice these mutants."""
    files = set[str]()
    for mutant in mutants:
        files.add(mutant.path)
        if mutant.place.at_import or mutant.place.kept:
            files.update(names.dependent_lines(mutant.place.owner))
    return files


def write_mutant(copy: Path, mutant: Mutant, source: bytes) -> None:
    """Change a copy of the source, and drop what Python has compiled of that file."""
    path = copy / mutant.path
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
    path.write_bytes(mutant.apply(source))


def batches(seconds: Mapping[str, float]) -> Iterator[list[str]]:
    """Tests in runs of growing length: quick files first, because a file's tests share fixtures."""
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in sorted(seconds, key=lambda test: (seconds[test], test)):
        by_file[file_of(test)].append(test)
    files = sorted(by_file.values(), key=lambda tests: (sum(seconds[test] for test in tests), tests[0]))
    bounds, batch, total = list(RUN_SECONDS), list[str](), 0.0
    for tests in files:
        batch += tests
        total += sum(seconds[test] for test in tests)
        if bounds and total >= bounds[0]:
            yield batch
            bounds, batch, total = bounds[1:], [], 0.0
    if batch:
        yield batch
