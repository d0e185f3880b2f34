"""Some 300 hostile programs in sandboxes, in both kinds: those of a server that is root, and those of any other user's.

The programs are data, in `programs/`. A process that is the server runs them all, one after the other: as root here,
and as nobody by the system's own interpreter; tests then ask how each ended. What tries one call runs together with
others; what must be ended, or would disturb, has a sandbox of its own. BILLBOARDS_REDTEAM_LOG adds the longest ones.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from billboards.run import confinement

PROGRAMS = Path(__file__).parent / "programs"
ATTACKERS = Path(__file__).parent / "sandbox_attackers.py"
ROOT, ORDINARY = "as root", "as an ordinary user"
#: Both, where it can be chosen.
USERS = (ROOT, ORDINARY) if os.geteuid() == 0 else (ORDINARY,)
NOBODY = 65534

Record = Callable[..., None]


def read_programs(name: str) -> dict[str, Any]:
    return tomllib.loads((PROGRAMS / name).read_text("utf-8"))


PROBES: list[tuple[str, str, str]] = [
    (kind, name, code) for kind, probes in read_programs("probes.toml").items() for name, code in probes.items()
]
ATTACKS: dict[str, dict[str, Any]] = {
    attack["name"]: {**attack, "kind": kind}
    for kind, attacks in read_programs("attacks.toml").items()
    for attack in attacks
    if not attack.get("long") or os.environ.get("BILLBOARDS_REDTEAM_LOG")
}


def attackers_input() -> str:
    """What the attackers are told to run: all probes at once, then each attack."""
    prelude = (PROGRAMS / "prelude").read_text("utf-8")
    probing = {
        "name": "probes",
        "python": True,
        "files": {"attack": (PROGRAMS / "prober").read_text("utf-8"), "probes.json": json.dumps(PROBES)},
        "limits": {"wall_seconds": 100, "cpu_seconds": 60},
    }
    attacks = (
        {
            "name": attack["name"],
            "python": "python" in attack,
            "files": {"attack": f"{prelude}\n{attack['python']}" if "python" in attack else attack["shell"]},
            "limits": attack.get("limits", {}),
        }
        for attack in ATTACKS.values()
    )
    return json.dumps([probing, *attacks])


@cache
def endings() -> dict[str, dict[str, dict[str, Any]]]:
    """How everything ended, by user and name; both servers run at the same time."""
    with ThreadPoolExecutor(len(USERS)) as pool:
        return dict(zip(USERS, pool.map(play, USERS), strict=True))


def played(user: str) -> dict[str, dict[str, Any]]:
    return endings()[user]


def play(user: str) -> dict[str, dict[str, Any]]:
    """How everything ended, by name, run by a server that is this user."""
    other: dict[str, Any] = {}
    python = sys.executable
    if user == ORDINARY and os.geteuid() == 0:
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        python = "/usr/bin/python3"
    with server_folder(**other) as place:
        done = subprocess.run(
            [python, "-B", str(place / ATTACKERS.name)],
            cwd=place,
            input=attackers_input(),
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
            env={**os.environ, "BILLBOARDS_TOKEN": "not for programs"},
            **other,
        )
    assert done.returncode == 0, done.stderr
    return {ending["name"]: ending for ending in map(json.loads, done.stdout.splitlines())}


class server_folder:  # noqa: N801 - used as a function
    """A copy of the sandbox's modules that a user can read, with the folder of a metric that the user can write."""

    def __init__(self, *, user: int | None = None, **_: Any) -> None:
        self.user = user
        self.temporary = tempfile.TemporaryDirectory()

    def __enter__(self) -> Path:
        place = Path(self.temporary.name)
        place.chmod(0o755)
        (place / "billboards").mkdir(mode=0o755)
        package = Path(confinement.__file__).parents[1]
        shutil.copytree(package / "run", place / "billboards" / "run", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(package / "errors.py", place / "billboards")
        (place / "billboards" / "__init__.py").touch()
        shutil.copy(ATTACKERS, place)
        (place / "metric").mkdir(mode=0o755)
        if self.user is not None:
            os.chown(place / "metric", self.user, self.user)
        return place

    def __exit__(self, *_: object) -> None:
        self.temporary.cleanup()


@cache
def probed(user: str) -> dict[tuple[str, str], tuple[str, str, float]]:
    """How every probe ended: contained or got away, in which words, after how many seconds."""
    ending = played(user)["probes"]
    assert ending["result"] == "tried\n", ending
    lines = map(json.loads, ending["stdout"].splitlines())
    return {(kind, name): (outcome, words, seconds) for kind, name, outcome, words, seconds in lines}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name, _ in PROBES])
def test_a_probe_gets_nothing(user: str, kind: str, name: str, record_attack: Record) -> None:
    outcome, words, seconds = probed(user)[kind, name]
    contained = outcome == "contained"
    record_attack(name, f"sandbox, {user}: {kind}", str(words), contained=contained, seconds=seconds, peak=None)
    assert outcome == "contained", words


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_contained(user: str, name: str, record_attack: Record) -> None:
    attack, ending = ATTACKS[name], played(user)[name]
    faults = list(faults_of(attack, ending))
    outcome, kind = "; ".join(faults) or ending["verdict"], f"sandbox, {user}: {attack['kind']}"
    record_attack(name, kind, outcome, contained=not faults, seconds=ending["seconds"], peak=ending["peak"])
    assert not faults, ending


def faults_of(attack: dict[str, Any], ending: dict[str, Any]) -> Iterator[str]:
    """What went otherwise than it must."""
    if ending["verdict"] not in attack["verdicts"]:
        yield f"ended as {ending['verdict']}: {ending['problem']}"
    if ending["left"]:
        yield "something of it lives on"
    if ending["platform"]:
        yield "the platform is said to be at fault"
    if "never" in attack and attack["never"] in ending["stdout"]:
        yield f"it printed {ending['stdout'][-200:]}"
    if "problem" in attack and attack["problem"] not in str(ending["problem"]):
        yield f"it was told: {ending['problem']}"


def test_there_are_at_least_150_programs_and_no_two_have_one_name() -> None:
    assert len(PROBES) + len(ATTACKS) >= 250
    assert len({(kind, name) for kind, name, _ in PROBES}) == len(PROBES)
    assert len({code for _, _, code in PROBES}) == len(PROBES)
