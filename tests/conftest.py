"""What tests share: where the human-evaluation data lie, and that nothing may be skipped where all is installed."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from judge_server import JudgeServer
from loopback_dask import LoopbackDask
from postgres import PostgresServer, find_programs

FORBID_SKIPS = "BILLBOARDS_FORBID_SKIPS"
STUDIES = "BILLBOARDS_STUDIES"
STAND_INS = Path(__file__).with_name("stand_ins")
#: Caches that hold models or a board's texts, by module.
LARGE_CACHES = {
    "billboards.board.doubts": ("shingles",),
    "billboards.metrics.hf_evaluate": ("_loaded",),
    "billboards.metrics.neural.alignscore": ("pair_reader",),
    "billboards.metrics.neural.bleurt": ("pair_reader",),
    "billboards.metrics.neural.clip": ("clip_towers",),
    "billboards.metrics.neural.encoder": ("encoder",),
    "billboards.metrics.neural.first_step": ("first_step",),
    "billboards.metrics.neural.likelihood": ("language_model",),
    "billboards.metrics.neural.qa_answers": ("span_reader",),
    "billboards.metrics.neural.qa_questions": ("tagger",),
    "billboards.metrics.neural.summac": ("nli_reader", "conv_layers"),
    "billboards.metrics.neural.weights": ("_read_tensors",),
    "billboards.metrics.neural.word_vectors": ("_opened",),
    "billboards.metrics.wordnet": ("opened", "synonyms"),
}

# Threads that wait for one another do badly on a machine that tests share; set before anything that computes is loaded.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

# Processes that tests start find compiled Python where the environment keeps it from being written, too.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# On a machine that is shared, how long an example takes says nothing.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


# A shell without job control lets what it starts in the background ignore Ctrl-C, and all that this starts again.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors, since many tests wait for processes of their own."""
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def find_shared_data() -> Path | None:
    """The shared data's folder, from the environment or beside the checkout."""
    named = os.environ.get("BILLBOARDS_SHARED")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    data = root / "data"
    return data if data.is_dir() else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long forms are for `make studies`; whoever names one test gets it, too."""
    if os.environ.get(STUDIES) or any("::" in word for word in config.args):
        return
    studies = [item for item in items if item.get_closest_marker("study")]
    if studies:
        items[:] = [item for item in items if not item.get_closest_marker("study")]
        config.hook.pytest_deselected(items=studies)


def pytest_collection_finish() -> None:
    """What all test files have loaded stays, so that no collection of garbage looks through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def memory_is_given_back() -> Iterator[None]:
    """What a file's tests leave in the large caches, and what the allocator keeps free, goes at the file's end."""
    yield
    for module, names in LARGE_CACHES.items():
        for name in names:
            if module in sys.modules:
                getattr(sys.modules[module], name).cache_clear()
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


@pytest.fixture(autouse=True)
def signals_mean_what_they_meant() -> Iterator[None]:
    """No test leaves a handler behind: a peer's pool of processes, forked later, could not be ended."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    left = [number.name for number, handler in before.items() if signal.getsignal(number) is not handler]
    for number, handler in before.items():
        signal.signal(number, handler)
    assert not left, f"handlers of {', '.join(left)} were left behind"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real human-evaluation data; tests that need it skip, saying so, where it is absent."""
    data = find_shared_data()
    if data is None:
        pytest.skip("the human-evaluation data are absent: set BILLBOARDS_SHARED or put shared/ beside the checkout")
    return data


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; tests that need it skip, saying so, where it is not installed."""
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL's server is not installed; Debian has it as postgresql")
    with PostgresServer(programs) as server:
        yield server


@pytest.fixture(scope="session")
def loopback_dask() -> Iterator[LoopbackDask]:
    """A Dask cluster of two workers."""
    with LoopbackDask() as cluster:
        yield cluster


@pytest.fixture
def small_wordnet(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A WordNet of a few words, configured."""
    monkeypatch.setenv("BILLBOARDS_WORDNET", str(STAND_INS / "wordnet"))
    return STAND_INS / "wordnet"


@pytest.fixture
def spice_jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A jar, configured, that `java` runs as a small program with the interface of SPICE's."""
    java, jar = tmp_path / "bin" / "java", tmp_path / "spice-1.0.jar"
    java.parent.mkdir()
    java.write_text(f'#!/bin/sh\nexec {sys.executable} {STAND_INS / "spice.py"} "$@"\n')
    java.chmod(0o755)
    jar.touch()
    monkeypatch.setenv("PATH", f"{java.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("BILLBOARDS_SPICE", str(jar))
    return jar


@pytest.fixture(scope="session")
def standing_judge_server() -> Iterator[JudgeServer]:
    """A language model's endpoint on this machine."""
    with JudgeServer() as server:
        yield server


@pytest.fixture
def judge_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No judge is named, and answers are kept in a file of the test's own."""
    for name in ("URL", "KEY", "MODEL", "PRICES", "PER_MINUTE", "AT_ONCE", "SECONDS", "BUDGET", "TOKENS"):
        monkeypatch.delenv(f"BILLBOARDS_JUDGE_{name}", raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BILLBOARDS_JUDGE_CACHE", str(tmp_path / "judge" / "answers.sqlite"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where every part is said to be installed, a skipped test is a failed one."""
    report = yield
    if report.skipped and os.environ.get(FORBID_SKIPS) and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped where {FORBID_SKIPS} is set: {reason}"
    return report
