"""Damaged files of every kind are read or refused in billboards' own words; nothing else comes out, and nothing hangs.

What was found in long runs is kept in `corpus/`, one file for each, with the name of its reader on the first line.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from damage import Damage, cases, damaged, damages
from hypothesis import given
from hypothesis import strategies as st
from readers import ASKED, FUZZED, READING, TRUSTED
from target import Target

import billboards
from billboards.errors import BillboardsError

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.case"))

#: Readers by the first word of their names, and how many cases they share in the short form.
GROUPS = {
    "import": 150,
    "catalogue": 80,
    "judgments": 60,
    "board": 60,
    "outputs": 60,
    "metric": 80,
    "template": 60,
    "site": 30,
    "suite": 30,
    "counts": 30,
    "batch": 30,
    "kept": 120,
    "study": 50,
    "resource": 60,
    "weights": 60,
    "backup": 8,
    "database": 10,
    "platform": 40,
    "log-in": 10,
    "client": 30,
    "judge": 40,
    "program": 30,
    "spec": 30,
}
#: Where a case takes a tenth of a second or more: so many times fewer in the long form.
SLOW = {"backup": 20, "database": 5, "log-in": 20}


@pytest.mark.long
def test_every_reader_takes_its_sound_file(targets: dict[str, Target]) -> None:
    assert {name.split()[0] for name in targets} == set(GROUPS)
    for target in targets.values():
        target.read(target.sound)


def test_everything_that_reads_is_fuzzed_or_says_why_not(targets: dict[str, Target]) -> None:
    root = Path(billboards.__file__).parent
    found = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in root.rglob("*.py")}
    reading = {name for name, text in found.items() if READING.search(text)}
    listed = (*FUZZED, *ASKED, *TRUSTED)
    assert not sorted(name for name in reading if not name.startswith(listed)), "fuzz these, or say why not"
    assert not sorted(start for start in listed if not any(name.startswith(start) for name in reading)), "gone"
    assert {word for words in FUZZED.values() for word in words} <= {name.split()[0] for name in targets}


@pytest.mark.parametrize("group", GROUPS)
def test_a_damaged_file_is_read_or_refused(group: str, targets: dict[str, Target]) -> None:
    names = [name for name in targets if name.split()[0] == group]

    @cases(GROUPS[group], SLOW.get(group, 1))
    @given(st.sampled_from(names), damages())
    def read(name: str, damage: Damage) -> None:
        with suppress(BillboardsError):
            targets[name].read(damaged(targets[name].sound, damage))

    read()


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_was_found_once_stays_mended(path: Path, targets: dict[str, Target]) -> None:
    name, _, raw = path.read_bytes().partition(b"\n")
    with suppress(BillboardsError):
        targets[name.decode()].read(raw)
