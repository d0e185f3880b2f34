"""Ids of crowd platforms become pseudonyms that lead nowhere; names that are pseudonyms already stay."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from billboards.board.pseudonyms import is_platform_id, pseudonyms
from billboards.importers import IMPORTERS

IDS = ["A2TBXASXZIRNNW", "A1ATL3G98SFW4V", "AJM4334V07JDQ", "AMELYCC59JKB0", "13581319", "6330007"]


@pytest.mark.parametrize("name", [*IDS, "A2XXXX", "5f3c0a1b2c3d4e5f6a7b8c9d", "ann@example.org"])
def test_what_platforms_call_their_workers_is_an_id(name: str) -> None:
    assert is_platform_id(name)


PSEUDONYMS = ["rater1", "W001", "M0123", "A001", "A1", "AB", "ANNOTATOR", "en_worker_44", "place 1", "8", "1234"]
PSEUDONYMS += ["expert1", "engdeu6905", "a-3f9c0d12ab34", "Human_c015", "Ann", ""]


@pytest.mark.parametrize("name", PSEUDONYMS)
def test_a_pseudonym_is_none(name: str) -> None:
    assert not is_platform_id(name)


def test_the_same_ids_have_the_same_pseudonyms_whatever_their_order() -> None:
    given = pseudonyms(IDS)
    assert sorted(given.values()) == ["W001", "W002", "W003", "W004", "W005", "W006"]
    shuffled = list(IDS)
    random.Random(3).shuffle(shuffled)
    assert pseudonyms([*shuffled, *IDS]) == given


def test_numbers_tell_nothing_of_the_order_of_ids() -> None:
    ids = [f"A{k}ZZZZZZZZZ" for k in range(100, 400)]
    given = pseudonyms(ids)
    rising = sum(given[first] < given[second] for first, second in pairwise(ids))
    assert 110 < rising < 190
    assert pseudonyms(ids[:1]) == {ids[0]: "W001"}


def test_one_more_worker_may_change_every_number() -> None:
    ids = [f"A{k}ZZZZZZZZZ" for k in range(100, 400)]
    fewer, more = pseudonyms(ids[:-1]), pseudonyms(ids)
    assert sum(fewer[name] == more[name] for name in fewer) < 20


def test_a_pseudonym_that_is_there_is_not_given_again() -> None:
    given = pseudonyms([*IDS, "W001", "W003"])
    assert sorted(given.values()) == ["W002", "W004", "W005", "W006", "W007", "W008"]


def test_more_than_999_workers_have_longer_numbers() -> None:
    given = pseudonyms(f"A{k}ZZZZZZZZZ" for k in range(1000, 2000))
    assert (len(set(given.values())), min(given.values()), max(given.values())) == (1000, "W0001", "W1000")


def test_every_import_replaces_the_ids_of_platforms(tmp_path: Path) -> None:
    workers = ["A2TBXASXZIRNNW", "A1ATL3G98SFW4V", "rater1"]
    lines = [f"i{k},G,out {k},{k % 5 + 1},{who}" for k in range(4) for who in workers]
    path = tmp_path / "ratings.csv"
    path.write_text("instance,generator,output,adequacy,annotator\n" + "\n".join(lines) + "\n")
    imported = IMPORTERS.load("table")(path, judgment=["adequacy"], range=["adequacy=1:5"])
    assert sorted(imported.board.judgments.annotators) == ["W001", "W002", "rater1"]
    assert imported.board.judgments.annotator.tolist() == [0, 1, 2] * 4
    assert "2 annotators were named by their ids on a platform" in imported.notes[-1]
    assert not any(worker in note for note in imported.notes for worker in workers[:2])
