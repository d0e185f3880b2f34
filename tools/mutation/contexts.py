"""Which tests reach which lines, measured once by coverage.py and kept in a file.

All tests run on a copy of the source, in parallel, with the test that runs now as coverage's context; processes that a
test starts are measured as well, unless they are started with an empty environment or ended by SIGKILL. The file is
kept for one state of the source, and for the files of it that were measured: all, or some, which is quicker. Test files
that are new or changed since are measured alone.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from coverage.numbits import numbits_any_intersection, nums_to_numbits

from mutation.runs import Ended, run_pytest

SCHEMA = """
CREATE TABLE source (digest TEXT NOT NULL);
CREATE TABLE test_file (path TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE test (name TEXT PRIMARY KEY, file TEXT NOT NULL, seconds REAL NOT NULL, fixtures TEXT NOT NULL);
CREATE TABLE reached (file TEXT NOT NULL, context TEXT NOT NULL, lines BLOB NOT NULL);
CREATE INDEX reached_file ON reached (file);
"""
#: coverage.py's settings; the context of a process that a test starts comes from its environment.
SETTINGS = """\
[run]
core = ctrace
data_file = {folder}/data
parallel = true
include = {include}
context = ${{MUTATION_CONTEXT-}}
sigterm = true
patch = _exit, fork
disable_warnings =
    already-imported
    couldnt-parse
    dynamic-conflict
    include-ignored
    module-not-imported
    module-not-measured
    module-not-python
    no-data-collected
    trace-changed
"""
#: Test files that are measured, and kept, at once; after an interrupt the next run goes on with the others.
FILES_AT_ONCE = 70
#: What is in the source's folder and says nothing about which line a test reaches.
PASSED_OVER = ("*.pyc", "*.so", "*.dll")


class ContextMap:
    """The measured tests of some files, given with their texts: how long each takes, and which lines it reaches."""

    def __init__(self, path: Path, texts: Mapping[str, str]) -> None:
        self.database = sqlite3.connect(path)
        self.texts = texts
        self.seconds: dict[str, float] = {}
        self._users: dict[str, set[str]] = {}
        for name, file, seconds, fixtures in self.database.execute("SELECT name, file, seconds, fixtures FROM test"):
            if file in texts:
                self.seconds[name] = seconds
                for context in (name, *json.loads(fixtures)):
                    self._users.setdefault(context, set()).add(name)

    def tests_reaching(self, lines: Mapping[str, Iterable[int]]) -> set[str]:
        """The tests that run any of these lines, which are given by file."""
        return self.tests_of(self.contexts_reaching(lines))

    def tests_of(self, contexts: Iterable[str]) -> set[str]:
        """The tests of these names, and those that use the fixtures of these names."""
        return {test for context in contexts for test in self._users.get(context, ())}

    def contexts_reaching(self, lines: Mapping[str, Iterable[int]]) -> set[str]:
        """The tests, fixtures and, as an empty text, what is neither, that run any of these lines."""
        contexts: set[str] = set()
        for file, numbers in lines.items():
            wanted = nums_to_numbits(numbers)
            for context, reached in self.database.execute("SELECT context, lines FROM reached WHERE file = ?", (file,)):
                if context not in contexts and numbits_any_intersection(wanted, reached):
                    contexts.add(context)
        return contexts


def open_map(
    path: Path, *, root: Path, copy: Path, tests: Sequence[str], workers: str, measured: Collection[str] = ()
) -> ContextMap:
    """The map in a file, after measuring what it lacks; `measured` names files of the source (default: all)."""
    wanted = {file.relative_to(root).as_posix(): _digest([file], root) for file in test_files(root, tests)}
    if not wanted:
        raise SystemExit(f"no test files in {', '.join(tests)}; name files or folders of tests in {root}")
    database = _database(path, "\n".join((source_digest(root / "src"), *sorted(measured))))
    kept = dict(database.execute("SELECT path, digest FROM test_file"))
    new = {file: digest for file, digest in wanted.items() if kept.get(file) != digest}
    for begin in range(0, len(new), FILES_AT_ONCE):
        some = dict(list(new.items())[begin : begin + FILES_AT_ONCE])
        done = f"; {begin} of {len(new)} are done" if begin else ""
        print(f"measuring which lines {len(some)} test files reach{done}", file=sys.stderr, flush=True)
        ended = _measure(list(some), root=root, copy=copy, workers=workers, measured=measured)
        with database:
            _forget(database, some)
            _keep(database, some, ended, copy)
    database.close()
    return ContextMap(path, {file: (root / file).read_text("utf-8") for file in wanted})


def file_of(test: str) -> str:
    return test.partition("::")[0]


def test_files(root: Path, tests: Sequence[str]) -> list[Path]:
    """The files with tests among these files and folders."""
    paths = [root / name for name in tests]
    return sorted({file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else [path])})


def source_digest(source: Path) -> str:
    """A digest of all that is in the source's folder, but for what is compiled."""
    files = [file for file in source.rglob("*") if file.is_file() and not any(map(file.match, PASSED_OVER))]
    return _digest((file for file in files if ".egg-info" not in file.as_posix()), source)


def _digest(files: Iterable[Path], root: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(root).as_posix()}\0".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _database(path: Path, digest: str) -> sqlite3.Connection:
    """The file's database; an empty one where it is for another source."""
    if path.exists():
        database = sqlite3.connect(path)
        if database.execute("SELECT digest FROM source").fetchone() == (digest,):
            return database
        database.close()
        path.unlink()
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    with database:
        database.execute("INSERT INTO source VALUES (?)", (digest,))
    return database


def _forget(database: sqlite3.Connection, files: Iterable[str]) -> None:
    """Drop what is kept of these test files."""
    for file in files:
        for start in (f"{file}::", f"fixture {file}::"):
            database.execute("DELETE FROM reached WHERE substr(context, 1, ?) = ?", (len(start), start))
        database.execute("DELETE FROM test WHERE file = ?", (file,))
        database.execute("DELETE FROM test_file WHERE path = ?", (file,))


def _measure(files: Sequence[str], *, root: Path, copy: Path, workers: str, measured: Collection[str]) -> Ended:
    """Run test files under coverage.py, which writes its files beside the copy of the source."""
    settings = copy.parent / "coverage.ini"
    include = "\n    ".join(["", *(f"{copy}/{file}" for file in sorted(measured) or ["*"])])
    settings.write_text(SETTINGS.format(folder=copy.parent, include=include), "utf-8")
    ended = run_pytest(
        root=root,
        source=copy,
        folder=copy.parent,
        arguments=[*(() if workers == "0" else ("-n", workers, "--dist", "loadfile")), *files],
        variables={"COVERAGE_PROCESS_START": str(settings)},
    )
    if ended.code not in (0, 1):
        raise SystemExit(f"the tests could not be run:\n{ended.output[-4000:]}")
    _report_left_out(ended)
    return ended


def _keep(database: sqlite3.Connection, files: Mapping[str, str], ended: Ended, copy: Path) -> None:
    """Keep which lines the tests of these files, given with their digests, reached."""
    database.executemany("INSERT INTO test_file VALUES (?, ?)", files.items())
    for record in ended.records:
        if record["outcome"] == "passed":
            row = (record["test"], file_of(record["test"]), record["seconds"], json.dumps(record["fixtures"]))
            database.execute("INSERT OR REPLACE INTO test VALUES (?, ?, ?, ?)", row)
    for data in sorted(copy.parent.glob("data.*")):
        database.executemany("INSERT INTO reached VALUES (?, ?, ?)", _reached(data, copy))
        data.unlink()


def _report_left_out(ended: Ended) -> None:
    """Say which tests are of no use here, because they fail on the source as it is."""
    failed = [record["test"] for record in ended.records if record["outcome"] == "failed"]
    if failed:
        print(f"{len(failed)} tests fail without any change and are left out:", *failed, sep="\n  ", file=sys.stderr)


def _reached(data: Path, source: Path) -> Iterator[tuple[str, str, bytes]]:
    """File, context and lines, in coverage.py's own form, from one of its files."""
    database = sqlite3.connect(data)
    tables = "line_bits JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
    try:
        for path, context, lines in database.execute(f"SELECT path, context, numbits FROM {tables}"):
            yield Path(path).relative_to(source).as_posix(), context, lines
    except sqlite3.DatabaseError as error:
        # Some tests end processes by SIGKILL, also in the middle of writing this.
        print(f"{data.name} of a process that was ended is damaged and left out: {error}", file=sys.stderr)
    finally:
        database.close()
