"""Environments from wheels built here, found in a folder: no network, and nothing of a package runs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from program_runs import run_program

from billboards.errors import InvalidInput, InvalidSubmission, MissingPart
from billboards.metrics.base import Batch, MetricCard
from billboards.run import environments, wheel_installer
from billboards.run.environments import (
    EnvironmentLimits,
    build_environment,
    find_environment,
    made_environments,
    parse_requirements,
)
from billboards.run.program import ProgramMetric
from billboards.run.sandbox import sandbox_available


def wheel(
    folder: Path, name: str, version: str = "1.0", *, code: str = "", needs: str = "", extra: bytes = b""
) -> Path:
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.py", code)
        archive.writestr(f"{name}.bin", extra)
        archive.writestr(f"{info}/METADATA", metadata + (f"Requires-Dist: {needs}\n" if needs else ""))
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(
            f"{info}/RECORD", f"{name}.py,,\n{name}.bin,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n"
        )
    return path


def source_package(folder: Path, name: str, mark: Path) -> Path:
    """A package that must be built; its set-up would leave a mark."""
    path = folder / f"{name}-1.0.tar.gz"
    setup = (
        f"open({str(mark)!r}, 'w').write('built')\nfrom setuptools import setup\nsetup(name={name!r}, version='1.0')\n"
    )
    with tarfile.open(path, "w:gz") as archive:
        for file, text in (("setup.py", setup), ("PKG-INFO", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")):
            entry = tarfile.TarInfo(f"{name}-1.0/{file}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", ()),
        ("# nothing\n\n", ()),
        ("numpy==2.1.0\n", ("numpy==2.1.0",)),
        ("Foo_Bar[b, a] >= 1 , <2  # why\nnumpy\nnumpy\n", ("foo-bar[a,b]<2,>=1", "numpy")),
        ("x~=1.0.*\r\ny!=2+local", ("x~=1.0.*", "y!=2+local")),
    ],
)
def test_names_with_versions_are_read_into_one_spelling(text: str, asked: tuple[str, ...]) -> None:
    assert parse_requirements(text) == asked


@pytest.mark.parametrize(
    "line",
    [
        "-e .",
        "-r other.txt",
        "--index-url https://example.org",
        "--extra-index-url=https://example.org numpy",
        "numpy @ https://example.org/numpy.whl",
        "git+https://example.org/x.git",
        "https://example.org/x.whl",
        "./x.whl",
        "/etc/passwd",
        "..",
        "numpy==1.0 --global-option=x",
        "numpy; python_version < '3'",
        "numpy==1.0 \\",
        "numpy==$VERSION",
        "nümpy",
        "-",
    ],
)
def test_anything_else_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(InvalidSubmission, match=r"requirements.txt:2: .* is not a name with versions"):
        parse_requirements(f"numpy==1.0\n{line}\n")


def test_too_many_requirements_are_refused() -> None:
    with pytest.raises(InvalidSubmission, match="101 requirements; at most 100 are installed"):
        parse_requirements("\n".join(f"package{k}" for k in range(101)))


def test_nothing_required_needs_no_environment(tmp_path: Path) -> None:
    assert build_environment("# none\n", tmp_path / "home") is None
    assert not (tmp_path / "home").exists()


def test_a_metric_imports_what_it_requires_and_what_that_requires(tmp_path: Path, wheels: Path) -> None:
    wheel(
        wheels,
        "letters",
        code="from vowels import VOWELS\ndef count(text): return sum(c in VOWELS for c in text)\n",
        needs="vowels>=2",
    )
    wheel(wheels, "vowels", "2.1", code="VOWELS = 'aeiou'\n")
    environment = build_environment("letters==1.0\n", tmp_path / "home", wheels=wheels)
    assert environment is not None
    assert environment.installed == ("letters==1.0", "vowels==2.1")
    assert dict(made_environments(tmp_path / "home")) == {environment.folder.parent: ("letters==1.0",)}
    assert "Successfully installed letters-1.0 vowels-2.1" in environment.log

    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))
    folder = tmp_path / "metric"
    folder.mkdir()
    (folder / "metric.py").write_text(
        "import letters\ndef score(outputs, references, inputs): return [letters.count(o) for o in outputs]\n"
    )
    metric = ProgramMetric(MetricCard(name="vowels", needs_references=False), folder, "metric.py", environment)
    assert metric.score_batch(Batch(["banana", "rhythm"])).tolist() == [3.0, 0.0]
    without = run_program(ProgramMetric(metric.card, folder, "metric.py"), Batch(["banana"]))
    assert "name every package in requirements.txt; its last words: ModuleNotFoundError" in str(without.problem)
    assert metric.signature != ProgramMetric(metric.card, folder, "metric.py").signature


def test_an_environment_is_made_once_and_found_again(tmp_path: Path, wheels: Path) -> None:
    made = wheel(wheels, "letters", code="kept = 1\n")
    first = build_environment("letters", tmp_path / "home", wheels=wheels)
    made.unlink()
    assert build_environment("# the same\nLetters  \n", tmp_path / "home", wheels=wheels) == first
    assert [path.name for path in (tmp_path / "home").iterdir() if path.name.startswith(".")] == []


def test_a_package_that_must_be_built_is_refused_and_nothing_of_it_runs(tmp_path: Path, wheels: Path) -> None:
    source_package(wheels, "sourceonly", tmp_path / "mark")
    with pytest.raises(InvalidInput, match=r"no set of wheels .* fits sourceonly; only wheels are installed"):
        build_environment("sourceonly\n", tmp_path / "home", wheels=wheels)
    assert not (tmp_path / "mark").exists()
    assert list((tmp_path / "home").iterdir()) == []


def test_a_wheel_that_points_to_a_package_to_build_is_refused_and_nothing_of_it_runs(
    tmp_path: Path, wheels: Path
) -> None:
    built = source_package(tmp_path, "hidden", tmp_path / "mark")
    wheel(wheels, "letters", needs=f"hidden @ {built.as_uri()}")
    with pytest.raises(InvalidInput, match="a package wanted to be built; only wheels are installed"):
        build_environment("letters\n", tmp_path / "home", wheels=wheels)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    "start",
    [
        "os.execv(sys.executable, program)",
        "os.fork()",
        "os.forkpty()",
        "os.posix_spawn(sys.executable, program, {})",
        "os.spawnv(os.P_WAIT, sys.executable, program)",
        "os.system('echo started')",
        "pty.spawn(program)",
        "subprocess.run(program)",
    ],
)
def test_the_installer_starts_no_program_in_any_way(tmp_path: Path, start: str) -> None:
    (tmp_path / "pip").mkdir()
    lines = ("import os, pty, subprocess, sys", "program = [sys.executable, '-c', 'print(\"started\")']", start)
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text("".join(f"{line}\n" for line in (*lines, "print('started')")))
    command = [sys.executable, str(Path(wheel_installer.__file__))]
    variables = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, check=False, env=variables, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "PermissionError: a package wanted to be built; only wheels are installed" in ended.stderr


def test_a_wheel_that_unpacks_into_too_much_is_refused(tmp_path: Path, wheels: Path) -> None:
    wheel(wheels, "bomb", extra=bytes(30 << 20))
    limits = EnvironmentLimits(total_bytes=10 << 20)
    with pytest.raises(InvalidInput, match="10 MiB are allowed, so require fewer or smaller ones"):
        build_environment("bomb\n", tmp_path / "home", wheels=wheels, limits=limits)
    assert list((tmp_path / "home").iterdir()) == []


def test_a_wheel_cannot_write_outside_its_environment(tmp_path: Path, wheels: Path) -> None:
    path = wheel(wheels, "climber")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../../../../escaped.txt", "out")
    with pytest.raises(InvalidInput):
        build_environment("climber\n", tmp_path / "home", wheels=wheels)
    assert not list(tmp_path.rglob("escaped.txt"))


def test_a_cancelled_installation_ends(tmp_path: Path, wheels: Path) -> None:
    wheel(wheels, "letters")
    with pytest.raises(InvalidInput, match="installing was cancelled"):
        build_environment("letters\n", tmp_path / "home", wheels=wheels, cancelled=lambda: True)


def test_without_pip_the_message_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("billboards.run.environments.importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPart, match="python -m ensurepip"):
        build_environment("letters\n", tmp_path / "home")


@pytest.fixture
def indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The server's own index, whose newest torch needs CUDA, and one beside it with an older build that doesn't."""
    for place, name, version, needs in (
        ("usual", "torch", "2.5", "nvidia-cublas-cu12"),
        ("usual", "torch", "2.4", "nvidia-cublas-cu12"),
        ("usual", "nvidia-cublas-cu12", "12.4", ""),
        ("usual", "words", "1.0", "torch"),
        ("cpu", "torch", "2.4+cpu", ""),
    ):
        folder = tmp_path / "indexes" / place / name
        folder.mkdir(parents=True, exist_ok=True)
        wheel(folder, name.replace("-", "_"), version, needs=needs)
    handler = partial(QuietFiles, directory=str(tmp_path / "indexes"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/usual/")
        monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
        yield f"{address}/cpu/"
        server.shutdown()


class QuietFiles(SimpleHTTPRequestHandler):
    """A folder's files and lists of them, as pip reads an index."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_builds_without_cuda_are_taken_from_the_index_that_has_them(indexes: str, tmp_path: Path) -> None:
    made = build_environment("words", tmp_path / "environments", cpu_index=indexes)
    assert made is not None
    # An older torch, whose build needs no CUDA, and not the newest.
    assert made.installed == ("torch==2.4+cpu", "words==1.0")
    assert find_environment("words", tmp_path / "environments", cpu_index=indexes) == made
    assert find_environment("words", tmp_path / "environments") is None


def test_without_such_an_index_the_usual_build_is_taken(indexes: str, tmp_path: Path) -> None:
    made = build_environment("words", tmp_path / "environments")
    assert made is not None
    assert made.installed == ("nvidia_cublas_cu12==12.4", "torch==2.5", "words==1.0")


def test_a_version_that_has_no_build_without_cuda_is_refused(indexes: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no set of wheels"):
        build_environment("torch==2.5", tmp_path / "environments", cpu_index=indexes)


@pytest.mark.parametrize("word", ["NO_BINARY", "TARGET", "PREFIX", "ROOT", "USER", "REQUIREMENT", "EDITABLE"])
def test_settings_of_the_server_s_pip_that_change_what_is_installed_are_not_handed_on(
    word: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(f"PIP_{word}", "somewhere")
    monkeypatch.setenv("PIP_TIMEOUT", "99")
    handed = environments._pip_variables(tmp_path)
    assert f"PIP_{word}" not in handed
    assert (handed["PIP_TIMEOUT"], handed["TMPDIR"]) == ("99", str(tmp_path))
