"""The numbers on the method page are what the released data give here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import billboards as bb
from billboards.show.words import linear_combination

pytestmark = [pytest.mark.data, pytest.mark.long]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "method.md").read_text("utf-8")


def here(board: str) -> dict[str, str]:
    """The last column of a board's table, by what it says."""
    table = PAGE.partition(f"| {board} | published | here |\n| --- | --- | --- |\n")[2].partition("\n\n")[0]
    return {row[0]: row[2] for row in (line.strip("| ").split(" | ") for line in table.splitlines())}


def short(value: float | None, digits: int) -> str:
    assert value is not None
    return f"{value:.{digits}f}".replace("0.", ".", 1)


def measured(board: bb.Board, lam: float, digits: int) -> list[str]:
    """What Tables 1 and 11 say of a board, in the page's words; generators as Tables 6 and 8 have them."""
    ranking, study = bb.rank(board, lam=lam, draws=0).value, bb.ensemble(board, lam=lam).value
    best, first = ranking.metrics[0], ranking.generators[0]
    assert ranking.ensemble is not None
    assert ranking.ranked_by is not None
    mean = first.scores[ranking.ranked_by]
    assert mean is not None
    ablations = {ablation.removed: short(ablation.correlation, digits) for ablation in study.ablations}
    return [
        f"{best.name} {short(best.correlation, 2)}",
        linear_combination(ranking.ensemble.weights),
        short(ranking.ensemble.correlation, 3),
        f"{first.name} {mean:.2f}" if mean > 1 else f"{first.name} {short(mean, 3)}",
        " ".join(ablations[name] for name in ("COMET", "COMET-QE", *({"BLEURT", "BERTScore"} & set(ablations)))),
    ]


def test_the_column_here_of_wmt20_zh_en(zh_en: bb.Board) -> None:
    assert list(here("wmt20-zh-en").values())[:5] == measured(zh_en, 7.65, 3)


def test_the_column_here_of_cnndm(cnndm: bb.Board) -> None:
    assert list(here("cnndm").values())[:5] == measured(cnndm, 2.3, 2)


def test_what_the_default_lambda_gives(zh_en: bb.Board, cnndm: bb.Board) -> None:
    found = [bb.rank(board, draws=0, method="lasso").value.ensemble for board in (zh_en, cnndm)]
    said = re.search(r"zh-en's ensemble has (\.\d+) and cnndm's (\.\d+)\.", " ".join(PAGE.split()))
    assert said is not None
    assert [short(ensemble.correlation, 3) for ensemble in found if ensemble is not None] == [said[1], said[2]]


def test_what_the_best_subset_gives(zh_en: bb.Board, cnndm: bb.Board) -> None:
    found = [bb.ensemble(board, method="best-subset").value.ensemble for board in (zh_en, cnndm)]
    said = re.search(r"wmt20-zh-en: (\.\d+) where the lasso has \.605; cnndm: (\.\d+) where it has", PAGE)
    assert said is not None
    assert [short(ensemble.correlation, 3) for ensemble in found] == [said[1], said[2]]


@pytest.mark.study
def test_what_a_sentinel_reaches(zh_en: bb.Board) -> None:
    lines = {line.name: line for line in bb.rank(zh_en, draws=0).value.lines}
    said = re.search(r"\*output only\* has (\.\d+), more than .* \(\*length\* has (-\.\d+)\)", " ".join(PAGE.split()))
    assert said is not None
    assert [short(lines[name].correlation, 3) for name in ("output only", "length")] == [said[1], said[2]]


def test_who_leads_within_items_and_what_a_sentinel_has_there(zh_en: bb.Board) -> None:
    ranking, page = bb.rank(zh_en, draws=0).value, " ".join(PAGE.split())
    metrics = {m.name: m for m in ranking.metrics}
    lines = {line.name: line for line in ranking.lines}
    assert ranking.leaders is not None
    assert (ranking.leaders.pooled, ranking.leaders.within) == ("COMET", "Prism-ref")
    said = re.search(r"COMET leads \((\.\d+)\), within items Prism-ref does \((\.\d+), COMET (\.\d+)\)", page)
    assert said is not None
    comet, prism = metrics["COMET"], metrics["Prism-ref"]
    assert [short(value, 3) for value in (comet.correlation, prism.within, comet.within)] == list(said.groups())
    fallen = re.search(r"Within items it falls to (-\.\d+), where the best metric has (\.\d+)", page)
    assert fallen is not None
    assert [short(lines["output only"].within, 3), short(prism.within, 3)] == list(fallen.groups())


def test_where_agreement_comes_from(zh_en: bb.Board) -> None:
    study, page = bb.decompose(zh_en, draws=0).value, " ".join(PAGE.split())
    comet = next(m for m in study.metrics if m.name == "COMET")
    said = re.search(
        r"COMET's (\S+) on wmt20-zh-en consists of (\S+) from items, (\S+) from generators and (\S+) from", page
    )
    assert said is not None
    parts = (comet.correlation, comet.items, comet.generators, comet.outputs)
    assert [short(value, 3) for value in parts] == list(said.groups())
    shares = re.search(r"There, (\d+)% of people's variance is between items and (\d+)% between outputs", page)
    assert shares is not None
    assert [f"{100 * study.people.items:.0f}", f"{100 * study.people.outputs:.0f}"] == list(shares.groups())


def test_how_crowd_and_experts_agree(cnndm: bb.Board) -> None:
    levels = bb.agreement(cnndm, "crowd", "overall").value.levels
    said = re.search(r"crowd and experts have r = (\.\d+) over outputs and (\.\d+) over 16", " ".join(PAGE.split()))
    assert said is not None
    assert [short(level.pearson, 3) for level in levels] == [said[1], said[2]]


def test_two_released_comet_columns_of_cnndm_are_identical_although_all_else_differs(cnndm: bb.Board) -> None:
    same = [
        column.name for column in cnndm.imported if np.array_equal(column.values["BanditSum"], column.values["NEUSUM"])
    ]
    assert same == ["COMET"]
    assert cnndm.row("BanditSum").texts != cnndm.row("NEUSUM").texts
