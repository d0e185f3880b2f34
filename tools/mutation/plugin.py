"""A pytest plugin that says which test runs now, keeps how each ended, and runs the tests of a list only.

Which test runs now is told to coverage.py in this process, and through the environment to processes that the test
starts. What a fixture of a class, a module or the session runs belongs to every test that uses it, not to the first
alone, so it goes under the fixture's name.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from coverage import Coverage

#: Variables of the environment: the folder for what is kept, a file with the tests to run, and the test that runs now.
RECORDS, SELECTED, CONTEXT = "MUTATION_RECORDS", "MUTATION_SELECTED", "MUTATION_CONTEXT"
#: A file in the folder of records that is made when the tests begin.
BEGUN = "begun"
#: A file in the folder of records that names the test that runs now.
RUNNING = "running"
#: An option of hypothesis, where that is installed: the same examples in every run.
HYPOTHESIS_SEED = "--hypothesis-seed"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(HYPOTHESIS_SEED, default="absent") is None:
        config.option.hypothesis_seed = "0"
    if folder := os.environ.get(RECORDS):
        config.pluginmanager.register(_Recorder(Path(folder)), "mutation-recorder")


class _Recorder:
    """Keeps a line for each test that ran in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / f"{os.getpid()}.jsonl"
        self.context = ""
        self.fixtures: dict[str, set[str]] = {}
        self.outcomes: set[str] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests of the list, in its order."""
        if (listed := os.environ.get(SELECTED)) is None:
            return
        by_name = {item.nodeid: item for item in items}
        chosen = [by_name[name] for name in json.loads(Path(listed).read_text("utf-8")) if name in by_name]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen

    def pytest_collection_finish(self) -> None:
        (self.folder / BEGUN).touch()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.outcomes = set()
        began = time.perf_counter()
        (self.folder / RUNNING).write_text(item.nodeid, "utf-8")
        with self.run_as(item.nodeid):
            result = yield
        record = {
            "test": item.nodeid,
            "seconds": round(time.perf_counter() - began, 4),
            "outcome": next((name for name in ("failed", "skipped") if name in self.outcomes), "passed"),
            "fixtures": self.fixtures_of(item),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.outcomes.add(report.outcome)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        self.fixtures.setdefault(fixturedef.argname, set()).add(fixturedef.baseid)
        with self.run_as(fixture_context(fixturedef.baseid, fixturedef.argname)):
            return (yield)

    def fixtures_of(self, item: pytest.Item) -> list[str]:
        """The fixtures, set up so far for more than one test, that a test uses."""
        return [
            fixture_context(base, name)
            for name in getattr(item, "fixturenames", ())
            for base in sorted(self.fixtures.get(name, ()))
            if item.nodeid.startswith(base)
        ]

    @contextmanager
    def run_as(self, context: str) -> Iterator[None]:
        """What runs meanwhile is run by this test or fixture."""
        before, self.context = self.context, context
        self.tell()
        try:
            yield
        finally:
            self.context = before
            self.tell()

    def tell(self) -> None:
        os.environ[CONTEXT] = self.context
        if (measuring := Coverage.current()) is not None:
            measuring.switch_context(self.context)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Save what was measured: a worker of pytest-xdist may be ended without a chance to."""
        if (measuring := Coverage.current()) is not None:
            measuring.stop()
            measuring.save()


def fixture_context(base: str, name: str) -> str:
    return f"fixture {base}::{name}"
