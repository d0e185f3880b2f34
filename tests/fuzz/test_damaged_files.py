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
from targets import Target

from billboards.errors import BillboardsError

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.case"))

#: Readers by the first word of their names, and how many cases they share in the short form.
GROUPS = {
    "import": 150,
    "judgments": 60,
    "board": 60,
    "outputs": 60,
    "metric": 80,
    "template": 60,
    "site": 30,
    "suite": 30,
    "counts": 30,
    "batch": 30,
}


def test_every_reader_takes_its_sound_file(targets: dict[str, Target]) -> None:
    assert {name.split()[0] for name in targets} == set(GROUPS)
    for target in targets.values():
        target.read(target.sound)


@pytest.mark.parametrize("group", GROUPS)
def test_a_damaged_file_is_read_or_refused(group: str, targets: dict[str, Target]) -> None:
    names = [name for name in targets if name.split()[0] == group]

    @cases(GROUPS[group])
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
