"""Ratings of the same outputs on several days: tables, words and what can't be told."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from billboards.analyses.ratings._ratings import TableColumns, table_ratings
from billboards.analyses.ratings.days import DayStudy, day_tables, day_words, study_days
from billboards.cli.main import main
from billboards.errors import NotEnoughData
from billboards.stats.repetition import study_repetition

COLUMNS = TableColumns(("item",), "rating", "who", "system", None, "when", (0.0, 100.0))


def _file(path: Path, *, days: int = 3, same_people: bool = False, skip: int = 0) -> Path:
    """Two systems, ten items each, one rating of each output on each day; the second day is 6 points harsher."""
    random = np.random.default_rng(8)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "system", "who", "rating", "when"])
        for day in range(days):
            for system in range(2):
                for item in range(10):
                    if day == 1 and item < skip:
                        continue
                    value = 40 + 20 * system + item - 6 * (day == 1) + random.normal(0, 1)
                    who = "ann" if same_people else f"person {day}"
                    writer.writerow([item, f"s{system}", who, f"{value:.3f}", f"2026-05-0{day + 1}T10:{item:02}:00Z"])
    return path


def _study(path: Path) -> DayStudy:
    (columns,) = table_ratings(path, COLUMNS).values()
    return study_days(columns)


def test_days_are_told_apart_and_their_scatter_is_that_of_the_statistic(tmp_path: Path) -> None:
    study = _study(_file(tmp_path / "ratings.csv"))
    assert [day.name for day in study.days] == ["2026-05-01", "2026-05-02", "2026-05-03"]
    assert [day.labels for day in study.days] == [20, 20, 20]
    assert [day.again for day in study.days] == [0, 0, 0]
    table = np.array([[float(mean.by_day[d]) for d in range(3)] for mean in study.generators])
    assert study.days[1].mean == pytest.approx(table[:, 1].mean())
    assert study.days[1].mean < study.days[0].mean - 4
    assert study.scatter[0].sd == pytest.approx(6 / np.sqrt(3), rel=0.3)
    assert study.scatter[0].p < 0.05
    assert study.wider is not None
    assert study.wider > 1.5
    assert [mean.generator for mean in study.generators] == ["s1", "s0"]
    assert (study.pairs, study.swapped) == (1, 0)
    assert study.drift_p is not None
    assert study.drift_p > 0.05
    assert any("no drift beyond how days scatter" in words for words in day_words(study))


def test_the_same_person_on_another_day_counts_again(tmp_path: Path) -> None:
    study = _study(_file(tmp_path / "ratings.csv", same_people=True))
    assert [day.labels for day in study.days] == [20, 20, 20]
    assert [day.again for day in study.days] == [1, 1, 1]
    assert any("with other people the scatter may be larger" in words for words in day_words(study))


def test_outputs_without_a_rating_on_some_day_are_left_out_and_counted(tmp_path: Path) -> None:
    study = _study(_file(tmp_path / "ratings.csv", skip=4))
    assert (study.outputs, study.left_out) == (12, 8)
    assert "8 others are left out" in day_words(study)[0]


def test_two_days_say_that_they_can_not_tell_a_drift(tmp_path: Path) -> None:
    study = _study(_file(tmp_path / "ratings.csv", days=2))
    assert study.drift_p is None
    assert any("can't tell a drift from scatter" in words for words in day_words(study))


def test_numbers_are_those_of_the_statistic_on_outputs_by_days(tmp_path: Path) -> None:
    path = _file(tmp_path / "ratings.csv")
    values: dict[tuple[str, str], list[float]] = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            values.setdefault((row["system"], row["item"]), []).append(float(row["rating"]))
    owner = [int(system[1]) for system, _ in values]
    expected = study_repetition(list(values.values()), owner)
    study = _study(path)
    assert study.scatter[0].sd == pytest.approx(expected.days.sd)
    assert study.noise_sd == pytest.approx(expected.noise)
    halves = {mean.generator: mean.half_width_days for mean in study.generators}
    assert halves["s0"] == pytest.approx(expected.means[0].half_width_scattered)


def test_one_day_and_days_without_common_outputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughData, match="rated on 1 known day; scatter needs two or more"):
        _study(_file(tmp_path / "one.csv", days=1))
    with pytest.raises(NotEnoughData, match="no two outputs of a generator were rated on all 3 days"):
        _study(_apart(tmp_path))


def _apart(folder: Path) -> Path:
    path = folder / "apart.csv"
    lines = ["item,system,who,rating,when"]
    lines += [f"{day},s0,ann,50,2026-05-0{day + 1}T10:00:00Z" for day in range(3)]
    path.write_text("\n".join(lines))
    return path


def test_the_command_prints_three_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path / "ratings.csv")
    words = ["--item", "item", "--value", "rating", "--annotator", "who", "--generator", "system", "--time", "when"]
    assert main(["ratings", "days", str(path), *words]) == 0
    out = capsys.readouterr().out
    assert "scatter between days" in out
    assert "generators over 3 days" in out
    assert len(day_tables(_study(path))) == 3
