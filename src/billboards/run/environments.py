"""The packages a submitted metric asks for, installed without running a line of them.

Requirements are plain names with versions. pip picks wheels, unpacks them into a folder of their own, and can start no
other program meanwhile; the folder is later shown to the metric, read-only, inside its sandbox. An environment is made
once for equal requirements, under a temporary name, and moved into place whole.

Where the owner names an index with CPU builds, a metric that asks for no graphics card gets them, with what else it
needs from the usual one: packages of CUDA are ruled out, so that a build which needs them is passed over.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from billboards.errors import InvalidInput, InvalidSubmission, MissingPart, Problem, StoreFailed
from billboards.reading import json_value
from billboards.run.limits import MIB

FILE = "requirements.txt"
PACKAGES, RECORD, LOG = "packages", "environment.json", "log.txt"
#: How many requirements a metric may have.
MOST = 100
#: Packages that builds of torch and others for graphics cards require, under the names they have had: no version of
#: them is 0, so that a build which requires one can't be chosen.
CUDA = tuple(
    f"nvidia-{part}{suffix}" for part in ("cublas", "cuda-runtime") for suffix in ("", "-cu11", "-cu12", "-cu13")
)
WITHOUT_CUDA = "without-cuda.txt"
_BUILDING = ".building-"
_STALE = 24 * 3600.0
_PAUSE = 0.1
_KEPT_LOG = 1 << 16
#: No name with versions is longer; the time that a pattern takes for a line of blanks grows with its square.
LONGEST_LINE = 1000
_VERSION = r"(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*"
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*"
    r"(?P<extras>\[\s*[A-Za-z0-9._-]+(?:\s*,\s*[A-Za-z0-9._-]+)*\s*\])?\s*"
    rf"(?P<versions>{_VERSION}(?:\s*,\s*{_VERSION})*)?",
    re.ASCII,
)
#: Settings of the server's own pip that would change what is installed, or where.
_NOT_HANDED_ON = (
    "PIP_NO_BINARY",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "PIP_REQUIREMENT",
    "PIP_EDITABLE",
)
#: Words of pip for what is the server's trouble, not the requirements'.
_OURS = ("NewConnectionError", "ReadTimeout", "ConnectTimeout", "SSLError", "ProxyError", "No space left on device")


@dataclass(frozen=True, slots=True)
class EnvironmentLimits:
    """How large an environment may be, and how long its making may take."""

    wall_seconds: float = 900.0
    total_bytes: int = 8192 * MIB
    files: int = 200_000
    requirements: int = MOST


@dataclass(frozen=True, slots=True)
class Source:
    """Where wheels come from, beside or instead of the index that the server's pip is set to."""

    wheels: Path | None = None
    cpu_index: str | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Installed packages: where, exactly which, and what pip said."""

    folder: Path
    digest: str
    installed: tuple[str, ...]
    log: str


def parse_requirements(text: str, *, most: int = MOST) -> tuple[str, ...]:
    """The requirements in a file; `InvalidSubmission` names every line that is more than a name and versions."""
    requirements, problems = [], []
    for k, line in enumerate(text.splitlines(), 1):
        asked = re.sub(r"(^|\s)#.*", "", line).strip()
        match = _REQUIREMENT.fullmatch(asked) if len(asked) <= LONGEST_LINE else None
        if match is not None:
            requirements.append(_normal(match))
        elif asked:
            message = f"{asked[:60]!r} is not a name with versions; write lines like `numpy==2.1.0` and nothing else"
            problems.append(Problem(FILE, k, message))
    if len(requirements) > most:
        problems.append(Problem(FILE, None, f"{len(requirements)} requirements; at most {most} are installed"))
    if problems:
        raise InvalidSubmission(problems)
    return tuple(sorted(set(requirements)))


def build_environment(
    requirements: str,
    home: Path,
    *,
    wheels: Path | None = None,
    cpu_index: str | None = None,
    limits: EnvironmentLimits | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Environment | None:
    """The environment for requirements, made below `home` unless it is there; None where nothing is required.

    `wheels` is a folder to take them from instead of the index that the server's pip is set to, `cpu_index` an index
    beside it that has builds without CUDA, which are then the only ones taken.
    """
    limits = limits or EnvironmentLimits()
    asked = parse_requirements(requirements, most=limits.requirements)
    if not asked:
        return None
    source = Source(wheels, cpu_index)
    place = home / _place_digest(asked, source)
    if not (place / RECORD).is_file():
        _check_pip()
        _make(asked, place, source, limits, cancelled)
    return _read(place)


def find_environment(
    requirements: str, home: Path, *, wheels: Path | None = None, cpu_index: str | None = None
) -> Environment | None:
    """The environment for requirements where it has been made below `home`; None where it has not."""
    place = home / _place_digest(parse_requirements(requirements), Source(wheels, cpu_index))
    return _read(place) if (place / RECORD).is_file() else None


def made_environments(home: Path) -> Iterator[tuple[Path, tuple[str, ...] | None]]:
    """Every environment below `home` and what it was made for; None where that was not written down."""
    for record in sorted(home.glob(f"*/{RECORD}")):
        try:
            asked = json_value(record.read_text("utf-8")).get("asked")
        except (OSError, ValueError, AttributeError):
            asked = None
        yield record.parent, tuple(map(str, asked)) if isinstance(asked, list) else None


def _normal(match: re.Match[str]) -> str:
    """A requirement in the one spelling that equal ones share."""
    name = re.sub(r"[-_.]+", "-", match["name"]).lower()
    extras = sorted(re.findall(r"[A-Za-z0-9._-]+", match["extras"] or ""))
    versions = sorted(re.sub(r"\s+", "", version) for version in (match["versions"] or "").split(",") if version)
    return name + (f"[{','.join(extras)}]" if extras else "") + ",".join(versions)


def _place_digest(asked: tuple[str, ...], source: Source) -> str:
    wheels = source.wheels
    key = [*asked, platform.python_version(), sysconfig.get_platform(), str(wheels and wheels.resolve())]
    key += [] if source.cpu_index is None else [f"without CUDA, {source.cpu_index}"]
    return hashlib.sha256("\n".join(key).encode()).hexdigest()


def _check_pip() -> None:
    if importlib.util.find_spec("pip") is None:
        raise MissingPart("requirements are installed by pip, which the server's Python lacks; `python -m ensurepip`")


def _make(
    asked: tuple[str, ...],
    place: Path,
    source: Source,
    limits: EnvironmentLimits,
    cancelled: Callable[[], bool] | None,
) -> None:
    """Install under a temporary name and move into place; whoever comes second throws theirs away."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place.parent)
        with tempfile.TemporaryDirectory(prefix=_BUILDING, dir=place.parent, ignore_cleanup_errors=True) as name:
            building = Path(name) / "environment"
            (building / PACKAGES).mkdir(parents=True)
            _install(asked, building, source, limits, cancelled)
            _open_doors(building)
            _record(building, asked)
            if not (place / RECORD).is_file():
                building.rename(place)
    except OSError as error:
        if not (place / RECORD).is_file():
            raise StoreFailed(f"the environment could not be made in {place.parent}: {error}") from error


def _install(
    asked: tuple[str, ...],
    building: Path,
    source: Source,
    limits: EnvironmentLimits,
    cancelled: Callable[[], bool] | None,
) -> None:
    scratch = building.parent / "scratch"
    scratch.mkdir()
    (scratch / WITHOUT_CUDA).write_text("".join(f"{name}==0\n" for name in CUDA), "utf-8")
    with (building / LOG).open("wb") as log:
        process = subprocess.Popen(
            [*_pip_command(building / PACKAGES, source), *asked],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=scratch,
            env=_pip_variables(scratch),
            umask=0o022,
            start_new_session=True,
        )
        try:
            _attend(process, building.parent, limits, cancelled)
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise _failure(asked, _tail(building / LOG))


def _pip_command(target: Path, source: Source) -> list[str]:
    installer = str(Path(__file__).with_name("wheel_installer.py"))
    places = [] if source.wheels is None else ["--no-index", "--find-links", str(source.wheels.resolve())]
    if source.cpu_index is not None:
        places += ["--extra-index-url", source.cpu_index, "--constraint", WITHOUT_CUDA]
    options = [
        "--only-binary",
        ":all:",
        "--no-compile",
        "--no-cache-dir",
        "--no-warn-conflicts",
        "--progress-bar",
        "off",
    ]
    general = ["--disable-pip-version-check", "--no-input", "--no-color"]
    return [sys.executable, "-I", installer, "install", *general, *options, *places, "--target", str(target), "--"]


def _pip_variables(scratch: Path) -> dict[str, str]:
    """The server's own settings (its index, its proxy), less those that would change what is installed."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_HANDED_ON}
    return {**kept, "TMPDIR": str(scratch), "PIP_ROOT_USER_ACTION": "ignore"}


def _attend(
    process: subprocess.Popen[bytes],
    folder: Path,
    limits: EnvironmentLimits,
    cancelled: Callable[[], bool] | None,
) -> None:
    """Wait for pip, within the limits; what it downloads and unpacks lies below `folder`."""
    deadline = time.monotonic() + limits.wall_seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PAUSE)
        _check_size(folder, limits)
        if process.returncode is not None:
            return
        if time.monotonic() > deadline:
            raise StoreFailed(f"{FILE}: installing took longer than {limits.wall_seconds:g} s and was ended")
        if cancelled is not None and cancelled():
            raise InvalidInput(f"{FILE}: installing was cancelled")


def _check_size(folder: Path, limits: EnvironmentLimits) -> None:
    count = total = 0
    for size in file_sizes(folder):
        count, total = count + 1, total + size
    if total > limits.total_bytes or count > limits.files:
        raise InvalidInput(
            f"{FILE}: the packages have {count} files and {total // MIB} MiB; "
            f"{limits.files} files and {limits.total_bytes // MIB} MiB are allowed, so require fewer or smaller ones"
        )


def file_sizes(folder: Path) -> Iterator[int]:
    """The size of every file below a folder, also while it changes."""
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(os.path.join(where, name)).st_size  # noqa: PTH118 - a walk over many thousand files
            except FileNotFoundError:
                continue


def _failure(asked: tuple[str, ...], log: str) -> InvalidInput | StoreFailed:
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")] or log.splitlines()[-1:]
    complaint = " ".join(errors[-2:])[-400:] or "nothing"
    if any(words in log for words in _OURS):
        return StoreFailed(f"{FILE}: the package index could not be used, which is no fault of the metric; {complaint}")
    return InvalidInput(
        f"{FILE}: no set of wheels for this server's Python {platform.python_version()} fits {', '.join(asked)[:200]}; "
        f"only wheels are installed, nothing is built; pip said: {complaint}"
    )


def _open_doors(building: Path) -> None:
    """Readable by the user that a program runs as, whatever modes the wheels asked for."""
    for where, _, names in os.walk(building):
        Path(where).chmod(0o755)
        for name in names:
            path = Path(where, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _record(building: Path, asked: tuple[str, ...]) -> None:
    """Write down what was installed; pip's own records carry a digest of every file."""
    installed, whole = [], hashlib.sha256()
    for folder in sorted((building / PACKAGES).glob("*.dist-info")):
        name, _, version = folder.name.removesuffix(".dist-info").partition("-")
        installed.append(f"{name.lower()}=={version}")
        whole.update((folder / "RECORD").read_bytes() if (folder / "RECORD").is_file() else folder.name.encode())
    kept = {"asked": asked, "installed": installed, "digest": whole.hexdigest(), "log": _tail(building / LOG)}
    (building / RECORD).write_text(json.dumps(kept), "utf-8")


def _read(place: Path) -> Environment:
    try:
        kept = json_value((place / RECORD).read_text("utf-8"))
        return Environment(place / PACKAGES, str(kept["digest"]), tuple(kept["installed"]), str(kept["log"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreFailed(f"{place / RECORD}: unreadable ({error}); delete {place} and it is made again") from error


def _tail(log: Path) -> str:
    """The end of what pip said, without the addresses and folders it looked in, which are the server's matter."""
    lines = log.read_bytes()[-_KEPT_LOG:].decode("utf-8", "replace").splitlines()
    return "\n".join(line for line in lines if not line.startswith("Looking in "))


def _sweep(home: Path) -> None:
    """Throw away what a killed server left half made."""
    for folder in home.glob(f"{_BUILDING}*"):
        if time.time() - folder.stat().st_mtime > _STALE:
            shutil.rmtree(folder, ignore_errors=True)
