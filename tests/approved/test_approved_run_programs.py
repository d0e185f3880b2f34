"""Metrics that are somebody's programs: manifests, packages, walls, what becomes of a run, endpoints, images, packs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import APPROVE, approve
from command_transcripts import all_ran, steady
from image_engine import ImageEngine
from small_boards import small_board

import billboards as bb
from billboards.errors import BillboardsError, ClusterFailed, InvalidSubmission
from billboards.metrics.base import Batch, MetricCard
from billboards.metrics.discovery import metric
from billboards.metrics.executor import Result, Task
from billboards.run import confinement, endpoints, program, sandbox
from billboards.run.addresses import is_public, network_of, outside_address
from billboards.run.cluster_task import context_of, order_of, pack_texts
from billboards.run.confinement import Places, Work, launch_plan, program_environment
from billboards.run.control_groups import ControlGroup, delegated_group
from billboards.run.dask_cluster import Cluster, Unit
from billboards.run.endpoints import EndpointMetric, checked_address
from billboards.run.environments import Source, _failure, _pip_command, _pip_variables, parse_requirements
from billboards.run.images import ImageMetric, checked_image, find_engine, given_lines
from billboards.run.limits import Limits
from billboards.run.manifest import Contract, declared_from, manifest_from, read_manifest
from billboards.run.program import folder_digest, given_files, open_program, run_rows
from billboards.run.score_lines import parse_scores
from billboards.run.seccomp import seccomp_filter
from billboards.run.shuffled_outputs import compare, keyed, line_ids, mix, put_back, sample, shuffle_whole
from billboards.run.trial import InProcessRuns, Trial, pick, try_program
from billboards.run.verdicts import HINTS, Ending, Report, Verdict, outcome_of, read_report

SEED = b"a seed for all of it"
BATCH = Batch(
    ["The ferry leaves at noon.", "", "Line\u2028separated \x85 text", "a\nb", "Ünïcödé 猫"],
    [["The ferry goes at noon.", "It leaves."], [""], ["Line"], ["a", "b"], ["猫"]],
    ["La nave parte.", "", "Riga", "a\nb", "Gatto"],
    "en",
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own settings, and no sandbox: trusted programs run as they stand."""
    for name in [name for name in os.environ if name.startswith(("BILLBOARDS_", "PIP_")) and name != APPROVE]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sandbox, "sandbox_available", lambda: sandbox.Availability("no sandbox can be built here"))


def told_by(make: Callable[[], Any]) -> Any:
    """What comes of it, or the complaint; of a submission every mistake."""
    try:
        return make()
    except InvalidSubmission as error:
        return [str(problem) for problem in error.problems]
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"


def manifest_facts(folder: Path) -> dict[str, Any]:
    return asdict(read_manifest(folder))


def entry_facts(folder: Path) -> list[str]:
    return [read_manifest(folder).entry, read_manifest(folder).requirements]


def scores_in(content: bytes, *, quoting: bool) -> list[float]:
    scores: list[float] = parse_scores(content, 3, quoting=quoting).tolist()
    return scores


def address_start(address: str) -> str:
    return checked_address(address)[:40]


def image_length(image: str) -> int:
    return len(checked_image(image))


FULL = """
name = "Vowels"
higher_is_better = false
needs = ["references", "input"]
training_data = "none"
trained_on_this_board = true
deterministic = false
tolerance = 0.01
summary = "Counts vowels."
languages = ["en"]
range = [0, 1]
licence = "MIT"
paper = "A paper"
failures = "Ignores y."
entry = "vowels.py"
"""
BARE = 'name = "Bare"\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n'
MANIFESTS = {
    "full": FULL,
    "bare": BARE,
    "corpus": BARE.replace("[]", '["corpus"]'),
    "gpu": f"{BARE}gpu = true\n",
    "gpu with a tolerance": f"{BARE}gpu = true\ntolerance = 0\n",
    "empty": "",
    "no TOML": "name = \n",
    "wrong kinds": 'name = 3\nhigher_is_better = "yes"\nneeds = "references"\ntraining_data = []\nrange = 3\n'
    'languages = "en"\nentry = "a/b.py"\ntolerance = "x"\ngpu = 1\ndeterministic = "no"\nsummary = 3\n',
    "wrong values": 'name = "a|b"\nhigher_is_better = true\nneeds = ["outputs"]\ntraining_data = " "\nrange = [1, 1]\n'
    'languages = [""]\nentry = "run.exe"\ntolerance = 0.011\n',
    "bad names": 'name = "../x"\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n',
    "names with blanks": 'name = " x "\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n',
    "unknown keys": f'{BARE}higher_is_beter = true\ncolour = "red"\nlicense = "MIT"\n',
    "long": f'{BARE}summary = "{"x" * 2000}"\npaper = "{"y" * 2001}"\n',
    "no entry": f'{BARE}entry = "missing.py"\n',
    "range": f"{BARE}range = [-1.5, 2]\n",
    "upside down": f"{BARE}range = [2, 1]\n",
    "many mistakes": BARE + "".join(f"key{k} = 1\n" for k in range(120)),
}


def test_manifests_are_read_as_approved(tmp_path: Path) -> None:
    told: dict[str, Any] = {}
    for kind, text in MANIFESTS.items():
        folder = tmp_path / kind.replace(" ", "-")
        folder.mkdir()
        (folder / "run.sh").write_text("true\n")
        (folder / "vowels.py").write_text("")
        (folder / "metric.toml").write_text(text, "utf-8")
        told[kind] = told_by(partial(manifest_facts, folder))
    # Python's own words for what is no TOML.
    told["no TOML"] = [re.sub(r"is no TOML: .*", "is no TOML", line) for line in told["no TOML"]]
    folders: dict[str, dict[str, bytes]] = {
        "nothing": {},
        "one Python file": {"metric.toml": BARE.encode(), "mine.py": b""},
        "two Python files": {"metric.toml": BARE.encode(), "a.py": b"", "b.py": b""},
        "two and metric.py": {"metric.toml": BARE.encode(), "a.py": b"", "metric.py": b""},
        "no UTF-8": {"metric.toml": b"\xff"},
        "large": {"metric.toml": b"#" * (2**16 + 1)},
        "as large as may be": {"metric.toml": BARE.encode() + b"#" * (2**16 - len(BARE)), "run.sh": b""},
        "requirements": {"metric.toml": BARE.encode(), "run.sh": b"", "requirements.txt": b"numpy\n"},
        "wrong requirements": {"metric.toml": BARE.encode(), "run.sh": b"", "requirements.txt": b"\xff"},
    }
    for kind, files in folders.items():
        folder = tmp_path / "folders" / kind.replace(" ", "-")
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        told[kind] = told_by(partial(entry_facts, folder))
    given = {"name": "F", "higher_is_better": True, "needs": ["input"], "training_data": "none"}
    (tmp_path / "form").mkdir()
    (tmp_path / "form" / "run.sh").write_text("true\n")
    told["form"] = told_by(lambda: asdict(manifest_from(given, tmp_path / "form", where="the form")))
    told["wrong form"] = told_by(lambda: manifest_from({**given, "needs": 3}, tmp_path / "form", where="the form"))
    told["declared"] = told_by(lambda: declared_from(given, where="the form").contract())
    told["not declared"] = told_by(lambda: declared_from({}, where="the form"))
    approve("programs/manifests", steady(told), folder=tmp_path)


REQUIREMENTS = (
    "numpy==2.1.0\nscipy\n",
    "Some_Package.name [b, a] >= 1.0 , <2  # why\n\n# nothing\n",
    "a==1\na == 1\nA==1\n",
    "-r other.txt\n--index-url https://x\ngit+https://x/y\n./wheel.whl\nname @ https://x\nname; python_version > '3'\n",
    "x" * 1000,
    "x" * 1001,
    "\n".join(f"p{k}" for k in range(100)),
    "\n".join(f"p{k}" for k in range(101)),
    "name ==\n",
    "",
)


def test_packages_are_asked_for_as_approved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: dict[str, Any] = {}
    told["requirements"] = [[text[:80], told_by(partial(parse_requirements, text))] for text in REQUIREMENTS]
    told["at most two"] = told_by(lambda: parse_requirements("a\nb\nc\n", most=2))
    commands = [Source(), Source(wheels=tmp_path / "wheels"), Source(cpu_index="https://cpu.example.org")]
    told["pip"] = [
        [Path(word).name if k in (0, 2) else word for k, word in enumerate(_pip_command(tmp_path / "t", each))]
        for each in commands
    ]
    with monkeypatch.context() as patched:
        for name in list(os.environ):
            patched.delenv(name)
        for name in ("PIP_TARGET", "PIP_INDEX_URL", "PIP_USER", "HTTPS_PROXY", "PIP_NO_BINARY", "PIP_EDITABLE"):
            patched.setenv(name, "x")
        told["variables"] = _pip_variables(tmp_path / "scratch")
    logs = (
        "Collecting x\nERROR: No matching distribution found for x==9\nERROR: two\nERROR: three",
        "warning: NewConnectionError: refused\nERROR: Could not find a version",
        "no errors here\nlast line",
        "",
        "ERROR: " + "y" * 500,
    )
    told["failures"] = [
        re.sub(r"Python [\d.]+\w*", "Python VERSION", f"{type(failure).__name__}: {failure}")
        for failure in (_failure(("x==9", "y"), log) for log in logs)
    ]
    approve("programs/packages", steady(told), folder=tmp_path)


def test_limits_and_walls_are_as_approved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    limits = Limits(wall_seconds=20, cpu_seconds=10.5, memory_bytes=1 << 28, processes=12, tmp_bytes=1 << 20)
    told: dict[str, Any] = {
        "usual": asdict(Limits()),
        "three times": asdict(limits.times(3)),
        "half": asdict(limits.times(0.5)),
        "kernel": limits.of_one_process(confined=True),
        "kernel without walls": limits.of_one_process(confined=False),
        "wrong": [
            told_by(partial(replace, limits, **{name: value}))
            for name in asdict(limits)
            for value in (0, -1, float("nan"))
        ],
    }
    home = Path("/opt/pythons/ours")
    monkeypatch.setattr(confinement, "interpreter", lambda: home / "bin" / "python3")
    monkeypatch.setattr(confinement, "interpreter_home", lambda: home)
    monkeypatch.setattr(confinement, "_system", lambda: iter(("SYSTEM",)))
    work = Work(tmp_path, lambda places: ("/bin/sh", "run.sh", places.inputs, places.result), {"a": b"1", "b": b"22"})
    with_devices = replace(work, environment=tmp_path / "env", devices=("/dev/nvidia0", "/dev/dri/card0"))
    data = {"/given/a": 7, "/billboards/plan.json": 8}
    told["walls"] = [list(confinement._walls(each, limits, data)) for each in (work, with_devices)]
    told["users"] = [list(confinement._user(uid)) for uid in (None, 0x70000001)]
    told["variables"] = [program_environment(None, "/tmp"), program_environment("/environment", "/elsewhere")]
    places = Places("/metric", "/given", "/out/scores.txt", "python", None)
    told["plans"] = [
        json.loads(launch_plan(work, places, limits, uid=uid, confined=confined, tmp="/tmp"))
        for uid, confined in ((None, False), (5, True))
    ]
    files = confinement._files_inside(work, b"{}", 5)
    told["files"] = {name: content.decode() if len(content) < 200 else "long" for name, content in files.items()}
    told["files of nobody"] = {
        name: content.decode()
        for name, content in confinement._files_inside(work, b"{}", None).items()
        if "etc" in name
    }
    approve("programs/walls", told, folder=tmp_path)


def test_system_calls_are_allowed_as_approved() -> None:
    told = {}
    for machine in ("x86_64", "aarch64", "riscv64"):
        for devices in (False, True):
            written = seccomp_filter(machine, devices=devices)
            steps = [] if written is None else list(struct.iter_unpack("<HBBI", written))
            lines = [" ".join(f"{number:x}" for number in step) for step in steps]
            told[f"{machine} {devices}"] = [", ".join(lines[k : k + 12]) for k in range(0, len(lines), 12)]
    assert seccomp_filter() is None or len(seccomp_filter() or b"") % 8 == 0
    approve("programs/calls", told)


def test_control_groups_are_limited_as_approved(tmp_path: Path) -> None:
    names = ("memory.max", "memory.oom.group", "pids.max", "cpu.max", "memory.swap.max", "cgroup.kill")
    told: dict[str, Any] = {}
    for kind, limits in {"usual": Limits(), "small": Limits(wall_seconds=10, cpu_seconds=35, processes=3)}.items():
        folder = tmp_path / kind
        folder.mkdir()
        for name in names:
            (folder / name).write_text("")
        group = ControlGroup(folder)
        group.limit(limits)
        group.end()
        told[kind] = {name: (folder / name).read_text() for name in names}
        told[f"{kind}, nothing told"] = [group.cpu_seconds, group.memory_ran_out, group.is_empty]
        (folder / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 3\n")
        (folder / "memory.events").write_text("oom 3\noom_kill 1\n")
        (folder / "cgroup.events").write_text("populated 1\nfrozen 0\n")
        told[f"{kind}, told"] = [group.cpu_seconds, group.memory_ran_out, group.is_empty]
    places = {
        "none": ("1 2 0:1 / /proc rw - proc proc rw\n", "0::/x\n"),
        "no group": ("1 2 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "1:cpu:/x\n"),
        "not ours": (f"1 2 0:1 / {tmp_path} rw - cgroup2 cgroup2 rw\n", "0::/small\n"),
    }
    for kind, (mounts, groups) in places.items():
        proc = tmp_path / f"proc-{kind.replace(' ', '-')}"
        proc.mkdir()
        (proc / "mountinfo").write_text(mounts)
        (proc / "cgroup").write_text(groups)
        told[f"given: {kind}"] = str(delegated_group(proc))
    approve("programs/groups", told, folder=tmp_path)


ENDED = Ending(
    ready=True,
    report=Report(0, "file", 4, b"1\n2\n"),
    stopped=None,
    killed_from_outside=False,
    stdout="said\n",
    stderr="",
    seconds=1.5,
    cpu_seconds=1.0,
    peak_memory=1 << 20,
)
STOPS: tuple[Verdict, ...] = (
    "wall time",
    "cpu time",
    "memory",
    "processes",
    "files",
    "locks",
    "file size",
    "cancelled",
    "broken",
)


def test_what_became_of_a_program_is_told_as_approved() -> None:
    limits = Limits(memory_bytes=3 << 20, result_bytes=1500, tmp_bytes=5 << 30, file_bytes=1 << 10)
    endings = {
        "well": ENDED,
        "not ready": replace(ENDED, ready=False, stderr="bwrap: no\n"),
        "killed": replace(ENDED, killed_from_outside=True),
        "lives on": replace(ENDED, lives_on=True),
        "no report": replace(ENDED, report=None, stderr="last\n\n"),
        "exit 3": replace(ENDED, report=Report(3 << 8, "missing", 0, b""), stderr="first\n  last words \n\n"),
        "exit 1 without words": replace(ENDED, report=Report(1 << 8, "file", 4, b"1\n2\n")),
        **{
            f"signal {number}": replace(ENDED, report=Report(int(number), "file", 4, b"1\n2\n"))
            for number in (signal.SIGKILL, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGSEGV, 63)
        },
        **{f"stopped: {stop}": replace(ENDED, stopped=stop, stderr="MemoryError\n") for stop in STOPS},
        **{
            f"left a {state}": replace(ENDED, report=Report(0, state, 2 << 20, b""))
            for state in ("missing", "too large", "folder", "link", "unknown", "unreadable")
        },
        "changed": replace(ENDED, report=Report(0, "file", 5, b"1\n2\n")),
        **{
            f"hint: {words}": replace(ENDED, report=Report(1 << 8, "file", 4, b""), stderr=f"x {words} y\n")
            for words in HINTS
        },
        "several hints": replace(
            ENDED, report=Report(1 << 8, "file", 4, b""), stderr="Cannot fork\nMemoryError\nflock"
        ),
        "a long word": replace(ENDED, report=Report(1 << 8, "file", 4, b""), stderr="MemoryError" + "z" * 5000),
    }
    told: dict[str, Any] = {}
    for name, ending in endings.items():
        plain, withheld = (outcome_of(ending, limits, "scores.txt", quoting=quoting) for quoting in (True, False))
        told[name] = [plain.verdict, plain.exit_code, plain.problem, plain.platform, plain.result is not None]
        if withheld.problem != plain.problem:
            told[name].append(withheld.problem)
    lines = (
        b'{"status": 0, "found": "file", "size": 3}\nabc',
        b'{"status": 256, "found": "missing", "size": 0}',
        b'{"status": 65536, "found": "file", "size": 3}\n',
        b'{"status": -1, "found": "file", "size": 3}\n',
        b'{"status": 0, "found": "nothing", "size": 3}\n',
        b'{"status": 127, "found": "file", "size": 3}\n',
        b'{"status": 0}',
        b"[]",
        b"",
        b"x",
    )
    told["reports"] = [[repr(line), repr(read_report(line))] for line in lines]
    approve("programs/endings", told)


CONTENTS = (
    b"1\n2\n3\n",
    b"1\n2\n3",
    b" 1.5 \n-2e3\n+.5\r\n",
    b"1\n2\n",
    b"1\n2\n3\n4\n",
    b"1\n\n3\n",
    b"nan\n1\n2\n",
    b"-Infinity\n1\n2\n",
    b"1e999\n1\n2\n",
    b"one\n1\n2\n",
    b"0x1\n1\n2\n",
    b"1_0\n1\n2\n",
    b"1,5\n1\n2\n",
    b"\xff\n1\n2\n",
    b"1\n\xff\n2\n",
    b"",
    b"\n",
    b"1" * 400 + b"\n1\n2\n",
    b"1" * 401 + b"\n1\n2\n",
    "１\n1\n2\n".encode(),
    b"1\n" * 103,
    b"1\n" * 104,
    b"1\n2\n3\n\n",
)


def test_scores_and_what_programs_are_given_are_as_approved(tmp_path: Path) -> None:
    told: dict[str, Any] = {"scores": []}
    for content in CONTENTS:
        read = [told_by(partial(scores_in, content, quoting=quoting)) for quoting in (True, False)]
        told["scores"].append([repr(content[:30]), len(content), *read[: 1 if read[0] == read[1] else 2]])
    cards = {
        "nothing": MetricCard(name="x", needs_references=False),
        "all": MetricCard(name="x", needs_input=True),
    }
    for name, card in cards.items():
        told[f"given {name}"] = {
            file: repr(content.decode()) for file, content in given_files(card, BATCH, SEED).items()
        }
        told[f"an image is given {name}"] = repr(given_lines(card, BATCH, SEED).decode())
    told["ids"] = [[" ".join(text), number] for text, number in line_ids(SEED, 3)]
    told["keyed"] = " ".join(keyed(SEED, "a", "bc").hex())
    batches = [BATCH, BATCH.part(1, 4), replace(BATCH, outputs=[f"third {k}" for k in range(5)])]
    strays = BATCH.part(0, 3)
    calls = {
        "mixed": mix(batches, strays, SEED),
        "whole": shuffle_whole(batches, SEED),
        "sample": [sample(batches, 6, SEED)],
    }
    for name, made in calls.items():
        told[name] = [[call.origins.tolist(), call.places.tolist(), call.batch.outputs[:2]] for call in made]
    scores = [np.arange(len(call), dtype=float) for call in calls["mixed"]]
    told["put back"] = [row.tolist() for row in put_back(calls["mixed"], scores, [5, 3, 5])]
    first = np.array([1.0, 2.0, 3.0, 4.0, np.nan, 6.0])
    others = {
        "the same": first,
        "a hair": first + 1e-7,
        "more": first + np.array([0, 1e-5, 0, 0, 0, 0]),
        "scored": np.nan_to_num(first),
        "far": first * 2,
    }
    told["compared"] = {
        f"{name}, {tolerance}, {deterministic}": [
            repr(compared := compare(first, other, tolerance=tolerance, deterministic=deterministic)),
            compared.is_inconsistent(deterministic=deterministic),
        ]
        for name, other in others.items()
        for tolerance in (0.0, 1e-6, 0.01)
        for deterministic in (True, False)
    }
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.txt").write_text("y")
    told["folder"] = " ".join(folder_digest(tmp_path))
    (tmp_path / "a.py").chmod(0o755)
    told["folder with a program"] = " ".join(folder_digest(tmp_path))
    approve("programs/given", told, folder=tmp_path)


PROGRAMS = {
    "lengths": ("run.sh", 'while read -r line; do echo "${#line}"; done < "$2" > "$4"; echo done'),
    "exit": ("run.sh", 'echo "first" >&2; echo "no idea" >&2; exit 3'),
    "killed": ("run.sh", "kill -9 $$"),
    "silent": ("run.sh", "true"),
    "few": ("run.sh", 'echo 1 > "$4"'),
    "words": ("run.sh", 'for k in 1 2 3 4 5; do echo one; done > "$4"'),
    "folder": ("run.sh", 'mkdir "$4"'),
    "link": ("run.sh", 'ln -s /etc/passwd "$4"'),
    "long": ("run.sh", 'head -c 3000 /dev/zero > "$4"'),
    "slow": ("run.sh", "sleep 30"),
    "counting": ("metric.py", "def score(outputs, references, inputs):\n    return [len(o) for o in outputs]\n"),
    "raising": ("metric.py", 'def score(outputs, references, inputs):\n    raise ValueError("no idea")\n'),
    "too few": ("metric.py", "def score(outputs, references, inputs):\n    return [1]\n"),
    "texts": ("metric.py", "def score(outputs, references, inputs):\n    return outputs\n"),
    "nothing": ("metric.py", "def score(outputs, references, inputs):\n    pass\n"),
    "infinite": ("metric.py", 'def score(outputs, references, inputs):\n    return [float("inf")] * len(outputs)\n'),
    "no function": ("metric.py", "x = 1\n"),
    "no Python": ("metric.py", "def\n"),
    "missing package": ("metric.py", "import nothing_like_it\n"),
    "loading": (
        "metric.py",
        "def load():\n    return {}\n\n\ndef score(outputs, references, inputs, loaded):\n"
        "    loaded['x'] = loaded.get('x', 0) + 1\n    return [loaded['x'] + len(o) for o in outputs]\n",
    ),
    "loading fails": ("metric.py", "def load():\n    return 1 / 0\n\n\ndef score(o, r, i, loaded):\n    return o\n"),
}


def make_program(folder: Path, name: str, more: str = "") -> Path:
    entry, text = PROGRAMS[name]
    made = folder / name.replace(" ", "-")
    made.mkdir(parents=True)
    (made / entry).write_text(text)
    needs = '["references", "input"]' if name == "counting" else "[]"
    (made / "metric.toml").write_text(
        f'name = "{name}"\nhigher_is_better = true\nneeds = {needs}\ntraining_data = "none"\n{more}'
    )
    return made


def last_lines(text: str) -> list[str]:
    """The last two lines of what a program wrote, without places of this machine."""
    lines = [re.sub(r'File "[^"]*"', "File", line) for line in text.splitlines() if set(line.strip()) - set("^~")]
    return lines[-2:]


def hear(heard: list[str], stream: str, text: str) -> None:
    """Remember on which stream something was written."""
    heard.append(stream if text else "nothing")


def test_programs_score_and_fail_as_approved(tmp_path: Path) -> None:
    told: dict[str, Any] = {}
    limits = Limits(wall_seconds=20, result_bytes=2000)
    for name in PROGRAMS:
        made = open_program(
            make_program(tmp_path, name),
            trusted=True,
            limits=replace(limits, wall_seconds=0.3) if name == "slow" else limits,
        )
        heard: list[str] = []
        batches = [BATCH, BATCH] if made.loads else [BATCH]
        runs = run_rows(made, batches, listen=partial(hear, heard), seed=SEED)
        told[name] = {
            "loads": made.loads,
            "signature": re.sub(r"(program|python):[^|]+", r"\1:SOME", made.signature),
            "scores": [None if each.scores is None else each.scores.tolist() for each in runs],
            "problem": None if runs[0].problem is None else re.sub(r'File "[^"]*"', "File", runs[0].problem),
            "outcome": [runs[0].outcome.verdict, runs[0].outcome.exit_code, runs[0].outcome.platform],
            "wrote": [last_lines(runs[0].outcome.stdout), last_lines(runs[0].outcome.stderr)],
            "heard": sorted(set(heard)),
        }
    quoteless = open_program(tmp_path / "exit", trusted=True, limits=limits)
    told["exit, withheld"] = run_rows(quoteless, [BATCH], quoting=False, seed=SEED)[0].problem
    cancelled = open_program(tmp_path / "slow", trusted=True, limits=limits)
    told["slow, cancelled"] = run_rows(cancelled, [BATCH], cancelled=lambda: True, seed=SEED)[0].problem
    told["no outputs"] = told_by(lambda: run_rows(quoteless, [BATCH.part(0, 0)], seed=SEED))
    told["not trusted"] = told_by(lambda: run_rows(replace(quoteless, trusted=False), [BATCH], seed=SEED))
    (tmp_path / "exit" / "run.sh").chmod(0o700)
    told["closed"] = told_by(lambda: open_program(tmp_path / "exit"))
    approve("programs/runs", told, folder=tmp_path)


#: Programs that look around, or never say the same again.
TRIED = {
    "looking": "def score(outputs, references, inputs):\n    return [len(outputs) + len(o) for o in outputs]\n",
    "chance": "import os\n\n\ndef score(outputs, references, inputs):\n"
    "    return [int.from_bytes(os.urandom(4), 'big') for _ in outputs]\n",
}


def test_trials_are_told_as_approved(tmp_path: Path) -> None:
    told: dict[str, Any] = {}
    for name, text in (*dict.fromkeys(("counting", "exit", "loading"), "").items(), *TRIED.items()):
        for more in ("", "deterministic = false\n") if name == "chance" else ("",):
            folder = tmp_path / f"{name}{len(more)}"
            if text:
                folder.mkdir()
                (folder / "metric.py").write_text(text)
                (folder / "metric.toml").write_text(f"{BARE}{more}")
            else:
                folder = make_program(folder, name)
            for quoting in (True, False):
                trial = try_program(open_program(folder, trusted=True), BATCH, rows=3, quoting=quoting, seed=SEED)
                problem, scores = trial.problem, trial.scores
                if name == "chance":
                    problem = re.sub(r"scored '[^']*'", "scored it", re.sub(r"as \d+\.0", "as SOME", problem or ""))
                    scores = ()
                told[f"{name} {more} {quoting}"] = [problem, trial.repeatable, scores, len(trial.runs), trial.platform]
    whole = InProcessRuns(metric("chrF").card, metric("chrF"))
    trial = try_program(whole, BATCH, rows=3, seed=SEED)
    told["installed"] = [trial.problem, trial.repeatable, [f"{score:.4f}" for score in trial.scores], whole.signature]
    told["picked"] = [[count, pick(BATCH, count).outputs] for count in (1, 2, 3, 5, 9)]
    told["nothing to pick"] = told_by(lambda: pick(BATCH.part(0, 0), 3))
    times = ((1, 59.9), (1, 60), (20, 60), (15, 60), (14, 60), (100, 200), (5000, 5370), (5399, 5401), (3600, 90000))
    made = Trial(problem=None, repeatable=True, scores=(), seconds=1.0, estimate=(1, 2), runs=())
    told["times"] = [[estimate, replace(made, estimate=estimate).time_words] for estimate in times]
    approve("programs/trials", steady(told), folder=tmp_path)


def test_packs_are_built_listed_and_tried_as_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "132")
    monkeypatch.setenv("BILLBOARDS_PACKS", "kept")
    bb.save(small_board(instances=4, generators=2), tmp_path / "small")
    for name in ("counting", "exit", "raising"):
        make_program(tmp_path / "packs", name)
    make_program(tmp_path / "other", "counting")
    (tmp_path / "wrong").mkdir()
    make_program(tmp_path / "asking", "lengths")
    (tmp_path / "asking" / "lengths" / "requirements.txt").write_text("-r x\n")
    told = all_ran(
        capsys,
        """
        pack list
        pack build packs/counting --trusted
        pack build packs/exit --trusted
        pack build packs/raising
        pack build wrong
        pack build nowhere
        pack build asking/lengths
        pack list
        pack list --json
        pack list --home elsewhere
        pack check counting small
        pack check packs/counting small --generator g1 --json
        pack check counting small --generator g9
        pack check exit small
        pack check exit small --json
        pack check raising small
        pack check nothing small
        pack check other/counting small
        score small --metric pack:counting --jobs 1
        score small --metric pack:exit --jobs 1
        score small --metric pack:raising --jobs 1
        score small --metric pack:packs/counting --jobs 1
        pack build other/counting
        metrics pack:counting
        """,
    )
    (tmp_path / "packs" / "exit" / "run.sh").write_text("true\n")
    (tmp_path / "kept" / "raising.json").write_text("{}")
    told |= {f"later: {command}": one for command, one in all_ran(capsys, "pack list\nmetrics pack:exit").items()}
    text = re.sub(r"(program|python):[^|\s\"]+", r"\1:SOME", json.dumps(steady(told), ensure_ascii=False))
    approve("programs/packs", json.loads(text), folder=tmp_path)


class Served(ThreadingHTTPServer):
    """A metric's server; answers are given in turn, the last again and again."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, bytes]] = []
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Served

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        status, body = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def served() -> Iterator[Served]:
    server = Served()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def scores_of(*scores: object) -> bytes:
    return json.dumps({"scores": scores}).encode()


def test_endpoints_are_asked_and_understood_as_approved(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("httpx")
    monkeypatch.setattr(endpoints, "FIRST_WAIT", 0.0005)
    url = f"http://127.0.0.1:{served.server_port}/score"
    card = MetricCard(name="served", needs_references=True, needs_input=False)
    plain = EndpointMetric(card, url, "v1", inside=True)
    good = (200, scores_of(1, 2.5, -3, 0, 1e299))
    cases: dict[str, list[tuple[int, bytes]]] = {
        "well": [good],
        "busy, then well": [(429, b""), (503, b""), (408, b""), good],
        "busy": [(500, b"down")],
        "refused": [(403, b"no \xff entry" + b"x" * 300)],
        "moved": [(302, b"")],
        "no JSON": [(200, b"<html>")],
        "a list": [(200, b"[1]")],
        "no scores": [(200, b'{"score": []}')],
        "few": [(200, scores_of(1, 2))],
        "texts": [(200, scores_of("1", 2, 3, 4, 5))],
        "true": [(200, scores_of(True, 2, 3, 4, 5))],
        "too large": [(200, scores_of(1e300, 2, 3, 4, 5))],
        "not finite": [(200, b'{"scores": [NaN, 1, 2, 3, 4]}')],
        "long": [(200, b" " * (1 << 20) + b"{}")],
    }
    told: dict[str, Any] = {"signature": re.sub(r"endpoint:\w+", "endpoint:SOME", plain.signature)}
    for name, answers in cases.items():
        served.answers, served.asked = list(answers), []
        (run,) = plain.run([BATCH])
        told[name] = [
            None if run.scores is None else run.scores.tolist(),
            run.problem,
            run.outcome.platform,
            len(served.asked),
        ]
    served.answers = [(403, b"secret words")]
    told["refused, withheld"] = plain.run([BATCH], quoting=False)[0].problem
    served.answers, served.asked = [good], []
    replace(plain, card=replace(card, needs_references=False, needs_input=True)).run([BATCH])
    plain.run([BATCH])
    told["sent"] = served.asked
    many = Batch([f"o{k}" for k in range(130)], [["r"]] * 130)
    served.asked, served.answers = (
        [],
        [(200, scores_of(*range(64))), (200, scores_of(*range(64))), (200, scores_of(1, 2))],
    )
    told["parts"] = [len(plain.run([many])[0].scores if True else ()), [len(each["outputs"]) for each in served.asked]]  # type: ignore[arg-type]
    told["cancelled"] = plain.run([BATCH], cancelled=lambda: True)[0].problem
    told["late"] = re.sub(r"\d+e-\d+", "SOME", str(replace(plain, seconds=1e-9).run([BATCH], times=1)[0].problem))
    told["no outputs"] = told_by(lambda: plain.run([BATCH.part(0, 0)]))
    told["inside"] = replace(plain, inside=False).run([BATCH])[0].problem
    addresses = (
        "https://host/path", "http://host:80", "ftp://host", "https://", "https://u:p@host", "https://host/#x",
        "https://h h",
        "https://host:0", "https://host:99999", "https://host/" + "x" * 987, "https://host/" + "x" * 988, "host", "https://ho\nst",
    )  # fmt: skip
    told["addresses"] = [
        [address[:40], len(address), told_by(partial(address_start, address))] for address in addresses
    ]
    numbers = (
        "8.8.8.8", "10.0.0.1", "127.0.0.1", "169.254.1.1", "192.0.0.9", "192.88.99.1", "168.63.129.16", "224.0.0.1",
        "0.0.0.0",
        "2606:4700::1", "::1", "fe80::1", "fec0::1", "64:ff9b::808:808", "2002:808:808::1", "2001::1", "2001:db8::1",
        "3fff::1",
        "::ffff:8.8.8.8", "::8.8.8.8", "2606:4700::5efe:808:808", "2606:4700::200:5efe:808:808", "ff02::1", "fc00::1",
        "240.0.0.1",
    )  # fmt: skip
    told["public"] = {number: is_public(ip_address(number)) for number in numbers}
    told["networks"] = {
        each: network_of(each) for each in (*numbers, "2606:4700:1:2:3:4:5:6", "fe80::1%eth0", "no address", "")
    }
    told["outside"] = [
        str(outside_address(f"http://{host}/x")) for host in ("127.0.0.1", "8.8.8.8", "[::1]", "8.8.4.4:81")
    ]
    approve("programs/endpoints", told)


def test_images_are_run_as_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    digest = "@sha256:" + "0a" * 32
    names = (
        "name",
        "registry/name",
        "registry:5000/name:tag",
        "Name",
        "",
        "a" * 320,
        "a" * 340,
        "-name",
        "name:tag!",
        "reg/x y",
    )
    told["names"] = [[name[:30], told_by(partial(image_length, f"{name}{digest}"))] for name in names]
    told["digests"] = [
        told_by(partial(checked_image, f"name{end}")) for end in ("", "@sha256:00", digest.upper(), f"{digest}0")
    ]
    made = ImageMetric(
        MetricCard(name="imaged"), f"reg/x{digest}", "podman", Limits(cpu_seconds=3, memory_bytes=1 << 20)
    )
    told["command"] = [*made.command("run-1")[:-1], "IMAGE"]
    told["signature"] = re.sub(r"[0-9a-f]{64}", "SOME", made.signature)
    count = "import sys\nfor line in sys.stdin:\n    print(len(line) % 7)\nprint('heard', file=sys.stderr)\n"
    programs = {
        "well": count,
        "ends": "import sys\nsys.exit(4)\n",
        "engine": "import sys\nsys.exit(125)\n",
        "words": "print('one')\n",
    }
    for name, text in programs.items():
        engine = ImageEngine(tmp_path / name, text)
        runner = replace(made, engine=str(engine.path))
        (run,) = runner.run([BATCH], seed=SEED)
        told[name] = [
            None if run.scores is None else run.scores.tolist(),
            run.problem,
            run.outcome.verdict,
            run.outcome.exit_code,
            run.outcome.platform,
            run.outcome.stderr.splitlines(),
        ]
    told["no outputs"] = told_by(lambda: made.run([BATCH.part(0, 0)]))
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path / "well"))
        told["engine found"] = Path(find_engine()).name
        patched.setenv("PATH", str(tmp_path / "nowhere"))
        told["no engine"] = told_by(find_engine)
    text = json.dumps(told, ensure_ascii=False).replace("0a" * 32, "SOME").replace("0A" * 32, "SOME")
    approve("programs/images", json.loads(text), folder=tmp_path)


def test_clusters_and_what_travels_to_them_are_as_approved() -> None:
    told: dict[str, Any] = {}
    packed = pack_texts([["a", "b", "a"], [], ["c", "b"]])
    told["packed"] = [packed.distinct, packed.numbers.tolist(), packed.ends.tolist(), list(packed)]
    told["contexts"] = [
        " ".join(context_of(batch).digest)
        for batch in (
            BATCH,
            BATCH.part(0, 2),
            replace(BATCH, language="de"),
            replace(BATCH, inputs=()),
            replace(BATCH, references=()),
        )
    ]
    tasks = [Task((k, 0), metric("chrF"), BATCH) for k in range(2)]
    order = order_of(tasks, [0, 0], together=True)
    told["order"] = [
        order.together,
        order.keys,
        order.contexts,
        list(order.outputs),
        re.sub(r"version:[^|]+", "version:SOME", order.signature),
    ]
    unit = Unit(tasks, together=True)
    told["unit"] = [unit.name, unit.failed("died"), [[each.key, sorted(each.parts or {})] for each in unit.run_here()]]
    cluster = Cluster("tcp://127.0.0.1:1", resources={"GPU": 2, "none": 0}, patience=7.5)
    workers: list[tuple[int, Mapping[str, float]]] = [(2, {"GPU": 1.0}), (4, {"GPU": 2.0}), (1, {})]
    cluster.workers = lambda: workers  # type: ignore[method-assign]
    told["room"] = [cluster.room(asked) for asked in (None, {"GPU": 1}, {"GPU": 2}, {"GPU": 3}, {"FPGA": 1})]
    told["needs"] = [cluster.needs(metric(name)) for name in ("chrF", "BLEU")]
    told["empty"], told["lost"] = str(cluster.empty()), str(cluster.lost(OSError("x")))
    pytest.importorskip("distributed")
    for address in ("127.0.0.1:1", "http://127.0.0.1:1", "tcp://127.0.0.1", "tcp://[x", "", "tcp://127.0.0.1:99999"):
        told[f"address {address!r}"] = told_by(Cluster(address).connect)
    try:
        cluster.connect()
    except ClusterFailed as error:
        told["nobody"] = re.sub(r"\(.*?\); start", "(REASON); start", str(error))
    text = repr(told["unit"][1])
    told["unit"][1] = [re.sub(r"seconds=[\d.]+", "seconds=SOME", text)]
    assert isinstance(unit.failed("died")[0], Result)
    assert hashlib.sha256(order.metric).digest()
    assert Contract().tolerance == program.DEFAULT_CONTRACT.tolerance
    approve("programs/clusters", told)
